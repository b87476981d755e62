package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/internal/slowtest"
	"optratio/number"
)

// Permute-and-flip by rules of too few nodes and with too short a reach must still hold the exact values, and is then as wide as
// its errors are.
func TestPermuteAndFlipByRulesOfFewNodes(t *testing.T) {
	slowtest.Only(t)
	rng := rand.New(rand.NewPCG(5, 6))
	const prec = 160
	c := enclosedCalculus(prec)
	for range 30 {
		weights, counts := []*big.Rat{big.NewRat(1, 1)}, []int{1 + rng.IntN(5)}
		boxes := []number.Interval{number.FromInt(1, prec)}
		for len(weights) < 5 {
			w := big.NewRat(1+rng.Int64N(19), 20)
			weights, counts = append(weights, w), append(counts, 1+rng.IntN(8))
			boxes = append(boxes, number.FromRat(w, prec))
		}
		exact := registry["pf"].(*weighted).WeightedExact(weights, counts)
		for nodes := 1; nodes <= 6; nodes++ {
			for _, reach := range []float64{1, 3, 8, 300} {
				for i, p := range permuteAndFlipByRule(c, c.rule(nodes), reach, prec, boxes, counts) {
					require.True(t, p.Contains(exact[i]), "%d nodes, reach %g, %v of %v: %v is not in %v", nodes, reach, weights, counts, exact[i], p)
				}
			}
		}
		// Many nodes leave what lies beyond the reach, which is there.
		for i, p := range permuteAndFlipByRule(c, c.rule(60), 3, prec, boxes, counts) {
			require.True(t, p.Contains(exact[i]))
			require.Greater(t, p.RelWidth(), 1e-6)
		}
		for i, p := range permuteAndFlipByRule(c, c.rule(150), 60, prec, boxes, counts) {
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
		enclose := func(reach float64, nodes int) []number.Interval {
			q := enclosedIntegral(newStoppingLaw(enclosedCalculus(prec), c.gamma, c.eta, n), reach, nodes)
			q.work = math.Inf(1)
			p, err := q.run(eps.Value(prec), c.all)
			require.NoError(t, err)
			return p
		}
		fine := enclose(60, 24)
		for i := range fine {
			assert.Less(t, fine[i].RelWidth(), 1e-22)
			assert.True(t, c.exact == nil || fine[i].Contains(c.exact), "%v", fine[i])
		}
		for _, nodes := range []int{1, 2, 3, 5} {
			for _, reach := range []float64{0.5, 1, 2, 4, 60} {
				p := enclose(reach, nodes)
				for i := range p {
					require.True(t, arith.Encloses(p[i], fine[i]), "%v: %d nodes, reach %g: %v is not in %v", c, nodes, reach, fine[i], p[i])
				}
			}
		}
		for _, reach := range []float64{1, 2, 4, 8} { // where only what lies beyond the reach matters
			p := enclose(reach, 24)
			for i := range p { // the narrow noise of some is all within: then either may be the narrower one
				_, overlap := p[i].Intersect(fine[i])
				require.True(t, overlap, fmt.Sprint(c, reach))
			}
		}
	}
}

// The bounds of a panel hold at points of its ellipse, in complex arithmetic, and are nearly attained somewhere: no part of them can go.
func TestRandomStoppingOnEllipses(t *testing.T) {
	const prec = 64
	third, one := big.NewRat(1, 3), big.NewRat(1, 1)
	all := []noisy{{at: new(big.Rat), rate: third, count: 7}, {at: big.NewRat(4, 1), rate: one, count: 2}}
	eps := decimalEps(t, "1")
	var nearest [2]float64 // of |φ'|/n and |e| to their bounds
	fitting := 0
	for _, gamma := range []*big.Rat{big.NewRat(1, 20), big.NewRat(1, 2)} {
		law := newStoppingLaw(enclosedCalculus(prec), gamma, one, 9)
		g, _ := gamma.Float64()
		for _, ends := range [][2]float64{{-3.5, -3}, {-1, 0}, {0, 0.5}, {0, 1}, {1, 3}, {3.4, 4}, {4, 5.3}, {7, 11}, {12, 40}, {30, 300}} {
			from, to := ends[0], ends[1]
			q := enclosedIntegral(law, 60, 2)
			q.prepare()
			rates, _ := q.sites(eps.Value(prec), all)
			passed := make([]*site[number.Interval], 2)
			for i, first := range rates {
				if at, _ := first.at.Float64(); at <= from {
					passed[i] = first
				}
			}
			q.look(rates, passed)
			deficit, fits := q.bound(number.FromFloat(from-4, prec), number.FromFloat(to-4, prec)) // places are below the best score
			if !fits {
				continue
			}
			fitting++
			_, most := law.density(deficit.Neg()).Float64()
			for k := range 200 {
				turn := 2 * math.Pi * float64(k) / 200
				r := float64(ellipse)
				x := complex((from+to)/2+(to-from)/2*(r+1/r)/2*math.Cos(turn), (to-from)/2*(r-1/r)/2*math.Sin(turn))
				var h complex128
				for j, c := range all {
					at, _ := c.at.Float64()
					rate, _ := c.rate.Float64()
					side := complex(rate, 0)
					if from < at {
						side = -side
					}
					e := cmplx.Exp(-side*(x-complex(at, 0))) / 2
					_, top := q.waves[j].top.Float64()
					require.LessOrEqual(t, cmplx.Abs(e), top*(1+1e-12))
					nearest[1] = max(nearest[1], cmplx.Abs(e)/top)
					if from < at {
						e = 1 - e
					}
					h += complex(float64(c.count), 0) * e
				}
				v := complex(g, 0) + complex((1-g)/9, 0)*h
				got := law.mean.Near() * g * g / real(v*cmplx.Conj(v))
				require.LessOrEqual(t, got, most*(1+1e-12), "γ = %v on [%g, %g]", gamma, from, to)
				nearest[0] = max(nearest[0], got/most)
			}
		}
	}
	require.Greater(t, fitting, 12)
	require.Greater(t, nearest[0], 0.7)
	require.Greater(t, nearest[1], 0.999)
}

// Weights beside which the precision is coarse have one factor together; probabilities are as before, exact ones enclosed.
func TestPermuteAndFlipOfTinyWeights(t *testing.T) {
	const prec = 40
	c := enclosedCalculus(prec)
	rng := rand.New(rand.NewPCG(8, 9))
	for range 20 {
		weights, counts := []*big.Rat{big.NewRat(1, 1)}, []int{1 + rng.IntN(3)}
		boxes := []number.Interval{number.FromInt(1, prec)}
		for len(weights) < 8 {
			w := new(big.Rat).SetFrac64(1+rng.Int64N(100), 1<<(30+rng.IntN(25)))
			weights, counts = append(weights, w), append(counts, 1+rng.IntN(4))
			boxes = append(boxes, number.FromRat(w, prec))
		}
		exact := registry["pf"].(*weighted).WeightedExact(weights, counts)
		for i, p := range permuteAndFlipByRule(c, c.rule(40), 30, prec, boxes, counts) {
			require.True(t, p.Contains(exact[i]), "%v of %v: %v is not in %v", weights, counts, exact[i], p)
			require.Less(t, p.RelWidth(), 1e-6)
		}
	}
}

// Series of too few terms must still hold the exact values, and are then as wide as what they leave out.
func TestPermuteAndFlipByShortSeries(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 11))
	const prec = 160
	c := enclosedCalculus(prec)
	for range 20 {
		var weights []*big.Rat
		var counts []int
		var boxes []number.Interval
		for i := range 8 { // all light but one
			w := big.NewRat(1+rng.Int64N(60), 1000)
			if i == 0 {
				w = big.NewRat(1, 1)
			}
			weights, counts, boxes = append(weights, w), append(counts, 1+rng.IntN(4)), append(boxes, number.FromRat(w, prec))
		}
		exact := registry["pf"].(*weighted).WeightedExact(weights, counts)
		widest := math.Inf(1)
		for _, bits := range []uint{1, 2, 4, 8, 16, 32, 64, 128} {
			width := 0.0
			for i, p := range permuteAndFlipByRule(c, c.rule(60), 60, bits, boxes, counts) {
				require.True(t, p.Contains(exact[i]), "%d bits, %v of %v: %v is not in %v", bits, weights, counts, exact[i], p)
				width = max(width, p.RelWidth())
			}
			require.LessOrEqual(t, width, widest)
			require.Less(t, width, 40*math.Pow(0.5, float64(min(bits, 60))))
			widest = width
		}
	}
}

// K terms of a series in x <= 2^-e leave 2^-prec: 2^{-eK} <= 2^-prec, and K-1 terms would not.
func TestSeriesTerms(t *testing.T) {
	for _, prec := range []uint{53, 128, 166} {
		assert.Equal(t, 1, seriesTerms(0, prec))
		for e := range 400 {
			for _, part := range []float64{1, 0.75, 0.5000001} {
				k := seriesTerms(math.Ldexp(part, -e), prec)
				exponent := e // 2^-e is above x, but for x = 2^-e itself
				if part == 1 {
					exponent--
				}
				if exponent < lightBits {
					assert.Zero(t, k)
					continue
				}
				assert.True(t, exponent*k >= int(prec) && exponent*(k-1) < int(prec), "2^-%d: %d terms", exponent, k)
			}
		}
	}
	assert.Zero(t, seriesTerms(math.Inf(1), 128))
}
