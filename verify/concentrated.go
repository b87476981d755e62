package verify

import (
	"math"
	"math/big"
	"slices"

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
	infinite    bool
	partial     bool // there are pairs that were not looked at
	open        bool // there are readings of a pair without an upper end
	witness     func() *Witness
}

func (u *supremum) number() number.Number {
	switch {
	case u.infinite:
		return number.Infinity()
	case u.partial || u.open:
		lo, _ := u.least.Lo().Rat(nil)
		return number.Bounds(lo, nil)
	}
	return number.Enclosed(number.Hull(u.least, u.most))
}

// order returns the order behind the lower end, and the tight divergence there.
func (u *supremum) order() Order {
	alpha := new(big.Rat).SetFloat64(u.at)
	alpha.Add(alpha, big.NewRat(1, 1))
	tight := supremum{least: u.least.Mul(number.FromRat(alpha, renyiBits)), most: u.most.Mul(number.FromRat(alpha, renyiBits)), partial: u.partial, open: u.open}
	return Order{alpha, tight.number()}
}

// show takes D_α/α at one pair and order into account.
func (u *supremum) show(x number.Interval, s float64, witness func() *Witness) {
	if x.Lo().Cmp(u.least.Lo()) <= 0 && u.witness != nil {
		return
	}
	u.witness, u.at = witness, s
	if x.Lo().Sign() <= 0 {
		return
	}
	u.least = number.Point(x.Lo())
	if !u.ceiling {
		u.concede(u.least.Mul(number.FromFloat(1+rhoGap, renyiBits)))
	}
}

// over reports whether the target is known to be exceeded.
func (u *supremum) over() bool { return u.ceiling && u.least.Lo().Cmp(u.most.Hi()) > 0 }

// concede raises the upper end to x, unless the search is over.
func (u *supremum) concede(x number.Interval) {
	if u.over() || x.Hi().Cmp(u.most.Hi()) <= 0 {
		return
	}
	if x.Hi().IsInf() { // nothing is known
		u.open = true
		return
	}
	u.most = number.Point(x.Hi())
}

// contrast is an ordered pair of distributions with equal supports: probabilities and logarithms of ratios. Outcomes that share both are one entry.
type contrast struct {
	p, l        []number.Interval
	least, most number.Interval // of l
}

// against returns the contrast of p and o, whose supports were found to be equal, and that of o and p.
func (c *run) against(p, o []*Value, precision uint) (forth, back contrast) {
	type pair struct{ p, o *Value }
	place := map[pair]int{}
	for r := range p {
		if p[r].zero(precision) {
			continue
		}
		own, other := p[r].Enclose(renyiBits), o[r].Enclose(renyiBits)
		if i, ok := place[pair{p[r], o[r]}]; ok {
			forth.p[i], back.p[i] = forth.p[i].Add(own), back.p[i].Add(other)
			continue
		}
		place[pair{p[r], o[r]}] = len(forth.p)
		l := number.FromInt(0, renyiBits)
		if p[r] != o[r] {
			l = number.Log(own.Quo(other))
		}
		forth.p, back.p = append(forth.p, own), append(back.p, other)
		forth.l, back.l = append(forth.l, l), append(back.l, l.Neg())
	}
	forth.ends()
	back.ends()
	return forth, back
}

func (x *contrast) ends() {
	x.least, x.most = x.l[0], x.l[0]
	for _, l := range x.l[1:] {
		x.least, x.most = x.least.Min(l), x.most.Max(l)
	}
}

// cumulant encloses g(s).
func (x *contrast) cumulant(s float64) number.Interval {
	sum := number.FromInt(0, renyiBits)
	for i, p := range x.p {
		sum = sum.Add(p.Mul(number.Exp(number.FromFloat(s, renyiBits).Mul(x.l[i]))))
	}
	return number.Log(sum)
}

// divergence encloses D_1.
func (x *contrast) divergence() number.Interval {
	sum := number.FromInt(0, renyiBits)
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
	return x.cumulant(s).Quo(v.Add(v.Sqr()))
}

// flatness is (max l - min l)²/8.
func (x *contrast) flatness() number.Interval {
	return x.most.Sub(x.least).Sqr().Quo(number.FromInt(8, renyiBits))
}

// raise makes the upper end hold for all orders of a pair of distributions, and the lower one for those that are computed on the way.
func (u *supremum) raise(x *contrast, witness func() *Witness) {
	flat := x.flatness()
	if flat.Hi().Cmp(u.most.Hi()) <= 0 || x.most.Hi().Sign() <= 0 {
		return
	}
	kl := x.divergence()
	u.show(kl, 0, witness)
	if u.most.Hi().Sign() <= 0 || !flat.IsFinite() { // D_1 is not told from 0
		u.concede(flat)
		return
	}
	_, end := x.most.Quo(u.most).Float64()
	if end = up(end - 1); end <= 0 {
		return // D_∞ <= ρ
	}
	u.near(x, kl, flat, end, witness)
}

// part is an interval [a, b] of s with upper ends of g at both.
type part struct {
	a, b   float64
	ga, gb number.Interval
}

// near settles the orders from 1 on as far as the second bound leads, in steps that grow, and leaves what is between them to chords.
func (u *supremum) near(x *contrast, kl, flat number.Interval, end float64, witness func() *Witness) {
	if !x.cumulant(end).IsFinite() { // ρ is next to 0 so far, and the orders that count are too large to be enclosed
		u.concede(flat)
		return
	}
	at := func(s float64) (g, per number.Interval) {
		g = x.cumulant(s)
		v := number.FromFloat(s, renyiBits)
		per = g.Quo(v.Add(v.Sqr()))
		u.show(per, s, witness)
		if per.RelWidth() > rhoGap { // where probabilities are not known well, this lets the subdivision end
			return number.Point(g.Hi()), per.Mul(number.FromFloat(1+rhoGap, renyiBits))
		}
		return number.Point(g.Hi()), per
	}
	inner := func(s float64) number.Interval {
		g, per := at(s)
		u.concede(per)
		return g
	}
	last := part{a: end, ga: inner(end)}
	for {
		b := number.FromFloat(last.a, renyiBits)
		bound := kl.Add(b.Mul(flat))
		if bound.Hi().Cmp(u.most.Mul(b.Add(number.FromInt(1, renyiBits))).Lo()) <= 0 {
			return // as flat > ρ, the bound then holds for all smaller s too
		}
		if u.over() {
			return
		}
		if last.a < 0x1p-50 {
			u.concede(bound)
			return
		}
		a := last.a / 2
		g, per := at(a)
		if per.Hi().Cmp(bound.Hi()) > 0 { // only where probabilities are not known well
			u.concede(bound)
			return
		}
		u.concede(per)
		next := part{a: a, b: last.a, ga: g, gb: last.ga}
		u.settle(next, inner)
		last = next
	}
}

// settle bounds D_α/α on a part, halving it where that helps.
func (u *supremum) settle(p part, at func(float64) number.Interval) {
	if u.over() || u.below(p) {
		return
	}
	middle := p.a + float64((p.b-p.a)/2)
	if p.b-p.a < p.b*0x1p-30 || middle <= p.a || middle >= p.b {
		// D_α does not decrease in α (van Erven & Harremoës 2014, Thm. 3)
		a, b := number.FromFloat(p.a, renyiBits), number.FromFloat(p.b, renyiBits)
		u.concede(p.gb.Quo(b.Mul(a.Add(number.FromInt(1, renyiBits)))))
		return
	}
	g := at(middle)
	u.settle(part{p.a, middle, p.ga, g}, at)
	u.settle(part{middle, p.b, g, p.gb}, at)
}

// below reports whether the chord of g is at most ρ·s(1+s) on the part, for the upper end ρ: the difference is a convex quadratic, which has to be
// nonnegative at the ends of the part and has to have its vertex outside or no zeros.
func (u *supremum) below(p part) bool {
	a, b := number.FromFloat(p.a, renyiBits), number.FromFloat(p.b, renyiBits)
	for _, end := range [][2]number.Interval{{a, p.ga}, {b, p.gb}} {
		if end[1].Hi().Cmp(u.most.Mul(end[0].Add(end[0].Sqr())).Lo()) > 0 {
			return false
		}
	}
	// ρs² + (ρ-m)s + k, where the chord is m·s - k
	m := p.gb.Sub(p.ga).Quo(b.Sub(a))
	k := m.Mul(a).Sub(p.ga)
	two := number.FromInt(2, renyiBits)
	slope := u.most.Sub(m)
	if s, ok := slope.Add(two.Mul(u.most).Mul(a)).Sign(); ok && s >= 0 {
		return true
	}
	if s, ok := slope.Add(two.Mul(u.most).Mul(b)).Sign(); ok && s <= 0 {
		return true
	}
	return slope.Sqr().Hi().Cmp(two.Sqr().Mul(u.most).Mul(k).Lo()) <= 0
}

// concentrated encloses ρ over all pairs of neighbors. A search in floating point proposes a pair and an order; they give the lower end, and every pair is
// then shown not to exceed the upper one.
func (c *run) concentrated(t *tracker) (*supremum, error) {
	zero := number.FromInt(0, renyiBits)
	u := &supremum{least: zero, most: zero, partial: true}
	if err := c.propose(t, u); err != nil || c.opts.rho == leastRho {
		return u, err
	}
	if target := c.opts.Rho; c.opts.rho == decidedRho {
		u.ceiling, u.most = true, number.Point(number.FromRat(target, renyiBits).Lo())
	}
	missed := false
	for q, other := range c.dom.Neighbors {
		if err := t.step(); err != nil {
			return u, err
		}
		if u.over() {
			return u, nil
		}
		compared, err := c.concede(t, u, q, other)
		if err != nil {
			return u, err
		}
		missed = missed || !compared
	}
	if u.open {
		t.undecide(openReading)
	}
	u.partial = missed || !u.most.IsFinite()
	return u, nil
}

// concede raises the upper end of ρ to what two neighbors need, and reports whether they could be compared.
func (c *run) concede(t *tracker, u *supremum, q, other Vector) (compared bool, err error) {
	a, b, ok, err := c.distributions(t, q, other)
	if err != nil || !ok {
		return false, err
	}
	if a.Event != "" || b.Event != "" {
		silent := t.silent(a, b)
		u.infinite = c.eventDiffers(t, a, b, q, other) || u.infinite
		return !silent, nil
	}
	differ, wider := c.supportsDiffer(t, u, q, other, a, b)
	u.infinite = u.infinite || differ
	if wider {
		t.undecide("of a pair that is looked at in one order, the second may have outcomes that the first never has: no upper bound on ρ is known then")
	}
	if differ || wider || u.open { // readings without an upper end decide the verdict, unless supports differ for certain
		return !wider && !a.misses() && !b.misses(), nil
	}
	forth, back := c.against(a.P, b.P, t.precision())
	witness := func() *Witness { return c.mostLikely(q, other, a, b) }
	u.raise(&forth, witness)
	if !c.dom.Directed {
		u.raise(&back, witness)
	}
	return !a.misses() && !b.misses(), nil
}

// supportsDiffer reports whether one of the answers has a probability 0 where the other has not, and records it. Of a directed domain that counts for the
// second answer alone; wider says that the first has such a 0.
func (c *run) supportsDiffer(t *tracker, u *supremum, q, other Vector, a, b *Answer) (differ, wider bool) {
	for r := range a.P {
		pZero, oZero := a.P[r].zero(t.precision()), b.P[r].zero(t.precision())
		if pZero == oZero {
			continue
		}
		if pZero && c.dom.Directed {
			wider = true
			continue
		}
		positive := a.P[r]
		if pZero {
			positive = b.P[r]
		}
		if s, ok := positive.sign(t.precision()); !ok || s < 0 {
			u.open = true // 0 in some readings
			continue
		}
		differ = true
		from, to, p, o := q, other, a.P[r], b.P[r]
		if pZero {
			from, to, p, o = other, q, o, p
		}
		t.fail(size(r, from, to), func() *Witness { return c.pair(from, to, r, p, o) })
	}
	return differ, wider
}

// propose searches the pairs in floating point, and shows the best that it finds.
func (c *run) propose(t *tracker, u *supremum) error {
	var best func()
	most := 0.0
	for q, other := range c.dom.Neighbors {
		if c.ctx.Err() != nil {
			break // the caller's loop says so
		}
		a, b, ok, err := c.distributions(t, q, other)
		if err != nil {
			return err
		}
		if !ok || a.Event != "" || b.Event != "" {
			continue
		}
		for _, w := range c.directions(a, b, q, other) {
			s, x := highest(w.a.P, w.b.P, most)
			if !(x > most) || math.IsInf(x, 0) {
				continue
			}
			most = x
			best = func() {
				if !slices.ContainsFunc(slices.Concat(a.P, b.P), func(v *Value) bool { lo, _ := v.bounds(); return !(lo > 0) }) {
					forth, _ := c.against(w.a.P, w.b.P, 64)
					u.show(forth.per(s), s, func() *Witness { return c.mostLikely(q, other, a, b) })
				}
			}
		}
	}
	if best != nil {
		best()
	}
	return nil
}

// highest looks for the s at which D_α/α is the greatest, in floating point; it gives up where that is clearly below what is known.
func highest(p, o []*Value, known float64) (at, value float64) {
	weights, logs := make([]float64, 0, len(p)), make([]float64, 0, len(p))
	for r := range p {
		plo, phi := p[r].bounds()
		olo, ohi := o[r].bounds()
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
