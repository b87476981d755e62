package constant

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync/atomic"

	"optratio/internal/arith"
)

// Cover is what proves a bound on the ratio for every n, every k >= From and every z between the first and the last cell.
type Cover struct {
	Bound *big.Rat
	From  int
	Cells []Cell
}

// Cell has z between Low and High: points are feasible at Low, and permute-and-flip's error is that at High.
type Cell struct {
	Low, High *big.Rat
	Ranges    []Range
}

// Range has k from From to To, or all from From on where To is 0.
type Range struct {
	From, To int
	Points   []Point
}

const (
	share     = 0.1  // of what the bound is above 1 that a cell of ε and a box of n/k and 1/k may cost
	far       = 12.0 // εk from which on little changes: one range up to tail, and one for all k beyond
	tail      = 30.0
	margin    = 1e-4 // what the proof may lose at a single n and k
	farMargin = 2e-3 // where the search looks at some k alone
	widest    = 0.15 // of ranges, in parts of k
	mostBest  = 4    // how many of the best candidates points look at
	tight     = 1.05 // bounds below need points that look at one more, and one step farther
)

// cell is a Cell that is being covered.
type cell struct {
	Cell
	ctx      context.Context
	bound    float64
	z1, z2   float64
	crowded  float64 // ν from which on the closed form is enough
	families map[[3]int]*family
}

// sums returns A and B' = z + … + z^k.
func sums(z, k float64) (a, b float64) {
	if math.IsInf(k, 1) {
		return z / (1 - z) / (1 - z), z / (1 - z)
	}
	return arith.PowerSums(arith.Float{}, z, int(k))
}

// flip is permute-and-flip's error.
func flip(t target, z float64) float64 {
	a, b := sums(z, t.k)
	if math.IsInf(t.k, 1) {
		m := t.mu
		if m == 0 {
			return a / (1 + b) * (.5 + b/2)
		}
		return a / (1 + b) * ((math.Expm1(m)-m)/(m*m) + 1/m + math.Expm1(-m*b)/(b*m*m))
	}
	power := func(x float64) float64 { return math.Pow(x/t.k, t.n) }
	return a * t.k * t.k / (t.n * (t.n - 1)) * ((power(t.k+1)-power(t.k-b))/(1+b) - (1-power(t.k-b))/b)
}

// closed is the value of the dual point of the closed form.
func closed(t target, z float64) float64 {
	a, b := sums(z, t.k)
	if math.IsInf(t.k, 1) {
		m := t.mu
		return a / (1 + b) * ((math.Expm1(m)-m)/(m*m) + (1-1/(b*m))/m)
	}
	return a * t.k * t.k / (t.n * (t.n - 1)) * (math.Pow((t.k+1)/t.k, t.n)/(1+b) - 1/b)
}

// valued is a point with how often its value has each kind of score vectors. In the keys, weight is 1 for those with at most a greatest depth, and 0 for those with it.
type valued struct {
	Point
	w map[term]float64
}

func value(p Point) valued {
	v := valued{p, map[term]float64{}}
	for t, top := range tops(p.S-1, p.J) {
		if top[0] == p.J {
			continue
		}
		for _, e := range terms(top, p.J) {
			for r, y := range p.Y[t] {
				last := 0.0
				if r == p.I {
					last = 1
				}
				v.w[term{e.chosen, e.cut + r, last}] += y / e.weight
			}
		}
	}
	return v
}

func (v valued) at(t target) (sum float64) {
	for e, w := range v.w {
		sum += w * t.count(term{e.chosen, e.cut, 1}, 0, e.weight == 1)
	}
	return sum
}

// proves reports whether a point is enough at a target.
func (c *cell) proves(v valued, t target, bound float64) bool {
	return (v.Most == 0 || t.n <= float64(v.Most)) && flip(t, c.z2) <= bound*v.at(t)
}

// shape returns J and I.
func (c *cell) shape(k int) (j, i int) {
	eps := -math.Log(c.z1)
	j, i = max(3, int(math.Ceil(.68/eps))+1), int(math.Ceil(1.1/eps))
	j, i = j+c.more(), i+c.more()
	if j+i > k {
		j = max(3, int(.42*float64(k)))
		i = k - j
	}
	return j, i
}

// targets returns the n, the largest first, each with the k of a range.
func (c *cell) targets(r Range) (list [][]target, bound float64) {
	if r.To == 0 {
		_, b := sums(c.z1, float64(r.From))
		for m := c.crowded / b; ; m -= .1 / b {
			t, k := target{mu: max(0, m), k: math.Inf(1)}, float64(r.From)
			list = append(list, []target{t, {n: max(3, t.mu*k+2), k: k, mu: t.mu}})
			if m < 0 {
				return list, c.bound - (c.bound-1)*share
			}
		}
	}
	_, b := sums(c.z1, float64(r.To))
	step, bound := 1, c.bound*(1-margin)
	if far := int(widest * float64(r.From)); r.To-r.From > far {
		step, bound = far/2, c.bound*(1-farMargin)
	}
	for n := int(c.crowded * float64(r.To) / b); n >= 3; n-- {
		var row []target
		for k := r.From; k <= r.To; k += step {
			if _, b := sums(c.z2, float64(k)); b > 1 {
				row = append(row, target{n: float64(n), k: float64(k)})
			}
		}
		list = append(list, row)
	}
	return list, bound
}

// stretch looks for points that prove the bound in a range.
func (c *cell) stretch(r *Range) (ok bool, err error) {
	list, bound := c.targets(*r)
	more := c.more()
	var points []valued
	for _, row := range list {
		open := func() int {
			return slices.IndexFunc(row, func(t target) bool {
				return flip(t, c.z2) > bound*closed(t, c.z1) && !slices.ContainsFunc(points, func(v valued) bool { return c.proves(v, t, bound) })
			})
		}
		for s := 3; ; s++ {
			at := open()
			if at < 0 {
				break
			}
			most := 0
			if !math.IsInf(row[at].k, 1) && row[at].n <= float64(s) {
				most = int(row[at].n)
			}
			if s > mostBest+more {
				return false, nil
			}
			p, err := c.family(s, most, r.From).solve(c.ctx, row[at])
			if err != nil {
				return false, err
			}
			if p.Y != nil {
				points = append(points, value(p))
			}
		}
	}
	for _, v := range points {
		r.Points = append(r.Points, v.Point)
	}
	return true, nil
}

// more is what a tight bound needs more of candidates and of steps.
func (c *cell) more() int {
	if c.bound < tight {
		return 1
	}
	return 0
}

// family returns the program of the points with S and Most that are feasible from k on, with what it has learnt from earlier targets.
func (c *cell) family(s, most, k int) *family {
	key := [3]int{s, most, k}
	if c.families[key] == nil {
		j, i := c.shape(k)
		c.families[key] = newFamily(Point{S: s, J: j, I: i, Most: most}, c.z1, k)
	}
	return c.families[key]
}

// cover finds ranges for all k from the given one on.
func (c *cell) cover(ctx context.Context, k int) error {
	c.ctx, c.families = ctx, map[[3]int]*family{}
	eps, step := -math.Log(c.z1), widest
	for {
		r := Range{From: k, To: max(k, int(float64(k)*(1+step)))}
		switch x := eps * float64(k); {
		case x > tail:
			r.To = 0
		case x > far:
			r.To = int(tail/eps) + 1
		}
		clear(c.families)
		ok, err := c.stretch(&r)
		switch {
		case err != nil:
			return err
		case ok:
			c.Ranges = append(c.Ranges, r)
			if r.To == 0 {
				return nil
			}
			k, step = r.To+1, min(widest, 1.6*max(step, 1/float64(k)))
		case r.To > k && eps*float64(k) <= far:
			step = max(0, min(step/2, float64(r.To-k-1)/float64(k)))
		default:
			return fmt.Errorf("%w at k = %d", ErrUnproved, k)
		}
	}
}

// Plan is what a Cover is to prove: the bound for all k >= From and all z from First to Last, multiples of 1/Grid.
type Plan struct {
	Bound       *big.Rat
	From        int
	First, Last int
	Jobs        int // cells at a time
	Report      func(done, total int)
	// Check says why the certificate of a cell is not accepted.
	Check func(ctx context.Context, text []byte) error
}

// Grid is the denominator of the ends of cells.
const Grid = 1 << 12

// Prove looks for a Cover. It has the cells up to the first one where that failed, or that was not reached when the context ended, with the reason.
func (p *Plan) Prove(ctx context.Context) (*Cover, error) {
	bound, _ := p.Bound.Float64()
	var cells []*cell
	for low := p.First; low < p.Last; {
		z := float64(low) / Grid
		high := min(p.Last, low+max(1, int((math.Pow(z, 1/(1+(bound-1)*share))-z)*Grid)))
		cells = append(cells, &cell{
			Cell:  Cell{Low: big.NewRat(int64(low), Grid), High: big.NewRat(int64(high), Grid)},
			bound: bound, z1: z, z2: float64(high) / Grid, crowded: crowded(bound),
		})
		low = high
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]chan error, len(cells))
	for i := range results {
		results[i] = make(chan error, 1)
	}
	var next atomic.Int64
	for range p.Jobs {
		go func() {
			for i := int(next.Add(1)) - 1; i < len(cells); i = int(next.Add(1)) - 1 {
				results[i] <- p.cell(ctx, cells[i])
			}
		}()
	}
	c := &Cover{Bound: p.Bound, From: p.From}
	for i, d := range cells {
		if err := <-results[i]; err != nil {
			return c, fmt.Errorf("from z = %g to %g: %w", d.z1, d.z2, err)
		}
		c.Cells = append(c.Cells, d.Cell)
		p.Report(i+1, len(cells))
	}
	return c, nil
}

// cell covers one cell and lets the checker decide it.
func (p *Plan) cell(ctx context.Context, d *cell) error {
	if err := d.cover(ctx, p.From); err != nil {
		return err
	}
	d.families = nil
	var b bytes.Buffer
	one := &Cover{Bound: p.Bound, From: p.From, Cells: []Cell{d.Cell}}
	if err := one.WriteCertificate(&b); err != nil {
		return err
	}
	if err := p.Check(ctx, b.Bytes()); err != nil {
		return fmt.Errorf("%w: the checker says: %w", ErrUnproved, err)
	}
	return nil
}

// ErrUnproved says that no points of the family were found that prove the bound.
var ErrUnproved = errors.New("no points were found that prove the bound")

// crowded returns a ν from which on 1 + e^-ν/(ν-1) is at most the bound.
func crowded(bound float64) float64 {
	nu := 1.05
	for 1+math.Exp(-nu)/(nu-1) > bound {
		nu += .01
	}
	return nu
}
