package lp

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/internal/heterogeneous"
	"optratio/mechanisms"
	"optratio/number"
)

// answered returns the answer to a request at e^ε, with permute-and-flip and the exponential mechanism rated.
func answered(t *testing.T, e string, r Request) *Answer {
	t.Helper()
	var err error
	r.Epsilon, err = number.ParseExp(e)
	require.NoError(t, err)
	for _, name := range []string{"pf", "em", "geo"} {
		m, err := mechanisms.Lookup(name)
		require.NoError(t, err)
		r.Mechanisms = append(r.Mechanisms, m)
	}
	r.Gap = big.NewRat(1, 1e9)
	a, err := Ratio(context.Background(), r)
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
		same, err := Losses(depths)
		require.NoError(t, err)
		for _, o := range []Prior{{}, Box()} {
			for _, level := range []Level{Paper, DP, Monotone, Full} {
				for _, e := range []string{"5/4", "8/5"} {
					r := Request{N: size[0], K: size[1], Prior: o, Level: level, Method: methodLP}
					want := answered(t, e, r)
					r.Loss = same
					got := answered(t, e, r)
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
	prior := func(p Prior, err error) Prior {
		require.NoError(t, err)
		return p
	}
	fraction := func(s string) *big.Rat { x, _ := new(big.Rat).SetString(s); return x }
	steep, err := Losses([]*big.Rat{new(big.Rat), new(big.Rat), fraction("2/7"), fraction("1e9")})
	require.NoError(t, err)
	cases := []Request{
		{N: 1, K: 2, Loss: Loss{kind: "square"}},
		{N: 3, K: 3, Loss: steep, Prior: Box()},
		{N: 3, K: 3, Loss: Loss{kind: "top1"}, Prior: prior(ParsePrior("geometric:3"))},
		{N: 4, K: 2, Prior: prior(Product([]*big.Rat{fraction("1/3"), fraction("5e20"), new(big.Rat)}))},
		{N: 3, K: 3, Loss: Loss{kind: "square"}, Prior: prior(Weighted([][]int{{0, 1, 2}, {0, 0, 3}, {3, 1, 0}}, []*big.Rat{fraction("1"), fraction("2/3"), fraction("1e-9")}))},
	}
	for i, r := range cases {
		for _, level := range []Level{Paper, DP, Monotone, Full} {
			for _, e := range []string{"5/4", "3"} {
				r.Level, r.Method = level, methodLP
				got := answered(t, e, r)
				p, err := newProgram(context.Background(), &got.request)
				require.NoError(t, err)
				want, err := p.solve(context.Background(), new(big.Rat), nil)
				require.NoError(t, err)
				require.True(t, arith.IsExact(got.Optimum))
				require.True(t, arith.IsExact(want.optimum()))
				assert.Equal(t, want.optimum(), got.Optimum, "case %d, %v, e^ε = %s", i, level, e)
			}
		}
	}
}

// Equal sensitivities on a grid of integers, mechanisms shift-invariant: the same question to the program over all score vectors.
// There a vector counts for its shifts within the grid, which is the box objective.
func TestResolutionsAgreeWithTheGridProgram(t *testing.T) {
	for _, c := range []struct{ n, k, l int }{{2, 2, 1}, {2, 2, 2}, {2, 2, 3}, {3, 1, 2}, {3, 2, 2}, {3, 1, 3}, {3, 1, 4}} {
		for _, e := range []string{"3/2", "4"} {
			got := answered(t, e, Request{N: c.n, K: c.k, Step: c.l, Prior: Box(), Level: DP})
			// scores in steps of the lattice: 2Δ = L
			grid := heterogeneous.Grid{From: new(big.Rat), Step: big.NewRat(1, 1), Steps: c.k * c.l, ShiftInvariant: true}
			for range c.n {
				grid.Sensitivities = append(grid.Sensitivities, big.NewRat(int64(c.l), 2))
			}
			want, err := heterogeneous.Solve(context.Background(), heterogeneous.Request{
				Grid: grid, Epsilon: got.request.Epsilon, Mechanisms: got.request.Mechanisms,
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
func varied(t *testing.T, ctx context.Context, eps string, r Request) *Answer {
	t.Helper()
	var err error
	r.Epsilon, err = number.ParseEpsilon(eps)
	require.NoError(t, err)
	geo, err := mechanisms.Lookup("geo")
	require.NoError(t, err)
	r.Mechanisms = []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), mechanisms.Exponential(), geo}
	a, err := Ratio(ctx, r)
	require.NoError(t, err)
	require.Len(t, a.Mechanisms, 3)
	return a
}

// Where a lattice is too large, or time is over, theorems answer as far as they go, and what is not known is said.
func TestVariedRequestsWithinLimits(t *testing.T) {
	top := Request{N: 400, K: 40, Step: 2, Loss: Loss{kind: "top1"}, Worst: true, Level: DP}
	a := varied(t, context.Background(), "0.7", top)
	assert.Equal(t, proofClosedForm, a.Proof)
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
	stopped, err := Ratio(ctx, r)
	require.NoError(t, err)
	assert.Equal(t, "enough", stopped.Undecided)
	low, _ := stopped.Optimum.Lower()
	assert.Positive(t, low.Sign(), "the theorem's bound")
	// The uniform prior and another loss: a theorem settles permute-and-flip, without enumeration.
	r = Request{N: 1000, K: 100, Loss: Loss{kind: "square"}, Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()}, Epsilon: r.Epsilon}
	a, err = Ratio(context.Background(), r)
	require.NoError(t, err)
	assert.Empty(t, a.Undecided)
	assert.Equal(t, proofRecurrence, a.Proof)
	assert.True(t, a.PFOptimal != nil && *a.PFOptimal)
	r.Method, r.N, r.K, r.Worst, r.Loss = methodClosedForm, 3, 3, true, Loss{}
	_, err = Ratio(context.Background(), r)
	assert.ErrorIs(t, err, errMethod, "no theorem about the worst expected error")
}

// The worked example of research/docs/minimax.md by theorem and by program.
func TestVariedExamples(t *testing.T) {
	for level, want := range map[Level]string{DP: "0.33181", Monotone: "0.39781"} {
		for _, method := range []string{methodClosedForm, methodLP} {
			a := varied(t, context.Background(), "0.7", Request{N: 3, K: 3, Loss: Loss{kind: "top1"}, Worst: true, Level: level, Method: method})
			low, _ := a.Optimum.Lower()
			assert.Equal(t, want, low.FloatString(5), "%v %v", level, method)
			assert.InDelta(t, 0.41439, a.Mechanisms[0].Error.Float64(), 5e-6)
		}
	}
}

// Thresholds of product priors, by theorem and by exact optima of the program; the loss makes no difference.
func TestVariedThresholds(t *testing.T) {
	geometric := func(text string) Prior {
		p, err := ParsePrior("geometric:" + text)
		require.NoError(t, err)
		return p
	}
	steep := geometric("3")
	base := Request{N: 3, K: 2, Gap: big.NewRat(1, 100)}
	for _, loss := range []Loss{Loss{}, Loss{kind: "top1"}, Loss{kind: "square"}} {
		for _, prior := range []Prior{{}, geometric("4/5"), steep} {
			r := base
			r.Loss, r.Prior = loss, prior
			a, err := Threshold(context.Background(), r, nil)
			require.NoError(t, err)
			r.Method = methodLP
			b, err := Threshold(context.Background(), r, nil)
			require.NoError(t, err)
			require.Empty(t, a.Undecided+b.Undecided, "%s %v", loss, prior)
			assert.Equal(t, a.Exp[0].RatString(), b.Exp[0].RatString(), "%s %v", loss, prior)
			assert.Equal(t, a.Exp[1].RatString(), b.Exp[1].RatString(), "%s %v", loss, prior)
			assert.Equal(t, [2]string{proofTheorem, proofLP}, [2]string{a.Proof, b.Proof})
			if prior.String() == steep.String() { // 3z + 9z² = 1: z = (√5 - 1)/6, e^ε = 3 (√5 + 1)/2 = 4.854…
				low, _ := a.Exp[0].Float64()
				high, _ := a.Exp[1].Float64()
				assert.Less(t, low, 4.8542)
				assert.Greater(t, high, 4.8541)
			}
		}
	}
	all, none := base, base
	all.Prior, none.Step = geometric("1/2"), 2
	a, err := Threshold(context.Background(), all, nil)
	require.NoError(t, err)
	assert.Equal(t, "0", a.Ends[1].String())
	a, err = Threshold(context.Background(), none, nil)
	require.NoError(t, err)
	assert.True(t, a.Ends[1].IsInf() && a.Ends[0].IsInf())
	none.Method = methodLP
	_, err = Threshold(context.Background(), none, nil)
	assert.ErrorIs(t, err, errMethod)
	box := base
	box.Prior, box.Loss = Box(), Loss{kind: "top1"}
	_, err = Threshold(context.Background(), box, nil)
	assert.ErrorContains(t, err, "ask for the ratio at one epsilon")
}

// With the prior ρ^v, ρ = 1/2, permute-and-flip is optimal at every ε: 0.05 is one.
func TestGeometricPriorAtASmallEpsilon(t *testing.T) {
	prior, err := ParsePrior("geometric:" + big.NewRat(1, 2).RatString())
	require.NoError(t, err)
	for _, method := range []string{methodAuto, methodLP} {
		a := varied(t, context.Background(), "0.05", Request{N: 3, K: 6, Prior: prior, Method: method})
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
	a := varied(t, context.Background(), "0.24", Request{N: 3, K: 10, Loss: Loss{kind: "top1"}})
	require.Empty(t, a.Undecided)
	assert.Equal(t, "1.0515", a.Mechanisms[0].Ratio.Format(5)[:6])
}

// At ε = 30 multipliers of the size of z = 10^-13 decide, beside losses of about 1: the solver sees them through a magnifying glass that cuts off
// what is far away.
func TestTinyMultipliersDecide(t *testing.T) {
	a := varied(t, context.Background(), "30", Request{N: 3, K: 1, Step: 2, Worst: true, Loss: Loss{kind: "square"}, Level: Monotone})
	require.Empty(t, a.Undecided)
	assert.Equal(t, "9.3576e-14", a.Optimum.Format(5)[:6]+"e-14")
}

// δ = 0 is privacy towards all neighbors: the same answer, exactly, with theorems and without.
func TestDeltaZeroIsPure(t *testing.T) {
	for _, size := range [][2]int{{1, 2}, {2, 3}, {3, 3}, {4, 2}, {3, 4}} {
		for _, e := range []string{"5/4", "3/2", "5/2"} {
			for _, method := range []string{methodAuto, methodLP} {
				r := Request{N: size[0], K: size[1], Level: DP, Method: method}
				want := answered(t, e, r)
				r.Level, r.Delta = Paper, new(big.Rat)
				got := answered(t, e, r)
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
	for _, o := range []Prior{{}, Box()} {
		rated := func(delta *big.Rat) number.Number {
			r, err := Ratio(context.Background(), Request{N: 100, K: 20, Epsilon: eps, Prior: o, Delta: delta, Mechanisms: []mechanisms.Mechanism{mechanisms.Exponential()}})
			require.NoError(t, err)
			require.Len(t, r.Mechanisms, 1)
			return r.Mechanisms[0].Error
		}
		assert.Equal(t, rated(nil).Format(9), rated(big.NewRat(1, 100_000)).Format(9))
		assert.NotContains(t, rated(big.NewRat(1, 100_000)).Format(9), "[")
	}
}

func TestDeltaIsChecked(t *testing.T) {
	for _, r := range []Request{
		{N: 2, K: 2, Delta: big.NewRat(-1, 10)}, {N: 2, K: 2, Delta: big.NewRat(11, 10)},
		{N: 2, K: 2, Delta: big.NewRat(1, 10), Level: Monotone}, {N: 2, K: 2, Delta: big.NewRat(1, 10), Level: Full},
		{N: 2, K: 2, Delta: big.NewRat(1, 10), Method: methodLumped},
	} {
		_, err := Ratio(context.Background(), r)
		assert.Error(t, err)
	}
}

// What is left out and what is spelled out is one question: the same answer, by the same engine.
func TestSpelledOutIsThePlainQuestion(t *testing.T) {
	for _, prior := range []Prior{{}, Box()} {
		r := Request{N: 4, K: 3, Prior: prior, Method: methodLP}
		want := answered(t, "3/2", r)
		spelled, err := ParsePrior(prior.String())
		require.NoError(t, err)
		r.Prior, r.Step, r.Loss = spelled, 1, Loss{}
		assert.True(t, r.published())
		got := answered(t, "3/2", r)
		assert.Equal(t, want.evidence.(*proof).Dual, got.evidence.(*proof).Dual)
		assert.Equal(t, want.Mechanisms, got.Mechanisms)
		assert.Equal(t, want.Pivots, got.Pivots)
	}
}

// At δ = 0 the linear-time test decides whether permute-and-flip is optimal, as it does without a δ, also where no theorem is about the prior.
func TestDeltaZeroKnowsWherePermuteAndFlipIsOptimal(t *testing.T) {
	for _, e := range []string{"101/100", "3/2", "3"} {
		r := Request{N: 3, K: 2, Prior: Box(), Level: DP, Loss: Loss{kind: "square"}}
		want := answered(t, e, r)
		r.Delta = new(big.Rat)
		got := answered(t, e, r)
		require.NotNil(t, got.PFOptimal)
		assert.Equal(t, want.PFOptimal, got.PFOptimal)
		assert.Equal(t, want.Optimum, got.Optimum)
		assert.Equal(t, want.Proof, got.Proof)
	}
}
