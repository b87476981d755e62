package audit

import (
	"fmt"
	"math"
	"math/big"

	"optratio/number"
	"optratio/verify"
)

// measureDelta bounds δ from below at the claimed ε: at the pair and event S that promise most after the search, fresh draws give Clopper–Pearson limits of
// p = Pr[M(q)∈S] from below and of p' = Pr[M(q')∈S] from above, each with half of the level, and an (ε,δ)-private mechanism has δ >= p - e^ε p', for
// neighbors at distance d with dε for ε. There is one such
// test, so that nothing is lost to the number of pairs and events that were looked at.
func (s *statistics) measureDelta(alpha *big.Rat, samples int64) (res verify.Result, bound *big.Rat, err error) {
	res = verify.Result{Name: verify.ApproximateDP, Verdict: verify.Undecided}
	if s.o.Delta != nil {
		res.Target = number.Exact(s.o.Delta)
	}
	if s.repeats.broken {
		res.Reason = "the samples are not independent"
		return res, nil, nil
	}
	c, distance, err := s.fresh(&res, samples)
	if err != nil || res.Attained == nil {
		return res, nil, err
	}
	res.Checked = 1
	bound = deltaLimit(c, s.wealth.claims(distance)[s.wealth.claimed], alpha)
	confidence, _ := s.o.Confidence.Float64()
	res.Reason = fmt.Sprintf("by a test of samples with confidence %g: δ is at least %s", confidence, floored(bound))
	switch {
	case s.o.Delta == nil:
		res.Reason += "; no target was given"
	case bound.Cmp(s.o.Delta) > 0:
		res.Verdict, res.Witness = verify.Violated, res.Attained
	default:
		res.Reason += "; samples cannot prove that it is not more"
	}
	return res, bound, nil
}

// fresh draws at the pair and event that promise the greatest δ, which it puts into the result; where none is there, the reason. What one of two neighbors is not
// answered about promises most.
func (s *statistics) fresh(res *verify.Result, samples int64) (c counts, distance *big.Rat, err error) {
	if samples > 4*failurePairs*failureFirst {
		before := s.drawn
		refused, err := s.unanswered()
		if err != nil {
			return c, nil, err
		}
		if samples -= s.drawn - before; refused != nil {
			times := min(mostFailing, samples/2)
			x, y, err := s.failures(*refused, times)
			if err != nil {
				return c, nil, err
			}
			c = counts{times, x, times, y}
			res.Attained = s.failure(*refused, c)
			return c, refused.distance, nil
		}
	}
	w, samples, err := s.promising(samples)
	if err != nil {
		return c, nil, err
	}
	if w == nil {
		if res.Checked = s.seen(); res.Checked > 0 {
			res.Reason = "nothing came more often at one of two neighbors than at the other"
		} else {
			res.Reason = "no pair of neighbors was looked at"
		}
		return c, nil, nil
	}
	n := deltaSplit(w.p, w.o, s.o.Epsilon.Float()*w.reach(), samples)
	own, near, err := s.drawAfresh(res, w, n, samples-n)
	if err != nil || own == nil {
		return c, nil, err
	}
	return counts{sumOf(own), hitsOf(own, w.event), sumOf(near), hitsOf(near, w.event)}, w.distance, nil
}

// promising returns the pair and event that promise the greatest δ. Where nothing came more often at one of two neighbors, half of what is left of some samples
// searches on.
func (s *statistics) promising(samples int64) (w *wide, left int64, err error) {
	for w = s.widest(verify.ApproximateDP); w == nil && samples > least; w = s.widest(verify.ApproximateDP) {
		before := s.drawn
		if err := s.explore(samples / 2); err != nil {
			return nil, 0, err
		}
		if s.drawn == before {
			break
		}
		samples -= s.drawn - before
	}
	return w, samples, nil
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
