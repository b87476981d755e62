package lp

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/internal/linear"
	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/number"
)

// overBoth returns a lower bound on the least t such that some ε-DP mechanism's expected error exceeds the smaller one of permute-and-flip's
// and geometric noisy max's by at most t at every vector, in steps of 2Δ. Where it is positive, no mechanism is at least as good as both.
// The smaller error is rounded up to a multiple of 2^-40, which only lowers t.
func overBoth(t *testing.T, n, k, l int, eps number.Epsilon) (low, high float64) {
	t.Helper()
	p, err := newTestTable(Request{N: n, K: k, Step: l, Epsilon: eps, Level: DP, Worst: true})
	require.NoError(t, err)
	geo, err := mechanisms.Lookup("geo")
	require.NoError(t, err)
	const bits = 40
	scale := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(int64(l)), bits))
	most := new(big.Int).Mul(big.NewInt(int64(k*l)), new(big.Int).Lsh(big.NewInt(1), bits)) // the greatest depth
	var losses [][]number.Interval
	for _, m := range []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), geo} {
		var x []number.Interval
		err := eachLoss(t.Context(), p.question, p.lat, arith.Interval{Prec: 128}, number.Interval.Max, instances(p.question, true, func(in *mechanisms.Instance) ([]number.Interval, error) { return m.Enclose(in, 128) }),
			func(_ []int, loss number.Interval) { x = append(x, loss) })
		require.NoError(t, err)
		losses = append(losses, x)
	}
	for i := range p.lat.Len() {
		least, _ := losses[0][i].Hi().Rat(nil)
		if other, _ := losses[1][i].Hi().Rat(nil); other.Cmp(least) < 0 {
			least = other
		}
		least.Mul(least, scale)
		up := new(big.Int).Quo(new(big.Int).Add(least.Num(), new(big.Int).Sub(least.Denom(), big.NewInt(1))), least.Denom())
		for j := p.vars.First[i]; j < p.vars.First[i+1]; j++ {
			loss := new(big.Int).Lsh(big.NewInt(int64(p.vars.Depth[j])), bits)
			p.Loss[j] = loss.Add(loss.Sub(loss, up), most)
		}
	}
	s, err := p.Solve(context.Background(), eps, linear.Embedded{}, big.NewRat(1, 1e9), nil)
	require.NoError(t, err)
	value := func(x *big.Rat) float64 {
		x = new(big.Rat).Sub(x, new(big.Rat).SetInt(most))
		f, _ := x.Quo(x, scale).Float64()
		return f
	}
	return value(s.Lower), value(s.Upper)
}

// The figures are those of research/docs/resolution.md.
func TestNoMechanismIsAsGoodAsBoth(t *testing.T) {
	text, err := os.ReadFile("../research/docs/resolution.md")
	require.NoError(t, err)
	prose := strings.Join(strings.Fields(string(text)), " ")
	eps, err := number.ParseEpsilon("0.7")
	require.NoError(t, err)
	for i, c := range []struct{ n, k, l int }{{3, 1, 2}, {4, 2, 2}, {3, 2, 3}} {
		if i > 0 && !slowtest.Enabled {
			break
		}
		low, high := overBoth(t, c.n, c.k, c.l, eps)
		require.Positive(t, low)
		require.InDelta(t, low, high, 1e-9)
		require.Contains(t, prose, fmt.Sprintf("%.5f at (%d,%d)", low-5e-6, c.n, c.k)) // cut
	}
	// For two candidates and L = 2 geometric noisy max itself is.
	_, high := overBoth(t, 2, 2, 2, eps)
	require.InDelta(t, 0, high, 1e-9)
}
