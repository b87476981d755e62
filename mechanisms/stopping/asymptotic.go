package stopping

import (
	"fmt"
	"math"

	"optratio/number/interval"
)

// Asymptotic returns a_k = Σ_{s>=k} (1-1/e)^s / s, the limit of e·r_{k,n} for
// fixed k (Grining, Klonowski & Sulkowska, Theorem 5 / 5.2): a_1 = 1, a_2 = 1/e.
// The terms are positive and are added until they no longer count.
func Asymptotic(k int) (float64, error) {
	if k < 1 {
		return 0, fmt.Errorf("rank %d: %w, need at least 1", k, ErrRange)
	}
	x := 1 - 1/math.E
	term, sum := math.Pow(x, float64(k)), 0.0
	for s := k; ; s++ {
		next := sum + term/float64(s)
		if next == sum {
			return sum, nil
		}
		sum = next
		term *= x
	}
}

// AsymptoticEnclosure encloses a_k to about prec bits: the partial sum up to N
// plus a remainder in [0, x^{N+1}/((N+1)(1-x))], x = 1-1/e.
func AsymptoticEnclosure(k int, prec uint) (interval.Interval, error) {
	if k < 1 {
		return interval.Interval{}, fmt.Errorf("rank %d: %w, need at least 1", k, ErrRange)
	}
	prec += 32
	one := interval.FromInt(1, prec)
	x := one.Sub(interval.Exp(interval.FromInt(-1, prec)))
	term := x.Pow(k)
	sum := interval.FromInt(0, prec)
	// x < 2^-0.66, so prec bits take fewer than 2·prec terms.
	last := k + 2*int(prec)
	for s := k; s <= last; s++ {
		sum = sum.Add(term.Quo(interval.FromInt(int64(s), prec)))
		term = term.Mul(x)
	}
	rest := term.Quo(interval.FromInt(int64(last+1), prec).Mul(one.Sub(x)))
	return sum.Add(interval.Hull(interval.FromInt(0, prec), rest)), nil
}
