package heterogeneous

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/internal/table"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// lossPrec is the precision in bits at which losses are summed where probabilities are not rational. At any other the mechanism
// would be asked once more for every vector, which for random stopping takes longer than all else.
const lossPrec = verify.FirstBits

// law is a mechanism on the grid. One that is shift-invariant by its Info, as all of the registry are, is asked at scores relative to the best one, once
// for all shifts; any other at the scores as they are.
type law struct {
	space   *space
	first   int64 // From, and a step, in units of own's vectors
	step    int64
	own     *verify.Exact
	subject verify.Subject    // own, asked once for each question
	values  [][]*verify.Value // by vector; nil where there are only estimates
	floats  [][]float64       // the estimates
	method  string            // of the estimates
}

// newLaw asks a mechanism about every vector.
func newLaw(ctx context.Context, s *space, m mechanisms.Mechanism, eps number.Epsilon, params mechanisms.Params) (*law, error) {
	l := &law{space: s, step: 1}
	unit, invariant := s.grid.Step, m.Info().ShiftInvariant
	if !invariant {
		if s.grid.ShiftInvariant {
			return nil, fmt.Errorf("%w: it is not ShiftInvariant by its Info, as the grid is", mechanisms.ErrInstance)
		}
		var err error
		if unit, l.first, l.step, err = s.grid.unit(); err != nil {
			return nil, err
		}
	}
	l.own = verify.ForMechanism(m, &verify.Space{
		Unit: unit, Gap: l.step, Sensitivities: s.grid.Sensitivities, Epsilon: eps, Params: params,
	})
	l.subject = verify.Remember(l.own)
	if invariant {
		once := l.subject
		l.subject = verify.SubjectFunc(func(q verify.Vector) (*verify.Answer, error) { return once.Answer(q.Plus(-slices.Max(q))) })
	}
	for q := range s.levels {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		switch a, err := l.subject.Answer(l.vector(q)); {
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
func (l *law) estimate(ctx context.Context, m mechanisms.Mechanism, eps number.Epsilon, params mechanisms.Params) error {
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

// vector returns a vector's scores, of which From counts as 0 for a mechanism that is shift-invariant.
func (l *law) vector(q int) verify.Vector {
	out := make(verify.Vector, l.space.n)
	for a, level := range l.space.levels[q] {
		out[a] = l.first + int64(level)*l.step
	}
	return out
}

// unit returns the largest number of which From and the step are multiples, and these multiples.
func (g *Grid) unit() (unit *big.Rat, from, step int64, err error) {
	quotient := new(big.Rat).Quo(g.From, g.Step)
	unit = new(big.Rat).Quo(g.Step, new(big.Rat).SetInt(quotient.Denom()))
	last := new(big.Int).Mul(quotient.Denom(), big.NewInt(int64(g.Steps)))
	if last.Add(last, new(big.Int).Abs(quotient.Num())); !last.IsInt64() {
		return nil, 0, 0, fmt.Errorf("%w: it begins too far from 0 for its step", ErrGrid)
	}
	return unit, quotient.Num().Int64(), quotient.Denom().Int64(), nil
}

// privacy decides every row (P) of the grid and finds the tight ε, the largest ln x_r(q)/x_r(q') over neighbors q, q'.
// Of estimates there is no verdict.
func (l *law) privacy(ctx context.Context) (*verify.Result, error) {
	if l.values == nil {
		return &verify.Result{Name: verify.DP, Verdict: verify.Undecided, TightEps: number.Estimate(l.estimatedEpsilon(), l.method)}, nil
	}
	vectors := make([]verify.Vector, len(l.space.levels))
	for q := range vectors {
		vectors[q] = l.vector(q)
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
func (p *program) losses(l *law) number.Number {
	unit := p.unit()
	irrational := func(x *verify.Value) bool { return x.Rat() == nil }
	if !slices.ContainsFunc(l.values, func(pmf []*verify.Value) bool { return slices.ContainsFunc(pmf, irrational) }) {
		exact := objective(p, arith.Rat{}, table.LargerRat, func(q, r int) *big.Rat { return l.values[q][r].Rat() })
		return number.Exact(new(big.Rat).Mul(exact, unit))
	}
	most := objective(p, arith.Interval{Prec: lossPrec}, number.Interval.Max, func(q, r int) number.Interval { return l.values[q][r].Enclose(lossPrec) })
	return number.Enclosed(most.Mul(number.FromRat(unit, lossPrec))).Max(number.Int(0))
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
