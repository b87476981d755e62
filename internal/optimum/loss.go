package optimum

import (
	"math/big"
	"slices"

	"optratio/internal/decimal"
)

// Losses are the names of losses that follow from the names of inputs and outputs.
func Losses() []string { return []string{"abs", "square", "zero-one"} }

// NamedLoss returns the loss |x - o|, (x - o)² or 0 where both are the same and 1 elsewhere: abs, square, zero-one.
// The first two are for inputs and outputs whose names are numbers. Names that are numbers are the same where these are equal.
func NamedLoss(name string, inputs, outputs []string) (loss [][]*big.Rat, err error) {
	if err := checkSize(len(inputs), len(outputs)); err != nil {
		return nil, err
	}
	if !slices.Contains(Losses(), name) {
		return nil, faultf("loss: no loss is called %q; give abs, square, zero-one, or a row of values for each input", name)
	}
	numbers := func(field string, names []string) []*big.Rat {
		out := make([]*big.Rat, len(names)) // nil for names that are none
		for i, text := range names {
			x, wrong := decimal.ParseNumber(text)
			if wrong != nil && name != "zero-one" && err == nil {
				err = faultf("loss: %q needs numbers, and %s[%d] is %q", name, field, i, text)
			}
			out[i] = x
		}
		return out
	}
	xs, os := numbers("inputs", inputs), numbers("outputs", outputs)
	if err != nil {
		return nil, err
	}
	for i, x := range xs {
		row := make([]*big.Rat, len(os))
		for j, o := range os {
			switch row[j] = big.NewRat(1, 1); {
			case name == "zero-one" && (inputs[i] == outputs[j] || x != nil && o != nil && x.Cmp(o) == 0):
				row[j].SetInt64(0)
			case name == "abs":
				row[j].Abs(row[j].Sub(x, o))
			case name == "square":
				row[j].Sub(x, o)
				row[j].Mul(row[j], row[j])
			}
		}
		loss = append(loss, row)
	}
	return loss, nil
}
