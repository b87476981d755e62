package inquiry

import (
	"iter"
	"math/big"
	"math/rand/v2"
	"optratio/mechanisms"
	"slices"
	"time"
)

// Domain is the finite set on which properties are checked. All vectors are in the units of Space. What no property asked for needs may be nil.
type Domain struct {
	Name      string
	Space     *Space
	Vectors   iter.Seq[Vector]
	Neighbors iter.Seq2[Vector, Vector] // every unordered pair, at least once
	Pairs     int64                     // how many these are; 0: they are counted
	// Directed says that privacy binds each pair of Neighbors in its own order alone: Pr[M(q) in S] <= e^ε Pr[M(q') in S] + δ for (q, q'), and D_α(M(q) ‖ M(q')).
	// The range, which is the same in either order, does not depend on it.
	Directed bool
	Shifted  iter.Seq2[Vector, Vector] // pairs that differ by one number added to all scores
	Lowered  iter.Seq2[Vector, Vector] // pairs that Monotone compares, at the candidates that gain and lose most by the step
	// Permuted are the pairs that Symmetry compares: vectors with the same scores up to their order and a number added to
	// all, of which either may be the same. nil: each vector is compared with its scores in descending order.
	Permuted iter.Seq2[Vector, Vector]
	// Worst is enough of Neighbors to find the tight ε of mechanisms that are regular on the domain; nil where that is
	// not known.
	Worst iter.Seq2[Vector, Vector]
	// Has says which vectors can be asked about; nil: all.
	Has func(Vector) bool
	// ByConstruction says why the subject is symmetric and shift-invariant without being asked, where it is.
	ByConstruction string
	// Representatives is the part of the domain that stands for all of it for symmetric
	// mechanisms, nil where there is none.
	Representatives *Domain
}

// Pairs are counted one by one up to this number, and for this time.
const (
	mostCounted = 500_000
	countedTime = 200 * time.Millisecond
)

// Count returns how many pairs of neighbors there are; 0 where that is not known.
func (d *Domain) Count() (n int64) {
	if d.Pairs > 0 {
		return d.Pairs
	}
	began := time.Now()
	for range d.Neighbors {
		if n++; n > mostCounted || n%256 == 0 && time.Since(began) > countedTime {
			return 0
		}
	}
	return n
}

// Pairs yields every vector with each of those that it is moved to by its steps.
func Pairs(vectors iter.Seq[Vector], steps func(q Vector) iter.Seq[Vector]) iter.Seq2[Vector, Vector] {
	return func(yield func(Vector, Vector) bool) {
		for q := range vectors {
			for step := range steps(q) {
				if !yield(q, q.Moved(step)) {
					return
				}
			}
		}
	}
}

// Level yields, for each of some numbers, the step that adds it to the scores of all n candidates.
func Level(n int, numbers ...int64) iter.Seq[Vector] {
	return func(yield func(Vector) bool) {
		for _, c := range numbers {
			if !yield(slices.Repeat(Vector{c}, n)) {
				return
			}
		}
	}
}

// Around describes the domain that consists of given vectors and their neighbors.
type Around struct {
	Name      string
	Space     *Space
	Vectors   iter.Seq[Vector]
	Deltas    []int64 // each candidate's sensitivity in units
	Monotonic bool    // scores rise together, or fall
	Seed      uint64  // of the random neighbors
	Far       int64   // a shift in units that a few of the vectors are also checked under; 0: none
}

// Listed returns the domain around score vectors of one length and sensitivities, one for all candidates or one each, without a name and a model so far.
// The unit of its space is the greatest number of which all of them are multiples.
func Listed(space Space, vectors [][]*big.Rat, sensitivities []*big.Rat) (a Around, err error) {
	space.Unit = Unit(append(slices.Clone(vectors), sensitivities, space.Sensitivities))
	a.Space = &space
	ints := make([]Vector, len(vectors))
	for i, v := range vectors {
		if ints[i], err = space.Vector(v); err != nil {
			return a, err
		}
	}
	a.Vectors = slices.Values(ints)
	deltas, err := space.Vector(sensitivities)
	if err != nil {
		return a, err
	}
	for a.Deltas = deltas; len(a.Deltas) < len(vectors[0]); {
		a.Deltas = append(a.Deltas, deltas[0])
	}
	return a, nil
}

// farShifts is how many vectors are checked under the far shift.
const farShifts = 4

// Domain returns the domain. Neighbors may leave the set of vectors. Shifts are by the greatest
// sensitivity, up and down; lowered are single candidates by their sensitivity.
func (a Around) Domain() *Domain {
	d := &Domain{Name: a.Name, Space: a.Space, Vectors: a.Vectors}
	d.Neighbors = func(yield func(Vector, Vector) bool) {
		rng := rand.New(rand.NewPCG(a.Seed, 0x6e65696768626f72))
		Pairs(a.Vectors, func(Vector) iter.Seq[Vector] { return Steps(a.Monotonic, a.Deltas, rng) })(yield)
	}
	shift := max(1, slices.Max(a.Deltas))
	d.Shifted = func(yield func(Vector, Vector) bool) {
		left := farShifts
		Pairs(a.Vectors, func(q Vector) iter.Seq[Vector] {
			if left--; a.Far != 0 && left >= 0 {
				return Level(len(q), shift, -shift, a.Far, -a.Far)
			}
			return Level(len(q), shift, -shift)
		})(yield)
	}
	d.Lowered = func(yield func(Vector, Vector) bool) {
		for q := range a.Vectors {
			for one, delta := range a.Deltas {
				step := max(1, delta)
				low, high := slices.Clone(q), slices.Clone(q)
				low[one] -= step
				high[one] += step
				if !yield(q, low) || !yield(high, q) {
					return
				}
			}
		}
	}
	return d
}

// allCorners is the most candidates for which every combination of steps is a neighbor;
// above, the extreme ones and randomCorners drawn ones are.
const (
	allCorners    = 5
	randomCorners = 8
)

// Steps yields the differences q' - q of the neighbors checked for a vector, given each
// candidate's sensitivity in units. Up to five candidates these are all combinations of 0 and ±Δ_a
// (Monotonic: of 0 and Δ_a, and the reverse). Above they are the extreme ones, where one candidate moves
// against all others (Monotonic: moves alone, or all others do), and random ones.
func Steps(monotonic bool, deltas []int64, rng *rand.Rand) iter.Seq[Vector] {
	return func(yield func(Vector) bool) {
		directions := extremes
		if len(deltas) <= allCorners {
			directions = corners
		}
		directions(monotonic, len(deltas), rng, func(d Vector) bool {
			for i := range d {
				d[i] *= deltas[i]
			}
			return yield(d)
		})
	}
}

// corners yields the directions -1, 0 and 1 of each of n candidates, the first of which changes fastest.
func corners(monotonic bool, n int, _ *rand.Rand, yield func(Vector) bool) {
	for d := range digits(n, -1, 1) {
		least, most := slices.Min(d), slices.Max(d)
		if monotonic && least < 0 && most > 0 || least == 0 && most == 0 {
			continue
		}
		d = slices.Clone(d)
		if slices.Reverse(d); !yield(d) {
			return
		}
	}
}

// digits yields all vectors of n numbers from one to another, the last of which changes fastest. The slice is reused.
func digits(n int, from, to int64) iter.Seq[Vector] {
	return func(yield func(Vector) bool) {
		d := slices.Repeat(Vector{from}, n)
		for yield(d) {
			i := n - 1
			for ; i >= 0 && d[i] == to; i-- {
				d[i] = from
			}
			if i < 0 {
				return
			}
			d[i]++
		}
	}
}

func extremes(monotonic bool, n int, rng *rand.Rand, yield func(Vector) bool) {
	// alone yields own for candidate r and rest for all others.
	alone := func(r int, own, rest int64) bool {
		d := slices.Repeat(Vector{rest}, n)
		d[r] = own
		return yield(d)
	}
	for _, sign := range []int64{1, -1} {
		for r := range n {
			if monotonic && (!alone(r, sign, 0) || !alone(r, 0, sign)) || !monotonic && !alone(r, sign, -sign) {
				return
			}
		}
	}
	for range randomCorners {
		sign, d := 2*rng.Int64N(2)-1, make(Vector, n)
		for i := range d {
			if monotonic {
				d[i] = sign * rng.Int64N(2)
			} else {
				d[i] = rng.Int64N(3) - 1
			}
		}
		if !yield(d) {
			return
		}
	}
}

// Question is a subject on a domain, and the ε that is claimed for it.
type Question struct {
	Subject Subject
	EM      Subject // the exponential mechanism on the domain; nil where nothing is asked of it
	Exp     *Value  // e^ε
	Domain  *Domain
	// Readings says that values given Within bounds stand for any number there: proved is what holds for all choices of such numbers, violated what
	// fails for all.
	Readings bool
}

// String names the domain.
func (q *Question) String() string { return q.Domain.Name }

// About returns the question about a mechanism's own probabilities.
func About(m mechanisms.Mechanism, space *Space, dom *Domain) *Question {
	own := ForMechanism(m, space)
	_, rounded := mechanisms.Precision(m)
	return &Question{Subject: Remember(own), EM: Remember(own.Like(mechanisms.Exponential())), Exp: own.ExpEpsilon(), Domain: dom, Readings: rounded}
}

// Stated returns the question about what a subject states, at the ε of the domain's space.
func Stated(subject Subject, dom *Domain, readings bool) *Question {
	em := Remember(ForMechanism(mechanisms.Exponential(), dom.Space))
	return &Question{Subject: subject, EM: em, Exp: ExpEpsilon(dom.Space.Epsilon), Domain: dom, Readings: readings}
}
