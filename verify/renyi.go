package verify

import (
	"cmp"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/internal/inquiry"
	"optratio/number"
)

// renyiBits is the precision at which divergences are compared with each other. Claims that it leaves open are compared at more.
const renyiBits = 128

// These are the orders of rdp, where it is about none.
const leastOrder, mostOrder = 2, 32

// ofOrder returns the Rényi divergence of an order, nil for ∞, as the property p is about it. It was shown nothing, and is to be finite, and at most
// what the property's target is.
func (c *run) ofOrder(p Property, alpha *big.Rat) *divergence {
	d := c.logarithm(p, orderSymbol(alpha), 1)
	d.finite, d.alpha = true, alpha
	limit := c.claim.Exponential
	if alpha != nil {
		d.bits, d.number, limit = renyiBits, coarse, inquiry.Rational
	}
	d.likely = func(int) int { return 1 }
	if most := c.opts.Targets[p]; most != nil && p != ZCDP {
		d.claimed, d.limit, d.rounded = number.Exact(most), limit(most), limit(plus(most, epsSlack))
		d.res.Target = d.claimed
	}
	return d
}

// coarse writes a value that is known as well as it is compared.
func coarse(x *inquiry.Value) (number.Number, *big.Rat) {
	if x == inquiry.Infinite {
		return number.Infinity(), nil
	}
	box := x.Enclose(renyiBits).Max(number.FromInt(0, renyiBits))
	if !arith.IsFinite(box) {
		return number.Between(number.Enclosed(number.Point(box.Lo())), number.Infinity()), nil
	}
	return number.Enclosed(box), nil
}

// renyi finds the Rényi divergences of the orders that are asked for, and the tight zero-concentrated ρ.
func (c *run) renyi() (results []*Result, err error) {
	var all []*divergence
	for _, p := range c.opts.Properties {
		if alpha, ok := inquiry.Order(p); ok {
			all = append(all, c.ofOrder(p, alpha))
		}
	}
	alone := len(all)
	if slices.Contains(c.opts.Properties, RDP) {
		for a := int64(leastOrder); a <= mostOrder; a++ {
			all = append(all, c.ofOrder(RDP, big.NewRat(a, 1)))
		}
	}
	orders := all
	if slices.Contains(c.opts.Properties, ZCDP) {
		d := c.ofOrder(ZCDP, nil)
		d.symbol, d.rho = "ρ", &supremum{}
		all = append(all, d)
		results, err = c.concentrated(d, all)
	} else {
		_, err = c.over(func(pair direction) error { return c.diverge(pair, all) }, all...)
	}
	if err != nil {
		return nil, err
	}
	return append(results, ofOrders(orders, alone)...), nil
}

// ofOrders returns the results of divergences of orders: one each of the first, and one of the others together.
func ofOrders(all []*divergence, alone int) (results []*Result) {
	for i, d := range all {
		d.res.Orders = [][2]number.Number{{orderNumber(d.alpha), d.known()}}
		if d.limit == nil { // there is nothing to be close to
			d.res.Attained = nil
		}
		if i <= alone {
			results = append(results, d.res)
			continue
		}
		rdp := results[alone]
		if rdp.Verdict == Proved {
			rdp.Verdict, rdp.Reason, rdp.Witness = d.res.Verdict, d.res.Reason, d.res.Witness
		}
		rdp.Checked, rdp.Total = rdp.Checked+d.res.Checked, rdp.Total+d.res.Total
		rdp.Orders = append(rdp.Orders, d.res.Orders...)
	}
	return results
}

// byOrder compares two properties by their orders.
func byOrder(p, q Property) int {
	x, _ := inquiry.Order(p)
	y, _ := inquiry.Order(q)
	return cmp.Or(cmp.Compare(orderNumber(x).Float64(), orderNumber(y).Float64()), cmp.Compare(p, q))
}

// orderSymbol names the divergence of an order, nil for ∞, and orderNumber is the order.
func orderSymbol(alpha *big.Rat) string {
	if alpha == nil {
		return "ε(∞)"
	}
	return "ε(" + inquiry.ScoreText(alpha) + ")"
}

func orderNumber(alpha *big.Rat) number.Number {
	if alpha == nil {
		return number.Infinity()
	}
	return number.Exact(alpha)
}

// known is what is said of the greatest, where nothing was compared too.
func (d *divergence) known() number.Number {
	switch {
	case d.tight.IsValid():
		return d.tight
	case d.whole:
		return number.Int(0)
	}
	return number.Between(number.Int(0), number.Infinity())
}

// diverge shows each divergence that of a pair.
func (c *run) diverge(pair direction, all []*divergence) error {
	if c.ctx.Err() != nil {
		all[0].undecide("it was stopped")
		return errStop
	}
	for _, d := range all {
		if err := d.step(); err != nil {
			return err
		}
	}
	if pair.apart() {
		for _, d := range all {
			d.consider(inquiry.Infinite, size(len(pair.q), pair.q, pair.to), func() *Witness { return c.onlyOne(pair) })
		}
		return nil
	}
	zero := all[0].precision()
	both := c.contrasts(pair, renyiBits, zero)
	for i, w := range c.directions(pair) {
		x := both[i]
		for _, d := range all {
			if d.rho != nil {
				d.concentrate(x, both[1-i], w)
			}
			if len(x.alone) > 0 {
				d.unmatched(x.alone, w)
			} else if d.rho == nil {
				d.include(x, w, func(prec uint) *contrast { return c.contrasts(pair, prec, zero)[i] })
			}
		}
	}
	return nil
}

// unmatched shows the ratios of outcomes that the second distribution of a pair never has, but the first may.
func (d *divergence) unmatched(alone []int, w direction) {
	for _, r := range alone {
		ratio := inquiry.Infinite
		if s, ok := w.a.P[r].Sign(d.precision()); !ok || s < 0 { // 0 in some readings
			ratio = inquiry.Between0
		}
		d.consider(ratio, size(r, w.q, w.to), func() *Witness { return d.run.lawsAt(w, r) })
	}
}

// include shows the divergence of an order of a pair in one direction. again is the contrast at another precision.
func (d *divergence) include(x *contrast, w direction, again func(prec uint) *contrast) {
	likeliest := func() *Witness { return d.run.mostLikely(w) }
	switch {
	case x.same && d.alpha != nil:
		d.consider(inquiry.Rational(new(big.Rat)), nil, likeliest)
	case d.alpha != nil:
		d.consider(inquiry.Enclosing(x.order(d.alpha), x.inexact, func(prec uint) number.Interval { return again(prec).order(d.alpha) }), size(len(w.q), w.q, w.to), likeliest)
	default:
		for r, p := range w.a.P {
			if o := w.b.P[r]; !o.Zero(d.precision()) {
				d.consider(inquiry.Quotient(p, o, false), size(r, w.q, w.to), func() *Witness { return d.run.lawsAt(w, r) })
			}
		}
	}
}

// contrast is an ordered pair of distributions: probabilities of the outcomes that both have, ratios and their logarithms. Outcomes that share both are
// one entry.
type contrast struct {
	p, ratio, l   []number.Interval
	least, most   number.Interval // of l
	alone         []int           // the outcomes that the second distribution never has, but the first may
	same, inexact bool            // the two distributions are equal; some numbers are known only to lie between bounds
	prec          uint
}

// contrasts returns the contrast of a pair, and that of the pair in the other order. What is 0 is known if so many bits tell.
func (c *run) contrasts(w direction, prec, zero uint) [2]*contrast {
	forth, back := &contrast{prec: prec, same: true}, &contrast{prec: prec, same: true}
	type pair struct{ p, o *inquiry.Value }
	place := map[pair]int{}
	for r, p := range w.a.P {
		o := w.b.P[r]
		pZero, oZero := p.Zero(zero), o.Zero(zero)
		switch {
		case pZero && oZero:
			continue
		case oZero:
			forth.alone = append(forth.alone, r)
			continue
		case pZero:
			back.alone = append(back.alone, r)
			continue
		}
		own, other := p.Enclose(prec), o.Enclose(prec)
		if i, ok := place[pair{p, o}]; ok {
			forth.p[i], back.p[i] = forth.p[i].Add(own), back.p[i].Add(other)
			continue
		}
		place[pair{p, o}] = len(forth.p)
		if p == o || p.Rat() != nil && o.Rat() != nil && p.Rat().Cmp(o.Rat()) == 0 {
			same := number.FromInt(1, prec)
			forth.add(own, same, number.FromInt(0, prec))
			back.add(other, same, number.FromInt(0, prec))
			continue
		}
		ratio := own.Quo(other)
		l := number.Log(ratio)
		forth.add(own, ratio, l)
		back.add(other, other.Quo(own), l.Neg())
		forth.same, back.same = false, false
		forth.inexact = forth.inexact || p.Inexact() || o.Inexact()
	}
	back.inexact = forth.inexact
	return [2]*contrast{forth, back}
}

func (x *contrast) add(p, ratio, l number.Interval) {
	if len(x.l) == 0 {
		x.least, x.most = l, l
	}
	x.p, x.ratio, x.l = append(x.p, p), append(x.ratio, ratio), append(x.l, l)
	x.least, x.most = x.least.Min(l), x.most.Max(l)
}

// order encloses
//
//	D_α(p ‖ o) = 1/(α-1) · ln Σ_r p_r (p_r/o_r)^{α-1},  D_1 = Σ_r p_r ln(p_r/o_r)
//
// (Rényi 1961).
func (x *contrast) order(alpha *big.Rat) number.Interval {
	s := new(big.Rat).Sub(alpha, big.NewRat(1, 1))
	if s.Sign() == 0 {
		return x.divergence()
	}
	v := number.FromRat(s, x.prec)
	if !s.IsInt() || s.Num().BitLen() > 20 {
		return x.cumulant(v).Quo(v)
	}
	sum := number.FromInt(0, x.prec)
	for i, p := range x.p {
		sum = sum.Add(p.Mul(x.ratio[i].Pow(int(s.Num().Int64()))))
	}
	return number.Log(sum).Quo(v)
}

// mostLikely describes two neighbors at the candidate whose probability at the first is the most times that at the second, as far as float64 numbers tell.
func (c *run) mostLikely(d direction) *Witness {
	at, most := 0, 0.0
	for r := range d.a.P {
		_, p := d.a.P[r].Floats()
		_, o := d.b.P[r].Floats()
		if ratio := p / o; ratio > most {
			at, most = r, ratio
		}
	}
	return c.lawsAt(d, at)
}

// lawsAt describes two neighbors at a candidate, with their distributions as they are compared.
func (c *run) lawsAt(w direction, r int) *Witness {
	at := c.pair(w.q, w.to, r, w.a.P[r], w.b.P[r])
	if at.PMFs[0] != nil {
		at.PMFs = [2][]number.Number{numbers(w.a.P), numbers(w.b.P)}
	}
	return at
}
