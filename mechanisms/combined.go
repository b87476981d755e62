package mechanisms

import (
	"cmp"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/number"
)

// combinedGEM spends the share eps-choice of ε on randomised response to the question whether scores and
// sensitivities have a Spearman rank correlation of at least 0 (undefined counting as yes), and the
// rest on mgem if the answer is yes, on gem if it is no. The pmf is a mixture of the two.
type combinedGEM struct{}

func (combinedGEM) Info() Info {
	return epsDPEach("combined-gem", "mgem or gem, chosen privately by the correlation of scores and sensitivities", gemSource+"Alg. 2")
}

// parts returns the two mechanisms, first the one that the scores call for, and the shares
// of ε for the choice and the selection.
func (in *Instance) parts() (likely, unlikely *gem, choice, rest *big.Rat, err error) {
	choice, err = in.Params.epsChoice()
	if err != nil {
		return nil, nil, nil, nil, err
	}
	likely, unlikely = modifiedGEM, plainGEM
	if in.spearmanSign() < 0 {
		likely, unlikely = plainGEM, modifiedGEM
	}
	return likely, unlikely, choice, new(big.Rat).Sub(ratOne, choice), nil
}

// combined returns the mixture (p + w q)/(1 + w), w = e^{-ε·choice}, of the answers p and q of the two.
func combined[T any](c calculus[T], flip overWeights[T], in *Instance) ([]T, error) {
	likely, unlikely, choice, rest, err := in.parts()
	if err != nil {
		return nil, err
	}
	p, err := gemAnswer(likely, c, flip, in, rest)
	if err != nil {
		return nil, err
	}
	q, err := gemAnswer(unlikely, c, flip, in, rest)
	if err != nil {
		return nil, err
	}
	w := c.interval(in.Epsilon.ExpNeg(choice, c.prec))
	for i := range p {
		p[i] = c.Quo(c.Add(p[i], c.Mul(w, q[i])), c.Add(c.One(), w))
	}
	return p, nil
}

func (combinedGEM) Enclose(in *Instance, prec uint) ([]number.Interval, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	p, err := combined(enclosedCalculus(prec+32), flipAt(prec), in)
	return clamped(p, prec), err
}

// Exact returns ErrNotRational: the shares of ε make powers of e^ε irrational.
func (m combinedGEM) Exact(in *Instance) ([]*big.Rat, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	_, _, _, _, err := in.parts()
	return nil, cmp.Or(err, ErrNotRational)
}

func (m combinedGEM) Float(in *Instance) ([]float64, error) {
	if _, err := in.floats(); err != nil {
		return nil, err
	}
	return combined(floatCalculus(), permuteAndFlipFloat, in)
}

// relativeError is that of gem at the whole of ε: a mixture of nonnegative numbers adds no more than a few roundings.
func (combinedGEM) relativeError(in *floatInstance) float64 { return plainGEM.relativeError(in) }

// eachSensitivity returns one sensitivity per candidate.
func (in *Instance) eachSensitivity() []*big.Rat {
	if len(in.Sensitivities) == len(in.Scores) {
		return in.Sensitivities
	}
	return slices.Repeat(in.Sensitivities, len(in.Scores))
}

// spearmanSign returns the sign of the Spearman rank correlation of scores and sensitivities, tied
// values having their average rank; 0 where it is undefined because either are all tied.
func (in *Instance) spearmanSign() int {
	sum, product := new(big.Int), new(big.Int)
	other := arith.Ranks(in.eachSensitivity())
	for i, a := range arith.Ranks(in.Scores) {
		sum.Add(sum, product.Mul(big.NewInt(a), big.NewInt(other[i])))
	}
	return sum.Sign()
}
