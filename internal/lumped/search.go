package lumped

import (
	"context"
	"math"

	"optratio/internal/chain"
)

// search refines a partition and solves its program, again and again.
type search struct {
	ctx        context.Context
	n, k       int
	boxed      bool
	z          float64
	o          Options
	refinement *refinement
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

// From one level to the next there are growth times as many classes. All levels but the last are solved with at most levelIterations.
const (
	firstClasses    = 8
	growth          = 2
	levelIterations = 1000
	leastIterations = 64   // below which there is no use in a level
	minClasses      = 1000 // before which refinement does not end
	lastGap         = 0.05 // of what makes a level worth its while, to which the last one is solved
	maxIdle         = 2    // levels in a row that may gain next to nothing before it ends
)

// run returns the last level, which is the best as each starts at the dual of the one before.
func (s *search) run() (*level, error) {
	s.refinement = newRefinement(s.n, s.k, s.z, s.o.MaxClasses)
	s.refinement.grow(min(firstClasses, s.o.MaxClasses))
	var err error
	if s.best, err = s.build(); err != nil {
		return nil, err
	}
	s.solve(s.best, math.Inf(1), levelIterations)
	idle := 0
	for s.ctx.Err() == nil && !s.reached(s.best) && s.affords(s.best) && s.refinement.grow(min(growth*len(s.best.program.weight), s.o.MaxClasses)) {
		l, err := s.build()
		if err != nil {
			break // beyond the memory, or the context ended
		}
		before := s.best.ascent.Bound
		s.best = l
		s.solve(l, before, levelIterations)
		if idle++; len(s.refinement.classes) < minClasses || !l.converged || l.ascent.Bound-before >= s.o.Improve*s.missing(before) {
			idle = 0
		}
		if idle == maxIdle {
			break
		}
	}
	bound := s.best.ascent.Bound
	s.o.Gap = max(s.o.Gap, lastGap*s.o.Improve*s.missing(bound)/bound)
	s.solve(s.best, math.Inf(1), maxIterations)
	return s.best, nil
}

// missing returns what may be gained over a bound.
func (s *search) missing(bound float64) float64 {
	if s.o.Target > 0 {
		return max(0, s.o.Target-bound)
	}
	return bound
}

// affords reports whether the work allowed leaves anything for the level after l.
func (s *search) affords(l *level) bool {
	return s.o.MaxWork == 0 || s.work+growth*leastIterations*int64(len(l.form.Class)) <= s.o.MaxWork
}

// reached reports whether a level's bound is good enough.
func (s *search) reached(l *level) bool { return s.o.Target > 0 && l.ascent.Bound >= s.o.Target }

// build sets up a level with the classes of the refinement, which starts from the best one, if any.
func (s *search) build() (*level, error) {
	prog, err := build(s.ctx, s.n, s.k, s.refinement.tree.clone(), s.refinement.classes, s.boxed, s.o.MaxMemory)
	if err != nil {
		return nil, err
	}
	l := &level{program: prog, form: prog.form(s.z)}
	if s.best == nil {
		l.ascent = l.cold(s.refinement.classes)
	} else {
		l.ascent = l.warm(s.refinement.classes, s.best)
	}
	return l, nil
}

// solve improves a level, until the gap is closed or small against what the level is above floor.
func (s *search) solve(l *level, floor float64, most int) {
	a := l.ascent
	before, size := a.Iterations, len(l.form.Class)
	if s.o.MaxWork > 0 {
		most = int(min(int64(most), max(0, s.o.MaxWork-s.work)/int64(size)))
	}
	watch := a.Until(s.o.Gap, floor, func() {
		if s.o.Report != nil {
			s.o.Report(a.Iterations, a.Bound)
		}
	})
	l.converged = a.Run(s.ctx, before+most, func() chain.Outcome {
		if s.reached(l) {
			return chain.Converged
		}
		return watch()
	})
	s.iterations += a.Iterations - before
	s.work += int64(a.Iterations-before) * int64(size)
}

// cold starts at the dual that is feasible at every ε, y = A/(1+B') where m_0 >= 2 and 0 elsewhere with A = Σ v z^v and
// B' = Σ_{v>=1} z^v, and at x = z^v/n.
func (l *level) cold(classes []box) *chain.Ascent {
	p, f := l.program, l.form
	a, b := 0.0, 0.0
	for v := 1; v <= p.k; v++ {
		a += float64(float64(v) * f.Power[v])
		b += f.Power[v]
	}
	start := chain.NewPoint(f)
	for c := range classes {
		if classes[c].lo[0] > 1 {
			start.Y[c] = a / (1 + b)
		}
	}
	for s := range p.shapes {
		to := int(f.Start[s+1])
		for i := int(f.Start[s]); i < to; i++ {
			start.X[i] = f.Power[max(0, p.k+1-(to-i))] / float64(p.n)
		}
	}
	return chain.NewAscent(f, start, math.Sqrt(float64(p.n))*a/(1+b))
}

// warm starts at the best dual and the primal point of a level whose classes have been divided since.
func (l *level) warm(classes []box, from *level) *chain.Ascent {
	p, q := l.program, from.program
	start := chain.NewPoint(l.form)
	for c := range classes {
		start.Y[c] = from.ascent.Best[q.tree.Of(classes[c].any(p.n))]
	}
	for s := range p.shapes {
		old := q.byOthers.Of(p.shapes[s].others.any(p.n - 1))
		copy(start.X[l.form.Start[s]:l.form.Start[s+1]], from.ascent.Image.X[from.form.Start[old]:from.form.Start[old+1]])
	}
	return chain.NewAscent(l.form, start, from.ascent.Omega)
}
