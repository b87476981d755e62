package compose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/number"
)

// Oracles from the statement of the problem alone: trees of selections with rational probabilities, in exact arithmetic, and a plain accountant.

type ratPair struct{ p, q []*big.Rat }

func quo(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }
func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func sub(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

var unit = big.NewRat(1, 1)

// queries returns pairs of distributions of a mechanism on neighboring score vectors, from its definition: of two candidates, and of an
// arrangement of three for em and pf.
func queries(k Kind, parts int64) (all []ratPair) {
	z, _ := k.Eps.Z()
	half := big.NewRat(1, 2)
	em := func(weights ...*big.Rat) []*big.Rat {
		sum := new(big.Rat)
		for _, w := range weights {
			sum.Add(sum, w)
		}
		var p []*big.Rat
		for _, w := range weights {
			p = append(p, quo(w, sum))
		}
		return p
	}
	pf := func(a, b *big.Rat) []*big.Rat { // the greater weight is 1, or is made so
		if a.Cmp(b) < 0 {
			a = quo(a, b)
			return []*big.Rat{mul(a, half), sub(unit, mul(a, half))}
		}
		b = quo(b, a)
		return []*big.Rat{sub(unit, mul(b, half)), mul(b, half)}
	}
	switch k.Mechanism {
	case "geo", "krr":
		n := 2
		if k.Mechanism == "krr" {
			n = k.Candidates
		}
		var w, v []*big.Rat
		for i := range n {
			w, v = append(w, z), append(v, z)
			if i == 0 {
				w[0] = unit
			} else if i == 1 {
				v[1] = unit
			}
		}
		return []ratPair{{em(w...), em(v...)}}
	case "em":
		for i := int64(1); i < parts; i++ {
			rest := sub(big.NewRat(parts, i), unit) // weights e^{εq/2Δ}: the other candidate's, as a part of the first one's
			all = append(all, ratPair{em(unit, rest), em(z, rest)})
		}
	case "pf":
		for i := int64(0); i <= parts; i++ {
			u := new(big.Rat).Add(z, mul(big.NewRat(i, parts), sub(unit, z)))
			all = append(all, ratPair{pf(unit, u), pf(z, u)})
		}
	}
	return all
}

// tree returns the most that an adversary reaches who chooses among the queries after each answer.
func tree(steps [][]ratPair, alpha *big.Rat) *big.Rat {
	if len(steps) == 0 {
		v := sub(unit, alpha)
		if v.Sign() < 0 {
			v.SetInt64(0)
		}
		return v
	}
	best := new(big.Rat)
	for _, pair := range steps[0] {
		sum := new(big.Rat)
		for o := range pair.p {
			sum.Add(sum, mul(pair.p[o], tree(steps[1:], mul(alpha, quo(pair.q[o], pair.p[o])))))
		}
		if sum.Cmp(best) > 0 {
			best = sum
		}
	}
	return best
}

func randomKind(r *rand.Rand, names ...string) Kind {
	z := big.NewRat(1+r.Int64N(19), 20)
	e, err := number.FromExp(new(big.Rat).Inv(z))
	if err != nil {
		panic(err)
	}
	return Kind{names[r.IntN(len(names))], e, 2 + r.IntN(3)}
}

// Adaptive trees in rationals lie below every upper bound, also of mixed steps, and on grids as coarse as they come; attacks lie below the bounds of other grids.
// For geo and krr the tree is exact. With -tags slow there are 200 trees, of up to six selections.
func TestTreesInRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 4))
	cases, longest := 25, 4
	if slowtest.Enabled {
		cases, longest = 200, 6
	}
	for range cases {
		count := 1 + r.IntN(longest)
		p := &Problem{Gap: 1e-2}
		var steps [][]ratPair
		single := true
		total := 0.0
		for range count {
			k := randomKind(r, "em", "pf", "em", "pf", "geo", "krr")
			single = single && !k.adaptive()
			p.Steps = append(p.Steps, Step{k, 1})
			steps = append(steps, queries(k, []int64{40, 16, 8, 5, 3, 2}[count-1]))
			total += k.Eps.Float()
		}
		alpha := new(big.Rat).SetFloat64(math.Exp(total * r.Float64() * 0.95))
		s := number.LogRat(alpha, prec)
		value := tree(steps, alpha)
		exactValue := number.FromRat(value, prec)
		name := fmt.Sprint(p.Steps, s.Near())

		a, err := p.answer(t.Context(), target{s: s})
		require.NoError(t, err)
		require.True(t, a.Upper.Hi().Cmp(exactValue.Lo()) >= 0, "%s: %v < %v", name, a.Upper, exactValue)
		require.True(t, a.Lower.Lo().Cmp(a.Upper.Hi()) <= 0, name)
		if single {
			assert.InDelta(t, exactValue.Near(), down(a.Lower), 1e-9, name)
		}
		w := &work{Problem: p, count: count, total: number.FromInt(0, prec), rho: 1e9}
		for _, st := range p.Steps {
			w.total = w.total.Add(st.eps())
		}
		coarse, err := w.plan(total/float64(1+r.IntN(20)), 1e-9).run(t.Context())
		require.NoError(t, err)
		lower, upper := coarse.delta(s)
		require.True(t, upper.Hi().Cmp(exactValue.Lo()) >= 0, "%s: %v < %v at d = %v", name, upper, exactValue, coarse.d)
		require.True(t, upper.Hi().Cmp(a.Lower.Lo()) >= 0 && lower.Lo().Cmp(a.Upper.Hi()) <= 0, name)

		if value.Sign() > 0 {
			e, err := p.Eps(t.Context(), value)
			require.NoError(t, err)
			require.True(t, e.Upper.Hi().Cmp(s.Lo()) >= 0, "%s: %v", name, e.Upper)
		}
	}
}

// profile is Theorem 1 of research/docs/compose.md.
func profile(k Kind, t float64) float64 {
	e := k.Eps.Float()
	z := math.Exp(-e)
	switch {
	case t >= e:
		return 0
	case k.Mechanism == "pf":
		return -math.Expm1((t - e) / 2)
	case k.Mechanism == "em":
		return math.Pow(math.Exp(e/2)-math.Exp(t/2), 2) / math.Expm1(e)
	case k.Mechanism == "geo":
		return -math.Expm1(t-e) / (1 + z)
	}
	return -math.Expm1(t-e) / (1 + float64(k.Candidates-1)*z)
}

// After one selection the table has the profile at its nodes, on grids of any width, where the best x is seldom at a node.
func TestProfiles(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 1))
	for range 300 {
		k := randomKind(r, "em", "pf", "geo", "krr")
		d := k.Eps.Float() / (0.5 + 12*r.Float64())
		s := newSteps(k, d)
		tb := newTable(exact(d), int(k.Eps.Float()/d)+2, s.reach+2)
		tb.attacks = true
		tb, err := tb.after(t.Context(), s)
		require.NoError(t, err)
		for i := range tb.n + 1 {
			at, truth := tb.pad+i, profile(k, float64(i)*d)
			require.GreaterOrEqual(t, tb.over[at], truth*(1-1e-14)-1e-15, "%v, d = %v, node %d", k, d, i)
			require.LessOrEqual(t, tb.over[at], truth+d*d, "%v, d = %v, node %d", k, d, i)
			require.LessOrEqual(t, tb.p[at]-tb.q[at], truth*(1+1e-14)+1e-15, "%v, d = %v, node %d", k, d, i)
		}
	}
}

// From the sum of all ε on nothing is lost, which decimals reach exactly.
func TestSumOfAllEps(t *testing.T) {
	for _, steps := range [][]Step{{{Kind{"em", eps(t, "0.1"), 0}, 3}}, {{Kind{"geo", eps(t, "0.1"), 0}, 1}, {Kind{"pf", eps(t, "0.2"), 0}, 1}}} {
		p := &Problem{Steps: steps, Gap: 1e-3}
		a, err := p.Delta(t.Context(), big.NewRat(3, 10))
		require.NoError(t, err)
		require.NoError(t, a.Stopped)
		assert.Zero(t, up(a.Upper))
	}
}

// One selection has its profile in closed form, and the ε in total of a δ is where the profile is δ.
func TestOneSelection(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 2))
	for range 60 {
		k := randomKind(r, "em", "pf", "geo", "krr")
		s, _ := new(big.Rat).SetString(fmt.Sprintf("%.4f", k.Eps.Float()*r.Float64()*0.98))
		at, _ := s.Float64()
		p := &Problem{Steps: []Step{{k, 1}}, Gap: 1e-9}
		a, err := p.Delta(t.Context(), s)
		require.NoError(t, err)
		assert.InDelta(t, profile(k, at), down(a.Lower), 1e-14, "%v at %v", k, at)
		assert.InDelta(t, profile(k, at), up(a.Upper), 1e-14, "%v at %v", k, at)
		delta, _ := a.Upper.Hi().Rat(nil)
		b, err := p.Eps(t.Context(), delta)
		require.NoError(t, err)
		assert.InDelta(t, at, down(b.Lower), 1e-12, "%v at %v", k, at)
	}
}

// Blocks that are cut from a table and composed bound what the whole recursion encloses, and no less than that; measures of losses have the profile of their table.
func TestBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 3))
	for range 20 {
		k := randomKind(r, "em", "pf")
		count := 4 + r.IntN(8)
		p := &Problem{Steps: []Step{{k, count}}, Gap: 1e-2}
		whole, err := p.Eps(t.Context(), big.NewRat(1, 1000))
		require.NoError(t, err)
		w := &work{Problem: p, count: count, total: k.eps().Mul(number.FromInt(int64(count), prec)), rho: 1e9, target: target{delta: number.FromRat(big.NewRat(1, 1000), prec), eps: true}}
		pl := w.plan(k.Eps.Float()/30, 1e-9)
		pl.block = 1 + r.IntN(3)
		cut, err := pl.run(t.Context())
		require.NoError(t, err)
		_, upper, ok := cut.eps(w.delta)
		require.True(t, ok)
		require.GreaterOrEqual(t, up(upper), down(whole.Lower), "%v", p.Steps)
		require.LessOrEqual(t, up(upper), up(whole.Upper)*1.2, "%v", p.Steps)

		s := pl.steps[0]
		tb := newTable(exact(pl.d), 40, s.reach+2)
		for range 2 {
			tb, err = tb.after(t.Context(), s)
			require.NoError(t, err)
		}
		stride := 1 + r.IntN(3)
		again := tb.losses(stride).table()
		for i := range min(again.n, tb.n/stride) + 1 {
			require.GreaterOrEqual(t, again.over[again.pad+i], tb.over[tb.pad+i*stride])
			require.LessOrEqual(t, again.over[again.pad+i], tb.over[tb.pad+i*stride]*(1+1e-9)+1e-12)
		}
	}
}

// TestDeltaAtNodes: ε in total may be a node, which float64 puts before or behind itself. geo's are randomised responses, δ a sum over a binomial law.
func TestDeltaAtNodes(t *testing.T) {
	const count, e = 7, 0.1
	for ones := range count + 1 {
		p := &Problem{Steps: []Step{{Kind{"geo", eps(t, "0.1"), 0}, count}}, Gap: 1e-3}
		found, err := p.Delta(t.Context(), big.NewRat(int64(ones), 10))
		require.NoError(t, err)
		require.NoError(t, found.Stopped)
		want, choose := 0.0, 1.0
		for i := range count + 1 {
			if loss := 2*i - count; loss > ones {
				want += choose * math.Exp(float64(i)*e) / math.Pow(1+math.Exp(e), count) * -math.Expm1(float64(ones-loss)*e)
			}
			choose *= float64(count-i) / float64(i+1)
		}
		assert.LessOrEqual(t, down(found.Lower), want*(1+1e-12), "%d/10", ones)
		assert.GreaterOrEqual(t, up(found.Upper), want*(1-1e-12), "%d/10", ones)
		assert.Less(t, up(found.Upper), want*(1+1e-3)+1e-12, "%d/10", ones)
	}
}

// What is exported has, read as dp_accounting reads it, a profile that is hardly above the upper bound.
func TestExport(t *testing.T) {
	for _, steps := range [][]Step{
		{{Kind{"em", eps(t, "0.5"), 0}, 10}}, {{Kind{"pf", eps(t, "0.1"), 0}, 10}}, {{Kind{"krr", eps(t, "0.1"), 3}, 10}},
		// Nodes that are no multiples of a power of two. geo's are randomised responses: δ at 0 is tanh(1/2), that of the larger ε alone.
		{{Kind{"geo", eps(t, "0.5"), 0}, 1}, {Kind{"geo", eps(t, "1"), 0}, 1}}, {{Kind{"em", eps(t, "0.5"), 0}, 1}, {Kind{"pf", eps(t, "1"), 0}, 1}},
	} {
		p := &Problem{Steps: steps, Gap: 1e-3}
		total := 0.0
		for _, s := range steps {
			total += float64(s.Eps.Float() * float64(s.Count))
		}
		a, err := p.Eps(t.Context(), big.NewRat(1, 1000000))
		require.NoError(t, err)
		var file bytes.Buffer
		require.NoError(t, a.Export(&file))
		var read struct {
			Arguments struct {
				Lower    map[string]float64 `json:"log_probability_mass_function_lower"`
				Upper    map[string]float64 `json:"log_probability_mass_function_upper"`
				Interval float64            `json:"value_discretization_interval"`
			}
		}
		require.NoError(t, json.Unmarshal(file.Bytes(), &read))
		for i := range 8 {
			s := float64(i) / 8 * total
			delta := 0.0
			for key, log := range read.Arguments.Upper {
				if lower, finite := read.Arguments.Lower[key]; finite {
					loss := math.Ceil((log-lower)/read.Arguments.Interval) * read.Arguments.Interval
					delta += math.Exp(log) * max(0, -math.Expm1(s-loss))
				} else {
					delta += math.Exp(log)
				}
			}
			rat := new(big.Rat).SetFloat64(s)
			b, err := p.Delta(t.Context(), rat)
			require.NoError(t, err)
			require.GreaterOrEqual(t, delta, down(b.Lower)*(1-1e-12), "%v, s = %v", steps, s)
			require.LessOrEqual(t, delta, up(b.Upper)*1.03+1e-9, "%v, s = %v", steps, s)
		}
	}
}

func eps(t *testing.T, text string) number.Epsilon {
	e, err := number.ParseEpsilon(text)
	require.NoError(t, err)
	return e
}

// The largest ε of a selection: values of research/docs/compose.md.
func TestLargest(t *testing.T) {
	for _, c := range []struct {
		mechanism string
		low, high float64
	}{{"em", 0.1533609, 0.154964975}, {"pf", 0.1001021, 0.1001022}, {"geo", 0.10006287, 0.10006289}} {
		found, err := Problem{Steps: []Step{{Kind{Mechanism: c.mechanism}, 10}}, Gap: 1e-3}.Largest(t.Context(), big.NewRat(1, 1), big.NewRat(1, 1000000))
		require.NoError(t, err)
		require.NoError(t, found.Stopped)
		low, _ := found.Lower.Float64()
		high, _ := found.Upper.Float64()
		assert.LessOrEqual(t, low, c.high)
		assert.GreaterOrEqual(t, high, c.low)
		assert.Less(t, high/low-1, 1e-3)
		assert.LessOrEqual(t, up(found.Shown.Upper), 1.0)
	}
}

// Where δ is large, ε in total grows from 0 on, and soon by more than any power of ε: for one selection by pf it is ε - 2 ln(1/(1-δ)).
func TestLargestAtLargeDelta(t *testing.T) {
	for _, c := range []struct {
		mechanism string
		count     int
		delta     *big.Rat
		truth     float64 // 0 where no formula is known
	}{{"em", 1, big.NewRat(999999999999, 1000000000000), 2 * math.Log((math.Exp(0.5)+math.Sqrt(math.E-1e-12*(math.E+1)))/1e-12)}, {"pf", 1, big.NewRat(999, 1000), 1 + 2*math.Log(1000)}, {"krr", 3, big.NewRat(999, 1000), 0}, {"geo", 2, big.NewRat(99, 100), 0}} {
		p := Problem{Steps: []Step{{Kind{Mechanism: c.mechanism, Candidates: 3}, c.count}}, Gap: 1e-3}
		found, err := p.Largest(t.Context(), big.NewRat(1, 1), c.delta)
		require.NoError(t, err)
		require.NoError(t, found.Stopped)
		low, _ := found.Lower.Float64()
		high, _ := found.Upper.Float64()
		assert.LessOrEqual(t, (high-low)/high, p.Gap)
		if c.truth > 0 {
			assert.LessOrEqual(t, low, c.truth*(1+1e-12))
			assert.GreaterOrEqual(t, high, c.truth*(1-1e-12))
		}
	}
	wide := Problem{Steps: []Step{{Kind{Mechanism: "geo"}, 3}}, Gap: 1e-15}
	found, err := wide.Largest(t.Context(), big.NewRat(1, 1), big.NewRat(1, 1000))
	require.NoError(t, err)
	require.Error(t, found.Stopped, "a width that is not what is wanted")
}

// Equal queries with all outcomes in rationals: the search finds events that are as good as any on a grid of queries, and no query is above the upper bound.
func TestEqualQueriesInRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 6))
	cases := 12
	if slowtest.Enabled {
		cases = 100
	}
	for range cases {
		count := 1 + r.IntN(6)
		k := randomKind(r, "em", "pf")
		alpha := new(big.Rat).SetFloat64(math.Exp(float64(count) * k.Eps.Float() * r.Float64() * 0.95))
		s := number.LogRat(alpha, prec)
		best := new(big.Rat)
		for _, pair := range queries(k, 60) {
			var same [][]ratPair
			for range count {
				same = append(same, []ratPair{pair})
			}
			if v := tree(same, alpha); v.Cmp(best) > 0 {
				best = v
			}
		}
		value := number.FromRat(best, prec)
		p := &Problem{Steps: []Step{{k, count}}, Equal: true, Gap: 1e-4}
		a, err := p.answer(t.Context(), target{s: s})
		require.NoError(t, err)
		name := fmt.Sprint(k, count, s.Near(), value.Near(), down(a.Lower), up(a.Upper))
		require.GreaterOrEqual(t, up(a.Upper), down(value), name)
		require.GreaterOrEqual(t, down(a.Lower), up(value)*(1-1e-12)-1e-300, name) // on its own x, it is no worse than on the grid's
		require.NoError(t, a.Stopped, name)
	}
}

// accountant composes a pair of two or three outcomes with itself by convolution in floating point, and returns δ at s. Outcome i happens so many times.
func accountant(p, q []float64, times int, s float64) float64 {
	fold := func(once []float64) []float64 {
		all := []float64{1}
		for range times {
			next := make([]float64, len(all)+len(once)-1)
			for i, x := range all {
				for j, y := range once {
					next[i+j] += x * y
				}
			}
			all = next
		}
		return all
	}
	a, b := fold(p), fold(q)
	sum := 0.0
	for i := range a {
		sum += max(0, a[i]-math.Exp(s)*b[i])
	}
	return sum
}

// At T = 1000 a plain accountant has the values of the attack, and of the mechanisms of which one pair is the worst.
func TestAccountant(t *testing.T) {
	for _, c := range []struct {
		mechanism, eps string
		s              *big.Rat
	}{{"em", "0.1", big.NewRat(8, 1)}, {"pf", "0.1", big.NewRat(14, 1)}, {"geo", "0.1", big.NewRat(14, 1)}, {"krr", "0.1", big.NewRat(8, 1)}, {"em", "1", big.NewRat(180, 1)}} {
		e, err := number.ParseEpsilon(c.eps)
		require.NoError(t, err)
		k := Kind{c.mechanism, e, 10}
		p := &Problem{Steps: []Step{{k, 1000}}, Gap: 1e-3, Equal: true}
		a, err := p.Delta(t.Context(), c.s)
		require.NoError(t, err)
		x := 0.0
		if a.Attack != nil {
			x = a.Attack.X
		}
		eps, s := e.Float(), down(number.FromRat(c.s, 64))
		z := math.Exp(-eps)
		var plain float64
		switch c.mechanism {
		case "em":
			plain = accountant([]float64{(1 - math.Exp(-x)) / (1 - z), (math.Exp(-x) - z) / (1 - z)}, []float64{z * (math.Exp(x) - 1) / (1 - z), (1 - math.Exp(x)*z) / (1 - z)}, 1000, s)
		case "pf":
			plain = accountant([]float64{1 - math.Exp(-x)/2, math.Exp(-x) / 2}, []float64{math.Exp(x) * z / 2, 1 - math.Exp(x)*z/2}, 1000, s)
		case "geo":
			plain = accountant([]float64{1 / (1 + z), z / (1 + z)}, []float64{z / (1 + z), 1 / (1 + z)}, 1000, s)
		case "krr":
			all := 1 + 9*z
			plain = accountant([]float64{1 / all, 8 * z / all, z / all}, []float64{z / all, 8 * z / all, 1 / all}, 1000, s)
		}
		assert.InEpsilon(t, plain, down(a.Lower), 1e-10, c)
		assert.GreaterOrEqual(t, up(a.Upper), plain*(1-1e-10), c)
	}
}

// Values of research/docs/compose.md lie in the enclosures.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		mechanism, eps string
		times          int
		delta          string
		equal, most    float64 // attained, and certified from above
	}{
		{"em", "0.5", 10, "1e-6", 3.5690761236, 3.5796359}, {"pf", "0.5", 10, "1e-6", 4.9989780875, 4.9989782},
		{"pf", "0.1", 100, "1e-6", 4.6618059099, 4.6618259}, {"geo", "0.5", 10, "1e-6", 4.9998854711, 4.9998854712}, {"krr", "0.5", 10, "1e-6", 3.8976083, 3.8976084},
	} {
		e, err := number.ParseEpsilon(c.eps)
		require.NoError(t, err)
		delta, _ := new(big.Rat).SetString(c.delta)
		p := &Problem{Steps: []Step{{Kind{c.mechanism, e, 10}, c.times}}, Gap: 1e-3}
		a, err := p.Eps(t.Context(), delta)
		require.NoError(t, err)
		assert.LessOrEqual(t, down(a.Lower), c.most, c)
		assert.GreaterOrEqual(t, up(a.Upper), c.equal, c)
		assert.LessOrEqual(t, a.Width(), 1e-3, c)
		p.Equal = true
		a, err = p.Eps(t.Context(), delta)
		require.NoError(t, err)
		assert.InDelta(t, c.equal, down(a.Lower), 1e-7, c)
		assert.GreaterOrEqual(t, up(a.Upper), c.equal)
	}
	// What adaptivity gains: δ at ε = 1, three selections, s = 0.6, and five of permute-and-flip at s = 1.
	for _, c := range []struct {
		mechanism             string
		times                 int
		s                     *big.Rat
		equal, adaptive, most float64
	}{{"em", 3, big.NewRat(3, 5), 0.178556, 0.185597, 0.185600}, {"pf", 5, big.NewRat(1, 1), 0.459153, 0.464316, 0.464317}} {
		e, err := number.ParseEpsilon("1")
		require.NoError(t, err)
		p := &Problem{Steps: []Step{{Kind{c.mechanism, e, 0}, c.times}}, Gap: 2e-5}
		a, err := p.Delta(t.Context(), c.s)
		require.NoError(t, err)
		assert.LessOrEqual(t, down(a.Lower), c.most)
		assert.GreaterOrEqual(t, up(a.Upper), c.adaptive)
		assert.Greater(t, down(a.Lower), c.adaptive-2e-5)
		p.Equal = true
		a, err = p.Delta(t.Context(), c.s)
		require.NoError(t, err)
		assert.InDelta(t, c.equal, down(a.Lower), 1e-6)
	}
}

// At ε whose grids would be beyond floating-point numbers stands what basic composition says.
func TestNegligible(t *testing.T) {
	for _, text := range []string{"1e-30", "1e-160", "1e-300"} {
		for _, mechanism := range []string{"em", "pf", "geo"} {
			for _, equal := range []bool{false, true} {
				e := eps(t, text)
				total := new(big.Rat).Mul(e.Eps(), big.NewRat(51, 1))
				p := Problem{Steps: []Step{{Kind{Mechanism: mechanism, Eps: e}, 50}}, Equal: equal, Gap: 1e-4}
				a, err := p.Eps(t.Context(), big.NewRat(1, 1000))
				require.NoError(t, err)
				assert.Zero(t, up(a.Upper))
				require.NoError(t, a.Stopped)
				a, err = p.Delta(t.Context(), new(big.Rat))
				require.NoError(t, err)
				hi, _ := a.Upper.Hi().Rat(nil)
				assert.Positive(t, hi.Sign())
				assert.Negative(t, hi.Cmp(total))
				require.Error(t, a.Stopped)
				a, err = p.Delta(t.Context(), total)
				require.NoError(t, err)
				assert.Zero(t, up(a.Upper))
				require.NoError(t, a.Stopped)
			}
		}
	}
	assert.False(t, Kind{"em", eps(t, "0.5"), 0}.noMore(t.Context(), factorials(100000), exact(20), 0.1), "terms that grow from below the least number")
	unknown := number.Hull(exact(0), exact(1e-30))
	assert.True(t, exceeds(outcome{one, one}, outcome{one, one}, factorials(2), exact(0), one, unknown, unknown, 1e9), "losses that are not known")
}
