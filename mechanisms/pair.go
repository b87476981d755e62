package mechanisms

import (
	"math/big"

	"optratio/number/arith"
	"optratio/number/interval"
)

func init() {
	info := Info{
		Name:           "pf-pair",
		Summary:        "permute-and-flip at the sum of the two largest sensitivities in place of 2Δ",
		Source:         "docs/heterogeneous.md, Theorem 1",
		Claim:          "ε-DP",
		Private:        true,
		ShiftInvariant: true,
	}
	Register(&pair{permuteAndFlipAs(info), info})
}

// pair is a mechanism for one sensitivity with 2Δ replaced by the sum S of the two largest sensitivities.
//
// Any regular ε-DP mechanism (McKenna & Sheldon 2020, Def. 3) stays ε-DP so: the difference of candidate r's score to any
// other's changes by at most S, so up to a shift neighbours differ no more against r than by S at r alone.
// docs/heterogeneous.md has the proof and how much it gains.
type pair struct {
	flip interface {
		Symbolic
		Sampler
		FloatScorer
	}
	info Info
}

// PairSensitivity returns S/2, half the sum of the two largest sensitivities.
func (in *Instance) PairSensitivity() *big.Rat {
	largest, second := new(big.Rat), new(big.Rat)
	for _, d := range in.EachSensitivity() {
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

// pairSensitivity is PairSensitivity in float64.
func (in *FloatInstance) pairSensitivity() float64 {
	largest, second := 0.0, 0.0
	for i := range in.Scores {
		d := in.sensitivity(i)
		largest, second = max(largest, d), max(second, min(largest, d))
	}
	return (largest + second) / 2
}

// rescaled returns the instance with the one sensitivity S/2.
func rescaled(in *Instance) *Instance {
	out := *in
	out.Sensitivities = []*big.Rat{in.PairSensitivity()}
	return &out
}

func (p *pair) Info() Info { return p.info }

func (p *pair) Exact(in *Instance) ([]*big.Rat, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	return p.flip.Exact(rescaled(in))
}

func (p *pair) Enclose(in *Instance, prec uint) ([]interval.Interval, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	return p.flip.Enclose(rescaled(in), prec)
}

func (p *pair) Float(in *Instance) ([]float64, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	return p.flip.Float(rescaled(in))
}

// FloatScores implements FloatScorer.
func (p *pair) FloatScores(in *FloatInstance) ([]float64, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	out := *in
	out.Sensitivities = []float64{in.pairSensitivity()}
	return p.flip.FloatScores(&out)
}

// Symbolic takes the unit in steps of S, in which depths are counted here.
func (p *pair) Symbolic(in *Instance, unit *big.Rat) ([]arith.RatFunc, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	return p.flip.Symbolic(rescaled(in), unit)
}

// Draws runs the mechanism on the rescaled instance.
func (p *pair) Draws(in *Instance, src Source) (func() int, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	return p.flip.Draws(rescaled(in), src)
}
