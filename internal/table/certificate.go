package table

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/certtext"
)

// Precision returns the number of bits that z was enclosed with, 0 where it is rational. They are those of its numerators, as z may be far below 1.
func (s *Solution) Precision() int {
	bits := 0
	for i, low := range s.low {
		if high := s.high[i]; low.Cmp(high) != 0 {
			bits = max(bits, low.Num().BitLen(), high.Num().BitLen())
		}
	}
	return bits
}

// Write writes what proves a solution's bounds: the table, and the weights and multipliers of the dual, as sections of finite problems have them
// (docs/reference/certificate.md). unit is what losses are multiplied by in the certificate; weights are those of the groups that it is to state, nil where it
// says in another way what they are.
func (p *Program) Write(w *certtext.Writer, s *Solution, unit *big.Rat, weights []*big.Rat) {
	for g := range p.groups() {
		var x []*big.Rat
		for j := p.First[g]; j < p.First[g+1]; j++ {
			x = append(x, s.Table.At(int(j)))
		}
		w.Values("input", x)
	}
	if p.Worst {
		weights = nil
		for _, weight := range s.Dual.Weight {
			weights = append(weights, new(big.Rat).SetFrac(weight, s.Dual.Den))
		}
	}
	for g, weight := range weights {
		if weight.Sign() > 0 {
			w.Line("weight %d %s", g, certtext.Value(weight))
		}
	}
	// A row may be there for privacy and for monotonicity, which are one line.
	type line struct {
		parts []Part
		nu    *big.Rat
	}
	byParts := map[string]*line{}
	for i, r := range s.Dual.Rows {
		parts := slices.SortedFunc(slices.Values(r.Parts), comparePart)
		at := byParts[fmt.Sprint(parts)]
		if at == nil {
			at = &line{parts, new(big.Rat)}
			byParts[fmt.Sprint(parts)] = at
		}
		at.nu.Add(at.nu, p.Nu(s.Dual, i))
	}
	for _, l := range slices.SortedFunc(maps.Values(byParts), func(a, b *line) int { return slices.CompareFunc(a.parts, b.parts, comparePart) }) {
		if l.nu.Sign() > 0 {
			w.Line("multiplier %s %s", strings.Trim(fmt.Sprint(l.parts), "[]"), certtext.Value(l.nu.Mul(l.nu, unit)))
		}
	}
}

// String writes a part as certificates do.
func (q Part) String() string { return fmt.Sprint(q.Above, " ", q.Below, " ", q.Candidates) }

func comparePart(a, b Part) int {
	return cmp.Or(cmp.Compare(a.Above, b.Above), cmp.Compare(a.Below, b.Below), cmp.Compare(a.Candidates, b.Candidates))
}
