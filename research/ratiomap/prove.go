package ratiomap

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/lp"
	"optratio/number"
)

// precision in bits is that of enclosures.
const precision = 128

// Pieces, on which permute-and-flip's error is bounded by that at their right end, have ends that are multiples of 2^-(zBits+pieceBits).
const pieceBits = 16

// prover decides upper bounds on permute-and-flip's ratio between dual points of one lattice.
type prover struct {
	n, k    int
	options Options
	form    *form
	// monotone is set where rows of monotonicity take part.
	monotone *monotone
}

func whole(x *big.Int) number.Interval { return arith.FromBig(x, precision) }

// flip encloses permute-and-flip's total error over the lattice at z, which is in units of 2^-(zBits+pieceBits).
func (p *prover) flip(z int64) number.Interval {
	exp := new(big.Rat).SetFrac(big.NewInt(1<<(zBits+pieceBits)), big.NewInt(z))
	eps, err := number.FromExp(exp)
	if err != nil {
		panic(err) // 0 < z <= 1
	}
	return lp.PermuteAndFlipTotal(p.n, p.k, eps, precision)
}

// ratio returns permute-and-flip's error over the bound of a dual point, as an estimate.
func (p *prover) ratio(d *dual) float64 {
	return p.flip(d.z << pieceBits).Quo(value(d)).Near()
}

// value is the bound of a dual point.
func value(d *dual) number.Interval {
	return whole(d.value).Quo(number.FromInt(1<<unitBits, precision))
}

// span is the interval of z between two dual points.
type span struct {
	p    *prover
	a, b *dual
	from number.Interval // the values of the two points
	to   number.Interval
	sag  number.Interval // (z_b - z_a) E
	most number.Interval // the ratio that is to be proved
}

func (p *prover) span(a, b *dual) *span {
	unit := number.FromInt(1<<zBits, precision)
	sag := whole(bend(p.form, a, b)).Mul(number.FromInt(b.z-a.z, precision)).Quo(unit).Quo(number.FromInt(1<<unitBits, precision))
	return &span{p: p, a: a, b: b, from: value(a), to: value(b), sag: sag}
}

// chord and bow return (1-t) D_a + t D_b and t(1-t)(z_b - z_a) E at t = i/2^pieceBits; their difference bounds the optimum from below.
func (s *span) chord(i int64) number.Interval {
	t := fraction(i)
	return s.from.Add(s.to.Sub(s.from).Mul(t))
}

func (s *span) bow(i int64) number.Interval {
	t := fraction(i)
	return t.Mul(number.FromInt(1, precision).Sub(t)).Mul(s.sag)
}

func fraction(i int64) number.Interval {
	return number.FromInt(i, precision).Quo(number.FromInt(1<<pieceBits, precision))
}

// flip encloses permute-and-flip's error at t = i/2^pieceBits.
func (s *span) flip(i int64) number.Interval {
	return s.p.flip(s.a.z<<pieceBits + (s.b.z-s.a.z)*i)
}

// proves reports whether permute-and-flip's ratio is proved to be at most so much everywhere on the span.
func (s *span) proves(most *big.Rat) bool {
	s.most = number.FromRat(most, precision)
	return s.holds(0, 1<<pieceBits, s.flip(1<<pieceBits))
}

// below reports whether an error is at most the ratio times a bound.
func (s *span) below(flip, bound number.Interval) bool {
	return flip.Hi().Cmp(s.most.Mul(bound).Lo()) <= 0
}

// holds reports whether the ratio is proved from t = i/2^pieceBits to t = j/2^pieceBits, where permute-and-flip's error at the right end is flip. That
// error does not fall as z rises, so it suffices that it is at most the ratio times the least value of the bound. t(1-t) is
// largest at one of the ends, as no piece has 1/2 inside.
func (s *span) holds(i, j int64, flip number.Interval) bool {
	const half = 1 << (pieceBits - 1)
	if i >= half || j <= half {
		low := s.chord(i).Min(s.chord(j)).Sub(s.bow(i).Max(s.bow(j)))
		if s.below(flip, low) {
			return true
		}
		if j == i+1 || !s.below(flip, s.chord(j).Sub(s.bow(j))) {
			return false
		}
	}
	m := (i + j) / 2
	return s.holds(i, m, s.flip(m)) && s.holds(m, j, flip)
}
