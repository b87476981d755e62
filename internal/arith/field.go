// Package arith states the formulas' arithmetic as an interface, so that each formula
// has one generic body for exact, enclosed and floating-point numbers.
//
// A Field is a value that knows how to compute with numbers of one type. Rat and Poly
// are exact, Interval is outward rounded, and Float is what the hardware does: fit for
// proposals and plots, never for verdicts. Numbers are immutable: no operation changes
// its operands or returns storage that a later one changes.
//
// Beside the fields there are two kinds of exact numbers built on one transcendental:
// RatFunc (rational functions in z, for z = e^-ε with rational ε) and LogRat (A + B·ln z
// for rational z). For both, equality is decided by form (Lindemann's theorem). So the
// refinement of enclosures ends that decides the sign of a number other than 0.
//
// The package does not compare: not every field is ordered. Callers that need signs take
// them from the concrete type.
package arith

import (
	"math/big"

	"optratio/number"
)

// Field is the arithmetic of the numbers T. Quo panics on a divisor that is exactly 0,
// except where the number type has a value for it (Float, Interval).
type Field[T any] interface {
	Zero() T
	One() T
	FromInt(i int64) T
	FromRat(r *big.Rat) T
	Add(a, b T) T
	Sub(a, b T) T
	Mul(a, b T) T
	Quo(a, b T) T
	Neg(a T) T
}

var (
	_ Field[*big.Rat]        = Rat{}
	_ Field[float64]         = Float{}
	_ Field[number.Interval] = Interval{}
	_ Field[RatFunc]         = Poly{}
)

// Pow returns x^n by repeated squaring, with x^0 = 1 and x^-n = 1/x^n.
func Pow[T any](f Field[T], x T, n int) T {
	if n < 0 {
		return f.Quo(f.One(), pow(f, x, -uint(n)))
	}
	return pow(f, x, uint(n))
}

func pow[T any](f Field[T], x T, n uint) T {
	r := f.One()
	for n > 0 {
		if n&1 == 1 {
			r = f.Mul(r, x)
		}
		if n >>= 1; n > 0 {
			x = f.Mul(x, x)
		}
	}
	return r
}

// Powers returns x^0, ..., x^n, by n-1 multiplications.
func Powers[T any](f Field[T], x T, n int) []T {
	p := make([]T, n+1)
	p[0] = f.One()
	for i := 1; i <= n; i++ {
		if i == 1 {
			p[1] = x
		} else {
			p[i] = f.Mul(p[i-1], x)
		}
	}
	return p
}

// Sum returns the sum of xs, added from left to right; 0 if there are none.
func Sum[T any](f Field[T], xs ...T) T {
	if len(xs) == 0 {
		return f.Zero()
	}
	s := xs[0]
	for _, x := range xs[1:] {
		s = f.Add(s, x)
	}
	return s
}

// Rat is the field of rational numbers. Results are fresh or operands; never modify
// either.
type Rat struct{}

// Zero returns 0.
func (Rat) Zero() *big.Rat { return new(big.Rat) }

// One returns 1.
func (Rat) One() *big.Rat { return big.NewRat(1, 1) }

// FromInt returns i.
func (Rat) FromInt(i int64) *big.Rat { return new(big.Rat).SetInt64(i) }

// FromRat returns r itself.
func (Rat) FromRat(r *big.Rat) *big.Rat { return r }

// Add returns a + b.
func (Rat) Add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }

// Sub returns a - b.
func (Rat) Sub(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

// Mul returns a · b.
func (Rat) Mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

// Quo returns a / b, and panics if b = 0.
func (Rat) Quo(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }

// Neg returns -a.
func (Rat) Neg(a *big.Rat) *big.Rat { return new(big.Rat).Neg(a) }

// Float is float64 arithmetic, rounded to nearest and without any bound on the error.
type Float struct{}

// Zero returns 0.
func (Float) Zero() float64 { return 0 }

// One returns 1.
func (Float) One() float64 { return 1 }

// FromInt returns the float64 nearest to i.
func (Float) FromInt(i int64) float64 { return float64(i) }

// FromRat returns the float64 nearest to r.
func (Float) FromRat(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// Add returns a + b.
func (Float) Add(a, b float64) float64 { return a + b }

// Sub returns a - b.
func (Float) Sub(a, b float64) float64 { return a - b }

// Mul returns a · b.
func (Float) Mul(a, b float64) float64 { return a * b }

// Quo returns a / b.
func (Float) Quo(a, b float64) float64 { return a / b }

// Neg returns -a.
func (Float) Neg(a float64) float64 { return -a }

// Interval is outward-rounded arithmetic. Constants are made with Prec bits, which must
// be positive; results have the precision of their most precise operand.
type Interval struct{ Prec uint }

// Zero returns [0, 0].
func (f Interval) Zero() number.Interval { return number.FromInt(0, f.Prec) }

// One returns [1, 1].
func (f Interval) One() number.Interval { return number.FromInt(1, f.Prec) }

// FromInt returns the tightest interval around i.
func (f Interval) FromInt(i int64) number.Interval { return number.FromInt(i, f.Prec) }

// FromRat returns the tightest interval around r.
func (f Interval) FromRat(r *big.Rat) number.Interval { return number.FromRat(r, f.Prec) }

// Add returns a + b.
func (Interval) Add(a, b number.Interval) number.Interval { return a.Add(b) }

// Sub returns a - b.
func (Interval) Sub(a, b number.Interval) number.Interval { return a.Sub(b) }

// Mul returns a · b.
func (Interval) Mul(a, b number.Interval) number.Interval { return a.Mul(b) }

// Quo returns a / b, the whole line if b holds 0.
func (Interval) Quo(a, b number.Interval) number.Interval { return a.Quo(b) }

// Neg returns -a.
func (Interval) Neg(a number.Interval) number.Interval { return a.Neg() }
