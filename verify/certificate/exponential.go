package certificate

import "optratio/internal/arith"

// maxExponentialBits is the limit of exact evaluation of the exponential mechanism's error, whose denominator it bounds; beyond it there are only enclosures.
const maxExponentialBits = 1 << 23

// exponentialTotal returns the total error of the exponential mechanism, Σ_m w(m) Σ_v m_v v z^v / Σ_v m_v z^v, by enumeration. Fractions are summed in pairs, of
// which each has half of what is left, so that long denominators are few. A depth of a count vector costs so many steps.
func exponentialTotal[T any](l *orbits, f arith.Field[T], z T, price int) T {
	powers := arith.Powers(f, z, l.k)
	var terms []T
	for i, m := range l.lat.Orbits() {
		l.cost.Spend(price * len(m))
		num, den := f.Zero(), f.Zero()
		for v, c := range m {
			if c > 0 {
				w := f.Mul(f.FromInt(int64(c)), powers[v])
				den = f.Add(den, w)
				num = f.Add(num, f.Mul(f.FromInt(int64(v)), w))
			}
		}
		terms = append(terms, f.Mul(f.FromRat(l.weight[i]), f.Quo(num, den)))
	}
	for len(terms) > 1 {
		half := (len(terms) + 1) / 2
		for i, x := range terms[half:] {
			l.cost.Spend(64)
			terms[i] = f.Add(terms[i], x)
		}
		terms = terms[:half]
	}
	return terms[0]
}
