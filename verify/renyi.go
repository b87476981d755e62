package verify

import (
	"math/big"
	"slices"

	"optratio/number"
	"optratio/number/interval"
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
	x        interval.Interval
	infinite bool
	partial  bool            // there are neighbors that could not be compared, or readings without an upper end
	witness  func() *Witness // of the neighbors where it is attained, as far as enclosures tell
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
	wanted := func(p Property) bool { return slices.Contains(c.opts.Properties, p) }
	infinite := false
	var attained func() *Witness // of ρ
	err := func() error {
		if wanted(RDP) {
			for _, alpha := range c.orders() {
				d, err := c.divergence(t, alpha)
				if err != nil {
					return err
				}
				infinite = infinite || d.infinite
				rdp.Orders = append(rdp.Orders, Order{alpha, d.number()})
			}
		}
		if wanted(ZCDP) {
			rho, err := c.concentrated(t)
			infinite = infinite || rho.infinite
			zcdp.Rho, attained = rho.number(), rho.witness
			if !rho.infinite && rho.witness != nil {
				zcdp.Orders, zcdp.Attained = []Order{rho.order()}, rho.witness()
			}
			return err
		}
		return nil
	}()
	if err := t.finish(err); err != nil {
		return nil, err
	}
	if infinite {
		rdp.Verdict, rdp.Witness = Violated, t.witness()
	}
	zcdp.Verdict, zcdp.Reason, zcdp.Witness, zcdp.Checked = rdp.Verdict, rdp.Reason, rdp.Witness, rdp.Checked
	if c.opts.Rho != nil && wanted(ZCDP) {
		zcdp.Target = number.Exact(c.opts.Rho)
		if zcdp.Verdict == Proved {
			if err := c.aim(zcdp, attained); err != nil {
				return nil, err
			}
		}
	}
	return []*Result{rdp, zcdp}, nil
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

// directions are the orders in which a pair is looked at.
func (c *run) directions(a, b *Answer) [][2]*Answer {
	if c.dom.Directed {
		return [][2]*Answer{{a, b}}
	}
	return [][2]*Answer{{a, b}, {b, a}}
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
	d := divergence{alpha: alpha, x: interval.FromInt(0, renyiBits)}
	for q, other := range c.dom.Neighbors {
		if err := t.step(); err != nil {
			return d, err
		}
		a, b, err := c.both(q, other)
		if err != nil {
			return d, err
		}
		if a.Event != "" || b.Event != "" {
			d.partial = d.partial || t.silent(a, b)
			d.infinite = c.eventDiffers(t, a, b, q, other) || d.infinite
			continue
		}
		for _, pair := range c.directions(a, b) {
			x, at, err := c.between(t, pair[0].P, pair[1].P, alpha)
			if err != nil {
				return d, err
			}
			if at >= 0 {
				d.infinite = true
				from, to := q, other
				if pair[0] == b {
					from, to = other, q
				}
				t.fail(size(at, from, to), func() *Witness { return c.pair(from, to, at, pair[0].P[at], pair[1].P[at]) })
				continue
			}
			if x.Lo().Cmp(d.x.Lo()) > 0 || d.witness == nil {
				d.witness = func() *Witness { return c.mostLikely(q, other, a, b) }
			}
			if x.Hi().IsInf() {
				t.undecide(openReading)
				d.partial = true
				if x.Lo().IsInf() {
					continue
				}
				x = interval.Point(x.Lo())
			}
			d.x = d.x.Max(x)
		}
	}
	return d, nil
}

// eventDiffers reports whether one of the answers is an event and the other one is not, and records it.
func (c *run) eventDiffers(t *tracker, a, b *Answer, q, other Vector) bool {
	if a.Unsteady || b.Unsteady || (a.Event == "") == (b.Event == "") {
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
func (c *run) between(t *tracker, p, o []*Value, alpha *big.Rat) (x interval.Interval, at int, err error) {
	excess := new(big.Rat).Sub(alpha, big.NewRat(1, 1))
	sum := interval.FromInt(0, renyiBits)
	for r := range p {
		if p[r].zero(t.precision()) {
			continue
		}
		if o[r].zero(t.precision()) {
			if s, ok := p[r].sign(t.precision()); ok && s > 0 {
				return sum, r, nil
			}
			return interval.Whole(renyiBits), -1, nil // 0 in some readings
		}
		own := p[r].Enclose(renyiBits)
		quotient := own.Quo(o[r].Enclose(renyiBits))
		var term interval.Interval
		switch {
		case p[r] == o[r]:
			term = interval.FromInt(int64(excess.Sign()), renyiBits)
		case excess.Sign() == 0:
			term = interval.Log(quotient)
		case excess.IsInt() && excess.Num().BitLen() < 20:
			term = quotient.Pow(int(excess.Num().Int64()))
		default:
			term = interval.Exp(interval.FromRat(excess, renyiBits).Mul(interval.Log(quotient)))
		}
		sum = sum.Add(own.Mul(term))
	}
	if excess.Sign() == 0 {
		return sum, -1, nil
	}
	return interval.Log(sum).Quo(interval.FromRat(excess, renyiBits)), -1, nil
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
