// Package optimum finds the best private mechanism of any finite problem: inputs, pairs of inputs that are neighbors, outputs, what each output costs at each
// input, and a prior over the inputs or the worst of them. It is the program
//
//	minimise   Σ_x π(x) Σ_o ℓ(x,o) p(o|x),    or the largest Σ_o ℓ(x,o) p(o|x) of any x
//	           Σ_o p(o|x) = 1, p >= 0, and 0 where forbidden
//	           Σ_o max(0, p(o|x) - e^{dε} p(o|x')) <= δ      for neighbors x, x' at distance d
//
// which internal/table solves. What is returned is proved: see Solve. A table of one's own is compared with the optimum, and Mechanism is a table of
// dyadic probabilities that is private as it is written, with an exact sampler. What other modules see of it is the public package optimum.
package optimum

import (
	"cmp"
	"fmt"
	"math/big"

	"optratio/number"
)

// Problem is a private choice on finitely many inputs.
type Problem struct {
	Inputs, Outputs []string
	Pairs           []Pair
	OneWay          bool         // of a pair only Pr[From in S] <= e^{dε} Pr[To in S] + δ is asked, not the reverse
	Loss            [][]*big.Rat // of each output at each input, >= 0
	Prior           []*big.Rat   // of each input, >= 0, sums to 1; nil: the largest loss of any input is minimised
	Forbidden       [][]bool     // outputs that an input must not have; nil: none
}

// Pair says that two inputs, by their places, are neighbors at a distance d >= 0, 1 where it is nil: what one may do with a probability is at most e^{dε} times
// what the other does, plus δ.
type Pair = struct {
	From, To int
	Distance *big.Rat
}

var one, unit = big.NewRat(1, 1), big.NewInt(1)

// multiple returns what ε is multiplied by for a pair. It must not be modified.
func multiple(p Pair) *big.Rat { return cmp.Or(p.Distance, one) }

// ErrProblem is wrapped by errors about a problem, a table or a prior that is malformed. Their text begins with the place.
var ErrProblem error = number.InputError("malformed problem")

// fault is an error about a problem whose text is only what is wrong.
type fault struct{ text string }

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return ErrProblem }

func faultf(format string, args ...any) error { return &fault{fmt.Sprintf(format, args...)} }

// maxCells bounds inputs times outputs.
const maxCells = 1 << 22

// checkSize refuses problems without inputs or outputs, and those that are too large.
func checkSize(inputs, outputs int) error {
	switch {
	case inputs == 0:
		return faultf("inputs: there are none")
	case outputs == 0:
		return faultf("outputs: there are none")
	case inputs > maxCells/outputs:
		return faultf("%d inputs and %d outputs: more than %d probabilities", inputs, outputs, maxCells)
	}
	return nil
}

// Check reports what is wrong with a problem, with the field.
func (p *Problem) Check() error {
	n, m := len(p.Inputs), len(p.Outputs)
	if err := checkSize(n, m); err != nil {
		return err
	}
	if err := cmp.Or(checkNames("inputs", p.Inputs), checkNames("outputs", p.Outputs), p.checkPairs(), p.checkLoss(), p.checkPrior("prior", p.Prior)); err != nil {
		return err
	}
	if p.Forbidden != nil && len(p.Forbidden) != n {
		return faultf("forbidden: %d rows for %d inputs", len(p.Forbidden), n)
	}
	for x, row := range p.Forbidden {
		if len(row) != m {
			return faultf("forbidden[%d]: %d values for %d outputs", x, len(row), m)
		}
	}
	return nil
}

// checkNames reports a name that is there twice.
func checkNames(field string, names []string) error {
	seen := map[string]bool{}
	for i, name := range names {
		if seen[name] {
			return faultf("%s[%d]: %q is there twice", field, i, name)
		}
		seen[name] = true
	}
	return nil
}

// checkPairs reports what is wrong with the pairs.
func (p *Problem) checkPairs() error {
	n := len(p.Inputs)
	for i, q := range p.Pairs {
		switch {
		case q.From < 0 || q.To < 0 || q.From >= n || q.To >= n:
			return faultf("pairs[%d]: inputs %d and %d of %d", i, q.From, q.To, n)
		case q.From == q.To:
			return faultf("pairs[%d]: %q is paired with itself", i, p.Inputs[q.From])
		case multiple(q).Sign() < 0:
			return faultf("pairs[%d]: the distance %s is negative", i, multiple(q).RatString())
		}
	}
	return nil
}

// checkLoss reports what is wrong with the losses.
func (p *Problem) checkLoss() error {
	n, m := len(p.Inputs), len(p.Outputs)
	if len(p.Loss) != n {
		return faultf("loss: %d rows for %d inputs", len(p.Loss), n)
	}
	for x, row := range p.Loss {
		if len(row) != m {
			return faultf("loss[%d]: %d values for %d outputs", x, len(row), m)
		}
		for o, l := range row {
			if l == nil || l.Sign() < 0 {
				return faultf("loss[%d][%d]: give a number that is not negative, instead of %v", x, o, l)
			}
		}
	}
	return nil
}

// checkPrior reports what is wrong with a prior, nil for none.
func (p *Problem) checkPrior(field string, prior []*big.Rat) error {
	if prior == nil {
		return nil
	}
	if len(prior) != len(p.Inputs) {
		return faultf("%s: %d values for %d inputs", field, len(prior), len(p.Inputs))
	}
	sum := new(big.Rat)
	for x, w := range prior {
		if w == nil || w.Sign() < 0 {
			return faultf("%s[%d]: give a number that is not negative, instead of %v", field, x, w)
		}
		sum.Add(sum, w)
	}
	if sum.Cmp(one) != 0 {
		return faultf("%s: sums to %s, not to 1", field, sum.RatString())
	}
	return nil
}

func (p *Problem) forbidden(x, o int) bool { return p.Forbidden != nil && p.Forbidden[x][o] }

// forbid says that an input must not have an output.
func (p *Problem) forbid(x, o int) {
	for p.Forbidden == nil || len(p.Forbidden) < len(p.Inputs) {
		p.Forbidden = append(p.Forbidden, make([]bool, len(p.Outputs)))
	}
	p.Forbidden[x][o] = true
}

// Uniform returns the prior that gives all inputs the same weight.
func (p *Problem) Uniform() []*big.Rat {
	out := make([]*big.Rat, len(p.Inputs))
	for x := range out {
		out[x] = big.NewRat(1, int64(len(out)))
	}
	return out
}
