package optimum

import (
	"math/big"

	"optratio/internal/decimal"
)

// Losses are the names of losses that follow from the names of inputs and outputs.
func Losses() []string { return []string{"abs", "square", "zero-one"} }

// NamedLoss returns the loss |x - o|, (x - o)² or 0 where both are the same and 1 elsewhere: abs, square, zero-one.
// The first two are for inputs and outputs whose names are numbers. Names that are numbers are the same where these are equal.
func NamedLoss(name string, inputs, outputs []string) ([][]*big.Rat, error) {
	if err := checkSize(len(inputs), len(outputs)); err != nil {
		return nil, err
	}
	numbers := func(field string, names []string) ([]*big.Rat, error) {
		out := make([]*big.Rat, len(names))
		for i, text := range names {
			x, err := decimal.ParseNumber(text)
			if err != nil && name != "zero-one" {
				return nil, faultf("loss: %q is for numbers, and %s[%d], %q, is none", name, field, i, text)
			}
			out[i] = x
		}
		return out, nil
	}
	if name != "abs" && name != "square" && name != "zero-one" {
		return nil, faultf("loss: no loss is called %q; give abs, square, zero-one, or a row of values for each input", name)
	}
	xs, err := numbers("inputs", inputs)
	if err != nil {
		return nil, err
	}
	os, err := numbers("outputs", outputs)
	if err != nil {
		return nil, err
	}
	loss := make([][]*big.Rat, len(xs))
	for i, x := range xs {
		loss[i] = make([]*big.Rat, len(os))
		for j, o := range os {
			loss[i][j] = big.NewRat(1, 1)
			switch {
			case name == "zero-one" && (inputs[i] == outputs[j] || x != nil && o != nil && x.Cmp(o) == 0):
				loss[i][j].SetInt64(0)
			case name == "abs":
				loss[i][j].Abs(new(big.Rat).Sub(x, o))
			case name == "square":
				d := new(big.Rat).Sub(x, o)
				loss[i][j].Mul(d, d)
			}
		}
	}
	return loss, nil
}
