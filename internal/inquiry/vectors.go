package inquiry

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math/big"
	"slices"

	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// Vector is a score vector in multiples of its space's unit.
type Vector []int64

// Key returns a text that equal vectors share and others do not, for maps.
func (q Vector) Key() string {
	b := make([]byte, 0, 3*len(q))
	for _, s := range q {
		b = binary.AppendVarint(b, s)
	}
	return string(b)
}

// Best returns the greatest score.
func (q Vector) Best() int64 { return slices.Max(q) }

// SortVector returns q in descending order and the place of each candidate there; equal scores
// share the first place of their run.
func SortVector(q Vector) (sorted Vector, place []int) {
	sorted = slices.Clone(q)
	slices.SortFunc(sorted, func(a, b int64) int { return cmp.Compare(b, a) })
	place = make([]int, len(q))
	for r, x := range q {
		place[r] = slices.Index(sorted, x)
	}
	return sorted, place
}

// Space says what the integers of a Vector mean.
type Space struct {
	Unit          *big.Rat   // one step of a score, in the user's units
	Gap           int64      // the scores of one vector differ by multiples of Gap; 0: 1
	Sensitivities []*big.Rat // as in mechanisms.Instance
	Epsilon       number.Epsilon
	Params        mechanisms.Params
}

// Scores returns q in the user's units.
func (s *Space) Scores(q Vector) []*big.Rat {
	scores := make([]*big.Rat, len(q))
	for i, x := range q {
		scores[i] = new(big.Rat).SetInt64(x)
		scores[i].Mul(scores[i], s.Unit)
	}
	return scores
}

// instance returns the question that q is to a mechanism.
func (s *Space) instance(q Vector) *mechanisms.Instance {
	return &mechanisms.Instance{
		Scores: s.Scores(q), Sensitivities: s.Sensitivities, Epsilon: s.Epsilon, Params: s.Params,
	}
}

// parts returns into how many parts a lattice step has to be cut for all depths to be multiples of a part. A depth is a multiple of
// unit·gap/2Δ, where Δ is the largest sensitivity. Mechanisms that take a sensitivity for each candidate count in other steps, too: in
// the sum of the two largest sensitivities, or in 4Δ where all are equal. Where there would be too many parts, 1 is left, with which
// mechanisms that look at ties alone still have an exact form.
func (s *Space) parts(uniform bool) int64 {
	in := s.instance(make(Vector, len(s.Sensitivities)))
	largest := in.Sensitivity()
	if largest.Sign() <= 0 {
		return 1
	}
	steps := []*big.Rat{new(big.Rat).Add(largest, largest)}
	if equal := !slices.ContainsFunc(s.Sensitivities, func(d *big.Rat) bool { return d.Cmp(largest) != 0 }); equal && !uniform {
		steps = append(steps, new(big.Rat).Add(steps[0], steps[0]))
	} else if !uniform {
		sorted := slices.SortedFunc(slices.Values(s.Sensitivities), (*big.Rat).Cmp)
		steps = append(steps, new(big.Rat).Add(sorted[len(sorted)-2], largest))
	}
	return s.partsOf(steps)
}

// partsOf is parts for the steps that are counted in.
func (s *Space) partsOf(steps []*big.Rat) int64 {
	parts, own := big.NewInt(1), new(big.Rat).SetInt64(max(1, s.Gap))
	own.Mul(own, s.Unit)
	for _, step := range steps {
		den := new(big.Rat).Quo(own, step).Denom()
		parts.Mul(parts, den.Quo(den, new(big.Int).GCD(nil, nil, parts, den)))
	}
	if parts.Cmp(big.NewInt(mostParts)) > 0 {
		return 1
	}
	return parts.Int64()
}

// Plus returns q with c added to every score.
func (q Vector) Plus(c int64) Vector {
	out := slices.Clone(q)
	for i := range out {
		out[i] += c
	}
	return out
}

// Moved returns q + step.
func (q Vector) Moved(step Vector) Vector {
	out := slices.Clone(q)
	for i, s := range step {
		out[i] += s
	}
	return out
}

// Vector returns exact scores in units; it fails where they are not multiples of the unit, or are
// too large.
func (s *Space) Vector(scores []*big.Rat) (Vector, error) {
	q := make(Vector, len(scores))
	for i, x := range scores {
		steps := new(big.Rat).Quo(x, s.Unit)
		switch {
		case !steps.IsInt():
			return nil, fmt.Errorf("%w: score %s is not a multiple of %s", ErrClaim, ScoreText(x), ScoreText(s.Unit))
		case steps.Num().BitLen() > 52:
			return nil, fmt.Errorf("%w: score %s is 2^52 or more times %s, of which all scores and sensitivities are multiples; "+
				"give scores that are closer to 0, or that have fewer digits", ErrClaim, ScoreText(x), ScoreText(s.Unit))
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

// ErrClaim is wrapped by errors about what is to be checked.
var ErrClaim error = number.InputError("cannot check")

// NeedsShift returns 0 where candidate r moves one way or not at all and every other one the other way or not at all, and 1 otherwise.
func NeedsShift(steps []int64, r int) int64 {
	up, down := true, true
	for s, step := range steps {
		if s == r {
			step = -step
		}
		up, down = up && step <= 0, down && step >= 0
	}
	if up || down {
		return 0
	}
	return 1
}

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
