package verify

import (
	"context"
	"fmt"
	"iter"
	"math/big"
	"slices"
	"strings"

	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// Claim is a mechanism with its parameters and the ε that is claimed for it. Mechanism and Epsilon are required.
type Claim struct {
	Mechanism     mechanisms.Mechanism
	Epsilon       number.Epsilon
	Sensitivities []*big.Rat // one for all candidates, or one each; nil: 1
	Params        mechanisms.Params
	// Monotonic says that neighbors move all scores one way, each by at most its sensitivity. The mechanism then runs with
	// mechanisms.MonotonicSensitivities, and the lattice has steps of Δ.
	Monotonic bool
}

// given returns the sensitivities that the mechanism is given.
func (p *Claim) given() ([]*big.Rat, error) {
	if !p.Monotonic {
		return p.Sensitivities, nil
	}
	return mechanisms.MonotonicSensitivities(p.Mechanism, p.Sensitivities)
}

// complete fills in defaults, and those of the options that follow from the mechanism.
func (p *Claim) complete(o *Options) error {
	if p.Mechanism == nil {
		return fmt.Errorf("%w: no mechanism", ErrClaim)
	}
	if err := p.Epsilon.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrClaim, err)
	}
	if p.Sensitivities == nil {
		p.Sensitivities = []*big.Rat{big.NewRat(1, 1)}
	}
	if _, ok := mechanisms.Precision(p.Mechanism); ok {
		o.Readings = true
	}
	return nil
}

// report names the mechanism in a report.
func (p *Claim) report(r *Report) *Report {
	r.Mechanism, r.Claimed = p.Mechanism.Info().Name, p.Epsilon.Number()
	r.Precision, _ = mechanisms.Precision(p.Mechanism)
	return r
}

// manyVectors is how many score vectors are asked about one by one even of mechanisms that need it not.
const manyVectors = 10_000

// weighted is a mechanism whose probabilities depend on the weights e^{-ε·depth} alone.
type weighted interface {
	WeightedExact(weights []*big.Rat, counts []int) []*big.Rat
}

// ErrClaim is wrapped by errors about what is to be checked.
var ErrClaim error = number.InputError("cannot check")

// maxDepths bounds the depths of a lattice.
const maxDepths = 1 << 20

// Lattice checks the mechanism on Q(n,k), the score vectors with best score 0 and all
// scores multiples of 2Δ down to -2Δk. Neighbors are the pairs of Q(n,k) that, after a shift, differ by
// 0 or 2Δ in every score. Shift-invariance is checked for shifts of every vector by half a step, a step and
// k steps either way. The problem must have one sensitivity.
//
// With Options.Step = L > 1 the vectors are those of the lattice of step 2Δ/L, down to -2Δk as before. Neighbors are then the pairs of which
// the changes of any two scores differ by at most 2Δ, which are neighbors after a shift by a real number.
//
// Of more than manyVectors vectors, mechanisms whose probabilities are by their type a function of the weights
// e^{-ε·depth} alone are taken to be symmetric and shift-invariant.
//
// With Claim.Monotonic the lattice has steps of Δ, and neighbors differ, after a shift, by 0 or Δ in every score.
//
// The verdicts on a mechanism whose numbers are approximate (mechanisms.Precision) are those of Options.Readings, and the
// report states the precision.
//
// A witness is the smallest there is on the lattices of at most n candidates and depth k: fewest
// candidates first, then least depth, then the smallest scores.
func Lattice(ctx context.Context, p Claim, n, k int, opts Options) (*Report, error) {
	if k > 0 && p.Mechanism != nil {
		p.Mechanism, _ = mechanisms.ForLattice(p.Mechanism, k)
	}
	if opts.Step > 1 {
		if k > maxDepths/opts.Step {
			return nil, fmt.Errorf("%w: k = %d steps of 2Δ in %d parts are more than %d depths", lattice.ErrSize, k, opts.Step, maxDepths)
		}
		k *= opts.Step
	}
	report, err := onLattice(ctx, p, n, k, opts)
	if err != nil {
		return nil, err
	}
	for i := range report.Properties {
		if r := &report.Properties[i]; r.Verdict == Violated {
			r.Witness = smallest(ctx, p, n, k, r, opts)
		}
	}
	return report, nil
}

// smallest looks for r's violation on the smaller lattices.
func smallest(ctx context.Context, p Claim, n, k int, r *Result, opts Options) *Witness {
	opts = opts.Only(r.Name)
	opts.Progress = nil
	opts.MaxPrec = 128 // what is violated needs little
	for fewer := 1; fewer <= n; fewer++ {
		for shallower := 1; shallower <= k; shallower++ {
			if fewer == n && shallower == k || ctx.Err() != nil {
				return r.Witness
			}
			small, err := onLattice(ctx, p, fewer, shallower, opts)
			if err == nil && small.Properties[0].Verdict == Violated {
				return small.Properties[0].Witness
			}
		}
	}
	return r.Witness
}

// onLattice checks the mechanism on the lattice of n candidates with k depths below the best, in steps of 2Δ/opts.Step.
func onLattice(ctx context.Context, p Claim, n, k int, opts Options) (*Report, error) {
	if err := p.complete(&opts); err != nil {
		return nil, err
	}
	if len(p.Sensitivities) != 1 {
		return nil, fmt.Errorf("%w: the lattice has one sensitivity, not %d", ErrClaim, len(p.Sensitivities))
	}
	if p.Sensitivities[0] == nil || p.Sensitivities[0].Sign() <= 0 {
		return nil, fmt.Errorf("%w: the sensitivity must be positive", ErrClaim)
	}
	given, err := p.given()
	if err != nil {
		return nil, err
	}
	if min(n, k) > 40 { // then there are more than 10^22 orbits, which takes long enough to find out
		return nil, fmt.Errorf("%w: n = %d and k = %d give too many orbits to enumerate", lattice.ErrSize, n, k)
	}
	q, err := lattice.New(n, k)
	if err != nil {
		return nil, err
	}
	// A unit is half a step, so that half a step is a shift.
	parts := max(1, opts.Step)
	unit := new(big.Rat).Quo(given[0], big.NewRat(int64(parts), 1))
	space := &Space{Unit: unit, Gap: 2, Sensitivities: given, Epsilon: p.Epsilon, Params: p.Params}
	own := ForMechanism(p.Mechanism, space)
	exp := own.ExpEpsilon()
	dom := latticeDomain(q, space, parts)
	if p.Monotonic { // after a shift, neighbors are the pairs that differ by 0 or Δ in every score
		if parts == 1 {
			dom.Name += " in steps of Δ"
		}
		dom.Name = strings.Replace(dom.Name, "2Δ", "Δ", 1) + ", and their neighbors for monotonic scores"
		dom.representatives.Name = dom.Name
	}
	if _, ok := p.Mechanism.(weighted); ok && lattice.Vectors(n, k, false).Cmp(big.NewInt(manyVectors)) > 0 {
		dom.byConstruction = "by construction: its probabilities depend on the differences to the best score alone"
	}
	report, err := Check(ctx, Remember(own), Remember(own.like(mechanisms.Exponential())), exp, dom, opts)
	if err != nil {
		return nil, err
	}
	report.Lattice = Where{N: n, K: k, Parts: parts, Monotonic: p.Monotonic}
	return p.report(report), nil
}

// latticeDomain is the lattice with a step of 2 units, of which 2Δ has the given number.
func latticeDomain(l *lattice.Lattice, space *Space, parts int) *Domain {
	size := "over 10^30"
	if v := lattice.Vectors(l.N(), l.K(), false); v.BitLen() <= 100 {
		size = v.String()
	}
	name := fmt.Sprintf("Q(%d,%d), %s score vectors", l.N(), l.K(), size)
	if parts > 1 {
		name = fmt.Sprintf("%d candidates with depths 0 to %s in steps of 2Δ/%d, %s score vectors", l.N(), big.NewRat(int64(l.K()), int64(parts)).RatString(), parts, size)
	}
	d := &Domain{
		Name:    name,
		Space:   space,
		Vectors: Grid(l.N(), l.K(), 2),
	}
	reps := &Domain{Name: d.Name, Space: space, Vectors: func(yield func(Vector) bool) {
		for _, m := range l.All() {
			if !yield(fromDepths(lattice.Depths(m), 2)) {
				return
			}
		}
	}}
	d.Neighbors, reps.Neighbors = raised(d.Vectors, l.K(), parts, false), raised(reps.Vectors, l.K(), parts, true)
	if parts == 1 {
		d.worst, reps.worst = worst(d.Vectors, l.K(), false), worst(reps.Vectors, l.K(), true)
	}
	d.Lowered, reps.Lowered = lowered(d.Vectors, l.K(), false), lowered(reps.Vectors, l.K(), true)
	deep := 2 * int64(l.K())
	d.Shifted = Pairs(d.Vectors, func(q Vector) iter.Seq[Vector] { return Level(len(q), 1, -1, 2, -2, deep, -deep) })
	d.representatives = reps
	return d
}

// Plus returns q with c added to every score.
func (q Vector) Plus(c int64) Vector {
	out := slices.Clone(q)
	for i := range out {
		out[i] += c
	}
	return out
}

func fromDepths(depths []int, step int64) Vector {
	q := make(Vector, len(depths))
	for i, v := range depths {
		q[i] = -step * int64(v)
	}
	return q
}

// Grid yields every vector of n scores 0, -step, …, -k·step, the best of which is 0.
func Grid(n, k int, step int64) iter.Seq[Vector] {
	return func(yield func(Vector) bool) {
		depths := make([]int, n)
		for {
			if slices.Min(depths) == 0 && !yield(fromDepths(depths, step)) {
				return
			}
			i := n - 1
			for i >= 0 && depths[i] == k {
				depths[i] = 0
				i--
			}
			if i < 0 {
				return
			}
			depths[i]++
		}
	}
}

// within shifts q to best score 0 and reports whether it then lies in Q(n,k).
func within(q Vector, k int) bool {
	best := q.best()
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
			for steps := range rises(q, int64(most), symmetric) {
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
		to, _ = sortVector(other)
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
func rises(q Vector, most int64, symmetric bool) iter.Seq[[]int64] {
	return func(yield func([]int64) bool) {
		steps := make([]int64, len(q))
		for yield(steps) {
			// Count up in the last run that is not at its end; those behind it begin again.
			end := len(q)
			for end > 0 {
				first := end - 1
				for symmetric && first > 0 && q[first-1] == q[first] {
					first--
				}
				if next(steps[first:end], most) {
					break
				}
				clear(steps[first:end])
				end = first
			}
			if end == 0 {
				return
			}
		}
	}
}

// next advances a sequence that does not increase to the next one, in which the first ones have risen least, and reports false at the last.
func next(steps []int64, most int64) bool {
	for i := range steps {
		if i == 0 && steps[i] < most || i > 0 && steps[i] < steps[i-1] {
			steps[i]++
			for j := range i {
				steps[j] = steps[i]
			}
			return true
		}
	}
	return false
}

// lowered yields every vector with one candidate lowered by a step, shifted into Q(n,k). Such steps lead
// from any vector of Q(n,k) to every one in which all others have sunk relative to a given candidate,
// and stay within Q(n,k) if those below it come last.
func lowered(vectors iter.Seq[Vector], k int, symmetric bool) iter.Seq2[Vector, Vector] {
	return oneByOne(vectors, k, symmetric, func(low, _ Vector, r int) { low[r] -= 2 })
}
