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
	allowed, losses := make([][]int, len(outputs)), make([][][]*big.Rat, len(outputs)) // of each output, for each one that it may be taken for
	for o := range outputs {
		for a := range p.Outputs {
			if p.mayBecome(table, o, a) {
				allowed[o], losses[o] = append(allowed[o], a), append(losses[o], p.lossAs(table, o, a))
			}
		}
		if allowed[o] == nil {
			return nil, nil
		}
	}
	if p.Prior == nil {
		return p.worstRemap(ctx, outputs, allowed, losses, solver)
	}
	out := &remapped{value: new(big.Rat)}
	for o, choices := range allowed {
		best := 0
		for i, a := range choices {
			if c := losses[o][i][0].Cmp(losses[o][best][0]); c < 0 || c == 0 && p.Outputs[a] == outputs[o] {
				best = i
			}
		}
		out.value.Add(out.value, losses[o][best][0])
		out.list = append(out.list, Remap{outputs[o], p.Outputs[choices[best]], number.Int(1)})
	}
	return out, nil
}

// lossAs returns what a table's output adds to the loss where it is taken for another one: to the mean, or without a prior to that of each input.
func (p *Problem) lossAs(table [][]*big.Rat, o, a int) (losses []*big.Rat) {
	sum := new(big.Rat)
	for x := range p.Inputs {
		own := new(big.Rat).Mul(table[x][o], p.Loss[x][a])
		if losses = append(losses, own); p.Prior != nil {
			sum.Add(sum, own.Mul(own, p.Prior[x]))
		}
	}
	if p.Prior != nil {
		return []*big.Rat{sum}
	}
	return losses
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
func (p *Problem) worstRemap(ctx context.Context, outputs []string, allowed [][]int, losses [][][]*big.Rat, solver linear.Solver) (*remapped, error) {
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
