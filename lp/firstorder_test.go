package lp

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/number"
)

// large lists programs that the first-order method is used for.
var large = []struct {
	n, k int
	exp  string
}{{6, 8, "3/2"}, {4, 17, "5/4"}, {9, 5, "3/2"}}

func largeProgram(t *testing.T, n, k int, exp string) *program {
	eps, err := number.ParseExp(exp)
	require.NoError(t, err)
	p := testProgram(t, n, k, Prior{}, Paper, eps)
	require.GreaterOrEqual(t, len(p.vars.Orbit), firstOrderVariables)
	return p
}

// TestFirstOrderAgainstSimplex: whatever path leads there, the exact optimum is the same, and the bounds proved on the way enclose it.
// TestBoundsWithinLessMemory: where the simplex method has no room, the first-order method goes on until the bounds are as close as asked.
func TestBoundsWithinLessMemory(t *testing.T) {
	r := Request{N: 6, K: 6, Epsilon: decimalEps(t, "0.5"), Gap: big.NewRat(1, 1e6), Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()}}
	want, err := Ratio(t.Context(), r)
	require.NoError(t, err)
	for level, undecided := range map[Level]bool{Paper: false, Monotone: true} {
		r.Level, r.MaxMemory = level, 5e6
		require.Less(t, r.MaxMemory, r.programMemory().Int64())
		a, err := Ratio(t.Context(), r)
		require.NoError(t, err)
		assert.Equal(t, undecided, a.Undecided != "", a.Undecided)
		if !undecided {
			assert.Equal(t, [2]string{"first-order", proofLP}, [2]string{a.Solver, a.Proof})
			low, _ := want.Optimum.Lower()
			high, _ := a.Optimum.Upper()
			assert.LessOrEqual(t, low.Cmp(high), 0)
		}
	}
	r.MaxMemory, r.Level = 100_000, Paper
	a, err := Ratio(t.Context(), r)
	require.NoError(t, err)
	assert.Contains(t, a.Undecided, "over the limit of 100 kB")
}

// led makes a program go through the first-order method.
func led(p *program, gap *big.Rat) *program {
	p.Chains.Lead = p.firstOrder(gap).lead
	return p
}

func TestFirstOrderAgainstSimplex(t *testing.T) {
	for i, c := range large {
		if i > 0 && !slowtest.Enabled {
			break
		}
		var early []*proof
		with, err := led(largeProgram(t, c.n, c.k, c.exp), new(big.Rat)).solve(t.Context(), new(big.Rat), func(s *proof) { early = append(early, s) })
		require.NoError(t, err)
		require.Empty(t, with.Undecided)
		assert.True(t, with.Led)
		direct := solution(t, largeProgram(t, c.n, c.k, c.exp), new(big.Rat))
		assert.False(t, direct.Led)
		assert.Zero(t, with.Lower.Cmp(direct.Lower), "%v: %s against %s", c, with.Lower, direct.Lower)
		assert.Zero(t, with.Upper.Cmp(with.Lower))
		require.Greater(t, len(early), 2)
		for _, s := range early {
			assert.LessOrEqual(t, s.Lower.Cmp(direct.Lower), 0)
			assert.GreaterOrEqual(t, s.Upper.Cmp(direct.Lower), 0)
		}
		assert.True(t, early[1].Optimum().Within(big.NewRat(1, 1000)), "%v: the bounds of the first-order method are wide", c)
	}
}

// TestFirstOrderIsReproducible: its numbers depend neither on time nor on the number of processors.
func TestFirstOrderIsReproducible(t *testing.T) {
	run := func() *firstOrder {
		o := largeProgram(t, 6, 9, "7/5").firstOrder(big.NewRat(1, 1e4))
		o.run(context.Background(), nil, func() bool { return false })
		return o
	}
	a, b := run(), run()
	assert.Equal(t, a.ascent.Iterations, b.ascent.Iterations)
	assert.Equal(t, a.ascent.Image, b.ascent.Image)
	assert.Equal(t, a.ascent.Best, b.ascent.Best)
}

// TestFirstOrderReachesTheGapByItself: where the injections have not settled, both bounds go on, to the gap that is asked for.
func TestFirstOrderReachesTheGapByItself(t *testing.T) {
	slowtest.Only(t)
	p := testProgram(t, 7, 7, Prior{}, Paper, decimalEps(t, "0.2"))
	gap := big.NewRat(1, 1e6)
	s := solution(t, led(p, gap), gap)
	assert.True(t, s.Led && !s.Crossed)
	assert.True(t, s.Optimum().Within(gap))
	o := p.firstOrder(gap)
	o.run(context.Background(), nil, func() bool { return false })
	assert.Equal(t, float64(balanceSpread), o.ascent.Spread)
	assert.Greater(t, o.ascent.Iterations, balanceIterations)
}

// TestFirstOrderBoundsHoldForAnyPoint: the bounds are evaluated, not believed. A spoilt image and dual give wide ones, or none.
func TestFirstOrderBoundsHoldForAnyPoint(t *testing.T) {
	exact := solution(t, largeProgram(t, 6, 8, "3/2"), new(big.Rat)).Lower
	spoil := map[string]func(i int, v float64) float64{
		"shrunk":   func(i int, v float64) float64 { return v * (1 - 1e-3*float64(i%7)) },
		"constant": func(int, float64) float64 { return 0.25 },
		"negative": func(_ int, v float64) float64 { return -v },
		"infinite": func(i int, v float64) float64 { return v / float64(i%5) },
		"nothing":  func(int, float64) float64 { return math.NaN() },
	}
	for name, f := range spoil {
		p := largeProgram(t, 6, 8, "3/2")
		o := p.firstOrder(big.NewRat(1, 1e9))
		o.run(t.Context(), nil, func() bool { return false })
		for i, v := range o.ascent.Image.X {
			o.ascent.Image.X[i] = f(i, v)
		}
		for i, v := range o.ascent.Best {
			o.ascent.Best[i] = f(i, v)
		}
		p.Chains.Lead = func(_ context.Context, show func([]float64, []*big.Rat) bool) (linear.Start, string) {
			show(o.masses(), o.sums())
			return linear.Start{}, "enough"
		}
		s, err := p.solve(t.Context(), new(big.Rat), nil)
		require.NoError(t, err)
		assert.Equal(t, "enough", s.Undecided)
		assert.LessOrEqual(t, s.Lower.Cmp(exact), 0, name)
		assert.GreaterOrEqual(t, s.Upper.Cmp(exact), 0, name)
	}
}

// TestStoppedFirstOrderKeepsItsBounds: what was proved before the end is in the answer.
func TestStoppedFirstOrderKeepsItsBounds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r := Request{N: 6, K: 8, Epsilon: expEps(t, 3, 2), Method: methodLP, Mechanisms: pfAndEM(t)[:1], Report: func(pivots int, _ float64) {
		if pivots > 500 {
			cancel(errors.New("enough"))
		}
	}}
	a, err := Ratio(ctx, r)
	require.NoError(t, err)
	assert.Equal(t, "enough", a.Undecided)
	assert.Equal(t, proofLP, a.Proof)
	assert.True(t, a.Optimum.Within(big.NewRat(1, 100)), a.Optimum)
}

// TestSmallEpsilons: as ε falls, permute-and-flip's slack in rows (T), the gain over it and the injections fall like ε^(n-1), while the multipliers grow: the
// point must still show the basis, and the crossover keep to it.
func TestSmallEpsilons(t *testing.T) {
	slowtest.Only(t)
	for _, e := range []string{"0.025", "0.1"} {
		eps, err := number.ParseEpsilon(e)
		require.NoError(t, err)
		gap := big.NewRat(1, 1e12)
		s := solution(t, led(testProgram(t, 7, 6, Prior{}, Paper, eps), gap), gap)
		assert.Less(t, s.Pivots, 300, "ε = %s", e)
		direct := solution(t, testProgram(t, 7, 6, Prior{}, Paper, eps), gap)
		assert.LessOrEqual(t, s.Lower.Cmp(direct.Upper), 0)
		assert.LessOrEqual(t, direct.Lower.Cmp(s.Upper), 0)
	}
}
