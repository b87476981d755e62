package stopping

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"optratio/number"
	"optratio/number/arith"
	"optratio/number/interval"
)

// ErrRange is wrapped by every complaint about n, a threshold, l, p, δ or ε.
var ErrRange = errors.New("out of range")

// MaxCandidates bounds n wherever time or memory is proportional to n.
const MaxCandidates = 1_000_000

func checkCandidates(n int) error {
	if n < 1 || n > MaxCandidates {
		return fmt.Errorf("n = %d: %w, need 1 to %d candidates", n, ErrRange, MaxCandidates)
	}
	return nil
}

// Threshold returns t_n, the least t >= 1 with Σ_{s=t}^{n-1} 1/s <= 1: the
// optimal secretary rule passes t_n-1 candidates and takes the next that is
// the best so far (Lindley 1961). The comparison is decided in 128-bit fixed
// point rounded down: consecutive reciprocals never sum to an integer but for
// the single term 1/1 (Kürschák 1918), and a sum of n terms loses less than
// n/2^126, which Threshold checks to be smaller than the distance to 1.
func Threshold(n int) (int, error) {
	if err := checkCandidates(n); err != nil {
		return 0, err
	}
	var hi, lo uint64 // Σ floor(2^126/s), in units of 2^-126
	one := uint64(1) << 62
	for s := n - 1; s >= 1; s-- {
		q1, r := bits.Div64(0, one, uint64(s))
		q0, _ := bits.Div64(r, 0, uint64(s))
		var carry uint64
		lo, carry = bits.Add64(lo, q0, 0)
		hi += q1 + carry
		switch {
		case hi > one || hi == one && (lo > 0 || s > 1):
			return s + 1, nil
		case s > 1 && hi == one-1 && lo > -uint64(n):
			return 0, fmt.Errorf("threshold for n = %d: 128 bits do not separate the harmonic sum from 1", n)
		}
	}
	return 1, nil
}

// ThresholdLaw returns the outcome law of the rule that passes t-1 candidates,
// then takes the first that is better than all before it, and the last one if
// there is none (1 <= t <= n):
//
//	r_1 = (t-1)/n Σ_{i=t}^{n} 1/(i-1)
//	r_k = (t-1)/n ( Σ_{i=t}^{n-k+1} C(n-k,i-1)/C(n-1,i-1)/(i-1) + 1/(n-1) ),  k >= 2
//
// and 1/n each for t = 1. It runs the equivalent recurrence
//
//	r_n = (t-1)/(n(n-1)),  r_k = r_{k+1} + (t-1)/n · C(n-t+1,k)/C(n-1,k) / k
//
// from the worst rank up: n steps, every term positive, hence stable in
// floating point. Theorem 4 (5.1 in the newer version) of Grining, Klonowski &
// Sulkowska prints the second form for k = 1 as well, which counts arrival
// orders whose best candidate comes last and also before t.
func ThresholdLaw[T any](f arith.Field[T], n, t int) ([]T, error) {
	if err := checkCandidates(n); err != nil {
		return nil, err
	}
	if t < 1 || t > n {
		return nil, fmt.Errorf("threshold %d: %w, need 1 to n = %d", t, ErrRange, n)
	}
	law := make([]T, n)
	frac := func(a, b int) T { return f.Quo(f.FromInt(int64(a)), f.FromInt(int64(b))) }
	if t == 1 {
		for k := range law {
			law[k] = frac(1, n)
		}
		return law, nil
	}
	pass := frac(t-1, n)
	// step[k] = C(n-t+1,k)/C(n-1,k), which is 0 from k = n-t+2 on.
	step := make([]T, n)
	step[0] = f.One()
	for k := 1; k < n; k++ {
		step[k] = f.Mul(step[k-1], frac(max(n-t+2-k, 0), n-k))
	}
	law[n-1] = f.Mul(pass, frac(1, n-1))
	for k := n - 1; k >= 2; k-- {
		law[k-1] = f.Add(law[k], f.Mul(f.Mul(pass, step[k]), frac(1, k)))
	}
	harmonic := f.Zero()
	for i := n; i >= t; i-- {
		harmonic = f.Add(harmonic, frac(1, i-1))
	}
	law[0] = f.Mul(pass, harmonic)
	return law, nil
}

// SecretaryLaw returns r_{·,n}, the law of the optimal secretary rule: the
// threshold law at t_n.
func SecretaryLaw[T any](f arith.Field[T], n int) ([]T, error) {
	t, err := Threshold(n)
	if err != nil {
		return nil, err
	}
	return ThresholdLaw(f, n, t)
}

// BlindLaw returns the law of the blind choice, which takes the first candidate: 1/n each.
func BlindLaw[T any](f arith.Field[T], n int) ([]T, error) { return ThresholdLaw(f, n, 1) }

// Mix returns p·a + (1-p)·b, the law of tossing a coin between two rules.
// The caller answers for 0 <= p <= 1. It panics if the lengths differ.
func Mix[T any](f arith.Field[T], p T, a, b []T) []T {
	if len(a) != len(b) {
		panic("stopping: mixing laws of different lengths")
	}
	rest := f.Sub(f.One(), p)
	law := make([]T, len(a))
	for k := range law {
		law[k] = f.Add(f.Mul(p, a[k]), f.Mul(rest, b[k]))
	}
	return law
}

// Law is an outcome law known exactly or enclosed rank by rank in rationals.
type Law struct {
	lo, hi []*big.Rat
}

// ExactLaw wraps a law of rational probabilities. It does not copy q.
func ExactLaw(q []*big.Rat) Law { return Law{lo: q, hi: q} }

// EnclosedLaw wraps a law of outward-rounded probabilities; negative lower ends are raised to 0.
func EnclosedLaw(q []interval.Interval) Law {
	l := Law{lo: make([]*big.Rat, len(q)), hi: make([]*big.Rat, len(q))}
	for k, x := range q {
		l.lo[k], _ = x.Lo().Rat(nil)
		l.hi[k], _ = x.Hi().Rat(nil)
		if l.lo[k].Sign() < 0 {
			l.lo[k] = new(big.Rat)
		}
	}
	return l
}

// N returns the number of candidates.
func (q Law) N() int { return len(q.lo) }

// Bounds returns a lower and an upper bound for the probability of rank k, 1 <= k <= N. They must not be modified.
func (q Law) Bounds(k int) (lo, hi *big.Rat) { return q.lo[k-1], q.hi[k-1] }

// Exact returns the probabilities where all of them are known exactly, nil otherwise.
func (q Law) Exact() []*big.Rat {
	for k := range q.lo {
		if q.lo[k] != q.hi[k] && q.lo[k].Cmp(q.hi[k]) != 0 {
			return nil
		}
	}
	return q.lo
}

// At returns the probability of rank k as a number object.
func (q Law) At(k int) number.Number { return between(q.lo[k-1], q.hi[k-1]) }

// Payoff returns Σ_k payoff_k q_k as a number object. It panics if the lengths differ.
func (q Law) Payoff(payoff []*big.Rat) number.Number {
	if len(payoff) != q.N() {
		panic("stopping: payoff and law of different lengths")
	}
	lo, hi := new(big.Rat), new(big.Rat)
	for k, c := range payoff {
		a, b := q.lo[k], q.hi[k]
		if c.Sign() < 0 {
			a, b = b, a
		}
		lo.Add(lo, new(big.Rat).Mul(c, a))
		hi.Add(hi, new(big.Rat).Mul(c, b))
	}
	return between(lo, hi)
}

func between(lo, hi *big.Rat) number.Number {
	if lo.Cmp(hi) == 0 {
		return number.Exact(lo)
	}
	return number.Bounds(lo, hi)
}
