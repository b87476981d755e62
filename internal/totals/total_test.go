package totals

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/internal/quadrature"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

func rational(z *big.Rat) func(uint) number.Interval {
	return func(prec uint) number.Interval { return number.FromRat(z, prec) }
}

// minus encloses e^{-a/b}.
func minus(a, b int64) func(uint) number.Interval {
	return func(prec uint) number.Interval { return number.ExpRat(big.NewRat(-a, b), prec) }
}

func mustTotal(t testing.TB, n, k int, z func(uint) number.Interval, o bool, rel float64) number.Interval {
	t.Helper()
	x, err := Exponential(context.Background(), n, k, z, o, rel)
	require.NoError(t, err)
	require.LessOrEqual(t, x.RelWidth(), rel)
	return x
}

// enumerated sums W(m) Σ_v v m_v p_v over the orbits, with the probabilities of package mechanisms.
func enumerated(t testing.TB, n, k int, z *big.Rat, o bool) *big.Rat {
	m, err := mechanisms.Lookup("em")
	require.NoError(t, err)
	eps, err := number.FromExp(new(big.Rat).Inv(z))
	require.NoError(t, err)
	l, err := lattice.New(n, k)
	require.NoError(t, err)
	total := new(big.Rat)
	for _, c := range l.All() {
		depths := lattice.Depths(c)
		p, err := m.Exact(mechanisms.OnLattice(depths, eps))
		require.NoError(t, err)
		mean := new(big.Rat)
		for i, v := range depths {
			mean.Add(mean, new(big.Rat).Mul(big.NewRat(int64(v), 1), p[i]))
		}
		total.Add(total, mean.Mul(mean, new(big.Rat).SetInt(weightOf(c, o))))
	}
	return total
}

func TestTotalAgainstEnumeration(t *testing.T) {
	for _, s := range [][2]int{{2, 1}, {2, 9}, {3, 4}, {5, 3}, {4, 4}, {9, 2}} {
		for _, z := range []*big.Rat{big.NewRat(2, 3), big.NewRat(1, 50), big.NewRat(99, 100), big.NewRat(1, 1)} {
			for _, o := range []bool{false, true} {
				want := enumerated(t, s[0], s[1], z, o)
				widths := []float64{1e-12}
				if s == [2]int{3, 4} {
					widths = append(widths, 1e-3, 1e-30)
				}
				for _, rel := range widths {
					got := mustTotal(t, s[0], s[1], rational(z), o, rel)
					assert.True(t, got.Contains(want), "%v z=%v %v %g: %v does not hold %s", s, z, o, rel, got, want.FloatString(40))
				}
			}
		}
	}
}

// Depths that count for nothing are taken together: the value is the same as with all of them, at either sign of t.
func TestDeepCandidatesAreTakenTogether(t *testing.T) {
	for _, z := range []func(uint) number.Interval{rational(big.NewRat(1, 3)), minus(4, 1)} {
		for _, k := range []int{60, 300} {
			g := newIntegrand(context.Background(), 5, k, z(64), false)
			require.Less(t, len(g.powers), k)
			whole := newIntegrand(context.Background(), 5, k, z(64), false)
			whole.deep, whole.powers = 0, whole.powers[:1]
			for v := range k {
				whole.powers = append(whole.powers, whole.powers[v].Mul(z(64)))
			}
			for _, at := range []float64{0, 0.3, 7, 90, -0.5, -6} {
				x := number.FromFloat(at, 64)
				_, meet := g.at(x).Intersect(whole.at(x))
				assert.True(t, meet, "k = %d, t = %g", k, at)
				assert.Less(t, g.at(x).RelWidth(), 1e-12)
			}
		}
	}
	mustTotal(t, 4, 1_000_000, minus(1, 2), false, 1e-20)
}

func TestOneCandidateMakesNoError(t *testing.T) {
	got := mustTotal(t, 1, 7, minus(1, 2), true, 1e-12)
	s, ok := got.Sign()
	assert.True(t, ok && s == 0)
}

func TestBoxIsTheSumOfItsShells(t *testing.T) {
	for _, c := range []struct{ n, k int }{{3, 6}, {40, 5}, {1000, 3}} {
		sum := number.FromInt(0, 64)
		for j := 1; j <= c.k; j++ {
			sum = sum.Add(mustTotal(t, c.n, j, minus(1, 3), false, 1e-14))
		}
		box := mustTotal(t, c.n, c.k, minus(1, 3), true, 1e-14)
		_, ok := box.Intersect(sum)
		assert.True(t, ok, "%v: box %v, shells %v", c, box, sum)
	}
}

// pfTotal encloses permute-and-flip's total over Q(n,k): with A = Σ v z^v, B = Σ z^v, B' = B - 1,
// A { [(k+1)^n - (k+1-B)^n]/B - [k^n - (k-B')^n]/B' }.
func pfTotal(n, k int, z number.Interval) number.Interval {
	prec := z.Prec()
	one, a, b := number.FromInt(1, prec), number.FromInt(0, prec), number.FromInt(0, prec)
	for v := 1; v <= k; v++ {
		a = a.Add(number.FromInt(int64(v), prec).Mul(z.Pow(v)))
		b = b.Add(z.Pow(v))
	}
	part := func(top int, b number.Interval) number.Interval {
		x := number.FromInt(int64(top), prec)
		return x.Pow(n).Sub(x.Sub(b).Pow(n)).Quo(b)
	}
	return a.Mul(part(k+1, b.Add(one)).Sub(part(k, b)))
}

// TestReferenceRatio: at (4,4), ε = 1/2 the ratios of the two mechanisms to the optimum are 1.285406618803 and 1.008580322887.
func TestReferenceRatio(t *testing.T) {
	z := minus(1, 2)
	ratio := mustTotal(t, 4, 4, z, false, 1e-15).Quo(pfTotal(4, 4, z(128)))
	lo, hi := ratio.Float64()
	assert.InEpsilon(t, 1.285406618803/1.008580322887, lo, 2e-12)
	assert.InEpsilon(t, 1.285406618803/1.008580322887, hi, 2e-12)
}

// TestLargeLattices: permute-and-flip is never worse (McKenna & Sheldon 2020, Thm. 2), and for many candidates the
// mean error tends to Σ v z^v / Σ z^v, all depths being equally frequent.
func TestLargeLattices(t *testing.T) {
	for _, c := range []struct {
		n, k int
		a, b int64
	}{{1000000, 10, 1, 2}, {1000000, 10, 5, 1}, {1000000, 100, 1, 100}, {3, 300, 1, 10}, {1000, 100, 1, 100}} {
		z := minus(c.a, c.b)
		em := mustTotal(t, c.n, c.k, z, false, 1e-12)
		if c.n <= 1000 {
			cmp, ok := pfTotal(c.n, c.k, z(256)).Cmp(em)
			assert.True(t, ok && cmp < 0, "%v", c)
		}
		if c.n < 1000000 {
			continue
		}
		mean, _ := em.Quo(arith.FromBig(lattice.Vectors(c.n, c.k, false), 128)).Float64()
		zf, _ := z(64).Float64()
		sum, weights := 0.0, 0.0
		for v := range c.k + 1 {
			sum += float64(v) * math.Pow(zf, float64(v))
			weights += math.Pow(zf, float64(v))
		}
		assert.InEpsilon(t, sum/weights, mean, 1e-4, "%v", c)
	}
}

// decay returns panels for e^{-at} and a rule of so many nodes.
func decay(a int64, nodes int, prec uint) *panels {
	f := func(x number.Interval) number.Interval {
		return number.Exp(x.Mul(number.FromInt(-a, x.Prec())))
	}
	return &panels{quadrature.Legendre(nodes, prec), f, f}
}

// TestFewNodesStillHoldTheIntegral: ∫_0^∞ e^{-at} dt = 1/a. With few nodes, panels shrink until the errors allowed are met; as e^{-t} is
// its own tail, the integral lies above the rule's values and the tail by what the rule missed, and above the values and
// what it missed by the tail.
func TestFewNodesStillHoldTheIntegral(t *testing.T) {
	for _, a := range []int64{1, 2, 7} {
		for _, nodes := range []int{2, 3, 4, 6, 30} {
			for _, rel := range []float64{0.9, 0.1, 0.01} {
				got, err := decay(a, nodes, 128).integrate(context.Background(), rel)
				require.NoError(t, err)
				assert.True(t, got.Contains(big.NewRat(1, a)), "e^-%dt, %d nodes, %g: %v", a, nodes, rel, got)
			}
		}
	}
}

// TestFewNodesStillHoldTheTotal is the same for the integrand itself.
func TestFewNodesStillHoldTheTotal(t *testing.T) {
	z := big.NewRat(2, 3)
	for _, o := range []bool{false, true} {
		want := enumerated(t, 4, 4, z, o)
		g := newIntegrand(context.Background(), 4, 4, number.FromRat(z, 128), o)
		for _, nodes := range []int{2, 3, 5, 20} {
			for _, rel := range []float64{0.9, 0.1, 0.01} {
				q := &panels{quadrature.Legendre(nodes, 128), g.at, g.at}
				got, err := q.integrate(context.Background(), rel)
				require.NoError(t, err)
				assert.True(t, got.Contains(want), "%d nodes, %g: %v", nodes, rel, got)
			}
		}
	}
}

// TestMissed: on e^{-at}, whose integral is known, the rule is below the integral and within the bound.
func TestMissed(t *testing.T) {
	const prec = 400
	for _, a := range []int64{1, 3, 20} {
		for _, nodes := range []int{1, 2, 3, 8, 20} {
			q := decay(a, nodes, prec)
			for _, length := range []*big.Rat{big.NewRat(1, 8), big.NewRat(1, 1), big.NewRat(6, 1)} {
				from := big.NewRat(3, 2)
				to := new(big.Rat).Add(from, length)
				exact := q.at(number.FromRat(from, prec)).Sub(q.at(number.FromRat(to, prec))).Quo(number.FromInt(a, prec))
				value, err := q.value(context.Background(), from, length)
				require.NoError(t, err)
				short, bound := exact.Sub(value), q.missed(from, length)
				name := fmt.Sprintf("e^-%dt, %d nodes, length %v", a, nodes, length)
				s, ok := short.Sign()
				require.True(t, ok && s > 0, "%s: short by %v", name, short)
				holds, ok := short.LessEq(bound)
				require.True(t, ok && holds, "%s: short by %v, bound %v", name, short, bound)
			}
		}
	}
}

func TestExpNeg(t *testing.T) {
	for _, c := range []struct{ lo, hi float64 }{{0.25, 0.25}, {0.25, 0.3}, {-2, -1.5}, {0, 5}, {-1, 1}, {3, 3.0000001}} {
		x := number.NewInterval(big.NewFloat(c.lo).SetPrec(100), big.NewFloat(c.hi).SetPrec(100))
		assert.True(t, arith.Encloses(expNeg(x), number.Exp(number.FromFloat(-c.lo, 300))), "%v", c)
		assert.True(t, arith.Encloses(expNeg(x), number.Exp(number.FromFloat(-c.hi, 300))), "%v", c)
	}
}

func TestPrecisionAndContext(t *testing.T) {
	ctx := context.Background()
	vague := func(uint) number.Interval {
		return number.Hull(number.FromFloat(0.5, 64), number.FromFloat(0.5001, 64))
	}
	_, err := Exponential(ctx, 3, 3, vague, false, 1e-9)
	assert.ErrorIs(t, err, ErrPrecision)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = Exponential(ended, 3, 3, minus(1, 2), false, 1e-9)
	assert.ErrorIs(t, err, context.Canceled)
}

func BenchmarkMillionBy300(b *testing.B) {
	for range b.N {
		mustTotal(b, 1000000, 300, minus(1, 100), false, 1e-12)
	}
}

// weightOf is how many score vectors of Q(n,k), or of the box, an orbit stands for.
func weightOf(m []int, box bool) *big.Int {
	w := lattice.Multiplicity(m)
	if box {
		w.Mul(w, big.NewInt(int64(len(m)-lattice.Deepest(m))))
	}
	return w
}
