package verify

import (
	"math/big"
	"slices"
)

// both asks the subject about two vectors.
func (c *run) both(q, other Vector) (a, b *Answer, err error) {
	if a, err = c.subject.Answer(q); err != nil {
		return nil, nil, err
	}
	b, err = c.subject.Answer(other)
	return a, b, err
}

// agree requires that a and b are equal in the tracker's property.
func (t *tracker) agree(a, b *Value, size []int64, w func() *Witness) error {
	if err := t.step(); err != nil {
		return err
	}
	switch s, ok := a.compare(b, t.precision()); {
	case !ok:
		t.unclear()
	case s != 0:
		t.fail(size, w)
	}
	return nil
}

// symmetry compares every vector's probabilities with those of the same scores in descending
// order, and a vector in that order with its reverse. Tied candidates there share the probability of the first
// of them, so that the two together say that the probabilities depend on the multiset of scores alone.
func (c *run) symmetry(t *tracker) error {
	for q := range c.dom.Vectors {
		sorted, place := sortVector(q)
		if !c.has(sorted) {
			continue
		}
		if slices.Equal(sorted, q) {
			reversed := slices.Clone(sorted)
			slices.Reverse(reversed)
			if c.has(reversed) {
				if err := c.permuted(t, reversed, sorted); err != nil {
					return err
				}
			}
		}
		if err := c.placed(t, q, sorted, place); err != nil {
			return err
		}
	}
	return nil
}

func (c *run) has(q Vector) bool { return c.dom.Has == nil || c.dom.Has(q) }

// permuted compares two orders of the same scores, sorted being descending.
func (c *run) permuted(t *tracker, q, sorted Vector) error {
	_, place := sortVector(q)
	return c.placed(t, q, sorted, place)
}

func (c *run) placed(t *tracker, q, sorted Vector, place []int) error {
	a, b, err := c.both(q, sorted)
	if err != nil {
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
	return &Witness{
		Scores: c.dom.Space.Scores(q), Neighbor: c.dom.Space.Scores(other),
		Candidate: &r, P: p.Number(), PNeighbor: o.Number(),
	}
}

const unanswered = "not every question was answered with probabilities"

// events compares two answers, one of which at least is no pmf: they differ where the other one is, and where
// neither is there is nothing to compare.
func (c *run) events(t *tracker, a, b *Answer, q, other Vector) error {
	if err := t.step(); err != nil {
		return err
	}
	if a.Event != "" && b.Event != "" {
		t.undecide(unanswered)
		return nil
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

// shift compares vectors that differ by a constant.
func (c *run) shift(t *tracker) error {
	for q, other := range c.dom.Shifted {
		a, b, err := c.both(q, other)
		if err != nil {
			return err
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

// monotone checks that lowering one candidate's score neither raises its own probability nor lowers another's; the former
// follows from the latter only where probabilities sum to 1. On a domain that is convex in the differences of scores, as Q(n,k) is, such single
// steps imply the general case.
func (c *run) monotone(t *tracker) error {
	for l := range c.dom.Lowered {
		a, b, err := c.both(l.Upper, l.Lower)
		if err != nil {
			return err
		}
		if a.Event != "" || b.Event != "" {
			t.undecide(unanswered)
			continue
		}
		for r := range l.Upper {
			if err := t.step(); err != nil {
				return err
			}
			// One's own probability may only fall, any other one's only rise.
			gain, loss, place := b.P[r], a.P[r], r
			if r == l.One {
				gain, loss, place = loss, gain, len(l.Upper)
			}
			switch s, ok := loss.compare(gain, t.precision()); {
			case !ok:
				t.unclear()
			case s > 0:
				t.fail(size(place, l.Upper, l.Lower), func() *Witness {
					return c.pair(l.Upper, l.Lower, r, a.P[r], b.P[r])
				})
			}
		}
	}
	return nil
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
			if lo, _ := p.bounds(); lo > 0 {
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
		order := make([]int, len(q))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int { return cmp64(q[i], q[j]) })
		best, zero := q.best(), Rational(new(big.Rat))
		own, theirs, ownMean, theirMean := zero, zero, zero, zero
		for at, i := range order {
			own, theirs = own.add(a.P[i]), theirs.add(em.P[i])
			if q[i] == best {
				break
			}
			depth := Rational(c.dom.Space.Scores(Vector{best - q[i]})[0])
			if mean {
				ownMean = ownMean.add(depth.mul(a.P[i]))
				theirMean = theirMean.add(depth.mul(em.P[i]))
				continue
			}
			if q[order[at+1]] == q[i] {
				continue // the rest of the tie belongs to the same t
			}
			p, e := own, theirs
			if err := c.worse(t, q, i, depth.rat, p, e); err != nil {
				return err
			}
		}
		if mean {
			if err := c.worse(t, q, 0, nil, ownMean, theirMean); err != nil {
				return err
			}
		}
	}
	return nil
}

// worse records a violation where p > em.
func (c *run) worse(t *tracker, q Vector, r int, at *big.Rat, p, em *Value) error {
	if err := t.step(); err != nil {
		return err
	}
	switch s, ok := p.compare(em, t.precision()); {
	case !ok:
		t.unclear()
	case s > 0:
		t.fail(size(r, q), func() *Witness {
			return &Witness{Scores: c.dom.Space.Scores(q), T: at, P: p.Number(), PEM: em.Number()}
		})
	}
	return nil
}
