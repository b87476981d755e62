package inquiry

import (
	"fmt"
	"iter"
	"math/big"
	"slices"

	"optratio/lattice"
)

// LatticeDomain is the lattice with a step of 2 units, of which 2Δ has the given number.
func LatticeDomain(l *lattice.Lattice, space *Space, parts int) *Domain {
	n, k := l.Size()
	size := "over 10^30"
	if v := lattice.Vectors(n, k, false); v.BitLen() <= 100 {
		size = v.String()
	}
	name := fmt.Sprintf("Q(%d,%d), %s score vectors", n, k, size)
	if parts > 1 {
		name = fmt.Sprintf("%d candidates with depths 0 to %s in steps of 2Δ/%d, %s score vectors", n, big.NewRat(int64(k), int64(parts)).RatString(), parts, size)
	}
	on := func(vectors iter.Seq[Vector], symmetric bool) *Domain {
		d := &Domain{Name: name, Space: space, Vectors: vectors, Neighbors: raised(vectors, k, parts, symmetric), Lowered: lowered(vectors, k, symmetric)}
		if parts == 1 {
			d.Worst = worst(vectors, k, symmetric)
		}
		return d
	}
	d := on(Grid(n, k, 2), false)
	d.Representatives = on(func(yield func(Vector) bool) {
		for _, m := range l.All() {
			if !yield(fromDepths(lattice.Depths(m), 2)) {
				return
			}
		}
	}, true)
	deep := 2 * int64(k)
	d.Shifted = Pairs(d.Vectors, func(q Vector) iter.Seq[Vector] { return Level(len(q), 1, -1, 2, -2, deep, -deep) })
	return d
}

// Grid yields every vector of n scores 0, -step, …, -k·step, the best of which is 0.
func Grid(n, k int, step int64) iter.Seq[Vector] {
	return func(yield func(Vector) bool) {
		for depths := range digits(n, 0, int64(k)) {
			if slices.Min(depths) == 0 && !yield(fromDepths(depths, step)) {
				return
			}
		}
	}
}

func fromDepths[D int | int64](depths []D, step int64) Vector {
	q := make(Vector, len(depths))
	for i, v := range depths {
		q[i] = -step * int64(v)
	}
	return q
}

// within shifts q to best score 0 and reports whether it then lies in Q(n,k).
func within(q Vector, k int) bool {
	best := q.Best()
	for i := range q {
		q[i] -= best
	}
	return slices.Min(q) >= -2*int64(k)
}

// raised yields the pairs of a vector and the vector with its candidates raised by 0 to most steps each, shifted into
// Q(n,k). Rising by most steps less what one has risen leads back, so that every pair of neighbors comes from either side; it is yielded
// from one. With symmetry, vectors are in descending order, and of candidates that are tied the first ones rise most.
func raised(vectors iter.Seq[Vector], k, most int, symmetric bool) iter.Seq2[Vector, Vector] {
	return func(yield func(Vector, Vector) bool) {
		for q := range vectors {
			for steps := range rises(q, most, symmetric) {
				if other, ok := risen(q, steps, k, symmetric); ok && !yield(q, other) {
					return
				}
			}
		}
	}
}

// risen returns q with its candidates raised by steps, shifted into Q(n,k). It reports false where that is not in Q(n,k) or is q, where fewer steps lead to
// it, and where the pair is to be yielded from its other side.
func risen(q Vector, steps []int64, k int, symmetric bool) (other Vector, ok bool) {
	if slices.Min(steps) > 0 {
		return nil, false
	}
	other = slices.Clone(q)
	for i, s := range steps {
		other[i] += 2 * s
	}
	if !within(other, k) || slices.Equal(q, other) {
		return nil, false
	}
	to := other
	if symmetric {
		to, _ = SortVector(other)
	}
	return other, slices.Compare(q, to) <= 0
}

// oneByOne yields every vector with what change makes of it at each of its candidates in turn, shifted into Q(n,k), where that is another vector of
// Q(n,k). With symmetry, vectors are in descending order, and the first of tied candidates stands for all of them.
func oneByOne(vectors iter.Seq[Vector], k int, symmetric bool, change func(other, q Vector, r int)) iter.Seq2[Vector, Vector] {
	return func(yield func(Vector, Vector) bool) {
		for q := range vectors {
			for r := range q {
				if symmetric && r > 0 && q[r] == q[r-1] {
					continue
				}
				other := slices.Clone(q)
				change(other, q, r)
				if within(other, k) && !slices.Equal(q, other) && !yield(q, other) {
					return
				}
			}
		}
	}
}

// worst yields, for every vector and candidate, the neighbor that is worst for a regular mechanism and that candidate's
// being taken: the one with that candidate alone raised (McKenna & Sheldon 2020, Prop. 2). Where it is at the top and
// others are at depth k, those have to rise with it, for the neighbor to lie in Q(n,k): any neighbor of Q(n,k) in
// which it rises has them raised too, and all others no lower, so that monotonicity gives the bound. Where it does not rise,
// its probability does not either.
func worst(vectors iter.Seq[Vector], k int, symmetric bool) iter.Seq2[Vector, Vector] {
	return oneByOne(vectors, k, symmetric, func(other, q Vector, r int) {
		for i := range other {
			if i == r || q[r] == 0 && q[i] == -2*int64(k) {
				other[i] += 2
			}
		}
	})
}

// rises yields the numbers of steps, 0 to most, that the candidates rise by; with symmetry those that do not increase along any run of equal
// scores. The slice is reused.
func rises(q Vector, most int, symmetric bool) iter.Seq[[]int64] {
	return func(yield func([]int64) bool) {
		var runs []int32 // the last one first
		for i := len(q) - 1; i >= 0; i-- {
			if symmetric && i+1 < len(q) && q[i] == q[i+1] {
				runs[len(runs)-1]++
			} else {
				runs = append(runs, 1)
			}
		}
		steps := make([]int64, 0, len(q))
		for up := range lattice.Rises(runs, most) {
			steps = steps[:0]
			for _, run := range slices.Backward(up) {
				for t := most; t >= 0; t-- {
					for range run[t] {
						steps = append(steps, int64(t))
					}
				}
			}
			if !yield(steps) {
				return
			}
		}
	}
}

// lowered yields every vector with one candidate lowered by a step, shifted into Q(n,k). Such steps lead
// from any vector of Q(n,k) to every one in which all others have sunk relative to a given candidate,
// and stay within Q(n,k) if those below it come last.
func lowered(vectors iter.Seq[Vector], k int, symmetric bool) iter.Seq2[Vector, Vector] {
	return oneByOne(vectors, k, symmetric, func(low, _ Vector, r int) { low[r] -= 2 })
}
