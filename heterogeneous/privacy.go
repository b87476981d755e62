package heterogeneous

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"optratio/lp/table"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/number/arith"
	"optratio/number/interval"
	"optratio/verify"
)

// lossPrec is the precision in bits at which losses are summed where probabilities are not rational. At any other the mechanism
// would be asked once more for every vector, which for random stopping takes longer than all else.
const lossPrec = verify.FirstBits

// law is a mechanism on the grid. It is asked at scores relative to the best one, once for all shifts: what is rated is the
// mechanism after that subtraction, which changes none that depends on differences of scores alone, as all of the registry do.
type law struct {
	space   *space
	own     *verify.Exact
	subject verify.Subject    // own, asked once for all shifts
	values  [][]*verify.Value // by vector; nil where there are only estimates
	floats  [][]float64       // the estimates
	method  string            // of the estimates
}

// newLaw asks a mechanism about every vector.
func newLaw(ctx context.Context, s *space, m mechanisms.Mechanism, eps mechanisms.Epsilon, params mechanisms.Params) (*law, error) {
	l := &law{space: s, own: verify.ForMechanism(m, &verify.Space{
		Unit: s.grid.Step, Sensitivities: s.grid.Sensitivities, Epsilon: eps, Params: params,
	})}
	once := verify.Remember(l.own)
	l.subject = verify.SubjectFunc(func(q verify.Vector) (*verify.Answer, error) { return once.Answer(q.Plus(-slices.Max(q))) })
	for q := range s.levels {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		switch a, err := l.subject.Answer(s.vector(q)); {
		case errors.Is(err, verify.ErrEstimates):
			return l, l.estimate(ctx, m, eps, params)
		case err != nil:
			return nil, err
		default:
			l.values = append(l.values, a.P)
		}
	}
	return l, nil
}

// estimate asks the mechanism for estimates.
func (l *law) estimate(ctx context.Context, m mechanisms.Mechanism, eps mechanisms.Epsilon, params mechanisms.Params) error {
	l.values, l.method = nil, "float64"
	if _, ok := m.(mechanisms.Estimator); ok {
		l.method = "quadrature"
	}
	for q := range l.space.levels {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		in := &mechanisms.Instance{Scores: l.space.scores(q), Sensitivities: l.space.grid.Sensitivities, Epsilon: eps, Params: params}
		p, err := m.Float(in)
		if err != nil {
			return err
		}
		l.floats = append(l.floats, p)
	}
	return nil
}

// vector returns a vector's levels, in which the unit is a step and From counts as 0.
func (s *space) vector(q int) verify.Vector {
	out := make(verify.Vector, s.n)
	for a, level := range s.levels[q] {
		out[a] = int64(level)
	}
	return out
}

// privacy decides every row (P) of the grid and finds the tight ε, the largest ln x_r(q)/x_r(q') over neighbors q, q'.
// Of estimates there is no verdict.
func (l *law) privacy(ctx context.Context) (*verify.Result, error) {
	if l.values == nil {
		return &verify.Result{Name: verify.DP, Verdict: verify.Undecided, TightEps: number.Estimate(l.estimatedEpsilon(), l.method)}, nil
	}
	vectors := make([]verify.Vector, len(l.space.levels))
	for q := range vectors {
		vectors[q] = l.space.vector(q)
	}
	report, err := verify.Check(ctx, l.subject, l.subject, l.own.ExpEpsilon(), &verify.Domain{
		Space: l.own.Space(),
		Neighbors: func(yield func(a, b verify.Vector) bool) {
			for q, near := range l.space.neighbors {
				for _, o := range near {
					if int(o) < q && !yield(vectors[q], vectors[o]) {
						return
					}
				}
			}
		},
	}, verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true})
	if err != nil {
		return nil, err
	}
	found := report.Find(verify.DP)
	for _, w := range []*verify.Witness{found.Attained, found.Witness} {
		if w != nil {
			l.space.place(w.Scores)
			l.space.place(w.Neighbor)
		}
	}
	return found, nil
}

// place moves scores that are relative to From to where they are on the grid.
func (s *space) place(scores []*big.Rat) {
	for _, x := range scores {
		x.Add(x, s.grid.From)
	}
}

// estimatedEpsilon returns the largest ln x_r(q)/x_r(q') of estimates.
func (l *law) estimatedEpsilon() float64 {
	most := 1.0
	for q, near := range l.space.neighbors {
		for _, o := range near {
			for r, p := range l.floats[q] {
				most = max(most, p/l.floats[o][r])
			}
		}
	}
	return math.Log(most)
}

// losses returns a law's mean or largest loss in the user's units.
func (p *program) losses(l *law) table.Bounds {
	unit := p.unit()
	irrational := func(x *verify.Value) bool { return x.Rat() == nil }
	if !slices.ContainsFunc(l.values, func(pmf []*verify.Value) bool { return slices.ContainsFunc(pmf, irrational) }) {
		exact := objective(p, arith.Rat{}, table.LargerRat, func(q, r int) *big.Rat { return l.values[q][r].Rat() })
		exact = new(big.Rat).Mul(exact, unit)
		return table.Bounds{Low: exact, High: exact}
	}
	most := objective(p, arith.Interval{Prec: lossPrec}, interval.Interval.Max, func(q, r int) interval.Interval { return l.values[q][r].Enclose(lossPrec) })
	low, high := table.Ends(most.Mul(interval.FromRat(unit, lossPrec)))
	return table.Bounds{Low: low, High: high}
}

// estimatedLoss is losses for estimates.
func (p *program) estimatedLoss(l *law) float64 {
	unit, _ := p.unit().Float64()
	return unit * objective(p, arith.Float{}, math.Max, func(q, r int) float64 { return l.floats[q][r] })
}

// objective returns the mean or largest loss of a table, in steps or squared steps.
func objective[T any](p *program, f arith.Field[T], larger func(a, b T) T, at func(q, r int) T) T {
	var weights []*big.Rat
	expected := make([]T, len(p.levels))
	for q := range p.levels {
		expected[q] = f.Zero()
		for r := range p.n {
			expected[q] = f.Add(expected[q], f.Mul(f.FromRat(new(big.Rat).SetInt(p.lossAt(q, r))), at(q, r)))
		}
		if p.criterion == Mean {
			weights = append(weights, big.NewRat(p.weight[q], 1))
		}
	}
	return table.Objective(f, larger, weights, expected)
}
