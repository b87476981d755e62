package lp

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"optratio/lattice"
	"optratio/lp/linear"
	"optratio/lp/lumped"
	"optratio/lp/variant"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/number/interval"
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
	ProofLumped     = "lumped"
	ProofLP         = "lp"
)

// ErrMethod says that a method cannot do what is asked of it.
var ErrMethod = errors.New("method")

// Request asks for the optimum and the ratios of some mechanisms to it. N, K and Epsilon are required; other fields that are zero
// have the defaults that stand beside them, Objective and Level those of the paper, Method Auto.
type Request struct {
	N, K      int
	Epsilon   mechanisms.Epsilon
	Objective lattice.Objective
	// Step is the L of score vectors 2Δ/L apart; 0 and 1 stand for the lattice of step 2Δ. K counts steps of 2Δ all the same.
	Step int
	// Loss is what the objective is the mean of: the error in steps of 2Δ by default.
	Loss variant.Loss
	// Prior weighs the score vectors; nil for Objective's.
	Prior *variant.Prior
	// Worst asks for the largest expected loss of a score vector instead of the mean.
	Worst      bool
	Level      Level
	Mechanisms []mechanisms.Mechanism // nil for permute-and-flip and the exponential mechanism
	Method     Method
	Solver     linear.Solver // for the linear programs; nil for linear.Embedded
	Exact      bool          // accept exact rationals only
	Gap        *big.Rat      // (upper-lower)/upper wanted of every ratio; nil for 1e-9
	MaxMemory  int64         // bytes; 0 for DefaultMemory
	Start      *linear.Basis // of the whole program; nil for permute-and-flip's
	Report     func(linear.Progress)
}

// DefaultMemory is the memory that a program may need by estimate.
const DefaultMemory = 12 << 30

// maxMassBits bounds the weights of orbits that are handed to floating-point solvers.
const maxMassBits = 900

// bytesPerVariable estimates what a variable of the enumerated program costs in memory, solver included.
const bytesPerVariable = 3000

// Rated is a mechanism's mean expected error in steps of 2Δ and its ratio to the optimum.
type Rated struct {
	Name  string        `json:"name"`
	Error number.Number `json:"error"`
	Ratio number.Number `json:"ratio"`
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
	// Undecided says which limit was met before the gap was reached; empty where it was.
	Undecided string
	// Evidence is what the bounds follow from, for certificates.
	Evidence *Evidence
	// Basis is the final basis of the enumerated program, where there was one.
	Basis *linear.Basis
}

// Evidence is what a certificate of an Answer has to hold.
type Evidence struct {
	Program  *Program  // with proof "lp"
	Proposal *Proposal // with proof "lp"
	Prec     uint      // bits of the evaluation, 0 for exact
}

// Ratio answers a request. An error is bad input, or ErrTooLarge; where a limit or the context ended the work,
// the Answer holds the best certified bounds so far and says so in Undecided.
func Ratio(ctx context.Context, r Request) (*Answer, error) {
	begin := time.Now()
	if err := r.complete(); err != nil {
		return nil, err
	}
	if r.N < 1 || r.K < 1 {
		return nil, fmt.Errorf("%w: n = %d and k = %d must both be at least 1", lattice.ErrSize, r.N, r.K)
	}
	if _, rational := r.Epsilon.Z(); r.Exact && !rational {
		return nil, fmt.Errorf("%w: exact results need e^epsilon as a fraction", ErrMethod)
	}
	if err := fits(r.N, r.K); err != nil {
		return nil, err
	}
	if r.Varied() {
		a, err := variedRatio(ctx, r)
		if err != nil {
			return nil, err
		}
		a.Seconds = time.Since(begin).Seconds()
		return a, nil
	}
	job := &job{Request: r, answer: &Answer{
		Request: r, Orbits: lattice.Orbits(r.N, r.K), Variables: lattice.Variables(r.N, r.K), Solver: "none",
	}}
	if !r.Epsilon.IsZero() {
		optimal := PermuteAndFlipOptimal(r.N, r.K, r.Objective, r.Epsilon)
		job.answer.PFOptimal = &optimal
	}
	job.prec = 192 + 2*uint(bitLength(r.N)+bitLength(r.K))
	if err := job.optimum(ctx); err != nil {
		return nil, err
	}
	if err := job.rate(ctx); err != nil {
		return nil, err
	}
	job.answer.Seconds = time.Since(begin).Seconds()
	return job.answer, nil
}

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

// job is a request at work.
type job struct {
	Request
	answer *Answer
	prec   uint
	// The optimum, as a total: exact, or between the ends of two intervals.
	exact  *big.Rat
	within interval.Interval
}

// setBetween records that the total optimum lies between two values.
func (j *job) setBetween(lower, upper value) {
	if lower.exact != nil && upper.exact != nil && lower.exact.Cmp(upper.exact) == 0 {
		j.exact = lower.exact
		return
	}
	j.within = interval.Hull(lower.enclosure(j.prec), upper.enclosure(j.prec))
}

func (j *job) total() value {
	if j.exact != nil {
		return exactValue(j.exact)
	}
	return boxValue(j.within)
}

// reached reports whether the optimum is known as closely as asked.
func (j *job) reached() bool {
	if j.exact != nil {
		return true
	}
	return !j.Exact && narrow(j.within, j.Gap)
}

// narrow reports whether hi - lo <= gap · hi, for lo >= 0.
func narrow(x interval.Interval, gap *big.Rat) bool {
	if !x.IsFinite() {
		return false
	}
	width := interval.Point(x.Hi()).Sub(interval.Point(x.Lo()))
	allowed := interval.Point(x.Hi()).Mul(interval.FromRat(gap, x.Prec()))
	less, ok := width.LessEq(allowed)
	return less && ok
}

func (j *job) optimum(ctx context.Context) error {
	flip := permuteAndFlipValue(j.N, j.K, j.Objective, j.Epsilon, j.prec)
	if j.Method == Auto || j.Method == ClosedForm {
		if PermuteAndFlipOptimal(j.N, j.K, j.Objective, j.Epsilon) {
			j.answer.Proof = ProofRecurrence
			j.setBetween(flip, flip)
			return nil
		}
		closed := boxValue(ClosedBound(j.N, j.K, j.Objective, j.Epsilon, j.prec))
		j.setBetween(closed, flip)
		j.answer.Proof = ProofClosedForm
		if j.reached() {
			return nil
		}
		if j.Method == ClosedForm {
			j.answer.Undecided = "the closed-form bound does not reach the gap; try --method lp or --method lumped"
			return nil
		}
	}
	if j.Method == Lumped {
		return j.lumped(ctx, flip, lumpedTime)
	}
	if j.Method == Auto && j.promising() {
		if err := j.lumped(ctx, flip, promisingTime); err != nil || j.answer.Undecided == "" {
			return err
		}
	}
	return j.enumerated(ctx, flip)
}

// promising reports whether lumping may reach the gap sooner than the whole program: the program is large, and the
// closed-form bound, which lumping improves by some orders of magnitude and the optimum is within so far, is close already.
func (j *job) promising() bool {
	if j.Exact || j.answer.Variables.Cmp(big.NewInt(promisingVariables)) < 0 {
		return false
	}
	return narrow(j.within, big.NewRat(1, 1000))
}

// enumerated solves the whole program.
func (j *job) enumerated(ctx context.Context, flip value) error {
	limit := j.MaxMemory
	if limit == 0 {
		limit = DefaultMemory
	}
	need := new(big.Int).Mul(j.answer.Variables, big.NewInt(bytesPerVariable))
	if need.Cmp(big.NewInt(limit)) > 0 {
		return fmt.Errorf("%w: n = %d and k = %d give %s variables, about %s of memory, over the limit of %s; use --method lumped or closed-form, smaller n and k, or --max-memory",
			ErrTooLarge, j.N, j.K, j.answer.Variables, bytesText(need), bytesText(big.NewInt(limit)))
	}
	if bits := lattice.Vectors(j.N, j.K, false).BitLen(); bits > maxMassBits {
		return fmt.Errorf("%w: n = %d and k = %d: orbits of up to 2^%d score vectors are beyond floating-point solvers; use --method closed-form or lumped",
			ErrTooLarge, j.N, j.K, bits)
	}
	program, err := NewProgram(j.N, j.K, j.Objective, j.Level, j.Epsilon)
	if err != nil {
		return err
	}
	s, err := program.solve(ctx, j.Solver, j.Start, j.Gap, j.Report)
	if err != nil {
		return err
	}
	j.answer.Proof, j.answer.Solver, j.answer.Pivots = ProofLP, j.Solver.Name(), s.pivots
	j.answer.Undecided, j.answer.Basis = s.undecided, s.basis
	j.answer.Evidence = &Evidence{Program: program, Proposal: s.proposal, Prec: s.prec}
	// The certificate has to prove what is answered: so its own bounds are taken, both or none.
	if s.lower == nil {
		j.answer.Proof, j.answer.Evidence = ProofClosedForm, nil
		j.setBetween(boxValue(ClosedBound(j.N, j.K, j.Objective, j.Epsilon, j.prec)), flip)
		return nil
	}
	lower, upper := exactValue(s.lower), flip
	better := s.upper != nil
	if better {
		c, ok := exactValue(s.upper).enclosure(j.prec).Cmp(flip.enclosure(j.prec))
		better = !ok || c <= 0
	}
	if better {
		upper = exactValue(s.upper)
	} else {
		// Permute-and-flip is the better feasible point: the one without injections.
		j.answer.Evidence.Proposal.Injection = nil
	}
	j.setBetween(lower, upper)
	return nil
}

// bytesText writes a number of bytes with a unit.
func bytesText(b *big.Int) string {
	f, _ := new(big.Float).SetInt(b).Float64()
	for _, unit := range []string{"B", "kB", "MB", "GB", "TB", "PB"} {
		if f < 1000 {
			return fmt.Sprintf("%.3g %s", f, unit)
		}
		f /= 1000
	}
	return fmt.Sprintf("%.3g EB", f)
}

// ratingGrace is how long mechanisms are still rated after the context has ended, before that or meanwhile.
const ratingGrace = time.Second

// rate evaluates the mechanisms against the optimum, raising the precision until
// the enclosures of the errors add nothing of note to the gap.
func (j *job) rate(ctx context.Context) error {
	size := j.Objective.Total(j.N, j.K)
	j.answer.Optimum = toNumber(j.total().over(size, j.prec))
	grace, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(ratingGrace, func() { cancel(context.Cause(ctx)) })
	})
	defer stop()
	for _, m := range j.Mechanisms {
		rated := Rated{Name: m.Info().Name}
		for prec := j.prec; ; prec *= 2 {
			t, err := total(grace, m, j.N, j.K, j.Objective, j.Level, j.Epsilon, prec)
			if err != nil && grace.Err() != nil {
				j.answer.Undecided = context.Cause(grace).Error()
				break
			}
			if err != nil {
				return err
			}
			ratio := j.ratioOf(m, t, prec)
			if j.reached() && ratio.exact == nil && ratio.rigorous() && !narrow(ratio.box, j.Gap) && prec < 1<<12 && !approximate(m) {
				continue
			}
			rated.Error, rated.Ratio = toNumber(t.over(size, prec)), toNumber(ratio)
			j.answer.Mechanisms = append(j.answer.Mechanisms, rated)
			if j.answer.Undecided == "" && ratio.exact == nil && ratio.rigorous() && !narrow(ratio.box, j.Gap) {
				j.answer.Undecided = unreached(m)
			}
			break
		}
	}
	return nil
}

// ratioOf returns a mechanism's total error over the optimum, 1 where both are 0.
func (j *job) ratioOf(m mechanisms.Mechanism, t value, prec uint) value {
	isPF := m == mechanisms.PermuteAndFlip()
	one := interval.FromInt(1, prec)
	switch {
	case j.N == 1, isPF && j.answer.Proof == ProofRecurrence:
		return exactValue(big.NewRat(1, 1))
	case !t.rigorous():
		middle, _ := j.total().enclosure(prec).Mid().Float64()
		return value{estimate: t.estimate / middle, method: t.method}
	case t.exact != nil && j.exact != nil:
		return exactValue(new(big.Rat).Quo(t.exact, j.exact))
	}
	ratio := t.enclosure(prec).Quo(j.total().enclosure(prec))
	if isPF {
		// Permute-and-flip satisfies every level's rows: the optimum is at most its error.
		ratio = ratio.Max(one)
	}
	return boxValue(ratio)
}

func toNumber(v value) number.Number {
	switch {
	case !v.rigorous():
		return number.Estimate(v.estimate, v.method)
	case v.exact != nil:
		return number.Exact(v.exact)
	}
	return number.Enclosed(v.box)
}

// How long lumping goes on where no limit was set, and where it is tried before the whole program, if that has
// so many variables.
const (
	lumpedTime         = 100 * time.Second
	promisingTime      = 20 * time.Second
	promisingVariables = 20_000
)

// lumped bounds the optimum from classes of orbits, at any level: more rows only raise it.
func (j *job) lumped(ctx context.Context, flip value, atMost time.Duration) error {
	inner := ctx
	if _, limited := ctx.Deadline(); !limited || atMost < lumpedTime {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, atMost)
		defer cancel()
	}
	gap, _ := j.Gap.Float64()
	o := lumped.Options{Precision: j.prec, Gap: min(lumped.DefaultGap, gap)}
	if j.Report != nil {
		o.Report = func(p lumped.Progress) {
			j.Report(linear.Progress{Pivots: p.Iterations, Objective: p.Bound})
		}
	}
	j.answer.Proof, j.answer.Solver, j.answer.Undecided = ProofLumped, "lumped", ""
	lower := boxValue(ClosedBound(j.N, j.K, j.Objective, j.Epsilon, j.prec))
	result, err := lumped.Bound(inner, j.N, j.K, j.Epsilon, j.Objective, o)
	switch {
	case err == nil:
		j.answer.Pivots = result.Iterations
		if c, ok := result.Lower.Cmp(lower.box); !ok || c > 0 {
			lower = boxValue(result.Lower)
		} else {
			j.answer.Proof = ProofClosedForm
		}
	case inner.Err() != nil:
		j.answer.Proof = ProofClosedForm
	default:
		return err
	}
	j.setBetween(lower, flip)
	if !j.reached() {
		j.answer.Undecided = "the bound over classes does not reach the gap; it is what lumping gives here"
		if err := ctx.Err(); err != nil {
			j.answer.Undecided = context.Cause(ctx).Error()
		}
	}
	return nil
}
