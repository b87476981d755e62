package mechanisms

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/number"
)

// trioFromDefinition is pf-trio at scores that are whole parts of a step, den of them, below the best: one set of kept candidates after the other, offset by offset, as research/docs/three.md
// says it, with any odds.
func trioFromDefinition(z, odds *big.Rat, den int, below []int) []*big.Rat {
	p := make([]*big.Rat, len(below))
	for r := range p {
		p[r] = new(big.Rat)
	}
	add := func(r int, x *big.Rat) { p[r].Add(p[r], x) }
	for offset := range den { // and half a part
		depths := make([]int, len(below))
		for r, b := range below {
			depths[r] = (b*2 - (offset*2 + 1) + 2*den - 1) / (2 * den) // ⌈b/den - (offset + 1/2)/den⌉, where b/den has no half
			if b*2 <= offset*2+1 {
				depths[r] = 0
			}
		}
		for set := range 1 << len(below) {
			chance := big.NewRat(1, int64(den))
			var kept, best, others []int
			for r, d := range depths {
				heads := arith.Pow(arith.Field[*big.Rat](arith.Rat{}), z, d)
				if set>>r&1 == 0 {
					heads = new(big.Rat).Sub(ratOne, heads)
				} else if kept = append(kept, r); d == 0 {
					best = append(best, r)
				} else {
					others = append(others, r)
				}
				chance.Mul(chance, heads)
			}
			if chance.Sign() == 0 {
				continue
			}
			if odd := append(slices.Clone(best), others...); len(kept) == 3 && len(best) < 3 {
				if len(best) == 2 {
					odd = others
				}
				taken := new(big.Rat).Mul(chance, odds)
				add(odd[0], taken)
				chance.Sub(chance, taken)
			}
			for _, r := range kept {
				add(r, new(big.Rat).Quo(chance, big.NewRat(int64(len(kept)), 1)))
			}
		}
	}
	return p
}

// trioCase is n candidates at e^ε, and β in exact numbers.
func trioCase(t *testing.T, n int, exp string) (eps number.Epsilon, z, odds *big.Rat) {
	eps, err := number.ParseExp(exp)
	require.NoError(t, err)
	z, _ = eps.Z()
	return eps, z, trioOdds(arith.Field[*big.Rat](arith.Rat{}), z, n, eps)
}

func TestTrioFromItsDefinition(t *testing.T) {
	m := registry["pf-trio"]
	for _, exp := range []string{"21/20", "3/2", "8/5", "3"} {
		for _, c := range []struct {
			den   int
			below []int
		}{
			{1, []int{0, 1, 2}}, {1, []int{0, 0, 3}}, {1, []int{2, 0, 0, 1}}, {1, []int{0, 0, 0, 2, 1}}, {2, []int{0, 1, 3}}, {3, []int{4, 0, 2, 0}},
			{4, []int{0, 3, 5, 2}}, {1, []int{0, 1}}, {1, []int{0}}, {5, []int{1, 0, 0, 7, 7, 4}},
		} {
			eps, z, odds := trioCase(t, len(c.below), exp)
			in := &Instance{Sensitivities: []*big.Rat{big.NewRat(1, 2)}, Epsilon: eps}
			for _, b := range c.below {
				in.Scores = append(in.Scores, big.NewRat(int64(-b), int64(c.den)))
			}
			want := trioFromDefinition(z, odds, c.den, c.below)
			got, err := m.Exact(in)
			require.NoError(t, err)
			boxes, err := m.Enclose(in, 100)
			require.NoError(t, err)
			symbols, err := m.(regular).Symbolic(in, ratOne)
			require.NoError(t, err)
			floats, err := m.Float(in)
			require.NoError(t, err)
			for r := range want {
				msg := fmt.Sprint(exp, c, r)
				assert.Zero(t, want[r].Cmp(got[r]), msg)
				assert.True(t, boxes[r].Contains(want[r]) && boxes[r].RelWidth() < 1e-20, msg)
				at, ok := symbols[r].EvalRat(z)
				assert.True(t, ok && at.Cmp(want[r]) == 0, msg)
				w, _ := want[r].Float64()
				assert.InEpsilon(t, w, floats[r], 1e-11, msg)
			}
		}
	}
}

// privateTrio reports whether the definition with these odds is ε-DP and monotone on all scores of whole parts of a step, at most deepest of them below the best.
func privateTrio(z, odds *big.Rat, n, den, deepest int) (private, monotone bool) {
	known := map[string][]*big.Rat{}
	ask := func(below []int) []*big.Rat {
		least := slices.Min(below)
		shifted := make([]int, n)
		for r := range below {
			shifted[r] = below[r] - least
		}
		key := fmt.Sprint(shifted)
		if known[key] == nil {
			known[key] = trioFromDefinition(z, odds, den, shifted)
		}
		return known[key]
	}
	private, monotone = true, true
	each := func(low, high int, visit func(v []int)) {
		v := slices.Repeat([]int{low}, n)
		for {
			visit(v)
			i := 0
			for ; i < n && v[i] == high; i++ {
				v[i] = low
			}
			if i == n {
				return
			}
			v[i]++
		}
	}
	each(0, deepest, func(below []int) {
		if below[0] != 0 || !slices.IsSorted(below) {
			return
		}
		p := ask(below)
		each(0, den, func(moves []int) { // neighbors, up to a shift
			next := make([]int, n)
			for r := range next {
				next[r] = below[r] + moves[r]
			}
			for r, x := range ask(next) {
				private = private && x.Cmp(new(big.Rat).Mul(z, p[r])) >= 0
				monotone = monotone && (moves[r] > 0 || x.Cmp(p[r]) >= 0)
			}
		})
	})
	return private, monotone
}

// moreOddsAreNotPrivate reports whether larger odds violate ε-DP on one of two pairs of neighbors, the candidates beyond the third far away on the
// first pair: (0,0,1) and (0,1,2), or (0,1,…,1) and (0,…,0).
func moreOddsAreNotPrivate(z, odds *big.Rat, n int) bool {
	near, beside := slices.Repeat([]int{300}, n), slices.Repeat([]int{300}, n)
	copy(near, []int{0, 0, 1})
	copy(beside, []int{0, 1, 2})
	alone := slices.Repeat([]int{1}, n)
	alone[0] = 0
	falls := func(from, to []int, r int) bool {
		least := new(big.Rat).Mul(z, trioFromDefinition(z, odds, 1, from)[r])
		return trioFromDefinition(z, odds, 1, to)[r].Cmp(least) < 0
	}
	return falls(near, beside, 2) || falls(alone, make([]int, n), 0)
}

// Theorem 3: ε-DP and monotone between the lattice's points as well as on them, and with larger odds it is not.
func TestTrioIsPrivateAndTight(t *testing.T) {
	for _, c := range []struct {
		n, den, deepest int
		exp             string
	}{
		{3, 1, 3, "7/4"}, {3, 1, 3, "3/2"}, {3, 1, 3, "6/5"}, {3, 3, 6, "8/5"}, {3, 2, 4, "11/10"}, {3, 1, 3, "199/100"},
		{4, 1, 3, "6/5"}, {4, 2, 3, "3/2"}, {4, 1, 3, "9/5"}, {5, 1, 2, "5/4"}, {5, 1, 2, "19/10"}, {6, 1, 1, "9/8"},
	} {
		_, z, odds := trioCase(t, c.n, c.exp)
		require.Equal(t, 1, odds.Sign())
		private, monotone := privateTrio(z, odds, c.n, c.den, c.deepest)
		assert.True(t, private && monotone, "%v: %v, %v", c, private, monotone)
		assert.False(t, moreOddsAreNotPrivate(z, odds, c.n), "%v", c)
		assert.True(t, moreOddsAreNotPrivate(z, new(big.Rat).Mul(odds, big.NewRat(1001, 1000)), c.n), "%v: more is private, too", c)
	}
	// Up to z = 1/2, where β is 0, larger odds are private.
	for _, exp := range []string{"2", "3"} {
		_, z, odds := trioCase(t, 3, exp)
		require.Zero(t, odds.Sign())
		private, monotone := privateTrio(z, big.NewRat(1, 10), 3, 1, 3)
		assert.True(t, private && monotone, exp)
	}
}

// What rounding can cost: at e^ε = 3/2 and scores (0, 0, -Δ) the third candidate has 7/24, and with the exponential mechanism less.
func TestRoundingOfTrio(t *testing.T) {
	eps, _, _ := trioCase(t, 3, "3/2")
	in := &Instance{Scores: ratsOf(t, "0", "0", "-1"), Sensitivities: ratsOf(t, "1"), Epsilon: eps}
	trio, err := registry["pf-trio"].Exact(in)
	require.NoError(t, err)
	assert.Equal(t, "7/24", trio[2].RatString())
	exponential, err := Exponential().Enclose(in, 64)
	require.NoError(t, err)
	assert.Negative(t, exponential[2].Hi().Cmp(new(big.Float).SetRat(big.NewRat(29, 100))))
}
