package heterogeneous

import (
	"fmt"
	"math/big"

	"optratio/internal/table"
)

// Loss is what taking a candidate r at q costs.
type Loss int

const (
	// Absolute is q* - q_r.
	Absolute Loss = iota
	// Squared is (q* - q_r)².
	Squared
)

// ParseLoss reads "error" or "mse".
func ParseLoss(s string) (Loss, error) {
	switch s {
	case "error":
		return Absolute, nil
	case "mse":
		return Squared, nil
	}
	return 0, fmt.Errorf("loss %q is neither error nor mse", s)
}

// Criterion is what the expected losses of the grid's vectors are summed up to.
type Criterion int

const (
	// Mean is their mean over the grid.
	Mean Criterion = iota
	// Worst is the largest.
	Worst
)

// ParseCriterion reads "mean" or "worst".
func ParseCriterion(s string) (Criterion, error) {
	switch s {
	case "mean":
		return Mean, nil
	case "worst":
		return Worst, nil
	}
	return 0, fmt.Errorf("objective %q is neither mean nor worst", s)
}

// program is the linear program of a grid. Cells are numbered q·n + r, for x_r(q); losses are in steps, or squared steps.
type program struct {
	*space
	loss      Loss
	criterion Criterion
	table     *table.Program
}

func newProgram(s *space, loss Loss, criterion Criterion) *program {
	p := &program{space: s, loss: loss, criterion: criterion}
	p.table = &table.Program{First: []int32{0}, Worst: criterion == Worst, Start: p.start(), Each: p.each}
	uniform := big.NewRat(1, int64(p.n))
	for q := range p.levels {
		for r := range p.n {
			p.table.Count = append(p.table.Count, 1)
			p.table.Loss = append(p.table.Loss, p.lossAt(q, r))
			p.table.Interior = append(p.table.Interior, uniform)
		}
		p.table.First = append(p.table.First, int32(p.cell(q+1, 0)))
		p.table.Weight = append(p.table.Weight, big.NewInt(p.weight[q]))
	}
	return p
}

func (p *program) cell(q, r int) int        { return q*p.n + r }
func (p *program) lossAt(q, r int) *big.Int { return p.loss.of(p.gap(q, r)) }

func (l Loss) of(gap int64) *big.Int {
	x := big.NewInt(gap)
	if l == Squared {
		x.Mul(x, x)
	}
	return x
}

// row is x_r(above) >= z x_r(below).
func (p *program) row(above, below, r int) table.Row {
	return table.Row{Above: int32(p.cell(above, r)), Below: int32(p.cell(below, r)), Private: true}
}

// each visits all rows.
func (p *program) each(visit func(table.Row) bool) bool {
	for q, near := range p.neighbors {
		for _, o := range near {
			for r := range p.n {
				if !visit(p.row(q, int(o), r)) {
					return false
				}
			}
		}
	}
	return true
}

// start returns for each x_r(q') the row of the neighbor q where r leads the others by most.
func (p *program) start() (rows []table.Row) {
	lead := make([]int, len(p.levels)*p.n)
	for q, levels := range p.levels {
		sum := 0
		for _, l := range levels {
			sum += l
		}
		for r, l := range levels {
			lead[p.cell(q, r)] = p.n*l - sum
		}
	}
	for q, near := range p.neighbors {
		for r := range p.n {
			best := -1
			for _, o := range near {
				if best < 0 || lead[p.cell(int(o), r)] > lead[p.cell(best, r)] {
					best = int(o)
				}
			}
			if best >= 0 {
				rows = append(rows, p.row(q, best, r))
			}
		}
	}
	return rows
}
