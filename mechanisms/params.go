package mechanisms

import (
	"fmt"
	"math/big"
)

// parameter returns the value of a parameter, or its default, where it passes the check.
func parameter(name string, value, byDefault *big.Rat, ok func(*big.Rat) bool, want string) (*big.Rat, error) {
	if value == nil {
		return byDefault, nil
	}
	if !ok(value) {
		return nil, fmt.Errorf("%w: %s is %s, want %s", ErrInstance, name, value.RatString(), want)
	}
	return value, nil
}

func atMostOne(x *big.Rat) bool { return x.Sign() > 0 && x.Cmp(ratOne) <= 0 }

// gamma returns the parameter γ of the stopping laws.
func (p Params) gamma() (*big.Rat, error) {
	return parameter("gamma", p.Gamma, big.NewRat(1, 20), atMostOne, "above 0 and at most 1")
}

// FailureProbability returns the failure probability β of the generalised exponential mechanism, its default where none is set.
func (p Params) FailureProbability() (*big.Rat, error) {
	return parameter("beta", p.Beta, big.NewRat(1, 20), atMostOne, "above 0 and at most 1")
}

// eta returns the shape η of the truncated negative binomial law.
func (p Params) eta() (*big.Rat, error) {
	return parameter("eta", p.Eta, ratOne, func(x *big.Rat) bool { return x.Cmp(big.NewRat(-1, 1)) > 0 }, "above -1")
}

// epsChoice returns the share of ε that the choice between mechanisms costs.
func (p Params) epsChoice() (*big.Rat, error) {
	return parameter("eps-choice", p.EpsChoice, big.NewRat(3, 5), func(x *big.Rat) bool {
		return x.Sign() >= 0 && x.Cmp(ratOne) <= 0
	}, "from 0 to 1")
}
