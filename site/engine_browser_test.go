//go:build browser

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/front"
	"optratio/internal/job"
)

// harness stands for worker.js and the page: it has the engine take every step of one form after the other, and prints their last answers.
const harness = `const forms = JSON.parse(process.env.FORMS);
const next = () => { if (forms.length == 0) process.reallyExit(0); globalThis.optratioStep(...forms.shift()); };
globalThis.optratioReady = next;
globalThis.optratioPost = (event) => {
  const { kind, head, text, more } = JSON.parse(event);
  if (kind == "answer" && !more) console.log(JSON.stringify(head + text));
  if (kind == "answer") setImmediate(more ? () => globalThis.optratioStep() : next);
};`

// TestBrowserEngine has node run the engine, compiled to WebAssembly, on forms of every view; the pages are those of the same code compiled natively, to the last digit.
func TestBrowserEngine(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, exec.Command("../scripts/site", folder).Run())
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	require.NoError(t, exec.Command("gzip", "-d", filepath.Join(folder, "engine.wasm.gz")).Run())
	certificate, err := os.ReadFile("../testdata/exact.cert")
	require.NoError(t, err)
	forms := [][2]string{
		{"rate", "n=4&k=4&eps=0.5"}, {"rate", "n=5&k=3&eps=3/2&of=exp-eps&mechanism=pf,em,krr,uniform"}, {"rate", "n=60&k=3"}, {"rate", "n=8&k=3&eps=0.3"}, {"rate", "n=4&k=3&constraints=full"},
		{"rate", "n=4&k=3&eps=3/2&of=exp-eps&constraints=dp&certificate=yes"}, {"rate", "n=3&k=3&eps=1&step=delta&mechanism=pf,geo"}, {"rate", "n=3&k=3&worst=true"}, {"rate", "n=3&k=3&prior=geometric:0.5&loss=square"}, {"rate", "n=zero"},
		{"pmf", "scores=0,-0.5,-3&mechanism=rnm-laplace,em&eps=0.7"}, {"choose", ""}, {"", ""}, {"audit", ""}, {"audit", "eps=1&neighbors=shifted"}, {"audit", "pmf-file=x"},
		{"evaluate", "task=median&eps=3/2&of=exp-eps&histogram=a,12%0Ab,7%0Ac,7%0Ad,3%0Ae,0"}, {"optimum", "eps=2"}, {"optimum", "preset=count:2&eps=4&delta=0.01&worst=true"}, {"check", "certificate=" + url.QueryEscape(string(certificate))}, {"check", "certificate=none"},
	}
	list, err := json.Marshal(forms)
	require.NoError(t, err)
	script := filepath.Join(folder, "harness.js")
	require.NoError(t, os.WriteFile(script, []byte(harness), 0o644))
	node := exec.Command("node", "--stack-size=8192", "-r", script, filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec_node.js"), filepath.Join(folder, "engine.wasm"))
	node.Env, node.Stderr = append(os.Environ(), "FORMS="+string(list)), os.Stderr
	out, err := node.Output()
	require.NoError(t, err)
	answers := json.NewDecoder(bytes.NewReader(out))
	site := &front.Site{Static: true, Run: func(ctx context.Context, j front.Job) (*job.Answer, error) {
		return run(ctx, j, func(string, ...any) {})
	}}
	seconds := regexp.MustCompile(`seconds&#34;: [0-9.e-]+`)
	for _, f := range forms {
		var got string
		require.NoError(t, answers.Decode(&got))
		values, err := url.ParseQuery(f[1])
		require.NoError(t, err)
		c := site.Begin(f[0], values)
		for c.Next(t.Context()) {
		}
		head, rest := c.Parts()
		assert.Equal(t, seconds.ReplaceAllString(head+rest, ""), seconds.ReplaceAllString(got, ""), f)
	}
}
