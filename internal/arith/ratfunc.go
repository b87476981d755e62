package arith

import (
	"fmt"
	"math/big"
	"strings"

	"optratio/number"
)

// RatFunc is a rational function Num/Den of one indeterminate z with integer coefficients,
// lowest power first.
//
// It is in lowest terms: Num and Den have no common factor in Z[z], neither ends in a zero
// coefficient, and the leading coefficient of Den is positive; 0 is Num empty, Den = 1. So two
// of them are the same function iff they are the same coefficients. For rational ε != 0 the number
// z = e^-ε is transcendental (Lindemann), and then two of them have the same value at it iff they
// are the same function. The coefficients are not to be modified. The zero value is 0.
type RatFunc struct{ Num, Den []*big.Int }

// signed returns n/d with the sign moved to the numerator; n and d are coprime.
func signed(n, d poly) RatFunc {
	if d[len(d)-1].Sign() < 0 {
		n, d = negPoly(n), negPoly(d)
	}
	return RatFunc{n, d}
}

// canonical replaces the zero value by 0/1.
func (r RatFunc) canonical() RatFunc {
	if len(r.Den) == 0 {
		r.Den = poly{one}
	}
	return r
}

// IsZero reports whether r is the function 0, which is whether r(z) = 0 at transcendental z.
func (r RatFunc) IsZero() bool { return len(r.Num) == 0 }

// Rat returns r as a rational number if r is constant.
func (r RatFunc) Rat() (c *big.Rat, ok bool) {
	r = r.canonical()
	switch {
	case len(r.Num) == 0:
		return new(big.Rat), true
	case len(r.Num) > 1 || len(r.Den) > 1:
		return nil, false
	}
	return new(big.Rat).SetFrac(r.Num[0], r.Den[0]), true
}

// Eval returns an enclosure of r(z), by Horner's rule at z's precision: the whole line where the
// denominator's enclosure holds 0.
func (r RatFunc) Eval(z number.Interval) number.Interval {
	r = r.canonical()
	n := horner(r.Num, z)
	if len(r.Den) == 1 && r.Den[0].Cmp(one) == 0 {
		return n
	}
	return n.Quo(horner(r.Den, z))
}

func horner(p poly, z number.Interval) number.Interval {
	prec := z.Prec()
	s, pending := number.FromInt(0, prec), 0 // the value is s·z^pending
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].Sign() != 0 {
			s, pending = s.Mul(z.Pow(pending)).Add(FromBig(p[i], prec)), 0
		}
		pending++
	}
	return s.Mul(z.Pow(max(0, pending-1)))
}

// EvalRat returns r(z) exactly; ok is false if z is a pole.
func (r RatFunc) EvalRat(z *big.Rat) (v *big.Rat, ok bool) {
	r = r.canonical()
	d := hornerRat(r.Den, z)
	if d.Sign() == 0 {
		return nil, false
	}
	return d.Quo(hornerRat(r.Num, z), d), true
}

// hornerRat returns p(a/b) as (Σ p_i a^i b^(n-i)) / b^n, with one reduction at the end.
func hornerRat(p poly, z *big.Rat) *big.Rat {
	sum, scale := new(big.Int), big.NewInt(1)
	var t big.Int
	for i := len(p) - 1; i >= 0; i-- {
		sum.Mul(sum, z.Num())
		sum.Add(sum, t.Mul(p[i], scale))
		if i > 0 {
			scale.Mul(scale, z.Denom())
		}
	}
	return new(big.Rat).SetFrac(sum, scale)
}

// SignUpTo returns the sign of r at a transcendental number, given by enclosures of it that shrink to a point as their precision grows; ok
// says whether enclosures of at most limit bits decide it. Only r = 0 gives 0.
func (r RatFunc) SignUpTo(limit uint, at func(prec uint) number.Interval) (s int, ok bool) {
	if r.IsZero() {
		return 0, true
	}
	s = 1
	for _, p := range []poly{r.Num, r.Den} {
		sign, known := 0, false
		for prec := uint(64); prec <= limit && !known; prec *= 2 {
			sign, known = horner(p, at(prec)).Sign()
		}
		if !known {
			return 0, false
		}
		s *= sign
	}
	return s, true
}

// SignNear0 returns the sign that r has at every t in (0, most], where that is so near 0 that the lowest
// terms decide: a polynomial Σ_{i>=m} p_i t^i has p_m's sign up to |p_m|/(|p_m| + max_{i>m} |p_i|) (Cauchy's bound on
// roots, for the reversed polynomial). ok is false where most is greater than that.
func (r RatFunc) SignNear0(most *big.Float) (s int, ok bool) {
	if r.IsZero() {
		return 0, true
	}
	s = 1
	for _, p := range []poly{r.Num, r.Den} {
		low, high := new(big.Int), new(big.Int)
		for _, c := range p {
			switch a := new(big.Int).Abs(c); {
			case low.Sign() == 0 && a.Sign() != 0:
				low = a
				s *= c.Sign()
			case a.Cmp(high) > 0:
				high = a
			}
		}
		// most·(low + high) < low, by exponents: x < 2^MantExp, and an integer is at least 2^(BitLen-1).
		if most.Sign() != 0 && most.MantExp(nil)+high.Add(high, low).BitLen() > low.BitLen()-1 {
			return 0, false
		}
	}
	return s, true
}

// String returns r in the form (1 - 2z + z^3)/(3z), for messages.
func (r RatFunc) String() string {
	r = r.canonical()
	if len(r.Den) == 1 && r.Den[0].Cmp(one) == 0 {
		return formatPoly(r.Num)
	}
	return fmt.Sprintf("(%s)/(%s)", formatPoly(r.Num), formatPoly(r.Den))
}

func formatPoly(p poly) string {
	var b strings.Builder
	for i, c := range p {
		if c.Sign() == 0 {
			continue
		}
		switch {
		case b.Len() > 0 && c.Sign() < 0:
			b.WriteString(" - ")
		case b.Len() > 0:
			b.WriteString(" + ")
		case c.Sign() < 0:
			b.WriteString("-")
		}
		if a := new(big.Int).Abs(c); i == 0 || a.Cmp(one) != 0 {
			b.WriteString(a.String())
		}
		switch {
		case i == 1:
			b.WriteString("z")
		case i > 1:
			fmt.Fprintf(&b, "z^%d", i)
		}
	}
	if b.Len() == 0 {
		return "0"
	}
	return b.String()
}

// Poly is the field of rational functions in z over the rationals.
type Poly struct{}

// Z returns the indeterminate.
func (Poly) Z() RatFunc { return RatFunc{poly{new(big.Int), one}, poly{one}} }

// Zero returns 0.
func (Poly) Zero() RatFunc { return RatFunc{nil, poly{one}} }

// One returns 1.
func (Poly) One() RatFunc { return RatFunc{poly{one}, poly{one}} }

// FromInt returns the constant i.
func (f Poly) FromInt(i int64) RatFunc {
	if i == 0 {
		return f.Zero()
	}
	return RatFunc{poly{big.NewInt(i)}, poly{one}}
}

// FromRat returns the constant r.
func (f Poly) FromRat(r *big.Rat) RatFunc {
	if r.Sign() == 0 {
		return f.Zero()
	}
	return RatFunc{poly{new(big.Int).Set(r.Num())}, poly{new(big.Int).Set(r.Denom())}}
}

// Add returns a + b. With g = gcd of the denominators, only a factor of g can cancel in
// (a.Num·b.Den/g + b.Num·a.Den/g) / (a.Den·b.Den/g) (Henrici; Knuth, TAOCP 2, 4.5.1).
func (f Poly) Add(a, b RatFunc) RatFunc {
	a, b = a.canonical(), b.canonical()
	if a.IsZero() {
		return b
	}
	if b.IsZero() {
		return a
	}
	var num, den, g poly
	if equalPoly(a.Den, b.Den) {
		num, den, g = addPoly(a.Num, b.Num), a.Den, a.Den
	} else {
		g = gcdPoly(a.Den, b.Den)
		ad, bd := quoPoly(a.Den, g), quoPoly(b.Den, g)
		num = addPoly(mulPoly(a.Num, bd), mulPoly(b.Num, ad))
		den = mulPoly(ad, b.Den)
	}
	if len(num) == 0 {
		return f.Zero()
	}
	if !isOne(g) {
		if h := gcdPoly(num, g); !isOne(h) {
			num, den = quoPoly(num, h), quoPoly(den, h)
		}
	}
	return signed(num, den)
}

// Sub returns a - b.
func (f Poly) Sub(a, b RatFunc) RatFunc { return f.Add(a, f.Neg(b)) }

// Mul returns a · b, cancelling crosswise.
func (f Poly) Mul(a, b RatFunc) RatFunc {
	if a.IsZero() || b.IsZero() {
		return f.Zero()
	}
	an, bd := cancel(a.Num, b.Den)
	bn, ad := cancel(b.Num, a.Den)
	return signed(mulPoly(an, bn), mulPoly(ad, bd))
}

// cancel divides n and d by their greatest common divisor.
func cancel(n, d poly) (poly, poly) {
	if isOne(d) || isOne(n) {
		return n, d
	}
	if g := gcdPoly(n, d); !isOne(g) {
		return quoPoly(n, g), quoPoly(d, g)
	}
	return n, d
}

// Quo returns a / b, and panics if b = 0.
func (f Poly) Quo(a, b RatFunc) RatFunc {
	if b.IsZero() {
		panic("arith: division by the rational function 0")
	}
	b = b.canonical()
	return f.Mul(a, RatFunc{b.Den, b.Num})
}

// Neg returns -a.
func (Poly) Neg(a RatFunc) RatFunc {
	a = a.canonical()
	return RatFunc{negPoly(a.Num), a.Den}
}
