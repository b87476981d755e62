package verify

import (
	"math/big"

	"optratio/number"
	"optratio/number/interval"
)

// positivePart returns max(0, v), where the sign of v is not known.
func (v *Value) positivePart() *Value {
	return &Value{fixed: v.fixed, box: func(prec uint) interval.Interval {
		return v.Enclose(prec).Max(interval.FromInt(0, prec))
	}}
}

// greater returns the greater one of two numbers, and whether it is known to be w and no other.
func (v *Value) greater(w *Value, limit uint) (most *Value, isW bool) {
	switch s, ok := v.compare(w, limit); {
	case ok && s < 0:
		return w, true
	case ok:
		return v, false
	}
	return &Value{fixed: v.fixed && w.fixed, box: func(prec uint) interval.Interval {
		return v.Enclose(prec).Max(w.Enclose(prec))
	}}, false
}

// event is a set of candidates and two vectors' probabilities of it.
type event struct {
	candidates []int
	p, o       *Value
	excess     *Value // p - e^ε o, to which candidates of unknown sign add what they may
}

// excess returns Σ_r max(0, p_r - e^ε o_r), with the set where it is attained: what (ε,δ)-DP bounds by δ, as no set of candidates has a larger
// Pr[S] - e^ε Pr'[S].
func (c *run) excess(p, o []*Value, precision uint) event {
	zero := Rational(new(big.Rat))
	e := event{p: zero, o: zero, excess: zero}
	for r := range p {
		s, ok := p[r].exceeds(c.exp, o[r], precision)
		if ok && s <= 0 {
			continue
		}
		over := p[r].sub(c.exp.mul(o[r]))
		if !ok {
			e.excess = e.excess.add(over.positivePart())
			continue
		}
		e.candidates, e.p, e.o, e.excess = append(e.candidates, r), e.p.add(p[r]), e.o.add(o[r]), e.excess.add(over)
	}
	return e
}

// approximate checks (ε,δ)-privacy and finds the least δ, over all pairs of neighbors in both directions, or in theirs.
func (c *run) approximate() (*Result, error) {
	res := &Result{Name: ApproximateDP}
	delta := c.opts.Delta
	if delta == nil {
		delta = new(big.Rat)
	}
	res.Target = number.Exact(delta)
	t := &tracker{run: c, res: res}
	bound, least, partial := Rational(delta), Rational(new(big.Rat)), false
	bounded := Rational(plus(delta, deltaSlack)) // of readings
	var attained func() *Witness
	show := func(e event, q, other Vector, w func() *Witness) {
		switch s, ok := e.excess.compare(bound, t.precision()); {
		case !ok:
			if s, ok := e.excess.compare(bounded, 128); !c.opts.Readings || !ok || s > 0 {
				t.unclear()
			}
		case s > 0:
			t.fail(size(len(e.candidates), q, other), w)
		}
		most, is := least.greater(e.excess, t.precision())
		if least = most; is {
			attained = w
		}
	}
	visit := func(q, other Vector) error {
		a, b, err := c.both(q, other)
		if err != nil {
			return err
		}
		if t.silent(a, b) {
			partial = true
			return nil
		}
		for i, d := range [2]struct {
			a, b  *Answer
			q, to Vector
		}{{a, b, q, other}, {b, a, other, q}} {
			if i == 1 && c.dom.Directed {
				break
			}
			if err := t.step(); err != nil {
				return err
			}
			switch {
			case d.a.Event == "" && d.b.Event == "" && (!c.proper(d.a) || !c.proper(d.b)):
				t.undecide("probabilities are negative")
				partial = true
			case d.a.Event == "" && d.b.Event == "":
				if !d.a.whole() || !d.b.whole() {
					t.undecide(noDistribution)
				}
				e := c.excess(d.a.P, d.b.P, t.precision())
				show(e, d.q, d.to, func() *Witness {
					w := c.pair(d.q, d.to, 0, e.p, e.o)
					w.Candidate, w.Candidates = nil, e.candidates
					return w
				})
			case d.a.Event != "", c.dom.Directed && d.b.Event != "":
				show(event{excess: Rational(big.NewRat(1, 1))}, d.q, d.to, func() *Witness { return c.onlyOne(d.a, d.q, d.to) })
			}
		}
		return nil
	}
	var ended error
	for q, other := range c.dom.Neighbors {
		if ended = visit(q, other); ended != nil {
			break
		}
	}
	if err := t.finish(ended); err != nil {
		return nil, err
	}
	res.TightDelta = least.Number()
	if lo, ok := res.TightDelta.Lower(); partial || ended != nil || !ok || lo.Sign() < 0 {
		one := big.NewRat(1, 1)
		if !ok {
			lo = new(big.Rat)
		}
		hi, bounded := res.TightDelta.Upper()
		if partial || ended != nil || !bounded || hi.Cmp(one) > 0 {
			hi = one
		}
		res.TightDelta = number.Bounds(maxRat(lo, new(big.Rat)), hi)
	}
	if attained != nil {
		res.Attained = attained()
	}
	c.readOff(res, "δ", res.TightDelta, res.Target)
	return res, nil
}
