package heterogeneous

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"optratio/lp/linear"
	"optratio/lp/table"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Request asks for the optimum on a grid and the ratios of some mechanisms to it. Grid and Epsilon are required.
type Request struct {
	Grid       Grid
	Epsilon    mechanisms.Epsilon
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
	// Undecided says which limit was met before the answer was as good as asked; empty where it was.
	Undecided string
	Seconds   float64

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
	found, err := p.table.Solve(ctx, r.Epsilon, r.Solver, r.Gap, r.Report)
	if err != nil {
		return nil, err
	}
	a := &Result{
		Vectors: len(s.levels), Variables: len(s.levels) * s.n, Rows: found.Rows, Pivots: found.Pivots, Undecided: found.Undecided,
		program: p, solution: found,
	}
	for _, near := range s.neighbors {
		a.Neighbors += len(near)
	}
	a.Neighbors /= 2
	unit := p.unit()
	optimum := table.Bounds{Low: new(big.Rat).Mul(found.Lower, unit), High: new(big.Rat).Mul(found.Upper, unit)}
	a.Optimum = number.Bounds(optimum.Low, optimum.High)
	for _, m := range r.Mechanisms {
		rated, err := p.rate(ctx, m, &r, optimum)
		if err != nil && ctx.Err() != nil {
			a.Undecided = context.Cause(ctx).Error()
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Info().Name, err)
		}
		a.Mechanisms = append(a.Mechanisms, rated)
	}
	a.Seconds = time.Since(begin).Seconds()
	return a, nil
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
func (p *program) rate(ctx context.Context, m mechanisms.Mechanism, r *Request, optimum table.Bounds) (Rating, error) {
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
		at, _ := new(big.Rat).Add(optimum.Low, optimum.High).Float64()
		switch {
		case at > 0:
			out.Ratio = number.Estimate(2*loss/at, l.method)
		case loss == 0:
			out.Ratio = number.Int(1)
		default:
			out.Ratio = number.Infinity()
		}
		return out, nil
	}
	loss := p.losses(l)
	out.Loss, out.Ratio = number.Bounds(loss.Low, loss.High), loss.Over(optimum)
	if low, ok := out.Ratio.Lower(); ok && private.Verdict == verify.Proved && low.Cmp(big.NewRat(1, 1)) < 0 {
		// A feasible point of the program is no better than the optimum.
		high, _ := out.Ratio.Upper()
		out.Ratio = number.Bounds(big.NewRat(1, 1), high)
	}
	return out, nil
}
