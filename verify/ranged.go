package verify

import (
	"errors"
	"math/big"

	"optratio/internal/inquiry"
	"optratio/number"
)

// ratios checks pure privacy and, unless NoRange is set, bounded range, and finds the tight parameters, over all pairs of neighbors.
func (c *run) ratios() ([]*Result, error) {
	e := &extremes{
		run: c, private: &tracker{run: c, res: &Result{Name: DP}}, bounded: &tracker{run: c, res: &Result{Name: BoundedRange}},
	}
	begin := func(q inquiry.Vector) error {
		e.private.pair(2 * len(q))
		e.bounded.pair(len(q))
		return nil
	}
	whole, ended := c.eachPair(e.private, begin, e.compare)
	e.tight.partial, e.widest.partial = !whole, !whole
	dp := e.private.res
	if err := e.private.finish(ended); err != nil {
		return nil, err
	}
	if e.tight.seen || whole && dp.Checked > 0 {
		dp.TightEps, dp.TightExpEps = e.tight.log()
	}
	if dp.Verdict == Proved && !c.opts.readings && c.opts.Slack == nil {
		dp.TightEps = c.atMostClaimed(dp.TightEps)
	}
	c.readOff(dp, "ε", dp.TightEps, logOf(c.claim))
	if dp.TightEps.IsInf() && ended == nil {
		var err error
		if dp.Relaxed, err = c.relax(); err != nil && !errors.Is(err, inquiry.ErrUndecided) {
			return nil, err
		}
	}
	if e.tight.witness != nil {
		dp.Attained = e.tight.witness()
	}
	if c.opts.NoRange {
		return []*Result{dp}, nil
	}
	br, err := e.ranged(ended)
	return []*Result{dp, br}, err
}

// extremes are the largest ratios of two neighbors' probabilities of one outcome, and the largest products of one and the inverse of another.
type extremes struct {
	*run
	private, bounded *tracker
	tight, widest    greatest
}

// ranged sets the verdict on bounded range and the range, after privacy was decided.
func (e *extremes) ranged(ended error) (*Result, error) {
	dp, t := e.private.res, e.bounded
	br := t.res
	if dp.Verdict == Undecided && !e.tight.seen {
		br.Verdict, br.Reason, br.Stopped = Undecided, dp.Reason, dp.Stopped
		if br.Stopped {
			br.Total = t.total()
		}
		return br, nil
	}
	size, _ := e.widest.log()
	exact, claimed := !e.opts.readings || !e.widest.inexact(), logOf(e.claim)
	switch {
	case e.opts.Targets[BoundedRange] != nil:
		br.Target = number.Exact(e.opts.Targets[BoundedRange])
		claimed = br.Target
		t.atMost(size, claimed, !exact, e.widest.witness)
	case e.widest.seen && exact:
		s, ok := e.widest.best.Compare(inquiry.Quotient(e.exp, unity, false), e.opts.maxPrec)
		t.limited(s, ok, nil, e.widest.witness)
	case e.widest.seen:
		t.atMost(size, logOf(e.exp), e.opts.Slack == nil, e.widest.witness)
	}
	if err := t.finish(ended); err != nil {
		return nil, err
	}
	if (e.private.undecided != "" || ended != nil) && br.Verdict != Violated {
		br.Verdict, br.Reason = Undecided, e.private.undecided
	}
	if dp.Checked > 0 { // otherwise nothing was compared
		dp.Range, br.Range = size, size
	}
	e.readOff(br, "range", br.Range, claimed)
	return br, nil
}

var unity = inquiry.Rational(big.NewRat(1, 1))

// logOf returns ln v.
func logOf(v *inquiry.Value) number.Number {
	x, _ := inquiry.Quotient(v, unity, false).Log()
	return x
}

// atMost requires that an enclosed number is at most a target, or with slack what a target may be exceeded by. One that no bits tell from it is undecided.
func (t *tracker) atMost(x, target number.Number, slack bool, witness func() *Witness) {
	if slack {
		target = target.Mul(number.Exact(plus(big.NewRat(1, 1), epsSlack)))
	}
	met, known := x.LessEq(target)
	over := 1
	if met {
		over = 0
	}
	t.limited(over, known || x.IsInf(), nil, witness)
}

// atMostClaimed returns the part of an enclosure of the tight ε that is not above the ε that was proved.
func (c *run) atMostClaimed(tight number.Number) number.Number {
	most, ok := logOf(c.exp).Upper()
	lo, finite := tight.Lower()
	if hi, bounded := tight.Upper(); !ok || !finite || bounded && hi.Cmp(most) <= 0 || lo.Cmp(most) > 0 {
		return tight
	}
	return number.Bounds(lo, most)
}

// compare compares the candidates' probabilities in both directions, or in that of the pair, and takes the pair's range into account, which is the product
// of the largest ratios of both directions.
func (e *extremes) compare(pair direction) error {
	if pair.apart() {
		return e.apart(pair)
	}
	var forth, back greatest
	top, bottom, compared := 0, 0, int64(0)
	for r, p := range pair.a.P {
		o := pair.b.P[r]
		pZero, oZero := p.Zero(e.opts.maxPrec), o.Zero(e.opts.maxPrec)
		x, y := e.over(p, o, oZero), e.over(o, p, pZero)
		for i, d := range e.directions(pair) {
			if err := e.private.step(); err != nil {
				return err
			}
			own, ratio := d.a.P[r], []inquiry.Ratio{x, y}[i]
			if i == 0 && pZero || i == 1 && oZero {
				continue
			}
			w := func() *Witness { return e.pair(d.q, d.to, r, own, d.b.P[r]) }
			s, ok := e.exceeds(own, d.b.P[r])
			e.private.limited(s, ok, size(r, d.q, d.to), w)
			e.tight.show(ratio, e.private.precision(), w)
		}
		if e.opts.NoRange || pZero && oZero {
			continue
		}
		compared++
		forth.show(x, e.opts.maxPrec, func() *Witness { top = r; return nil })
		back.show(y, e.opts.maxPrec, func() *Witness { bottom = r; return nil })
	}
	if e.bounded.res.Checked += compared; compared == 0 {
		return nil
	}
	w := func() *Witness {
		forth.witness()
		back.witness()
		out := e.pair(pair.q, pair.to, top, pair.a.P[top], pair.b.P[top])
		out.NeighborCandidate = &bottom
		return out
	}
	if infinite := []inquiry.Ratio{forth.best, back.best}; infinite[0].Infinite || infinite[1].Infinite {
		e.widest.show(inquiry.Infinite, 0, w)
		return nil
	}
	for _, up := range forth.tops() {
		for _, down := range back.tops() {
			e.widest.show(up.Times(down), e.opts.maxPrec, w)
		}
	}
	return nil
}

// exceeds compares p/o with what it is to be at most: e^ε, with the slack, which by default numbers that are not exact have.
func (e *extremes) exceeds(p, o *inquiry.Value) (s int, ok bool) {
	limit := e.exp
	if e.opts.Slack == nil && e.opts.readings && inquiry.Inexact(p, o) {
		limit = e.most
	}
	if s, ok = p.Exceeds(limit, o, e.private.precision()); ok && s > 0 && o.Zeroed {
		ok = e.beyondRounding(p)
	}
	return s, ok
}

// over returns p/o, which is not told from 0/0 where o is 0, or was rounded to 0, and p may be.
func (c *run) over(p, o *inquiry.Value, oZero bool) inquiry.Ratio {
	if oZero {
		if s, ok := p.Sign(c.opts.maxPrec); !ok || s <= 0 || o.Zeroed && !c.beyondRounding(p) {
			return inquiry.Between0
		}
	}
	return inquiry.Quotient(p, o, oZero)
}

// beyondRounding reports whether p exceeds e^ε times every number that double precision may round to 0.
func (c *run) beyondRounding(p *inquiry.Value) bool {
	s, ok := p.Exceeds(c.exp, inquiry.Vanishing, 128)
	return ok && s > 0
}

// apart handles a pair of which one gives an event and the other does not.
func (e *extremes) apart(d direction) error {
	if err := e.private.step(); err != nil {
		return err
	}
	w := func() *Witness { return e.onlyOne(d) }
	e.private.fail(size(len(d.q), d.q, d.to), w)
	e.tight.show(inquiry.Infinite, 0, w)
	e.widest.show(inquiry.Infinite, 0, w)
	return nil
}
