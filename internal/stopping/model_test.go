package stopping

import (
	"math"

	"optratio/internal/linear"
)

// Model writes the whole problem as one sparse linear program (a
// minimisation of -payoff), for solvers other than Solve and as its oracle.
// With x[i][j] the probability of taking relative rank j at time i, given that rank there; R[i] of
// reaching time i; and s[i][j] of having taken the one that ranks j-th among the first i:
//
//	R[1] = 1,  R[i+1] = R[i] - Σ_j x[i][j]/i,  0 <= x[i][j] <= R[i],  x[n][j] = R[n]
//	i s[i][j] = (i-j) s[i-1][j] + (j-1) s[i-1][j-1] + x[i][j]
//	s[n][i] <= e^ε s[n][j] + δ,  |i-j| <= l
//
// The cumulative R and s keep every row but those of R short: n² columns, n² rows plus the privacy rows, 3n²
// entries, where the law written out in x has n³/3. law(k) is the column of s[n][k].
func Model(p *Problem) (lp *linear.Model, law func(k int) int, err error) {
	if p, err = p.complete(); err != nil {
		return nil, nil, err
	}
	n := p.N()
	payoff := floats(p.Payoff)
	lo, _ := p.Eps.ExpBounds(boundBits)
	e, _ := lo.Float64()
	delta, _ := p.Delta.Float64()
	inf := math.Inf(1)
	lp = &linear.Model{}
	cell := func(i, j int) int { return i*(i-1)/2 + j - 1 } // 1 <= j <= i
	cells := cell(n+1, 1)

	reached := make([]int, n+1) // row that defines R[i+1]
	for i := 1; i < n; i++ {
		reached[i] = lp.AddRow(0, 0)
	}
	limit := lp.Rows() // rows x[i][j] - R[i]
	for i := 1; i <= n; i++ {
		for range i {
			if i == n {
				lp.AddRow(0, 0)
			} else {
				lp.AddRow(-inf, 0)
			}
		}
	}
	state := lp.Rows() // rows that define s[i][j]
	for range cells {
		lp.AddRow(0, 0)
	}
	privacy := make([][]int32, n+1) // rows with +1 at rank k
	against := make([][]int32, n+1) // rows with -e at rank k
	for i := 1; i <= n; i++ {
		for j := max(1, i-p.L); j <= min(n, i+p.L); j++ {
			if j != i {
				r := int32(lp.AddRow(-inf, delta))
				privacy[i], against[j] = append(privacy[i], r), append(against[j], r)
			}
		}
	}

	var index []int32
	var value []float64
	put := func(row int, v float64) { index, value = append(index, int32(row)), append(value, v) }
	add := func(cost, lower, upper float64) int {
		col := lp.AddCol(cost, lower, upper, index, value)
		index, value = index[:0], value[:0]
		return col
	}
	for i := 1; i <= n; i++ { // x[i][j], columns 0 to cells-1
		for j := 1; j <= i; j++ {
			if i < n {
				put(reached[i], 1/float64(i))
			}
			put(limit+cell(i, j), 1)
			put(state+cell(i, j), -1)
			add(0, 0, 1)
		}
	}
	for i := 1; i <= n; i++ { // R[i]
		if i > 1 {
			put(reached[i-1], 1)
		}
		if i < n {
			put(reached[i], -1)
		}
		for j := 1; j <= i; j++ {
			put(limit+cell(i, j), -1)
		}
		lower := 0.0
		if i == 1 {
			lower = 1
		}
		add(0, lower, 1)
	}
	first := lp.Cols()
	for i := 1; i <= n; i++ { // s[i][j]
		for j := 1; j <= i; j++ {
			put(state+cell(i, j), float64(i))
			cost := 0.0
			if i < n {
				put(state+cell(i+1, j), -float64(i+1-j))
				put(state+cell(i+1, j+1), -float64(j))
			} else {
				cost = -payoff[j-1]
				for _, r := range privacy[j] {
					put(int(r), 1)
				}
				for _, r := range against[j] {
					put(int(r), -e)
				}
			}
			add(cost, 0, 1)
		}
	}
	return lp, func(k int) int { return first + cell(n, k) }, nil
}
