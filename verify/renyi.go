package verify

import (
	"errors"
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
	t        *tracker
	orders   []*big.Rat
	most     []number.Interval // of each order, over what was looked at
	rho      *supremum         // nil: not wanted
	infinite bool              // supports differ
	open     bool              // there are readings without an upper end
}

// renyi encloses the Rényi divergences at the given orders, and the tight zero-concentrated ρ.
func (c *run) renyi() ([]*Result, error) {
	rdp, zcdp := &Result{Name: RDP}, &Result{Name: ZCDP}
	d := &divergences{run: c, t: &tracker{run: c, res: rdp}}
	if slices.Contains(c.opts.Properties, RDP) {
		d.orders = c.orders()
		d.most = slices.Repeat([]number.Interval{number.FromInt(0, renyiBits)}, len(d.orders))
	}
	whole, err := d.enclose()
	if err := d.t.finish(err); err != nil {
		return nil, err
	}
	if d.infinite {
		rdp.Verdict, rdp.Witness = Violated, d.t.witness()
	}
	for i, alpha := range d.orders {
		rdp.Orders = append(rdp.Orders, [2]number.Number{number.Exact(alpha), upTo(d.most[i], d.most[i], d.infinite, whole && !d.open)})
	}
	zcdp.Verdict, zcdp.Reason, zcdp.Witness, zcdp.Checked, zcdp.Stopped = rdp.Verdict, rdp.Reason, rdp.Witness, rdp.Checked, rdp.Stopped
	if d.rho != nil {
		if err := d.concentrated(zcdp, whole && !d.open); err != nil {
			return nil, err
		}
	}
	return []*Result{rdp, zcdp}, nil
}

// upTo returns what lies between two intervals; +∞ where supports differ, and no upper end where not all is known.
func upTo(least, most number.Interval, infinite, known bool) number.Number {
	switch {
	case infinite:
		return number.Infinity()
	case !known:
		return number.Between(number.Enclosed(least), number.Infinity())
	}
	return number.Enclosed(number.Hull(least, most))
}

// concentrated sets what is found of ρ, and the verdict on a target.
func (d *divergences) concentrated(zcdp *Result, known bool) error {
	u, target := d.rho, d.opts.Targets[ZCDP]
	known = known && !u.open && !u.wider && arith.IsFinite(u.most)
	if zcdp.Checked > 0 || u.witness != nil { // otherwise nothing was compared
		zcdp.Rho = upTo(u.least, u.most, d.infinite, known)
	}
	if !d.infinite && u.witness != nil {
		alpha := new(big.Rat).SetFloat64(u.at)
		alpha.Add(alpha, big.NewRat(1, 1))
		a := number.FromRat(alpha, renyiBits)
		zcdp.Orders, zcdp.Attained = [][2]number.Number{{number.Exact(alpha), upTo(u.least.Mul(a), u.most.Mul(a), false, known)}}, u.witness()
	}
	if target == nil {
		return nil
	}
	if zcdp.Target = number.Exact(target); !zcdp.Rho.IsValid() {
		return nil
	}
	lo, finite := zcdp.Rho.Lower()
	switch {
	case zcdp.Verdict == Undecided && finite && u.witness != nil && lo.Cmp(target) > 0:
		zcdp.Verdict, zcdp.Reason, zcdp.Witness = Violated, "", u.witness()
	case zcdp.Verdict == Proved:
		return d.aim(zcdp, u.witness)
	}
	return nil
}

// aim decides whether the enclosed ρ is at most the target. Where it does not tell, the range may: bounded range η implies η²/8-zCDP
// (Cesar & Rogers 2021).
func (c *run) aim(zcdp *Result, attained func() *Witness) error {
	t := &tracker{run: c, res: zcdp}
	lo, _ := zcdp.Rho.Lower()
	hi, bounded := zcdp.Rho.Upper()
	switch {
	case bounded && hi.Cmp(c.opts.Targets[ZCDP]) <= 0:
	case bounded && c.opts.readings && lo.Cmp(c.opts.Targets[ZCDP]) <= 0 && hi.Cmp(plus(c.opts.Targets[ZCDP], epsSlack)) <= 0:
	case lo.Cmp(c.opts.Targets[ZCDP]) > 0:
		t.fail(nil, attained)
	default:
		ranged := *c
		ranged.opts.NoRange, ranged.opts.Targets = false, nil
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
		most := c.opts.Targets[ZCDP]
		if c.opts.readings {
			most = plus(most, epsSlack)
		}
		switch {
		case ok && implied(eta).Cmp(most) <= 0:
		case c.opts.readings:
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
func (d *divergences) enclose() (whole bool, err error) {
	if slices.Contains(d.opts.Properties, ZCDP) {
		if err := d.propose(); err != nil || d.opts.rho == leastRho {
			return false, err
		}
	}
	begin := func(inquiry.Vector) error {
		for range d.orders {
			if err := d.t.step(); err != nil {
				return err
			}
		}
		if d.rho == nil {
			return nil
		}
		if d.rho.over() {
			return errEnough
		}
		return d.t.step()
	}
	whole, err = d.eachPair(d.t, begin, d.contrast)
	if errors.Is(err, errEnough) {
		err = nil
	}
	if d.open || d.rho != nil && d.rho.open {
		d.t.undecide(openReading)
	}
	return whole, err
}

// contrast takes a pair into account.
func (d *divergences) contrast(pair direction) error {
	if pair.apart() {
		d.infinite = true
		d.t.fail(size(len(pair.q), pair.q, pair.to), func() *Witness { return d.onlyOne(pair) })
		return nil
	}
	forth, back := d.contrasts(pair)
	d.include(forth, pair)
	if !d.dom.Directed {
		d.include(back, pair.reversed())
	} else if d.rho != nil && len(back.alone) > 0 {
		d.rho.wider = true
		d.t.undecide("of a pair that is looked at in one order, the second may have outcomes that the first never has: no upper bound on ρ is known then")
	}
	if d.rho == nil || len(forth.alone)+len(back.alone) > 0 || d.open || d.rho.open { // what is alone or open decides the verdict
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
		if s, ok := w.a.P[r].Sign(d.t.precision()); !ok || s < 0 {
			d.open = true // 0 in some readings
			continue
		}
		d.infinite = true
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
