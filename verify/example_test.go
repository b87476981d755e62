package verify_test

import (
	"context"
	"fmt"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Randomized response spends less than its ε on this lattice, and has more mass at large errors than the exponential mechanism.
func Example() {
	m, _ := mechanisms.Lookup("krr")
	eps, _ := number.ParseExp("3/2")
	report, err := verify.Lattice(context.Background(), verify.Claim{Mechanism: m, Epsilon: eps}, 3, 2, verify.Options{
		Properties: []verify.Property{verify.DP, verify.DominatesEM},
	})
	fmt.Println(report, err)
	// Output:
	// krr on Q(3,2), 19 score vectors
	// dp: proved, 54 checked, tight ε 0.251314428280…, e^ε = 9/7, range 0.405465108108…
	// dominates-em: violated, 6 checked
	//   fails at scores (0, -4): Pr[error >= 4] is 0.4, of em 0.307692307692… <nil>
}

// Randomized response with the parameter ln 3/2 spends ln 9/7 on this lattice, as ExampleLattice shows; from that, calibration finds ln 3/2.
func ExampleCalibrate() {
	m, _ := mechanisms.Lookup("krr")
	eps, _ := number.ParseExp("9/7")
	r, err := verify.Calibrate(context.Background(), verify.Claim{Mechanism: m, Epsilon: eps}, 3, 2, verify.Options{})
	fmt.Println(r.Parameter, r.Proof, err)
	// Output:
	// 0.40546510… domain <nil>
}
