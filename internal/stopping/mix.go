package stopping

import (
	"context"
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/secretary"
	"optratio/number"
)

// Optimum returns the certified enclosure of the optimum.
func (s *Solution) Optimum() number.Number { return number.Bounds(s.Lower, s.Upper) }

// Mix is the best private mixture of one rule and the blind choice. Ratio says how much better the optimum is.
type Mix struct {
	P, Success number.Number // the weight of the rule, and the payoff
	Ratio      number.Number // optimum over Success, at least 1; +∞ where Success is not known to be positive
}

// SecretaryMix returns the best p-mix of the secretary rule (Grining, Klonowski & Sulkowska, Corollary 3).
func (p *Problem) SecretaryMix(ctx context.Context, sol *Solution) (Mix, error) {
	law, err := secretary.SecretaryLaw(ctx, arith.Rat{}, p.N())
	if err != nil {
		return Mix{}, err
	}
	return p.mixOf(law, sol)
}

// FreeMix returns the best p-mix of the rule without privacy that secretary.Best finds for the payoff. For the payoff of
// the secretary problem that is the secretary rule. Where several rules are best, others may be more private; they are not tried.
func (p *Problem) FreeMix(sol *Solution) (Mix, error) { return p.mixOf(sol.Free, sol) }

// mixOf returns the best private p-mix of a rule with the given law.
func (p *Problem) mixOf(law []*big.Rat, sol *Solution) (Mix, error) {
	p, err := p.complete()
	if err != nil {
		return Mix{}, err
	}
	f := arith.Rat{}
	blind, err := secretary.BlindLaw(f, p.N())
	if err != nil {
		return Mix{}, err
	}
	lo, hi := new(big.Rat), new(big.Rat)
	if dot(p.Payoff, law).Cmp(dot(p.Payoff, blind)) > 0 { // otherwise mixing the rule in gains nothing
		if lo, hi, err = secretary.LargestP(secretary.ExactLaw(law), p.L, p.Eps, p.Delta); err != nil {
			return Mix{}, err
		}
	}
	below, above := dot(p.Payoff, secretary.Mix(f, lo, law, blind)), dot(p.Payoff, secretary.Mix(f, hi, law, blind))
	m := Mix{P: number.Bounds(lo, hi), Success: number.Bounds(below, above), Ratio: number.Infinity()}
	if below.Sign() <= 0 {
		return m, nil
	}
	least := new(big.Rat).Quo(sol.Lower, above)
	if one := big.NewRat(1, 1); least.Cmp(one) < 0 {
		least = one // the p-mix is a private rule
	}
	most := new(big.Rat).Quo(sol.Upper, below)
	if most.Cmp(least) < 0 {
		most = least
	}
	m.Ratio = number.Bounds(least, most)
	return m, nil
}
