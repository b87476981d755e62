package audit_test

import (
	"context"
	"fmt"
	"math"

	"optratio/mechanisms"
	"optratio/verify"
	"optratio/verify/audit"
)

// The weights overflow where scores are far from 0, which the lattice alone does not show.
func ExampleMechanism() {
	m := mechanisms.FromFloat(mechanisms.Info{Name: "no maximum subtracted"}, 1e-9, func(scores []float64, sensitivity, epsilon float64) ([]float64, error) {
		p, total := make([]float64, len(scores)), 0.0
		for r, q := range scores {
			p[r] = math.Exp(epsilon * q / (2 * sensitivity))
			total += p[r]
		}
		for r := range p {
			p[r] /= total
		}
		return p, nil
	})
	eps, _ := mechanisms.ParseEpsilon("1")
	r, err := audit.Mechanism(context.Background(), m, audit.Options{Epsilon: eps, Properties: []verify.Property{verify.Shift}})
	fmt.Println(r.Find(verify.Shift), err)
	fmt.Println(r.Findings[0])
	// Output:
	// shift: violated, 458 checked
	//   fails at scores (3000) and (0), output "error": 1 and 0 <nil>
	// error: scores (3000, 3000, 3000): bad answer: no maximum subtracted states the probability NaN of candidate 0 (the first of 20 of this kind)
}
