package lumped

import (
	"context"
	"errors"
	"math"

	"optratio/lattice"
	"optratio/lp/chain"
)

// search looks for a partition worth its size.
type search struct {
	ctx        context.Context
	n, k       int
	objective  lattice.Objective
	z          float64
	o          Options
	iterations int
	work       int64 // iterations, times the positions of their levels
	best       *level
}

// level is one partition, solved.
type level struct {
	program   *program
	form      *chain.Form
	ascent    *chain.Ascent
	converged bool
}

// The first of these with at most firstClasses classes is where refinement starts, or else the last one.
var starts = []Partition{Fine, Coarse, {Top: 2, Cap: 6}, {Top: 1, Cap: 6}, {Top: 1, Cap: 3}, {Top: 1, Cap: 2}}

const firstClasses = 4000

// run returns the best level.
func (s *search) run() (*level, error) {
	var err error
	if s.o.Partition != (Partition{}) {
		s.best, err = s.build(s.canonical(s.o.Partition), s.o.MaxClasses)
	} else {
		for i, p := range starts {
			limit := s.o.MaxClasses
			if i < len(starts)-1 {
				limit = min(limit, firstClasses)
			}
			s.best, err = s.build(s.canonical(p), limit)
			if !errors.Is(err, ErrTooMany) {
				break
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if s.o.Partition == (Partition{}) {
		s.solve(s.best, max(s.o.Gap, s.o.Improve/2), math.Inf(1), s.o.MaxIterations/10)
		s.refine()
	}
	s.solve(s.best, s.o.Gap, math.Inf(1), s.o.MaxIterations)
	return s.best, nil
}

// A step makes a partition finer.
type step func(Partition) Partition

var steps = []step{
	func(p Partition) Partition { p.Top++; return p },
	func(p Partition) Partition {
		if p.Cap > 0 {
			p.Cap += p.Cap / 2
		}
		return p
	},
	func(p Partition) Partition { p.Bottom++; return p },
}

// canonical returns the coarsest partition that tells the same orbits of Q(n,k) apart.
func (s *search) canonical(p Partition) Partition {
	p.Top, p.Bottom = min(p.Top, s.k+1), min(p.Bottom, s.k+1)
	if p.Top > s.k {
		p.Bottom = 0
	}
	if p.Cap >= s.n {
		p.Cap = 0
	}
	return p
}

// refine takes, again and again, the step whose last gain per doubling of the classes was best, and takes it back
// where it gains too little. A step that gained too little is tried again only after another one was taken, one that gives too many classes
// never, as other steps only add to them.
func (s *search) refine() {
	// Untried, the bottom of the vectors promises least: permute-and-flip looks at the top.
	gain := []float64{math.Inf(1), math.Inf(1), 0}
	idle, barred := make([]bool, len(steps)), make([]bool, len(steps))
	for s.ctx.Err() == nil && (s.o.MaxWork == 0 || s.work < s.o.MaxWork) {
		choice := -1
		for i := range steps {
			if !idle[i] && !barred[i] && (choice < 0 || gain[i] > gain[choice]) {
				choice = i
			}
		}
		if choice < 0 {
			return
		}
		from := s.best.program
		idle[choice] = true
		to := s.canonical(steps[choice](from.partition))
		if to == from.partition {
			continue
		}
		l, err := s.build(to, s.o.MaxClasses)
		if err != nil {
			barred[choice] = true
			continue
		}
		split := math.Log2(float64(len(l.program.classes)) / float64(len(from.classes)))
		if split == 0 {
			continue
		}
		before := s.best.ascent.Bound
		s.solve(l, max(s.o.Gap, s.o.Improve/2), before, s.o.MaxIterations/10)
		relative := (l.ascent.Bound - before) / math.Abs(l.ascent.Bound)
		gain[choice] = relative / split
		if relative > 0 {
			s.best = l
		}
		if relative > s.o.Improve {
			clear(idle)
		}
	}
}

// build sets up a level that starts from the best one, if any.
func (s *search) build(p Partition, limit int) (*level, error) {
	prog, err := build(s.ctx, s.n, s.k, p, s.objective, limit, s.o.MaxMemory)
	if err != nil {
		return nil, err
	}
	l := &level{program: prog, form: prog.form(s.z)}
	if s.best == nil {
		l.ascent = l.cold()
	} else {
		l.ascent = l.warm(s.best)
	}
	return l, nil
}

// solve improves a level: to the gap, or where it is already clear what it gains over floor.
func (s *search) solve(l *level, gap, floor float64, most int) {
	a := l.ascent
	before, size := a.Iterations, len(l.form.Class)
	if s.o.MaxWork > 0 {
		most = int(min(int64(most), max(0, s.o.MaxWork-s.work)/int64(size)))
	}
	l.converged = a.Run(s.ctx, before+most, a.Until(gap, floor, func() {
		if s.o.Report != nil {
			s.o.Report(Progress{
				Partition:  l.program.partition,
				Classes:    len(l.program.classes),
				Iterations: a.Iterations,
				Bound:      max(a.Bound, s.best.ascent.Bound),
			})
		}
	}))
	s.iterations += a.Iterations - before
	s.work += int64(a.Iterations-before) * int64(size)
}

// cold starts at the dual that is feasible at every ε, y = A/(1+B') where m_0 >= 2 and 0 elsewhere with A = Σ v z^v and
// B' = Σ_{v>=1} z^v, and at x = z^v/n.
func (l *level) cold() *chain.Ascent {
	p, f := l.program, l.form
	a, b := 0.0, 0.0
	for v := 1; v <= p.k; v++ {
		a += float64(v) * f.Power[v]
		b += f.Power[v]
	}
	start := chain.NewPoint(f)
	for c := range p.classes {
		if p.classes[c].Counts[0] != 1 {
			start.Y[c] = a / (1 + b) * float64(p.factor(int32(c)))
		}
	}
	i := 0
	for _, s := range p.shapes {
		for j := s.sequence; j >= 0; j = p.next[j] {
			start.X[i] = f.Power[p.depth[j]] / float64(p.n)
			i++
		}
	}
	return chain.NewAscent(f, start, math.Sqrt(float64(p.n))*a/(1+b))
}

// warm starts at another level's best dual and its primal point, read through the coarser classes. Where its classes are not coarser this
// is a start like any other.
func (l *level) warm(from *level) *chain.Ascent {
	p, q := l.program, from.program
	classes, shapes := map[string]int{}, map[string]int{}
	var buf []byte
	for i := range q.classes {
		classes[string(q.classes[i].key(buf))] = i
	}
	for i := range q.shapes {
		shapes[string(q.shapes[i].others.key(buf))] = i
	}
	start := chain.NewPoint(l.form)
	for i := range p.classes {
		c := q.partition.Of(p.classes[i].Counts)
		if j, ok := classes[string(c.key(buf))]; ok {
			start.Y[i] = from.ascent.Best[j]
		}
	}
	for i := range p.shapes {
		c := q.partition.Of(p.shapes[i].others.Counts)
		if j, ok := shapes[string(c.key(buf))]; ok {
			copy(start.X[l.form.Start[i]:l.form.Start[i+1]], from.ascent.Now.X[from.form.Start[j]:from.form.Start[j+1]])
		}
	}
	return chain.NewAscent(l.form, start, from.ascent.Omega)
}
