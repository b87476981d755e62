package ratiomap

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lattice"
)

// TestClassesAddUp counts score vectors and variables class by class: all vectors are in one class, and a vector of a class is visited by n candidates.
func TestClassesAddUp(t *testing.T) {
	for n := 3; n <= 7; n++ {
		for k := 1; k <= 5; k++ {
			for top := 1; top <= k+1; top++ {
				f, err := newForm(t.Context(), n, k, top, 1e6)
				require.NoError(t, err)
				all := new(big.Int)
				visits := make([]*big.Int, len(f.classes))
				for i, m := range f.mass {
					assert.Positive(t, m.Sign())
					all.Add(all, m)
					visits[i] = new(big.Int)
				}
				assert.Equal(t, lattice.Vectors(n, k, false), all)
				for c, w := range f.weight {
					for i := f.start[c]; i < f.start[c+1]; i++ {
						visits[f.class[i]].Add(visits[f.class[i]], w)
					}
				}
				for i, m := range f.mass {
					assert.Equal(t, new(big.Int).Mul(m, big.NewInt(int64(n))), visits[i], "n = %d, k = %d, top = %d, class of %v", n, k, top, f.classes[i])
				}
				if top == k+1 {
					assert.Equal(t, lattice.Orbits(n, k).Int64(), int64(len(f.classes)))
				}
			}
		}
	}
}

// TestTooManyClasses: the limit holds.
func TestTooManyClasses(t *testing.T) {
	_, err := newForm(t.Context(), 8, 6, 3, 100)
	assert.ErrorIs(t, err, errTooMany)
}

// dualOf evaluates the dual function of the whole program at multipliers of the classes, in rational numbers, chain by chain of the lattice.
func dualOf(t *testing.T, f *form, z *big.Rat, y []int64) *big.Rat {
	l, err := lattice.New(f.n, f.k)
	require.NoError(t, err)
	ids := map[string]int{}
	for i, m := range f.classes {
		ids[key(m, f.top)] = i
	}
	given := make([]*big.Rat, l.Len())
	mass := make([]*big.Rat, l.Len())
	for i, m := range l.All() {
		given[i] = big.NewRat(y[ids[key(m, f.top)]], 1<<unitBits)
		mass[i] = new(big.Rat).SetInt(lattice.Multiplicity(m))
	}
	vars := l.Number()
	start, order := vars.Chains()
	least := make([]*big.Rat, l.Len())
	for c := range len(start) - 1 {
		lambda := new(big.Rat)
		for i := start[c+1] - 1; i >= start[c]; i-- {
			orbit := vars.Orbit[order[i]]
			v := new(big.Rat).Mul(z, lambda)
			v.Add(v, big.NewRat(int64(vars.Depth[order[i]]), 1))
			if lambda = new(big.Rat).Sub(v, given[orbit]); lambda.Sign() < 0 {
				lambda.SetInt64(0)
			}
			if v.Sub(v, lambda); least[orbit] == nil || v.Cmp(least[orbit]) < 0 {
				least[orbit] = v
			}
		}
	}
	sum := new(big.Rat)
	for i, v := range least {
		sum.Add(sum, new(big.Rat).Mul(v, mass[i]))
	}
	return sum
}

// TestWalkIsTheDualFunction compares the integer walk over classes with the dual function of the whole program in rational numbers: it is no greater, by next to
// nothing. Where classes hold several orbits, the walk takes the least y' of them all.
func TestWalkIsTheDualFunction(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	for _, s := range [][3]int{{3, 3, 4}, {4, 3, 4}, {4, 3, 2}, {5, 3, 1}, {3, 5, 2}} {
		f, err := newForm(t.Context(), s[0], s[1], s[2], 1e6)
		require.NoError(t, err)
		for range 20 {
			z := 1<<(zBits-1) + rng.Int64N(1<<(zBits-1)+1)
			y := make([]int64, len(f.classes))
			for i := range y {
				y[i] = units(rng.Float64()*4 - 1)
			}
			got := new(big.Rat).SetFrac(walk(f, z, y, nil).value, big.NewInt(1<<unitBits))
			want := dualOf(t, f, rational(z), y)
			assert.LessOrEqual(t, got.Cmp(want), 0)
			if s[2] == s[1]+1 {
				gap, _ := new(big.Rat).Sub(want, got).Float64()
				assert.Less(t, gap, 1e-4)
			}
		}
	}
}

// TestUnits: what cannot be a multiplier becomes 0, and rounding is downwards.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		y    float64
		want int64
	}{{1, 1 << unitBits}, {-1, -1 << unitBits}, {1e30, 0}, {-1e30, 0}, {1e-12, 0}, {-1e-12, -1 << (unitBits - multiplierBits)}} {
		assert.Equal(t, c.want, units(c.y), "%g", c.y)
	}
	var zero float64
	assert.Zero(t, units(zero/zero))
}
