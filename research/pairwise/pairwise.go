// Package pairwise is a mechanism for candidates of different sensitivities that compares each pair of them at its own scale, and the search that
// proves at which parameter it is ε-DP. research/docs/unequal.md has the theorems.
package pairwise

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"

	"optratio/mechanisms"
	"optratio/number"
)

// Mechanism draws independent exponential E_r of rate ε₀. Candidate r beats s iff (h_r - h_s) + (Δ_r+Δ_s)(E_r - E_s) > 0, and is taken if it beats all
// others; if nobody does, all is drawn again. With g_rs = (h_s - h_r)/(Δ_r+Δ_s) the probability that r beats all others is
//
//	f_r = ∫ Π_{s≠r} (1 - u e^{ε₀ g_rs}) du  over u from 0 to e^{-ε₀ max(0, max_s g_rs)},
//
// and the mechanism takes r with probability f_r/Σf. h_r = q_r - Δ_r for three candidates and more. For two, and where sensitivities are nearly equal, it is pf-pair; for two
// and for equal ones that is the same at h = q.
type Mechanism struct{}

// Register makes it known to package mechanisms by name.
func Register() { registered.Do(func() { mechanisms.Register(Mechanism{}) }) }

var registered sync.Once

func (Mechanism) Info() mechanisms.Info {
	return mechanisms.Info{
		Name: "pairwise", Summary: "each pair compared with exponential noise at its own scale, drawn again until somebody beats all others, at a parameter proved to be ε-DP",
		Source: "this project, research/docs/unequal.md, Theorems 3, 4 and 9", Claim: "ε-DP", Private: true, ShiftInvariant: true, Symmetric: true,
	}
}

// mostEnclosed bounds the candidates that have an answer, which takes about the cube of their number.
const mostEnclosed = 100

// same is the mechanism where plain says so.
func same() mechanisms.Mechanism {
	m, err := mechanisms.Lookup("pf-pair")
	if err != nil {
		panic(err)
	}
	return m
}

// each returns the sensitivities of the candidates.
func each(in *mechanisms.Instance) []*big.Rat {
	if len(in.Sensitivities) == len(in.Scores) {
		return in.Sensitivities
	}
	return slices.Repeat(in.Sensitivities, len(in.Scores))
}

// plain reports whether an instance is left to pf-pair: whether there are two candidates or fewer, or the least sum of two sensitivities exceeds
// 9/10 of the largest one, so that all scales are as good as one.
func plain(in *mechanisms.Instance) bool {
	d := slices.SortedFunc(slices.Values(each(in)), (*big.Rat).Cmp)
	n := len(d)
	if n <= 2 {
		return true
	}
	least, most := new(big.Rat).Add(d[0], d[1]), new(big.Rat).Add(d[n-2], d[n-1])
	return least.Cmp(most.Mul(most, big.NewRat(9, 10))) > 0
}

// known keeps bounds of circles by sensitivities: one takes a fraction of a second.
var known sync.Map

// The sensitivities for which circles are bounded; for more, half of ε is used.
const (
	mostPairwise = 12 // candidates, if they have two different sensitivities at most
	mostVaried   = 5  // candidates otherwise
)

// circlesAt returns bounds that hold for the sensitivities; most = 1, slope = 1 is always one.
func circlesAt(in *mechanisms.Instance) circles {
	sorted := slices.SortedFunc(slices.Values(each(in)), (*big.Rat).Cmp)
	if len(sorted) > mostPairwise {
		return circles{1, 1}
	}
	// Quotients are rounded, by a relative 2^-53: circleWiden makes up for that.
	names, deltas, unit := make([]string, len(sorted)), make([]float64, len(sorted)), sorted[len(sorted)-1]
	for i, d := range sorted {
		quotient := new(big.Rat).Quo(d, unit)
		names[i] = quotient.RatString()
		deltas[i], _ = quotient.Float64()
		if d.Sign() > 0 && deltas[i] == 0 {
			return circles{1, 1}
		}
	}
	if len(sorted) > mostVaried && distinct(deltas) > 2 {
		return circles{1, 1}
	}
	key := strings.Join(names, " ")
	if bounds, ok := known.Load(key); ok {
		return bounds.(circles)
	}
	out := circlesOf(deltas)
	known.Store(key, out)
	return out
}

// Parameter returns ε₀ = max(ε/2, ε/(1+L), ε + ln(1-η)) or slightly less: a multiple of 2^-64.
func Parameter(in *mechanisms.Instance) number.Epsilon {
	if plain(in) || in.Epsilon.IsZero() {
		return in.Epsilon
	}
	const prec = 160
	c, eps, one := circlesAt(in), in.Epsilon.Value(prec), number.FromInt(1, prec)
	best := eps.Quo(one.Add(number.FromFloat(min(1, c.slope), prec)))
	if c.most < 1 {
		best = best.Max(eps.Add(number.Log(one.Sub(number.FromFloat(c.most, prec)))))
	}
	low, _ := best.Lo().Rat(nil)
	whole := new(big.Int).Lsh(low.Num(), 64)
	safe, err := number.FromEpsilon(new(big.Rat).SetFrac(whole.Quo(whole, low.Denom()), new(big.Int).Lsh(big.NewInt(1), 64)))
	if err != nil {
		panic(err) // best >= ε/(1+L) >= 0
	}
	return safe
}

// wins encloses f_r. It is 0 where a public candidate is ahead of r, a public one, for good. With w_s = e^{ε₀(g_rs - top)}, top = max(0, max_s g_rs), f_r is
// e^{-ε₀ top} times what permute-and-flip takes a candidate of weight 1 with, among others of the weights w_s.
func wins(in *mechanisms.Instance, r int, eps number.Epsilon, prec uint) number.Interval {
	d, top := each(in), new(big.Rat)
	var leads []*big.Rat
	for s, q := range in.Scores {
		if s == r {
			continue
		}
		gap, sum := new(big.Rat).Sub(q, in.Scores[r]), new(big.Rat).Add(d[r], d[s])
		gap.Add(gap, new(big.Rat).Sub(d[r], d[s])) // h = q - Δ
		switch {
		case sum.Sign() > 0:
			gap.Quo(gap, sum)
		case gap.Sign() > 0:
			return number.FromInt(0, prec)
		case gap.Sign() < 0:
			continue
		}
		leads = append(leads, gap)
		if gap.Cmp(top) > 0 {
			top = gap
		}
	}
	weights := []number.Interval{number.FromInt(1, prec)}
	for _, g := range leads {
		weights = append(weights, eps.ExpNeg(new(big.Rat).Sub(top, g), prec))
	}
	flip := mechanisms.PermuteAndFlip().(interface {
		WeightedEnclose(weights []number.Interval, counts []int) []number.Interval
	})
	return eps.ExpNeg(top, prec).Mul(flip.WeightedEnclose(weights, slices.Repeat([]int{1}, len(weights)))[0])
}

// shares encloses f_r for each candidate, and their sum.
func shares(in *mechanisms.Instance, eps number.Epsilon, prec uint) (f []number.Interval, total number.Interval) {
	total = number.FromInt(0, prec)
	for r := range in.Scores {
		f = append(f, wins(in, r, eps, prec))
		total = total.Add(f[r])
	}
	return f, total
}

// Exact is that of pf-pair where the instance is left to it; otherwise e^{-ε₀} is not rational.
func (Mechanism) Exact(in *mechanisms.Instance) ([]*big.Rat, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if plain(in) {
		return same().Exact(in)
	}
	return nil, mechanisms.ErrNotRational
}

func (Mechanism) Enclose(in *mechanisms.Instance, prec uint) ([]number.Interval, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if plain(in) {
		return same().Enclose(in, prec)
	}
	if len(in.Scores) > mostEnclosed {
		return nil, fmt.Errorf("%w: pairwise with more than %d candidates", mechanisms.ErrNoEnclosure, mostEnclosed)
	}
	p, total := shares(in, Parameter(in), prec+32)
	one := number.FromInt(1, prec+32)
	for r := range p {
		p[r] = p[r].Quo(total).Min(one).SetPrec(prec)
	}
	return p, nil
}

// Float rounds enclosures.
func (m Mechanism) Float(in *mechanisms.Instance) ([]float64, error) {
	p, err := m.Enclose(in, 64)
	out := make([]float64, len(p))
	for r, x := range p {
		out[r] = x.Near()
	}
	return out, err
}
