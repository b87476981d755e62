package mechanisms

import (
	"math/big"

	"optratio/number"
)

// Sampler is a mechanism that can be run. Its distribution is exactly the pmf, given uniform bits.
type Sampler interface {
	Mechanism
	// Draws returns a function that runs the mechanism once and returns the index of the candidate taken.
	// A nil source stands for crypto/rand. The function is not safe for concurrent use.
	Draws(in *Instance, src Source) (func() int, error)
}

// newDice returns dice on src, or on crypto/rand.
func newDice(src Source) dice {
	if src == nil {
		src = newSecure()
	}
	return dice{src}
}

// coin shows heads, which is true, with a fixed probability, at every call anew.
type coin func() bool

// power returns a coin of probability e^{-εx}, x >= 0. For rational ε that is Bernoulli(e^{-εx}); for
// rational e^ε it is ⌊x⌋ coins of probability e^{-ε} in a row, and one for the rest by enclosures.
func (d dice) power(eps number.Epsilon, x *big.Rat) coin {
	switch {
	case x.Sign() == 0 || eps.IsZero():
		return func() bool { return true }
	case eps.Eps() != nil:
		exponent := new(big.Rat).Mul(eps.Eps(), x)
		return func() bool { return d.bernoulliExp(exponent) }
	}
	steps, remainder := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	rest := new(big.Rat).SetFrac(remainder, x.Denom())
	e := eps.Exp()
	return func() bool {
		for left := new(big.Int).Set(steps); left.Sign() > 0; left.Sub(left, oneInt) {
			if !d.bernoulli(e.Denom(), e.Num()) {
				return false
			}
		}
		return rest.Sign() == 0 || d.bernoulliEnclosed(func(prec uint) number.Interval { return eps.ExpNeg(rest, prec) })
	}
}

// permuteAndFlipDraws runs permute-and-flip on one coin per candidate, at least one of which always shows heads: candidates
// come in uniformly random order until one's coin shows heads. The order is drawn only as far as it is needed.
func (d dice) permuteAndFlipDraws(coins []coin) func() int {
	order := everyone(len(coins))
	return func() int {
		for i := range order {
			j := i + int(d.below(uint64(len(order)-i)))
			order[i], order[j] = order[j], order[i]
			if coins[order[i]]() {
				return order[i]
			}
		}
		panic("mechanisms: permute-and-flip without a certain candidate")
	}
}

// proportionalDraws takes a candidate with probability proportional to its coin's: a uniform one, again until its coin shows heads.
func (d dice) proportionalDraws(coins []coin) func() int {
	return func() int {
		for {
			if r := int(d.below(uint64(len(coins)))); coins[r]() {
				return r
			}
		}
	}
}

// depthCoins returns one coin of probability e^{-ε·depth} for each candidate.
func (d dice) depthCoins(in *Instance) []coin {
	coins := make([]coin, len(in.Scores))
	for i, x := range in.Depths() {
		coins[i] = d.power(in.Epsilon, x)
	}
	return coins
}

// Draws implements Sampler.
func (w *weighted) Draws(in *Instance, src Source) (func() int, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	d := newDice(src)
	return w.draws(d, d.depthCoins(in)), nil
}

// Draws implements Sampler.
func (m *byTies) Draws(in *Instance, src Source) (func() int, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	d := newDice(src)
	n := uint64(len(in.Scores))
	if m.constant {
		return func() int { return int(d.below(n)) }, nil
	}
	var best []int
	isBest, _ := in.ties()
	for i, b := range isBest {
		if b {
			best = append(best, i)
		}
	}
	other := d.power(in.Epsilon, ratOne)
	return func() int {
		designated := best[d.below(uint64(len(best)))]
		for {
			if r := int(d.below(n)); r == designated || other() {
				return r
			}
		}
	}, nil
}

// coins returns one coin per candidate for ε' = share·ε.
func (m *gem) coins(d dice, in *Instance, share *big.Rat) ([]coin, error) {
	classes, counts, class := in.choices()
	known := map[uint][]number.Interval{}
	weights := func(prec uint) ([]number.Interval, error) {
		w, ok := known[prec]
		if !ok {
			var err error
			if w, err = m.gemWeights(in, classes, counts, share, prec); err != nil {
				return nil, err
			}
			known[prec] = w
		}
		return w, nil
	}
	if _, err := weights(64); err != nil {
		return nil, err
	}
	coins := make([]coin, len(class))
	for i, c := range class {
		enclose := func(prec uint) number.Interval {
			w, _ := weights(prec) // no error before, none now
			return w[c]
		}
		coins[i] = func() bool { return d.bernoulliEnclosed(enclose) }
	}
	return coins, nil
}

// Draws implements Sampler.
func (m *gem) Draws(in *Instance, src Source) (func() int, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	d := newDice(src)
	coins, err := m.coins(d, in, ratOne)
	if err != nil {
		return nil, err
	}
	return d.permuteAndFlipDraws(coins), nil
}

// Draws implements Sampler.
func (combinedGEM) Draws(in *Instance, src Source) (func() int, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	likely, unlikely, choice, rest, err := in.parts()
	if err != nil {
		return nil, err
	}
	d := newDice(src)
	var draws [2]func() int
	for i, m := range []*gem{likely, unlikely} {
		coins, err := m.coins(d, in, rest)
		if err != nil {
			return nil, err
		}
		draws[i] = d.permuteAndFlipDraws(coins)
	}
	answer := d.proportionalDraws([]coin{func() bool { return true }, d.power(in.Epsilon, choice)})
	return func() int { return draws[answer()]() }, nil
}
