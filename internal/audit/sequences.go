package audit

import (
	"iter"

	"optratio/internal/inquiry"
)

// vectorPairs are pairs of score vectors, as a inquiry.Domain has them.
type vectorPairs = iter.Seq2[inquiry.Vector, inquiry.Vector]

// chain yields what some sequences of vectors yield, one after the other.
func chain(sequences ...iter.Seq[inquiry.Vector]) iter.Seq[inquiry.Vector] {
	return func(yield func(inquiry.Vector) bool) {
		for _, sequence := range sequences {
			for q := range sequence {
				if !yield(q) {
					return
				}
			}
		}
	}
}

// chainPairs is chain for pairs.
func chainPairs(sequences ...vectorPairs) vectorPairs {
	return func(yield func(inquiry.Vector, inquiry.Vector) bool) {
		for _, sequence := range sequences {
			for q, other := range sequence {
				if !yield(q, other) {
					return
				}
			}
		}
	}
}

// listed yields the pairs of a list.
func listed(pairs [][2]inquiry.Vector) vectorPairs {
	return func(yield func(inquiry.Vector, inquiry.Vector) bool) {
		for _, p := range pairs {
			if !yield(p[0], p[1]) {
				return
			}
		}
	}
}
