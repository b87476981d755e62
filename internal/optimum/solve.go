package optimum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"optratio/internal/linear"
	"optratio/internal/patience"
	"optratio/internal/table"
	"optratio/number"
)

// Request asks for the least loss of a private mechanism. Problem and Epsilon are required.
type Request struct {
	Problem *Problem
	Epsilon number.Epsilon
	Delta   *big.Rat     // from 0 to 1; nil: 0
	Rate    *Table       // to be compared with the optimum; nil: none
	Users   [][]*big.Rat // priors of users that share one mechanism, each with remaps of its own; nil: none
	Gap     *big.Rat     // (upper-lower)/upper wanted where e^{dε} is irrational; nil for 1e-9
	Report  func(pivots int, objective float64)
	// Statement is how certificates at δ = 0 state the problem, where a section of docs/reference/certificate.md does so in a shorter way: the section, and its lines before
	// that of ε. Nil: the problem in full.
	Statement []string

	solver linear.Solver // nil: linear.Embedded
}

// Result is the answer to a Request.
type Result struct {
	Pairs     int // unordered, or ordered where one direction alone is bound
	Orbits    int // classes of inputs that a private mechanism may treat alike and be no worse
	Variables int // probabilities, one for each class of outputs at such a class
	Rows      int // of privacy, that were generated
	Pivots    int // of the floating-point solver
	Optimum   number.Number
	Rated     *Rating
	Users     *Users
	Undecided string // which limit was met before the answer was as good as asked; empty where it was
	Seconds   float64

	request  Request
	program  *program
	solution *table.Solution
	rounded  *Mechanism
}

// errUndecided is wrapped by errors about work that a limit ended.
var errUndecided = errors.New("undecided")

// grace is how long the work is waited for after the end of the context: single operations on long numbers do not look at it.
const grace = 500 * time.Millisecond

func (r *Request) complete() error {
	if err := r.Epsilon.Check(); err != nil {
		return err
	}
	if err := r.Problem.Check(); err != nil {
		return err
	}
	r.Delta = cmp.Or(r.Delta, new(big.Rat))
	if r.Delta.Sign() < 0 || r.Delta.Cmp(one) > 0 {
		return faultf("δ has to be from 0 to 1")
	}
	if r.solver == nil {
		r.solver = linear.Embedded{}
	}
	r.Gap = cmp.Or(r.Gap, big.NewRat(1, 1e9))
	for i, prior := range r.Users {
		if err := r.Problem.checkPrior(fmt.Sprintf("users[%d]", i), prior); err != nil {
			return err
		}
	}
	if r.Rate != nil {
		return r.Rate.check(r.Problem)
	}
	return nil
}

// Solve answers a request: exactly where e^{dε} is rational for every distance d, else in bounds that are as close as Gap asks. An error is bad input; where a limit
// or the context ended the work, the Result holds the best certified bounds so far and says so in Undecided.
func Solve(ctx context.Context, r Request) (*Result, error) {
	begin := time.Now()
	if err := r.complete(); err != nil {
		return nil, err
	}
	type answer struct {
		*Result
		err error
	}
	found, ended := patience.Await(ctx, grace, func() answer {
		a, err := r.solve(ctx)
		return answer{a, err}
	})
	a, err := found.Result, found.err
	switch {
	case !ended:
		a = r.unanswered(context.Cause(ctx).Error())
	case err != nil && (errors.Is(err, errUndecided) || ctx.Err() != nil):
		a = r.unanswered(err.Error())
	case err != nil:
		return nil, err
	}
	a.Seconds = time.Since(begin).Seconds()
	return a, nil
}

// unanswered is an answer that says nothing but why: no loss is larger than the largest one.
func (r *Request) unanswered(why string) *Result {
	most := new(big.Rat)
	for _, row := range r.Problem.Loss {
		most = slices.MaxFunc(append(row[:len(row):len(row)], most), (*big.Rat).Cmp)
	}
	return &Result{request: *r, Pairs: r.Problem.countPairs(), Optimum: number.Bounds(new(big.Rat), most), Undecided: why}
}

// solved is a problem's program with what solving it has shown, in the units of its losses.
type solved struct {
	*program
	*table.Solution
	bounds number.Number
}

// optimum solves a problem at the ε and δ of the request.
func (r *Request) optimum(ctx context.Context, p *Problem) (*solved, error) {
	q, err := newProgram(ctx, p, r.Epsilon, r.Delta)
	if err != nil {
		return nil, err
	}
	s, err := q.table.Solve(ctx, r.Epsilon, r.solver, r.Gap, func(p linear.Progress) {
		if r.Report != nil {
			r.Report(p.Pivots, p.Objective)
		}
	})
	if err != nil {
		return nil, err
	}
	return &solved{q, s, number.Bounds(s.Lower, s.Upper).Mul(number.Exact(q.unit))}, nil
}

func (r *Request) solve(ctx context.Context) (*Result, error) {
	s, err := r.optimum(ctx, r.Problem)
	if err != nil {
		return nil, err
	}
	a := &Result{
		Pairs: r.Problem.countPairs(), Orbits: s.classes(), Variables: int(s.table.First[s.classes()]), Rows: s.Rows, Pivots: s.Pivots, Undecided: s.Undecided,
		Optimum: s.bounds, request: *r, program: s.program, solution: s.Solution,
	}
	if r.Rate != nil {
		if a.Rated, err = r.rate(ctx, s.bounds); err != nil {
			return nil, err
		}
		a.Undecided = cmp.Or(a.Undecided, a.Rated.undecided)
	}
	if r.Users != nil {
		if a.Users, err = r.share(ctx); err != nil {
			return nil, err
		}
		a.Undecided = cmp.Or(a.Undecided, a.Users.undecided)
	}
	return a, nil
}

// countPairs returns the number of pairs of inputs, in either order, that are neighbors.
func (p *Problem) countPairs() int {
	seen := map[[2]int]bool{}
	for _, q := range p.Pairs {
		seen[[2]int{min(q.From, q.To), max(q.From, q.To)}] = true
	}
	return len(seen)
}

// Table returns the mechanism that attains the upper end of Optimum: the probability of each output at each input, exactly. Nil where nothing was solved.
func (a *Result) Table() [][]*big.Rat {
	if a.program == nil {
		return nil
	}
	return a.program.expand(a.solution)
}

// Exact reports whether the optimum is known exactly.
func (a *Result) Exact() bool {
	_, ok := a.Optimum.Rat()
	return ok
}

// expand returns the probability of each output at each input. Equal ones are shared.
func (q *program) expand(s *table.Solution) [][]*big.Rat {
	values := make([]*big.Rat, len(q.table.Count))
	for j := range values {
		values[j] = s.Table.At(j)
	}
	out := make([][]*big.Rat, len(q.inputs()))
	for x, row := range q.inputs() {
		out[x] = make([]*big.Rat, len(row))
		for o, j := range row {
			out[x][o] = values[j]
		}
	}
	return out
}

// Losses returns the expected loss of a table at each input. Each is summed over common denominators: sums of fractions would take most of the time of a large answer.
func (p *Problem) Losses(table [][]*big.Rat) (losses []*big.Rat) {
	var term big.Int
	for x, row := range table {
		q, loss, sum := linear.NewFractions(row), linear.NewFractions(p.Loss[x]), new(big.Int)
		for o, n := range q.Num {
			sum.Add(sum, term.Mul(n, loss.Num[o]))
		}
		losses = append(losses, new(big.Rat).SetFrac(sum, term.Mul(q.Den, loss.Den)))
	}
	return losses
}

// value returns the objective of a table.
func (p *Problem) value(table [][]*big.Rat) *big.Rat {
	losses := p.Losses(table)
	if p.Prior == nil {
		return slices.MaxFunc(losses, (*big.Rat).Cmp)
	}
	sum := new(big.Rat)
	for x, at := range losses {
		sum.Add(sum, at.Mul(at, p.Prior[x]))
	}
	return sum
}
