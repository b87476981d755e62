package mechanisms

import (
	"fmt"
	"math"
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

// body is a formula for the probabilities of an instance, in the arithmetic f. power returns e^{-εx}, or ErrNotRational where T has no such
// number; the formula then returns that error.
type body[T any] func(f arith.Field[T], power func(x *big.Rat) (T, error), in *Instance) ([]T, error)

// bodies is one formula in the three arithmetics that prove something, and in float64.
type bodies struct {
	info  Info
	rat   body[*big.Rat]
	box   body[number.Interval]
	fun   body[arith.RatFunc]
	flt   body[float64]
	guard func(n int) uint // the bits that box loses with n candidates beyond those that clear away the roundings; nil for none
	most  int              // how many candidates are enclosed; 0 for any number
	tries int              // up to how many candidates exact probabilities are worth trying; 0 for exactCandidates, anyNumber for those without long powers
	// off and offEach, times the number of candidates, bound the relative error of flt.
	off, offEach float64
}

// anyNumber of candidates have a few different exact probabilities, as those of randomised response and of the uniform choice.
const anyNumber = math.MaxInt

func (b *bodies) exactly() int { return max(b.tries, exactCandidates) }

func (b *bodies) relativeError(in *floatInstance) float64 {
	return b.off + float64(b.offEach*float64(len(in.Scores)))
}

func (b *bodies) Info() Info { return b.info }

func (b *bodies) Exact(in *Instance) ([]*big.Rat, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	return b.rat(arith.Rat{}, in.rationalPower, in)
}

// rationalPower returns e^{-εx}.
func (in *Instance) rationalPower(x *big.Rat) (*big.Rat, error) {
	if p, ok := in.Epsilon.ExpNegRat(x); ok {
		return p, nil
	}
	return nil, ErrNotRational
}

func (b *bodies) Enclose(in *Instance, prec uint) ([]number.Interval, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if n := len(in.Scores); b.most > 0 && n > b.most {
		return nil, fmt.Errorf("%w: %s with more than %d candidates", ErrNoEnclosure, b.info.Name, b.most)
	}
	work := prec
	if b.guard != nil {
		work += b.guard(len(in.Scores))
	}
	p, err := b.box(arith.Interval{Prec: work}, func(x *big.Rat) (number.Interval, error) { return in.Epsilon.ExpNeg(x, work), nil }, in)
	return clamped(p, prec), err
}

// Float computes in float64.
func (b *bodies) Float(in *Instance) ([]float64, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	eps := in.Epsilon.Float()
	return b.flt(arith.Float{}, func(x *big.Rat) (float64, error) {
		steps, _ := x.Float64()
		return math.Exp(-eps * steps), nil
	}, in)
}

// Symbolic returns the probabilities as rational functions of e^{-ε·unit}, unit in lattice
// steps and every depth a multiple of it; ErrNotRational where they are no such functions: only the powers that occur need be powers of e^{-ε·unit}.
// Where ε is rational, constants may depend on it.
func (b *bodies) Symbolic(in *Instance, unit *big.Rat) ([]arith.RatFunc, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	return b.fun(arith.Poly{}, func(x *big.Rat) (arith.RatFunc, error) { return symbolicPower(x, unit) }, in)
}

// symbolicPower returns e^{-εx} as a power of e^{-ε·unit}, or ErrNotRational where it is none, or too high a power.
func symbolicPower(x, unit *big.Rat) (arith.RatFunc, error) {
	steps := new(big.Rat).Quo(x, unit)
	if !steps.IsInt() || steps.Num().BitLen() > 17 {
		return arith.RatFunc{}, ErrNotRational
	}
	return arith.Pow(arith.Poly{}, arith.Poly{}.Z(), int(steps.Num().Int64())), nil
}

// clampUnit intersects an enclosure of a probability with [0, 1].
func clampUnit(x number.Interval) number.Interval {
	if unit, ok := x.Intersect(number.Hull(number.FromInt(0, x.Prec()), number.FromInt(1, x.Prec()))); ok {
		return unit
	}
	return x
}

// clamped clamps enclosures and rounds them to prec bits, in place.
func clamped(p []number.Interval, prec uint) []number.Interval {
	for i := range p {
		p[i] = clampUnit(p[i]).SetPrec(prec)
	}
	return p
}
