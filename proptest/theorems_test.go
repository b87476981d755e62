package proptest

import (
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"

	"optratio/mechanisms"
	"optratio/verify"
)

const theoremSeed = 11

// forAll checks a statement on random inputs; its failures name the seed and the shrunk input.
func forAll(t *testing.T, cases int, condition any, generators ...gopter.Gen) {
	t.Helper()
	parameters := gopter.DefaultTestParametersWithSeed(theoremSeed)
	parameters.MinSuccessfulTests = cases
	result := prop.ForAll(condition, generators...).Check(parameters)
	require.True(t, result.Passed(), "seed %d: %v %v %v", theoremSeed, result.Status, result.Args, result.Error)
}

func pmfOf(t *testing.T, name string) func(Case) []float64 {
	t.Helper()
	m, err := mechanisms.Lookup(name)
	require.NoError(t, err)
	return func(c Case) []float64 {
		p, err := numbersOf(m, c)
		require.NoError(t, err)
		return p
	}
}

// near compares to a relative error of 1e-9, or an absolute one where the number is a small part of 1; the oracles are
// numerical.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1e-3, math.Abs(b)) }

// noisyMax integrates f(x) Π F_s(x) over the noise of the winner, by panels of Gauss–Legendre.
func noisyMax(c Case, from, to float64, density, distribution func(x float64) float64) []float64 {
	p := make([]float64, len(c.Scores))
	scale := 2 * c.Sensitivity / c.Epsilon
	for r, q := range c.Scores {
		edges := []float64{from, to}
		for _, s := range c.Scores { // where a factor starts
			if x := (s - q) / scale; from < x && x < to {
				edges = append(edges, x)
			}
		}
		slices.Sort(edges)
		for i := range len(edges) - 1 {
			const panels = 60
			width := (edges[i+1] - edges[i]) / panels
			for j := range panels {
				left := edges[i] + float64(j)*width
				p[r] += quad.Fixed(func(x float64) float64 {
					f := density(x)
					for s, other := range c.Scores {
						if s != r {
							f *= distribution(x + (q-other)/scale)
						}
					}
					return f
				}, left, left+width, 12, nil, 0)
			}
		}
	}
	return p
}

// Ding et al. 2021: permute-and-flip is report noisy max with exponential noise.
func TestPermuteAndFlipIsNoisyMaxWithExponentialNoise(t *testing.T) {
	pf := pmfOf(t, "pf")
	forAll(t, 40, func(c Case) bool {
		want := noisyMax(c, 0, 80, func(x float64) float64 { return math.Exp(-x) },
			func(x float64) float64 { return -math.Expm1(-max(0, x)) })
		return slices.EqualFunc(pf(c), want, near)
	}, moderate())
}

// The Gumbel-max trick.
func TestExponentialMechanismIsNoisyMaxWithGumbelNoise(t *testing.T) {
	em := pmfOf(t, "em")
	forAll(t, 40, func(c Case) bool {
		distribution := func(x float64) float64 { return math.Exp(-math.Exp(-x)) }
		want := noisyMax(c, -6, 60, func(x float64) float64 { return math.Exp(-x) * distribution(x) }, distribution)
		return slices.EqualFunc(em(c), want, near)
	}, moderate())
}

// moderate cases have no gap that quadrature could miss.
func moderate() gopter.Gen {
	return cases().SuchThat(func(c Case) bool {
		return (slices.Max(c.Scores)-slices.Min(c.Scores))*c.Epsilon/c.Sensitivity < 40
	})
}

// McKenna & Sheldon 2020, Thm. 2, against the float64 probabilities: every t, and in expectation.
func TestPermuteAndFlipDominates(t *testing.T) {
	failures, err := Check(PMF(func(c Case) ([]float64, error) { return flip(c), nil }), Options{
		Properties: []verify.Property{verify.DominatesEM, verify.DominatesEMMean}, Cases: 150,
	})
	require.NoError(t, err)
	require.Empty(t, failures)
}

// Prop. 3: permute-and-flip solves its recurrence. A candidate below the best has e^{-ε} times the probability it
// has 2Δ higher, as long as it does not pass the best, and the best share what is left.
func TestRecurrence(t *testing.T) {
	pf := pmfOf(t, "pf")
	forAll(t, 120, func(c Case) bool {
		p, best := pf(c), slices.Max(c.Scores)
		left, ties := 1.0, 0
		for r, q := range c.Scores {
			if q == best {
				ties++
				continue
			}
			left -= p[r]
			up := c
			up.Scores = slices.Clone(c.Scores)
			up.Scores[r] = min(best, q+2*c.Sensitivity)
			gap := (up.Scores[r] - q) / (2 * c.Sensitivity)
			if higher := pf(up)[r]; math.Abs(p[r]-math.Exp(-c.Epsilon*gap)*higher) > 1e-12*p[r] {
				return false
			}
		}
		for r, q := range c.Scores {
			if q == best && math.Abs(p[r]-left/float64(ties)) > 1e-12 {
				return false
			}
		}
		return true
	}, cases())
}

func expectedError(c Case, p []float64) (e float64) {
	for r, q := range c.Scores {
		e += p[r] * (slices.Max(c.Scores) - q)
	}
	return e
}

// Prop. 4: among all vectors whose worst errors are largest, those with one leader have closed forms, and no vector
// of as many candidates has a larger expected error than the worst of them.
func TestWorstExpectedErrors(t *testing.T) {
	pf, em := pmfOf(t, "pf"), pmfOf(t, "em")
	closed := func(c Case, p float64) (ofEM, ofPF float64) {
		n := float64(len(c.Scores))
		scale := 2 * c.Sensitivity / c.Epsilon * math.Log(1/p)
		return scale * (1 - 1/(1+(n-1)*p)), scale * (1 - (1-math.Pow(1-p, n))/(n*p))
	}
	forAll(t, 100, func(c Case) bool {
		rng := rand.New(rand.NewSource(int64(len(c.Scores))))
		c.Epsilon = min(c.Epsilon, 4) // the closed forms cancel in float64 beyond
		leader := c
		leader.Scores = slices.Repeat([]float64{-float64(rng.Intn(9)+1) * c.Sensitivity / 2}, len(c.Scores))
		leader.Scores[len(c.Scores)-1] = 0
		p := math.Exp(c.Epsilon * slices.Min(leader.Scores) / (2 * c.Sensitivity))
		wantEM, wantPF := closed(leader, p)
		if len(c.Scores) > 1 && (!near(expectedError(leader, em(leader)), wantEM) || !near(expectedError(leader, pf(leader)), wantPF)) {
			return false
		}
		worstEM, worstPF := 0.0, 0.0
		for x := 0.001; x < 40; x += 0.001 + x/500 {
			e, f := closed(c, math.Exp(-x))
			worstEM, worstPF = max(worstEM, e), max(worstPF, f)
		}
		return expectedError(c, em(c)) <= worstEM*(1+1e-4)+1e-9 && expectedError(c, pf(c)) <= worstPF*(1+1e-4)+1e-9
	}, cases())
}

// Prop. 5: at p = 1/n the expected error is (2Δ/ε) ln n (1-1/n)^n >= (Δ/2ε) ln n.
func TestLogarithmicLowerBound(t *testing.T) {
	m, err := mechanisms.Lookup("pf")
	require.NoError(t, err)
	for _, n := range []int{2, 3, 10, 100} {
		for _, eps := range []float64{0.25, 1, 3} {
			c := Case{Scores: slices.Repeat([]float64{-2 / eps * math.Log(float64(n))}, n), Sensitivity: 1, Epsilon: eps}
			c.Scores[0] = 0
			p, err := numbersOf(m, c)
			require.NoError(t, err)
			e := expectedError(c, p)
			require.InEpsilon(t, 2/eps*math.Log(float64(n))*math.Pow(1-1/float64(n), float64(n)), e, 1e-9)
			require.GreaterOrEqual(t, e, math.Log(float64(n))/(2*eps)*(1-1e-12))
		}
	}
}

// Remark 1: where scores can only rise, permute-and-flip is ε/2-DP.
func TestMonotonicScoresHalveThePrivacyLoss(t *testing.T) {
	failures, err := Check(PMF(func(c Case) ([]float64, error) {
		c.Epsilon *= 2
		return flip(c), nil
	}), Options{Properties: []verify.Property{verify.DP}, Monotonic: true, Cases: 100})
	require.NoError(t, err)
	require.Empty(t, failures)
}

// The generators give what they say, and shrink within it.
func TestGenerators(t *testing.T) {
	forAll(t, 200, func(c Case) bool {
		exact := func(x float64) bool { return 16*grain*x == math.Trunc(16*grain*x) }
		return len(c.Scores) >= 1 && len(c.Scores) <= rareCandidates && c.Epsilon > 0 && c.Sensitivity > 0 &&
			!slices.ContainsFunc(c.Scores, func(x float64) bool { return !exact(x) })
	}, cases())
	// A property that fails is shrunk to the smallest case.
	parameters := gopter.DefaultTestParametersWithSeed(theoremSeed)
	result := prop.ForAll(func(c Case) bool { return len(c.Scores) < 2 }, cases()).Check(parameters)
	require.Equal(t, Case{Scores: []float64{0, 0}, Sensitivity: 1, Epsilon: 1}, result.Args[0].Arg)
}
