package lp

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"optratio/internal/arith"
	"optratio/internal/linear"
	"optratio/internal/patience"
	"optratio/mechanisms"
	"optratio/number"
)

// rate evaluates the mechanisms against the optimum, raising the precision until
// the enclosures of their objectives add nothing of note to the gap.
func (j *job) rate(ctx context.Context) error {
	j.answer.Optimum = j.best.optimum()
	grace, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(ratingGrace, func() { cancel(context.Cause(ctx)) })
	})
	defer stop()
	for _, m := range j.Mechanisms {
		if err := j.rateOne(grace, m); err != nil {
			return err
		}
	}
	return nil
}

// rateOne appends a mechanism's objective and ratio to the answer, unless the context ends first.
func (j *job) rateOne(ctx context.Context, m mechanisms.Mechanism) error {
	type attempt struct {
		number.Number
		err error
	}
	for prec := j.precision(); ; prec *= 2 {
		t, ok := patience.Await(ctx, 0, func() attempt {
			x, err := j.objective(ctx, m, prec)
			return attempt{x, err}
		})
		switch {
		case !ok || t.err != nil && ctx.Err() != nil:
			j.undecided(context.Cause(ctx).Error())
			return nil
		case errors.Is(t.err, ErrTooLarge) || errors.Is(t.err, linear.ErrUnsettled):
			if j.undecided(t.err.Error()); j.published() {
				return nil
			}
			t = attempt{number.Bounds(new(big.Rat), j.known.most), nil}
		case errors.Is(t.err, mechanisms.ErrAnswer):
			j.answer.Mechanisms = append(j.answer.Mechanisms, Rated{Name: m.Info().Name, Finding: t.err.Error()})
			return nil
		case t.err != nil:
			return t.err
		}
		ratio := j.ratio(m, t.Number)
		wide := ratio.IsRigorous() && !ratio.IsInf() && !ratio.Within(RatioGap(j.Gap, m))
		if wide && j.reached(j.best) && prec < 1<<12 && !approximate(m) {
			continue
		}
		j.answer.Mechanisms = append(j.answer.Mechanisms, Rated{Name: m.Info().Name, Error: t.Number, Ratio: ratio})
		if wide {
			j.undecided(fmt.Sprintf("the ratio of %s is not known to the gap", m.Info().Name))
		}
		return nil
	}
}

// ratio returns a mechanism's objective over the optimum, 1 where both are 0.
func (j *job) ratio(m mechanisms.Mechanism, objective number.Number) number.Number {
	one, optimum := number.Int(1), j.answer.Optimum
	pf, em := m == mechanisms.PermuteAndFlip(), m == mechanisms.Exponential()
	if j.N == 1 || pf && j.best.proof == proofRecurrence {
		return one
	}
	ratio := objective.Over(optimum)
	if !ratio.IsRigorous() || arith.IsExact(ratio) || ratio.IsInf() {
		return ratio
	}
	if pf || em {
		// Both satisfy every level's rows: the optimum is at most their objective.
		ratio = ratio.Max(one)
	}
	if em && j.best.proof == proofRecurrence {
		// With weights p <= 1 and S their sum, permute-and-flip picks r with p_r ∫₀¹ Π_{s≠r} (1 - t p_s) dt >= p_r ∫₀¹ (1-t)^(S-p_r) dt
		// >= p_r/(1+S) >= p_r/2S, half of what the exponential mechanism does.
		ratio = ratio.Min(number.Int(2))
	}
	if _, ok := m.(*optimal); ok && j.published() {
		// Its error is within optimalGap of the optimum, which bounds from elsewhere may be closer to.
		low, high := ratio.Min(one), ratio.Max(one)
		ratio = number.Between(low, high)
	}
	return ratio
}

// approximate reports whether more bits tell nothing more about a mechanism.
func approximate(m mechanisms.Mechanism) bool {
	_, ok := mechanisms.Precision(m)
	return ok
}

// RatioGap is the relative width that a mechanism's ratio may have for the gap asked for: a precision p of its numbers adds up to 2p, and a third one leaves room for
// what it means below the normal range.
func RatioGap(gap *big.Rat, m mechanisms.Mechanism) *big.Rat {
	if precision, _ := mechanisms.Precision(m); precision != nil {
		return new(big.Rat).Add(gap, new(big.Rat).Mul(precision, big.NewRat(3, 1)))
	}
	return gap
}
