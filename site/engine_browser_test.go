//go:build browser

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBrowserEngine has node run the engine, compiled to WebAssembly, on the reference jobs.
func TestBrowserEngine(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, build(folder))
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	require.NoError(t, exec.Command("gzip", "-d", filepath.Join(folder, "engine.wasm.gz")).Run())
	var lines bytes.Buffer
	jobs := referenceJobs(t)
	for _, j := range jobs {
		require.NoError(t, json.NewEncoder(&lines).Encode(j))
	}
	node := exec.Command("node", "--stack-size=8192", filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec_node.js"), filepath.Join(folder, "engine.wasm"), "-")
	node.Stdin, node.Stderr = &lines, os.Stderr
	out, err := node.Output()
	require.NoError(t, err)
	answers := json.NewDecoder(bytes.NewReader(out))
	for _, j := range jobs {
		var got written
		require.NoError(t, answers.Decode(&got))
		agrees(t, j.words(t), got)
	}
}
