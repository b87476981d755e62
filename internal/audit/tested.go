package audit

import (
	"fmt"
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
)

// Testable are the properties that samples can tell about: dp; those that are tested by comparisons; and those that a bound refutes.
var Testable = []verify.Property{verify.DP, verify.Symmetry, verify.Shift, verify.Monotone, verify.BoundedRange, verify.ZCDP, verify.ApproximateDP}

// OfLabels are the properties of stated probabilities that are about any outcomes; the first three are those to decide by default.
var OfLabels = []verify.Property{verify.DP, verify.BoundedRange, verify.Sum, verify.RDP, verify.ZCDP, verify.ApproximateDP}

// comparison is of the counts at two score vectors, of candidates at the first with candidates at the second. atLeast says
// that the second's probability must not be less; otherwise they must be equal.
type comparison struct {
	property  verify.Property
	q, other  inquiry.Vector
	matched   [][2]int
	atLeast   bool
	own, near []int64
}

// asked returns those of some properties that are asked for.
func (o *Options) asked(some []verify.Property) []verify.Property {
	return slices.DeleteFunc(slices.Clone(some), func(p verify.Property) bool { return !slices.Contains(o.Properties, p) })
}

// tested are those of the properties that are tested by comparisons, measured those that bounds on probabilities refute, and wants says whether ε is asked for.
func (o *Options) tested() []verify.Property   { return o.asked(Testable[1:4]) }
func (o *Options) measured() []verify.Property { return o.asked(Testable[4:]) }
func (o *Options) wants() bool                 { return slices.Contains(o.Properties, verify.DP) }

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
	c, to := comparison{property: p, q: q, other: slices.Clone(q)}, make([]int, n)
	for r := range to {
		to[r] = r
	}
	switch p {
	case verify.Symmetry:
		for n > 1 && slices.IsSorted(to) {
			s.rng.Shuffle(n, func(i, j int) { to[i], to[j] = to[j], to[i] })
		}
		for r, at := range to {
			c.other[at] = q[r]
		}
	case verify.Shift:
		by := []int64{1, -1, 2, -10, 1000, s.o.offset(), -s.o.offset()}[s.rng.IntN(7)]
		c.other = q.Plus(by * delta)
	case verify.Monotone:
		r := s.rng.IntN(n)
		c.other[r] += []int64{delta, 2 * delta}[s.rng.IntN(2)]
		c.matched, c.atLeast = [][2]int{{r, r}}, true
		return c
	}
	for r, at := range to {
		c.matched = append(c.matched, [2]int{r, at})
	}
	return c
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
		tests += int64(len(c.matched))
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
		for _, m := range c.matched {
			r, at := m[0], m[1]
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

func sumOf[T int64 | float64](counts []T) (n T) {
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
