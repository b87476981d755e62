package mechanisms

import (
	"math/big"
	"slices"
	"sync"

	"optratio/number/interval"
)

func init() {
	Register(&overDepths{
		info: epsDPEach("gem-calibrated", "permute-and-flip on gem's depths, at the largest parameter that keeps it ε-DP for all scores",
			"Raskhodnikova & Smith 2016 (gem); parameter: this project, docs/results/unequal.md, Theorem 1"),
		base: flip,
		rescale: func(in *Instance) (*Instance, []int, error) {
			depths, keep := in.normalisedDepths()
			return atDepths(depths, in.gemParameter()), keep, nil
		},
		steps: func(in *Instance) ([]*big.Rat, Epsilon) { return in.pairSums(), in.gemParameter() },
	})
}

// gemParameter returns the parameter ε' at which permute-and-flip on gem's depths is ε-DP for n candidates: ε for n <= 2 and where all
// sensitivities are equal, otherwise by
//
//	e^ε = (n/z') ∫₀¹ (1-u)(1-uz')^{n-2} du = (n-1 - n y + y^n)/((n-1) z'^3),  z' = e^{-ε'}, y = 1-z',
//
// exactly for n = 3 where e^ε is rational, and else rounded down: up to ε = 512 to the next e^{ε'} that is a multiple of 2^-96 and that outward-rounded
// arithmetic proves to be small enough, and above it to the next multiple of 2^-96 below ε - ln(n/2), which is less than 2^-95 below the
// largest ε'. docs/results/unequal.md, Theorem 1, has the proofs.
func (in *Instance) gemParameter() Epsilon {
	n, each, e := len(in.Scores), in.EachSensitivity(), in.Epsilon.Exp()
	switch same := !slices.ContainsFunc(each, func(d *big.Rat) bool { return d.Cmp(each[0]) != 0 }); {
	case n <= 2, same, in.Epsilon.IsZero(), !in.Epsilon.IsSet():
		return in.Epsilon
	case n == 3 && e != nil: // e^ε = (3e^{ε'} - 1)/2
		e = new(big.Rat).Add(new(big.Rat).Add(e, e), ratOne)
		return Epsilon{exp: e.Quo(e, big.NewRat(3, 1)), memo: new(sync.Map)}
	case e == nil && in.Epsilon.Eps().Cmp(big.NewRat(mostCalibrated, 1)) > 0:
		shift, _ := interval.LogRat(big.NewRat(int64(n), 2), 192).Hi().Rat(nil)
		eps := shift.Sub(in.Epsilon.Eps(), shift)
		eps.Mul(eps, new(big.Rat).SetInt(new(big.Int).Lsh(oneInt, calibratedBits)))
		floor := new(big.Int).Div(eps.Num(), eps.Denom())
		return Epsilon{eps: eps.SetFrac(floor, new(big.Int).Lsh(oneInt, calibratedBits)), memo: new(sync.Map)}
	}
	key := gemKey{n, in.Epsilon.String()}
	if known, ok := gemParameters.Load(key); ok {
		return known.(Epsilon)
	}
	out := Epsilon{exp: calibratedExp(n, in.Epsilon), memo: new(sync.Map)}
	gemParameters.Store(key, out)
	return out
}

type gemKey struct {
	n   int
	eps string
}

var gemParameters sync.Map // of Epsilon, by gemKey

const (
	calibratedBits = 96  // of e^{ε'}, or of ε', behind the point
	mostCalibrated = 512 // the largest ε for which e^{ε'} is searched for
)

// calibratedExp returns the largest multiple of 2^-96 at least 1 that bisection, from 1 and e^ε, finds to be proved an e^{ε'}.
func calibratedExp(n int, eps Epsilon) *big.Rat {
	low := new(big.Int).Lsh(oneInt, calibratedBits)
	top, _ := eps.ExpNeg(big.NewRat(-1, 1), 128).Hi().Rat(nil)
	high := new(big.Int).Lsh(top.Num(), calibratedBits)
	high.Quo(high, top.Denom()).Add(high, oneInt)
	at := func(k *big.Int) *big.Rat { return new(big.Rat).SetFrac(k, new(big.Int).Lsh(oneInt, calibratedBits)) }
	for middle := new(big.Int); ; {
		if middle.Add(low, high).Rsh(middle, 1); middle.Cmp(low) == 0 {
			return at(low)
		}
		if gemKeeps(n, at(middle), eps) {
			low.Set(middle)
		} else {
			high.Set(middle)
		}
	}
}

// gemKeeps reports whether it is proved that e^{ε'} = e gives at most e^ε. What enclosures of 16 times the bits do not tell is not.
func gemKeeps(n int, e *big.Rat, eps Epsilon) bool {
	size := uint(e.Num().BitLen()-e.Denom().BitLen()) + 1
	for prec := uint(192) + 4*size; prec < 16*(192+4*size); prec *= 2 {
		grown := interval.FromRat(e, prec)
		one := interval.FromInt(1, prec)
		y := one.Sub(grown.Inv())
		sum := interval.FromInt(int64(n-1), prec).Sub(interval.FromInt(int64(n), prec).Mul(y)).Add(y.Pow(n))
		cost := sum.Quo(interval.FromInt(int64(n-1), prec)).Mul(grown.Pow(3))
		if c, ok := cost.Cmp(eps.ExpNeg(big.NewRat(-1, 1), prec)); ok {
			return c <= 0
		}
	}
	return false
}
