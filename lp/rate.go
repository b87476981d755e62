package lp

import (
	"context"
	"errors"
	"math/big"
	"time"

	"optratio/internal/linear"
	"optratio/internal/patience"
	"optratio/mechanisms"
	"optratio/number"
)

// rate evaluates the mechanisms against the optimum, raising the precision until
// the enclosures of the errors add nothing of note to the gap.
func (j *job) rate(ctx context.Context) error {
	size := big.NewInt(1)
	if j.Varied() {
		b := j.optimum()
		j.answer.Optimum = number.Bounds(b.Low, b.High)
	} else {
		size = j.Objective.Total(j.N, j.K)
		j.answer.Optimum = toNumber(j.total().over(size, j.prec))
	}
	grace, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(ratingGrace, func() { cancel(context.Cause(ctx)) })
	})
	defer stop()
	if j.Varied() {
		if err := j.enumerate(grace); err != nil {
			return err
		}
	}
	for _, m := range j.Mechanisms {
		if err := j.rateOne(grace, m, size); err != nil {
			return err
		}
	}
	return nil
}

// rateOne appends a mechanism's error and ratio to the answer, unless the context ends first.
func (j *job) rateOne(ctx context.Context, m mechanisms.Mechanism, size *big.Int) error {
	type attempt struct {
		value
		err error
	}
	for prec := j.prec; ; prec *= 2 {
		t, ok := patience.Await(ctx, 0, func() attempt {
			v, err := j.totalOf(ctx, m, prec)
			return attempt{v, err}
		})
		if !ok || t.err != nil && ctx.Err() != nil {
			j.answer.Undecided = context.Cause(ctx).Error()
			return nil
		}
		if errors.Is(t.err, ErrTooLarge) || errors.Is(t.err, linear.ErrUnsettled) {
			if j.answer.Undecided == "" {
				j.answer.Undecided = t.err.Error()
			}
			return nil
		}
		if errors.Is(t.err, mechanisms.ErrAnswer) {
			j.answer.Mechanisms = append(j.answer.Mechanisms, Rated{Name: m.Info().Name, Finding: t.err.Error()})
			return nil
		}
		if t.err != nil {
			return t.err
		}
		var ratio number.Number
		if j.Varied() {
			ratio = j.variedRatio(m, t.value, prec)
		} else {
			ratio = toNumber(j.ratioOf(m, t.value, prec))
		}
		wide := !near(ratio, RatioGap(j.Gap, m))
		if wide && j.reached() && prec < 1<<12 && !approximate(m) {
			continue
		}
		rated := Rated{Name: m.Info().Name, Error: toNumber(t.over(size, prec)), Ratio: ratio}
		j.answer.Mechanisms = append(j.answer.Mechanisms, rated)
		if wide && j.answer.Undecided == "" {
			j.answer.Undecided = unreached(m)
		}
		return nil
	}
}

// totalOf returns a mechanism's total error, or loss, with enclosures of prec bits.
func (j *job) totalOf(ctx context.Context, m mechanisms.Mechanism, prec uint) (value, error) {
	switch {
	case m == mechanisms.PermuteAndFlip() && prec == j.prec && j.flip != nil:
		return *j.flip, nil
	case j.Varied():
		return j.lossOf(ctx, m, prec)
	}
	return total(ctx, m, j.N, j.K, j.Objective, j.Level, j.Epsilon, prec)
}

// ratioOf returns a mechanism's total error over the optimum, 1 where both are 0.
func (j *job) ratioOf(m mechanisms.Mechanism, t value, prec uint) value {
	isPF := m == mechanisms.PermuteAndFlip()
	one := number.FromInt(1, prec)
	optimum := j.total()
	switch {
	case j.N == 1, isPF && j.answer.Proof == ProofRecurrence:
		return exactValue(big.NewRat(1, 1))
	case !t.rigorous():
		return value{estimate: t.estimate / optimum.enclosure(prec).Near(), method: t.method}
	case t.exact != nil && optimum.exact != nil:
		return exactValue(new(big.Rat).Quo(t.exact, optimum.exact))
	}
	ratio := t.enclosure(prec).Quo(optimum.enclosure(prec))
	ratio = ratio.Max(number.FromInt(0, prec))
	if isPF || m == mechanisms.Exponential() {
		// Both satisfy every level's rows: the optimum is at most their error.
		ratio = ratio.Max(one)
	}
	if m == mechanisms.Exponential() && j.answer.Proof == ProofRecurrence {
		// With weights p <= 1 and S their sum, permute-and-flip picks r with p_r ∫₀¹ Π_{s≠r} (1 - t p_s) dt >= p_r ∫₀¹ (1-t)^(S-p_r) dt
		// >= p_r/(1+S) >= p_r/2S, half of what the exponential mechanism does.
		ratio = ratio.Min(number.FromInt(2, prec))
	}
	if _, ok := m.(*optimal); ok {
		// Its error is within optimalGap of the optimum, which bounds from elsewhere may be closer to.
		ratio = number.Hull(ratio, one)
	}
	return boxValue(ratio)
}

func toNumber(v value) number.Number {
	switch {
	case !v.rigorous():
		return number.Estimate(v.estimate, v.method)
	case v.exact != nil:
		return number.Exact(v.exact)
	}
	return number.Enclosed(v.box)
}
