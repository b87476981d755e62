package mechanisms

import (
	"fmt"
	"math/big"
	"slices"
)

// MonotonicSensitivities returns the sensitivities to run m with where scores are monotonic: neighbors differ by q'_a - q_a in
// [0, Δ_a] for every candidate a, or the reverse. Whatever privacy m has at the returned ones, for neighbors that differ by up to
// these either way, it has for the given ones and monotonic scores; for equal sensitivities the two are the same statement.
//
//   - With equal sensitivities Δ, and for mechanisms that take one, the largest: Δ/2 each. Subtracting Δ/2 from all scores of q' leaves no
//     score further than Δ/2 from q's, and changes no probability.
//   - For the regular mechanisms that run at the sum of the two largest sensitivities (pf-pair, geo-pair): half the largest, so that the sum is the
//     largest one, Δ. Relative to candidate r no other gains more than Δ.
//
// research/docs/monotonic.md has the proofs (for permute-and-flip, McKenna & Sheldon 2020, Remark 1). The error wraps ErrInstance for
// mechanisms that are not known to be shift-invariant, and where sensitivities differ for other mechanisms that take one each.
func MonotonicSensitivities(m Mechanism, sensitivities []*big.Rat) ([]*big.Rat, error) {
	info := m.Info()
	if !info.ShiftInvariant {
		return nil, fmt.Errorf("%w: which parameter makes %s private for monotonic scores is not known, as it is not known to be shift-invariant", ErrInstance, info.Name)
	}
	if err := (&Instance{Sensitivities: sensitivities}).checkSensitivities(); err != nil {
		return nil, err
	}
	if len(sensitivities) == 0 {
		return nil, fmt.Errorf("%w: no sensitivities", ErrInstance)
	}
	largest := slices.MaxFunc(sensitivities, (*big.Rat).Cmp)
	differ := slices.ContainsFunc(sensitivities, func(d *big.Rat) bool { return d.Cmp(largest) != 0 })
	if differ && !info.Uniform && m != Mechanism(flipPair) && m != Mechanism(geoPair) {
		return nil, fmt.Errorf("%w: which parameter makes %s private for monotonic scores of different sensitivities is not known", ErrInstance, info.Name)
	}
	return []*big.Rat{new(big.Rat).Quo(largest, big.NewRat(2, 1))}, nil
}
