package decimal

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Lower returns a decimal of at most the given number of significant digits that is at most x: the
// largest such one within the exponents that Parse accepts. A positive x below them gives "0";
// -Inf, and a negative x beyond them, give "-inf", and +Inf gives "inf". It panics if digits < 1.
//
// Moderate magnitudes are written plainly ("0.00012", "1200"), others as "1.2e-30". Zeros at the
// end of a fraction are left out, so a value that has so few digits is written exactly.
func Lower[T *big.Float | *big.Rat](x T, digits int) string { return directed(any(x), digits, down) }

// Upper returns a decimal of at most the given number of significant digits that is at least x, as
// Lower does below.
func Upper[T *big.Float | *big.Rat](x T, digits int) string { return directed(any(x), digits, up) }

// Nearest returns the decimal of at most the given number of significant digits that is nearest to x,
// ties to even; for reading, not for bounds.
func Nearest[T *big.Float | *big.Rat](x T, digits int) string {
	return directed(any(x), digits, nearest)
}

// Count writes a count for people: in full while it is readable, else as "about 1.2e55"; nil is "unknown".
func Count(x *big.Int) string {
	switch {
	case x == nil:
		return "unknown"
	case x.BitLen() <= 50:
		return x.String()
	}
	return "about " + strings.Replace(new(big.Float).SetInt(x).Text('e', 1), "e+", "e", 1)
}

// Grouped writes a count with a separator between its thousands.
func Grouped(n int64, separator string) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + separator + s[i:]
	}
	return s
}

// direction is that of the rounding of a signed number. On magnitudes, down and up change
// places for negative numbers.
type direction int

const (
	down direction = iota - 1
	nearest
	up
)

// maxBinaryExponent bounds the floats that become rationals: 2^maxBinaryExponent exceeds
// 10^(MaxExponent+1).
const maxBinaryExponent = 4*MaxExponent + 8

func directed(x any, digits int, dir direction) string {
	if digits < 1 {
		panic("decimal: no digits asked for")
	}
	switch x := x.(type) {
	case *big.Float:
		sign := x.Sign()
		switch exp := x.MantExp(nil); {
		case sign == 0:
			return "0"
		case x.IsInf():
			return infinity(sign)
		case exp > maxBinaryExponent:
			return withSign(sign, tooLarge(digits, dir*direction(sign)))
		case exp < -maxBinaryExponent:
			return withSign(sign, tooSmall(dir*direction(sign)))
		}
		r, _ := x.Rat(nil)
		return rational(r, digits, dir)
	case *big.Rat:
		return rational(x, digits, dir)
	}
	panic("unreachable")
}

func infinity(sign int) string { return withSign(sign, "inf") }

func withSign(sign int, s string) string {
	if sign < 0 && s != "0" {
		return "-" + s
	}
	return s
}

// tooLarge writes a magnitude of at least 10^(MaxExponent+1).
func tooLarge(digits int, dir direction) string {
	if dir == down {
		nines := new(big.Int).Sub(pow10(digits), big.NewInt(1))
		return layout(nines, MaxExponent-digits+1)
	}
	return "inf"
}

// tooSmall writes a positive magnitude below 10^-MaxExponent.
func tooSmall(dir direction) string {
	if dir == up {
		return layout(big.NewInt(1), -MaxExponent)
	}
	return "0"
}

func rational(x *big.Rat, digits int, dir direction) string {
	sign := x.Sign()
	if sign == 0 {
		return "0"
	}
	dir *= direction(sign)
	num, den := new(big.Int).Abs(x.Num()), x.Denom()
	// 10^e <= |x| < 10^(e+1), where the first guess may be too small by one.
	e := guessExponent(num, den)
	switch { // far beyond the limits, a power of ten would be longer than memory
	case e > MaxExponent:
		return withSign(sign, tooLarge(digits, dir))
	case e+1 < -MaxExponent:
		return withSign(sign, tooSmall(dir))
	}
	q, rest := scaled(num, den, digits-1-e)
	if q.Cmp(pow10(digits)) >= 0 {
		e++
		q, rest = scaled(num, den, digits-1-e)
	}
	switch {
	case e > MaxExponent:
		return withSign(sign, tooLarge(digits, dir))
	case e < -MaxExponent:
		return withSign(sign, tooSmall(dir))
	}
	if rest != exact && (dir == up || dir == nearest && (rest == aboveHalf || rest == atHalf && q.Bit(0) == 1)) {
		q.Add(q, big.NewInt(1))
	}
	if e == MaxExponent && q.Cmp(pow10(digits)) >= 0 {
		return withSign(sign, tooLarge(digits, dir))
	}
	return withSign(sign, layout(q, e-digits+1))
}

// guessExponent returns ⌊log10(num/den)⌋ or one less.
func guessExponent(num, den *big.Int) int {
	// 2^(b-1) < num/den < 2^(b+1). The bounds on log10 of the two sides are less than 0.61
	// apart, so the floor of a value just below the lower one is the exponent or one less.
	b := num.BitLen() - den.BitLen()
	return int(math.Floor(float64(float64(b-1)*math.Log10(2)) - 1e-6))
}

// remainder is what a floor leaves: nothing, or less, as much, or more than half a unit.
type remainder int

const (
	exact remainder = iota
	belowHalf
	atHalf
	aboveHalf
)

// scaled returns ⌊num/den·10^shift⌋ and what is left.
func scaled(num, den *big.Int, shift int) (*big.Int, remainder) {
	if shift >= 0 {
		num = new(big.Int).Mul(num, pow10(shift))
	} else {
		den = new(big.Int).Mul(den, pow10(-shift))
	}
	q, r := new(big.Int).QuoRem(num, den, new(big.Int))
	if r.Sign() == 0 {
		return q, exact
	}
	switch r.Lsh(r, 1).Cmp(den) {
	case -1:
		return q, belowHalf
	case 0:
		return q, atHalf
	}
	return q, aboveHalf
}

// The exponents of the leading digit that are written plainly.
const (
	minPlain = -7
	maxPlain = 20
)

// layout writes q·10^shift, q > 0.
func layout(q *big.Int, shift int) string {
	s := q.String()
	e := len(s) - 1 + shift
	s = strings.TrimRight(s, "0")
	switch {
	case e < minPlain || e > maxPlain:
		if len(s) > 1 {
			s = s[:1] + "." + s[1:]
		}
		return s + "e" + strconv.Itoa(e)
	case e < 0:
		return "0." + strings.Repeat("0", -e-1) + s
	case len(s) <= e+1:
		return s + strings.Repeat("0", e+1-len(s))
	}
	return s[:e+1] + "." + s[e+1:]
}

// Hex returns a dyadic rational as a hexadecimal float with the fewest digits, exactly.
func Hex(x *big.Rat) string {
	bits := uint(max(x.Num().BitLen(), 1))
	f := new(big.Float).SetPrec(bits).SetInt(x.Num())
	return f.SetMantExp(f, 1-x.Denom().BitLen()).Text('x', -1)
}

// Text writes a number that has finitely many decimals, with all of them.
func Text(x *big.Rat) string {
	for digits := 20; ; digits *= 2 {
		if s := Lower(x, digits); s == Upper(x, digits) || digits > MaxLength {
			return s
		}
	}
}
