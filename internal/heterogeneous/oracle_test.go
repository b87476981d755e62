package heterogeneous

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/lp"
	"optratio/number"
)

func rats(texts ...string) []*big.Rat {
	out := make([]*big.Rat, len(texts))
	for i, s := range texts {
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			panic(s)
		}
		out[i] = r
	}
	return out
}

func rat(text string) *big.Rat { return rats(text)[0] }

func exp(t testing.TB, s string) number.Epsilon {
	e, err := number.ParseExp(s)
	require.NoError(t, err)
	return e
}

func grid(steps int, shift bool, sensitivities ...string) Grid {
	return Grid{Sensitivities: rats(sensitivities...), From: new(big.Rat), Step: big.NewRat(1, 1), Steps: steps, ShiftInvariant: shift}
}

// solved solves a request and requires the exact optimum.
func solved(t testing.TB, r Request) *big.Rat {
	a, err := Solve(context.Background(), r)
	require.NoError(t, err)
	require.Empty(t, a.Undecided)
	x, ok := a.Optimum.Rat()
	require.True(t, ok, "%s", a.Optimum)
	return x
}

// box lists the score vectors of a grid in another order than newSpace: the first candidate fastest.
func box(g *Grid) [][]*big.Rat {
	vectors := [][]*big.Rat{nil}
	for range g.Sensitivities {
		var longer [][]*big.Rat
		for level := range g.Steps + 1 {
			score := new(big.Rat).Mul(g.Step, big.NewRat(int64(level), 1))
			score.Add(score, g.From)
			for _, v := range vectors {
				longer = append(longer, append(append([]*big.Rat(nil), v...), score))
			}
		}
		vectors = longer
	}
	return vectors
}

// within reports whether q and p + shift differ by no more than the sensitivities.
func within(g *Grid, p, q []*big.Rat, shift *big.Rat) bool {
	for a, d := range g.Sensitivities {
		diff := new(big.Rat).Sub(q[a], p[a])
		diff.Sub(diff, shift)
		if diff.Abs(diff).Cmp(d) > 0 {
			return false
		}
	}
	return true
}

// neighbors reports the relation of the program; the shifts to try are multiples of tick, of which every
// sensitivity and the step have to be multiples, too.
func neighbors(g *Grid, p, q []*big.Rat, tick *big.Rat) bool {
	if !g.ShiftInvariant {
		return within(g, p, q, new(big.Rat))
	}
	width := new(big.Rat).Mul(g.Step, big.NewRat(int64(g.Steps), 1))
	shift := new(big.Rat).Neg(width)
	for ; shift.Cmp(width) <= 0; shift.Add(shift, tick) {
		if within(g, p, q, shift) {
			return true
		}
	}
	return false
}

// dense is the program with every row over all vectors of the box, shift-invariance stated as
// equations; an oracle that shares nothing with program but the exact solver.
func dense(t testing.TB, r Request, tick *big.Rat) *big.Rat {
	z, ok := r.Epsilon.Z()
	require.True(t, ok)
	zero, one, minus := new(big.Rat), big.NewRat(1, 1), big.NewRat(-1, 1)
	vectors, n := box(&r.Grid), len(r.Grid.Sensitivities)
	m := new(linear.Rational)
	index, value := make([][]int32, len(vectors)*n+1), make([][]*big.Rat, len(vectors)*n+1)
	cost := make([]*big.Rat, len(vectors)*n+1)
	put := func(row, col int, v *big.Rat) {
		index[col], value[col] = append(index[col], int32(row)), append(value[col], v)
	}
	worst := len(vectors) * n
	cost[worst] = zero
	if r.Worst {
		cost[worst] = one
	}
	for i, p := range vectors {
		sum, largest := m.AddRow(one, one), m.AddRow(zero, nil)
		put(largest, worst, one)
		best := p[0]
		for _, s := range p {
			if s.Cmp(best) > 0 {
				best = s
			}
		}
		for c := range n {
			loss := new(big.Rat).Sub(best, p[c])
			if r.Squared {
				loss.Mul(loss, loss)
			}
			put(sum, i*n+c, one)
			if loss.Sign() > 0 {
				put(largest, i*n+c, new(big.Rat).Neg(loss))
			}
			cost[i*n+c] = zero
			if !r.Worst {
				cost[i*n+c] = loss.Quo(loss, big.NewRat(int64(len(vectors)), 1))
			}
		}
		for j, q := range vectors {
			if i == j {
				continue
			}
			if r.Grid.ShiftInvariant && i < j {
				var c *big.Rat
				same := true
				for a := range p {
					d := new(big.Rat).Sub(q[a], p[a])
					same = same && (c == nil || c.Cmp(d) == 0)
					c = d
				}
				for a := range p {
					if same {
						row := m.AddRow(zero, zero)
						put(row, i*n+a, one)
						put(row, j*n+a, minus)
					}
				}
			}
			if neighbors(&r.Grid, p, q, tick) {
				for c := range n {
					row := m.AddRow(zero, nil)
					put(row, i*n+c, one)
					put(row, j*n+c, new(big.Rat).Neg(z))
				}
			}
		}
	}
	for j := range cost {
		m.AddCol(cost[j], zero, nil, index[j], value[j])
	}
	res, err := linear.Embedded{}.Solve(context.Background(), m.Model(), linear.Options{})
	require.NoError(t, err)
	require.Equal(t, linear.Optimal, res.Outcome)
	e, err := m.Optimize(context.Background(), res.Basis, linear.Embedded{})
	require.NoError(t, err)
	return e.Objective
}

func TestOptimumIsThatOfTheWholeProgram(t *testing.T) {
	fine := grid(3, false, "1", "1/2")
	fine.Step, fine.From = rat("1/2"), rat("-7/3")
	for _, c := range []struct {
		name string
		r    Request
		tick string
	}{
		{"equal", Request{Grid: grid(3, false, "1", "1"), Epsilon: exp(t, "2")}, "1"},
		{"unequal", Request{Grid: grid(3, false, "1", "2"), Epsilon: exp(t, "3/2")}, "1"},
		{"step 1/2", Request{Grid: fine, Epsilon: exp(t, "5/3")}, "1/2"},
		{"no multiple of the step", Request{Grid: grid(3, false, "3/2", "1/2"), Epsilon: exp(t, "2")}, "1/2"},
		{"one is public", Request{Grid: grid(2, false, "0", "1", "1"), Epsilon: exp(t, "2")}, "1"},
		{"three", Request{Grid: grid(2, false, "1/2", "1", "2"), Epsilon: exp(t, "2")}, "1/2"},
		{"squared", Request{Grid: grid(3, false, "1", "2"), Epsilon: exp(t, "2"), Squared: true}, "1"},
		{"worst", Request{Grid: grid(3, false, "1", "2"), Epsilon: exp(t, "2"), Worst: true}, "1"},
		{"worst of three", Request{Grid: grid(1, false, "1", "1", "0"), Epsilon: exp(t, "2"), Worst: true}, "1"},
		{"shifts", Request{Grid: grid(3, true, "1", "1"), Epsilon: exp(t, "2")}, "1"},
		{"shifts of three", Request{Grid: grid(2, true, "1/2", "1/2", "1"), Epsilon: exp(t, "2")}, "1/2"},
		{"shifts by more than the grid", Request{Grid: grid(3, true, "2", "3"), Epsilon: exp(t, "2")}, "1"},
		{"shifts of three by more than the grid", Request{Grid: grid(2, true, "1", "3/2", "2"), Epsilon: exp(t, "2")}, "1/2"},
		{"sensitivities beyond the grid", Request{Grid: grid(2, false, "100", "1"), Epsilon: exp(t, "2")}, "1"},
		{"shifts, worst", Request{Grid: grid(3, true, "1", "1/2"), Epsilon: exp(t, "3"), Worst: true, Squared: true}, "1/2"},
		{"no privacy loss at all", Request{Grid: grid(2, false, "1", "1"), Epsilon: exp(t, "1")}, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, want := solved(t, c.r), dense(t, c.r, rat(c.tick))
			assert.Zero(t, got.Cmp(want), "got %s, want %s", got.RatString(), want.RatString())
		})
	}
}

// With equal sensitivities Δ = step/2 a shift-invariant mechanism may be taken symmetric without loss, and the program is
// that of package lp with all neighbors and the box's weights.
func TestEqualSensitivitiesGiveTheSymmetricProgram(t *testing.T) {
	for _, c := range []struct {
		n, k int
		exp  string
	}{{2, 3, "2"}, {2, 4, "5/4"}, {3, 2, "5/4"}, {3, 3, "3/2"}, {3, 4, "5/4"}, {4, 2, "6/5"}} {
		a, err := lp.Ratio(context.Background(), lp.Request{
			N: c.n, K: c.k, Epsilon: exp(t, c.exp), Prior: lp.Box(), Level: lp.DP,
			Method: "lp", Gap: big.NewRat(1, 1e9),
		})
		require.NoError(t, err)
		want, ok := a.Optimum.Rat()
		require.True(t, ok)
		half := make([]string, c.n)
		for i := range half {
			half[i] = "1/2"
		}
		got := solved(t, Request{Grid: grid(c.k, true, half...), Epsilon: exp(t, c.exp)})
		assert.Zero(t, got.Cmp(want), "n = %d, k = %d: got %s, want %s", c.n, c.k, got.RatString(), want.RatString())
	}
}
