package arith

import (
	"math/big"
	"math/bits"
	"slices"
)

// PowerSums returns Σ_{v=1}^k v z^v and Σ_{v=1}^k z^v, in O(log k) operations without subtractions.
func PowerSums[T any](f Field[T], z T, k int) (weighted, plain T) {
	// With S_m and T_m the plain and the weighted sum of m terms: S_2m = S_m + z^m S_m, T_2m = T_m + z^m (T_m + m S_m).
	weighted, plain = f.Zero(), f.Zero()
	power := f.One()
	for bit := bits.Len(uint(k)) - 1; bit >= 0; bit-- {
		m := k >> (bit + 1)
		weighted = f.Add(weighted, f.Mul(power, f.Add(weighted, f.Mul(f.FromInt(int64(m)), plain))))
		plain = f.Add(plain, f.Mul(power, plain))
		power = f.Mul(power, power)
		if k>>bit&1 == 1 {
			power = f.Mul(power, z)
			plain = f.Add(plain, power)
			weighted = f.Add(weighted, f.Mul(f.FromInt(int64(2*m+1)), power))
		}
	}
	return weighted, plain
}

// DifferenceQuotient returns (a^n - b^n)/(a - b) = Σ_{i<n} a^i b^{n-1-i}, n >= 0, which has a value at a = b too, in O(log n) operations
// without subtractions.
func DifferenceQuotient[T any](f Field[T], a, b T, n int) T {
	// Q_2m = Q_m (a^m + b^m), Q_{m+1} = a Q_m + b^m.
	sum, powerA, powerB := f.Zero(), f.One(), f.One()
	for bit := bits.Len(uint(n)) - 1; bit >= 0; bit-- {
		sum = f.Mul(sum, f.Add(powerA, powerB))
		powerA, powerB = f.Mul(powerA, powerA), f.Mul(powerB, powerB)
		if n>>bit&1 == 1 {
			sum = f.Add(f.Mul(a, sum), powerB)
			powerA, powerB = f.Mul(powerA, a), f.Mul(powerB, b)
		}
	}
	return sum
}

// CommonDenominator returns the least common denominator of the numbers.
func CommonDenominator(xs []*big.Rat) *big.Int {
	den, rest := big.NewInt(1), new(big.Int)
	for i, x := range xs {
		if i > 0 && x == xs[i-1] {
			continue // the same number again, as in long runs of weights
		}
		if rest.Rem(den, x.Denom()); rest.Sign() != 0 {
			rest.GCD(nil, nil, den, x.Denom())
			den.Mul(den, rest.Quo(x.Denom(), rest))
		}
	}
	return den
}

// Times returns x·den, where den is a multiple of x's denominator.
func Times(x *big.Rat, den *big.Int) *big.Int {
	n := new(big.Int).Quo(den, x.Denom())
	return n.Mul(n, x.Num())
}

// Multiples returns rationals >= 0 as multiples of a unit, the greatest common one.
func Multiples(xs []*big.Rat) (multiples []*big.Int, unit *big.Rat) {
	den := CommonDenominator(xs)
	common := new(big.Int)
	for _, x := range xs {
		m := Times(x, den)
		multiples = append(multiples, m)
		common.GCD(nil, nil, common, m)
	}
	if common.Sign() == 0 {
		common.SetInt64(1)
	}
	for _, m := range multiples {
		m.Quo(m, common)
	}
	return multiples, new(big.Rat).SetFrac(common, den)
}

// Ranks returns 2·rank - (n+1) for each value, ranks counted from 1, ties having their average rank. They sum to 0.
func Ranks(values []*big.Rat) []int64 {
	sorted := slices.SortedFunc(slices.Values(values), (*big.Rat).Cmp)
	out := make([]int64, len(values))
	for i, x := range values {
		first, _ := slices.BinarySearchFunc(sorted, x, (*big.Rat).Cmp)
		last, _ := slices.BinarySearchFunc(sorted, x, func(a, b *big.Rat) int { return 2*a.Cmp(b) - 1 }) // after all that are equal
		out[i] = int64(first+last+1) - int64(len(values)+1)
	}
	return out
}

// Larger returns the larger one of two rationals.
func Larger(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}
