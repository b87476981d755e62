package number_test

import (
	"fmt"
	"math/big"

	"optratio/number"
)

// A number is a rational as long as it can be one, then an enclosure; it prints the digits that are certain.
func Example() {
	third := number.Exact(big.NewRat(1, 3))
	eps, _ := number.ParseEpsilon("0.5")
	z := number.Enclosed(eps.ExpNeg(big.NewRat(1, 1), 100)) // e^-ε
	fmt.Println(third.Add(third))
	fmt.Println(z)
	fmt.Println(z.LessEq(third.Add(third)))
	_, exact := z.Rat()
	fmt.Println(exact)
	// Output:
	// 0.666666666666…
	// 0.606530659712…
	// true true
	// false
}
