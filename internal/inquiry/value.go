package inquiry

import (
	"cmp"
	"math"
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/decimal"
	"optratio/number"
)

// Value is a real number: a rational, or enclosures that can be refined, with the function of a number of known nature that it is, where that
// is known. The function decides where enclosures do not. A Value is immutable but for a cache, and not safe for concurrent use.
type Value struct {
	rat      *big.Rat
	box      func(prec uint) number.Interval // where it is not rational; nil: from lo to hi
	ring     *ring                           // whose number exact is a function of
	exact    func() (arith.RatFunc, bool)    // which may take long; nil: no function is known
	num, den *Value                          // of a quotient
	inexact  bool                            // it is computed of numbers known only to lie between bounds
	Zeroed   bool                            // 0, of a number that was computed in double precision and may have vanished by rounding
	lo, hi   float64                         // outward-rounded bounds, where known is set
	known    bool
}

// Rational returns the value r, which must not be modified afterwards.
func Rational(r *big.Rat) *Value { return &Value{rat: r} }

// Refinable returns the number that all enclosures of box contain.
func Refinable(box func(prec uint) number.Interval) *Value {
	return &Value{box: remembering(box)}
}

// Enclosing returns a number that is in known, and that box encloses at larger precisions, unless it is computed of numbers that are not known so well.
func Enclosing(known number.Interval, inexact bool, box func(prec uint) number.Interval) *Value {
	return &Value{inexact: inexact, box: func(prec uint) number.Interval {
		if inexact || prec <= known.Prec() {
			return known
		}
		return box(prec)
	}}
}

// Within returns a number known only to lie in [lo, hi], the bounds rational. Unless they are
// extreme, they are kept as float64 numbers, rounded outward.
func Within(lo, hi *big.Rat) *Value {
	if lo.Cmp(hi) == 0 {
		return Rational(lo)
	}
	const prec = 128
	x := number.Hull(number.FromRat(lo, prec), number.FromRat(hi, prec))
	v := &Value{inexact: true, known: true}
	v.lo, v.hi = x.Float64()
	if least := min(math.Abs(v.lo), math.Abs(v.hi)); least < 1e-290 || math.IsInf(v.lo, 0) || math.IsInf(v.hi, 0) {
		v.box = func(uint) number.Interval { return x }
	}
	return v
}

// One is the number 1, which does not count as a factor.
var One = Rational(big.NewRat(1, 1))

// ExpEpsilon returns e^ε in the form in which it combines exactly with v.
func (v *Value) ExpEpsilon(eps number.Epsilon) *Value {
	if x := eps.Exp(); x != nil {
		return Rational(x)
	}
	return v.Exponential(eps.Eps())
}

// Exponential returns e^x in the form in which it combines exactly with v. Where x is not a multiple of the exponent of v's number t = e^-exponent, no
// rational function of t is e^x.
func (v *Value) Exponential(x *big.Rat) *Value {
	if r := v.ring; r != nil && r.exponent != nil {
		if power := new(big.Rat).Quo(x, r.exponent); power.IsInt() && power.Cmp(big.NewRat(lateDegree, 1)) <= 0 {
			return function(arith.Pow(arith.Poly{}, arith.Poly{}.Z(), -int(power.Num().Int64())), r)
		}
	}
	return Refinable(func(prec uint) number.Interval { return number.ExpRat(x, prec) })
}

// Vanishing is the number up to which double precision may round to 0.
var Vanishing = Rational(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 1074)))

// Nearly returns what a number x stands for that was computed in double precision: see decimal.Readings. A 0 is 0, but where a claim is refuted
// only because it is exactly that, and not a number below 2^-1074, the claim is undecided.
func Nearly(x, precision *big.Rat) *Value {
	v := Within(decimal.Readings(x, precision))
	v.Zeroed = x.Sign() == 0 && precision.Sign() > 0
	return v
}

// Readings returns rationals that the number lies between: twice the same where it is known, but for a 0 that may have vanished by rounding.
func (v *Value) Readings() (low, high *big.Rat) {
	switch {
	case v.Zeroed:
		return new(big.Rat), Vanishing.rat
	case v.Rat() != nil:
		return v.Rat(), v.Rat()
	}
	const prec = 192
	x := v.Enclose(prec)
	low, _ = x.Lo().Rat(nil)
	high, _ = x.Hi().Rat(nil)
	return low, high
}

// Numbers returns stated probabilities as results that others may see, and Of one of these as a value again. A 0 that may have vanished by rounding
// lies between 0 and 2^-1074.
func Numbers(rows [][]*Value) [][]number.Number {
	out := make([][]number.Number, len(rows))
	for i, row := range rows {
		for _, v := range row {
			out[i] = append(out[i], number.Bounds(v.Readings()))
		}
	}
	return out
}

// Of returns the value of a result with two bounds: see Numbers.
func Of(x number.Number) *Value {
	lo, hi := x.Ends()
	if lo.Sign() == 0 && hi.Cmp(Vanishing.rat) == 0 {
		return &Value{rat: lo, Zeroed: true}
	}
	return Within(lo, hi)
}

// lately returns a number that all enclosures of box contain, and that is a function of the ring's number.
func lately(box func(prec uint) number.Interval, r *ring, form func() (arith.RatFunc, bool)) *Value {
	return &Value{box: remembering(box), ring: r, exact: form}
}

// formBits is the precision of enclosures that do not tell two numbers apart from which on their functions do.
const formBits = 64

// function returns f(t) for the number t of the ring.
func function(f arith.RatFunc, r *ring) *Value {
	if c, ok := f.Rat(); ok {
		return Rational(c)
	}
	if r.degree == 1 {
		if v, ok := f.EvalRat(r.power); ok {
			return Rational(v)
		}
	}
	at := key(f)
	if r.known[at] == nil {
		if r.known == nil {
			r.known = map[string]*Value{}
		}
		r.known[at] = lately(func(prec uint) number.Interval { return f.Eval(r.at(prec)) }, r, func() (arith.RatFunc, bool) { return f, true })
	}
	return r.known[at]
}

// Enclose returns an interval around v at about the given precision.
func (v *Value) Enclose(prec uint) number.Interval {
	switch {
	case v.rat != nil:
		return number.FromRat(v.rat, prec)
	case v.den != nil:
		x, y := v.num.Enclose(prec), v.den.Enclose(prec)
		if y.Lo().Sign() <= 0 { // any number in some readings
			return from(x.Quo(number.Point(y.Hi())))
		}
		return x.Quo(y)
	case v.box == nil:
		return number.Hull(number.FromFloat(v.lo, max(prec, 64)), number.FromFloat(v.hi, max(prec, 64)))
	}
	return v.box(prec)
}

// Rat returns the rational that v is known to be, or nil.
func (v *Value) Rat() *big.Rat { return v.rat }

// Number returns v for printing.
func (v *Value) Number() number.Number {
	if v.rat != nil {
		return number.Exact(v.rat)
	}
	return number.Enclosed(v.Narrow())
}

// Narrow encloses v with a relative width of about 2^-128 where that can be had.
func (v *Value) Narrow() number.Interval {
	const bits = 128
	prec := uint(bits + 32)
	x := v.Enclose(prec)
	for !v.inexact && prec < 8*bits && x.RelWidth() > math.Ldexp(1, -bits) {
		prec *= 2
		x = v.Enclose(prec)
	}
	return x
}

// Floats returns float64 numbers on either side of v.
func (v *Value) Floats() (lo, hi float64) {
	if !v.known {
		v.lo, v.hi = v.Enclose(64).Float64()
		v.known = true
	}
	return v.lo, v.hi
}

// combine applies an operation in each form that both operands have.
func combine(a, b *Value,
	rat func(*big.Rat, *big.Rat) *big.Rat,
	fun func(arith.RatFunc, arith.RatFunc) arith.RatFunc,
	box func(number.Interval, number.Interval) number.Interval) *Value {
	if a.rat != nil && b.rat != nil {
		return Rational(rat(a.rat, b.rat))
	}
	v := &Value{
		inexact: a.inexact || b.inexact,
		box:     func(prec uint) number.Interval { return box(a.Enclose(prec), b.Enclose(prec)) },
		ring:    cmp.Or(a.ring, b.ring),
	}
	if a.formable(v.ring) && b.formable(v.ring) {
		v.exact = func() (arith.RatFunc, bool) {
			f, ok := a.form()
			g, also := b.form()
			if !ok || !also {
				return arith.RatFunc{}, false
			}
			return fun(f, g), true
		}
	}
	return v
}

// formable reports whether v may be a function of the ring's number, or a constant.
func (v *Value) formable(r *ring) bool { return v.rat != nil || v.ring == r && v.exact != nil }

// form returns v as a function of its ring's number, or a constant.
func (v *Value) form() (f arith.RatFunc, ok bool) {
	switch {
	case v.rat != nil:
		return arith.Poly{}.FromRat(v.rat), true
	case v.den != nil && v.num.formable(v.ring) && v.den.formable(v.ring):
		p, ok := v.num.form()
		q, also := v.den.form()
		if !ok || !also {
			return f, false
		}
		return arith.Poly{}.Quo(p, q), true
	case v.exact == nil:
		return f, false
	}
	return v.exact()
}

func (v *Value) Add(w *Value) *Value {
	return combine(v, w, arith.Rat{}.Add, arith.Poly{}.Add, number.Interval.Add)
}

func (v *Value) Sub(w *Value) *Value {
	if v == w {
		return Rational(new(big.Rat))
	}
	return combine(v, w, arith.Rat{}.Sub, arith.Poly{}.Sub, number.Interval.Sub)
}

func (v *Value) Mul(w *Value) *Value {
	switch {
	case v == One:
		return w
	case w == One:
		return v
	}
	return combine(v, w, arith.Rat{}.Mul, arith.Poly{}.Mul, number.Interval.Mul)
}

// Sign returns the sign of v and whether it is decided: where enclosures of at most limit bits tell, or where its exact form is known.
func (v *Value) Sign(limit uint) (s int, ok bool) {
	if v.rat != nil {
		return v.rat.Sign(), true
	}
	if lo, hi := v.Floats(); lo > 0 {
		return 1, true
	} else if hi < 0 {
		return -1, true
	}
	if v.inexact {
		limit = min(limit, 128) // what is not known better is not told apart by more bits
	}
	for prec := uint(64); ; prec *= 2 {
		if s, ok = v.Enclose(prec).Sign(); ok {
			return s, ok
		}
		if 2*prec > min(limit, formBits) {
			if f, ok := v.form(); ok {
				return v.ring.sign(f)
			}
		}
		if 2*prec > limit {
			return s, ok
		}
	}
}

// Zero reports whether v is known to be 0.
func (v *Value) Zero(limit uint) bool {
	s, ok := v.Sign(limit)
	return ok && s == 0
}

// Compare returns the sign of v - w, and whether it is decided.
func (v *Value) Compare(w *Value, limit uint) (int, bool) {
	if v == w {
		return 0, true
	}
	vlo, vhi := v.Floats()
	wlo, whi := w.Floats()
	switch {
	case vlo > whi:
		return 1, true
	case vhi < wlo, w == Infinite:
		return -1, true
	case v == Infinite:
		return 1, true
	case v.den == nil && w.den == nil:
		return v.Sub(w).Sign(limit)
	}
	vNum, vDen := v.quotient()
	wNum, wDen := w.quotient()
	if vDen == wDen {
		return vNum.Compare(wNum, limit)
	}
	return vNum.Mul(wDen).Compare(wNum.Mul(vDen), limit)
}

// Inexact reports whether the number is computed of some that are known only to lie between bounds.
func (v *Value) Inexact() bool { return v.inexact }

func Up(x float64) float64   { return math.Nextafter(x, math.Inf(1)) }
func down(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }

// PositivePart returns max(0, v), where the sign of v is not known.
func (v *Value) PositivePart() *Value {
	return &Value{inexact: v.inexact, box: func(prec uint) number.Interval {
		return v.Enclose(prec).Max(number.FromInt(0, prec))
	}}
}
