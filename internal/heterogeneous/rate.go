package heterogeneous

import (
	"context"
	"fmt"
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
	if !m.Info().ShiftInvariant {
		return Rating{}, fmt.Errorf("%w: it is not ShiftInvariant by its Info", mechanisms.ErrInstance)
	}
	own := inquiry.ForMechanism(m, &inquiry.Space{Unit: r.Grid.Step, Gap: 1, Sensitivities: r.Grid.Sensitivities, Epsilon: r.Epsilon})
	answers, err := ask(ctx, own, levels)
	if err != nil {
		return Rating{}, err
	}
	private, err := privacy(ctx, answers, own.ExpEpsilon(), p.Pairs)
	if err != nil {
		return Rating{}, err
	}
	if len(p.Pairs) == 0 {
		private.Verdict = verify.Undecided // nothing was compared
	}
	out := Rating{Name: m.Info().Name, Loss: loss(answers, p), DP: private.Verdict, TightEps: private.TightEps, TightExpEps: private.TightExpEps}
	if w := private.Attained; private.Verdict == verify.Violated {
		place := func(scores []*big.Rat) []*big.Rat { return r.Grid.scores(levels[scores[0].Num().Int64()]) }
		w.Scores, w.Neighbor = place(w.Scores), place(w.Neighbor)
		out.Witness = w
	}
	if out.Ratio = out.Loss.Over(best); private.Verdict == verify.Proved && !out.Ratio.IsInf() {
		out.Ratio = out.Ratio.Max(number.Int(1)) // a feasible point of the program is no better than the optimum
	}
	return out, nil
}

// ask returns what a mechanism answers at each vector. It is shift-invariant, as all of the registry are, and asked at scores relative to the best one, once for all shifts.
func ask(ctx context.Context, own *inquiry.Exact, levels [][]int) (answers []*inquiry.Answer, err error) {
	once := inquiry.Remember(own)
	for _, at := range levels {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		q, top := make(inquiry.Vector, len(at)), slices.Max(at)
		for r, level := range at {
			q[r] = int64(level - top)
		}
		a, err := once.Answer(q)
		if err != nil {
			return nil, err
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// privacy decides whether answers at inputs are ε-DP on the pairs and finds the tight ε, the largest ln x_r(q)/x_r(q') over neighbors q, q'. Witnesses have the places of inputs
// for scores.
func privacy(ctx context.Context, answers []*inquiry.Answer, exp *inquiry.Value, pairs []optimum.Pair) (*verify.Result, error) {
	question := &inquiry.Question{
		Subject: inquiry.SubjectFunc(func(q inquiry.Vector) (*inquiry.Answer, error) { return answers[q[0]], nil }),
		Exp:     exp,
		Domain: &inquiry.Domain{Space: &inquiry.Space{Unit: big.NewRat(1, 1)}, Neighbors: func(yield func(a, b inquiry.Vector) bool) {
			for _, p := range pairs {
				if !yield(inquiry.Vector{int64(p.From)}, inquiry.Vector{int64(p.To)}) {
					return
				}
			}
		}},
	}
	report, err := verify.Check(ctx, question, verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true})
	if err != nil {
		return nil, err
	}
	return report.Find(verify.DP), nil
}

// loss returns the mean or largest loss in the user's units.
func loss(answers []*inquiry.Answer, p *optimum.Problem) number.Number {
	total := number.Int(0)
	for q, a := range answers {
		own := number.Int(0)
		for r, x := range a.P {
			at := number.Enclosed(x.Enclose(lossPrec))
			if exact := x.Rat(); exact != nil {
				at = number.Exact(exact)
			}
			own = own.Add(number.Exact(p.Loss[q][r]).Mul(at))
		}
		if p.Prior == nil {
			total = total.Max(own)
		} else {
			total = total.Add(own.Mul(number.Exact(p.Prior[q])))
		}
	}
	return total
}
