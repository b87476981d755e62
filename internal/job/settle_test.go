package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/document"
	"optratio/mechanisms"
	"optratio/number"
)

// Settle hands on what a computation says, in time or a little later, and has an answer where the computation has none.
func TestSettle(t *testing.T) {
	defer func(grace time.Duration) { Grace = grace }(Grace)
	Grace = 200 * time.Millisecond
	errStopped := errors.New("stopped")
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(errStopped)
	trivial := func(why string) string { return "trivial: " + why }
	for _, c := range []struct {
		name    string
		ctx     context.Context
		compute func() (string, error)
		want    string
		refused bool
	}{
		{"answer", context.Background(), func() (string, error) { return "answer", nil }, "answer", false},
		{"late answer", ended, func() (string, error) { time.Sleep(50 * time.Millisecond); return "partial", nil }, "partial", false},
		{"no answer", ended, func() (string, error) { select {} }, "trivial: stopped", false},
		{"failure", context.Background(), func() (string, error) { return "", errors.New("solver failed") }, "trivial: solver failed", false},
		{"cause", ended, func() (string, error) { return "", fmt.Errorf("late: %w", errStopped) }, "trivial: late: stopped", false},
		{"bad input", context.Background(), func() (string, error) { return "", mechanisms.ErrInstance }, "", true},
		{"panic", context.Background(), func() (string, error) { panic("oops") }, "trivial: internal error, please report it: oops", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Settle(c.ctx, c.compute, trivial)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.refused, err != nil)
			assert.Equal(t, c.refused, IsInput(err))
		})
	}
}

// A refusal names fields as whoever asked does, also those of a refusal inside, and nothing in its values is taken for a field.
func TestRefusals(t *testing.T) {
	inner := refusal("%d scores, want {n} %d", 2, 3)
	err := refusal("%s:%d: %w; give {exp-eps}", "{file}", 7, inner)
	assert.Equal(t, "{file}:7: 2 scores, want n 3; give exp-eps", err.Error())
	assert.Equal(t, "{file}:7: 2 scores, want <n> 3; give <exp-eps>", err.(*Refusal).Named(func(f string) string { return "<" + f + ">" }))
	assert.True(t, IsInput(err))
	assert.ErrorIs(t, refusal("{loss}: %w", context.Canceled), context.Canceled)
}

// A panic while a question is read is an error.
func TestAskRecovers(t *testing.T) {
	q := New[Optimum]()
	q.File = "problem.json"
	_, err := Ask(t.Context(), &Host{Open: func(context.Context, string) (io.ReadCloser, error) { panic("oops") }}, q)
	assert.ErrorIs(t, err, ErrInternal)
	assert.ErrorContains(t, err, "oops")
}

// The first error ends the reading, and is the error of who asked.
func TestReading(t *testing.T) {
	x, err := read(func() *big.Rat {
		refuse(false, "nothing")
		return privacyDelta("0.5")
	})
	require.NoError(t, err)
	assert.Equal(t, "1/2", x.RatString())
	_, err = read(func() *big.Rat {
		positive("sensitivity", "x")
		panic("more is read")
	})
	assert.ErrorContains(t, err, "give a decimal > 0")
	assert.True(t, IsInput(err))
	_, err = Await(t.Context(), 0, func() (*big.Rat, error) { return relativeGap("-1"), nil })
	assert.True(t, IsInput(err), "also from where it is awaited")
}

// A question's command line has what differs from the default.
func TestCommandLine(t *testing.T) {
	q := New[Ratio]()
	q.Size, q.Eps, q.Monotonic, q.Step = Size{3, 2}, "0.5", true, "delta"
	assert.Equal(t, []string{"ratio", "-n", "3", "-k", "2", "--eps", "0.5", "--step", "delta", "--monotonic-scores"}, CommandLine(q))
	p := New[Optimum]()
	p.File, p.Rate = "a problem.json", "it's"
	assert.Equal(t, `optratio optimum 'a problem.json' --rate 'it'\''s'`, CommandText(p))
	s := New[Stopping]()
	s.N, s.P = 8, "0.5"
	assert.Equal(t, "optratio stopping -n 8 --p 0.5", CommandText(s))
}

// A context that has ended leaves what is true of every error, and says so.
func TestEvaluateEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	q := New[Evaluate]()
	q.Task, q.Histogram, q.Eps = "mode", "../../testdata/spiky.csv", "1,2,3"
	h := &Host{
		Open: func(_ context.Context, path string) (io.ReadCloser, error) { return os.Open(path) },
		Begin: func(what string, at number.Epsilon) (func(string, ...any), error) {
			cancel()
			return Quietly(what, at)
		},
	}
	a, err := Ask(ctx, h, q)
	require.NoError(t, err)
	assert.Contains(t, a.Undecided, "0 of 3 ε were answered; ")
	assert.Contains(t, a.Undecided, "canceled")
	require.Len(t, a.Documents, 1)
	doc := a.Documents[0].(*document.Evaluate)
	require.Len(t, doc.Mechanisms, 2)
	_, bounded := doc.Mechanisms[1].ExpectedError.Upper()
	assert.False(t, bounded)
	lo, _ := doc.Mechanisms[1].ExpectedError.Lower()
	assert.Zero(t, lo.Sign())
}

// Score vectors and pairs as JSON lines are those that commas and semicolons separate.
func TestScoresAsJSON(t *testing.T) {
	for _, c := range [][2]string{{"0,-1,-2.5", "[0, -1, -2.5]"}, {"1/3,1e-3", `["1/3", 1e-3]`}} {
		plain, err := splitScores(c[0])
		require.NoError(t, err)
		array, err := splitScores(c[1])
		require.NoError(t, err)
		assert.Equal(t, plain, array)
	}
	plain, err := splitPair("0,-1;1,-1")
	require.NoError(t, err)
	array, err := splitPair("[[0,-1],[1,-1]]")
	require.NoError(t, err)
	assert.Equal(t, plain, array)
	for _, text := range []string{"[]", "[0", "[[0]]", "[null]", `[true]`, `["x"]`} {
		_, err := splitScores(text)
		assert.Error(t, err, text)
	}
	for _, text := range []string{"0,1", "[[0,1]]", "[[0],[1,2]]", "[[0],[1],[2]]", "0;1,2"} {
		_, err := splitPair(text)
		assert.Error(t, err, text)
	}

	path := filepath.Join(t.TempDir(), "scores")
	require.NoError(t, os.WriteFile(path, []byte("[0,-1]\n0,-2\n"), 0o644))
	in := &reading{ctx: t.Context(), Host: &Host{Open: func(_ context.Context, path string) (io.ReadCloser, error) { return os.Open(path) }}}
	vectors := in.vectors(path, "lattice")
	assert.Len(t, vectors, 2)
}
