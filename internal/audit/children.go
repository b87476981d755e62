package audit

import (
	"slices"
	"sync"

	"optratio/internal/inquiry"
)

// mostChildren bounds the children of one audit.
const mostChildren = 64

// program is a program as a sampler of candidates, labels or numbers: one child that draws, or several at the same time. The samples of every question
// are dealt to them, as many to each as to any other and the rest to the first ones, whatever they answered before and however fast: what an audit asks
// of a child depends on the child's place and the seed alone. Each is started again by itself.
type program struct {
	children []*drawn
	all      labelled  // labels of all, in the order of the children
	parts    [][]int64 // what each counted in the last sample
	values   [][]float64
}

// newSampler returns the children of a program as a sampler of the outcomes that are wanted.
func newSampler(askers []*asker) sampler {
	o := askers[0].opts
	if o.Outcomes == Mixed {
		return newMixed(newDrawn(askers[0]))
	}
	s := &program{all: *newLabelled(o)}
	for _, a := range askers {
		s.children = append(s.children, newDrawn(a))
	}
	if o.Outcomes == Real {
		return &binned{valued: s}
	}
	return s
}

// share is how many of some samples a child draws.
func (s *program) share(i int, samples int64) int64 {
	n := int64(len(s.children))
	if int64(i) < samples%n {
		return samples/n + 1
	}
	return samples / n
}

// draw lets every child draw its share, with what reads each answer of a child, and returns the first event or error in the order of the children.
func (s *program) draw(q inquiry.Vector, samples int64, read func(child int, line []byte, samples int64) error) (string, error) {
	events, errs := make([]string, len(s.children)), make([]error, len(s.children))
	var drawing sync.WaitGroup
	for i, c := range s.children {
		if n := s.share(i, samples); n > 0 {
			drawing.Go(func() {
				events[i], errs[i] = c.draw(q, n, func(line []byte, samples int64) error { return read(i, line, samples) })
			})
		}
	}
	drawing.Wait()
	for i := range events {
		if events[i] != "" || errs[i] != nil {
			return events[i], errs[i]
		}
	}
	return "", nil
}

func (s *program) Sample(q inquiry.Vector, samples int64) (sum []int64, event string, err error) {
	s.parts = make([][]int64, len(s.children))
	event, err = s.draw(q, samples, func(i int, line []byte, n int64) error {
		counts, err := s.children[i].labels.parse(line, n)
		s.parts[i] = added(s.parts[i], counts)
		return err
	})
	if err != nil || event != "" {
		return nil, event, err
	}
	for i, counts := range s.parts {
		if !s.all.list {
			s.parts[i] = s.renumbered(s.children[i].labels, counts)
		}
		sum = added(sum, s.parts[i])
	}
	return sum, "", nil
}

// renumbered returns a child's counts by the numbers that all children's labels have.
func (s *program) renumbered(own *labelled, counts []int64) []int64 {
	var out []int64
	for id, c := range counts {
		at, _ := s.all.number(own.names[id]) // which fails for none that is drawn
		for len(out) <= at {
			out = append(out, 0)
		}
		out[at] += c
	}
	return out
}

func (s *program) Values(q inquiry.Vector, samples int64) (all []float64, event string, err error) {
	s.values = make([][]float64, len(s.children))
	event, err = s.draw(q, samples, func(i int, line []byte, n int64) error {
		values, err := parseValues(line, n)
		s.values[i] = append(s.values[i], values...)
		return err
	})
	return slices.Concat(s.values...), event, err
}

// divided is a sampler whose samples several children draw, each its part.
type divided interface {
	sampler
	splits() [][]int64 // what each counted in the last sample; nil where there is one
}

func (s *program) splits() [][]int64 {
	if len(s.children) == 1 {
		return nil
	}
	return s.parts
}

func (b *binned) splits() (out [][]int64) {
	if p, ok := b.valued.(*program); ok && len(p.children) > 1 {
		for _, values := range p.values {
			out = append(out, b.count(values))
		}
	}
	return out
}

// even rounds a number of samples so that both halves are dealt evenly to several children, at least one to each: those that start with one seed then go on
// repeating each other.
func (s *statistics) even(samples int64) int64 {
	unit := 2 * int64(s.o.program.Children)
	if s.o.program.Children < 2 || samples < 1 || s.drawn+unit > s.o.Budget {
		return samples
	}
	return max(unit, samples-samples%unit)
}

// gather adds up what happened while the children were asked, in the first one's account.
func gather(askers []*asker) *asker {
	first := askers[0]
	for _, a := range askers[1:] {
		first.join(a)
		if first.child.confused == "" {
			first.child.confused = a.child.confused
		}
	}
	return first
}
