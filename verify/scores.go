package verify

import (
	"context"
	"fmt"
	"iter"
	"math/big"
	"math/rand/v2"
	"slices"

	"optratio/mechanisms"
)

// Neighborhood says which score vectors are neighbors.
type Neighborhood int

const (
	// Linf: every score differs by at most its sensitivity, up or down.
	Linf Neighborhood = iota
	// Monotonic: going one way all scores rise, each by at most its sensitivity, as where
	// adding a person can only add to a count (McKenna & Sheldon 2020, Remark 1).
	Monotonic
)

// ParseNeighborhood reads "linf" or "monotonic".
func ParseNeighborhood(s string) (Neighborhood, error) {
	switch s {
	case "linf":
		return Linf, nil
	case "monotonic":
		return Monotonic, nil
	}
	return 0, fmt.Errorf("neighbors %q are neither linf nor monotonic", s)
}

func (m Neighborhood) String() string {
	if m == Monotonic {
		return "monotonic"
	}
	return "linf"
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
func (m Neighborhood) Steps(deltas []int64, rng *rand.Rand) iter.Seq[Vector] {
	return func(yield func(Vector) bool) {
		if len(deltas) <= allCorners {
			m.corners(deltas, yield)
			return
		}
		m.extremes(deltas, rng, yield)
	}
}

// step returns the vector of the candidates' sensitivities times at.
func step(deltas []int64, at func(i int) int64) Vector {
	s := make(Vector, len(deltas))
	for i, d := range deltas {
		s[i] = at(i) * d
	}
	return s
}

func (m Neighborhood) corners(deltas []int64, yield func(Vector) bool) {
	n := len(deltas)
	for code := range power(3, n) {
		digits, c := make([]int64, n), code
		positive, negative := false, false
		for i := range digits {
			digits[i] = int64(c%3) - 1
			c /= 3
			positive, negative = positive || digits[i] > 0, negative || digits[i] < 0
		}
		if m == Monotonic && positive && negative || !positive && !negative {
			continue
		}
		if !yield(step(deltas, func(i int) int64 { return digits[i] })) {
			return
		}
	}
}

func (m Neighborhood) extremes(deltas []int64, rng *rand.Rand, yield func(Vector) bool) {
	// alone returns own for candidate r and rest for all others.
	alone := func(r int, own, rest int64) Vector {
		return step(deltas, func(i int) int64 {
			if i == r {
				return own
			}
			return rest
		})
	}
	for _, sign := range []int64{1, -1} {
		for r := range deltas {
			switch {
			case m != Monotonic && !yield(alone(r, sign, -sign)):
				return
			case m == Monotonic && (!yield(alone(r, sign, 0)) || !yield(alone(r, 0, sign))):
				return
			}
		}
	}
	for range randomCorners {
		sign := 2*rng.Int64N(2) - 1
		if !yield(step(deltas, func(int) int64 {
			if m == Monotonic {
				return sign * rng.Int64N(2)
			}
			return rng.Int64N(3) - 1
		})) {
			return
		}
	}
}

func power(base, n int) int {
	p := 1
	for range n {
		p *= base
	}
	return p
}

// Moved returns q + step.
func (q Vector) Moved(step Vector) Vector {
	out := slices.Clone(q)
	for i, s := range step {
		out[i] += s
	}
	return out
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
	Neighbors Neighborhood
	Seed      uint64 // of the random neighbors
	Far       int64  // a shift in units that a few of the vectors are also checked under; 0: none
}

// farShifts is how many vectors are checked under the far shift.
const farShifts = 4

// Domain returns the domain. Neighbors may leave the set of vectors. Shifts are by the greatest
// sensitivity, up and down; lowered are single candidates by their sensitivity.
func (a Around) Domain() *Domain {
	d := &Domain{Name: a.Name, Space: a.Space, Vectors: a.Vectors}
	d.Neighbors = func(yield func(Vector, Vector) bool) {
		rng := rand.New(rand.NewPCG(a.Seed, 0x6e65696768626f72))
		Pairs(a.Vectors, func(Vector) iter.Seq[Vector] { return a.Neighbors.Steps(a.Deltas, rng) })(yield)
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

// Scores checks the mechanism on the given score vectors, all of one length, and their neighbors in
// the model, by the claim's sensitivities; in Monotonic if the claim says that scores are monotonic. Witnesses are shrunk: see Shrink.
func Scores(ctx context.Context, p Claim, vectors [][]*big.Rat, model Neighborhood, opts Options) (*Report, error) {
	if err := p.complete(&opts); err != nil {
		return nil, err
	}
	report, err := around(ctx, p, vectors, model, opts)
	if err != nil {
		return nil, err
	}
	opts.Progress = nil
	for i := range report.Properties {
		r := &report.Properties[i]
		if r.Verdict != Violated {
			continue
		}
		opts := opts.Only(r.Name)
		r.Witness = Shrink(ctx, Case{r.Witness.Scores, p.Sensitivities}, r.Witness, func(c Case) *Witness {
			q := p
			q.Sensitivities = c.Sensitivities
			small, err := around(ctx, q, [][]*big.Rat{c.Scores}, model, opts)
			if err != nil {
				return nil // no instance of the mechanism
			}
			return small.Properties[0].Witness
		})
	}
	return report, nil
}

func around(ctx context.Context, p Claim, vectors [][]*big.Rat, model Neighborhood, opts Options) (*Report, error) {
	if p.Monotonic {
		model = Monotonic
	}
	if len(vectors) == 0 {
		return nil, fmt.Errorf("%w: no score vectors", ErrClaim)
	}
	n := len(vectors[0])
	for i, v := range vectors {
		in := mechanisms.Instance{Scores: v, Sensitivities: p.Sensitivities}
		if len(v) != n {
			return nil, fmt.Errorf("%w: vector %d has %d scores, the first has %d", ErrClaim, i+1, len(v), n)
		}
		if err := in.CheckScores(); err != nil {
			return nil, err
		}
	}
	space, ints, deltas, err := integerSpace(p, vectors)
	if err != nil {
		return nil, err
	}
	own := ForMechanism(p.Mechanism, space)
	dom := Around{
		Name:  fmt.Sprintf("%d score vectors of %d candidates and their %s neighbors", len(vectors), n, model),
		Space: space, Vectors: slices.Values(ints), Deltas: deltas, Neighbors: model, Seed: 1,
	}.Domain()
	report, err := Check(ctx, Remember(own), Remember(own.like(mechanisms.Exponential())), own.ExpEpsilon(), dom, opts)
	if err != nil {
		return nil, err
	}
	return p.report(report), nil
}

// integerSpace finds a unit of which all scores and sensitivities are multiples.
func integerSpace(p Claim, vectors [][]*big.Rat) (*Space, []Vector, []int64, error) {
	given, err := p.given()
	if err != nil {
		return nil, nil, nil, err
	}
	space := &Space{Unit: Unit(append(slices.Clone(vectors), p.Sensitivities, given)), Sensitivities: given, Epsilon: p.Epsilon, Params: p.Params}
	ints := make([]Vector, len(vectors))
	for i, v := range vectors {
		q, err := space.Vector(v)
		if err != nil {
			return nil, nil, nil, err
		}
		ints[i] = q
	}
	deltas, err := space.Vector(p.Sensitivities)
	if err != nil {
		return nil, nil, nil, err
	}
	for len(deltas) < len(vectors[0]) {
		deltas = append(deltas, deltas[0])
	}
	return space, ints, deltas, nil
}

// Vector returns exact scores in units; it fails where they are not multiples of the unit, or are
// too large.
func (s *Space) Vector(scores []*big.Rat) (Vector, error) {
	q := make(Vector, len(scores))
	for i, x := range scores {
		steps := new(big.Rat).Quo(x, s.Unit)
		if !steps.IsInt() || steps.Num().BitLen() > 52 {
			return nil, fmt.Errorf("%w: score %s is no multiple of %s below 2^52", ErrClaim, ScoreText(x), s.Unit.RatString())
		}
		q[i] = steps.Num().Int64()
	}
	return q, nil
}

// Unit returns the greatest number of which all scores of the vectors are multiples; 0 if all are 0.
func Unit(vectors [][]*big.Rat) *big.Rat {
	unit := new(big.Rat)
	for _, v := range vectors {
		for _, x := range v {
			unit = gcdRat(unit, x)
		}
	}
	return unit
}

// gcdRat returns the greatest rational of which a and b are integer multiples; that of 0 and b is |b|.
func gcdRat(a, b *big.Rat) *big.Rat {
	if a.Sign() == 0 {
		return new(big.Rat).Abs(b)
	}
	if b.Sign() == 0 {
		return new(big.Rat).Abs(a)
	}
	x := new(big.Int).Mul(a.Num(), b.Denom())
	y := new(big.Int).Mul(b.Num(), a.Denom())
	g := new(big.Int).GCD(nil, nil, x.Abs(x), y.Abs(y))
	return new(big.Rat).SetFrac(g, new(big.Int).Mul(a.Denom(), b.Denom()))
}
