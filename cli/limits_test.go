package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
)

// The test binary is the command itself where this variable is set, so that signals and limits act on a process of its own.
const asCommand = "OPTRATIO_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		Main()
	}
	if kind := os.Getenv(asSubject); kind != "" {
		answerAsSubject(kind)
		return
	}
	os.Exit(m.Run())
}

// ended is what is left of a process.
type ended struct {
	code     int
	out, err string
	killed   bool          // by a signal that it did not handle
	took     time.Duration // since the last signal, or since the start
}

// spawn runs a command line as a process of its own. With signals it sends each of them, all at once, after a while; a process
// that has not come to handle them by then is started again and given more time.
func spawn(t *testing.T, args []string, signals ...os.Signal) ended {
	t.Helper()
	for wait := 500 * time.Millisecond; ; wait *= 2 {
		c := exec.Command(os.Args[0], args...)
		c.Env = append(os.Environ(), asCommand+"=1")
		var out, errs strings.Builder
		c.Stdout, c.Stderr = &out, &errs
		require.NoError(t, c.Start())
		begin := time.Now()
		hang := time.AfterFunc(2*time.Minute, func() { _ = c.Process.Kill() })
		if len(signals) > 0 {
			time.Sleep(wait)
			begin = time.Now()
			for _, s := range signals {
				_ = c.Process.Signal(s)
			}
		}
		_ = c.Wait()
		require.True(t, hang.Stop(), "optratio %s did not end", strings.Join(args, " "))
		e := ended{c.ProcessState.ExitCode(), out.String(), errs.String(), c.ProcessState.ExitCode() < 0, time.Since(begin)}
		if !e.killed || wait > 20*time.Second {
			return e
		}
	}
}

// check wants one line on standard error and no trace, and a JSON document, which it returns.
func (e ended) check(t *testing.T, codes ...int) map[string]any {
	t.Helper()
	assert.Contains(t, codes, e.code, e.err)
	assert.LessOrEqual(t, strings.Count(e.err, "\n"), 1, e.err)
	assert.NotContains(t, e.err, "goroutine ")
	var doc map[string]any
	require.NoError(t, json.Unmarshal([]byte(e.out), &doc), "%q", e.out)
	return doc
}

// fifo makes a pipe that nobody opens at the other end.
func fifo(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

// scoresFile has so many scores.
func scoresFile(t *testing.T, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "-%d.%d\n", i%1000, i)
	}
	path := filepath.Join(t.TempDir(), "scores")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

// long are jobs that take minutes at least, one for each command that can.
func long(t *testing.T) map[string][]string {
	return map[string][]string{
		"ratio":         {"ratio", "-n", "9", "-k", "9", "--eps", "0.3", "--mechanism", "pf", "--solver", "embedded"},
		"sweep":         {"sweep", "-n", "3,9", "-k", "9", "--eps", "0.3", "-o", filepath.Join(t.TempDir(), "rows.csv")},
		"threshold":     {"threshold", "-n", "9", "-k", "9", "--method", "lp", "--solver", "embedded"},
		"verify":        {"verify", "--mechanism", "krr", "-n", "9", "-k", "9", "--eps", "0.5"},
		"audit":         {"audit", "--pmf-exec", "exec sleep 1000", "--timeout", "1000s", "--eps", "1"},
		"recommend":     {"recommend", "--scores-file", scoresFile(t, 20_000), "--eps", "1"},
		"evaluate":      {"evaluate", "--task", "scores", "--scores", scoresFile(t, 20_000), "--eps", "1", "--mechanism", "rnm-laplace"},
		"heterogeneous": {"heterogeneous", "--sensitivities", "1,2,4", "--grid", "0:9", "--eps", "0.5"},
		"stopping":      {"stopping", "-n", "1000", "--lp", "--eps", "0.5"},
		"scenario":      {"scenario", "4", "--trials", "1000"},
		"gain":          {"scenario", "--gain", "rs,rnmh", "--delta-range", "0.01:10:0.01"},
		"bandit":        {"bandit", "--runs", "1000"},
		"figure":        {"figure", "worst-ratio", "-n", "9", "-k", "9", "-o", filepath.Join(t.TempDir(), "f.svg")},
	}
}

// Ctrl-C and SIGTERM, also twice in a row as timeout sends it, end every command with what is known.
func TestSignalsEndEveryCommand(t *testing.T) {
	term := []os.Signal{syscall.SIGTERM, syscall.SIGTERM}
	for name, args := range long(t) {
		t.Run(name, func(t *testing.T) {
			e := spawn(t, append(args, "--json"), term...)
			t.Logf("ended %v after SIGTERM twice", e.took)
			e.check(t, exitInterrupted)
			assert.Contains(t, e.err, "interrupted")
		})
	}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		e := spawn(t, append(long(t)["ratio"], "--json"), s)
		e.check(t, exitInterrupted)
	}
}

// A time limit ends every command with what is known, and says so.
func TestTimeLimitsEndEveryCommand(t *testing.T) {
	for name, args := range long(t) {
		t.Run(name, func(t *testing.T) {
			e := spawn(t, append(args, "--json", "--time-limit", "300ms"))
			t.Logf("ended %v after the start", e.took)
			e.check(t, exitUndecided)
			assert.Contains(t, e.err, "the time limit of 300ms was reached")
		})
	}
}

// Jobs that take or took for ever, or too much memory, end within their limit. What ends before it is answered.
func TestHardJobs(t *testing.T) {
	million := scoresFile(t, 1_000_000)
	for _, line := range []string{
		"ratio -n 2 -k 1000000 --eps 0.5 --method lumped",
		"ratio -n 10 -k 1000000 --eps 1e-20 --method lumped",
		"ratio -n 2 -k 1000000 --exp-eps 3/2 --method closed-form",
		"ratio -n 3 -k 100000 --exp-eps 1000001/1000000 --method lumped",
		"ratio -n 100 -k 10000 --eps 0.01 --objective box",
		"ratio -n 20 -k 20 --exp-eps 1" + strings.Repeat("0", 2000) + "/3",
		"ratio -n 3 -k 3 --method lp --eps 1e9",
		"ratio -n 4 -k 4 --eps 1e7",
		"ratio -n 30 -k 6 --eps 0.5",
		"threshold -n 7 -k 7 --method lp --constraints dp --solver embedded",
		"heterogeneous --sensitivities 1,2 --eps 1 --grid=0:2e9:1e9",
		"heterogeneous --sensitivities=1 --grid=0:2 --eps=1e10",
		"stopping -n 1000000",
		"stopping -n 1000000 --eps 0.5",
		"stopping -n 1000 --lp --eps 0.5",
		"pmf --eps 1 --scores-file " + million,
		"pmf --mechanism rs --eps 1 --scores-file " + million,
		"pmf --mechanism em --scores 0,1 --eps 1e300",
		"recommend --eps 1 --scores-file " + million,
		"evaluate --task scores --eps 1 --mechanism pf,em,rs --scores " + million,
		"evaluate --task worst-case -n 9223372036854775807 --eps 1e-300",
		"pmf --mechanism lp-optimal --scores 0 --eps 1",
		"verify --mechanism lp-optimal -n 2 -k 1 --eps 0.5 --property dp",
		"verify --mechanism rs -n 8 -k 8 --eps 0.5 --property rdp",
		"audit --eps 1 --pmf-exec cat --domain " + million,
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			e := spawn(t, append(strings.Fields(line), "--json", "--time-limit", "300ms"))
			t.Logf("%v, exit %d: %.70s", e.took, e.code, line)
			e.check(t, exitDone, exitUndecided)
			assert.NotContains(t, e.err, "internal error")
		})
	}
}

// Pipes that nobody writes or reads are waited for as long as the limits allow.
func TestPipesObeyLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"scores", []string{"pmf", "--eps", "1", "--scores-file", fifo(t)}},
		{"sensitivities", []string{"recommend", "--eps", "1", "--scores", "1,2", "--sensitivities-file", fifo(t)}},
		{"domain", []string{"verify", "--eps", "1", "--domain", fifo(t)}},
		{"neighbors", []string{"audit", "--eps", "1", "--pmf-exec", "true", "--neighbors", fifo(t)}},
		{"table", []string{"audit", "--eps", "1", "--pmf-file", fifo(t)}},
		{"histogram", []string{"evaluate", "--task", "mode", "--eps", "1", "--histogram", fifo(t)}},
		{"figure", []string{"figure", "pf-3b", "-o", filepath.Join(t.TempDir(), "f.svg"), "--histogram", fifo(t)}},
		{"arrivals", []string{"stopping", "-n", "3", "--play", fifo(t)}},
		{"certificate", []string{"check", fifo(t)}},
		{"export", []string{"cert-export", "--vipr", fifo(t)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := spawn(t, append(c.args, "--time-limit", "200ms"))
			assert.Equal(t, exitUndecided, e.code, e.err)
			assert.Contains(t, e.err, "the time limit of 200ms was reached")
			e = spawn(t, c.args, syscall.SIGTERM, syscall.SIGTERM)
			assert.Equal(t, exitInterrupted, e.code, e.err)
			assert.Equal(t, 1, strings.Count(e.err, "\n"), e.err)
			assert.NotContains(t, e.err, "the answer", "there is none")
		})
	}
	// A pipe for the certificate does not hold up the answer.
	e := spawn(t, []string{"-n", "3", "-k", "3", "--eps", "0.5", "--json", "--time-limit", "2s", "--cert", fifo(t)})
	doc := e.check(t, exitUndecided)
	assert.NotContains(t, doc, "undecided", "the answer itself is complete")
	assert.Contains(t, e.err, "--cert")
}

// A line that the end of the context cuts off is not judged.
func TestCutLines(t *testing.T) {
	path := fifo(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if assert.NoError(t, err) {
			_, _ = w.WriteString("1\n2\n-")
			cancel(errInterrupted)
		}
	}()
	err := readLines(ctx, "--scores-file", path, func(text string) error {
		if text == "-" {
			return errors.New("no number")
		}
		return nil
	})
	assert.ErrorIs(t, err, errInterrupted)
}

// What waits at the other end of a pipe is read and written.
func TestPipesWork(t *testing.T) {
	in, out := fifo(t), fifo(t)
	go func() { _ = os.WriteFile(in, []byte("0\n-1\n"), 0o600) }()
	e := spawn(t, []string{"pmf", "--scores-file", in, "--exp-eps", "2", "--json"})
	assert.Len(t, e.check(t, exitDone)["pmf"], 2)
	written := make(chan string)
	go func() {
		text, err := os.ReadFile(out)
		assert.NoError(t, err)
		written <- string(text)
	}()
	e = spawn(t, []string{"-n", "3", "-k", "2", "--exp-eps", "2", "--json", "--cert", out})
	e.check(t, exitDone)
	assert.Contains(t, <-written, "\nend")
}

// Input that has no end is not read for ever.
func TestEndlessInput(t *testing.T) {
	for _, args := range [][]string{
		{"audit", "--eps", "1", "--pmf-exec", "true", "--neighbors", "/dev/zero"},
		{"audit", "--eps", "1", "--pmf-file", "/dev/zero"},
		{"verify", "--eps", "1", "--domain", "/dev/zero"},
		{"pmf", "--eps", "1", "--scores-file", "/dev/zero"},
		{"evaluate", "--task", "mode", "--eps", "1", "--histogram", "/dev/zero"},
		{"stopping", "-n", "3", "--play", "/dev/zero"},
		{"check", "/dev/zero"},
	} {
		e := spawn(t, args)
		assert.Equal(t, exitUsage, e.code, "%v: %s", args, e.err)
		assert.Equal(t, 1, strings.Count(e.err, "\n"), e.err)
	}
}

// Memory is bounded: a job that would take gigabytes ends at its limit.
func TestMemoryLimit(t *testing.T) {
	e := spawn(t, []string{"ratio", "-n", "9", "-k", "9", "--eps", "0.3", "--mechanism", "pf", "--method", "lumped", "--json", "--max-memory", "8M"})
	e.check(t, exitUndecided)
	assert.Contains(t, e.err, "the memory limit of 8M was reached")
}

// What cannot be written is no success, and costs nothing of what can.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	e := spawn(t, []string{"-n", "3", "-k", "3", "--eps", "0.5", "--json", "--cert", "/dev/full"})
	doc := e.check(t, exitUsage)
	assert.Contains(t, doc, "optimum")
	assert.Contains(t, e.err, "--cert \"/dev/full\": not written: no space left on device")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	for _, args := range [][]string{{"--help"}, {"verify", "--help"}, {"mechanisms"}, {"-n", "3", "-k", "2", "--exp-eps", "2"}, {"-n", "3", "-k", "2", "--exp-eps", "2", "--json"}} {
		var errs strings.Builder
		code := Run(context.Background(), args, strings.NewReader(""), full, &errs)
		assert.Equal(t, exitUsage, code, args)
		assert.Equal(t, "optratio: standard output: no space left on device; what is written there is incomplete\n", errs.String(), args)
	}
}

// settle hands on what a computation says, in time or a little later, and has an answer where the computation has none.
func TestSettle(t *testing.T) {
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(errInterrupted)
	trivial := func(why string) string { return "trivial: " + why }
	for _, c := range []struct {
		name    string
		ctx     context.Context
		compute func() (string, error)
		want    string
		code    int
	}{
		{"answer", context.Background(), func() (string, error) { return "answer", nil }, "answer", 0},
		{"late answer", ended, func() (string, error) { time.Sleep(50 * time.Millisecond); return "partial", nil }, "partial", 0},
		{"no answer", ended, func() (string, error) { select {} }, "trivial: interrupted", 0},
		{"failure", context.Background(), func() (string, error) { return "", errors.New("solver failed") }, "trivial: solver failed", 0},
		{"cause", ended, func() (string, error) { return "", fmt.Errorf("late: %w", errInterrupted) }, "trivial: late: interrupted", 0},
		{"bad input", context.Background(), func() (string, error) { return "", mechanisms.ErrInstance }, "", exitUsage},
		{"own end", context.Background(), func() (string, error) { return "", &exit{exitViolated, errors.New("x")} }, "", exitViolated},
		{"panic", context.Background(), func() (string, error) { panic("oops") }, "trivial: internal error, please report it: oops", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := settle(c.ctx, c.compute, trivial)
			assert.Equal(t, c.want, got)
			var e *exit
			if c.code == 0 {
				assert.NoError(t, err)
			} else if assert.ErrorAs(t, err, &e) {
				assert.Equal(t, c.code, e.code)
			}
		})
	}
}

// A job that has ended before it starts answers too.
func TestCancelledBeforehand(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errInterrupted)
	var out, errs strings.Builder
	code := Run(ctx, []string{"-n", "4", "-k", "4", "--eps", "0.5", "--json"}, strings.NewReader(""), &out, &errs)
	assert.Equal(t, exitInterrupted, code)
	assert.True(t, json.Valid([]byte(out.String())))
}
