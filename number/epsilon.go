package number

import (
	"fmt"
	"math"
	"math/big"
	"sync"

	"optratio/internal/decimal"
)

// Epsilon is a privacy parameter ε >= 0, known exactly: either ε itself is rational, or e^ε is.
// An Epsilon remembers the powers it has computed and is safe for concurrent use.
//
// The zero value means that no parameter was set. Whoever needs one returns ErrEpsilon for it; its own methods
// answer as for an unknown ε >= 0: there is no rational form, Value is [0, +Inf], Float is NaN.
type Epsilon struct {
	eps, exp *big.Rat // exactly one is set, neither in the zero value
	memo     *sync.Map
}

// ErrEpsilon is wrapped by errors about a privacy parameter.
var ErrEpsilon error = InputError("epsilon")

// isSet reports whether there is a parameter: e is not the zero value.
func (e Epsilon) isSet() bool { return e.eps != nil || e.exp != nil }

// Check returns ErrEpsilon where no parameter was set.
func (e Epsilon) Check() error {
	if !e.isSet() {
		return fmt.Errorf("%w is not set: make one with ParseEpsilon, ParseExp, FromEpsilon or FromExp", ErrEpsilon)
	}
	return nil
}

// MaxEpsilon is the largest ε: e^ε is written out here and there, with 1.4 bits a unit of ε.
const MaxEpsilon = 1 << 13

var errLarge = fmt.Errorf("%w: above %d, the largest", ErrEpsilon, MaxEpsilon)

// FromEpsilon returns the parameter with the rational value eps, which must be from 0 to MaxEpsilon.
func FromEpsilon(eps *big.Rat) (Epsilon, error) {
	if eps == nil {
		return Epsilon{}, fmt.Errorf("%w: the value is nil", ErrEpsilon)
	}
	if eps.Sign() < 0 {
		return Epsilon{}, fmt.Errorf("%w: %s is negative", ErrEpsilon, eps.RatString())
	}
	if eps.Cmp(big.NewRat(MaxEpsilon, 1)) > 0 {
		return Epsilon{}, errLarge
	}
	return Epsilon{eps: new(big.Rat).Set(eps), memo: new(sync.Map)}, nil
}

// FromExp returns the parameter with e^ε = exp, which must be at least 1; ε is at most MaxEpsilon.
func FromExp(exp *big.Rat) (Epsilon, error) {
	if exp == nil {
		return Epsilon{}, fmt.Errorf("%w: the value of e^epsilon is nil", ErrEpsilon)
	}
	if exp.Cmp(big.NewRat(1, 1)) < 0 {
		return Epsilon{}, fmt.Errorf("%w: e^epsilon = %s is below 1", ErrEpsilon, exp.RatString())
	}
	if LogRat(exp, 64).Hi().Cmp(big.NewFloat(MaxEpsilon)) > 0 {
		return Epsilon{}, errLarge
	}
	return Epsilon{exp: new(big.Rat).Set(exp), memo: new(sync.Map)}, nil
}

// ParseEpsilon reads ε as a decimal, taken exactly.
func ParseEpsilon(s string) (Epsilon, error) {
	r, err := decimal.Parse(s)
	if err != nil {
		return Epsilon{}, fmt.Errorf("%w: %w", ErrEpsilon, err)
	}
	return FromEpsilon(r)
}

// ParseExp reads e^ε as a fraction "a/b" or a decimal, taken exactly.
func ParseExp(s string) (Epsilon, error) {
	r, err := decimal.ParseNumber(s)
	if err != nil {
		return Epsilon{}, fmt.Errorf("%w: %w", ErrEpsilon, err)
	}
	return FromExp(r)
}

// String returns ε, or e^ε marked as such, in lowest terms.
func (e Epsilon) String() string {
	switch {
	case e.exp != nil:
		return "ln(" + e.exp.RatString() + ")"
	case e.eps != nil:
		return e.eps.RatString()
	}
	return "not set"
}

// Eps returns ε where it is given as a rational, nil otherwise. Not to be modified.
func (e Epsilon) Eps() *big.Rat { return e.eps }

// Exp returns e^ε where it is given as a rational, nil otherwise. Not to be modified.
func (e Epsilon) Exp() *big.Rat { return e.exp }

// Number returns ε: exactly where it is given as a rational, otherwise enclosed; no number where no parameter was set.
func (e Epsilon) Number() Number {
	switch {
	case e.eps != nil:
		return Exact(e.eps)
	case e.exp != nil:
		return Enclosed(e.Value(128))
	}
	return Number{}
}

// IsZero reports whether ε = 0.
func (e Epsilon) IsZero() bool {
	if e.exp != nil {
		return e.exp.Cmp(big.NewRat(1, 1)) == 0
	}
	return e.eps != nil && e.eps.Sign() == 0
}

// Z returns z = e^{-ε} where it is rational: where e^ε was given, or ε = 0.
func (e Epsilon) Z() (z *big.Rat, ok bool) {
	switch {
	case e.exp != nil:
		return new(big.Rat).Inv(e.exp), true
	case e.IsZero():
		return big.NewRat(1, 1), true
	}
	return nil, false
}

// ExpNegRat returns e^{-εx} where it is rational, for any x where ε = 0 and for
// integer x where e^ε is rational; integers beyond ±2^20 are left to ExpNeg.
func (e Epsilon) ExpNegRat(x *big.Rat) (p *big.Rat, ok bool) {
	if e.IsZero() || x.Sign() == 0 {
		return big.NewRat(1, 1), true
	}
	if e.exp == nil || !x.IsInt() || x.Num().BitLen() > 20 {
		return nil, false
	}
	power := x.Num().Int64()
	base := new(big.Rat).Inv(e.exp)
	if power < 0 {
		base, power = e.exp, -power
	}
	exponent := big.NewInt(power)
	return new(big.Rat).SetFrac(
		new(big.Int).Exp(base.Num(), exponent, nil), new(big.Int).Exp(base.Denom(), exponent, nil)), true
}

type memoKey struct {
	x    string
	prec uint
}

// ExpNeg returns an enclosure of e^{-εx} at the given precision.
func (e Epsilon) ExpNeg(x *big.Rat, prec uint) Interval {
	if !e.isSet() {
		return wholeLine(prec)
	}
	return e.once(memoKey{x.RatString(), prec}, func() Interval { return e.expNeg(x, prec) })
}

// once returns what compute returned the first time that the key was asked for.
func (e Epsilon) once(key memoKey, compute func() Interval) Interval {
	if v, ok := e.memo.Load(key); ok {
		return v.(Interval)
	}
	v := compute()
	e.memo.Store(key, v)
	return v
}

func (e Epsilon) expNeg(x *big.Rat, prec uint) Interval {
	if e.exp != nil {
		// the power has at least |x|(bits of e^ε - 2) bits, and is not worth having where that is many
		size, _ := new(big.Rat).Mul(x, big.NewRat(int64(e.exp.Num().BitLen()+e.exp.Denom().BitLen()-2), 1)).Float64()
		if math.Abs(size) < 1<<14 {
			if p, ok := e.ExpNegRat(x); ok && p.Num().BitLen()+p.Denom().BitLen() < 1<<14 {
				return FromRat(p, prec)
			}
		}
		guard := prec + 64
		exponent := LogRat(e.exp, guard).Mul(FromRat(new(big.Rat).Neg(x), guard))
		return Exp(exponent).SetPrec(prec)
	}
	product := new(big.Rat).Mul(e.eps, x)
	return ExpRat(product.Neg(product), prec)
}

// Value returns an enclosure of ε.
func (e Epsilon) Value(prec uint) Interval {
	switch {
	case e.exp != nil:
		return LogRat(e.exp, prec)
	case e.eps != nil:
		return FromRat(e.eps, prec)
	}
	return NewInterval(new(big.Float).SetPrec(prec), new(big.Float).SetPrec(prec).SetInf(false))
}

// Float returns ε rounded to a float64, which is the same on every machine; NaN for the zero value.
func (e Epsilon) Float() float64 {
	switch {
	case e.exp != nil:
		return e.once(memoKey{"ε", 64}, func() Interval { return e.Value(64) }).Near()
	case e.eps != nil:
		f, _ := e.eps.Float64()
		return f
	}
	return math.NaN()
}

// ExpBounds returns rational bounds of e^ε to about prec bits, 1 <= lo <= e^ε <= hi, which are equal where e^ε is known to
// be rational. There are none for the zero value.
func (e Epsilon) ExpBounds(prec uint) (lo, hi *big.Rat) {
	one := big.NewRat(1, 1)
	switch {
	case e.exp != nil:
		return e.exp, e.exp
	case e.eps == nil:
		return nil, nil
	case e.eps.Sign() == 0:
		return one, one
	}
	x := ExpRat(e.eps, prec)
	if lo, _ = x.Lo().Rat(nil); lo.Cmp(one) < 0 {
		lo = one
	}
	hi, _ = x.Hi().Rat(nil)
	return lo, hi
}
