package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/internal/decimal"
	"optratio/number"
)

// ratOf reads a decimal.
func ratOf(t testing.TB, s string) *big.Rat {
	r, err := decimal.Parse(s)
	require.NoError(t, err)
	return r
}

func ratsOf(t testing.TB, s ...string) (r []*big.Rat) {
	for _, x := range s {
		r = append(r, ratOf(t, x))
	}
	return r
}

func decimalEps(t testing.TB, s string) number.Epsilon {
	e, err := number.ParseEpsilon(s)
	require.NoError(t, err)
	return e
}

// bySimpson is Pr[a has the largest noisy score] by the composite Simpson rule in steps between scores:
// plain, slow, and nothing in common with the closed forms.
func bySimpson(laws []noiseLaw, laplace bool) []float64 {
	lo, hi, fixed, smallest := math.Inf(1), math.Inf(-1), math.Inf(-1), math.Inf(1)
	for _, l := range laws {
		lo, hi = min(lo, l.at-38*l.scale), max(hi, l.at+38*l.scale)
		if l.scale == 0 {
			fixed = max(fixed, l.at)
		} else {
			smallest = min(smallest, l.scale)
		}
	}
	_, _, breaks := span(laws)
	edges := append(append([]float64{lo}, breaks...), hi)
	out := make([]float64, len(laws))
	for e := 1; e < len(edges); e++ {
		from, to := edges[e-1], edges[e]
		if !(from < to) || to <= fixed {
			continue
		}
		steps := 2 * int(math.Ceil(100*(to-from)/smallest)) // h is a 200th of a scale
		for k := 0; k <= steps; k++ {
			weight := 2.0
			if k == 0 || k == steps {
				weight = 1
			} else if k%2 == 1 {
				weight = 4
			}
			weight *= (to - from) / float64(3*steps)
			x := from + (to-from)*float64(k)/float64(steps)
			// the integrand's one-sided limits at the ends
			inside := func(at float64) bool { return at < x || at == x && k == 0 }
			for a, la := range laws {
				if la.scale == 0 {
					continue
				}
				f := 0.0
				d := math.Abs(x-la.at) / la.scale
				switch {
				case laplace:
					f = math.Exp(-d) / (2 * la.scale)
				case inside(la.at):
					f = math.Exp(-d) / la.scale
				}
				for b, lb := range laws {
					switch d := (x - lb.at) / lb.scale; {
					case a == b:
					case lb.scale == 0 && inside(lb.at):
					case lb.scale == 0:
						f = 0
					case laplace && d >= 0:
						f *= 1 - math.Exp(-d)/2
					case laplace:
						f *= math.Exp(d) / 2
					case d >= 0:
						f *= 1 - math.Exp(-d)
					default:
						f = 0
					}
				}
				out[a] += weight * f
			}
		}
	}
	return out
}

// Every form of every noisy max must agree: exact, as a function of z, enclosed, by
// Gauss–Legendre, and by the oracle.
func TestNoisyMaxFormsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	z, _ := eps.Z()
	for _, name := range []string{"rnm-laplace", "rnmh", "rnmh-laplace"} {
		m := registry[name].(*noisyMax)
		for trial := range 16 {
			n := 1 + rng.IntN(5)
			in := &Instance{Epsilon: eps}
			for range n {
				in.Scores = append(in.Scores, big.NewRat(int64(rng.IntN(5))*6, 1))
				// half-integer sensitivities that divide the gaps, and none at all
				d := []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 1), big.NewRat(3, 1), big.NewRat(3, 2), new(big.Rat)}
				in.Sensitivities = append(in.Sensitivities, d[rng.IntN(4+trial%2)])
			}
			if in.Sensitivity().Sign() == 0 {
				continue
			}
			msg := fmt.Sprint(name, " ", in.Scores, " ", in.Sensitivities)
			logs, err := m.LogExact(in)
			require.NoError(t, err, msg)
			sum, logarithms := new(big.Rat), new(big.Rat)
			for _, p := range logs {
				sum.Add(sum, p.A)
				logarithms.Add(logarithms, p.B)
			}
			// Atoms below which others are certain leave nothing out: all sum to 1, exactly.
			require.Zero(t, logarithms.Sign(), msg)
			require.Zero(t, sum.Cmp(ratOne), "%s: sum %s", msg, sum)

			boxes, err := m.Enclose(in, 96)
			require.NoError(t, err, msg)
			estimate, err := m.estimate(in)
			require.NoError(t, err, msg)
			oracle := bySimpson(must(mustFloats(t, in).laws(float64(m.factor), m.info.Uniform)), m.laplace)
			for i, p := range logs {
				exact := p.Enclose(z, 300)
				_, overlap := boxes[i].Intersect(exact)
				require.True(t, overlap, msg)
				if boxes[i].Lo().Sign() > 0 {
					require.Less(t, boxes[i].RelWidth(), 1e-25, msg)
				}
				lo, _ := exact.Float64()
				require.InDelta(t, lo, estimate.pmf[i], 2e-15+estimate.err, msg)
				if in.Sensitivities[i].Sign() > 0 || m.info.Uniform {
					require.InDelta(t, lo, oracle[i], 1e-9, msg)
				}
			}

			in.Epsilon = decimalEps(t, "0.4")
			at := in.Epsilon.ExpNeg(ratOne, 400)
			functions, err := m.Symbolic(in, ratOne)
			require.NoError(t, err, msg)
			boxes, err = m.Enclose(in, 96)
			require.NoError(t, err, msg)
			whole := arith.Poly{}.Zero()
			for i, f := range functions {
				_, overlap := boxes[i].Intersect(f.Eval(at))
				require.True(t, overlap, msg)
				whole = arith.Poly{}.Add(whole, f)
			}
			sum, ok := whole.Rat()
			require.True(t, ok && sum.Cmp(ratOne) == 0, msg)
		}
	}
}

// With one sensitivity for all, exponential noise is permute-and-flip, digit for digit, and
// heterogeneous Laplace noise at ε is the uniform one at 2ε.
func TestNoisyMaxOfUniformSensitivities(t *testing.T) {
	eps, _ := number.ParseExp("5/4")
	squared, _ := number.ParseExp("25/16")
	for _, depths := range [][]int{{0}, {0, 0, 0}, {0, 2, 1, 1}, {4, 0, 0, 1, 3, 3, 7}} {
		in := OnLattice(depths, eps)
		want, err := registry["pf"].Exact(in)
		require.NoError(t, err)
		got, err := registry["rnmh"].Exact(in)
		require.NoError(t, err)
		for i := range want {
			assert.Zero(t, want[i].Cmp(got[i]), "%v", depths)
		}
		hetero, err := registry["rnmh-laplace"].(*noisyMax).LogExact(in)
		require.NoError(t, err)
		uniform, err := registry["rnm-laplace"].(*noisyMax).LogExact(OnLattice(depths, squared))
		require.NoError(t, err)
		for i := range hetero {
			assert.Zero(t, hetero[i].A.Cmp(uniform[i].A))
			assert.Zero(t, hetero[i].B.Cmp(new(big.Rat).Mul(uniform[i].B, big.NewRat(2, 1))))
		}
	}
}

// Two candidates, the gap d in units of the noise: Laplace noise of one scale errs with probability
// e^{-d}(2+d)/4, exponential noise of means s_1, s_2 with e^{-gap/s_1}/(1+s_2/s_1).
func TestNoisyMaxOfTwoCandidates(t *testing.T) {
	eps, _ := number.ParseExp("2")
	logs, err := registry["rnm-laplace"].(*noisyMax).LogExact(OnLattice([]int{3, 0}, eps))
	require.NoError(t, err)
	// z = 1/2, d = 3 ln 2 = -3 ln z: 2/32 - 3/32 ln z
	assert.Equal(t, "1/16", logs[0].A.RatString())
	assert.Equal(t, "-3/32", logs[0].B.RatString())

	in := &Instance{Scores: ratsOf(t, "0", "6"), Sensitivities: ratsOf(t, "1", "0.5"), Epsilon: eps}
	p, err := registry["rnmh"].Exact(in)
	require.NoError(t, err)
	assert.Equal(t, "1/12", p[0].RatString()) // 2^{-3}/(1 + 1/2)
	in.Sensitivities = ratsOf(t, "1", "0")
	p, err = registry["rnmh"].Exact(in)
	require.NoError(t, err)
	assert.Equal(t, "1/8", p[0].RatString())
	in.Sensitivities = ratsOf(t, "0", "1")
	p, err = registry["rnmh"].Exact(in)
	require.NoError(t, err)
	assert.Equal(t, "0", p[0].RatString())
	_, err = registry["rnm-laplace"].Exact(OnLattice([]int{3, 0}, eps))
	assert.ErrorIs(t, err, ErrNotRational)
	_, err = registry["rnmh"].Exact(&Instance{Scores: ratsOf(t, "0", "1"), Sensitivities: ratsOf(t, "1"), Epsilon: eps})
	assert.ErrorIs(t, err, ErrNotRational)
}

// Why rnmh is not private: a candidate of sensitivity 0 that is certain to lose becomes possible.
func TestExponentialNoiseOfItsOwnScaleIsNotPrivate(t *testing.T) {
	in := &Instance{Scores: ratsOf(t, "0", "0.5"), Sensitivities: ratsOf(t, "0", "1"), Epsilon: decimalEps(t, "1")}
	p, err := registry["rnmh"].Enclose(in, 64)
	require.NoError(t, err)
	assert.True(t, arith.IsPoint(p[0]) && p[0].Contains(new(big.Rat)))
	in.Scores = ratsOf(t, "0", "-0.5")
	p, err = registry["rnmh"].Enclose(in, 64)
	require.NoError(t, err)
	lo, hi := p[0].Float64()
	assert.InDelta(t, -math.Expm1(-0.25), (lo+hi)/2, 1e-15)
	// With positive sensitivities the factor is e^{ε(Δ_1+Δ_2)/2Δ_1} once candidate 1 is behind: 1 + 3 over 2, at ε = ln 3/2.
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	in = &Instance{Scores: ratsOf(t, "0", "10"), Sensitivities: ratsOf(t, "1", "3"), Epsilon: eps}
	far, err := registry["rnmh"].Exact(in)
	require.NoError(t, err)
	in.Scores = ratsOf(t, "-1", "13")
	further, err := registry["rnmh"].Exact(in)
	require.NoError(t, err)
	assert.Zero(t, new(big.Rat).Quo(far[0], further[0]).Cmp(big.NewRat(9, 4)))
}

// With Laplace noise, n-1 candidates of sensitivity 1 against one of sensitivity 0 give exactly (n-1)ε.
func TestLaplaceNoiseOfItsOwnScaleCostsNMinusOne(t *testing.T) {
	eps, _ := number.ParseExp("3/2")
	for n := 2; n <= 6; n++ {
		in := &Instance{Epsilon: eps, Scores: ratsOf(t, "0"), Sensitivities: ratsOf(t, "0")}
		other := &Instance{Epsilon: eps, Scores: ratsOf(t, "0")}
		for range n - 1 {
			in.Scores, in.Sensitivities = append(in.Scores, new(big.Rat)), append(in.Sensitivities, ratOne)
			other.Scores = append(other.Scores, ratOne)
		}
		other.Sensitivities = in.Sensitivities
		a, err := registry["rnmh-laplace"].(*noisyMax).LogExact(in)
		require.NoError(t, err)
		b, err := registry["rnmh-laplace"].(*noisyMax).LogExact(other)
		require.NoError(t, err)
		pa, ok := a[0].Rat()
		require.True(t, ok)
		pb, ok := b[0].Rat()
		require.True(t, ok)
		assert.Zero(t, pa.Cmp(big.NewRat(1, 1<<(n-1))))
		ratio := new(big.Rat).Quo(pa, pb)
		assert.Zero(t, ratio.Cmp(arith.Pow(arith.Rat{}, big.NewRat(3, 2), n-1)), "n = %d: %s", n, ratio)
	}
}

// The expected error on (c,c,0), ε = Δ = 1, at c = -2, against the other mechanisms of the table.
func TestReferenceErrorsOnTwoLosers(t *testing.T) {
	in := &Instance{Scores: ratsOf(t, "-2", "-2", "0"), Sensitivities: ratsOf(t, "1"), Epsilon: decimalEps(t, "1")}
	for name, want := range map[string]float64{"rnm-laplace": 0.8196280031, "em": 0.8477662305, "pf": 0.6455353602} {
		p, err := registry[name].Enclose(in, 100)
		require.NoError(t, err)
		lo, hi := p[0].Float64()
		assert.InDelta(t, want, 2*(lo+hi), 6e-11, name)
		f, err := registry[name].Float(in)
		require.NoError(t, err)
		assert.InDelta(t, want, 4*f[0], 6e-11, name)
	}
}

// Scores that are real numbers, as far as decimals go, and as many groups as scores.
func TestLaplaceEnclosureOfManyRealScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	in := &Instance{Sensitivities: ratsOf(t, "1"), Epsilon: decimalEps(t, "0.7")}
	for range 30 {
		in.Scores = append(in.Scores, ratOf(t, fmt.Sprintf("%.4f", 8*rng.Float64())))
	}
	boxes, err := registry["rnm-laplace"].Enclose(in, 80)
	require.NoError(t, err)
	estimate, err := registry["rnm-laplace"].(estimator).estimate(in)
	require.NoError(t, err)
	assert.Less(t, estimate.err, 1e-14)
	for i, b := range boxes {
		require.Less(t, b.RelWidth(), 1e-20)
		lo, _ := b.Float64()
		require.InDelta(t, lo, estimate.pmf[i], 1e-15+estimate.err)
	}
	in.Sensitivities = nil
	for range in.Scores {
		in.Sensitivities = append(in.Sensitivities, ratOf(t, fmt.Sprintf("%.4f", 1+rng.Float64())))
	}
	_, err = registry["rnmh-laplace"].Enclose(in, 80)
	assert.ErrorIs(t, err, ErrNoEnclosure)
	estimate, err = registry["rnmh-laplace"].(estimator).estimate(in)
	require.NoError(t, err)
	oracle := bySimpson(must(mustFloats(t, in).laws(1, false)), true)
	for i := range oracle {
		require.InDelta(t, oracle[i], estimate.pmf[i], 1e-8)
	}
}

func TestNoisyMaxWithoutPrivacyLoss(t *testing.T) {
	for _, eps := range []string{"0", "1e-9999"} {
		in := &Instance{Scores: ratsOf(t, "0", "5", "9"), Sensitivities: ratsOf(t, "1", "1", "1"), Epsilon: decimalEps(t, eps)}
		for _, name := range []string{"rnm-laplace", "rnmh", "rnmh-laplace"} {
			p, err := registry[name].Float(in)
			require.NoError(t, err)
			relative(t, []float64{1. / 3, 1. / 3, 1. / 3}, p, 1e-14, name)
			if eps == "0" {
				exact, err := registry[name].Exact(in)
				require.NoError(t, err)
				assert.Equal(t, "1/3", exact[1].RatString())
			}
		}
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
