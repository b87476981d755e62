package heterogeneous

import (
	"fmt"
	"math/big"

	"optratio/lp/linear"
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

// row is x_candidate(above) >= z x_candidate(below), for neighbours above and below.
type row struct{ above, below, candidate int32 }

// program is the linear program with the rows (P) generated so far. Columns are x_r(q) in the order
// q·n + r, then the worst loss t for Worst; rows are (E) for each q, for Worst t - Σ loss x >= 0 for
// each q, then (P). Losses are in steps, or squared steps.
type program struct {
	*space
	loss      Loss
	criterion Criterion
	rows      []row
	have      map[row]bool
}

func newProgram(s *space, loss Loss, criterion Criterion) *program {
	p := &program{space: s, loss: loss, criterion: criterion, have: map[row]bool{}}
	p.begin()
	return p
}

func (p *program) vectors() int             { return len(p.levels) }
func (p *program) column(q, r int) int      { return q*p.n + r }
func (p *program) variables() int           { return p.vectors() * p.n }
func (p *program) upperColumn(w row) int    { return p.column(int(w.above), int(w.candidate)) }
func (p *program) lowerColumn(w row) int    { return p.column(int(w.below), int(w.candidate)) }
func (p *program) lossAt(q, r int) *big.Int { return p.loss.of(p.gap(q, r)) }

func (l Loss) of(gap int64) *big.Int {
	x := big.NewInt(gap)
	if l == Squared {
		x.Mul(x, x)
	}
	return x
}

// fixed returns the number of rows before those of (P).
func (p *program) fixed() int {
	if p.criterion == Worst {
		return 2 * p.vectors()
	}
	return p.vectors()
}

// begin generates for each x_r(q') the row of the neighbour q where r leads the others by most.
func (p *program) begin() {
	lead := make([]int, p.variables())
	for q, levels := range p.levels {
		sum := 0
		for _, l := range levels {
			sum += l
		}
		for r, l := range levels {
			lead[p.column(q, r)] = p.n*l - sum
		}
	}
	for q := range p.levels {
		for r := range p.n {
			best := -1
			for _, o := range p.neighbors[q] {
				if best < 0 || lead[p.column(int(o), r)] > lead[p.column(best, r)] {
					best = int(o)
				}
			}
			if best >= 0 {
				p.add(row{int32(q), int32(best), int32(r)})
			}
		}
	}
}

func (p *program) add(w row) bool {
	if p.have[w] {
		return false
	}
	p.have[w] = true
	p.rows = append(p.rows, w)
	return true
}

// separate adds for each x_r(q') the row that is violated by most, where there is one, and returns how many rows
// are new. compare orders the columns' values, violated tells of a row.
func (p *program) separate(compare func(i, j int) int, violated func(above, below int) bool) int {
	added := 0
	for q, near := range p.neighbors {
		for r := range p.n {
			worst := int32(-1)
			for _, o := range near {
				if worst < 0 || compare(p.column(int(o), r), p.column(int(worst), r)) > 0 {
					worst = o
				}
			}
			if worst >= 0 && violated(p.column(q, r), p.column(int(worst), r)) && p.add(row{int32(q), worst, int32(r)}) {
				added++
			}
		}
	}
	return added
}

// rational returns the program at a rational z.
func (p *program) rational(z *big.Rat) *linear.Rational {
	zero, one, minus := new(big.Rat), big.NewRat(1, 1), new(big.Rat).Neg(z)
	out := new(linear.Rational)
	for range p.vectors() {
		out.AddRow(one, one)
	}
	for out.Rows() < p.fixed() {
		out.AddRow(zero, nil)
	}
	above, below := make([][]int32, p.variables()), make([][]int32, p.variables())
	for _, w := range p.rows {
		i := int32(out.AddRow(zero, nil))
		above[p.upperColumn(w)] = append(above[p.upperColumn(w)], i)
		below[p.lowerColumn(w)] = append(below[p.lowerColumn(w)], i)
	}
	for q := range p.levels {
		for r := range p.n {
			loss, cost := new(big.Rat).SetInt(p.lossAt(q, r)), zero
			index, value := []int32{int32(q)}, []*big.Rat{one}
			if p.criterion == Mean {
				cost = loss.Mul(loss, big.NewRat(p.weight[q], 1))
			} else if loss.Sign() != 0 {
				index, value = append(index, int32(p.vectors()+q)), append(value, loss.Neg(loss))
			}
			j := p.column(q, r)
			for _, i := range above[j] {
				index, value = append(index, i), append(value, one)
			}
			for _, i := range below[j] {
				index, value = append(index, i), append(value, minus)
			}
			out.AddCol(cost, zero, nil, index, value)
		}
	}
	if p.criterion == Worst {
		var index []int32
		var value []*big.Rat
		for q := range p.levels {
			index, value = append(index, int32(p.vectors()+q)), append(value, one)
		}
		out.AddCol(one, zero, nil, index, value)
	}
	return out
}
