package audit

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"optratio/internal/inquiry"
	"optratio/number"
	"optratio/verify"
)

// Symmetry, shift-invariance, and that a sampler is like a named mechanism or a reference, say of pairs of laws that they are the same; monotonicity, that a
// candidate is no likelier at one score vector than at another. Then e^0 bounds the ratio of an event's probabilities: each is audited as a mechanism with two inputs a
// pair, its sides, that is claimed to be 0-DP, by the search and the bets that ε has.
const (
	testShare     = 0.25 // of the budget for each of these properties,
	testedShare   = 0.4  // and at most this for all together, unless nothing else is asked for
	fewestForTest = 300  // samples for either side of a comparison, where there are several
	mostTests     = 200  // comparisons of one property
)

// Testable are the properties that samples can tell about: dp; those that are tested by comparisons; and those that a bound refutes.
var Testable = []verify.Property{verify.DP, verify.Symmetry, verify.Shift, verify.Monotone, verify.BoundedRange, verify.ZCDP, verify.ApproximateDP}

// OfLabels are the properties of stated probabilities that are about any outcomes; the first three are those to decide by default.
var OfLabels = []verify.Property{verify.DP, verify.BoundedRange, verify.Sum, verify.RDP, verify.ZCDP, verify.ApproximateDP}

// tested are the properties asked for that are tested by comparisons, and goals those that bounds refute, in the order in which they are searched for.
func (o *Options) tested() []verify.Property {
	tested := o.asked(verify.Symmetry, verify.Shift, verify.Monotone)
	if o.Against != nil {
		tested = append(tested, Against)
	}
	if o.Reference != "" {
		tested = append(tested, Same)
	}
	return tested
}

func (o *Options) goals() []verify.Property {
	return o.asked(verify.DP, verify.ApproximateDP, verify.ZCDP, verify.BoundedRange)
}

// asked returns those of some properties that are asked for.
func (o *Options) asked(some ...verify.Property) []verify.Property {
	return slices.DeleteFunc(some, func(p verify.Property) bool { return !slices.Contains(o.Properties, p) })
}

// parts is among how many verdicts the level is divided.
func (o *Options) parts() int64 { return int64(max(1, len(o.goals())+len(o.tested()))) }

// comparison is of the laws at two sides: of a score vector or an input, and of another one, or the same one that another sampler draws at. The outcomes that are compared are pairs
// of candidates, and all others together; nil: all outcomes, each with itself.
type comparison struct {
	q, other inquiry.Vector
	matched  [][2]int
}

// sides draws at the sides of comparisons: at 2i at the first one of comparison i, and at 2i+1 at the second one.
type sides struct {
	compared      []comparison
	first, second sampler
}

func (s *sides) Sample(side inquiry.Vector, samples int64) (counts []int64, event string, err error) {
	c, at := s.compared[side[0]/2], side[0]%2
	if at == 0 {
		counts, event, err = s.first.Sample(c.q, samples)
	} else {
		counts, event, err = s.second.Sample(c.other, samples)
	}
	if err != nil || event != "" || c.matched == nil {
		return counts, event, err
	}
	own := make([]int64, len(c.matched), len(c.matched)+1)
	for i, m := range c.matched {
		own[i] = countAt(counts, m[at])
	}
	if others := sumOf(counts) - sumOf(own); others > 0 {
		own = append(own, others)
	}
	return own, "", nil
}

// compared returns what is compared to test a property, before anything is drawn: everything that is asked about, with a reference, or some pairs of score vectors.
func (s *statistics) comparisons(p verify.Property, dom *inquiry.Domain, budget int64) (all []comparison) {
	vectors := slices.Collect(dom.Vectors)
	if p == Against || p == Same {
		for _, q := range vectors {
			all = append(all, comparison{q, q, nil})
		}
		return all
	}
	if len(vectors) == 0 {
		return nil
	}
	unit := new(big.Rat).Quo(s.o.Sensitivity, s.space.Unit)
	delta := max(1, new(big.Int).Quo(unit.Num(), unit.Denom()).Int64())
	for range max(1, min(mostTests, budget/(2*fewestForTest))) {
		all = append(all, s.drawComparison(p, vectors[s.rng.IntN(len(vectors))], delta))
	}
	return all
}

// drawComparison draws what a score vector is compared with: for symmetry a permutation of it, for shift-invariance a shift, and for monotonicity the vector in
// which one candidate alone has risen by Δ or 2Δ.
func (s *statistics) drawComparison(p verify.Property, q inquiry.Vector, delta int64) comparison {
	n := len(q)
	c, to := comparison{q: q, other: slices.Clone(q)}, make([]int, n)
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
		c.matched = [][2]int{{r, r}}
		return c
	}
	for r, at := range to {
		c.matched = append(c.matched, [2]int{r, at})
	}
	return c
}

// test bets that the two laws of one of a property's comparisons differ.
func (s *statistics) test(p verify.Property, dom *inquiry.Domain, alpha *big.Rat, budget int64) (res verify.Result, err error) {
	compared := s.comparisons(p, dom, budget)
	draws, reference := sampler(&sides{compared, s.sampler, s.sampler}), new(drawing)
	switch p {
	case Against:
		named, err := s.o.named(s.space)
		if err != nil {
			return res, err
		}
		reference = &drawing{mechanism: s.o.Against, space: named, src: rand.NewPCG(s.o.Seed, 0x616761696e7374)}
		draws = &sides{compared, s.sampler, reference}
		budget += budget / 4 // of which the sampler draws at most four fifths
	case Same:
		draws = s.o.beside(compared)
	}
	zero, err := number.FromEpsilon(new(big.Rat))
	if err != nil {
		return res, err
	}
	o := *s.o
	o.Epsilon, o.Properties, o.UntilRefuted, o.Budget = zero, []verify.Property{verify.DP}, true, budget-budget/lateShare
	o.Targets, o.Against, o.Reference, o.Inputs = nil, nil, "", s.o.twins(p, s.space, compared)
	if s.o.Progress != nil {
		o.Progress = func(done, _ int64) { s.o.Progress(s.drawn+done, s.budget) }
	}
	space, pairs, err := o.domain(0)
	if err != nil {
		return res, err
	}
	own := newStatistics(s.ctx, &o, draws, space, s.rng)
	own.betOn(verify.DP, alpha)
	own.wealth.levels = own.wealth.levels[:1] // there is no other ε
	own.repeats, own.field.single = s.repeats, p == verify.Monotone
	why, err := own.search(pairs, 0)
	if err != nil {
		return res, err
	}
	s.repeats, s.drawn = own.repeats, s.drawn+own.drawn-reference.drawn
	res, _ = own.conclude(verify.DP, why)
	res.Name, res.Checked, res.Attained = p, own.seen(), nil
	if res.Verdict == verify.Violated {
		level, _ := alpha.Float64()
		s.unpair(res.Witness, p, compared)
		w := res.Witness
		res.Reason = fmt.Sprintf("by a test of samples, p <= %.2g: %s, and %s of the other side", level, w.P.Method(), cmp.Or(w.PExpected.Method(), w.PNeighbor.Method()))
	} else if res.Checked > 0 && s.ctx.Err() == nil {
		res.Reason = fmt.Sprintf("a test of samples found nothing, and cannot prove it; an event's probabilities that differ by %.2g would show", own.power())
	}
	return res, nil
}

// twins are the inputs that the sides of comparisons are taken for, and their pairs.
func (o *Options) twins(p verify.Property, space *inquiry.Space, compared []comparison) *Inputs {
	in := &Inputs{OneWay: p == verify.Monotone}
	for i, c := range compared {
		other := o.text(space, c.other)
		if p == Same || p == Against {
			other = slices.Concat([]byte(`{"reference":`), other, []byte("}"))
		}
		in.Values = append(in.Values, o.text(space, c.q), other)
		in.Pairs = append(in.Pairs, InputPair{From: 2 * i, To: 2*i + 1})
	}
	return in
}

// unpair puts what the sides of a comparison are into its witness.
func (s *statistics) unpair(w *verify.Witness, p verify.Property, compared []comparison) {
	side := w.Scores[0].Num().Int64()
	c := compared[side/2]
	if side%2 == 1 {
		w.P, w.PNeighbor = w.PNeighbor, w.P
	}
	w.Scores, w.Neighbor = s.space.Scores(c.q), s.space.Scores(c.other)
	if p == Against || p == Same {
		w.PExpected, w.PNeighbor, w.Neighbor = w.PNeighbor, number.Number{}, nil
	}
	if w.Candidate != nil && c.matched != nil {
		m := c.matched[*w.Candidate]
		if w.Candidate = &m[0]; m[0] != m[1] {
			w.NeighborCandidate = &m[1]
		}
	}
}

// power is about the difference of an event's probabilities that bets on so many samples at either side of every pair show more often than not.
func (s *statistics) power() float64 {
	each := float64(s.drawn) / float64(2*len(s.field.all))
	limit, _ := s.wealth.limit.Float64()
	return math.Sqrt((math.Log(limit) + 4) / each)
}
