package mechanisms

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/lattice"
	"optratio/number"
)

// byPermutations is the definition: candidates arrive in a uniformly random order,
// each is taken with its probability p (McKenna & Sheldon 2020, Alg. 1 and Lemma 1).
func byPermutations(p []*big.Rat) []*big.Rat {
	n := len(p)
	out := make([]*big.Rat, n)
	for i := range out {
		out[i] = new(big.Rat)
	}
	one := big.NewRat(1, 1)
	orders := int64(0)
	var visit func(used int, reach *big.Rat, taken []*big.Rat)
	visit = func(used int, reach *big.Rat, taken []*big.Rat) {
		if used == 1<<n-1 {
			orders++
			for i := range out {
				if taken[i] != nil {
					out[i].Add(out[i], taken[i])
				}
			}
			return
		}
		for i := range n {
			if used>>i&1 == 1 {
				continue
			}
			taken[i] = new(big.Rat).Mul(reach, p[i])
			visit(used|1<<i, new(big.Rat).Mul(reach, new(big.Rat).Sub(one, p[i])), taken)
			taken[i] = nil
		}
	}
	visit(0, one, make([]*big.Rat, n))
	for i := range out {
		out[i].Quo(out[i], big.NewRat(orders, 1))
	}
	return out
}

// bySubsets is Lemma 2: p_r Σ_{S ∌ r} (-1)^|S|/(|S|+1) Π_{s∈S} p_s.
func bySubsets(p []*big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(p))
	for r := range p {
		sum := new(big.Rat)
		for set := range 1 << len(p) {
			if set>>r&1 == 1 {
				continue
			}
			term, size := big.NewRat(1, 1), int64(0)
			for s := range p {
				if set>>s&1 == 1 {
					term.Mul(term, p[s])
					size++
				}
			}
			if size%2 == 1 {
				term.Neg(term)
			}
			sum.Add(sum, term.Quo(term, big.NewRat(size+1, 1)))
		}
		out[r] = sum.Mul(sum, p[r])
	}
	return out
}

// byRecurrence is the dynamic program of App. E, for any arithmetic.
func byRecurrence[T any](f arith.Field[T], p []T) []T {
	n := len(p)
	all := make([]T, n+1)
	for k := range all {
		all[k] = f.Zero()
	}
	all[0] = f.One()
	for _, w := range p {
		for k := n; k > 0; k-- {
			all[k] = f.Add(all[k], f.Mul(w, all[k-1]))
		}
	}
	out := make([]T, n)
	for r, w := range p {
		without, sum := f.One(), f.One()
		for k := 1; k < n; k++ {
			without = f.Sub(all[k], f.Mul(w, without))
			term := f.Quo(without, f.FromInt(int64(k+1)))
			if k%2 == 1 {
				term = f.Neg(term)
			}
			sum = f.Add(sum, term)
		}
		out[r] = f.Mul(w, sum)
	}
	return out
}

func expand(weights []*big.Rat, counts []int) (p []*big.Rat) {
	for i, c := range counts {
		for range c {
			p = append(p, weights[i])
		}
	}
	return p
}

func TestPermuteAndFlipEqualsItsDefinitions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pf := registry["pf"].(*weighted)
	for range 60 {
		weights, counts := []*big.Rat{big.NewRat(1, 1)}, []int{1 + rng.IntN(2)}
		for len(weights) < 4 && rng.IntN(5) > 0 {
			den := 2 + rng.Int64N(20)
			weights = append(weights, big.NewRat(rng.Int64N(den), den))
			counts = append(counts, 1+rng.IntN(2))
		}
		p := expand(weights, counts)
		perms, subsets, recurrence := byPermutations(p), bySubsets(p), byRecurrence(arith.Rat{}, p)
		exact := pf.WeightedExact(weights, counts)
		boxes := make([]number.Interval, len(weights))
		for i := range boxes {
			boxes[i] = number.FromRat(weights[i], 64)
		}
		enclosed := pf.WeightedEnclose(boxes, counts)
		i, sum := 0, new(big.Rat)
		for g, c := range counts {
			assert.True(t, enclosed[g].Contains(exact[g]))
			for range c {
				require.Zero(t, exact[g].Cmp(perms[i]), "weights %v counts %v", weights, counts)
				require.Zero(t, exact[g].Cmp(subsets[i]))
				require.Zero(t, exact[g].Cmp(recurrence[i]))
				sum.Add(sum, exact[g])
				i++
			}
		}
		require.Zero(t, sum.Cmp(big.NewRat(1, 1)))
	}
}

// App. E in float64 is an alternating sum: on tied scores its probabilities sum to
// 618 at n = 60. The registered body must not inherit that.
func TestPermuteAndFlipIsStableOnTies(t *testing.T) {
	tied := make([]float64, 60)
	for i := range tied {
		tied[i] = 1
	}
	sum := 0.0
	for _, p := range byRecurrence(arith.Float{}, tied) {
		sum += p
	}
	assert.Greater(t, sum, 100.0, "the recurrence is expected to be unstable here")
	p := registry["pf"].(*weighted).WeightedFloat([]float64{1}, []int{60})
	assert.InDelta(t, 1.0/60, p[0], 1e-16)
}

func TestEpsilonKinds(t *testing.T) {
	half, err := number.ParseEpsilon("0.5")
	require.NoError(t, err)
	ratio, err := number.ParseExp("3/2")
	require.NoError(t, err)
	_, ok := half.Z()
	assert.False(t, ok)
	z, ok := ratio.Z()
	require.True(t, ok)
	assert.Zero(t, z.Cmp(big.NewRat(2, 3)))
	p, ok := ratio.ExpNegRat(big.NewRat(-3, 1))
	require.True(t, ok)
	assert.Zero(t, p.Cmp(big.NewRat(27, 8)))
	_, ok = ratio.ExpNegRat(big.NewRat(1, 2))
	assert.False(t, ok)
	// (3/2)^{-1/2} squared is 2/3.
	root := ratio.ExpNeg(big.NewRat(1, 2), 128)
	assert.True(t, root.Mul(root).Contains(big.NewRat(2, 3)))
	assert.Less(t, root.RelWidth(), 1e-35)
	assert.InDelta(t, 0.4054651081081644, ratio.Float(), 1e-16)
	for _, bad := range []string{"-1", "nan", "inf", "", "0x1", "1e999999999"} {
		_, err := number.ParseEpsilon(bad)
		assert.ErrorIs(t, err, number.ErrEpsilon, bad)
	}
	for _, bad := range []string{"1/0", "1/2", "-3/2", "x", "2/3"} {
		_, err := number.ParseExp(bad)
		assert.ErrorIs(t, err, number.ErrEpsilon, bad)
	}
}

func TestInstancesOnTheLatticeAgreeWithWeights(t *testing.T) {
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	for _, name := range []string{"pf", "em"} {
		m, err := Lookup(name)
		require.NoError(t, err)
		in := OnLattice([]int{2, 0, 1, 0}, eps)
		exact, err := m.Exact(in)
		require.NoError(t, err)
		weights := []*big.Rat{big.NewRat(1, 1), big.NewRat(2, 3), big.NewRat(4, 9)}
		w := m.(*weighted).WeightedExact(weights, lattice.Count([]int{2, 0, 1, 0}, 2))
		for i, v := range []int{2, 0, 1, 0} {
			assert.Zero(t, exact[i].Cmp(w[v]))
		}
		boxes, err := m.Enclose(in, 100)
		require.NoError(t, err)
		floats, err := m.Float(in)
		require.NoError(t, err)
		for i := range exact {
			assert.True(t, boxes[i].Contains(exact[i]))
			f, _ := exact[i].Float64()
			assert.InDelta(t, f, floats[i], 1e-15)
		}
		in.Epsilon, _ = number.ParseEpsilon("0.5")
		_, err = m.Exact(in)
		assert.ErrorIs(t, err, ErrNotRational)
	}
}

func TestMalformedInstancesAreRefused(t *testing.T) {
	eps, _ := number.ParseEpsilon("1")
	one := big.NewRat(1, 1)
	for _, in := range []*Instance{
		{Sensitivities: []*big.Rat{one}, Epsilon: eps},
		{Scores: []*big.Rat{one}, Epsilon: eps},
		{Scores: []*big.Rat{one}, Sensitivities: []*big.Rat{one, one}, Epsilon: eps},
		{Scores: []*big.Rat{one}, Sensitivities: []*big.Rat{big.NewRat(-1, 1)}, Epsilon: eps},
		{Scores: []*big.Rat{one, one}, Sensitivities: []*big.Rat{new(big.Rat), new(big.Rat)}, Epsilon: eps},
	} {
		_, err := registry["em"].Exact(in)
		assert.ErrorIs(t, err, ErrInstance)
	}
	_, err := Lookup("nope")
	assert.ErrorContains(t, err, "pf")
}
