package table

import (
	"context"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/number"
)

// binary is the program of two candidates whose scores differ by 0 to k steps of 2Δ: groups are the differences, and for the
// difference 0 both share a cell. The worst-neighbour rows make p_v >= z p_{v-1} for the lower one, and (T) for the upper one.
func binary(k int, worst bool) *Program { return below(1, k, worst) }

// below is binary with a number of lower candidates, which are equal.
func below(lower int64, k int, worst bool) *Program {
	p := &Program{Worst: worst}
	add := func(count, loss int64) {
		p.Count, p.Loss, p.Interior = append(p.Count, count), append(p.Loss, big.NewInt(loss)), append(p.Interior, big.NewRat(1, lower+1))
	}
	p.First = []int32{0, 1}
	add(lower+1, 0)
	p.Weight = []*big.Int{big.NewInt(1)}
	for v := 1; v <= k; v++ {
		add(1, 0)
		add(lower, int64(v))
		p.First = append(p.First, int32(len(p.Count)))
		p.Weight = append(p.Weight, big.NewInt(2))
	}
	top := func(v int) int32 { return int32(max(0, 2*v-1)) }
	low := func(v int) int32 { return int32(2 * v) }
	p.Each = func(visit func(Row) bool) bool {
		for v := 1; v <= k; v++ {
			for _, r := range []Row{{low(v), low(v - 1), true, 0}, {low(v - 1), low(v), true, 0}, {top(v), top(v - 1), true, 0}, {top(v - 1), top(v), true, 0}} {
				if !visit(r) {
					return false
				}
			}
		}
		return true
	}
	return p
}

// approximate is below with approximate privacy, between differences that are one step apart.
func approximate(lower int64, k int, worst bool, delta *big.Rat) *Program {
	p := below(lower, k, worst)
	p.Each = func(func(Row) bool) bool { return true }
	p.Delta = delta
	p.Pairs = func(visit func(Pair) bool) bool {
		for v := 1; v <= k; v++ {
			top, low, topBefore, lowBefore := int32(2*v-1), int32(2*v), int32(max(0, 2*v-3)), int32(2*v-2)
			if !visit(Pair{{top, topBefore, 1, 0}, {low, lowBefore, lower, 0}}) || !visit(Pair{{topBefore, top, 1, 0}, {lowBefore, low, lower, 0}}) {
				return false
			}
		}
		return true
	}
	return p
}

// lowest returns the least probabilities of one lower candidate: p_v = max(0, z (p_{v-1} - δ/lower)), which the event of all lower ones asks for. No other event
// asks for more where 1 - lower·p_0 >= z (1 - lower·p_1), since after that no lower candidate is more probable than at first.
func lowest(lower int64, k int, z, delta *big.Rat) []*big.Rat {
	p := []*big.Rat{big.NewRat(1, lower+1)}
	for v := 1; v <= k; v++ {
		x := new(big.Rat).Sub(p[v-1], new(big.Rat).Quo(delta, big.NewRat(lower, 1)))
		if x.Mul(x, z).Sign() < 0 {
			x.SetInt64(0)
		}
		p = append(p, x)
	}
	return p
}

// errorOf returns the mean error of these probabilities, or the largest.
func errorOf(lower int64, p []*big.Rat, worst bool) *big.Rat {
	sum, most := new(big.Rat), new(big.Rat)
	for v, x := range p {
		at := new(big.Rat).Mul(x, big.NewRat(int64(v)*lower, 1))
		sum.Add(sum, new(big.Rat).Mul(at, big.NewRat(2, int64(2*len(p)-1))))
		if at.Cmp(most) > 0 {
			most = at
		}
	}
	if worst {
		return most
	}
	return sum
}

// valueOf is the objective of a table from its definition.
func valueOf(p *Program, t *Table) *big.Rat {
	sum, most, total := new(big.Rat), new(big.Rat), new(big.Rat)
	for g := range p.groups() {
		at := new(big.Rat)
		for j := p.First[g]; j < p.First[g+1]; j++ {
			x := t.At(int(j))
			x.Mul(x, new(big.Rat).SetInt64(p.Count[j]))
			at.Add(at, x.Mul(x, new(big.Rat).SetInt(p.Loss[j])))
		}
		if at.Cmp(most) > 0 {
			most = at
		}
		w := new(big.Rat).SetInt(p.Weight[g])
		total.Add(total, w)
		sum.Add(sum, w.Mul(w, at))
	}
	if p.Worst {
		return most
	}
	return sum.Quo(sum, total)
}

// TestLowestApproximately: the optimum under (ε,δ)-DP in closed form, exactly at rational z and closely at others; and the price of δ is what the bound changes by.
func TestLowestApproximately(t *testing.T) {
	for _, c := range []struct {
		lower    int64
		exp, eps string
	}{{1, "3/2", "0.5"}, {2, "4", "1.5"}, {3, "7", "2"}} {
		lowestApproximately(t, c.lower, c.exp, c.eps)
	}
}

func lowestApproximately(t *testing.T, lower int64, exp, epsilon string) {
	for _, delta := range []*big.Rat{new(big.Rat), big.NewRat(1, 50), big.NewRat(1, 7), big.NewRat(2, 5), big.NewRat(3, 1)} {
		for _, worst := range []bool{false, true} {
			eps, err := number.ParseExp(exp)
			require.NoError(t, err)
			z, _ := eps.Z()
			p := approximate(lower, 5, worst, delta)
			s, err := p.Solve(context.Background(), eps, linear.Embedded{}, big.NewRat(1, 1e9), nil)
			require.NoError(t, err)
			want := errorOf(lower, lowest(lower, 5, z, delta), worst)
			require.Equal(t, want.RatString(), s.Lower.RatString(), "δ = %s", delta)
			require.Equal(t, want.RatString(), s.Upper.RatString(), "δ = %s", delta)
			require.Equal(t, want.Sign() > 0, s.Rows > 0)
			if want.Sign() > 0 { // a little more δ lowers the bound by its price
				more := approximate(lower, 5, worst, new(big.Rat).Add(delta, big.NewRat(1, 1000)))
				require.NoError(t, more.check())
				fall := new(big.Rat).Sub(want, more.lowerBound(s.Dual, factors{z}))
				require.Equal(t, new(big.Rat).Mul(p.price(s.Dual, factors{z}), big.NewRat(1, 1000)).RatString(), fall.RatString())
				require.Positive(t, fall.Sign())
			}
			half, err := number.ParseEpsilon(epsilon)
			require.NoError(t, err)
			gap := big.NewRat(1, 1e15)
			s, err = approximate(lower, 5, worst, delta).Solve(context.Background(), half, linear.Embedded{}, gap, nil)
			require.NoError(t, err)
			require.Empty(t, s.Undecided)
			low, high := Between(half, unity, 256)
			require.LessOrEqual(t, s.Lower.Cmp(errorOf(lower, lowest(lower, 5, high, delta), worst)), 0)
			require.GreaterOrEqual(t, s.Upper.Cmp(errorOf(lower, lowest(lower, 5, low, delta), worst)), 0)
			width := new(big.Rat).Sub(s.Upper, s.Lower)
			require.LessOrEqual(t, width.Cmp(new(big.Rat).Mul(gap, s.Upper)), 0)
		}
	}
}

// TestDeltaIsNeeded: events without δ, or with a negative one, make no program; rows alone need none.
func TestDeltaIsNeeded(t *testing.T) {
	for _, delta := range []*big.Rat{nil, big.NewRat(-1, 50)} {
		require.ErrorIs(t, approximate(1, 2, false, delta).check(), ErrProgram)
		p := binary(2, false)
		p.Delta = delta
		require.NoError(t, p.check())
		require.Zero(t, p.Delta.Sign())
	}
	require.NoError(t, approximate(1, 2, false, new(big.Rat)).check())
}

// TestPairsOfNonsenseHold: whatever is proposed, the table is (ε,δ)-close between all neighbors by the definition, not much further inside than needed, and the bound holds.
func TestPairsOfNonsenseHold(t *testing.T) {
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	z, _ := eps.Z()
	delta := big.NewRat(1, 20)
	rng := rand.New(rand.NewPCG(7, 8))
	for i, worst := range []bool{false, true, false, true} {
		lower := int64(1 + i/2)
		p := approximate(lower, 3, worst, delta)
		s, err := p.Solve(context.Background(), eps, linear.Embedded{}, big.NewRat(1, 1e9), nil)
		require.NoError(t, err)
		mixed := 0
		for range 300 {
			prop := p.start(factors{z})
			for g := range p.groups() {
				for j := p.First[g]; j < p.First[g+1]; j++ {
					prop.x.Num[j] = big.NewInt(int64(rng.IntN(100)))
				}
			}
			prop.x.Den = big.NewInt(100)
			for i := range prop.y.Num {
				prop.y.Num[i] = big.NewInt(int64(rng.IntN(400) - 100))
			}
			if b := p.lowerBound(p.dual(prop), factors{z}); b != nil {
				assert.LessOrEqual(t, b.Cmp(s.Lower), 0)
			}
			table := p.feasible(prop, factors{z})
			assert.GreaterOrEqual(t, table.Value().Cmp(s.Upper), 0)
			assert.Equal(t, valueOf(p, table).RatString(), table.Value().RatString())
			excess := func() *big.Rat {
				most := new(big.Rat)
				p.Pairs(func(q Pair) bool {
					sum := new(big.Rat)
					for _, part := range q {
						x := new(big.Rat).Mul(z, table.At(int(part.Below)))
						if x.Sub(x, table.At(int(part.Above))).Sign() > 0 {
							sum.Add(sum, x.Mul(x, big.NewRat(part.Candidates, 1)))
						}
					}
					if sum.Cmp(most) > 0 {
						most = sum
					}
					return true
				})
				return most
			}
			room := new(big.Rat).Mul(z, delta)
			assert.LessOrEqual(t, excess().Cmp(room), 0)
			if table.theta.Sign() > 0 && table.theta.Cmp(big.NewRat(1, 1)) < 0 {
				mixed++
				table.theta.Mul(table.theta, big.NewRat(999, 1000))
				assert.Positive(t, excess().Cmp(room), "less of the interior table is not enough")
			}
		}
		assert.Greater(t, mixed, 50)
	}
}

// For two candidates permute-and-flip is optimal: z^v/2 for the lower one, mean error 2 Σ v z^v/2 over 2k+1 vectors, and the worst
// vector's error is max v z^v/2.
func TestTwoCandidatesExactly(t *testing.T) {
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	for _, worst := range []bool{false, true} {
		p := binary(4, worst)
		s, err := p.Solve(context.Background(), eps, linear.Embedded{}, big.NewRat(1, 1e9), nil)
		require.NoError(t, err)
		require.Empty(t, s.Undecided)
		sum, most, power := new(big.Rat), new(big.Rat), big.NewRat(1, 2)
		for v := int64(1); v <= 4; v++ {
			power.Mul(power, big.NewRat(2, 3))
			at := new(big.Rat).Mul(power, big.NewRat(v, 1))
			sum.Add(sum, new(big.Rat).Mul(at, big.NewRat(2, 9)))
			if at.Cmp(most) > 0 {
				most = at
			}
		}
		want := sum
		if worst {
			want = most
		}
		assert.Equal(t, want.RatString(), s.Lower.RatString())
		assert.Equal(t, want.RatString(), s.Upper.RatString())
		// The evidence says so by itself, and less of it says less.
		z, _ := eps.Z()
		assert.Zero(t, p.lowerBound(s.Dual, factors{z}).Cmp(want))
		assert.Zero(t, s.Table.Value().Cmp(want))
		for i := range s.Dual.Multiplier {
			doctored := *s.Dual
			doctored.Multiplier = append([]*big.Int(nil), s.Dual.Multiplier...)
			doctored.Multiplier[i] = new(big.Int)
			assert.LessOrEqual(t, p.lowerBound(&doctored, factors{z}).Cmp(want), 0)
		}
	}
}

// Bounds hold for whatever is proposed.
func TestBoundsOfNonsenseHold(t *testing.T) {
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	z, _ := eps.Z()
	rng := rand.New(rand.NewPCG(5, 6))
	for _, worst := range []bool{false, true} {
		p := binary(3, worst)
		s, err := p.Solve(context.Background(), eps, linear.Embedded{}, big.NewRat(1, 1e9), nil)
		require.NoError(t, err)
		repaired := 0
		for range 300 {
			numbers := func(n, low, high int) *linear.Fractions {
				f := &linear.Fractions{Den: big.NewInt(100)}
				for range n {
					f.Num = append(f.Num, big.NewInt(int64(low+rng.IntN(high-low))))
				}
				return f
			}
			prop := &proposal{x: numbers(p.cells(), -20, 120), y: numbers(p.fixed()-p.groups()+len(p.rows), -200, 600)}
			if b := p.lowerBound(p.dual(prop), factors{z}); b != nil {
				assert.LessOrEqual(t, b.Cmp(s.Lower), 0)
			}
			table := p.feasible(prop, factors{z})
			assert.GreaterOrEqual(t, table.Value().Cmp(s.Upper), 0)
			assert.Equal(t, valueOf(p, table).RatString(), table.Value().RatString())
			if table.theta.Sign() > 0 && table.theta.Cmp(big.NewRat(1, 1)) < 0 {
				repaired++
			}
			// and the table is one: nonnegative, of sum 1, every row kept
			for g := range p.groups() {
				sum := new(big.Rat)
				for j := p.First[g]; j < p.First[g+1]; j++ {
					x := table.At(int(j))
					assert.GreaterOrEqual(t, x.Sign(), 0)
					sum.Add(sum, x.Mul(x, new(big.Rat).SetInt64(p.Count[j])))
				}
				assert.Equal(t, "1", sum.RatString())
			}
			p.Each(func(r Row) bool {
				below := table.At(int(r.Below))
				return assert.GreaterOrEqual(t, table.At(int(r.Above)).Cmp(below.Mul(below, z)), 0)
			})
		}
		assert.Greater(t, repaired, 20)
	}
}

// An irrational z is enclosed, and both bounds hold at it.
func TestIrrationalZ(t *testing.T) {
	eps, err := number.ParseEpsilon("0.5")
	require.NoError(t, err)
	s, err := binary(4, false).Solve(context.Background(), eps, linear.Embedded{}, big.NewRat(1, 1e12), nil)
	require.NoError(t, err)
	require.Empty(t, s.Undecided)
	assert.Negative(t, s.Lower.Cmp(s.Upper))
	// Σ_{v=1}^4 v e^{-v/2}/9 = 0.2836690172…
	assert.Negative(t, s.Lower.Cmp(big.NewRat(2836690173, 1e10)), s.Lower.FloatString(12))
	assert.Positive(t, s.Upper.Cmp(big.NewRat(2836690172, 1e10)), s.Upper.FloatString(12))
}

// content calls every basis that it starts from optimal, as CLP does where costs are 10^-13.
type content struct{}

func (content) Name() string { return "content" }

func (content) Solve(ctx context.Context, m *linear.Model, o linear.Options) (*linear.Result, error) {
	result, err := linear.Embedded{}.Solve(ctx, m, linear.Options{Basis: o.Basis, MaxPivots: 1})
	if err == nil && o.Basis != nil {
		result.Basis = o.Basis.Clone()
	}
	if err == nil {
		result.Outcome = linear.Optimal
	}
	return result, err
}

// Where a solver's bases do not settle, the embedded one is asked.
func TestContentSolver(t *testing.T) {
	for _, text := range []string{"3/2", "1.6487"} {
		eps, err := number.ParseExp(text)
		require.NoError(t, err)
		for _, worst := range []bool{false, true} {
			s, err := binary(6, worst).Solve(t.Context(), eps, content{}, big.NewRat(1, 1e12), nil)
			require.NoError(t, err)
			require.Empty(t, s.Undecided)
			want, err := binary(6, worst).Solve(t.Context(), eps, linear.Embedded{}, big.NewRat(1, 1e12), nil)
			require.NoError(t, err)
			assert.Equal(t, want.Upper.RatString(), s.Upper.RatString())
			assert.Equal(t, want.Lower.RatString(), s.Lower.RatString())
		}
	}
}

func TestAStoppedSolveHasBounds(t *testing.T) {
	eps, err := number.ParseEpsilon("0.5")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, err := binary(4, false).Solve(ctx, eps, linear.Embedded{}, big.NewRat(1, 1e12), nil)
	require.NoError(t, err)
	assert.NotEmpty(t, s.Undecided)
	assert.LessOrEqual(t, s.Lower.Cmp(s.Upper), 0)
}

// TestWidestEvents: one score vector is to have one outcome, its neighbor any other of many that are alike. Events of those alone that a solution has would be cut off one outcome
// after the other.
func TestWidestEvents(t *testing.T) {
	const others = 30
	eps, err := number.ParseExp("3")
	require.NoError(t, err)
	program := func(outcomes int, count int64) *Program {
		p := &Program{First: []int32{0}, Weight: []*big.Int{big.NewInt(1), big.NewInt(1)}, Delta: big.NewRat(1, 10), Each: func(func(Row) bool) bool { return true }}
		for g := range 2 {
			for j := range 1 + outcomes {
				c, loss := int64(1), int64(g)
				if j > 0 {
					c, loss = count, int64(1-g)
				}
				p.Count, p.Loss = append(p.Count, c), append(p.Loss, big.NewInt(loss))
				p.Interior = append(p.Interior, big.NewRat(1, others+1))
			}
			p.First = append(p.First, int32(len(p.Count)))
		}
		p.Pairs = func(visit func(Pair) bool) bool {
			var there, back Pair
			for j := range int32(1 + outcomes) {
				at, c := j+int32(1+outcomes), p.Count[j]
				there, back = append(there, Part{at, j, c, 0}), append(back, Part{j, at, c, 0})
			}
			return visit(there) && visit(back)
		}
		return p
	}
	want, err := program(1, others).Solve(context.Background(), eps, linear.Embedded{}, new(big.Rat), nil)
	require.NoError(t, err)
	s, err := program(others, 1).Solve(context.Background(), eps, linear.Embedded{}, new(big.Rat), nil)
	require.NoError(t, err)
	assert.Zero(t, s.Upper.Cmp(want.Upper))
	assert.Zero(t, s.Lower.Cmp(s.Upper))
	assert.Less(t, s.Rows, 10)
}
