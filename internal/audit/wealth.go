package audit

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"optratio/internal/inquiry"
	"optratio/number"
)

// stakes is how many stakes are bet side by side; their wealth is averaged. A patient player's are each four times the one before; of
// another one's, the first ones follow from the estimated probabilities while it is not late, and the rest are each four times the one before.
const (
	stakes    = 6
	estimated = 2
)

// level is one hypothesis: that the mechanism keeps to an ε, or to a δ at the claimed ε, or to a ρ.
type level struct {
	value   *big.Rat // nil for the claimed ε
	logs    [stakes]float64
	reached bool // the wealth certainly reached the limit once
}

// segment is a run of batches with the same bets, on one event at one pair.
type segment struct {
	ratio  ratio
	bets   [][stakes]bet // for every level
	claims []claim       // what every level says of the event
	counts counts
	shown  *evidence // of the event
}

// wealth is one process of bets for each of a range of levels, all on the same samples. Whatever was chosen before a
// batch may depend on all samples before it, but not on its own.
type wealth struct {
	of      goal               // what the levels are of: lowerBound of ε, leastDelta, divergence
	levels  []*level           // ascending
	claimed int                // which is refuted if all up to it are; len(levels): nothing is claimed
	weights [stakes]float64    // of the stakes, exact in binary
	limit   *big.Rat           // 1/α
	log     float64            // ln 1/α
	exact   number.Epsilon     // the claimed ε
	far     map[string][]claim // of levels of ε, at distances
	patient bool               // it is the bound at the end that counts
	late    bool               // no more than that the claim is refuted in the end does: the estimated stakes are the patient one, too
	segs    []*segment
}

// Levels lie this much apart, relatively: far below what is claimed, well below it, about it, and far above.
const (
	farBelow  = 0.1
	coarse    = 0.01
	fine      = 0.004
	farBeyond = 0.02
	highest   = 30   // e^ε beyond which there is hardly a sample
	lowest    = 1e-7 // δ below which there is hardly one
)

// newWealth returns the processes for a claimed ε. patient puts most of the wealth on the smallest stake.
func newWealth(claimed number.Epsilon, alpha *big.Rat, patient bool) *wealth {
	return newWealthOf(lowerBound, claimed, nil, alpha, patient)
}

// newWealthOf returns the processes for ε, for δ or for ρ; of these target is what is claimed, nil: nothing.
func newWealthOf(of goal, eps number.Epsilon, target, alpha *big.Rat, patient bool) *wealth {
	w := &wealth{of: of, limit: new(big.Rat).Inv(alpha), patient: patient, exact: eps}
	limit, _ := w.limit.Float64()
	w.log = math.Log(limit)
	w.weights = [stakes]float64{3. / 16, 3. / 16, 7. / 16, 1. / 16, 1. / 16, 1. / 16}
	if patient {
		w.weights = [stakes]float64{27. / 32, 1. / 32, 1. / 32, 1. / 32, 1. / 32, 1. / 32}
	}
	about, high := eps.Float(), float64(highest)
	low := max(about, 1e-3) / 50
	switch of {
	case leastDelta:
		low, high = lowest, 1
	case divergence: // an ε-private mechanism has at most ε²/2
		low = min(max(about*about, 1e-6)/400, 0.01)
	}
	if of != lowerBound {
		if target == nil {
			w.ladder(low, high, high, farBeyond, 0)
			w.claimed = len(w.levels)
			return w
		}
		about, _ = target.Float64()
	}
	base := max(about, 50*low)
	w.ladder(low, base/50, base, farBelow, 0)
	w.ladder(base/50, about*(1-fine/2), base/2, coarse, fine)
	w.claimed = len(w.levels)
	w.levels = append(w.levels, &level{value: target})
	w.ladder(max(about, base/50)*(1+fine), high, 4*base, fine, farBeyond)
	return w
}

// ladder adds levels from one number to another, which lie so much apart up to a bend, and after it.
func (w *wealth) ladder(from, to, bend, before, after float64) {
	for x := from; x < to; {
		rat := new(big.Rat).SetFloat64(x)
		// Four digits are enough, and print well.
		scale := new(big.Rat).SetFloat64(math.Pow(10, 4-math.Ceil(math.Log10(x))))
		rat.Mul(rat, scale)
		rounded := new(big.Int).Div(rat.Num(), rat.Denom())
		w.levels = append(w.levels, &level{value: rat.Quo(new(big.Rat).SetInt(rounded), scale)})
		if x < bend {
			x *= 1 + before
		} else {
			x *= 1 + after
		}
	}
}

// value is the number of a level, 0 for -1.
func (w *wealth) value(at int) number.Number {
	switch {
	case at < 0:
		return number.Int(0)
	case w.levels[at].value == nil:
		return w.exact.Number()
	}
	return number.Exact(w.levels[at].value)
}

// above returns a float64 that no number of the interval exceeds.
func above(x number.Interval) float64 {
	_, hi := x.Float64()
	return hi
}

// claims returns what every level says of events at distance d, nil: 1. What ρ says is a line for each event, here for one whose probabilities are about p and o.
func (w *wealth) claims(d *big.Rat, p, o float64) []claim {
	d = cmp.Or(d, unity)
	key := d.RatString()
	if known := w.far[key]; known != nil {
		return known
	}
	own := above(inquiry.ExpTimes(w.exact, d).Enclose(betBits))
	alpha := 0.0
	if w.of == divergence {
		alpha = steepest(p, o)
	}
	out := make([]claim, len(w.levels))
	for i, l := range w.levels {
		switch {
		case w.of == leastDelta:
			out[i] = claim{own, above(number.FromRat(l.value, betBits))}
		case w.of == divergence:
			out[i] = concentrated(new(big.Rat).Mul(l.value, new(big.Rat).Mul(d, d)), alpha, p, o)
		case l.value == nil:
			out[i] = claim{c: own}
		default:
			out[i] = claim{c: above(number.ExpRat(new(big.Rat).Mul(l.value, d), betBits))}
		}
	}
	if w.of == lowerBound {
		if w.far == nil {
			w.far = map[string][]claim{}
		}
		w.far[key] = out
	}
	return out
}

// openAt starts a segment at a pair at distance d: from the next batch on, the bets are those for an event whose probabilities are about p and o, for as
// many draws at the vector as horizon says. slack is the standard error of ln p/o; no bet is made against a level that is
// further above it.
func (w *wealth) openAt(d *big.Rat, p, o, slack float64, r ratio, horizon float64) *segment {
	s := &segment{ratio: r, bets: make([][stakes]bet, len(w.levels)), claims: w.claims(d, p, o)}
	for i, c := range s.claims {
		excess := math.Log(p) - math.Log(c.at(o))
		if excess+slack <= 0 || math.IsInf(c.c, 1) || c.delta >= 1 {
			s.bets[i] = [stakes]bet(slices.Repeat([]bet{noBet}, stakes))
			continue
		}
		h := tie(p, o, c, r)
		v := variance(h, c, r)
		u := math.Sqrt(2 * (w.log - math.Log(w.weights[0])) / (v * max(1, horizon)))
		for k := range s.bets[i] {
			times := k // each is four times the one before
			if !w.patient {
				times = max(0, k-estimated)
			}
			s.bets[i][k] = newBet(math.Ldexp(u, 2*times), h, c, r)
		}
		if w.patient || w.late {
			continue
		}
		// The stakes at which the logarithm of the wealth rises fastest if the estimate is right, and if it is half a standard error too high.
		best := (p - c.at(o)) / v
		s.bets[i][0] = newBet(max(u, best), h, c, r)
		s.bets[i][1] = newBet(max(u, best*min(1, max(0, excess-float64(slack/2))/max(excess, 1e-9))), h, c, r)
	}
	w.segs = append(w.segs, s)
	return s
}

// settle takes the counts of a batch into account, which was drawn in the ratio of the last segment, and returns that.
func (w *wealth) settle(c counts) *segment {
	s := w.segs[len(w.segs)-1]
	s.counts = s.counts.plus(c)
	for i, l := range w.levels {
		for k := range l.logs {
			if b := s.bets[i][k]; b != noBet {
				l.logs[k] += b.log(c)
			}
		}
		l.reached = l.reached || w.total(l) > w.log && w.certain(i)
	}
	return s
}

// total returns the logarithm of the wealth at a level, in floating point.
func (w *wealth) total(l *level) float64 {
	most := math.Inf(-1)
	for k, x := range l.logs {
		most = max(most, x+math.Log(w.weights[k]))
	}
	sum := 0.0
	for k, x := range l.logs {
		sum += math.Exp(x + math.Log(w.weights[k]) - most)
	}
	return most + math.Log(sum)
}

// certain reports whether the wealth at a level, which seems to be above the limit, certainly is.
func (w *wealth) certain(i int) bool {
	total := number.FromInt(0, betBits)
	limit := number.FromRat(w.limit, betBits)
	for _, k := range w.richest(w.levels[i]) {
		log := number.FromInt(0, betBits)
		for _, s := range w.segs {
			b := s.bets[i][k]
			if b == noBet || s.counts == (counts{}) {
				continue
			}
			if !b.fair(s.claims[i], s.ratio) {
				return false
			}
			log = log.Add(b.enclose(s.counts))
		}
		total = total.Add(number.FromFloat(w.weights[k], betBits).Mul(number.Exp(log)))
		if holds, ok := limit.LessEq(total); ok && holds {
			return true
		}
	}
	return false
}

// richest returns the stakes, those first that won the most.
func (w *wealth) richest(l *level) []int {
	order := make([]int, stakes)
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(k, m int) int {
		return cmp.Compare(l.logs[m]+math.Log(w.weights[m]), l.logs[k]+math.Log(w.weights[k]))
	})
	return order
}

// bound returns the greatest level up to which every one reached the limit; -1: none did.
func (w *wealth) bound() int {
	at := slices.IndexFunc(w.levels, func(l *level) bool { return !l.reached })
	if at < 0 {
		at = len(w.levels)
	}
	return at - 1
}

// refuted reports whether the claim is.
func (w *wealth) refuted() bool { return w.bound() >= w.claimed }

// strongest returns the evidence that won the most against a level, by the stake that did; nil where there is none.
func (w *wealth) strongest(at int) (best *evidence) {
	gains, k := map[*evidence]float64{}, w.richest(w.levels[at])[0]
	for _, s := range w.segs {
		gains[s.shown] += s.bets[at][k].log(s.counts)
	}
	for _, s := range w.segs {
		if s.shown != nil && (best == nil || gains[s.shown] > gains[best]) {
			best = s.shown
		}
	}
	return best
}

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
