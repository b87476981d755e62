package topk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"optratio/internal/certtext"
	"optratio/internal/linear"
	"optratio/internal/table"
	"optratio/number"
)

// Request asks for the best ε-DP choice of Top of N candidates on Q(N,K), and how far mechanisms with the same budget are from it.
type Request struct {
	N, K, Top  int
	Epsilon    number.Epsilon // more than 0
	Mechanisms []*Mechanism
	Report     func(linear.Progress)
}

// Rated is a mechanism beside the optimum. ε-DP is meant towards all neighbors of Q(N,K), q' within Δ of q in every score after a shift.
type Rated struct {
	Name  string        `json:"name"`
	Error number.Number `json:"error"` // mean regret in steps of 2Δ
	Ratio number.Number `json:"ratio"` // to the optimum at ε
	// The least ε for which its sets, and its lists, are ε-DP on the lattice; Exp is e^ε where that is rational.
	Sets     number.Number  `json:"tight_eps_sets"`
	SetsExp  *string        `json:"tight_exp_eps_sets"`
	Lists    *number.Number `json:"tight_eps_lists"` // nil where it returns no order
	ListsExp *string        `json:"tight_exp_eps_lists"`
	Over     bool           `json:"over_budget"` // its sets are certainly not ε-DP
	// Fair is the ratio to the optimum at the ε that its sets really have.
	Fair number.Number `json:"ratio_at_tight_eps"`
}

// Answer is the result of its Request. Optimum is the least mean regret, in steps of 2Δ.
type Answer struct {
	Orbits     int           `json:"orbits"`
	Cells      int           `json:"variables"` // probabilities of sets up to symmetry
	Rows       int           `json:"rows"`      // between them
	Solver     string        `json:"solver"`
	Seconds    float64       `json:"seconds"`
	Optimum    number.Number `json:"optimum"`
	Mechanisms []Rated       `json:"mechanisms"`
	Undecided  string        `json:"undecided,omitempty"`

	request  Request
	program  *table.Program
	solution *table.Solution
}

// WriteCertificate writes what proves the enclosure of the optimum, in the format of docs/reference/certificate.md. The same answer gives the same bytes.
func (a *Answer) WriteCertificate(w io.Writer) error {
	if a.solution == nil {
		return fmt.Errorf("%w: nothing was solved", certtext.ErrNone)
	}
	c := certtext.NewWriter(w, "lattice")
	c.Line("n %d", a.request.N)
	c.Line("k %d", a.request.K)
	c.Line("step 1")
	c.Line("top %d", a.request.Top)
	c.Line("constraints dp")
	var depths []*big.Rat
	for v := range a.request.K + 1 {
		depths = append(depths, big.NewRat(int64(v), 1))
	}
	c.Values("loss", depths)
	c.Line("prior uniform")
	c.Epsilon(a.request.Epsilon.Exp(), a.request.Epsilon.Eps())
	c.Line("precision %d", a.solution.Precision())
	c.Claim(a.solution.Lower, a.solution.Upper)
	a.program.Write(c, a.solution, big.NewRat(1, 1), nil)
	return c.End()
}

// Solve answers a request. Where the context ends, the answer says so and holds what is certain by then.
func Solve(ctx context.Context, r Request) (*Answer, error) {
	begin := time.Now()
	j := &job{Request: r, ctx: ctx, answer: &Answer{request: r}}
	var err error
	if j.sets, err = newSpace(r.N, r.K, r.Top, false); err != nil {
		return nil, err
	}
	if j.lists, err = newSpace(r.N, r.K, r.Top, true); err != nil {
		return nil, err
	}
	a := j.answer
	a.Orbits, a.Cells, a.Rows, a.program = j.sets.vars.Lattice.Len(), len(j.sets.depths), len(j.sets.rows), j.sets.program()
	if a.solution, err = j.solve(a.program, r.Epsilon); err != nil {
		return nil, err
	}
	a.Optimum = a.solution.Optimum()
	for _, m := range r.Mechanisms {
		if ctx.Err() != nil {
			a.Undecided = context.Cause(ctx).Error()
			break
		}
		rated, err := j.rate(m)
		if err != nil {
			return nil, err
		}
		a.Mechanisms = append(a.Mechanisms, rated)
	}
	a.Seconds = time.Since(begin).Seconds()
	return a, nil
}

type job struct {
	Request
	ctx         context.Context
	sets, lists *space
	answer      *Answer
}

// gap is the relative width of the optimum, where it is not exact.
var gap = big.NewRat(1, 1e9)

// solve bounds the least mean regret of an ε-DP choice of a set, and keeps what it says of limits.
func (j *job) solve(p *table.Program, eps number.Epsilon) (*table.Solution, error) {
	s, err := p.Solve(j.ctx, eps, linear.Embedded{}, gap, j.Report)
	if err == nil && s.Undecided != "" {
		j.answer.Undecided = s.Undecided
	}
	return s, err
}

// rate measures a mechanism's mean regret and the greatest ratios of probabilities between neighbors.
func (j *job) rate(m *Mechanism) (rated Rated, err error) {
	c := &chances{base: m.base, eps: j.Epsilon}
	p, err := distribution(m, j.sets, c)
	if err != nil {
		return rated, err
	}
	rated.Name, rated.Error = m.String(), j.sets.meanRegret(p)
	rated.Ratio = rated.Error.Over(j.answer.Optimum)
	most, err := greatest(p, j.sets.rows)
	if err != nil {
		return rated, err
	}
	rated.Sets, rated.SetsExp = logarithm(most)
	if m.Lists() {
		if p, err = distribution(m, j.lists, c); err != nil {
			return rated, err
		}
		lists, err := greatest(p, j.lists.rows)
		if err != nil {
			return rated, err
		}
		eps, exp := logarithm(lists)
		rated.Lists, rated.ListsExp = &eps, exp
	}
	_, budget := j.Epsilon.ExpBounds(precision)
	least, _ := most.Ends()
	rated.Over = least.Cmp(budget) > 0
	fair, err := j.at(most, rated.Sets)
	rated.Fair = rated.Error.Over(fair)
	return rated, err
}

// shortExp is the length in bits up to which a rational e^ε is taken as it is.
const shortExp = 64

// at returns what lies between the optima at both ends of ε: a larger ε allows more.
func (j *job) at(exp, eps number.Number) (best number.Number, err error) {
	optimum := func(e number.Epsilon, err error) (best number.Number, _ error) {
		if err != nil {
			return best, err
		}
		s, err := j.solve(j.sets.program(), e)
		if err != nil {
			return best, err
		}
		return s.Optimum(), nil
	}
	if x, ok := exp.Rat(); ok && x.Num().BitLen() <= shortExp {
		return optimum(number.FromExp(x))
	}
	low, high := eps.Ends()
	most, err := optimum(number.FromEpsilon(low))
	if err != nil || high.Cmp(big.NewRat(number.MaxEpsilon, 1)) > 0 { // the last digit of the largest ε rounded up
		return number.Between(number.Int(0), most), err
	}
	least, err := optimum(number.FromEpsilon(high))
	return number.Between(least, most), err
}

// rounded returns a multiple of 10^-15, x or the next one below it, plus so many.
func rounded(x *big.Rat, more int64) *big.Rat {
	unit := big.NewInt(1e15)
	n := new(big.Int).Mul(x.Num(), unit)
	n.Quo(n, x.Denom())
	return new(big.Rat).SetFrac(n.Add(n, big.NewInt(more)), unit)
}

// logarithm returns ln x for x >= 1, and x where it is known.
func logarithm(x number.Number) (eps number.Number, exact *string) {
	if x, ok := x.Rat(); ok {
		text := x.RatString()
		exact = &text
		if x.Cmp(big.NewRat(1, 1)) == 0 {
			return number.Int(0), exact
		}
	}
	low, high := x.Ends()
	low, high = number.Enclosed(number.Hull(number.LogRat(low, precision), number.LogRat(high, precision))).Ends()
	return number.Bounds(rounded(low, 0), rounded(high, 1)), exact
}

// greatest returns the greatest ratio of probabilities that rows relate.
func greatest(p []number.Number, rows []table.Row) (number.Number, error) {
	most := number.Int(1)
	for _, r := range rows {
		if s, ok := p[r.Above].Cmp(number.Int(0)); !ok || s <= 0 {
			return most, fmt.Errorf("%w: an outcome with probability 0, or too small to tell", ErrProbability)
		}
		most = most.Max(p[r.Below].Quo(p[r.Above]))
	}
	return most, nil
}

// ErrProbability says that a mechanism's privacy could not be measured.
var ErrProbability = errors.New("top-k mechanism")
