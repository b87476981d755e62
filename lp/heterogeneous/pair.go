package heterogeneous

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/interval"
	"optratio/mechanisms"
)

// PairName is the name of the mechanism that Pair makes of permute-and-flip.
const PairName = "pf-pair"

// Lookup finds a mechanism of the registry, or PairName.
func Lookup(name string) (mechanisms.Mechanism, error) {
	if name != PairName {
		return mechanisms.Lookup(name)
	}
	flip, err := mechanisms.Lookup("pf")
	if err != nil {
		return nil, err
	}
	return Pair(flip, mechanisms.Info{
		Name:    PairName,
		Summary: "permute-and-flip at the sum of the two largest sensitivities in place of 2Δ",
		Source:  "docs/heterogeneous.md, Theorem 1",
		Claim:   "ε-DP",
		Private: true,
	}), nil
}

// Pair returns a mechanism for one sensitivity Δ with 2Δ replaced by the sum S of the two largest
// sensitivities.
//
// If m is ε-DP and regular (McKenna & Sheldon 2020, Def. 3), so is it: the difference of candidate r's score to any other's
// changes by at most S, so up to a shift neighbours differ no more against r than by S at r alone.
func Pair(m mechanisms.Mechanism, info mechanisms.Info) mechanisms.Mechanism {
	p := paired{m, info}
	if s, ok := m.(mechanisms.Symbolic); ok {
		return symbolicPair{p, s}
	}
	return p
}

type paired struct {
	m    mechanisms.Mechanism
	info mechanisms.Info
}

// rescaled returns the instance with the one sensitivity S/2.
func rescaled(in *mechanisms.Instance) *mechanisms.Instance {
	largest, second := new(big.Rat), new(big.Rat)
	for _, d := range in.EachSensitivity() {
		switch {
		case d.Cmp(largest) > 0:
			largest, second = d, largest
		case d.Cmp(second) > 0:
			second = d
		}
	}
	out := *in
	out.Sensitivities = []*big.Rat{middle(largest, second)}
	return &out
}

func (p paired) Info() mechanisms.Info { return p.info }

func (p paired) Exact(in *mechanisms.Instance) ([]*big.Rat, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	return p.m.Exact(rescaled(in))
}

func (p paired) Enclose(in *mechanisms.Instance, prec uint) ([]interval.Interval, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	return p.m.Enclose(rescaled(in), prec)
}

func (p paired) Float(in *mechanisms.Instance) ([]float64, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	return p.m.Float(rescaled(in))
}

// symbolicPair is paired for mechanisms with rational functions.
type symbolicPair struct {
	paired
	symbolic mechanisms.Symbolic
}

// Symbolic takes the unit in steps of S, in which depths are counted here.
func (p symbolicPair) Symbolic(in *mechanisms.Instance, unit *big.Rat) ([]arith.RatFunc, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	return p.symbolic.Symbolic(rescaled(in), unit)
}
