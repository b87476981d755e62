package ratiomap

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/lattice"
	"optratio/lp"
	"optratio/number"
)

// Proofs of the bound on an interval.
const (
	ProofThreshold  = "threshold"   // permute-and-flip is optimal: z + … + z^k <= 1, n <= 2 or k = 1 (research/docs/threshold.md)
	ProofClosedForm = "closed-form" // ClosedForm
	ProofDual       = "dual"        // dual points at both ends
)

// Interval is a range of z = e^-ε, From < z <= To, on which permute-and-flip's ratio to the optimum is at most Bound.
type Interval struct {
	From, To, Bound *big.Rat
	Proof           string
}

// Cover is what is proved of one lattice: intervals that follow each other from z = 0 to z = 1, so for every ε >= 0.
type Cover struct {
	N, K      int
	Level     lp.Level
	Intervals []Interval
	Seen      *Seen // nil where none was looked for

	form  *form
	nodes []*dual // at both ends of every interval with a ProofDual
}

// Bound returns the largest bound of all intervals.
func (c *Cover) Bound() *big.Rat {
	most := big.NewRat(1, 1)
	for _, i := range c.Intervals {
		if i.Bound.Cmp(most) > 0 {
			most = i.Bound
		}
	}
	return most
}

// Options say how far a cover goes.
type Options struct {
	// Target is the bound to be proved, above 1.
	Target *big.Rat
	// Gap, where not 0, is how far the bound may be above the largest ratio to a dual point that was met: intervals are halved until it is close to the
	// truth, even where the target is reached.
	Gap float64
	// MaxClasses bounds the classes of score vectors; 0 for DefaultMaxClasses.
	MaxClasses int
}

// MinGap is the least gap other than 0.
const MinGap = 5e-5

// DefaultMaxClasses bounds the classes of score vectors that multipliers are told apart by.
const DefaultMaxClasses = 4000

// ErrTarget says that the target was not reached.
var ErrTarget = errors.New("the target was not reached")

// Limits of the search: the grid of z that intervals begin and end on, in units of 2^-zBits, how many there are at first, and how many at most.
const (
	gridStep   = 1 << 6
	firstSteps = 8
	maxNodes   = 2000
	maxBits    = 1 << 20 // of the number of score vectors
	fewOrbits  = 600     // up to which each orbit is a class, where the bound is to be close to the truth
)

// round is the unit of bounds, and margin by how much a bound exceeds its estimate at least, in these units.
const (
	roundUnit = 100_000
	margin    = 2
)

// ClosedForm returns a bound on permute-and-flip's ratio at every ε and every level of constraints,
//
//	1 + (k-1)^n / ((k+1)^n - 2 k^n),
//
// which falls strictly as n grows (research/docs/map.md), and nil where (k+1)^n <= 2 k^n. n >= 2.
func ClosedForm(n, k int) *big.Rat {
	over, under := closedForm(n, k)
	if under.Sign() <= 0 {
		return nil
	}
	excess := new(big.Rat).SetFrac(over, under)
	return excess.Add(excess, one)
}

// closedForm returns numerator and denominator of ClosedForm's fraction, not in lowest terms.
func closedForm(n, k int) (over, under *big.Int) {
	power := func(base int) *big.Int { return new(big.Int).Exp(big.NewInt(int64(base)), big.NewInt(int64(n)), nil) }
	twice := power(k)
	return power(k - 1), new(big.Int).Sub(power(k+1), twice.Lsh(twice, 1))
}

// Settled returns the least n from which on the closed form is at most the target, which is above 1. Where the context ends before that is known, the error is its cause.
func Settled(ctx context.Context, k int, target *big.Rat) (int, error) {
	excess := new(big.Rat).Sub(target, one)
	within := func(n int) bool {
		over, under := closedForm(n, k)
		return over.Mul(over, excess.Denom()).Cmp(under.Mul(under, excess.Num())) <= 0
	}
	low, high := 1, 2 // not within, as far as it is known, and within
	for ctx.Err() == nil && !within(high) {
		low, high = high, 2*high
	}
	for ctx.Err() == nil && high-low > 1 {
		if middle := (low + high) / 2; within(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return high, nil
}

// Prove covers all ε for one lattice. Where the error is ErrTarget the cover is complete, but its bound is above the target.
func Prove(ctx context.Context, n, k int, level lp.Level, o Options) (*Cover, error) {
	if n < 1 || k < 1 || k > MaxDepth {
		return nil, fmt.Errorf("%w: n = %d and k = %d must be at least 1, k at most %d", number.InputError("method"), n, k, MaxDepth)
	}
	if size := float64(n) * math.Log2(float64(k+1)); size > maxBits {
		return nil, fmt.Errorf("%w: n = %d and k = %d: the lattice has about 2^%.3g score vectors; use smaller n or k", lp.ErrTooLarge, n, k, size)
	}
	c := &Cover{N: n, K: k, Level: level}
	if n <= 2 || k == 1 {
		c.Intervals = []Interval{{new(big.Rat), one, one, ProofThreshold}}
		return c, nil
	}
	from := threshold(k)
	start := rational(from)
	c.Intervals = []Interval{{new(big.Rat), start, one, ProofThreshold}}
	if closed := ClosedForm(n, k); closed != nil {
		closed = up(closed)
		excess, _ := new(big.Rat).Sub(closed, one).Float64()
		if closed.Cmp(o.Target) <= 0 && (o.Gap == 0 || excess <= o.Gap) {
			c.Intervals = append(c.Intervals, Interval{start, one, closed, ProofClosedForm})
			return c, nil
		}
	}
	p := &prover{n: n, k: k, options: o}
	if level < lp.Monotone || lattice.Variables(n, k).Cmp(big.NewInt(MaxMonotone)) > 0 {
		if err := p.choose(ctx, from); err != nil {
			return nil, err
		}
		return c, p.cover(ctx, c, from)
	}
	// More rows only raise the optimum: they are of use where those of the paper are not enough.
	paper := *c
	paper.Intervals = slices.Clone(c.Intervals)
	if err := p.choose(ctx, from); err != nil {
		return nil, err
	}
	if err := p.cover(ctx, &paper, from); o.Gap == 0 && !errors.Is(err, ErrTarget) {
		return &paper, err
	}
	var err error
	if p.form, err = newForm(ctx, n, k, k+1, MaxMonotone); err != nil {
		return nil, err
	}
	if p.monotone, err = newMonotone(p.form); err != nil {
		return nil, err
	}
	return c, p.cover(ctx, c, from)
}

// threshold returns the last z on the grid with z + … + z^k <= 1, below which permute-and-flip is optimal for every n; k >= 2.
func threshold(k int) int64 {
	low, high := int64(1<<(zBits-1)), int64(1<<zBits)
	for high-low > gridStep {
		middle := (low + high) / 2
		// Σ z^v in units of 2^-(zBits k), by Horner's rule
		z, sum, unit := big.NewInt(middle), new(big.Int), big.NewInt(1)
		for range k {
			sum.Add(sum, unit)
			sum.Mul(sum, z)
			unit.Lsh(unit, zBits)
		}
		if sum.Cmp(unit) <= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// up rounds a bound up.
func up(x *big.Rat) *big.Rat {
	scaled := new(big.Int).Mul(x.Num(), big.NewInt(roundUnit))
	quotient, rest := scaled.QuoRem(scaled, x.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(quotient, big.NewInt(roundUnit))
}

// samples are where partitions are compared: parts of the way from the threshold to z = 1.
var samples = []float64{0.05, 0.1, 0.2, 0.35, 0.5, 0.7}

// choose takes the coarsest partition that is good enough: the next finer one does not lower the largest ratio by more than the gap, or by what would
// matter for the target.
func (p *prover) choose(ctx context.Context, from int64) error {
	limit := p.options.MaxClasses
	if limit == 0 {
		limit = DefaultMaxClasses
	}
	if orbits := lattice.Orbits(p.n, p.k); p.options.Gap > 0 && orbits.Cmp(big.NewInt(min(fewOrbits, int64(limit)))) <= 0 {
		var err error
		p.form, err = newForm(ctx, p.n, p.k, p.k+1, fewOrbits)
		return err
	}
	target, _ := p.options.Target.Float64()
	worst := 0.0
	for top := 1; top <= p.k+1; top++ {
		q := &prover{n: p.n, k: p.k, options: p.options}
		var err error
		q.form, err = newForm(ctx, p.n, p.k, top, limit)
		if errors.Is(err, errTooMany) && top > 1 {
			return nil
		}
		if err != nil {
			return err
		}
		most := 1.0
		var near []*dual
		for _, s := range samples {
			z := from + int64(s*float64(1<<zBits-from))
			d, err := q.solve(ctx, z, near...)
			if err != nil {
				return err
			}
			most = max(most, q.ratio(d))
			near = []*dual{d}
		}
		enough := 0.5 * (target - 1)
		if p.options.Gap > 0 {
			enough = p.options.Gap / 2
		}
		if top > 1 && worst-most < p.options.Gap/2 {
			return nil
		}
		p.form, worst = q.form, most
		if most-1 < enough {
			return nil
		}
	}
	return nil
}

// piece is an interval between two dual points with the bound that is proved there.
type piece struct {
	a, b  *dual
	bound *big.Rat
}

// cover proves bounds on intervals from the threshold to 1 and halves the one with the largest bound until that is small enough.
func (p *prover) cover(ctx context.Context, c *Cover, from int64) error {
	at := func(i int64) int64 { return from + (1<<zBits-from)*i/firstSteps/gridStep*gridStep }
	var pieces []piece
	last, err := p.solve(ctx, from)
	if err != nil {
		return err
	}
	worst := p.ratio(last)
	for i := int64(1); i <= firstSteps; i++ {
		z := at(i)
		if i == firstSteps {
			z = 1 << zBits
		}
		next, err := p.solve(ctx, z, last)
		if err != nil {
			return err
		}
		worst = max(worst, p.ratio(next))
		pieces = append(pieces, p.piece(last, next))
		last = next
	}
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		i := largest(pieces)
		bound, _ := pieces[i].bound.Float64()
		if pieces[i].bound.Cmp(p.options.Target) <= 0 && (p.options.Gap == 0 || bound <= worst+p.options.Gap) {
			break
		}
		a, b := pieces[i].a, pieces[i].b
		middle := (a.z + b.z) / 2 / gridStep * gridStep
		if middle <= a.z || len(pieces) >= maxNodes {
			err = fmt.Errorf("%w at n = %d, k = %d", ErrTarget, p.n, p.k)
			break
		}
		d, failure := p.solve(ctx, middle, a, b)
		if failure != nil {
			return failure
		}
		worst = max(worst, p.ratio(d))
		if target, _ := p.options.Target.Float64(); worst > target {
			err = fmt.Errorf("%w at n = %d, k = %d: the ratio to a dual point at z = %s is %.6f", ErrTarget, p.n, p.k, rational(d.z).FloatString(6), worst)
		}
		pieces = append(pieces, piece{})
		copy(pieces[i+1:], pieces[i:])
		pieces[i], pieces[i+1] = p.piece(a, d), p.piece(d, b)
		if err != nil {
			break
		}
	}
	c.form = p.form
	c.nodes = []*dual{pieces[0].a}
	for _, s := range pieces {
		c.nodes = append(c.nodes, s.b)
		c.Intervals = append(c.Intervals, Interval{rational(s.a.z), rational(s.b.z), s.bound, ProofDual})
	}
	return err
}

func largest(pieces []piece) int {
	best := 0
	for i := range pieces {
		if pieces[i].bound.Cmp(pieces[best].bound) > 0 {
			best = i
		}
	}
	return best
}

// piece proves a bound between two dual points, as small as the pieces that permute-and-flip's error is looked at on allow. Where the points are so bad that they
// prove no more than that the ratio is at most 1 + B' <= k + 1 (research/docs/levels.md), that is the bound.
func (p *prover) piece(a, b *dual) piece {
	s := p.span(a, b)
	estimate := 1.0
	most := big.NewRat(int64(p.k)+1, 1)
	const looks = 64
	for i := int64(0); i <= looks; i++ {
		t := i << pieceBits / looks
		bound := s.chord(t).Sub(s.bow(t))
		if bound.Lo().Sign() <= 0 {
			return piece{a, b, most}
		}
		estimate = max(estimate, s.flip(t).Quo(bound).Near())
	}
	bound := up(new(big.Rat).SetFloat64(min(estimate, float64(p.k)+1)))
	for extra := int64(margin); ; extra *= 2 {
		tried := new(big.Rat).Add(bound, big.NewRat(extra, roundUnit))
		if tried.Cmp(most) >= 0 {
			return piece{a, b, most}
		}
		if s.proves(tried) {
			return piece{a, b, tried}
		}
	}
}
