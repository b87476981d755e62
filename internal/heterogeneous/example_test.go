package heterogeneous_test

import (
	"context"
	"fmt"
	"math/big"

	"optratio/internal/heterogeneous"
	"optratio/mechanisms"
	"optratio/number"
)

// Two candidates, the second twice as sensitive as the first, scores 0 to 4, e^ε = 2.
func ExampleSolve() {
	eps, _ := number.ParseExp("2")
	krr, _ := mechanisms.Lookup("krr")
	a, err := heterogeneous.Solve(context.Background(), heterogeneous.Request{
		Grid: heterogeneous.Grid{
			Sensitivities: []*big.Rat{big.NewRat(1, 1), big.NewRat(2, 1)},
			From:          new(big.Rat), Step: big.NewRat(1, 1), Steps: 4,
		},
		Epsilon: eps, Mechanisms: []mechanisms.Mechanism{krr},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("least mean error of any private mechanism:", a.Optimum)
	fmt.Println("randomised response:", a.Mechanisms[0].Loss, "ratio", a.Mechanisms[0].Ratio, a.Mechanisms[0].DP)
	// Output:
	// least mean error of any private mechanism: 0.4
	// randomised response: 0.533333333333… ratio 1.33333333333… proved
}
