package main

import (
	"math/big"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/escape"
)

// mostEps bounds lists of ε, of splits and of sensitivities.
const mostEps = 10_000

// parseList reads a flag that is a list of numbers, of which each has to pass the check.
func parseList(name, text, want string, ok func(*big.Rat) bool) ([]*big.Rat, error) {
	list, err := decimal.ParseList(text, mostEps)
	if err != nil {
		return nil, command.Usagef("--%s %s: %w; give %s, separated by commas or as from:to:step", name, escape.Quoted(text), err, want)
	}
	for _, x := range list {
		if !ok(x) {
			return nil, command.Usagef("--%s %s: %s: give %s", name, escape.Quoted(text), x.RatString(), want)
		}
	}
	return list, nil
}

// exactText writes a number of a list as a decimal, where it is one, or as a fraction.
func exactText(x *big.Rat) string {
	if places, exact := x.FloatPrec(); exact && places < 20 {
		return x.FloatString(places)
	}
	return x.RatString()
}
