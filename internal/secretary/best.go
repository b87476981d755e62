package secretary

import (
	"math/big"
	"slices"

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

// Best returns the largest expected payoff of any stopping rule that must take someone, and a deterministic rule that attains it (stopping where both
// choices are equally good); payoff[k-1] is for taking the k-th best. The value is exact. With g_j the expected payoff of taking relative rank j at time i,
//
//	g_j at i = ( (i+1-j) g_j + j g_{j+1} at i+1 ) / (i+1),   g_j at n = payoff_j
//	V_n = Σ_j g_j / n,   V_i = Σ_j max(g_j, V_{i+1}) / i
//
// and the result is V_1. In integers, g at time i multiplied by n!/i! and V_i by n!/(i-1)!, both by the common denominator too, need no division.
func Best(payoff []*big.Rat) (*big.Rat, Stops, error) {
	n := len(payoff)
	if err := checkCandidates(n); err != nil {
		return nil, nil, err
	}
	den := arith.CommonDenominator(payoff)
	g, stops, value := make([]*big.Int, n), make(Stops, n), new(big.Int)
	for k, c := range payoff {
		g[k] = arith.Times(c, den)
	}
	var factor, product big.Int
	for i := n; i >= 1; i-- {
		stops[i-1] = make([]bool, i)
		sum := new(big.Int)
		for j, x := range g[:i] {
			if i < n {
				x.Mul(x, factor.SetInt64(int64(i-j)))
				x.Add(x, product.Mul(g[j+1], factor.SetInt64(int64(j+1))))
			}
			if stops[i-1][j] = i == n || x.Cmp(value) >= 0; !stops[i-1][j] {
				x = value
			}
			sum.Add(sum, x)
		}
		value = sum
	}
	return new(big.Rat).SetFrac(value, den.Mul(den, factor.MulRange(1, int64(n)))), stops, nil
}

// BestFloat is Best in floating point: a proposal, not a proof. It panics on an empty payoff.
func BestFloat(payoff []float64) (float64, Stops) {
	stops := make(Stops, len(payoff))
	value := BackwardFloat(payoff, func(i int, g []float64, next float64) {
		stops[i-1] = make([]bool, i)
		for j, x := range g {
			stops[i-1][j] = i == len(payoff) || x >= next
		}
	})
	return value, stops
}

// BackwardFloat walks the recurrence of Best in floating point. visit gets i, g and V_{i+1} (0 at i = n: the last candidate must be taken) before each
// V_i; it must not keep or change g. The result is V_1. It panics on an empty payoff.
func BackwardFloat(payoff []float64, visit func(i int, g []float64, next float64)) float64 {
	n := len(payoff)
	if n == 0 {
		panic("stopping: no candidates")
	}
	g, value := slices.Clone(payoff), 0.0
	for i := n; i >= 1; i-- {
		if i < n {
			for j := range i {
				g[j] = (float64(g[j]*float64(i-j)) + float64(g[j+1]*float64(j+1))) / float64(i+1)
			}
		}
		visit(i, g[:i], value)
		sum := 0.0
		for _, x := range g[:i] {
			if i < n && x < value {
				x = value
			}
			sum += x
		}
		value = sum / float64(i)
	}
	return value
}

// TakenFrom returns, in floating point, the probabilities of the final ranks out of n jointly with being taken by
// sets at the times first, first+1, …, for a rule that reaches the first of them; sets[i][j-1] says whether relative rank j is
// taken among the first+i arrivals. It also returns the probability that none of them takes anything. The recurrence is that of Rule.Law.
func TakenFrom(n, first int, sets [][]bool) (law []float64, pass float64) {
	pass, law = 1, make([]float64, n+1)
	for i := first; i <= n; i++ {
		for j := i; j >= 1; j-- {
			law[j] = float64(law[j]*float64(i-j)) + float64(law[j-1]*float64(j-1))
		}
		if i < first+len(sets) {
			passed := 0
			for j, taken := range sets[i-first] {
				if taken {
					law[j+1] += pass
				} else {
					passed++
				}
			}
			pass = pass * float64(passed) / float64(i)
		}
		for j := range law[:i+1] {
			law[j] /= float64(i)
		}
	}
	return law[1:], pass
}
