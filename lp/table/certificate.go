package table

import (
	"cmp"
	"maps"
	"math/big"
	"slices"

	"optratio/verify/certificate/text"
)

// Precision returns the number of bits that z was enclosed with, 0 where it is rational.
func (s *Solution) Precision() int {
	if s.ZLow.Cmp(s.ZHigh) == 0 {
		return 0
	}
	return max(s.ZLow.Denom().BitLen(), s.ZHigh.Denom().BitLen())
}

// Write writes what proves a solution's bounds: the table, and the weights and multipliers of the dual, as sections of finite problems have them
// (docs/reference/certificate.md). unit is what losses are multiplied by in the certificate. Programs with Pairs
// must have cells of one candidate each, those with monotonicity rows are not written.
func (p *Program) Write(w *text.Writer, s *Solution, unit *big.Rat) {
	for g := range p.groups() {
		var x []*big.Rat
		for j := p.First[g]; j < p.First[g+1]; j++ {
			x = append(x, s.Table.At(int(j)))
		}
		w.Values("input", x)
	}
	if p.Worst {
		for g, weight := range s.Dual.Weight {
			if weight.Sign() > 0 {
				w.Line("weight %d %s", g, text.Value(new(big.Rat).SetFrac(weight, s.Dual.Den)))
			}
		}
	}
	// An event with a multiplier is that multiplier on each of its rows: of a pair, the largest sum of those of a row is at most the sum over events.
	type row struct{ above, below int32 }
	sum := map[row]*big.Rat{}
	for i, r := range s.Dual.Rows {
		nu := p.Nu(s.Dual, i)
		nu.Mul(nu, unit)
		for _, q := range r.Parts {
			at := row{q.Above, q.Below}
			if sum[at] == nil {
				sum[at] = new(big.Rat)
			}
			sum[at].Add(sum[at], nu)
		}
	}
	order := slices.SortedFunc(maps.Keys(sum), func(a, b row) int {
		return cmp.Or(cmp.Compare(a.above, b.above), cmp.Compare(a.below, b.below))
	})
	for _, r := range order {
		w.Line("multiplier %d %d %s", r.above, r.below, text.Value(sum[r]))
	}
}
