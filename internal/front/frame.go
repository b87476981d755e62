package front

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"sync"
)

//go:embed frame.js
var frameScript string

// frameHash is how a policy allows the script of the frame, which stands in it, and no other.
var frameHash = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(frameScript))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
})

// frame is the document in which page.js has a function in JavaScript run. It inherits the policy of the page, and its own takes the rest away.
func frame() string {
	return `<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ` + frameHash() +
		` 'wasm-unsafe-eval'; worker-src blob:; form-action 'none'; base-uri 'none'"><script>` + frameScript + `</script>`
}
