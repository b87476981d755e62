package lp

import (
	"context"
	"fmt"
	"math/big"
	"sync"

	"optratio/internal/decimal"
	"optratio/internal/linear"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// Register makes lp-optimal and lp-extended known to package mechanisms.
func Register() {
	registered.Do(func() {
		mechanisms.Register(&optimal{tables: new(tables)})
		mechanisms.Register(Extended(0, 1))
	})
}

var registered sync.Once

// optimal is the mechanism that an optimal solution of the program describes, on the lattice Q(n,k) alone: n is the number of scores
// at hand, k is given, or 0 for the deepest score at hand. Optimal solutions are not unique; this one is the basis that the embedded
// solver ends with, started from permute-and-flip's. It need not be private: the program states less than that (see Level).
type optimal struct {
	tables *tables // of all mechanisms of the kind
	k      int
	prior  Prior // a flat one
	level  Level
	ctx    context.Context // nil for one without end
}

// onLattice returns what a mechanism is on the lattices Q(n,k) of depth k >= 1: lp-optimal becomes the optimum there for the prior and the
// level, others that are made for a lattice (mechanisms.ForLattice) are made for these, and all others stay as they are.
// With k = 0, the depth stays open.
func onLattice(m mechanisms.Mechanism, k int, prior Prior, level Level) mechanisms.Mechanism {
	if m, ok := m.(*optimal); ok {
		return &optimal{tables: m.tables, k: k, prior: prior, level: level, ctx: m.ctx}
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
	return onLattice(o, k, o.prior, o.level)
}

// WithContext is for mechanisms.Within.
func (o *optimal) WithContext(ctx context.Context) mechanisms.Mechanism {
	limited := *o
	limited.ctx = ctx
	return &limited
}

// tables are solved programs, by what they are about.
type tables struct {
	mu    sync.Mutex
	known map[string]*proof
}

// maxOptimalVariables bounds the programs that are solved on the way to a pmf, and optimalGap how far the objectives of their tables are above the optimum,
// relatively, where e^ε is irrational.
const maxOptimalVariables = 10_000

var optimalGap = big.NewRat(1, 1e12)

// of returns the table of a question for the named mechanism, from memory where it is there. The error is the context's where it ends.
func (t *tables) of(ctx context.Context, q *Request, name string) (*proof, error) {
	if q.hasMore(maxOptimalVariables) {
		return nil, fmt.Errorf("%w: %s at n = %d and k = %d has %s variables, over the limit of %d; use fewer candidates or depths",
			mechanisms.ErrInstance, name, q.N, q.K, decimal.Count(lattice.Variables(q.N, q.depths())), maxOptimalVariables)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := fmt.Sprint(q.N, q.K, q.Step, q.Prior, q.Level, q.Epsilon)
	if s := t.known[key]; s != nil {
		return s, nil
	}
	q.solver = linear.Embedded{}
	p, err := newProgram(ctx, q)
	if err != nil {
		return nil, err
	}
	s, err := p.solve(ctx, optimalGap, nil)
	switch {
	case err != nil:
		return nil, err
	case s.Undecided != "" && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case s.Undecided != "":
		return nil, fmt.Errorf("%w: %s: %s", linear.ErrUnsettled, name, s.Undecided)
	}
	if t.known == nil {
		t.known = map[string]*proof{}
	}
	t.known[key] = s
	return s, nil
}

// probability is that of one candidate at depth v of the score vectors with the given counts.
func (s *proof) probability(counts []int, v int) *big.Rat {
	return s.Table.At(s.program.vars.Find(counts, v))
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

// place returns the lattice point of an instance: its depths, which must be integers, and the program.
func (o *optimal) place(in *mechanisms.Instance) (depths []int, s *proof, err error) {
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
	q := &Request{N: len(depths), K: k, Epsilon: in.Epsilon, Level: o.level, Prior: o.prior}
	s, err = o.tables.of(ctx, q, "lp-optimal")
	return depths, s, err
}

func (o *optimal) Exact(in *mechanisms.Instance) ([]*big.Rat, error) {
	if _, ok := in.Epsilon.Z(); !ok {
		return nil, mechanisms.ErrNotRational
	}
	return o.pmf(in)
}

// pmf reads the candidates' probabilities off one table that satisfies the program's rows and whose objective is within optimalGap of the optimum.
func (o *optimal) pmf(in *mechanisms.Instance) ([]*big.Rat, error) {
	depths, s, err := o.place(in)
	if err != nil {
		return nil, err
	}
	_, k := s.program.lat.Size()
	m := lattice.Count(depths, k)
	out := make([]*big.Rat, len(depths))
	for i, v := range depths {
		out[i] = s.probability(m, v)
	}
	return out, nil
}

func (o *optimal) Enclose(in *mechanisms.Instance, prec uint) ([]number.Interval, error) {
	p, err := o.pmf(in)
	out := make([]number.Interval, len(p))
	for i, x := range p {
		out[i] = number.FromRat(x, prec)
	}
	return out, err
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
