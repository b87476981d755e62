package heterogeneous

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"

	"optratio/internal/optimum"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Request asks for the optimum on a grid and the ratios of some mechanisms to it. Grid and Epsilon are required.
type Request struct {
	Grid       Grid
	Epsilon    number.Epsilon
	Squared    bool // taking r at q costs (q* - q_r)², not q* - q_r
	Worst      bool // the largest expected loss of a vector is to be small, not the mean over the grid
	Mechanisms []mechanisms.Mechanism
	Params     mechanisms.Params
	Solver     string   // as in optimum.Request
	Gap        *big.Rat // (upper-lower)/upper wanted of the optimum where e^ε is irrational; nil for 1e-9
	Report     func(pivots int, objective float64)
}

// Rating is a mechanism's loss on the grid, in the user's units (squared for Squared), its ratio to the optimum, and
// whether it is ε-DP there, that is a feasible point of the program. Ratios below 1 are possible where
// it is not. TightEps is the least ε for which it would be.
type Rating struct {
	Name        string          `json:"name"`
	Loss        number.Number   `json:"loss"`
	Ratio       number.Number   `json:"ratio"`
	DP          verify.Verdict  `json:"dp"`
	TightEps    number.Number   `json:"tight_eps"`
	TightExpEps *big.Rat        `json:"tight_exp_eps"`     // e^TightEps where that is known to be rational
	Witness     *verify.Witness `json:"witness,omitempty"` // of a violation: where TightEps is attained
}

// Row is a score vector of the grid and the probabilities of an optimal mechanism there.
type Row struct {
	Scores []*big.Rat
	PMF    []*big.Rat
}

// Result is the result of a Request.
type Result struct {
	Vectors    int           // score vectors, up to shifts where mechanisms are shift-invariant
	Neighbors  int           // unordered pairs of neighbors
	Variables  int           // probabilities
	Rows       int           // of privacy, that were generated
	Pivots     int           // of the floating-point solver
	Optimum    number.Number // in the user's units, squared for Squared
	Mechanisms []Rating
	// Recommended is the mechanism of several that errs least on the grid, the first one where they tie, among those that are ε-DP as they claim and
	// proved to be so there.
	Recommended string
	// Undecided says which limit was met before the answer was as good as asked; empty where it was.
	Undecided string
	Seconds   float64

	grid   *Grid
	levels [][]int
	best   *optimum.Result
}

// Solve answers a request. An error is bad input; where a limit or the context ended the work, the Result holds the
// best certified bounds so far and says so in Undecided.
func Solve(ctx context.Context, r Request) (*Result, error) {
	if err := r.Epsilon.Check(); err != nil {
		return nil, err
	}
	if i := slices.Index(r.Mechanisms, nil); i >= 0 {
		return nil, fmt.Errorf("mechanism %d is nil", i)
	}
	p, levels, err := r.Grid.problem(r.Squared, r.Worst)
	if err != nil {
		return nil, err
	}
	best, err := optimum.Solve(ctx, optimum.Request{
		Problem: p, Epsilon: r.Epsilon, Solver: r.Solver, Gap: r.Gap, Report: r.Report, Statement: r.Grid.statement(r.Squared, r.Worst),
	})
	if err != nil {
		return nil, err
	}
	a := &Result{
		Vectors: len(levels), Neighbors: len(p.Pairs), Variables: len(levels) * len(p.Outputs), Rows: best.Rows, Pivots: best.Pivots,
		Optimum: best.Optimum, Undecided: best.Undecided, Seconds: best.Seconds, grid: &r.Grid, levels: levels, best: best,
	}
	least := math.Inf(1)
	for _, m := range r.Mechanisms {
		rated, err := rate(ctx, m, &r, p, levels, a.Optimum)
		if err != nil {
			// The numbers of a mechanism may be beyond the arithmetic, or the context leaves no time for them: the others have their rows.
			anything := number.Bounds(new(big.Rat), nil)
			rated = Rating{Name: m.Info().Name, Loss: anything, Ratio: anything, DP: verify.Undecided, TightEps: anything}
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			a.Undecided = context.Cause(ctx).Error()
		case errors.Is(err, mechanisms.ErrInstance):
			return nil, fmt.Errorf("%s: %w", m.Info().Name, err)
		default:
			a.Undecided = cmp.Or(a.Undecided, fmt.Sprintf("%s: %v", m.Info().Name, err))
		}
		if loss := rated.Loss.Float64(); len(r.Mechanisms) > 1 && m.Info().Private && rated.DP == verify.Proved && loss < least {
			a.Recommended, least = rated.Name, loss
		}
		a.Mechanisms = append(a.Mechanisms, rated)
	}
	return a, nil
}

// Mechanism returns a mechanism that attains the upper end of Optimum and is ε-DP on the grid, with exact
// probabilities, vector by vector; for shift-invariant mechanisms one vector of each class. Nil where nothing was solved.
func (a *Result) Mechanism() (rows []Row) {
	if a.best == nil {
		return nil
	}
	for q, pmf := range a.best.Table() {
		rows = append(rows, Row{a.grid.scores(a.levels[q]), pmf})
	}
	return rows
}

// WriteCertificate writes what proves the enclosure of the optimum, in the format of docs/reference/certificate.md. The same answer gives the same bytes.
func (a *Result) WriteCertificate(w io.Writer) error {
	if a.best == nil {
		a.best = &optimum.Result{}
	}
	return a.best.WriteCertificate(w)
}
