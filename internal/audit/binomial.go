package audit

import (
	"math/big"

	"gonum.org/v1/gonum/mathext"

	"optratio/internal/arith"
	"optratio/number"
)

// binomialBits is the precision of bounds on binomial tails.
const binomialBits = 128

// halfLogTwoPi encloses ½ ln 2π, π being between two decimals of 50 digits.
var halfLogTwoPi = func() number.Interval {
	const digits = "314159265358979323846264338327950288419716939937510"
	lo, _ := new(big.Int).SetString(digits, 10)
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(50), nil)
	hi := new(big.Int).Add(lo, big.NewInt(1))
	pi := number.Hull(
		number.FromRat(new(big.Rat).SetFrac(lo, scale), binomialBits),
		number.FromRat(new(big.Rat).SetFrac(hi, scale), binomialBits))
	half := number.FromRat(big.NewRat(1, 2), binomialBits)
	return number.Log(pi.Mul(number.FromInt(2, binomialBits))).Mul(half)
}()

// logFactorial encloses ln n!: exactly up to 255, then by Stirling's series
//
//	(n+½) ln n - n + ½ ln 2π + 1/12n - 1/360n³ + [0, 1/1260n⁵],
//
// whose error has the sign of the first term left out and is smaller (DLMF 5.11(ii)).
func logFactorial(n int64) number.Interval {
	if n < 256 {
		return number.Log(arith.FromBig(new(big.Int).MulRange(1, max(1, n)), binomialBits))
	}
	rat := func(p int64, power int) number.Interval {
		d := new(big.Int).Exp(big.NewInt(n), big.NewInt(int64(power)), nil)
		return number.FromRat(new(big.Rat).SetFrac(big.NewInt(1), d.Mul(d, big.NewInt(p))), binomialBits)
	}
	s := number.FromRat(big.NewRat(2*n+1, 2), binomialBits).Mul(number.Log(number.FromInt(n, binomialBits)))
	s = s.Sub(number.FromInt(n, binomialBits)).Add(halfLogTwoPi)
	s = s.Add(rat(12, 1)).Sub(rat(360, 3))
	return s.Add(number.Hull(number.FromInt(0, binomialBits), rat(1260, 5)))
}

// upperTail bounds Pr[Bin(n, p) >= x] from above, for 0 < p < 1: the first term, then terms whose ratio
//
//	t_{i+1}/t_i = (n-i)/(i+1) · p/(1-p)
//
// falls. Where x is not above the mean it returns 1.
func upperTail(n, x int64, p number.Interval) number.Interval {
	one := number.FromInt(1, binomialBits)
	if x > n {
		return number.FromInt(0, binomialBits)
	}
	if above, ok := number.FromInt(x, binomialBits).Cmp(number.FromInt(n, binomialBits).Mul(p)); x <= 0 || !ok || above <= 0 {
		return one
	}
	q := one.Sub(p)
	log := logFactorial(n).Sub(logFactorial(x)).Sub(logFactorial(n - x))
	log = log.Add(number.FromInt(x, binomialBits).Mul(number.Log(p)))
	log = log.Add(number.FromInt(n-x, binomialBits).Mul(number.Log(q)))
	odds, small := p.Quo(q), number.FromRat(big.NewRat(1, 1<<40), binomialBits)
	term := number.Exp(log)
	sum := term
	for i := x; i < n; i++ {
		r := number.FromRat(big.NewRat(n-i, i+1), binomialBits).Mul(odds)
		if below, ok := r.Cmp(one); ok && below < 0 { // a geometric series bounds the rest
			rest := term.Mul(r).Quo(one.Sub(r))
			if less, ok := rest.Cmp(sum.Mul(small)); ok && less < 0 {
				return sum.Add(rest).Min(one)
			}
		}
		term = term.Mul(r)
		sum = sum.Add(term)
	}
	return sum.Min(one)
}

// lowerLimit returns a p such that Pr[Bin(n, p) >= x] <= alpha, certainly, and nearly the largest: the one-sided lower
// confidence limit of Clopper & Pearson (1934) for x of n. The quantile of the beta distribution
// proposes it.
func lowerLimit(n, x int64, alpha *big.Rat) *big.Rat {
	if x <= 0 {
		return new(big.Rat)
	}
	level, _ := alpha.Float64()
	proposal := new(big.Rat).SetFloat64(mathext.InvRegIncBeta(float64(x), float64(n-x)+1, level))
	most := number.FromRat(alpha, binomialBits)
	// A little below what is nearly right is right: the tail falls by a factor per step.
	for shrink := int64(1 << 36); shrink > 0; shrink /= 4 {
		p := new(big.Rat).Mul(proposal, new(big.Rat).Sub(big.NewRat(1, 1), big.NewRat(1, shrink)))
		if p.Sign() <= 0 {
			break
		}
		if holds, ok := upperTail(n, x, number.FromRat(p, binomialBits)).LessEq(most); ok && holds {
			return p
		}
	}
	return new(big.Rat)
}

// upperLimit returns the upper confidence limit likewise.
func upperLimit(n, x int64, alpha *big.Rat) *big.Rat {
	return new(big.Rat).Sub(big.NewRat(1, 1), lowerLimit(n, n-x, alpha))
}
