package lp

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"optratio/internal/linear"
	"optratio/internal/lumped"
	"optratio/internal/product"
	"optratio/internal/totals"
	"optratio/internal/variant"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// Method says how the optimum is to be bounded.
type Method int

const (
	// Auto takes the cheapest method that reaches the gap.
	Auto Method = iota
	// ClosedForm uses the theorems alone: the threshold and the closed-form bound.
	ClosedForm
	// Lumped solves a small program over classes of orbits; the lattice is never enumerated.
	Lumped
	// Enumerated solves the whole program.
	Enumerated
)

var methodNames = [...]string{"auto", "closed-form", "lumped", "lp"}

// ParseMethod reads "auto", "closed-form", "lumped" or "lp".
func ParseMethod(s string) (Method, error) {
	for m, name := range methodNames {
		if s == name {
			return Method(m), nil
		}
	}
	return 0, fmt.Errorf("method %q is none of auto, closed-form, lumped, lp", s)
}

func (m Method) String() string { return methodNames[m] }

// Proofs of the lower bound on the optimum.
const (
	ProofRecurrence = "dual-recurrence"
	ProofClosedForm = "dual-closed-form"
	ProofMonotone   = "monotonicity" // x_r(q) >= z^v/n, with constraints monotone and full
	ProofLumped     = "lumped"
	ProofLP         = "lp"
)

// ErrMethod says that a method cannot do what is asked of it.
var ErrMethod error = number.InputError("method")

// Request asks for the optimum and the ratios of some mechanisms to it. N, K and Epsilon are required; other fields that are zero
// have the defaults that stand beside them, Objective and Level those of the paper, Method Auto.
type Request struct {
	N, K      int
	Epsilon   number.Epsilon
	Objective totals.Objective
	// Step is the L of score vectors 2Δ/L apart; 0 and 1 stand for the lattice of step 2Δ. K counts steps of 2Δ all the same.
	Step int
	// Loss is what the objective is the mean of: the error in steps of 2Δ by default.
	Loss variant.Loss
	// Prior weighs the score vectors; nil for Objective's. With a Prior, Objective is to be left out.
	Prior *variant.Prior
	// Worst asks for the largest expected loss of a score vector instead of the mean. Objective and Prior are then to be left out.
	Worst bool
	// Delta, where not nil, asks for the optimum over (ε,δ)-DP mechanisms towards all neighbors on the lattice, 0 <= δ <= 1. Level is then Paper
	// or DP, and says nothing more.
	Delta *big.Rat
	Level Level
	// Mechanisms are rated; nil for permute-and-flip and the exponential mechanism. One that is not Symmetric by its Info is asked about every score vector.
	Mechanisms []mechanisms.Mechanism
	Method     Method
	Solver     linear.Solver // for the linear programs; nil for linear.Embedded
	// Direct asks for the simplex method alone. Without it a large program's starts where the first-order method points to; varied requests (Varied) are
	// always solved by the simplex method alone.
	Direct bool
	Exact  bool // accept exact rationals only
	// Gap is (upper-lower)/upper wanted of every ratio; nil for 1e-9. What the precision of a mechanism's own numbers adds
	// (mechanisms.Precision) does not count.
	Gap       *big.Rat
	MaxMemory int64 // bytes; 0 for DefaultMemory
	// MaxWork bounds lumping by its work instead of by time: it ends after so many visits of positions, at some 10 ns each, and an answer that was
	// had before the context ended is the same on every machine. 0 for a limit of time: that of the context, or 100 seconds. Varied requests refuse it.
	MaxWork int64
	Start   *linear.Basis // of the whole program; nil for permute-and-flip's. Varied requests refuse it.
	// Certified asks for proofs that WriteCertificate can write: where Method leaves a choice, only such are taken, and for varied requests Auto stands for Enumerated.
	Certified bool
	Report    func(linear.Progress)
}

// DefaultMemory is the memory that a program may need by estimate.
const DefaultMemory = 12 << 30

// Rated is a mechanism's mean expected error in steps of 2Δ and its ratio to the optimum. Of a mechanism that failed to state
// probabilities (mechanisms.ErrAnswer) neither is known, and Finding says what happened.
type Rated struct {
	Name    string        `json:"name"`
	Error   number.Number `json:"error"`
	Ratio   number.Number `json:"ratio"`
	Finding string        `json:"finding,omitempty"`
}

// Answer is the result of its Request. Orbits and Variables count those of the lattice, whether
// enumerated or not. Optimum is the minimal mean expected error in steps of 2Δ.
type Answer struct {
	Request    Request
	Orbits     *big.Int
	Variables  *big.Int
	Proof      string
	Solver     string // name of the solver used, or "none"
	Pivots     int
	Seconds    float64
	Optimum    number.Number
	Mechanisms []Rated
	// PFOptimal says whether permute-and-flip attains the optimum on the lattice of step 2Δ; nil where that is not decided.
	PFOptimal *bool
	// Price, of a request with a Delta whose program was solved, is by how much Optimum falls at most for each unit of δ: at every δ' the optimum
	// is at least Optimum's lower end minus Price times δ' - δ.
	Price *number.Number
	// Undecided says which limit was met before the gap was reached; empty where it was.
	Undecided string
	// Evidence is what the bounds follow from, for certificates.
	Evidence *Evidence
	// Basis is the final basis of the enumerated program, where there was one.
	Basis *linear.Basis
}

// Evidence is what a certificate of an Answer has to hold.
type Evidence struct {
	Program  *Program          // with proof "lp"
	Proposal *Proposal         // with proof "lp"
	table    *variant.Solution // with proof "lp", instead of both, where the program is one of tables
	Classes  *lumped.Result    // with proof "lumped"
	Prec     uint              // bits of the evaluation, 0 for exact
	// Injections, with proof "lumped", are those of the feasible point that the upper bound is had from; none for permute-and-flip.
	Injections []product.Injection
}

// Ratio answers a request. An error is bad input, or ErrTooLarge where n and k are beyond all methods; where a limit or the context
// ended the work, the Answer holds the best certified bounds so far and says so in Undecided. After the context has ended Ratio
// returns within two seconds, be it that a single operation on long numbers goes on in the background for a while.
func Ratio(ctx context.Context, r Request) (*Answer, error) {
	begin := time.Now()
	if err := r.complete(); err != nil {
		return nil, err
	}
	depths := r.K * max(1, r.Step)
	j := &job{Request: r, answer: &Answer{
		Request: r, Orbits: lattice.Orbits(r.N, depths), Variables: lattice.Variables(r.N, depths), Solver: "none",
	}}
	j.prec = 192 + 2*uint(bitLength(r.N)+bitLength(r.K))
	if r.Varied() {
		j.prec += uint(r.Gap.Denom().BitLen())
	}
	var silence func()
	j.Report, silence = guarded(r.Report)
	defer silence()
	if err := j.bound(ctx); err != nil {
		return nil, err
	}
	if err := j.rate(ctx); err != nil {
		return nil, err
	}
	j.answer.Seconds = time.Since(begin).Seconds()
	return j.answer, nil
}

// Check returns the error of Ratio about a request that no method answers, without work.
func (r Request) Check() error { return r.complete() }

// Limits on n and k where nothing is enumerated: of the bits of (k+1)^n, of the work on the number of orbits, and of k.
const (
	maxPowerBits = 1 << 26
	maxOrbitWork = 1 << 24
	maxDepth     = 1 << 20
)

// fits refuses sizes whose mere counts would take too long to write down.
func fits(n, k int) error {
	power := float64(n) * float64(bitLength(k))
	orbits := float64(min(n, k)) * float64(bitLength(n)+bitLength(k))
	if k > maxDepth || power > maxPowerBits || orbits > maxOrbitWork {
		return fmt.Errorf("%w: n = %d and k = %d: the lattice has about 2^%.3g score vectors, more than this program can count; use smaller n or k",
			ErrTooLarge, n, k, power)
	}
	return nil
}

func bitLength(n int) int { return big.NewInt(int64(n)).BitLen() }
