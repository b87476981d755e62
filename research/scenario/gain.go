package scenario

import (
	"fmt"

	"optratio/mechanisms"
)

// Gain returns HG(m, other) = Pr[m errs] - Pr[other errs] for two candidates of scores 0 and gap > 0 and sensitivities d1 and d2: the second one is the better, and
// the gain is positive where other takes it more often (V-A of the source, figures 2 and 10 to 12). Probabilities are in float64, without proof.
func Gain(m, other mechanisms.Mechanism, d1, d2, gap, epsilon float64, params mechanisms.Params) (float64, error) {
	in, err := mechanisms.FromFloats([]float64{0, gap}, []float64{d1, d2}, epsilon, params)
	if err != nil {
		return 0, err
	}
	var errs [2]float64
	for i, one := range []mechanisms.Mechanism{m, other} {
		p, err := one.Float(in)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", one.Info().Name, err)
		}
		errs[i] = p[0]
	}
	return errs[0] - errs[1], nil
}
