package evaluate

import (
	"cmp"
	"context"
	"math"
	"math/big"

	"optratio/mechanisms"
	"optratio/number"
)

const (
	brackets = 200   // doublings and halvings of ε before a search gives up
	polish   = 100   // steps of a search once both sides are known
	closest  = 1e-13 // relative accuracy of a search in float64
	first    = 4e-12 // relative half-width that is tried first around a proposed ε, and then 30 times as much, up to last
	last     = 1e-2
)

// Reaching encloses the ε at which a mechanism's expected error falls to target: at the lower end it is at least target, at the upper end at most.
// For permute-and-flip, the exponential mechanism and every other that adds noise of a fixed law times 1/ε to each score and takes the
// largest sum the error never rises with ε, as for each outcome of the noise a larger ε takes a better candidate or the same; there
// is no other such ε then. For other mechanisms it is one of perhaps several.
//
// It is 0 where the error is at most target at ε = 0 already, and +∞ where it is positive at every ε and target is 0. The ε is proposed in float64
// and proved by enclosures of the error on either side; where those are estimates, or target is one, so is the result. An end that could
// not be proved is missing, as for mechanisms that do not reach the target. A target is not negative.
func (p *Problem) Reaching(ctx context.Context, m mechanisms.Mechanism, target number.Number) (number.Number, error) {
	goal := target
	if f := target.Float64(); !target.IsRigorous() && !math.IsInf(f, 0) {
		goal = number.Exact(new(big.Rat).SetFloat64(f))
	}
	switch lo, hi := goal.Ends(); {
	case lo == nil || hi == nil:
		return number.Number{}, inputf("the target error %v has no bounds", target)
	case lo.Sign() < 0:
		return number.Number{}, inputf("the target error %v is not a number >= 0", target)
	}
	uniform, err := p.ExpectedError(m, rationalEpsilon(0))
	if err != nil {
		return number.Number{}, err
	}
	if atMost(uniform, goal) {
		return number.Int(0), nil
	}
	if _, weighted := m.(weighted); weighted && atMost(goal, number.Int(0)) {
		return number.Infinity(), nil
	}
	proposed, err := p.propose(ctx, m, logOf(target))
	if err != nil {
		return number.Number{}, err
	}
	if !target.IsRigorous() {
		return number.Estimate(proposed, "float64, from an estimated error"), nil
	}
	// The ends are independent: each is moved away until it is proved.
	end := func(side float64, proves func(number.Number) bool) (*big.Rat, bool, error) {
		for wide := first; wide < last; wide *= 30 {
			at := proposed * (1 + float64(side*wide))
			if at > number.MaxEpsilon {
				break
			}
			x, err := p.ExpectedError(m, rationalEpsilon(at))
			switch {
			case err != nil:
				return nil, false, err
			case ctx.Err() != nil:
				return nil, false, context.Cause(ctx)
			case !x.IsRigorous():
				return nil, true, nil
			case proves(x):
				return new(big.Rat).SetFloat64(at), false, nil
			}
		}
		return nil, false, nil
	}
	lo, vague, err := end(-1, func(x number.Number) bool { return atMost(goal, x) })
	if err != nil {
		return number.Number{}, err
	}
	if vague {
		return number.Estimate(proposed, "float64, from estimated errors"), nil
	}
	hi, _, err := end(1, func(x number.Number) bool { return atMost(x, goal) })
	if err != nil {
		return number.Number{}, err
	}
	if lo == nil {
		lo = new(big.Rat)
	}
	return number.Bounds(lo, hi), nil
}

// rationalEpsilon returns the parameter of exactly that value.
func rationalEpsilon(x float64) number.Epsilon {
	e, err := number.FromEpsilon(new(big.Rat).SetFloat64(x))
	if err != nil {
		panic(err) // x is from 0 to the largest
	}
	return e
}

// atMost reports whether a is certainly at most b.
func atMost(a, b number.Number) bool {
	holds, known := a.LessEq(b)
	return holds && known
}

// logOf returns about ln x, also where x is beyond the range of float64; -Inf for 0.
func logOf(x number.Number) float64 {
	if !x.IsRigorous() {
		return math.Log(x.Float64())
	}
	r, ok := x.Upper()
	if !ok || r.Sign() <= 0 {
		return math.Inf(-1)
	}
	f := new(big.Float).SetPrec(64).SetRat(r)
	mantissa, _ := new(big.Float).SetMantExp(f, -f.MantExp(nil)).Float64()
	return math.Log(mantissa) + float64(math.Ln2*float64(f.MantExp(nil)))
}

// propose returns an ε at which ln of the error is about log, without proof: the search brackets it by doubling and halving, and closes in by
// regula falsi in the variant that halves the value of an end that stays (Illinois).
func (p *Problem) propose(ctx context.Context, m mechanisms.Mechanism, log float64) (float64, error) {
	var failure error
	excess := func(x float64) float64 {
		if failure = cmp.Or(failure, context.Cause(ctx)); failure != nil {
			return 0
		}
		y, err := p.approximate(m, x)
		failure = err
		return max(min(y-log, 1e6), -1e6)
	}
	size, _ := p.sensitivity.Float64()
	lo := min(max(size, 1e-100), number.MaxEpsilon) / (1 + p.near[len(p.near)-1])
	atLo := excess(lo)
	hi, atHi := lo, atLo
	for range brackets {
		if failure != nil || atLo >= 0 && atHi <= 0 {
			break
		}
		if atHi > 0 {
			if hi == number.MaxEpsilon {
				return hi, nil
			}
			lo, atLo = hi, atHi
			hi = min(2*hi, number.MaxEpsilon)
			atHi = excess(hi)
		} else {
			hi, atHi = lo, atLo
			lo /= 2
			atLo = excess(lo)
		}
	}
	for range polish {
		if failure != nil || hi-lo <= closest*hi || atLo <= 0 || atHi >= 0 {
			break
		}
		x := lo + (hi-lo)*atLo/(atLo-atHi)
		if !(x > lo && x < hi) {
			x = lo + float64((hi-lo)/2)
		}
		if y := excess(x); y >= 0 {
			lo, atLo, atHi = x, y, atHi/2
		} else {
			hi, atHi, atLo = x, y, atLo/2
		}
	}
	if math.Abs(atLo) < math.Abs(atHi) {
		return lo, failure
	}
	return hi, failure
}

// approximate returns about ln of a mechanism's expected error, from its probabilities in float64 where these are good for it.
func (p *Problem) approximate(m mechanisms.Mechanism, x float64) (float64, error) {
	eps := rationalEpsilon(x)
	sensitivity, err := p.sensitivityFor(m)
	if err != nil {
		return 0, err
	}
	if rate := rate(sensitivity, eps); len(p.near) > 1 && rate*p.near[1] < deepest {
		if w, ok := m.(weighted); ok {
			return logOf(p.estimate(w, rate)), nil
		}
		in := p.instance(sensitivity, eps)
		if probabilities, err := m.Float(in); err == nil {
			sum, best := 0.0, in.Best()
			for i, y := range probabilities {
				gap, _ := new(big.Rat).Sub(best, in.Scores[i]).Float64()
				sum += float64(y * gap)
			}
			if sum > 0 {
				return math.Log(sum), nil
			}
		}
	}
	e, err := p.ExpectedError(m, eps)
	return logOf(e), err
}
