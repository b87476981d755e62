package stopping

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/number"
	rules "optratio/mechanisms/stopping"
)

// Optimum returns the certified enclosure of the optimum.
func (s *Solution) Optimum() number.Number { return enclosed(s.Lower, s.Upper) }

func enclosed(lo, hi *big.Rat) number.Number {
	if lo.Cmp(hi) == 0 {
		return number.Exact(lo)
	}
	return number.Bounds(lo, hi)
}

// Mix is the best p-mix of the best rule without privacy and the blind
// choice (Grining, Klonowski & Sulkowska, Corollary 3), and how much better the optimum is.
type Mix struct {
	P, Success number.Number
	Ratio      number.Number // optimum over Success, at least 1
}

// BestMix computes the best p-mix for a problem and compares it with its
// solution. For winning with the best the rule is the secretary rule.
func BestMix(p *Problem, sol *Solution) (Mix, error) {
	free, err := p.unconstrainedLaw()
	if err != nil {
		return Mix{}, err
	}
	lo, hi, err := rules.LargestP(rules.ExactLaw(free), p.L, p.Eps, p.Delta)
	if err != nil {
		return Mix{}, err
	}
	// The payoff grows with p: the rule is the best there is.
	f := arith.Rat{}
	blind, err := rules.BlindLaw(f, p.N())
	if err != nil {
		return Mix{}, err
	}
	below := dot(p.Payoff, rules.Mix(f, lo, free, blind))
	above := dot(p.Payoff, rules.Mix(f, hi, free, blind))
	m := Mix{P: enclosed(lo, hi), Success: enclosed(below, above)}
	if below.Sign() <= 0 {
		m.Ratio = number.Infinity()
		return m, nil
	}
	ratio := new(big.Rat).Quo(sol.Lower, above)
	if one := big.NewRat(1, 1); ratio.Cmp(one) < 0 {
		ratio = one // the p-mix is a private rule
	}
	m.Ratio = enclosed(ratio, new(big.Rat).Quo(sol.Upper, below))
	return m, nil
}

// unconstrainedLaw is the law of the best rule without privacy.
func (p *Problem) unconstrainedLaw() ([]*big.Rat, error) {
	n := p.N()
	if p.winsWithBest() {
		return rules.SecretaryLaw(arith.Rat{}, n)
	}
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
