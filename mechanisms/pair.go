package mechanisms

import "math/big"

const pairSource = "research/docs/heterogeneous.md, Theorem 1"

var (
	flipPair = pairOver(flip, epsDPEach("pf-pair", "permute-and-flip at the sum of the two largest sensitivities in place of 2Δ", pairSource))
	geoPair  = pairOver(geo, epsDPEach("geo-pair", "geometric noisy max at the sum of the two largest sensitivities in place of 2Δ", pairSource+"; research/docs/resolution.md"))
)

// pairOver is a mechanism for one sensitivity with 2Δ replaced by the sum S of the two largest sensitivities.
//
// Any regular ε-DP mechanism (McKenna & Sheldon 2020, Def. 3) stays ε-DP so: the difference of candidate r's score to any
// other's changes by at most S, so up to a shift neighbors differ no more against r than by S at r alone.
// research/docs/heterogeneous.md has the proof and how much it gains.
func pairOver(base regular, info Info) *overDepths {
	return &overDepths{
		info: info, base: base,
		rescale: func(in *Instance) (*Instance, []int, error) {
			out := *in
			out.Sensitivities = []*big.Rat{in.pairSensitivity()}
			return &out, everyone(len(in.Scores)), nil
		},
		steps: func(in *Instance) []*big.Rat {
			half := in.pairSensitivity()
			if len(in.Sensitivities) == 1 { // of any number of candidates
				half = in.Sensitivity()
			}
			return []*big.Rat{new(big.Rat).Add(half, half)}
		},
	}
}

// pairSensitivity returns S/2, half the sum of the two largest sensitivities.
func (in *Instance) pairSensitivity() *big.Rat {
	largest, second := new(big.Rat), new(big.Rat)
	for _, d := range in.eachSensitivity() {
		switch {
		case d.Cmp(largest) > 0:
			largest, second = d, largest
		case d.Cmp(second) > 0:
			second = d
		}
	}
	half := new(big.Rat).Add(largest, second)
	return half.Quo(half, big.NewRat(2, 1))
}
