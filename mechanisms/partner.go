package mechanisms

import (
	"math/big"
	"slices"
)

func init() {
	const source = "this project, docs/results/unequal.md, Theorem 6"
	Register(partnerOver(flip, epsDPEach("pf-partner", "permute-and-flip, each candidate at its sensitivity plus the largest one of the others", source)))
	Register(partnerOver(registry["geo"].(regular), epsDPEach("geo-partner", "geometric noisy max, each candidate at its sensitivity plus the largest one of the others", source)))
}

// partnerOver is a regular mechanism at depths 1 apart, run on
//
//	D_r = (max q - q_r)/w_r,     w_r = Δ_r + max_{s≠r} Δ_s.
//
// No difference of two D_r changes by more than 1 between neighbors.
func partnerOver(base regular, info Info) *overDepths {
	return &overDepths{
		info: info, base: base,
		rescale: func(in *Instance) (*Instance, []int, error) {
			scales := in.partnerSums()
			best := slices.MaxFunc(in.Scores, (*big.Rat).Cmp)
			depths := make([]*big.Rat, len(scales))
			for r, w := range scales {
				depths[r] = new(big.Rat).Sub(best, in.Scores[r])
				depths[r].Quo(depths[r], w)
			}
			return atDepths(depths, in.Epsilon), everyone(len(in.Scores)), nil
		},
		steps: func(in *Instance) ([]*big.Rat, Epsilon) { return in.partnerSums(), in.Epsilon },
	}
}

// partnerSums returns Δ_r + max_{s≠r} Δ_s for each candidate r.
func (in *Instance) partnerSums() []*big.Rat {
	each := in.EachSensitivity()
	largest := slices.MaxFunc(each, (*big.Rat).Cmp)
	most := in.PairSensitivity()
	most.Add(most, most)
	out := make([]*big.Rat, len(each))
	for r, d := range each {
		if d.Cmp(largest) == 0 {
			out[r] = most
		} else {
			out[r] = new(big.Rat).Add(d, largest)
		}
	}
	return out
}
