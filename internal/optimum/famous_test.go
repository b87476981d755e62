package optimum

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/topk"
	"optratio/lp"
	"optratio/number"
	"optratio/verify"
)

func rat(t testing.TB, s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	require.True(t, ok, s)
	return r
}

func rats(t testing.TB, texts ...string) (out []*big.Rat) {
	for _, s := range texts {
		out = append(out, rat(t, s))
	}
	return out
}

func exp(t testing.TB, s string) number.Epsilon {
	e, err := number.ParseExp(s)
	require.NoError(t, err)
	return e
}

func preset(t testing.TB, s string) *Problem {
	p, err := Preset(s)
	require.NoError(t, err)
	return p
}

// with returns the problem with another loss by name and another prior, nil for the worst case.
func with(t testing.TB, p *Problem, loss string, prior []*big.Rat) *Problem {
	c := *p
	var err error
	if loss != "" {
		c.Loss, err = NamedLoss(loss, p.Inputs, p.Outputs)
		require.NoError(t, err)
	}
	c.Prior = prior
	return &c
}

func solve(t testing.TB, r Request) *Result {
	a, err := Solve(context.Background(), r)
	require.NoError(t, err)
	require.Empty(t, a.Undecided)
	return a
}

// is asserts the exact optimum, that its table attains it, and that its certificate is valid.
func is(t testing.TB, want string, p *Problem, e, delta string) *Result {
	a := solve(t, Request{Problem: p, Epsilon: exp(t, e), Delta: rat(t, delta)})
	got, ok := a.Optimum.Rat()
	if assert.True(t, ok, a.Optimum) {
		assert.Equal(t, want, got.RatString())
		assert.Equal(t, want, p.value(a.Table()).RatString())
	}
	checked(t, a)
	return a
}

// geometric is the geometric mechanism on 0..n, whose noise is cut off at the ends: z^|x-o| (1-z)/(1+z) between them.
func geometric(n int, z *big.Rat) [][]*big.Rat {
	power := []*big.Rat{big.NewRat(1, 1)}
	for len(power) <= n {
		power = append(power, new(big.Rat).Mul(power[len(power)-1], z))
	}
	inner := new(big.Rat).Quo(new(big.Rat).Sub(one, z), new(big.Rat).Add(one, z))
	outer := new(big.Rat).Inv(new(big.Rat).Add(one, z))
	out := make([][]*big.Rat, n+1)
	for x := range out {
		for o := range n + 1 {
			c := inner
			if o == 0 || o == n {
				c = outer
			}
			out[x] = append(out[x], new(big.Rat).Mul(c, power[distance(x, o)]))
		}
	}
	return out
}

// response is k-ary randomised response: the truth with E/(k-1+E), and with δ more of it.
func response(k int, e, delta *big.Rat) [][]*big.Rat {
	sum := new(big.Rat).Add(e, big.NewRat(int64(k-1), 1))
	other := new(big.Rat).Quo(new(big.Rat).Sub(one, delta), sum)
	out := make([][]*big.Rat, k)
	for x := range out {
		for o := range k {
			p := other
			if o == x {
				p = new(big.Rat).Sub(one, new(big.Rat).Mul(other, big.NewRat(int64(k-1), 1)))
			}
			out[x] = append(out[x], p)
		}
	}
	return out
}

// rated compares a table with the optimum.
// values returns rationals as a Table has them.
func values(table [][]*big.Rat) (out [][]number.Number) {
	for _, row := range table {
		var own []number.Number
		for _, x := range row {
			own = append(own, number.Exact(x))
		}
		out = append(out, own)
	}
	return out
}

func rated(t testing.TB, r Request, table [][]*big.Rat) *Rating {
	r.Rate = &Table{outputs: r.Problem.Outputs, p: values(table)}
	a, err := Solve(context.Background(), r)
	require.NoError(t, err)
	return a.Rated
}

// TestReferenceValues: values of the literature and of hand calculations at e^ε = 2.
func TestReferenceValues(t *testing.T) {
	three, four := preset(t, "count:3"), preset(t, "count:4")
	hill := rats(t, "1/9", "2/9", "1/3", "2/9", "1/9")
	grid := preset(t, "grid:3x3")
	for loss, want := range map[string][4]string{
		"abs": {"17/24", "49/60", "13/18", "36/43"}, "square": {"11/12", "37/30", "109/108", "52/33"}, "zero-one": {"1/2", "8/15", "16/27", "3/5"},
	} {
		for i, p := range []*Problem{with(t, three, loss, three.Prior), with(t, four, loss, four.Prior), with(t, four, loss, hill), with(t, four, loss, nil)} {
			is(t, want[i], p, "2", "0")
		}
	}
	is(t, "10/9", grid, "2", "0")
	is(t, "8/7", with(t, grid, "", nil), "2", "0")
	is(t, "56/81", with(t, grid, "zero-one", grid.Prior), "2", "0")
}

// TestGeometric: the geometric mechanism is optimal after a remap, for every prior and every loss that grows with the distance (Ghosh, Roughgarden & Sundararajan 2012), and in
// the worst case too (Gupte & Sundararajan 2010).
func TestGeometric(t *testing.T) {
	for n, z := range map[int]*big.Rat{3: big.NewRat(1, 2), 4: big.NewRat(2, 3), 6: big.NewRat(1, 5)} {
		p := preset(t, fmt.Sprint("count:", n))
		var skew []*big.Rat
		for x := range n + 1 {
			skew = append(skew, big.NewRat(int64(2*x*x%7+1), 1))
		}
		sum := new(big.Rat)
		for _, w := range skew {
			sum.Add(sum, w)
		}
		for _, w := range skew {
			w.Quo(w, sum)
		}
		eps, err := number.FromExp(new(big.Rat).Inv(z))
		require.NoError(t, err)
		for _, loss := range Losses() {
			for _, prior := range [][]*big.Rat{p.Prior, skew, nil} {
				r := rated(t, Request{Problem: with(t, p, loss, prior), Epsilon: eps}, geometric(n, z))
				assert.Equal(t, verify.Proved, r.DP)
				assert.Equal(t, new(big.Rat).Inv(z).RatString(), r.TightExpEps.RatString())
				ratio, ok := r.RatioRemap.Rat()
				require.True(t, ok)
				assert.Equal(t, "1", ratio.RatString(), "%d %s %v", n, loss, prior)
			}
		}
	}
}

// TestRandomisedResponse: k inputs that are all neighbors, loss 0/1: (k-1)(1-δ)/(k-1+E), attained by k-ary randomised response (Kairouz, Oh & Viswanath 2016).
func TestRandomisedResponse(t *testing.T) {
	for _, k := range []int{2, 3, 5} {
		for _, delta := range rats(t, "0", "1/10", "1/3") {
			e := big.NewRat(3, 2)
			p := preset(t, fmt.Sprint("krr:", k))
			want := new(big.Rat).Mul(big.NewRat(int64(k-1), 1), new(big.Rat).Sub(one, delta))
			want.Quo(want, new(big.Rat).Add(e, big.NewRat(int64(k-1), 1)))
			is(t, want.RatString(), p, "3/2", delta.RatString())
			r := rated(t, Request{Problem: p, Epsilon: exp(t, "3/2"), Delta: delta}, response(k, e, delta))
			assert.Equal(t, verify.Proved, r.DP)
			ratio, _ := r.Ratio.Rat()
			assert.Equal(t, "1", ratio.RatString())
		}
	}
}

// TestSharing: a histogram of two bins {0,1}², loss 0/1. A user who knows that both bins are alike and one who knows that they differ have 1/(2E) each, and jointly 2/(1+E),
// which is more than the sum: no mechanism serves both (Brenner & Nissim 2014).
func TestSharing(t *testing.T) {
	p := preset(t, "histogram:2,1")
	users := [][]*big.Rat{rats(t, "1/2", "0", "0", "1/2"), rats(t, "0", "1/2", "1/2", "0")}
	for _, e := range []int64{2, 3} {
		a := solve(t, Request{Problem: p, Epsilon: exp(t, fmt.Sprint(e)), Users: users})
		for _, x := range a.Users.Optima {
			got, _ := x.Rat()
			assert.Equal(t, big.NewRat(1, 2*e).RatString(), got.RatString())
		}
		got, _ := a.Users.Joint.Rat()
		assert.Equal(t, big.NewRat(2, 1+e).RatString(), got.RatString())
		// By symmetry both have half of the joint optimum: E/(1+E)·2 times their own.
		got, _ = a.Users.BestCommonRatio.Rat()
		assert.Equal(t, big.NewRat(2*e, 1+e).RatString(), got.RatString())
	}
	// Counts have a mechanism that serves every user.
	counts := preset(t, "count:3")
	a := solve(t, Request{Problem: counts, Epsilon: exp(t, "2"), Users: [][]*big.Rat{counts.Prior, rats(t, "1/2", "1/4", "1/8", "1/8")}})
	got, _ := a.Users.BestCommonRatio.Rat()
	assert.Equal(t, "1", got.RatString())
}

// TestPartitionSelection: the probabilities of keeping a partition of 0 to 5 members at δ = 1/1000 that Desfontaines, Voss, Gipson & Mandayam (2022) prove optimal.
func TestPartitionSelection(t *testing.T) {
	p := preset(t, "partition:5")
	sum := new(big.Rat)
	a := is(t, "1981/2000", p, "2", "1/1000")
	for x, want := range rats(t, "0", "1/1000", "3/1000", "7/1000", "3/200", "31/1000") {
		assert.Equal(t, want.RatString(), a.Table()[x][0].RatString())
		sum.Add(sum, a.Table()[x][0])
	}
	assert.Equal(t, "57/1000", sum.RatString())
}

// TestSameAsOtherCommands: selection on a lattice and the choice of several are instances.
func TestSameAsOtherCommands(t *testing.T) {
	ctx := context.Background()
	eps := exp(t, "3/2")
	is(t, "329/684", preset(t, "selection:3,2"), "3/2", "0")
	for _, delta := range []*big.Rat{nil, big.NewRat(1, 50)} {
		r, err := lp.Ratio(ctx, lp.Request{N: 3, K: 2, Epsilon: eps, Level: lp.DP, Delta: delta})
		require.NoError(t, err)
		want, ok := r.Optimum.Rat()
		require.True(t, ok)
		a := solve(t, Request{Problem: preset(t, "selection:3,2"), Epsilon: eps, Delta: delta})
		got, _ := a.Optimum.Rat()
		assert.Equal(t, want.RatString(), got.RatString())
	}
	// Two of three candidates: sets on the lattice of step 2Δ.
	top, err := topk.Solve(ctx, topk.Request{N: 3, K: 2, Top: 2, Epsilon: eps})
	require.NoError(t, err)
	q := preset(t, "selection:3,2")
	sets := [][]int{{0, 1}, {0, 2}, {1, 2}}
	q.Outputs = []string{"01", "02", "12"}
	for x, row := range q.Loss {
		var sums []*big.Rat
		least := new(big.Rat)
		for i, set := range sets {
			sum := new(big.Rat).Add(row[set[0]], row[set[1]])
			if sums = append(sums, sum); i == 0 || sum.Cmp(least) < 0 {
				least = sum
			}
		}
		for i := range sums {
			sums[i] = new(big.Rat).Sub(sums[i], least)
		}
		q.Loss[x] = sums
	}
	want, ok := top.Optimum.Rat()
	require.True(t, ok)
	is(t, want.RatString(), q, "3/2", "0")
}

// TestTraps: what is easily got wrong.
func TestTraps(t *testing.T) {
	path := &Problem{Inputs: numerals(3), Outputs: numerals(3), Pairs: preset(t, "count:2").Pairs}
	ends := with(t, path, "zero-one", rats(t, "1/2", "0", "1/2"))
	is(t, "1/4", ends, "2", "0") // an input of prior 0 still binds; without it, the ends at distance 2
	far := &Problem{Inputs: []string{"0", "2"}, Outputs: []string{"0", "2"}, Pairs: []Pair{{From: 0, To: 1, Distance: big.NewRat(2, 1)}}}
	is(t, "1/5", with(t, far, "zero-one", rats(t, "1/2", "1/2")), "2", "0")

	// Shortest paths tighten distances at δ = 0 alone.
	near := preset(t, "count:3")
	all := preset(t, "count:3")
	for x := range 4 {
		for y := range x - 1 {
			all.Pairs = append(all.Pairs, Pair{From: y, To: x, Distance: big.NewRat(int64(x-y), 1)})
		}
	}
	is(t, "17/24", all, "2", "0")
	assert.Len(t, essential(4, first(all.arcs()), second(all.arcs())), 6)
	is(t, "11/20", near, "2", "1/10")
	is(t, "51/80", all, "2", "1/10")

	// At distance 0 rows are equal; with δ they may differ by it.
	twins := &Problem{Inputs: []string{"a", "b", "c"}, Outputs: []string{"a", "b", "c"}, Pairs: []Pair{{From: 0, To: 1, Distance: new(big.Rat)}, {From: 1, To: 2}}}
	twins = with(t, twins, "zero-one", twins.Uniform())
	a := is(t, "5/9", twins, "2", "0")
	assert.Equal(t, a.Table()[0], a.Table()[1])
	worst := is(t, "3/5", with(t, twins, "", nil), "2", "0")
	assert.Equal(t, worst.Table()[0], worst.Table()[1])
	half, err := number.ParseEpsilon("0.5")
	require.NoError(t, err)
	for _, p := range []*Problem{twins, with(t, twins, "", nil)} {
		checked(t, solve(t, Request{Problem: p, Epsilon: half}))
	}

	// The first of three that are at distance 0 has the two others' outputs alike, the others have not.
	star := &Problem{Inputs: []string{"a", "b", "c", "d"}, Outputs: []string{"a", "b", "c", "d"},
		Pairs: []Pair{{From: 0, To: 1, Distance: new(big.Rat)}, {From: 0, To: 2, Distance: new(big.Rat)}, {From: 0, To: 3}}}
	star = with(t, star, "zero-one", star.Uniform())
	is(t, "2/3", star, "2", "0")
	checked(t, solve(t, Request{Problem: star, Epsilon: half}))

	// Parts that no pair joins add up; in the worst case the worse one counts.
	apart := &Problem{Inputs: numerals(5), Outputs: numerals(5), Pairs: []Pair{{From: 0, To: 1}, {From: 2, To: 3}, {From: 3, To: 4}}}
	apart = with(t, apart, "zero-one", apart.Uniform())
	pair, three := preset(t, "krr:2"), with(t, path, "zero-one", path.Uniform())
	want := new(big.Rat)
	for share, p := range map[int64]*Problem{2: pair, 3: three} {
		x, _ := solve(t, Request{Problem: p, Epsilon: exp(t, "2")}).Optimum.Rat()
		want.Add(want, x.Mul(x, big.NewRat(share, 5)))
	}
	is(t, want.RatString(), apart, "2", "0")
	x, _ := solve(t, Request{Problem: with(t, path, "zero-one", nil), Epsilon: exp(t, "2")}).Optimum.Rat()
	is(t, x.RatString(), with(t, apart, "", nil), "2", "0")

	// An optimum of 0 has no ratio.
	free := with(t, &Problem{Inputs: numerals(2), Outputs: numerals(2)}, "zero-one", rats(t, "1/2", "1/2"))
	r := rated(t, Request{Problem: free, Epsilon: exp(t, "2")}, response(2, big.NewRat(2, 1), new(big.Rat)))
	assert.False(t, r.Ratio.IsValid())
	assert.Equal(t, verify.Undecided, r.DP, "no pair was looked at")

	// Users share what one direction alone binds.
	down := preset(t, "count:2")
	down.OneWay = true
	shared := solve(t, Request{Problem: down, Epsilon: exp(t, "2"), Users: [][]*big.Rat{down.Uniform(), down.Uniform()}})
	assert.Equal(t, shared.Optimum.Mul(number.Int(2)), shared.Users.Joint)

	// Where the optimum is 0, that is found at irrational factors too.
	aside := with(t, preset(t, "count:1"), "", []*big.Rat{one, new(big.Rat)})
	aside.OneWay, aside.Pairs[0].Distance = true, big.NewRat(3, 1)
	aside.Loss = [][]*big.Rat{rats(t, "0", "3"), rats(t, "2/3", "3")}
	none, _ := solve(t, Request{Problem: aside, Epsilon: half}).Optimum.Rat()
	assert.Equal(t, "0", none.RatString())

	// E^{p/q} is rational for perfect powers alone, else enclosed.
	sevenths := with(t, far, "zero-one", rats(t, "1/2", "1/2"))
	sevenths.Pairs[0].Distance = big.NewRat(3, 2)
	is(t, "1/9", sevenths, "4", "0")
	enclosed := solve(t, Request{Problem: sevenths, Epsilon: exp(t, "2")})
	_, exact := enclosed.Optimum.Rat()
	assert.False(t, exact)
	assert.InDelta(t, 1/(1+2.8284271247461903), enclosed.Optimum.Float64(), 1e-12)
	checked(t, enclosed)
	rounds(t, enclosed)
}

func first[A, B any](a A, _ B) A  { return a }
func second[A, B any](_ A, b B) B { return b }
