package heterogeneous

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"optratio/internal/linear"
	"optratio/internal/patience"
	"optratio/internal/table"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Request asks for the optimum on a grid and the ratios of some mechanisms to it. Grid and Epsilon are required.
type Request struct {
	Grid       Grid
	Epsilon    number.Epsilon
	Loss       Loss
	Criterion  Criterion
	Mechanisms []mechanisms.Mechanism
	Params     mechanisms.Params
	Solver     linear.Solver // nil for linear.Embedded
	Gap        *big.Rat      // (upper-lower)/upper wanted of the optimum where e^ε is irrational; nil for 1e-9
	Report     func(linear.Progress)
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
	Rows       int           // rows (P) that were generated, of 2·Neighbors·n
	Pivots     int           // of the floating-point solver
	Optimum    number.Number // in the user's units, squared for Squared
	Mechanisms []Rating
	// Recommended is the mechanism of several that errs least on the grid, the first one where they tie, among those that are ε-DP as they claim and
	// proved to be so there.
	Recommended string
	// Undecided says which limit was met before the answer was as good as asked; empty where it was.
	Undecided string
	Seconds   float64

	epsilon  number.Epsilon
	program  *program
	solution *table.Solution
}

// String returns the optimum and a line for each mechanism.
func (a *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "optimum %s", a.Optimum)
	for _, m := range a.Mechanisms {
		fmt.Fprintf(&b, "\n%s", m)
	}
	if a.Undecided != "" {
		fmt.Fprintf(&b, "\nundecided: %s", a.Undecided)
	}
	return b.String()
}

// String returns the loss, the ratio and the verdict on privacy in one line.
func (r Rating) String() string {
	return fmt.Sprintf("%s: loss %s, ratio %s, dp %s, tight ε %s", r.Name, r.Loss, r.Ratio, r.DP, r.TightEps)
}

// Solve answers a request. An error is bad input; where a limit or the context ended the work, the Result holds the
// best certified bounds so far and says so in Undecided.
func Solve(ctx context.Context, r Request) (*Result, error) {
	begin := time.Now()
	if err := r.Epsilon.Check(); err != nil {
		return nil, err
	}
	if i := slices.Index(r.Mechanisms, nil); i >= 0 {
		return nil, fmt.Errorf("mechanism %d is nil", i)
	}
	if r.Solver == nil {
		r.Solver = linear.Embedded{}
	}
	if r.Gap == nil {
		r.Gap = big.NewRat(1, 1e9)
	}
	s, err := newSpace(&r.Grid)
	if err != nil {
		return nil, err
	}
	p := newProgram(s, r.Loss, r.Criterion)
	a := &Result{epsilon: r.Epsilon, Vectors: len(s.levels), Variables: len(s.levels) * s.n, Optimum: number.Bounds(new(big.Rat), nil)}
	for _, near := range s.neighbors {
		a.Neighbors += len(near)
	}
	a.Neighbors /= 2
	type solved struct {
		*table.Solution
		err error
	}
	found, ended := patience.Await(ctx, grace, func() solved {
		t, err := p.table.Solve(ctx, r.Epsilon, r.Solver, r.Gap, r.Report)
		return solved{t, err}
	})
	switch {
	case !ended:
		a.Undecided = context.Cause(ctx).Error()
		for _, m := range r.Mechanisms {
			a.Mechanisms = append(a.Mechanisms, unrated(m))
		}
	case found.err != nil:
		return nil, found.err
	default:
		a.Rows, a.Pivots, a.Undecided, a.program, a.solution = found.Rows, found.Pivots, found.Undecided, p, found.Solution
		if err := a.rate(ctx, &r); err != nil {
			return nil, err
		}
	}
	a.Seconds = time.Since(begin).Seconds()
	return a, nil
}

// grace is how long the program is waited for after the end of the context: single operations on long numbers do not look at it.
const grace = 500 * time.Millisecond

// rate fills in the optimum and the mechanisms' rows. A mechanism whose numbers are beyond the arithmetic, or that the context leaves no time for, has a row that says nothing; the
// others have theirs. The error is bad input.
func (a *Result) rate(ctx context.Context, r *Request) error {
	a.Optimum = number.Bounds(a.solution.Lower, a.solution.Upper).Mul(number.Exact(a.program.unit()))
	for _, m := range r.Mechanisms {
		rated, err := a.program.rate(ctx, m, r, a.Optimum)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			a.Undecided, rated = context.Cause(ctx).Error(), unrated(m)
		case errors.Is(err, mechanisms.ErrInstance):
			return fmt.Errorf("%s: %w", m.Info().Name, err)
		default:
			a.Undecided, rated = cmp.Or(a.Undecided, fmt.Sprintf("%s: %v", m.Info().Name, err)), unrated(m)
		}
		a.Mechanisms = append(a.Mechanisms, rated)
	}
	least := math.Inf(1)
	for i, m := range r.Mechanisms {
		rated := a.Mechanisms[i]
		if loss := rated.Loss.Float64(); len(r.Mechanisms) > 1 && m.Info().Private && rated.DP == verify.Proved && loss < least {
			a.Recommended, least = rated.Name, loss
		}
	}
	return nil
}

// unrated is the row of a mechanism that nothing is known of.
func unrated(m mechanisms.Mechanism) Rating {
	anything := number.Bounds(new(big.Rat), nil)
	return Rating{Name: m.Info().Name, Loss: anything, Ratio: anything, DP: verify.Undecided, TightEps: anything}
}

// Mechanism returns a mechanism that attains the upper end of Optimum and is ε-DP on the grid, with exact
// probabilities, vector by vector; for shift-invariant mechanisms one vector of each class. Nil where nothing was solved.
func (a *Result) Mechanism() []Row {
	p := a.program
	if p == nil {
		return nil
	}
	rows := make([]Row, len(p.levels))
	for q := range rows {
		rows[q].Scores = p.scores(q)
		for r := range p.n {
			rows[q].PMF = append(rows[q].PMF, a.solution.Table.At(p.cell(q, r)))
		}
	}
	return rows
}

// unit returns a step, or its square, in the user's units.
func (p *program) unit() *big.Rat {
	u := new(big.Rat).Set(p.grid.Step)
	if p.loss == Squared {
		u.Mul(u, u)
	}
	return u
}

// rate compares a mechanism with the optimum.
func (p *program) rate(ctx context.Context, m mechanisms.Mechanism, r *Request, optimum number.Number) (Rating, error) {
	l, err := newLaw(ctx, p.space, m, r.Epsilon, r.Params)
	if err != nil {
		return Rating{}, err
	}
	private, err := l.privacy(ctx)
	if err != nil {
		return Rating{}, err
	}
	out := Rating{Name: m.Info().Name, DP: private.Verdict, TightEps: private.TightEps, TightExpEps: private.TightExpEps}
	if private.Verdict == verify.Violated {
		out.Witness = private.Attained
	}
	if l.values == nil {
		loss := p.estimatedLoss(l)
		out.Loss = number.Estimate(loss, l.method)
		switch at := optimum.Float64(); {
		case at > 0:
			out.Ratio = number.Estimate(loss/at, l.method)
		case loss == 0:
			out.Ratio = number.Int(1)
		default:
			out.Ratio = number.Infinity()
		}
		return out, nil
	}
	out.Loss = p.losses(l)
	out.Ratio = out.Loss.Over(optimum)
	if low, ok := out.Ratio.Lower(); ok && private.Verdict == verify.Proved && low.Cmp(big.NewRat(1, 1)) < 0 {
		// A feasible point of the program is no better than the optimum.
		high, _ := out.Ratio.Upper()
		out.Ratio = number.Bounds(big.NewRat(1, 1), high)
	}
	return out, nil
}
