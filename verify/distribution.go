package verify

import (
	"math/big"
	"slices"

	"optratio/number"
)

const (
	negative       = "probabilities are negative"
	noDistribution = "probabilities do not sum to 1"
)

// distributions returns what two neighbors were answered, for properties of distributions: see distribution. ok is false where one is none, or where
// one is an event, to which all that the other one misses may belong.
func (c *run) distributions(t *tracker, q, other Vector) (a, b *Answer, ok bool, err error) {
	if a, b, err = c.both(q, other); err != nil {
		return nil, nil, false, err
	}
	beside := a.Event != "" && b.misses() || b.Event != "" && a.misses()
	a, b = c.distribution(t, a), c.distribution(t, b)
	return a, b, a != nil && b != nil && !beside, nil
}

// comparable returns what two vectors were answered, for properties that compare single probabilities. ok is false where one of the answers is no
// distribution in any reading: that decides nothing.
func (c *run) comparable(t *tracker, q, other Vector) (a, b *Answer, ok bool, err error) {
	if a, b, err = c.both(q, other); err != nil {
		return nil, nil, false, err
	}
	ok = true
	for _, x := range []*Answer{a, b} {
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

// Fault returns what no reading of an answer's numbers makes a distribution of, if is says that there is such a thing: the first probability that is
// negative, and whose it is, or else the sum, and -1.
func (a *Answer) Fault() (place int, value number.Number, is bool) {
	if r := a.negative(1024); r >= 0 {
		return r, a.P[r].Number(), true
	}
	if !a.misses() {
		return 0, number.Number{}, false
	}
	total := Rational(new(big.Rat))
	for _, p := range a.P {
		total = total.add(p)
	}
	return -1, total.Number(), true
}

// distribution returns an answer whose numbers, as far as they are known, can be a distribution. Where they miss the sum 1 in every reading nothing is
// proved, and each is as uncertain as that: what is missing may belong to any of them, and what is too much may be in any. They are violated where they
// are for all numbers between, among which are the numbers divided by their sum. An answer of which a number is negative is no distribution, nil.
func (c *run) distribution(t *tracker, a *Answer) *Answer {
	switch {
	case a.Event != "":
		return a
	case a.negative(c.opts.MaxPrec) >= 0:
		t.undecide(negative)
		return nil
	case a.misses():
		t.undecide(noDistribution)
	case !slices.ContainsFunc(a.P, (*Value).crossing):
		return a
	}
	if a.loosened == nil {
		a.loosened = &Answer{P: loosened(a.P)}
		a.loosened.summed, a.loosened.sumsTo1 = true, a.sumsTo1
	}
	return a.loosened
}

// crossing reports whether some readings of a number are negative.
func (v *Value) crossing() bool {
	lo, _ := v.bounds()
	return v.fixed && lo < 0
}

// loosened returns the readings of p that are probabilities, with what all miss the sum 1 by.
func loosened(p []*Value) []*Value {
	zero, one := new(big.Rat), big.NewRat(1, 1)
	low, high := sums(p)
	excess, missing := zero, zero
	switch {
	case low.Cmp(one) > 0:
		excess = high.Sub(high, one)
	case high.Cmp(one) < 0:
		missing = low.Sub(one, low)
	}
	out := make([]*Value, len(p))
	for r, v := range p {
		lo, hi := v.Readings()
		lo, hi = new(big.Rat).Sub(lo, excess), new(big.Rat).Add(hi, missing)
		if hi.Cmp(one) > 0 {
			hi = one
		}
		out[r] = Within(maxRat(zero, lo), hi)
	}
	return out
}

// negative returns the first candidate whose probability is known to be negative, -1 where there is none.
func (a *Answer) negative(precision uint) int {
	return slices.IndexFunc(a.P, func(p *Value) bool {
		if lo, _ := p.bounds(); lo >= 0 {
			return false
		}
		s, ok := p.sign(precision)
		return ok && s < 0
	})
}

// misses reports whether the probabilities of an answer sum to 1 in no reading; of numbers that can be refined, as far as float64 bounds tell.
func (a *Answer) misses() bool {
	if !a.summed {
		a.summed, a.sumsTo1 = true, a.Event != "" || a.sumIsOne()
	}
	return !a.sumsTo1
}

func (a *Answer) sumIsOne() bool {
	least, most := 0.0, 0.0
	for _, p := range a.P {
		lo, hi := p.bounds()
		least, most = down(least+lo), up(most+hi)
	}
	if least > 1 || most < 1 {
		return false
	}
	if slices.ContainsFunc(a.P, func(p *Value) bool { return p.rat == nil && !p.fixed }) {
		return true
	}
	one := big.NewRat(1, 1)
	low, high := sums(a.P)
	return low.Cmp(one) <= 0 && high.Cmp(one) >= 0
}

// sums returns the sums of the lower and of the upper ends of all readings.
func sums(p []*Value) (low, high *big.Rat) {
	low, high = new(big.Rat), new(big.Rat)
	for _, v := range p {
		lo, hi := v.Readings()
		low.Add(low, lo)
		high.Add(high, hi)
	}
	return low, high
}
