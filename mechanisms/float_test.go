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
	"optratio/internal/slowtest"
	"optratio/number"
)

// mustFloats is floats.
func mustFloats(t testing.TB, in *Instance) *floatInstance {
	t.Helper()
	out, err := in.floats()
	require.NoError(t, err)
	return out
}

// relative asserts that got is within tolerance of want, relatively, for every entry.
func relative(t *testing.T, want, got []float64, tolerance float64, msg string) {
	t.Helper()
	require.Len(t, got, len(want), msg)
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*math.Abs(want[i])) {
			t.Fatalf("%s: entry %d is %v, want %v within %v", msg, i, got[i], want[i], tolerance)
		}
	}
}

// The float body must agree with the enclosing one, which works differently, whatever
// mixture of heavy and light weights there is.
func TestFloatPermuteAndFlipLiesInItsEnclosure(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	f := arith.Interval{Prec: 200}
	for n := 1; n <= 63; n = n*2 + 1 {
		for _, depth := range []float64{1e-9, 0.01, 1, 5, 40, 700} {
			weights, boxes, counts := make([]float64, n), make([]number.Interval, n), make([]int, n)
			for i := range weights {
				weights[i] = math.Exp(-depth * rng.Float64())
				if i == 0 || rng.IntN(10) == 0 {
					weights[i] = 1
				}
				boxes[i], counts[i] = number.FromFloat(weights[i], 200), 1+rng.IntN(2)
			}
			want := make([]float64, n)
			for i, p := range permuteAndFlip[number.Interval](f, boxes, counts) {
				require.Less(t, p.RelWidth(), 1e-30)
				want[i], _ = p.Float64()
			}
			relative(t, want, permuteAndFlipFloat(arith.Float{}, weights, counts), 1e-13, fmt.Sprint("n = ", n, ", depth ", depth))
		}
	}
}

// One best candidate and n-1 of weight p: the best one is taken with
// probability ∫ (1-tp)^{n-1} dt = (1-(1-p)^n)/(np).
func TestFloatPermuteAndFlipOfVeryManyCandidates(t *testing.T) {
	slowtest.Only(t)
	for _, n := range []int{3, 100, 3000, 1_000_000} {
		for _, depth := range []float64{0, 1e-6, 0.3, 4, 15, 30, 600} {
			scores := make([]float64, n)
			for i := 1; i < n; i++ {
				scores[i] = -depth
			}
			in, err := FromFloats(scores, []float64{0.5}, 1, Params{})
			require.NoError(t, err)
			p, err := registry["pf"].Float(in)
			require.NoError(t, err)
			w, size := math.Exp(-depth), float64(n)
			first := 1 / size
			if depth > 0 {
				first = -math.Expm1(size*math.Log1p(-w)) / (size * w)
			}
			msg := fmt.Sprint("n = ", n, ", depth ", depth)
			relative(t, []float64{first, p[1]}, []float64{p[0], p[n-1]}, 1e-12, msg)
			var total compensated
			for _, x := range p {
				total.Add(x)
			}
			assert.InDelta(t, 1, total.Value(), 1e-12, msg)
		}
	}
}

func TestThreeThousandTiedScores(t *testing.T) {
	in, err := FromFloats(make([]float64, 3000), []float64{1}, 1, Params{})
	require.NoError(t, err)
	for _, name := range []string{"pf", "rnm-exponential", "em", "rnm-gumbel", "krr", "uniform"} {
		p, err := registry[name].Float(in)
		require.NoError(t, err)
		want := make([]float64, 3000)
		for i := range want {
			want[i] = 1.0 / 3000
		}
		relative(t, want, p, 1e-14, name)
	}
}

func TestRandomisedResponse(t *testing.T) {
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	for _, c := range []struct {
		depths      []int
		best, other *big.Rat
	}{
		{[]int{0}, big.NewRat(1, 1), nil},
		{[]int{0, 1}, big.NewRat(3, 5), big.NewRat(2, 5)},
		{[]int{0, 2, 5}, big.NewRat(3, 7), big.NewRat(2, 7)},
		{[]int{0, 0, 5}, big.NewRat(5, 14), big.NewRat(2, 7)}, // (3/7 + 2/7)/2
		{[]int{0, 0, 0, 0}, big.NewRat(1, 4), nil},
	} {
		in := OnLattice(c.depths, eps)
		exact, err := registry["krr"].Exact(in)
		require.NoError(t, err)
		boxes, err := registry["krr"].Enclose(in, 80)
		require.NoError(t, err)
		functions, err := registry["krr"].(regular).Symbolic(in, big.NewRat(1, 2))
		require.NoError(t, err)
		for i, v := range c.depths {
			want := c.best
			if v > 0 {
				want = c.other
			}
			assert.Zero(t, exact[i].Cmp(want), "%v: %s", c.depths, exact[i])
			assert.True(t, boxes[i].Contains(want))
			at, ok := functions[i].EvalRat(big.NewRat(2, 3)) // e^{-ε/2}
			require.True(t, ok)
			other, err := number.FromExp(big.NewRat(9, 4))
			require.NoError(t, err)
			squared, err := registry["krr"].Exact(OnLattice(c.depths, other))
			require.NoError(t, err)
			assert.Zero(t, at.Cmp(squared[i]))
		}
	}
	irrational, _ := number.ParseEpsilon("0.5")
	_, err = registry["krr"].Exact(OnLattice([]int{0, 1}, irrational))
	assert.ErrorIs(t, err, ErrNotRational)
	p, err := registry["uniform"].Exact(OnLattice([]int{0, 1, 9}, irrational))
	require.NoError(t, err)
	assert.Equal(t, "1/3", p[2].RatString())
}

func TestNoisyMaxIsWhatItIsSaidToBe(t *testing.T) {
	eps, _ := number.ParseExp("5/4")
	in := OnLattice([]int{3, 0, 1, 1}, eps)
	for alias, name := range map[string]string{"rnm-exponential": "pf", "rnm-gumbel": "em"} {
		a, err := registry[alias].Exact(in)
		require.NoError(t, err)
		b, err := registry[name].Exact(in)
		require.NoError(t, err)
		assert.Equal(t, alias, registry[alias].Info().Name)
		for i := range a {
			assert.Zero(t, a[i].Cmp(b[i]))
		}
	}
}

func TestMalformedFloatsAreRefused(t *testing.T) {
	nan, inf, one := math.NaN(), math.Inf(1), []float64{1}
	for _, c := range []struct {
		scores, sensitivities []float64
		epsilon               float64
	}{
		{nil, one, 1}, {[]float64{nan}, one, 1}, {[]float64{inf}, one, 1}, {one, nil, 1}, {one, []float64{1, 1}, 1}, {one, []float64{-1}, 1},
		{one, []float64{nan}, 1}, {one, []float64{0}, 1}, {one, one, -1}, {one, one, nan}, {one, one, inf},
	} {
		in, err := FromFloats(c.scores, c.sensitivities, c.epsilon, Params{})
		assert.ErrorIs(t, err, ErrInstance, "%v", c)
		if in != nil {
			for name, m := range registry {
				_, err := m.Float(in)
				assert.ErrorIs(t, err, ErrInstance, name)
			}
		}
	}
	// What is beyond float64 has no answer there.
	for _, in := range []*Instance{
		{Scores: ratsOf(t, "0", "-1e400"), Sensitivities: ratsOf(t, "1"), Epsilon: decimalEps(t, "1")},
		{Scores: ratsOf(t, "0", "1"), Sensitivities: ratsOf(t, "1e400"), Epsilon: decimalEps(t, "1")},
		{Scores: ratsOf(t, "0", "1"), Sensitivities: ratsOf(t, "1e-400"), Epsilon: decimalEps(t, "1")},
	} {
		for _, name := range []string{"pf", "gem", "rs", "rnm-laplace", "combined-gem"} {
			_, err := registry[name].Float(in)
			assert.ErrorIs(t, err, ErrNoAnswer, name)
		}
	}
}

func BenchmarkPermuteAndFlip(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		scores := make([]float64, n)
		for i := range scores {
			scores[i] = 20 * rng.Float64()
		}
		in, err := FromFloats(scores, []float64{1}, 1, Params{})
		require.NoError(b, err)
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := registry["pf"].Float(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Geometric noisy max, at scores on the lattice, at integers, and at scores of which no two differ by a multiple of 2Δ.
func BenchmarkGeometric(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, score := range map[string]func() float64{
		"lattice": func() float64 { return 2 * float64(rng.IntN(20)) }, "integers": func() float64 { return float64(rng.IntN(40)) },
		"reals": func() float64 { return 40 * rng.Float64() },
	} {
		scores := make([]float64, 1_000_000)
		for i := range scores {
			scores[i] = score()
		}
		in, err := FromFloats(scores, []float64{1}, 1, Params{})
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := registry["geo"].Float(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Above some size enclosures come from quadrature: they must hold what the exact body and the closed form give.
func TestEnclosedPermuteAndFlipOfManyCandidates(t *testing.T) {
	slowtest.Only(t)
	f := arith.Interval{Prec: 128}
	rng := rand.New(rand.NewPCG(17, 18))
	for _, depth := range []float64{5} {
		weights, wide, counts := []number.Interval{number.FromInt(1, 128)}, []number.Interval{number.FromInt(1, 320)}, []int{1}
		for n := 1; n <= manyCandidates; n += counts[len(counts)-1] {
			w := math.Exp(-depth * rng.Float64())
			weights, wide = append(weights, number.FromFloat(w, 128)), append(wide, number.FromFloat(w, 320))
			counts = append(counts, 1+rng.IntN(9))
		}
		want := permuteAndFlip(arith.Field[number.Interval](arith.Interval{Prec: 320}), wide, counts)
		for i, p := range permuteAndFlipEnclosed(f, weights, counts) {
			require.True(t, arith.Encloses(p, want[i]), "depth %v: %v in %v", depth, want[i], p)
			require.Less(t, p.RelWidth(), 1e-30)
		}
	}
	// (1-(1-p)^n)/(np) for the best one of n, the others of weight p = 2^-20, and 1/n for ties
	const n = 100_000
	p := big.NewRat(1, 1<<20)
	got := permuteAndFlipEnclosed(f, []number.Interval{f.One(), f.FromRat(p)}, []int{1, n - 1})
	first := number.FromRat(p, 200).Neg()
	first = number.FromInt(1, 200).Sub(number.Exp(number.Log(number.FromInt(1, 200).Add(first)).Mul(number.FromInt(n, 200))))
	first = first.Quo(number.FromRat(new(big.Rat).Mul(p, big.NewRat(n, 1)), 200))
	_, overlap := got[0].Intersect(first)
	assert.True(t, overlap)
	assert.Less(t, got[0].RelWidth(), 1e-30)
	tied := permuteAndFlipEnclosed(f, []number.Interval{f.One()}, []int{n})
	assert.True(t, tied[0].Contains(big.NewRat(1, n)))
	assert.Less(t, tied[0].RelWidth(), 1e-30)
}

func BenchmarkEnclosedPermuteAndFlip(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1000, 10_000} {
		weights, counts := make([]number.Interval, n), make([]int, n)
		for i := range weights {
			weights[i], counts[i] = number.FromFloat(math.Exp(-10*rng.Float64()), 128), 1
		}
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			for b.Loop() {
				permuteAndFlipEnclosed(arith.Interval{Prec: 128}, weights, counts)
			}
		})
	}
}

// What report noisy max leaves out at the left is at most e^-45 in all, and not much less than that is left in.
func TestNoisyMaxLeavesOutWhatIsRare(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	for trial := range 60 {
		laplace, n := trial%2 == 0, 1+rng.IntN(3000)
		laws := make([]noiseLaw, n)
		for i := range laws {
			laws[i] = noiseLaw{-100 * rng.Float64(), 0.1 + 5*rng.Float64()}
		}
		lo, hi, breaks := span(laws)
		if !laplace {
			lo = breaks[len(breaks)-1]
		}
		product := func(x float64) float64 {
			log := 0.0
			for _, l := range laws {
				below, _ := l.values(x, laplace)
				log += math.Log(below)
			}
			return log
		}
		at := decided(laws, laplace, lo, hi)
		require.GreaterOrEqual(t, at, lo)
		require.LessOrEqual(t, product(at), -noiseReach+1e-9)
		require.Greater(t, product(at+1e-6), -noiseReach, "trial %d", trial)
	}
	// At the places where it matters least, nothing is: one candidate's noise below its reach.
	require.Equal(t, -1.0, decided([]noiseLaw{{0, 1}}, true, -1, 1))
}
