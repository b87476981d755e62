package inquiry

import (
	"math/big"
	"optratio/number"
	"slices"
)

// Fault returns what no reading of an answer's numbers makes a distribution of, if is says that there is such a thing: the first probability that is
// negative, and whose it is, or else the sum, and -1.
func (a *Answer) Fault() (place int, value number.Number, is bool) {
	if r := a.Negative(1024); r >= 0 {
		return r, a.P[r].Number(), true
	}
	if !a.Misses() {
		return 0, number.Number{}, false
	}
	total := Rational(new(big.Rat))
	for _, p := range a.P {
		total = total.Add(p)
	}
	return -1, total.Number(), true
}

// crossing reports whether some readings of a number are negative.
func (v *Value) Crossing() bool {
	lo, _ := v.Bounds()
	return v.fixed && lo < 0
}

// loose returns the answer with its readings that are probabilities, and with what all miss the sum 1 by.
func (a *Answer) Loose() *Answer {
	if a.loosened == nil {
		a.loosened = &Answer{P: loosened(a.P)}
		a.loosened.summed, a.loosened.sumsTo1 = true, !a.Misses()
	}
	return a.loosened
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
func (a *Answer) Negative(precision uint) int {
	return slices.IndexFunc(a.P, func(p *Value) bool {
		if lo, _ := p.Bounds(); lo >= 0 {
			return false
		}
		s, ok := p.Sign(precision)
		return ok && s < 0
	})
}

// misses reports whether the probabilities of an answer sum to 1 in no reading; of numbers that can be refined, as far as float64 bounds tell.
func (a *Answer) Misses() bool {
	if !a.summed {
		a.summed, a.sumsTo1 = true, a.Event != "" || a.sumIsOne()
	}
	return !a.sumsTo1
}

func (a *Answer) sumIsOne() bool {
	least, most := 0.0, 0.0
	for _, p := range a.P {
		lo, hi := p.Bounds()
		least, most = down(least+lo), Up(most+hi)
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

// padded returns the answer with at least n probabilities, unless it is an event.
func (a *Answer) Padded(n int) *Answer {
	if a.Event != "" || len(a.P) >= n {
		return a
	}
	zeros := slices.Repeat([]*Value{Rational(new(big.Rat))}, n-len(a.P))
	return &Answer{P: slices.Concat(a.P, zeros)}
}
