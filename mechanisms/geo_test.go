package mechanisms

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/number"
)

// parts returns scores that are the given numbers of parts of 2Δ below 0, for Δ = 1/2.
func parts(eps number.Epsilon, den int64, below ...int64) *Instance {
	in := &Instance{Sensitivities: []*big.Rat{big.NewRat(1, 2)}, Epsilon: eps}
	for _, b := range below {
		in.Scores = append(in.Scores, big.NewRat(-b, den))
	}
	return in
}

// On the lattice of step 2Δ geometric noise is exponential noise without its fraction, which only breaks ties: the
// mechanism is permute-and-flip.
func TestGeometricNoisyMaxIsPermuteAndFlipOnTheLattice(t *testing.T) {
	eps, err := number.ParseExp("7/5")
	require.NoError(t, err)
	for _, depths := range [][]int{{0}, {0, 0}, {0, 3, 1}, {2, 0, 0, 5, 2, 1, 0}, {0, 40}} {
		in := OnLattice(depths, eps)
		want, err := registry["pf"].Exact(in)
		require.NoError(t, err)
		got, err := registry["geo"].Exact(in)
		require.NoError(t, err)
		for r := range want {
			assert.Zero(t, want[r].Cmp(got[r]), "%v candidate %d: %s, want %s", depths, r, got[r], want[r])
		}
	}
}

// fromDefinition runs through all noises below a limit, and returns probabilities that are too small by at most rest in all.
func fromDefinition(in *Instance, z *big.Rat, limit int) (p []*big.Rat, rest *big.Rat) {
	n := len(in.Scores)
	p = make([]*big.Rat, n)
	for r := range p {
		p[r] = new(big.Rat)
	}
	left := big.NewRat(1, 1)
	depths := in.Depths()
	noise := make([]int, n)
	one := big.NewRat(1, 1)
	for {
		mass := big.NewRat(1, 1)
		for _, x := range noise {
			for range x {
				mass.Mul(mass, z)
			}
			mass.Mul(mass, new(big.Rat).Sub(one, z))
		}
		left.Sub(left, mass)
		var winners []int
		var best *big.Rat
		for r, d := range depths {
			at := new(big.Rat).Sub(big.NewRat(int64(noise[r]), 1), d)
			if best == nil || at.Cmp(best) > 0 {
				best, winners = at, nil
			}
			if at.Cmp(best) == 0 {
				winners = append(winners, r)
			}
		}
		for _, r := range winners {
			p[r].Add(p[r], new(big.Rat).Mul(mass, big.NewRat(1, int64(len(winners)))))
		}
		i := 0
		for ; i < n; i++ {
			if noise[i]++; noise[i] < limit {
				break
			}
			noise[i] = 0
		}
		if i == n {
			return p, left
		}
	}
}

// The closed form against the definition, for depths of several fractions.
func TestGeometricNoisyMaxFromItsDefinition(t *testing.T) {
	eps, err := number.ParseExp("3")
	require.NoError(t, err)
	z := big.NewRat(1, 3)
	for _, c := range []struct {
		den   int64
		below []int64
	}{
		{2, []int64{0, 1}}, {2, []int64{0, 0, 1}}, {2, []int64{0, 1, 3}}, {3, []int64{1, 0, 2}}, {3, []int64{0, 4, 7}},
		{4, []int64{5, 0, 5}}, {6, []int64{0, 3, 2}}, {2, []int64{0, 2, 1}},
	} {
		in := parts(eps, c.den, c.below...)
		got, err := registry["geo"].Exact(in)
		require.NoError(t, err)
		low, rest := fromDefinition(in, z, 14)
		sum := new(big.Rat)
		for r, p := range got {
			sum.Add(sum, p)
			assert.GreaterOrEqual(t, p.Cmp(low[r]), 0, "%v candidate %d", c, r)
			assert.LessOrEqual(t, p.Cmp(new(big.Rat).Add(low[r], rest)), 0, "%v candidate %d", c, r)
		}
		assert.Zero(t, sum.Cmp(ratOne), "%v: %s", c, sum)
		f, _ := rest.Float64()
		require.Less(t, f, 1e-5) // the comparison says something
	}
}

// Two candidates, from the definition by hand: with a = ⌈d⌉ and d not an integer the lower one wins iff X₂ - d > X₁ - 0, that is
// X₂ >= X₁ + a, of probability z^a/(1+z).
func TestGeometricNoisyMaxOfTwo(t *testing.T) {
	eps, err := number.ParseExp("5/2")
	require.NoError(t, err)
	got, err := registry["geo"].Exact(parts(eps, 2, 0, 3))
	require.NoError(t, err)
	// z = 2/5, d = 3/2, a = 2: z²/(1+z) = 4/35
	assert.Equal(t, "4/35", got[1].RatString())
	assert.Equal(t, "31/35", got[0].RatString())
}

func TestGeometricFormsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	for range 60 {
		n := 1 + rng.IntN(9)
		den := []int64{1, 2, 3, 4, 7}[rng.IntN(5)]
		below := make([]int64, n)
		for i := range below {
			below[i] = rng.Int64N(6 * den)
		}
		below[rng.IntN(n)] = 0
		eps, err := number.ParseExp([]string{"9/8", "2", "40"}[rng.IntN(3)])
		require.NoError(t, err)
		in := parts(eps, den, below...)
		for _, name := range []string{"geo", "geo-pair"} {
			m := registry[name]
			want, err := m.Exact(in)
			require.NoError(t, err)
			boxes, err := m.Enclose(in, 100)
			require.NoError(t, err)
			symbols, err := m.(regular).Symbolic(in, big.NewRat(1, 1))
			require.NoError(t, err)
			float, err := m.Float(in)
			require.NoError(t, err)
			z, _ := eps.Z()
			for r := range want {
				ok := boxes[r].Contains(want[r])
				assert.True(t, ok && boxes[r].RelWidth() < 1e-25, "%v %v: %v, want %s", below, eps, boxes[r], want[r])
				at, ok := symbols[r].EvalRat(z)
				assert.True(t, ok && at.Cmp(want[r]) == 0)
				w, _ := want[r].Float64()
				assert.InEpsilon(t, w, float[r], 1e-11)
			}
		}
	}
}

// Float scores decide by their binary values whether depths differ by integers: 0.3 - 0.1 is not 0.2.
func TestGeometricFloat(t *testing.T) {
	eps, err := number.ParseEpsilon("0.7")
	require.NoError(t, err)
	for _, scores := range [][]float64{{0, -1, -2.5, -3.5}, {0.3, 0.1, -0.1}, {1e17, 1e17 - 3, 5}, {0, -1e-300, -2}, {1, 0, -1e-20, 1e-17}} {
		for _, delta := range []float64{0.5, 0.1, 1} {
			in, err := FromFloats(scores, []float64{delta}, 1, Params{})
			require.NoError(t, err)
			in.Epsilon = eps
			want, err := registry["geo"].Enclose(in, 64)
			require.NoError(t, err)
			got, err := registry["geo"].Float(in)
			require.NoError(t, err)
			for r, w := range want {
				lo, hi := w.Float64()
				assert.InDelta(t, (lo+hi)/2, got[r], 1e-11*lo+1e-300, "%v candidate %d", scores, r)
			}
		}
	}
}

func TestGeometricManyCandidates(t *testing.T) {
	slowtest.Only(t)
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 200_000
	// Of 60 scores, and of as many different ones as candidates.
	for _, score := range []func() float64{func() float64 { return float64(rng.IntN(60)) }, func() float64 { return 60 * rng.Float64() }} {
		scores := make([]float64, n)
		for i := range scores {
			scores[i] = score()
		}
		in, err := FromFloats(scores, []float64{1}, 1, Params{})
		require.NoError(t, err)
		p, err := registry["geo"].Float(in)
		require.NoError(t, err)
		sum := 0.0
		for _, x := range p {
			sum += x
		}
		assert.InDelta(t, 1, sum, 1e-9)
	}
}
