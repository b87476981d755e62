// Package stopping finds the best (ε, δ)-private rule for optimal stopping, for
// any payoff per rank, with a certificate:
//
//	maximise  Σ_k payoff_k q_k   over the outcome laws q of stopping rules
//	subject to  q_i <= e^ε q_j + δ   for |i-j| <= l
//
// The rules and laws are those of package internal/secretary. Laws form the
// convex hull of the laws of deterministic rules, and the best deterministic
// rule for a payoff is an exact dynamic program. So any nonnegative
// multipliers of the privacy rows bound the optimum from above, by the best
// payoff after the multipliers have been added to it, and any rule whose exact
// law is private bounds it from below. Solvers of package internal/linear only
// propose multipliers and rules; both bounds are exact rationals.
//
// Other private rules, heterogeneous costs, and cardinal information are not here.
package stopping

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"optratio/internal/secretary"
	"optratio/number"
)

// Problem is one instance: Payoff[k-1] is for taking the k-th best of len(Payoff) candidates. Payoff and Eps are required.
type Problem struct {
	Payoff []*big.Rat
	L      int // the distance of neighbors; 0 for 1
	Eps    number.Epsilon
	Delta  *big.Rat // nil for 0
}

// complete returns the problem with its defaults, or the first thing wrong with it.
func (p Problem) complete() (*Problem, error) {
	p.L, p.Delta = cmp.Or(p.L, 1), cmp.Or(p.Delta, new(big.Rat))
	if n := p.N(); n < 1 || n > MaxCandidates {
		return nil, fmt.Errorf("n = %d: %w, need 1 to %d candidates", n, secretary.ErrRange, MaxCandidates)
	}
	if k := slices.Index(p.Payoff, nil); k >= 0 {
		return nil, fmt.Errorf("payoff %d: %w, it is nil", k+1, secretary.ErrRange)
	}
	return &p, cmp.Or(p.Eps.Check(), secretary.CheckDelta(p.Delta), secretary.CheckDistance(p.N(), p.L))
}

// MaxCandidates bounds the problems that Solve accepts; time and memory grow with its square.
const MaxCandidates = 1000

// N returns the number of candidates.
func (p *Problem) N() int { return len(p.Payoff) }

// TopK returns the payoff 1 for each of the K best of n candidates: 1 <= K <= n. K = 1 is the secretary problem.
func TopK(n, k int) ([]*big.Rat, error) {
	if k < 1 || k > n {
		return nil, fmt.Errorf("win = %d: %w, need 1 to n = %d", k, secretary.ErrRange, n)
	}
	payoff := make([]*big.Rat, n)
	for i := range payoff {
		payoff[i] = new(big.Rat)
		if i < k {
			payoff[i].SetInt64(1)
		}
	}
	return payoff, nil
}

// A row is one privacy inequality q_i <= e^ε q_j + δ; i, j count from 0.
type row struct{ i, j int }

// multipliers of privacy rows, all positive.
type multipliers map[row]float64

// rows returns the rows in order: sums over a map would depend on its random order.
func (m multipliers) rows() []row {
	return slices.SortedFunc(maps.Keys(m), func(a, b row) int {
		return cmp.Or(cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j))
	})
}

// upperBound returns, exactly, the bound that multipliers give:
//
//	max over rules of Σ_k w_k q_k  +  δ Σ λ,   w_k = payoff_k - Σ_j λ_kj + e Σ_i λ_ik
//
// where e >= e^ε is rational: a law that is private for ε satisfies the rows with e
// in its place, too. Weak duality; nothing depends on where the multipliers come from.
func (p *Problem) upperBound(lambda multipliers) (*big.Rat, error) {
	_, e := p.Eps.ExpBounds(boundBits)
	w := make([]*big.Rat, p.N())
	for k, c := range p.Payoff {
		w[k] = new(big.Rat).Set(c)
	}
	total := new(big.Rat)
	for r, l := range lambda {
		x := new(big.Rat).SetFloat64(l)
		if x == nil || x.Sign() < 0 {
			return nil, fmt.Errorf("multiplier %g of ranks %d, %d: %w", l, r.i+1, r.j+1, secretary.ErrRange)
		}
		w[r.i].Sub(w[r.i], x)
		total.Add(total, x)
		w[r.j].Add(w[r.j], x.Mul(x, e))
	}
	value, _, err := secretary.Best(w)
	if err != nil {
		return nil, err
	}
	return value.Add(value, total.Mul(total, p.Delta)), nil
}

// boundBits is the precision of the rational bounds for an irrational e^ε.
const boundBits = 160

func dotFloat(a, b []float64) float64 {
	sum := 0.0
	for k := range a {
		sum += float64(a[k] * b[k])
	}
	return sum
}

func floats(x []*big.Rat) []float64 {
	out := make([]float64, len(x))
	for k := range x {
		out[k], _ = x[k].Float64()
	}
	return out
}
