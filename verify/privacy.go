package verify

import (
	"errors"
	"math/big"

	"optratio/internal/decimal"
	"optratio/internal/inquiry"
	"optratio/number"
)

// privacy decides dp and, unless NoRange is set, bounded-range, and finds what is tight, over all pairs of neighbors.
func (c *run) privacy() ([]*Result, error) {
	e := &extremes{run: c, tight: c.logarithm(DP, "ε", 2), widest: c.logarithm(BoundedRange, "range", 1)}
	claimed, _ := c.claim.Log()
	e.tight.claimed, e.tight.limit, e.tight.rounded = claimed, c.exp, c.most
	e.widest.claimed, e.widest.limit, e.widest.rounded, e.widest.late = claimed, c.exp, c.most, true
	if most := c.opts.Targets[BoundedRange]; most != nil {
		e.widest.claimed, e.widest.limit, e.widest.rounded = number.Exact(most), c.claim.Exponential(most), c.claim.Exponential(plus(most, epsSlack))
		e.widest.res.Target = e.widest.claimed
	}
	ended, err := c.over(e.compare, e.tight, e.widest)
	if err != nil {
		return nil, err
	}
	dp, br := e.tight.res, e.widest.res
	dp.TightEps = e.tight.tight
	if dp.TightEps.IsInf() && !ended {
		if dp.Relaxed, err = c.relax(); err != nil && !errors.Is(err, inquiry.ErrUndecided) {
			return nil, err
		}
	}
	if c.opts.NoRange {
		return []*Result{dp}, nil
	}
	dp.Range, br.Range = e.widest.tight, e.widest.tight
	br.Attained = nil
	return []*Result{dp, br}, nil
}

// extremes are the largest ratios of two neighbors' probabilities of one outcome, and the largest products of one and the inverse of another.
type extremes struct {
	*run
	tight, widest *divergence
}

// compare compares the candidates' probabilities in both directions, or in that of the pair, and takes the pair's range into account, which is the product
// of the largest ratios of both directions.
func (e *extremes) compare(pair direction) error {
	if pair.apart() { // which costs one comparison
		if err := e.tight.step(); err != nil {
			return err
		}
		w := func() *Witness { return e.onlyOne(pair) }
		e.tight.consider(inquiry.Infinite, size(len(pair.q), pair.q, pair.to), w)
		e.widest.consider(inquiry.Infinite, nil, w)
		return nil
	}
	var forth, back greatest
	top, bottom, compared := 0, 0, int64(0)
	for r, p := range pair.a.P {
		o := pair.b.P[r]
		pZero, oZero := p.Zero(maxPrec), o.Zero(maxPrec)
		x, y := e.ratio(p, o, oZero), e.ratio(o, p, pZero)
		for i, d := range e.directions(pair) {
			if err := e.tight.step(); err != nil {
				return err
			}
			if i == 0 && pZero || i == 1 && oZero {
				continue
			}
			e.tight.consider([]*inquiry.Value{x, y}[i], size(r, d.q, d.to), func() *Witness { return e.pair(d.q, d.to, r, d.a.P[r], d.b.P[r]) })
		}
		if e.opts.NoRange || pZero && oZero {
			continue
		}
		compared++
		forth.raise(x, maxPrec, func() *Witness { top = r; return nil })
		back.raise(y, maxPrec, func() *Witness { bottom = r; return nil })
	}
	e.widest.res.Checked += compared
	for _, up := range forth.tops() {
		for _, down := range back.tops() {
			e.widest.consider(up.Times(down), nil, func() *Witness {
				forth.witness()
				back.witness()
				out := e.pair(pair.q, pair.to, top, pair.a.P[top], pair.b.P[top])
				out.NeighborCandidate, out.opposite = &bottom, true
				return out
			})
		}
	}
	return nil
}

// ratio returns p/o, which is not told from 0/0 where o is 0, or was rounded to 0, and p may be.
func (c *run) ratio(p, o *inquiry.Value, oZero bool) *inquiry.Value {
	if oZero {
		if s, ok := p.Sign(maxPrec); !ok || s <= 0 || o.Zeroed && !c.beyondRounding(p) {
			return inquiry.Between0
		}
	}
	return inquiry.Quotient(p, o, oZero)
}

// beyondRounding reports whether p exceeds e^ε times every number that double precision may round to 0.
func (c *run) beyondRounding(p *inquiry.Value) bool {
	s, ok := p.Compare(c.exp.Mul(inquiry.Vanishing), 128)
	return ok && s > 0
}

// beyond returns the divergence that is the probability which is left beyond e^ε times the neighbor's. Nothing is wanted of it.
func (c *run) beyond() *divergence {
	return &divergence{
		tracker: tracker{run: c, res: &Result{Name: ApproximateDP}}, symbol: "δ", likely: func(int) int { return 2 },
		number: func(x *inquiry.Value) (number.Number, *big.Rat) { return x.Number(), nil },
	}
}

// stick shows the divergence of a pair, in both directions or its own, at an e^ε.
func (d *divergence) stick(pair direction, exp *inquiry.Value) error {
	c := d.run
	for _, w := range c.directions(pair) {
		if err := d.step(); err != nil {
			return err
		}
		switch {
		case !w.apart():
			e := excess(w, exp, d.least(d.precision()))
			d.consider(e.excess, size(len(e.candidates), w.q, w.to), func() *Witness { return c.event(w, e) })
		case w.a.Event != "" || c.dom.Directed:
			d.consider(inquiry.One, size(0, w.q, w.to), func() *Witness { return c.onlyOne(w) })
		}
	}
	return nil
}

// approximate decides (ε,δ)-privacy and finds the least δ, over all pairs of neighbors in both directions, or in theirs.
func (c *run) approximate(claim *inquiry.Value, delta *big.Rat) ([]*Result, error) {
	d := c.beyond()
	d.claimed, d.limit, d.rounded = number.Exact(delta), inquiry.Rational(delta), inquiry.Rational(plus(delta, deltaSlack))
	_, err := c.over(func(pair direction) error { return d.stick(pair, claim) }, d)
	d.res.Target, d.res.TightDelta = d.claimed, d.tight
	if lo, ok := d.tight.Lower(); ok {
		d.res.TightDelta = d.tight.Min(number.Int(1))
		if lo.Sign() == 0 {
			d.res.Attained = nil
		}
	}
	return []*Result{d.res}, err
}

// event is a set of candidates and two vectors' probabilities of it.
type event struct {
	candidates []int
	p, o       *inquiry.Value
	excess     *inquiry.Value // p - e^ε o, to which candidates of unknown sign add what they may
}

// excess returns Σ_r max(0, p_r - e^ε o_r), with the set where it is attained: what (ε,δ)-DP bounds by δ, as no set of candidates has a larger
// Pr[S] - e^ε Pr'[S].
func excess(w direction, claim *inquiry.Value, precision uint) event {
	zero := inquiry.Rational(new(big.Rat))
	e := event{p: zero, o: zero, excess: zero}
	for r, p := range w.a.P {
		o := w.b.P[r]
		most := claim.Mul(o)
		s, ok := p.Compare(most, precision)
		if ok && s <= 0 {
			continue
		}
		over := p.Sub(most)
		if !ok {
			e.excess = e.excess.Add(over.PositivePart())
			continue
		}
		e.candidates, e.p, e.o, e.excess = append(e.candidates, r), e.p.Add(p), e.o.Add(o), e.excess.Add(over)
	}
	return e
}

// event describes two neighbors at a set of candidates.
func (c *run) event(w direction, e event) *Witness {
	at := c.lawsAt(w, 0)
	at.Candidate, at.Candidates, at.P, at.PNeighbor = nil, e.candidates, e.p.Number(), e.o.Number()
	return at
}

// tiny is the probability up to which a part of the outcomes may be left to δ, as those are that make ε infinite in samplers which turn a float64
// number between 0 and 1 into an outcome.
var tiny = new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 50))

// relax looks for a tiny δ with which ε is finite, and says what ε is at most then: ε from the outcomes that are not tiny, then the least δ at that ε, over all neighbors, rounded up.
func (c *run) relax() (*[2]number.Number, error) {
	quiet := *c
	quiet.opts.Progress, quiet.opts.limit = nil, 0
	least, _ := tiny.Float64()
	d := quiet.logarithm(DP, "ε", 2)
	ended, err := quiet.over(func(pair direction) error {
		if pair.apart() {
			return errStop
		}
		if err := d.step(); err != nil {
			return err
		}
		for _, w := range []direction{pair, pair.reversed()} {
			for r, p := range w.a.P {
				if _, hi := p.Floats(); hi > least {
					d.consider(c.ratio(p, w.b.P[r], w.b.P[r].Zero(128)), nil, nil)
				}
			}
		}
		return nil
	}, d)
	hi, bounded := d.tight.Upper()
	if err != nil || ended || !bounded || d.tight.IsInf() {
		return nil, err
	}
	eps, err := decimal.Parse(decimal.Upper(hi, 4))
	if err != nil {
		return nil, err
	}
	results, err := quiet.approximate(c.claim.Exponential(eps), one)
	if err != nil {
		return nil, err
	}
	res := results[0]
	hi, bounded = res.TightDelta.Upper()
	if res.Verdict != Proved || !bounded {
		return nil, nil
	}
	delta, err := decimal.Parse(decimal.Upper(hi, 2))
	if err != nil || delta.Cmp(tiny) > 0 {
		return nil, err
	}
	return &[2]number.Number{number.Exact(delta), number.Exact(eps)}, nil
}
