package certificate

import (
	"maps"
	"math/big"
	"slices"

	"optratio/number/arith"
	"optratio/number/interval"
)

// Limits of exact evaluation, in bits; beyond them there are only enclosures. Of
// the numbers in a closed form, which are reduced to lowest terms again and again, and of
// the denominator of the exponential mechanism's error, which is reduced once.
const (
	maxClosedBits      = 1 << 17
	maxExponentialBits = 1 << 23
)

// totals are sums over the score vectors of the lattice, known in closed form.
type totals[T any] struct {
	flip T // error of permute-and-flip
	dual T // the value of the dual point of proof dual-closed-form
	all  T // number of score vectors, or of pairs of one and a box around it: ΣW
	sum  T // B' = Σ_{v=1}^k z^v
}

// closedForms returns the totals for n candidates and depths 0 to k.
//
// With A = Σ v z^v, B' = Σ_{v>=1} z^v and y = k - B', permute-and-flip's total error over Q(n,k) is
// A {[(k+1)^n - y^n]/(B'+1) - [k^n - y^n]/B'}, where (k+1) - y = B'+1 and k - y = B', so that either quotient is a
// sum of n products without cancellation. The dual point y(m) = A/(1+B') for m_0 >= 2 has the value
// A/(1+B') [(k+1)^n - k^n - n k^{n-1}]. The dual point y(m) = A/(1+B') (1 - (k-D)/B'), D being the depth of the deepest, has the value A [(k+1)^n/(1+B') - k^n/B'] for n >= 2
// (docs/results/universal.md). It is taken where B' >= 1 and n B' > k: then its value is the larger one. Under the objective box all are summed over the depths 1 to k, a restriction
// of a feasible point to score vectors of lesser depth being feasible there. below reports whether a number may be negative.
func closedForms[T any](f arith.Field[T], below func(T) bool, z T, n, k int, box bool) totals[T] {
	t := totals[T]{flip: f.Zero(), dual: f.Zero(), sum: f.Zero()}
	a, power := f.Zero(), f.One()
	num := func(i int) T { return f.FromInt(int64(i)) }
	for j := 1; j <= k; j++ {
		power = f.Mul(power, z)
		t.sum = f.Add(t.sum, power)
		a = f.Add(a, f.Mul(num(j), power))
		if j < k && !box {
			continue
		}
		y := f.Sub(num(j), t.sum)
		up, upper := powerQuotient(f, num(j+1), y, n)
		low, lower := powerQuotient(f, num(j), y, n)
		t.flip = f.Add(t.flip, f.Mul(a, f.Sub(up, low)))
		// n j^{n-1} is what n vectors with a single best one are.
		single := f.Mul(num(n), arith.Pow(f, num(j), n-1))
		vectors := f.Sub(f.Sub(upper, lower), single)
		if crowded(f, below, t.sum, n, j) {
			vectors = f.Sub(upper, f.Quo(f.Mul(f.Add(f.One(), t.sum), lower), t.sum))
		}
		t.dual = f.Add(t.dual, f.Mul(f.Quo(a, f.Add(f.One(), t.sum)), vectors))
	}
	t.all = arith.Pow(f, num(k+1), n)
	if !box {
		t.all = f.Sub(t.all, arith.Pow(f, num(k), n))
	}
	return t
}

// crowded reports whether B' >= 1 and n B' >= k for sure.
func crowded[T any](f arith.Field[T], below func(T) bool, sum T, n, k int) bool {
	num := func(i int) T { return f.FromInt(int64(i)) }
	return n >= 2 && !below(f.Sub(sum, f.One())) && !below(f.Sub(f.Mul(num(n), sum), num(k)))
}

// negative reports whether a rational is below 0, mayBeNegative whether a number in an enclosure can be.
func negative(x *big.Rat) bool               { return x.Sign() < 0 }
func mayBeNegative(x interval.Interval) bool { return x.Lo().Sign() < 0 }

// powerQuotient returns (x^n - y^n)/(x - y) = Σ_{i<n} x^{n-1-i} y^i, which is n x^{n-1} where x = y, and
// x^n, for n >= 1. It doubles the number of terms: that for 2m is that for m times x^m + y^m.
func powerQuotient[T any](f arith.Field[T], x, y T, n int) (quotient, power T) {
	q, xm, ym := f.One(), x, y
	for i := bits(n) - 2; i >= 0; i-- {
		q = f.Mul(q, f.Add(xm, ym))
		xm, ym = f.Mul(xm, xm), f.Mul(ym, ym)
		if n>>i&1 == 1 {
			q = f.Add(f.Mul(x, q), ym)
			xm, ym = f.Mul(xm, x), f.Mul(ym, y)
		}
	}
	return q, xm
}

// bits returns the number of binary digits of n >= 1.
func bits(n int) int { return big.NewInt(int64(n)).BitLen() }

// exponentialTotal returns the total error of the exponential mechanism,
// Σ_m N(m) f(m) Σ_v m_v v z^v / Σ_v m_v z^v, by enumeration.
func exponentialTotal[T any](p *program, f arith.Field[T], z T) (T, error) {
	powers := arith.Powers(f, z, p.k)
	total := f.Zero()
	for _, m := range p.orbits() {
		if err := p.ctx.Err(); err != nil {
			return total, err
		}
		num, den := f.Zero(), f.Zero()
		for v, c := range m {
			if c > 0 {
				w := f.Mul(f.FromInt(int64(c)), powers[v])
				den = f.Add(den, w)
				num = f.Add(num, f.Mul(f.FromInt(int64(v)), w))
			}
		}
		w := new(big.Rat).SetInt(p.multiplicity(m))
		w.Mul(w, big.NewRat(int64(p.factor(m)), 1))
		total = f.Add(total, f.Mul(f.FromRat(w), f.Quo(num, den)))
	}
	return total, nil
}

// exponentialExact returns exponentialTotal for rational z = b/a. The fractions' denominators have
// little in common, so that they are summed in pairs and reduced once, at the end.
func exponentialExact(p *program, z *big.Rat) (*big.Rat, error) {
	a, b := z.Denom(), z.Num()
	powers := make([]*big.Int, p.k+1) // a^k z^v
	for v := range powers {
		powers[v] = new(big.Int).Exp(a, big.NewInt(int64(p.k-v)), nil)
		powers[v].Mul(powers[v], new(big.Int).Exp(b, big.NewInt(int64(v)), nil))
	}
	type fraction struct{ num, den *big.Int }
	add := func(x, y fraction) fraction {
		num := new(big.Int).Mul(x.num, y.den)
		return fraction{num.Add(num, new(big.Int).Mul(y.num, x.den)), new(big.Int).Mul(x.den, y.den)}
	}
	// Fractions of one denominator come first.
	byDen := make(map[string]fraction)
	for _, m := range p.orbits() {
		if err := p.ctx.Err(); err != nil {
			return nil, err
		}
		num, den, w := new(big.Int), new(big.Int), new(big.Int)
		for v, c := range m {
			if c > 0 {
				w.Mul(powers[v], big.NewInt(int64(c)))
				den.Add(den, w)
				num.Add(num, w.Mul(w, big.NewInt(int64(v))))
			}
		}
		num.Mul(num, p.multiplicity(m))
		num.Mul(num, big.NewInt(int64(p.factor(m))))
		g := new(big.Int).GCD(nil, nil, num, den)
		if num.Sign() != 0 {
			num.Quo(num, g)
			den.Quo(den, g)
		} else {
			den.SetInt64(1)
		}
		key := string(den.Bytes())
		if x, ok := byDen[key]; ok {
			num.Add(num, x.num)
		}
		byDen[key] = fraction{num, den}
	}
	// In pairs, each half of what is left with the other half.
	sums := slices.Collect(maps.Values(byDen))
	for left := len(sums); left > 1; left = (left + 1) / 2 {
		for i := range left / 2 {
			if err := p.ctx.Err(); err != nil {
				return nil, err
			}
			sums[i] = add(sums[i], sums[left-1-i])
		}
	}
	total := sums[0]
	return new(big.Rat).SetFrac(total.num, total.den), nil
}
