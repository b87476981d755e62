package stopping_test

import (
	"context"
	"fmt"

	"optratio/internal/stopping"
	"optratio/number"
)

// How often the best of eight can be taken by a rule whose outcome gains at most the factor 3/2 by moving one rank.
func ExampleSolve() {
	payoff, _ := stopping.TopK(8, 1)
	eps, _ := number.ParseExp("3/2")
	s, err := stopping.Solve(context.Background(), &stopping.Problem{Payoff: payoff, Eps: eps}, stopping.Options{})
	fmt.Println(s.Optimum(), err)
	fmt.Println("without privacy", s.Free[0].FloatString(4))
	// Output:
	// 0.346860643185… <nil>
	// without privacy 0.4098
}
