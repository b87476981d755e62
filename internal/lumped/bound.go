package lumped

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"optratio/number"
)

// ErrTooMany says that a partition has more classes, or needs more memory, than allowed.
var ErrTooMany = errors.New("too many classes")

// Defaults of Options, and the most iterations of the last solve.
const (
	DefaultMaxMemory = 2_000_000_000
	DefaultGap       = 1e-8
	defaultClasses   = 8192 // what a minute is enough for on lattices of 10^10 orbits
	defaultImprove   = 1e-6
	defaultPrecision = 128
	maxIterations    = 50000
)

// Options steer Bound. The zero value lets it choose.
type Options struct {
	MaxClasses int     // no partition has more
	MaxWork    int64   // visits of positions in all, at some 10 ns each; 0 for no limit
	MaxMemory  int64   // bytes that a partition may need by estimate
	Gap        float64 // relative gap to the best bound of the partition at which a solve ends
	Target     float64 // a bound over |Q(n,k)| at which all ends, 0 for none
	Improve    float64 // refinement ends where twice the classes improve the bound by less than this part of what is missing, to Target or else to 0
	Precision  uint    // bits of the final evaluation
	// Report, where not nil, is called now and then from the solving goroutine, with the iterations of the partition at hand and an estimate of the best bound so far, over |Q(n,k)|.
	// To stop with the best bound so far, end the context.
	Report func(iterations int, bound float64)
}

// Result is a proved lower bound, and the dual that proves it.
type Result struct {
	// Lower is a number that the minimum of Σ_m W(m) Σ_v v m_v x[m][v], in lattice steps of 2Δ, is at least: the value of the dual function at the
	// multipliers, rounded down.
	Lower       number.Interval
	Tree        *Tree
	Multipliers []*big.Rat // y of each class, per score vector of it
	Iterations  int        // in all
}

// Bound returns a lower bound on the optimum of the optimal-mechanism program of Q(n,k) with the constraints of the paper:
// the minimum of Σ_m W(m) Σ_v v m_v x[m][v], W(m) the weight of the orbit m: its score vectors, with boxed those of the box. n and k are at least 1.
//
// It starts with a few classes and doubles their number until the bound stops improving, a
// limit is reached or the context ends; then it returns the best bound so far. The context's error is
// returned only where it ended before there was any bound, ErrTooMany where even the coarsest partition is beyond the limits.
func Bound(ctx context.Context, n, k int, eps number.Epsilon, boxed bool, o Options) (*Result, error) {
	o.MaxClasses, o.MaxMemory, o.Precision = cmp.Or(o.MaxClasses, defaultClasses), cmp.Or(o.MaxMemory, DefaultMaxMemory), cmp.Or(o.Precision, defaultPrecision)
	o.Gap, o.Improve = cmp.Or(o.Gap, DefaultGap), cmp.Or(o.Improve, defaultImprove)
	z := eps.ExpNeg(big.NewRat(1, 1), o.Precision)
	if n == 1 {
		// One orbit, one variable, no error.
		return &Result{Lower: number.FromInt(0, o.Precision), Tree: newTree(), Multipliers: []*big.Rat{new(big.Rat)}}, nil
	}
	s := &search{ctx: ctx, n: n, k: k, boxed: boxed, o: o, z: z.Near()}
	best, err := s.run()
	if err != nil {
		return nil, err
	}
	return best.result(z, s.iterations), nil
}

// maxMultiplier is far beyond what a multiplier can be good for, and far from overflow.
const maxMultiplier = 1e100

// result proves what the level's duals are worth.
func (l *level) result(z number.Interval, iterations int) *Result {
	p := l.program
	r := &Result{Tree: p.tree, Iterations: iterations}
	y := slices.Clone(l.ascent.Best)
	for c, v := range y {
		if math.IsNaN(v) || math.Abs(v) > maxMultiplier {
			y[c] = 0
		}
		r.Multipliers = append(r.Multipliers, new(big.Rat).SetFloat64(y[c]))
	}
	least, _ := z.Float64()
	r.Lower = p.certify(y, least, z.Prec())
	return r
}
