package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/number"
)

// bernoulli is D_α/α of two Bernoulli distributions in floating point; α = 1 is the Kullback–Leibler divergence.
func bernoulli(p, o, alpha float64) float64 {
	if alpha == 1 {
		return p*math.Log(p/o) + (1-p)*math.Log((1-p)/(1-o))
	}
	s := alpha - 1
	return math.Log1p(p*math.Expm1(s*math.Log(p/o))+(1-p)*math.Expm1(s*math.Log((1-p)/(1-o)))) / (alpha * s)
}

// TestConcentrationOfTwoCandidates: the closed forms are the greatest D_α/α over gaps x of two candidates' scores, neighbors, and orders, each taken from
// the mechanisms' probabilities on a grid.
func TestConcentrationOfTwoCandidates(t *testing.T) {
	flip := func(x, _ float64) float64 { // Pr[the first], x times 2Δ/ε ahead
		if x < 0 {
			return math.Exp(x) / 2
		}
		return 1 - math.Exp(-x)/2
	}
	logistic := func(x, _ float64) float64 { return 1 / (1 + math.Exp(-x)) }
	geometric := func(x, e float64) float64 { // with D the difference of two geometric variables: Pr[D < x/ε] + Pr[D = x/ε]/2
		z := math.Exp(-e)
		cdf := func(j float64) float64 { // Pr[D <= j]
			if j < 0 {
				return math.Pow(z, -j) / (1 + z)
			}
			return 1 - math.Pow(z, j+1)/(1+z)
		}
		if j := x / e; j == math.Floor(j) {
			return (cdf(j) + cdf(j-1)) / 2
		}
		return cdf(math.Floor(x / e))
	}
	for name, law := range map[string]func(x, e float64) float64{"pf": flip, "em": logistic, "geo": geometric} {
		m, err := Lookup(name)
		require.NoError(t, err)
		for _, e := range []float64{0.05, 0.3, 1, 2.5, 6} {
			eps, err := number.ParseEpsilon(fmt.Sprint(e))
			require.NoError(t, err)
			rho, ok := Concentration(m, eps, 100)
			require.True(t, ok)
			require.Less(t, rho.RelWidth(), 1e-25, "%s, ε = %v", name, e)
			most := 0.0
			for x := -e; x <= 2*e; x += e / 256 {
				for _, step := range []float64{e, -e, e / 2, -e / 3} {
					for s := 0.0; s < 200; s = 1.1*s + 1e-3 {
						if d := bernoulli(law(x, e), law(x-step, e), 1+s); !math.IsInf(d, 0) {
							most = max(most, d)
						}
					}
				}
			}
			want := rho.Near()
			require.LessOrEqual(t, most, want*(1+1e-9), "%s, ε = %v", name, e)
			require.GreaterOrEqual(t, most, want*(1-1e-4), "%s, ε = %v", name, e)
		}
	}
}

// TestConcentrationIsAboveManyCandidates: random neighbors of three to six real scores have no greater D_α/α.
func TestConcentrationIsAboveManyCandidates(t *testing.T) {
	slowtest.Only(t)
	rng := rand.New(rand.NewPCG(5, 6))
	geo, err := Lookup("geo")
	require.NoError(t, err)
	for _, m := range []Mechanism{PermuteAndFlip(), Exponential(), geo} {
		closest := 0.0
		for range map[bool]int{true: 200, false: 1500}[m == geo] {
			n := 3 + rng.IntN(4)
			eps, err := number.FromEpsilon(big.NewRat(1+rng.Int64N(40), 10))
			require.NoError(t, err)
			rho, _ := Concentration(m, eps, 64)
			q, other := make([]float64, n), make([]float64, n)
			scale := []float64{1, 4, 10}[rng.IntN(3)]
			for i := range q {
				q[i] = scale * rng.Float64()
				other[i] = q[i] + []float64{-1, 1, 2*rng.Float64() - 1}[rng.IntN(3)]
			}
			ask := func(scores []float64) []float64 {
				in := &Instance{Sensitivities: []*big.Rat{big.NewRat(1, 1)}, Epsilon: eps}
				for _, s := range scores {
					in.Scores = append(in.Scores, new(big.Rat).SetFloat64(s))
				}
				pmf, err := m.Float(in)
				require.NoError(t, err)
				return pmf
			}
			p, o := ask(q), ask(other)
			for s := 1e-3; s < 30; s *= 2 {
				sum := 0.0
				for i := range p {
					sum += p[i] * math.Expm1(s*math.Log(p[i]/o[i]))
				}
				d := math.Log1p(sum) / (s * (1 + s))
				require.LessOrEqual(t, d, rho.Near()*(1+1e-8), "%s, ε = %s: %v and %v", m.Info().Name, eps, q, other)
				closest = max(closest, d/rho.Near())
			}
		}
		assert.Greater(t, closest, 0.5, m.Info().Name)
	}
}

// TestTwoCandidatesAreWorstForFlips checks the step that the proof of research/docs/zcdp.md rests on, in exact arithmetic on random neighbors of two to five scores
// whose weights are rational: with X = σk₀/h₀ and Y = z/X, both in [z, 1], the ratio of candidate r's probabilities is at most X(2-X)/z and that of
// candidate s's, the other way, at most Y(2-Y)/z.
func TestTwoCandidatesAreWorstForFlips(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	one := big.NewRat(1, 1)
	between := func(lo, hi *big.Rat) *big.Rat { // sometimes an end
		x := big.NewRat([]int64{0, 0, 16, 16, 1 + rng.Int64N(15)}[rng.IntN(5)], 16)
		d := new(big.Rat).Sub(hi, lo)
		return x.Add(lo, d.Mul(d, x))
	}
	// moments returns ∫ Φ and ∫ tΦ over [0, 1/max(1, weights)], Φ = Π (1 - t·weight).
	moments := func(weights []*big.Rat) (k0, k1 *big.Rat) {
		poly, most := []*big.Rat{one}, one
		for _, w := range weights {
			next := make([]*big.Rat, len(poly)+1)
			for i := range next {
				next[i] = new(big.Rat)
			}
			for i, c := range poly {
				next[i].Add(next[i], c)
				next[i+1].Sub(next[i+1], new(big.Rat).Mul(c, w))
			}
			if poly = next; w.Cmp(most) > 0 {
				most = w
			}
		}
		end := new(big.Rat).Inv(most)
		k0, k1 = new(big.Rat), new(big.Rat)
		power := one
		for i, c := range poly {
			power = new(big.Rat).Mul(power, end)
			term := new(big.Rat).Mul(c, power)
			k0.Add(k0, new(big.Rat).Quo(term, big.NewRat(int64(i+1), 1)))
			k1.Add(k1, new(big.Rat).Quo(term.Mul(term, end), big.NewRat(int64(i+2), 1)))
		}
		return k0, k1
	}
	tight, wide := 0, 0
	for range 2000 {
		z := big.NewRat(1+rng.Int64N(15), 16)
		sigma := between(z, one)
		n := 2 + rng.IntN(4)
		// Candidate 0 is r, of weight 1, then z; candidate 1 is s, of weight σ before and after; another one's weight falls by a factor in [z, 1].
		before, after := []*big.Rat{one, sigma}, []*big.Rat{z, sigma}
		var a, b []*big.Rat // weights relative to 1 before, to σ after
		for range n - 2 {
			w := between(new(big.Rat), big.NewRat(3, 2))
			v := new(big.Rat).Mul(w, between(z, one))
			before, after = append(before, w), append(after, v)
			a, b = append(a, w), append(b, new(big.Rat).Quo(v, sigma))
		}
		if slices.ContainsFunc(before, func(w *big.Rat) bool { return w.Sign() == 0 }) {
			continue
		}
		k0, _ := moments(a)
		h0, _ := moments(b)
		x := new(big.Rat).Quo(k0, h0)
		x.Mul(x, sigma)
		y := new(big.Rat).Quo(z, x)
		require.GreaterOrEqual(t, x.Cmp(z), 0)
		require.LessOrEqual(t, x.Cmp(one), 0)
		p, o := flipExactly(before), flipExactly(after)
		for _, c := range []struct{ ratio, at *big.Rat }{{new(big.Rat).Quo(p[0], o[0]), x}, {new(big.Rat).Quo(o[1], p[1]), y}} {
			bound := new(big.Rat).Sub(big.NewRat(2, 1), c.at)
			bound.Mul(bound, c.at).Quo(bound, z)
			s := c.ratio.Cmp(bound)
			require.LessOrEqual(t, s, 0, "z = %s, weights %v and %v", z, before, after)
			if s == 0 {
				tight++
			} else {
				wide++
			}
		}
	}
	assert.Greater(t, tight, 100, "two candidates attain it")
	assert.Greater(t, wide, 100)
}

// flipExactly is permute-and-flip by its definition over orders, for weights e^{ε(q-q*)/2Δ} up to a factor.
func flipExactly(weights []*big.Rat) []*big.Rat {
	top := slices.MaxFunc(weights, (*big.Rat).Cmp)
	p := make([]*big.Rat, len(weights))
	out := make([]*big.Rat, len(weights))
	for i, w := range weights {
		p[i], out[i] = new(big.Rat).Quo(w, top), new(big.Rat)
	}
	var visit func(left []int, reach *big.Rat)
	visit = func(left []int, reach *big.Rat) {
		for i, r := range left {
			share := new(big.Rat).Quo(reach, big.NewRat(int64(len(left)), 1))
			out[r].Add(out[r], new(big.Rat).Mul(share, p[r]))
			rest := slices.Delete(slices.Clone(left), i, i+1)
			if next := share.Mul(share, new(big.Rat).Sub(big.NewRat(1, 1), p[r])); next.Sign() > 0 {
				visit(rest, next)
			}
		}
	}
	var all []int
	for i := range weights {
		all = append(all, i)
	}
	visit(all, big.NewRat(1, 1))
	return out
}

func TestConcentrationOfOthersIsNotKnown(t *testing.T) {
	krr, err := Lookup("krr")
	require.NoError(t, err)
	one, err := number.ParseEpsilon("1")
	require.NoError(t, err)
	_, ok := Concentration(krr, one, 64)
	assert.False(t, ok)
	// What theorems say of a mechanism is not said of another one that calls itself the same.
	for _, m := range []Mechanism{Exponential(), PermuteAndFlip(), geo, response} {
		namesake := struct{ Mechanism }{m}
		_, ok := Concentration(namesake, one, 64)
		assert.False(t, ok)
		_, ok = Profile(m, one, 2, number.FromInt(0, 64))
		assert.True(t, ok)
		_, ok = Profile(namesake, one, 2, number.FromInt(0, 64))
		assert.False(t, ok)
	}
	zero, err := number.ParseEpsilon("0")
	require.NoError(t, err)
	rho, ok := Concentration(PermuteAndFlip(), zero, 64)
	require.True(t, ok)
	assert.Zero(t, rho.Hi().Sign())
	// The enclosure does not widen where the terms cancel, nor where ε is large.
	for _, e := range []string{"1e-9", "1e-3", "30", "500"} {
		eps, err := number.ParseEpsilon(e)
		require.NoError(t, err)
		rho, _ := Concentration(PermuteAndFlip(), eps, 100)
		assert.Less(t, rho.RelWidth(), 1e-25, e)
	}
}
