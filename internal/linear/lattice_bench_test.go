package linear

import (
	"context"
	"math"
	"testing"
)

func benchmarkLattice(b *testing.B, n, k int) {
	p, basis := latticeProgram(n, k, math.Exp(-0.5))
	pf := objectiveAt(b, p, basis)
	b.ResetTimer()
	for range b.N {
		res, err := Embedded{}.Solve(context.Background(), p, Options{Basis: basis})
		if err != nil {
			b.Fatal(err)
		}
		if res.Outcome != Optimal {
			b.Fatalf("%v after %d pivots", res.Outcome, res.Pivots)
		}
		b.ReportMetric(float64(res.Pivots), "pivots")
		b.ReportMetric(pf/res.Objective, "ratio")
	}
}

func BenchmarkEmbedded66(b *testing.B) { benchmarkLattice(b, 6, 6) }
func BenchmarkEmbedded77(b *testing.B) { benchmarkLattice(b, 7, 7) }
func BenchmarkEmbedded88(b *testing.B) {
	if testing.Short() {
		b.Skip("takes seconds")
	}
	benchmarkLattice(b, 8, 8)
}
