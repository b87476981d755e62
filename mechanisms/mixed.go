package mechanisms

import (
	"math/big"
	"slices"
)

const (
	mixedSummary = " on the mean of gem's depths and the distances to the best score, weighted by sensitivities"
	mixedSource  = "this project, research/docs/unequal.md, Theorem 7"
)

var (
	flipMixed = mixedOver(flip, epsDPEach("pf-mixed", "permute-and-flip"+mixedSummary, mixedSource))
	geoMixed  = mixedOver(geo, epsDPEach("geo-mixed", "geometric noisy max"+mixedSummary, mixedSource))
)

// mixedOver is a regular mechanism at depths 1 apart, run on
//
//	D_r = ((max q - q_r) + (M-Δ_r) d_r + (M-Δ_b) d)/2M,     D_b = 0 for the best candidate b,
//
// where M is the largest sensitivity, d_r are gem's normalised depths for t = 0 and d is the second smallest of them, the runner-up's. No difference of
// two D_r changes by more than 1 between neighbors. The runner-up has D_r = d_r; with equal sensitivities all have.
func mixedOver(base regular, info Info) *overDepths {
	return &overDepths{
		info: info, base: base,
		rescale: func(in *Instance) (*Instance, []int, error) {
			depths, keep := in.normalisedDepths()
			return atDepths(in.mixedDepths(depths, keep), in.Epsilon), keep, nil
		},
		steps: func(in *Instance) []*big.Rat {
			// A lead of b over a counts (M-Δ_a)/2M in units of Δ_a + Δ_b.
			each, most := in.eachSensitivity(), in.Sensitivity()
			twice := new(big.Rat).Add(most, most)
			if twice.Sign() == 0 {
				return nil
			}
			steps := []*big.Rat{twice}
			for a, d := range each {
				weight := new(big.Rat).Sub(most, d)
				for b, other := range each {
					if sum := new(big.Rat).Add(d, other); a != b && weight.Sign() > 0 && sum.Sign() > 0 {
						steps = append(steps, sum.Quo(sum.Mul(sum, twice), weight))
					}
				}
			}
			return steps
		},
	}
}

// mixedDepths returns D_r from the depths d_r of the candidates that take part.
func (in *Instance) mixedDepths(depths []*big.Rat, keep []int) []*big.Rat {
	each, most := in.eachSensitivity(), in.Sensitivity()
	if len(depths) < 2 || most.Sign() == 0 { // then all are the best
		return depths
	}
	best := keep[slices.IndexFunc(depths, func(d *big.Rat) bool { return d.Sign() == 0 })]
	runner := slices.SortedFunc(slices.Values(depths), (*big.Rat).Cmp)[1] // 0 where two are the best
	runner = new(big.Rat).Mul(runner, new(big.Rat).Sub(most, each[best]))
	twice := new(big.Rat).Add(most, most)
	out := make([]*big.Rat, len(depths))
	for i, r := range keep {
		out[i] = new(big.Rat)
		if depths[i].Sign() > 0 {
			out[i].Sub(most, each[r])
			out[i].Mul(out[i], depths[i])
			out[i].Add(out[i], runner)
			out[i].Add(out[i], new(big.Rat).Sub(in.Scores[best], in.Scores[r]))
			out[i].Quo(out[i], twice)
		}
	}
	return out
}
