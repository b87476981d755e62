package verify

import (
	"math/big"
	"slices"

	"optratio/number"
)

// Order is the tight Rényi divergence of one order.
type Order struct {
	Alpha *big.Rat
	Eps   number.Number // max over neighbors of D_α(M(q) ‖ M(q'))
}

const renyiBits = 128

// divergence is D_α over all pairs of neighbors, enclosed; infinite where supports differ.
type divergence struct {
	alpha    *big.Rat
	x        number.Interval
	infinite bool
	partial  bool // there are neighbors that could not be compared, or readings without an upper end
}

func (d divergence) number() number.Number {
	if d.infinite {
		return number.Infinity()
	}
	x := number.Enclosed(d.x)
	if lo, ok := x.Lower(); ok && d.partial {
		return number.Bounds(lo, nil)
	}
	return x
}

// renyi encloses the Rényi divergences at the given orders, and the tight zero-concentrated ρ.
func (c *run) renyi() ([]*Result, error) {
	rdp, zcdp := &Result{Name: RDP}, &Result{Name: ZCDP}
	t := &tracker{run: c, res: rdp}
	infinite, attained, err := c.divergences(t, rdp, zcdp)
	if err := t.finish(err); err != nil {
		return nil, err
	}
	if infinite {
		rdp.Verdict, rdp.Witness = Violated, t.witness()
	}
	zcdp.Verdict, zcdp.Reason, zcdp.Witness, zcdp.Checked, zcdp.Stopped = rdp.Verdict, rdp.Reason, rdp.Witness, rdp.Checked, rdp.Stopped
	if c.opts.Rho != nil && slices.Contains(c.opts.Properties, ZCDP) {
		zcdp.Target = number.Exact(c.opts.Rho)
		lo, finite := zcdp.Rho.Lower()
		switch {
		case zcdp.Verdict == Undecided && finite && attained != nil && lo.Cmp(c.opts.Rho) > 0:
			zcdp.Verdict, zcdp.Reason, zcdp.Witness = Violated, "", attained()
		case zcdp.Verdict == Proved:
			if err := c.aim(zcdp, attained); err != nil {
				return nil, err
			}
		}
	}
	if zcdp.Checked == 0 && zcdp.Attained == nil { // nothing was compared
		zcdp.Rho = number.Number{}
	}
	return []*Result{rdp, zcdp}, nil
}

// divergences encloses what is wanted of the divergences at given orders and of ρ. It reports whether any is infinite, and where ρ is attained.
func (c *run) divergences(t *tracker, rdp, zcdp *Result) (infinite bool, attained func() *Witness, err error) {
	if slices.Contains(c.opts.Properties, RDP) {
		for _, alpha := range c.orders() {
			d, err := c.divergence(t, alpha)
			if err != nil {
				return infinite, nil, err
			}
			infinite = infinite || d.infinite
			rdp.Orders = append(rdp.Orders, Order{alpha, d.number()})
		}
	}
	if !slices.Contains(c.opts.Properties, ZCDP) {
		return infinite, nil, nil
	}
	rho, err := c.concentrated(t)
	zcdp.Rho = rho.number()
	if !rho.infinite && rho.witness != nil {
		zcdp.Orders, zcdp.Attained = []Order{rho.order()}, rho.witness()
	}
	return infinite || rho.infinite, rho.witness, err
}

// aim decides whether the enclosed ρ is at most the target. Where it does not tell, the range may: bounded range η implies η²/8-zCDP
// (Cesar & Rogers 2021).
func (c *run) aim(zcdp *Result, attained func() *Witness) error {
	t := &tracker{run: c, res: zcdp}
	lo, _ := zcdp.Rho.Lower()
	hi, bounded := zcdp.Rho.Upper()
	switch {
	case bounded && hi.Cmp(c.opts.Rho) <= 0:
	case bounded && c.opts.Readings && lo.Cmp(c.opts.Rho) <= 0 && hi.Cmp(plus(c.opts.Rho, epsSlack)) <= 0:
	case lo.Cmp(c.opts.Rho) > 0:
		t.fail(nil, attained)
	default:
		ranged := *c
		ranged.opts.NoRange, ranged.opts.Range = false, nil
		results, err := ranged.ratios()
		if err != nil {
			return err
		}
		implied := func(eta *big.Rat) *big.Rat {
			return new(big.Rat).Quo(new(big.Rat).Mul(eta, eta), big.NewRat(8, 1))
		}
		eta, ok := results[0].Range.Upper()
		if ok && (!bounded || implied(eta).Cmp(hi) < 0) {
			zcdp.Rho = number.Bounds(lo, implied(eta))
		}
		most := c.opts.Rho
		if c.opts.Readings {
			most = plus(most, epsSlack)
		}
		switch {
		case ok && implied(eta).Cmp(most) <= 0:
		case c.opts.Readings:
			t.undecide(openReading)
		default:
			t.undecide("the enclosure of ρ does not tell whether it is at most the target")
		}
	}
	if err := t.finish(nil); err != nil {
		return err
	}
	c.readOff(zcdp, "ρ", zcdp.Rho, zcdp.Target)
	return nil
}

// direction is a pair of vectors, with their answers, in the order in which it is looked at.
type direction struct {
	a, b  *Answer
	q, to Vector
}

// directions are the orders in which a pair of neighbors is looked at: both, unless the domain says which one counts.
func (c *run) directions(a, b *Answer, q, other Vector) []direction {
	if c.dom.Directed {
		return []direction{{a, b, q, other}}
	}
	return []direction{{a, b, q, other}, {b, a, other, q}}
}

func (c *run) orders() []*big.Rat {
	if c.opts.Orders != nil {
		return c.opts.Orders
	}
	var orders []*big.Rat
	for a := int64(2); a <= 32; a++ {
		orders = append(orders, big.NewRat(a, 1))
	}
	return orders
}

// divergence returns max D_α over the neighbors, for α >= 1; order 1 is the Kullback–Leibler divergence.
func (c *run) divergence(t *tracker, alpha *big.Rat) (divergence, error) {
	d := divergence{alpha: alpha, x: number.FromInt(0, renyiBits)}
	for q, other := range c.dom.Neighbors {
		if err := t.step(); err != nil {
			return d, err
		}
		a, b, ok, err := c.distributions(t, q, other)
		if err != nil {
			return d, err
		}
		if !ok {
			d.partial = true
			continue
		}
		d.partial = d.partial || a.misses() || b.misses()
		if a.Event != "" || b.Event != "" {
			d.partial = t.silent(a, b) || d.partial
			d.infinite = c.eventDiffers(t, a, b, q, other) || d.infinite
			continue
		}
		for _, w := range c.directions(a, b, q, other) {
			d.include(c, t, w)
		}
	}
	return d, nil
}

// include takes a pair into account, in one direction.
func (d *divergence) include(c *run, t *tracker, w direction) {
	x, at := c.between(t, w.a.P, w.b.P, d.alpha)
	if at >= 0 {
		d.infinite = true
		t.fail(size(at, w.q, w.to), func() *Witness { return c.pair(w.q, w.to, at, w.a.P[at], w.b.P[at]) })
		return
	}
	if x.Hi().IsInf() {
		t.undecide(openReading)
		d.partial = true
		if x.Lo().IsInf() {
			return
		}
		x = number.Point(x.Lo())
	}
	d.x = d.x.Max(x)
}

// eventDiffers reports whether one of the answers is an event and the other one is not, and records it.
func (c *run) eventDiffers(t *tracker, a, b *Answer, q, other Vector) bool {
	if (a.Event == "") == (b.Event == "") {
		return false
	}
	t.fail(size(len(q), q, other), func() *Witness { return c.onlyOne(a, q, other) })
	return true
}

// between returns
//
//	D_α(p ‖ o) = 1/(α-1) · ln Σ_r p_r (p_r/o_r)^{α-1},  D_1 = Σ_r p_r ln(p_r/o_r)
//
// (Rényi 1961), or the candidate for which it is infinite; -1 if there is none.
func (c *run) between(t *tracker, p, o []*Value, alpha *big.Rat) (x number.Interval, at int) {
	excess := new(big.Rat).Sub(alpha, big.NewRat(1, 1))
	sum := number.FromInt(0, renyiBits)
	for r := range p {
		if p[r].zero(t.precision()) {
			continue
		}
		if o[r].zero(t.precision()) {
			if s, ok := p[r].sign(t.precision()); ok && s > 0 {
				return sum, r
			}
			return number.Whole(renyiBits), -1 // 0 in some readings
		}
		own := p[r].Enclose(renyiBits)
		quotient := own.Quo(o[r].Enclose(renyiBits))
		var term number.Interval
		switch {
		case p[r] == o[r]:
			term = number.FromInt(int64(excess.Sign()), renyiBits)
		case excess.Sign() == 0:
			term = number.Log(quotient)
		case excess.IsInt() && excess.Num().BitLen() < 20:
			term = quotient.Pow(int(excess.Num().Int64()))
		default:
			term = number.Exp(number.FromRat(excess, renyiBits).Mul(number.Log(quotient)))
		}
		sum = sum.Add(own.Mul(term))
	}
	if excess.Sign() == 0 {
		return sum, -1
	}
	return number.Log(sum).Quo(number.FromRat(excess, renyiBits)), -1
}

// mostLikely describes two neighbors at the candidate whose probabilities' ratio is the largest, as far as float64 numbers tell.
func (c *run) mostLikely(q, other Vector, a, b *Answer) *Witness {
	at, most := 0, 0.0
	for r := range a.P {
		_, p := a.P[r].bounds()
		_, o := b.P[r].bounds()
		if ratio := max(p/o, o/p); ratio > most {
			at, most = r, ratio
		}
	}
	return c.pair(q, other, at, a.P[at], b.P[at])
}
