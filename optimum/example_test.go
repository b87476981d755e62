package optimum_test

import (
	"context"
	"crypto/rand"
	"fmt"

	"optratio/number"
	"optratio/optimum"
)

// The least mean error of a private count from 0 to 3, and a mechanism that draws with nearly that.
func Example() {
	p, _ := optimum.Preset("count:3")
	eps, _ := number.ParseExp("2")
	a, err := optimum.Solve(context.Background(), p, optimum.Request{Epsilon: eps})
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Optimum, a.Table[0][0])

	m, err := a.Round(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Bits, m.GivenUp)
	if _, err := m.Sample("2", rand.Reader); err != nil {
		panic(err)
	}
	// Output:
	// 0.708333333333… 0.666666666666…
	// 53 2.03540887847…e-16
}
