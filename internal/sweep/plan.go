// Package sweep answers a grid of ratio jobs, one row for each n, k, ε and mechanism, and keeps the rows in a file.
//
// The numbers of a row depend on its parameters alone. Nothing goes from one row to another: there are no warm starts, every ε is a new one, and
// lumping is bounded by its work. A row whose answer was had after the end of the context is not kept. So it does not matter how a grid is
// cut into shards, on how many cores they run, and how often they are stopped and resumed. What a row took, its seconds, is no such number.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/decimal"
	"optratio/internal/grid"
	"optratio/internal/lumped"
	"optratio/lp"
	"optratio/number"
)

// MaxWork bounds the lumping of one row, in visits of positions: some 100 seconds.
const MaxWork = 10_000_000_000

// MaxPoints bounds a grid.
const MaxPoints = 1_000_000

// ErrPlan is wrapped by errors about grids.
var ErrPlan = errors.New("grid")

// Plan is a grid of jobs.
type Plan struct {
	N, K    []int      // in increasing order
	Epsilon []*big.Rat // in increasing order
	Exp     bool       // whether Epsilon is e^ε
	// Request holds what the jobs have in common: everything but N, K and Epsilon. Its Mechanisms and its Gap are set.
	Request lp.Request
	// Objective and Constraints are the columns of these names.
	Objective, Constraints string
	// Settings names what else rows depend on and is not as by default, such as "gap=0.001 step=delta".
	Settings string
}

// Point is a place of a grid: one job, which gives a row for each mechanism.
type Point struct {
	N, K    int
	Epsilon *big.Rat // or e^ε
	memory  int64
}

// Check refuses a plan with too many points, or one that lp.Ratio would refuse. Where the context ends before that is known, the error is its cause.
func (p *Plan) Check(ctx context.Context) error {
	if p.Request.Mechanisms == nil || p.Request.Gap == nil {
		return fmt.Errorf("%w: the mechanisms or the gap are not set", ErrPlan)
	}
	if size := float64(len(p.N)) * float64(len(p.K)) * float64(len(p.Epsilon)); size > MaxPoints {
		return fmt.Errorf("%w: %.0f combinations of n, k and ε, at most %d are taken; cut the grid up", ErrPlan, size, MaxPoints)
	}
	for _, n := range p.N {
		for _, k := range p.K {
			for _, eps := range p.Epsilon {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				r, err := p.request(Point{N: n, K: k, Epsilon: eps})
				if err == nil {
					err = r.Check()
				}
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// request returns the job of a point. Its Epsilon is a new one and shares no memory with that of other jobs.
func (p *Plan) request(at Point) (lp.Request, error) {
	r := p.Request
	r.N, r.K = at.N, at.K
	r.MaxWork = MaxWork
	var err error
	if p.Exp {
		r.Epsilon, err = number.FromExp(at.Epsilon)
	} else {
		r.Epsilon, err = number.FromEpsilon(at.Epsilon)
	}
	return r, err
}

// parameters returns what tells a row from the others.
func (p *Plan) parameters(at Point, mechanism string) Parameters {
	q := Parameters{N: at.N, K: at.K, Objective: p.Objective, Constraints: p.Constraints, Mechanism: mechanism}
	if p.Exp {
		q.ExpEps = at.Epsilon.RatString()
	} else {
		q.Eps = decimal.Text(at.Epsilon)
	}
	return q
}

// Deal returns the points of a shard, those of least work first. Points are ordered by the size of their programs, then by n, k and ε, and dealt
// out in that order, back and forth, so that shards have about the same work. The error is the context's.
func (p *Plan) Deal(ctx context.Context, s grid.Shard) ([]Point, error) {
	type size struct {
		n, k   int
		need   *big.Int
		memory int64
	}
	var sizes []size
	for _, n := range p.N {
		for _, k := range p.K {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			r := p.Request
			r.N, r.K = n, k
			need, memory := r.ProgramMemory(), r.Memory()
			sizes = append(sizes, size{n, k, need, memory})
		}
	}
	slices.SortStableFunc(sizes, func(a, b size) int { return a.need.Cmp(b.need) })
	var mine []Point
	count, i := max(1, s.Count), 0
	for _, z := range sizes {
		for _, eps := range p.Epsilon {
			turn := i % count
			if i/count%2 == 1 {
				turn = count - 1 - turn
			}
			if turn == s.Index {
				mine = append(mine, Point{z.n, z.k, eps, z.memory})
			}
			i++
		}
	}
	return mine, nil
}

// FitsIn reports whether rows are the same with every limit of memory from so many bytes on: all programs are smaller, and so is what lumping takes.
func (p *Plan) FitsIn(bytes int64) bool {
	largest := p.Request
	largest.N, largest.K = slices.Max(p.N), slices.Max(p.K)
	return bytes >= lumped.DefaultMaxMemory && largest.ProgramMemory().Cmp(big.NewInt(bytes)) <= 0
}

// holds reports whether a row belongs to the grid.
func (p *Plan) holds(r *Row) bool {
	_, n := slices.BinarySearch(p.N, r.N)
	_, k := slices.BinarySearch(p.K, r.K)
	_, eps := slices.BinarySearchFunc(p.Epsilon, r.value, (*big.Rat).Cmp)
	return n && k && eps && p.Exp == (r.ExpEps != "") && r.Objective == p.Objective && r.Constraints == p.Constraints && slices.Contains(p.names(), r.Mechanism)
}

// names returns the mechanisms' names.
func (p *Plan) names() []string {
	var names []string
	for _, m := range p.Request.Mechanisms {
		names = append(names, m.Info().Name)
	}
	return names
}

// sameBits is the relative width below which the decimals of a row do not tell how wide an enclosure is.
var sameBits = big.NewRat(1, 1e17)

// open reports whether a row's ratio is wider than the gap, because its method met a limit of its own.
func (p *Plan) open(r *Row) bool {
	lower, upper := bound(r.RatioLower), bound(r.RatioUpper)
	switch {
	case r.RatioLower == r.RatioUpper:
		return false
	case lower == nil || upper == nil || p.Request.Exact:
		return true
	}
	gap := sameBits
	for _, m := range p.Request.Mechanisms {
		if m.Info().Name == r.Mechanism {
			gap = lp.RatioGap(p.Request.Gap, m)
		}
	}
	if gap.Cmp(sameBits) < 0 {
		gap = sameBits
	}
	width := new(big.Rat).Sub(upper, lower)
	return width.Cmp(new(big.Rat).Mul(gap, upper)) > 0
}
