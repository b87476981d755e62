package compose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"optratio/number"
)

// errNoAttack says why there is no upper end.
var errNoAttack = errors.New("no attack was found that refutes a larger ε")

// Largest bounds the largest ε of each step at which so many selections by a mechanism are (s,δ)-DP together: the lower end is certified by an upper bound, the
// upper end is refuted by an attack. p has the kind, whose ε is not read, and the number of steps. stopped says why the width is not what is wanted.
//
// The family of a smaller ε is contained in that of a greater one, up to data processing, so that the cost does not fall in ε.
func (p Problem) Largest(ctx context.Context, s, delta *big.Rat) (lower, upper *big.Rat, last *Answer, stopped, err error) {
	k, count := p.Steps[0].Kind, p.Steps[0].Count
	goal, sure := up(number.FromRat(s, prec)), down(number.FromRat(s, prec))
	lower = new(big.Rat).Quo(s, big.NewRat(int64(count), 1)) // at which no δ is needed
	var shown *Answer                                        // to need more at upper
	at := func(eps *big.Rat) (*Answer, error) {
		k.Eps, err = number.FromEpsilon(eps)
		if err != nil {
			return nil, err
		}
		once := p
		once.Gap = p.Gap / 4
		once.Steps = []Step{{k, count}}
		return once.Eps(ctx, delta)
	}
	// ε in total grows about like a power of ε, and where δ is large from 0 on. Each end is followed on its own, between an ε that is too small and one that is
	// too large: the guess aims a little to the side on which it is useful.
	follow := func(from float64, end func(*Answer) float64, aim float64) error {
		x, power := from, 1.0
		var lastX, lastY float64
		low, high := 0.0, math.Inf(1)
		for range 40 {
			if ctx.Err() != nil || high-low < p.Gap/16*low {
				return nil
			}
			eps, _ := new(big.Rat).SetString(big.NewFloat(x).Text('g', 12)) // a decimal
			a, err := at(eps)
			if err != nil {
				return err
			}
			if up(a.Upper) <= sure && eps.Cmp(lower) > 0 {
				lower, last = eps, a
			}
			if down(a.Lower) > goal && (upper == nil || eps.Cmp(upper) < 0) {
				upper, shown = eps, a
			}
			y := end(a)
			if off := (y/goal - 1) / (aim - 1); off > 0 && off < 2 {
				return nil
			}
			if y < aim*goal {
				low = max(low, x)
			} else {
				high = min(high, x)
			}
			next := 2 * x
			if y > 0 {
				if lastY > 0 && x != lastX {
					power = min(max(math.Log(y/lastY)/math.Log(x/lastX), 0.3), 1e3)
				}
				lastX, lastY = x, y
				next = x * math.Exp(math.Log(aim*goal/y)/power)
			}
			inside := func(x float64) bool { return low < x && x < high }
			if !inside(next) { // far out ε in total grows by at most so much for each unit
				next = x - (y-float64(aim*goal))/float64(count)
			}
			if !inside(next) && low > 0 && !math.IsInf(high, 1) {
				next = math.Sqrt(low * high)
			}
			x = next
		}
		return nil
	}
	first, _ := lower.Float64()
	small := float64(p.Gap / 8)
	if err = follow(first, func(a *Answer) float64 { return up(a.Upper) }, 1-small); err != nil {
		return nil, nil, nil, nil, err
	}
	safe, _ := lower.Float64()
	if err = follow(float64(safe*(1+small)), func(a *Answer) float64 { return down(a.Lower) }, 1+small); err != nil {
		return nil, nil, nil, nil, err
	}
	if last != nil && p.Prove {
		last.refuted, last.proof.total = shown, s
	}
	if stopped = context.Cause(ctx); stopped != nil {
		return lower, upper, last, stopped, nil
	}
	if upper == nil {
		return lower, upper, last, errNoAttack, nil
	}
	refuted, _ := upper.Float64()
	safe, _ = lower.Float64()
	if width := (refuted - safe) / refuted; width > p.Gap {
		stopped = fmt.Errorf("the relative width is %.2g, not %.2g", width, p.Gap)
	}
	return lower, upper, last, stopped, nil
}
