package linear

import (
	"context"
	"fmt"
	"slices"
)

// VarStatus says where a variable stands in a basis. A row's variable is its
// activity (A x)_i, with the row's bounds.
type VarStatus int8

const (
	// AtLower is a nonbasic variable at its lower bound.
	AtLower VarStatus = iota
	// AtUpper is a nonbasic variable at its upper bound.
	AtUpper
	// Basic is a basic variable.
	Basic
	// Free is a nonbasic variable without bounds, at 0.
	Free
)

// Basis is a status for every column and every row; exactly Rows() of them
// are Basic in a proper basis.
type Basis struct {
	Col, Row []VarStatus
}

// Clone returns a copy that shares nothing with b.
func (b *Basis) Clone() *Basis {
	return &Basis{Col: append([]VarStatus(nil), b.Col...), Row: append([]VarStatus(nil), b.Row...)}
}

// equal reports whether both say the same of every column and row.
func (b *Basis) equal(c *Basis) bool { return slices.Equal(b.Col, c.Col) && slices.Equal(b.Row, c.Row) }

// Check reports whether b fits m: lengths, known statuses, and as many basic variables as rows.
func (b *Basis) Check(m *Model) error {
	if len(b.Col) != m.Cols() || len(b.Row) != m.Rows() {
		return fmt.Errorf("basis of %d columns and %d rows for a program of %d and %d", len(b.Col), len(b.Row), m.Cols(), m.Rows())
	}
	basic := 0
	for _, part := range [][]VarStatus{b.Col, b.Row} {
		for i, s := range part {
			if s < AtLower || s > Free {
				return fmt.Errorf("basis with unknown status %d at %d", s, i)
			}
			if s == Basic {
				basic++
			}
		}
	}
	if basic != m.Rows() {
		return fmt.Errorf("basis with %d basic variables for %d rows", basic, m.Rows())
	}
	return nil
}

// Outcome is how a solve ended.
type Outcome int8

const (
	// Optimal within the tolerances of Options.
	Optimal Outcome = iota
	// Infeasible: no point satisfies the rows and bounds.
	Infeasible
	// Unbounded: the objective falls without end.
	Unbounded
	// Stopped by the pivot limit or by the context; the Result holds the last basis.
	Stopped
	// Failed: numerical trouble; the Result holds the last basis, if any.
	Failed
)

func (o Outcome) String() string {
	return [...]string{"optimal", "infeasible", "unbounded", "stopped", "failed"}[o]
}

// Progress is what a solver reports while it works.
type Progress struct {
	Pivots    int
	Objective float64
}

// Options steer a solve. The zero value is usable:
// tolerances 1e-9, no pivot limit, start from the slack basis, no reports.
type Options struct {
	Basis     *Basis  // starting basis, nil for the slack basis; not modified
	Feasible  float64 // primal feasibility tolerance, 0 for 1e-9
	Optimal   float64 // dual feasibility tolerance, 0 for 1e-9
	MaxPivots int     // 0 for no limit
	// Report, where not nil, is called now and then from the solving goroutine.
	Report func(Progress)
}

// Check reports what is wrong with the options for a program.
func (o Options) Check(m *Model) error {
	switch {
	case !(o.Feasible >= 0) || !(o.Optimal >= 0) || o.MaxPivots < 0:
		return fmt.Errorf("options with tolerances %g and %g and pivot limit %d", o.Feasible, o.Optimal, o.MaxPivots)
	case o.Basis != nil:
		return o.Basis.Check(m)
	}
	return nil
}

// Result is a floating-point answer: a proposal, not a proof.
// Duals has a value y_i for each row, with y_i = ∂objective/∂(row i's active bound), and the
// reduced costs are Cost - Aᵀy (of a minimisation: >= 0 at a lower bound).
type Result struct {
	Outcome   Outcome
	Objective float64
	X         []float64 // per column
	Duals     []float64 // per row
	Basis     *Basis
	Pivots    int
}

// Solver solves a Model. When the context ends, Solve returns promptly
// with Outcome Stopped, the last basis and a nil error; err is for a malformed
// model, options or basis. A singular starting basis is repaired with slacks, not refused.
type Solver interface {
	Name() string
	Solve(ctx context.Context, m *Model, o Options) (*Result, error)
}
