//go:build unix

package audit

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optratio/verify"
)

// asked puts the same question to a command some times and returns answers and failures as text.
func asked(t *testing.T, c *child, times int) []string {
	t.Helper()
	var out []string
	for range times {
		answer, err := c.ask(context.Background(), []byte(`{}`))
		var f *failure
		switch {
		case err == nil:
			out = append(out, string(answer))
		case errors.As(err, &f):
			out = append(out, "failure: "+f.text)
		default:
			require.NoError(t, err)
		}
	}
	return out
}

func TestChildrenThatMisbehave(t *testing.T) {
	for _, c := range []struct {
		command string
		want    []string // prefixes
		starts  int
	}{
		{`while read q; do echo a; done`, []string{"a", "a", "a"}, 1},
		{`read q; echo a`, []string{"a", "a", "a"}, 3},                                                 // one answer a start
		{`read q; printf a`, []string{"a", "a"}, 2},                                                    // no newline
		{`printf '\n\n'; while read q; do printf 'a\r\n\n'; done`, []string{"a", "a"}, 1},              // blank lines
		{`read q; echo a; exit 3`, []string{"a", "failure: exit status 3", "a"}, 2},                    // fails afterwards
		{`read q; exit 3`, []string{"failure: exit status 3", "failure: exit status 3"}, 2},            //
		{`read q; echo oh dear >&2; exit 1`, []string{"failure: exit status 1: oh dear"}, 1},           //
		{`read q; kill -SEGV $$`, []string{"failure: signal: segmentation fault"}, 1},                  //
		{`read q; exit 0`, []string{"failure: ended without an answer"}, 1},                            //
		{`exec <&-; sleep 60`, []string{"failure: no answer within 300ms"}, 1},                         // does not read
		{`read q; exec >&-; sleep 60`, []string{"failure: closed its output"}, 1},                      //
		{`read q; sleep 60`, []string{"failure: no answer within 300ms", "failure: no answer"}, 2},     //
		{`while read q; do echo a; echo b; sleep 0.1; done`, []string{"a"}, 1},                         //
		{`yes | tr -d '\n'`, []string{"failure: a line of more than 4194304 bytes"}, 1},                //
		{`yes noise >&2 & while read q; do echo a; done`, []string{"a", "a"}, 1},                       // stderr floods
		{`echo hello; while read q; do echo a; done`, []string{"hello"}, 1},                            // a greeting
		{`trap '' TERM INT HUP; read q; while :; do sleep 1; done`, []string{"failure: no answer"}, 1}, //
		{`no-such-program-at-all`, []string{"failure: exit status 127: sh: 1: no-such-program-at-all: not found"}, 1},
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			// Short only where no answer ever comes, as machines may be slow.
			ch := &child{command: c.command, timeout: 5 * time.Minute}
			if strings.Contains(strings.Join(c.want, ""), "no answer") {
				ch.timeout = 300 * time.Millisecond
			}
			got := asked(t, ch, len(c.want))
			for i, want := range c.want {
				if strings.Contains(want, "not found") { // shells word it differently
					want = "failure: exit status 127"
				}
				require.True(t, strings.HasPrefix(got[i], want), "%s: answer %d is %q, want %q", c.command, i, got[i], want)
			}
			p := ch.p
			ch.stop()
			if p != nil {
				require.ErrorIs(t, syscall.Kill(p.guard.Cmd.Process.Pid, 0), syscall.ESRCH, "%s: not reaped", c.command)
			}
			require.Equal(t, c.starts, ch.starts, c.command)
		})
	}
}

func TestProgramsThatCannotBeStarted(t *testing.T) {
	o := samplerOptions(t, "1", 1000)
	for _, command := range []string{"no-such-program-at-all", "/dev/null", "exit 127"} {
		_, err := pmfOf(context.Background(), command, o)
		require.ErrorIs(t, err, errOptions, command)
		require.ErrorContains(t, err, "cannot be started")
		_, err = samplesOf(context.Background(), command, o)
		require.ErrorIs(t, err, errOptions, command)
		require.NotContains(t, err.Error(), "\n")
	}
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		file    string
		mode    os.FileMode
		command string
		want    string
	}{
		{"draw.py", 0o644, "draw.py --fast", `did you mean "python3 draw.py --fast"?`},
		{"draw.py", 0o755, "draw.py", `did you mean "python3 draw.py" or "./draw.py"?`},
		{"draw", 0o755, "draw 3", `did you mean "./draw 3"?`},
		{"draw", 0o644, "./draw 3", "make it executable: chmod +x ./draw"},
		{"other", 0o644, "draw 3", "give a command line for sh -c"},
	} {
		require.NoError(t, os.WriteFile(c.file, nil, c.mode))
		require.NoError(t, os.Chmod(c.file, c.mode))
		_, err := pmfOf(context.Background(), c.command, o)
		require.ErrorIs(t, err, errOptions, c.command)
		require.ErrorContains(t, err, c.want)
		require.NoError(t, os.Remove(c.file))
	}
	// One that ends so later is a finding.
	r, err := pmfOf(context.Background(), `read q; echo '{"pmf":[1]}'; read q; exit 127`, o)
	require.NoError(t, err)
	require.NotEmpty(t, r.Findings)
}

// What a child started dies with it, even where it ignores signals or keeps the pipes.
func TestGrandchildrenAreKilled(t *testing.T) {
	for _, script := range []string{
		`sleep 300 & echo $! > %s; read q; sleep 300`,                // hangs in company
		`(trap '' TERM HUP; sleep 300) & echo $! > %s; read q; exit`, // leaves a child that holds stdout
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			var text []byte
			for patience := time.Second; len(text) == 0; patience *= 4 { // until the machine is not too busy for the script to come so far
				ch := &child{command: fmt.Sprintf(script, file), timeout: patience}
				got := asked(t, ch, 1)
				require.Contains(t, got[0], "failure")
				ch.stop()
				text, _ = os.ReadFile(file)
				require.Less(t, patience, time.Minute)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			require.NoError(t, err)
			require.Eventually(t, func() bool { return !running(pid) }, time.Minute, 20*time.Millisecond, script)
		})
	}
}

// running reports whether a process exists and is no zombie that waits for somebody else.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) // no /proc here: signal 0 decides
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func TestFinishNoticesHowAProgramEnds(t *testing.T) {
	for command, want := range map[string]string{
		`while read q; do echo a; done`:             "",
		`while read q; do echo a; done; exit 4`:     "after its last answer: exit status 4",
		`while read q; do echo a; done; echo bye`:   `output that nothing had asked for: "bye"`,
		`while read q; do echo a; done; sleep 300`:  "",
		`while read q; do echo a; done; kill -9 $$`: "after its last answer: signal: killed",
	} {
		ch := &child{command: command, timeout: 5 * time.Minute}
		require.Equal(t, []string{"a"}, asked(t, ch, 1))
		if strings.Contains(command, "sleep") {
			ch.timeout = 100 * time.Millisecond
		}
		err := ch.finish()
		if want == "" {
			require.NoError(t, err, command)
		} else {
			require.EqualError(t, err, want, command)
		}
		require.Nil(t, ch.p)
	}
	require.NoError(t, (&child{}).finish())
}

func TestCancellingEndsAQuestion(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	r, err := pmfOf(ctx, "sleep 3000", Options{
		N: 2, K: 1, Domain: "lattice", Epsilon: epsilon(t, "1"), Sensitivity: big.NewRat(1, 1), Precision: new(big.Rat), program: Program{Timeout: time.Hour},
	})
	require.NoError(t, err)
	require.Equal(t, verify.Undecided, r.Find(verify.DP).Verdict)
	require.Empty(t, r.Findings)
}

// Sampling programs in shell: one that always takes the first candidate, and one that cannot count.
func TestSamplingProgram(t *testing.T) {
	o := samplerOptions(t, "0.5", 40_000)
	o.N = 2
	program := `while read q; do n=${q##*:}; n=${n%\}}; echo "{\"counts\":[$n,0]}"; done`
	r, err := samplesOf(context.Background(), program, o)
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	require.Equal(t, verify.Undecided, r.Find(verify.DP).Verdict)
	require.Equal(t, verify.Proved, r.Find(Answers).Verdict)
	require.Equal(t, "0", r.LowerBound.String())
	require.LessOrEqual(t, r.Samples, o.Budget)

	r, err = samplesOf(context.Background(), `while read q; do echo '{"counts":[7,0]}'; done`, o)
	require.NoError(t, err)
	require.Equal(t, verify.Violated, r.Verdict())
	require.Contains(t, r.Findings[0].Detail, "answered 7 samples where")
}

// Lines that answer nothing put answers out of step; they say nothing about privacy.
func TestAnswersOutOfStep(t *testing.T) {
	answer := `echo '{"pmf":[1,0]}'`
	for name, program := range map[string]string{
		"twice":   `while read q; do ` + answer + `; ` + answer + `; done`,
		"late":    `n=0; while read q; do n=$((n+1)); [ $n = 5 ] && echo debug; ` + answer + `; done`,
		"at last": `while read q; do ` + answer + `; done; ` + answer,
	} {
		o := samplerOptions(t, "1", 1000)
		o.N, o.K, o.program.Timeout = 2, 1, 5*time.Minute
		r, err := pmfOf(context.Background(), program, o)
		require.NoError(t, err)
		require.NotEmpty(t, r.Findings, name)
		require.Nil(t, r.Witness)
		require.False(t, r.TightEps.IsValid())
		for _, p := range r.Properties {
			want := verify.Undecided
			if p.Name == Answers {
				want = verify.Violated
			}
			require.Equal(t, want, p.Verdict, "%s: %s", name, p.Name)
		}
		r, err = samplesOf(context.Background(), strings.ReplaceAll(program, `"pmf":[1,0]`, `"counts":[1,0]`), o)
		require.NoError(t, err)
		require.NotEmpty(t, r.Findings, name)
	}
	// Last words that are no answer are a finding, and no more.
	o := samplerOptions(t, "1", 1000)
	o.N, o.K, o.program.Timeout = 2, 1, 5*time.Minute
	r, err := pmfOf(context.Background(), `while read q; do echo '{"pmf":["1/2","1/2"]}'; done; echo bye`, o)
	require.NoError(t, err)
	require.Equal(t, verify.Proved, r.Find(verify.DP).Verdict)
	require.Equal(t, verify.Violated, r.Find(Answers).Verdict)
}

// A sampler that once answers twice is not concluded anything from.
func TestSamplersOutOfStep(t *testing.T) {
	o := samplerOptions(t, "1", 20_000)
	o.program.Timeout = 5 * time.Minute
	r, err := samplesOf(context.Background(), `i=0; while read -r q; do
		n=${q##*:}; n=${n%\}}; i=$((i+1)); echo "{\"counts\":[$n,0,0]}"; [ $i != 60 ] || echo "{\"counts\":[$n,0,0]}"
	done`, o)
	require.NoError(t, err)
	require.Equal(t, verify.Undecided, r.Find(verify.DP).Verdict)
	require.Contains(t, r.Find(verify.DP).Reason, "cannot be told which questions")
	require.Equal(t, verify.Violated, r.Find(Answers).Verdict)
}
