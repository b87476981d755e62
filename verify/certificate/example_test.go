package certificate_test

import (
	"fmt"
	"strings"

	"optratio/verify/certificate"
)

// Two candidates at depths 0 and 1, e^ε = 3/2: permute-and-flip is optimal, by multipliers that
// are worked out by hand. With z = 2/3, u(1,1) at depth 1 is at least z u(2,0) = z, whence the minimum is 2/3.
func Example() {
	const file = `optratio-certificate 3
problem program
n 2
k 1
exp-epsilon 3/2
objective paper
constraints paper
proof lp
precision 0
claim optimum 2/9 2/9
claim error pf 0.2 0.3
claim ratio pf 1 1
dual 2 0 2/3
dual 1 1 0
end 14
`
	rep, err := certificate.Check(strings.NewReader(file), certificate.Options{})
	fmt.Println(rep.Valid, rep.Optimum, err)

	rep, err = certificate.Check(strings.NewReader(strings.Replace(file, "dual 2 0 2/3", "dual 2 0 1/3", 1)), certificate.Options{})
	fmt.Println(rep.Valid, rep.Reason, err)

	// Output:
	// true 0.222222222222… <nil>
	// false claim optimum: 0.222222222222… and more is claimed, 0.111111111111… is proved <nil>
}

// The same proof in the VIPR format.
func ExampleReport_WriteVIPR() {
	const file = `optratio-certificate 3
problem program
n 2
k 1
exp-epsilon 3/2
objective paper
constraints paper
proof dual-recurrence
precision 0
claim optimum 2/9 2/9
end 10
`
	var out strings.Builder
	rep, err := certificate.Check(strings.NewReader(file), certificate.Options{})
	if err == nil {
		err = rep.WriteVIPR(&out)
	}
	fmt.Print(out.String(), err)

	// Output:
	// % the optimal-mechanism program for n 2, k 1, exp-epsilon 3/2, objective paper, constraints paper
	// % x_M_V is the probability of one candidate at depth V
	// VER 1.0
	// VAR 3
	// x_2_0_d0
	// x_1_1_d0
	// x_1_1_d1
	// INT 0
	// OBJ min
	// 1
	//  2 2
	// CON 7 3
	// B0 G 0 1 0 1
	// B1 G 0 1 1 1
	// B2 G 0 1 2 1
	// E0 E 1 1 0 2
	// E1 E 1 2 1 1 2 1
	// P0 G 0 2 0 1 1 -2/3
	// P2 G 0 2 2 1 0 -2/3
	// RTP range 2/3 2/3
	// SOL 1
	// point 3
	//  0 1/2
	//  1 2/3
	//  2 1/3
	// DER 1
	// bound G 2/3 OBJ { lin 2
	//  3 2/3
	//  6 2
	//  } -1
	// <nil>
}
