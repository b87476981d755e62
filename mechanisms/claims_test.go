package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/number"
)

// Noise of scale Δ_a/ε is claimed to make noisy max (n-1)ε-DP. Two candidates of sensitivity 1 refute it at every ε: from a
// tie to neighbors 2 apart the loser's probability falls from 1/2 to e^{-2ε}(1+ε)/2, by e^{2ε}/(1+ε) > e^ε.
func TestLaplaceNoiseOfItsOwnScaleCostsMoreThanClaimed(t *testing.T) {
	for _, e := range []string{"101/100", "3/2", "20"} {
		eps, err := number.ParseExp(e)
		require.NoError(t, err)
		z, _ := eps.Z()
		in := &Instance{Scores: ratsOf(t, "0", "0"), Sensitivities: ratsOf(t, "1"), Epsilon: eps}
		tied, err := registry["rnmh-laplace"].(*noisyMax).LogExact(in)
		require.NoError(t, err)
		in.Scores = ratsOf(t, "-1", "1")
		apart, err := registry["rnmh-laplace"].(*noisyMax).LogExact(in)
		require.NoError(t, err)
		square := new(big.Rat).Mul(z, z)
		square.Quo(square, big.NewRat(2, 1))
		assert.True(t, apart[0].A.Cmp(square) == 0 && apart[0].B.Cmp(new(big.Rat).Neg(square)) == 0, "z²(1 - ln z)/2")
		at, times := tied[0].Enclose(z, 128), apart[0].Enclose(z, 128).Mul(number.FromRat(eps.Exp(), 128))
		assert.Positive(t, at.Sub(times).Lo().Sign(), "e^ε = %s", e)
	}
	// The true cost is nε: it is approached where Δ_1 Σ_b 1/Δ_b = 1 over the others, far from a tie.
	in := &Instance{Sensitivities: ratsOf(t, "1", "2", "2"), Epsilon: decimalEps(t, "1")}
	last := 0.0
	for _, gap := range []int64{0, 6, 60, 600} {
		var p [2]number.Interval
		for i, g := range []int64{gap, gap + 3} {
			in.Scores = []*big.Rat{new(big.Rat), big.NewRat(g, 1), big.NewRat(g, 1)}
			boxes, err := registry["rnmh-laplace"].Enclose(in, 80)
			require.NoError(t, err)
			p[i] = boxes[0]
		}
		cost, hi := number.Log(p[0].Quo(p[1])).Float64()
		assert.Greater(t, cost, last)
		assert.Less(t, hi, 3.0)
		last = cost
	}
	assert.Greater(t, last, 2.98)
}

// Random stopping lies between Pr[K=1]/n and E[K]/n, whatever the scores and the noise.
func TestRandomStoppingIsPrivateWhateverTheNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, l := range someLaws[:5] {
		law := lawOf(l[0], l[1])
		once, mean := law.density(1), law.density(0)
		assert.InDelta(t, math.Pow(l[0], -1-l[1]), mean/once, 1e-9*mean/once)
		w, sum := stoppingWeights(l[0], l[1], 600), 0.0
		for k, x := range w {
			sum += float64(k) * x
		}
		assert.InDelta(t, w[1], once, 1e-14)
		assert.InDelta(t, sum, mean, 1e-10)
		for range 20 {
			n := 1 + rng.IntN(8)
			laws := make([]noiseLaw, n)
			for i := range laws {
				laws[i] = noiseLaw{10 * rng.NormFloat64(), max(0, 3*rng.NormFloat64())}
			}
			p := bestOfDraws(t, l[0], l[1], laws)
			for _, x := range p {
				assert.GreaterOrEqual(t, x*float64(n), once-1e-12)
				assert.LessOrEqual(t, x*float64(n), mean+1e-12)
			}
		}
	}
}

// The source's App. B: with exponential noise the ratio of two probabilities of candidate 1 (Δ = 0, best either way) is said to
// grow without bound in n. With a = 1 - e^{-ε/6} the probability that another draw stays below,
// it is [φ((1 + (n-1)a)/n) - φ((n-1)a/n)]/φ(1/n): candidate 1 must be among the draws. The source leaves the second φ out, and so
// counts the draws that never met candidate 1. The true ratio tends to φ'(a)/φ'(0) = 1/(1-(1-γ)a)².
func TestExponentialNoiseUnderRandomStoppingDoesNotDiverge(t *testing.T) {
	l := lawOf(0.05, 1)
	a := -math.Expm1(-1.0 / 6)
	value := func(s float64) float64 { return l.value(1 - s) }
	ratio := func(n float64) float64 { return (value((1+(n-1)*a)/n) - value((n-1)*a/n)) / value(1/n) }
	printed := func(n float64) float64 { return value((1+(n-1)*a)/n) / value(1/n) }
	// by draws: Σ_t Pr[K=t] Pr[candidate 1 is drawn, and every other draw stays below]
	sum, other := 0.0, 0.0
	for k, w := range stoppingWeights(0.05, 1, 3000) {
		if k > 0 {
			sum += w * (math.Pow((1+9*a)/10, float64(k)) - math.Pow(9*a/10, float64(k)))
			other += w * math.Pow(0.1, float64(k))
		}
	}
	assert.InDelta(t, sum/other, ratio(10), 1e-12)
	limit := 1 / math.Pow(1-0.95*a, 2)
	assert.InDelta(t, 1.3706417, limit, 1e-7)
	assert.InDelta(t, limit, ratio(1e6), 1e-4)
	assert.Greater(t, printed(1e6), 1e5)
	for n := 2.0; n < 1e7; n *= 3 {
		assert.LessOrEqual(t, ratio(n), 1/(0.05*0.05))
	}
}

// The numbers that research/docs/claims-proofs.md prints, recomputed: each is in the text as it is formatted here.
func TestNumbersOfTheDocument(t *testing.T) {
	text, err := os.ReadFile("../research/docs/claims-proofs.md")
	require.NoError(t, err)
	in := &Instance{Sensitivities: ratsOf(t, "1", "2", "2"), Epsilon: decimalEps(t, "1")}
	var p [2]number.Interval
	for i, g := range []int64{600, 603} {
		in.Scores = []*big.Rat{new(big.Rat), big.NewRat(g, 1), big.NewRat(g, 1)}
		boxes, err := registry["rnmh-laplace"].Enclose(in, 80)
		require.NoError(t, err)
		p[i] = boxes[0]
	}
	cost, _ := number.Log(p[0].Quo(p[1])).Float64()
	a := -math.Expm1(-1.0 / 6)
	want := []string{
		fmt.Sprintf("passes e^{%.2f}", math.Floor(100*cost)/100),
		fmt.Sprintf("%.2f for the geometric law at γ = 0.05", 2*math.Log(20)),
		fmt.Sprintf("%.4f at ε = 1 and γ = 0.05", 1/math.Pow(1-0.95*a, 2)),
	}
	one := scenarioOne(t)
	for _, name := range []string{"rnm-exponential", "gem", "mgem", "rs"} {
		p, err := registry[name].Float(one)
		require.NoError(t, err)
		want = append(want, fmt.Sprintf("%s %.8f", name, meanSquare(one, p)))
	}
	prose := strings.Join(strings.Fields(string(text)), " ") // lines of the text end anywhere
	for _, w := range want {
		assert.Contains(t, prose, w)
	}
}
