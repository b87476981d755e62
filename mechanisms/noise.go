package mechanisms

import (
	"cmp"
	"math/big"
	"slices"

	"optratio/internal/arith"
)

// noisy is a group of candidates alike in report noisy max.
type noisy struct {
	at    *big.Rat // their score
	rate  *big.Rat // the noise density falls like e^{-ε·rate·|x|}; nil means no noise at all
	count int
}

// rates returns the candidates' groups by score and noise, in ascending order of scores, and
// each candidate's group. The noise of a candidate of sensitivity d has scale factor·d/ε,
// where d is the largest of all if uniform is set.
func (in *Instance) rates(factor int64, uniform bool) (all []noisy, group []int) {
	each := in.eachSensitivity()
	if uniform {
		each = slices.Repeat([]*big.Rat{in.Sensitivity()}, len(in.Scores))
	}
	members, group := classes(len(each), func(i, j int) int { return cmp.Or(in.Scores[i].Cmp(in.Scores[j]), each[i].Cmp(each[j])) })
	for _, alike := range members {
		g := noisy{at: in.Scores[alike[0]], count: len(alike)}
		if d := each[alike[0]]; d.Sign() > 0 {
			g.rate = new(big.Rat).Mul(big.NewRat(factor, 1), d)
			g.rate.Inv(g.rate)
		}
		all = append(all, g)
	}
	return all, group
}

// commonUnit returns u such that every rate·u is an integer, and those integers (nil where there is no noise).
func commonUnit(all []noisy) (u *big.Rat, integers []*big.Int) {
	var rates []*big.Rat
	for _, g := range all {
		if g.rate != nil {
			rates = append(rates, g.rate)
		}
	}
	u = new(big.Rat).SetInt(arith.CommonDenominator(rates))
	integers = make([]*big.Int, len(all))
	for i, g := range all {
		if g.rate != nil {
			integers[i] = new(big.Int).Set(new(big.Rat).Mul(g.rate, u).Num())
		}
	}
	return u, integers
}

// exponentialMax returns, for each group, the probability that one given candidate of it has the
// largest score plus exponential noise of rate ε·rate. With q* the best score, s the
// distance above it, b_g = e^{-ε rate_g (q*-q_g)} and Q(s) = Π (1 - b e^{-ε rate s}) over all
// candidates with noise,
//
//	p_g = ∫_0^∞ b_g ε rate_g e^{-ε rate_g s} Q(s)/(1 - b_g e^{-ε rate_g s}) ds,
//
// an exponential sum integrated term by term; ε cancels. Candidates without noise are taken where
// they have the best score and nothing exceeds it, in equal shares.
func exponentialMax[T any](e exponentials[T], all []noisy) ([]T, error) {
	p := make([]T, len(all))
	best := all[len(all)-1].at
	_, integer := commonUnit(all)
	if err := feasible(all, integer); err != nil {
		return nil, err
	}
	q, atBest, fixed := e.one(), e.One(), 0
	b := make([]T, len(all))
	for i, g := range all {
		p[i] = e.Zero()
		if g.rate == nil {
			if g.at.Cmp(best) == 0 {
				fixed += g.count
			}
			continue
		}
		gap := new(big.Rat).Sub(best, g.at)
		b[i] = e.pow(gap.Mul(gap, g.rate))
		for range g.count {
			q = e.times(q, b[i], integer[i])
			atBest = e.Mul(atBest, e.Sub(e.One(), b[i]))
		}
	}
	for i, g := range all {
		switch {
		case g.rate != nil:
			rest, sum := e.without(q, b[i], integer[i]), e.Zero()
			for k, c := range rest.coef {
				// rate/(σ + rate), both in units
				ratio := new(big.Rat).SetFrac(integer[i], new(big.Int).Add(rest.exp[k], integer[i]))
				sum = e.Add(sum, e.Mul(e.FromRat(ratio), c))
			}
			p[i] = e.Mul(b[i], sum)
		case g.at.Cmp(best) == 0:
			p[i] = e.Quo(atBest, e.FromInt(int64(fixed)))
		}
	}
	return p, nil
}
