// Package variant is the optimal-mechanism program for other questions than the published one: score vectors on a finer
// lattice than that of step 2Δ, other losses than the mean distance from the best score, other priors
// than the uniform one, and the worst score vector instead of the mean.
//
// Score vectors are those of n candidates whose depths, their distances below the best score, are 0, 1/L, 2/L, …, k in steps
// of 2Δ, where 2Δ/L is the step of the lattice. Mechanisms are symmetric (which costs nothing:
// averaging over permutations keeps privacy and expected loss) and shift-invariant. Two vectors are neighbors iff they
// are after some shift by a real number, that is iff the changes of any two scores differ by at most 2Δ.
//
// The package builds programs of package table and rates mechanisms against them.
package variant

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// Question names one optimum: the least mean loss under the prior, or the least largest expected loss of a vector, among
// the mechanisms with the given rows.
type Question struct {
	N, K    int // candidates; greatest depth in steps of 2Δ
	L       int // the lattice has steps of 2Δ/L; 0 stands for 1
	Epsilon number.Epsilon
	Loss    Loss
	Prior   Prior // not used where Worst is set
	Worst   bool
	// Neighbors ties every two neighboring vectors of the lattice. Without it only the worst neighbor q + 2Δe_r of q and r
	// counts (McKenna & Sheldon 2020, App. D), which for L > 1 is far from all that privacy requires.
	Neighbors bool
	// Delta, where not nil, is the δ >= 0 of (ε,δ)-DP towards every neighbor of the lattice: for neighbors q, q' the probability of any set of candidates
	// at q is at most e^ε times that at q' plus δ. Neighbors is then not used; at δ = 0 both say the same.
	Delta *big.Rat
	// Monotone requires that a candidate's probability does not fall when its score rises and the others' fall.
	Monotone bool
}

// Approximate is the name of the rows that a question with a Delta has.
const Approximate = "approximate"

// ErrQuestion is wrapped by errors about malformed questions.
var ErrQuestion = errors.New("question")

// check fills in defaults and reports the first thing wrong.
func (q *Question) check() error {
	if q.L == 0 {
		q.L = 1
	}
	if q.N < 1 || q.K < 1 || q.L < 1 {
		return fmt.Errorf("%w: n = %d, k = %d and L = %d must each be at least 1", ErrQuestion, q.N, q.K, q.L)
	}
	if q.Delta != nil && q.Delta.Sign() < 0 {
		return fmt.Errorf("%w: δ = %s, want at least 0", ErrQuestion, q.Delta.RatString())
	}
	if q.K > maxDepths/q.L {
		return fmt.Errorf("%w: k = %d steps of 2Δ in %d parts are more than %d depths; use smaller ones", ErrQuestion, q.K, q.L, maxDepths)
	}
	return nil
}

// approximate reports whether there is a δ > 0.
func (q *Question) approximate() bool { return q.Delta != nil && q.Delta.Sign() > 0 }

// maxDepths bounds the depths of a lattice.
const maxDepths = 1 << 20

// Depths returns the number of the lattice's greatest depth, k·L.
func (q *Question) Depths() int { return q.K * max(1, q.L) }

// depth returns depth number v in steps of 2Δ.
func (q *Question) depth(v int) *big.Rat { return big.NewRat(int64(v), int64(max(1, q.L))) }

// Costs returns the loss of each depth and the weight of each orbit of the question's lattice, in the question's own units.
func (q *Question) Costs(lat *lattice.Lattice) (losses, weights []*big.Rat, err error) {
	if err = q.check(); err != nil {
		return nil, nil, err
	}
	if losses, err = q.Loss.of(q); err != nil {
		return nil, nil, err
	}
	weights, err = q.Prior.of(q, lat)
	return losses, weights, err
}

// Start returns the multiplier of permute-and-flip's closed-form bound on the lattice of step 2Δ (research/docs/threshold.md): with the factors g of a product prior, or
// g = 1, it is Σ z^u g(u) c(u) / Σ z^u g(u) for each vector, times its weight, where two or more candidates are best. It is rounded, and no bound by itself.
func (q *Question) Start(losses []*big.Rat) *big.Rat {
	factors, product, err := q.Prior.product(q)
	z := q.Epsilon.FloatZ()
	most, power, sum, all := losses[len(losses)-1], 1.0, 0.0, 0.0
	for v, c := range losses {
		g := power
		if err == nil && product {
			factor, _ := new(big.Rat).Quo(factors[v], factors[0]).Float64()
			g *= factor
		}
		if c.Sign() > 0 {
			share, _ := new(big.Rat).Quo(c, most).Float64()
			sum += float64(g * share)
		}
		all += g
		power *= z
	}
	x := new(big.Rat)
	if s := sum / all; s > 0 && !math.IsInf(s, 0) {
		x.SetFloat64(s)
	}
	return x.Mul(x, most)
}

// Instance returns the question to a mechanism that depths are: scores in steps of the lattice, so that 2Δ = L.
func (q *Question) Instance(depths []int) *mechanisms.Instance {
	in := mechanisms.OnLattice(depths, q.Epsilon)
	in.Sensitivities = []*big.Rat{big.NewRat(int64(max(1, q.L)), 2)}
	return in
}
