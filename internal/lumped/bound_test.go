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

	"optratio/internal/arith"
	"optratio/internal/linear"
	"optratio/internal/slowtest"
	"optratio/lattice"
	"optratio/number"
)

func epsilon(t testing.TB, s string) number.Epsilon {
	t.Helper()
	e, err := number.ParseEpsilon(s)
	require.NoError(t, err)
	return e
}

func expEpsilon(t testing.TB, s string) number.Epsilon {
	t.Helper()
	e, err := number.ParseExp(s)
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
func optimum(t testing.TB, n, k int, z float64, o bool) float64 {
	l, err := lattice.New(n, k)
	require.NoError(t, err)
	vs := l.Number()
	total, _ := new(big.Float).SetInt(lattice.Vectors(n, k, false)).Float64()
	m := &linear.Model{}
	factor := make([]float64, l.Len())
	for i, c := range l.All() {
		w, _ := new(big.Float).SetInt(lattice.Multiplicity(c)).Float64()
		m.AddRow(w/total, w/total)
		if factor[i] = 1; o {
			factor[i] = float64(int64(len(c) - lattice.Deepest(c)))
		}
	}
	down := slices.Repeat([]int32{-1}, len(vs.Up))
	for j, up := range vs.Up {
		if up >= 0 {
			down[up] = int32(j)
		}
	}
	for j := range len(vs.Orbit) {
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
	f, _ := r.Lower.Quo(arith.FromBig(lattice.Vectors(n, k, false), 128)).Float64()
	return f
}

func mustBound(t testing.TB, n, k int, e number.Epsilon, objective bool, o Options) *Result {
	t.Helper()
	r, err := Bound(context.Background(), n, k, e, objective, o)
	require.NoError(t, err)
	return r
}

// solved returns a level with the given classes, solved.
func solved(t testing.TB, n, k int, p *partition, e number.Epsilon, objective bool, iterations int) *level {
	t.Helper()
	o := Options{Gap: 1e-7, MaxClasses: defaultClasses, Improve: defaultImprove}
	s := &search{ctx: context.Background(), n: n, k: k, boxed: objective, o: o, z: math.Exp(-e.Float()), refinement: &refinement{tree: p.Tree, classes: p.boxes}}
	l, err := s.build()
	require.NoError(t, err)
	s.solve(l, math.Inf(1), iterations)
	return l
}

// TestReferenceRatios: permute-and-flip's error over the bound at ε = 1/2 with the classes of MATH's statistics, from an enumeration of all orbits and two other solvers.
func TestReferenceRatios(t *testing.T) {
	e := epsilon(t, "0.5")
	for _, c := range []struct {
		n, k, top int
		ratio     float64
		within    float64
		classes   int
	}{
		{4, 4, 1, 1.0271788, 1e-7, 25}, {4, 4, 2, 1.0085803, 1e-7, 31},
		{7, 7, 1, 1.0334213, 4e-6, 148}, {7, 7, 2, 1.0119288, 1e-6, 358},
		{12, 12, 1, 1.0364, 1e-4, 793}, {20, 5, 2, 1.0000175, 3e-6, 1806},
	} {
		l := solved(t, c.n, c.k, statistics(c.n, c.k, c.top), e, false, 4000)
		r := l.result(e.ExpNeg(big.NewRat(1, 1), 128), 0)
		assert.InDelta(t, c.ratio, pfMean(c.n, c.k, math.Exp(-0.5))/mean(r, c.n, c.k), c.within, "%v", c)
		assert.Equal(t, c.classes, r.Tree.Classes(), "%v", c)
	}
}

// TestExactOptimum: (4,4), e^ε = 3/2 has the optimum 626346334019/2210794560, which one class for each orbit reaches.
func TestExactOptimum(t *testing.T) {
	want := big.NewRat(626346334019, 2210794560)
	r := mustBound(t, 4, 4, expEpsilon(t, "3/2"), false, Options{})
	lower, _ := r.Lower.Lo().Rat(nil)
	assert.LessOrEqual(t, lower.Cmp(want), 0)
	gap, _ := new(big.Rat).Quo(lower.Sub(want, lower), want).Float64()
	assert.Less(t, gap, 1e-7)
	r = mustBound(t, 4, 4, expEpsilon(t, "3/2"), false, Options{MaxClasses: 31})
	less, _ := r.Lower.Lo().Rat(nil)
	assert.Negative(t, less.Cmp(new(big.Rat).Mul(want, big.NewRat(9999, 10000))), "these classes reach the optimum")
}

// TestBoundAgainstTheWholeProgram solves the program itself with another method.
func TestBoundAgainstTheWholeProgram(t *testing.T) {
	for _, c := range []struct {
		n, k int
		eps  string
	}{{3, 4, "0.2"}, {4, 3, "0.5"}, {5, 4, "0.3"}, {3, 8, "0.3"}, {2, 6, "0.4"}, {6, 2, "0.1"}, {4, 4, "1.5"}, {4, 4, "0"}, {9, 2, "0.3"}} {
		e := epsilon(t, c.eps)
		z := math.Exp(-e.Float())
		for _, o := range []bool{false, true} {
			best := optimum(t, c.n, c.k, z, o)
			for _, classes := range []int{2, 8, 20, 0} {
				b := mean(mustBound(t, c.n, c.k, e, o, Options{MaxClasses: classes}), c.n, c.k)
				assert.LessOrEqual(t, b, best*(1+1e-9), "%v %v, %d classes", c, o, classes)
				if classes == 0 {
					assert.InEpsilon(t, best, b, 1e-5, "%v %v: refinement ends before the optimum", c, o)
				}
			}
		}
	}
}

// TestBoxIsAtLeastItsShells: under box the optimum is at least the sum of those of Q(n,1) to Q(n,k), and with one class for each orbit so are the bounds.
func TestBoxIsAtLeastItsShells(t *testing.T) {
	e := epsilon(t, "0.5")
	sum := 0.0
	for k := 1; k <= 4; k++ {
		f, _ := mustBound(t, 5, k, e, false, Options{}).Lower.Float64()
		sum += f
	}
	box, _ := mustBound(t, 5, 4, e, true, Options{}).Lower.Float64()
	assert.Greater(t, box, sum*(1-1e-6))
}

// TestSimplexAgrees compares the first-order method with the embedded simplex on the same lumped program.
func TestSimplexAgrees(t *testing.T) {
	e := epsilon(t, "0.5")
	for name, p := range partitions(t, 5, 5) {
		for _, o := range []bool{false, true} {
			l := solved(t, 5, 5, p, e, o, 50000)
			r, err := linear.Embedded{}.Solve(context.Background(), l.program.model(math.Exp(-0.5)), linear.Options{})
			require.NoError(t, err)
			require.Equal(t, linear.Optimal, r.Outcome)
			assert.InDelta(t, r.Objective, mean(l.result(e.ExpNeg(big.NewRat(1, 1), 128), 0), 5, 5), 1e-6*r.Objective+1e-9, "%s %v", name, o)
			// Its duals, certified by the same function, prove the same.
			lo, _ := l.program.certify(r.Duals, math.Exp(-0.5), 128).Quo(arith.FromBig(lattice.Vectors(5, 5, false), 128)).Float64()
			assert.InDelta(t, r.Objective, lo, 1e-6*r.Objective+1e-9, "%s %v", name, o)
		}
	}
}

// whole evaluates the dual function of the whole program at y(m), in exact arithmetic, by walking the chains of the
// lattice: y'(m) for every orbit, and the bound.
func whole(l *lattice.Lattice, y []*big.Rat, z *big.Rat, o bool) (least []*big.Rat, bound *big.Rat) {
	vs := l.Number()
	start, order := vs.Chains()
	var factor []*big.Rat
	for _, m := range l.All() {
		copies := int64(1)
		if o {
			copies = int64(len(m) - lattice.Deepest(m))
		}
		factor = append(factor, big.NewRat(copies, 1))
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

// TestCertifyIsTheDualFunction: at any y the value is, but for rounding down, that of the whole program at the expanded y with each class's
// least y'; and no y proves more than the optimum.
func TestCertifyIsTheDualFunction(t *testing.T) {
	rng := random(t)
	e := expEpsilon(t, "3/2")
	z := new(big.Rat).SetFloat64(2.0 / 3) // at most 2/3
	require.Negative(t, z.Cmp(big.NewRat(2, 3)))
	for _, s := range [][2]int{{2, 3}, {3, 4}, {4, 3}, {5, 3}, {4, 4}} {
		n, k := s[0], s[1]
		l, err := lattice.New(n, k)
		require.NoError(t, err)
		for _, o := range []bool{false, true} {
			best := optimum(t, n, k, 2.0/3, o)
			total, _ := new(big.Float).SetInt(lattice.Vectors(n, k, false)).Float64()
			for name, p := range partitions(t, n, k) {
				lev := solved(t, n, k, p, e, o, 2000)
				for trial := range 12 {
					y := slices.Clone(lev.ascent.Best)
					for i := range y {
						switch {
						case trial == 0: // as they are
						case trial < 6: // disturbed, by more and more
							y[i] += (rng.Float64() - 0.3) * math.Pow(10, float64(trial-5))
						case trial < 9: // anything
							y[i] = 20*rng.Float64() - 10
						case i == rng.IntN(len(y)) || trial == 9: // too good to be true
							y[i] += 0.1
						}
					}
					got, _ := lev.program.certify(y, 2.0/3, 128).Lo().Rat(nil)
					expanded := make([]*big.Rat, l.Len())
					for i, m := range l.All() {
						expanded[i] = new(big.Rat).SetFloat64(y[p.Of(m)])
					}
					least, bound := whole(l, expanded, z, o)
					want := new(big.Rat)
					floor := make([]*big.Rat, len(y))
					size := 0.0
					for i, m := range l.All() {
						if c := p.Of(m); floor[c] == nil || least[i].Cmp(floor[c]) < 0 {
							floor[c] = least[i]
						}
					}
					for c := range y {
						w := new(big.Rat).SetInt(lev.program.weight[c])
						f, _ := w.Mul(w, floor[c]).Float64()
						want.Add(want, w)
						size += math.Abs(f)
					}
					name := fmt.Sprintf("%v %v %s trial %d", s, o, name, trial)
					require.LessOrEqual(t, got.Cmp(want), 0, "%s: more than in exact arithmetic", name)
					short, _ := new(big.Rat).Sub(want, got).Float64()
					require.Less(t, short, 1e-13*(size+total), name)
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
	prog := mustBuild(t, 6, 5, randomPartition(rng, 6, 5, 60), false)
	f := prog.form(0.7)
	total := arith.FromBig(lattice.Vectors(6, 5, false), 128)
	for range 20 {
		y := make([]float64, len(prog.weight))
		for i := range y {
			y[i] = 3 * rng.NormFloat64()
		}
		before := slices.Clone(y)
		value := f.Repair(y)
		for i := range y {
			require.LessOrEqual(t, y[i], before[i])
		}
		lo, _ := prog.certify(y, 0.7, 128).Quo(total).Float64()
		require.InDelta(t, value, lo, 1e-11)
	}
}

// TestWarmStart: a level starts at the bound of the one before.
func TestWarmStart(t *testing.T) {
	for _, o := range []bool{false, true} {
		s := &search{ctx: context.Background(), n: 7, k: 6, boxed: o, o: Options{Gap: DefaultGap}, z: 0.6, refinement: newRefinement(7, 6, 0.6, 1000)}
		s.refinement.grow(30)
		var err error
		s.best, err = s.build()
		require.NoError(t, err)
		s.solve(s.best, math.Inf(1), 3000)
		s.refinement.grow(100)
		l, err := s.build()
		require.NoError(t, err)
		assert.InEpsilon(t, s.best.ascent.Bound, l.ascent.Bound, 1e-12)
		for c := range s.refinement.classes {
			old := s.best.program.tree.Of(s.refinement.classes[c].any(7))
			assert.Equal(t, s.best.ascent.Best[old], l.ascent.Now.Y[c])
		}
	}
}

func TestSmallAndEasyLattices(t *testing.T) {
	r := mustBound(t, 1, 5, epsilon(t, "0.5"), false, Options{})
	s, ok := r.Lower.Sign()
	assert.True(t, ok && s == 0)
	assert.Equal(t, 1, r.Tree.Classes())
	assert.Zero(t, r.Multipliers[0].Sign())
	// Permute-and-flip is optimal for n = 2, for k = 1 and from ε = ln 2 on.
	for _, c := range []struct {
		n, k int
		eps  string
	}{{2, 7, "0.3"}, {9, 1, "0.3"}, {6, 6, "0.7"}} {
		e := epsilon(t, c.eps)
		r := mustBound(t, c.n, c.k, e, false, Options{})
		assert.InEpsilon(t, pfMean(c.n, c.k, math.Exp(-e.Float())), mean(r, c.n, c.k), 1e-6, "%v", c)
	}
}

// TestCrowdedLattices: with many candidates for each depth few classes are enough.
func TestCrowdedLattices(t *testing.T) {
	e := epsilon(t, "0.5")
	for _, c := range []struct {
		n, k    int
		classes int
		ratio   float64
	}{{60, 3, 200, 1 + 1e-9}, {80, 4, 300, 1 + 1e-9}, {60, 10, 1300, 1 + 2e-6}} {
		if c.k == 10 && !slowtest.Enabled {
			continue
		}
		ceiling := pfMean(c.n, c.k, math.Exp(-0.5))
		r := mustBound(t, c.n, c.k, e, false, Options{MaxClasses: c.classes, Target: ceiling * (1 - 5e-10)})
		ratio := ceiling / mean(r, c.n, c.k)
		assert.Less(t, ratio, c.ratio, "%v", c)
		assert.GreaterOrEqual(t, ratio, 1-1e-13, "%v", c)
	}
}

// reaches checks what is reached with a bound on the work, visits of some 10 ns each.
func reaches(t *testing.T, n, k int, eps string, work int64, ratio float64) {
	e := epsilon(t, eps)
	ceiling := pfMean(n, k, math.Exp(-e.Float()))
	r := mustBound(t, n, k, e, false, Options{MaxWork: work, Target: ceiling})
	assert.Less(t, ceiling/mean(r, n, k), ratio, "%d,%d: %d classes", n, k, r.Tree.Classes())
}

// TestTarget: (8,8) has the optimum at 1.00919563.
func TestTarget(t *testing.T) { reaches(t, 8, 8, "0.5", 100_000_000, 1.0095) }

func TestContextAndInput(t *testing.T) {
	e := epsilon(t, "0.5")
	ctx, cancel := context.WithCancel(context.Background())
	reports := 0
	r, err := Bound(ctx, 9, 9, e, false, Options{Report: func(iterations int, _ float64) {
		if reports++; reports == 20 {
			cancel()
		}
		assert.Positive(t, iterations)
	}})
	require.NoError(t, err)
	assert.Equal(t, 20, reports, "goes on after its context ended")
	ratio := pfMean(9, 9, math.Exp(-0.5)) / mean(r, 9, 9)
	assert.Greater(t, ratio, 1.0089, "more than the optimum, 1.0089836982")
	assert.Less(t, ratio, 1.2)

	_, err = Bound(ctx, 9, 9, e, false, Options{})
	assert.ErrorIs(t, err, context.Canceled)
	_, err = Bound(context.Background(), 8, 8, e, false, Options{MaxMemory: 1000})
	assert.ErrorIs(t, err, ErrTooMany)
	r = mustBound(t, 30, 6, e, false, Options{MaxClasses: 150})
	assert.LessOrEqual(t, r.Tree.Classes(), 150)
}

func BenchmarkBound1212(b *testing.B) {
	for range b.N {
		mustBound(b, 12, 12, epsilon(b, "0.5"), false, Options{MaxWork: 100_000_000})
	}
}

// TestTargets is TestTarget for lattices that cannot be enumerated: 1.4 million, 20 million and 6.9e10 orbits.
func TestTargets(t *testing.T) {
	slowtest.Only(t)
	reaches(t, 12, 12, "0.5", 300_000_000, 1.009)
	reaches(t, 20, 10, "0.5", 500_000_000, 1.0017) // 1.00131 at least: research/docs/product.md
	reaches(t, 20, 20, "0.3", 500_000_000, 1.0055)
}
