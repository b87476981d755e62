package evidence

import (
	"math/big"

	"optratio/number"
)

// Value is a result: a rational number, or an enclosure of a real one.
type Value struct {
	Rat *big.Rat        // the number, or nil
	Enc number.Interval // if rat is nil
}

func Exactly(r *big.Rat) Value         { return Value{Rat: r} }
func Enclosed(x number.Interval) Value { return Value{Enc: x} }
func (v Value) Prec() uint             { return v.Enc.Prec() }
func (v Value) At(p uint) number.Interval {
	if v.Rat != nil {
		return number.FromRat(v.Rat, p)
	}
	return v.Enc
}

// with applies an operation, exactly where both operands are exact.
func (v Value) with(w Value, rat func(z, a, b *big.Rat) *big.Rat, enc func(a, b number.Interval) number.Interval) Value {
	switch {
	case v.Rat != nil && w.Rat != nil:
		return Exactly(rat(new(big.Rat), v.Rat, w.Rat))
	case v.Rat != nil:
		return Enclosed(enc(v.At(w.Prec()), w.Enc))
	}
	return Enclosed(enc(v.Enc, w.At(v.Prec())))
}

func (v Value) Add(w Value) Value { return v.with(w, (*big.Rat).Add, number.Interval.Add) }
func (v Value) Sub(w Value) Value { return v.with(w, (*big.Rat).Sub, number.Interval.Sub) }
func (v Value) Mul(w Value) Value { return v.with(w, (*big.Rat).Mul, number.Interval.Mul) }

// Quo returns v/w. An exact w must not be 0.
func (v Value) Quo(w Value) Value { return v.with(w, (*big.Rat).Quo, number.Interval.Quo) }

func (v Value) Min(w Value) Value {
	return v.with(w, func(_, a, b *big.Rat) *big.Rat {
		if b.Cmp(a) < 0 {
			return b
		}
		return a
	}, number.Interval.Min)
}

func (v Value) Max(w Value) Value {
	return v.with(w, func(_, a, b *big.Rat) *big.Rat {
		if b.Cmp(a) > 0 {
			return b
		}
		return a
	}, number.Interval.Max)
}

// Sign returns the sign of v, and whether it is known.
func (v Value) Sign() (s int, ok bool) {
	if v.Rat != nil {
		return v.Rat.Sign(), true
	}
	return v.Enc.Sign()
}

// String returns v for messages.
func (v Value) String() string {
	if v.Rat != nil {
		return number.Bounds(v.Rat, v.Rat).String()
	}
	return number.Enclosed(v.Enc).String()
}

// Verdict is the answer to whether a claim follows.
type Verdict int

const (
	Undecided Verdict = iota
	Holds
	Fails
)

// LessEq decides v <= w.
func (v Value) LessEq(w Value) Verdict {
	if v.Rat != nil && w.Rat != nil {
		if v.Rat.Cmp(w.Rat) <= 0 {
			return Holds
		}
		return Fails
	}
	p := uint(0)
	if v.Rat == nil {
		p = v.Prec()
	}
	if w.Rat == nil {
		p = max(p, w.Prec())
	}
	// A rational is enclosed tightly, so that comparing enclosures loses nothing against an end
	// of p bits except where both are strictly within one unit in the last place.
	le, ok := v.At(p).LessEq(w.At(p))
	switch {
	case !ok:
		return Undecided
	case le:
		return Holds
	}
	return Fails
}

// And returns fails if one fails, and holds if both hold.
func (a Verdict) And(b Verdict) Verdict {
	switch {
	case a == Fails || b == Fails:
		return Fails
	case a == Holds && b == Holds:
		return Holds
	}
	return Undecided
}
