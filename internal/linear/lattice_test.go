package linear

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"
)

// latticeProgram builds the linear program for the optimal regular mechanism on the lattice of n candidates and depths up to k
// (McKenna & Sheldon 2020, supplement, App. D) and the permute-and-flip basis: one variable for each depth present in a count vector.
func latticeProgram(n, k int, z float64) (*Model, *Basis) {
	orbits := countVectors(n, k)
	number := map[string]int{}
	first := make([]int, len(orbits))
	variables := 0
	for o, m := range orbits {
		number[fmt.Sprint(m)] = o
		first[o] = variables
		for _, c := range m {
			if c > 0 {
				variables++
			}
		}
	}
	variable := func(m []int, v int) int {
		j := first[number[fmt.Sprint(m)]]
		for u := range v {
			if m[u] > 0 {
				j++
			}
		}
		return j
	}
	type entry struct {
		row   int32
		value float64
	}
	columns := make([][]entry, variables)
	costs := make([]float64, variables)
	p := &Model{}
	basis := &Basis{}
	for _, m := range orbits {
		row := int32(p.AddRow(1, 1))
		basis.Row = append(basis.Row, AtLower)
		weight := math.Gamma(float64(n + 1))
		for _, c := range m {
			weight /= math.Gamma(float64(c + 1))
		}
		for v, c := range m {
			if c > 0 {
				j := variable(m, v)
				columns[j] = append(columns[j], entry{row, float64(c)})
				costs[j] = math.Round(weight) * float64(c*v)
			}
		}
	}
	link := func(j, i int, tight bool) { // x_j - z x_i >= 0
		row := int32(p.AddRow(0, math.Inf(1)))
		columns[j] = append(columns[j], entry{row, 1})
		columns[i] = append(columns[i], entry{row, -z})
		if tight {
			basis.Row = append(basis.Row, AtLower)
		} else {
			basis.Row = append(basis.Row, Basic)
		}
	}
	for _, m := range orbits {
		for v := 1; v <= k; v++ {
			if m[v] > 0 {
				w := append([]int(nil), m...)
				w[v]--
				w[v-1]++
				link(variable(m, v), variable(w, v-1), true)
			}
		}
		if m[k] == 0 {
			w := append([]int{1, m[0] - 1}, m[1:k]...)
			if fmt.Sprint(w) != fmt.Sprint(m) {
				link(variable(m, 0), variable(w, 0), false)
			}
		}
	}
	for j, c := range columns {
		var idx []int32
		var val []float64
		for _, e := range c {
			idx, val = append(idx, e.row), append(val, e.value)
		}
		p.AddCol(costs[j], 0, math.Inf(1), idx, val)
		basis.Col = append(basis.Col, Basic)
	}
	return p, basis
}

// countVectors lists the vectors of k+1 counts with sum n and a positive first count.
func countVectors(n, k int) [][]int {
	var all [][]int
	var extend func(m []int, left int)
	extend = func(m []int, left int) {
		if len(m) == k {
			all = append(all, append(append([]int(nil), m...), left))
			return
		}
		least := 0
		if len(m) == 0 {
			least = 1
		}
		for c := least; c <= left; c++ {
			extend(append(m, c), left-c)
		}
	}
	extend(nil, n)
	return all
}

// objectiveAt returns the objective of a basic solution.
func objectiveAt(t testing.TB, p *Model, b *Basis) float64 {
	t.Helper()
	s := newSimplex(p, 1e-9, 1e-9)
	s.ctx = context.Background()
	s.begin(b)
	if e := s.infeasible(); e > 0 {
		t.Fatalf("the start is infeasible by %g", e)
	}
	sum := 0.0
	for v, c := range s.trueCost {
		sum += c * s.x[v]
	}
	return sum / s.unit
}

func TestLatticeRatios(t *testing.T) {
	for _, c := range []struct {
		n, k  int
		ratio float64
	}{{3, 1, 1}, {4, 4, 1.008580322887}, {6, 6, 1.009564488390}, {7, 7, 1.0094058}} {
		p, b := latticeProgram(c.n, c.k, math.Exp(-0.5))
		begin := time.Now()
		res, err := Embedded{}.Solve(context.Background(), p, Options{Basis: b})
		if err != nil {
			t.Fatal(err)
		}
		ratio := objectiveAt(t, p, b) / res.Objective
		t.Logf("(%d, %d): %d rows, %d columns, %d pivots, %v, ratio %.12f", c.n, c.k, p.Rows(), p.Cols(), res.Pivots, time.Since(begin), ratio)
		digits := 1e-11
		if c.n == 7 {
			digits = 1e-7 // known to fewer places
		}
		if err := kkt(p, res, 2e-9); err != nil || math.Abs(ratio-c.ratio) > digits {
			t.Errorf("(%d, %d): %v, ratio %.12f, want %.12f", c.n, c.k, err, ratio, c.ratio)
		}
	}
}
