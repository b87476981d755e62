package mechanisms_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"optratio/mechanisms"
	"optratio/number"
)

// The probabilities of permute-and-flip are rational on the lattice where e^ε is.
func ExampleLookup() {
	pf, _ := mechanisms.Lookup("pf")
	eps, _ := number.ParseExp("3/2")
	p, _ := pf.Exact(mechanisms.OnLattice([]int{0, 1, 1}, eps))
	fmt.Println(p)
	// Output: [13/27 7/27 7/27]
}

// An answer is as exact as the mechanism and the instance allow.
func Example() {
	eps, _ := number.ParseEpsilon("1")
	in := &mechanisms.Instance{
		Scores:        []*big.Rat{big.NewRat(0, 1), big.NewRat(3, 2)},
		Sensitivities: []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 2)},
		Epsilon:       eps,
	}
	for _, name := range []string{"uniform", "gem", "rnmh"} {
		m, _ := mechanisms.Lookup(name)
		a, _ := mechanisms.Ask(m, in)
		fmt.Println(name, a.ExpectedError)
	}
	// Output:
	// uniform 0.75
	// gem 0.133012980582…
	// rnmh 0.472366552741…
}

// It always takes the best candidate, which is not private. Exact probabilities come with a sampler.
func ExampleFromRational() {
	m := mechanisms.FromRational(mechanisms.Info{Name: "dictator", Uniform: true}, func(in *mechanisms.Instance) ([]*big.Rat, error) {
		p := make([]*big.Rat, len(in.Scores))
		for r, q := range in.Scores {
			p[r] = new(big.Rat)
			if q.Cmp(in.Best()) == 0 {
				p[r].SetInt64(1)
			}
		}
		return p, nil
	})
	eps, _ := number.ParseEpsilon("1")
	a, _ := mechanisms.Ask(m, mechanisms.OnLattice([]int{2, 0, 1}, eps))
	fmt.Println(a.PMF, a.ExpectedError)
	// Output: [0 1 0] 0
}

// Numbers in float64 stand for all numbers within their precision.
func ExampleFromFloat() {
	m := mechanisms.FromFloat(mechanisms.Info{Name: "coin"}, 1e-6, func(scores []float64, sensitivity, epsilon float64) ([]float64, error) {
		p := 1 / (1 + math.Exp(epsilon*(scores[1]-scores[0])/(2*sensitivity)))
		return []float64{p, 1 - p}, nil
	})
	eps, _ := number.ParseEpsilon("1")
	a, _ := mechanisms.Ask(m, mechanisms.OnLattice([]int{0, 1}, eps))
	fmt.Println(a.PMF)
	// Output: [0.73105… 0.268941…]
}

// Draws takes random words from anywhere; without a source it reads crypto/rand.
func ExampleDraws() {
	m, _ := mechanisms.Lookup("krr")
	eps, _ := number.ParseExp("1000")
	draw, _ := mechanisms.Draws(m, mechanisms.OnLattice([]int{1, 0, 2}, eps), rand.NewPCG(1, 2))
	best := 0
	for range 1000 {
		if draw() == 1 {
			best++
		}
	}
	fmt.Println(best > 990)
	// Output: true
}
