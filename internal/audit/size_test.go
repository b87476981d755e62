//go:build unix

package audit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/verify"
)

// TestExpectedQuestions: where there are few pairs, the number of questions is that of different vectors; of a lattice of step 2Δ and its neighbors that is
// (2k+3)^n - (2k)^n. Where there are many it is estimated, and how many pairs there are is known all the same.
func TestExpectedQuestions(t *testing.T) {
	for _, c := range []struct {
		n, k        int
		domain      string
		least, most int64
		pairs       int64
	}{
		{3, 2, "lattice", 343 - 64, 343 - 64, 19 * 26},
		{2, 3, "half-lattice", 81 - 36, 81 - 36, 13 * 8},
		{5, 3, "lattice", 40_000, 100_000, 781 * 242}, // 51273
		{10, 5, "lattice", 1e8, 50_700_551 * 28, 50_700_551 * 28},
		{3, 1, "random", 700, 41 * 26, 40 * 26},
	} {
		o := Options{N: c.n, K: c.k, Domain: c.domain, Epsilon: epsilon(t, "1")}
		require.NoError(t, o.complete())
		_, dom, err := o.domain(0)
		require.NoError(t, err)
		assert.Equal(t, c.pairs, dom.Pairs, "%v", c)
		got := expected(dom)
		assert.LessOrEqual(t, c.least, got, "%v", c)
		assert.GreaterOrEqual(t, c.most, got, "%v", c)
	}
}

// TestTooManyQuestions: a domain that is too large is refused before the first question, with its size, unless a deadline says when to end; then the audit goes on
// until it, and what it found is a lower bound.
func TestTooManyQuestions(t *testing.T) {
	o := tableOptions(t)
	o.N, o.K, o.Brief, o.program.Timeout = 10, 5, true, time.Minute
	_, err := pmfOf(context.Background(), "exit 1", o)
	require.ErrorIs(t, err, ErrMany)
	require.ErrorIs(t, err, errOptions)
	require.ErrorContains(t, err, "the 50700551 score vectors of the lattice of 10 candidates, depth 5")
	require.ErrorContains(t, err, "questions, more than 500000")

	uniform := mechanisms.FromFloat(mechanisms.Exponential().Info(), 1e-12, func(scores []float64, _, _ float64) ([]float64, error) {
		p := make([]float64, len(scores))
		for r := range p {
			p[r] = 1 / float64(len(p))
		}
		return p, nil
	})
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	r, err := Mechanism(ctx, uniform, o)
	require.NoError(t, err)
	dp := r.Find(verify.DP)
	require.Equal(t, verify.Undecided, dp.Verdict)
	require.True(t, dp.Stopped)
	require.Zero(t, r.Find(verify.Monotone).Checked)
}

// TestTooSlow: by the first answers, or those of the first seconds, an audit that takes longer than a minute is refused, and no other one.
func TestTooSlow(t *testing.T) {
	ask := func(m *meter, answers int64, each time.Duration) error {
		for m.done < 2 {
			require.NoError(t, m.count(true))
		}
		for range answers {
			m.began = time.Now().Add(-time.Duration(m.done-1) * each)
			if err := m.count(true); err != nil {
				return err
			}
		}
		return nil
	}
	var seen [][2]int64
	m := &meter{total: 100_000, domain: "it", report: func(done, total int64) { seen = append(seen, [2]int64{done, total}) }}
	require.NoError(t, ask(m, firstAnswers-1, time.Millisecond))
	err := ask(m, 1, time.Millisecond)
	require.ErrorIs(t, err, ErrMany)
	require.ErrorContains(t, err, "it are about 100000 questions, which take about 1m40s by the first 200 answers")
	require.Equal(t, [2]int64{1, 100_000}, seen[0])
	require.NoError(t, ask(&meter{total: 50_000}, 1000, time.Millisecond))
	require.NoError(t, ask(&meter{total: 100_000, judged: true}, 1000, time.Millisecond))
	require.ErrorIs(t, ask(&meter{total: 100}, 10, 3*time.Second), ErrMany)
	require.NoError(t, ask(&meter{total: 15}, 10, 3*time.Second))
	require.NoError(t, (*meter)(nil).count(true))
}

// TestProgressHasATotal: of a sampler the budget, of a table the comparisons once there are many.
func TestProgressHasATotal(t *testing.T) {
	em := mechanisms.Exponential()
	var last [2]int64
	o := samplerOptions(t, "1", 20_000)
	o.Progress = func(done, total int64) {
		require.Greater(t, done, last[0])
		last = [2]int64{done, total}
	}
	r, err := Draws(context.Background(), em, rand.NewPCG(1, 1), o)
	require.NoError(t, err)
	require.InDelta(t, r.Samples, last[0], 2000)
	require.Equal(t, o.Budget, last[1])

	var text strings.Builder
	for a := range 6000 {
		fmt.Fprintf(&text, "{\"scores\":[%d,0],\"pmf\":[\"1/2\",\"1/2\"]}\n", a)
	}
	o = tableOptions(t)
	rows, err := ReadTable(strings.NewReader(text.String()), "t", Index, o.Precision)
	require.NoError(t, err)
	o.Properties = []verify.Property{verify.DP}
	o.Progress = func(done, total int64) { last = [2]int64{done, total} }
	_, err = rows.Audit(context.Background(), false, o)
	require.NoError(t, err)
	require.Equal(t, [2]int64{4 * 5999 / 256 * 256, 4 * 5999}, last)
}
