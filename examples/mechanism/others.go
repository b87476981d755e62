package main

import (
	"math/big"

	"optratio/mechanisms"
	"optratio/number"
)

// Response keeps the best candidate with probability 1/(1 + (n-1)z), z = e^-ε, and takes each other one with z/(1 + (n-1)z); candidates that
// are tied for the best share. Its probabilities are rational wherever e^ε is.
var Response = mechanisms.FromRational(mechanisms.Info{Name: "response", Claim: "ε-DP", Private: true, Uniform: true},
	func(in *mechanisms.Instance) ([]*big.Rat, error) {
		z, ok := in.Epsilon.Z()
		if !ok {
			return nil, mechanisms.ErrNotRational
		}
		ties, p := int64(0), make([]*big.Rat, len(in.Scores))
		for _, q := range in.Scores {
			if q.Cmp(in.Best()) == 0 {
				ties++
			}
		}
		one := big.NewRat(1, 1)
		total := new(big.Rat).Mul(z, big.NewRat(int64(len(p))-1, 1))
		total.Add(total, one)
		for r, q := range in.Scores {
			p[r] = new(big.Rat).Quo(z, total)
			if q.Cmp(in.Best()) == 0 {
				p[r].Mul(p[r], big.NewRat(ties-1, ties))
				p[r].Add(p[r], new(big.Rat).Quo(big.NewRat(1, ties), total))
			}
		}
		return p, nil
	})

// Enclosed is the exponential mechanism in outward-rounded arithmetic.
var Enclosed = mechanisms.FromEnclosure(mechanisms.Info{Name: "enclosed", Claim: "ε-DP", Private: true, Uniform: true},
	func(in *mechanisms.Instance, prec uint) (lower, upper []*big.Float, err error) {
		total, weights := number.FromInt(0, prec), make([]number.Interval, len(in.Scores))
		for r, depth := range in.Depths() {
			weights[r] = in.Epsilon.ExpNeg(depth, prec)
			total = total.Add(weights[r])
		}
		for _, w := range weights {
			p := w.Quo(total)
			lower, upper = append(lower, p.Lo()), append(upper, p.Hi())
		}
		return lower, upper, nil
	})

// Careless is the exponential mechanism without the factor 2: it spends twice the ε that it claims.
var Careless = mechanisms.FromEnclosure(mechanisms.Info{Name: "careless", Claim: "ε-DP", Private: true, Uniform: true},
	func(in *mechanisms.Instance, prec uint) (lower, upper []*big.Float, err error) {
		half := *in
		half.Sensitivities = []*big.Rat{new(big.Rat).Mul(in.Sensitivity(), big.NewRat(1, 2))}
		boxes, err := Enclosed.Enclose(&half, prec)
		for _, p := range boxes {
			lower, upper = append(lower, p.Lo()), append(upper, p.Hi())
		}
		return lower, upper, err
	})
