package certificate

import (
	"math"
	"math/big"
	"strings"

	"optratio/internal/evidence"
	"optratio/number"
)

// masses are those of a measure of losses at the nodes from, from+1, … of a grid, and that of the loss +∞; they are rounded up. Or they belong to an attack:
// those under P, rounded down, and those under Q, times e to the loss at their node, rounded up. What is dropped of these is not in the event.
type masses struct {
	from, moved int
	p, q        []float64
	inf         float64
}

// scaled is the distance of nodes so far apart.
func (n *nodes) scaled(stride int) *big.Rat {
	return new(big.Rat).Mul(n.grid, big.NewRat(int64(stride), 1))
}

// bound makes sure that the profile of a measure is at least V everywhere. It is piecewise linear in e^s, and V is convex in it: so that has to hold at the nodes,
// and the mass has to be 1 at least. The profile H_i at a node is (1-e^{-d}) times the mass above it, and e^{-d} H_{i+1}.
func (n *nodes) bound(m *masses, stride, row int, cost *evidence.Effort) {
	f := number.ExpRat(new(big.Rat).Neg(n.scaled(stride)), composePrecision)
	fall, _ := f.Float64()
	rest, _ := whole(1).Sub(f).Float64()
	less := 1 - float64(8*unit*float64(len(m.p)+8))
	above, profile := 0.0, 0.0
	for i := -m.from; i >= m.from; i-- {
		v := n.bounds[min(max(i, -i)*stride, len(n.bounds)-1)]
		if i < 0 {
			cost.Spend(stepsPerPower)
			e := number.ExpRat(new(big.Rat).Mul(n.scaled(stride), big.NewRat(int64(i), 1)), composePrecision)
			_, v = whole(1).Sub(e).Add(e.Mul(number.FromFloat(v, composePrecision))).Float64()
		}
		if float64((profile+m.inf)*less) < v {
			evidence.Refute("losses: after row %d the profile is below V at node %d", row, i)
		}
		above += m.p[i-m.from]
		profile = float64(rest*above) + float64(fall*profile)
	}
	if float64((above+m.inf)*less) < 1 {
		evidence.Refute("losses: after row %d the masses come to less than 1", row)
	}
}

// then composes two measures on a grid of distance d, of which the first one may be nil, of no selections. Masses at either end that come to less than small are dropped from an attack, and else moved upwards.
func (m *masses) then(o *masses, d *big.Rat, small float64, cost *evidence.Effort) *masses {
	if m == nil {
		return o
	}
	if len(m.p) > len(o.p) {
		m, o = o, m
	}
	size, few := len(m.p)+len(o.p)-1, float64(float64(len(m.p)+4)*unit)
	cost.Keep(16 * size)
	out := &masses{from: m.from + o.from, moved: m.moved + o.moved, p: make([]float64, size)}
	if m.q != nil {
		out.q = make([]float64, size)
	}
	for i, x := range m.p {
		cost.Spend(len(o.p) / 2)
		for j, y := range o.p {
			out.p[i+j] += float64(x * y)
		}
		if m.q != nil {
			for j, y := range o.q {
				out.q[i+j] += float64(m.q[i] * y)
			}
		}
	}
	for i := range out.p {
		if m.q != nil {
			out.p[i] *= 1 - few
			out.q[i] = float64(out.q[i]*(1+few)) + 0x1p-900 // for products below the least number
		} else {
			out.p[i] *= 1 + few
		}
	}
	low, lost := 0, 0.0
	for low < size-1 && lost+out.p[low] < small {
		lost += out.p[low]
		low++
	}
	high, gone := size, 0.0
	for high > low+1 && gone+out.p[high-1] < small {
		high--
		gone += out.p[high]
	}
	if m.q == nil {
		more := 1 + float64(float64(4*size+16)*unit)
		out.p[low] = float64((out.p[low] + lost) * more)
		out.inf = float64((float64(m.inf*o.sum())+float64(o.inf*m.sum())+gone)*more) + 0x1p-900
	} else {
		out.q = out.q[low:high]
	}
	out.p = out.p[low:high]
	out.from += low
	if m.q != nil {
		out.center(d)
	}
	return out
}

func (m *masses) sum() float64 {
	sum := m.inf
	for _, x := range m.p {
		sum += x
	}
	return sum
}

// center gives nodes new numbers, so that the masses of an attack under Q come to about 1.
func (m *masses) center(d *big.Rat) {
	sum := 0.0
	for _, x := range m.q {
		sum += x
	}
	by := math.Round(-math.Log(sum) / ratFloat(d))
	if !(math.Abs(by) < 1<<30) {
		return
	}
	m.from += int(by)
	m.moved += int(by)
	_, factor := number.ExpRat(new(big.Rat).Mul(d, big.NewRat(int64(by), 1)), composePrecision).Float64()
	for i := range m.q {
		m.q[i] = float64(m.q[i]*factor) * (1 + 2*unit)
	}
}

// times composes a measure with itself.
func (m *masses) times(count int, d *big.Rat, small float64, cost *evidence.Effort) (all *masses) {
	for ; count > 0; count /= 2 {
		if count%2 == 1 {
			all = all.then(m, d, small, cost)
		}
		if count > 1 {
			m = m.then(m, d, small, cost)
		}
	}
	return all
}

// profile returns bounds of the profile at the nodes from 0 on.
func (m *masses) profile(d *big.Rat) []float64 {
	n := max(1, m.from+len(m.p)-1)
	f := number.ExpRat(new(big.Rat).Neg(d), composePrecision)
	_, fall := f.Float64()
	_, rest := whole(1).Sub(f).Float64()
	out := make([]float64, n+1)
	out[n] = m.inf
	above, profile := 0.0, 0.0
	for i := n - 1; i >= 0; i-- {
		if j := i + 1 - m.from; j >= 0 && j < len(m.p) {
			above += m.p[j]
		}
		profile = float64(rest*above) + float64(fall*profile)
		out[i] = min(1, float64((profile+m.inf)*(1+float64(8*unit*float64(n+8))))+0x1p-900)
	}
	return out
}

// asked is the attack that asks the same at all selections of a step. Each outcome A or B counts for so many nodes of a grid; its event is that these
// come to more than a node.
type asked struct {
	grid    *big.Rat
	node    int
	queries []query
}

type query struct {
	x    *big.Rat
	a, b int
}

func (c *composed) readAttack(r *evidence.Reader) {
	const far = 1 << 20
	f := r.Fields("attack", 2)
	c.asked = &asked{grid: r.Positive("attack", f[0]), node: signed(r, "attack", f[1], 1<<40)}
	for _, st := range c.steps {
		f := r.Fields("query", 3)
		q := query{r.Value("query", f[0]), signed(r, "query", f[1], far), signed(r, "query", f[2], far)}
		for _, at := range []int{q.a, q.b, c.asked.node} {
			if math.Abs(float64(at)*ratFloat(c.asked.grid)) > 1<<27 {
				r.Failf("query: a node is too far away")
			}
		}
		if q.x.Sign() < 0 || q.x.Cmp(st.attack.eps) > 0 {
			r.Failf("query: x is not from 0 to ε")
		}
		c.asked.queries = append(c.asked.queries, q)
	}
}

// law bounds the probability of the event under P, and e^s times that under Q.
func (a *asked) law(steps []composedStep, s *big.Rat, small float64, cost *evidence.Effort) (p, q bits) {
	var all *masses
	for i, st := range steps {
		st.attack.prepare()
		cost.Spend(1 << 12)
		ask := a.queries[i]
		p, q, notP, notQ, stay := st.attack.pair(number.FromRat(ask.x, composePrecision))
		from := min(ask.a, ask.b, 0)
		size := max(ask.a, ask.b, 0) - from + 1
		cost.Keep(16 * size)
		m := &masses{from: from, p: make([]float64, size), q: make([]float64, size)}
		for _, o := range []struct {
			at   int
			p, q bits
		}{{ask.a, p, q}, {ask.b, notP, notQ}, {0, stay, stay}} {
			low, _ := o.p.Float64()
			_, high := o.q.Mul(a.power(o.at)).Float64()
			m.p[o.at-from] = float64((m.p[o.at-from] + low) * (1 - 2*unit))
			m.q[o.at-from] = float64((m.q[o.at-from] + high) * (1 + 2*unit))
		}
		all = all.then(m.times(st.count, a.grid, small, cost), a.grid, small, cost)
	}
	node := a.node + all.moved
	_, fall := a.power(-1).Float64()
	above, scaled := 0.0, 0.0
	for i := len(all.p) - 1; i >= 0 && all.from+i > node; i-- {
		above += all.p[i]
		scaled = float64((scaled + all.q[i]) * fall)
	}
	if !(above <= math.MaxFloat64 && scaled <= math.MaxFloat64) {
		return whole(0), whole(1)
	}
	node = max(node, all.from-1)
	few := float64(4 * unit * float64(len(all.p)+4))
	p, q = number.FromFloat(max(0, float64(above*(1-few))-0x1p-900), composePrecision), number.FromFloat(float64(scaled*(1+few))+0x1p-1000, composePrecision)
	return p, q.Mul(number.ExpRat(s, composePrecision)).Mul(a.power(-node))
}

// power is e to so many nodes.
func (a *asked) power(i int) bits {
	return number.ExpRat(new(big.Rat).Mul(a.grid, big.NewRat(int64(i), 1)), composePrecision)
}

// ranges decides whether equal queries have at most δ at s. Where x is in a range the losses are at most those of A at its lower end, and at least those of B at
// its upper end; of all f-divergences, that of two outcomes with these losses is the greatest, and those of the selections follow one after the other.
func (c *composed) ranges(s, delta *big.Rat) {
	st := c.steps[0]
	k := st.kind
	if k.outputs > 2 {
		evidence.Stop(evidence.ErrUndecided) // three outcomes have no binomial law
	}
	c.cost.Keep(128 * st.count)
	ways := []bits{whole(1)}
	for i := range st.count {
		c.cost.Spend(4)
		ways = append(ways, ways[i].Mul(whole(i+1)))
	}
	open := [][2]*big.Rat{{new(big.Rat), k.eps}}
	for len(open) > 0 {
		c.cost.Spend(1 << 14)
		r := open[len(open)-1]
		open = open[:len(open)-1]
		a, b := k.loss(number.FromRat(r[0], composePrecision)), k.loss(k.e.Sub(number.FromRat(r[1], composePrecision)))
		over, under := number.Exp(b).Sub(k.one), k.one.Sub(number.Exp(a.Neg()))
		p := over.Quo(over.Add(under))
		notP := k.one.Sub(p)
		if c.most(ways, p, notP, a, b, s) <= ratFloat(delta)*(1-4*unit) {
			continue
		}
		middle := new(big.Rat).Add(r[0], r[1])
		middle.SetFloat64(ratFloat(middle) / 2)
		if middle.Cmp(r[0]) <= 0 || middle.Cmp(r[1]) >= 0 {
			evidence.Refute("claim: some equal queries may have more than δ = %v at ε = %v in total", number.Exact(delta), number.Exact(s))
		}
		open = append(open, [2]*big.Rat{r[0], middle}, [2]*big.Rat{middle, r[1]})
	}
}

// most is the most that "at most l outcomes B" has, for every l: the best event is that of all outcomes whose losses come to s or more.
func (c *composed) most(ways []bits, p, notP, a, b bits, s *big.Rat) float64 {
	times := len(ways) - 1
	at := number.FromRat(s, composePrecision)
	low, high := whole(times).Mul(a).Sub(at).Quo(a.Add(b)).Float64()
	q, notQ := p.Mul(number.Exp(a.Neg())), notP.Mul(number.Exp(b))
	greatest := 0.0
	for l := max(0, int(math.Floor(low))); l <= min(times, int(math.Floor(high))); l++ {
		all := ways[times].Quo(ways[l]).Quo(ways[times-l])
		_, over := all.Mul(p.Pow(times - l)).Mul(notP.Pow(l)).Float64()
		under, _ := all.Mul(q.Pow(times - l)).Mul(notQ.Pow(l)).Mul(number.Exp(at)).Float64()
		_, up := p.Quo(notP).Float64()
		down, _ := q.Quo(notQ).Float64()
		greatest = max(greatest, c.tail(over, up, times, l, 1)-c.tail(under, down, times, l, -1))
	}
	return greatest
}

// tail sums the terms of a binomial law from l down to 0, rounded up (1) or down (-1).
func (c *composed) tail(term, quotient float64, times, l int, way float64) float64 {
	if term < 0x1p-900 { // below the least normal number nothing grows by its factor
		term = max(0, 0x1p-900*way)
	}
	sum := term
	n := 0
	for ; l > 0; l-- {
		factor := float64(quotient*float64(l)) / float64(times-l+1)
		term = float64(term * factor)
		sum += term
		n++
		if factor < 0.5 && term < 1e-20*sum { // what follows is less than the last term
			sum += float64(term * max(0, 2*way))
			break
		}
	}
	c.cost.Spend(n)
	return float64(sum*(1+float64(way*float64(6*n+8)*unit))) + float64(0x1p-1000*max(0, way))
}

// signed parses a whole number with or without a minus.
func signed(r *evidence.Reader, word, text string, most int) int {
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		return -r.Integer(word, rest, 1, most)
	}
	return r.Integer(word, text, 0, most)
}

func ratFloat(x *big.Rat) float64 { f, _ := x.Float64(); return f }
