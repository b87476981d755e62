package optimum

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/linear"
	"optratio/number"
)

// remapped is the best remap of a table's outputs.
type remapped struct {
	value *big.Rat
	list  []Remap
}

// remap returns what the best remap of a table's outputs to those of the problem makes of it; nil where every remap has forbidden outputs. With a prior that is,
// for each output, the least posterior mean; in the worst case remaps are random, and a small program finds the best one.
func (p *Problem) remap(ctx context.Context, outputs []string, table [][]*big.Rat, solver linear.Solver) (*remapped, error) {
	allowed := make([][]int, len(outputs))
	for o := range outputs {
		for a := range p.Outputs {
			if p.mayBecome(table, o, a) {
				allowed[o] = append(allowed[o], a)
			}
		}
		if allowed[o] == nil {
			return nil, nil
		}
	}
	if p.Prior == nil {
		return p.worstRemap(ctx, outputs, table, allowed, solver)
	}
	out := &remapped{value: new(big.Rat)}
	for o, choices := range allowed {
		var least *big.Rat
		best := 0
		for _, a := range choices {
			sum, term := new(big.Rat), new(big.Rat)
			for x := range p.Inputs {
				if q := table[x][o]; q.Sign() > 0 && p.Prior[x].Sign() > 0 {
					sum.Add(sum, term.Mul(term.Mul(q, p.Prior[x]), p.Loss[x][a]))
				}
			}
			if least == nil || sum.Cmp(least) < 0 || sum.Cmp(least) == 0 && p.Outputs[a] == outputs[o] {
				least, best = sum, a
			}
		}
		out.value.Add(out.value, least)
		out.list = append(out.list, Remap{outputs[o], p.Outputs[best], number.Int(1)})
	}
	return out, nil
}

// mayBecome reports whether an output may be taken for another one: that is forbidden at no input that has it.
func (p *Problem) mayBecome(table [][]*big.Rat, o, a int) bool {
	for x := range p.Inputs {
		if p.forbidden(x, a) && table[x][o].Sign() > 0 {
			return false
		}
	}
	return true
}

// worstRemap minimises the largest loss of any input over random remaps.
func (p *Problem) worstRemap(ctx context.Context, outputs []string, table [][]*big.Rat, allowed [][]int, solver linear.Solver) (*remapped, error) {
	losses := make([][][]*big.Rat, len(outputs)) // of each output, taken for each one that it may be taken for, at each input
	for o, choices := range allowed {
		for _, a := range choices {
			var own []*big.Rat
			for x := range p.Inputs {
				own = append(own, new(big.Rat).Mul(table[x][o], p.Loss[x][a]))
			}
			losses[o] = append(losses[o], own)
		}
	}
	e, err := minimax(ctx, losses, solver)
	if err != nil {
		return nil, fmt.Errorf("the best remap: %w", err)
	}
	out := &remapped{value: e.Objective}
	j := 0
	for o, choices := range allowed {
		for _, a := range choices {
			if x := e.X.Rat(j); x.Sign() > 0 {
				out.list = append(out.list, Remap{outputs[o], p.Outputs[a], number.Exact(x)})
			}
			j++
		}
	}
	return out, nil
}

// minimax minimises the largest entry of a sum of vectors, one mixture of each group. The rows are one for each group and then one for each entry, whose duals are the entries'
// weights.
func minimax(ctx context.Context, groups [][][]*big.Rat, solver linear.Solver) (*linear.Exact, error) {
	zero, first := new(big.Rat), int32(len(groups))
	m := new(linear.Rational)
	for range groups {
		m.AddRow(one, one)
	}
	var rows []int32
	for range groups[0][0] {
		rows = append(rows, int32(m.AddRow(zero, nil)))
	}
	for g, vectors := range groups {
		for _, v := range vectors {
			index, value := []int32{int32(g)}, []*big.Rat{one}
			for i, x := range v {
				if x.Sign() != 0 {
					index, value = append(index, first+int32(i)), append(value, new(big.Rat).Neg(x))
				}
			}
			m.AddCol(zero, zero, nil, index, value)
		}
	}
	m.AddCol(one, zero, nil, rows, slices.Repeat([]*big.Rat{one}, len(rows)))
	g := &linear.Growing{Solver: solver, Rounds: 50}
	if _, err := g.Float(ctx, m.Model, func([]float64) int { return 0 }); err != nil {
		return nil, err
	}
	return g.Exact(ctx, func() *linear.Rational { return m }, func(*linear.Exact) int { return 0 })
}
