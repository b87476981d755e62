package topk

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/internal/linear"
	"optratio/internal/table"
	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
)

func exp(t *testing.T, s string) number.Epsilon {
	t.Helper()
	eps, err := number.ParseExp(s)
	require.NoError(t, err)
	return eps
}

func ask(t *testing.T, n, k, top int, eps number.Epsilon, names ...string) *Answer {
	t.Helper()
	r := Request{N: n, K: k, Top: top, Epsilon: eps}
	for _, name := range names {
		m, err := ParseMechanism(name)
		require.NoError(t, err)
		r.Mechanisms = append(r.Mechanisms, m)
	}
	a, err := Solve(context.Background(), r)
	require.NoError(t, err)
	require.Empty(t, a.Undecided)
	return a
}

// single is the optimum of choosing one candidate, and permute-and-flip's error beside it.
func single1(t *testing.T, n, k int, eps number.Epsilon) (optimum, flip *big.Rat) {
	t.Helper()
	a, err := lp.Ratio(context.Background(), lp.Request{N: n, K: k, Epsilon: eps, Level: lp.DP, Method: "lp", Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()}})
	require.NoError(t, err)
	require.True(t, arith.IsExact(a.Optimum) && arith.IsExact(a.Mechanisms[0].Error))
	optimum, _ = a.Optimum.Rat()
	flip, _ = a.Mechanisms[0].Error.Rat()
	return optimum, flip
}

// Top 1 is selection; top n-1 is selection of the one to reject, with the lattice turned upside down.
func TestOneChosenAndOneRejected(t *testing.T) {
	for _, c := range [][2]int{{2, 3}, {3, 2}, {3, 3}, {4, 2}} {
		for _, e := range []string{"5/4", "3"} {
			eps := exp(t, e)
			optimum, flip := single1(t, c[0], c[1], eps)
			for _, top := range []int{1, c[0] - 1} {
				names := []string{"joint:pf", "pairwise", "completed"}
				if top == 1 {
					names = append(names, "peel:pf", "one-shot:exponential")
				}
				a := ask(t, c[0], c[1], top, eps, names...)
				got, ok := a.Optimum.Rat()
				require.True(t, ok)
				assert.Equal(t, optimum.RatString(), got.RatString(), "%v top %d", c, top)
				for _, m := range a.Mechanisms {
					got, ok := m.Error.Rat()
					require.True(t, ok)
					assert.Equal(t, flip.RatString(), got.RatString(), "%v top %d %s", c, top, m.Name)
					assert.Equal(t, e, *m.SetsExp)
				}
			}
		}
	}
}

// By hand: depths 0, 0, 1, a factor of 1/2 a step. The candidate of depth v has t uniform on [0, 2^v], and the two with the smallest t are chosen.
func TestExponentialNoiseByHand(t *testing.T) {
	half := func(v int) number.Number { return number.Exact(arith.Pow(arith.Rat{}, big.NewRat(1, 2), v)) }
	for _, c := range []struct {
		chosen, others []int
		want           string
	}{
		{[]int{0, 0}, []int{1}, "1/3"}, // half of ∫_0^2 min(1,t)²/2 dt = 2/3
		// t_0 < t_1 < both others' is ∫_0^1 t (1/2) (1-t) dt, and for the reverse order ∫_0^1 (t/2) (1-t) dt
		{[]int{0, 1}, []int{0}, "1/12"}, {[]int{1, 0}, []int{0}, "1/12"},
		{[]int{0}, []int{0, 1}, "5/12"}, // permute-and-flip: ∫_0^1 (1-t)(1-t/2) dt
		{[]int{1}, []int{0, 0}, "1/6"},  // ∫_0^1 (1-t)²/2 dt
		// all in order: half of the above where the rest is one candidate, whatever it does
		{[]int{0, 0, 1}, nil, "1/3"}, {[]int{0, 1, 0}, nil, "1/12"}, {[]int{1, 0, 0}, nil, "1/12"},
		{[]int{1, 0}, nil, "1/4"}, {[]int{2, 0}, nil, "1/8"}, {[]int{0, 2}, nil, "7/8"},
	} {
		x, ok := oneShot(half, c.chosen, c.others).Rat()
		require.True(t, ok)
		assert.Equal(t, c.want, x.RatString(), "%v of %v", c.chosen, c.others)
	}
}

// Every mechanism's probabilities sum to 1; sets and lists agree; and enclosures enclose.
func TestDistributionsSumToOne(t *testing.T) {
	for _, c := range [][3]int{{3, 2, 2}, {4, 2, 2}, {4, 2, 3}, {3, 3, 3}} {
		eps := exp(t, map[int]string{2: "4", 3: "8"}[c[2]])
		for _, name := range []string{"peel:em", "peel:pf", "one-shot:exponential", "joint:em", "joint:pf", "pairwise", "completed"} {
			m, err := ParseMechanism(name)
			require.NoError(t, err)
			if name == "pairwise" {
				eps = exp(t, "64") // has square and cube roots
			}
			for _, ordered := range []bool{false, true} {
				if ordered && !m.Lists() {
					continue
				}
				s, err := newSpace(c[0], c[1], c[2], ordered)
				require.NoError(t, err)
				p, err := distribution(m, s, &chances{base: m.base, eps: eps})
				require.NoError(t, err)
				boxes, err := distribution(m, s, &chances{base: m.base, eps: eps, enclosed: true})
				require.NoError(t, err)
				for i := range s.vars.Lattice.Len() {
					sum := new(big.Rat)
					for j := s.first[i]; j < s.first[i+1]; j++ {
						x, ok := p[j].Rat()
						require.True(t, ok, name)
						sum.Add(sum, new(big.Rat).Mul(x, big.NewRat(s.count[j], 1)))
						low, high := boxes[j].Ends()
						assert.True(t, low.Cmp(x) <= 0 && x.Cmp(high) <= 0 && boxes[j].Within(big.NewRat(1, 1<<60)), name)
					}
					assert.Equal(t, "1", sum.RatString(), name)
				}
			}
		}
	}
}

// Theorem 7 of research/docs/topk.md: where its condition holds sets need exactly ε, where it does not they are drawn again; pairwise noisy max needs more than ε.
func TestCompletedNeedsNoMoreThanEpsilon(t *testing.T) {
	for _, c := range []struct {
		e    string
		more bool
	}{{"64", false}, {"4", false}, {"16/9", true}} {
		a := ask(t, 4, 2, 2, exp(t, c.e), "pairwise", "completed")
		assert.True(t, a.Mechanisms[0].Over, c.e)
		assert.Equal(t, c.more, a.Mechanisms[1].Over, c.e)
		if c.more {
			assert.Equal(t, *a.Mechanisms[0].SetsExp, *a.Mechanisms[1].SetsExp)
		} else {
			assert.Equal(t, c.e, *a.Mechanisms[1].SetsExp)
		}
	}
}

// everyVector returns all score vectors of Q(n,k) as depths.
func everyVector(n, k int) (out [][]int) {
	v := make([]int, n)
	for {
		if slices.Min(v) == 0 {
			out = append(out, slices.Clone(v))
		}
		i := 0
		for ; i < n; i++ {
			if v[i]++; v[i] <= k {
				break
			}
			v[i] = 0
		}
		if i == n {
			return out
		}
	}
}

// everyOutcome returns all lists, or sets, of top of n candidates.
func everyOutcome(n, top int, ordered bool) (out [][]int) {
	for code := range power(n, top) {
		var o []int
		for range top {
			o = append(o, code%n)
			code /= n
		}
		sorted := slices.Compact(slices.Sorted(slices.Values(o)))
		if len(sorted) == top && (ordered || slices.IsSorted(o)) {
			out = append(out, o)
		}
	}
	return out
}

func power(n, e int) int {
	x := 1
	for range e {
		x *= n
	}
	return x
}

// neighbors reports whether two vectors are, by the definition.
func neighbors(a, b []int) bool {
	low, high := a[0]-b[0], a[0]-b[0]
	for r := range a {
		low, high = min(low, a[r]-b[r]), max(high, a[r]-b[r])
	}
	return high-low <= 1
}

// cellOf returns the cell of an outcome at a vector.
func (s *space) cellOf(v, outcome []int) int32 {
	depths := make([]int, len(outcome))
	for i, r := range outcome {
		depths[i] = v[r]
	}
	if !s.ordered {
		slices.Sort(depths)
	}
	return s.index[s.vars.Orbit[s.vars.Find(lattice.Count(v, s.k), 0)]][key(depths)]
}

// The rows between cells are those between all outcomes at all vectors.
func TestRowsFromTheirDefinition(t *testing.T) {
	for _, c := range [][3]int{{3, 2, 2}, {4, 1, 2}, {3, 2, 3}, {4, 2, 3}} {
		for _, ordered := range []bool{false, true} {
			s, err := newSpace(c[0], c[1], c[2], ordered)
			require.NoError(t, err)
			got := map[[2]int32]bool{}
			for _, r := range s.rows {
				got[[2]int32{r.Above, r.Below}] = true
			}
			want, outcomes := map[[2]int32]bool{}, everyOutcome(c[0], c[2], ordered)
			count := map[int32]int64{}
			all := everyVector(c[0], c[1])
			for _, a := range all {
				for _, o := range outcomes {
					count[s.cellOf(a, o)]++
				}
				for _, b := range all {
					if !neighbors(a, b) {
						continue
					}
					for _, o := range outcomes {
						if x, y := s.cellOf(a, o), s.cellOf(b, o); x != y {
							want[[2]int32{x, y}] = true
						}
					}
				}
			}
			assert.Equal(t, want, got, "%v", c)
			for i, m := range s.vars.Lattice.All() {
				for j := s.first[i]; j < s.first[i+1]; j++ {
					assert.Equal(t, count[j], s.count[j]*lattice.Multiplicity(m).Int64())
				}
			}
		}
	}
}

// The optimum is that of the program over all vectors and all sets, without symmetry and with every row.
func TestOptimumOverAllVectors(t *testing.T) {
	ctx := context.Background()
	for _, c := range [][3]int{{3, 2, 2}, {4, 1, 2}, {3, 3, 2}, {4, 1, 3}} {
		for _, e := range []string{"5/4", "4"} {
			eps := exp(t, e)
			z, _ := eps.Z()
			vectors, sets := everyVector(c[0], c[1]), everyOutcome(c[0], c[2], false)
			p, one := &linear.Rational{}, big.NewRat(1, 1)
			index, value := make([][]int32, len(vectors)*len(sets)), make([][]*big.Rat, len(vectors)*len(sets))
			put := func(column, row int, x *big.Rat) {
				index[column], value[column] = append(index[column], int32(row)), append(value[column], x)
			}
			for i := range vectors {
				row := p.AddRow(one, one)
				for o := range sets {
					put(i*len(sets)+o, row, one)
				}
			}
			for i, a := range vectors {
				for j, b := range vectors {
					if i == j || !neighbors(a, b) {
						continue
					}
					for o := range sets {
						row := p.AddRow(new(big.Rat), nil)
						put(i*len(sets)+o, row, one)
						put(j*len(sets)+o, row, new(big.Rat).Neg(z))
					}
				}
			}
			for i, a := range vectors {
				best := slices.Sorted(slices.Values(a))
				for o, set := range sets {
					cost := 0
					for m, r := range set {
						cost += a[r] - best[m]
					}
					p.AddCol(big.NewRat(int64(cost), 1), new(big.Rat), nil, index[i*len(sets)+o], value[i*len(sets)+o])
				}
			}
			start, err := linear.Embedded{}.Solve(ctx, p.Model(), linear.Options{})
			require.NoError(t, err)
			exact, err := p.Optimize(ctx, start.Basis, linear.Embedded{})
			require.NoError(t, err)
			got, ok := ask(t, c[0], c[1], c[2], eps).Optimum.Rat()
			require.True(t, ok)
			assert.Equal(t, exact.Objective.Quo(exact.Objective, big.NewRat(int64(len(vectors)), 1)).RatString(), got.RatString(), "%v %s", c, e)
		}
	}
}

// Theorem 1 of research/docs/topk.md: lists by one-shot exponential noise are ε-DP; and no less while somebody is left over.
func TestOneShotUsesItsBudget(t *testing.T) {
	for _, c := range [][3]int{{3, 2, 2}, {4, 2, 2}, {3, 3, 2}, {4, 2, 3}} {
		e := map[int]string{2: "9/4", 3: "27/8"}[c[2]]
		a := ask(t, c[0], c[1], c[2], exp(t, e), "one-shot:exponential", "peel:em", "peel:pf", "joint:em", "joint:pf")
		assert.Equal(t, e, *a.Mechanisms[0].ListsExp)
		assert.Equal(t, e, *a.Mechanisms[0].SetsExp)
		for _, m := range a.Mechanisms {
			assert.False(t, m.Over, m.Name)
			require.NotNil(t, m.SetsExp, "%v %s", c, m.Name)
			got, _ := new(big.Rat).SetString(*m.SetsExp)
			want, _ := new(big.Rat).SetString(e)
			assert.LessOrEqual(t, got.Cmp(want), 0, m.Name)
		}
	}
}

// Peeling the exponential mechanism by hand: depths 0, 1, 2 at a factor of 1/2 a step, the weights being 4, 2, 1.
func TestPeelingByHand(t *testing.T) {
	m, err := ParseMechanism("one-shot:gumbel")
	require.NoError(t, err)
	assert.Equal(t, "peel:em", m.String())
	law, err := (&single{m, 2, &chances{base: m.base, eps: exp(t, "4")}, []int{0, 1, 2}}).lists(true)
	require.NoError(t, err)
	for _, c := range []struct {
		list []int
		want string
	}{{[]int{0, 1}, "8/21"}, {[]int{1, 0}, "8/35"}, {[]int{2, 1}, "1/21"}} {
		exact, ok := law[key(c.list)].Rat()
		require.True(t, ok)
		assert.Equal(t, c.want, exact.RatString(), fmt.Sprint(c.list))
	}
}

// Pairwise noisy max by its definition, in floating point: the sum of Pr[E_S in dx] times the chances that x + m(S,S') exceeds the other's noise.
func TestPairwiseByItsDefinition(t *testing.T) {
	m, err := ParseMechanism("pairwise")
	require.NoError(t, err)
	for _, depths := range [][]int{{0, 0, 1, 1}, {0, 1, 2, 2}, {0, 0, 0, 2}, {0, 0, 1, 2, 2}} {
		const rate = 0.7
		eps, err := number.ParseEpsilon("0.7")
		require.NoError(t, err)
		s := &single{m, 2, &chances{eps: eps}, depths}
		got, err := s.sets()
		require.NoError(t, err)
		sets := everyOutcome(len(depths), 2, false)
		wins, total := map[string]float64{}, 0.0
		for _, a := range sets {
			sum := 0.0
			const steps, top = 20_000, 40.0
			for i := range steps {
				x := (float64(i) + 0.5) * top / steps
				term := rate * math.Exp(-rate*x) * top / steps
				for _, b := range sets {
					differ := 0
					for _, r := range a {
						if !slices.Contains(b, r) {
							differ++
						}
					}
					if differ > 0 {
						lead := float64(depths[b[0]]+depths[b[1]]-depths[a[0]]-depths[a[1]]) / float64(differ)
						term *= max(0, -math.Expm1(-rate*(x+lead)))
					}
				}
				sum += term
			}
			total += sum
			chosen := []int{depths[a[0]], depths[a[1]]}
			slices.Sort(chosen)
			wins[key(chosen)] = sum
		}
		for set, f := range wins {
			assert.InDelta(t, f/total, got[set].Float64(), 1e-5, "%v %v", depths, []byte(set))
		}
	}
}

// ends are the lower and the upper end of a range.
type ends [2]float64

// area is ∫ t^power Π (1 - c t) dt over the factors c, from one t to another one.
func area(power int, factors []float64, from, to float64) (sum float64) {
	p := make([]float64, power+1, power+1+len(factors))
	p[power] = 1
	for _, c := range factors {
		p = append(p, 0)
		for i := len(p) - 1; i > 0; i-- {
			p[i] -= float64(c * p[i-1])
		}
	}
	for i, c := range p {
		n := float64(i + 1)
		sum += float64(c / n * (math.Pow(to, n) - math.Pow(from, n)))
	}
	return sum
}

// circles is at least as often as no set of two of four beats all others, for all α <= β <= γ of the ranges: each factor of the three parts is taken where it is greatest, and what is
// subtracted where it is least. Where the ranges are points it is that number.
func circles(a, b, c ends) float64 {
	b[0], b[1] = max(a[0], b[0]), min(b[1], c[1])
	c[0], a[1] = max(b[0], c[0]), min(a[1], b[1])
	// The part of x, which is not the least: (1-x)²/x α² ∫ s(1-s)(1-αs/y)(1-α²s)(1-αys) ds from 0 to 1, and α²/x <= α.
	part := func(x, y ends) float64 {
		return min(a[1]*a[1]/x[0], a[1]) * (1 - x[0]) * (1 - x[0]) * area(1, []float64{1, a[0] / y[1], a[0] * a[0], a[0] * y[0]}, 0, 1)
	}
	least := a[1] * (1 - a[0]) * (1 - a[0]) * area(1, []float64{a[0] / b[1], a[0] / c[1], a[0] * b[0], a[0] * c[0]}, 0, 1)
	if b[0] > a[1] {
		least -= a[0] * area(0, []float64{1, 1 / b[0], 1 / c[0], b[1], c[1]}, a[1], b[0])
	}
	return least + part(b, c) + part(c, b)
}

// TestCirclesOfTwoOfFour: Theorem 6 of research/docs/topk.md: how often no set of two beats all others, exactly, is what the formula says, and nowhere more than the bound.
func TestCirclesOfTwoOfFour(t *testing.T) {
	m, err := ParseMechanism("pairwise")
	require.NoError(t, err)
	for _, e := range []string{"36/25", "9/4", "4", "16"} {
		eps := exp(t, e)
		lat, err := lattice.New(4, 4)
		require.NoError(t, err)
		for _, counts := range lat.All() {
			depths := lattice.Depths(counts)
			s := &single{m, 2, &chances{eps: eps}, depths}
			some := s.wins().won
			require.True(t, arith.IsExact(some))
			nobody := number.Int(1).Sub(some).Float64()
			var at []float64
			for _, with := range []int{1, 2, 3} {
				lead := 2*depths[0] + 2*depths[with] - depths[0] - depths[1] - depths[2] - depths[3]
				at = append(at, math.Exp(-eps.Float()*math.Abs(float64(lead))/2))
			}
			slices.Sort(at)
			assert.InDelta(t, circles(ends{at[0], at[0]}, ends{at[1], at[1]}, ends{at[2], at[2]}), nobody, 1e-12, "%v %s", depths, e)
			if e == "4" && slices.Equal(depths, []int{0, 1, 1, 2}) {
				assert.Equal(t, "0.03497", strconv.FormatFloat(nobody, 'f', 5, 64))
			}
		}
	}
	const bound = 0.0355
	assert.Less(t, -math.Log1p(-bound), 0.0362)
	cells := 0
	for left := [][3]ends{{{0, 1}, {0, 1}, {0, 1}}}; len(left) > 0; cells++ {
		cell := left[len(left)-1]
		left = left[:len(left)-1]
		if cell[0][0] > cell[1][1] || cell[1][0] > cell[2][1] || circles(cell[0], cell[1], cell[2]) < bound-1e-9 {
			continue
		}
		widest := 0
		for i, r := range cell {
			if r[1]-r[0] > cell[widest][1]-cell[widest][0] {
				widest = i
			}
		}
		low, high, middle := cell, cell, (cell[widest][0]+cell[widest][1])/2
		low[widest][1], high[widest][0] = middle, middle
		left = append(left, low, high)
		require.Less(t, cells, 2_000_000)
	}
	t.Logf("%d cells", cells)
}

// Two of four by pairwise noisy max need more than ε, and the optimum at the ε that they have lies between those at its ends.
func TestOverTheBudget(t *testing.T) {
	eps, err := number.ParseEpsilon("1")
	require.NoError(t, err)
	for _, e := range []number.Epsilon{eps, exp(t, "4")} {
		a := ask(t, 4, 2, 2, e, "pairwise", "one-shot:exponential", "peel:pf")
		assert.True(t, a.Mechanisms[0].Over)
		assert.Greater(t, a.Mechanisms[0].Fair.Float64(), a.Mechanisms[0].Ratio.Float64())
		assert.False(t, a.Mechanisms[1].Over)
		assert.False(t, a.Mechanisms[2].Over)
		for _, m := range a.Mechanisms {
			low, _ := m.Fair.Lower()
			high, _ := m.Fair.Upper()
			assert.LessOrEqual(t, low.Cmp(high), 0)
		}
		// It uses the whole budget, so both ratios are the same; known as closely as the optimum is.
		low, _ := a.Mechanisms[1].Fair.Lower()
		high, _ := a.Mechanisms[1].Fair.Upper()
		lower, _ := a.Mechanisms[1].Ratio.Lower()
		upper, _ := a.Mechanisms[1].Ratio.Upper()
		assert.True(t, low.Cmp(upper) <= 0 && lower.Cmp(high) <= 0)
	}
}

// Probabilities too small to be told from 0 say nothing of privacy.
func TestTooSmallToTell(t *testing.T) {
	_, err := greatest([]number.Number{number.Int(0), number.Exact(big.NewRat(1, 2))}, []table.Row{{Above: 0, Below: 1}})
	assert.ErrorIs(t, err, ErrProbability)
}

func TestMechanismNames(t *testing.T) {
	for _, name := range []string{"peel", "peel:", "joint:nobody", "peel:krr", "peel:geo", "joint:lp-optimal", "one-shot:laplace", "pairwise:pf", "em", ""} {
		_, err := ParseMechanism(name)
		assert.Error(t, err, name)
	}
}

// All n of n are one set: its regret is 0, and so is the ε of choosing it, whatever the mechanism computes.
func TestAllCandidatesChosen(t *testing.T) {
	eps, err := number.ParseEpsilon("1")
	require.NoError(t, err)
	for _, m := range ask(t, 3, 2, 3, eps, strings.Split(standard, ",")...).Mechanisms {
		zero, ok := m.Sets.Rat()
		assert.True(t, ok && zero.Sign() == 0, "%s: %s", m.Name, m.Sets)
		assert.Equal(t, "1", *m.SetsExp)
		assert.Equal(t, "1", m.Ratio.String())
	}
}

// As ε grows the best choice's regret is of the order of z, whose constant does not change, at any magnitude of z.
func TestChoicesAtLargeEpsilon(t *testing.T) {
	scaled := func(text string) float64 {
		eps, err := number.ParseEpsilon(text)
		require.NoError(t, err)
		a := ask(t, 4, 2, 2, eps)
		low, ok := a.Optimum.Lower()
		require.True(t, ok)
		z, _ := eps.ExpNeg(big.NewRat(1, 1), 128).Lo().Rat(nil)
		f, _ := low.Quo(low, z).Float64()
		return f
	}
	want := scaled("30")
	for _, eps := range []string{"100", "500", "700"} {
		assert.InEpsilon(t, want, scaled(eps), 1e-8, eps)
	}
	eps, err := number.ParseEpsilon("8192")
	require.NoError(t, err)
	assert.Len(t, ask(t, 2, 1, 1, eps, "joint:pf").Mechanisms, 1, "its tight ε is 8192, rounded up")
}

func TestLargeQuestionsAreNoMistakes(t *testing.T) {
	eps, err := number.ParseEpsilon("1")
	require.NoError(t, err)
	for _, s := range [][3]int{{40, 10, 3}, {10, 5, 9}, {1 << 30, 1 << 30, 1 << 20}} {
		_, err := Solve(context.Background(), Request{N: s[0], K: s[1], Top: s[2], Epsilon: eps})
		assert.ErrorIs(t, err, ErrLarge)
		assert.ErrorContains(t, err, fmt.Sprintf("n = %d, k = %d, top = %d", s[0], s[1], s[2]))
	}
	s, err := newSpace(2, 300, 1, false) // depths beyond a byte
	require.NoError(t, err)
	for i := 1; i <= 300; i++ {
		assert.Len(t, s.index[i], 2)
	}
}
