package audit_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
	"optratio/verify/audit"
)

// The weights overflow where scores are far from 0, which the lattice alone does not show.
func Example() {
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
	eps, _ := number.ParseEpsilon("1")
	r, err := audit.Mechanism(context.Background(), m, audit.Options{Epsilon: eps, Properties: []verify.Property{verify.Shift}})
	fmt.Println(r.Find(verify.Shift), err)
	fmt.Println(r.Findings[0])
	// Output:
	// shift: violated, 449 checked
	//   fails at scores (3000) and (0), output "error": 1 and 0, an infinite ratio <nil>
	// error: scores (3000, 3000, 3000): bad answer: no maximum subtracted states the probability NaN of candidate 0 (the first of 20 of this kind)
}

// careless draws from the exponential mechanism without its factor 2.
type careless struct{ mechanisms.Mechanism }

func (careless) Draws(in *mechanisms.Instance, src rand.Source) (func() int, error) {
	var weights []float64
	total := 0.0
	for _, q := range in.Scores {
		x, _ := q.Float64()
		weights = append(weights, math.Exp(in.Epsilon.Float()*x))
		total += weights[len(weights)-1]
	}
	rng := rand.New(src)
	return func() int {
		u, r := rng.Float64()*total, 0
		for ; r < len(weights)-1 && u >= weights[r]; r++ {
			u -= weights[r]
		}
		return r
	}, nil
}

// A sampler of this process is tested as a program is.
func ExampleDraws() {
	eps, _ := number.ParseEpsilon("1")
	m := careless{mechanisms.Exponential()}
	r, err := audit.Draws(context.Background(), m, rand.NewPCG(1, 2), audit.Options{N: 2, K: 1, Epsilon: eps, Budget: 100_000, UntilRefuted: true})
	fmt.Println(r.Find(verify.DP).Verdict, r.LowerBound.Float64() > 1, err)
	// Output:
	// violated true <nil>
}
