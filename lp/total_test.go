package lp

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/internal/slowtest"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// byVectors sums the exponential mechanism's expected depth over the score vectors one by one, each of Q(n,j) for every j that
// the objective has.
func byVectors(n, k int, o Prior, z *big.Rat) *big.Rat {
	power := func(v int) *big.Rat {
		p := big.NewRat(1, 1)
		for range v {
			p.Mul(p, z)
		}
		return p
	}
	total := new(big.Rat)
	for j := 1; j <= k; j++ {
		if !o.box() && j < k {
			continue
		}
		depths := make([]int, n)
		var visit func(i int)
		visit = func(i int) {
			if i < n {
				for depths[i] = 0; depths[i] <= j; depths[i]++ {
					visit(i + 1)
				}
				return
			}
			best, num, den := j, new(big.Rat), new(big.Rat)
			for _, v := range depths {
				best = min(best, v)
				den.Add(den, power(v))
				num.Add(num, new(big.Rat).Mul(big.NewRat(int64(v), 1), power(v)))
			}
			if best == 0 {
				total.Add(total, num.Quo(num, den))
			}
		}
		visit(0)
	}
	return total
}

// TestRoutesOfTotals: a total is the same by score vectors, by weights, by instances, exactly, enclosed and estimated.
func TestRoutesOfTotals(t *testing.T) {
	ctx := context.Background()
	em := mechanisms.Exponential()
	e := expEps(t, 3, 2)
	z, _ := e.Z()
	for _, s := range [][2]int{{2, 1}, {2, 3}, {3, 2}, {4, 2}, {3, 4}} {
		n, k := s[0], s[1]
		lat, err := lattice.New(n, k)
		require.NoError(t, err)
		for _, o := range []Prior{{}, Box()} {
			want := byVectors(n, k, o, z)
			for name, route := range map[string]func() (number.Number, error){
				"total":     func() (number.Number, error) { return total(ctx, em, n, k, o, Paper, e, 128) },
				"weights":   func() (number.Number, error) { return totalOfWeights(ctx, em.(weighted), lat, o, e, 128) },
				"instances": func() (number.Number, error) { return totalOfInstances(ctx, em, lat, o, e, 128) },
			} {
				v, err := route()
				require.NoError(t, err, name)
				assert.Equal(t, number.Exact(want), v, "%s, %v %v", name, s, o)
			}
			q := &Request{N: n, K: k, Prior: o, Epsilon: e}
			size := sizeOf(n, k, o)
			v, err := enclosedObjective(ctx, q, lat, 128, instances(q, true, func(in *mechanisms.Instance) ([]number.Interval, error) { return em.Enclose(in, 128) }))
			require.NoError(t, err)
			v = v.Mul(size)
			assert.True(t, v.Enclosure(64).Contains(want) && v.Enclosure(64).RelWidth() < 1e-34, "%v %v", s, o)
			v, err = estimatedObjective(ctx, q, lat, instances(q, true, em.Float))
			require.NoError(t, err)
			f, _ := want.Float64()
			assert.InEpsilon(t, f, v.Float64()*size.Float64(), 1e-12)
			assert.False(t, v.IsRigorous())
			assert.Equal(t, "floating-point sum over the lattice", v.Method())
			// At a decimal ε beside ln 3/2 the total is beside it.
			v, err = total(ctx, em, n, k, o, Paper, decimalEps(t, "0.405465108108164381978"), 128)
			require.NoError(t, err)
			assert.False(t, arith.IsExact(v))
			assert.InEpsilon(t, f, v.Float64(), 1e-15)
			assert.Less(t, v.Enclosure(64).RelWidth(), 1e-34)
		}
	}
	v, err := total(ctx, em, 1, 3, Prior{}, Paper, e, 128)
	require.NoError(t, err)
	assert.Equal(t, number.Int(0), v, "one candidate has no error")
	v, err = total(ctx, em, 1, 3, Prior{}, Paper, decimalEps(t, "0.5"), 128)
	require.NoError(t, err)
	assert.Equal(t, number.Int(0), v, "at an irrational z neither, exactly")
}

// TestStoppedSumsOfTotals: no route returns a part of a sum as the whole.
func TestStoppedSumsOfTotals(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	em := mechanisms.Exponential()
	lat, err := lattice.New(3, 2)
	require.NoError(t, err)
	for _, e := range []number.Epsilon{expEps(t, 3, 2), decimalEps(t, "0.4")} {
		for name, route := range map[string]func() (number.Number, error){
			"total": func() (number.Number, error) { return total(ctx, em, 3, 2, Prior{}, Paper, e, 128) },
			"weights": func() (number.Number, error) {
				return totalOfWeights(ctx, em.(weighted), lat, Prior{}, e, 128)
			},
			"instances": func() (number.Number, error) { return totalOfInstances(ctx, em, lat, Prior{}, e, 128) },
			"estimated": func() (number.Number, error) {
				q := &Request{N: 3, K: 2, Epsilon: e}
				return estimatedObjective(ctx, q, lat, instances(q, true, em.Float))
			},
		} {
			_, err := route()
			assert.ErrorIs(t, err, context.Canceled, name)
		}
	}
}

// TestErrorsOfTotals: what a mechanism cannot answer is named; a sum that was stopped is not a sum, for mechanisms of either kind; and
// nothing is asked once the context has ended.
func TestErrorsOfTotals(t *testing.T) {
	boom := errors.New("boom")
	m := mechanisms.FromRational(mechanisms.Info{Name: "odd", Uniform: true}, func(in *mechanisms.Instance) ([]*big.Rat, error) { return nil, boom })
	_, err := total(context.Background(), m, 3, 2, Prior{}, Paper, expEps(t, 3, 2), 128)
	require.ErrorIs(t, err, boom)
	assert.ErrorContains(t, err, "odd: ")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m = mechanisms.FromRational(mechanisms.Info{Name: "even", Uniform: true}, func(in *mechanisms.Instance) ([]*big.Rat, error) {
		return slices.Repeat([]*big.Rat{big.NewRat(1, int64(len(in.Scores)))}, len(in.Scores)), nil
	})
	_, err = total(ctx, m, 3, 2, Prior{}, Paper, expEps(t, 3, 2), 128)
	require.ErrorIs(t, err, context.Canceled)
	assert.NotContains(t, err.Error(), "even")
	v, err := total(context.Background(), m, 3, 2, Prior{}, Paper, expEps(t, 3, 2), 128)
	require.NoError(t, err)
	assert.Equal(t, number.Exact(byVectors(3, 2, Prior{}, big.NewRat(1, 1))), v, "uniform is em at ε = 0")
}

// TestPartsOfTotals: sums in pairs, and where a closed form is too long to be exact.
func TestPartsOfTotals(t *testing.T) {
	for n := 1; n <= 9; n++ {
		var terms []*big.Rat
		for i := 1; i <= n; i++ {
			terms = append(terms, big.NewRat(int64(i), 7))
		}
		assert.Zero(t, pairwiseSum(context.Background(), terms).Cmp(big.NewRat(int64(n*(n+1)/2), 7)))
	}
	flip := func(n, k int, e number.Epsilon) number.Number {
		x, err := (&Request{N: n, K: k, Epsilon: e}).flipError(t.Context(), 64)
		require.NoError(t, err)
		return x.Mul(sizeOf(n, k, Prior{}))
	}
	assert.Equal(t, number.Exact(flipTotalExact(3, 2, Prior{}, big.NewRat(2, 3))), flip(3, 2, expEps(t, 3, 2)))
	assert.False(t, arith.IsExact(flip(3, 2, decimalEps(t, "0.4"))))
	long := flip(1<<20, 2, expEps(t, 3, 2)) // 2²⁰·2·3 bits are more than 2²²
	assert.False(t, arith.IsExact(long))
	sign, _ := long.Cmp(number.Int(0))
	assert.Positive(t, sign)
}

// TestSizesOfExactTotals: permute-and-flip's total is exact while n·k times the bits of z's denominator and one more are fewer than 2¹⁹, here 4n, 8n, and
// far more for an e^ε of 400000 bits, whose denominator counts and not its numerator; and so is a sum of weights up to 2²² bits of all denominators together.
func TestSizesOfExactTotals(t *testing.T) {
	slowtest.Only(t)
	ctx := context.Background()
	e := expEps(t, 4, 1)
	for _, c := range []struct {
		n, k  int
		exact bool
	}{{1<<17 - 1, 1, true}, {1 << 17, 1, false}, {1 << 16, 2, false}} {
		x, err := (&Request{N: c.n, K: c.k, Epsilon: e}).flipError(ctx, 64)
		require.NoError(t, err)
		assert.Equal(t, c.exact, arith.IsExact(x), "%+v", c)
	}
}

// uniform is a mechanism whose total is that of the exponential mechanism at ε = 0.
func uniform(name string) mechanisms.Mechanism {
	return mechanisms.FromRational(mechanisms.Info{Name: name, Uniform: true}, func(in *mechanisms.Instance) ([]*big.Rat, error) {
		return slices.Repeat([]*big.Rat{big.NewRat(1, int64(len(in.Scores)))}, len(in.Scores)), nil
	})
}

// TestSizesOfTotals: what needs a sum over more than 20 million orbits is refused before it begins, while an integral serves the exponential mechanism.
func TestSizesOfTotals(t *testing.T) {
	ctx, e := context.Background(), decimalEps(t, "0.5")
	for _, size := range [][2]int{{14, 14}, {1000, 1000}} { // 20058300 orbits, and more than can be counted
		_, err := total(ctx, uniform("even"), size[0], size[1], Prior{}, Paper, e, 64)
		assert.ErrorIs(t, err, ErrTooLarge, "%v", size)
		assert.ErrorContains(t, err, "even")
		_, err = total(ctx, mechanisms.Exponential(), size[0], size[1], Prior{}, Paper, e, 64)
		assert.NoError(t, err, "%v", size)
	}
}

// TestErrorsOfTotalsByRoute: on no route is an orbit that a mechanism does not answer left out of the sum; nor is a sum whole that ends in its last step.
func TestErrorsOfTotalsByRoute(t *testing.T) {
	ctx, boom := context.Background(), errors.New("boom")
	lat, err := lattice.New(3, 2)
	require.NoError(t, err)
	q := &Request{N: 3, K: 2, Epsilon: decimalEps(t, "0.5")}
	_, err = exactObjective(ctx, q, lat, func([]int, func(distribution[*big.Rat]) error) error { return boom })
	assert.ErrorIs(t, err, boom)
	_, err = enclosedObjective(ctx, q, lat, 64, func([]int, func(distribution[number.Interval]) error) error { return boom })
	assert.ErrorIs(t, err, boom)
	_, err = estimatedObjective(ctx, q, lat, func([]int, func(distribution[float64]) error) error { return boom })
	assert.ErrorIs(t, err, boom)
	failing := mechanisms.FromEnclosure(mechanisms.Info{Name: "odd"}, func(*mechanisms.Instance, uint) (lower, upper []*big.Float, err error) { return nil, nil, boom })
	_, err = totalOfInstances(ctx, failing, lat, Prior{}, decimalEps(t, "0.5"), 64)
	assert.ErrorIs(t, err, boom)

	stopped, cancel := context.WithCancel(ctx)
	left := lat.Len()
	_, err = exactObjective(stopped, q, lat, func(_ []int, visit func(distribution[*big.Rat]) error) error {
		if left--; left == 0 {
			defer cancel()
		}
		return visit(distribution[*big.Rat]{})
	})
	assert.Zero(t, left)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = total(stopped, mechanisms.PermuteAndFlip(), 3, 2, Box(), Paper, decimalEps(t, "0.5"), 64)
	assert.ErrorIs(t, err, context.Canceled)
}

// slow is a mechanism that asks for the context of its answers.
type slow struct {
	mechanisms.Mechanism
	ctx context.Context
}

func (s *slow) WithContext(ctx context.Context) mechanisms.Mechanism {
	s.ctx = ctx
	return s.Mechanism
}

func TestStoppedSumsOfTotalsReachSlowMechanisms(t *testing.T) {
	ctx := context.WithValue(context.Background(), slow{}, 1)
	s := &slow{Mechanism: uniform("even")}
	_, err := total(ctx, s, 3, 2, Prior{}, Paper, expEps(t, 3, 2), 64)
	require.NoError(t, err)
	assert.Equal(t, ctx, s.ctx)
}

// TestMeanErrorIsWhatRatioRates: the mean error is the one that stands beside a mechanism's ratio.
func TestMeanErrorIsWhatRatioRates(t *testing.T) {
	krr, err := mechanisms.Lookup("krr")
	require.NoError(t, err)
	for _, eps := range []number.Epsilon{decimalEps(t, "0.7"), expEps(t, 3, 2)} {
		for _, o := range []Prior{{}, Box()} {
			a, err := Ratio(context.Background(), Request{N: 3, K: 2, Epsilon: eps, Prior: o, Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), krr}})
			require.NoError(t, err)
			for i, m := range []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), krr} {
				mean, err := MeanError(context.Background(), m, 3, 2, o, eps)
				require.NoError(t, err)
				assert.InEpsilon(t, a.Mechanisms[i].Error.Float64(), mean.Float64(), 1e-15)
				if want, ok := a.Mechanisms[i].Error.Rat(); ok {
					got, ok := mean.Rat()
					require.True(t, ok)
					assert.Zero(t, got.Cmp(want))
				}
			}
		}
	}
	_, err = MeanError(context.Background(), krr, 0, 2, Prior{}, decimalEps(t, "1"))
	require.ErrorIs(t, err, lattice.ErrSize)
	_, err = MeanError(context.Background(), krr, 60, 60, Prior{}, decimalEps(t, "1"))
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = MeanError(context.Background(), krr, 2, 2, Prior{}, number.Epsilon{})
	require.ErrorIs(t, err, number.ErrEpsilon)
}

// What a mechanism errs that does not treat candidates alike is the mean over all score vectors, not over one arrangement of each: this one takes the first candidate as
// long as that is at most a step below the best, and then the best. The reference goes through the vectors.
func TestErrorsOfMechanismsThatAreNotSymmetric(t *testing.T) {
	loyal := func(depths []*big.Rat) int {
		if depths[0].Cmp(big.NewRat(1, 1)) <= 0 {
			return 0
		}
		return slices.IndexFunc(depths, func(v *big.Rat) bool { return v.Sign() == 0 })
	}
	info := mechanisms.Info{Name: "loyal", Uniform: true}
	exact := func(in *mechanisms.Instance) ([]*big.Rat, error) {
		p := slices.Repeat([]*big.Rat{new(big.Rat)}, len(in.Scores))
		p[loyal(in.Depths())] = big.NewRat(1, 1)
		return p, nil
	}
	list := []mechanisms.Mechanism{
		mechanisms.FromRational(info, exact),
		mechanisms.FromEnclosure(info, func(in *mechanisms.Instance, prec uint) (lower, upper []*big.Float, err error) {
			p, _ := exact(in)
			for _, x := range p {
				lower, upper = append(lower, new(big.Float).SetRat(x)), append(upper, new(big.Float).SetRat(x))
			}
			return lower, upper, nil
		}),
		mechanisms.FromFloat(info, 1e-12, func(scores []float64, sensitivity, _ float64) ([]float64, error) {
			var depths []*big.Rat
			for _, q := range scores {
				depths = append(depths, new(big.Rat).SetFloat64((slices.Max(scores)-q)/(2*sensitivity)))
			}
			p := make([]float64, len(scores))
			p[loyal(depths)] = 1
			return p, nil
		}),
	}
	const n, k = 3, 3
	for step := 1; step <= 2; step++ {
		sum, squares, worst, count := new(big.Rat), new(big.Rat), new(big.Rat), int64(0)
		deepest := k * step
		for code := range int(math.Pow(float64(deepest+1), n)) {
			depths := []*big.Rat{}
			for rest := code; len(depths) < n; rest /= deepest + 1 {
				depths = append(depths, big.NewRat(int64(rest%(deepest+1)), int64(step)))
			}
			if slices.MinFunc(depths, (*big.Rat).Cmp).Sign() > 0 {
				continue
			}
			v := depths[loyal(depths)]
			sum.Add(sum, v)
			squares.Add(squares, new(big.Rat).Mul(v, v))
			worst = arith.Larger(worst, v)
			count++
		}
		mean := func(total *big.Rat) *big.Rat { return total.Quo(total, big.NewRat(count, 1)) }
		sum, squares = mean(sum), mean(squares)
		for _, m := range list {
			for what, c := range map[string]struct {
				r    Request
				want *big.Rat
			}{
				"mean":        {Request{}, sum},
				"mean square": {Request{Loss: Loss{kind: "square"}}, squares},
				"worst":       {Request{Worst: true}, worst},
			} {
				c.r.N, c.r.K, c.r.Step, c.r.Epsilon, c.r.Mechanisms = n, k, step, expEps(t, 2, 1), []mechanisms.Mechanism{m}
				a, err := Ratio(t.Context(), c.r)
				require.NoError(t, err)
				require.Len(t, a.Mechanisms, 1)
				low, _ := a.Mechanisms[0].Error.Lower()
				high, _ := a.Mechanisms[0].Error.Upper()
				require.True(t, low != nil && high != nil)
				assert.True(t, low.Cmp(c.want) <= 0 && c.want.Cmp(high) <= 0, "%s, step %d: %s, want %s", what, step, a.Mechanisms[0].Error, c.want.RatString())
				want, _ := c.want.Float64()
				assert.InDelta(t, want, a.Mechanisms[0].Error.Float64(), 1e-9)
			}
		}
	}
	_, err := total(t.Context(), list[0], 9, 9, Prior{}, Paper, expEps(t, 2, 1), 64)
	assert.ErrorIs(t, err, ErrTooLarge)
}
