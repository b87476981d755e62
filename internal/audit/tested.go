package audit

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"

	"optratio/internal/inquiry"
	"optratio/number"
	"optratio/verify"
)

// Symmetry, shift-invariance and monotonicity of a sampler are tested by comparing how often a candidate was taken at two score vectors. Given the sum
// of the two counts, the first one is hypergeometric where the probabilities are equal, and stochastically larger or smaller where one of
// them is (Fisher 1935). All comparisons together share the level.
const (
	testShare     = 0.25 // of the budget, unless nothing else is asked for
	fewestForTest = 300  // draws at either vector of a comparison, where there are several
	mostTests     = 200  // comparisons of vectors, of one property
	rangeShare    = 0.2  // of the budget, for bounded range, ρ and δ,
	deltaShare    = 0.5  // or this where δ alone is asked for: one half chooses, the other one tests
)

// Testable are the properties that samples can tell about: dp; those that are tested by comparisons; and those that a bound refutes.
var Testable = []verify.Property{verify.DP, verify.Symmetry, verify.Shift, verify.Monotone, verify.BoundedRange, verify.ZCDP, verify.ApproximateDP}

// OfLabels are the properties of stated probabilities that are about any outcomes; the first three are those to decide by default.
var OfLabels = []verify.Property{verify.DP, verify.BoundedRange, verify.Sum, verify.RDP, verify.ZCDP, verify.ApproximateDP}

// comparison is of the counts at two score vectors: to[r] is the candidate at the second that r at the first is compared with, -1 for none. atLeast says
// that the second's probability must not be less; otherwise they must be equal.
type comparison struct {
	property  verify.Property
	q, other  inquiry.Vector
	to        []int
	atLeast   bool
	own, near []int64
}

// tested returns those of the properties that are tested by comparisons.
func (o *Options) tested() []verify.Property {
	var out []verify.Property
	for _, p := range Testable[1:4] {
		if slices.Contains(o.Properties, p) {
			out = append(out, p)
		}
	}
	return out
}

// measured returns those of the properties that bounds on probabilities refute.
func (o *Options) measured() []verify.Property {
	var out []verify.Property
	for _, p := range Testable[4:] {
		if slices.Contains(o.Properties, p) || o.Properties == nil && o.Delta != nil && p == verify.ApproximateDP {
			out = append(out, p)
		}
	}
	return out
}

// wants reports whether a sampler's ε is asked for, as it is unless a δ or other properties are.
func (o *Options) wants() bool {
	return o.Properties == nil && o.Delta == nil || slices.Contains(o.Properties, verify.DP)
}

// parts is among how many verdicts the level is divided.
func (o *Options) parts() int64 {
	n := int64(len(o.measured()))
	if o.wants() {
		n++
	}
	if o.Against != nil {
		n++
	}
	if len(o.tested()) > 0 {
		n++
	}
	return max(1, n)
}

// plan chooses what is compared, before anything is drawn.
func (s *statistics) plan(places []int, budget int64) (plan []comparison, each int64) {
	properties := s.o.tested()
	part := budget / int64(len(properties))
	count := int(max(1, min(mostTests, part/(2*fewestForTest))))
	unit := new(big.Rat).Quo(s.o.Sensitivity, s.space.Unit)
	delta := max(1, new(big.Int).Quo(unit.Num(), unit.Denom()).Int64())
	for _, p := range properties {
		for range count {
			q := s.field.places[places[s.rng.IntN(len(places))]].q
			plan = append(plan, s.drawComparison(p, q, delta))
		}
	}
	return plan, max(1, budget/int64(2*len(plan)))
}

// drawComparison draws what a score vector is compared with: for symmetry a permutation of it, for shift-invariance a shift, and for monotonicity the vector in
// which one candidate alone has risen by Δ or 2Δ.
func (s *statistics) drawComparison(p verify.Property, q inquiry.Vector, delta int64) comparison {
	n := len(q)
	c := comparison{property: p, q: q, other: slices.Clone(q), to: make([]int, n)}
	for r := range c.to {
		c.to[r] = r
	}
	switch p {
	case verify.Symmetry:
		for n > 1 && slices.IsSorted(c.to) {
			s.rng.Shuffle(n, func(i, j int) { c.to[i], c.to[j] = c.to[j], c.to[i] })
		}
		for r, at := range c.to {
			c.other[at] = q[r]
		}
	case verify.Shift:
		by := []int64{1, -1, 2, -10, 1000, s.o.offset(), -s.o.offset()}[s.rng.IntN(7)]
		c.other = q.Plus(by * delta)
	case verify.Monotone:
		r := s.rng.IntN(n)
		c.other[r] += []int64{delta, 2 * delta}[s.rng.IntN(2)]
		c.to, c.atLeast = slices.Repeat([]int{-1}, n), true
		c.to[r] = r
	}
	return c
}

// matched yields the candidates that are compared, each with its counterpart at the other vector.
func (c *comparison) matched() iter.Seq2[int, int] {
	return func(yield func(r, at int) bool) {
		for r, at := range c.to {
			if at >= 0 && !yield(r, at) {
				return
			}
		}
	}
}

// tail bounds from above the probability of counts that differ as much as those of candidate r and its counterpart, if the mechanism has the property.
func (c *comparison) tail(r, at int) number.Interval {
	x, n, y, m := c.own[r], sumOf(c.own), c.near[at], sumOf(c.near)
	tail := hypergeometricTail(n, m, x+y, x)
	if c.atLeast {
		return tail
	}
	if x*m < y*n {
		tail = hypergeometricTail(m, n, x+y, y)
	}
	return tail.Mul(number.FromInt(2, binomialBits)) // both tails
}

// compare draws what was planned. A comparison where an error came instead of samples is left out.
func (s *statistics) compare(places []int) error {
	budget := int64(testShare * float64(s.o.Budget))
	if !s.o.wants() && len(s.o.measured()) == 0 {
		budget = s.o.Budget - s.drawn
	}
	plan, each := s.plan(places, budget)
	s.compared = plan
	for i := range plan {
		c := &plan[i]
		var err error
		if c.own, c.near, err = s.drawBoth(s.field.place(c.q), each, s.field.place(c.other), each); err != nil {
			return err
		}
	}
	return nil
}

// comparisons returns the verdicts at a level.
func (s *statistics) comparisons(alpha *big.Rat) []verify.Result {
	tests := int64(0) // planned, of all properties
	for _, c := range s.compared {
		for range c.matched() {
			tests++
		}
	}
	var out []verify.Result
	for _, p := range s.o.tested() {
		out = append(out, s.verdictOn(p, newStrongest(alpha, tests)))
	}
	return out
}

// nothingFound is the reason why a test leaves a property undecided.
const nothingFound = "a test of samples found nothing, and cannot prove it"

// verdictOn returns the verdict on one property, with the strongest evidence for a witness.
func (s *statistics) verdictOn(p verify.Property, strongest *strongest) verify.Result {
	res := verify.Result{Name: p, Verdict: verify.Undecided, Reason: nothingFound}
	for _, c := range s.compared {
		if c.property != p || c.own == nil || c.near == nil {
			continue
		}
		for r, at := range c.matched() {
			res.Checked++
			if !strongest.refutes(c.tail(r, at)) {
				continue
			}
			x, n, y, m := c.own[r], sumOf(c.own), c.near[at], sumOf(c.near)
			res.Verdict = verify.Violated
			res.Reason = fmt.Sprintf("by a test of samples: candidate %d was taken %d times of %d, and candidate %d %d times of %d, p <= %s in %d comparisons together",
				r, x, n, at, y, m, strongest.text(), strongest.tests)
			res.Witness = &verify.Witness{
				Scores: s.space.Scores(c.q), Neighbor: s.space.Scores(c.other), Candidate: &r, P: frequency(x, n), PNeighbor: frequency(y, m),
			}
			if p == verify.Symmetry {
				res.Witness.NeighborCandidate = &at
			}
		}
	}
	if res.Checked == 0 {
		res.Reason = "nothing was compared"
	}
	return res
}

func sumOf(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// hypergeometricTail bounds from above the probability that of `hits` draws without replacement among n + m, x or more are of the n. Where x is not above the mean it
// returns 1. The first term is C(n,x) C(m,hits-x) / C(n+m,hits); those that follow fall by ratios that fall,
//
//	t_{i+1}/t_i = (n-i)(hits-i) / ((i+1)(m-hits+i+1)).
func hypergeometricTail(n, m, hits, x int64) number.Interval {
	one := number.FromInt(1, binomialBits)
	if mean := new(big.Rat).Mul(big.NewRat(hits, 1), big.NewRat(n, n+m)); big.NewRat(x, 1).Cmp(mean) <= 0 {
		return one
	}
	choose := func(n, k int64) number.Interval {
		return logFactorial(n).Sub(logFactorial(k)).Sub(logFactorial(n - k))
	}
	term := number.Exp(choose(n, x).Add(choose(m, hits-x)).Sub(choose(n+m, hits)))
	return fallingSum(term, x, min(n, hits), func(i int64) number.Interval {
		num := new(big.Int).Mul(big.NewInt(n-i), big.NewInt(hits-i))
		den := new(big.Int).Mul(big.NewInt(i+1), big.NewInt(m-hits+i+1))
		return number.FromRat(new(big.Rat).SetFrac(num, den), binomialBits)
	})
}

// wide is a pair of neighbors at which the ratios of two events differ.
type wide struct {
	edge
	low   []bool // the event whose ratio is small
	value float64
}

// widest returns the pair at which the bounds promise most: of bounded range with a second event, of ρ with one.
func (s *statistics) widest(p verify.Property) *wide {
	f := s.field
	a := aim{left: float64(max(1, s.o.Budget-s.drawn)), approximate: p == verify.ApproximateDP, claimed: s.o.Epsilon.Float()}
	var best *wide
	for _, e := range f.edges {
		if e.steps || f.places[e.from].event != "" || f.places[e.to].event != "" {
			continue
		}
		up := f.rate(e, a)
		if math.IsInf(up.promise, -1) {
			continue
		}
		for _, w := range f.offers(p, up, a) {
			if best == nil || w.value > best.value {
				best = &w
			}
		}
	}
	return best
}

// offers returns the events at a rated pair that a bound on a property can rest on: its own one; of bounded range also the best one in the other direction;
// and of ρ one in each direction.
func (f *field) offers(p verify.Property, up edge, a aim) []wide {
	switch p {
	case verify.ZCDP:
		var out []wide
		for side := range 2 {
			if up.from, up.to = up.to, up.from; f.directed && side == 0 {
				continue
			}
			w := wide{edge: up}
			w.event, w.value = f.distant(up)
			out = append(out, w)
		}
		return out
	case verify.BoundedRange:
		own, n := f.hits(up.from, f.outcomes(up))
		near, m := f.hits(up.to, f.outcomes(up))
		down := f.oneWay(edge{from: up.to, to: up.from, distance: up.distance}, a, true, near, own, m, n)
		if down.event == nil {
			return nil
		}
		return []wide{{edge: up, low: down.event, value: up.promise + down.promise}}
	}
	return []wide{{edge: up, value: up.promise}}
}

// distant returns the event at a pair whose two probabilities have the greatest Rényi divergence of order 2, taken two standard errors less far apart.
func (f *field) distant(e edge) (event []bool, value float64) {
	own, n := f.hits(e.from, f.outcomes(e))
	near, m := f.hits(e.to, f.outcomes(e))
	f.events(e, own, near, n, m, func(x, y float64, in []outcome) {
		p, o := (x+0.5)/(n+1), (y+0.5)/(m+1)
		p, o = p-2*math.Sqrt(p*(1-p)/n), o+2*math.Sqrt(o*(1-o)/m)
		if d := math.Log(p*p/o + (1-p)*(1-p)/(1-o)); 0 < o && o < p && d > value {
			value, event = d, union(in, len(own))
		}
	})
	return event, value
}

// measure draws at the pair that promises most, and bounds the range or ρ there from below. Each of the limits has its share of the level.
func (s *statistics) measure(p verify.Property, alpha *big.Rat, samples int64) (verify.Result, error) {
	res := verify.Result{Name: p, Verdict: verify.Undecided, Reason: nothingFound}
	if s.repeats.broken {
		res.Reason = "the samples are not independent"
		return res, nil
	}
	w := s.widest(p)
	if w == nil || w.event == nil {
		res.Reason = "no pair of neighbors was looked at"
		return res, nil
	}
	own, near, err := s.drawAfresh(&res, w, samples/2, samples/2)
	if err != nil || own == nil {
		return res, err
	}
	n, m := sumOf(own), sumOf(near)
	x, y := hitsOf(own, w.event), hitsOf(near, w.event)
	limits := int64(2)
	if p == verify.BoundedRange {
		limits = 4
	}
	each := new(big.Rat).Quo(alpha, big.NewRat(limits, 1))
	low, high := lowerLimit(n, x, each), upperLimit(m, y, each)
	var least number.Interval // what is shown to be exceeded
	target := s.o.Rho
	if p == verify.BoundedRange {
		lowNear, highOwn := lowerLimit(m, hitsOf(near, w.low), each), upperLimit(n, hitsOf(own, w.low), each)
		if low.Sign() == 0 || lowNear.Sign() == 0 {
			res.Attained, res.Reason = nil, "there were too few samples for a bound"
			return res, nil
		}
		least = number.Log(number.FromRat(new(big.Rat).Quo(new(big.Rat).Mul(low, lowNear), new(big.Rat).Mul(high, highOwn)), binomialBits))
		target = s.o.Range
		res.Reason = fmt.Sprintf("the other event of the range came %d of %d and %d of %d times", hitsOf(own, w.low), n, hitsOf(near, w.low), m)
	} else {
		least = concentration(low, high)
	}
	bound, _ := least.Float64()
	name := "range"
	if p == verify.ZCDP {
		name = "ρ"
	}
	confidence, _ := s.o.Confidence.Float64()
	text := fmt.Sprintf("by a test of samples with confidence %g: %s is at least %.4g", confidence, name, math.Floor(max(0, bound)*1e6)/1e6)
	var limit number.Interval
	switch {
	case target != nil:
		limit = number.FromRat(target, binomialBits)
	case p == verify.BoundedRange:
		limit = s.o.Epsilon.Value(binomialBits)
	default: // any finite ρ
		res.Reason = text + "; no target was given"
		return res, nil
	}
	if w.distance != nil { // ε counts so many times, and ρ by the square
		d := number.FromRat(w.distance, binomialBits)
		if limit = limit.Mul(d); p == verify.ZCDP {
			limit = limit.Mul(d)
		}
	}
	if over, ok := least.Cmp(limit); ok && over > 0 {
		res.Verdict, res.Witness, res.Reason = verify.Violated, res.Attained, text
		return res, nil
	}
	res.Reason = text + "; samples cannot prove that it is not more"
	return res, nil
}

// drawAfresh draws at the two sides of a pair, and puts what its event showed into the result, or the reason where there are no samples: the counts are nil then.
func (s *statistics) drawAfresh(res *verify.Result, w *wide, n, m int64) (own, near []int64, err error) {
	if own, near, err = s.drawBoth(w.from, n, w.to, m); err != nil {
		return nil, nil, err
	}
	if own == nil || near == nil {
		res.Reason = "an error came instead of samples"
		return nil, nil, nil
	}
	res.Checked = 1
	res.Attained = &verify.Witness{
		Scores: s.space.Scores(s.field.places[w.from].q), Neighbor: s.space.Scores(s.field.places[w.to].q),
		P: frequency(hitsOf(own, w.event), sumOf(own)), PNeighbor: frequency(hitsOf(near, w.event), sumOf(near)),
	}
	s.name(res.Attained, w.event)
	return own, near, nil
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
