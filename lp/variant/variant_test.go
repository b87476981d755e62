package variant_test

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/lp/linear"
	"optratio/lp/variant"
	"optratio/mechanisms"
)

func TestX(t *testing.T) {
	for _, e := range []string{"1", "2"} {
		eps, err := mechanisms.ParseEpsilon(e)
		require.NoError(t, err)
		for _, dp := range []bool{false, true} {
			p, err := variant.New(variant.Question{N: 3, K: 3, L: 2, Epsilon: eps, Neighbors: dp})
			require.NoError(t, err)
			opt, s, err := p.Solve(context.Background(), linear.Embedded{}, big.NewRat(1, 1e9), nil)
			require.NoError(t, err)
			require.Empty(t, s.Undecided)
			pf, _ := mechanisms.Lookup("pf")
			b, err := p.Rate(context.Background(), pf, 128)
			require.NoError(t, err)
			fmt.Println(e, dp, opt.Low.FloatString(9), opt.High.FloatString(9), new(big.Rat).Quo(b.Low, opt.Low).FloatString(6), s.Rows, s.Pivots)
		}
	}
	eps, _ := mechanisms.ParseEpsilon("0.7")
	tail, _ := variant.Tail(big.NewRat(1, 1))
	for _, c := range [][2]bool{{false, false}, {true, false}, {false, true}} {
		p, err := variant.New(variant.Question{N: 3, K: 3, Epsilon: eps, Loss: tail, Worst: true, Neighbors: c[0], Monotone: c[1]})
		require.NoError(t, err)
		opt, s, err := p.Solve(context.Background(), linear.Embedded{}, big.NewRat(1, 1e9), nil)
		require.NoError(t, err)
		fmt.Println(c, opt.Low.FloatString(9), opt.High.FloatString(9), s.Undecided)
	}
	for _, pr := range []string{"0.24", "0.25"} {
		eps, _ := mechanisms.ParseEpsilon(pr)
		p, err := variant.New(variant.Question{N: 3, K: 10, Epsilon: eps, Loss: variant.Top1()})
		require.NoError(t, err)
		opt, s, err := p.Solve(context.Background(), linear.Embedded{}, big.NewRat(1, 1e9), nil)
		require.NoError(t, err)
		pf, _ := mechanisms.Lookup("pf")
		b, err := p.Rate(context.Background(), pf, 128)
		require.NoError(t, err)
		fmt.Println(pr, new(big.Rat).Quo(b.Low, opt.Low).FloatString(6), s.Undecided)
	}
}
