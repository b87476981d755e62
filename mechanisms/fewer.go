package mechanisms

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// LookupFewer is Lookup that also finds NAME:M, the mechanism NAME on the M least sensitive candidates alone, where NAME takes a sensitivity for each
// candidate. Such a mechanism is as private as NAME, and not symmetric: where sensitivities are equal the first candidates are kept. Where the
// sensitivities of all that are kept are 0, it takes the best of them, ties alike.
func LookupFewer(text string) (Mechanism, error) {
	name, count, cut := strings.Cut(text, ":")
	m, err := strconv.Atoi(count)
	base, ok := registry[name].(regular)
	if !cut || err != nil || m < 1 || !ok || base.Info().Uniform {
		return Lookup(text)
	}
	return fewer(base, m), nil
}

// fewer is base on the m least sensitive candidates, of equally sensitive ones on the first; the others are never taken. Which these are
// does not depend on scores, so that it keeps the privacy of base.
func fewer(base regular, m int) *overDepths {
	info := base.Info()
	info.Name += ":" + strconv.Itoa(m)
	info.Symmetric = false
	info.Summary += fmt.Sprintf(", on the %d least sensitive candidates alone", m)
	return &overDepths{
		info: info, base: base,
		rescale: func(in *Instance) (*Instance, []int, error) {
			each := in.eachSensitivity()
			if m > len(each) {
				return nil, nil, fmt.Errorf("%w: %s of %d candidates, want at most as many", ErrInstance, info.Name, len(each))
			}
			keep := everyone(len(each))
			slices.SortStableFunc(keep, func(a, b int) int { return each[a].Cmp(each[b]) })
			keep = keep[:m]
			out := *in
			out.Scores, out.Sensitivities = nil, nil
			for _, r := range keep {
				out.Scores, out.Sensitivities = append(out.Scores, in.Scores[r]), append(out.Sensitivities, each[r])
			}
			if out.Sensitivity().Sign() == 0 { // what they score is no secret
				best := out.Best()
				keep = slices.DeleteFunc(keep, func(r int) bool { return in.Scores[r].Cmp(best) < 0 })
				out.Scores, out.Sensitivities = slices.Repeat([]*big.Rat{best}, len(keep)), []*big.Rat{ratOne}
			}
			return &out, keep, out.CheckScores()
		},
		steps: func(in *Instance) []*big.Rat {
			least := slices.SortedFunc(slices.Values(in.eachSensitivity()), (*big.Rat).Cmp)
			if least[min(m, len(least))-1].Sign() == 0 {
				return nil
			}
			out := *in
			out.Scores, out.Sensitivities = in.Scores[:min(m, len(least))], least[:min(m, len(least))]
			if own, ok := base.(*overDepths); ok {
				return own.Steps(&out)
			}
			sum := out.pairSensitivity()
			return []*big.Rat{sum.Add(sum, sum)}
		},
	}
}
