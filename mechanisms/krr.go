package mechanisms

import (
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/number"
)

var (
	response = &bodies{
		info: epsDP("krr", "randomized response: the best candidate is e^ε times as likely as each other one", "Warner 1965"),
		rat:  respond[*big.Rat], box: respond[number.Interval], fun: respond[arith.RatFunc], flt: respond[float64],
		tries: anyNumber, off: 1e-12,
	}
	uniformChoice = &bodies{
		info: Info{Name: "uniform", Summary: "a uniformly random candidate", Source: "folklore", Claim: "0-DP", Private: true, Uniform: true, ShiftInvariant: true, Symmetric: true},
		rat:  uniformly[*big.Rat], box: uniformly[number.Interval], fun: uniformly[arith.RatFunc], flt: uniformly[float64],
		tries: anyNumber, off: 1e-12,
	}
)

// randomisedResponse returns the probabilities of taking a designated candidate with weight 1 and each
// other with weight z, where the designated one is drawn uniformly from the ties:
//
//	best = (1/ties + z (1 - 1/ties))/(1 + (n-1)z),  other = z/(1 + (n-1)z).
func randomisedResponse[T any](f arith.Field[T], z T, isBest []bool, ties int) []T {
	total := f.Add(f.One(), f.Mul(f.FromInt(int64(len(isBest)-1)), z))
	share := f.FromRat(big.NewRat(1, int64(ties)))
	rest := f.FromRat(big.NewRat(int64(ties-1), int64(ties)))
	best, other := f.Quo(f.Add(share, f.Mul(z, rest)), total), f.Quo(z, total)
	out := make([]T, len(isBest))
	for i, b := range isBest {
		if out[i] = other; b {
			out[i] = best
		}
	}
	return out
}

// respond is randomised response on an instance.
func respond[T any](f arith.Field[T], power func(x *big.Rat) (T, error), in *Instance) ([]T, error) {
	z, err := power(ratOne)
	if err != nil {
		return nil, err
	}
	isBest, ties := in.ties()
	return randomisedResponse(f, z, isBest, ties), nil
}

// uniformly returns 1/n for each candidate.
func uniformly[T any](f arith.Field[T], _ func(x *big.Rat) (T, error), in *Instance) ([]T, error) {
	n := len(in.Scores)
	return slices.Repeat([]T{f.FromRat(big.NewRat(1, int64(n)))}, n), nil
}

// ties marks the candidates that share the best score and counts them.
func (in *Instance) ties() (isBest []bool, count int) {
	best := in.Best()
	isBest = make([]bool, len(in.Scores))
	for i, q := range in.Scores {
		if isBest[i] = q.Cmp(best) == 0; isBest[i] {
			count++
		}
	}
	return isBest, count
}
