package secretary

import (
	"math/big"

	"optratio/internal/arith"
)

// Stops is a deterministic rule: Stops[i-1][j-1] says whether relative rank j is taken at time i. Time n always takes.
type Stops [][]bool

// Rule returns the rule with exact weights.
func (s Stops) Rule() (*Rule, error) {
	one, zero := big.NewRat(1, 1), new(big.Rat)
	return NewRuleFromStops(len(s), func(i, j int) *big.Rat {
		if s[i-1][j-1] {
			return one
		}
		return zero
	})
}

// Best returns the largest expected payoff of any stopping rule that must take
// someone, and a deterministic rule that attains it (stopping where both choices are equally
// good); payoff[k-1] is for taking the k-th best. The value is exact:
// integer dynamic programming over time and relative rank, see backward.
func Best(payoff []*big.Rat) (*big.Rat, Stops, error) {
	n := len(payoff)
	if err := checkCandidates(n); err != nil {
		return nil, nil, err
	}
	den := arith.CommonDenominator(payoff)
	whole := make([]*big.Int, n)
	for k, c := range payoff {
		whole[k] = scaled(c, den)
	}
	r := newIntRing()
	stops := make(Stops, n)
	value := backward(r, whole, record(r, stops))
	factorial := new(big.Int).MulRange(1, int64(n))
	return new(big.Rat).SetFrac(value, factorial.Mul(factorial, den)), stops, nil
}

// BestFloat is Best in floating point: a proposal, not a proof. It panics on an empty payoff.
func BestFloat(payoff []float64) (float64, Stops) {
	stops := make(Stops, len(payoff))
	value := BackwardFloat(payoff, record(ring[float64](floatRing{}), stops))
	return value, stops
}

// BackwardFloat walks the dynamic program of Best in floating point from time n
// to 1. visit gets the time, the expected payoffs g of taking each relative rank then,
// and the value of going on (0 at time n); it must not keep or change g. The
// result is the value at time 1. It panics on an empty payoff.
func BackwardFloat(payoff []float64, visit func(time int, g []float64, next float64)) float64 {
	if len(payoff) == 0 {
		panic("stopping: no candidates")
	}
	return backward(ring[float64](floatRing{}), payoff, visit)
}

// TakenFrom returns, in floating point, the probabilities of the final ranks out of n jointly with being taken by
// sets at the times first, first+1, …, for a rule that reaches the first of them; sets[i][j-1] says whether relative rank j is
// taken among the first+i arrivals. It also returns the probability that none of them takes anything.
func TakenFrom(n, first int, sets [][]bool) (law []float64, pass float64) {
	reach := make([]float64, len(sets)+1)
	reach[0] = 1
	for i, set := range sets {
		passed := 0
		for _, taken := range set {
			if !taken {
				passed++
			}
		}
		reach[i+1] = reach[i] * float64(passed) / float64(len(set))
	}
	law = forward(ring[float64](floatRing{}), first, n, func(i, j int) float64 {
		if i < first+len(sets) && sets[i-first][j-1] {
			return reach[i-first]
		}
		return 0
	})
	return law, reach[len(sets)]
}

func record[T any](r ring[T], stops Stops) func(int, []T, T) {
	n := len(stops)
	return func(i int, g []T, next T) {
		row := make([]bool, i)
		for j, x := range g {
			row[j] = i == n || !r.less(x, next)
		}
		stops[i-1] = row
	}
}
