package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/command/commandtest"
	"optratio/internal/job"
	"optratio/internal/supervise"
)

// The test binary is the command itself, or a program under audit, where variables say so.
func TestMain(m *testing.M) {
	if commandtest.IsCommand() {
		Main()
	}
	supervise.Enable()
	if kind := os.Getenv(asSubject); kind != "" {
		answerAsSubject(kind)
		return
	}
	os.Exit(m.Run())
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
		"threshold":     {"threshold", "-n", "9", "-k", "9", "--method", "lp"},
		"verify":        {"verify", "--mechanism", "krr", "-n", "9", "-k", "9", "--eps", "0.5"},
		"audit":         {"audit", "--pmf-exec", "exec sleep 1000", "--timeout", "1000s", "--eps", "1"},
		"recommend":     {"recommend", "--scores", scoresFile(t, 20_000), "--eps", "1"},
		"evaluate":      {"evaluate", "--task", "scores", "--scores", scoresFile(t, 20_000), "--eps", "1", "--mechanism", "rnm-laplace"},
		"heterogeneous": {"heterogeneous", "--sensitivities", "1,2,4", "--grid", "0:9", "--eps", "0.5"},
		"stopping":      {"stopping", "-n", "1000", "--lp", "--eps", "0.5"},
	}
}

// Ctrl-C and SIGTERM, also twice in a row as timeout sends it, end every command with what is known.
func TestSignalsEndEveryCommand(t *testing.T) {
	commandtest.EndAtSignals(t, long(t))
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		e := commandtest.Answered(t, append(long(t)["ratio"], "--json"), s)
		e.Check(t, command.Interrupted)
	}
}

// A time limit ends every command with what is known, and says so.
func TestTimeLimitsEndEveryCommand(t *testing.T) { commandtest.EndAtTimeLimits(t, long(t)) }

// Jobs that take or took for ever, or too much memory, end within their limit; more of ratio are in lp. What ends before it is answered.
func TestHardJobs(t *testing.T) {
	million := scoresFile(t, 1_000_000)
	for _, line := range []string{
		"ratio -n 2 -k 1000000 --eps 0.5 --method lumped",
		"ratio -n 20 -k 20 --exp-eps 1" + strings.Repeat("0", 2000) + "/3",
		"ratio -n 3 -k 3 --method lp --eps 8192",
		"ratio -n 4 -k 4 --eps 5000",
		"ratio -n 30 -k 6 --eps 0.5",
		"threshold -n 7 -k 7 --method lp --constraints dp",
		"heterogeneous --sensitivities 1,2 --eps 1 --grid=0:2e9:1e9",
		"heterogeneous --sensitivities=1 --grid=0:2 --eps=8000",
		"stopping -n 1000000",
		"stopping -n 1000000 --eps 0.5",
		"pmf --eps 1 --scores-file " + million,
		"pmf --mechanism rs --eps 1 --scores-file " + million,
		"pmf --mechanism em --scores 0,1e300 --eps 8192",
		"recommend --eps 1 --scores " + million,
		"evaluate --task scores --eps 1 --mechanism pf,em,rs --scores " + million,
		"pmf --mechanism lp-optimal --scores 0 --eps 1",
		"verify --mechanism lp-optimal -n 2 -k 1 --eps 0.5 --property dp",
		"verify --mechanism rs -n 8 -k 8 --eps 0.5 --property rdp",
		"audit --eps 1 --pmf-exec cat --domain " + million,
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			e := commandtest.Spawn(t, append(strings.Fields(line), "--json", "--time-limit", "300ms"))
			t.Logf("%v, exit %d: %.70s", e.Took, e.Code, line)
			doc := e.Check(t, command.Done, command.Undecided)
			assert.NotContains(t, e.Err, "internal error")
			if e.Code == command.Done {
				assert.Empty(t, e.Err)
			} else {
				assert.Regexp(t, "the time limit of 300ms was reached|in the time that there was|enclosures of 1024 bits do not tell|too far apart|only floating-point estimates are known", e.Err)
			}
			enclosed(t, doc)
			if all, ok := doc["mechanisms"].([]any); ok && strings.HasPrefix(line, "ratio") {
				ratio := all[0].(map[string]any)["ratio"].(map[string]any)
				assert.GreaterOrEqual(t, float(t, ratio["upper"]).Cmp(big.NewFloat(1)), 0)
				assert.LessOrEqual(t, float(t, ratio["lower"]).Cmp(big.NewFloat(25.0/18)), 0, "Theorem 2 of research/docs/universal.md")
			}
		})
	}
}

// enclosed asserts that no number of a document has a lower end above its upper one.
func enclosed(t *testing.T, doc any) {
	switch d := doc.(type) {
	case []any:
		for _, x := range d {
			enclosed(t, x)
		}
	case map[string]any:
		if lower, ok := d["lower"].(string); ok {
			assert.LessOrEqual(t, float(t, lower).Cmp(float(t, d["upper"])), 0, "%v", d)
		}
		for _, x := range d {
			enclosed(t, x)
		}
	}
}

// float is near a number of a document.
func float(t *testing.T, text any) *big.Float {
	x, _, err := big.ParseFloat(text.(string), 10, 200, big.ToNearestEven)
	require.NoError(t, err)
	return x
}

// Pipes that nobody writes or reads are waited for as long as the limits allow.
func TestPipesObeyLimits(t *testing.T) {
	commandtest.WaitForPipes(t, map[string][]string{
		"scores":        {"pmf", "--eps", "1", "--scores-file", commandtest.Pipe(t)},
		"sensitivities": {"recommend", "--eps", "1", "--scores", "1,2", "--sensitivities", commandtest.Pipe(t)},
		"domain":        {"verify", "--mechanism", "pf", "--eps", "1", "--domain", commandtest.Pipe(t)},
		"neighbors":     {"audit", "--eps", "1", "--pmf-exec", "true", "--neighbors", commandtest.Pipe(t)},
		"table":         {"audit", "--eps", "1", "--pmf-file", commandtest.Pipe(t)},
		"histogram":     {"evaluate", "--task", "mode", "--eps", "1", "--histogram", commandtest.Pipe(t)},
		"certificate":   {"check", commandtest.Pipe(t)},
		"export":        {"check", "--vipr", commandtest.Pipe(t), commandtest.Pipe(t)},
	})
	// A pipe for the certificate does not hold up the answer.
	for limit := 2; ; limit *= 4 { // again where a busy machine needs longer for the answer
		e := commandtest.Spawn(t, []string{"-n", "3", "-k", "3", "--eps", "0.5", "--json", "--time-limit", fmt.Sprint(limit, "s"), "--cert", commandtest.Pipe(t)})
		doc := e.Check(t, command.Undecided)
		if _, cut := doc["undecided"]; !cut || limit > 2 {
			assert.NotContains(t, doc, "undecided", "the answer itself is complete")
			assert.Contains(t, e.Err, "--cert")
			break
		}
	}
}

// A line that the end of the context cuts off is not judged.
func TestCutLines(t *testing.T) {
	path := commandtest.Pipe(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if assert.NoError(t, err) {
			_, _ = w.WriteString("1\n2\n-")
			cancel(command.ErrInterrupted)
		}
	}()
	q := job.New[job.PMF]()
	q.ScoresFile, q.Eps = path, "1"
	_, err := job.Ask(ctx, &job.Host{Open: command.Open}, q)
	assert.ErrorIs(t, err, command.ErrInterrupted)
}

// A table whose reading a limit or a signal ends is not judged by the line that this cuts off.
func TestCutTables(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"audit":  {"audit", "--eps", "1", "--json", "--pmf-file"},
		"labels": {"audit", "--eps", "1", "--json", "--outcomes", "labels", "--pmf-file"},
		"ratio":  {"-n", "2", "-k", "1", "--eps", "1", "--json", "--pmf-file"},
	} {
		for _, limited := range []bool{false, true} {
			path := commandtest.Pipe(t)
			file, err := os.OpenFile(path, os.O_RDWR, 0) // which does not wait for a reader
			require.NoError(t, err)
			_, err = file.WriteString(`{"scores":[0,0],"pmf":["1/2"`)
			require.NoError(t, err)
			var e commandtest.Ended
			if args := append(slices.Clone(args), path); limited {
				e = commandtest.Spawn(t, append(args, "--time-limit", "300ms"))
				e.Check(t, command.Undecided)
				assert.Contains(t, e.Err, "time limit", name)
			} else {
				e = commandtest.Answered(t, args, syscall.SIGTERM)
				e.Check(t, command.Interrupted)
			}
			assert.NotContains(t, e.Out+e.Err, "unexpected end of JSON", name)
			assert.NotContains(t, e.Out+e.Err, "bad file", name)
			require.NoError(t, file.Close())
		}
	}
}

// What waits at the other end of a pipe is read and written.
func TestPipesWork(t *testing.T) {
	in, out := commandtest.Pipe(t), commandtest.Pipe(t)
	go func() { _ = os.WriteFile(in, []byte("0\n-1\n"), 0o600) }()
	e := commandtest.Spawn(t, []string{"pmf", "--scores-file", in, "--exp-eps", "2", "--json"})
	assert.Len(t, e.Check(t, command.Done)["pmf"], 2)
	written := make(chan string)
	go func() {
		text, err := os.ReadFile(out)
		assert.NoError(t, err)
		written <- string(text)
	}()
	e = commandtest.Spawn(t, []string{"-n", "3", "-k", "2", "--exp-eps", "2", "--json", "--cert", out})
	e.Check(t, command.Done)
	assert.Contains(t, <-written, "\nend")
}

// Input that has no end is not read for ever.
func TestEndlessInput(t *testing.T) {
	for _, args := range [][]string{
		{"audit", "--eps", "1", "--pmf-exec", "true", "--neighbors", "/dev/zero"},
		{"audit", "--eps", "1", "--pmf-file", "/dev/zero"},
		{"verify", "--mechanism", "pf", "--eps", "1", "--domain", "/dev/zero"},
		{"pmf", "--eps", "1", "--scores-file", "/dev/zero"},
		{"evaluate", "--task", "mode", "--eps", "1", "--histogram", "/dev/zero"},
		{"check", "/dev/zero"},
	} {
		e := commandtest.Spawn(t, args)
		assert.Equal(t, command.Usage, e.Code, "%v: %s", args, e.Err)
		assert.Equal(t, 1, strings.Count(e.Err, "\n"), e.Err)
	}
}

// Memory is bounded: a job that would take gigabytes ends at its limit.
func TestMemoryLimit(t *testing.T) {
	e := commandtest.Spawn(t, []string{"ratio", "-n", "9", "-k", "9", "--eps", "0.3", "--mechanism", "pf", "--method", "lumped", "--json", "--max-memory", "8M"})
	e.Check(t, command.Undecided)
	assert.Contains(t, e.Err, "the memory limit of 8M was reached")
}

// What cannot be written is no success, and costs nothing of what can.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	e := commandtest.Spawn(t, []string{"-n", "3", "-k", "3", "--eps", "0.5", "--json", "--cert", "/dev/full"})
	doc := e.Check(t, command.Usage)
	assert.Contains(t, doc, "optimum")
	assert.Contains(t, e.Err, "--cert \"/dev/full\": not written: no space left on device")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	for _, args := range [][]string{{"--help"}, {"verify", "--help"}, {"mechanisms"}, {"-n", "3", "-k", "2", "--exp-eps", "2"}, {"-n", "3", "-k", "2", "--exp-eps", "2", "--json"}} {
		var errs strings.Builder
		code := Run(context.Background(), args, strings.NewReader(""), full, &errs)
		assert.Equal(t, command.Usage, code, args)
		assert.Equal(t, "optratio: standard output: no space left on device; what is written there is incomplete\n", errs.String(), args)
	}
}

// A job that has ended before it starts answers too.
func TestCancelledBeforehand(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(command.ErrInterrupted)
	var out, errs strings.Builder
	code := Run(ctx, []string{"-n", "4", "-k", "4", "--eps", "0.5", "--json"}, strings.NewReader(""), &out, &errs)
	assert.Equal(t, command.Interrupted, code)
	assert.True(t, json.Valid([]byte(out.String())))
}
