package commandtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/job"
)

// AsCommand is an environment variable: where it is set, TestMain has to make the test binary the command itself, so that signals and
// limits act on a process of its own. Its value is how many times the usual grace a computation has.
const AsCommand = "OPTRATIO_TEST_COMMAND"

// IsCommand reports whether that is so, and sets the grace.
func IsCommand() bool {
	times, err := strconv.Atoi(os.Getenv(AsCommand))
	if err == nil {
		job.Grace *= time.Duration(times)
	}
	return err == nil
}

// Ended is what is left of a process.
type Ended struct {
	Code     int
	Out, Err string
	Took     time.Duration // since the last signal, or since the start
	killed   bool          // by a signal that it did not handle
}

// Spawn runs a command line as a process of its own. With signals it sends each of them, all at once, after a while; a process
// that has not come to handle them by then is started again and given more time.
func Spawn(t *testing.T, args []string, signals ...os.Signal) Ended {
	t.Helper()
	return spawn(t, 1, args, signals...)
}

// Answered is Spawn for a command that answers within the grace: it is given more, up to some minutes, on a machine so busy that the usual one is too short.
func Answered(t *testing.T, args []string, signals ...os.Signal) (e Ended) {
	t.Helper()
	for grace := 1; grace <= 64 && e.Out == ""; grace *= 8 {
		e = spawn(t, grace, args, signals...)
	}
	return e
}

func spawn(t *testing.T, grace int, args []string, signals ...os.Signal) Ended {
	t.Helper()
	for wait := 200 * time.Millisecond; ; wait *= 2 {
		c := exec.Command(os.Args[0], args...)
		c.Env = append(os.Environ(), AsCommand+"="+strconv.Itoa(grace))
		var out, errs strings.Builder
		c.Stdout, c.Stderr = &out, &errs
		require.NoError(t, c.Start())
		begin := time.Now()
		hang := time.AfterFunc(10*time.Minute, func() { _ = c.Process.Kill() })
		if len(signals) > 0 {
			time.Sleep(wait)
			begin = time.Now()
			for _, s := range signals {
				_ = c.Process.Signal(s)
			}
		}
		_ = c.Wait()
		require.True(t, hang.Stop(), "%s did not end", strings.Join(args, " "))
		e := Ended{c.ProcessState.ExitCode(), out.String(), errs.String(), time.Since(begin), c.ProcessState.ExitCode() < 0}
		if !e.killed || wait > 20*time.Second {
			return e
		}
	}
}

// Check wants one line on standard error and no trace, and a JSON document, which it returns.
func (e Ended) Check(t *testing.T, codes ...int) map[string]any {
	t.Helper()
	assert.Contains(t, codes, e.Code, e.Err)
	assert.LessOrEqual(t, strings.Count(e.Err, "\n"), 1, e.Err)
	assert.NotContains(t, e.Err, "goroutine ")
	var doc map[string]any
	require.NoError(t, json.Unmarshal([]byte(e.Out), &doc), "%q", e.Out)
	return doc
}

// Pipe makes a pipe that nobody opens at the other end.
func Pipe(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

// twice is what timeout sends.
var twice = []os.Signal{syscall.SIGTERM, syscall.SIGTERM}

// EndAtSignals sends SIGTERM, twice in a row, to jobs that take minutes at least: each ends with what is known.
func EndAtSignals(t *testing.T, jobs map[string][]string) {
	for name, args := range jobs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := Answered(t, append(args, "--json"), twice...)
			t.Logf("ended %v after SIGTERM twice", e.Took)
			e.Check(t, command.Interrupted)
			assert.Contains(t, e.Err, "interrupted")
		})
	}
}

// EndAtTimeLimits gives such jobs little time: each ends with what is known, and says so.
func EndAtTimeLimits(t *testing.T, jobs map[string][]string) {
	for name, args := range jobs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := Spawn(t, append(args, "--json", "--time-limit", "300ms"))
			t.Logf("ended %v after the start", e.Took)
			e.Check(t, command.Undecided)
			assert.Contains(t, e.Err, "the time limit of 300ms was reached")
		})
	}
}

// WaitForPipes runs command lines that read from a pipe which nobody writes: they wait as long as the limits allow.
func WaitForPipes(t *testing.T, lines map[string][]string) {
	for name, args := range lines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := Spawn(t, append(args, "--time-limit", "200ms"))
			assert.Equal(t, command.Undecided, e.Code, e.Err)
			assert.Contains(t, e.Err, "the time limit of 200ms was reached")
			e = Spawn(t, args, twice...)
			assert.Equal(t, command.Interrupted, e.Code, e.Err)
			assert.Equal(t, 1, strings.Count(e.Err, "\n"), e.Err)
			assert.NotContains(t, e.Err, "the answer", "there is none")
		})
	}
}
