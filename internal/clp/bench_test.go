//go:build clp && cgo

package clp

import (
	"math"
	"testing"

	"optratio/internal/linear"
)

// The reference sizes of the lattice programs, started at permute-and-flip.
// pivots/op counts the simplex steps; the whole solve is timed, loading included.
func BenchmarkCLP77(b *testing.B) { benchmarkLattice(b, 7, 7) }
func BenchmarkCLP88(b *testing.B) { benchmarkLattice(b, 8, 8) }

func benchmarkLattice(b *testing.B, n, k int) {
	m, start := latticeLP(n, k, math.Exp(-0.5))
	pivots := 0
	for b.Loop() {
		r := mustSolve(b, m, linear.Options{Basis: start})
		if r.Outcome != linear.Optimal {
			b.Fatal(r.Outcome)
		}
		pivots += r.Pivots
	}
	b.ReportMetric(float64(pivots)/float64(b.N), "pivots/op")
}
