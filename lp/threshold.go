package lp

import (
	"cmp"
	"context"
	"fmt"
	"math/big"

	"optratio/mechanisms"
	"optratio/number"
)

// proofTheorem names the proof of a threshold by permuteAndFlipOptimal's criterion.
const proofTheorem = "closed-form"

// ThresholdAnswer brackets the threshold: permute-and-flip is certified not optimal at the lower of
// two ε, the first one, and optimal at the upper one, both having a rational e^ε; both are 0 where it is optimal at every ε, and infinite where it is at
// none. An end that was not decided in time is not a number, its fraction nil.
type ThresholdAnswer struct {
	Ends      [2]number.Number
	Exp       [2]*big.Rat
	Optima    [2]*Answer // exact, with proof proofLP
	Proof     string     // proofTheorem or proofLP
	Undecided string
}

// Threshold brackets the threshold of a request by bisection on fractions e^ε: the ε from which on permute-and-flip is optimal. Epsilon and Mechanisms are not used. Method
// methodLP decides by exact optima of the program instead of by theorem. report, where not nil, is called with every decision.
func Threshold(ctx context.Context, r Request, report func(exp *big.Rat, optimal bool)) (*ThresholdAnswer, error) {
	r.Gap = cmp.Or(r.Gap, big.NewRat(1, 1e6))
	if r.Gap.Sign() == 0 {
		return nil, fmt.Errorf("%w: the gap of a threshold must be positive", errRequest)
	}
	if err := r.completeQuestion(); err != nil {
		return nil, err
	}
	one := big.NewRat(1, 1)
	a := &ThresholdAnswer{Proof: proofTheorem}
	where, err := r.threshold()
	if err != nil {
		return nil, err
	}
	if where == optimalNowhere {
		a.Ends = [2]number.Number{number.Infinity(), number.Infinity()}
		return a, nil
	}
	if where == optimalEverywhere {
		a.Ends, a.Exp = [2]number.Number{number.Int(0), number.Int(0)}, [2]*big.Rat{one, one}
		return a, nil
	}
	if r.Method == methodLP {
		a.Proof = proofLP
	}
	// e^ε = 2 is above every threshold of the uniform prior, Σ 2^{-v} < 1; where it is not, next goes on upwards.
	s := &bisection{Request: r, report: report, answer: a, low: one, high: big.NewRat(2, 1)}
	for x := s.high; ; x = s.next() {
		optimal, decided, err := s.decide(ctx, x)
		if err != nil {
			return nil, err
		}
		if !decided {
			break
		}
		if optimal {
			s.high, a.Exp[1] = x, x
		} else {
			s.low, a.Exp[0] = x, x
		}
		if a.Exp[0] != nil && a.Exp[1] != nil && s.close() {
			break
		}
	}
	for i, x := range a.Exp {
		if x != nil {
			a.Ends[i] = number.Enclosed(number.LogRat(x, s.prec()))
		}
	}
	return a, nil
}

// threshold says where permute-and-flip is optimal, as far as theorems do.
func (r *Request) threshold() (where, error) {
	if r.published() {
		if r.N <= 2 || r.K == 1 {
			return optimalEverywhere, nil
		}
		return optimalFromSomeOn, nil
	}
	factors, product := r.Prior.product(r)
	at := optimalUnknown
	if product && !r.Worst && r.Delta == nil {
		at = r.flipOptimal(r.losses(), factors)
	}
	switch {
	case at == optimalUnknown:
		return at, fmt.Errorf("%w: no theorem says that there is one threshold for this lattice, loss and prior; ask for the ratio at one epsilon instead", errMethod)
	case at == optimalNowhere && r.Method == methodLP:
		return at, fmt.Errorf("%w: that permute-and-flip is optimal at no epsilon is a theorem, not a program's answer; leave out method lp", errMethod)
	}
	return at, nil
}

// bisection is a threshold request at work.
type bisection struct {
	Request
	report    func(exp *big.Rat, optimal bool)
	answer    *ThresholdAnswer
	low, high *big.Rat // between these the threshold is sought, as e^ε
}

// decide reports whether permute-and-flip is optimal at e^ε = x, and whether that was decided.
func (s *bisection) decide(ctx context.Context, x *big.Rat) (optimal, decided bool, err error) {
	if ctx.Err() != nil {
		s.answer.Undecided = context.Cause(ctx).Error()
		return false, false, nil
	}
	eps, _ := number.FromExp(x) // which refuses only what is below 1, where no bracket begins
	r := s.Request
	r.Epsilon = eps
	switch {
	case s.Method != methodLP && s.published():
		optimal = permuteAndFlipOptimal(s.N, s.K, s.Prior.box(), eps)
	case s.Method != methodLP:
		optimal = *r.theorems(ctx, 64).pfOptimal
	default:
		r.Exact, r.Gap, r.Mechanisms = true, new(big.Rat), []mechanisms.Mechanism{mechanisms.PermuteAndFlip()}
		a, err := Ratio(ctx, r)
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
			s.answer.Optima[1] = a
		} else {
			s.answer.Optima[0] = a
		}
	}
	if s.report != nil {
		s.report(x, optimal)
	}
	return optimal, true, nil
}

// next returns where to decide next: inside the bracket, or further up while there is no upper end.
func (s *bisection) next() *big.Rat {
	if s.answer.Exp[1] == nil {
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
