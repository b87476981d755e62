package verify

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"optratio/internal/inquiry"
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

// complete fills in defaults.
func (p *Claim) complete() error {
	if p.Mechanism == nil {
		return fmt.Errorf("%w: no mechanism", inquiry.ErrClaim)
	}
	if err := p.Epsilon.Check(); err != nil {
		return fmt.Errorf("%w: %w", inquiry.ErrClaim, err)
	}
	if p.Sensitivities == nil {
		p.Sensitivities = []*big.Rat{big.NewRat(1, 1)}
	}
	return nil
}

// single refuses sensitivities other than one for all candidates.
func (p *Claim) single() error {
	if len(p.Sensitivities) != 1 {
		return fmt.Errorf("%w: the lattice has one sensitivity, not %d", inquiry.ErrClaim, len(p.Sensitivities))
	}
	if p.Sensitivities[0] == nil || p.Sensitivities[0].Sign() <= 0 {
		return fmt.Errorf("%w: the sensitivity must be positive", inquiry.ErrClaim)
	}
	return nil
}

// check decides the properties on a domain.
func (p *Claim) check(ctx context.Context, space *inquiry.Space, dom *inquiry.Domain, opts Options) (*Report, error) {
	q := inquiry.About(p.Mechanism, space, dom)
	if opts.about != nil {
		q.Exp = q.Exp.ExpEpsilon(*opts.about)
	}
	r, err := Check(ctx, q, opts)
	if err != nil {
		return nil, err
	}
	r.Mechanism, r.Claimed = p.Mechanism.Info().Name, p.Epsilon.Number()
	r.Precision, _ = mechanisms.Precision(p.Mechanism)
	return r, nil
}

// manyVectors is how many score vectors are asked about one by one even of mechanisms that need it not.
const manyVectors = 10_000

// weighted is a mechanism whose probabilities depend on the weights e^{-ε·depth} alone.
type weighted interface {
	WeightedExact(weights []*big.Rat, counts []int) []*big.Rat
}

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
// With k = 0 the domain are all real scores of n candidates and all their neighbors: theorems tell of dp, approximate-dp, rdp and zcdp of the exponential
// mechanism, permute-and-flip, geometric noisy max and, but for zcdp, randomised response.
//
// The verdicts on a mechanism whose numbers are approximate (mechanisms.Precision) are those of inquiry.Question, and the
// report states the precision.
//
// A witness is the smallest there is on the lattices of at most n candidates and depth k: fewest
// candidates first, then least depth, then the smallest scores.
func Lattice(ctx context.Context, p Claim, n, k int, opts Options) (*Report, error) {
	if k == 0 {
		return onReals(ctx, p, n, opts)
	}
	if p.Mechanism != nil {
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
	report.somethingChecked()
	for i := range report.Properties {
		if r := &report.Properties[i]; r.Verdict == Violated {
			r.Witness = smallest(ctx, p, n, k, r, opts)
		}
	}
	return report, nil
}

// smallest looks for r's violation on the smaller lattices.
func smallest(ctx context.Context, p Claim, n, k int, r *Result, opts Options) *Witness {
	opts = opts.only(r.Name)
	opts.Progress = nil
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
	if err := p.complete(); err != nil {
		return nil, err
	}
	if err := p.single(); err != nil {
		return nil, err
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
	space := &inquiry.Space{Unit: unit, Gap: 2, Sensitivities: given, Epsilon: p.Epsilon, Params: p.Params}
	dom := inquiry.LatticeDomain(q, space, parts)
	if p.Monotonic { // after a shift, neighbors are the pairs that differ by 0 or Δ in every score
		if parts == 1 {
			dom.Name += " in steps of Δ"
		}
		dom.Name = strings.Replace(dom.Name, "2Δ", "Δ", 1) + ", and their neighbors for monotonic scores"
		dom.Representatives.Name = dom.Name
	}
	if _, ok := p.Mechanism.(weighted); ok && lattice.Vectors(n, k, false).Cmp(big.NewInt(manyVectors)) > 0 {
		dom.ByConstruction = "by construction: its probabilities depend on the differences to the best score alone"
	}
	report, err := p.check(ctx, space, dom, opts)
	if err != nil {
		return nil, err
	}
	report.lattice = where{N: n, K: k, Parts: parts, Monotonic: p.Monotonic}
	return report, nil
}
