//go:build clp && cgo

package clp

import (
	"math"

	"optratio/internal/linear"
)

// latticeLP is the linear program of the optimal private selection mechanism
// on a bounded score lattice modulo symmetry (McKenna & Sheldon 2020,
// appendix D): orbits are count vectors m of n candidates over depths 0..k
// with m_0 >= 1, a variable is the probability of one candidate at depth v.
// It also returns the basis of the permute-and-flip mechanism: everything
// basic but the slacks of the (E) and (P) rows.
func latticeLP(n, k int, z float64) (*linear.Model, *linear.Basis) {
	var orbits [][]int
	count := make([]int, k+1)
	var walk func(v, left int)
	walk = func(v, left int) {
		if v == k {
			count[v] = left
			if count[0] >= 1 {
				orbits = append(orbits, append([]int(nil), count...))
			}
			return
		}
		for c := left; c >= 0; c-- {
			count[v] = c
			walk(v+1, left-c)
		}
	}
	walk(0, n)
	key := func(m []int) string {
		b := make([]byte, len(m))
		for i, c := range m {
			b[i] = byte(c)
		}
		return string(b)
	}
	type variable struct {
		orbit string
		depth int
	}
	column := map[variable]int{}
	var index [][]int32
	var value [][]float64
	var cost []float64
	for _, m := range orbits {
		weight := math.Gamma(float64(n + 1))
		for _, c := range m {
			weight /= math.Gamma(float64(c + 1))
		}
		for v, c := range m {
			if c > 0 {
				column[variable{key(m), v}] = len(cost)
				cost = append(cost, math.Round(weight)*float64(c*v))
				index = append(index, nil)
				value = append(value, nil)
			}
		}
	}
	model, basis := &linear.Model{}, &linear.Basis{}
	put := func(row, col int, a float64) {
		index[col] = append(index[col], int32(row))
		value[col] = append(value[col], a)
	}
	for _, m := range orbits { // (E)
		row := model.AddRow(1, 1)
		basis.Row = append(basis.Row, linear.AtLower)
		for v, c := range m {
			if c > 0 {
				put(row, column[variable{key(m), v}], float64(c))
			}
		}
	}
	link := func(deep, shallow variable, status linear.VarStatus) {
		row := model.AddRow(0, math.Inf(1))
		basis.Row = append(basis.Row, status)
		put(row, column[deep], 1)
		put(row, column[shallow], -z)
	}
	for _, m := range orbits {
		for v := 1; v <= k; v++ { // (P)
			if m[v] > 0 {
				up := append([]int(nil), m...)
				up[v]--
				up[v-1]++
				link(variable{key(m), v}, variable{key(up), v - 1}, linear.AtLower)
			}
		}
		if m[k] == 0 { // (T)
			sunk := append([]int{1, m[0] - 1}, m[1:k]...)
			if k == 1 {
				sunk = []int{1, m[0] - 1}
			}
			if key(sunk) != key(m) {
				link(variable{key(m), 0}, variable{key(sunk), 0}, linear.Basic)
			}
		}
	}
	for j := range cost {
		model.AddCol(cost[j], 0, math.Inf(1), index[j], value[j])
		basis.Col = append(basis.Col, linear.Basic)
	}
	return model, basis
}
