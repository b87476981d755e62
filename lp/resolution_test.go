package lp

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/number"
)

// geometric is the pmf of geometric noisy max at depths in steps of 2Δ/l, by the closed form of research/docs/resolution.md: the winner's noise t is summed
// from the first value that no other candidate exceeds for certain, as a polynomial in z^t.
func geometric(z *big.Rat, l int, q []int) []*big.Rat {
	pmf := make([]*big.Rat, len(q))
	one := big.NewRat(1, 1)
	for r := range q {
		first := 0
		same, other := []*big.Rat{one}, []*big.Rat{one} // Π(1 - z^{f_s} x) over those that can tie with r, and over the others
		for s := range q {
			if s == r {
				continue
			}
			f := int(math.Ceil(float64(q[s]-q[r]) / float64(l)))
			first = max(first, -f)
			if (q[s]-q[r])%l == 0 {
				same = timesOneMinus(same, zPower(z, f))
			} else {
				other = timesOneMinus(other, zPower(z, f))
			}
		}
		// ∫₀¹ (1 - u(1-z))^j du = (1 - z^{j+1})/((j+1)(1-z));  Σ_{t>=first} (1-z) z^{t(1+i+j)} = (1-z) z^{first(1+i+j)}/(1 - z^{1+i+j}).
		sum := new(big.Rat)
		for j, a := range same {
			tie := new(big.Rat).Sub(one, power(z, j+1))
			tie.Quo(tie, big.NewRat(int64(j)+1, 1))
			for i, b := range other {
				term := new(big.Rat).Mul(a, b)
				term.Mul(term, tie).Mul(term, power(z, first*(1+i+j)))
				sum.Add(sum, term.Quo(term, new(big.Rat).Sub(one, power(z, 1+i+j))))
			}
		}
		pmf[r] = sum
	}
	return pmf
}

func zPower(z *big.Rat, n int) *big.Rat {
	if n < 0 {
		return power(new(big.Rat).Inv(z), -n)
	}
	return power(z, n)
}

// byNoise is geometric noisy max from its definition: noise up to most per candidate, ties split evenly. The noise left out has
// probability at most n z^{most+1}.
func byNoise(z *big.Rat, l, most int, q []int) []*big.Rat {
	pmf := make([]*big.Rat, len(q))
	for r := range pmf {
		pmf[r] = new(big.Rat)
	}
	noise := make([]int, len(q))
	one := big.NewRat(1, 1)
	for {
		best, winners := math.MinInt, []int{}
		p := big.NewRat(1, 1)
		for r, x := range noise {
			p.Mul(p, new(big.Rat).Sub(one, z)).Mul(p, power(z, x))
			switch value := l*x - q[r]; {
			case value > best:
				best, winners = value, []int{r}
			case value == best:
				winners = append(winners, r)
			}
		}
		for _, r := range winners {
			pmf[r].Add(pmf[r], new(big.Rat).Quo(p, big.NewRat(int64(len(winners)), 1)))
		}
		i := 0
		for i < len(noise) && noise[i] == most {
			noise[i] = 0
			i++
		}
		if i == len(noise) {
			return pmf
		}
		noise[i]++
	}
}

func TestGeometricNoisyMaxByItsDefinition(t *testing.T) {
	one := big.NewRat(1, 1)
	for _, c := range []struct {
		l, most int
		z       *big.Rat
		q       []int
	}{
		{1, 25, big.NewRat(1, 3), []int{0, 2}}, {2, 25, big.NewRat(2, 5), []int{0, 3}}, {2, 12, big.NewRat(1, 4), []int{0, 1, 1}},
		{2, 12, big.NewRat(1, 4), []int{3, 0, 2}}, {3, 12, big.NewRat(1, 5), []int{0, 4, 1}}, {3, 12, big.NewRat(1, 5), []int{0, 3, 5}}, {5, 12, big.NewRat(1, 5), []int{0, 0, 7}},
	} {
		got, want := geometric(c.z, c.l, c.q), byNoise(c.z, c.l, c.most, c.q)
		left := new(big.Rat).Mul(big.NewRat(int64(len(c.q)), 1), power(c.z, c.most+1))
		sum := new(big.Rat)
		for r := range got {
			sum.Add(sum, got[r])
			d := new(big.Rat).Sub(got[r], want[r])
			assert.True(t, d.Sign() >= 0 && d.Cmp(left) <= 0, "%+v: candidate %d: %s, from the definition %s", c, r, got[r], want[r])
		}
		assert.Zero(t, sum.Cmp(one), "%+v", c)
	}
}

// Geometric noisy max is permute-and-flip on the lattice of step 2Δ.
func TestGeometricNoisyMaxOnTheCoarseLattice(t *testing.T) {
	z := big.NewRat(3, 5)
	for _, q := range append(vectors(3, 4), vectors(4, 2)...) {
		want := flip(z, q)
		for r, p := range geometric(z, 1, q) {
			assert.Zero(t, p.Cmp(want[r]), "%v", q)
		}
	}
	geo, err := mechanisms.Lookup("geo")
	require.NoError(t, err)
	eps, err := number.FromExp(new(big.Rat).Inv(z))
	require.NoError(t, err)
	for _, n := range []int{3, 10, 40} { // a sum over the orbits of (10,10) takes minutes, that of (40,40) ages
		x, err := MeanError(context.Background(), geo, n, n, Prior{}, eps)
		require.NoError(t, err)
		y, err := MeanError(context.Background(), mechanisms.PermuteAndFlip(), n, n, Prior{}, eps)
		require.NoError(t, err)
		assert.Equal(t, y.String(), x.String())
	}
	uniform, err := mechanisms.Lookup("uniform")
	require.NoError(t, err)
	own, err := MeanError(context.Background(), called{uniform, "geo"}, 3, 3, Prior{}, eps)
	require.NoError(t, err)
	want, err := MeanError(context.Background(), uniform, 3, 3, Prior{}, eps)
	require.NoError(t, err)
	assert.Equal(t, want.String(), own.String())
}

// called is a mechanism under another name.
type called struct {
	mechanisms.Mechanism
	name string
}

func (c called) Info() mechanisms.Info {
	info := c.Mechanism.Info()
	info.Name = c.name
	return info
}

// checkRows reports how many rows of the level a table violates: privacy x_r(p) >= z x_r(q) between all pairs of vectors whose
// differences have a range of at most l, monotonicity between all comparable pairs.
func checkRows(n, most, l int, z *big.Rat, pmf func([]int) []*big.Rat) (private, monotone int) {
	all := vectors(n, most)
	x := make([][]*big.Rat, len(all))
	for i, q := range all {
		x[i] = pmf(q)
	}
	for i, q := range all {
		for j, p := range all {
			least, greatest := math.MaxInt, math.MinInt
			for r := range p {
				least, greatest = min(least, p[r]-q[r]), max(greatest, p[r]-q[r])
			}
			for r := range p {
				if greatest-least <= l && x[j][r].Cmp(new(big.Rat).Mul(z, x[i][r])) < 0 {
					private++
				}
				if p[r]-q[r] == least && x[j][r].Cmp(x[i][r]) < 0 {
					monotone++ // every other sank by more, or rose by less
				}
			}
		}
	}
	return private, monotone
}

// Theorem 1 of research/docs/resolution.md on small lattices, exactly; with a little more privacy asked for, rows are violated.
func TestGeometricNoisyMaxIsPrivateAndMonotone(t *testing.T) {
	z := big.NewRat(3, 5)
	for _, c := range [][3]int{{2, 6, 2}, {2, 7, 3}, {3, 4, 2}, {3, 5, 3}, {4, 3, 2}} {
		pmf := func(q []int) []*big.Rat { return geometric(z, c[2], q) }
		private, monotone := checkRows(c[0], c[1], c[2], z, pmf)
		assert.Zero(t, private, "%v", c)
		assert.Zero(t, monotone, "%v", c)
		private, _ = checkRows(c[0], c[1], c[2], big.NewRat(601, 1000), pmf)
		assert.Positive(t, private, "%v", c)
	}
}

// ratio returns a mechanism's ratio to the optimum between the ends low and high of e^{-ε/l}: each quotient of an error at one end by the optimum at
// the other. The optimum rises with z, since a larger z leaves fewer mechanisms, and so does permute-and-flip's error (research/docs/resolution.md), so for it
// the two quotients enclose the ratio in between.
func (s small) ratio(t *testing.T, low, high *big.Rat, pmf func(root *big.Rat, q []int) []*big.Rat) (lower, upper *big.Rat) {
	at := func(root *big.Rat) (mechanism, optimum *big.Rat) {
		return s.total(func(q []int) []*big.Rat { return pmf(root, q) }), s.optimum(t, power(root, s.l))
	}
	m0, o0 := at(low)
	m1, o1 := at(high)
	return new(big.Rat).Quo(m0, o1), new(big.Rat).Quo(m1, o0)
}

// around brackets e^{-ε/2}, of which a float64 is given, by decimals 3e-9 apart.
func around(x float64) (low, high *big.Rat) {
	n := int64(math.Floor(x * 1e9))
	return big.NewRat(n-1, 1e9), big.NewRat(n+2, 1e9)
}

func geometricAtHalf(root *big.Rat, q []int) []*big.Rat { return geometric(power(root, 2), 2, q) }

// The table of research/docs/resolution.md: (3,3) on the lattice of step Δ.
func TestRatiosAtHalfTheStep(t *testing.T) {
	slowtest.Only(t)
	s := small{n: 3, k: 3, l: 2, level: DP, loss: depthLoss(2)}
	assert.Len(t, vectors(3, 6), 127)
	for _, c := range []struct {
		eps       float64
		flip, geo string
	}{{math.Ln2, "1.02107", "1.00066"}, {1, "1.05002", "1.00046"}, {2, "1.24797", "1.00005"}} {
		low, high := around(math.Exp(-c.eps / 2))
		lower, upper := s.ratio(t, low, high, flip)
		assert.Equal(t, c.flip, cutOff(lower, 5))
		assert.Equal(t, c.flip, cutOff(upper, 5))
		lower, upper = s.ratio(t, low, high, geometricAtHalf)
		assert.Equal(t, c.geo, cutOff(lower, 5))
		assert.Equal(t, c.geo, cutOff(upper, 5))
	}
	// Exactly, at e^ε = 4.
	root := big.NewRat(1, 2)
	optimum := s.optimum(t, power(root, 2))
	ratio := s.total(func(q []int) []*big.Rat { return geometricAtHalf(root, q) })
	assert.Equal(t, "79668972303/79650517415", ratio.Quo(ratio, optimum).RatString())
	ratio = s.total(func(q []int) []*big.Rat { return flip(root, q) })
	assert.Equal(t, "2518774620/2275729069", ratio.Quo(ratio, optimum).RatString())
	// The worst neighbors alone say much less.
	for _, c := range []struct {
		level Level
		want  string
	}{{Paper, "1.09645"}, {DP, "1.01865"}} {
		s := small{n: 3, k: 2, l: 2, level: c.level, loss: depthLoss(2)}
		low, high := around(math.Sqrt(0.5))
		lower, upper := s.ratio(t, low, high, flip)
		assert.Equal(t, c.want, cutOff(lower, 5))
		assert.Equal(t, c.want, cutOff(upper, 5))
	}
}

// Neither of the two is better for all scores: expected errors at single vectors on the lattice of step Δ, z = 9/25, and of step 2Δ/3.
func TestWhereGeometricNoiseIsWorse(t *testing.T) {
	root := big.NewRat(3, 5)
	for _, c := range []struct {
		l     int
		q     []int
		ratio string // geometric noisy max over permute-and-flip
	}{{2, []int{0, 1}, "0.8824"}, {2, []int{0, 0, 1}, "1.0037"}, {2, []int{0, 0, 0, 1}, "1.0477"}, {3, []int{0, 0, 2}, "1.2270"}} {
		loss := func(pmf []*big.Rat) *big.Rat {
			sum := new(big.Rat)
			for r, p := range pmf {
				sum.Add(sum, new(big.Rat).Mul(p, big.NewRat(int64(c.q[r]), int64(c.l))))
			}
			return sum
		}
		geo := loss(geometric(power(root, c.l), c.l, c.q))
		assert.Equal(t, c.ratio, geo.Quo(geo, loss(flip(root, c.q))).FloatString(4), "%+v", c)
	}
}
