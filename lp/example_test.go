package lp_test

import (
	"context"
	"fmt"

	"optratio/lp"
	"optratio/number"
)

// The size of the lattice and ε are enough: permute-and-flip and the exponential mechanism are rated against the optimum.
func Example() {
	eps, _ := number.ParseExp("5/4")
	a, err := lp.Ratio(context.Background(), lp.Request{N: 3, K: 3, Epsilon: eps})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("optimum", a.Optimum, a.Proof)
	for _, m := range a.Mechanisms {
		fmt.Println(m.Name, m.Error, m.Ratio)
	}
	fmt.Println(a.Mechanisms[1].Ratio.Rat())
	// Output:
	// optimum 0.783894119510… lp
	// pf 0.786528864864… 1.00336109850…
	// em 0.890333966198… 1.13578344835…
	// 27465642066562421760000/24182111569292379161459 true
}

// For n = k = 3 the threshold is the logarithm of the tribonacci constant, where z + z² + z³ = 1 for z = e^-ε.
func ExampleThreshold() {
	a, err := lp.Threshold(context.Background(), lp.Request{N: 3, K: 3}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("not optimal at ε = %s, optimal at ε = %s (%s)\n", a.Ends[0], a.Ends[1], a.Proof)
	// Output: not optimal at ε = 0.609377705956…, optimal at ε = 0.609377978857… (closed-form)
}
