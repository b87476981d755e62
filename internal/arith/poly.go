package arith

import (
	"math/big"
	"math/bits"
	"slices"
)

// poly is a polynomial with integer coefficients, lowest power first, without zeros at the
// end; 0 is empty. The functions below never modify or return a coefficient of an operand
// in a form that is modified later.
type poly = []*big.Int

// Never written to; nought stands for all coefficients that are 0 in the long and sparse polynomials of deep score vectors.
var one, nought = big.NewInt(1), new(big.Int)

func clonePoly(p poly) poly {
	q := make(poly, len(p))
	for i, c := range p {
		q[i] = new(big.Int).Set(c)
	}
	return q
}

func trim(p poly) poly {
	for len(p) > 0 && p[len(p)-1].Sign() == 0 {
		p = p[:len(p)-1]
	}
	return p
}

func isOne(p poly) bool { return len(p) == 1 && p[0].Cmp(one) == 0 }

func equalPoly(p, q poly) bool {
	return slices.EqualFunc(p, q, func(a, b *big.Int) bool { return a.Cmp(b) == 0 })
}

func negPoly(p poly) poly {
	q := slices.Clone(p)
	for i, c := range p {
		if c.Sign() != 0 {
			q[i] = new(big.Int).Neg(c)
		}
	}
	return q
}

func addPoly(p, q poly) poly {
	if len(p) < len(q) {
		p, q = q, p
	}
	s := slices.Clone(p)
	for i, c := range q {
		switch {
		case c.Sign() == 0:
		case p[i].Sign() == 0:
			s[i] = c
		default:
			s[i] = new(big.Int).Add(p[i], c)
		}
	}
	return trim(s)
}

// mulPoly returns p·q, neither being 0.
func mulPoly(p, q poly) poly {
	switch {
	case isOne(p):
		return q
	case isOne(q):
		return p
	}
	s := make(poly, len(p)+len(q)-1)
	var t big.Int
	for i, a := range p {
		if a.Sign() == 0 {
			continue
		}
		for j, b := range q {
			switch {
			case b.Sign() == 0:
			case s[i+j] == nil:
				s[i+j] = new(big.Int).Mul(a, b)
			default:
				s[i+j].Add(s[i+j], t.Mul(a, b))
			}
		}
	}
	for i, c := range s {
		if c == nil {
			s[i] = nought
		}
	}
	return s
}

// quoPoly returns p/d, which must have no remainder.
func quoPoly(p, d poly) poly {
	q, ok := tryQuoPoly(p, d)
	if !ok {
		panic("arith: polynomial division with a remainder")
	}
	return q
}

// tryQuoPoly returns p/d in Z[z] for d != 0, and whether there is such a polynomial.
func tryQuoPoly(p, d poly) (q poly, ok bool) {
	switch {
	case isOne(d):
		return p, true
	case len(p) == 0:
		return nil, true
	case len(p) < len(d):
		return nil, false
	}
	rest := clonePoly(p)
	q = make(poly, len(p)-len(d)+1)
	lead := d[len(d)-1]
	var r, t big.Int
	for i := len(q) - 1; i >= 0; i-- {
		c := new(big.Int)
		if c.QuoRem(rest[i+len(d)-1], lead, &r); r.Sign() != 0 {
			return nil, false
		}
		q[i] = c
		if c.Sign() == 0 {
			continue
		}
		for j, b := range d[:len(d)-1] {
			if b.Sign() != 0 {
				rest[i+j].Sub(rest[i+j], t.Mul(c, b))
			}
		}
	}
	for _, c := range rest[:len(d)-1] {
		if c.Sign() != 0 {
			return nil, false
		}
	}
	return q, true
}

// content returns the greatest common divisor of p's coefficients, positive for p != 0.
func content(p poly) *big.Int {
	g := new(big.Int)
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].Sign() == 0 {
			continue
		}
		if g.GCD(nil, nil, g, new(big.Int).Abs(p[i])); g.Cmp(one) == 0 {
			break
		}
	}
	return g
}

// primitive returns p divided by its content c, both.
func primitive(p poly) (q poly, c *big.Int) {
	if c = content(p); c.Cmp(one) == 0 {
		return p, c
	}
	q = make(poly, len(p))
	for i, a := range p {
		q[i] = new(big.Int).Quo(a, c)
	}
	return q, c
}

// gcdPoly returns a greatest common divisor of p and q in Z[z], neither being 0, with a positive
// leading coefficient: the gcd of the contents times that of the primitive parts.
func gcdPoly(p, q poly) poly {
	p, c := primitive(p)
	q, d := primitive(q)
	c = new(big.Int).GCD(nil, nil, c, d)
	low := min(valuation(p), valuation(q))
	p, q = p[valuation(p):], q[valuation(q):]
	g := gcdPrimitive(p, q)
	r := make(poly, low+len(g))
	for i := range low {
		r[i] = new(big.Int)
	}
	for i, a := range g {
		r[low+i] = new(big.Int).Mul(a, c)
	}
	return r
}

// valuation returns the number of factors z in p != 0.
func valuation(p poly) int {
	return slices.IndexFunc(p, func(c *big.Int) bool { return c.Sign() != 0 })
}

// gcdPrimitive returns the primitive gcd of two primitive polynomials by Brown's modular method
// (Knuth, TAOCP 2, 4.6.1; von zur Gathen & Gerhard, Modern Computer Algebra, ch. 6).
//
// For a prime that divides neither leading coefficient, the gcd modulo the prime has at least the
// degree of the gcd. Images of the least degree seen so far, scaled to a common leading
// coefficient, are combined by Chinese remainders; a lift that divides both polynomials has at most the
// gcd's degree and thus is the gcd. Nothing rests on a prime being lucky but the time it takes.
func gcdPrimitive(p, q poly) poly {
	if len(p) == 1 || len(q) == 1 {
		return poly{one}
	}
	if equalPoly(p, q) {
		return normalSign(p)
	}
	lead := new(big.Int).GCD(nil, nil, new(big.Int).Abs(p[len(p)-1]), new(big.Int).Abs(q[len(q)-1]))
	var image []*big.Int // the scaled gcd modulo modulus
	modulus := new(big.Int)
	for m := firstPrime; ; m = primeBelow(m) {
		pm, qm := reduce(p, m), reduce(q, m)
		if pm[len(p)-1] == 0 || qm[len(q)-1] == 0 {
			continue
		}
		gm := gcdMod(pm, qm, m)
		if len(gm) == 1 {
			return poly{one}
		}
		if image != nil && len(gm) > len(image) {
			continue
		}
		l := reduceInt(lead, m)
		for i := range gm {
			gm[i] = mulMod(gm[i], l, m)
		}
		if image == nil || len(gm) < len(image) {
			image = make(poly, len(gm))
			for i, c := range gm {
				image[i] = new(big.Int).SetUint64(c)
			}
			modulus.SetUint64(m)
		} else {
			chinese(image, modulus, gm, m)
		}
		if g, _ := primitive(lift(image, modulus)); divides(g, p) && divides(g, q) {
			return normalSign(g)
		}
	}
}

func divides(d, p poly) bool {
	_, ok := tryQuoPoly(p, d)
	return ok
}

func normalSign(p poly) poly {
	if p[len(p)-1].Sign() < 0 {
		return negPoly(p)
	}
	return p
}

// lift returns the representatives of least magnitude of the residues.
func lift(image []*big.Int, modulus *big.Int) poly {
	half := new(big.Int).Rsh(modulus, 1)
	p := make(poly, len(image))
	for i, c := range image {
		p[i] = new(big.Int).Set(c)
		if c.Cmp(half) > 0 {
			p[i].Sub(c, modulus)
		}
	}
	return p
}

// chinese replaces image by the residues modulo modulus·m that agree with it and with gm, and
// modulus by modulus·m.
func chinese(image []*big.Int, modulus *big.Int, gm []uint64, m uint64) {
	inv := inverseMod(reduceInt(modulus, m), m)
	for i, c := range image {
		d := mulMod(subMod(gm[i], reduceInt(c, m), m), inv, m)
		c.Add(c, new(big.Int).Mul(modulus, new(big.Int).SetUint64(d)))
	}
	modulus.Mul(modulus, new(big.Int).SetUint64(m))
}

// firstPrime is 2^61 - 1.
const firstPrime uint64 = 1<<61 - 1

// primeBelow returns the largest prime below m. The test is exact for 64-bit numbers.
func primeBelow(m uint64) uint64 {
	for m -= 2; !new(big.Int).SetUint64(m).ProbablyPrime(0); m -= 2 {
	}
	return m
}

func reduce(p poly, m uint64) []uint64 {
	r := make([]uint64, len(p))
	for i, c := range p {
		r[i] = reduceInt(c, m)
	}
	return r
}

func reduceInt(c *big.Int, m uint64) uint64 {
	var r uint64
	if bits.UintSize == 64 {
		words := c.Bits()
		for i := len(words) - 1; i >= 0; i-- {
			r = bits.Rem64(r, uint64(words[i]), m)
		}
		if c.Sign() < 0 && r != 0 {
			r = m - r
		}
		return r
	}
	return new(big.Int).Mod(c, new(big.Int).SetUint64(m)).Uint64()
}

func mulMod(a, b, m uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return bits.Rem64(hi, lo, m)
}

func subMod(a, b, m uint64) uint64 {
	if a >= b {
		return a - b
	}
	return a + m - b
}

// inverseMod returns a^-1 modulo the prime m as a^(m-2), for a != 0.
func inverseMod(a, m uint64) uint64 {
	r := uint64(1)
	for e := m - 2; e > 0; e >>= 1 {
		if e&1 == 1 {
			r = mulMod(r, a, m)
		}
		a = mulMod(a, a, m)
	}
	return r
}

// gcdMod returns the monic gcd of two polynomials modulo the prime m by Euclid's algorithm. It
// overwrites both; their leading coefficients are not 0.
func gcdMod(p, q []uint64, m uint64) []uint64 {
	if len(p) < len(q) {
		p, q = q, p
	}
	for {
		inv := inverseMod(q[len(q)-1], m)
		for i := range q {
			q[i] = mulMod(q[i], inv, m)
		}
		if len(q) == 1 {
			return q
		}
		for len(p) >= len(q) {
			c, shift := p[len(p)-1], len(p)-len(q)
			if c != 0 {
				for j, b := range q[:len(q)-1] {
					p[shift+j] = subMod(p[shift+j], mulMod(c, b, m), m)
				}
			}
			p = p[:len(p)-1]
		}
		for len(p) > 0 && p[len(p)-1] == 0 {
			p = p[:len(p)-1]
		}
		if len(p) == 0 {
			return q
		}
		p, q = q, p
	}
}
