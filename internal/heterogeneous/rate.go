package heterogeneous

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/internal/inquiry"
	"optratio/internal/optimum"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// lossPrec is the precision in bits at which losses are summed where probabilities are not rational. At any other the mechanism
// would be asked once more for every vector, which for random stopping takes longer than all else.
const lossPrec = inquiry.FirstBits

// rate compares a mechanism with the optimum of a problem that a grid describes.
func rate(ctx context.Context, m mechanisms.Mechanism, r *Request, p *optimum.Problem, levels [][]int, best number.Number) (Rating, error) {
	l, err := newLaw(ctx, &r.Grid, levels, m, r.Epsilon, r.Params)
	if errors.Is(err, inquiry.ErrEstimates) {
		return estimate(ctx, m, r, p, levels, best)
	}
	if err != nil {
		return Rating{}, err
	}
	private, err := l.privacy(ctx, p.Pairs)
	if err != nil {
		return Rating{}, err
	}
	out := Rating{Name: m.Info().Name, Loss: l.loss(p), DP: private.Verdict, TightEps: private.TightEps, TightExpEps: private.TightExpEps}
	if private.Verdict == verify.Violated {
		out.Witness = private.Attained
	}
	if out.Ratio = out.Loss.Over(best); private.Verdict == verify.Proved && !out.Ratio.IsInf() {
		out.Ratio = out.Ratio.Max(number.Int(1)) // a feasible point of the program is no better than the optimum
	}
	return out, nil
}

// law is a mechanism on the grid. It is shift-invariant, as all of the registry are, and asked at scores relative to the best one, once for all shifts.
type law struct {
	own     *inquiry.Exact
	subject inquiry.Subject // own, asked once for each question
	vectors []inquiry.Vector
	values  [][]*inquiry.Value // at each vector
	from    *big.Rat           // which counts as 0 in the vectors
}

// newLaw asks a mechanism about every vector.
func newLaw(ctx context.Context, g *Grid, levels [][]int, m mechanisms.Mechanism, eps number.Epsilon, params mechanisms.Params) (*law, error) {
	if !m.Info().ShiftInvariant {
		return nil, fmt.Errorf("%w: it is not ShiftInvariant by its Info", mechanisms.ErrInstance)
	}
	own := inquiry.ForMechanism(m, &inquiry.Space{Unit: g.Step, Gap: 1, Sensitivities: g.Sensitivities, Epsilon: eps, Params: params})
	once := inquiry.Remember(own)
	l := &law{from: g.From, own: own, subject: inquiry.SubjectFunc(func(q inquiry.Vector) (*inquiry.Answer, error) {
		return once.Answer(q.Plus(-slices.Max(q)))
	})}
	for _, at := range levels {
		q := make(inquiry.Vector, len(at))
		for r, level := range at {
			q[r] = int64(level)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		a, err := l.subject.Answer(q)
		if err != nil {
			return nil, err
		}
		l.vectors, l.values = append(l.vectors, q), append(l.values, a.P)
	}
	return l, nil
}

// privacy decides whether the mechanism is ε-DP on the pairs and finds the tight ε, the largest ln x_r(q)/x_r(q') over neighbors q, q'.
func (l *law) privacy(ctx context.Context, pairs []optimum.Pair) (*verify.Result, error) {
	dom := &inquiry.Domain{
		Space: l.own.Space(),
		Neighbors: func(yield func(a, b inquiry.Vector) bool) {
			for _, p := range pairs {
				if !yield(l.vectors[p.From], l.vectors[p.To]) {
					return
				}
			}
		},
	}
	report, err := verify.Check(ctx, &inquiry.Question{Subject: l.subject, Exp: l.own.ExpEpsilon(), Domain: dom}, verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true})
	if err != nil {
		return nil, err
	}
	found := report.Find(verify.DP)
	for _, w := range []*verify.Witness{found.Attained, found.Witness} {
		if w != nil {
			for _, x := range slices.Concat(w.Scores, w.Neighbor) {
				x.Add(x, l.from)
			}
		}
	}
	return found, nil
}

// loss returns the mean or largest loss in the user's units.
func (l *law) loss(p *optimum.Problem) number.Number {
	total := number.Int(0)
	for q, pmf := range l.values {
		own := number.Int(0)
		for r, x := range pmf {
			at := number.Exact(p.Loss[q][r])
			if exact := x.Rat(); exact != nil {
				own = own.Add(at.Mul(number.Exact(exact)))
			} else {
				own = own.Add(at.Mul(number.Enclosed(x.Enclose(lossPrec))))
			}
		}
		if p.Prior == nil {
			total = total.Max(own)
		} else {
			total = total.Add(own.Mul(number.Exact(p.Prior[q])))
		}
	}
	return total
}

// estimate is rate for a mechanism of which only estimates are known. Of these there is no verdict.
func estimate(ctx context.Context, m mechanisms.Mechanism, r *Request, p *optimum.Problem, levels [][]int, best number.Number) (Rating, error) {
	const method = "float64"
	var pmfs [][]float64
	loss := 0.0
	for q, at := range levels {
		if ctx.Err() != nil {
			return Rating{}, context.Cause(ctx)
		}
		in := &mechanisms.Instance{Scores: r.Grid.scores(at), Sensitivities: r.Grid.Sensitivities, Epsilon: r.Epsilon, Params: r.Params}
		pmf, err := m.Float(in)
		if err != nil {
			return Rating{}, err
		}
		pmfs = append(pmfs, pmf)
		own := 0.0
		for c, x := range pmf {
			cost, _ := p.Loss[q][c].Float64()
			own += float64(cost * x)
		}
		if p.Prior == nil {
			loss = max(loss, own)
		} else {
			weight, _ := p.Prior[q].Float64()
			loss += float64(weight * own)
		}
	}
	most := 1.0
	for _, pair := range p.Pairs {
		for c, x := range pmfs[pair.From] {
			y := pmfs[pair.To][c]
			most = max(most, x/y, y/x)
		}
	}
	out := Rating{Name: m.Info().Name, Loss: number.Estimate(loss, method), DP: verify.Undecided, TightEps: number.Estimate(math.Log(most), method)}
	switch at := best.Float64(); {
	case at > 0:
		out.Ratio = number.Estimate(loss/at, method)
	case loss == 0:
		out.Ratio = number.Int(1)
	default:
		out.Ratio = number.Infinity()
	}
	return out, nil
}
