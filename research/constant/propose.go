package constant

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"optratio/internal/linear"
)

// family is the program of the points with some S, J, I, Most that are feasible at z and k, and so at all larger k.
type family struct {
	Point
	z     float64
	k     int
	tops  [][]int
	index map[string]int
	rows  []row
	basis *linear.Basis
	force []int
}

// row is a condition Σ value Y <= most.
type row struct {
	index []int32
	value []float64
	most  float64
}

func newFamily(shape Point, z float64, k int) *family {
	f := &family{Point: shape, z: z, k: k, index: map[string]int{}}
	for _, top := range tops(f.S-1, f.J) {
		f.index[fmt.Sprint(top)] = len(f.tops)
		f.tops = append(f.tops, top)
	}
	for _, others := range f.tops {
		if f.Most > 0 && f.finite(others) > f.Most-2 {
			continue
		}
		for r := 0; r < f.I+f.J; r++ {
			f.whole(others, r)
		}
		for e := 0; e <= f.I; e++ {
			for p := 1; p <= f.J; p++ {
				f.rest(others, e, p)
			}
		}
	}
	for t, top := range f.tops {
		if top[0] < f.J {
			f.ends(t)
		}
	}
	return f
}

// finite counts the others of a pattern that are there beside the best.
func (f *family) finite(others []int) int {
	at := slices.Index(others, f.J)
	if at < 0 {
		return len(others)
	}
	return at
}

// sum collects the terms of a row.
type sum struct {
	f *family
	v map[int32]float64
}

// add adds c Y[top][bottom].
func (s sum) add(c float64, depths []int, bottom int) {
	f := s.f
	top := make([]int, f.S-1)
	for i := range top {
		top[i] = min(f.J, depths[i])
	}
	if top[0] < f.J {
		s.v[int32(f.index[fmt.Sprint(top)]*(f.I+1)+min(bottom, f.I))] += c
	}
}

func (s sum) row(most float64) {
	if len(s.v) == 0 {
		return
	}
	q := row{most: most}
	for i := range s.v {
		q.index = append(q.index, i)
	}
	slices.Sort(q.index)
	for _, i := range q.index {
		q.value = append(q.value, s.v[i])
	}
	s.f.rows = append(s.f.rows, q)
}

// below adds what a chain has at depths u >= from of its candidate, and returns the cost.
func (s sum) below(others []int, bottom, from int) (cost float64) {
	for u := from; u <= s.f.k; u++ {
		p := math.Pow(s.f.z, float64(u))
		cost += p * float64(u)
		depths := append(slices.Clone(others), min(u, s.f.J))
		slices.Sort(depths)
		e := bottom
		if u >= s.f.J {
			e = min(e, s.f.k-u)
		}
		s.add(p, depths, e)
	}
	return cost
}

// whole is condition (a): others has the depths of those beside the best, J for deeper ones and such as are not there, the deepest at k - r.
func (f *family) whole(others []int, r int) {
	s := sum{f, map[int32]float64{}}
	for u := 1; u <= min(r, f.J-1); u++ {
		depths := []int{u}
		for _, o := range others {
			if o < f.J {
				o += u
			}
			depths = append(depths, o)
		}
		s.add(math.Pow(f.z, -float64(u)), depths, r-u)
	}
	s.row(s.below(others, min(r, f.I), 0))
}

// rest is condition (b).
func (f *family) rest(others []int, e, p int) {
	s := sum{f, map[int32]float64{}}
	s.row(s.below(others, e, p))
}

// ends are the conditions of the last positions of a chain, (T), and of larger k, (L).
func (f *family) ends(t int) {
	ends, larger := sum{f, map[int32]float64{}}, sum{f, map[int32]float64{}}
	cost := 0.0
	for i := 0; i <= f.I; i++ {
		p, at := math.Pow(f.z, -float64(i)), int32(t*(f.I+1)+i)
		cost += p * float64(f.k-i)
		ends.v[at] = p
		ends.row(cost)
		larger.v[at] += p
		if i > 0 {
			larger.v[at-1] -= p
		}
		larger.row(float64(f.k))
	}
}

const (
	tolerance = 2e-4 // of a violation, in parts of what a row allows
	rounds    = 40
	roundRows = 300
	tiny      = 2e-5  // coefficients below are left out of the program: as pivots they make bases nearly singular
	warm      = 10000 // pivots of an attempt
	cold      = 60000
)

// solve returns a point of nearly the greatest value at a target. It is the zero Point where the program was not solved.
func (f *family) solve(ctx context.Context, t target) (Point, error) {
	p, err := f.attempt(ctx, t, warm)
	if p.Y == nil && err == nil && ctx.Err() == nil {
		return f.attempt(ctx, t, cold)
	}
	return p, err
}

// attempt starts each program from the last basis, which is quick but may pass through bases that are nearly singular; or, with cold, from 0, which is feasible.
func (f *family) attempt(ctx context.Context, t target, pivots int) (Point, error) {
	p := f.Point
	w := p.weights(t)
	known := map[int]bool{}
	for _, r := range f.force {
		known[r] = true
	}
	type excess struct {
		row int
		by  float64
	}
	excesses := func(x []float64) (list []excess) {
		for r := range f.rows {
			if by := f.rows[r].usage(x); by > 1+tolerance {
				list = append(list, excess{r, by})
			}
		}
		return list
	}
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	g := &linear.Growing{Solver: linear.Embedded{}, Tolerance: 1e-7, Rounds: rounds, Report: func(p linear.Progress) {
		if p.Pivots > pivots {
			cancel()
		}
	}}
	if pivots == warm {
		g.Basis = f.basis
	}
	result, err := g.Float(limited, func() *linear.Model { return f.program(w) }, func(x []float64) int {
		list := slices.DeleteFunc(excesses(x), func(e excess) bool { return known[e.row] })
		slices.SortFunc(list, func(a, b excess) int { return cmp.Or(cmp.Compare(b.by, a.by), cmp.Compare(a.row, b.row)) })
		list = list[:min(len(list), roundRows)]
		for _, e := range list {
			known[e.row] = true
			f.force = append(f.force, e.row)
		}
		if pivots == cold {
			g.Basis = nil
		}
		return len(list)
	})
	if err != nil || result.Outcome != linear.Optimal {
		return Point{}, err
	}
	f.basis = result.Basis
	most := 1.0
	for r := range f.rows {
		most = max(most, f.rows[r].usage(result.X))
	}
	p.Y = nil
	for t := range f.tops {
		var y []float64
		for _, v := range result.X[t*(f.I+1) : (t+1)*(f.I+1)] {
			y = append(y, max(0, v/most*(1-1e-9)))
		}
		p.Y = append(p.Y, y)
	}
	return p, nil
}

// program maximizes what a point is worth, by the weights of its numbers, under the rows that are in force.
func (f *family) program(w [][]float64) *linear.Model {
	m, scale := &linear.Model{}, 0.0
	for _, row := range w {
		scale = max(scale, slices.Max(row))
	}
	columns := make([]struct {
		index []int32
		value []float64
	}, len(f.tops)*(f.I+1))
	for at, r := range f.force {
		q := &f.rows[r]
		m.AddRow(math.Inf(-1), 1)
		for i, j := range q.index {
			if v := q.value[i] / q.most; math.Abs(v) > tiny {
				c := &columns[j]
				c.index, c.value = append(c.index, int32(at)), append(c.value, v)
			}
		}
	}
	for j, c := range columns {
		m.AddCol(-w[j/(f.I+1)][j%(f.I+1)]/scale, 0, float64(f.k), c.index, c.value)
	}
	return m
}

// usage is the left side of a row over its right side.
func (q *row) usage(x []float64) float64 {
	s := 0.0
	for i, j := range q.index {
		s += float64(q.value[i] * x[j])
	}
	return s / q.most
}
