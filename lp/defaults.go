package lp

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/linear"
	"optratio/internal/totals"
	"optratio/internal/variant"
	"optratio/lattice"
	"optratio/mechanisms"
)

// ErrRequest is wrapped by errors about requests that no answer fits.
var ErrRequest = errors.New("bad request")

// complete fills in defaults and checks the request.
func (r *Request) complete() error {
	if err := r.Epsilon.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrRequest, err)
	}
	if r.Mechanisms == nil {
		r.Mechanisms = []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), mechanisms.Exponential()}
	}
	if i := slices.Index(r.Mechanisms, nil); i >= 0 {
		return fmt.Errorf("%w: mechanism %d is nil", ErrRequest, i)
	}
	r.Solver, r.Gap = solverOf(r.Solver), cmp.Or(r.Gap, big.NewRat(1, 1e9))
	if err := settleWeights(&r.Objective, &r.Prior, r.Worst); err != nil {
		return err
	}
	if r.Method < Auto || r.Method > Enumerated {
		return fmt.Errorf("%w: no method has the number %d", ErrRequest, r.Method)
	}
	if err := checkChoices(r.Gap, r.Objective, r.Level, r.Step); err != nil {
		return err
	}
	_, rational := r.Epsilon.Z()
	switch {
	case r.N < 1 || r.K < 1:
		return fmt.Errorf("%w: n = %d and k = %d must both be at least 1", lattice.ErrSize, r.N, r.K)
	case r.Exact && !rational:
		return fmt.Errorf("%w: exact results need e^epsilon as a fraction", ErrMethod)
	case r.Delta != nil && (r.Delta.Sign() < 0 || r.Delta.Cmp(big.NewRat(1, 1)) > 0):
		return fmt.Errorf("%w: δ = %s is not between 0 and 1", ErrRequest, r.Delta.RatString())
	case r.Delta != nil && r.Level >= Monotone:
		return fmt.Errorf("%w: the optimum over (ε,δ)-DP mechanisms has no constraints %s", ErrRequest, r.Level)
	case r.MaxWork < 0:
		return fmt.Errorf("%w: the limit of work %d is negative", ErrRequest, r.MaxWork)
	}
	if err := fits(r.N, r.K); err != nil {
		return err
	}
	if r.Method == Enumerated && r.unchecked() {
		return fmt.Errorf("%w: lp has more variables here than the checker of certificates takes; use method lumped or closed-form, smaller n or k, or no certificate", ErrMethod)
	}
	if !r.Varied() {
		return nil
	}
	if err := r.completeVaried(); err != nil {
		return err
	}
	q := r.question()
	return fits(r.N, q.Depths())
}

// completeVaried refuses what a varied request has no use for, and takes the one method that has certificates where one is asked for.
func (r *Request) completeVaried() error {
	switch {
	case r.Method == Lumped:
		return fmt.Errorf("%w: lumped is for the mean error on the lattice of step 2Δ under the uniform or box prior; use method lp", ErrMethod)
	case r.Method == ClosedForm && r.Certified:
		return fmt.Errorf("%w: closed-form proves no certificate of another step, loss, prior or δ; use method lp", ErrMethod)
	case r.Start != nil:
		return fmt.Errorf("%w: Start is a basis of the published program, and Step, Loss, Prior, Worst or Delta ask for another one", ErrRequest)
	case r.MaxWork != 0:
		return fmt.Errorf("%w: MaxWork bounds lumping, which no request with Step, Loss, Prior, Worst or Delta uses", ErrRequest)
	}
	if r.Certified {
		r.Method = Enumerated
	}
	return nil
}

// settleWeights refuses two answers to the question of how score vectors are weighed, and makes a prior that is an objective that objective: what is
// spelled out has the answer of what is left out.
func settleWeights(o *totals.Objective, prior **variant.Prior, worst bool) error {
	switch {
	case *prior != nil && *o != totals.Paper:
		return fmt.Errorf("%w: Objective %s and Prior exclude each other", ErrRequest, *o)
	case worst && (*prior != nil || *o != totals.Paper):
		return fmt.Errorf("%w: Worst takes the worst score vector, whatever the weights: leave out Objective and Prior", ErrRequest)
	}
	if same, ok := objectiveOf(*prior, *o); ok {
		*o, *prior = same, nil
	}
	return nil
}

// complete fills in defaults and checks what else is in the request than n and k.
func (r *ThresholdRequest) complete() error {
	r.Solver, r.Gap = solverOf(r.Solver), cmp.Or(r.Gap, big.NewRat(1, 1e6))
	if err := settleWeights(&r.Objective, &r.Prior, false); err != nil {
		return err
	}
	if r.Gap.Sign() == 0 {
		return fmt.Errorf("%w: the gap of a threshold must be positive", ErrRequest)
	}
	return checkChoices(r.Gap, r.Objective, r.Level, r.Step)
}

func solverOf(s linear.Solver) linear.Solver {
	if s == nil {
		return linear.Embedded{}
	}
	return s
}

func checkChoices(gap *big.Rat, o totals.Objective, level Level, step int) error {
	switch {
	case gap.Sign() < 0:
		return fmt.Errorf("%w: the gap %s is negative", ErrRequest, gap.RatString())
	case o < totals.Paper || o > totals.Box:
		return fmt.Errorf("%w: no objective has the number %d", ErrRequest, o)
	case level < Paper || level > Full:
		return fmt.Errorf("%w: no constraints have the number %d", ErrRequest, level)
	case step < 0:
		return fmt.Errorf("%w: the step %d is negative; give L for scores 2Δ/L apart", ErrRequest, step)
	}
	return nil
}

// approximate reports whether more bits tell nothing more about a mechanism.
func approximate(m mechanisms.Mechanism) bool {
	_, ok := mechanisms.Precision(m)
	return ok
}

// RatioGap is the relative width that a mechanism's ratio may have for the gap asked for: a precision p of its numbers adds up to 2p, and a third one leaves room for
// what it means below the normal range.
func RatioGap(gap *big.Rat, m mechanisms.Mechanism) *big.Rat {
	if precision, _ := mechanisms.Precision(m); precision != nil {
		return new(big.Rat).Add(gap, new(big.Rat).Mul(precision, big.NewRat(3, 1)))
	}
	return gap
}

// unreached says why a mechanism's ratio is wider than the gap.
func unreached(m mechanisms.Mechanism) string {
	return fmt.Sprintf("the ratio of %s is not known to the gap", m.Info().Name)
}

// String returns the optimum, how it was proved, and a line for each mechanism.
func (a *Answer) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "n = %d, k = %d, ε = %s: optimum %s (%s)", a.Request.N, a.Request.K, a.Request.Epsilon, a.Optimum, a.Proof)
	for _, m := range a.Mechanisms {
		fmt.Fprintf(&b, "\n%s", m)
	}
	if a.Undecided != "" {
		fmt.Fprintf(&b, "\nundecided: %s", a.Undecided)
	}
	return b.String()
}

// String returns the error and the ratio in one line.
func (r Rated) String() string {
	return fmt.Sprintf("%s: error %s, ratio %s", r.Name, r.Error, r.Ratio)
}

// String returns the ends and their proof.
func (a *ThresholdAnswer) String() string {
	text := fmt.Sprintf("not optimal at ε = %s, optimal at ε = %s (%s)", a.Lower, a.Upper, a.Proof)
	if a.Undecided != "" {
		text += "; undecided: " + a.Undecided
	}
	return text
}
