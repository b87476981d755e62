package verify

import (
	"fmt"
	"math/big"
	"strconv"

	"optratio/internal/decimal"
	"optratio/internal/inquiry"
	"optratio/number"
)

// How verdicts are taken where numbers are not exact (inquiry.Question). Every number stands for an interval of readings. A property is violated
// where a comparison fails for every reading. It is proved where every comparison holds for every reading, but for what rounding may do: a limit on
// numbers that are not exact has a slack, a small part of it, named here, for "proved" and "violated" alike. Privacy is then proved at the upper end of
// the tight ε, which the verdict states. Otherwise it is undecided. So numbers that are too coarse prove nothing, and a claim that is met exactly can be proved of rounded numbers.
var (
	epsSlack   = big.NewRat(1, 1_000_000) // of ε, where Options.Slack does not say otherwise; and of a range and ρ
	deltaSlack = big.NewRat(1, 1_000)     // of δ

	// openReading is the reason of comparisons that hold for some readings and fail for others.
	openReading = "the numbers are not known well enough: fractions in strings, or a smaller relative precision where it is true, decide it"
)

// equalityPart is the part of a number by which the readings of two numbers that are to be equal, or of which one is to be no greater, may
// differ.
const equalityPart = 1e-6

var one = big.NewRat(1, 1)

// raised returns e^{part·ε + slack}.
func raised(exp *inquiry.Value, part, slack *big.Rat) *inquiry.Value {
	return inquiry.Refinable(func(prec uint) number.Interval {
		return number.Exp(number.Log(exp.Enclose(prec)).Mul(number.FromRat(part, prec)).Add(number.FromRat(slack, prec)))
	})
}

// plus returns x and the given part of it.
func plus(x, part *big.Rat) *big.Rat {
	y := new(big.Rat).Mul(x, part)
	return y.Add(y, x)
}

// excused reports whether, of two numbers that the readings do not tell apart, a exceeds b by no more than rounding may do, in every reading.
func (t *tracker) excused(a, b *inquiry.Value) bool {
	if !t.run.opts.readings {
		return false
	}
	over := a.Enclose(128).Hi()
	if low := b.Enclose(128).Lo(); over.Cmp(low) > 0 {
		if low.Sign() <= 0 {
			return false
		}
		excess := number.Point(over).Quo(number.Point(low)).Sub(number.FromInt(1, 128))
		_, part := excess.Float64()
		if part > equalityPart {
			return false
		}
		t.doubt = max(t.doubt, part)
	}
	return true
}

// readOff says what the readings leave of a verdict on privacy: the upper end at which it is proved, or what would decide it.
func (c *run) readOff(res *Result, symbol string, tight, claimed number.Number) {
	hi, bounded := tight.Upper()
	most, ok := claimed.Upper()
	switch {
	case !ok:
	case res.Verdict == Undecided && res.Reason == openReading:
		res.Reason = fmt.Sprintf("by its numbers the tight %s is in %s, and %s is claimed: fractions in strings, or a smaller relative precision where it is true, decide it",
			symbol, fromTo(tight), strconv.FormatFloat(claimed.Float64(), 'g', 10, 64))
	case res.Verdict == Violated:
		res.Reason = hidden(symbol, tight, most)
	case res.Verdict == Proved && bounded && hi.Cmp(most) > 0:
		at := decimal.Upper(hi, 10)
		if over := new(big.Rat).Sub(hi, most); new(big.Rat).Mul(over, big.NewRat(1e9, 1)).Cmp(most) < 0 { // which ten digits hide
			at = strconv.FormatFloat(claimed.Float64(), 'g', 10, 64) + " + " + decimal.Upper(over, 2)
		}
		res.Reason = fmt.Sprintf("proved at %s <= %s (claimed %s", symbol, at, strconv.FormatFloat(claimed.Float64(), 'g', 10, 64))
		if lo, _ := tight.Lower(); lo != nil && lo.Cmp(hi) < 0 && res.TightExpEps == nil {
			res.Reason += "; the numbers are good to " + decimal.Upper(new(big.Rat).Sub(hi, lo), 1)
		}
		res.Reason += ")"
	}
}

// hidden says by how much a number exceeds what is claimed where its first digits do not show it.
func hidden(symbol string, tight number.Number, claimed *big.Rat) string {
	lo, ok := tight.Lower()
	if !ok {
		return ""
	}
	over := new(big.Rat).Sub(lo, claimed)
	if over.Sign() <= 0 || new(big.Rat).Mul(over, big.NewRat(100_000, 1)).Cmp(claimed) > 0 {
		return ""
	}
	text := fmt.Sprintf("the tight %s exceeds the claimed one by %s", symbol, decimal.Lower(over, 2))
	if symbol == "ε" {
		text += ", which a slack of " + decimal.Upper(over, 1) + " allows"
	}
	return text
}

// fromTo writes an enclosure with both ends, which may be far apart.
func fromTo(x number.Number) string {
	lower, upper := "0", "∞"
	if lo, ok := x.Lower(); ok {
		lower = decimal.Lower(lo, 6)
	}
	if hi, ok := x.Upper(); ok {
		upper = decimal.Upper(hi, 6)
	}
	return "[" + lower + ", " + upper + "]"
}
