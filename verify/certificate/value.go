package certificate

import (
	"math/big"

	"optratio/number"
	"optratio/number/interval"
)

// value is a result: a rational number, or an enclosure of a real one.
type value struct {
	rat *big.Rat          // the number, or nil
	enc interval.Interval // if rat is nil
}

func exactly(r *big.Rat) value           { return value{rat: r} }
func enclosed(x interval.Interval) value { return value{enc: x} }
func (v value) prec() uint               { return v.enc.Prec() }
func (v value) at(p uint) interval.Interval {
	if v.rat != nil {
		return interval.FromRat(v.rat, p)
	}
	return v.enc
}

// with applies an operation, exactly where both operands are exact.
func (v value) with(w value, rat func(z, a, b *big.Rat) *big.Rat, enc func(a, b interval.Interval) interval.Interval) value {
	switch {
	case v.rat != nil && w.rat != nil:
		return exactly(rat(new(big.Rat), v.rat, w.rat))
	case v.rat != nil:
		return enclosed(enc(v.at(w.prec()), w.enc))
	}
	return enclosed(enc(v.enc, w.at(v.prec())))
}

func (v value) add(w value) value { return v.with(w, (*big.Rat).Add, interval.Interval.Add) }
func (v value) sub(w value) value { return v.with(w, (*big.Rat).Sub, interval.Interval.Sub) }
func (v value) mul(w value) value { return v.with(w, (*big.Rat).Mul, interval.Interval.Mul) }

// quo returns v/w. An exact w must not be 0.
func (v value) quo(w value) value { return v.with(w, (*big.Rat).Quo, interval.Interval.Quo) }

func (v value) min(w value) value {
	return v.with(w, func(_, a, b *big.Rat) *big.Rat {
		if b.Cmp(a) < 0 {
			return b
		}
		return a
	}, interval.Interval.Min)
}

func (v value) max(w value) value {
	return v.with(w, func(_, a, b *big.Rat) *big.Rat {
		if b.Cmp(a) > 0 {
			return b
		}
		return a
	}, interval.Interval.Max)
}

// sign returns the sign of v, and whether it is known.
func (v value) sign() (s int, ok bool) {
	if v.rat != nil {
		return v.rat.Sign(), true
	}
	return v.enc.Sign()
}

// String returns v for messages.
func (v value) String() string {
	if v.rat != nil {
		return number.Bounds(v.rat, v.rat).String()
	}
	return number.Enclosed(v.enc).String()
}

// verdict is the answer to whether a claim follows.
type verdict int

const (
	undecided verdict = iota
	holds
	fails
)

// lessEq decides v <= w.
func (v value) lessEq(w value) verdict {
	if v.rat != nil && w.rat != nil {
		if v.rat.Cmp(w.rat) <= 0 {
			return holds
		}
		return fails
	}
	p := uint(0)
	if v.rat == nil {
		p = v.prec()
	}
	if w.rat == nil {
		p = max(p, w.prec())
	}
	// A rational is enclosed tightly, so that comparing enclosures loses nothing against an end
	// of p bits except where both are strictly within one unit in the last place.
	le, ok := v.at(p).LessEq(w.at(p))
	switch {
	case !ok:
		return undecided
	case le:
		return holds
	}
	return fails
}

// and returns fails if one fails, and holds if both hold.
func (a verdict) and(b verdict) verdict {
	switch {
	case a == fails || b == fails:
		return fails
	case a == holds && b == holds:
		return holds
	}
	return undecided
}
