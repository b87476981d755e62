//go:build !js

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
)

// TestArm64 compiles the program for arm64, where Go may fuse x*y + z into one instruction, which rounds once instead of twice. Explicit
// conversions, float64(x*y) + z, forbid that; without them solvers would propose other points there, and the last digits of bounds
// would differ. Where the emulator qemu-aarch64 is there, the program answers the reference jobs as on this machine, to the last digit.
func TestArm64(t *testing.T) {
	slowtest.Only(t)
	program := filepath.Join(t.TempDir(), "optratio")
	build := exec.Command("go", "build", "-o", program, "../cmd/optratio")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))

	module, err := exec.Command("go", "list", "-m").Output()
	require.NoError(t, err)
	listing, err := exec.Command("go", "tool", "objdump", "-s", "^"+regexp.QuoteMeta(strings.TrimSpace(string(module)))+"/", program).Output()
	require.NoError(t, err)
	fused, functions := regexp.MustCompile(`\s(\S+:\d+)\s.*\sFN?M(ADD|SUB)[DS]\s`), 0
	in := ""
	for lines := bufio.NewScanner(bytes.NewReader(listing)); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "TEXT ") {
			in, functions = line, functions+1
		}
		if m := fused.FindStringSubmatch(line); m != nil && !strings.Contains(in, "lp.balls.Mul(") { // which calls math.FMA
			t.Errorf("%s: a product is fused with a sum; write float64(x*y) + z", m[1])
		}
	}
	assert.Greater(t, functions, 1000)

	machine := []string{"qemu-aarch64", program}
	if runtime.GOOS == "linux" && runtime.GOARCH == "arm64" {
		machine = machine[1:]
	} else if _, err := exec.LookPath(machine[0]); err != nil {
		t.Log("no qemu-aarch64: the program was compiled and read, not run") // Debian has it in qemu-user
		return
	}
	for _, w := range referenceJobs(t) { // their files are in this folder now
		words := w.words(t)
		run := exec.Command(machine[0], append(append([]string{}, machine[1:]...), append(words, "--json")...)...)
		got, err := run.Output()
		if _, verdict := err.(*exec.ExitError); !verdict {
			require.NoError(t, err, words)
		}
		_, want, _ := command(t, append(words, "--json")...)
		assert.Equal(t, timeless(t, []byte(want)), timeless(t, got), words)
	}
}
