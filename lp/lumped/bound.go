package lumped

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number/interval"
)

// ErrInput is wrapped by errors about sizes or options that make no sense.
var ErrInput = errors.New("lumping")

// ErrTooMany says that a partition has more classes, or needs more memory, than allowed.
var ErrTooMany = errors.New("too many classes")

// Defaults of Options.
const (
	DefaultMaxClasses = 20000
	DefaultMaxMemory  = 2_000_000_000
	DefaultGap        = 1e-8
	DefaultImprove    = 1e-6
	DefaultPrecision  = 128
)

// Options steer Bound. The zero value lets it choose.
type Options struct {
	Partition     Partition // the only partition to use; the zero value refines automatically
	MaxClasses    int       // no partition with more is used, 0 for DefaultMaxClasses
	MaxIterations int       // for the last solve, 0 for 50000; earlier ones take a tenth
	MaxWork       int64     // visits of positions in all, at some 10 ns each; 0 for no limit
	MaxMemory     int64     // bytes that a partition may need by estimate, 0 for DefaultMaxMemory
	Gap           float64   // relative gap to the best bound of the partition at which a solve ends, 0 for DefaultGap
	Improve       float64   // relative improvement of the bound below which refinement stops, 0 for DefaultImprove
	Precision     uint      // bits of the final evaluation, 0 for DefaultPrecision
	// Report, where not nil, is called now and then from the solving goroutine. To stop with the best bound so far, end the context.
	Report func(Progress)
}

// Progress is what Bound reports while it works.
type Progress struct {
	Partition  Partition
	Classes    int
	Iterations int     // of this partition
	Bound      float64 // estimate of the best bound so far, as a mean over the lattice
}

// Result is a proved lower bound, and the dual that proves it.
type Result struct {
	// Lower encloses the value of the dual function at the multipliers, in the unit of the objective: the minimum of
	// Σ_m W(m) Σ_v v m_v x[m][v], in lattice steps of 2Δ, is at least Lower.Lo().
	Lower       interval.Interval
	Objective   lattice.Objective
	Partition   Partition
	Classes     []Class
	Multipliers []*big.Rat // y of each class, per score vector of it
	Sequences   int        // different sequences of classes along chains, by the others' class
	Iterations  int        // in all
	Converged   bool       // whether the last solve reached its gap
}

// Bound returns a lower bound on the optimum of the optimal-mechanism program of Q(n,k) with the constraints of the paper:
// the minimum of Σ_m W(m) Σ_v v m_v x[m][v], W(m) the weight of the orbit m under the objective.
//
// Unless a partition is given it starts with a coarse one and refines in whichever way gained most so far, until the bound stops improving, the
// limit of classes is reached or the context ends; then it returns the best bound so far. The context's error is
// returned only where it ended before there was any bound, ErrTooMany where the given or even the coarsest partition is beyond the limit.
func Bound(ctx context.Context, n, k int, eps mechanisms.Epsilon, objective lattice.Objective, o Options) (*Result, error) {
	if n < 1 || k < 1 {
		return nil, fmt.Errorf("%w: n = %d and k = %d must both be at least 1", ErrInput, n, k)
	}
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	z := eps.ExpNeg(big.NewRat(1, 1), o.Precision)
	if n == 1 {
		// One orbit, one variable, no error.
		return &Result{
			Lower: interval.FromInt(0, o.Precision), Objective: objective, Partition: Coarse, Sequences: 1, Converged: true,
			Classes: []Class{Coarse.Of(append([]int{1}, make([]int, k)...))}, Multipliers: []*big.Rat{new(big.Rat)},
		}, nil
	}
	s := &search{ctx: ctx, n: n, k: k, objective: objective, o: o, z: z.Near()}
	best, err := s.run()
	if err != nil {
		return nil, err
	}
	return best.result(z, s.iterations), nil
}

func (o Options) filled() (Options, error) {
	if o.Partition != (Partition{}) {
		if err := o.Partition.check(); err != nil {
			return o, err
		}
	}
	if o.MaxClasses < 0 || o.MaxIterations < 0 || o.MaxWork < 0 || o.MaxMemory < 0 || !(o.Gap >= 0) || !(o.Improve >= 0) {
		return o, fmt.Errorf("%w: negative limits or tolerances", ErrInput)
	}
	set(&o.MaxClasses, DefaultMaxClasses)
	set(&o.MaxIterations, 50000)
	set(&o.MaxMemory, DefaultMaxMemory)
	set(&o.Gap, DefaultGap)
	set(&o.Improve, DefaultImprove)
	set(&o.Precision, DefaultPrecision)
	return o, nil
}

// set gives a number that is not set its default.
func set[T int | int64 | uint | float64](x *T, value T) {
	if *x == 0 {
		*x = value
	}
}

// result proves what the level's duals are worth.
func (l *level) result(z interval.Interval, iterations int) *Result {
	p := l.program
	r := &Result{
		Objective: p.objective, Partition: p.partition, Classes: p.classes, Sequences: len(p.shapes),
		Iterations: iterations, Converged: l.converged,
	}
	for _, v := range l.ascent.Best {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			v = 0
		}
		r.Multipliers = append(r.Multipliers, new(big.Rat).SetFloat64(v))
	}
	r.Lower = p.certify(r.Multipliers, z)
	return r
}
