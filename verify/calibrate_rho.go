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

// AllScores is the domain of a calibration by theorem.
const AllScores = "all real scores of two or more candidates"

// rhoMode says how much of ρ is asked for.
type rhoMode int

const (
	tightRho   rhoMode = iota
	decidedRho         // on which side of the target it is
	leastRho           // what the search in floating point finds, which is a lower bound
)

// decideRho decides whether ρ is at most the target at a parameter.
func (c *Calibrator) decideRho(ctx context.Context, out *Calibration, eps number.Epsilon, mode rhoMode) (decided, error) {
	options := Options{Properties: []Property{ZCDP}, rho: mode}
	if mode == decidedRho {
		options.Rho = c.Target.Rho
	}
	r, err := c.examine(ctx, out, eps, options)
	if err != nil {
		return decided{}, err
	}
	d := decided{verdict: r.Verdict, attained: r.Witness, reason: r.Reason, rho: math.Inf(1)}
	if d.attained == nil {
		d.attained = r.Attained
	}
	if lo, ok := r.Rho.Lower(); ok {
		d.rho, _ = lo.Float64()
	}
	return d, nil
}

// nearRho returns the parameter at which the search in floating point puts ρ = R, or 0 where it does not find one: a proposal.
func (c *Calibrator) nearRho(ctx context.Context, out *Calibration) (float64, error) {
	target, _ := c.Target.Rho.Float64()
	low := math.Log(2*target) / 2 // no ε-DP mechanism has a greater ρ than ε²/2
	if target <= 0 || low > math.Log(unlimitedParameter) {
		return 0, nil
	}
	at := func(x float64) (float64, error) { // ln(ρ/R) at the parameter e^x
		eps, err := number.FromEpsilon(new(big.Rat).SetFloat64(math.Exp(x)))
		if err != nil {
			return 0, err
		}
		d, err := c.decideRho(ctx, out, eps, leastRho)
		return math.Log(d.rho / target), err
	}
	gap, _ := c.Gap.Float64()
	fl, err := at(low)
	high, fh := low, fl
	for err == nil && fh < 0 {
		if low, fl, high = high, fh, high+math.Ln2; high > math.Log(unlimitedParameter) || ctx.Err() != nil {
			return 0, nil
		}
		fh, err = at(high)
	}
	side := 0
	for i := 0; err == nil && i < 60 && high-low > gap/30 && ctx.Err() == nil; i++ {
		x := (float64(low*fh) - float64(high*fl)) / (fh - fl) // Illinois: the end that stays counts for half
		if !(x > low && x < high) {
			x = low + float64((high-low)/2)
		}
		var f float64
		switch f, err = at(x); {
		case math.Abs(f) < gap/30:
			low, high = x, x
		case f < 0:
			if low, fl = x, f; side < 0 {
				fh /= 2
			}
			side = -1
		default:
			if high, fh = x, f; side > 0 {
				fl /= 2
			}
			side = 1
		}
	}
	return math.Exp(low), err
}

// decimalNear returns a rational of twelve digits near x > 0, which people can type.
func decimalNear(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(fmt.Sprintf("%.12g", x))
	if !ok {
		return new(big.Rat)
	}
	return r
}

// forAllScores returns the largest parameter for all real scores, where a theorem gives it, otherwise no number. Target is met at it on every
// domain. That takes milliseconds, and is had even where the time is up.
func (c *Calibrator) forAllScores(ctx context.Context) number.Number {
	if c.Target.Rho == nil {
		if c.tightForAllScores() {
			return c.Target.Epsilon.Number()
		}
		return number.Number{}
	}
	all := Calibration{}
	if c.Target.Rho.Sign() <= 0 || len(c.Vectors) > 0 || c.byTheorem(context.WithoutCancel(ctx), &all) != nil {
		return number.Number{}
	}
	return all.Parameter
}

// proposals returns parameters that are likely to be the ends of the enclosure.
func (c *Calibrator) proposals(ctx context.Context, out *Calibration) ([]*big.Rat, error) {
	if c.Target.Rho == nil {
		return nil, nil
	}
	x, err := c.nearRho(ctx, out)
	if err != nil || x == 0 {
		return nil, err
	}
	gap, _ := c.Gap.Float64()
	gap = min(gap, 0.5)
	return []*big.Rat{decimalNear(x * (1 - gap/3)), decimalNear(x * (1 + gap/3))}, nil
}

// byTheorem finds the parameter for all real scores. ρ does not decrease in it.
func (c *Calibrator) byTheorem(ctx context.Context, out *Calibration) error {
	out.Proof, out.Domain = ByTheorem, AllScores
	if c.Target.Rho == nil {
		return fmt.Errorf("%w: all real scores at once are for a target ρ", inquiry.ErrClaim)
	}
	if !c.sameSensitivities() || c.Neighbors != Linf && !c.Claim.Monotonic {
		return fmt.Errorf("%w: all real scores at once are for candidates of one sensitivity that move either way, or run for monotonic scores", inquiry.ErrClaim)
	}
	zero, _ := number.FromEpsilon(new(big.Rat))
	if _, ok := mechanisms.Concentration(c.Claim.Mechanism, zero, 64); !ok {
		return fmt.Errorf("%w: no theorem gives the ρ of %s for all real scores; the lattice can be searched", inquiry.ErrClaim, c.Claim.Mechanism.Info().Name)
	}
	x, _ := c.Target.Rho.Float64()
	e := &ends{low: new(big.Rat)}
	start := decimalNear(min(max(math.Sqrt(2*x), 1.0/(1<<20)), number.MaxEpsilon))
	err := c.search(ctx, out, e, []*big.Rat{start}, number.MaxEpsilon, func(eps number.Epsilon) (decided, error) {
		if ctx.Err() != nil {
			return decided{verdict: Undecided, reason: "it was stopped"}, nil
		}
		out.Tried++
		rho, _ := mechanisms.Concentration(c.Claim.Mechanism, eps, 128)
		switch s, ok := rho.Cmp(number.FromRat(c.Target.Rho, 128)); {
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
