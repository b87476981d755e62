package inquiry

import (
	"math/big"
	"optratio/number"
	"slices"
)

// What is wrong with numbers that no reading makes a distribution of.
const (
	Negative       = "probabilities are negative"
	NoDistribution = "probabilities do not sum to 1"
)

// Fault returns what no reading of an answer's numbers makes a distribution of, "" where there is no such thing: Negative with the first probability that
// is, and whose it is, or else NoDistribution with the sum.
func (a *Answer) Fault() (fault string, place int, value number.Number) {
	if r := a.negative(1024); r >= 0 {
		return Negative, r, a.P[r].Number()
	}
	if !a.Misses() {
		return "", 0, number.Number{}
	}
	total := Rational(new(big.Rat))
	for _, p := range a.P {
		total = total.Add(p)
	}
	return NoDistribution, 0, total.Number()
}

// Distribution returns an answer whose numbers, as far as they are known, can be a distribution, and its fault. Where they miss the sum 1 in every reading
// nothing is proved, and each is as uncertain as that: what is missing may belong to any of them, and what is too much may be in any. They violate a
// property where all numbers between do, among which are the numbers divided by their sum. An answer of which a number is negative is not a distribution, nil.
func (a *Answer) Distribution(precision uint) (d *Answer, fault string) {
	crossing := func(v *Value) bool { // some readings are negative
		lo, _ := v.Floats()
		return v.inexact && lo < 0
	}
	switch {
	case a.Event != "":
		return a, ""
	case a.negative(precision) >= 0:
		return nil, Negative
	case a.Misses():
		fault = NoDistribution
	case !slices.ContainsFunc(a.P, crossing):
		return a, ""
	}
	if a.loosened == nil {
		a.loosened = &Answer{P: loosened(a.P), summed: true, sumsTo1: fault == ""}
	}
	return a.loosened, fault
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
		if lo.Sign() < 0 {
			lo = zero
		}
		out[r] = Within(lo, hi)
	}
	return out
}

// negative returns the first candidate whose probability is known to be negative, -1 where there is none.
func (a *Answer) negative(precision uint) int {
	return slices.IndexFunc(a.P, func(p *Value) bool {
		s, ok := p.Sign(precision)
		return ok && s < 0
	})
}

// Misses reports whether the probabilities of an answer sum to 1 in no reading; of numbers that can be refined, as far as float64 bounds tell.
func (a *Answer) Misses() bool {
	if !a.summed {
		a.summed, a.sumsTo1 = true, a.Event != "" || a.sumIsOne()
	}
	return !a.sumsTo1
}

func (a *Answer) sumIsOne() bool {
	least, most := 0.0, 0.0
	for _, p := range a.P {
		lo, hi := p.Floats()
		least, most = down(least+lo), Up(most+hi)
	}
	if least > 1 || most < 1 {
		return false
	}
	if slices.ContainsFunc(a.P, func(p *Value) bool { return p.rat == nil && !p.inexact }) {
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

// Padded returns the answer with at least n probabilities, unless it is an event.
func (a *Answer) Padded(n int) *Answer {
	if a.Event != "" || len(a.P) >= n {
		return a
	}
	zeros := slices.Repeat([]*Value{Rational(new(big.Rat))}, n-len(a.P))
	return &Answer{P: slices.Concat(a.P, zeros)}
}
