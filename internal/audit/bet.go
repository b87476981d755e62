package audit

import (
	"math"
	"math/big"

	"optratio/number"
)

// A bet is made before a batch of na draws at one score vector and nb draws at its neighbor. Every draw at the vector
// multiplies the wealth by x1 where it falls into an event and by x0 where it does not; every draw at the neighbor
// multiplies it by y1 or y0; and the batch as a whole by e^{-na(x0-1)-nb(y0-1)}. With
//
//	0 < x0 <= x1,   0 < y1 <= y0,   na (x1-x0) e^ε <= nb (y0-y1)
//
// the wealth does not rise on average, whatever a mechanism does that is ε-private (research/docs/bets.md has the proof).
type bet struct{ x0, x1, y0, y1 float64 }

// noBet leaves the wealth as it is.
var noBet = bet{1, 1, 1, 1}

// most of the largest stake at which a factor would be 0.
const boldest = 0.98

// ratio is how many draws at the neighbor there are for how many at the vector.
type ratio struct{ at, near int64 }

// newBet returns the bet with stake u = x1-x0 against privacy at c = e^ε whose factors are 1 on average where the event has
// the probabilities h and h/c. Stakes that are too large are cut. The other stake is rounded up by far more than rounding
// can take away.
func newBet(u, h, c float64, r ratio) bet {
	share := float64(r.at) / float64(r.near)
	u = min(u, largestStake(h, c, r))
	if !(u > 0) || math.IsInf(c, 1) {
		return noBet
	}
	v := float64(u * c * share * (1 + 1e-10))
	b := bet{x0: 1 - float64(u*h), y0: 1 + float64(v*h/c)}
	b.x1, b.y1 = b.x0+u, b.y0-v
	if !(b.x0 > 0 && b.y1 > 0) {
		return noBet
	}
	return b
}

// largestStake returns the largest stake of newBet.
func largestStake(h, c float64, r ratio) float64 {
	share := float64(r.at) / float64(r.near)
	return boldest * min(1/h, 1/(c*share*(1-h/c)))
}

// variance returns the rate at which a stake's square costs: a stake u gains u·gap - u²·variance/2 per draw at the vector,
// to second order, where gap is the probability there less c times that at the neighbor.
func variance(h, c float64, r ratio) float64 {
	return float64(h*(1-h)) + float64(float64(r.at)/float64(r.near)*c*c*(h/c)*(1-h/c))
}

// counts are the draws of some batches: at the vector and its neighbor, and how many of them were in the event.
type counts struct{ drawn, hits, drawnNear, hitsNear int64 }

func (c counts) plus(d counts) counts {
	return counts{c.drawn + d.drawn, c.hits + d.hits, c.drawnNear + d.drawnNear, c.hitsNear + d.hitsNear}
}

// log returns the logarithm of what the bet makes of a wealth of 1, in floating point.
func (b bet) log(c counts) float64 {
	return float64(float64(c.hits)*math.Log(b.x1)) + float64(float64(c.drawn-c.hits)*math.Log(b.x0)) - float64(float64(c.drawn)*(b.x0-1)) +
		float64(float64(c.hitsNear)*math.Log(b.y1)) + float64(float64(c.drawnNear-c.hitsNear)*math.Log(b.y0)) - float64(float64(c.drawnNear)*(b.y0-1))
}

// fair reports whether the bet satisfies the conditions above for c >= e^ε, in exact arithmetic.
func (b bet) fair(c float64, r ratio) bool {
	if !(0 < b.x0 && b.x0 <= b.x1 && 0 < b.y1 && b.y1 <= b.y0) || math.IsInf(c, 0) || math.IsInf(b.x1+b.y0, 0) {
		return false
	}
	rat := func(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }
	own := new(big.Rat).Mul(big.NewRat(r.at, 1), new(big.Rat).Sub(rat(b.x1), rat(b.x0)))
	near := new(big.Rat).Mul(big.NewRat(r.near, 1), new(big.Rat).Sub(rat(b.y0), rat(b.y1)))
	return own.Mul(own, rat(c)).Cmp(near) <= 0
}

// enclose returns the logarithm as log does, enclosed.
func (b bet) enclose(c counts) number.Interval {
	sum := number.FromInt(0, binomialBits)
	term := func(times int64, x float64) {
		if times != 0 && x != 1 {
			sum = sum.Add(number.FromInt(times, binomialBits).Mul(number.Log(number.FromFloat(x, binomialBits))))
		}
	}
	term(c.hits, b.x1)
	term(c.drawn-c.hits, b.x0)
	term(c.hitsNear, b.y1)
	term(c.drawnNear-c.hitsNear, b.y0)
	one := number.FromInt(1, binomialBits)
	sum = sum.Sub(number.FromInt(c.drawn, binomialBits).Mul(number.FromFloat(b.x0, binomialBits).Sub(one)))
	return sum.Sub(number.FromInt(c.drawnNear, binomialBits).Mul(number.FromFloat(b.y0, binomialBits).Sub(one)))
}

// tie returns h such that h and h/c explain best, among pairs of probabilities in that ratio, events that happen with
// probabilities p and o, by the likelihood of a batch in ratio r.
func tie(p, o, c float64, r ratio) float64 {
	lo, hi := 0.0, min(1, 1/c) // of h/c
	for range 60 {
		h := float64((lo + hi) / 2)
		slope := float64(float64(r.at)*(p/h-float64(c*(1-p))/(1-float64(c*h)))) + float64(float64(r.near)*(o/h-(1-o)/(1-h)))
		if slope > 0 {
			lo = h
		} else {
			hi = h
		}
	}
	return c * (lo + hi) / 2
}
