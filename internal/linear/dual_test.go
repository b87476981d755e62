package linear

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Where (d/a)·a rounds below d, the limit of the first pass must still let the limiting variable into the second.
func TestDualRatioWithRoundedLimits(t *testing.T) {
	m := &Model{}
	m.AddRow(-1, 1)
	for range 2 {
		m.AddCol(0, 0, 1, []int32{0}, []float64{1})
	}
	s := newSimplex(m, 1e-9, 1e-9)
	s.begin(nil)
	rng := rand.New(rand.NewPCG(7, 7))
	tried := 0
	for range 1000 {
		a, d := 1+rng.Float64(), 1+rng.Float64()
		if d/a*a >= d {
			continue
		}
		tried++
		s.optimal = 1e-30
		s.row.idx = []int32{0, 1}
		s.row.val[0], s.row.val[1] = a, a
		s.d[0], s.d[1] = d, 2*d
		s.x[2] = 1 + 0.5*a
		q, step := s.ratioDual(0)
		if q != 0 || math.Abs(step-d/a) > 1e-15 {
			t.Fatalf("a = %v, d = %v: variable %d, step %v", a, d, q, step)
		}
	}
	if tried < 50 {
		t.Fatalf("only %d cases", tried)
	}
}

// beale is the program on which the textbook rule cycles (Beale, "Cycling in the dual simplex algorithm", Naval Res.
// Logistics Quarterly 2, 1955): optimum -1/20.
func beale() *Model {
	m := &Model{}
	inf := math.Inf(1)
	m.AddRow(-inf, 0)
	m.AddRow(-inf, 0)
	m.AddRow(-inf, 1)
	m.AddCol(-0.75, 0, inf, []int32{0, 1}, []float64{0.25, 0.5})
	m.AddCol(150, 0, inf, []int32{0, 1}, []float64{-60, -90})
	m.AddCol(-0.02, 0, inf, []int32{0, 1, 2}, []float64{-0.04, -0.02, 1})
	m.AddCol(6, 0, inf, []int32{0, 1}, []float64{9, 3})
	return m
}

func TestBealeDoesNotCycle(t *testing.T) {
	m := beale()
	res := solve(t, m, Options{})
	if err := kkt(m, res, 1e-9); err != nil || math.Abs(res.Objective+0.05) > 1e-12 {
		t.Errorf("%v, %g", err, res.Objective)
	}
}

// transport is an assignment problem of n tasks with ties everywhere: each basic solution has n-1 basic
// variables at 0.
func transport(n int, rng *rand.Rand) *Model {
	m := &Model{}
	for range 2 * n {
		m.AddRow(1, 1)
	}
	for i := range n {
		for j := range n {
			m.AddCol(float64(rng.IntN(4)), 0, math.Inf(1), []int32{int32(i), int32(n + j)}, []float64{1, 1})
		}
	}
	return m
}

func TestDegenerateAssignment(t *testing.T) {
	for seed := range uint64(6) {
		m := transport(25, rand.New(rand.NewPCG(seed, 8)))
		res := solve(t, m, Options{})
		if err := kkt(m, res, 1e-9); err != nil || math.Abs(res.Objective-math.Round(res.Objective)) > 1e-9 {
			t.Errorf("seed %d: %v, optimum %g of an integral program", seed, err, res.Objective)
		}
	}
}
