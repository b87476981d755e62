package mechanisms

import (
	"math/big"
	"slices"

	"optratio/number/interval"
)

func init() {
	const (
		halfway = ", deeper candidates halfway between the runner-up's depth and their own"
		source  = "this project, docs/results/unequal.md, Theorem 2"
	)
	Register(runnerOver(flip, epsDPEach("pf-runner", "permute-and-flip on gem's depths"+halfway, source)))
	Register(runnerOver(registry["geo"].(regular), epsDPEach("geo-runner", "geometric noisy max on gem's depths"+halfway, source)))
	Register(&gem{info: epsDPEach("gem-runner", "gem at the whole of ε"+halfway, source), sign: +1, runner: true})
	Register(&gem{info: epsDPEach("mgem-runner", "mgem at the whole of ε"+halfway, source), sign: -1, runner: true})
}

// runnerOver is a regular mechanism at depths 1 apart, run on
//
//	D_r = min(d_r, (d_r + d)/2),
//
// where d_r are gem's normalised depths for t = 0 and d is the second smallest of them, the runner-up's; where the least sum of two
// sensitivities exceeds 3/5 of the largest one, S, on those of pf-pair, (max q - q_r)/S, which are then larger for most scores. Which of the two
// depends on the sensitivities alone. No difference of two D_r changes by more than 1 between neighbors.
func runnerOver(base regular, info Info) *overDepths {
	return &overDepths{
		info: info, base: base,
		rescale: func(in *Instance) (*Instance, []int, error) {
			if len(in.Scores) < 2 || in.alike(big.NewRat(3, 5)) {
				whole := *in
				whole.Sensitivities = []*big.Rat{in.PairSensitivity()}
				return &whole, everyone(len(in.Scores)), nil
			}
			depths, keep := in.normalisedDepths()
			if len(depths) > 1 {
				second := slices.SortedFunc(slices.Values(depths), (*big.Rat).Cmp)[1]
				half := big.NewRat(1, 2)
				for i, d := range depths {
					if d.Cmp(second) > 0 { // otherwise it is d_r itself
						d = new(big.Rat).Add(d, second)
						depths[i] = d.Mul(d, half)
					}
				}
			}
			return atDepths(depths, in.Epsilon), keep, nil
		},
		steps: func(in *Instance) ([]*big.Rat, Epsilon) {
			sums := in.pairSums()
			if len(sums) == 0 || in.alike(big.NewRat(3, 5)) {
				s := in.PairSensitivity()
				return []*big.Rat{s.Add(s, s)}, in.Epsilon
			}
			for _, s := range sums {
				s.Add(s, s)
			}
			return sums, in.Epsilon
		},
	}
}

// alike reports whether the least sum of two sensitivities exceeds the share of the largest one.
func (in *Instance) alike(share *big.Rat) bool {
	each := slices.SortedFunc(slices.Values(in.EachSensitivity()), (*big.Rat).Cmp)
	if len(each) < 2 {
		return true
	}
	n := len(each)
	least, most := new(big.Rat).Add(each[0], each[1]), new(big.Rat).Add(each[n-2], each[n-1])
	return least.Cmp(most.Mul(most, share)) > 0
}

// runnerExponents returns -εD_r, D_r = min(d_r, (d_r + d)/2), from -εd_r/2, of classes of so many candidates. No exponent
// stands for a candidate that is never taken.
func runnerExponents(x []*interval.Interval, counts []int) []*interval.Interval {
	var all []interval.Interval
	for a, e := range x {
		for range min(2, counts[a]) {
			if e != nil {
				all = append(all, *e)
			}
		}
	}
	if len(all) < 2 {
		return x
	}
	// The second largest of numbers lies between the second largest of their lower ends and that of their upper ends. Kept as max and min over
	// what was seen, it is an interval operation at each step.
	first, second := all[0].Max(all[1]), all[0].Min(all[1])
	for _, e := range all[2:] {
		second = second.Max(first.Min(e))
		first = first.Max(e)
	}
	out := make([]*interval.Interval, len(x))
	for a, e := range x {
		if e != nil {
			twice := e.Add(*e).Max(e.Add(second))
			out[a] = &twice
		}
	}
	return out
}

// runnerFloat is runnerExponents in float64, in place, for single candidates.
func runnerFloat(x []float64) {
	if len(x) < 2 {
		return
	}
	first, second := max(x[0], x[1]), min(x[0], x[1])
	for _, e := range x[2:] {
		second = max(second, min(first, e))
		first = max(first, e)
	}
	for a, e := range x {
		x[a] = max(2*e, e+second)
	}
}
