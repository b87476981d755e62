package verify

import (
	"cmp"
	"math/big"
	"slices"

	"optratio/internal/inquiry"
	"optratio/number"
)

// both asks the subject about two vectors. Outcomes that one of the answers does not have, because they are labels that came later, have the
// probability 0 there.
func (c *run) both(q, other inquiry.Vector) (a, b *inquiry.Answer, err error) {
	if a, err = c.subject.Answer(q); err != nil {
		return nil, nil, err
	}
	if b, err = c.subject.Answer(other); err != nil {
		return nil, nil, err
	}
	n := max(len(a.P), len(b.P))
	return a.Padded(n), b.Padded(n), nil
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

// symmetry compares every vector's probabilities with those of the same scores in descending
// order, and a vector in that order with its reverse. Tied candidates there share the probability of the first
// of them, so that the two together say that the probabilities depend on the multiset of scores alone.
//
// On domains that list what is to be compared, every candidate is compared with those of the same score in the other vector, after
// the shift between the two.
func (c *run) symmetry(t *tracker) error {
	if c.dom.Permuted != nil {
		for q, other := range c.dom.Permuted {
			if err := c.related(t, q, other); err != nil {
				return err
			}
		}
		return nil
	}
	for q := range c.dom.Vectors {
		sorted, _ := inquiry.SortVector(q)
		if !c.has(sorted) {
			continue
		}
		if slices.Equal(sorted, q) {
			reversed := slices.Clone(sorted)
			slices.Reverse(reversed)
			if c.has(reversed) {
				if err := c.placed(t, reversed); err != nil {
					return err
				}
			}
		}
		if err := c.placed(t, q); err != nil {
			return err
		}
	}
	return nil
}

// related compares two vectors with the same scores up to their order and a shift, or the tied candidates of one.
func (c *run) related(t *tracker, q, other inquiry.Vector) error {
	a, b, ok, err := c.comparable(t, q, other)
	if err != nil || !ok {
		return err
	}
	if a.Event != "" || b.Event != "" {
		return c.events(t, a, b, q, other)
	}
	shift := other.Best() - q.Best()
	for r := range q {
		for s := range other {
			if other[s]-q[r] != shift || slices.Equal(q, other) && s <= r {
				continue
			}
			// What a permutation alone refutes says more than what needs a shift too.
			order := append([]int64{min(1, max(shift, -shift))}, size(r, q, other)...)
			err := t.agree(a.P[r], b.P[s], order, func() *Witness {
				w := c.pair(q, other, r, a.P[r], b.P[s])
				w.NeighborCandidate = &s
				return w
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *run) has(q inquiry.Vector) bool { return c.dom.Has == nil || c.dom.Has(q) }

// placed compares a vector with its scores in descending order.
func (c *run) placed(t *tracker, q inquiry.Vector) error {
	sorted, place := inquiry.SortVector(q)
	a, b, ok, err := c.comparable(t, q, sorted)
	if err != nil || !ok {
		return err
	}
	if a.Event != "" || b.Event != "" {
		return c.events(t, a, b, q, sorted)
	}
	for r, i := range place {
		err := t.agree(a.P[r], b.P[i], size(r, q, sorted), func() *Witness {
			w := c.pair(q, sorted, r, a.P[r], b.P[i])
			w.NeighborCandidate = &i
			return w
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pair describes two probabilities of candidate r.
func (c *run) pair(q, other inquiry.Vector, r int, p, o *inquiry.Value) *Witness {
	w := &Witness{
		Scores: c.dom.Space.Scores(q), Neighbor: c.dom.Space.Scores(other),
		Candidate: &r, P: p.Number(), PNeighbor: o.Number(),
	}
	if a, b, err := c.both(q, other); err == nil && len(q) <= maxShown && max(len(a.P), len(b.P)) <= maxShown {
		w.PMF, w.NeighborPMF = numbers(a.P), numbers(b.P)
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
	w := c.pair(q, other, 0, inquiry.Rational(big.NewRat(1, 1)), inquiry.Rational(new(big.Rat)))
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
		a, b, ok, err := c.comparable(t, q, other)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if a.Event != "" || b.Event != "" {
			if err := c.events(t, a, b, q, other); err != nil {
				return err
			}
			continue
		}
		for r := range q {
			err := t.agree(a.P[r], b.P[r], size(r, q, other), func() *Witness {
				return c.pair(q, other, r, a.P[r], b.P[r])
			})
			if err != nil {
				return err
			}
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
		a, b, ok, err := c.comparable(t, q, other)
		if err != nil {
			return err
		}
		if !ok {
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
	one := inquiry.Rational(big.NewRat(1, 1))
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
			if lo, _ := p.Bounds(); lo >= 0 {
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
		err = t.agree(total, one, size(len(q), q), func() *Witness {
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

// worstFirst returns the candidates in the order of their scores.
func worstFirst(q inquiry.Vector) []int {
	order := make([]int, len(q))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(q[i], q[j]) })
	return order
}

// errorOf returns by how much a candidate is worse than the best, in the user's units.
func (c *run) errorOf(q inquiry.Vector, r int) *big.Rat {
	return c.dom.Space.Scores(inquiry.Vector{q.Best() - q[r]})[0]
}

// meanError returns the expected error.
func (c *run) meanError(q inquiry.Vector, p []*inquiry.Value) *inquiry.Value {
	mean := inquiry.Rational(new(big.Rat))
	for _, r := range worstFirst(q) {
		if q[r] == q.Best() {
			break
		}
		mean = mean.Add(inquiry.Rational(c.errorOf(q, r)).Mul(p[r]))
	}
	return mean
}

// worseTails compares Pr[error >= t] at the error of every candidate that is not one of the best.
func (c *run) worseTails(t *tracker, q inquiry.Vector, p, em []*inquiry.Value) error {
	own, theirs := inquiry.Rational(new(big.Rat)), inquiry.Rational(new(big.Rat))
	order := worstFirst(q)
	for at, r := range order {
		if q[r] == q.Best() {
			break
		}
		own, theirs = own.Add(p[r]), theirs.Add(em[r])
		if q[order[at+1]] == q[r] {
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
		return &Witness{Scores: c.dom.Space.Scores(q), T: at, P: p.Number(), PEM: em.Number()}
	})
}
