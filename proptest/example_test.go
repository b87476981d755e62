package proptest_test

import (
	"fmt"
	"math"
	"slices"

	"optratio/proptest"
	"optratio/verify"
)

// The calibration for monotonic scores, taken for plain neighbors: ε doubles.
func Example() {
	failures, err := proptest.Check(proptest.PMF(func(c proptest.Case) ([]float64, error) {
		best, total := slices.Max(c.Scores), 0.0
		p := make([]float64, len(c.Scores))
		for r, q := range c.Scores {
			p[r] = math.Exp(c.Epsilon * (q - best) / c.Sensitivity)
			total += p[r]
		}
		for r := range p {
			p[r] /= total
		}
		return p, nil
	}), proptest.Options{Properties: []verify.Property{verify.DP, verify.Sum}})
	for _, f := range failures {
		fmt.Println(f)
	}
	fmt.Println(err)
	// Output:
	// dp fails at scores [0 0], sensitivity 1, epsilon 1: scores (0, 0) and (-1, 1), candidate 0: 0.50000000000 ± 6e-10 and 0.11920292…, a ratio of e^1.434 (seed 1)
	// <nil>
}
