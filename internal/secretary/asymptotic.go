package secretary

import (
	"fmt"

	"optratio/number"
)

// AsymptoticEnclosure encloses a_k = Σ_{s>=k} (1-1/e)^s / s to about prec bits, the limit of e·r_{k,n} for fixed k (Grining, Klonowski &
// Sulkowska, Theorem 5 / 5.2): the partial sum up to N plus a remainder in [0, x^{N+1}/((N+1)(1-x))], x = 1-1/e.
func AsymptoticEnclosure(k int, prec uint) (number.Interval, error) {
	if k < 1 {
		return number.Interval{}, fmt.Errorf("rank %d: %w, need at least 1", k, ErrRange)
	}
	prec += 32
	one := number.FromInt(1, prec)
	x := one.Sub(number.Exp(number.FromInt(-1, prec)))
	term := x.Pow(k)
	sum := number.FromInt(0, prec)
	// x < 2^-0.66, so prec bits take fewer than 2·prec terms.
	last := k + 2*int(prec)
	for s := k; s <= last; s++ {
		sum = sum.Add(term.Quo(number.FromInt(int64(s), prec)))
		term = term.Mul(x)
	}
	rest := term.Quo(number.FromInt(int64(last+1), prec).Mul(one.Sub(x)))
	return sum.Add(number.Hull(number.FromInt(0, prec), rest)), nil
}
