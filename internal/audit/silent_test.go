//go:build unix

package audit

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optratio/verify"
)

// TestProgramsThatNeverAnswer: what never answers anything is bad input, in one line that says what to do, whatever it is asked for.
func TestProgramsThatNeverAnswer(t *testing.T) {
	echo := func(line string) string {
		return `while read q; do echo "` + strings.ReplaceAll(line, `"`, `\"`) + `"; done`
	}
	for _, c := range []struct {
		command, kind string
		want          []string // of a program that states probabilities, and of one that samples
	}{
		{`echo "No module named nothing" >&2; exit 1`, "", []string{"ends before it is asked anything: exit status 1: No module named nothing"}},
		{`echo "cannot open '/home/someone/a/folder/with/a/long/name/of/a/study/and/its/programs/nofile.py': No such file or directory" >&2; exit 2`, "",
			[]string{"programs/nofile.py': No such file or directory"}},
		{`exit 0`, "", []string{"ends before it is asked anything: ended without an answer"}},
		{`read q; echo "cannot read that" >&2; exit 2`, "", []string{"never answered: exit status 2: cannot read that"}},
		{`while read q; do sleep 60; done | cat`, "", nil}, // hangs: that is an event
		{`exec awk '{ line = line "{\"pmf\":[1]}\n" } END { printf line }'`, "", []string{"answered only when its input ended: let it flush its output after each line"}},
		{echo(`welcome`), "", []string{`answered "welcome": this is not JSON; only answers belong on its output`}},
		{echo(`{'pmf': [0.5, 0.5], 'counts': [1]}`), "", []string{"in Python, print json.dumps of it"}},
		{echo(`{'pmf': [np.float64(0.5)]}`), "", []string{"write float(x), or x.tolist()"}},
		{echo(`[0.5,0.5]`), "", []string{`write an object, {"pmf":[…]}`, `write an object, {"counts":[…]}`}},
		{echo(`{"probs":[0.5,0.5]}`), "", []string{`call it "pmf", not "probs"`, `call it "counts", not "probs"`}},
		{echo(`{}`), "", []string{`write {"pmf":[…]}`, `write {"counts":[…]}`}},
		{echo(`{"pmf":{"a":1},"counts":{"a":1}}`), "labels", []string{"these are outcomes with labels, and a list is wanted"}},
		{echo(`{"values":[1]}`), "values", []string{"these are samples one by one"}},
	} {
		for i, audit := range []func(context.Context, string, Options) (*Report, error){pmfOf, samplesOf} {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				o := samplerOptions(t, "1", 1000)
				o.N, o.K, o.program.Timeout = 2, 1, 5*time.Minute
				if strings.Contains(c.command, "awk") || c.want == nil {
					o.program.Timeout = 300 * time.Millisecond
				}
				asked := false
				if i == 0 {
					o.Progress = func(_, _ int64) { asked = true }
				}
				_, err := audit(context.Background(), c.command, o)
				require.False(t, asked, "%s: says how far it is before the first answer", c.command)
				if c.want == nil {
					require.NoError(t, err, c.command)
					return
				}
				require.ErrorIs(t, err, errOptions, c.command)
				require.ErrorContains(t, err, c.want[min(i, len(c.want)-1)], c.command)
				require.NotContains(t, err.Error(), "\n")
				var u *Unlike
				if c.kind != "" {
					require.ErrorAs(t, err, &u)
					require.Equal(t, c.kind, u.Kind, c.command)
				}
			})
		}
	}
	for _, c := range []struct {
		command, outcomes, kind string
		audit                   func(context.Context, string, Options) (*Report, error)
	}{
		{echo(`{"counts":[1,0]}`), Index, "counts", pmfOf},
		{`read q; case $q in *samples*) ;; *) echo "KeyError: 'samples'" >&2; exit 1;; esac`, Index, "counts", pmfOf},
		{echo(`{"pmf":[1,0]}`), Index, "pmf", samplesOf},
		{echo(`{"counts":[1,0]}`), Real, "counts", samplesOf},
		{echo(`{"pmf":[1,0]}`), Labels, "index", pmfOf},
		{echo(`{"counts":[1,0]}`), Labels, "index", samplesOf},
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			o := samplerOptions(t, "1", 1000)
			o.N, o.K, o.Outcomes, o.program.Timeout, o.program.Children = 2, 1, c.outcomes, 5*time.Minute, 2
			_, err := c.audit(context.Background(), c.command, o)
			var u *Unlike
			require.True(t, errors.As(err, &u), "%s: %v", c.command, err)
			require.Equal(t, c.kind, u.Kind)
		})
	}
}

// TestWhatSpeaksIsAudited: a program that once said something in the protocol, be it that it failed, is a mechanism whose failures are events.
func TestWhatSpeaksIsAudited(t *testing.T) {
	for _, command := range []string{
		`while read q; do echo '{"error":"no"}'; done`,
		`while read q; do echo '{"pmf":[NaN,NaN]}'; done`,
		`while read q; do echo '{"pmf":[1,0,0]}'; done`,
		`read q; echo '{"error":"no"}'; exit 1`,
		`while read q; do case $q in *"[0,0]"*) exit 3;; *,*,*,*,*) echo '{"pmf":["1/2","1/2"]}';; *) echo '{"pmf":[1]}';; esac; done`, // fails at the first question
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			o := samplerOptions(t, "1", 1000)
			o.N, o.K, o.program.Timeout, o.Properties = 2, 1, 5*time.Minute, []verify.Property{verify.DP}
			r, err := pmfOf(context.Background(), command, o)
			require.NoError(t, err, command)
			require.Equal(t, verify.Violated, r.Find(Answers).Verdict, command)
		})
	}
}
