package lumped

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lattice"
	"optratio/lp/linear"
	"optratio/mechanisms"
	"optratio/number/interval"
)

func epsilon(t testing.TB, s string) mechanisms.Epsilon {
	t.Helper()
	e, err := mechanisms.ParseEpsilon(s)
	require.NoError(t, err)
	return e
}

func expEpsilon(t testing.TB, s string) mechanisms.Epsilon {
	t.Helper()
	e, err := mechanisms.ParseExp(s)
	require.NoError(t, err)
	return e
}

// pfMean is permute-and-flip's mean error over Q(n,k) in closed form: with A = Σ v z^v, B = Σ z^v, B' = B - 1,
// A { [(k+1)^n - (k+1-B)^n]/B - [k^n - (k-B')^n]/B' } over |Q|.
func pfMean(n, k int, z float64) float64 {
	a, b := 0.0, 1.0
	for v := 1; v <= k; v++ {
		a += float64(v) * math.Pow(z, float64(v))
		b += math.Pow(z, float64(v))
	}
	part := func(top, b float64) float64 { return (math.Pow(top, float64(n)) - math.Pow(top-b, float64(n))) / b }
	return a * (part(float64(k+1), b) - part(float64(k), b-1)) / (math.Pow(float64(k+1), float64(n)) - math.Pow(float64(k), float64(n)))
}

// optimum solves the whole program of Q(n,k) in chain form with the embedded solver: one column per variable's injection. It
// shares the lattice package's chains with nothing here. A mean.
func optimum(t testing.TB, n, k int, z float64, o lattice.Objective) float64 {
	l, err := lattice.New(n, k)
	require.NoError(t, err)
	vs := l.Number()
	total, _ := new(big.Float).SetInt(lattice.Paper.Total(n, k)).Float64()
	m := &linear.Model{}
	factor := make([]float64, l.Len())
	for i, c := range l.All() {
		w, _ := new(big.Float).SetInt(lattice.Multiplicity(c)).Float64()
		m.AddRow(w/total, w/total)
		factor[i] = float64(o.Factor(c))
	}
	down := vs.DownAll()
	for j := range vs.Len() {
		entries := map[int32]float64{}
		cost, power := 0.0, 1.0
		for i := int32(j); i >= 0; i = down[i] {
			entries[vs.Orbit[i]] += power
			cost += power * float64(vs.Depth[i]) * factor[vs.Orbit[i]]
			power *= z
		}
		var index []int32
		var value []float64
		for i, v := range entries {
			index, value = append(index, i), append(value, v)
		}
		m.AddCol(cost, 0, math.Inf(1), index, value)
	}
	r, err := linear.Embedded{}.Solve(context.Background(), m, linear.Options{})
	require.NoError(t, err)
	require.Equal(t, linear.Optimal, r.Outcome)
	return r.Objective
}

// mean returns the lower end of the result over |Q|.
func mean(r *Result, n, k int) float64 {
	f, _ := r.Lower.Quo(interval.FromBig(lattice.Paper.Total(n, k), 128)).Float64()
	return f
}

func mustBound(t testing.TB, n, k int, e mechanisms.Epsilon, objective lattice.Objective, o Options) *Result {
	t.Helper()
	r, err := Bound(context.Background(), n, k, e, objective, o)
	require.NoError(t, err)
	return r
}

// TestReferenceRatios: permute-and-flip's error over the bound at ε = 1/2, from an enumeration of all orbits and two other solvers.
func TestReferenceRatios(t *testing.T) {
	z := math.Exp(-0.5)
	for _, c := range []struct {
		n, k      int
		partition Partition
		ratio     float64
		within    float64
		classes   int
	}{
		{4, 4, Coarse, 1.0271788, 1e-7, 25}, {4, 4, Fine, 1.0085803, 1e-7, 31},
		{7, 7, Coarse, 1.0334213, 4e-6, 148}, {7, 7, Fine, 1.0119288, 1e-6, 358},
		{12, 12, Coarse, 1.0364, 1e-4, 793}, {20, 5, Fine, 1.0000175, 3e-6, 1806},
	} {
		o := Options{Partition: c.partition, MaxIterations: 4000, Gap: 1e-7}
		r := mustBound(t, c.n, c.k, epsilon(t, "0.5"), lattice.Paper, o)
		assert.InDelta(t, c.ratio, pfMean(c.n, c.k, z)/mean(r, c.n, c.k), c.within, "%d,%d %v", c.n, c.k, c.partition)
		assert.Len(t, r.Classes, c.classes)
	}
}

// TestExactOptimum: (4,4), e^ε = 3/2 has the optimum 626346334019/2210794560, which the finest partition reaches.
func TestExactOptimum(t *testing.T) {
	want := big.NewRat(626346334019, 2210794560)
	for _, p := range []Partition{{Top: 5}, {}} {
		r := mustBound(t, 4, 4, expEpsilon(t, "3/2"), lattice.Paper, Options{Partition: p})
		assert.True(t, r.Converged)
		lower, _ := r.Lower.Lo().Rat(nil)
		assert.LessOrEqual(t, lower.Cmp(want), 0, "%v", p)
		gap, _ := new(big.Rat).Quo(lower.Sub(want, lower), want).Float64()
		assert.Less(t, gap, 1e-7, "%v", p)
	}
	r := mustBound(t, 4, 4, expEpsilon(t, "3/2"), lattice.Paper, Options{Partition: Fine})
	upper, _ := r.Lower.Hi().Rat(nil)
	assert.Negative(t, upper.Cmp(want), "these classes reach the optimum")
}

// TestBoundAgainstTheWholeProgram solves the program itself with another method.
func TestBoundAgainstTheWholeProgram(t *testing.T) {
	for _, c := range []struct {
		n, k int
		eps  string
	}{{3, 4, "0.2"}, {4, 3, "0.5"}, {5, 4, "0.3"}, {3, 8, "0.3"}, {2, 6, "0.4"}, {6, 2, "0.1"}, {4, 4, "1.5"}, {4, 4, "0"}} {
		e := epsilon(t, c.eps)
		z := math.Exp(-e.Float())
		for _, o := range []lattice.Objective{lattice.Paper, lattice.Box} {
			best := optimum(t, c.n, c.k, z, o)
			for _, p := range []Partition{Coarse, Fine, {Top: 1, Cap: 2}, {}} {
				b := mean(mustBound(t, c.n, c.k, e, o, Options{Partition: p}), c.n, c.k)
				assert.LessOrEqual(t, b, best*(1+1e-9), "%v %v %v", c, o, p)
				if p == (Partition{}) {
					assert.InEpsilon(t, best, b, 1e-5, "%v %v: refinement ends before the optimum", c, o)
				}
			}
		}
	}
}

// TestBoxIsAtLeastItsShells: under box the optimum is at least the sum of those of Q(n,1) to Q(n,k), and so are the bounds.
func TestBoxIsAtLeastItsShells(t *testing.T) {
	e := epsilon(t, "0.5")
	for _, p := range []Partition{Coarse, Fine, {Top: 1, Cap: 2}} {
		sum := 0.0
		for k := 1; k <= 4; k++ {
			f, _ := mustBound(t, 5, k, e, lattice.Paper, Options{Partition: p}).Lower.Float64()
			sum += f
		}
		box, _ := mustBound(t, 5, 4, e, lattice.Box, Options{Partition: p}).Lower.Float64()
		assert.Greater(t, box, sum*(1-1e-6), "%v", p)
	}
}

// TestSimplexAgrees compares the first-order method with the embedded simplex on the same lumped program.
func TestSimplexAgrees(t *testing.T) {
	z := math.Exp(-0.5)
	for _, p := range []Partition{Coarse, Fine, {Top: 1, Bottom: 2}, {Top: 2, Cap: 2}, {Top: 3, Cap: 3}} {
		prog := mustBuild(t, 5, 5, p, lattice.Paper)
		r, err := linear.Embedded{}.Solve(context.Background(), prog.model(z), linear.Options{Algorithm: linear.Primal})
		require.NoError(t, err)
		require.Equal(t, linear.Optimal, r.Outcome)
		assert.InEpsilon(t, r.Objective, mean(mustBound(t, 5, 5, epsilon(t, "0.5"), lattice.Paper, Options{Partition: p}), 5, 5), 1e-6, "%v", p)
		// Its duals, certified by the same function, prove the same.
		y := make([]*big.Rat, len(r.Duals))
		for i, v := range r.Duals {
			y[i] = new(big.Rat).SetFloat64(v)
		}
		total := interval.FromBig(lattice.Paper.Total(5, 5), 128)
		lo, _ := prog.certify(y, interval.ExpRat(big.NewRat(-1, 2), 128)).Quo(total).Float64()
		assert.InEpsilon(t, r.Objective, lo, 1e-6, "%v", p)
	}
}

// whole evaluates the dual function of the whole program at y(m), in exact arithmetic, by walking the chains of the
// lattice: y'(m) for every orbit, and the bound.
func whole(l *lattice.Lattice, y []*big.Rat, z *big.Rat, o lattice.Objective) (least []*big.Rat, bound *big.Rat) {
	vs := l.Number()
	start, order := vs.Chains()
	var factor []*big.Rat
	for _, m := range l.All() {
		factor = append(factor, big.NewRat(o.Factor(m), 1))
	}
	least = make([]*big.Rat, l.Len())
	for c := range len(start) - 1 {
		lambda := new(big.Rat)
		for i := start[c+1] - 1; i >= start[c]; i-- {
			j := order[i]
			m := vs.Orbit[j]
			v := new(big.Rat).Mul(factor[m], big.NewRat(int64(vs.Depth[j]), 1))
			v.Add(v, lambda.Mul(lambda, z))
			lambda = new(big.Rat)
			if i > start[c] {
				if lambda.Sub(v, y[m]); lambda.Sign() < 0 {
					lambda.SetInt64(0)
				}
			}
			if v.Sub(v, lambda); least[m] == nil || v.Cmp(least[m]) < 0 {
				least[m] = v
			}
		}
	}
	bound = new(big.Rat)
	for i, m := range l.All() {
		n := new(big.Rat).SetInt(lattice.Multiplicity(m))
		bound.Add(bound, n.Mul(n, least[i]))
	}
	return least, bound
}

func random(t *testing.T) *rand.Rand {
	seed := uint64(20240611)
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// TestCertifyIsTheDualFunction: at any y the value equals, exactly, that of the whole program at the expanded y with each class's
// least y'; and no y proves more than the optimum.
func TestCertifyIsTheDualFunction(t *testing.T) {
	rng := random(t)
	e := expEpsilon(t, "3/2")
	z, _ := e.Z()
	for _, s := range [][2]int{{2, 3}, {3, 4}, {4, 3}, {5, 3}, {4, 4}} {
		n, k := s[0], s[1]
		l, err := lattice.New(n, k)
		require.NoError(t, err)
		for _, o := range []lattice.Objective{lattice.Paper, lattice.Box} {
			best := optimum(t, n, k, 2.0/3, o)
			total, _ := new(big.Float).SetInt(lattice.Paper.Total(n, k)).Float64()
			for _, p := range []Partition{Coarse, Fine, {Top: 1, Bottom: 1, Cap: 2}} {
				r := mustBound(t, n, k, e, o, Options{Partition: p})
				prog := mustBuild(t, n, k, r.Partition, o)
				for trial := range 12 {
					y := slices.Clone(r.Multipliers)
					for i := range y {
						switch {
						case trial == 0: // as they are
						case trial < 6: // disturbed, by more and more
							d := new(big.Rat).SetFloat64((rng.Float64() - 0.3) * math.Pow(10, float64(trial-5)))
							y[i] = d.Add(d, y[i])
						case trial < 9: // anything
							y[i] = big.NewRat(rng.Int64N(2000)-1000, 100)
						case i == rng.IntN(len(y)) || trial == 9: // too good to be true
							y[i] = new(big.Rat).Add(y[i], big.NewRat(1, 10))
						}
					}
					got := prog.certify(y, interval.FromRat(z, 300))
					expanded := make([]*big.Rat, l.Len())
					index := map[string]int{}
					for i := range prog.classes {
						index[string(prog.classes[i].key(nil))] = i
					}
					class := make([]int, l.Len())
					for i, m := range l.All() {
						c := p.Of(m)
						class[i] = index[string(c.key(nil))]
						expanded[i] = y[class[i]]
						if trial == 0 {
							require.Zero(t, multiplierAt(r, m).Cmp(y[class[i]]))
						}
					}
					least, bound := whole(l, expanded, z, o)
					want := new(big.Rat)
					floor := make([]*big.Rat, len(y))
					for i, c := range class {
						if floor[c] == nil || least[i].Cmp(floor[c]) < 0 {
							floor[c] = least[i]
						}
					}
					for c := range y {
						w := new(big.Rat).SetInt(prog.weight[c])
						want.Add(want, w.Mul(w, floor[c]))
					}
					name := fmt.Sprintf("%v %v %v trial %d", s, o, p, trial)
					require.True(t, got.Contains(want), "%s: %v, want %s", name, got, want.FloatString(30))
					w, _ := got.Width().Float64()
					require.Less(t, w, 1e-60, name)
					require.LessOrEqual(t, want.Cmp(bound), 0, name)
					f, _ := got.Float64()
					require.LessOrEqual(t, f/total, best*(1+1e-8), "%s proves more than the optimum", name)
				}
			}
		}
	}
}

// TestRepairMakesFeasible: afterwards no class is clipped any more, so that the certified value is Σ N y.
func TestRepairMakesFeasible(t *testing.T) {
	rng := random(t)
	prog := mustBuild(t, 6, 5, Fine, lattice.Paper)
	f := prog.form(0.7)
	total := interval.FromBig(lattice.Paper.Total(6, 5), 128)
	for range 20 {
		y := make([]float64, len(prog.classes))
		for i := range y {
			y[i] = 3 * rng.NormFloat64()
		}
		before := slices.Clone(y)
		value := f.Repair(y)
		exact := make([]*big.Rat, len(y))
		for i := range y {
			require.LessOrEqual(t, y[i], before[i])
			exact[i] = new(big.Rat).SetFloat64(y[i])
		}
		lo, _ := prog.certify(exact, interval.FromFloat(0.7, 128)).Quo(total).Float64()
		require.InDelta(t, value, lo, 1e-11)
	}
}

func TestSmallAndEasyLattices(t *testing.T) {
	r := mustBound(t, 1, 5, epsilon(t, "0.5"), lattice.Paper, Options{})
	s, ok := r.Lower.Sign()
	assert.True(t, ok && s == 0)
	assert.Zero(t, multiplierAt(r, []int{1, 0, 0, 0, 0, 0}).Sign())
	// Permute-and-flip is optimal for n = 2, for k = 1 and from ε = ln 2 on.
	for _, c := range []struct {
		n, k int
		eps  string
	}{{2, 7, "0.3"}, {9, 1, "0.3"}, {6, 6, "0.7"}} {
		e := epsilon(t, c.eps)
		r := mustBound(t, c.n, c.k, e, lattice.Paper, Options{})
		assert.InEpsilon(t, pfMean(c.n, c.k, math.Exp(-e.Float())), mean(r, c.n, c.k), 1e-6, "%v", c)
	}
}

func TestLargeLattice(t *testing.T) {
	e := epsilon(t, "0.5")
	r := mustBound(t, 60, 10, e, lattice.Paper, Options{MaxIterations: 2000, MaxClasses: 3000})
	ratio := pfMean(60, 10, math.Exp(-0.5)) / mean(r, 60, 10)
	assert.Less(t, ratio, 1+1e-6)
	assert.GreaterOrEqual(t, ratio, 1.0)
}

func TestContextAndInput(t *testing.T) {
	e := epsilon(t, "0.5")
	ctx, cancel := context.WithCancel(context.Background())
	reports := 0
	r, err := Bound(ctx, 9, 9, e, lattice.Paper, Options{Report: func(p Progress) {
		if reports++; reports == 8 {
			cancel()
		}
		assert.Positive(t, p.Classes)
	}})
	require.NoError(t, err)
	assert.Equal(t, 8, reports, "goes on after its context ended")
	assert.False(t, r.Converged)
	ratio := pfMean(9, 9, math.Exp(-0.5)) / mean(r, 9, 9)
	assert.Greater(t, ratio, 1.0089, "more than the optimum, 1.0089836982")
	assert.Less(t, ratio, 1.1)

	_, err = Bound(ctx, 9, 9, e, lattice.Paper, Options{})
	assert.ErrorIs(t, err, context.Canceled)
	for _, c := range []struct {
		n, k int
		o    Options
	}{{0, 3, Options{}}, {3, 0, Options{}}, {3, 3, Options{Partition: Partition{Top: 0, Cap: 3}}}, {3, 3, Options{Partition: Partition{Top: 1, Cap: 1}}},
		{3, 3, Options{Gap: -1}}, {3, 3, Options{Improve: math.NaN()}}, {3, 3, Options{MaxClasses: -1}}} {
		_, err := Bound(context.Background(), c.n, c.k, e, lattice.Paper, c.o)
		assert.ErrorIs(t, err, ErrInput, "%v", c)
	}
	for _, o := range []Options{{MaxClasses: 5}, {MaxClasses: 30, Partition: Fine}} {
		_, err = Bound(context.Background(), 8, 8, e, lattice.Paper, o)
		assert.ErrorIs(t, err, ErrTooMany)
	}
}

// TestRefinementReachesTheProgramItself: where the limits allow it ends with one class per orbit, or close to it.
func TestRefinementReachesTheProgramItself(t *testing.T) {
	var seen []Partition
	r := mustBound(t, 6, 4, epsilon(t, "0.3"), lattice.Paper, Options{Report: func(p Progress) {
		if len(seen) == 0 || seen[len(seen)-1] != p.Partition {
			seen = append(seen, p.Partition)
		}
	}})
	assert.InEpsilon(t, optimum(t, 6, 4, math.Exp(-0.3), lattice.Paper), mean(r, 6, 4), 1e-6)
	assert.Equal(t, Fine, seen[0])
	assert.Greater(t, len(seen), 2)
	// With a lower limit it starts coarser and stays within.
	r = mustBound(t, 30, 6, epsilon(t, "0.5"), lattice.Paper, Options{MaxClasses: 150, MaxIterations: 3000})
	assert.LessOrEqual(t, len(r.Classes), 150)
	assert.NotEqual(t, Partition{}, r.Partition)
}

func BenchmarkFine1212(b *testing.B) {
	for range b.N {
		mustBound(b, 12, 12, epsilon(b, "0.5"), lattice.Paper, Options{Partition: Fine, MaxIterations: 2000})
	}
}

// multiplierAt returns the multiplier y(m) of a count vector.
func multiplierAt(r *Result, m []int) *big.Rat {
	c := r.Partition.Of(m)
	for i := range r.Classes {
		if slices.Equal(r.Classes[i].Counts, c.Counts) {
			return r.Multipliers[i]
		}
	}
	return nil
}
