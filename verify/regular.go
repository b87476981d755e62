package verify

import (
	"cmp"
	"math/big"
	"slices"

	"optratio/number"
)

// both asks the subject about two vectors. Outcomes that one of the answers does not have, because they are labels that came later, have the
// probability 0 there.
func (c *run) both(q, other Vector) (a, b *Answer, err error) {
	if a, err = c.subject.Answer(q); err != nil {
		return nil, nil, err
	}
	if b, err = c.subject.Answer(other); err != nil {
		return nil, nil, err
	}
	n := max(len(a.P), len(b.P))
	return a.padded(n), b.padded(n), nil
}

// padded returns the answer with at least n probabilities, unless it is an event.
func (a *Answer) padded(n int) *Answer {
	if a.Event != "" || len(a.P) >= n {
		return a
	}
	zeros := slices.Repeat([]*Value{Rational(new(big.Rat))}, n-len(a.P))
	return &Answer{P: slices.Concat(a.P, zeros)}
}

// agree requires that a and b are equal in the tracker's property.
func (t *tracker) agree(a, b *Value, size []int64, w func() *Witness) error {
	return t.require(a, b, func(sign int) bool { return sign == 0 }, size, w)
}

// notAbove requires a <= b in the tracker's property.
func (t *tracker) notAbove(a, b *Value, size []int64, w func() *Witness) error {
	return t.require(a, b, func(sign int) bool { return sign <= 0 }, size, w)
}

// require counts a comparison and records a violation where the sign of a - b is not allowed.
func (t *tracker) require(a, b *Value, allowed func(sign int) bool, size []int64, w func() *Witness) error {
	if err := t.step(); err != nil {
		return err
	}
	switch s, ok := a.compare(b, t.precision()); {
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
		sorted, _ := sortVector(q)
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
func (c *run) related(t *tracker, q, other Vector) error {
	a, b, ok, err := c.comparable(t, q, other)
	if err != nil || !ok {
		return err
	}
	if a.Event != "" || b.Event != "" {
		return c.events(t, a, b, q, other)
	}
	shift := other.best() - q.best()
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

func (c *run) has(q Vector) bool { return c.dom.Has == nil || c.dom.Has(q) }

// placed compares a vector with its scores in descending order.
func (c *run) placed(t *tracker, q Vector) error {
	sorted, place := sortVector(q)
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
func (c *run) pair(q, other Vector, r int, p, o *Value) *Witness {
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

func numbers(values []*Value) []number.Number {
	var out []number.Number
	for _, v := range values {
		out = append(out, v.Number())
	}
	return out
}

const unanswered = "not every question was answered with probabilities"

// silent reports whether two answers say nothing about each other, as neither is a pmf. That leaves the property undecided.
func (t *tracker) silent(a, b *Answer) bool {
	silent := a.Event != "" && b.Event != ""
	if silent {
		t.undecide(unanswered)
	}
	return silent
}

// events compares two answers, one of which at least is no pmf: they differ where the other one is, and where
// neither is there is nothing to compare.
func (c *run) events(t *tracker, a, b *Answer, q, other Vector) error {
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
func (c *run) eventPair(q, other Vector) *Witness {
	w := c.pair(q, other, 0, Rational(big.NewRat(1, 1)), Rational(new(big.Rat)))
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
			return append([]int64{needsShift(steps, r)}, size(at, q, other)...)
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

// needsShift returns 0 where candidate r moves one way or not at all and every other one the other way or not at all, and 1 otherwise.
func needsShift(steps []int64, r int) int64 {
	up, down := true, true
	for s, step := range steps {
		if s == r {
			step = -step
		}
		up, down = up && step <= 0, down && step >= 0
	}
	if up || down {
		return 0
	}
	return 1
}

// NeedsShift reports whether the witness's two vectors are related by its property only after a number is added to all scores of
// one: what it refutes is then that the mechanism has the property and is shift-invariant, not the property alone.
func (w *Witness) NeedsShift(p Property) bool {
	if w.Candidate == nil || len(w.Scores) == 0 || len(w.Neighbor) != len(w.Scores) {
		return false
	}
	switch p {
	case Symmetry:
		return slices.MaxFunc(w.Scores, (*big.Rat).Cmp).Cmp(slices.MaxFunc(w.Neighbor, (*big.Rat).Cmp)) != 0
	case Monotone:
		steps := make([]int64, len(w.Scores))
		for r, q := range w.Scores {
			steps[r] = int64(w.Neighbor[r].Cmp(q))
		}
		return needsShift(steps, *w.Candidate) > 0
	}
	return false
}

// sum checks that probabilities are not negative and sum to 1.
func (c *run) sum(t *tracker) error {
	one := Rational(big.NewRat(1, 1))
	for q := range c.dom.Vectors {
		a, err := c.subject.Answer(q)
		if err != nil {
			return err
		}
		if a.Event != "" {
			t.undecide(unanswered)
			continue
		}
		total := Rational(new(big.Rat))
		for r, p := range a.P {
			total = total.add(p)
			if lo, _ := p.bounds(); lo >= 0 {
				continue
			}
			switch s, ok := p.sign(t.precision()); {
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
func worstFirst(q Vector) []int {
	order := make([]int, len(q))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(q[i], q[j]) })
	return order
}

// errorOf returns by how much a candidate is worse than the best, in the user's units.
func (c *run) errorOf(q Vector, r int) *big.Rat {
	return c.dom.Space.Scores(Vector{q.best() - q[r]})[0]
}

// meanError returns the expected error.
func (c *run) meanError(q Vector, p []*Value) *Value {
	mean := Rational(new(big.Rat))
	for _, r := range worstFirst(q) {
		if q[r] == q.best() {
			break
		}
		mean = mean.add(Rational(c.errorOf(q, r)).mul(p[r]))
	}
	return mean
}

// worseTails compares Pr[error >= t] at the error of every candidate that is not one of the best.
func (c *run) worseTails(t *tracker, q Vector, p, em []*Value) error {
	own, theirs := Rational(new(big.Rat)), Rational(new(big.Rat))
	order := worstFirst(q)
	for at, r := range order {
		if q[r] == q.best() {
			break
		}
		own, theirs = own.add(p[r]), theirs.add(em[r])
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
func (c *run) worse(t *tracker, q Vector, r int, at *big.Rat, p, em *Value) error {
	return t.notAbove(p, em, size(r, q), func() *Witness {
		return &Witness{Scores: c.dom.Space.Scores(q), T: at, P: p.Number(), PEM: em.Number()}
	})
}
