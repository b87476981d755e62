package arith

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Both sums equal their definitions, term by term.
func TestSumsEqualTheirDefinitions(t *testing.T) {
	f := Rat{}
	for _, z := range []*big.Rat{new(big.Rat), big.NewRat(1, 1), big.NewRat(2, 3), big.NewRat(-5, 7)} {
		weighted, plain, power := f.Zero(), f.Zero(), f.One()
		for k := range 40 {
			if k > 0 {
				power = f.Mul(power, z)
				plain = f.Add(plain, power)
				weighted = f.Add(weighted, f.Mul(f.FromInt(int64(k)), power))
			}
			w, p := PowerSums(f, z, k)
			assert.Equal(t, weighted.RatString(), w.RatString(), "%v %d", z, k)
			assert.Equal(t, plain.RatString(), p.RatString(), "%v %d", z, k)
			for _, b := range []*big.Rat{z, big.NewRat(3, 2)} {
				want := f.Zero()
				for i := range k {
					want = f.Add(want, f.Mul(Pow(f, z, i), Pow(f, b, k-1-i)))
				}
				assert.Equal(t, want.RatString(), DifferenceQuotient(f, z, b, k).RatString(), "%v %v %d", z, b, k)
			}
		}
	}
}

// No cancellation where a and b almost agree.
func TestDifferenceQuotientOfNeighbors(t *testing.T) {
	f := Interval{64}
	a := f.FromRat(big.NewRat(1<<40+1, 1<<40))
	assert.Less(t, DifferenceQuotient(f, a, f.One(), 1000).RelWidth(), 1e-15)
}

func TestRanks(t *testing.T) {
	var x []*big.Rat
	for _, v := range []int64{7, 1, 7, 3} {
		x = append(x, big.NewRat(v, 2))
	}
	assert.Equal(t, []int64{2, -3, 2, -1}, Ranks(x)) // 3.5 1 3.5 2
}
