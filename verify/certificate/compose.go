package certificate

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/evidence"
	"optratio/number"
)

// compose is what several selections cost together (research/docs/compose.md): the least ε in total for a δ, or the least δ for an ε in total, against adversaries
// who choose each query by the answers before. V_t(s) is the most that they have of t selections at s; selections are numbered from the last one.
//
// A file holds bounds of V_t at the nodes i·d, i >= 0. V is convex in e^s, does not increase, and V(-s) = 1 - e^{-s}(1-V(s)). So between nodes it is below the chord, and
//
//	V_t(s) = max over x in [0, ε] of p V_{t-1}(s - h(x)) + (1-p) V_{t-1}(s + h(ε-x))
//
// is at most what follows from the bounds of V_{t-1}. [0, ε] is divided so that on each stretch either loss stays within a cell of the grid, or within a
// tiny distance of a node. There the right side is at most a function that is linear in p and q, with a second derivative of at least -k; it is at most
// (1-θ)g + θg' + hθ(1-θ) between its values at the ends of the stretch, h = kl²/2, l the length of the stretch. And it holds an attack: events of t selections, each put together from two of
// t-1 selections.
type composed struct {
	evidence.Setting
	kinds  []*kind // of the selections, from the last one
	about  string
	delta  *big.Rat // nil where it is claimed
	total  *big.Rat // nil where it is claimed
	grid   *big.Rat
	bounds [][]float64       // of V_t, from t = 1
	events []map[int][2]bits // of t selections, from t = 0: bounds of their probabilities under P, and under Q
	cost   *evidence.Effort
	last   int // the event of all selections
}

// bits is an enclosure.
type bits = number.Interval

// kind is a mechanism at its ε.
type kind struct {
	name      string
	eps       *big.Rat
	outputs   int64
	e, one    bits
	stretches []stretch
	stay      float64 // the probability of an outcome of loss 0
}

// composePrecision is that of all enclosures, in bits.
const composePrecision = 160

// mostComposed bounds the selections.
const mostComposed = 1 << 12

func whole(i int) bits { return number.FromInt(int64(i), composePrecision) }

func (c *composed) Read(r *evidence.Reader, o evidence.Options) {
	r.Long = evidence.MaxSectionLine
	c.cost = r.Cost
	known := map[string]*kind{}
	for r.Is("selections") {
		f := r.Fields("selections", 3)
		count := r.Integer("selections", f[1], 1, mostComposed-len(c.kinds))
		name, outputs, _ := strings.Cut(f[0], ":")
		k := &kind{name: name, eps: r.Positive("selections", f[2]), outputs: 2}
		if name == "krr" {
			k.outputs = int64(r.Integer("selections", outputs, 2, 1<<30))
		} else if outputs != "" || !slices.Contains([]string{"em", "pf", "geo"}, name) {
			r.Failf("selections: %s is none of em, pf, geo and krr:OUTPUTS", evidence.Quote(f[0]))
		}
		if k.eps.Cmp(big.NewRat(128, 1)) > 0 {
			r.Failf("selections: ε is more than 128")
		}
		c.about += fmt.Sprintf("%d by %s at ε = %s, ", count, f[0], k.eps.RatString())
		key := f[0] + " " + f[2]
		if known[key] == nil {
			known[key] = k
		}
		c.kinds = slices.Concat(slices.Repeat([]*kind{known[key]}, count), c.kinds)
	}
	if len(c.kinds) == 0 {
		r.Take("selections") // says that it is missing
	}
	if r.Is("delta") {
		c.delta = r.Positive("delta", r.Take("delta"))
		c.about += "δ = " + c.delta.RatString() + "; claimed is ε in total"
	} else {
		c.total = r.Number("total")
		c.about += "ε = " + c.total.RatString() + " in total; claimed is δ"
	}
	c.grid = r.Positive("grid", r.Take("grid"))
	c.Claim(r, "cost")
	if low, high := c.Claims[0].Value.Ends(); low == nil || low.Sign() < 0 || high == nil {
		r.Failf("claim cost: not two numbers >= 0")
	}
	for t := range c.kinds {
		row := r.Numbers("bound", 0)
		c.cost.Keep(16 * len(row))
		var values []float64
		for _, x := range row {
			v, exact := x.Float64()
			if !exact || v < 0 || v > 1 {
				r.Failf("bound: not a floating-point number from 0 to 1")
			}
			values = append(values, v)
		}
		if len(values) < 2 {
			r.Failf("bound: fewer than two nodes after %d selections", t+1)
		}
		c.bounds = append(c.bounds, values)
	}
	c.events = make([]map[int][2]bits, len(c.kinds)+1)
	var order []int
	for r.Is("event") {
		f := r.Fields("event", 5)
		t, at := r.Integer("event", f[0], 1, len(c.kinds)), r.Integer("event", f[1], 0, 1<<30)
		r.Ordered(&order, []int{t, at}, "event: not after that of the line before")
		c.event(r, t, at, f[2:])
	}
}

// event works out the probabilities of an event: of the selection, whose query is x, and the event of the rest of them for either outcome. Nodes that have no
// line have the empty event, negative ones the complement with P and Q exchanged.
func (c *composed) event(r *evidence.Reader, t, at int, f []string) {
	k := c.kinds[t-1]
	k.prepare()
	x := r.Value("event", f[0])
	if x.Sign() < 0 || x.Cmp(k.eps) > 0 {
		r.Failf("event: x is not from 0 to ε")
	}
	sign := func(text string) int {
		if rest, negative := strings.CutPrefix(text, "-"); negative {
			return -r.Integer("event", rest, 1, 1<<30)
		}
		return r.Integer("event", text, 0, 1<<30)
	}
	c.cost.Spend(1 << 12)
	a, b := c.rest(t-1, sign(f[1])), c.rest(t-1, sign(f[2]))
	p, q, notP, notQ, stay := k.pair(number.FromRat(x, composePrecision))
	same := c.rest(t-1, at)
	sum := [2]bits{p.Mul(a[0]).Add(notP.Mul(b[0])).Add(stay.Mul(same[0])), q.Mul(a[1]).Add(notQ.Mul(b[1])).Add(stay.Mul(same[1]))}
	if c.events[t] == nil {
		c.events[t] = map[int][2]bits{}
	}
	c.cost.Keep(512)
	c.events[t][at], c.last = sum, at
}

func (c *composed) rest(t, at int) [2]bits {
	e, known := c.events[t][max(at, -at)]
	if !known {
		e = [2]bits{whole(0), whole(0)}
	}
	if at < 0 {
		return [2]bits{whole(1).Sub(e[1]), whole(1).Sub(e[0])}
	}
	return e
}

func (c *composed) About(p *evidence.Problem) bool {
	p.About, p.Proof = c.about, "recursion"
	return c.about != ""
}

func (c *composed) Decide(o evidence.Options) {
	for _, k := range c.kinds {
		if k.stretches == nil {
			k.prepare()
			k.divide(c.grid, c.cost)
		}
	}
	c.attack()
	t := newNodes(c.grid, c.kinds)
	sum := new(big.Rat)
	for i, k := range c.kinds {
		sum.Add(sum, k.eps)
		t.advance(k, c.bounds[i], sum, i+1, c.cost)
	}
	c.upper(t, sum)
	c.Claims[0].Follows = true
}

// attack decides the lower end.
func (c *composed) attack() {
	low, _ := c.Claims[0].Value.Ends()
	if low.Sign() == 0 {
		return
	}
	e := c.rest(len(c.kinds), c.last)
	s, delta := low, c.delta
	if delta == nil {
		s, delta = c.total, low
	}
	value := e[0].Sub(e[1].Mul(number.ExpRat(s, composePrecision)))
	if value.Lo().Cmp(number.FromRat(delta, composePrecision).Hi()) < 0 {
		evidence.Refute("claim cost: the attack does not have %v and more", number.Exact(low))
	}
}

// upper decides the upper end, with the bounds of V of all selections, which is 0 from the sum of all ε on.
func (c *composed) upper(t *nodes, sum *big.Rat) {
	_, high := c.Claims[0].Value.Ends()
	s, delta := high, c.delta
	if delta == nil {
		s, delta = c.total, high
	}
	if s.Cmp(sum) >= 0 {
		return
	}
	i := len(t.bounds) - 1
	if q := new(big.Rat).Quo(s, c.grid); q.Cmp(big.NewRat(int64(i), 1)) < 0 {
		i = int(new(big.Int).Quo(q.Num(), q.Denom()).Int64())
	}
	at := func(i int) bits { return number.FromFloat(t.bounds[min(i, len(t.bounds)-1)], composePrecision) }
	over := new(big.Rat).Sub(s, new(big.Rat).Mul(c.grid, big.NewRat(int64(i), 1)))
	value := at(i)
	if i+1 < len(t.bounds) && over.Sign() > 0 {
		share := number.ExpRat(over, composePrecision).Sub(whole(1)).Quo(number.ExpRat(c.grid, composePrecision).Sub(whole(1)))
		value = value.Sub(value.Sub(at(i + 1)).Mul(share))
	}
	if value.Hi().Cmp(number.FromRat(delta, composePrecision).Lo()) > 0 {
		evidence.Refute("claim cost: the bounds do not show %v and less", number.Exact(high))
	}
}
