package audit

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/internal/inquiry"
	"optratio/number"
	"optratio/verify"
)

// rangeShare is the part of the budget for what is asked for beside the property that is searched for: bounded range, ρ and δ.
const rangeShare = 0.2

// betOn makes a property what is bet on: ε, δ or ρ.
func (s *statistics) betOn(p verify.Property, alpha *big.Rat) {
	s.goal = map[verify.Property]goal{verify.ApproximateDP: leastDelta, verify.ZCDP: divergence}[p]
	s.wealth = newWealthOf(s.goal, s.o.Epsilon, s.o.Targets[p], alpha, !s.o.UntilRefuted)
	s.shown, s.history, s.refused = map[string]*evidence{}, nil, false
}

// measure bets on another property, with so many more samples, at the pairs that the search found.
func (s *statistics) measure(p verify.Property, alpha *big.Rat, samples int64) (res verify.Result, bound number.Number, err error) {
	o := *s.o
	o.Budget, s.o, s.quick = s.drawn+samples, &o, false
	s.field.edges = slices.DeleteFunc(s.field.edges, func(e edge) bool { return e.steps }) // which are no neighbors
	switch {
	case s.repeats.broken:
		err = errRepeats
	case p == verify.BoundedRange:
		res, bound, err = s.ranged(alpha)
	default:
		s.betOn(p, alpha)
		if err = s.refuse(); err == nil {
			_, err = s.bet(o.Budget)
		}
	}
	if err != nil && !errors.Is(err, inquiry.ErrUndecided) {
		return res, bound, err
	}
	why := "no pair of neighbors was looked at"
	if err != nil {
		why = reason(err)
	} else if s.seen() > 0 {
		why = "nothing came more often at one of two neighbors than at the other"
	}
	if p != verify.BoundedRange {
		res, bound = s.conclude(p, why)
	} else if res.Attained == nil {
		res = verify.Result{Name: p, Verdict: verify.Undecided, Checked: s.seen(), Reason: why}
	}
	return res, bound, nil
}

// bounded completes the result on a property with a bound from below, where the greatest value that is wanted is known, or not.
func (s *statistics) bounded(res *verify.Result, bound, most number.Number) {
	confidence, _ := s.o.Confidence.Float64()
	res.Reason = fmt.Sprintf("by a test of samples with confidence %g: %s is at least %s", confidence,
		map[verify.Property]string{verify.BoundedRange: "range", verify.ZCDP: "ρ", verify.ApproximateDP: "δ"}[res.Name], bound)
	if over, ok := bound.Cmp(most); ok && over > 0 || res.Verdict == verify.Violated {
		res.Verdict, res.Witness = verify.Violated, res.Attained
	} else if most.IsValid() {
		res.Reason += "; samples cannot prove that it is not more"
	} else {
		res.Reason += "; no target was given"
	}
}

// ranged bounds the range from below, at one pair: where one event is likelier at the first score vector by more than e^a, and another one at the second by more than e^b, it is
// more than a+b. Either is bet on, with half of what is left to chance, by the same draws.
func (s *statistics) ranged(alpha *big.Rat) (res verify.Result, bound number.Number, err error) {
	pair, before := s.widest(), int64(-1)
	for ; pair == nil && before < s.drawn && s.o.Budget-s.drawn > least; pair = s.widest() {
		before = s.drawn
		if err := s.explore((s.o.Budget - s.drawn) / 2); err != nil {
			return res, bound, err
		}
	}
	if pair == nil {
		return res, bound, nil
	}
	times := s.evenly(float64(s.o.Budget-s.drawn), ratio{1, 1})
	own, near, err := s.drawBoth(pair[0].from, times, pair[0].to, times)
	if err == nil && (own == nil || near == nil) {
		err = errFailed
	}
	if err != nil {
		return res, bound, err
	}
	bound = number.Int(0)
	for _, e := range pair {
		w := newWealth(s.o.Epsilon, new(big.Rat).Quo(alpha, big.NewRat(2, 1)), true)
		w.openAt(e.distance, e.p, e.o, e.slack, ratio{1, 1}, float64(times))
		c := counts{times, hitsOf(own, e.event), times, hitsOf(near, e.event)}
		w.settle(c)
		bound, own, near = bound.Add(w.value(w.bound())), near, own
		if res.Attained == nil {
			res = verify.Result{Name: verify.BoundedRange, Verdict: verify.Undecided, Checked: 1, Attained: s.evidence(e).add(c)}
		}
	}
	most := s.o.Epsilon.Number()
	if target := s.o.Targets[verify.BoundedRange]; target != nil {
		most = number.Exact(target)
	}
	s.bounded(&res, bound, most)
	return res, bound, nil
}

// widest returns the pair whose range promises most, in either direction; nil where nothing came more often at one of two neighbors than at the other.
func (s *statistics) widest() (best []edge) {
	f, a, most := s.field, s.aim(), math.Inf(-1)
	a.what = lowerBound
	for _, e := range f.edges {
		if f.places[e.from].event != "" || f.places[e.to].event != "" {
			continue
		}
		up := f.rate(e, a)
		if math.IsInf(up.promise, -1) {
			continue
		}
		own, n := f.hits(up.from, f.outcomes(e))
		near, m := f.hits(up.to, f.outcomes(e))
		down := f.oneWay(edge{from: up.to, to: up.from, distance: up.distance}, a, near, own, m, n)
		if up.promise+down.promise > most {
			best, most = []edge{up, down}, up.promise+down.promise
		}
	}
	return best
}

// evidence is what the bets on one event at one pair saw.
type evidence struct {
	witness *verify.Witness
	counts  counts
}

// evidence is a pair with its event, of which nothing was seen; without one, it is that a question is not answered.
func (s *statistics) evidence(e edge) *evidence {
	w := &verify.Witness{Scores: s.space.Scores(s.field.places[e.from].q), Neighbor: s.space.Scores(s.field.places[e.to].q), Event: noAnswer}
	if e.event != nil {
		w.Event = ""
		s.name(w, e.event)
	}
	if e.steps {
		w.Distance = e.distance
	}
	return &evidence{witness: w}
}

// add adds what a batch showed.
func (e *evidence) add(c counts) *verify.Witness {
	e.counts = e.counts.plus(c)
	e.witness.P, e.witness.PNeighbor = frequency(e.counts.hits, e.counts.drawn), frequency(e.counts.hitsNear, e.counts.drawnNear)
	return e.witness
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

// divergenceOf returns Σ p^α o^{1-α} of two Bernoulli distributions, which is e^{(α-1)D_α} of their Rényi divergence.
func divergenceOf(p, o, alpha float64) float64 {
	return float64(math.Pow(p/o, alpha-1)*p) + float64(math.Pow((1-p)/(1-o), alpha-1)*(1-p))
}

// steepest returns the order α > 1 at which D_α/α of two Bernoulli distributions is greatest, about.
func steepest(p, o float64) (at float64) {
	at, best := 1+1.0/64, 0.0
	for alpha := at; alpha < 1000; alpha += max(1.0/64, math.Floor(alpha*4)/64) {
		d := math.Log(divergenceOf(p, o, alpha)) / (alpha - 1) / alpha
		if !math.IsInf(d, 0) && d > best {
			best, at = d, alpha
		}
	}
	return at
}

// concentrated returns what ρ-zCDP says of events that have probabilities about p and o at two neighbors: D_α of the two Bernoulli distributions is at most αρ, that is
//
//	G(p,o) = p^α o^{1-α} + (1-p)^α (1-o)^{1-α} <= B = e^{α(α-1)ρ},
//
// and as G is convex, it is at least its tangent plane at any point (x,y): G(x,y) + g(p-x) - h(o-y) <= B, or p <= o h/g + x - y h/g + (B-G(x,y))/g. The point is where G = B about, between (p,o) and
// their mean; where there is none, nothing is said.
func concentrated(rho *big.Rat, alpha, p, o float64) claim {
	if least := big.NewRat(1, 1e9); rho.Cmp(least) < 0 { // which holds as well, and has a point that differs from the mean
		rho = least
	}
	level, _ := rho.Float64()
	most, low, high := math.Exp(alpha*(alpha-1)*level), 0.0, 1.0
	between := func(t float64) (x, y float64) {
		return float64((p+o)/2) + float64(t*(p-o)/2), float64((p+o)/2) - float64(t*(p-o)/2)
	}
	if !(divergenceOf(p, o, alpha) > most) || p <= o {
		return claim{c: math.Inf(1)}
	}
	for range 50 {
		t := (low + high) / 2
		if x, y := between(t); divergenceOf(x, y, alpha) < most {
			low = t
		} else {
			high = t
		}
	}
	first, second := between(low)
	a, one := number.FromFloat(alpha, betBits), number.FromInt(1, betBits)
	x, y, less := number.FromFloat(first, betBits), number.FromFloat(second, betBits), a.Sub(one)
	up, down := x.Quo(y), one.Sub(x).Quo(one.Sub(y))
	byUp, byDown := number.Exp(less.Mul(number.Log(up))), number.Exp(less.Mul(number.Log(down)))
	g := a.Mul(byUp.Sub(byDown))
	slope := less.Mul(up.Mul(byUp).Sub(down.Mul(byDown))).Quo(g)
	rest := number.Exp(a.Mul(less).Mul(number.FromRat(rho, betBits))).Sub(x.Mul(byUp)).Sub(one.Sub(x).Mul(byDown)).Quo(g)
	return claim{above(slope), max(0, above(x.Sub(y.Mul(slope)).Add(rest)))}
}
