package lp

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/clp"
	"optratio/internal/decimal"
	"optratio/internal/linear"
	"optratio/internal/lumped"
	"optratio/internal/table"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// The methods that bound the optimum.
const (
	methodAuto       = "auto"        // the cheapest method that reaches the gap
	methodClosedForm = "closed-form" // the theorems alone: the threshold and the closed-form bounds
	methodLumped     = "lumped"      // a small program over classes of orbits; the lattice is never enumerated
	methodLP         = "lp"          // the whole program
)

// Errors about requests: one that no answer fits, a method that cannot do what is asked of it, and a computation that would not fit in time or memory.
var (
	errRequest  error = number.InputError("question")
	errMethod   error = number.InputError("method")
	ErrTooLarge error = number.InputError("too large")
)

// Request asks for the optimum and the ratios of some mechanisms to it. N, K and Epsilon are required; other fields that are zero
// have the defaults that stand beside them.
//
// Score vectors are those of N candidates whose depths, their distances below the best score, are 0, 1/L, 2/L, …, K in steps
// of 2Δ, where 2Δ/L is the step of the lattice. Mechanisms are symmetric (which costs nothing: averaging over permutations keeps privacy and
// expected loss) and shift-invariant. Two vectors are neighbors iff they are after some shift by a real number, that is iff the changes of any two
// scores differ by at most 2Δ.
type Request struct {
	N, K    int
	Epsilon number.Epsilon
	// Step is the L of score vectors 2Δ/L apart; 0 and 1 stand for the lattice of step 2Δ. K counts steps of 2Δ all the same.
	Step int
	// Loss is what choosing a candidate costs; its mean is minimised. By default it is the error in steps of 2Δ.
	Loss Loss
	// Prior weighs the score vectors of that mean, by default alike.
	Prior Prior
	// Worst asks for the largest expected loss of a score vector instead of the mean. Prior is then to be left out.
	Worst bool
	// Delta, where not nil, asks for the optimum over (ε,δ)-DP mechanisms towards all neighbors on the lattice, 0 <= δ <= 1: for neighbors q, q' the probability of
	// any set of candidates at q is at most e^ε times that at q' plus δ. Level is then Paper or DP, and says nothing more.
	Delta *big.Rat
	Level Level
	// Mechanisms are rated; nil for permute-and-flip and the exponential mechanism. One that is not Symmetric by its Info is asked about every score vector.
	Mechanisms []mechanisms.Mechanism
	// Method is "auto", the default, for the cheapest one that reaches the gap, "closed-form" for theorems alone, "lumped" for a small program over classes of
	// orbits, or "lp" for the whole program.
	Method string
	// Solver is "embedded" or "clp" for the simplex method alone, or "auto", the default: the embedded one, which on a large program starts where the first-order
	// method points to.
	Solver string
	Exact  bool // accept exact rationals only
	// Gap is (upper-lower)/upper wanted of every ratio; nil for 1e-9, of a threshold 1e-6. What the precision of a mechanism's own numbers adds
	// (mechanisms.Precision) does not count.
	Gap       *big.Rat
	MaxMemory int64 // bytes; 0 for 12 GiB
	// MaxWork bounds lumping by its work instead of by time: it ends after so many visits of positions, at some 10 ns each, and an answer that was
	// had before the context ended is the same on every machine. 0 for a limit of time: that of the context, or 100 seconds.
	MaxWork int64
	// Certified asks for proofs that WriteCertificate can write: where Method leaves a choice, only such are taken.
	Certified bool
	// Report is told how far a linear program is.
	Report func(pivotsOrIterations int, objective float64)

	solver linear.Solver // what Solver names
}

// Check returns the error of Ratio about a request that no method answers, without work.
func (r Request) Check() error { return r.complete() }

// complete fills in defaults and checks the request of a ratio.
func (r *Request) complete() error {
	if err := r.Epsilon.Check(); err != nil {
		return fmt.Errorf("%w: %w", errRequest, err)
	}
	if r.Mechanisms == nil {
		r.Mechanisms = []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), mechanisms.Exponential()}
	}
	if i := slices.Index(r.Mechanisms, nil); i >= 0 {
		return fmt.Errorf("%w: mechanism %d is nil", errRequest, i)
	}
	r.Gap, r.Method = cmp.Or(r.Gap, big.NewRat(1, 1e9)), cmp.Or(r.Method, methodAuto)
	if err := r.completeQuestion(); err != nil {
		return err
	}
	_, rational := r.Epsilon.Z()
	switch {
	case !slices.Contains([]string{methodAuto, methodClosedForm, methodLumped, methodLP}, r.Method):
		return fmt.Errorf("%w: method %q is not one of auto, closed-form, lumped, lp", errRequest, r.Method)
	case r.Exact && !rational:
		return fmt.Errorf("%w: exact results need e^epsilon as a fraction", errMethod)
	case r.MaxWork < 0:
		return fmt.Errorf("%w: the limit of work %d is negative", errRequest, r.MaxWork)
	}
	if r.Method == methodAuto && r.Certified && !r.published() {
		r.Method = methodLP // the one that has certificates
	}
	switch {
	case r.Method == methodLumped && !r.published():
		return fmt.Errorf("%w: lumped is for the mean error on the lattice of step 2Δ under the uniform or box prior; use method lp", errMethod)
	case r.Method == methodClosedForm && r.Certified && !r.published():
		return fmt.Errorf("%w: closed-form proves no certificate of another step, loss, prior or δ; use method lp", errMethod)
	case r.Method == methodLP && r.unchecked():
		other := ""
		if r.published() {
			other = "method lumped or closed-form, "
		}
		return fmt.Errorf("%w: lp has more variables here than the checker of certificates takes; use %ssmaller n or k, or no certificate", errMethod, other)
	}
	return nil
}

// completeQuestion fills in defaults and checks what says which optimum is asked for, at whatever ε and by whatever method.
func (r *Request) completeQuestion() (err error) {
	if r.solver == nil {
		if r.solver, err = clp.Find(cmp.Or(r.Solver, "auto")); err != nil {
			return fmt.Errorf("%w: %w", errMethod, err)
		}
	}
	switch {
	case r.Gap.Sign() < 0:
		return fmt.Errorf("%w: the gap %s is negative", errRequest, r.Gap.RatString())
	case r.Level < Paper || r.Level > Full:
		return fmt.Errorf("%w: no constraints have the number %d", errRequest, r.Level)
	case r.Step < 0:
		return fmt.Errorf("%w: the step %d is negative; give L for scores 2Δ/L apart", errRequest, r.Step)
	case r.N < 1 || r.K < 1:
		return fmt.Errorf("%w: n = %d and k = %d must both be at least 1", lattice.ErrSize, r.N, r.K)
	case r.K > maxDepth/r.parts():
		return fmt.Errorf("%w: k = %d steps of 2Δ in %d parts are more than %d depths; use smaller ones", ErrTooLarge, r.K, r.parts(), maxDepth)
	case r.Worst && r.Prior.kind != "":
		return fmt.Errorf("%w: Worst takes the worst score vector, whatever the weights: leave out Prior", errRequest)
	case r.Delta != nil && (r.Delta.Sign() < 0 || r.Delta.Cmp(big.NewRat(1, 1)) > 0):
		return fmt.Errorf("%w: δ = %s is not between 0 and 1", errRequest, r.Delta.RatString())
	case r.Delta != nil && r.Level >= Monotone:
		return fmt.Errorf("%w: the optimum over (ε,δ)-DP mechanisms has no constraints %s", errRequest, r.Level)
	}
	if err := fits(r.N, r.depths()); err != nil {
		return err
	}
	return cmp.Or(r.Loss.check(r), r.Prior.check(r))
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

// published reports whether the question is that of McKenna & Sheldon (2020): the mean error on the lattice of step 2Δ, over the score vectors of Q(n,k) or of the
// box. Theorems know more of it, lumping is for it alone, and section program of certificates is about it.
func (r *Request) published() bool { return r.chained() && r.Loss.kind == "" && r.Prior.flat() }

// chained reports whether the program is one of chains, whatever its loss and prior: a mean on the lattice of step 2Δ.
func (r *Request) chained() bool { return !r.Worst && r.Delta == nil && r.parts() == 1 }

// direct reports whether the simplex method is asked for alone.
func (r *Request) direct() bool { return r.Solver == "embedded" || r.Solver == "clp" }

// parts returns the L of the lattice's step 2Δ/L.
func (r *Request) parts() int { return max(1, r.Step) }

// depths returns the number of the lattice's greatest depth, k·L.
func (r *Request) depths() int { return r.K * r.parts() }

// depth returns depth number v in steps of 2Δ.
func (r *Request) depth(v int) *big.Rat { return big.NewRat(int64(v), int64(r.parts())) }

// monotone reports whether a level has rows of monotonicity.
func (l Level) monotone() bool { return l >= Monotone }

// instance returns the question to a mechanism that depths are: scores in steps of the lattice, so that 2Δ = L.
func (r *Request) instance(depths []int) *mechanisms.Instance {
	in := mechanisms.OnLattice(depths, r.Epsilon)
	in.Sensitivities = []*big.Rat{big.NewRat(int64(r.parts()), 2)}
	return in
}

// What a variable of the enumerated program costs in memory by estimate: with the simplex method, and with the first-order method alone.
const (
	bytesPerVariable  = 4000
	bytesByFirstOrder = 1700
)

// memoryOf estimates the bytes that the whole program takes.
func (r *Request) memoryOf(bytes int64) *big.Int {
	need := lattice.Variables(r.N, r.depths())
	return need.Mul(need, big.NewInt(bytes))
}

// programMemory estimates the bytes that the whole program takes.
func (r *Request) programMemory() *big.Int { return r.memoryOf(bytesPerVariable) }

// frugal reports whether the whole program fits into memory for the first-order method alone. What that reaches is a question of time, so that it does not
// stand in where the clock must have no say, nor for a method that was asked for, or an exact optimum.
func (r *Request) frugal() bool {
	limit := big.NewInt(r.memory())
	return r.programMemory().Cmp(limit) > 0 && r.memoryOf(bytesByFirstOrder).Cmp(limit) <= 0 && cmp.Or(r.Method, methodAuto) == methodAuto && r.MaxWork == 0 && !r.Exact && r.published()
}

// Memory estimates the bytes that the whole program takes, and those that answering the request takes at most: the whole program's, with the first-order
// method alone where more is beyond MaxMemory, or lumping's where that is.
func (r Request) Memory() (whole *big.Int, most int64) {
	whole, limit := r.programMemory(), r.memory()
	switch {
	case whole.Cmp(big.NewInt(limit)) <= 0:
		return whole, whole.Int64()
	case r.frugal():
		return whole, r.memoryOf(bytesByFirstOrder).Int64()
	}
	return whole, min(limit, lumped.DefaultMaxMemory)
}

// memory returns how much memory may be used, in bytes.
func (r *Request) memory() int64 { return cmp.Or(r.MaxMemory, table.DefaultMemory) }

// unchecked reports whether the whole program is too large for a certificate that is asked for.
func (r *Request) unchecked() bool { return r.Certified && r.hasMore(maxClaimed) }

// hasMore reports whether the program has more variables.
func (r *Request) hasMore(than int64) bool {
	return lattice.Variables(r.N, r.depths()).Cmp(big.NewInt(than)) > 0
}

// beyond says why the whole program cannot be solved within the limits; it is empty where it can.
func (r *Request) beyond() string {
	steps := ""
	if r.parts() > 1 {
		steps = fmt.Sprintf(" in steps of 2Δ/%d", r.parts())
	}
	size := fmt.Sprintf("n = %d and k = %d%s give %s variables", r.N, r.K, steps, decimal.Count(lattice.Variables(r.N, r.depths())))
	need, limit := r.programMemory(), big.NewInt(r.memory())
	switch {
	case r.unchecked():
		return size + ", more than the checker of certificates takes"
	case !r.published() && r.hasMore(maxTabled):
		return fmt.Sprintf("%s, more than %d; use smaller n or k, or a coarser step", size, int64(maxTabled))
	case need.Cmp(limit) > 0 && !r.frugal():
		return fmt.Sprintf("%s, about %s of memory, over the limit of %s; use smaller n and k, or more memory", size, bytesText(need), bytesText(limit))
	}
	if bits := lattice.Vectors(r.N, r.K, false).BitLen(); r.chained() && bits > maxMassBits {
		return fmt.Sprintf("n = %d and k = %d: orbits of up to 2^%d score vectors are beyond floating-point solvers; use method auto", r.N, r.K, bits)
	}
	return ""
}

// maxMassBits bounds the weights of orbits that are handed to floating-point solvers.
const maxMassBits = 900

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
