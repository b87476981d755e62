package linear_test

import (
	"context"
	"fmt"
	"math"

	"optratio/internal/linear"
)

// Two products share two machines; the first product sells at most three times.
func ExampleEmbedded() {
	m := &linear.Model{}
	inf := math.Inf(1)
	r1 := int32(m.AddRow(-inf, 4))
	r2 := int32(m.AddRow(-inf, 12))
	m.AddCol(-3, 0, 3, []int32{r1, r2}, []float64{1, 1})
	m.AddCol(-2, 0, inf, []int32{r1, r2}, []float64{1, 3})

	res, err := linear.Embedded{}.Solve(context.Background(), m, linear.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Outcome, res.Objective, res.X)
	fmt.Println("multipliers of the machines", res.Duals)
	// Output:
	// optimal -11 [3 1]
	// multipliers of the machines [-2 0]
}

// A matrix with a zero column names what to replace.
func ExampleFactorize() {
	_, lack := linear.Factorize(2, []int{0, 1, 1}, []int32{1}, []float64{5})
	fmt.Println("columns", lack.Cols, "rows", lack.Rows)

	lu, _ := linear.Factorize(2, []int{0, 1, 2}, []int32{1, 0}, []float64{5, 1})
	x := make([]float64, 2)
	lu.Solve(x, []float64{3, 10})
	fmt.Println("x =", x)
	// Output:
	// columns [1] rows [0]
	// x = [2 3]
}
