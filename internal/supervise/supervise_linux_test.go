package supervise

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a process that was started like a supervisor does: it calls Enable first, or not.
const (
	asLibrary = "SUPERVISE_TEST_LIBRARY"
	asMain    = "SUPERVISE_TEST_MAIN"
)

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		Enable()
	}
	if os.Getenv(asLibrary) != "" {
		fmt.Println("it goes on")
		return
	}
	os.Exit(m.Run())
}

// TestOnlyWhatEnablesIsASupervisor: the package alone makes no process anything else, however it is started.
func TestOnlyWhatEnablesIsASupervisor(t *testing.T) {
	for variable, want := range map[string][2]string{asMain: {"done\n", "768"}, asLibrary: {"it goes on\n", ""}} {
		lifeline, ours, err := os.Pipe()
		require.NoError(t, err)
		status, report, err := os.Pipe()
		require.NoError(t, err)
		cmd := exec.Command("/proc/self/exe")
		cmd.Args = []string{supervisorName, "/bin/sh", "echo done; exit 3"}
		cmd.Env = append(os.Environ(), variable+"=1")
		cmd.ExtraFiles = []*os.File{lifeline, report}
		out, err := cmd.Output()
		require.NoError(t, err)
		_, _, _ = ours.Close(), report.Close(), lifeline.Close()
		text, err := io.ReadAll(status)
		require.NoError(t, err)
		assert.Equal(t, want, [2]string{string(out), string(text)}, variable)
	}
}

func TestWithoutASupervisor(t *testing.T) {
	g, err := Command("sleep 900 & echo $!; exit 7")
	require.NoError(t, err)
	assert.Equal(t, []string{"sh", "-c", "sleep 900 & echo $!; exit 7"}, append([]string{"sh"}, g.Cmd.Args[1:]...))
	out, err := g.Cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, g.Start())
	var pid int
	_, err = fmt.Fscan(out, &pid)
	require.NoError(t, err)
	var end *Status
	require.ErrorAs(t, g.Wait(), &end)
	assert.Equal(t, 7, end.Code)
	assert.EqualError(t, end, "exit status 7")
	ended := func() bool {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(state), ") Z ")
	}
	assert.Eventually(t, ended, 10*patience, patience/100, "what it left behind in its group ends with it")
	assert.Zero(t, Memory())
}
