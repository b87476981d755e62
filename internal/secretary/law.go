package secretary

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"optratio/internal/arith"
	"optratio/number"
)

// ErrRange is wrapped by every complaint about n, a threshold, l, p, δ or ε.
var ErrRange error = number.InputError("out of range")

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
// orders whose best candidate comes last and also before t. The error is the context's cause where that ends.
func ThresholdLaw[T any](ctx context.Context, f arith.Field[T], n, t int) ([]T, error) {
	if err := checkCandidates(n); err != nil {
		return nil, err
	}
	if t < 1 || t > n {
		return nil, fmt.Errorf("threshold %d: %w, need 1 to n = %d", t, ErrRange, n)
	}
	frac := func(a, b int) T { return f.Quo(f.FromInt(int64(a)), f.FromInt(int64(b))) }
	if t == 1 {
		return slices.Repeat([]T{frac(1, n)}, n), nil
	}
	law := make([]T, n)
	law[n-1] = f.Zero()
	ended := func(k int) bool { return k%1024 == 0 && ctx.Err() != nil }
	pass := frac(t-1, n)
	// step[k] = C(n-t+1,k)/C(n-1,k), which is 0 from k = n-t+2 on.
	step := []T{f.One()}
	for k := 1; k < n; k++ {
		if ended(k) {
			return nil, context.Cause(ctx)
		}
		next := f.Mul(step[k-1], frac(max(n-t+2-k, 0), n-k))
		if rest, ok := remainder(f, n, t, k, next); ok {
			law[n-1] = f.Add(law[n-1], rest)
			break
		}
		step = append(step, next)
	}
	law[n-1] = f.Add(law[n-1], f.Mul(pass, frac(1, n-1)))
	for k := n - 1; k >= 2; k-- {
		if ended(k) {
			return nil, context.Cause(ctx)
		}
		if law[k-1] = law[k]; k < len(step) {
			law[k-1] = f.Add(law[k], f.Mul(f.Mul(pass, step[k]), frac(1, k)))
		}
	}
	harmonic := f.Zero()
	for i := n; i >= t; i-- {
		if ended(i) {
			return nil, context.Cause(ctx)
		}
		harmonic = f.Add(harmonic, frac(1, i-1))
	}
	law[0] = f.Mul(pass, harmonic)
	return law, nil
}

// remainder encloses, in interval arithmetic, all that the recurrence of ThresholdLaw still adds from rank k on to ranks above, where that is below the
// precision of the least probability: the summands pass·step[k]/k fall at least by the factor x = (n-t+1)/(n-1) from rank to rank, so that they add up
// to something from 0 to pass·step[k]/(k(1-x)), 1-x = (t-2)/(n-1).
// Ranks from k on have one enclosure then. Elsewhere, and in other arithmetic, ok is false.
func remainder[T any](f arith.Field[T], n, t, k int, step T) (rest T, ok bool) {
	g, enclosing := any(f).(arith.Interval)
	if !enclosing || t < 3 || k < 2 {
		return rest, false
	}
	x := any(step).(number.Interval)
	if _, most := x.Float64(); most > math.Ldexp(1, -int(g.Prec)-64) && most > 0 {
		return rest, false
	}
	most := x.Mul(g.FromRat(big.NewRat(int64(t-1), int64(n)))).Mul(g.FromRat(big.NewRat(int64(n-1), int64(k)*int64(t-2))))
	return any(number.Hull(g.Zero(), most)).(T), true
}

// SecretaryLaw returns r_{·,n}, the law of the optimal secretary rule: the
// threshold law at t_n.
func SecretaryLaw[T any](ctx context.Context, f arith.Field[T], n int) ([]T, error) {
	t, err := Threshold(n)
	if err != nil {
		return nil, err
	}
	return ThresholdLaw(ctx, f, n, t)
}

// BlindLaw returns the law of the blind choice, which takes the first candidate: 1/n each.
func BlindLaw[T any](f arith.Field[T], n int) ([]T, error) {
	return ThresholdLaw(context.Background(), f, n, 1)
}

// Mix returns p·a + (1-p)·b, the law of tossing a coin between two rules.
// The caller answers for 0 <= p <= 1. It panics if the lengths differ.
func Mix[T any](f arith.Field[T], p T, a, b []T) []T {
	if len(a) != len(b) {
		panic("stopping: mixing laws of different lengths")
	}
	rest := f.Sub(f.One(), p)
	law := make([]T, len(a))
	for k := range law {
		if k > 0 && any(a[k]) == any(a[k-1]) && any(b[k]) == any(b[k-1]) {
			law[k] = law[k-1] // most ranks of long laws share one enclosure
			continue
		}
		law[k] = f.Add(f.Mul(p, a[k]), f.Mul(rest, b[k]))
	}
	return law
}

// Law is an outcome law known exactly or enclosed rank by rank, between multiples of one unit 1/den.
type Law struct {
	lo, hi []*big.Int // equal slices where the law is exact
	den    *big.Int
}

// ExactLaw is a law of rational probabilities.
func ExactLaw(q []*big.Rat) Law {
	den := arith.CommonDenominator(q)
	l := Law{lo: make([]*big.Int, len(q)), den: den}
	for k, x := range q {
		l.lo[k] = arith.Times(x, den)
	}
	l.hi = l.lo
	return l
}

// EnclosedLaw is a law of enclosed probabilities, rounded outward to multiples of a unit that is below 1/n² by more than their precision; negative
// lower ends are raised to 0. The enclosures must be finite.
func EnclosedLaw(q []number.Interval) Law {
	l := Law{lo: make([]*big.Int, len(q)), hi: make([]*big.Int, len(q))}
	shift := 32 + 2*bits.Len(uint(len(q)))
	for _, x := range q {
		shift = max(shift, 32+2*bits.Len(uint(len(q)))+int(x.Prec()))
	}
	l.den = new(big.Int).Lsh(big.NewInt(1), uint(shift))
	up := new(big.Float)
	for k, x := range q {
		if k > 0 && x == q[k-1] { // the ranks that SecretaryLaw does not tell apart
			l.lo[k], l.hi[k] = l.lo[k-1], l.hi[k-1]
			continue
		}
		l.lo[k], l.hi[k] = new(big.Int), new(big.Int)
		if x.Lo().Sign() > 0 {
			up.SetMantExp(x.Lo(), shift).Int(l.lo[k]) // towards 0
		}
		if _, acc := up.SetMantExp(x.Hi(), shift).Int(l.hi[k]); acc == big.Below {
			l.hi[k].Add(l.hi[k], big.NewInt(1))
		}
	}
	return l
}

// N returns the number of candidates.
func (q Law) N() int { return len(q.lo) }

// At returns the probability of rank k, 1 <= k <= N.
func (q Law) At(k int) number.Number { return q.between(q.lo[k-1], q.hi[k-1], q.den) }

// Payoff returns Σ_k payoff_k q_k. It panics if the lengths differ.
func (q Law) Payoff(payoff []*big.Rat) number.Number {
	if len(payoff) != q.N() {
		panic("stopping: payoff and law of different lengths")
	}
	den := arith.CommonDenominator(payoff)
	lo, hi, product := new(big.Int), new(big.Int), new(big.Int)
	for k, c := range payoff {
		if c.Sign() == 0 {
			continue
		}
		a, b, factor := q.lo[k], q.hi[k], arith.Times(c, den)
		if c.Sign() < 0 {
			a, b = b, a
		}
		lo.Add(lo, product.Mul(factor, a))
		hi.Add(hi, product.Mul(factor, b))
	}
	return q.between(lo, hi, den.Mul(den, q.den))
}

// between returns the number from lo/den to hi/den.
func (q Law) between(lo, hi, den *big.Int) number.Number {
	return number.Bounds(new(big.Rat).SetFrac(lo, den), new(big.Rat).SetFrac(hi, den))
}
