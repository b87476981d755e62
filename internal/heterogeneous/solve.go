package heterogeneous

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

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

// Result is the result of a Request: that of the grid's problem, in the user's units, squared for Squared.
type Result struct {
	*optimum.Result
	Scores     [][]*big.Rat // the vectors, its inputs, up to shifts where mechanisms are shift-invariant
	Mechanisms []Rating
	// Recommended is the mechanism of several that errs least on the grid, the first one where they tie, among those that are ε-DP as they claim and
	// proved to be so there.
	Recommended string
}

// Solve answers a request. An error is bad input; where a limit or the context ended the work, the Result holds the
// best certified bounds so far and says so in Undecided.
func Solve(ctx context.Context, r Request) (*Result, error) {
	p, levels, err := r.Grid.problem(r.Squared, r.Worst)
	if err != nil {
		return nil, err
	}
	best, err := optimum.Solve(ctx, optimum.Request{
		Problem: p, Epsilon: r.Epsilon, Gap: r.Gap, Report: r.Report, Statement: r.Grid.statement(r.Squared, r.Worst),
	})
	if err != nil {
		return nil, err
	}
	a := &Result{Result: best}
	for _, at := range levels {
		a.Scores = append(a.Scores, r.Grid.scores(at))
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
