package verify

import (
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/internal/inquiry"
	"optratio/number"
)

const renyiBits = 128

// divergences is the search for the greatest Rényi divergences of given orders, and for ρ.
type divergences struct {
	*run
	t       *tracker
	orders  []*big.Rat
	most    []number.Interval // of each order, over what was looked at
	rho     *supremum         // nil: not wanted
	partial bool              // pairs were not looked at, or have no upper end
}

// renyi encloses the Rényi divergences at the given orders, and the tight zero-concentrated ρ.
func (c *run) renyi() ([]*Result, error) {
	rdp := &Result{Name: RDP}
	d := &divergences{run: c, t: &tracker{run: c, res: rdp}}
	if slices.Contains(c.opts.Properties, RDP) {
		d.orders = c.orders()
		d.most = slices.Repeat([]number.Interval{number.FromInt(0, renyiBits)}, len(d.orders))
	}
	if err := d.t.finish(d.enclose()); err != nil {
		return nil, err
	}
	for i, alpha := range d.orders {
		rdp.Orders = append(rdp.Orders, [2]number.Number{number.Exact(alpha), d.upTo(d.most[i], d.most[i])})
	}
	zcdp := *rdp
	zcdp.Name, zcdp.Orders = ZCDP, nil
	if d.rho != nil {
		if err := d.concentrated(&zcdp); err != nil {
			return nil, err
		}
	}
	return []*Result{rdp, &zcdp}, nil
}

// upTo returns what lies between two intervals; +∞ where supports differ, and no upper end where not all is known.
func (d *divergences) upTo(least, most number.Interval) number.Number {
	switch {
	case d.t.witness != nil:
		return number.Infinity()
	case d.partial || !arith.IsFinite(most):
		return number.Between(number.Enclosed(least), number.Infinity())
	}
	return number.Enclosed(number.Hull(least, most))
}

// concentrated sets what is found of ρ, and the verdict on a target.
func (d *divergences) concentrated(res *Result) error {
	u, target := d.rho, d.opts.Targets[ZCDP]
	if target != nil {
		res.Target = number.Exact(target)
	}
	if res.Checked == 0 && u.witness == nil { // nothing was compared
		return nil
	}
	res.Rho = d.upTo(u.least, u.most)
	if res.Verdict == Violated { // it is infinite
		return nil
	}
	if u.witness != nil {
		alpha := new(big.Rat).SetFloat64(u.at)
		alpha.Add(alpha, big.NewRat(1, 1))
		a := number.FromRat(alpha, renyiBits)
		res.Orders, res.Attained = [][2]number.Number{{number.Exact(alpha), d.upTo(u.least.Mul(a), u.most.Mul(a))}}, u.witness()
	}
	if target == nil {
		return nil
	}
	most := target
	if d.opts.readings {
		most = plus(target, epsSlack)
	}
	lo, finite := res.Rho.Lower()
	hi, bounded := res.Rho.Upper()
	switch {
	case finite && lo.Cmp(target) > 0 && u.witness != nil:
		res.Verdict, res.Reason, res.Witness = Violated, "", u.witness()
	case res.Verdict == Undecided:
		return nil
	case !bounded || hi.Cmp(most) > 0:
		if err := d.implied(res, most); err != nil {
			return err
		}
	}
	d.readOff(res, "ρ", res.Rho, res.Target)
	return nil
}

// implied decides by the range where the enclosure of ρ does not: bounded range η implies η²/8-zCDP (Cesar & Rogers 2021).
func (c *run) implied(res *Result, most *big.Rat) error {
	ranged := *c
	ranged.opts.NoRange, ranged.opts.Targets = false, nil
	results, err := ranged.privacy()
	if err != nil {
		return err
	}
	eta, ok := results[0].Range.Upper()
	if ok {
		rho := new(big.Rat).Quo(new(big.Rat).Mul(eta, eta), big.NewRat(8, 1))
		lo, _ := res.Rho.Lower()
		if hi, bounded := res.Rho.Upper(); !bounded || rho.Cmp(hi) < 0 {
			res.Rho = number.Bounds(lo, rho)
		}
		ok = rho.Cmp(most) <= 0
	}
	switch {
	case ok:
	case c.opts.readings:
		res.Verdict, res.Reason = Undecided, openReading
	default:
		res.Verdict, res.Reason = Undecided, "the enclosure of ρ does not tell whether it is at most the target"
	}
	return nil
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

// enclose goes through the pairs of neighbors.
func (d *divergences) enclose() error {
	steps := len(d.orders)
	if slices.Contains(d.opts.Properties, ZCDP) {
		steps++
		if err := d.propose(); err != nil || d.opts.rho == leastRho {
			d.partial = true
			return err
		}
	}
	begin := func(inquiry.Vector) error {
		for range steps {
			if err := d.t.step(); err != nil {
				return err
			}
		}
		return nil
	}
	whole, err := d.eachPair(d.t, begin, d.contrast)
	if d.rho != nil && d.rho.open {
		d.t.undecide(openReading)
	}
	d.partial = d.partial || !whole || d.rho != nil && d.rho.open
	return err
}

// contrast takes a pair into account.
func (d *divergences) contrast(pair direction) error {
	if d.rho != nil && d.rho.over() {
		return errStop
	}
	if pair.apart() {
		d.t.fail(size(len(pair.q), pair.q, pair.to), func() *Witness { return d.onlyOne(pair) })
		return nil
	}
	forth, back := d.contrasts(pair)
	d.include(forth, pair)
	if !d.dom.Directed {
		d.include(back, pair.reversed())
	} else if d.rho != nil && len(back.alone) > 0 {
		d.partial = true
		d.t.undecide("of a pair that is looked at in one order, the second may have outcomes that the first never has: no upper bound on ρ is known then")
	}
	if d.rho == nil || len(forth.alone)+len(back.alone) > 0 { // what is alone decides the verdict
		return nil
	}
	witness := func() *Witness { return d.mostLikely(pair) }
	d.rho.raise(forth, witness)
	if !d.dom.Directed {
		d.rho.raise(back, witness)
	}
	return nil
}

// include takes a pair into account, in one direction.
func (d *divergences) include(x *contrast, w direction) {
	for _, r := range x.alone {
		if s, ok := w.a.P[r].Sign(d.t.precision()); !ok || s < 0 { // 0 in some readings
			d.partial = true
			d.t.undecide(openReading)
			continue
		}
		d.t.fail(size(r, w.q, w.to), func() *Witness { return d.pair(w.q, w.to, r, w.a.P[r], w.b.P[r]) })
	}
	if len(x.alone) > 0 {
		return
	}
	for i, alpha := range d.orders {
		y := x.order(alpha)
		if y.Hi().IsInf() {
			d.t.undecide(openReading)
		}
		d.most[i] = d.most[i].Max(y)
	}
}

// contrast is an ordered pair of distributions: probabilities of the outcomes that both have, ratios and their logarithms. Outcomes that share both are
// one entry.
type contrast struct {
	p, ratio, l []number.Interval
	least, most number.Interval // of l
	alone       []int           // the outcomes that the second distribution never has, but the first may
}

// contrasts returns the contrast of a pair, and that of the pair in the other order.
func (d *divergences) contrasts(w direction) (forth, back *contrast) {
	forth, back = &contrast{}, &contrast{}
	type pair struct{ p, o *inquiry.Value }
	place := map[pair]int{}
	for r, p := range w.a.P {
		o := w.b.P[r]
		pZero, oZero := p.Zero(d.t.precision()), o.Zero(d.t.precision())
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
		own, other := p.Enclose(renyiBits), o.Enclose(renyiBits)
		if i, ok := place[pair{p, o}]; ok {
			forth.p[i], back.p[i] = forth.p[i].Add(own), back.p[i].Add(other)
			continue
		}
		place[pair{p, o}] = len(forth.p)
		if p == o {
			same := number.FromInt(1, renyiBits)
			forth.add(own, same, number.FromInt(0, renyiBits))
			back.add(other, same, number.FromInt(0, renyiBits))
			continue
		}
		ratio := own.Quo(other)
		l := number.Log(ratio)
		forth.add(own, ratio, l)
		back.add(other, other.Quo(own), l.Neg())
	}
	return forth, back
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
	v := number.FromRat(s, renyiBits)
	if !s.IsInt() || s.Num().BitLen() > 20 {
		return x.cumulant(v).Quo(v)
	}
	sum := number.FromInt(0, renyiBits)
	for i, p := range x.p {
		sum = sum.Add(p.Mul(x.ratio[i].Pow(int(s.Num().Int64()))))
	}
	return number.Log(sum).Quo(v)
}

// mostLikely describes two neighbors at the candidate whose probabilities' ratio is the largest, as far as float64 numbers tell.
func (c *run) mostLikely(d direction) *Witness {
	at, most := 0, 0.0
	for r := range d.a.P {
		_, p := d.a.P[r].Bounds()
		_, o := d.b.P[r].Bounds()
		if ratio := max(p/o, o/p); ratio > most {
			at, most = r, ratio
		}
	}
	return c.pair(d.q, d.to, at, d.a.P[at], d.b.P[at])
}
