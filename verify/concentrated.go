package verify

import (
	"cmp"
	"math"
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/inquiry"
	"optratio/number"
)

// rhoGap is the relative width to which ρ is enclosed where probabilities are known well enough.
const rhoGap = 1.0 / (1 << 30)

// supremum encloses ρ = sup of D_α(M(q) ‖ M(q'))/α over ordered pairs of neighbors and orders α > 1.
//
// The proof that no pair and order exceeds the upper end uses, for one ordered pair P, Q with l = ln(P/Q) and s = α-1 > 0, the cumulant
// generating function
//
//	g(s) = ln Σ_r p_r e^{s·l_r},   D_α = g(s)/s,   D_α/α = g(s)/(s(1+s)),
//
// which is convex with g(0) = g(-1) = 0. D_α/α is then the divided difference of g at -1, 0 and s, a mean of g”/2. As g”(s) is the variance of a number in
// [min l, max l], it is at most (max l - min l)²/4. From these follow three bounds:
//   - D_α/α <= (max l - min l)²/8 for all α (Cesar & Rogers 2021);
//   - D_α <= D_1 + s(max l - min l)²/8, which settles orders close to 1;
//   - on [a, b], g is at most its chord, which settles all other orders up to s = max l/ρ, beyond which D_α/α <= max l/(1+s) is at most ρ.
type supremum struct {
	least, most number.Interval // points: ρ is in between
	at          float64         // the s behind least; 0 for the limit α → 1
	ceiling     bool            // most is a target, which least does not raise: above it, the search is over
	open        bool            // there are readings of a pair without an upper end
	witness     func() *Witness
}

// raiseLeast takes D_α/α at one pair and order into account.
func (u *supremum) raiseLeast(x number.Interval, s float64, witness func() *Witness) {
	if x.Lo().Cmp(u.least.Lo()) <= 0 && u.witness != nil {
		return
	}
	u.witness, u.at = witness, s
	if x.Lo().Sign() <= 0 {
		return
	}
	u.least = number.Point(x.Lo())
	if !u.ceiling {
		u.raiseMost(u.least.Mul(number.FromFloat(1+rhoGap, renyiBits)))
	}
}

// over reports whether the target is known to be exceeded.
func (u *supremum) over() bool { return u.ceiling && u.least.Lo().Cmp(u.most.Hi()) > 0 }

// raiseMost raises the upper end to x, unless the search is over.
func (u *supremum) raiseMost(x number.Interval) {
	if u.over() || x.Hi().Cmp(u.most.Hi()) <= 0 {
		return
	}
	if x.Hi().IsInf() { // nothing is known
		u.open = true
		return
	}
	u.most = number.Point(x.Hi())
}

// cumulant encloses g(s).
func (x *contrast) cumulant(s number.Interval) number.Interval {
	sum := number.FromInt(0, x.prec)
	for i, p := range x.p {
		sum = sum.Add(p.Mul(number.Exp(s.Mul(x.l[i]))))
	}
	return number.Log(sum)
}

// divergence encloses D_1.
func (x *contrast) divergence() number.Interval {
	sum := number.FromInt(0, x.prec)
	for i, p := range x.p {
		sum = sum.Add(p.Mul(x.l[i]))
	}
	return sum
}

// per encloses D_α/α at s.
func (x *contrast) per(s float64) number.Interval {
	if s == 0 {
		return x.divergence()
	}
	v := number.FromFloat(s, renyiBits)
	return x.cumulant(v).Quo(v.Add(v.Pow(2)))
}

// raise makes the upper end hold for all orders of a pair of distributions, and the lower one for those that are computed on the way.
func (u *supremum) raise(x *contrast, witness func() *Witness) {
	o := &ordered{supremum: u, contrast: x, witness: witness, flat: x.most.Sub(x.least).Pow(2).Quo(number.FromInt(8, renyiBits))}
	if o.flat.Hi().Cmp(u.most.Hi()) <= 0 || x.most.Hi().Sign() <= 0 {
		return
	}
	o.kl = x.divergence()
	u.raiseLeast(o.kl, 0, witness)
	if u.most.Hi().Sign() <= 0 || !arith.IsFinite(o.flat) { // D_1 is not told from 0
		u.raiseMost(o.flat)
		return
	}
	_, end := x.most.Quo(u.most).Float64()
	if end = inquiry.Up(end - 1); end <= 0 {
		return // D_∞ <= ρ
	}
	if !arith.IsFinite(x.cumulant(number.FromFloat(end, renyiBits))) { // ρ is next to 0 so far, and the orders that count are too large to be enclosed
		u.raiseMost(o.flat)
		return
	}
	o.settle(part{b: end, gb: o.at(end)})
}

// ordered is the search for ρ at one ordered pair.
type ordered struct {
	*supremum
	*contrast
	kl, flat number.Interval // D_1 and (max l - min l)²/8
	witness  func() *Witness
}

// near encloses D_1 + s·flat, which D_α does not exceed.
func (o *ordered) near(s number.Interval) number.Interval { return o.kl.Add(s.Mul(o.flat)) }

// at takes D_α/α at s into account and returns the upper end of g(s).
func (o *ordered) at(s float64) number.Interval {
	v := number.FromFloat(s, renyiBits)
	g, most := o.cumulant(v), o.near(v)
	per := g.Quo(v.Add(v.Pow(2)))
	o.raiseLeast(per, s, o.witness)
	top := per.Min(most.Quo(v.Add(number.FromInt(1, renyiBits))))
	if per.RelWidth() > rhoGap { // where probabilities are not known well, this lets the subdivision end
		top = top.Mul(number.FromFloat(1+rhoGap, renyiBits))
	}
	o.raiseMost(top)
	return number.Point(g.Min(v.Mul(most)).Hi())
}

// part is an interval [a, b] of s with upper ends of g at both.
type part struct {
	a, b   float64
	ga, gb number.Interval
}

// settle bounds D_α/α on a part, halving it where that helps.
func (o *ordered) settle(p part) {
	if o.over() || o.below(p) {
		return
	}
	a, b := number.FromFloat(p.a, renyiBits), number.FromFloat(p.b, renyiBits)
	middle := p.a + float64((p.b-p.a)/2)
	switch {
	case p.a == 0 && p.b < 0x1p-50:
		o.raiseMost(o.near(b))
		return
	case p.a > 0 && (p.b-p.a < p.b*0x1p-30 || middle <= p.a || middle >= p.b):
		// D_α does not decrease in α (van Erven & Harremoës 2014, Thm. 3)
		o.raiseMost(p.gb.Quo(b.Mul(a.Add(number.FromInt(1, renyiBits)))))
		return
	}
	g := o.at(middle)
	o.settle(part{middle, p.b, g, p.gb})
	o.settle(part{p.a, middle, p.ga, g})
}

// below reports whether D_α/α is at most the upper end ρ on the part. From s = 0 on, it is where D_1 + s·flat is at most ρ(1+s) at the end, as flat > ρ.
// Elsewhere the chord of g is to be at most ρ·s(1+s): the difference is a convex quadratic, which has to be nonnegative at the ends of the part and has to have
// its vertex outside or no zeros.
func (o *ordered) below(p part) bool {
	a, b := number.FromFloat(p.a, renyiBits), number.FromFloat(p.b, renyiBits)
	if p.a == 0 {
		return o.near(b).Hi().Cmp(o.supremum.most.Mul(b.Add(number.FromInt(1, renyiBits))).Lo()) <= 0
	}
	for _, end := range [][2]number.Interval{{a, p.ga}, {b, p.gb}} {
		if end[1].Hi().Cmp(o.supremum.most.Mul(end[0].Add(end[0].Pow(2))).Lo()) > 0 {
			return false
		}
	}
	// ρs² + (ρ-m)s + k, where the chord is m·s - k
	m := p.gb.Sub(p.ga).Quo(b.Sub(a))
	k := m.Mul(a).Sub(p.ga)
	two := number.FromInt(2, renyiBits)
	slope := o.supremum.most.Sub(m)
	if s, ok := slope.Add(two.Mul(o.supremum.most).Mul(a)).Sign(); ok && s >= 0 {
		return true
	}
	if s, ok := slope.Add(two.Mul(o.supremum.most).Mul(b)).Sign(); ok && s <= 0 {
		return true
	}
	return slope.Pow(2).Hi().Cmp(two.Pow(2).Mul(o.supremum.most).Mul(k).Lo()) <= 0
}

// concentrate takes a pair into account, in the direction w, whose contrast is x and in the other one back.
func (d *divergence) concentrate(x, back *contrast, w direction) {
	switch {
	case len(x.alone) > 0: // which decides the verdict
	case len(back.alone) == 0:
		if d.rho.raise(x, func() *Witness { return d.run.mostLikely(w) }); d.rho.open {
			d.undecide(openReading)
		}
	case d.run.dom.Directed:
		d.rho.open = true
		d.undecide("of a pair that is looked at in one order, the second may have outcomes that the first never has: no upper bound on ρ is known then")
	}
}

// concentrated finds ρ, as d, and the verdict on a target, and the others of all on the way.
func (c *run) concentrated(d *divergence, all []*divergence) ([]*Result, error) {
	u, target := d.rho, c.opts.Targets[ZCDP]
	reason := c.propose(d)
	var err error
	if reason == nil && c.opts.rho != leastRho {
		_, err = c.over(func(pair direction) error {
			if u.over() {
				return errStop
			}
			return c.diverge(pair, all)
		}, all...)
	} else {
		for _, d := range all {
			err = cmp.Or(err, d.finish(reason))
		}
	}
	res := d.res
	if target != nil {
		res.Target = number.Exact(target)
	}
	if res.Attained = nil; err != nil || res.Checked == 0 && u.witness == nil { // nothing was compared
		return []*Result{res}, err
	}
	res.Rho = d.upTo(u.least, u.most)
	if res.Verdict == Violated {
		return []*Result{res}, nil
	}
	if u.witness != nil {
		alpha := new(big.Rat).SetFloat64(u.at)
		alpha.Add(alpha, one)
		a := number.FromRat(alpha, renyiBits)
		res.Orders, res.Attained = [][2]number.Number{{number.Exact(alpha), d.upTo(u.least.Mul(a), u.most.Mul(a))}}, u.witness()
	}
	if target != nil {
		err = c.atMost(res, target)
	}
	return []*Result{res}, err
}

// upTo returns what lies between two intervals; +∞ where supports differ, and no upper end where not all is known.
func (d *divergence) upTo(least, most number.Interval) number.Number {
	switch {
	case d.tracker.witness != nil:
		return number.Infinity()
	case !d.whole || d.rho.open || d.best != nil || !arith.IsFinite(most):
		return number.Between(number.Enclosed(least), number.Infinity())
	}
	return number.Enclosed(number.Hull(least, most))
}

// atMost sets the verdict on a target of ρ.
func (c *run) atMost(res *Result, target *big.Rat) error {
	most := target
	if c.opts.readings {
		most = plus(target, epsSlack)
	}
	lo, finite := res.Rho.Lower()
	hi, bounded := res.Rho.Upper()
	switch {
	case finite && lo.Cmp(target) > 0 && res.Attained != nil:
		res.Verdict, res.Reason, res.Witness = Violated, "", res.Attained
	case res.Verdict == Undecided:
		return nil
	case !bounded || hi.Cmp(most) > 0:
		if err := c.implied(res, most); err != nil {
			return err
		}
	}
	c.readOff(res, "ρ", res.Rho, res.Target)
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

// propose begins the search for ρ: it looks for a pair and an order in floating point, which give a lower end; every pair is then shown not to exceed the upper
// one.
func (c *run) propose(d *divergence) error {
	zero := number.FromInt(0, renyiBits)
	d.rho.least, d.rho.most = zero, zero
	var best direction
	most, at := 0.0, 0.0
	_, err := c.eachPair(&d.tracker, func(inquiry.Vector) error { return c.ctx.Err() }, func(pair direction) error {
		if pair.apart() {
			return nil
		}
		for _, w := range c.directions(pair) {
			if s, x := highest(w.a.P, w.b.P, most); x > most && !math.IsInf(x, 0) {
				best, most, at = w, x, s
			}
		}
		return nil
	})
	if err != nil && c.ctx.Err() == nil { // where the context has ended, the next step says so
		return err
	}
	if most > 0 {
		both := c.contrasts(best, renyiBits, d.precision())
		if x := both[0].per(at); len(both[0].alone)+len(both[1].alone) == 0 && x.Lo().Sign() > 0 {
			d.rho.raiseLeast(x, at, func() *Witness { return c.mostLikely(best) })
		}
	}
	if c.opts.rho == decidedRho {
		d.rho.ceiling, d.rho.most = true, number.Point(number.FromRat(c.opts.Targets[ZCDP], renyiBits).Lo())
	}
	return nil
}

// highest looks for the s at which D_α/α is the greatest, in floating point; it gives up where that is clearly below what is known.
func highest(p, o []*inquiry.Value, known float64) (at, value float64) {
	weights, logs := make([]float64, 0, len(p)), make([]float64, 0, len(p))
	for r := range p {
		plo, phi := p[r].Floats()
		olo, ohi := o[r].Floats()
		if own, other := (plo+phi)/2, (olo+ohi)/2; own > 0 && other > 0 {
			weights, logs = append(weights, own), append(logs, math.Log(own/other))
		}
	}
	per := func(s float64) float64 {
		sum := 0.0
		for i, w := range weights {
			if s == 0 {
				sum += float64(w * logs[i])
			} else {
				sum += float64(w * math.Expm1(s*logs[i]))
			}
		}
		if s == 0 {
			return sum
		}
		return math.Log1p(sum) / (s * (1 + s))
	}
	value = per(0)
	low, high := 0.0, 0.0
	previous := 0.0
	for s := 1.0 / 16; s < 1<<12; s *= 1.5 {
		x := per(s)
		if x > value {
			at, value, low, high = s, x, previous, 1.5*s
		} else if s > 4 && x < value/2 {
			break
		}
		previous = s
	}
	if at == 0 || value < 0.9*known {
		return at, value
	}
	for range 60 { // ternary search
		l, r := low+(high-low)/3, high-(high-low)/3
		if per(l) < per(r) {
			low = l
		} else {
			high = r
		}
	}
	if s := (low + high) / 2; per(s) > value {
		at, value = s, per(s)
	}
	return at, value
}
