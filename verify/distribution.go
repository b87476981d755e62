package verify

import (
	"optratio/internal/inquiry"
	"slices"
)

const (
	negative       = "probabilities are negative"
	noDistribution = "probabilities do not sum to 1"
)

// distributions returns what two neighbors were answered, for properties of distributions: see distribution. ok is false where one is none, or where
// one is an event, to which all that the other one misses may belong.
func (c *run) distributions(t *tracker, q, other inquiry.Vector) (a, b *inquiry.Answer, ok bool, err error) {
	if a, b, err = c.both(q, other); err != nil {
		return nil, nil, false, err
	}
	beside := a.Event != "" && b.Misses() || b.Event != "" && a.Misses()
	a, b = c.distribution(t, a), c.distribution(t, b)
	return a, b, a != nil && b != nil && !beside, nil
}

// comparable returns what two vectors were answered, for properties that compare single probabilities. ok is false where one of the answers is no
// distribution in any reading: that decides nothing.
func (c *run) comparable(t *tracker, q, other inquiry.Vector) (a, b *inquiry.Answer, ok bool, err error) {
	if a, b, err = c.both(q, other); err != nil {
		return nil, nil, false, err
	}
	ok = true
	for _, x := range []*inquiry.Answer{a, b} {
		if place, _, is := x.Fault(); is && place < 0 {
			ok = false
			t.undecide(noDistribution)
		} else if is {
			ok = false
			t.undecide(negative)
		}
	}
	return a, b, ok, nil
}

// distribution returns an answer whose numbers, as far as they are known, can be a distribution. Where they miss the sum 1 in every reading nothing is
// proved, and each is as uncertain as that: what is missing may belong to any of them, and what is too much may be in any. They are violated where they
// are for all numbers between, among which are the numbers divided by their sum. An answer of which a number is negative is no distribution, nil.
func (c *run) distribution(t *tracker, a *inquiry.Answer) *inquiry.Answer {
	switch {
	case a.Event != "":
		return a
	case a.Negative(c.opts.maxPrec) >= 0:
		t.undecide(negative)
		return nil
	case a.Misses():
		t.undecide(noDistribution)
	case !slices.ContainsFunc(a.P, (*inquiry.Value).Crossing):
		return a
	}
	return a.Loose()
}
