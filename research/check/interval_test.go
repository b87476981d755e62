package check_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/research/check"
	"optratio/verify/certificate"
)

func checked(t *testing.T, text string) *certificate.Report {
	t.Helper()
	rep, err := check.Check(strings.NewReader(text), certificate.Options{})
	require.NoError(t, err, "%.400s", text)
	return rep
}

// intervalText is an interval certificate with the given lines after the constraints.
func intervalText(n, k int, level string, lines ...string) string {
	all := append([]string{"optratio-certificate 3", "problem interval", fmt.Sprint("n ", n), fmt.Sprint("k ", k), "constraints " + level}, lines...)
	return strings.Join(all, "\n") + fmt.Sprintf("\nend %d\n", len(all))
}

// TestRangesByTheorem: what a threshold and the closed form settle, and that one claim without a proof for a part of its range, or with more or less in a line
// than the format allows, is not valid.
func TestRangesByTheorem(t *testing.T) {
	long := strings.Repeat("0", 2500)
	nines := strings.Repeat("9", 2500)
	for _, c := range []struct {
		n, k   int
		lines  string
		reason string // empty: valid
	}{
		{3, 2, "claim ratio pf 0 618/1000 1|threshold 618/1000", "lowest terms"},
		{3, 2, "claim ratio pf 0 309/500 1|threshold 309/500", ""}, // the golden ratio is 1.6180…
		{3, 2, "claim ratio pf 0 309/500 2|threshold 309/500", ""},
		{3, 2, "claim ratio pf 0 1/2 1|threshold 309/500", ""},
		{3, 2, "claim ratio pf 0 619/1000 1|threshold 619/1000", "z + … + z^k is more than 1"},
		{3, 2, "claim ratio pf 0 619/1000 1|threshold 309/500", "no proof from z = 309/500 to 619/1000"},
		{3, 2, "claim ratio pf 1/2 309/500 1|threshold 309/500", "does not begin at 0"},
		{3, 2, "claim ratio pf 0 1/2 1", "no proof from z = 0 to 1/2"},
		{3, 3, "claim ratio pf 0 309/500 1|threshold 309/500", "z + … + z^k is more than 1"},
		{3, 1, "claim ratio pf 0 1 1|threshold 1", ""},
		{2, 5, "claim ratio pf 0 1 1|threshold 1", ""},
		{1, 5, "claim ratio pf 0 1 1|threshold 1", ""},
		{3, 2, "claim ratio pf 0 1 1|threshold 1", "z + … + z^k is more than 1"},
		{3, 2, "claim ratio pf 0 1 2|threshold 3/2", "z lies between 0 and 1"},
		{3, 2, "claim ratio pf 0 1 2|threshold -1/2", "z lies between 0 and 1"},
		// 27 - 8 - 12 = 7 score vectors with two best ones or more; (3-1) 4 = 8.
		{3, 2, "claim ratio pf 0 1 15/7|closed-form 15/7", ""},
		{3, 2, "claim ratio pf 1/3 2/3 15/7|closed-form 15/7", ""},
		{3, 2, "claim ratio pf 0 1 3|threshold 1/2|closed-form 5/2", ""},
		{3, 2, "claim ratio pf 0 1 2|closed-form 12/11", ""}, // (2-1)^3 = 1 and 27 - 2·8 = 11
		{3, 2, "claim ratio pf 0 1 2|closed-form 1090/1000", "lowest terms"},
		{3, 2, "claim ratio pf 0 1 2|closed-form 109/100", "109/100 is claimed, which does not follow"},
		{3, 4, "claim ratio pf 0 1 2|closed-form 2", "2 is claimed, which does not follow"}, // 125 - 2·64 is below 0, and (3-1) 16 more than 125 - 64 - 48
		{3, 2, "claim ratio pf 0 1 2|closed-form 15/7", "more than is claimed"},
		{2, 2, "claim ratio pf 0 1 3|closed-form 3", ""}, // 9 - 4 - 4 = 1 and 2
		{2, 2, "claim ratio pf 0 1 3|closed-form 2", ""}, // 1 and 9 - 8 = 1
		{2, 2, "claim ratio pf 0 1 3|closed-form 199/100", "199/100 is claimed"},
		{1, 2, "claim ratio pf 0 1 1|closed-form 1", ""},
		{3, 2, "claim ratio pf 0 1 15/7|closed-form 15/7|threshold 1/2", `"threshold 1/2" where a line "end"`},
		{3, 2, "claim ratio pf 1/2 1/2 2|closed-form 15/7", "is no range"},
		{3, 2, "claim ratio pf 2/3 1/2 2|closed-form 15/7", "is no range"},
		{3, 2, "claim ratio pf 0 1 99/100|closed-form 15/7", "a ratio is at least 1"},
		{3, 2, "claim ratio pf 0 11/10 3|closed-form 15/7", "z lies between 0 and 1"},
		{3, 2, "claim ratio pf -1/10 1 3|closed-form 15/7", "z lies between 0 and 1"},
		{3, 2, "claim ratio em 0 1 3|closed-form 15/7", "not of the form"},
		{3, 2, "claim error pf 0 1 3|closed-form 15/7", "not of the form"},
		{3, 2, "claim ratio pf 0 1|closed-form 15/7", "4 fields where 5 were expected"},
		{3, 2, "claim ratio pf 0 1 3 3|closed-form 15/7", "6 fields where 5 were expected"},
		{3, 2, "claim ratio pf 0 x 3|closed-form 15/7", "not a number"},
		// A number of more than 4096 bytes is none, whatever its beginning says: these begin as 10^906 and 10^-4094.
		{3, 2, "claim ratio pf 0 1 1" + long + "/" + nines + "|closed-form 15/7", "number too long"},
		{3, 2, "claim ratio pf 0 1 3|closed-form 1" + long + "/" + nines, "number too long"},
		{3, 2, "claim ratio pf 1/1" + long + long + " 1 3|closed-form 15/7", "number too long"},
	} {
		rep := checked(t, intervalText(c.n, c.k, "paper", strings.Split(c.lines, "|")...))
		assert.Equal(t, c.reason == "", rep.Valid, "n = %d, k = %d, %.200s: %s", c.n, c.k, c.lines, rep.Reason)
		assert.Contains(t, rep.Reason, c.reason, "n = %d, k = %d, %.200s", c.n, c.k, c.lines)
		if rep.Valid {
			f := strings.Fields(strings.Split(c.lines, "|")[0])
			assert.Equal(t, fmt.Sprintf("ratio pf for %s < z <= %s", f[3], f[4]), rep.Claims[0].On)
			low, _ := rep.Claims[0].Value.Lower()
			high, _ := rep.Claims[0].Value.Upper()
			assert.Equal(t, []string{"1", f[5]}, []string{low.RatString(), high.RatString()})
			assert.True(t, rep.Claims[0].Follows)
			assert.Equal(t, c.n, rep.Problem.N)
		}
	}
	rep := checked(t, intervalText(3, 2, "none", "claim ratio pf 0 1 3", "closed-form 15/7"))
	assert.Contains(t, rep.Reason, "constraints")
}

// node is a z with multipliers of classes and, with one class to a count vector, of rows of monotonicity.
type node struct {
	z    *big.Rat
	y    []*big.Rat
	cuts map[levelRow]*big.Rat
}

// classOf numbers the classes of count vectors from their definition: start, greatest depth, and top counts from the start on, in this order.
func (p *problem) classOf(top int) (class []int, count int) {
	keys := make([][]int, len(p.Orbits))
	for i, m := range p.Orbits {
		q := spreadOut(m) // depths, best first
		start, deepest := q[1], q[len(q)-1]
		keys[i] = append([]int{start, deepest}, m[start:min(start+top, deepest+1)]...)
	}
	sorted := slices.Clone(keys)
	slices.SortFunc(sorted, slices.Compare[[]int])
	sorted = slices.CompactFunc(sorted, slices.Equal[[]int])
	for _, key := range keys {
		i, _ := slices.BinarySearchFunc(sorted, key, slices.Compare[[]int])
		class = append(class, i)
	}
	return class, len(sorted)
}

func spreadOut(m []int) (q []int) {
	for v, c := range m {
		q = append(q, slices.Repeat([]int{v}, c)...)
	}
	return q
}

// nodeValue returns the dual function's value at a node and the multipliers λ of all variables, from the definition.
func (p *problem) nodeValue(x node, class []int) (value *big.Rat, lambda []*big.Rat) {
	cost := make([]*big.Rat, len(p.Vars))
	for i := range cost {
		cost[i] = p.Cost(i)
	}
	for r, mu := range x.cuts {
		shift := new(big.Rat).Mul(mu, p.Weight(r.A))
		cost[r.A].Sub(cost[r.A], mu)
		cost[r.B].Add(cost[r.B], shift.Quo(shift, p.Weight(r.B)))
	}
	orbit := map[string]int{}
	for i, m := range p.Orbits {
		orbit[fmt.Sprint(m)] = i
	}
	least := make([]*big.Rat, len(x.y))
	lambda = make([]*big.Rat, len(p.Vars))
	for _, i := range p.fromTheDeepEnd() {
		c := class[orbit[fmt.Sprint(p.Vars[i].M)]]
		v := new(big.Rat).Set(cost[i])
		if after := p.after()[i]; after >= 0 {
			v.Add(v, new(big.Rat).Mul(x.z, lambda[after]))
		}
		lambda[i] = new(big.Rat).Sub(v, x.y[c])
		if lambda[i].Sign() < 0 {
			lambda[i].SetInt64(0)
		}
		if v.Sub(v, lambda[i]); least[c] == nil || v.Cmp(least[c]) < 0 {
			least[c] = v
		}
	}
	value = new(big.Rat)
	for i, m := range p.Orbits {
		value.Add(value, new(big.Rat).Mul(p.Multiplicity(m), least[class[i]]))
	}
	return value, lambda
}

// after returns the next variable on the chain of each, away from its beginning, or -1.
func (p *problem) after() []int {
	next := slices.Repeat([]int{-1}, len(p.Vars))
	for i, b := range p.Before {
		if b >= 0 {
			next[b] = i
		}
	}
	return next
}

// fromTheDeepEnd lists the variables, each after the next one on its chain.
func (p *problem) fromTheDeepEnd() (order []int) {
	for i, next := range p.after() {
		for ; next < 0 && i >= 0; i = p.Before[i] {
			order = append(order, i)
		}
	}
	return order
}

// growth is Σ N(class) max (λ^b_{i+1} - λ^a_{i+1})⁺.
func (p *problem) growth(a, b []*big.Rat, class []int, classes int) *big.Rat {
	most := make([]*big.Rat, classes)
	for i := range most {
		most[i] = new(big.Rat)
	}
	sum := new(big.Rat)
	after := p.after()
	for o, m := range p.Orbits {
		for v, count := range m {
			if next := after[p.Index[key(m, v)]]; count > 0 && next >= 0 {
				if d := new(big.Rat).Sub(b[next], a[next]); d.Cmp(most[class[o]]) > 0 {
					most[class[o]] = d
				}
			}
		}
	}
	for o, m := range p.Orbits {
		sum.Add(sum, new(big.Rat).Mul(p.Multiplicity(m), most[class[o]]))
	}
	return sum
}

// flipAt returns permute-and-flip's total error at z.
func (p *problem) flipAt(z *big.Rat) *big.Rat {
	q := *p
	q.Z = z
	sum := new(big.Rat)
	for i, u := range q.FlipPoint() {
		sum.Add(sum, new(big.Rat).Mul(p.Cost(i), u))
	}
	return sum
}

// between returns the largest ratio that the multipliers leave at some parts of the way from a to b, nil where they prove nothing at one, and whether it is
// inside, where neither end nor the bound's least value at an end would show it. With lowered that is asked of nodes alone between which the bound falls and rises.
func (p *problem) between(a, b node, class []int, lowered bool) (most *big.Rat, inside bool) {
	low, la := p.nodeValue(a, class)
	high, lb := p.nodeValue(b, class)
	width := new(big.Rat).Sub(b.z, a.z)
	bow := new(big.Rat).Mul(p.growth(la, lb, class, len(a.y)), width)
	if change := new(big.Rat).Sub(high, low); lowered && bow.Cmp(change.Abs(change)) <= 0 {
		return nil, false
	}
	const parts = 32
	for i := range int64(parts + 1) {
		t, rest := big.NewRat(i, parts), big.NewRat(parts-i, parts)
		bound := new(big.Rat).Mul(low, rest)
		bound.Add(bound, new(big.Rat).Mul(high, t))
		bound.Sub(bound, rest.Mul(rest, t).Mul(rest, bow))
		if bound.Sign() <= 0 {
			return nil, false
		}
		z := new(big.Rat).Mul(width, t)
		flip := p.flipAt(z.Add(z, a.z))
		if ratio := flip.Quo(flip, bound); most == nil || ratio.Cmp(most) > 0 {
			most = ratio
		}
	}
	least := low
	if high.Cmp(low) < 0 {
		least = high
	}
	end := p.flipAt(b.z)
	return most, end.Quo(end, least).Cmp(most) < 0
}

const nodeScale = 1 << 20

func (p *problem) nodeLines(top int, nodes []node, bound *big.Rat) []string {
	lines := []string{fmt.Sprint("top ", top), fmt.Sprint("scale ", nodeScale)}
	for i, x := range nodes {
		if i > 0 {
			lines = append(lines, "bound "+bound.RatString())
		}
		line := "node " + x.z.RatString()
		for _, y := range x.y {
			line += " " + new(big.Rat).Mul(y, big.NewRat(nodeScale, 1)).RatString()
		}
		lines = append(lines, line)
		for _, r := range p.LevelRows() {
			if mu := x.cuts[r]; mu != nil {
				a, b := p.Vars[r.A], p.Vars[r.B]
				lines = append(lines, fmt.Sprintf("cut m %d %s %d %s %s", a.V, counts(a.M), b.V, counts(b.M), mu.RatString()))
			}
		}
	}
	return lines
}

// TestRangesBetweenNodes: with any multipliers at two nodes, a ratio is proved for all that lies between them if it is more than the largest one that the definitions
// leave at a grid of points, by more than these are apart, and not proved if it is less. Some of the largest ratios are inside the range, where neither end shows them.
func TestRangesBetweenNodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	near, inner := 0, 0
	for _, c := range []struct {
		n, k, top int
		level     string
		trials    int
		lowered   bool // some multipliers of the second node are too small, which bends the bound between the nodes down
	}{
		{3, 2, 3, "paper", 20, false}, {3, 3, 4, "dp", 6, false}, {3, 3, 2, "paper", 8, false}, {4, 2, 1, "full", 8, false}, {3, 3, 4, "monotone", 8, false},
		{3, 2, 4, "full", 3, false}, {4, 2, 3, "paper", 60, true},
	} {
		p := newProblem(c.n, c.k, "3/2", c.level)
		class, classes := p.classOf(c.top)
		rows := p.LevelRows()
		solved := map[string][]*big.Rat{} // optimal multipliers by z
		for range c.trials {
			var nodes []node
			noise := []float64{0, 0.01, 0.3}[rng.IntN(3)]
			from := rng.IntN(7)
			for i, z := range []*big.Rat{big.NewRat(int64(10+from), 17), big.NewRat(int64(11+from+rng.IntN(7-from)), 17)} {
				y, ok := solved[z.RatString()]
				if !ok {
					y = multipliers(c.n, c.k, z)
					solved[z.RatString()] = y
				}
				x := node{z: z, y: make([]*big.Rat, classes)}
				for o, y := range y {
					f, _ := y.Float64()
					if c.lowered && i == 1 && rng.IntN(3) == 0 {
						f -= float64(int(1)<<rng.IntN(4)) * rng.Float64() / 4
					}
					x.y[class[o]] = big.NewRat(int64((f+noise*(2*rng.Float64()-1))*nodeScale), nodeScale)
				}
				for _, r := range rows {
					if r.Kind == "m" && c.top == c.k+1 && rng.IntN(4) == 0 {
						if x.cuts == nil {
							x.cuts = map[levelRow]*big.Rat{}
						}
						x.cuts[r] = big.NewRat(1+rng.Int64N(50), 1024)
					}
				}
				nodes = append(nodes, x)
			}
			most, inside := p.between(nodes[0], nodes[1], class, c.lowered)
			if c.lowered && !inside {
				continue
			}
			claim := func(bound *big.Rat) (bool, string) {
				head := fmt.Sprintf("claim ratio pf %s %s %s", nodes[0].z.RatString(), nodes[1].z.RatString(), bound.RatString())
				rep := checked(t, intervalText(c.n, c.k, c.level, append([]string{head}, p.nodeLines(c.top, nodes, bound)...)...))
				return rep.Valid, rep.Reason
			}
			if most == nil {
				ok, reason := claim(big.NewRat(1000, 1))
				assert.False(t, ok)
				assert.Contains(t, reason, "the values prove")
				continue
			}
			near++
			if inside {
				inner++
			}
			less := new(big.Rat).Mul(most, big.NewRat(999_999_999, 1_000_000_000))
			if less.Cmp(big.NewRat(1, 1)) >= 0 {
				ok, reason := claim(less)
				require.False(t, ok, "%+v: %s", c, less.FloatString(9))
				assert.Contains(t, reason, "the values prove a ratio of at most")
			}
			ok, reason := claim(new(big.Rat).Mul(most, big.NewRat(501, 500)))
			require.True(t, ok, "%+v: %s %s", c, most.FloatString(9), reason)
		}
	}
	t.Log(near, inner)
	assert.Greater(t, near, 30)
	assert.Greater(t, inner, 1)
}

// TestFormOfNodes: what the lines of nodes may hold, and how the parts of a range follow each other.
func TestFormOfNodes(t *testing.T) {
	const n, k = 3, 2
	p := newProblem(n, k, "3/2", "full")
	class, classes := p.classOf(k + 1)
	var nodes []node
	for _, z := range []string{"3/5", "4/5", "1"} {
		x := node{z: rat(z), y: make([]*big.Rat, classes)}
		for o, y := range multipliers(n, k, rat(z)) {
			f, _ := y.Float64()
			x.y[class[o]] = big.NewRat(int64(f*nodeScale), nodeScale)
		}
		nodes = append(nodes, x)
	}
	for _, r := range p.LevelRows() { // multipliers that prove next to nothing, for the order of the lines alone
		if r.Kind == "m" && len(nodes[1].cuts) < 2 {
			if nodes[1].cuts == nil {
				nodes[1].cuts = map[levelRow]*big.Rat{}
			}
			nodes[1].cuts[r] = big.NewRat(1, 1<<30)
		}
	}
	base := append([]string{"claim ratio pf 0 1 3/2", "threshold 3/5"}, p.nodeLines(k+1, nodes, big.NewRat(3, 2))...)
	verdict := func(change func(l []string) []string) (bool, string) {
		rep := checked(t, intervalText(n, k, "full", change(slices.Clone(base))...))
		return rep.Valid, rep.Reason
	}
	ok, reason := verdict(func(l []string) []string { return l })
	require.True(t, ok, reason)
	find := func(prefix string) int {
		return slices.IndexFunc(base, func(l string) bool { return strings.HasPrefix(l, prefix) })
	}
	claim, top, scale, first, second, cut, third := 0, 2, 3, find("node 3/5"), find("node 4/5"), find("cut"), find("node 1 ")
	field := func(line, i int, value string) func(l []string) []string {
		return func(l []string) []string {
			f := strings.Fields(l[line])
			f[i] = value
			l[line] = strings.Join(f, " ")
			return l
		}
	}
	set := func(line int, text string) func(l []string) []string {
		return func(l []string) []string { l[line] = text; return l }
	}
	for _, c := range []struct {
		change func(l []string) []string
		reason string // empty: valid
	}{
		{set(claim, "claim ratio pf 0 4/5 3/2"), ""},
		{set(claim, "claim ratio pf 1/10 9/10 3/2"), "does not begin at 0"},
		{func(l []string) []string {
			return append([]string{"claim ratio pf 13/20 9/10 3/2"}, l[2:]...)
		}, ""},
		{func(l []string) []string {
			return append([]string{"claim ratio pf 11/20 9/10 3/2"}, l[2:]...)
		}, "no proof from z = 11/20 to 3/5"},
		{set(1, "threshold 59/100"), "no proof from z = 59/100 to 3/5"},
		{set(1, "threshold 61/100"), ""},
		{set(claim, "claim ratio pf 0 1 14/10"), "lowest terms"},
		{set(claim, "claim ratio pf 0 1 7/5"), "more than is claimed"},
		{set(first+1, "bound 7/5"), ""},
		{set(first+1, "bound 8/5"), "more than is claimed"},
		{set(first+1, "bound 9/10"), "a ratio is at least 1"},
		{set(first+1, "bound 1"), "the values prove a ratio"},
		{func(l []string) []string { return l[:cut+2] }, "no proof from z = 4/5 to 1"},
		{func(l []string) []string { return l[:third] }, `where a line "node"`},
		{func(l []string) []string { return l[:first] }, `where a line "node"`},
		{field(second, 1, "3/5"), "not above 0 and the node before"},
		{field(second, 1, "1/2"), "not above 0 and the node before"},
		{field(first, 1, "0"), "not above 0"},
		{field(third, 1, "11/10"), "z lies between 0 and 1"},
		{field(first, 1, "-3/5"), "z lies between 0 and 1"},
		{field(first, 1, "x"), "not a number"},
		{set(first+1, "bound x"), "not a number"},
		{field(first, 2, "1/2"), "not a whole number"},
		{field(first, 2, "-0"), "not a whole number"},
		{field(first, 2, "01"), "not a whole number"},
		{field(first, 2, "--1"), "not a whole number"},
		{field(first, 2, "1"+strings.Repeat("0", 18)), "at most 18 digits"},
		{field(first, 2, "-1"+strings.Repeat("0", 17)), "the values prove a ratio"}, // of 18 digits
		{set(first, base[first]+" 1"), "fields"},
		{set(top, "top 0"), "top is less than 1"},
		{set(top, "top 1 1"), "not a non-negative integer"},
		{set(top, "top 1"), `where a line "end"`}, // there are as many classes, but no rows
		{set(top, "top 4"), `where a line "end"`},
		{set(top, fmt.Sprint("top ", 1<<62)), "is more than"},
		{set(scale, "scale 0"), "scale is less than 1"},
		{set(scale, fmt.Sprint("scale ", 1<<40)), "the values prove a ratio"},
		{set(scale, fmt.Sprint("scale ", 1<<40+1)), "is more than"},
		{func(l []string) []string { l[cut], l[cut+1] = l[cut+1], l[cut]; return l }, "not after the row"},
		{func(l []string) []string { l[cut] = "cut p" + strings.TrimPrefix(l[cut], "cut m"); return l }, "kind"},
		{field(cut, 2*k+6, "0"), "not positive"},
	} {
		ok, reason := verdict(c.change)
		lines := c.change(slices.Clone(base))
		assert.Equal(t, c.reason == "", ok, "%q: %s", lines, reason)
		assert.Contains(t, reason, c.reason, "%q", lines)
	}
	// A line that is missing, that is there twice, or that is too long for any format.
	text := split(intervalText(n, k, "full", base...))
	for i, line := range text[:len(text)-1] {
		if strings.HasPrefix(line, "cut") {
			continue // of multipliers, fewer are multipliers
		}
		for _, lines := range [][]string{slices.Delete(slices.Clone(text), i, i+1), slices.Insert(slices.Clone(text), i, line)} {
			lines[len(lines)-1] = fmt.Sprintf("end %d", len(lines)-1)
			if rep, err := check.Check(strings.NewReader(strings.Join(lines, "\n")+"\n"), certificate.Options{}); err == nil {
				assert.False(t, rep.Valid, "%q", lines)
				assert.NotEmpty(t, rep.Reason, "%q", lines)
			} else {
				assert.Zero(t, i, "%q: %v", lines, err) // of no version
			}
		}
		lines := slices.Clone(text)
		lines[i+1] += strings.Repeat(" ", 1<<20)
		assert.Contains(t, checked(t, strings.Join(lines, "\n")+"\n").Reason, "longer than", "%q", line)
	}
	for _, level := range []string{"paper", "dp"} {
		rep := checked(t, intervalText(n, k, level, base...))
		assert.Contains(t, rep.Reason, "kind")
	}
	rep := checked(t, intervalText(n, k, "monotone", base...))
	assert.True(t, rep.Valid, rep.Reason)
	rep = checked(t, intervalText(2, k, "full", base...))
	assert.Contains(t, rep.Reason, "nothing to prove for n < 3")
}
