package check

import (
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/internal/evidence"
	"optratio/number"
)

// productCertificate is section product: a point of the program that bounds the optimum from above. research/docs/product.md has the theorem.
type productCertificate struct {
	evidence.Setting
	n, k     int
	products []product
	cost     *evidence.Effort
}

// product is a line of that name: on count vectors with tops best candidates, each candidate at the depth has s = amount Π g(v) more than privacy asks for, the product being over
// the other candidates at depths v >= 1, with g(v) = 0 for v <= empty and 1 - ratio z^(v-empty-1) for v > empty; with deepest, only where one of them is at depth k.
type product struct {
	tops, depth, empty int
	deepest            bool
	ratio, amount      *big.Rat
}

// What n and k of section product may be, the memory that a line takes beside its numbers, and the steps of what there is most of.
const (
	maxProductSize  = 1 << 14
	bytesPerProduct = 1000
	stepsPerPoint   = 8 // of a count vector and a depth, for each step of a product
)

func (c *productCertificate) About(p *evidence.Problem) bool {
	p.N, p.K, p.Objective, p.Constraints, p.Proof = c.n, c.k, "paper", "paper", "product"
	c.Describe(p)
	return len(c.Claims) > 0
}

func (c *productCertificate) Read(r *evidence.Reader, _ evidence.Options) {
	c.cost = r.Cost
	c.n = r.Whole("n", 1, maxProductSize)
	c.k = r.Whole("k", 1, maxProductSize)
	c.Parameters(r)
	r.Long = max(r.Long, evidence.MaxBodyLength+32)
	for r.Is("product") {
		f := r.Fields("product", 6)
		q := product{deepest: f[3] == "deepest"}
		for i, at := range []*int{&q.tops, &q.depth, &q.empty} {
			*at = r.Integer("product", f[i], 0, max(c.n, c.k))
		}
		if q.tops < 1 || q.tops >= c.n || q.depth < 1 || q.depth > c.k || q.empty >= c.k || f[3] != "any" && !q.deepest {
			r.Failf("product: from 1 to n-1 best candidates, a depth from 1 to k, fewer than k empty depths, and any or deepest expected")
		}
		q.ratio, q.amount = r.Value("product", f[4]), r.Value("product", f[5])
		if q.ratio.Sign() < 0 || q.ratio.Cmp(big.NewRat(1, 1)) > 0 || q.amount.Sign() <= 0 {
			r.Failf("product: a ratio from 0 to 1 and an amount above 0 expected")
		}
		c.cost.Keep(bytesPerProduct + 4*len(r.Next))
		c.products = append(c.products, q)
	}
}

// Decide makes sure that the point is feasible and its mean error at most what is claimed, at higher and higher precision. The lower end of the claim is to be 0: nothing here
// bounds the optimum from below.
func (c *productCertificate) Decide(o evidence.Options) {
	claim := &c.Claims[0]
	low, high := claim.Value.Ends()
	if low.Sign() > 0 {
		evidence.Refute("claim optimum: %v and more is claimed, and a point only bounds the optimum from above", number.Exact(low))
	}
	for prec := max(min(uint(min(c.Precision, 960))+64, o.MaxPrecision), 128); ; prec = min(2*prec, o.MaxPrecision) {
		lo, hi := c.Power(big.NewRat(1, 1), prec)
		z := number.Hull(number.FromRat(lo, prec), number.FromRat(hi, prec))
		p := newProductPoint(c, z)
		p.cost.Spend(p.price * 4 * c.k)
		totals := evidence.ClosedForms(arith.Interval{Prec: prec}, evidence.MayBeNegative, z, c.n, c.k, false)
		feasible, value := p.feasible(), number.Enclosed(totals.Flip.Add(p.change()).Quo(totals.All))
		follows := evidence.AtMost(value, number.Exact(high))
		switch {
		case feasible == evidence.Fails:
			evidence.Refute("the point of the product lines is not feasible")
		case feasible == evidence.Holds && follows == evidence.Fails:
			evidence.Refute("claim optimum: %v and less is claimed, %v is proved", number.Exact(high), value)
		case feasible == evidence.Holds && follows == evidence.Holds:
			claim.Follows = true
			return
		case prec >= o.MaxPrecision:
			evidence.Limit("claim optimum: not decided at %d bits", prec)
		}
	}
}

// productPoint works out the point of product lines orbit by orbit, on those count vectors that decide whether it is feasible and those that they follow from.
type productPoint struct {
	n, k   int
	list   []product
	depths []int // at which there are candidates, ascending
	power  []number.Interval
	g      [][][]number.Interval // g(v)^c of each product, by place in depths and by count c
	known  map[string]number.Interval
	cost   *evidence.Effort
	price  int
	prec   uint
}

// decisive returns the depths of other candidates at which a slack can be least: with all others in place it is affine in 1, z^v, the b = z^(v-depth) [v >= depth]
// and g of each product, and the same at v+1, if those are what a row looks at (sunk). On depths where all of these are affine in z^v it is least at an end.
func (p *productPoint) decisive(sunk bool) []int {
	last, kink, deepest := p.k, 1, false
	if sunk {
		last--
	}
	for _, q := range p.list {
		kink, deepest = max(kink, q.depth, q.empty+1), deepest || q.deepest
	}
	var at []int
	for v := 1; v <= last; v++ {
		if v <= kink || v == last || deepest && v == last-1 {
			at = append(at, v)
		}
	}
	return at
}

func newProductPoint(c *productCertificate, zz number.Interval) *productPoint {
	p := &productPoint{
		n: c.n, k: c.k, list: c.products, known: map[string]number.Interval{}, cost: c.cost, prec: zz.Prec(), price: int(zz.Prec()) / 4,
	}
	p.depths = append(p.decisive(true), 1)
	for _, v := range p.decisive(true) {
		p.depths = append(p.depths, v+1)
	}
	p.depths = append(p.depths, p.decisive(false)...)
	slices.Sort(p.depths)
	p.depths = slices.Compact(p.depths)
	p.cost.Keep((p.k + len(p.list)*len(p.depths)*p.n) * (200 + int(p.prec)/2))
	p.power = append(p.power, number.FromInt(1, p.prec))
	for v := range p.k {
		p.power = append(p.power, p.power[v].Mul(zz))
	}
	for _, q := range p.list {
		var g [][]number.Interval
		for _, v := range p.depths {
			powers := []number.Interval{p.power[0]}
			for c := range p.n - 1 {
				powers = append(powers, powers[c].Mul(p.weight(&q, v)))
			}
			g = append(g, powers)
		}
		p.g = append(p.g, g)
	}
	return p
}

// weight returns g(v).
func (p *productPoint) weight(q *product, v int) number.Interval {
	if v <= q.empty {
		return number.FromInt(0, p.prec)
	}
	return p.power[0].Sub(number.FromRat(q.ratio, p.prec).Mul(p.power[v-q.empty-1]))
}

// best returns x[m][0] for the count vector with so many candidates at each of the depths and the others at depth 0: with s the injections,
//
//	m_0 x[m][0] = 1 - Σ_v m_v x[m][v],   x[m][v] = z^v x[m^{v→0}][0] + Σ_{w<=v} z^(v-w) s(m^{v→w}, w),
//
// which is what a chain brings from where its candidate is at depth 0.
func (p *productPoint) best(counts []int) number.Interval {
	key := fmt.Sprint(counts)
	if x, ok := p.known[key]; ok {
		return x
	}
	tops := p.n
	for _, c := range counts {
		tops -= c
	}
	rest := number.FromInt(1, p.prec)
	others := slices.Clone(counts)
	for i, c := range counts {
		if c == 0 {
			continue
		}
		others[i]--
		v := p.depths[i]
		x := p.power[v].Mul(p.best(others))
		for j := range p.list {
			if q := &p.list[j]; q.tops == tops && q.depth <= v {
				x = x.Add(p.power[v-q.depth].Mul(p.injected(j, others)))
			}
		}
		rest = rest.Sub(x.Mul(number.FromInt(int64(c), p.prec)))
		others[i]++
	}
	rest = rest.Quo(number.FromInt(int64(tops), p.prec))
	p.known[key] = rest
	p.cost.Keep(200 + int(p.prec)/2 + len(key))
	p.cost.Spend(stepsPerPoint * p.price * len(counts))
	return rest
}

// injected returns s where these are the other candidates at depths >= 1.
func (p *productPoint) injected(j int, others []int) number.Interval {
	q := &p.list[j]
	s := number.FromRat(q.amount, p.prec)
	if last := len(others) - 1; q.deepest && (p.depths[last] < p.k || others[last] == 0) {
		return number.FromInt(0, p.prec)
	}
	for i, c := range others {
		s = s.Mul(p.g[j][i][c])
	}
	return s
}

// feasible decides whether all slacks are >= 0.
func (p *productPoint) feasible() evidence.Verdict {
	result := evidence.Holds
	for _, sunk := range []bool{true, false} {
		var places []int
		for _, v := range p.decisive(sunk) {
			places = append(places, slices.Index(p.depths, v))
		}
		counts := make([]int, len(p.depths))
		for _, m := range (&evidence.Lattice{N: p.n, K: len(places)}).Orbits() {
			for i, at := range places {
				counts[at] = m[i+1]
			}
			if !sunk && counts[len(counts)-1] == 0 { // nobody is at depth k: row (T) asks for more
				continue
			}
			slack := p.slack(counts, sunk, m[0]-1)
			result = result.And(evidence.AtMost(number.Int(0), number.Enclosed(slack)))
			p.cost.Spend(p.price)
		}
	}
	return result
}

// slack returns x[m][0], or where sunk x[m][0] - z x[l][0] for the l where all but one of the best, who are tied with so many others, are a step deeper.
func (p *productPoint) slack(counts []int, sunk bool, tied int) number.Interval {
	x := p.best(counts)
	if !sunk {
		return x
	}
	below := make([]int, len(counts))
	for i, c := range counts {
		if c > 0 {
			below[slices.Index(p.depths, p.depths[i]+1)] += c
		}
	}
	below[0] += tied
	return x.Sub(p.power[1].Mul(p.best(below)))
}

// change returns by how much the total error of the point is above permute-and-flip's. Injections add their reduced costs at the dual point of proof dual-recurrence, y = Y_{m_0}: on the
// chain of others with j = tops best ones λ_u = u - Y_j + z λ_{u+1} is what a unit injected at depth u costs.
func (p *productPoint) change() number.Interval {
	zero := number.FromInt(0, p.prec)
	a, b, total := zero, zero, zero
	for v := 1; v <= p.k; v++ {
		a, b = a.Add(p.power[v].Mul(number.FromInt(int64(v), p.prec))), b.Add(p.power[v])
	}
	for i := range p.list {
		q := &p.list[i]
		p.cost.Spend(p.price * (q.tops + p.k))
		ways := new(big.Int).Binomial(int64(p.n-1), int64(q.tops))
		ways.Mul(ways, big.NewInt(int64(p.n)))
		scale := arith.FromBig(ways, p.prec).Mul(number.FromRat(q.amount, p.prec))
		y, lambda, before := zero, zero, zero
		for range q.tops - 1 {
			y = a.Sub(b.Mul(y))
		}
		for u := p.k; u >= q.depth; u-- {
			lambda = number.FromInt(int64(u), p.prec).Sub(y).Add(p.power[1].Mul(lambda))
		}
		for v := 1; v < p.k; v++ {
			before = before.Add(p.weight(q, v))
		}
		others := before.Add(p.weight(q, p.k)).Pow(p.n - 1 - q.tops)
		if q.deepest {
			others = others.Sub(before.Pow(p.n - 1 - q.tops))
		}
		total = total.Add(scale.Mul(lambda).Mul(others))
	}
	return total
}
