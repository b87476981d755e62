package arith

import "math/big"

// Root returns the n-th root of x > 0 where it is rational, otherwise nil.
func Root(x *big.Rat, n int64) *big.Rat {
	num, den := wholeRoot(x.Num(), n), wholeRoot(x.Denom(), n)
	if num == nil || den == nil {
		return nil
	}
	return new(big.Rat).SetFrac(num, den)
}

// exactBits bounds the numerals of powers that are kept exactly.
const exactBits = 1 << 16

// Power returns x^d for x > 0 and d >= 0 where it is rational and not long.
func Power(x, d *big.Rat) (*big.Rat, bool) {
	one := big.NewRat(1, 1)
	if d.Sign() == 0 || x.Cmp(one) == 0 {
		return one, true
	}
	n := d.Num().Int64()
	if !d.Num().IsInt64() || !d.Denom().IsInt64() || n > exactBits {
		return nil, false
	}
	r := Root(x, d.Denom().Int64())
	if r == nil || int64(max(r.Num().BitLen(), r.Denom().BitLen()))*n > exactBits {
		return nil, false
	}
	return new(big.Rat).SetFrac(new(big.Int).Exp(r.Num(), d.Num(), nil), new(big.Int).Exp(r.Denom(), d.Num(), nil)), true
}

// wholeRoot returns the n-th root of x > 0 where it is whole, otherwise nil.
func wholeRoot(x *big.Int, n int64) *big.Int {
	if n == 1 || x.Cmp(big.NewInt(1)) == 0 {
		return x
	}
	bits := int64(x.BitLen())
	if n >= bits { // 2^n > x
		return nil
	}
	low, high, of := big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(bits/n)+1), big.NewInt(n) // low^n <= x < high^n
	for {
		middle := new(big.Int).Add(low, high)
		if middle.Rsh(middle, 1); middle.Cmp(low) == 0 {
			break
		}
		if new(big.Int).Exp(middle, of, nil).Cmp(x) <= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	if new(big.Int).Exp(low, of, nil).Cmp(x) != 0 {
		return nil
	}
	return low
}
