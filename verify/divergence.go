package verify

import (
	"cmp"
	"math/big"

	"optratio/internal/inquiry"
	"optratio/number"
)

// divergence is a number that says how far apart the distributions of two neighbors are, of which a property bounds the greatest over all pairs: the
// largest ratio of an outcome's probabilities (dp), the product of those in both directions (bounded-range), the probability that is left
// beyond e^ε times the neighbor's (approximate-dp). It is shown the numbers of all pairs, keeps the greatest and is its property's tracker.
type divergence struct {
	tracker
	greatest
	symbol  string                                         // in texts
	number  func(*inquiry.Value) (number.Number, *big.Rat) // what is said of a ratio, and the ratio itself where it is rational
	claimed number.Number                                  // what it is to be at most, as it is said, without a slack
	limit   *inquiry.Value                                 // what ratios are to be at most; nil: nothing is wanted of them
	rounded *inquiry.Value                                 // the same of numbers that are not exact
	likely  func(candidates int) int                       // comparisons of a pair
	late    bool                                           // the greatest is compared with the limit, not every one for the smallest witness
	finite  bool                                           // it is to be finite, whatever the limit
	alpha   *big.Rat                                       // of a Rényi divergence: the order, nil for ∞
	rho     *supremum                                      // of ρ, which is over all orders: the search for it
	tight   number.Number                                  // what is said of the greatest; no number where nothing was compared
	whole   bool                                           // no pair was left out
}

// logarithm returns the divergence that is the logarithm of a ratio. It was shown nothing, and nothing is wanted of it.
func (c *run) logarithm(p Property, symbol string, perCandidate int) *divergence {
	likely := func(candidates int) int { return perCandidate * candidates }
	return &divergence{tracker: tracker{run: c, res: &Result{Name: p}}, symbol: symbol, number: (*inquiry.Value).Log, likely: likely}
}

// consider takes a ratio of a pair into account.
func (d *divergence) consider(x *inquiry.Value, size []int64, witness func() *Witness) {
	below := d.raise(x, d.precision(), witness)
	// What is not above the greatest is not above the limit either, unless the two have different limits.
	if d.late || below && d.tracker.witness == nil && d.undecided == "" && !d.run.opts.readings {
		return
	}
	d.judge(x, d.precision(), size, witness)
}

// judge compares a ratio with the limit. Every claim that bounds ratios is decided here.
func (d *divergence) judge(x *inquiry.Value, precision uint, size []int64, witness func() *Witness) {
	limit := d.limit
	if d.run.opts.readings && x.Inexact() {
		limit = d.rounded
	}
	if limit == nil {
		switch {
		case !d.finite:
		case x == inquiry.Infinite:
			d.fail(size, witness)
		case x.Enclose(renyiBits).Hi().IsInf():
			d.unclear()
		}
		return
	}
	switch s, ok := x.Compare(limit, precision); {
	case !ok:
		d.unclear()
	case s > 0:
		d.fail(size, witness)
	}
}

// over goes through the pairs of neighbors, whose ratios visit shows to the divergences, and concludes. What leaves the first one undecided, or ends it, does
// so with the others.
func (c *run) over(visit func(direction) error, ds ...*divergence) (ended bool, err error) {
	first := &ds[0].tracker
	whole, reason := c.eachPair(first, func(q inquiry.Vector) error {
		for _, d := range ds {
			d.pair(d.likely(len(q)))
		}
		return nil
	}, visit)
	for _, d := range ds {
		for _, x := range d.tops() {
			if d.late {
				d.judge(x, maxPrec, nil, d.greatest.witness)
			}
		}
		d.undecided, d.whole = cmp.Or(first.undecided, d.undecided), whole
		if err := d.finish(reason); err != nil {
			return false, err
		}
		if first.res.Checked > 0 && (d.best != nil || whole) {
			d.conclude(whole)
		}
		c.readOff(d.res, d.symbol, d.tight, d.claimed)
	}
	return reason != nil, nil
}

// conclude sets what is tight, after the verdict. Pairs that were not looked at may need any number.
func (d *divergence) conclude(whole bool) {
	d.tight, d.res.TightExpEps = d.top()
	if !whole && !d.tight.IsInf() {
		d.tight, d.res.TightExpEps = number.Between(d.tight, number.Infinity()), nil
	}
	// An enclosure ends where the claim was proved.
	if most, ok := d.claimed.Upper(); ok && d.res.Verdict == Proved && !d.run.opts.readings && d.run.opts.Slack == nil {
		d.tight = atMost(d.tight, most)
	}
	if d.greatest.witness != nil {
		d.res.Attained = d.greatest.witness()
	}
}

// top returns what is said of the greatest ratio, which is not negative, and the ratio where it is known to be rational.
func (d *divergence) top() (number.Number, *big.Rat) {
	x, exact := number.Int(0), big.NewRat(1, 1)
	for i, r := range d.tops() {
		if y, ratio := d.number(r); i == 0 {
			x, exact = y, ratio
		} else {
			x, exact = x.Max(y), nil
		}
	}
	if x.IsInf() {
		return x, exact
	}
	return x.Max(number.Int(0)), exact
}

// atMost returns the part of an enclosure that is not above a number.
func atMost(x number.Number, most *big.Rat) number.Number {
	lo, finite := x.Lower()
	if hi, bounded := x.Upper(); !finite || bounded && hi.Cmp(most) <= 0 || lo.Cmp(most) > 0 {
		return x
	}
	return number.Bounds(lo, most)
}

// greatest is the largest of the ratios it was shown.
type greatest struct {
	best    *inquiry.Value // nil: it was shown none
	rival   *inquiry.Value // not known to be smaller than best
	end     *big.Float     // the upper end of the rival
	bits    uint           // at which numbers are compared that are not rational; 0: as many as it takes
	witness func() *Witness
}

// raise makes a ratio the greatest where it is, and reports whether it is known not to be above the greatest so far.
func (g *greatest) raise(r *inquiry.Value, limit uint, witness func() *Witness) (below bool) {
	if g.best == nil {
		g.best, g.witness = r, witness
		return false
	}
	switch s, ok := r.Compare(g.best, g.least(limit)); {
	case !ok && least(r) > least(g.best):
		g.keep(g.best)
		g.best, g.witness = r, witness
	case !ok:
		g.keep(r)
	case s > 0:
		g.best, g.witness = r, witness
		if r == inquiry.Infinite {
			g.rival = nil
		}
	default:
		return true
	}
	return false
}

// least is the precision at which numbers are compared, of a limit on it.
func (g *greatest) least(limit uint) uint {
	if g.bits > 0 {
		return min(limit, g.bits)
	}
	return limit
}

// keep remembers a rival by its upper end, of which the greatest is enough. The float64 bounds are too coarse for that where numbers underflow.
func (g *greatest) keep(r *inquiry.Value) {
	box := r.Narrow
	if g.bits > 0 {
		box = func() number.Interval { return r.Enclose(g.bits) }
	}
	if end := box().Hi(); g.rival == nil || end.Cmp(g.end) > 0 {
		g.rival, g.end = r, end
	}
}

// tops returns the ratios of which one is the greatest.
func (g *greatest) tops() []*inquiry.Value {
	switch {
	case g.best == nil:
		return nil
	case g.rival == nil:
		return []*inquiry.Value{g.best}
	}
	return []*inquiry.Value{g.rival, g.best}
}

func least(x *inquiry.Value) float64 {
	lo, _ := x.Floats()
	return lo
}
