package lp

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lattice"
	"optratio/mechanisms"
)

// The registered mechanism's error over the lattice is the optimum, its probabilities sum to one and
// are the same in all three arithmetics.
func TestOptimalMechanismAttainsTheOptimum(t *testing.T) {
	m, err := mechanisms.Lookup("lp-optimal")
	require.NoError(t, err)
	for _, level := range []Level{Paper, Full} {
		for _, s := range [][2]int{{1, 2}, {3, 3}, {4, 2}} {
			e := expEps(t, 3, 2)
			lat, err := lattice.New(s[0], s[1])
			require.NoError(t, err)
			sum := new(big.Rat)
			for _, counts := range lat.All() {
				depths := lattice.Depths(counts)
				in := mechanisms.OnLattice(depths, e)
				m := onLattice(m, s[1], Prior{}, level)
				pmf, err := m.Exact(in)
				require.NoError(t, err)
				boxes, err := m.Enclose(in, 100)
				require.NoError(t, err)
				floats, err := m.Float(in)
				require.NoError(t, err)
				one, weight := new(big.Rat), new(big.Rat).SetInt(lattice.Multiplicity(counts))
				for i, p := range pmf {
					one.Add(one, p)
					assert.True(t, boxes[i].Contains(p))
					f, _ := p.Float64()
					assert.InDelta(t, f, floats[i], 1e-15)
					term := new(big.Rat).Mul(p, weight)
					sum.Add(sum, term.Mul(term, big.NewRat(int64(depths[i]), 1)))
				}
				require.Zero(t, one.Cmp(big.NewRat(1, 1)))
			}
			if s[0] > 1 {
				assert.Zero(t, sum.Cmp(exactOptimum(t, s[0], s[1], Prior{}, level, e)))
			}
		}
	}
}

func TestOptimalMechanismForDecimalEpsilon(t *testing.T) {
	m, err := mechanisms.Lookup("lp-optimal")
	require.NoError(t, err)
	in := mechanisms.OnLattice([]int{0, 1, 1, 2}, decimalEps(t, "0.4"))
	m, _ = mechanisms.ForLattice(m, 3)
	_, err = m.Exact(in)
	assert.ErrorIs(t, err, mechanisms.ErrNotRational)
	boxes, err := m.Enclose(in, 128)
	require.NoError(t, err)
	finer, err := m.Enclose(in, 256)
	require.NoError(t, err)
	sum := boxes[0]
	for i := range boxes {
		_, overlap := boxes[i].Intersect(finer[i])
		assert.True(t, overlap)
		assert.Less(t, boxes[i].RelWidth(), 1e-30)
		if i > 0 {
			sum = sum.Add(boxes[i])
		}
	}
	assert.True(t, sum.Contains(big.NewRat(1, 1)))
}

func TestOptimalMechanismRefusesOtherScores(t *testing.T) {
	m, err := mechanisms.Lookup("lp-optimal")
	require.NoError(t, err)
	e := expEps(t, 3, 2)
	half := mechanisms.OnLattice([]int{0, 1}, e)
	half.Scores[1] = big.NewRat(-1, 2)
	deep := mechanisms.OnLattice([]int{0, 5}, e)
	large := mechanisms.OnLattice([]int{0, 40}, e)
	for range 40 {
		large.Scores = append(large.Scores, new(big.Rat))
	}
	for _, in := range []*mechanisms.Instance{half, deep, large} {
		_, err := onLattice(m, 3, Prior{}, Paper).Exact(in)
		assert.ErrorIs(t, err, mechanisms.ErrInstance)
	}
}
