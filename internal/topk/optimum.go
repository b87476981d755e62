package topk

import (
	"context"
	"math/big"

	"optratio/internal/linear"
	"optratio/internal/table"
	"optratio/lattice"
	"optratio/number"
)

// program is the linear program of the best ε-DP choice of a set.
func (s *space) program(rows []table.Row, eps number.Epsilon) *table.Program {
	p := &table.Program{First: s.first, Count: s.count, Each: func(visit func(table.Row) bool) bool {
		for _, r := range rows {
			if !visit(r) {
				return false
			}
		}
		return true
	}}
	base := s.base(eps)
	for i, m := range s.vars.Lattice.All() {
		p.Weight = append(p.Weight, lattice.Multiplicity(m))
		depths, sum := lattice.Depths(m), new(big.Rat)
		var weights []*big.Rat
		for j := s.first[i]; j < s.first[i+1]; j++ {
			loss := regret(depths, s.depths[j])
			p.Loss = append(p.Loss, big.NewInt(loss))
			w := big.NewRat(1, 1)
			for range loss {
				w.Mul(w, base)
			}
			weights = append(weights, w)
			sum.Add(sum, new(big.Rat).Mul(w, big.NewRat(s.count[j], 1)))
		}
		for _, w := range weights {
			p.Interior = append(p.Interior, w.Quo(w, sum))
		}
	}
	return p
}

// base returns b such that the choice of sets with weights b^regret is strictly ε-DP. Between neighbors each depth rises by 0 or 1 before the vectors are
// shifted, so that the weight of one set relative to another's changes by the factor b^top at most, and so does a probability; b^top >= 1 - (1-z)/2 > z.
func (s *space) base(eps number.Epsilon) *big.Rat {
	low, _ := table.Between(eps, 64)
	b := new(big.Rat).Sub(big.NewRat(1, 1), low)
	b.Quo(b, big.NewRat(int64(2*s.top), 1))
	return b.Sub(big.NewRat(1, 1), b)
}

// optimum bounds the least mean regret of an ε-DP choice of a set.
func (s *space) optimum(ctx context.Context, rows []table.Row, eps number.Epsilon, r *Request) (*table.Solution, error) {
	return s.program(rows, eps).Solve(ctx, eps, r.Solver, r.Gap, func(p linear.Progress) {
		if r.Report != nil {
			r.Report(p)
		}
	})
}
