package lp

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/internal/slowtest"
	"optratio/number"
)

// approximately solves a question with a δ, given as a fraction.
func approximately(t testing.TB, q Request, delta string) *proof {
	t.Helper()
	var ok bool
	q.Delta, ok = new(big.Rat).SetString(delta)
	require.True(t, ok)
	p, err := newTestTable(q)
	require.NoError(t, err)
	s, err := p.solve(context.Background(), big.NewRat(1, 1e9), nil)
	require.NoError(t, err)
	require.Empty(t, s.Undecided)
	return s
}

// Means over Q computed with HiGHS from programs with a slack for each pair and candidate, to the digits shown.
func TestApproximateOptima(t *testing.T) {
	deltas := [5]string{"0", "1e-6", "1e-3", "1e-2", "5e-2"}
	for _, c := range []struct {
		n, k int
		eps  string
		want [5]float64
	}{
		{3, 3, "0.5", [5]float64{0.476966, 0.476963, 0.473922, 0.446529, 0.331735}},
		{3, 4, "0.5", [5]float64{0.486199, 0.486194, 0.481624, 0.440708, 0.289400}},
		{4, 3, "1", [5]float64{0.270667, 0.270664, 0.268344, 0.249198, 0.187905}},
		{2, 3, "0.1", [5]float64{0.680679, 0.680676, 0.677323, 0.647122, 0.512891}},
	} {
		for i, delta := range deltas {
			s := approximately(t, Request{N: c.n, K: c.k, Epsilon: epsilon(t, c.eps)}, delta)
			low, _ := s.low().Float64()
			high, _ := s.high().Float64()
			assert.InDelta(t, c.want[i], low, 5.1e-7)
			assert.InDelta(t, c.want[i], high, 5.1e-7)
		}
	}
}

// overAllVectors is the program over all score vectors without any symmetry, from the definition: for every ordered pair of neighbors q, q' and every
// candidate r a slack s >= x_r(q) - e^ε x_r(q'), s >= 0, whose sum over r is at most δ.
func overAllVectors(q Request, losses []*big.Rat, z, delta *big.Rat) *linear.Rational {
	zero, one := new(big.Rat), big.NewRat(1, 1)
	all := allVectors(q.N, q.depths())
	p := &linear.Rational{}
	type entry struct {
		row   int32
		value *big.Rat
	}
	columns := make([][]entry, len(all)*q.N)
	put := func(column, row int, x *big.Rat) {
		columns[column] = append(columns[column], entry{int32(row), x})
	}
	for i, v := range all {
		row := p.AddRow(one, one)
		for r := range v {
			put(i*q.N+r, row, one)
		}
	}
	largest := 0
	if q.Worst { // its column is the first after the probabilities
		largest = len(columns)
		columns = append(columns, nil)
		for i, v := range all {
			row := p.AddRow(zero, nil)
			put(largest, row, one)
			for r := range v {
				put(i*q.N+r, row, new(big.Rat).Neg(losses[v[r]]))
			}
		}
	}
	for i, a := range all {
		for j, b := range all {
			low, high := a[0]-b[0], a[0]-b[0]
			for r := range a {
				low, high = min(low, a[r]-b[r]), max(high, a[r]-b[r])
			}
			if i == j || high-low > q.parts() {
				continue
			}
			sum := p.AddRow(nil, delta)
			for r := range a {
				row := p.AddRow(zero, nil) // s - x_r(a) + e^ε x_r(b) >= 0
				put(i*q.N+r, row, big.NewRat(-1, 1))
				put(j*q.N+r, row, new(big.Rat).Inv(z))
				columns = append(columns, []entry{{int32(sum), one}, {int32(row), one}})
			}
		}
	}
	for c, es := range columns {
		cost := zero
		switch {
		case q.Worst && c == largest:
			cost = one
		case !q.Worst && c < len(all)*q.N:
			cost = losses[all[c/q.N][c%q.N]]
		}
		var index []int32
		var value []*big.Rat
		for _, e := range es {
			index, value = append(index, e.row), append(value, e.value)
		}
		p.AddCol(cost, zero, nil, index, value)
	}
	return p
}

func TestApproximateOptimaOverAllVectors(t *testing.T) {
	slowtest.Only(t)
	ctx := context.Background()
	half, err := ParseLoss("tail:" + big.NewRat(1, 2).RatString())
	require.NoError(t, err)
	for _, c := range []struct {
		Request
		losses func(depth *big.Rat) *big.Rat
	}{
		{Request{N: 2, K: 3, Step: 1}, nil},
		{Request{N: 3, K: 2, Step: 1}, nil},
		{Request{N: 4, K: 1, Step: 1}, nil},
		{Request{N: 2, K: 1, Step: 3}, nil},
		{Request{N: 3, K: 1, Step: 2}, nil},
		{Request{N: 3, K: 2, Step: 1, Loss: Loss{kind: "square"}}, func(x *big.Rat) *big.Rat { return new(big.Rat).Mul(x, x) }},
		{Request{N: 3, K: 2, Step: 1, Loss: half, Worst: true}, func(x *big.Rat) *big.Rat { return big.NewRat(int64(x.Sign()), 1) }},
	} {
		var losses []*big.Rat
		for v := range c.depths() + 1 {
			x := big.NewRat(int64(v), int64(c.parts()))
			if c.losses != nil {
				x = c.losses(x)
			}
			losses = append(losses, x)
		}
		count := big.NewRat(int64(len(allVectors(c.N, c.depths()))), 1)
		if c.Worst {
			count = big.NewRat(1, 1)
		}
		for _, exp := range []string{"1", "5/4", "3"} {
			c.Epsilon, err = number.ParseExp(exp)
			require.NoError(t, err)
			z, _ := c.Epsilon.Z()
			for _, delta := range []string{"0", "1/1000", "1/30", "1/4", "2/3", "1"} {
				s := approximately(t, c.Request, delta)
				d, _ := new(big.Rat).SetString(delta)
				r := overAllVectors(c.Request, losses, z, d)
				start, err := linear.Embedded{}.Solve(ctx, r.Model(), linear.Options{})
				require.NoError(t, err)
				e, err := r.Optimize(ctx, start.Basis, linear.Embedded{})
				require.NoError(t, err)
				want := e.Objective.Quo(e.Objective, count)
				name := fmt.Sprintf("n = %d, k = %d, L = %d, worst %v, e^ε = %s, δ = %s", c.N, c.K, c.parts(), c.Worst, exp, delta)
				assert.Equal(t, want.RatString(), s.low().RatString(), name)
				assert.Equal(t, want.RatString(), s.high().RatString(), name)
				private(t, s, c.parts(), z, d)
			}
		}
	}
}

// private checks by the definition that a solution's table is (ε,δ)-DP.
func private(t *testing.T, s *proof, l int, z, delta *big.Rat) {
	t.Helper()
	pmf, n, k := map[string][]*big.Rat{}, 0, 0
	s.eachVector(func(depths []int, p []*big.Rat) {
		pmf[fmt.Sprint(depths)] = p
		n, k = len(depths), max(k, slices.Max(depths))
	})
	all := allVectors(n, k)
	at := func(v []int, r int) *big.Rat { // depths are listed in ascending order
		sorted := slices.Sorted(slices.Values(v))
		return pmf[fmt.Sprint(sorted)][slices.Index(sorted, v[r])]
	}
	for _, a := range all {
		for _, b := range all {
			low, high := a[0]-b[0], a[0]-b[0]
			sum := new(big.Rat)
			for r := range a {
				low, high = min(low, a[r]-b[r]), max(high, a[r]-b[r])
				if x := new(big.Rat).Quo(at(b, r), z); x.Sub(at(a, r), x).Sign() > 0 {
					sum.Add(sum, x)
				}
			}
			if high-low <= l && sum.Cmp(delta) > 0 {
				require.Fail(t, "not private", "%v, %v: %s", a, b, sum)
			}
		}
	}
}

// At δ = 0 the optimum is that of ε-DP towards all neighbors.
func TestApproximateAtZero(t *testing.T) {
	for _, c := range []Request{
		{N: 3, K: 3, Epsilon: exp(t, "3/2")}, {N: 4, K: 3, Epsilon: exp(t, "5/4")}, {N: 3, K: 2, Step: 2, Epsilon: exp(t, "2")},
		{N: 3, K: 3, Epsilon: exp(t, "3/2"), Level: Monotone}, {N: 3, K: 2, Epsilon: exp(t, "3/2"), Loss: Loss{kind: "top1"}, Worst: true},
	} {
		s := approximately(t, c, "0")
		c.Level++ // all neighbors too
		_, pure := solve(t, c)
		assert.True(t, pure.Exact())
		assert.Equal(t, pure.Low.RatString(), s.low().RatString())
		assert.Equal(t, pure.High.RatString(), s.high().RatString())
	}
}

// The optimum is convex in δ, and the price is a slope of a line that touches it and lies nowhere above.
func TestPriceSupportsTheOptimum(t *testing.T) {
	for _, q := range []Request{
		{N: 3, K: 3, Epsilon: exp(t, "3/2")}, {N: 4, K: 2, Epsilon: exp(t, "6/5")}, {N: 3, K: 2, Step: 2, Epsilon: exp(t, "2")},
		{N: 3, K: 2, Epsilon: exp(t, "3/2"), Loss: Loss{kind: "top1"}, Worst: true},
	} {
		deltas := []string{"0", "1/10000", "1/50", "1/10", "1/4", "1/2"}
		var all []*proof
		for _, d := range deltas {
			all = append(all, approximately(t, q, d))
		}
		for i, a := range all {
			assert.True(t, a.priced().Exact())
			for j, b := range all {
				from, _ := new(big.Rat).SetString(deltas[i])
				to, _ := new(big.Rat).SetString(deltas[j])
				line := new(big.Rat).Sub(from, to)
				line.Mul(line, a.priced().Low).Add(line, a.low())
				assert.LessOrEqual(t, line.Cmp(b.low()), 0, "%s at %s", deltas[i], deltas[j])
			}
		}
		assert.Positive(t, all[0].priced().Low.Sign())
	}
}

// What theorems say of a δ encloses the program's optimum, on every lattice, for every loss and prior; permute-and-flip is then never optimal.
func TestTheoremsForApproximatePrivacy(t *testing.T) {
	rho, err := ParsePrior("geometric:" + big.NewRat(2, 3).RatString())
	require.NoError(t, err)
	positive := 0
	check := func(q Request, delta string) {
		t.Helper()
		s := approximately(t, q, delta)
		q.Delta, _ = new(big.Rat).SetString(delta)
		c := q.theorems(t.Context(), 256)
		name := fmt.Sprintf("%d %d %d %s %s worst %v δ = %s", q.N, q.K, q.parts(), q.Loss, q.Prior, q.Worst, delta)
		assert.LessOrEqual(t, c.low.Cmp(s.low()), 0, name)
		assert.GreaterOrEqual(t, c.high.Cmp(s.high()), 0, name)
		positive += c.low.Sign()
		if q.N > 1 && q.Delta.Sign() > 0 {
			require.NotNil(t, c.pfOptimal)
			assert.False(t, *c.pfOptimal)
			assert.Positive(t, enclosureOf(c.flip).Low.Cmp(s.high()), name)
		}
	}
	for _, delta := range []string{"0", "1e-9", "1/1000", "1/50", "1/3", "1"} {
		for _, e := range []string{"5/4", "5/2"} {
			for _, n := range []int{1, 2, 3, 4} {
				for _, prior := range []Prior{Prior{}, rho} {
					for _, loss := range []Loss{Loss{}, Loss{kind: "top1"}} {
						check(Request{N: n, K: 2, Step: 1, Epsilon: exp(t, e), Prior: prior, Loss: loss}, delta)
					}
				}
				check(Request{N: n, K: 2, Step: 1, Epsilon: exp(t, e), Loss: Loss{kind: "top1"}, Worst: true}, delta)
			}
			check(Request{N: 3, K: 1, Step: 2, Epsilon: exp(t, e)}, delta)
			check(Request{N: 3, K: 1, Step: 2, Epsilon: exp(t, e), Loss: Loss{kind: "top1"}, Worst: true}, delta)
		}
	}
	assert.Greater(t, positive, 80)
}
