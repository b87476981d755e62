package inquiry

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/big"
	"optratio/mechanisms"
	"optratio/number"
	"slices"
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
		if !steps.IsInt() || steps.Num().BitLen() > 52 {
			return nil, fmt.Errorf("%w: score %s is not a multiple of %s below 2^52", ErrClaim, ScoreText(x), s.Unit.RatString())
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
