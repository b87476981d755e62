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
//
// Of many selections a file has tables of blocks, and measures of losses whose profiles bound those of blocks, and so, composed, that of all (composemasses.go).
type composed struct {
	evidence.Setting
	steps  []composedStep
	kinds  []*kind  // of the selections, from the last one; where there are no blocks
	delta  *big.Rat // nil where it is claimed
	total  *big.Rat // nil where it is claimed
	equal  bool     // the adversary asks the same at all selections
	grid   *big.Rat
	stride int // of the nodes that measures have; 0 where there are no blocks
	rows   []composedRow
	events []map[int][2]bits // of t selections, from t = 0: bounds of their probabilities under P, and under Q
	last   int               // the event of all selections
	asked  *asked            // the attack, where it asks the same at all selections of a step
	cost   *evidence.Effort
}

// composedStep is a selection that is made so many times, at attack with the ε that is refuted.
type composedStep struct {
	kind, attack *kind
	count        int
}

// composedRow has bounds of V of one selection more than the row before, or of the first one, and a measure for so many blocks of these.
type composedRow struct {
	kind   *kind
	first  bool
	bounds []float64
	blocks int
	masses masses
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

// mostComposed bounds the selections of a table, mostSelected all of them, and mostEps their ε.
const mostComposed, mostSelected, mostEps = 1 << 12, 1 << 20, 128

func whole(i int) bits { return number.FromInt(int64(i), composePrecision) }

func (c *composed) Read(r *evidence.Reader, o evidence.Options) {
	r.Long = evidence.MaxSectionLine
	c.cost = r.Cost
	known := map[string]*kind{}
	for r.Is("selections") {
		f := r.Fields("selections", 3)
		count := r.Integer("selections", f[1], 1, mostSelected)
		name, outputs, _ := strings.Cut(f[0], ":")
		k := &kind{name: name, eps: c.short(r, "selections", f[2]), outputs: 2}
		if name == "krr" {
			k.outputs = int64(r.Integer("selections", outputs, 2, 1<<30))
		} else if outputs != "" || !slices.Contains([]string{"em", "pf", "geo"}, name) {
			r.Failf("selections: %s is none of em, pf, geo and krr:OUTPUTS", evidence.Quote(f[0]))
		}
		if k.eps.Cmp(big.NewRat(mostEps, 1)) > 0 {
			r.Failf("selections: ε is more than %d", mostEps)
		}
		key := f[0] + " " + f[2]
		if known[key] == nil {
			known[key] = k
		}
		c.cost.Keep(256)
		c.steps = append(c.steps, composedStep{known[key], known[key], count})
	}
	if len(c.steps) == 0 {
		r.Take("selections") // says that it is missing
	}
	if r.Is("delta") {
		c.delta = r.Positive("delta", r.Take("delta"))
	}
	if c.delta == nil || r.Is("total") {
		c.total = r.Number("total")
	}
	if r.Is("adversary") {
		c.equal = r.Word("adversary", "equal") != ""
		if len(c.steps) != 1 {
			r.Failf("adversary: equal queries are those of one line of selections")
		}
	} else {
		c.grid = c.short(r, "grid", r.Take("grid"))
		if r.Is("stride") {
			c.stride = r.Whole("stride", 1, 1<<20)
		}
	}
	c.claim(r)
	switch {
	case c.stride > 0:
		c.readBlocks(r)
	case !c.equal:
		c.readWhole(r)
	}
	if r.Is("attack") {
		c.readAttack(r)
		return
	}
	c.events = make([]map[int][2]bits, len(c.kinds)+1)
	for _, k := range c.kinds {
		k.prepare()
	}
	var order []int
	for r.Is("event") {
		f := r.Fields("event", 5)
		t, at := r.Integer("event", f[0], 1, len(c.kinds)), r.Integer("event", f[1], 0, 1<<30)
		r.Ordered(&order, []int{t, at}, "event: not after that of the line before")
		c.event(r, t, at, f[2:])
	}
}

// short reads a number that is worked with again and again.
func (c *composed) short(r *evidence.Reader, word, text string) *big.Rat {
	x := r.Positive(word, text)
	if max(x.Num().BitLen(), x.Denom().BitLen()) > evidence.MaxEpsilonBits {
		r.Failf("%s: a number of more than %d bits", word, evidence.MaxEpsilonBits)
	}
	return x
}

// claim reads what is claimed: ε in total, or δ; or with both given the largest ε of a selection, where the tables are for the lower end and the attack is for the
// upper one, since the cost does not fall in ε.
func (c *composed) claim(r *evidence.Reader) {
	name := "cost"
	if c.delta != nil && c.total != nil {
		name = "parameter"
	}
	c.Claim(r, name)
	low, high := c.Claims[0].Value.Ends()
	if low == nil || low.Sign() < 0 || high == nil {
		r.Failf("claim %s: not two numbers >= 0", name)
	}
	if name == "cost" {
		return
	}
	st := &c.steps[0]
	if len(c.steps) != 1 || low.Cmp(st.kind.eps) > 0 || high.Sign() == 0 || high.Cmp(big.NewRat(mostEps, 1)) > 0 {
		r.Failf("claim parameter: not of one line of selections, whose ε is not below the lower end")
	}
	attack := *st.kind
	attack.eps = high
	st.attack = &attack
}

// readWhole reads bounds of V_1, V_2, … of all selections.
func (c *composed) readWhole(r *evidence.Reader) {
	for _, st := range slices.Backward(c.steps) {
		if st.count > mostComposed-len(c.kinds) {
			r.Failf("selections: more than %d, and no line stride", mostComposed)
		}
		for range st.count {
			c.kinds = append(c.kinds, st.attack)
			c.row(r, composedRow{kind: st.kind, first: len(c.rows) == 0})
		}
	}
}

// readBlocks reads bounds of V of 1, 2, … selections of each line, until the blocks that are measured come to as many as the line has.
func (c *composed) readBlocks(r *evidence.Reader) {
	for _, st := range c.steps {
		for covered, t := 0, 1; covered < st.count; t++ {
			if t > mostComposed {
				r.Failf("losses: blocks have at most %d selections", mostComposed)
			}
			row := c.row(r, composedRow{kind: st.kind, first: t == 1})
			if !r.Is("losses") {
				continue
			}
			f := r.Fields("losses", 0)
			row.blocks = r.Integer("losses", f[0], 1, (st.count-covered)/t)
			covered += row.blocks * t
			var values []float64
			for _, text := range f[1:] {
				values = append(values, c.float(r, "losses", r.Value("losses", text), 2))
			}
			if len(values)%2 != 0 || len(values) < 4 {
				r.Failf("losses: not the mass at infinity, and those of an odd number of nodes, at least 3")
			}
			c.cost.Keep(16 * len(values))
			row.masses = masses{from: -(len(values) / 2) + 1, p: values[1:], inf: values[0]}
		}
	}
	for _, st := range slices.Backward(c.steps) { // events may be those of the last selections alone
		for range min(st.count, mostComposed-len(c.kinds)) {
			c.kinds = append(c.kinds, st.attack)
		}
	}
}

func (c *composed) row(r *evidence.Reader, row composedRow) *composedRow {
	values := r.Numbers("bound", 0)
	c.cost.Keep(16 * len(values))
	for _, x := range values {
		row.bounds = append(row.bounds, c.float(r, "bound", x, 1))
	}
	if len(values) < 2 {
		r.Failf("bound: fewer than two nodes")
	}
	c.rows = append(c.rows, row)
	return &c.rows[len(c.rows)-1]
}

func (c *composed) float(r *evidence.Reader, word string, x *big.Rat, most float64) float64 {
	v, exact := x.Float64()
	if !exact || v < 0 || v > most {
		r.Failf("%s: not a floating-point number from 0 to %v", word, most)
	}
	return v
}

// event works out the probabilities of an event: of the selection, whose query is x, and the event of the rest of them for either outcome. Nodes that have no
// line have the empty event, negative ones the complement with P and Q exchanged.
func (c *composed) event(r *evidence.Reader, t, at int, f []string) {
	k := c.kinds[t-1]
	x := r.Value("event", f[0])
	if x.Sign() < 0 || x.Cmp(k.eps) > 0 {
		r.Failf("event: x is not from 0 to ε")
	}
	c.cost.Spend(1 << 12)
	a, b := c.rest(t-1, signed(r, "event", f[1], 1<<30)), c.rest(t-1, signed(r, "event", f[2], 1<<30))
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
	if len(c.Claims) == 0 {
		return false
	}
	var selections, rest []string
	for _, st := range c.steps {
		name := st.kind.name
		if name == "krr" {
			name += fmt.Sprintf(":%d", st.kind.outputs)
		}
		selections = append(selections, fmt.Sprintf("%d by %s at ε = %s", st.count, name, st.kind.eps.RatString()))
	}
	claimed := "the largest ε of a selection"
	if c.delta != nil {
		rest = append(rest, "δ = "+c.delta.RatString())
	} else {
		claimed = "δ"
	}
	if c.total != nil {
		rest = append(rest, "ε = "+c.total.RatString()+" in total")
	} else {
		claimed = "ε in total"
	}
	p.Proof = "recursion"
	if c.stride > 0 {
		p.Proof = "blocks"
	} else if c.equal {
		p.Proof = "ranges of the query"
		rest = append(rest, "the same queries each time")
	}
	p.About = strings.Join(selections, ", ") + ", " + strings.Join(append(rest, "claimed is "+claimed), "; ")
	return true
}

func (c *composed) Decide(o evidence.Options) {
	c.attack()
	sum := new(big.Rat)
	for _, st := range c.steps {
		if st.kind.prepare(); st.kind.stretches == nil && !c.equal {
			st.kind.divide(c.grid, c.cost)
		}
		c.cost.Sum(sum, st.kind.eps, big.NewRat(int64(st.count), 1))
	}
	s, delta := c.ends(false)
	switch {
	case s.Cmp(sum) >= 0, delta.Cmp(big.NewRat(1, 1)) >= 0: // V is 0 there, and never above 1
	case c.equal:
		c.ranges(s, delta)
	default:
		c.tables(s, delta)
	}
	c.Claims[0].Follows = true
}

// ends are ε in total and δ of the lower or the upper end that is claimed.
func (c *composed) ends(lower bool) (s, delta *big.Rat) {
	low, high := c.Claims[0].Value.Ends()
	end := high
	if lower {
		end = low
	}
	switch {
	case c.delta == nil:
		return c.total, end
	case c.total == nil:
		return end, c.delta
	}
	return c.total, c.delta
}

// tables decides the upper end by the bounds of the file.
func (c *composed) tables(s, delta *big.Rat) {
	t := newNodes(c.grid, c.steps, c.cost)
	sum := new(big.Rat)
	var all *masses
	selections := 0
	for i, row := range c.rows {
		if row.first {
			t.bounds = []float64{0, 0}
			sum.SetInt64(0)
		}
		c.cost.Sum(sum, row.kind.eps)
		t.advance(row.kind, row.bounds, sum, i+1, c.cost)
		if row.blocks == 0 {
			continue
		}
		selections += row.blocks
		t.bound(&row.masses, c.stride, i+1, c.cost)
		small := ratFloat(delta) * 1e-10 / float64(mostSelected)
		d := t.scaled(c.stride)
		all = all.then(row.masses.times(row.blocks, d, small, c.cost), d, small, c.cost)
	}
	if all != nil {
		t.bounds, t.grid = all.profile(t.scaled(c.stride)), t.scaled(c.stride)
	}
	t.upper(s, delta)
}

// attack decides the lower end, or the upper one of the largest ε of a selection.
func (c *composed) attack() {
	s, delta := c.ends(true)
	low, high := c.Claims[0].Value.Ends()
	shown := low
	if c.delta != nil && c.total != nil {
		shown = high
	} else if low.Sign() == 0 {
		return
	}
	var p, q bits // q e^s is what is lost
	if c.asked != nil {
		p, q = c.asked.law(c.steps, s, ratFloat(delta)*1e-14, c.cost)
	} else {
		e := c.rest(len(c.kinds), c.last)
		p, q = e[0], e[1].Mul(number.ExpRat(s, composePrecision))
	}
	if p.Sub(q).Lo().Cmp(number.FromRat(delta, composePrecision).Hi()) < 0 {
		evidence.Refute("claim %s: the attack does not show %v", c.Claims[0].On, number.Exact(shown))
	}
}

// upper decides whether V is at most δ at s.
func (n *nodes) upper(s, delta *big.Rat) {
	i := len(n.bounds) - 1
	if q := new(big.Rat).Quo(s, n.grid); q.Cmp(big.NewRat(int64(i), 1)) < 0 {
		i = int(new(big.Int).Quo(q.Num(), q.Denom()).Int64())
	}
	at := func(i int) bits { return number.FromFloat(n.bounds[min(i, len(n.bounds)-1)], composePrecision) }
	over := new(big.Rat).Sub(s, new(big.Rat).Mul(n.grid, big.NewRat(int64(i), 1)))
	value := at(i)
	if i+1 < len(n.bounds) && over.Sign() > 0 {
		share := number.ExpRat(over, composePrecision).Sub(whole(1)).Quo(number.ExpRat(n.grid, composePrecision).Sub(whole(1)))
		value = value.Sub(value.Sub(at(i + 1)).Mul(share))
	}
	if value.Hi().Cmp(number.FromRat(delta, composePrecision).Lo()) > 0 {
		evidence.Refute("claim: the bounds do not show δ = %v at ε = %v in total", number.Exact(delta), number.Exact(s))
	}
}
