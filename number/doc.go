// Package number holds the privacy parameter, enclosures, and the form in which results leave the program.
//
// An Epsilon is ε >= 0, known exactly: ε is rational, or e^ε is.
//
// An Interval [lo, hi] stands for one real number that lies in it. Every operation returns an interval that holds the exact
// result for every choice of reals in its operands: lower ends are rounded towards -Inf, upper ends towards +Inf, and the
// range limits of big.Float (overflow to ±Inf, underflow to 0, whatever the rounding mode) are corrected outwards.
//   - Intervals are immutable values. Operations may share ends between operand and result, so the floats that Lo and Hi
//     return must not be modified.
//   - Ends are never NaN. lo = -Inf and hi = +Inf mean unbounded; lo = +Inf and hi = -Inf do not occur, and no interval is
//     empty. 0·∞ counts as 0, because an infinite end is a bound and not a value.
//   - The precision of a result is the larger one of its operands, in bits of mantissa; both ends of an interval have the
//     same precision.
//   - The zero value of Interval is not an interval; its methods panic.
//   - Division by an interval that holds 0 is the whole line.
//
// Sign and Cmp decide what can be decided, and say when they cannot. No operation chooses a precision or refines: the caller
// raises the precision and computes again.
//
// A Number is a result: an enclosure with decimal bounds, an exact rational, an estimate that is not rigorous, or infinity.
// In JSON it is one of
//
//	{"lower":"0.66666666666666666666","upper":"0.66666666666666666667","exact":"2/3"}
//	{"lower":"1.0085803","upper":"1.0085804","exact":null}
//	{"estimate":"0.25","method":"monte carlo"}
//	"inf"
//
// where lower and upper are rounded outward. A bound that is missing on one side is "-inf" or "inf". The zero Number is no
// number and null in JSON.
//
// Numbers calculate: rationals exactly, and in outward-rounded intervals otherwise; an operation on an estimate, on +∞ or on no number
// has no bounds. Sign, Cmp, LessEq and Within decide by the bounds.
//
// Sources of the interval arithmetic: Moore, Kearfott & Cloud, Introduction to Interval Analysis (SIAM 2009), ch. 2 and 5;
// Brent & Zimmermann, Modern Computer Arithmetic (CUP 2010), ch. 4.
package number
