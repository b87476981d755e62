package check

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/evidence"
	"optratio/number"
)

// constantBoxes decides the bound for all k from one on, in boxes of s = 1/k and μ = (n-2)/k. All amounts are divided by n(n-1) k^{n-2}. With g(v) = (1-vs)^{μ/s}, which falls
// as μ or s rises, permute-and-flip's error is A/B { ∫_0^1 (1-y) g(-y) dy + ∫_0^{B'} (1-v/B') g(v) dv }.
type constantBoxes struct {
	c          *constantCertificate
	cell       *constantCell
	q          *constantRange
	mean       *big.Rat        // A/B, which is B', at the end of the cell for k = ∞: what bounds permute-and-flip
	least, sum number.Interval // A/B and B' at the beginning of the cell and the least k
	end        *big.Rat        // μ from which on the closed form is enough
	likely     int
}

// decide makes sure of the bound in the whole range.
func (b *constantBoxes) decide() {
	q, one := b.q, big.NewRat(1, 1)
	b.mean = new(big.Rat).Quo(b.cell.high, new(big.Rat).Sub(one, b.cell.high))
	if b.mean.Cmp(big.NewRat(int64(q.from), 1)) >= 0 {
		evidence.Refute("z = %s: k >= %d is no last range, which begins beyond z/(1-z)", b.cell.low.RatString(), q.from)
	}
	weighted, plain := arith.PowerSums(arith.Interval{Prec: constantBits}, b.number(b.cell.low), q.from)
	b.least, b.sum = weighted.Quo(plain.Add(b.number(one))), plain
	b.end, _ = b.number(b.c.crowded).Quo(plain).Hi().Rat(nil)
	b.split(&constantBox{new(big.Rat), b.end, new(big.Rat), big.NewRat(1, int64(q.from))}, 0)
}

// constantBox has m1 <= μ <= m2 and s1 <= s <= s2.
type constantBox struct{ m1, m2, s1, s2 *big.Rat }

// split decides a box, in halves where the whole does not tell.
func (b *constantBoxes) split(x *constantBox, depth int) {
	if x.m2.Cmp(x.s1) < 0 || b.proved(x) { // n >= 3 has μ >= s
		return
	}
	if depth == maxConstantParts {
		m, _ := x.m1.Float64()
		s, _ := x.s1.Float64()
		evidence.Refute("z = %s: the points prove nothing near (n-2)/k = %.6g, 1/k = %.6g", b.cell.low.RatString(), m, s)
	}
	half := func(p, q *big.Rat) *big.Rat { return new(big.Rat).Mul(new(big.Rat).Add(p, q), big.NewRat(1, 2)) }
	wide := new(big.Rat).Quo(new(big.Rat).Sub(x.m2, x.m1), b.end)
	tall := new(big.Rat).Mul(new(big.Rat).Sub(x.s2, x.s1), big.NewRat(int64(b.q.from), 2))
	if wide.Cmp(tall) >= 0 {
		m := half(x.m1, x.m2)
		b.split(&constantBox{m, x.m2, x.s1, x.s2}, depth+1)
		b.split(&constantBox{x.m1, m, x.s1, x.s2}, depth+1)
		return
	}
	s := half(x.s1, x.s2)
	b.split(&constantBox{x.m1, x.m2, x.s1, s}, depth+1)
	b.split(&constantBox{x.m1, x.m2, s, x.s2}, depth+1)
}

// proved reports whether permute-and-flip's error is at most the bound times what the closed form or one of the points is worth, in the whole box. At each s its error is convex in μ
// and so at most the chord between the ends, and what a point is worth is at least a chord: it is enough to compare at both ends.
func (b *constantBoxes) proved(x *constantBox) bool {
	one, most := b.number(big.NewRat(1, 1)), b.number(b.c.most)
	flip := [2]number.Interval{b.flip(x.m1, x.s1), b.flip(x.m2, x.s1)}
	proves := func(flip, value number.Interval) bool { return flip.Hi().Cmp(most.Mul(value).Lo()) <= 0 }
	s := b.number(x.s1)
	if room := b.number(x.m1).Add(s).Add(s); room.Lo().Sign() > 0 {
		rest := one.Sub(one.Quo(b.sum.Mul(room)))
		closed := b.least.Mul(b.first(x.m1, x.s2).Add(rest.Quo(b.number(x.m2).Add(b.number(x.s2)))))
		if rest.Lo().Sign() > 0 && proves(flip[0].Max(flip[1]), closed) {
			return true
		}
	}
	terms := b.terms(x)
	for i := range b.q.points {
		at := (b.likely + i) % len(b.q.points)
		if p := &b.q.points[at]; p.most == 0 && proves(flip[0], terms[0].value(p)) && proves(flip[1], terms[1].value(p)) {
			b.likely = at
			return true
		}
	}
	return false
}

func (b *constantBoxes) number(x *big.Rat) number.Interval { return number.FromRat(x, constantBits) }

// power encloses (1 - v s)^{μ/s + more}, at s = 0 e^{-μ v}.
func (b *constantBoxes) power(v, mu, s *big.Rat, more int) number.Interval {
	b.c.cost.Spend(stepsPerTerm * constantBits / 4)
	if s.Sign() == 0 {
		return number.ExpRat(new(big.Rat).Neg(new(big.Rat).Mul(mu, v)), constantBits)
	}
	base := new(big.Rat).Mul(v, s)
	exponent := new(big.Rat).Quo(mu, s)
	exponent.Add(exponent, big.NewRat(int64(more), 1))
	return number.Exp(number.LogRat(base.Sub(big.NewRat(1, 1), base), constantBits).Mul(b.number(exponent)))
}

// flip bounds permute-and-flip's error at one μ and all k up to 1/s or beyond.
func (b *constantBoxes) flip(mu, s *big.Rat) number.Interval {
	return b.number(b.mean).Mul(b.first(mu, s).Add(b.second(mu, s)))
}

// first encloses ∫_0^1 (1-y) g(-y) dy, which rises with μ and falls as s rises.
func (b *constantBoxes) first(mu, s *big.Rat) number.Interval {
	one := big.NewRat(1, 1)
	m := new(big.Rat).Add(mu, s)
	if m.Sign() == 0 {
		return b.number(big.NewRat(1, 2))
	}
	twice := new(big.Rat).Add(m, s)
	rest := b.power(big.NewRat(-1, 1), mu, s, 2).Sub(b.number(new(big.Rat).Add(one, twice)))
	return rest.Quo(b.number(new(big.Rat).Mul(m, twice)))
}

// second encloses ∫_0^b (1 - v/b) g(v) dv, with the mean for b, which falls as μ or s rises.
func (b *constantBoxes) second(mu, s *big.Rat) number.Interval {
	m := new(big.Rat).Add(mu, s)
	if m.Sign() == 0 {
		return b.number(new(big.Rat).Mul(b.mean, big.NewRat(1, 2)))
	}
	twice := new(big.Rat).Add(m, s)
	rest := b.number(big.NewRat(1, 1)).Sub(b.power(b.mean, mu, s, 2))
	return b.number(new(big.Rat).Inv(m)).Sub(rest.Quo(b.number(twice.Mul(twice, m).Mul(twice, b.mean))))
}

// boxTerms has from below what a power and what a difference is worth at one end of μ, by cut and by how many are chosen, from 2 on:
//
//	Π_{2<=i<c} (n-i)/(k-x)  g(x),
//
// for a difference times 1 - (1-t)^{n-c} with t = 1/(k-x), where -ln(1-t) >= t + t²/2. At each μ (n-i)/(k-x) = (μ-(i-2)s)/(1-xs) is least at an end of s.
type boxTerms struct{ power, difference [][]number.Interval }

// terms returns those at both ends, so that the chord between them is below what they are in between. At each s their logarithms are concave in μ, so a term is at least
// T_1^{1-θ} T_2^θ; with l = ln(T_2/T_1) that is at most l²/8 max(T_1,T_2) below the chord, and l² <= (T_1-T_2)²/(T_1 T_2).
func (b *constantBoxes) terms(x *constantBox) (t [2]boxTerms) {
	columns, rows := 0, 0
	for i := range b.q.points {
		rows, columns = max(rows, len(b.q.points[i].power)), max(columns, len(b.q.points[i].power[0]))
	}
	eighth := b.number(big.NewRat(1, 8))
	chord := func(list, other []number.Interval) (a, c []number.Interval) {
		for i := range min(len(list), len(other)) {
			low, high := list[i].Min(other[i]), list[i].Max(other[i])
			wide := high.Sub(low)
			if low.Lo().Sign() <= 0 || wide.Hi().Cmp(low.Lo()) > 0 {
				a, c = append(a, low), append(c, low)
				continue
			}
			bow := wide.Mul(wide).Mul(eighth).Quo(low)
			a, c = append(a, list[i].Sub(bow)), append(c, other[i].Sub(bow))
		}
		return a, c
	}
	for at := range columns {
		p1, d1 := b.column(x, at, rows, x.m1)
		p2, d2 := b.column(x, at, rows, x.m2)
		p1, p2 = chord(p1, p2)
		d1, d2 = chord(d1, d2)
		t[0].power, t[0].difference = append(t[0].power, p1), append(t[0].difference, d1)
		t[1].power, t[1].difference = append(t[1].power, p2), append(t[1].difference, d2)
	}
	b.c.cost.Spend(2 * stepsPerTerm * rows * columns)
	return t
}

// column returns those for one cut at one μ, up to where they hardly count.
func (b *constantBoxes) column(x *constantBox, at, rows int, mu *big.Rat) (power, difference []number.Interval) {
	const negligible = 1e-9
	one, none := number.FromInt(1, constantBits), number.FromInt(0, constantBits)
	worth := b.power(big.NewRat(int64(at), 1), mu, x.s2, 0)
	m, s1, s2, cut := b.number(mu), b.number(x.s1), b.number(x.s2), number.FromInt(int64(at), constantBits)
	stretch, other := one.Quo(one.Sub(cut.Mul(s1))), one.Quo(one.Sub(cut.Mul(s2)))
	more := one.Add(s1.Mul(stretch).Mul(number.FromFloat(.5, constantBits)))
	for c := 2; c < rows && worth.Near() > negligible; c++ {
		i := number.FromInt(int64(c-2), constantBits)
		rate := m.Sub(i.Mul(s1)).Mul(stretch).Min(m.Sub(i.Mul(s2)).Mul(other)).Max(none) // (n-c)/(k-x)
		power, difference = append(power, worth), append(difference, worth.Mul(lost(rate.Mul(more))))
		worth = worth.Mul(rate)
	}
	return power, difference
}

// value encloses from below what a point is worth.
func (t *boxTerms) value(p *constantPoint) number.Interval {
	sum := number.FromInt(0, constantBits)
	for at := range p.power[0] {
		for c, worth := range t.power[at] {
			if c+2 < len(p.power) {
				sum = sum.Add(p.power[c+2][at].Mul(worth)).Add(p.difference[c+2][at].Mul(t.difference[at][c]))
			}
		}
	}
	return sum
}

// lost encloses from below 1 - e^-y, y >= 0, by its series, which alternates.
func lost(y number.Interval) number.Interval {
	const terms = 10
	sum := number.FromInt(0, constantBits)
	for i := int64(terms); i >= 1; i-- { // y/1 (1 - y/2 (1 - … y/terms))
		sum = number.FromInt(1, constantBits).Sub(sum).Mul(y).Quo(number.FromInt(i, constantBits))
	}
	return sum
}
