package verify

import (
	"math/big"

	"optratio/internal/inquiry"
	"optratio/number"
)

// event is a set of candidates and two vectors' probabilities of it.
type event struct {
	candidates []int
	p, o       *inquiry.Value
	excess     *inquiry.Value // p - e^ε o, to which candidates of unknown sign add what they may
	inexact    bool           // some of the probabilities are
}

// excess returns Σ_r max(0, p_r - e^ε o_r), with the set where it is attained: what (ε,δ)-DP bounds by δ, as no set of candidates has a larger
// Pr[S] - e^ε Pr'[S].
func (c *run) excess(p, o []*inquiry.Value, precision uint) event {
	zero := inquiry.Rational(new(big.Rat))
	e := event{p: zero, o: zero, excess: zero, inexact: inquiry.Inexact(p...) || inquiry.Inexact(o...)}
	for r := range p {
		s, ok := p[r].Exceeds(c.claim, o[r], precision)
		if ok && s <= 0 {
			continue
		}
		over := p[r].Sub(c.claim.Mul(o[r]))
		if !ok {
			e.excess = e.excess.Add(over.PositivePart())
			continue
		}
		e.candidates, e.p, e.o, e.excess = append(e.candidates, r), e.p.Add(p[r]), e.o.Add(o[r]), e.excess.Add(over)
	}
	return e
}

// deltas is the search for the least δ.
type deltas struct {
	*run
	t              *tracker
	bound, bounded *inquiry.Value // the δ that is claimed, and what it may be of numbers that are not exact
	least          *inquiry.Value // over what was looked at
	attained       func() *Witness
}

// approximate checks (ε,δ)-privacy and finds the least δ, over all pairs of neighbors in both directions, or in theirs.
func (c *run) approximate() (*Result, error) {
	res := &Result{Name: ApproximateDP}
	delta := c.opts.Delta
	if delta == nil {
		delta = new(big.Rat)
	}
	res.Target = number.Exact(delta)
	d := &deltas{
		run: c, t: &tracker{run: c, res: res},
		bound: inquiry.Rational(delta), bounded: inquiry.Rational(plus(delta, deltaSlack)), least: inquiry.Rational(new(big.Rat)),
	}
	begin := func(inquiry.Vector) error {
		d.t.pair(2)
		return nil
	}
	whole, ended := c.eachPair(d.t, begin, func(pair direction) error {
		for _, w := range c.directions(pair) {
			if err := d.t.step(); err != nil {
				return err
			}
			d.compare(w)
		}
		return nil
	})
	if err := d.t.finish(ended); err != nil {
		return nil, err
	}
	if res.Checked > 0 {
		res.TightDelta = d.number(whole)
	}
	if d.attained != nil {
		res.Attained = d.attained()
	}
	c.readOff(res, "δ", res.TightDelta, res.Target)
	return res, nil
}

// compare takes a pair into account, in one direction.
func (d *deltas) compare(w direction) {
	switch {
	case w.a.Event == "" && w.b.Event == "":
		e := d.excess(w.a.P, w.b.P, d.t.precision())
		d.show(e, w, func() *Witness {
			at := d.pair(w.q, w.to, 0, e.p, e.o)
			at.Candidate, at.Candidates = nil, e.candidates
			if at.PMF != nil {
				at.PMF, at.NeighborPMF = numbers(w.a.P), numbers(w.b.P)
			}
			return at
		})
	case w.a.Event != "", d.dom.Directed && w.b.Event != "":
		d.show(event{excess: inquiry.Rational(big.NewRat(1, 1))}, w, func() *Witness { return d.onlyOne(w) })
	}
}

// show takes the δ of a pair in one direction into account.
func (d *deltas) show(e event, at direction, witness func() *Witness) {
	bound := d.bound
	if d.opts.readings && e.inexact {
		bound = d.bounded
	}
	switch s, ok := e.excess.Compare(bound, d.t.precision()); {
	case !ok:
		d.t.unclear()
	case s > 0:
		d.t.fail(size(len(e.candidates), at.q, at.to), witness)
	}
	most, is := d.least.Greater(e.excess, d.t.precision())
	if d.least = most; is {
		d.attained = witness
	}
}

// number encloses the least δ, which lies between 0 and 1. What was not looked at may need any δ.
func (d *deltas) number(whole bool) number.Number {
	x := d.least.Number()
	if lo, ok := x.Lower(); whole && ok && lo.Sign() >= 0 {
		return x
	}
	if x = x.Max(number.Int(0)).Min(number.Int(1)); whole {
		return x
	}
	return number.Between(x, number.Int(1))
}
