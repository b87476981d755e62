package lp

import (
	"context"
	"fmt"
	"math/big"

	"optratio/internal/linear"
	"optratio/internal/totals"
	"optratio/internal/variant"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// ProofTheorem names the proof of a threshold by PermuteAndFlipOptimal's criterion.
const ProofTheorem = "closed-form"

// ThresholdRequest asks from which ε on permute-and-flip is optimal. N and K are required; other fields have defaults as Request has.
type ThresholdRequest struct {
	N, K      int
	Objective totals.Objective
	Step      int            // as in Request
	Loss      variant.Loss   // as in Request
	Prior     *variant.Prior // as in Request; a product, as uniform and geometric priors are
	Level     Level
	Gap       *big.Rat      // (upper-lower)/upper wanted, > 0; nil for 1e-6
	ByLP      bool          // decide by exact optima of the program instead of by the theorem
	Solver    linear.Solver // nil for linear.Embedded
	MaxMemory int64         // bytes; 0 for DefaultMemory
	// Report is called with every decision.
	Report func(exp *big.Rat, optimal bool)
}

// ThresholdAnswer brackets the threshold: permute-and-flip is certified not optimal at ε = Lower and
// optimal at ε = Upper, both ends having a rational e^ε; both are 0 where it is optimal at every ε, and infinite where it is at
// none. An end that was not decided in time is no number, its fraction nil.
type ThresholdAnswer struct {
	Lower, Upper       number.Number
	LowerExp, UpperExp *big.Rat
	Proof              string // ProofTheorem or ProofLP
	// Below and Above are the exact optima at the ends, with proof ProofLP.
	Below, Above *Answer
	Undecided    string
}

// Threshold brackets the threshold by bisection on fractions e^ε.
func Threshold(ctx context.Context, r ThresholdRequest) (*ThresholdAnswer, error) {
	if err := r.complete(); err != nil {
		return nil, err
	}
	if r.N < 1 || r.K < 1 {
		return nil, fmt.Errorf("%w: n = %d and k = %d must both be at least 1", lattice.ErrSize, r.N, r.K)
	}
	if err := fits(r.N, r.K); err != nil {
		return nil, err
	}
	one := big.NewRat(1, 1)
	a := &ThresholdAnswer{Proof: ProofTheorem}
	where, err := r.where()
	if err != nil {
		return nil, err
	}
	if where == variant.Nowhere {
		a.Lower, a.Upper = number.Infinity(), number.Infinity()
		return a, nil
	}
	if where == variant.Everywhere {
		a.Lower, a.Upper, a.LowerExp, a.UpperExp = number.Int(0), number.Int(0), one, one
		return a, nil
	}
	if r.ByLP {
		a.Proof = ProofLP
	}
	// e^ε = 2 is above every threshold of the uniform prior, Σ 2^{-v} < 1; where it is not, next goes on upwards.
	s := &bisection{ThresholdRequest: r, answer: a, low: one, high: big.NewRat(2, 1)}
	for x := s.high; ; x = s.next() {
		optimal, decided, err := s.decide(ctx, x)
		if err != nil {
			return nil, err
		}
		if !decided {
			break
		}
		if optimal {
			s.high, a.UpperExp = x, x
		} else {
			s.low, a.LowerExp = x, x
		}
		if a.LowerExp != nil && a.UpperExp != nil && s.close() {
			break
		}
	}
	if a.UpperExp != nil {
		a.Upper = number.Enclosed(number.LogRat(a.UpperExp, s.prec()))
	}
	if a.LowerExp != nil {
		a.Lower = number.Enclosed(number.LogRat(a.LowerExp, s.prec()))
	}
	return a, nil
}

// request is the request for a ratio that goes with a threshold.
func (r *ThresholdRequest) request() *Request {
	return &Request{N: r.N, K: r.K, Objective: r.Objective, Step: r.Step, Loss: r.Loss, Prior: r.Prior, Level: r.Level}
}

func (r *ThresholdRequest) varied() bool               { return r.request().Varied() }
func (r *ThresholdRequest) question() variant.Question { return r.request().question() }

// where says at which ε permute-and-flip is optimal, as far as theorems do.
func (r *ThresholdRequest) where() (variant.Where, error) {
	if !r.varied() {
		if r.N <= 2 || r.K == 1 {
			return variant.Everywhere, nil
		}
		return variant.FromSomeOn, nil
	}
	where, err := r.question().FlipOptimal()
	switch {
	case err != nil:
		return where, err
	case where == variant.Unknown:
		return where, fmt.Errorf("%w: no theorem says that there is one threshold for this lattice, loss and prior; ask for the ratio at one epsilon instead", ErrMethod)
	case where == variant.Nowhere && r.ByLP:
		return where, fmt.Errorf("%w: that permute-and-flip is optimal at no epsilon is a theorem, not a program's answer; leave out method lp", ErrMethod)
	}
	return where, nil
}

// bisection is a threshold request at work.
type bisection struct {
	ThresholdRequest
	answer    *ThresholdAnswer
	low, high *big.Rat // between these the threshold is sought, as e^ε
	basis     *linear.Basis
}

// decide reports whether permute-and-flip is optimal at e^ε = x, and whether that was decided.
func (s *bisection) decide(ctx context.Context, x *big.Rat) (optimal, decided bool, err error) {
	if ctx.Err() != nil {
		s.answer.Undecided = context.Cause(ctx).Error()
		return false, false, nil
	}
	eps, _ := number.FromExp(x) // which refuses only what is below 1, where no bracket begins
	switch {
	case !s.ByLP && s.varied():
		q := s.question()
		q.Epsilon = eps
		closed, err := q.Closed(64)
		if err != nil {
			return false, false, err
		}
		optimal = *closed.PFOptimal
	case !s.ByLP:
		optimal = PermuteAndFlipOptimal(s.N, s.K, s.Objective, eps)
	default:
		a, err := Ratio(ctx, Request{
			N: s.N, K: s.K, Epsilon: eps, Objective: s.Objective, Loss: s.Loss, Prior: s.Prior, Level: s.Level, Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()},
			Method: Enumerated, Solver: s.Solver, Exact: true, Gap: new(big.Rat), MaxMemory: s.MaxMemory, Start: s.basis,
		})
		if err != nil {
			return false, false, err
		}
		if a.Undecided != "" {
			s.answer.Undecided = a.Undecided
			return false, false, nil
		}
		ratio, _ := a.Mechanisms[0].Ratio.Rat()
		optimal = ratio.Cmp(big.NewRat(1, 1)) == 0
		if optimal {
			s.answer.Above = a
		} else {
			s.answer.Below = a
		}
		if s.Level == Paper && !s.varied() { // with cuts, the rows of the next program differ
			s.basis = a.Basis
		}
	}
	if s.Report != nil {
		s.Report(x, optimal)
	}
	return optimal, true, nil
}

// next returns where to decide next: inside the bracket, or further up while there is no upper end.
func (s *bisection) next() *big.Rat {
	if s.answer.UpperExp == nil {
		s.high = new(big.Rat).Mul(s.high, big.NewRat(2, 1))
		return s.high
	}
	return simplest(s.middle())
}

// prec returns bits enough to tell fractions apart that lie as close as the gap.
func (s *bisection) prec() uint { return 256 + 2*uint(s.Gap.Denom().BitLen()) }

// close reports whether (ln high - ln low)/ln high <= gap.
func (s *bisection) close() bool {
	prec := s.prec()
	upper := number.LogRat(s.high, prec)
	width := number.LogRat(new(big.Rat).Quo(s.high, s.low), prec)
	less, ok := width.LessEq(upper.Mul(number.FromRat(s.Gap, prec)))
	return less && ok
}

// middle returns the middle fifth of the bracket.
func (s *bisection) middle() (lo, hi *big.Rat) {
	width := new(big.Rat).Sub(s.high, s.low)
	lo = new(big.Rat).Add(s.low, new(big.Rat).Mul(width, big.NewRat(2, 5)))
	hi = new(big.Rat).Add(s.low, new(big.Rat).Mul(width, big.NewRat(3, 5)))
	return lo, hi
}

// simplest returns the fraction of least denominator in [lo, hi], for 0 < lo <= hi.
func simplest(lo, hi *big.Rat) *big.Rat {
	floor := new(big.Int).Quo(lo.Num(), lo.Denom())
	whole := new(big.Rat).SetInt(floor)
	if whole.Cmp(lo) == 0 {
		return whole
	}
	if next := new(big.Rat).Add(whole, big.NewRat(1, 1)); next.Cmp(hi) <= 0 {
		return next
	}
	// Both lie in (whole, whole+1): invert the fractional parts.
	rest := simplest(
		new(big.Rat).Inv(new(big.Rat).Sub(hi, whole)),
		new(big.Rat).Inv(new(big.Rat).Sub(lo, whole)))
	return whole.Add(whole, rest.Inv(rest))
}
