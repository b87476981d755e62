package certificate_test

import (
	"math/big"
	"slices"
)

// pivot makes column j of the tableau [a | b] the unit vector of row i.
func pivot(a [][]*big.Rat, b []*big.Rat, i, j int) {
	inv := new(big.Rat).Inv(a[i][j])
	for t := range a[i] {
		a[i][t].Mul(a[i][t], inv)
	}
	b[i].Mul(b[i], inv)
	for r := range a {
		if r == i || a[r][j].Sign() == 0 {
			continue
		}
		f := new(big.Rat).Set(a[r][j])
		for t := range a[r] {
			if a[i][t].Sign() != 0 {
				a[r][t].Sub(a[r][t], new(big.Rat).Mul(f, a[i][t]))
			}
		}
		b[r].Sub(b[r], new(big.Rat).Mul(f, b[i]))
	}
}

// simplex minimises c·x, a x = b, x >= 0 from a feasible basis: largest coefficient, and Bland's rule after a
// degenerate pivot.
func simplex(a [][]*big.Rat, b, c []*big.Rat, basis []int) []int {
	basis = slices.Clone(basis)
	for i, j := range basis {
		best := -1
		for r := i; r < len(a); r++ {
			if a[r][j].Sign() != 0 {
				best = r
				break
			}
		}
		if best < 0 {
			panic("oracle: singular basis")
		}
		a[i], a[best], b[i], b[best] = a[best], a[i], b[best], b[i]
		pivot(a, b, i, j)
	}
	bland := false
	for {
		enter := -1
		var least *big.Rat
		for j := range c {
			d := new(big.Rat).Set(c[j])
			for i, k := range basis {
				d.Sub(d, new(big.Rat).Mul(c[k], a[i][j]))
			}
			if d.Sign() < 0 && (enter < 0 || !bland && d.Cmp(least) < 0) {
				enter, least = j, d
			}
		}
		if enter < 0 {
			return basis
		}
		leave := -1
		var step *big.Rat
		for i := range a {
			if a[i][enter].Sign() > 0 {
				t := new(big.Rat).Quo(b[i], a[i][enter])
				if leave < 0 || t.Cmp(step) < 0 || t.Cmp(step) == 0 && basis[i] < basis[leave] {
					leave, step = i, t
				}
			}
		}
		if leave < 0 {
			panic("oracle: unbounded")
		}
		bland = step.Sign() == 0
		pivot(a, b, leave, enter)
		basis[leave] = enter
	}
}

// gauss solves a x = b.
func gauss(a [][]*big.Rat, b []*big.Rat) []*big.Rat {
	for i := range a {
		r := i
		for a[r][i].Sign() == 0 {
			r++
		}
		a[i], a[r], b[i], b[r] = a[r], a[i], b[r], b[i]
		pivot(a, b, i, i)
	}
	return b
}
