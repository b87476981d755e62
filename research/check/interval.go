package check

import (
	"fmt"
	"math/big"
	"strings"

	"optratio/internal/arith"
	"optratio/internal/evidence"
	"optratio/number"
)

// intervalCertificate is section interval: a bound on permute-and-flip's ratio for every z = e^-ε of a range, in parts that follow each other. research/docs/map.md has the
// theorems.
type intervalCertificate struct {
	evidence.Setting
	n, k           int
	constraints    string
	lat            *evidence.Lattice // where rows of the level may have multipliers
	from, to, most *big.Rat          // the claim: where from < z <= to, the ratio is at most this
	threshold      *big.Rat          // permute-and-flip is optimal up to this z; nil where the file does not say so
	closed         *big.Rat          // the bound by the closed form beyond; nil where there is none
	classes        *classes
	scale          int
	nodes          []intervalNode
	cost           *evidence.Effort
}

// intervalNode is a z with multipliers, and the ratio that is claimed between the node before and this one.
type intervalNode struct {
	z, most *big.Rat // most is nil at the first
	y       []*big.Rat
	cost    map[int]*big.Rat
}

// Limits on what an interval certificate may ask for.
const (
	maxScale         = 1 << 40
	maxIntervalN     = 4096
	maxIntervalK     = 1024
	bytesPerClass    = 600 // classes with their positions, by estimate
	intervalBits     = 128
	stepsPerPosition = 64 // of a walk; and for each depth of a closed form
	maxIntervalParts = 24 // how often a part of the range is halved
)

func (c *intervalCertificate) About(p *evidence.Problem) bool {
	p.N, p.K, p.Objective, p.Constraints, p.Proof = c.n, c.k, "paper", c.constraints, "interval"
	return c.constraints != ""
}

func (c *intervalCertificate) Read(r *evidence.Reader, o evidence.Options) {
	c.cost = r.Cost
	c.n = r.Whole("n", 1, evidence.MaxCandidates)
	c.k = r.Whole("k", 1, evidence.MaxDepth)
	c.constraints = r.Word("constraints", "paper", "dp", "monotone", "full")
	c.from, c.to, c.most = rangeClaim(r)
	on := fmt.Sprintf("ratio pf for %s < z <= %s", c.from.RatString(), c.to.RatString())
	c.Claims = []evidence.Claim{{On: on, Value: number.Bounds(big.NewRat(1, 1), c.most)}}
	if r.Is("threshold") {
		c.threshold = share(r, r.Take("threshold"), false)
	}
	switch {
	case r.Is("closed-form"):
		c.closed = share(r, r.Take("closed-form"), true)
	case r.Is("top"):
		c.body(r, o)
	}
}

// rangeClaim takes the line claim ratio pf FROM TO X: a bound for a range of z.
func rangeClaim(r *evidence.Reader) (from, to, most *big.Rat) {
	f := r.Fields("claim", 5)
	if f[0] != "ratio" || f[1] != "pf" {
		r.Failf("claim: not of the form ratio pf FROM TO X")
	}
	from, to, most = share(r, f[2], false), share(r, f[3], false), share(r, f[4], true)
	if from.Cmp(to) >= 0 {
		r.Failf("claim: from %s to %s is no range", evidence.Quote(f[2]), evidence.Quote(f[3]))
	}
	return from, to, most
}

// share parses a number of (0, 1], 0 itself, or with bound one of at least 1.
func share(r *evidence.Reader, s string, bound bool) *big.Rat {
	x, err := evidence.ParseValue(s, evidence.MaxEpsilonBits)
	one := big.NewRat(1, 1)
	switch {
	case err != nil:
		r.Failf("%s: %v", evidence.Quote(s), err)
	case bound && x.Cmp(one) < 0:
		r.Failf("%s: a ratio is at least 1", evidence.Quote(s))
	case !bound && (x.Sign() < 0 || x.Cmp(one) > 0):
		r.Failf("%s: z lies between 0 and 1", evidence.Quote(s))
	}
	return x
}

// body reads the nodes.
func (c *intervalCertificate) body(r *evidence.Reader, o evidence.Options) {
	top := r.Whole("top", 1, evidence.MaxDepth+1)
	if c.n < 3 {
		r.Failf("top: there is nothing to prove for n < 3")
	}
	c.scale = r.Whole("scale", 1, maxScale)
	if c.n > maxIntervalN || c.k > maxIntervalK {
		evidence.Limit("n = %d and k = %d; multipliers are taken up to %d and %d", c.n, c.k, maxIntervalN, maxIntervalK)
	}
	c.classes = newClasses(c.n, c.k, top, int(o.MaxMemory)/(bytesPerClass*(2*c.k+1)), c.cost)
	r.Long = max(r.Long, 32*len(c.classes.mass)+evidence.MaxEpsilonBits)
	if top == c.k+1 {
		evidence.Fits(o, c.n, c.k)
		c.lat = evidence.NewLattice(c.n, c.k)
	}
	for more := true; more; more = r.Is("bound") {
		node := intervalNode{}
		if len(c.nodes) > 0 {
			node.most = share(r, r.Take("bound"), true)
		}
		c.node(r, &node)
		c.nodes = append(c.nodes, node)
	}
}

// node reads a z, its multipliers, and those of the level's rows.
func (c *intervalCertificate) node(r *evidence.Reader, node *intervalNode) {
	f := r.Fields("node", 1+len(c.classes.mass))
	node.z = share(r, f[0], false)
	if node.z.Sign() == 0 || len(c.nodes) > 0 && node.z.Cmp(c.nodes[len(c.nodes)-1].z) <= 0 {
		r.Failf("node: %s is not above 0 and the node before", evidence.Quote(f[0]))
	}
	for _, s := range f[1:] {
		digits := strings.TrimPrefix(s, "-")
		if !evidence.CanonicalDigits(digits) || len(digits) > 18 || s == "-0" {
			r.Failf("node: %s is not a whole number of at most 18 digits", evidence.Quote(s))
		}
		x, _ := new(big.Int).SetString(s, 10)
		node.y = append(node.y, new(big.Rat).SetFrac(x, big.NewInt(int64(c.scale))))
	}
	if c.lat == nil || !r.Is("cut") {
		return
	}
	// Of the levels' rows those of monotonicity alone are of use between nodes: the others change with z.
	at := map[[2]int]int{}
	for i, class := range c.classes.class {
		at[[2]int{class, c.classes.depth[i]}] = i
	}
	node.cost = map[int]*big.Rat{}
	add := func(m []int, v int, x *big.Rat) {
		i := at[[2]int{c.classes.index[c.classes.name(m)], v}]
		if node.cost[i] == nil {
			node.cost[i] = big.NewRat(int64(v), 1)
		}
		node.cost[i].Add(node.cost[i], x)
	}
	r.Cuts(c.lat, c.constraints, evidence.Level{Monotone: evidence.Levels[c.constraints].Monotone}, func(q evidence.Cut) {
		add(q.M, q.V, new(big.Rat).Neg(q.Mu))
		shift := new(big.Rat).SetFrac(c.lat.Weight(q.M, q.V), c.lat.Weight(q.L, q.W))
		add(q.L, q.W, shift.Mul(shift, q.Mu))
	})
}

// Decide makes sure that the parts prove the ratio for the whole range.
func (c *intervalCertificate) Decide(evidence.Options) {
	reached := c.from
	one := big.NewRat(1, 1)
	if c.threshold != nil {
		if c.from.Sign() != 0 {
			evidence.Refute("threshold: the claim does not begin at 0")
		}
		if float64(c.k)*float64(c.threshold.Denom().BitLen()) > evidence.MaxClosedBits {
			evidence.Refute("threshold: the numbers are too long to compare")
		}
		if c.n > 2 && c.k > 1 && !optimal(c.threshold, c.k) {
			evidence.Refute("threshold: z + … + z^k is more than 1 at z = %s", c.threshold.RatString())
		}
		reached = c.threshold
	}
	if c.closed != nil {
		c.closedForm()
		reached = one
	}
	for i := range c.nodes {
		node := &c.nodes[i]
		if i == 0 {
			if node.z.Cmp(reached) > 0 {
				evidence.Refute("no proof from z = %s to %s", reached.RatString(), node.z.RatString())
			}
			continue
		}
		if node.most.Cmp(c.most) > 0 {
			evidence.Refute("the bound up to z = %s is more than is claimed", node.z.RatString())
		}
		reached = node.z
	}
	if reached.Cmp(c.to) < 0 {
		evidence.Refute("no proof from z = %s to %s", reached.RatString(), c.to.RatString())
	}
	c.between()
	c.Claims[0].Follows = true
}

// optimal reports whether z + … + z^k <= 1, k >= 2: that is z < 1 and 2z - 1 <= z^{k+1}.
func optimal(z *big.Rat, k int) bool {
	all := new(big.Int).Exp(z.Denom(), big.NewInt(int64(k)), nil)
	left := new(big.Int).Lsh(z.Num(), 1)
	left.Sub(left, z.Denom())
	return z.Num().Cmp(z.Denom()) < 0 && left.Mul(left, all).Cmp(all.Exp(z.Num(), big.NewInt(int64(k+1)), nil)) <= 0
}

// closedForm decides the bound at every z by the closed form. Where B' <= 1 permute-and-flip is optimal; elsewhere the ratio is at most
// 1 + (k-B')^n / (B' (k+1)^n - (1+B') k^n), if the denominator is positive, which falls as B' rises and is at most its value at B' = 1.
func (c *intervalCertificate) closedForm() {
	switch {
	case c.n < 2:
		return
	case float64(c.n)*float64(evidence.Bits(c.k+1)) > evidence.MaxClosedBits:
		evidence.Refute("closed-form: the numbers are too long to compare")
	case c.closed.Cmp(c.most) > 0:
		evidence.Refute("closed-form: more than is claimed")
	}
	n, twice := int64(c.n), evidence.Power(c.k, int64(c.n))
	under := evidence.Power(c.k+1, n)
	under.Sub(under, twice.Lsh(twice, 1))
	excess := new(big.Rat).Sub(c.closed, big.NewRat(1, 1)) // at least 0, as share demands: no product with a denominator that is not positive is large enough
	if excess.Mul(excess, new(big.Rat).SetInt(under)).Cmp(new(big.Rat).SetInt(evidence.Power(c.k-1, n))) < 0 {
		evidence.Refute("closed-form: %s is claimed, which does not follow", c.closed.RatString())
	}
}

// between decides the bounds between the nodes.
func (c *intervalCertificate) between() {
	var last *dualPoint
	for i := range c.nodes {
		c.cost.Spend(stepsPerPosition * len(c.classes.class))
		node := &c.nodes[i]
		d := c.classes.walk(node.z, node.y, node.cost, intervalBits)
		if last != nil {
			bow := c.classes.bend(last, d, intervalBits).Mul(number.FromRat(new(big.Rat).Sub(d.z, last.z), intervalBits))
			p := &stretch{certificate: c, a: last, b: d, bow: bow, most: number.FromRat(node.most, intervalBits)}
			zero, one := new(big.Rat), big.NewRat(1, 1)
			p.decide(zero, one, p.flip(one), 0)
		}
		last = d
	}
}

// stretch is what lies between two nodes. At z = (1-t) z_a + t z_b the mean with weights 1-t and t of all multipliers, those of the rows (E),
// (P), (T) and of cuts, is a point of the dual program. The bound that it gives is at least
//
//	(1-t) D_a + t D_b - t (1-t) bow
//
// with D the bounds at the nodes: every reduced cost c_i + z λ_{i+1} - λ_i is the mean of those at the nodes less t(1-t)(z_b - z_a) times the growth of
// λ_{i+1}, and bow adds up the largest such terms of the classes, where they are positive.
type stretch struct {
	certificate *intervalCertificate
	a, b        *dualPoint
	bow, most   number.Interval
}

// flip encloses permute-and-flip's total error at t.
func (p *stretch) flip(t *big.Rat) number.Interval {
	p.certificate.cost.Spend(stepsPerPosition * p.certificate.k)
	z := new(big.Rat).Sub(p.b.z, p.a.z)
	z.Mul(z, t).Add(z, p.a.z)
	f := arith.Interval{Prec: intervalBits}
	return evidence.ClosedForms(f, evidence.MayBeNegative, number.FromRat(z, intervalBits), p.certificate.n, p.certificate.k, false).Flip
}

// bound encloses the lower bound on the optimum at t.
func (p *stretch) bound(t *big.Rat) number.Interval {
	x := number.FromRat(t, intervalBits)
	left := number.FromInt(1, intervalBits).Sub(x)
	return p.a.value.Mul(left).Add(p.b.value.Mul(x)).Sub(p.bow.Mul(x).Mul(left))
}

// decide makes sure that the ratio is proved for all t in [s, t]. end is permute-and-flip's error at t. As this error does not fall when z
// rises, it is at most end. The bound, a parabola open upwards as bow >= 0, is on [s, t] at least its lesser end less the most that it can sag
// between them, bow (t-s)²/4.
func (p *stretch) decide(s, t *big.Rat, end number.Interval, depth int) {
	at := p.bound(t)
	sag := new(big.Rat).Sub(t, s)
	sag.Mul(sag, sag).Mul(sag, big.NewRat(1, 4))
	low := p.bound(s).Min(at).Sub(p.bow.Mul(number.FromRat(sag, intervalBits)))
	if p.follows(end, low) {
		return
	}
	if depth == maxIntervalParts || !p.follows(end, at) {
		z := new(big.Rat).Sub(p.b.z, p.a.z)
		z.Mul(z, t).Add(z, p.a.z)
		evidence.Refute("from z = %s to %s: at z = %s the values prove a ratio of at most %.8g", p.a.z.RatString(), p.b.z.RatString(), z.FloatString(8), end.Quo(at).Near())
	}
	middle := new(big.Rat).Add(s, t)
	middle.Mul(middle, big.NewRat(1, 2))
	p.decide(s, middle, p.flip(middle), depth+1)
	p.decide(middle, t, end, depth+1)
}

// follows reports whether error <= most · bound is certain.
func (p *stretch) follows(end, bound number.Interval) bool {
	return bound.Lo().Sign() > 0 && end.Hi().Cmp(p.most.Mul(bound).Lo()) <= 0
}
