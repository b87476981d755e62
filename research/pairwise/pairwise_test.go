package pairwise

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/number"
)

// circleAt returns the probability of the circle a, b, c for leads of which the third follows from the weights, and the leads.
func circleAt(w [3]float64, x, y float64) circleBox {
	return newCircleBox(w, [2]float64{x, x}, [2]float64{y, y})
}

// The probability of a circle, from 1 - Σf, against its definition: the share of so many draws.
func TestCircleProbability(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 15))
	for _, c := range [][5]float64{{2, 5, 5, 1.2, -0.5}, {3, 6, 5, -0.5, 0.3}, {2, 21, 21, -3, 0.4}, {2, 2, 2, 0.5, 0.5}} {
		at := circleAt([3]float64(c[:3]), c[3], c[4])
		const draws = 200_000
		circles := 0
		for range draws {
			a, b, c := rng.ExpFloat64(), rng.ExpFloat64(), rng.ExpFloat64()
			if a-b > at.low[0] && b-c > at.low[1] && c-a > at.low[2] {
				circles++
			}
		}
		assert.InDelta(t, at.most()*draws, float64(circles), 5*math.Sqrt(draws*at.most()*(1-at.most())))
	}
}

// The bounds hold for leads drawn at random, probabilities and their fall along the fastest direction, by differences; and they are close to what a search
// for the suprema found.
func TestCircleBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 15))
	for _, c := range []struct{ d, known [3]float64 }{
		{[3]float64{1, 1, 4}, [3]float64{0.0404, 0.056}}, {[3]float64{1, 2, 4}, [3]float64{0.0283, 0.035}},
		{[3]float64{1, 1, 20}, [3]float64{0.1225, 0.133}}, {[3]float64{1, 4, 4}, [3]float64{0.0179, 0.032}},
	} {
		w := [3]float64{c.d[0] + c.d[1], c.d[1] + c.d[2], c.d[2] + c.d[0]}
		bounds := newCircles(w, circleAllow, circleBox.slope)
		assert.InDelta(t, c.known[0], bounds.most, 5e-3)
		assert.InDelta(t, c.known[1], bounds.slope, 6e-3)
		assert.Greater(t, bounds.most, c.known[0])
		for trial := range 40_000 {
			w := w
			if trial%2 == 1 {
				w[0], w[1] = w[1], w[0]
			}
			x, y := 4*rng.NormFloat64(), 4*rng.NormFloat64()
			here := circleAt(w, x, y)
			require.LessOrEqual(t, here.most(), bounds.most)
			v, u := 2*rng.Float64()-1, 2*rng.Float64()-1
			last := -(w[0]*v + w[1]*u) / w[2]
			if math.Abs(last) > 1 {
				continue
			}
			const h = 1e-5
			there := circleAt(w, x+h*v, y+h*u)
			rise := math.Log((1-there.most())/(1-here.most())) / h
			require.LessOrEqual(t, rise, bounds.slope+1e-6, "%v at %v, %v", c.d, x, y)
		}
	}
}

// research/docs/unequal.md, Theorem 5: 3/16 bounds circles of three candidates whatever their sensitivities, and is approached as two of them become public.
func TestCirclesOfThreeAreAtMostThreeSixteenths(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 15))
	for range 100_000 {
		d := [3]float64{math.Exp(4 * rng.NormFloat64()), math.Exp(4 * rng.NormFloat64()), math.Exp(4 * rng.NormFloat64())}
		at := circleAt([3]float64{d[0] + d[1], d[1] + d[2], d[2] + d[0]}, 2*rng.NormFloat64(), 2*rng.NormFloat64())
		require.LessOrEqual(t, at.most(), 3.0/16+1e-12)
	}
	// a is ahead of b for good, and b beats c iff E_b - E_c > ln(4/3), c beats a iff E_c + ln(4/3) > E_a.
	l := math.Log(4.0 / 3)
	assert.InDelta(t, 3.0/16, circleBox{low: [3]float64{math.Inf(-1), l, -l}}.most(), 1e-15)
	assert.InDelta(t, 3.0/16, newCircles([3]float64{0, 1, 1}, circleAllow, circleBox.slope).most, 5e-3)
}

// sharesOf returns f_r and its sum at a parameter, by inclusion and exclusion: ∫ Π (1 - u w) = Σ over sets of (-1)^|S| Π w/(|S|+1).
func sharesOf(in *mechanisms.Instance, eps number.Epsilon) (f []number.Interval, total number.Interval) {
	const prec = 100
	d := each(in)
	total = number.FromInt(0, prec)
	for r, q := range in.Scores {
		top, never := new(big.Rat), false
		var leads []*big.Rat
		for s, other := range in.Scores {
			lead, sum := new(big.Rat).Sub(new(big.Rat).Sub(other, d[s]), new(big.Rat).Sub(q, d[r])), new(big.Rat).Add(d[r], d[s])
			switch {
			case sum.Sign() > 0:
				lead.Quo(lead, sum)
			case lead.Sign() != 0:
				never = never || lead.Sign() > 0
				continue
			}
			if s != r {
				leads = append(leads, lead)
			}
			if lead.Cmp(top) > 0 {
				top = lead
			}
		}
		sum := number.FromInt(0, prec)
		for set := range 1 << len(leads) {
			term, size := number.FromInt(1, prec), int64(1)
			for s, g := range leads {
				if set>>s&1 == 1 {
					term, size = term.Mul(eps.ExpNeg(new(big.Rat).Sub(top, g), prec)).Neg(), size+1
				}
			}
			sum = sum.Add(term.Quo(number.FromInt(size, prec)))
		}
		if f = append(f, eps.ExpNeg(top, prec).Mul(sum)); never {
			f[r] = number.FromInt(0, prec)
		}
		total = total.Add(f[r])
	}
	return f, total
}

func rats(t testing.TB, texts ...string) (out []*big.Rat) {
	for _, text := range texts {
		x, ok := new(big.Rat).SetString(text)
		require.True(t, ok)
		out = append(out, x)
	}
	return out
}

func epsilon(t testing.TB, text string) number.Epsilon {
	eps, err := number.ParseEpsilon(text)
	require.NoError(t, err)
	return eps
}

// neighbor moves each score by at most its sensitivity.
func neighbor(in *mechanisms.Instance, rng *rand.Rand) *mechanisms.Instance {
	out := *in
	out.Scores = make([]*big.Rat, len(in.Scores))
	for i, q := range in.Scores {
		move := big.NewRat([]int64{-2, -2, -2, 2, 2, 2, 0, 1, -1}[rng.IntN(9)], 2)
		out.Scores[i] = move.Add(q, move.Mul(move, each(in)[i]))
	}
	return &out
}

// pairwiseCases have few different sensitivities, so that circles are bounded a few times only.
func pairwiseCase(t testing.TB, rng *rand.Rand) *mechanisms.Instance {
	all := [][]string{{"1", "1", "4"}, {"1", "2", "4"}, {"1", "1", "1", "4"}, {"0", "1", "2"}, {"1", "4", "4", "1"}, {"1", "2", "3", "4"}, {"1", "2", "2", "2"}, {"1", "1"}, {"2", "2", "2"}}
	in := &mechanisms.Instance{Sensitivities: rats(t, all[rng.IntN(len(all))]...), Epsilon: epsilon(t, "0.7")}
	for range in.Sensitivities {
		in.Scores = append(in.Scores, big.NewRat(rng.Int64N(30), 2))
	}
	return in
}

// Theorem 3: each f_r is ε-DP, and they sum to 1 at most; Theorem 4: drawn again at ε₀, the mechanism is ε-DP, which it is not at ε.
func TestPairwiseIsPrivate(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 15))
	eps := epsilon(t, "0.7")
	limit := eps.ExpNeg(big.NewRat(-1, 1), 100)
	exceeds := func(p, q number.Interval) bool {
		c, ok := p.Quo(q).Cmp(limit)
		return ok && c > 0
	}
	uncalibrated, most := 0, 0.0
	for range 1500 {
		in := pairwiseCase(t, rng)
		near := neighbor(in, rng)
		f, sum := sharesOf(in, eps)
		g, other := sharesOf(near, eps)
		c, ok := sum.Cmp(number.FromInt(1, 100))
		require.False(t, ok && c > 0)
		p, err := Mechanism{}.Enclose(in, 80)
		require.NoError(t, err)
		q, err := Mechanism{}.Enclose(near, 80)
		require.NoError(t, err)
		for r := range f {
			require.False(t, exceeds(f[r], g[r]), "%v at %v", in.Scores, in.Sensitivities)
			require.False(t, exceeds(p[r], q[r]), "%v at %v", in.Scores, in.Sensitivities)
			if exceeds(f[r].Quo(sum), g[r].Quo(other)) {
				uncalibrated++
			}
			if len(f) == 3 {
				most = max(most, math.Log(p[r].Quo(q[r]).Near())/0.7)
			}
		}
	}
	assert.Positive(t, uncalibrated, "at ε itself it is not ε-DP")
	assert.Greater(t, most, 0.95)
}

// Theorem 4 for more than three candidates: nobody beats all others with a probability of at most most, and the logarithm of the rest moves by at most slope·ε between
// neighbors.
func TestCirclesOfManyCandidates(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 15))
	for _, c := range []struct {
		deltas []string
		known  float64 // a lower bound of most that a search finds
	}{{[]string{"1", "2", "3", "4"}, 0.02}, {[]string{"1", "2", "2", "2"}, 0.005}, {[]string{"2", "3", "4", "5"}, 0.01}, {[]string{"1", "1", "1", "4"}, 0.05}, {[]string{"1", "1", "1", "1", "4"}, 0.05}} {
		in := &mechanisms.Instance{Sensitivities: rats(t, c.deltas...), Epsilon: epsilon(t, "0.4")}
		in.Scores = in.Sensitivities // any
		bounds := circlesAt(in)
		require.Less(t, bounds.slope, 1.0)
		often, fastest := 0.0, 0.0
		for range 600 {
			in.Scores = nil
			for range c.deltas {
				in.Scores = append(in.Scores, big.NewRat(rng.Int64N(50), 2))
			}
			near := neighbor(in, rng)
			_, here := sharesOf(in, in.Epsilon)
			_, there := sharesOf(near, in.Epsilon)
			often = max(often, 1-here.Near())
			fastest = max(fastest, math.Abs(math.Log(here.Near()/there.Near()))/0.4)
		}
		assert.LessOrEqual(t, often, bounds.most)
		assert.LessOrEqual(t, fastest, bounds.slope)
		assert.Greater(t, often, c.known)
		assert.Greater(t, fastest, 0.005)
	}
}

// Theorem 9: the search proves a bound that is above what it finds and not far from it, refuses one that is below, and its probability of a point is that of an
// independent formula.
func TestCirclesOfFour(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 15))
	for i, d := range [][4]float64{{0.25, 0.25, 0.25, 1}, {0.25, 0.5, 0.75, 1}, {0, 0.5, 0.5, 1}, {0.25, 0.25, 1, 1}} {
		if i > 0 && !slowtest.Enabled {
			break
		}
		c := circlesOfFour{deltas: d}
		for other := range 4 {
			rest := slices.Delete(slices.Clone(d[:]), other, other+1)
			c.triples[other] = circlesOf(rest)
			c.triples[other].slope = newCircles([3]float64{rest[0] + rest[1], rest[1] + rest[2], rest[2] + rest[0]}, circleAllowMany, circleBox.opens).slope
		}
		found, bound := c.climb(), c.bound()
		assert.Greater(t, bound, found)
		assert.Less(t, bound, 1.1*found+0.01)
		in := &mechanisms.Instance{Epsilon: epsilon(t, "1")}
		for _, x := range d {
			in.Sensitivities = append(in.Sensitivities, new(big.Rat).SetFloat64(x))
		}
		for range 300 {
			var b fourBox
			in.Scores = []*big.Rat{new(big.Rat).Set(in.Sensitivities[0])} // h = q - Δ
			for s := 1; s < 4; s++ {
				b.low[s] = 2 * d[s] * rng.NormFloat64()
				b.high[s] = b.low[s]
				in.Scores = append(in.Scores, new(big.Rat).Add(new(big.Rat).SetFloat64(b.low[s]), in.Sensitivities[s]))
			}
			_, somebody := sharesOf(in, in.Epsilon)
			assert.InDelta(t, 1-somebody.Near(), c.nobody(&b), circleMargin)
			assert.LessOrEqual(t, c.nobody(&b), found+1e-6)
		}
		c.target, c.left = 0.97*found, fourBoxes
		holds := true
		for i := range fourStarts {
			holds = holds && c.holds(fourStart(i))
		}
		assert.False(t, holds, "%v", d)
	}
}

// Theorem 9's second part, over all results of comparisons of five and of six.
func TestSetsOfFourWithoutWinner(t *testing.T) {
	for n := 4; n <= 6; n++ {
		least := 1 << n
		for results := range 1 << (n * (n - 1) / 2) {
			beats, bit := make([]int, n), 0
			for a := range n {
				for b := range a {
					winner, loser := a, b
					if results>>bit&1 == 1 {
						winner, loser = b, a
					}
					beats[winner] |= 1 << loser
					bit++
				}
			}
			wins := func(set int) bool {
				for a := range n {
					if set>>a&1 == 1 && set&^beats[a] == 1<<a {
						return true
					}
				}
				return false
			}
			if wins(1<<n - 1) {
				continue
			}
			without := 0
			for set := range 1 << n {
				if bits.OnesCount(uint(set)) == 4 && !wins(set) {
					without++
				}
			}
			least = min(least, without)
		}
		assert.Equal(t, n-3, least)
	}
}

// circleExp against enclosures: the relative error that its comment states.
func TestCircleExp(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 15))
	for i := range 3000 {
		x := -56 * rng.Float64()
		if i%2 == 0 {
			x = -math.Pow(2, -50*rng.Float64())
		}
		want := number.Exp(number.FromFloat(x, 120))
		off := number.FromFloat(circleExp(x), 120).Quo(want).Sub(number.FromInt(1, 120)).Near()
		require.Less(t, math.Abs(off), 0x1p-35, "x = %g", x)
	}
	assert.Zero(t, circleExp(math.Inf(-1)))
	assert.Equal(t, 1.0, circleExp(0))
}

// The pmf is f/Σf at the parameter.
func TestPairwisePMF(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 15))
	for range 60 {
		in := pairwiseCase(t, rng)
		got, err := Mechanism{}.Enclose(in, 80)
		require.NoError(t, err)
		if !plain(in) {
			f, sum := sharesOf(in, Parameter(in))
			for r, x := range f {
				_, meet := x.Quo(sum).Intersect(got[r])
				require.True(t, meet)
			}
		}
		want := make([]float64, len(got))
		for r, x := range got {
			want[r] = x.Near()
		}
		p, err := Mechanism{}.Float(in)
		require.NoError(t, err)
		assert.InDeltaSlice(t, want, p, 1e-12, "%v at %v", in.Scores, in.Sensitivities)
	}
}

// With equal sensitivities, and for two candidates, pairwise comparisons are permute-and-flip: the formula gives it at h = q as well.
func TestPairwiseOfEqualSensitivities(t *testing.T) {
	eps := epsilon(t, "0.7")
	in := &mechanisms.Instance{Scores: rats(t, "0", "3", "1.5", "3"), Sensitivities: rats(t, "2", "2", "2", "2"), Epsilon: eps}
	f, sum := sharesOf(in, eps)
	assert.True(t, sum.Contains(big.NewRat(1, 1)))
	want, err := mechanisms.PermuteAndFlip().Enclose(in, 80)
	require.NoError(t, err)
	got, err := Mechanism{}.Enclose(in, 80)
	require.NoError(t, err)
	for r := range f {
		_, meet := f[r].Intersect(want[r])
		assert.True(t, meet)
		_, meet = got[r].Intersect(want[r])
		assert.True(t, meet)
	}
	// The parameter: never less than ε/2, as for many candidates; close to ε where circles are rare.
	in.Sensitivities = rats(t, "1", "1", "4")
	in.Scores = in.Scores[:3]
	assert.InDelta(t, 0.7/1.0595, Parameter(in).Float(), 1e-3)
	in.Sensitivities = rats(t, "1", "2", "4", "8")
	in.Scores = rats(t, "0", "0", "0", "0")
	assert.InDelta(t, 0.7+math.Log(1-0.1057), Parameter(in).Float(), 1e-4)
	in.Sensitivities = rats(t, "1", "2", "4", "8", "8", "8")
	in.Scores = rats(t, "0", "0", "0", "0", "0", "0")
	assert.InDelta(t, 0.35, Parameter(in).Float(), 1e-15)
}

// The parameters that research/docs/unequal.md names.
func TestParametersOfPairwise(t *testing.T) {
	text, err := os.ReadFile("../docs/unequal.md")
	require.NoError(t, err)
	prose := strings.Join(strings.Fields(string(text)), " ")
	two, err := number.ParseExp("2")
	require.NoError(t, err)
	for _, d := range []string{"1,1,4", "1,4,4", "1,1,20", "1,1,1,4", "1,2,3,4", "1,1,1,1,4"} {
		in := &mechanisms.Instance{Sensitivities: rats(t, strings.Split(d, ",")...), Epsilon: two}
		in.Scores = in.Sensitivities
		assert.Contains(t, prose, fmt.Sprintf("%.3f ε for (%s)", Parameter(in).Float()/math.Ln2, d))
	}
}

// A public candidate below another one is never taken, but the sensitive one has to beat it. With h = (1, 0, 1): f = ∫(1-u) du = 1/2, 0 and ∫(1-u)(1-uz) du = 1/2 - z/6.
func TestPairwiseKeepsPublicCandidatesInComparisons(t *testing.T) {
	in := &mechanisms.Instance{Scores: rats(t, "1", "0", "2"), Sensitivities: rats(t, "0", "0", "1"), Epsilon: epsilon(t, "1")}
	p, err := Mechanism{}.Float(in)
	require.NoError(t, err)
	assert.Zero(t, p[1])
	assert.InDelta(t, 1-math.Exp(-Parameter(in).Float())/3, p[2]/p[0], 1e-12)
}

// TestPairwiseOfTwoPublicCandidates: the bound of the slope is not used there, so that ε₀ = max(ε/2, ε + ln(1-η)).
func TestPairwiseOfTwoPublicCandidates(t *testing.T) {
	assert.Equal(t, 1.0, circlesOf([]float64{0, 0, 1}).slope)
	assert.Less(t, circlesOf([]float64{0, 1, 1}).slope, 1.0)
	in := &mechanisms.Instance{Sensitivities: rats(t, "0", "0", "1"), Scores: rats(t, "0", "-1", "0"), Epsilon: epsilon(t, "0.3")}
	assert.InDelta(t, 0.15, Parameter(in).Float(), 1e-12, "0.3 + ln(13/16) is less")
}

// Theorem 10: among many, ε₀ = ε/2 uses nearly all of ε. One sensitive candidate against public ones of which one is the least bit better, at neighbors; the formula is research/docs/unequal.md's.
func TestManyCandidatesNeedHalfOfEpsilon(t *testing.T) {
	need := func(n, root float64) float64 { // ε, where e^{ε₀} is root
		w := 1 - math.Pow(1-1/root, n)
		return math.Log(root * root * w * (n + 2) / (n + 2*w*root*root))
	}
	assert.Greater(t, need(1e6, 2), 1.9999*math.Ln2)
	four, err := number.ParseExp("4")
	require.NoError(t, err)
	for _, n := range []int{13, 40} {
		in := &mechanisms.Instance{Epsilon: four}
		for range n {
			in.Scores, in.Sensitivities = append(in.Scores, new(big.Rat)), append(in.Sensitivities, new(big.Rat))
		}
		in.Scores[1] = big.NewRat(1, 1e15)
		in.Sensitivities[0] = big.NewRat(1, 1)
		assert.InDelta(t, math.Ln2, Parameter(in).Float(), 1e-15)
		var p [2]float64
		for i := range p {
			in.Scores[0] = big.NewRat(int64(1+i), 1) // h = q - Δ is 0 and 1
			all, err := Mechanism{}.Float(in)
			require.NoError(t, err)
			p[i] = all[0]
		}
		assert.InDelta(t, need(float64(n), 2), math.Log(p[1]/p[0]), 1e-12)
	}
}
