package verify

import (
	"math"
	"math/big"
	"slices"

	"optratio/number"
)

// ratio is num/den of numbers that are not negative, or +∞.
type ratio struct {
	num, den *Value
	infinite bool
	open     bool    // any number from lo on, +∞ among them
	lo, hi   float64 // outward-rounded bounds
}

// between0 is the ratio of two numbers that may both be 0.
var between0 = ratio{open: true, hi: math.Inf(1)}

// quotient returns p/q, whose signs are known to be positive; with q = 0 it is infinite.
func quotient(p, q *Value, qZero bool) ratio {
	if qZero {
		return ratio{infinite: true, lo: math.Inf(1), hi: math.Inf(1)}
	}
	r := ratio{num: p, den: q}
	plo, phi := p.bounds()
	qlo, qhi := q.bounds()
	r.lo, r.hi = max(0, down(plo/qhi)), math.Inf(1)
	if qlo > 0 {
		r.hi = up(phi / qlo)
	} else if s, ok := q.sign(64); q.fixed && (!ok || s == 0) {
		return ratio{open: true, lo: r.lo, hi: r.hi}
	}
	if p == q {
		r.lo, r.hi = 1, 1
	}
	return r
}

// times returns r·s.
func (r ratio) times(s ratio) ratio {
	switch {
	case r.infinite || s.infinite:
		return quotient(nil, nil, true)
	case r.open || s.open:
		return ratio{open: true, lo: max(0, down(r.lo*s.lo)), hi: math.Inf(1)}
	}
	return ratio{
		num: r.num.mul(s.num), den: r.den.mul(s.den),
		lo: max(0, down(r.lo*s.lo)), hi: up(r.hi * s.hi),
	}
}

// compare returns the sign of r - s and whether it is decided.
func (r ratio) compare(s ratio, limit uint) (int, bool) {
	switch {
	case r.infinite && s.infinite:
		return 0, true
	case r.infinite:
		return 1, true
	case s.infinite:
		return -1, true
	case r.lo > s.hi:
		return 1, true
	case r.hi < s.lo:
		return -1, true
	case r.open || s.open:
		return 0, false
	case r.num == s.num && r.den == s.den:
		return 0, true
	}
	return r.num.mul(s.den).compare(s.num.mul(r.den), limit)
}

// end returns the upper end of the enclosure from which log takes its own.
func (r ratio) end() *big.Float {
	if r.infinite || r.open {
		return new(big.Float).SetInf(false)
	}
	return r.num.quo(r.den).narrow(128).Hi()
}

// log returns ln r, and r itself where it is rational.
func (r ratio) log() (number.Number, *big.Rat) {
	switch {
	case r.infinite:
		return number.Infinity(), nil
	case r.open && r.lo > 0:
		low, _ := number.Log(number.FromFloat(r.lo, 64)).Lo().Rat(nil)
		return number.Bounds(low, nil), nil
	case r.open:
		return number.Bounds(nil, nil), nil
	}
	v := r.num.quo(r.den)
	if f, ok := v.form(); ok && v.rat == nil {
		power, is := monomial(f.Num, f.Den)
		if v = function(f, v.ring); is && v.rat == nil && v.ring.exponent != nil {
			e := new(big.Rat).SetInt64(-int64(power))
			return number.Exact(e.Mul(e, v.ring.exponent)), nil
		}
	}
	switch {
	case v.rat == nil:
		return number.Enclosed(number.Log(v.narrow(128))), nil
	case v.rat.Cmp(big.NewRat(1, 1)) == 0:
		return number.Int(0), v.rat
	}
	return number.Enclosed(number.LogRat(v.rat, 160)), v.rat
}

// monomial reports whether num/den is t^power.
func monomial(num, den []*big.Int) (power int, ok bool) {
	lone := func(p []*big.Int) bool {
		for _, c := range p[:len(p)-1] {
			if c.Sign() != 0 {
				return false
			}
		}
		return p[len(p)-1].Cmp(big.NewInt(1)) == 0
	}
	if len(num) == 0 || !lone(num) || !lone(den) {
		return 0, false
	}
	return len(num) - len(den), true
}

// greatest is the largest of the ratios it was shown.
type greatest struct {
	best    ratio
	seen    bool
	rival   *ratio     // not known to be smaller than best
	end     *big.Float // the upper end of the rival
	witness func() *Witness
	partial bool // there are ratios that it was not shown
}

// show takes a ratio into account.
func (g *greatest) show(r ratio, limit uint, witness func() *Witness) {
	if !g.seen {
		g.best, g.seen, g.witness = r, true, witness
		return
	}
	switch s, ok := r.compare(g.best, limit); {
	case !ok && r.lo > g.best.lo:
		g.keep(g.best)
		g.best, g.witness = r, witness
	case !ok:
		g.keep(r)
	case s > 0:
		g.best, g.witness = r, witness
	}
}

// tops returns the ratios of which one is the greatest.
func (g *greatest) tops() []ratio {
	switch {
	case !g.seen:
		return nil
	case g.rival == nil:
		return []ratio{g.best}
	}
	return []ratio{*g.rival, g.best}
}

// inexact reports whether what is greatest is of numbers that are not exact.
func (g *greatest) inexact() bool {
	return slices.ContainsFunc(g.tops(), func(r ratio) bool { return r.open || !r.infinite && inexact(r.num, r.den) })
}

// keep remembers a rival by its upper end, of which the greatest is enough. The float64 bounds are too coarse for that where numbers underflow.
func (g *greatest) keep(r ratio) {
	if end := r.end(); g.rival == nil || end.Cmp(g.end) > 0 {
		g.rival, g.end = &r, end
	}
}

// log returns the logarithm of the greatest ratio, at least that of 1, and the ratio itself where it is known to be rational; where some
// ratios were not shown, a lower bound.
func (g *greatest) log() (number.Number, *big.Rat) {
	x, exact := number.Int(0), big.NewRat(1, 1)
	if g.seen {
		x, exact = g.best.log()
	}
	if x.IsInf() {
		return x, exact
	}
	x = x.Max(number.Int(0)) // ε >= 0
	if g.rival != nil {
		y, _ := g.rival.log()
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
