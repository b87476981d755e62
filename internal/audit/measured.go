package audit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"

	"optratio/internal/inquiry"
	"optratio/number"
	"optratio/verify"
)

const (
	rangeShare = 0.2 // of the budget, for bounded range, ρ and δ,
	deltaShare = 0.5 // or this where δ alone is asked for: one half chooses, the other one tests
)

// promising is a pair at which a bound promises most: its event and, for bounded range, a second one whose ratio is small.
type promising struct {
	edge
	low []bool
}

// mostPromising returns the pair at which a bound on a property promises most; nil where nothing came more often at one of two neighbors than at the other.
func (s *statistics) mostPromising(p verify.Property) (best *promising) {
	f, most := s.field, math.Inf(-1)
	a := aim{left: float64(max(1, s.o.Budget-s.drawn)), claimed: s.o.Epsilon.Float()}
	a.what = map[verify.Property]goal{verify.ApproximateDP: leastDelta, verify.ZCDP: divergence}[p]
	for _, e := range f.edges {
		if e.steps || f.places[e.from].event != "" || f.places[e.to].event != "" {
			continue
		}
		w := promising{edge: f.rate(e, a)}
		promise := w.promise
		if p == verify.BoundedRange && !math.IsInf(promise, -1) {
			own, n := f.hits(w.from, f.outcomes(e))
			near, m := f.hits(w.to, f.outcomes(e))
			down := f.oneWay(edge{from: w.to, to: w.from, distance: w.distance}, a, near, own, m, n)
			w.low, promise = down.event, promise+down.promise
		}
		if promise > most {
			best, most = &w, promise
		}
	}
	return best
}

// measure bounds from below what a property limits: the range, ρ, or δ at the claimed ε. At the pair and event S that promise most after the search, fresh draws give
// Clopper–Pearson limits of p = Pr[M(q)∈S] from below and of p' = Pr[M(q')∈S] from above, and for the range of a second event's t' from below and t from above, each
// with its share of the level. Then, for neighbors at distance d,
//
//	δ >= p - e^{dε} p',   d²ρ >= the ρ of the two Bernoulli distributions,   the range of ε-private d steps, dR >= ln(p t'/(p' t)).
//
// There is one such test, so that nothing is lost to the number of pairs and events that were looked at. The bound is not valid where there is none.
func (s *statistics) measure(p verify.Property, alpha *big.Rat, samples int64) (res verify.Result, bound number.Number, err error) {
	res = verify.Result{Name: p, Verdict: verify.Undecided}
	target := s.o.Targets[p]
	if p == verify.ApproximateDP && target != nil {
		res.Target = number.Exact(target)
	}
	if s.repeats.broken {
		res.Reason = "the samples are not independent"
		return res, bound, nil
	}
	distance, c, low, err := s.fresh(&res, p, samples)
	if errors.Is(err, inquiry.ErrUndecided) {
		res.Reason = reason(err)
		return res, bound, nil
	}
	if err != nil || res.Attained == nil {
		return res, bound, err
	}
	var least, limit number.Interval // what is shown to be exceeded, and what must not be
	if target != nil {
		limit = number.FromRat(target, binomialBits)
	}
	if distance == nil {
		distance = big.NewRat(1, 1)
	}
	d := number.FromRat(distance, binomialBits)
	each := new(big.Rat).Quo(alpha, big.NewRat(2, 1))
	switch p {
	case verify.ApproximateDP:
		least = number.FromRat(deltaLimit(c, s.wealth.claims(distance)[s.wealth.claimed], alpha), binomialBits)
	case verify.ZCDP:
		least = concentration(lowerLimit(c.drawn, c.hits, each), upperLimit(c.drawnNear, c.hitsNear, each)).Quo(d.Mul(d))
	case verify.BoundedRange:
		if target == nil {
			target, limit = new(big.Rat), s.o.Epsilon.Value(binomialBits)
		}
		each.Quo(each, big.NewRat(2, 1))
		ratio := new(big.Rat).Mul(lowerLimit(c.drawn, c.hits, each), lowerLimit(low.drawnNear, low.hitsNear, each))
		if ratio.Sign() == 0 {
			res.Attained, res.Reason = nil, "there were too few samples for a bound"
			return res, bound, nil
		}
		ratio.Quo(ratio, new(big.Rat).Mul(upperLimit(c.drawnNear, c.hitsNear, each), upperLimit(low.drawn, low.hits, each)))
		least = number.Log(number.FromRat(ratio, binomialBits)).Quo(d)
	}
	lo, _ := least.Lo().Rat(nil)
	if lo.Sign() < 0 {
		lo.SetInt64(0)
	}
	bound = floored(lo)
	confidence, _ := s.o.Confidence.Float64()
	res.Reason = fmt.Sprintf("by a test of samples with confidence %g: %s is at least %s", confidence, map[verify.Property]string{verify.BoundedRange: "range", verify.ZCDP: "ρ", verify.ApproximateDP: "δ"}[p], bound)
	if target == nil { // any finite ρ, any δ
		res.Reason += "; no target was given"
	} else if over, ok := least.Cmp(limit); ok && over > 0 {
		res.Verdict, res.Witness = verify.Violated, res.Attained
	} else {
		res.Reason += "; samples cannot prove that it is not more"
	}
	return res, bound, nil
}

// fresh draws at the pair that promises most, and puts what its event showed into the result; where there is none, the reason. What one of two neighbors is not answered
// about promises most. Where nothing came more often at one of two neighbors, half of what is left of the samples searches on. It returns the distance of the pair, and the counts of
// its event and of the second one.
func (s *statistics) fresh(res *verify.Result, p verify.Property, samples int64) (distance *big.Rat, c, low counts, err error) {
	if p != verify.BoundedRange && samples > 4*failurePairs*failureFirst {
		before := s.drawn
		refused, err := s.unanswered()
		if err != nil {
			return nil, c, low, err
		}
		if samples -= s.drawn - before; refused != nil {
			times := min(mostFailing, samples/2)
			c.drawn, c.drawnNear = times, times
			if c.hits, c.hitsNear, err = s.failures(*refused, times); err != nil {
				return nil, c, low, err
			}
			res.Checked, res.Attained = 1, s.failure(*refused, c)
			return refused.distance, c, low, nil
		}
	}
	w := s.mostPromising(p)
	for w == nil && samples > least {
		before := s.drawn
		if err := s.explore(samples / 2); err != nil {
			return nil, c, low, err
		}
		if w = s.mostPromising(p); s.drawn == before {
			break
		}
		samples -= s.drawn - before
	}
	if w == nil {
		if res.Checked = s.seen(); res.Checked > 0 {
			res.Reason = "nothing came more often at one of two neighbors than at the other"
		} else {
			res.Reason = "no pair of neighbors was looked at"
		}
		return nil, c, low, nil
	}
	n := samples / 2
	if p == verify.ApproximateDP {
		n = deltaSplit(w.p, w.o, s.o.Epsilon.Float()*w.reach(), samples)
	}
	own, near, err := s.drawBoth(w.from, n, w.to, samples-n)
	if err != nil {
		return nil, c, low, err
	}
	if own == nil || near == nil {
		res.Reason = "an error came instead of samples"
		return nil, c, low, nil
	}
	came := func(event []bool) counts {
		return counts{sumOf(own), hitsOf(own, event), sumOf(near), hitsOf(near, event)}
	}
	c, low, res.Checked, res.Attained = came(w.event), came(w.low), 1, s.witness(w.edge)
	res.Attained.P, res.Attained.PNeighbor = frequency(c.hits, c.drawn), frequency(c.hitsNear, c.drawnNear)
	return w.distance, c, low, nil
}

// witness is a pair with its event.
func (s *statistics) witness(e edge) *verify.Witness {
	w := &verify.Witness{Scores: s.space.Scores(s.field.places[e.from].q), Neighbor: s.space.Scores(s.field.places[e.to].q)}
	s.name(w, e.event)
	return w
}

// seen is at how many pairs samples were drawn at both sides.
func (s *statistics) seen() (pairs int64) {
	for _, e := range s.field.edges {
		if s.field.places[e.from].total > 0 && s.field.places[e.to].total > 0 {
			pairs++
		}
	}
	return pairs
}

// deltaLimit returns a lower limit of p - cp', at least 0, which exceeds it with probability alpha at most.
func deltaLimit(n counts, c float64, alpha *big.Rat) *big.Rat {
	if math.IsInf(c, 1) {
		return new(big.Rat)
	}
	half := new(big.Rat).Quo(alpha, big.NewRat(2, 1))
	bound := new(big.Rat).SetFloat64(c)
	bound.Mul(bound, upperLimit(n.drawnNear, n.hitsNear, half))
	if bound.Sub(lowerLimit(n.drawn, n.hits, half), bound); bound.Sign() < 0 {
		return new(big.Rat)
	}
	return bound
}

// deltaSplit returns how many of some samples to draw at the vector rather than at its neighbor, so that the sum of both limits' errors is least where the event
// has about the probabilities p and o: √(p(1-p)/n) + e^ε √(o(1-o)/m) is, where n/m is the power 2/3 of the quotient of the roots.
func deltaSplit(p, o, eps float64, samples int64) int64 {
	least := 4 / float64(max(8, samples)) // an upper limit of what never came is a few draws
	p, o = min(max(p, least), 1-least), min(max(o, least), 1-least)
	own, near := math.Cbrt(p*(1-p)), math.Cbrt(math.Exp(2*eps)*o*(1-o))
	share := min(0.95, max(0.05, own/(own+near)))
	return min(samples, max(1, int64(share*float64(samples))))
}

// floored returns a number rounded down to six digits after the point, or to six digits where it is small.
func floored(x *big.Rat) number.Number {
	scale := big.NewRat(1_000_000, 1)
	for f, _ := x.Float64(); f > 0 && f < 0.1 && scale.Num().BitLen() < 200; f *= 10 {
		scale.Mul(scale, big.NewRat(10, 1))
	}
	y := new(big.Rat).Mul(x, scale)
	return number.Exact(y.Quo(new(big.Rat).SetInt(new(big.Int).Div(y.Num(), y.Denom())), scale))
}

// concentration returns a lower bound on ρ of zCDP where an event has a probability of at least p at one of two neighbors, and at most o at the other: the greatest
// over orders α > 1 of D_α/α, D_α being the Rényi divergence of the two Bernoulli distributions, which rises with p and falls with o as long as p > o. The order is
// proposed in floating point.
func concentration(p, o *big.Rat) number.Interval {
	zero := number.FromInt(0, binomialBits)
	if p.Cmp(o) <= 0 {
		return zero
	}
	x, _ := p.Float64()
	y, _ := o.Float64()
	best, at := 0.0, 0.0
	for alpha := 1.0 + 1.0/64; alpha < 1000; alpha += max(1.0/64, math.Floor(alpha*4)/64) {
		d := math.Log(float64(math.Pow(x/y, alpha-1)*x)+float64(math.Pow((1-x)/(1-y), alpha-1)*(1-x))) / (alpha - 1) / alpha
		if !math.IsInf(d, 0) && cmp.Compare(d, best) > 0 {
			best, at = d, alpha
		}
	}
	if at == 0 {
		return zero
	}
	alpha := number.FromFloat(at, binomialBits)
	one := number.FromInt(1, binomialBits)
	lp, lo := number.FromRat(p, binomialBits), number.FromRat(o, binomialBits)
	less := alpha.Sub(one)
	sum := number.Exp(less.Mul(number.Log(lp).Sub(number.Log(lo)))).Mul(lp)
	if cp, co := one.Sub(lp), one.Sub(lo); cp.Lo().Sign() > 0 {
		sum = sum.Add(number.Exp(less.Mul(number.Log(cp).Sub(number.Log(co)))).Mul(cp))
	}
	return number.Log(sum).Quo(less.Mul(alpha))
}
