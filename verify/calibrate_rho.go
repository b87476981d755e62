package verify

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/number"
)

// allScores is the domain of a calibration by theorem.
const allScores = "all real scores of two or more candidates"

// rhoMode says how much of ρ is asked for.
type rhoMode int

const (
	tightRho   rhoMode = iota
	decidedRho         // on which side of the target it is
	leastRho           // what the search in floating point finds, which is a lower bound
)

// nearRho returns parameters that are likely to be the ends of the enclosure, or none: on either side of the one at which the search in floating point
// puts ρ = R. ln ρ is nearly a linear function of ln ε', with the slope 2 near 0, for which secants lead there in a few steps.
func (c *calibrator) nearRho(ctx context.Context, out *Calibration) ([]*big.Rat, error) {
	target, _ := c.Rho.Float64()
	x, slope, before := math.Log(2*target)/2, 2.0, 0.0 // no ε-DP mechanism has a greater ρ than ε²/2
	gap, _ := c.Gap.Float64()
	gap = min(gap, 0.5)
	for i := range 40 {
		if target <= 0 || !(x <= math.Log(unlimitedParameter)) || ctx.Err() != nil {
			break
		}
		eps, err := number.FromEpsilon(new(big.Rat).SetFloat64(math.Exp(x)))
		if err != nil {
			return nil, err
		}
		r, err := c.examine(ctx, out, eps, Options{Properties: []Property{ZCDP}, rho: leastRho})
		if err != nil {
			return nil, err
		}
		off := 0.0
		if least, ok := r.Rho.Lower(); ok {
			rho, _ := least.Float64()
			off = math.Log(rho / target)
		}
		if math.Abs(off) < gap/30 {
			return []*big.Rat{decimalNear(math.Exp(x) * (1 - gap/3)), decimalNear(math.Exp(x) * (1 + gap/3))}, nil
		}
		if i > 0 {
			slope = max(slope*(off-before)/-before, 0.25)
		}
		x, before = x-off/slope, off
	}
	return nil, nil
}

// decimalNear returns a rational of twelve digits near x > 0, which people can type.
func decimalNear(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(fmt.Sprintf("%.12g", x))
	if !ok {
		return new(big.Rat)
	}
	return r
}

// forAllScores returns the largest parameter for all real scores, where a theorem gives it, otherwise no number. The target is met at it on every
// domain. That takes milliseconds, and is had even where the time is up.
func (c *calibrator) forAllScores(ctx context.Context) number.Number {
	all := Calibration{}
	switch {
	case c.Rho == nil && c.tightForAllScores():
		return c.Claim.Epsilon.Number()
	case c.Rho == nil, c.Rho.Sign() <= 0, len(c.Vectors) > 0, c.everywhere(context.WithoutCancel(ctx), &all) != nil:
		return number.Number{}
	}
	return all.Parameter
}

// everywhere finds the parameter for all real scores. ρ does not decrease in it.
func (c *calibrator) everywhere(ctx context.Context, out *Calibration) error {
	out.Proof, out.Domain = byTheorem, allScores
	if c.Rho == nil {
		return fmt.Errorf("%w: all real scores at once are for a target ρ", inquiry.ErrClaim)
	}
	if !c.sameSensitivities() || c.Monotonic && !c.Claim.Monotonic {
		return fmt.Errorf("%w: all real scores at once are for candidates of one sensitivity that move either way, or run for monotonic scores", inquiry.ErrClaim)
	}
	zero, _ := number.FromEpsilon(new(big.Rat))
	if _, ok := mechanisms.Concentration(c.Claim.Mechanism, zero, 64); !ok {
		return fmt.Errorf("%w: no theorem gives the ρ of %s for all real scores; the lattice can be searched", inquiry.ErrClaim, c.Claim.Mechanism.Info().Name)
	}
	x, _ := c.Rho.Float64()
	e := &ends{low: new(big.Rat)}
	start := decimalNear(min(max(math.Sqrt(2*x), 1.0/(1<<20)), number.MaxEpsilon))
	err := c.search(ctx, out, e, []*big.Rat{start}, number.MaxEpsilon, func(eps number.Epsilon) (decided, error) {
		if ctx.Err() != nil {
			return decided{verdict: Undecided, reason: "it was stopped"}, nil
		}
		out.Tried++
		rho, _ := mechanisms.Concentration(c.Claim.Mechanism, eps, 128)
		switch s, ok := rho.Cmp(number.FromRat(c.Rho, 128)); {
		case !ok:
			return decided{verdict: Undecided, reason: "128 bits do not tell ρ from the target"}, nil
		case s > 0:
			return decided{verdict: Violated}, nil
		}
		return decided{verdict: Proved}, nil
	})
	out.Parameter = number.Bounds(e.low, e.high)
	return err
}
