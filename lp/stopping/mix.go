package stopping

import (
	"math/big"

	rules "optratio/mechanisms/stopping"
	"optratio/number"
	"optratio/number/arith"
)

// Optimum returns the certified enclosure of the optimum.
func (s *Solution) Optimum() number.Number { return enclosed(s.Lower, s.Upper) }

func enclosed(lo, hi *big.Rat) number.Number {
	if lo.Cmp(hi) == 0 {
		return number.Exact(lo)
	}
	return number.Bounds(lo, hi)
}

// Mix is the best p-mix with the blind choice (Grining, Klonowski & Sulkowska, Corollary 3) of either of two rules: the secretary rule, and
// the best rule without privacy for the problem's payoff. Ratio says how much better the optimum is.
type Mix struct {
	P, Success number.Number
	Ratio      number.Number // optimum over Success, at least 1
}

// mixed is the best p-mix of one rule, between exact bounds.
type mixed struct{ lo, hi, below, above *big.Rat }

// BestMix computes the best p-mix for a problem and compares it with its solution. Among equally good rules without
// privacy others than the two of Mix may be more private; they are not tried.
func BestMix(p *Problem, sol *Solution) (Mix, error) {
	secretary, err := rules.SecretaryLaw(arith.Rat{}, p.N())
	if err != nil {
		return Mix{}, err
	}
	best, err := p.mixOf(secretary)
	if err != nil {
		return Mix{}, err
	}
	if !p.winsWithBest() {
		free, err := p.unconstrainedLaw()
		if err != nil {
			return Mix{}, err
		}
		other, err := p.mixOf(free)
		if err != nil {
			return Mix{}, err
		}
		if other.below.Cmp(best.below) > 0 {
			best = other
		}
	}
	m := Mix{P: enclosed(best.lo, best.hi), Success: enclosed(best.below, best.above)}
	if best.below.Sign() <= 0 {
		m.Ratio = number.Infinity()
		return m, nil
	}
	ratio := new(big.Rat).Quo(sol.Lower, best.above)
	if one := big.NewRat(1, 1); ratio.Cmp(one) < 0 {
		ratio = one // the p-mix is a private rule
	}
	above := new(big.Rat).Quo(sol.Upper, best.below)
	if above.Cmp(ratio) < 0 {
		above = ratio
	}
	m.Ratio = enclosed(ratio, above)
	return m, nil
}

// mixOf returns the best private p-mix of a rule with the given law.
func (p *Problem) mixOf(free []*big.Rat) (mixed, error) {
	f := arith.Rat{}
	blind, err := rules.BlindLaw(f, p.N())
	if err != nil {
		return mixed{}, err
	}
	if dot(p.Payoff, free).Cmp(dot(p.Payoff, blind)) <= 0 {
		value := dot(p.Payoff, blind) // mixing the rule in gains nothing
		return mixed{new(big.Rat), new(big.Rat), value, value}, nil
	}
	lo, hi, err := rules.LargestP(rules.ExactLaw(free), p.L, p.Eps, p.Delta)
	if err != nil {
		return mixed{}, err
	}
	return mixed{lo, hi, dot(p.Payoff, rules.Mix(f, lo, free, blind)), dot(p.Payoff, rules.Mix(f, hi, free, blind))}, nil
}

// unconstrainedLaw is the law of the best rule without privacy.
func (p *Problem) unconstrainedLaw() ([]*big.Rat, error) {
	_, stops, err := rules.Best(p.Payoff)
	if err != nil {
		return nil, err
	}
	rule, err := stops.Rule()
	if err != nil {
		return nil, err
	}
	return rule.Law(), nil
}

func (p *Problem) winsWithBest() bool {
	for k, c := range p.Payoff {
		if k == 0 && c.Cmp(big.NewRat(1, 1)) != 0 || k > 0 && c.Sign() != 0 {
			return false
		}
	}
	return true
}
