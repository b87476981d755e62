package recommend_test

import (
	"context"
	"fmt"
	"math/big"

	"optratio/internal/recommend"
	"optratio/mechanisms"
	"optratio/number"
)

// One person may change the last score by 4, the others by 1.
func ExampleFor() {
	eps, _ := number.ParseEpsilon("1")
	in := &mechanisms.Instance{
		Scores:        []*big.Rat{big.NewRat(8, 1), big.NewRat(6, 1), big.NewRat(5, 1)},
		Sensitivities: []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 1), big.NewRat(4, 1)},
		Epsilon:       eps,
	}
	var candidates []mechanisms.Mechanism
	for _, name := range []string{"pf", "em", "gem"} {
		m, _ := mechanisms.Lookup(name)
		candidates = append(candidates, m)
	}
	r, err := recommend.For(context.Background(), in, candidates, recommend.Error, false)
	fmt.Println(r.Recommended, err)
	for _, m := range r.Mechanisms {
		fmt.Println(m.Name, m.ExpectedError)
	}
	// Output:
	// gem <nil>
	// gem 0.669691940169…
	// pf 1.36368351082…
	// em 1.46769554708…
}
