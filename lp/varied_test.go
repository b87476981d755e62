package lp_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/heterogeneous"
	"optratio/internal/linear"
	"optratio/internal/totals"
	"optratio/internal/variant"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
)

// asked returns the answer to a request at e^ε, with permute-and-flip and the exponential mechanism rated.
func asked(t *testing.T, e string, r lp.Request) *lp.Answer {
	t.Helper()
	var err error
	r.Epsilon, err = number.ParseExp(e)
	require.NoError(t, err)
	for _, name := range []string{"pf", "em", "geo"} {
		m, err := mechanisms.Lookup(name)
		require.NoError(t, err)
		r.Mechanisms = append(r.Mechanisms, m)
	}
	r.Solver, r.Gap = linear.Embedded{}, big.NewRat(1, 1e9)
	a, err := lp.Ratio(context.Background(), r)
	require.NoError(t, err)
	require.Empty(t, a.Undecided)
	return a
}

// The general program and the chain form are two routes to the same optimum, at every level and both objectives.
func TestTwoRoutesToOneOptimum(t *testing.T) {
	for _, size := range [][2]int{{1, 2}, {2, 3}, {3, 3}, {4, 2}, {3, 4}} {
		var depths []*big.Rat
		for v := range size[1] + 1 {
			depths = append(depths, big.NewRat(int64(v), 1))
		}
		same, err := variant.Losses(depths)
		require.NoError(t, err)
		for _, o := range []totals.Objective{totals.Paper, totals.Box} {
			for _, level := range []lp.Level{lp.Paper, lp.DP, lp.Monotone, lp.Full} {
				for _, e := range []string{"5/4", "8/5"} {
					r := lp.Request{N: size[0], K: size[1], Objective: o, Level: level, Method: lp.Enumerated}
					want := asked(t, e, r)
					r.Loss = same
					got := asked(t, e, r)
					name := fmt.Sprint(size, o, level, e)
					assert.Equal(t, want.Optimum, got.Optimum, name)
					assert.Equal(t, want.Mechanisms, got.Mechanisms, name)
				}
			}
		}
	}
}

// The chain form and the table engine are two routes to the optimum of any loss and prior, at every level.
func TestChainsAgreeWithTheTable(t *testing.T) {
	prior := func(p variant.Prior, err error) *variant.Prior {
		require.NoError(t, err)
		return &p
	}
	fraction := func(s string) *big.Rat { x, _ := new(big.Rat).SetString(s); return x }
	steep, err := variant.Losses([]*big.Rat{new(big.Rat), new(big.Rat), fraction("2/7"), fraction("1e9")})
	require.NoError(t, err)
	cases := []lp.Request{
		{N: 1, K: 2, Loss: variant.Square()},
		{N: 3, K: 3, Loss: steep, Objective: totals.Box},
		{N: 3, K: 3, Loss: variant.Top1(), Prior: prior(variant.Geometric(fraction("3")))},
		{N: 4, K: 2, Prior: prior(variant.Product([]*big.Rat{fraction("1/3"), fraction("5e20"), new(big.Rat)}))},
		{N: 3, K: 3, Loss: variant.Square(), Prior: prior(variant.Weighted([][]int{{0, 1, 2}, {0, 0, 3}, {3, 1, 0}}, []*big.Rat{fraction("1"), fraction("2/3"), fraction("1e-9")}))},
	}
	for i, r := range cases {
		for _, level := range []lp.Level{lp.Paper, lp.DP, lp.Monotone, lp.Full} {
			for _, e := range []string{"5/4", "3"} {
				r.Level, r.Method = level, lp.Enumerated
				got := asked(t, e, r)
				q := variant.Question{N: r.N, K: r.K, Epsilon: got.Request.Epsilon, Loss: r.Loss, Neighbors: level == lp.DP || level == lp.Full, Monotone: level >= lp.Monotone}
				if q.Prior = variant.Box(); r.Objective == totals.Paper {
					q.Prior = variant.Uniform()
				}
				if r.Prior != nil {
					q.Prior = *r.Prior
				}
				p, err := variant.New(q)
				require.NoError(t, err)
				want, err := p.Solve(context.Background(), linear.Embedded{}, new(big.Rat), nil)
				require.NoError(t, err)
				exact, ok := got.Optimum.Rat()
				require.True(t, ok)
				require.True(t, want.Optimum.Exact())
				assert.Equal(t, want.Optimum.Low.RatString(), exact.RatString(), "case %d, %v, e^ε = %s", i, level, e)
			}
		}
	}
}

// Equal sensitivities on a grid of integers, mechanisms shift-invariant: the same question to the program over all score vectors.
// There a vector counts for its shifts within the grid, which is the box objective.
func TestResolutionsAgreeWithTheGridProgram(t *testing.T) {
	for _, c := range []struct{ n, k, l int }{{2, 2, 1}, {2, 2, 2}, {2, 2, 3}, {3, 1, 2}, {3, 2, 2}, {3, 1, 3}, {3, 1, 4}} {
		for _, e := range []string{"3/2", "4"} {
			got := asked(t, e, lp.Request{N: c.n, K: c.k, Step: c.l, Objective: totals.Box, Level: lp.DP})
			// scores in steps of the lattice: 2Δ = L
			grid := heterogeneous.Grid{From: new(big.Rat), Step: big.NewRat(1, 1), Steps: c.k * c.l, ShiftInvariant: true}
			for range c.n {
				grid.Sensitivities = append(grid.Sensitivities, big.NewRat(int64(c.l), 2))
			}
			want, err := heterogeneous.Solve(context.Background(), heterogeneous.Request{
				Grid: grid, Epsilon: got.Request.Epsilon, Mechanisms: got.Request.Mechanisms,
			})
			require.NoError(t, err)
			require.Empty(t, want.Undecided)
			a, _ := want.Optimum.Rat()
			b, _ := got.Optimum.Rat()
			require.NotNil(t, a)
			require.NotNil(t, b)
			assert.Zero(t, a.Cmp(b.Mul(b, big.NewRat(int64(c.l), 1))), "%v e^ε = %s: %s, %s", c, e, a, b)
			for i, m := range want.Mechanisms {
				assert.InDelta(t, m.Ratio.Float64(), got.Mechanisms[i].Ratio.Float64(), 1e-12, m.Name)
			}
		}
	}
}

// varied answers a request at ε with permute-and-flip and geometric noisy max rated.
func varied(t *testing.T, ctx context.Context, eps string, r lp.Request) *lp.Answer {
	t.Helper()
	var err error
	r.Epsilon, err = number.ParseEpsilon(eps)
	require.NoError(t, err)
	geo, err := mechanisms.Lookup("geo")
	require.NoError(t, err)
	r.Mechanisms = []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), mechanisms.Exponential(), geo}
	a, err := lp.Ratio(ctx, r)
	require.NoError(t, err)
	require.Len(t, a.Mechanisms, 3)
	return a
}

// Where a lattice is too large, or time is over, theorems answer as far as they go, and what is not known is said.
func TestVariedRequestsWithinLimits(t *testing.T) {
	top := lp.Request{N: 400, K: 40, Step: 2, Loss: variant.Top1(), Worst: true, Level: lp.DP}
	a := varied(t, context.Background(), "0.7", top)
	assert.Equal(t, lp.ProofClosedForm, a.Proof)
	assert.Contains(t, a.Undecided, "more than 2000000; use smaller n or k, or a coarser step")
	assert.Less(t, a.Mechanisms[0].Ratio.Float64(), 2.1)
	assert.Contains(t, a.Mechanisms[2].Error.String(), "[0, 1]")
	small := top
	small.N, small.K, small.MaxMemory = 4, 4, 1000
	assert.Contains(t, varied(t, context.Background(), "0.7", small).Undecided, "over the limit of 1 kB")
	small.MaxMemory = 0
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("enough"))
	r := small
	r.Mechanisms = []mechanisms.Mechanism{mechanisms.PermuteAndFlip()}
	var err error
	r.Epsilon, err = number.ParseEpsilon("0.7")
	require.NoError(t, err)
	stopped, err := lp.Ratio(ctx, r)
	require.NoError(t, err)
	assert.Equal(t, "enough", stopped.Undecided)
	low, _ := stopped.Optimum.Lower()
	assert.Positive(t, low.Sign(), "the theorem's bound")
	// The uniform prior and another loss: a theorem settles permute-and-flip, without enumeration.
	r = lp.Request{N: 1000, K: 100, Loss: variant.Square(), Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()}, Epsilon: r.Epsilon}
	a, err = lp.Ratio(context.Background(), r)
	require.NoError(t, err)
	assert.Empty(t, a.Undecided)
	assert.Equal(t, lp.ProofRecurrence, a.Proof)
	assert.True(t, a.PFOptimal != nil && *a.PFOptimal)
	r.Method, r.N, r.K, r.Worst, r.Loss = lp.ClosedForm, 3, 3, true, variant.Mean()
	_, err = lp.Ratio(context.Background(), r)
	assert.ErrorIs(t, err, lp.ErrMethod, "no theorem about the worst expected error")
}

// The worked example of research/docs/minimax.md by theorem and by program; and an ε whose e^{-ε} no rational of sensible length comes close to.
func TestVariedExamples(t *testing.T) {
	for level, want := range map[lp.Level]string{lp.DP: "0.33181", lp.Monotone: "0.39781"} {
		for _, method := range []lp.Method{lp.ClosedForm, lp.Enumerated} {
			a := varied(t, context.Background(), "0.7", lp.Request{N: 3, K: 3, Loss: variant.Top1(), Worst: true, Level: level, Method: method})
			low, _ := a.Optimum.Lower()
			assert.Equal(t, want, low.FloatString(5), "%v %v", level, method)
			assert.InDelta(t, 0.41439, a.Mechanisms[0].Error.Float64(), 5e-6)
		}
	}
	a := varied(t, context.Background(), "1e300", lp.Request{N: 3, K: 2, Loss: variant.Square()})
	assert.Equal(t, "1", a.Mechanisms[0].Ratio.String())
	assert.Contains(t, a.Undecided, "the ratio of em is not known to the gap")
}

// Thresholds of product priors, by theorem and by exact optima of the program; the loss makes no difference.
func TestVariedThresholds(t *testing.T) {
	geometric := func(text string) *variant.Prior {
		p, err := variant.ParsePrior("geometric:" + text)
		require.NoError(t, err)
		return &p
	}
	steep := geometric("3")
	base := lp.ThresholdRequest{N: 3, K: 2, Gap: big.NewRat(1, 100)}
	for _, loss := range []variant.Loss{variant.Mean(), variant.Top1(), variant.Square()} {
		for _, prior := range []*variant.Prior{nil, geometric("4/5"), steep} {
			r := base
			r.Loss, r.Prior = loss, prior
			a, err := lp.Threshold(context.Background(), r)
			require.NoError(t, err)
			r.ByLP = true
			b, err := lp.Threshold(context.Background(), r)
			require.NoError(t, err)
			require.Empty(t, a.Undecided+b.Undecided, "%s %v", loss, prior)
			assert.Equal(t, a.LowerExp.RatString(), b.LowerExp.RatString(), "%s %v", loss, prior)
			assert.Equal(t, a.UpperExp.RatString(), b.UpperExp.RatString(), "%s %v", loss, prior)
			assert.Equal(t, [2]string{lp.ProofTheorem, lp.ProofLP}, [2]string{a.Proof, b.Proof})
			if prior == steep { // 3z + 9z² = 1: z = (√5 - 1)/6, e^ε = 3 (√5 + 1)/2 = 4.854…
				low, _ := a.LowerExp.Float64()
				high, _ := a.UpperExp.Float64()
				assert.Less(t, low, 4.8542)
				assert.Greater(t, high, 4.8541)
			}
		}
	}
	everywhere, nowhere := base, base
	everywhere.Prior, nowhere.Step = geometric("1/2"), 2
	a, err := lp.Threshold(context.Background(), everywhere)
	require.NoError(t, err)
	assert.Equal(t, "0", a.Upper.String())
	a, err = lp.Threshold(context.Background(), nowhere)
	require.NoError(t, err)
	assert.True(t, a.Upper.IsInf() && a.Lower.IsInf())
	nowhere.ByLP = true
	_, err = lp.Threshold(context.Background(), nowhere)
	assert.ErrorIs(t, err, lp.ErrMethod)
	box := base
	box.Objective, box.Loss = totals.Box, variant.Top1()
	_, err = lp.Threshold(context.Background(), box)
	assert.ErrorContains(t, err, "ask for the ratio at one epsilon")
}

// With the prior ρ^v, ρ = 1/2, permute-and-flip is optimal at every ε: 0.05 is one.
func TestGeometricPriorAtASmallEpsilon(t *testing.T) {
	prior, err := variant.Geometric(big.NewRat(1, 2))
	require.NoError(t, err)
	for _, method := range []lp.Method{lp.Auto, lp.Enumerated} {
		a := varied(t, context.Background(), "0.05", lp.Request{N: 3, K: 6, Prior: &prior, Method: method})
		require.NotNil(t, a.PFOptimal)
		assert.True(t, *a.PFOptimal)
		low, _ := a.Mechanisms[0].Ratio.Lower()
		high, _ := a.Mechanisms[0].Ratio.Upper()
		assert.Zero(t, low.Cmp(big.NewRat(1, 1)))
		assert.LessOrEqual(t, high.Cmp(big.NewRat(1e9+1, 1e9)), 0)
	}
}

// Top-1 at (3,10): 1.052 near ε = 0.24.
func TestTopOneRatio(t *testing.T) {
	a := varied(t, context.Background(), "0.24", lp.Request{N: 3, K: 10, Loss: variant.Top1()})
	require.Empty(t, a.Undecided)
	assert.Equal(t, "1.0515", a.Mechanisms[0].Ratio.Format(5)[:6])
}

// At ε = 30 multipliers of the size of z = 10^-13 decide, beside losses of about 1: the solver sees them through a magnifying glass that cuts off
// what is far away.
func TestTinyMultipliersDecide(t *testing.T) {
	a := varied(t, context.Background(), "30", lp.Request{N: 3, K: 1, Step: 2, Worst: true, Loss: variant.Square(), Level: lp.Monotone})
	require.Empty(t, a.Undecided)
	assert.Equal(t, "9.3576e-14", a.Optimum.Format(5)[:6]+"e-14")
}

// δ = 0 is privacy towards all neighbors: the same answer, exactly, with theorems and without.
func TestDeltaZeroIsPure(t *testing.T) {
	for _, size := range [][2]int{{1, 2}, {2, 3}, {3, 3}, {4, 2}, {3, 4}} {
		for _, e := range []string{"5/4", "3/2", "5/2"} {
			for _, method := range []lp.Method{lp.Auto, lp.Enumerated} {
				r := lp.Request{N: size[0], K: size[1], Level: lp.DP, Method: method}
				want := asked(t, e, r)
				r.Level, r.Delta = lp.Paper, new(big.Rat)
				got := asked(t, e, r)
				assert.Equal(t, want.Optimum, got.Optimum)
				assert.Equal(t, want.Mechanisms, got.Mechanisms)
				assert.Equal(t, want.PFOptimal, got.PFOptimal)
			}
		}
	}
}

// The exponential mechanism's mean error is the same whatever δ is, on lattices too large to enumerate, too.
func TestErrorOfLargeLatticesWithDelta(t *testing.T) {
	eps, err := number.ParseEpsilon("1")
	require.NoError(t, err)
	for _, o := range []totals.Objective{totals.Paper, totals.Box} {
		rated := func(delta *big.Rat) number.Number {
			r, err := lp.Ratio(context.Background(), lp.Request{N: 100, K: 20, Epsilon: eps, Objective: o, Delta: delta, Mechanisms: []mechanisms.Mechanism{mechanisms.Exponential()}})
			require.NoError(t, err)
			require.Len(t, r.Mechanisms, 1)
			return r.Mechanisms[0].Error
		}
		assert.Equal(t, rated(nil).Format(9), rated(big.NewRat(1, 100_000)).Format(9))
		assert.NotContains(t, rated(big.NewRat(1, 100_000)).Format(9), "[")
	}
}

func TestDeltaIsChecked(t *testing.T) {
	for _, r := range []lp.Request{
		{N: 2, K: 2, Delta: big.NewRat(-1, 10)}, {N: 2, K: 2, Delta: big.NewRat(11, 10)},
		{N: 2, K: 2, Delta: big.NewRat(1, 10), Level: lp.Monotone}, {N: 2, K: 2, Delta: big.NewRat(1, 10), Level: lp.Full},
		{N: 2, K: 2, Delta: big.NewRat(1, 10), Method: lp.Lumped},
	} {
		_, err := lp.Ratio(context.Background(), r)
		assert.Error(t, err)
	}
}

// What is left out and what is spelled out is one question: the same answer, by the same engine.
func TestSpelledOutIsThePlainQuestion(t *testing.T) {
	for o, prior := range map[totals.Objective]variant.Prior{totals.Paper: variant.Uniform(), totals.Box: variant.Box()} {
		r := lp.Request{N: 4, K: 3, Objective: o, Method: lp.Enumerated}
		want := asked(t, "3/2", r)
		r.Objective, r.Step, r.Loss, r.Prior = totals.Paper, 1, variant.Mean(), &prior
		assert.False(t, r.Varied())
		got := asked(t, "3/2", r)
		assert.Equal(t, want.Evidence.Proposal, got.Evidence.Proposal)
		assert.Equal(t, want.Mechanisms, got.Mechanisms)
		assert.Equal(t, want.Pivots, got.Pivots)
		a, err := lp.Threshold(context.Background(), lp.ThresholdRequest{N: 3, K: 3, Objective: o})
		require.NoError(t, err)
		b, err := lp.Threshold(context.Background(), lp.ThresholdRequest{N: 3, K: 3, Prior: &prior})
		require.NoError(t, err)
		assert.Equal(t, a, b)
	}
}
