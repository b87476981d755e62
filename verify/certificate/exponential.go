package certificate

import (
	"maps"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/internal/evidence"
)

// maxExponentialBits is the limit of exact evaluation of the exponential mechanism's error, whose denominator is reduced once; beyond it there are only enclosures.
const maxExponentialBits = 1 << 23

// exponentialTotal returns the total error of the exponential mechanism,
// Σ_m N(m) f(m) Σ_v m_v v z^v / Σ_v m_v z^v, by enumeration.
func exponentialTotal[T any](p *program, f arith.Field[T], z T) T {
	powers := arith.Powers(f, z, p.K)
	total := f.Zero()
	for _, m := range p.Orbits() {
		evidence.Stop(p.ctx.Err())
		num, den := f.Zero(), f.Zero()
		for v, c := range m {
			if c > 0 {
				w := f.Mul(f.FromInt(int64(c)), powers[v])
				den = f.Add(den, w)
				num = f.Add(num, f.Mul(f.FromInt(int64(v)), w))
			}
		}
		w := new(big.Rat).SetInt(p.Multiplicity(m))
		w.Mul(w, big.NewRat(int64(p.factor(m)), 1))
		total = f.Add(total, f.Mul(f.FromRat(w), f.Quo(num, den)))
	}
	return total
}

// exponentialExact returns exponentialTotal for rational z = b/a. The fractions' denominators have
// little in common, so that they are summed in pairs and reduced once, at the end.
func exponentialExact(p *program, z *big.Rat) *big.Rat {
	a, b := z.Denom(), z.Num()
	powers := make([]*big.Int, p.K+1) // a^k z^v
	for v := range powers {
		powers[v] = new(big.Int).Exp(a, big.NewInt(int64(p.K-v)), nil)
		powers[v].Mul(powers[v], new(big.Int).Exp(b, big.NewInt(int64(v)), nil))
	}
	type fraction struct{ num, den *big.Int }
	add := func(x, y fraction) fraction {
		num := new(big.Int).Mul(x.num, y.den)
		return fraction{num.Add(num, new(big.Int).Mul(y.num, x.den)), new(big.Int).Mul(x.den, y.den)}
	}
	// Fractions of one denominator come first.
	byDen := make(map[string]fraction)
	for _, m := range p.Orbits() {
		evidence.Stop(p.ctx.Err())
		num, den, w := new(big.Int), new(big.Int), new(big.Int)
		for v, c := range m {
			if c > 0 {
				w.Mul(powers[v], big.NewInt(int64(c)))
				den.Add(den, w)
				num.Add(num, w.Mul(w, big.NewInt(int64(v))))
			}
		}
		num.Mul(num, p.Multiplicity(m))
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
			evidence.Stop(p.ctx.Err())
			sums[i] = add(sums[i], sums[left-1-i])
		}
	}
	total := sums[0]
	return new(big.Rat).SetFrac(total.num, total.den)
}
