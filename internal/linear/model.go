// Package linear holds sparse linear programs and what the project does with
// them: the Solver interface, an embedded solver in pure Go, and the exact
// solution of a basis that any solver proposes. It knows nothing of privacy,
// score vectors or mechanisms: several different linear programs use it.
//
// Floating-point answers are proposals here. Whoever needs a proof takes the
// basis or the multipliers and evaluates them in exact or outward-rounded
// arithmetic.
package linear

import (
	"errors"
	"fmt"
	"math"
)

// Model is a linear program in columns:
//
//	minimise c·x   subject to   rowLower <= A x <= rowUpper,  colLower <= x <= colUpper
//
// A has len(RowLower) rows and len(Cost) columns. Column j's entries are
// Index[Start[j]:Start[j+1]] (row numbers, each at most once in a column) and Value at the same
// places; len(Start) is the number of columns plus one. Infinite bounds are
// ±Inf.
type Model struct {
	Cost               []float64
	ColLower, ColUpper []float64
	RowLower, RowUpper []float64
	Start              []int
	Index              []int32
	Value              []float64
}

// Rows returns the number of rows.
func (m *Model) Rows() int { return len(m.RowLower) }

// Cols returns the number of columns.
func (m *Model) Cols() int { return len(m.Cost) }

// AddRow appends an empty row with the given bounds and returns its number.
func (m *Model) AddRow(lower, upper float64) int {
	m.RowLower = append(m.RowLower, lower)
	m.RowUpper = append(m.RowUpper, upper)
	return len(m.RowLower) - 1
}

// AddCol appends a column and returns its number. Index and value are copied.
func (m *Model) AddCol(cost, lower, upper float64, index []int32, value []float64) int {
	if len(m.Start) == 0 {
		m.Start = append(m.Start, 0)
	}
	m.Cost = append(m.Cost, cost)
	m.ColLower = append(m.ColLower, lower)
	m.ColUpper = append(m.ColUpper, upper)
	m.Index = append(m.Index, index...)
	m.Value = append(m.Value, value...)
	m.Start = append(m.Start, len(m.Index))
	return len(m.Cost) - 1
}

// ErrModel is wrapped by every error that Check returns.
var ErrModel = errors.New("malformed linear program")

// Check reports the first inconsistency: wrong lengths, a row number out of
// range or repeated in a column, a number that is NaN, an infinite cost or
// entry, a lower bound above its upper bound.
func (m *Model) Check() error {
	rows, cols := m.Rows(), m.Cols()
	switch {
	case len(m.RowUpper) != rows:
		return fmt.Errorf("%w: %d lower and %d upper row bounds", ErrModel, rows, len(m.RowUpper))
	case len(m.ColLower) != cols || len(m.ColUpper) != cols:
		return fmt.Errorf("%w: %d costs, %d lower and %d upper column bounds", ErrModel, cols, len(m.ColLower), len(m.ColUpper))
	case len(m.Start) != cols+1 && !(cols == 0 && len(m.Start) == 0):
		return fmt.Errorf("%w: %d columns and %d starts", ErrModel, cols, len(m.Start))
	case len(m.Index) != len(m.Value):
		return fmt.Errorf("%w: %d row numbers and %d values", ErrModel, len(m.Index), len(m.Value))
	}
	for i := range rows {
		if !(m.RowLower[i] <= m.RowUpper[i]) {
			return fmt.Errorf("%w: row %d has bounds [%g, %g]", ErrModel, i, m.RowLower[i], m.RowUpper[i])
		}
	}
	seen := make([]int, rows)
	for j := range cols {
		if err := m.checkColumn(j, seen); err != nil {
			return err
		}
	}
	return nil
}

// checkColumn reports the first inconsistency of a column. seen is for the rows, each with one more than the last column that names it.
func (m *Model) checkColumn(j int, seen []int) error {
	if !(m.ColLower[j] <= m.ColUpper[j]) {
		return fmt.Errorf("%w: column %d has bounds [%g, %g]", ErrModel, j, m.ColLower[j], m.ColUpper[j])
	}
	if c := m.Cost[j]; math.IsNaN(c) || math.IsInf(c, 0) {
		return fmt.Errorf("%w: column %d has cost %g", ErrModel, j, c)
	}
	lo, hi := m.Start[j], m.Start[j+1]
	if lo > hi || lo < 0 || hi > len(m.Index) || (j == 0 && lo != 0) {
		return fmt.Errorf("%w: column %d starts at %d and ends at %d", ErrModel, j, lo, hi)
	}
	for p := lo; p < hi; p++ {
		i := int(m.Index[p])
		if i < 0 || i >= len(seen) {
			return fmt.Errorf("%w: column %d names row %d of %d", ErrModel, j, i, len(seen))
		}
		if seen[i] == j+1 {
			return fmt.Errorf("%w: column %d names row %d twice", ErrModel, j, i)
		}
		seen[i] = j + 1
		if v := m.Value[p]; math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: entry (%d, %d) is %g", ErrModel, i, j, v)
		}
	}
	return nil
}
