package optimum

import (
	"cmp"
	"context"
	"fmt"
	"math/big"

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
	zero := new(big.Rat)
	m := new(linear.Rational)
	for range outputs {
		m.AddRow(one, one)
	}
	for range p.Inputs {
		m.AddRow(zero, nil)
	}
	for o, choices := range allowed {
		for _, a := range choices {
			index, value := []int32{int32(o)}, []*big.Rat{one}
			for x := range p.Inputs {
				if v := new(big.Rat).Mul(table[x][o], p.Loss[x][a]); v.Sign() != 0 {
					index, value = append(index, int32(len(outputs)+x)), append(value, v.Neg(v))
				}
			}
			m.AddCol(zero, zero, nil, index, value)
		}
	}
	index, value := make([]int32, len(p.Inputs)), make([]*big.Rat, len(p.Inputs))
	for x := range index {
		index[x], value[x] = int32(len(outputs)+x), one
	}
	m.AddCol(one, zero, nil, index, value)
	e, err := exactly(ctx, m, solver)
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

// exactly solves a program exactly.
func exactly(ctx context.Context, m *linear.Rational, solver linear.Solver) (*linear.Exact, error) {
	g := &linear.Growing{Solver: cmp.Or[linear.Solver](solver, linear.Embedded{}), Rounds: 50}
	if _, err := g.Float(ctx, linear.Auto, m.Model, func([]float64) int { return 0 }); err != nil {
		return nil, err
	}
	return g.Exact(ctx, func() *linear.Rational { return m }, func(*linear.Exact) int { return 0 })
}
