package verify

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
)

// real returns the claim of a mechanism at ε, and what theorems say of it.
func real(t *testing.T, name, eps string, n int) (Claim, *everywhere) {
	t.Helper()
	m, err := mechanisms.Lookup(name)
	require.NoError(t, err)
	e, err := number.ParseEpsilon(eps)
	require.NoError(t, err)
	p := Claim{Mechanism: m, Epsilon: e, Sensitivities: []*big.Rat{one}}
	x := &everywhere{Claim: p, n: n, e: e.Value(256), one: number.FromInt(1, 256)}
	x.a, x.z = number.Exp(x.e), number.Exp(x.e.Neg())
	return p, x
}

// family is the pair of distributions of two candidates, or of n by randomised response, at the place x from 0 to ε.
func family(name string, n int, eps, x float64) (p, q []float64) {
	z := math.Exp(-eps)
	switch name {
	case "em":
		a, b := -math.Expm1(-x)/-math.Expm1(-eps), z*math.Expm1(x)/-math.Expm1(-eps)
		return []float64{a, 1 - a}, []float64{b, 1 - b}
	case "pf":
		a, b := 1-math.Exp(-x)/2, z*math.Exp(x)/2
		return []float64{a, 1 - a}, []float64{b, 1 - b}
	case "geo":
		n = 2
	}
	total := math.Exp(eps) + float64(n-1)
	p = slices.Repeat([]float64{1 / total}, n)
	q = slices.Clone(p)
	p[0], q[1] = math.Exp(eps)/total, math.Exp(eps)/total
	return p, q
}

func stickOf(p, q []float64, t float64) (sum float64) {
	for r := range p {
		sum += max(0, p[r]-math.Exp(t)*q[r])
	}
	return sum
}

func renyiOf(p, q []float64, alpha float64) (sum float64) {
	for r := range p {
		if p[r] == 0 {
			continue
		}
		if alpha == 1 {
			sum += p[r] * math.Log(p[r]/q[r])
		} else {
			sum += p[r] * math.Exp((alpha-1)*math.Log(p[r]/q[r]))
		}
	}
	if alpha == 1 {
		return sum
	}
	return math.Log(sum) / (alpha - 1)
}

// TestTheoremsAgainstTheFamily: what the formulas say is the greatest over a dense grid of the family, below 0 too, where the formula of randomised response for t >= 0
// is wrong from three candidates on.
func TestTheoremsAgainstTheFamily(t *testing.T) {
	for _, name := range theorems {
		for _, eps := range []string{"0.05", "1", "3.5"} {
			for _, n := range []int{2, 3, 7} {
				_, x := real(t, name, eps, n)
				e := x.Epsilon.Float()
				most := func(of func(p, q []float64) float64) (best float64) {
					for i := 1; i < 4000; i++ {
						p, q := family(name, n, e, e*float64(i)/4000)
						best = max(best, of(p, q), of(q, p))
					}
					return best
				}
				for _, at := range [][2]int64{{-5, 4}, {-1, 1}, {-1, 2}, {-1, 100}, {0, 1}, {1, 4}, {9, 10}, {1, 1}, {3, 2}} {
					part := big.NewRat(at[0], at[1])
					f, _ := part.Float64()
					assert.InDelta(t, most(func(p, q []float64) float64 { return stickOf(p, q, f*e) }), x.delta(part).Float64(), 1e-6*e, "%s %s %d at %v", name, eps, n, part)
				}
				for _, alpha := range []string{"1", "1.01", "2", "5", "64"} {
					order, _ := new(big.Rat).SetString(alpha)
					f, _ := order.Float64()
					got := x.order(order)
					assert.InEpsilon(t, most(func(p, q []float64) float64 { return renyiOf(p, q, f) }), got.Float64(), 2e-5, "%s %s %d, order %s", name, eps, n, alpha)
					assert.True(t, got.Within(big.NewRat(1, 1e15)), "%s", got)
				}
			}
		}
	}
}

// TestTheoremsByTheLaw: the profile is ∫ (1-e^{t-l})₊ over the law of the loss l, which is known in closed form, too; the Rényi divergence of that law is no pair's, and above that of all pairs.
func TestTheoremsByTheLaw(t *testing.T) {
	for _, eps := range []string{"0.3", "1", "4"} {
		e, err := number.ParseEpsilon(eps)
		require.NoError(t, err)
		x := e.Float()
		for name, law := range map[string]struct {
			density func(l float64) float64
			atom    float64 // at ε
			least   float64 // at -ε
		}{
			"em": {func(l float64) float64 { return math.Exp(l/2) / (4 * math.Sinh(x/2)) }, 0, 0},
			"pf": {func(l float64) float64 { return math.Exp((l-x)/2) / 4 }, 0.5, math.Exp(-x) / 2},
		} {
			mean := func(of func(l float64) float64, from float64) float64 { // Simpson's rule
				sum, steps := 0.0, 2000
				h := (x - from) / float64(steps)
				for i := range steps + 1 {
					weight := []float64{2, 4}[i%2]
					if i == 0 || i == steps {
						weight = 1
					}
					l := from + h*float64(i)
					sum += weight * law.density(l) * of(l)
				}
				return sum*h/3 + law.atom*of(x)
			}
			_, all := real(t, name, eps, 2)
			assert.InDelta(t, 1, mean(func(float64) float64 { return 1 }, -x)+law.least, 1e-9)
			for _, at := range []*big.Rat{big.NewRat(-9, 10), big.NewRat(-1, 3), new(big.Rat), big.NewRat(1, 2)} {
				f, _ := at.Float64()
				assert.InDelta(t, mean(func(l float64) float64 { return 1 - math.Exp(f*x-l) }, f*x), all.delta(at).Float64(), 1e-9, "%s %s %v", name, eps, at)
			}
			of := math.Log(mean(func(l float64) float64 { return math.Exp(2 * l) }, -x)+law.least*math.Exp(-2*x)) / 2
			assert.Greater(t, of, all.order(big.NewRat(3, 1)).Float64()*1.0005, "%s %s", name, eps)
		}
	}
}

// TestTheoremsBoundWhatIsFound: no lattice, and no random scores, have more than the theorem, and fine lattices come near it.
func TestTheoremsBoundWhatIsFound(t *testing.T) {
	orders := []Property{"rdp:1", "rdp:1.5", "rdp:4", "rdp:64", "rdp:inf"}
	below := func(r, all *Report, name string) {
		for i := range r.Profile {
			hi, _ := all.Profile[i][1].Upper()
			lo, _ := r.Profile[i][1].Lower()
			assert.LessOrEqual(t, lo.Cmp(hi), 0, "%s at %s: %s > %s", name, r.Profile[i][0], r.Profile[i][1], all.Profile[i][1])
		}
		for i := range r.Renyi {
			hi, _ := all.Renyi[i][1].Upper()
			lo, _ := r.Renyi[i][1].Lower()
			assert.LessOrEqual(t, lo.Cmp(hi), 0, "%s, order %s: %s > %s", name, r.Renyi[i][0], r.Renyi[i][1], all.Renyi[i][1])
		}
	}
	rng := rand.New(rand.NewPCG(39, 4))
	for _, name := range theorems {
		p, _ := real(t, name, "1", 2)
		opts := Options{Properties: orders, Profile: true}
		all, err := Lattice(t.Context(), p, 3, 0, opts)
		require.NoError(t, err)
		fine := opts
		n, steps := 2, []int{1, 2, 16}
		if name == "krr" { // which is the same whatever the step
			n, steps = 3, []int{1, 2}
		}
		for _, fine.Step = range steps {
			r, err := Lattice(t.Context(), p, n, 3, fine)
			require.NoError(t, err)
			below(r, all, fmt.Sprint(name, fine.Step))
			if fine.Step == steps[len(steps)-1] {
				for i := range r.Profile {
					assert.InDelta(t, all.Profile[i][1].Float64(), r.Profile[i][1].Float64(), 2e-3, "%s at %s", name, r.Profile[i][0])
				}
				for i := range r.Renyi {
					assert.InEpsilon(t, all.Renyi[i][1].Float64(), r.Renyi[i][1].Float64(), map[bool]float64{true: 0.1, false: 5e-3}[i >= 3], "%s, order %s", name, r.Renyi[i][0])
				}
			}
		}
		var vectors [][]*big.Rat
		for range 6 {
			q := make([]*big.Rat, 3)
			for r := range q {
				q[r] = big.NewRat(rng.Int64N(4000), 1000)
			}
			vectors = append(vectors, q)
		}
		r, err := Scores(t.Context(), p, vectors, false, opts)
		require.NoError(t, err)
		below(r, all, name)
	}
}

// TestClaimsForAllScores: claims by a hair above and below what the theorem says, and what it says nothing of.
func TestClaimsForAllScores(t *testing.T) {
	for _, name := range theorems {
		for _, order := range []Property{"rdp:1", "rdp:2", "rdp:inf"} {
			p, _ := real(t, name, "0.7", 2)
			free, err := Lattice(t.Context(), p, 2, 0, Options{Properties: []Property{DP, order}, Profile: true})
			require.NoError(t, err)
			assert.Equal(t, Proved, free.Verdict(), "%s", free)
			lo, hi := free.Find(order).Orders[0][1].Ends()
			for _, c := range []struct {
				target  *big.Rat
				want    Verdict
				witness bool
			}{
				{new(big.Rat).Add(hi, big.NewRat(1, 1e15)), Proved, false},
				{new(big.Rat).Sub(lo, big.NewRat(1, 1e15)), Violated, false},
				{new(big.Rat).Mul(lo, big.NewRat(9, 10)), Violated, order != "rdp:inf"},
			} {
				r, err := Lattice(t.Context(), p, 2, 0, Options{Properties: []Property{order}, Targets: map[Property]*big.Rat{order: c.target}})
				require.NoError(t, err)
				assert.Equal(t, c.want, r.Verdict(), "%s: %s", name, r)
				if c.witness {
					assert.NotNil(t, r.Properties[0].Witness, "%s: %s", name, r)
				}
			}
		}
	}
	p, _ := real(t, "em", "1", 2)
	r, err := Lattice(t.Context(), p, 2, 0, Options{Targets: map[Property]*big.Rat{ZCDP: big.NewRat(1, 8), ApproximateDP: new(big.Rat)}})
	require.NoError(t, err)
	assert.Equal(t, Proved, r.Verdict(), "%s", r)
	for _, bad := range []Property{Symmetry, BoundedRange} {
		_, err = Lattice(t.Context(), p, 2, 0, Options{Properties: []Property{bad}})
		assert.ErrorContains(t, err, "no theorem tells of "+string(bad))
	}
	_, err = Lattice(t.Context(), p, 1, 0, Options{})
	assert.ErrorContains(t, err, "at least two candidates")
	p.Mechanism, _ = mechanisms.Lookup("gem")
	_, err = Lattice(t.Context(), p, 2, 0, Options{})
	assert.ErrorContains(t, err, "are about em, pf, geo and krr")
}
