package mechanisms

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync"

	"optratio/internal/decimal"
	"optratio/number/interval"
)

// Epsilon is a privacy parameter ε >= 0, known exactly: either ε itself is rational, or e^ε is.
// The zero value is not usable. An Epsilon remembers the powers it has computed and is
// safe for concurrent use.
type Epsilon struct {
	eps, exp *big.Rat // exactly one is set
	memo     *sync.Map
}

// ErrEpsilon is wrapped by errors about a privacy parameter.
var ErrEpsilon = errors.New("epsilon")

// FromEpsilon returns the parameter with the rational value eps, which must be >= 0.
func FromEpsilon(eps *big.Rat) (Epsilon, error) {
	if eps.Sign() < 0 {
		return Epsilon{}, fmt.Errorf("%w: %s is negative", ErrEpsilon, eps.RatString())
	}
	return Epsilon{eps: new(big.Rat).Set(eps), memo: new(sync.Map)}, nil
}

// FromExp returns the parameter with e^ε = exp, which must be >= 1.
func FromExp(exp *big.Rat) (Epsilon, error) {
	if exp.Cmp(big.NewRat(1, 1)) < 0 {
		return Epsilon{}, fmt.Errorf("%w: e^epsilon = %s is below 1", ErrEpsilon, exp.RatString())
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
	r, err := decimal.ParseFraction(s)
	if err != nil {
		return Epsilon{}, fmt.Errorf("%w: %w", ErrEpsilon, err)
	}
	return FromExp(r)
}

// String returns ε, or e^ε marked as such, in lowest terms.
func (e Epsilon) String() string {
	if e.exp != nil {
		return "ln(" + e.exp.RatString() + ")"
	}
	return e.eps.RatString()
}

// Eps returns ε where it is given as a rational, nil otherwise. Not to be modified.
func (e Epsilon) Eps() *big.Rat { return e.eps }

// Exp returns e^ε where it is given as a rational, nil otherwise. Not to be modified.
func (e Epsilon) Exp() *big.Rat { return e.exp }

// IsZero reports whether ε = 0.
func (e Epsilon) IsZero() bool {
	if e.exp != nil {
		return e.exp.Cmp(big.NewRat(1, 1)) == 0
	}
	return e.eps.Sign() == 0
}

// Z returns z = e^{-ε} where it is rational: where e^ε was given, or ε = 0.
func (e Epsilon) Z() (z *big.Rat, ok bool) {
	switch {
	case e.exp != nil:
		return new(big.Rat).Inv(e.exp), true
	case e.eps.Sign() == 0:
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
func (e Epsilon) ExpNeg(x *big.Rat, prec uint) interval.Interval {
	key := memoKey{x.RatString(), prec}
	if v, ok := e.memo.Load(key); ok {
		return v.(interval.Interval)
	}
	v := e.expNeg(x, prec)
	e.memo.Store(key, v)
	return v
}

func (e Epsilon) expNeg(x *big.Rat, prec uint) interval.Interval {
	if e.exp != nil {
		// the power has at least |x|(bits of e^ε - 2) bits, and is not worth having where that is many
		size, _ := new(big.Rat).Mul(x, big.NewRat(int64(e.exp.Num().BitLen()+e.exp.Denom().BitLen()-2), 1)).Float64()
		if math.Abs(size) < 1<<14 {
			if p, ok := e.ExpNegRat(x); ok && p.Num().BitLen()+p.Denom().BitLen() < 1<<14 {
				return interval.FromRat(p, prec)
			}
		}
		guard := prec + 64
		exponent := interval.LogRat(e.exp, guard).Mul(interval.FromRat(new(big.Rat).Neg(x), guard))
		return interval.Exp(exponent).SetPrec(prec)
	}
	product := new(big.Rat).Mul(e.eps, x)
	return interval.ExpRat(product.Neg(product), prec)
}

// Value returns an enclosure of ε.
func (e Epsilon) Value(prec uint) interval.Interval {
	if e.exp != nil {
		return interval.LogRat(e.exp, prec)
	}
	return interval.FromRat(e.eps, prec)
}

// Float returns ε rounded to a float64.
func (e Epsilon) Float() float64 {
	if e.exp != nil {
		one := big.NewRat(1, 1)
		excess, _ := new(big.Rat).Sub(e.exp, one).Float64()
		return math.Log1p(excess)
	}
	f, _ := e.eps.Float64()
	return f
}
