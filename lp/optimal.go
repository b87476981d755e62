package lp

import (
	"context"
	"fmt"
	"math/big"
	"sync"

	"optratio/internal/arith"
	"optratio/internal/decimal"
	"optratio/internal/linear"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

func init() { mechanisms.Register(&optimal{optima: optima}) }

// optima are the programs solved so far, for all mechanisms of the kind.
var optima = &solutions{solved: map[string]*optimum{}}

// optimal is the mechanism that an optimal solution of the program describes, on the lattice Q(n,k) alone: n is the number of scores
// at hand, k is given, or 0 for the deepest score at hand. Optimal solutions are not unique; this one is the basis that the embedded
// solver ends with, started from permute-and-flip's. It need not be private: the program states less than that (see Level).
type optimal struct {
	optima *solutions
	k      int
	box    bool // whether the prior is the box's
	level  Level
	ctx    context.Context // nil for one without end
}

// OnLattice returns what a mechanism is on the lattices Q(n,k) of depth k >= 1: lp-optimal becomes the optimum there for the uniform prior and the
// level, others that are made for a lattice (mechanisms.ForLattice) are made for these, and all others stay as they are.
// With k = 0, the depth stays open.
func OnLattice(m mechanisms.Mechanism, k int, level Level) mechanisms.Mechanism {
	return onLattice(m, k, false, level)
}

func onLattice(m mechanisms.Mechanism, k int, box bool, level Level) mechanisms.Mechanism {
	if m, ok := m.(*optimal); ok {
		return &optimal{optima: m.optima, k: k, box: box, level: level, ctx: m.ctx}
	}
	if k > 0 {
		m, _ = mechanisms.ForLattice(m, k)
	}
	return m
}

// ForLattice is for mechanisms.ForLattice.
func (o *optimal) ForLattice(k int) mechanisms.Mechanism {
	if o.k > 0 {
		return o
	}
	return &optimal{optima: o.optima, k: k, box: o.box, level: o.level, ctx: o.ctx}
}

// WithContext is for mechanisms.Within.
func (o *optimal) WithContext(ctx context.Context) mechanisms.Mechanism {
	limited := *o
	limited.ctx = ctx
	return &limited
}

// solutions are solved programs by what they were solved for.
type solutions struct {
	mu     sync.Mutex
	solved map[string]*optimum
}

// optimum is a solved program and its solution's masses at the precisions asked for so far.
type optimum struct {
	program  *program
	solution *solution
	exact    []*big.Rat
	boxes    map[uint][]number.Interval
}

func (o *optimal) Info() mechanisms.Info {
	return mechanisms.Info{
		Name:    "lp-optimal",
		Summary: "optimal solution of the optimal-mechanism program, on the lattice",
		Source:  "McKenna & Sheldon 2020, App. D",
		Claim:   "a lower bound on the error of ε-DP mechanisms; ε-DP itself only where its constraints say so",
		Private: false,
		Uniform: true,

		ShiftInvariant: true,
		Symmetric:      true,
	}
}

// maxOptimalVariables bounds the programs that are solved on the way to a pmf.
const maxOptimalVariables = 10_000

// place returns the lattice point of an instance: its depths, which must be integers, and the program.
func (o *optimal) place(in *mechanisms.Instance) (depths []int, s *optimum, err error) {
	if err := in.Check(); err != nil {
		return nil, nil, err
	}
	k := o.k
	deepest := 1
	for i, d := range in.Depths() {
		if !d.IsInt() || !d.Num().IsInt64() || d.Num().Int64() > 1<<20 {
			return nil, nil, fmt.Errorf("%w: lp-optimal lives on the lattice: score %d is %s steps of 2Δ below the best, want an integer",
				mechanisms.ErrInstance, i, d.RatString())
		}
		depths = append(depths, int(d.Num().Int64()))
		deepest = max(deepest, depths[i])
	}
	if k == 0 {
		k = deepest
	}
	if deepest > k {
		return nil, nil, fmt.Errorf("%w: lp-optimal at depth k = %d cannot place a score %d steps below the best", mechanisms.ErrInstance, k, deepest)
	}
	ctx := o.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	s, err = o.optima.solve(ctx, &Request{N: len(depths), K: k, Epsilon: in.Epsilon, Level: o.level, Prior: Prior{kind: map[bool]string{true: "box"}[o.box]}})
	return depths, s, err
}

// optimalGap bounds what lp-optimal's error is above the optimum, relatively, where e^ε is irrational.
var optimalGap = big.NewRat(1, 1e12)

// solve returns the solved program of a published question, from memory where it is there. The error is the context's where it ends.
func (o *solutions) solve(ctx context.Context, q *Request) (*optimum, error) {
	if q.larger(maxOptimalVariables) {
		return nil, fmt.Errorf("%w: lp-optimal at n = %d and k = %d has %s variables, over the limit of %d; use fewer candidates or depths",
			mechanisms.ErrInstance, q.N, q.K, decimal.Count(lattice.Variables(q.N, q.K)), maxOptimalVariables)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	key := fmt.Sprint(q.N, q.K, q.Prior, q.Level, q.Epsilon)
	if s, ok := o.solved[key]; ok {
		return s, nil
	}
	p, err := enumerate(ctx, q)
	if err != nil {
		return nil, err
	}
	s := &optimum{program: p, solution: &solution{proposal: &proposal{}}, boxes: map[uint][]number.Interval{}}
	if q.N > 1 {
		if s.solution, err = p.solve(ctx, effort{solver: linear.Embedded{}, gap: optimalGap}); err != nil {
			return nil, err
		}
		switch {
		case s.solution.undecided != "" && ctx.Err() != nil:
			return nil, ctx.Err()
		case s.solution.undecided != "":
			return nil, fmt.Errorf("%w: lp-optimal: %s", linear.ErrUnsettled, s.solution.undecided)
		}
	}
	o.solved[key] = s
	return s, nil
}

func (o *optimal) Exact(in *mechanisms.Instance) ([]*big.Rat, error) {
	z, ok := in.Epsilon.Z()
	if !ok {
		return nil, mechanisms.ErrNotRational
	}
	depths, s, err := o.place(in)
	if err != nil {
		return nil, err
	}
	o.optima.mu.Lock()
	if s.exact == nil {
		s.exact = point(s.program, exactNumbers{}, z, s.solution.proposal.Injection)
	}
	o.optima.mu.Unlock()
	return pmfAt(s.program, exactNumbers{}, s.exact, depths), nil
}

// Enclose encloses the probabilities of one point that satisfies the program's rows and whose objective is within 1e-12 of the
// optimum: the proposal's, mixed with permute-and-flip as upperBound does.
func (o *optimal) Enclose(in *mechanisms.Instance, prec uint) ([]number.Interval, error) {
	depths, s, err := o.place(in)
	if err != nil {
		return nil, err
	}
	f := enclosedNumbers{arith.Interval{Prec: prec}}
	o.optima.mu.Lock()
	u, ok := s.boxes[prec]
	if !ok {
		z := in.Epsilon.ExpNeg(big.NewRat(1, 1), prec)
		u = point(s.program, f, z, s.solution.proposal.Injection)
		if _, rational := in.Epsilon.Z(); !rational {
			u = s.mixed(u, f, prec)
		}
		s.boxes[prec] = u
	}
	o.optima.mu.Unlock()
	return pmfAt(s.program, f, u, depths), nil
}

// mixed mixes the point with permute-and-flip by the weight that the solution's own precision found necessary.
func (s *optimum) mixed(u []number.Interval, f enclosedNumbers, prec uint) []number.Interval {
	p := s.program
	if s.solution.prec == 0 {
		return u // one candidate
	}
	own := enclosedNumbers{arith.Interval{Prec: s.solution.prec}}
	z := p.Epsilon.ExpNeg(big.NewRat(1, 1), own.Prec)
	theta, ok := mixture(p, own, z, point(p, own, z, s.solution.proposal.Injection), point(p, own, z, nil))
	if !ok || theta.Sign() == 0 {
		return u
	}
	flip := point(p, f, p.Epsilon.ExpNeg(big.NewRat(1, 1), prec), nil)
	mix := f.FromRat(theta)
	out := make([]number.Interval, len(u))
	for j := range u {
		out[j] = f.Add(f.Mul(f.Sub(f.One(), mix), u[j]), f.Mul(mix, flip[j]))
	}
	return out
}

func (o *optimal) Float(in *mechanisms.Instance) ([]float64, error) {
	boxes, err := o.Enclose(in, 128)
	if err != nil {
		return nil, err
	}
	p := make([]float64, len(boxes))
	for i, x := range boxes {
		p[i] = x.Near()
	}
	return p, nil
}

// pmfAt reads the candidates' probabilities off the masses: x[m][v] = u/(N(m) m_v).
func pmfAt[T any](p *program, f ordered[T], u []T, depths []int) []T {
	m := lattice.Count(depths, p.K)
	out := make([]T, len(depths))
	for i, v := range depths {
		j := p.vars.Find(m, v)
		out[i] = f.Quo(u[j], f.FromRat(new(big.Rat).SetInt(p.chainWeight(int32(j)))))
	}
	return out
}
