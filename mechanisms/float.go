package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/number"
)

var ratOne = big.NewRat(1, 1)

// floatInstance is an Instance in float64.
type floatInstance struct {
	Scores        []float64 // one per candidate, relative to the best
	Sensitivities []float64 // one for all candidates, or one each; >= 0
	Epsilon       float64
	Params        Params
}

// FromFloats returns the instance of these numbers, which are taken as what they are in binary, exactly.
func FromFloats(scores, sensitivities []float64, epsilon float64, params Params) (*Instance, error) {
	in := &Instance{Params: params}
	eps := new(big.Rat).SetFloat64(epsilon)
	if eps == nil {
		return nil, fmt.Errorf("%w: epsilon is %v, want a finite number >= 0", ErrInstance, epsilon)
	}
	for _, x := range scores {
		in.Scores = append(in.Scores, new(big.Rat).SetFloat64(x)) // nil for NaN and ±∞, which Check refuses
	}
	for _, x := range sensitivities {
		in.Sensitivities = append(in.Sensitivities, new(big.Rat).SetFloat64(x))
	}
	var err error
	if in.Epsilon, err = number.FromEpsilon(eps); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInstance, err)
	}
	return in, in.Check()
}

// sensitivity returns candidate i's sensitivity.
func (in *floatInstance) sensitivity(i int) float64 {
	if len(in.Sensitivities) == 1 {
		return in.Sensitivities[0]
	}
	return in.Sensitivities[i]
}

// weights returns e^{-ε (q* - q_r)/2Δ} for each candidate, Δ the largest sensitivity.
func (in *floatInstance) weights() []float64 {
	rate := in.Epsilon / (2 * slices.Max(in.Sensitivities))
	w := make([]float64, len(in.Scores))
	for i, q := range in.Scores {
		w[i] = math.Exp(rate * q)
	}
	return w
}

// floats checks the instance and returns it in float64, or ErrNoAnswer where it is beyond that. Scores are taken relative to the best one
// before they are rounded, so that their differences lose nothing.
func (in *Instance) floats() (*floatInstance, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	out := &floatInstance{Epsilon: in.Epsilon.Float(), Params: in.Params}
	best, difference := in.Best(), new(big.Rat)
	out.Scores = make([]float64, len(in.Scores))
	worst := 0.0
	for i, q := range in.Scores {
		out.Scores[i], _ = difference.Sub(q, best).Float64()
		worst = min(worst, out.Scores[i])
	}
	out.Sensitivities = make([]float64, len(in.Sensitivities))
	for i, d := range in.Sensitivities {
		out.Sensitivities[i], _ = d.Float64()
	}
	if largest := slices.Max(out.Sensitivities); math.IsInf(worst, 0) || math.IsInf(out.Epsilon, 0) || math.IsInf(largest, 0) || largest == 0 {
		return nil, fmt.Errorf("%w: scores, sensitivities or epsilon beyond float64", ErrNoAnswer)
	}
	return out, nil
}

// estimate is a pmf in float64 with a statement of how it was had.
type estimate struct {
	pmf    []float64
	method string  // as in "Gauss-Legendre quadrature"
	err    float64 // the largest error of an entry, as estimated by the method itself
}

// estimator is a mechanism whose Float comes with an estimate of its error.
type estimator interface {
	Mechanism
	estimate(in *Instance) (estimate, error)
}
