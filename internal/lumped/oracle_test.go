package lumped

import (
	"math"
	"math/big"

	"optratio/internal/linear"
)

// model is the lumped program in chain form: one row per class, one column per suffix. The column is an
// injection s >= 0 at the suffix's first position, which arrives as z^d at the position d steps later:
//
//	minimise Σ_i C_i s_i   subject to   Σ_i A[c][i] s_i = N(c)/|Q|,   A[c][i] = Σ_{d: position d in c} z^d,  C_i = Σ_d z^d cost_d.
//
// Entries lie between z^2k and 2k+1, and y, the duals, are of the size of depths, however far the right-hand sides are apart.
func (p *program) model(z float64) *linear.Model {
	m := &linear.Model{}
	total := new(big.Int)
	for _, w := range p.weight {
		total.Add(total, w)
	}
	for _, w := range p.weight {
		share, _ := new(big.Rat).SetFrac(w, total).Float64()
		m.AddRow(share, share)
	}
	cost := make([]float64, len(p.visit))
	entries := make([]float64, len(p.weight))
	var index []int32
	var value []float64
	for i := range p.visit {
		cost[i] = float64(p.cost[i])
		if next := p.next[i]; next >= 0 {
			cost[i] += z * cost[next]
		}
		index, value = index[:0], value[:0]
		power := 1.0
		for j := int32(i); j >= 0; j = p.next[j] {
			c := p.visit[j]
			if entries[c] == 0 {
				index = append(index, c)
			}
			entries[c] += power
			power *= z
		}
		for _, c := range index {
			value = append(value, entries[c])
			entries[c] = 0
		}
		m.AddCol(cost[i], 0, math.Inf(1), index, value)
	}
	return m
}
