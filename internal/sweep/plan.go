// Package sweep answers a grid of ratio jobs, one row for each n, k, ε and mechanism, and keeps the rows in a file.
//
// The numbers of a row depend on its parameters alone. No row uses another one: there are no warm starts, each ε is computed anew, and
// lumping has a limit of work, not of time. A row that is answered after the end of the context is dropped. So it does not matter how a grid is
// cut into shards, on how many cores they run, and how often they are stopped and resumed. Only the seconds of a row depend on that.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"optratio/internal/decimal"
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
	// Settings names the options that rows depend on, that have no column, and that differ from their defaults, such as "gap=0.001 step=delta".
	Settings string
}

// Point is a place of a grid: one job, which gives a row for each mechanism.
type Point struct {
	N, K    int
	Epsilon *big.Rat // or e^ε
	memory  int64
}

// Check refuses a plan with too many points, or one that lp.Ratio would refuse.
func (p *Plan) Check() error {
	if p.Request.Mechanisms == nil || p.Request.Gap == nil {
		return fmt.Errorf("%w: the mechanisms or the gap are not set", ErrPlan)
	}
	if size := float64(len(p.N)) * float64(len(p.K)) * float64(len(p.Epsilon)); size > MaxPoints {
		return fmt.Errorf("%w: %.0f combinations of n, k and ε, at most %d are taken; cut the grid up", ErrPlan, size, MaxPoints)
	}
	for _, n := range p.N {
		for _, k := range p.K {
			for _, eps := range p.Epsilon {
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

// deal returns the points of a shard, those of least work first. Points are ordered by the size of their programs, then by n, k and ε, and dealt
// out in that order, back and forth, so that shards have about the same work.
func (p *Plan) deal(s Shard) []Point {
	type size struct {
		n, k   int
		need   *big.Int
		memory int64
	}
	var sizes []size
	for _, n := range p.N {
		for _, k := range p.K {
			r := p.Request
			r.N, r.K = n, k
			need, memory := r.Memory()
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
	return mine
}

// FitsIn reports whether rows are the same with every limit of memory from so many bytes on: all programs are smaller, and so is what lumping takes.
func (p *Plan) FitsIn(bytes int64) bool {
	largest := p.Request
	largest.N, largest.K = slices.Max(p.N), slices.Max(p.K)
	whole, _ := largest.Memory()
	return bytes >= lumped.DefaultMaxMemory && whole.Cmp(big.NewInt(bytes)) <= 0
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

// ErrRow is wrapped by errors about mechanisms that have no row: they failed to state probabilities, or state estimates.
var ErrRow = errors.New("no row")

// answer returns the rows of a point.
func (p *Plan) answer(ctx context.Context, at Point) (rows []Row, err error) {
	r, err := p.request(at)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	a, err := lp.Ratio(ctx, r)
	if err != nil {
		return nil, err
	}
	seconds := time.Since(begin).Seconds()
	for _, name := range p.names() {
		row, err := p.row(at, name, a)
		if err != nil {
			return nil, err
		}
		row.Seconds = seconds
		rows = append(rows, row)
	}
	return rows, nil
}

// row returns a mechanism's row of an answer.
func (p *Plan) row(at Point, name string, a *lp.Answer) (Row, error) {
	row := Row{
		Parameters: p.parameters(at, name), ErrorLower: "0", ErrorUpper: "inf", RatioLower: "0", RatioUpper: "inf",
		Proof: a.Proof, Solver: a.Solver, value: at.Epsilon,
	}
	i := slices.IndexFunc(a.Mechanisms, func(m lp.Rated) bool { return m.Name == name })
	if i < 0 { // its error is beyond a limit of its own
		return row, nil
	}
	m := a.Mechanisms[i]
	if m.Finding != "" {
		return row, fmt.Errorf("%w: %s: %s", ErrRow, row.Parameters, m.Finding)
	}
	if !m.Error.IsRigorous() || !m.Ratio.IsRigorous() {
		return row, fmt.Errorf("%w: of %s only estimates are known, a sweep holds proved numbers; leave it out", ErrRow, name)
	}
	row.ErrorLower, row.ErrorUpper = p.ends(m.Error)
	row.RatioLower, row.RatioUpper = p.ends(m.Ratio)
	return row, nil
}

// ends returns the bounds of a number as a row has them.
func (p *Plan) ends(x number.Number) (lower, upper string) {
	if exact, ok := x.Rat(); ok && p.Request.Exact {
		return exact.RatString(), exact.RatString()
	}
	lower, upper, _ = x.Strings()
	return lower, upper
}
