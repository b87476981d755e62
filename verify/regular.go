package verify

import (
	"cmp"
	"iter"
	"math/big"
	"slices"

	"optratio/internal/inquiry"
	"optratio/number"
)

// regular decides one of the properties of single vectors and of vectors that correspond to each other. With proofOnly, only a proof is of use to the caller: the
// check ends at the first instance that is undecided or a counterexample.
func (c *run) regular(p Property, proofOnly bool) ([]*Result, error) {
	t := &tracker{run: c, res: &Result{Name: p}, proofOnly: proofOnly}
	var err error
	switch {
	case c.dom.ByConstruction != "" && (p == Symmetry || p == Shift):
		t.res.Reason = c.dom.ByConstruction
	case p == Symmetry:
		err = c.symmetry(t)
	case p == Shift:
		err = c.shift(t)
	case p == Monotone:
		err = c.monotone(t)
	case p == Sum:
		err = c.sum(t)
	default:
		err = c.dominates(t, p == DominatesEMMean)
	}
	if err := t.finish(err); err != nil {
		return nil, err
	}
	if p == Symmetry && t.res.Verdict == Proved && !c.opts.readings && c.dom.Representatives != nil {
		dom := *c.dom.Representatives
		dom.Shifted, dom.ByConstruction = c.dom.Shifted, c.dom.ByConstruction // symmetry was not proved outside the domain
		c.dom, c.subject, c.em = &dom, inquiry.BySymmetry{Inner: c.subject}, inquiry.BySymmetry{Inner: c.em}
	}
	return []*Result{t.res}, nil
}

// agree requires that a and b are equal in the tracker's property.
func (t *tracker) agree(a, b *inquiry.Value, size []int64, w func() *Witness) error {
	return t.require(a, b, func(sign int) bool { return sign == 0 }, size, w)
}

// notAbove requires a <= b in the tracker's property.
func (t *tracker) notAbove(a, b *inquiry.Value, size []int64, w func() *Witness) error {
	return t.require(a, b, func(sign int) bool { return sign <= 0 }, size, w)
}

// require counts a comparison and records a violation where the sign of a - b is not allowed.
func (t *tracker) require(a, b *inquiry.Value, allowed func(sign int) bool, size []int64, w func() *Witness) error {
	if err := t.step(); err != nil {
		return err
	}
	switch s, ok := a.Compare(b, t.precision()); {
	case !ok:
		if !(allowed(1) || t.excused(a, b)) || !(allowed(-1) || t.excused(b, a)) {
			t.unclear()
		}
	case !allowed(s):
		t.fail(size, w)
	}
	return nil
}

// alike compares two vectors' probabilities of candidates that match. order says, before the size, which violations are shown first; moved, that
// a candidate and its match may have different places.
func (c *run) alike(t *tracker, q, other inquiry.Vector, matches iter.Seq2[int, int], moved bool, order ...int64) error {
	a, b, err := c.both(q, other)
	if err != nil || !t.comparable(a, b) {
		return err
	}
	if a.Event != "" || b.Event != "" {
		return c.events(t, a, b, q, other)
	}
	for r, s := range matches {
		err := t.agree(a.P[r], b.P[s], append(slices.Clone(order), size(r, q, other)...), func() *Witness {
			w := c.pair(q, other, r, a.P[r], b.P[s])
			if moved {
				w.NeighborCandidate = &s
			}
			return w
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// comparable reports whether two answers can be compared in single probabilities. One that is not a distribution in any reading decides nothing.
func (t *tracker) comparable(answers ...*inquiry.Answer) bool {
	for _, x := range answers {
		if fault, _, _ := x.Fault(); fault != "" {
			t.undecide(fault)
			return false
		}
	}
	return true
}

// symmetry compares every vector's probabilities with those of the same scores in descending
// order, and a vector in that order with its reverse. Tied candidates there share the probability of the first
// of them, so that the two together say that the probabilities depend on the multiset of scores alone.
//
// On domains that list what is to be compared, every candidate is compared with those of the same score in the other vector, after
// the shift between the two.
func (c *run) symmetry(t *tracker) error {
	if c.dom.Permuted != nil {
		for q, other := range c.dom.Permuted {
			shift := other.Best() - q.Best()
			// What a permutation alone refutes says more than what needs a shift too.
			if err := c.alike(t, q, other, tied(q, other, shift), true, min(1, max(shift, -shift))); err != nil {
				return err
			}
		}
		return nil
	}
	for q := range c.dom.Vectors {
		sorted, _ := inquiry.SortVector(q)
		arrangements := []inquiry.Vector{q}
		if slices.Equal(sorted, q) {
			reversed := slices.Clone(sorted)
			slices.Reverse(reversed)
			arrangements = []inquiry.Vector{reversed, q}
		}
		for _, q := range arrangements {
			if _, place := inquiry.SortVector(q); c.has(sorted) && c.has(q) {
				if err := c.alike(t, q, sorted, slices.All(place), true); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// tied yields the candidates of q and of other with the same score but for the shift; of a vector and itself each two once.
func tied(q, other inquiry.Vector, shift int64) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for r := range q {
			for s := range other {
				if other[s]-q[r] == shift && !(slices.Equal(q, other) && s <= r) && !yield(r, s) {
					return
				}
			}
		}
	}
}

func (c *run) has(q inquiry.Vector) bool { return c.dom.Has == nil || c.dom.Has(q) }

// pair describes two probabilities of candidate r.
func (c *run) pair(q, other inquiry.Vector, r int, p, o *inquiry.Value) *Witness {
	w := &Witness{
		Scores: c.dom.Space.Scores(q), Neighbor: c.dom.Space.Scores(other),
		Candidate: &r, P: p.Number(), PNeighbor: o.Number(),
	}
	if a, b, err := c.both(q, other); err == nil && len(q) <= maxShown && max(len(a.P), len(b.P)) <= maxShown {
		w.PMFs = [2][]number.Number{numbers(a.P), numbers(b.P)}
	}
	return w
}

// maxShown is the number of candidates up to which a witness has all probabilities of its two score vectors.
const maxShown = 20

func numbers(values []*inquiry.Value) []number.Number {
	var out []number.Number
	for _, v := range values {
		out = append(out, v.Number())
	}
	return out
}

const unanswered = "not every question was answered with probabilities"

// silent reports whether two answers say nothing about each other, as neither is a pmf. That leaves the property undecided.
func (t *tracker) silent(a, b *inquiry.Answer) bool {
	silent := a.Event != "" && b.Event != ""
	if silent {
		t.undecide(unanswered)
	}
	return silent
}

// events compares two answers, one of which at least is no pmf: they differ where the other one is, and where
// neither is there is nothing to compare.
func (c *run) events(t *tracker, a, b *inquiry.Answer, q, other inquiry.Vector) error {
	if t.silent(a, b) {
		return nil
	}
	if err := t.step(); err != nil {
		return err
	}
	if a.Event == "" {
		q, other = other, q
	}
	t.fail(size(len(q), q, other), func() *Witness { return c.eventPair(q, other) })
	return nil
}

// eventPair says that q gives an event and other does not.
func (c *run) eventPair(q, other inquiry.Vector) *Witness {
	w := c.pair(q, other, 0, inquiry.One, inquiry.Rational(new(big.Rat)))
	w.Candidate, w.Event = nil, "error"
	return w
}

// onlyOne is a pair of which one gives an event and the other does not. Of a directed domain it keeps the pair's order.
func (c *run) onlyOne(d direction) *Witness {
	switch {
	case d.a.Event != "":
		return c.eventPair(d.q, d.to)
	case c.dom.Directed:
		w := c.eventPair(d.q, d.to)
		w.Event = "an answer"
		return w
	}
	return c.eventPair(d.to, d.q)
}

// shift compares vectors that differ by a constant.
func (c *run) shift(t *tracker) error {
	for q, other := range c.dom.Shifted {
		places := func(yield func(int, int) bool) {
			for r := range q {
				if !yield(r, r) {
					return
				}
			}
		}
		if err := c.alike(t, q, other, places, false); err != nil {
			return err
		}
	}
	return nil
}

// monotone compares the pairs of Lowered. From q to other the scores rise by some steps; for those candidates whose step is the
// greatest there is a shift after which they are no lower and all others no higher, so that they may not lose, and
// those with the least step may not gain. On a domain that is convex in the differences of scores, as Q(n,k)
// is, pairs where one candidate's score falls imply the general case.
func (c *run) monotone(t *tracker) error {
	for q, other := range c.dom.Lowered {
		a, b, err := c.both(q, other)
		if err != nil {
			return err
		}
		if !t.comparable(a, b) {
			continue
		}
		if a.Event != "" || b.Event != "" {
			t.undecide(unanswered)
			continue
		}
		steps := make([]int64, len(q))
		for r := range q {
			steps[r] = other[r] - q[r]
		}
		most, least := slices.Max(steps), slices.Min(steps)
		order := func(r, at int) []int64 {
			if c.dom.Permuted == nil {
				return size(at, q, other)
			}
			// What needs no shift says more than what does.
			return append([]int64{inquiry.NeedsShift(steps, r)}, size(at, q, other)...)
		}
		for r, step := range steps {
			if step == most {
				err = t.notAbove(a.P[r], b.P[r], order(r, r), func() *Witness { return c.pair(q, other, r, a.P[r], b.P[r]) })
			}
			if step == least && err == nil {
				err = t.notAbove(b.P[r], a.P[r], order(r, len(q)), func() *Witness { return c.pair(q, other, r, a.P[r], b.P[r]) })
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// sum checks that probabilities are not negative and sum to 1.
func (c *run) sum(t *tracker) error {
	for q := range c.dom.Vectors {
		a, err := c.subject.Answer(q)
		if err != nil {
			return err
		}
		if a.Event != "" {
			t.undecide(unanswered)
			continue
		}
		total := inquiry.Rational(new(big.Rat))
		for r, p := range a.P {
			total = total.Add(p)
			if lo, _ := p.Floats(); lo >= 0 {
				continue
			}
			switch s, ok := p.Sign(t.precision()); {
			case !ok:
				t.unclear()
			case s < 0:
				t.fail(size(r, q), func() *Witness {
					return &Witness{Scores: c.dom.Space.Scores(q), Candidate: &r, P: p.Number()}
				})
			}
		}
		err = t.agree(total, inquiry.One, size(len(q), q), func() *Witness {
			return &Witness{Scores: c.dom.Space.Scores(q), P: total.Number()}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dominates compares Pr[error >= t] with the exponential mechanism's at every t, from the
// greatest downwards; with mean, the expected errors.
func (c *run) dominates(t *tracker, mean bool) error {
	for q := range c.dom.Vectors {
		a, err := c.subject.Answer(q)
		if err != nil {
			return err
		}
		em, err := c.em.Answer(q)
		if err != nil {
			return err
		}
		if a.Event != "" {
			t.undecide(unanswered)
			continue
		}
		if a = c.distribution(t, a); a == nil {
			continue
		}
		if mean {
			err = c.worse(t, q, 0, nil, c.meanError(q, a.P), c.meanError(q, em.P))
		} else {
			err = c.worseTails(t, q, a.P, em.P)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// below returns the candidates that are not among the best, the worst first.
func below(q inquiry.Vector) (order []int) {
	for r, x := range q {
		if x < q.Best() {
			order = append(order, r)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(q[i], q[j]) })
	return order
}

// errorOf returns by how much a candidate is worse than the best, in the user's units.
func (c *run) errorOf(q inquiry.Vector, r int) *big.Rat {
	return c.dom.Space.Scores(inquiry.Vector{q.Best() - q[r]})[0]
}

// meanError returns the expected error.
func (c *run) meanError(q inquiry.Vector, p []*inquiry.Value) *inquiry.Value {
	mean := inquiry.Rational(new(big.Rat))
	for _, r := range below(q) {
		mean = mean.Add(inquiry.Rational(c.errorOf(q, r)).Mul(p[r]))
	}
	return mean
}

// worseTails compares Pr[error >= t] at the error of every candidate that is not one of the best.
func (c *run) worseTails(t *tracker, q inquiry.Vector, p, em []*inquiry.Value) error {
	own, theirs := inquiry.Rational(new(big.Rat)), inquiry.Rational(new(big.Rat))
	order := below(q)
	for at, r := range order {
		own, theirs = own.Add(p[r]), theirs.Add(em[r])
		if at+1 < len(order) && q[order[at+1]] == q[r] {
			continue // the rest of the tie belongs to the same t
		}
		if err := c.worse(t, q, r, c.errorOf(q, r), own, theirs); err != nil {
			return err
		}
	}
	return nil
}

// worse records a violation where p > em.
func (c *run) worse(t *tracker, q inquiry.Vector, r int, at *big.Rat, p, em *inquiry.Value) error {
	return t.notAbove(p, em, size(r, q), func() *Witness {
		return &Witness{Scores: c.dom.Space.Scores(q), T: at, P: p.Number(), PExpected: em.Number()}
	})
}
