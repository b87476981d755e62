package mechanisms

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

var flipPair = &pair{flip, epsDPEach("pf-pair", "permute-and-flip at the sum of the two largest sensitivities in place of 2Δ", "research/docs/heterogeneous.md, Theorem 1")}

// pair is a mechanism for one sensitivity with 2Δ replaced by the sum S of the two largest sensitivities.
//
// Any regular ε-DP mechanism (McKenna & Sheldon 2020, Def. 3) stays ε-DP so: the difference of candidate r's score to any
// other's changes by at most S, so up to a shift neighbors differ no more against r than by S at r alone.
// research/docs/heterogeneous.md has the proof and how much it gains.
type pair struct {
	flip regular
	info Info
}

// PairSensitivity returns S/2, half the sum of the two largest sensitivities.
func (in *Instance) PairSensitivity() *big.Rat {
	largest, second := new(big.Rat), new(big.Rat)
	for _, d := range in.eachSensitivity() {
		switch {
		case d.Cmp(largest) > 0:
			largest, second = d, largest
		case d.Cmp(second) > 0:
			second = d
		}
	}
	half := new(big.Rat).Add(largest, second)
	return half.Quo(half, big.NewRat(2, 1))
}

// rescaled asks about the instance with the one sensitivity S/2.
func rescaled[T any](in *Instance, ask func(*Instance) (T, error)) (answer T, err error) {
	if err := in.Check(); err != nil {
		return answer, err
	}
	out := *in
	out.Sensitivities = []*big.Rat{in.PairSensitivity()}
	return ask(&out)
}

func (p *pair) Info() Info { return p.info }

func (p *pair) Exact(in *Instance) ([]*big.Rat, error) { return rescaled(in, p.flip.Exact) }

func (p *pair) Enclose(in *Instance, prec uint) ([]number.Interval, error) {
	return rescaled(in, func(in *Instance) ([]number.Interval, error) { return p.flip.Enclose(in, prec) })
}

func (p *pair) Float(in *Instance) ([]float64, error) { return rescaled(in, p.flip.Float) }

// Symbolic takes the unit in steps of S, in which depths are counted here.
func (p *pair) Symbolic(in *Instance, unit *big.Rat) ([]arith.RatFunc, error) {
	return rescaled(in, func(in *Instance) ([]arith.RatFunc, error) { return p.flip.Symbolic(in, unit) })
}
