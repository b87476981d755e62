package secretary

import (
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/arith"
)

// A Rule is any randomised stopping rule that looks at the time and the
// relative rank of the arrival only; by independence of relative ranks no
// other rule has a better or a different outcome law. It is kept by its
// weights: Weight(i, j) is the probability that time i is reached and the
// arrival is taken, given that its relative rank there is j. Weights mix
// linearly and the outcome law is linear in them.
type Rule struct {
	weight [][]*big.Rat // weight[i-1][j-1], j <= i
	reach  []*big.Rat   // reach[i-1], the probability that time i is reached
}

// NewRule makes a rule from its weights: n rows, row i with the i weights of
// time i. It checks 0 <= weight <= Pr[time i is reached] and that someone is
// always taken (the weights of time n all equal Pr[time n is reached]). The weights are not copied.
func NewRule(weight [][]*big.Rat) (*Rule, error) {
	r := &Rule{weight: weight, reach: make([]*big.Rat, len(weight))}
	if err := checkCandidates(len(weight)); err != nil {
		return nil, err
	}
	reach := big.NewRat(1, 1)
	for i, row := range weight {
		if len(row) != i+1 {
			return nil, fmt.Errorf("time %d: %d weights, need %d: %w", i+1, len(row), i+1, ErrRange)
		}
		r.reach[i] = reach
		for j, w := range row {
			switch {
			case w.Sign() < 0 || w.Cmp(reach) > 0:
				return nil, fmt.Errorf("time %d, relative rank %d: weight %s %w, need 0 to %s", i+1, j+1, w.RatString(), ErrRange, reach.RatString())
			case i == len(weight)-1 && w.Cmp(reach) != 0:
				return nil, fmt.Errorf("relative rank %d at the last time: the rule may end with nobody taken: %w", j+1, ErrRange)
			}
		}
		reach = ReachAfter(reach, row)
	}
	return r, nil
}

// ReachAfter returns reach - Σ row / len(row): the probability of going past a time that
// is reached with probability reach and has the weights row.
func ReachAfter(reach *big.Rat, row []*big.Rat) *big.Rat {
	stop := sumRats(row)
	stop.Quo(stop, big.NewRat(int64(len(row)), 1))
	return stop.Sub(reach, stop)
}

// sumRats adds up, running through equal neighbors with one multiplication.
func sumRats(x []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for i := 0; i < len(x); {
		j := i + 1
		for j < len(x) && x[j] == x[i] {
			j++
		}
		if x[i].Sign() != 0 {
			sum.Add(sum, new(big.Rat).Mul(x[i], big.NewRat(int64(j-i), 1)))
		}
		i = j
	}
	return sum
}

// NewRuleFromStops makes a rule from conditional stop probabilities:
// stop(i, j) is the probability to take the arrival at time i < n when it ranks
// j-th so far, given that time i is reached. Time n always takes.
func NewRuleFromStops(n int, stop func(i, j int) *big.Rat) (*Rule, error) {
	if err := checkCandidates(n); err != nil {
		return nil, err
	}
	one, zero := big.NewRat(1, 1), new(big.Rat)
	weight := make([][]*big.Rat, n)
	reach := one
	for i := 1; i <= n; i++ {
		row := make([]*big.Rat, i)
		for j := range row {
			p := one
			if i < n {
				p = stop(i, j+1)
			}
			switch {
			case p.Sign() < 0 || p.Cmp(one) > 0:
				return nil, fmt.Errorf("time %d, relative rank %d: stop probability %s %w, need 0 to 1", i, j+1, p.RatString(), ErrRange)
			case p.Sign() == 0:
				row[j] = zero
			case p.Cmp(one) == 0:
				row[j] = reach
			default:
				row[j] = new(big.Rat).Mul(p, reach)
			}
		}
		weight[i-1] = row
		reach = ReachAfter(reach, row)
	}
	return NewRule(weight)
}

// ThresholdRule passes t-1 candidates, then takes the first that is better than all before it (the last one if none is).
func ThresholdRule(n, t int) (*Rule, error) {
	if t < 1 || t > n {
		return nil, fmt.Errorf("threshold %d: %w, need 1 to n = %d", t, ErrRange, n)
	}
	one, zero := big.NewRat(1, 1), new(big.Rat)
	return NewRuleFromStops(n, func(i, j int) *big.Rat {
		if j == 1 && i >= t {
			return one
		}
		return zero
	})
}

// MixRules returns the rule with the outcome law of playing a with probability p and b
// otherwise: its weights are p·a + (1-p)·b. It panics if the rules have different lengths.
func MixRules(p *big.Rat, a, b *Rule) (*Rule, error) {
	if a.N() != b.N() {
		panic("stopping: mixing rules for different numbers of candidates")
	}
	rest := new(big.Rat).Sub(big.NewRat(1, 1), p)
	weight := make([][]*big.Rat, a.N())
	for i := range weight {
		weight[i] = make([]*big.Rat, i+1)
		for j := range weight[i] {
			if j > 0 && a.weight[i][j] == a.weight[i][j-1] && b.weight[i][j] == b.weight[i][j-1] {
				weight[i][j] = weight[i][j-1]
				continue
			}
			w := new(big.Rat).Mul(p, a.weight[i][j])
			weight[i][j] = w.Add(w, new(big.Rat).Mul(rest, b.weight[i][j]))
		}
	}
	return NewRule(weight)
}

// N returns the number of candidates.
func (r *Rule) N() int { return len(r.weight) }

// Weight returns Pr[time i reached and arrival taken | relative rank j at time i]. It must not be modified.
func (r *Rule) Weight(i, j int) *big.Rat { return r.weight[i-1][j-1] }

// Reach returns the probability that time i is reached. It must not be modified.
func (r *Rule) Reach(i int) *big.Rat { return r.reach[i-1] }

// Stop returns the probability to take the arrival at time i when it ranks j-th
// so far, given that time i is reached; 1 where it never is.
func (r *Rule) Stop(i, j int) *big.Rat {
	if r.Reach(i).Sign() == 0 {
		return big.NewRat(1, 1)
	}
	return new(big.Rat).Quo(r.Weight(i, j), r.Reach(i))
}

// Law returns the exact outcome law
//
//	q_k = Σ_{i,j} Weight(i,j)/i · C(k-1,j-1) C(n-k,i-j)/C(n,i)
//
// by a recurrence. Let s_j be the probability that the rule has stopped and its candidate ranks j-th among the first i. The arrival i+1 ranks at or
// above it with probability j/(i+1), so
//
//	s_j ← ( (i+1-j) s_j + (j-1) s_{j-1} + Weight(i+1,j) ) / (i+1)
//
// and after time n s is the law: the relative ranks of a uniformly random order are independent and uniform (Rényi 1962). In integers, s multiplied by i!
// and by the common denominator of the weights needs no division.
func (r *Rule) Law() []*big.Rat {
	n := r.N()
	scale := arith.CommonDenominator(slices.Concat(r.weight...)) // times i!
	s := make([]big.Int, n+1)
	var factor, product big.Int
	for i := 1; i <= n; i++ {
		var last *big.Rat
		var injected *big.Int
		for j := i; j >= 1; j-- {
			if w := r.Weight(i, j); w != last { // equal ones are often the same
				last, injected = w, arith.Times(w, scale)
			}
			s[j].Mul(&s[j], factor.SetInt64(int64(i-j)))
			s[j].Add(&s[j], product.Mul(&s[j-1], factor.SetInt64(int64(j-1))))
			s[j].Add(&s[j], injected)
		}
		scale = new(big.Int).Mul(scale, factor.SetInt64(int64(i)))
	}
	law := make([]*big.Rat, n)
	for k := range law {
		law[k] = new(big.Rat).SetFrac(&s[k+1], scale)
	}
	return law
}
