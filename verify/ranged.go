package verify

import (
	"errors"
	"math/big"

	"optratio/internal/inquiry"
	"optratio/number"
)

// ratios checks pure privacy and, unless NoRange is set, bounded range, and finds the tight parameters, over all pairs of neighbors.
func (c *run) ratios() ([]*Result, error) {
	dp, br := &Result{Name: DP}, &Result{Name: BoundedRange}
	private, bounded := &tracker{run: c, res: dp}, &tracker{run: c, res: br}
	tight, widest := &greatest{}, &greatest{}
	ended := c.eachRatio(private, bounded, tight, widest)
	if err := private.finish(ended); err != nil {
		return nil, err
	}
	if tight.seen || !tight.partial && dp.Checked > 0 {
		dp.TightEps, dp.TightExpEps = tight.log()
	}
	if dp.Verdict == Proved && !c.opts.readings && c.opts.Slack == nil {
		dp.TightEps = c.atMostClaimed(dp.TightEps)
	}
	c.readOff(dp, "ε", dp.TightEps, c.claimed())
	if dp.TightEps.IsInf() && ended == nil {
		var err error
		if dp.Relaxed, err = c.relax(); err != nil && !errors.Is(err, inquiry.ErrUndecided) {
			return nil, err
		}
	}
	if tight.witness != nil {
		dp.Attained = tight.witness()
	}
	if c.opts.NoRange {
		return []*Result{dp}, nil
	}
	if err := c.ranged(private, bounded, tight, widest, ended); err != nil {
		return nil, err
	}
	return []*Result{dp, br}, nil
}

// ranged sets the verdict on bounded range and the range, after privacy was decided.
func (c *run) ranged(private, bounded *tracker, tight, widest *greatest, ended error) error {
	dp, br := private.res, bounded.res
	if dp.Verdict == Undecided && !tight.seen {
		br.Verdict, br.Reason, br.Stopped = Undecided, dp.Reason, dp.Stopped
		if br.Stopped {
			br.Total = bounded.total()
		}
		return nil
	}
	exact := !c.opts.readings || !widest.inexact()
	if widest.seen && c.opts.Range == nil && exact {
		claim := inquiry.Quotient(c.exp, inquiry.Rational(big.NewRat(1, 1)), false)
		switch s, ok := widest.best.Compare(claim, c.opts.maxPrec); {
		case ok && s > 0:
			bounded.fail(nil, widest.witness)
		case !ok:
			bounded.unclear()
		}
	}
	widest.partial = tight.partial
	dp.Range, _ = widest.log()
	if c.opts.Range != nil {
		br.Target = number.Exact(c.opts.Range)
		bounded.atMost(dp.Range, br.Target, !exact, widest.witness)
	} else if widest.seen && !exact {
		bounded.atMost(dp.Range, c.limit(), c.opts.Slack == nil, widest.witness)
	}
	if err := bounded.finish(ended); err != nil {
		return err
	}
	if (private.undecided != "" || ended != nil) && br.Verdict != Violated {
		br.Verdict, br.Reason = Undecided, private.undecided
	}
	if dp.Checked == 0 { // nothing was compared
		dp.Range = number.Number{}
	}
	br.Range = dp.Range
	claimed := br.Target
	if !claimed.IsValid() {
		claimed = c.claimed()
	}
	c.readOff(br, "range", br.Range, claimed)
	return nil
}

// claimed returns the ε that is claimed; limit that and the slack which was given.
func (c *run) claimed() number.Number { return logOf(c.claim) }
func (c *run) limit() number.Number   { return logOf(c.exp) }

func logOf(v *inquiry.Value) number.Number {
	x, _ := inquiry.Quotient(v, inquiry.Rational(big.NewRat(1, 1)), false).Log()
	return x
}

// atMost requires that an enclosed number is at most a target, or with slack what a target may be exceeded by. One that no bits tell from it is undecided.
func (t *tracker) atMost(x, target number.Number, slack bool, witness func() *Witness) {
	if slack {
		target = target.Mul(number.Exact(plus(big.NewRat(1, 1), epsSlack)))
	}
	switch met, known := x.LessEq(target); {
	case known && met:
	case known || x.IsInf():
		t.fail(nil, witness)
	default:
		t.unclear()
	}
}

// atMostClaimed returns the part of an enclosure of the tight ε that is not above the ε that was proved.
func (c *run) atMostClaimed(tight number.Number) number.Number {
	most, ok := c.limit().Upper()
	lo, finite := tight.Lower()
	if hi, bounded := tight.Upper(); !ok || !finite || bounded && hi.Cmp(most) <= 0 || lo.Cmp(most) > 0 {
		return tight
	}
	return number.Bounds(lo, most)
}

// eachRatio goes through the pairs of neighbors until an error ends it.
func (c *run) eachRatio(private, bounded *tracker, tight, widest *greatest) error {
	begin := func(q inquiry.Vector) error {
		private.pair(2 * len(q))
		bounded.pair(len(q))
		return nil
	}
	whole, err := c.eachPair(private, begin, func(d direction) error {
		if d.a.Event != "" || d.b.Event != "" {
			return c.supports(private, tight, widest, d)
		}
		err := c.neighbors(private, tight, d)
		if err == nil && !c.opts.NoRange {
			c.spread(bounded, widest, d)
		}
		return err
	})
	tight.partial = !whole
	return err
}

// neighbors compares the candidates' probabilities in both directions, or in that of the pair.
func (c *run) neighbors(t *tracker, tight *greatest, pair direction) error {
	for r := range pair.a.P {
		for _, d := range c.directions(pair) {
			if err := t.step(); err != nil {
				return err
			}
			p, o := d.a.P[r], d.b.P[r]
			if p.Zero(t.precision()) {
				continue
			}
			w := func() *Witness { return c.pair(d.q, d.to, r, p, o) }
			s, ok := p.Exceeds(c.allowed(p, o), o, t.precision())
			if ok && s > 0 && o.Zeroed {
				ok = c.beyondRounding(p)
			}
			switch {
			case !ok:
				t.unclear()
			case s > 0:
				t.fail(size(r, d.q, d.to), w)
			}
			tight.show(c.over(p, o, o.Zero(t.precision()), t.precision()), t.precision(), w)
		}
	}
	return nil
}

// allowed returns what p/o is to be at most: e^ε, with the slack, which by default numbers that are not exact have.
func (c *run) allowed(p, o *inquiry.Value) *inquiry.Value {
	if c.opts.Slack == nil && c.opts.readings && inquiry.Inexact(p, o) {
		return c.most
	}
	return c.exp
}

// over returns p/o, which is not told from 0/0 where o is 0, or was rounded to 0, and p may be.
func (c *run) over(p, o *inquiry.Value, oZero bool, limit uint) inquiry.Ratio {
	if oZero {
		if s, ok := p.Sign(limit); !ok || s <= 0 || o.Zeroed && !c.beyondRounding(p) {
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

// supports handles a pair of which one gives an event and the other does not.
func (c *run) supports(t *tracker, tight, widest *greatest, d direction) error {
	if err := t.step(); err != nil {
		return err
	}
	w := func() *Witness { return c.onlyOne(d) }
	t.fail(size(len(d.q), d.q, d.to), w)
	tight.show(inquiry.Quotient(nil, nil, true), 0, w)
	widest.show(inquiry.Quotient(nil, nil, true), 0, w)
	return nil
}

// spread shows a pair's range, max_r ratio / min_r ratio, to widest.
func (c *run) spread(t *tracker, widest *greatest, d direction) {
	most, least := &greatest{}, &greatest{}
	top, bottom := 0, 0
	for r := range d.a.P {
		p, o := d.a.P[r], d.b.P[r]
		pZero, oZero := p.Zero(t.precision()), o.Zero(t.precision())
		if pZero && oZero {
			continue
		}
		t.res.Checked++
		most.show(c.over(p, o, oZero, t.precision()), t.precision(), func() *Witness { top = r; return nil })
		least.show(c.over(o, p, pZero, t.precision()), t.precision(), func() *Witness { bottom = r; return nil })
	}
	if !most.seen {
		return
	}
	w := func() *Witness {
		most.witness()
		least.witness()
		out := c.pair(d.q, d.to, top, d.a.P[top], d.b.P[top])
		out.NeighborCandidate = &bottom
		return out
	}
	switch {
	case most.best.Infinite:
		widest.show(most.best, 0, w)
	case least.best.Infinite:
		widest.show(least.best, 0, w)
	default:
		// The range is max p/o · max o/p.
		for _, up := range most.tops() {
			for _, down := range least.tops() {
				widest.show(up.Times(down), t.precision(), w)
			}
		}
	}
}
