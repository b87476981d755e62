package lp

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/clp"
	"optratio/internal/linear"
	"optratio/mechanisms"
	"optratio/number"
)

func solvers(b *testing.B) map[string]linear.Solver {
	s := map[string]linear.Solver{"embedded": linear.Embedded{}}
	if clp.Available {
		c, err := clp.New()
		require.NoError(b, err)
		s["clp"] = c
	}
	return s
}

// BenchmarkRatio is the main job, certified to a relative gap of 1e-9, from n, k, ε to the answer.
func BenchmarkRatio(b *testing.B) {
	for _, size := range []int{6, 7, 8} {
		for name, solver := range solvers(b) {
			b.Run(fmt.Sprintf("%d%d/%s", size, size, name), func(b *testing.B) {
				if size == 8 && testing.Short() {
					b.Skip("large")
				}
				for range b.N {
					benchmarkRatio(b, size, decimalEps(b, "0.5"), solver)
				}
			})
		}
	}
}

// BenchmarkExact is the exact optimum at e^ε = 3/2, verified as an identity of rationals.
func BenchmarkExact(b *testing.B) {
	for _, size := range []int{6, 7} {
		for name, solver := range solvers(b) {
			b.Run(fmt.Sprintf("%d%d/%s", size, size, name), func(b *testing.B) {
				for range b.N {
					benchmarkRatio(b, size, expEps(b, 3, 2), solver)
				}
			})
		}
	}
}

func benchmarkRatio(b *testing.B, size int, eps number.Epsilon, solver linear.Solver) {
	b.ReportMetric(float64(ratioOfPF(b, size, size, eps, solver).Pivots), "pivots")
}

// ratioOfPF is permute-and-flip's ratio by the whole program, to 1e-9.
func ratioOfPF(b *testing.B, n, k int, eps number.Epsilon, solver linear.Solver) *Answer {
	pf, err := mechanisms.Lookup("pf")
	require.NoError(b, err)
	a, err := Ratio(context.Background(), Request{
		N: n, K: k, Epsilon: eps, Mechanisms: []mechanisms.Mechanism{pf},
		Method: methodLP, solver: solver, Gap: big.NewRat(1, 1e9),
	})
	require.NoError(b, err)
	require.Empty(b, a.Undecided)
	return a
}

// BenchmarkBuild enumerates a lattice and builds its program.
func BenchmarkBuild(b *testing.B) {
	for _, size := range [][2]int{{7, 7}, {8, 8}, {3, 50}, {40, 3}} {
		b.Run(fmt.Sprintf("n=%d/k=%d", size[0], size[1]), func(b *testing.B) {
			for b.Loop() {
				p := testProgram(b, size[0], size[1], Prior{}, Paper, decimalEps(b, "0.5"))
				b.ReportMetric(float64(p.lat.Len()+len(p.Start)), "rows")
			}
		})
	}
}
