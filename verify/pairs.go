package verify

import (
	"optratio/internal/inquiry"
)

// direction is a pair of neighbors, with their answers, in the order in which it is looked at.
type direction struct {
	a, b  *inquiry.Answer
	q, to inquiry.Vector
}

func (d direction) reversed() direction { return direction{d.b, d.a, d.to, d.q} }

// apart reports whether one of the two gives an event and the other does not.
func (d direction) apart() bool { return d.a.Event != "" || d.b.Event != "" }

// directions are the orders in which a pair is looked at: both, unless the domain says which one counts.
func (c *run) directions(d direction) []direction {
	if c.dom.Directed {
		return []direction{d}
	}
	return []direction{d, d.reversed()}
}

// eachPair asks about the neighbors and visits those whose answers say something of each other: two distributions, or one of them and an
// event. begin is called before a pair is asked about. whole reports whether nothing was left out: a pair that could not be compared, or a part of an
// answer that may belong to outputs which have no number.
func (c *run) eachPair(t *tracker, begin func(q inquiry.Vector) error, visit func(direction) error) (whole bool, err error) {
	whole = true
	for q, other := range c.dom.Neighbors {
		if err := begin(q); err != nil {
			return false, err
		}
		a, b, err := c.both(q, other)
		if err != nil {
			return false, err
		}
		beside := a.Event != "" && b.Misses() || b.Event != "" && a.Misses() // the event may be all that the other one misses
		a, b = c.distribution(t, a), c.distribution(t, b)
		if a == nil || b == nil || beside || t.silent(a, b) {
			whole = false
			continue
		}
		whole = whole && !a.Misses() && !b.Misses()
		if err := visit(direction{a, b, q, other}); err != nil {
			return false, err
		}
	}
	return whole, nil
}

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

// distribution returns what an answer says that has to be a distribution, nil where it can be none.
func (c *run) distribution(t *tracker, a *inquiry.Answer) *inquiry.Answer {
	d, fault := a.Distribution(maxPrec)
	t.undecide(fault)
	return d
}
