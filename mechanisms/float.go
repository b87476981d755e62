package mechanisms

import (
	"fmt"
	"math"
	"math/big"
)

var ratOne = big.NewRat(1, 1)

// FloatInstance is an Instance in float64, for instances too large for exact numbers. Scores must
// be finite.
type FloatInstance struct {
	Scores        []float64 // one per candidate, in the user's units
	Sensitivities []float64 // one for all candidates, or one each; >= 0
	Epsilon       float64
	Params        Params
}

// Check reports the first thing wrong with the instance.
func (in *FloatInstance) Check() error {
	if len(in.Scores) == 0 {
		return fmt.Errorf("%w: no scores", ErrInstance)
	}
	for i, q := range in.Scores {
		if math.IsNaN(q) || math.IsInf(q, 0) {
			return fmt.Errorf("%w: score %d is %v", ErrInstance, i+1, q)
		}
	}
	if s := len(in.Sensitivities); s != 1 && s != len(in.Scores) {
		return fmt.Errorf("%w: %d sensitivities for %d scores, want one or as many", ErrInstance, s, len(in.Scores))
	}
	largest := 0.0
	for i, d := range in.Sensitivities {
		if !(d >= 0) || math.IsInf(d, 0) {
			return fmt.Errorf("%w: sensitivity %d is %v, want a finite number >= 0", ErrInstance, i+1, d)
		}
		largest = max(largest, d)
	}
	if largest == 0 {
		return fmt.Errorf("%w: the largest sensitivity is 0, want > 0", ErrInstance)
	}
	if !(in.Epsilon >= 0) || math.IsInf(in.Epsilon, 0) {
		return fmt.Errorf("%w: epsilon is %v, want a finite number >= 0", ErrInstance, in.Epsilon)
	}
	return nil
}

// sensitivity returns candidate i's sensitivity.
func (in *FloatInstance) sensitivity(i int) float64 {
	if len(in.Sensitivities) == 1 {
		return in.Sensitivities[0]
	}
	return in.Sensitivities[i]
}

// largest returns the largest sensitivity.
func (in *FloatInstance) largest() float64 {
	d := 0.0
	for _, s := range in.Sensitivities {
		d = max(d, s)
	}
	return d
}

// best returns the best score and how many candidates have it.
func (in *FloatInstance) best() (q float64, ties int) {
	q = math.Inf(-1)
	for _, s := range in.Scores {
		switch {
		case s > q:
			q, ties = s, 1
		case s == q:
			ties++
		}
	}
	return q, ties
}

// weights returns e^{-ε (q* - q_r)/2Δ} for each candidate, Δ the largest sensitivity.
func (in *FloatInstance) weights() []float64 {
	best, _ := in.best()
	rate := in.Epsilon / (2 * in.largest())
	w := make([]float64, len(in.Scores))
	for i, q := range in.Scores {
		w[i] = math.Exp(rate * (q - best))
	}
	return w
}

// Floats returns the instance in float64. Scores are taken relative to the best one
// before they are rounded, so that their differences lose nothing.
func (in *Instance) Floats() *FloatInstance {
	out := &FloatInstance{Epsilon: in.Epsilon.Float(), Params: in.Params}
	best, difference := in.Best(), new(big.Rat)
	out.Scores = make([]float64, len(in.Scores))
	for i, q := range in.Scores {
		out.Scores[i], _ = difference.Sub(q, best).Float64()
	}
	out.Sensitivities = make([]float64, len(in.Sensitivities))
	for i, d := range in.Sensitivities {
		out.Sensitivities[i], _ = d.Float64()
	}
	return out
}

// FloatScorer is a mechanism that works on float64 scores as they are, in time that
// allows for very many candidates.
type FloatScorer interface {
	Mechanism
	// FloatScores returns one probability per candidate, without proof.
	FloatScores(in *FloatInstance) ([]float64, error)
}

// floats implements Float by FloatScores.
func floats(m FloatScorer, in *Instance) ([]float64, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	return m.FloatScores(in.Floats())
}

// Estimate is a pmf in float64 with a statement of how it was had.
type Estimate struct {
	PMF    []float64
	Method string  // as in "Gauss-Legendre, 8 nodes a panel"
	Error  float64 // the largest error of an entry, as estimated by the method itself
}

// Estimator is a mechanism whose Float comes with an estimate of its error.
type Estimator interface {
	Mechanism
	Estimate(in *FloatInstance) (Estimate, error)
}
