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

// approximate checks (ε,δ)-privacy and finds the least δ, over all pairs of neighbors in both directions, or in theirs.
func (c *run) approximate() (*Result, error) {
	res := &Result{Name: ApproximateDP}
	t := &tracker{run: c, res: res}
	delta := c.opts.Targets[ApproximateDP]
	if delta == nil {
		delta = new(big.Rat)
	}
	res.Target = number.Exact(delta)
	exact, rounded := inquiry.Rational(delta), inquiry.Rational(plus(delta, deltaSlack))
	least := greatest{best: inquiry.Quotient(inquiry.Rational(new(big.Rat)), unity, false), seen: true}
	begin := func(inquiry.Vector) error {
		t.pair(2)
		return nil
	}
	whole, ended := c.eachPair(t, begin, func(pair direction) error {
		for _, w := range c.directions(pair) {
			if err := t.step(); err != nil {
				return err
			}
			e, witness := c.atExcess(w, t.precision())
			if e.excess == nil {
				continue
			}
			bound := exact
			if c.opts.readings && e.inexact {
				bound = rounded
			}
			s, ok := e.excess.Compare(bound, t.precision())
			t.limited(s, ok, size(len(e.candidates), w.q, w.to), witness)
			least.show(inquiry.Quotient(e.excess, unity, false), t.precision(), witness)
		}
		return nil
	})
	if err := t.finish(ended); err != nil {
		return nil, err
	}
	if res.Checked > 0 {
		res.TightDelta = least.delta(whole)
	}
	if least.witness != nil {
		res.Attained = least.witness()
	}
	c.readOff(res, "δ", res.TightDelta, res.Target)
	return res, nil
}

// atExcess returns the excess of a pair in one direction, none where an event has none, and describes it.
func (c *run) atExcess(w direction, precision uint) (e event, witness func() *Witness) {
	if w.apart() {
		if w.a.Event != "" || c.dom.Directed {
			e.excess = unity
		}
		return e, func() *Witness { return c.onlyOne(w) }
	}
	e = c.excess(w.a.P, w.b.P, precision)
	return e, func() *Witness {
		at := c.pair(w.q, w.to, 0, e.p, e.o)
		at.Candidate, at.Candidates = nil, e.candidates
		if at.PMFs[0] != nil {
			at.PMFs = [2][]number.Number{numbers(w.a.P), numbers(w.b.P)}
		}
		return at
	}
}

// delta encloses the least δ, which lies between 0 and 1. What was not looked at may need any δ.
func (g *greatest) delta(whole bool) number.Number {
	var x number.Number
	for i, r := range g.tops() {
		if y := r.Value().Number(); i == 0 {
			x = y
		} else {
			x = x.Max(y)
		}
	}
	if lo, ok := x.Lower(); whole && ok && lo.Sign() >= 0 {
		return x
	}
	if x = x.Max(number.Int(0)).Min(number.Int(1)); whole {
		return x
	}
	return number.Between(x, number.Int(1))
}
