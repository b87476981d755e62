package audit

import (
	"math"
	"math/big"

	"optratio/number"
)

// claim is what is claimed at two neighbors: p <= c p' + delta for the probabilities p and p' of every event there.
type claim struct{ c, delta float64 }

// A bet is made before a batch of na draws at one score vector and nb draws at its neighbor. Every draw at the vector
// multiplies the wealth by x1 where it falls into an event and by x0 where it does not; every draw at the neighbor
// multiplies it by y1 or y0; and the batch as a whole by e^{-na(x0-1)-na(x1-x0)δ-nb(y0-1)}. With
//
//	0 < x0 <= x1,   0 < y1 <= y0,   na (x1-x0) c <= nb (y0-y1)
//
// the wealth does not rise on average, whatever a mechanism does that keeps to the claim (research/docs/bets.md has the proof).
type bet struct{ x0, x1, y0, y1, delta float64 }

// noBet leaves the wealth as it is.
var noBet = bet{1, 1, 1, 1, 0}

// betBits is the precision of enclosures of wealth.
const betBits = 128

// most of the largest stake at which a factor would be 0.
const boldest = 0.98

// ratio is how many draws at the neighbor there are for how many at the vector.
type ratio struct{ at, near int64 }

// newBet returns the bet with stake u = x1-x0 against a claim whose factors are 1 on average where the event has
// the probabilities co + δ and o. Stakes that are too large are cut. The other stake is rounded up by far more than rounding
// can take away.
func newBet(u, o float64, k claim, r ratio) bet {
	share := float64(r.at) / float64(r.near)
	u = min(u, largestStake(o, k, r))
	if !(u > 0) || math.IsInf(k.c, 1) {
		return noBet
	}
	v := float64(u * k.c * share * (1 + 1e-10))
	b := bet{x0: 1 - float64(u*k.at(o)), y0: 1 + float64(v*o), delta: k.delta}
	b.x1, b.y1 = b.x0+u, b.y0-v
	if !(b.x0 > 0 && b.y1 > 0) {
		return noBet
	}
	return b
}

// at is the most that is claimed of an event with the probability o at the neighbor.
func (k claim) at(o float64) float64 { return float64(k.c*o) + k.delta }

// largestStake returns the largest stake of newBet.
func largestStake(o float64, k claim, r ratio) float64 {
	share := float64(r.at) / float64(r.near)
	return boldest * min(1/k.at(o), 1/(k.c*share*(1-o)))
}

// variance returns the rate at which a stake's square costs: a stake u gains u·gap - u²·variance/2 per draw at the vector,
// to second order, where gap is what the probability there exceeds the claim by.
func variance(o float64, k claim, r ratio) float64 {
	h := k.at(o)
	return float64(h*(1-h)) + float64(float64(r.at)/float64(r.near)*k.c*k.c*o*(1-o))
}

// counts are the draws of some batches: at the vector and its neighbor, and how many of them were in the event.
type counts struct{ drawn, hits, drawnNear, hitsNear int64 }

func (c counts) plus(d counts) counts {
	return counts{c.drawn + d.drawn, c.hits + d.hits, c.drawnNear + d.drawnNear, c.hitsNear + d.hitsNear}
}

// log returns the logarithm of what the bet makes of a wealth of 1, in floating point.
func (b bet) log(c counts) float64 {
	return float64(float64(c.hits)*math.Log(b.x1)) + float64(float64(c.drawn-c.hits)*math.Log(b.x0)) - float64(float64(c.drawn)*(b.x0-1+float64((b.x1-b.x0)*b.delta))) +
		float64(float64(c.hitsNear)*math.Log(b.y1)) + float64(float64(c.drawnNear-c.hitsNear)*math.Log(b.y0)) - float64(float64(c.drawnNear)*(b.y0-1))
}

// fair reports whether the bet satisfies the conditions above for a claim, in exact arithmetic.
func (b bet) fair(k claim, r ratio) bool {
	if !(0 < b.x0 && b.x0 <= b.x1 && 0 < b.y1 && b.y1 <= b.y0 && 0 <= k.delta && k.delta <= b.delta) || math.IsInf(k.c, 0) || math.IsInf(b.x1+b.y0+b.delta, 0) {
		return false
	}
	rat := func(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }
	own := new(big.Rat).Mul(big.NewRat(r.at, 1), new(big.Rat).Sub(rat(b.x1), rat(b.x0)))
	near := new(big.Rat).Mul(big.NewRat(r.near, 1), new(big.Rat).Sub(rat(b.y0), rat(b.y1)))
	return own.Mul(own, rat(k.c)).Cmp(near) <= 0
}

// enclose returns the logarithm as log does, enclosed.
func (b bet) enclose(c counts) number.Interval {
	sum, one := number.FromInt(0, betBits), number.FromInt(1, betBits)
	term := func(times int64, x float64) {
		if times != 0 && x != 1 {
			sum = sum.Add(number.FromInt(times, betBits).Mul(number.Log(number.FromFloat(x, betBits))))
		}
	}
	term(c.hits, b.x1)
	term(c.drawn-c.hits, b.x0)
	term(c.hitsNear, b.y1)
	term(c.drawnNear-c.hitsNear, b.y0)
	x0, stake := number.FromFloat(b.x0, betBits), number.FromFloat(b.x1, betBits).Sub(number.FromFloat(b.x0, betBits))
	each := x0.Sub(one).Add(stake.Mul(number.FromFloat(b.delta, betBits)))
	sum = sum.Sub(number.FromInt(c.drawn, betBits).Mul(each))
	return sum.Sub(number.FromInt(c.drawnNear, betBits).Mul(number.FromFloat(b.y0, betBits).Sub(one)))
}

// tie returns the o such that co + δ and o explain best events that happen with probabilities p and p', by the likelihood of a batch in ratio r.
func tie(p, near float64, k claim, r ratio) float64 {
	lo, hi := 0.0, min(1, (1-k.delta)/k.c)
	for range 60 {
		o := float64((lo + hi) / 2)
		h := k.at(o)
		slope := float64(float64(r.at)*k.c*(p/h-(1-p)/(1-h))) + float64(float64(r.near)*(near/o-(1-near)/(1-o)))
		if slope > 0 {
			lo = o
		} else {
			hi = o
		}
	}
	return (lo + hi) / 2
}
