package audit

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"

	"optratio/internal/inquiry"
)

// fractions is how many units Δ has in the domains that are built for samplers.
const fractions = 1000

// sampleDomain returns what a sampler is asked about: the domain, thinned out to what the budget has room for, and unless
// vectors or pairs are given, score vectors that lattices of small depth do not have.
func (o *Options) sampleDomain() (*inquiry.Space, *inquiry.Domain, error) {
	if err := o.Inputs.whole(); err != nil {
		return nil, nil, err
	}
	space, dom, err := o.domain(o.vectorsToSample())
	if err != nil || o.NoSide || o.Inputs != nil || len(o.Vectors) > 0 || len(o.Pairs) > 0 || o.N < 2 {
		return space, dom, err
	}
	unit := new(big.Rat).Quo(o.Sensitivity, space.Unit).Num().Int64()
	far := o.farVectors(unit)
	if unit == 0 || len(far) == 0 {
		return space, dom, nil
	}
	steps := func(q inquiry.Vector) iter.Seq[inquiry.Vector] { return o.extremes(len(q), unit) }
	neighbors := dom.Neighbors
	if o.tellsShifts() { // then these are steps to neighbors that count as well
		shifts := func(q inquiry.Vector) iter.Seq[inquiry.Vector] { return inquiry.Level(len(q), unit, -unit) }
		steps = func(q inquiry.Vector) iter.Seq[inquiry.Vector] { return chain(shifts(q), o.extremes(len(q), unit)) }
		if o.N > 5 { // of fewer candidates they are there
			neighbors = chainPairs(inquiry.Pairs(dom.Vectors, shifts), neighbors)
		}
	}
	out := *dom
	out.Vectors = chain(dom.Vectors, slices.Values(far))
	out.Neighbors = chainPairs(inquiry.Pairs(slices.Values(far), steps), neighbors)
	out.Name += fmt.Sprintf("; and a side set of %d vectors (ties, gaps, large scores)", len(far))
	return space, &out, nil
}

// farVectors returns score vectors whose depth grows like 1/ε: some candidates tied at the top and all others tied below; and others
// of the side set: weights that are 0 in double precision, scores far from 0, fractions.
func (o *Options) farVectors(unit int64) (out []inquiry.Vector) {
	n := o.N
	add := func(q inquiry.Vector) {
		if !slices.ContainsFunc(out, func(known inquiry.Vector) bool { return slices.Equal(known, q) }) {
			out = append(out, q)
		}
	}
	tied := func(gap int64, tops ...int) {
		for _, top := range tops {
			add(slices.Concat(make(inquiry.Vector, top), slices.Repeat(inquiry.Vector{-gap * unit}, n-top)))
		}
	}
	for _, times := range []float64{1, 2, 4, 8} {
		tied(2*int64(math.Ceil(times/max(o.Epsilon.Float(), 1e-6))), 1, min(2, n-1), n-1)
	}
	if gap := o.vanishing(); gap > 0 {
		tied(gap, 1, min(2, n-1))
	}
	ladder, parts := make(inquiry.Vector, n), make(inquiry.Vector, n)
	for r := range n {
		ladder[r] = -2 * unit * int64(r%3)
		parts[r] = -[]int64{0, 333, 500, 750}[r%4] * unit / fractions
	}
	add(ladder.Plus(o.offset() * unit))
	add(ladder.Plus(-o.offset() * unit))
	if unit%fractions == 0 {
		add(parts)
	}
	return out
}

// tellsShifts reports whether outcomes are not candidates, so that they may depend on a number that is added to all scores.
func (o *Options) tellsShifts() bool {
	return o.Outcomes == Labels || o.Outcomes == Real || o.Outcomes == Mixed
}

// extremes yields the steps to neighbors at which one candidate moves against all others, or alone where scores are monotonic.
func (o *Options) extremes(n int, unit int64) iter.Seq[inquiry.Vector] {
	others := -unit
	if o.Monotonic {
		others = 0
	}
	return func(yield func(inquiry.Vector) bool) {
		for r := range n {
			s := slices.Repeat([]int64{others}, n)
			s[r] = unit
			if !yield(s) || !yield(scaled(s, -1)) {
				return
			}
		}
	}
}
