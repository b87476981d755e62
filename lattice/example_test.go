package lattice_test

import (
	"fmt"

	"optratio/lattice"
)

// The score vectors of three candidates and two depths, one of each arrangement, with how many arrangements there are.
func Example() {
	l, _ := lattice.New(3, 2)
	for _, m := range l.All() {
		fmt.Println(lattice.Depths(m), lattice.Multiplicity(m))
	}
	fmt.Println(lattice.Vectors(3, 2, false), "in all")
	// Output:
	// [0 0 0] 1
	// [0 0 1] 3
	// [0 0 2] 3
	// [0 1 1] 3
	// [0 1 2] 6
	// [0 2 2] 3
	// 19 in all
}
