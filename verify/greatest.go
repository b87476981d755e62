package verify

import (
	"math/big"
	"slices"

	"optratio/internal/inquiry"
	"optratio/number"
)

// greatest is the largest of the ratios it was shown.
type greatest struct {
	best    inquiry.Ratio
	seen    bool
	rival   *inquiry.Ratio // not known to be smaller than best
	end     *big.Float     // the upper end of the rival
	witness func() *Witness
	partial bool // there are ratios that it was not shown
}

// show takes a ratio into account.
func (g *greatest) show(r inquiry.Ratio, limit uint, witness func() *Witness) {
	if !g.seen {
		g.best, g.seen, g.witness = r, true, witness
		return
	}
	switch s, ok := r.Compare(g.best, limit); {
	case !ok && r.Lo > g.best.Lo:
		g.keep(g.best)
		g.best, g.witness = r, witness
	case !ok:
		g.keep(r)
	case s > 0:
		g.best, g.witness = r, witness
	}
}

// tops returns the ratios of which one is the greatest.
func (g *greatest) tops() []inquiry.Ratio {
	switch {
	case !g.seen:
		return nil
	case g.rival == nil:
		return []inquiry.Ratio{g.best}
	}
	return []inquiry.Ratio{*g.rival, g.best}
}

// inexact reports whether what is greatest is of numbers that are not exact.
func (g *greatest) inexact() bool {
	return slices.ContainsFunc(g.tops(), func(r inquiry.Ratio) bool { return r.Open || !r.Infinite && inquiry.Inexact(r.Num, r.Den) })
}

// keep remembers a rival by its upper end, of which the greatest is enough. The float64 bounds are too coarse for that where numbers underflow.
func (g *greatest) keep(r inquiry.Ratio) {
	if end := r.End(); g.rival == nil || end.Cmp(g.end) > 0 {
		g.rival, g.end = &r, end
	}
}

// log returns the logarithm of the greatest ratio, at least that of 1, and the ratio itself where it is known to be rational; where some
// ratios were not shown, a lower bound.
func (g *greatest) log() (number.Number, *big.Rat) {
	x, exact := number.Int(0), big.NewRat(1, 1)
	if g.seen {
		x, exact = g.best.Log()
	}
	if x.IsInf() {
		return x, exact
	}
	x = x.Max(number.Int(0)) // ε >= 0
	if g.rival != nil {
		y, _ := g.rival.Log()
		x, exact = x.Max(y), nil
	}
	if g.partial {
		return number.Between(x, number.Infinity()), nil
	}
	return x, exact
}

func maxRat(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}
