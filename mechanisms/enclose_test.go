package mechanisms

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/quadrature"
	"optratio/number/interval"
)

// Permute-and-flip by rules of too few nodes and with too short a reach must still hold the exact values, and is then as wide as
// its errors are.
func TestPermuteAndFlipByRulesOfFewNodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const prec = 160
	for range 30 {
		weights, counts := []*big.Rat{big.NewRat(1, 1)}, []int{1 + rng.IntN(5)}
		boxes := []interval.Interval{interval.FromInt(1, prec)}
		for len(weights) < 5 {
			w := big.NewRat(1+rng.Int64N(19), 20)
			weights, counts = append(weights, w), append(counts, 1+rng.IntN(8))
			boxes = append(boxes, interval.FromRat(w, prec))
		}
		exact := registry["pf"].(Weighted).WeightedExact(weights, counts)
		for nodes := 1; nodes <= 6; nodes++ {
			for _, reach := range []float64{1, 3, 8, 300} {
				for i, p := range permuteAndFlipByRule(quadrature.Legendre(nodes, prec), reach, boxes, counts) {
					require.True(t, p.Contains(exact[i]), "%d nodes, reach %g, %v of %v: %v is not in %v", nodes, reach, weights, counts, exact[i], p)
				}
			}
		}
		// Many nodes leave what lies beyond the reach, which is there.
		for i, p := range permuteAndFlipByRule(quadrature.Legendre(60, prec), 3, boxes, counts) {
			require.True(t, p.Contains(exact[i]))
			require.Greater(t, p.RelWidth(), 1e-6)
		}
		for i, p := range permuteAndFlipByRule(quadrature.Legendre(150, prec), 60, boxes, counts) {
			require.True(t, p.Contains(exact[i]))
			require.Less(t, p.RelWidth(), 1e-24)
		}
	}
}

// Random stopping by rules of too few nodes and with too short a reach must still hold the probabilities: 1/n where all candidates are
// alike and where there is one draw (γ = 1), and elsewhere what a far better rule gives.
func TestRandomStoppingByRulesOfFewNodes(t *testing.T) {
	const prec = 160
	half, one := big.NewRat(1, 2), big.NewRat(1, 1)
	alike := []noisy{{at: new(big.Rat), rate: half, count: 3}}
	mixed := []noisy{{at: new(big.Rat), rate: half, count: 2}, {at: big.NewRat(7, 1), rate: one, count: 3}, {at: big.NewRat(8, 1), rate: half, count: 1}}
	fixed := []noisy{{at: new(big.Rat), rate: half, count: 2}, {at: one, count: 1}, {at: big.NewRat(3, 1), rate: one, count: 1}}
	// A thousand candidates that are just decided weigh more than what one of wider noise does beyond its reach.
	crowd := []noisy{{at: new(big.Rat), rate: one, count: 1}, {at: new(big.Rat), rate: big.NewRat(10, 1), count: 1000}}
	for _, c := range []struct {
		gamma, eta *big.Rat
		all        []noisy
		exact      *big.Rat // nil where it is not known
	}{
		{big.NewRat(1, 20), one, alike, big.NewRat(1, 3)},
		{big.NewRat(1, 20), new(big.Rat), alike, big.NewRat(1, 3)},
		{big.NewRat(1, 20), half, alike, big.NewRat(1, 3)},
		{one, one, mixed, big.NewRat(1, 6)},
		{big.NewRat(1, 20), one, mixed, nil},
		{big.NewRat(1, 5), new(big.Rat), mixed, nil},
		{big.NewRat(1, 5), one, fixed, nil},
		{big.NewRat(1, 1000), one, crowd, nil},
	} {
		n := 0
		for _, g := range c.all {
			n += g.count
		}
		eps := decimalEps(t, "1")
		law := newEnclosedLaw(c.gamma, c.eta, n, prec)
		fine, err := law.enclose(eps, c.all, 60, quadrature.Legendre(26, prec))
		require.NoError(t, err)
		for i := range fine {
			assert.Less(t, fine[i].RelWidth(), 1e-22)
			assert.True(t, c.exact == nil || fine[i].Contains(c.exact), "%v", fine[i])
		}
		for nodes := 1; nodes <= 5; nodes++ {
			for _, reach := range []float64{0.5, 1, 2, 4, 60} {
				p, err := law.enclose(eps, c.all, reach, quadrature.Legendre(nodes, prec))
				require.NoError(t, err)
				for i := range p {
					require.True(t, p[i].Encloses(fine[i]), "%v: %d nodes, reach %g: %v is not in %v", c, nodes, reach, fine[i], p[i])
				}
			}
		}
		for _, reach := range []float64{1, 2, 4, 8} { // where only what lies beyond the reach matters
			p, err := law.enclose(eps, c.all, reach, quadrature.Legendre(26, prec))
			require.NoError(t, err)
			for i := range p {
				require.True(t, p[i].Encloses(fine[i]), fmt.Sprint(c, reach))
			}
		}
	}
}
