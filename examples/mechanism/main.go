package main

import (
	"math"
	"slices"

	"optratio/cli"
	"optratio/mechanisms"
)

// Softmax is the exponential mechanism in float64, with a relative error below 1e-12.
var Softmax = mechanisms.FromFloat(mechanisms.Info{Name: "softmax", Claim: "ε-DP", Private: true}, 1e-12,
	func(scores []float64, sensitivity, epsilon float64) ([]float64, error) {
		p, total := make([]float64, len(scores)), 0.0
		for r, q := range scores {
			p[r] = math.Exp(epsilon * (q - slices.Max(scores)) / (2 * sensitivity))
			total += p[r]
		}
		for r := range p {
			p[r] /= total
		}
		return p, nil
	})

func main() {
	mechanisms.Register(Softmax)
	cli.Main() // the whole command line, over softmax too
}
