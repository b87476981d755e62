package audit

import (
	"iter"

	"optratio/verify"
)

// vectorPairs are pairs of score vectors, as a verify.Domain has them.
type vectorPairs = iter.Seq2[verify.Vector, verify.Vector]

// chain yields what some sequences of vectors yield, one after the other.
func chain(sequences ...iter.Seq[verify.Vector]) iter.Seq[verify.Vector] {
	return func(yield func(verify.Vector) bool) {
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
	return func(yield func(verify.Vector, verify.Vector) bool) {
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
func listed(pairs [][2]verify.Vector) vectorPairs {
	return func(yield func(verify.Vector, verify.Vector) bool) {
		for _, p := range pairs {
			if !yield(p[0], p[1]) {
				return
			}
		}
	}
}
