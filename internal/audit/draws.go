package audit

import (
	"slices"
	"sync"
	"time"

	"optratio/internal/inquiry"
)

// mostChildren bounds the children of one audit.
const mostChildren = 64

// Questions for samples grow from the first to the last of these numbers of samples, as long as answers take no longer than that part of
// the time limit. Where an answer names every outcome, it also stays within a part of the longest line, as far as earlier answers tell.
const (
	firstQuestion = 1000
	firstMixed    = 100 // where nothing is known of how long an outcome is
	lastQuestion  = 1 << 17
	longAnswer    = 8
	fullAnswer    = 4
)

// program is a program as a sampler of candidates, labels or numbers: one child that draws, or several at the same time. The samples of every question
// are dealt to them, as many to each as to any other and the rest to the first ones, whatever they answered before and however fast: what an audit asks
// of a child depends on the child's place and the seed alone. Each is started again by itself.
type program struct {
	children []*asker
	others   []*asker     // of a reference, one for each child, with its labels
	compared []comparison // whose sides it draws at, by the children and the others; nil: it draws by the children
	all      labelled     // labels of all, in the order of the children
	parted
}

// newSampler returns a program as a sampler of the outcomes that are wanted.
func newSampler(s *program) sampler {
	o := s.children[0].opts
	for _, c := range slices.Concat(s.children, s.others) {
		c.most, c.limit = firstQuestion, lastQuestion
		if c.lists() {
			c.limit = mostValues
		}
		if o.Outcomes == Mixed {
			c.most = firstMixed
		}
	}
	s.all = *newLabelled(o)
	switch o.Outcomes {
	case Mixed:
		m := newMixed()
		return m.learner(outcomesOf(s, m.parse))
	case Real:
		return (&binned{}).learner(outcomesOf(s, parseValues))
	}
	return s
}

// lists reports whether an answer names every outcome, so that it grows with the number of samples.
func (a *asker) lists() bool { return a.opts.Outcomes == Real || a.opts.Outcomes == Mixed }

// draw asks for samples in questions of a size that is answered soon, and has read read each answer.
func (a *asker) draw(q inquiry.Vector, samples int64, read func(line []byte, samples int64) error) (event string, err error) {
	a.labels.about(q, a.opts)
	for left := samples; left > 0; {
		some := min(left, a.most)
		begin := time.Now()
		event, err := a.ask(q, a.line(q, some), some, func(line []byte) error {
			if a.lists() { // of outcomes as long as these, what leaves room in a line
				a.limit = max(1, min(a.limit, longestLine/fullAnswer*some/int64(len(line)+1)))
				a.most = min(a.most, a.limit)
			}
			return read(line, some)
		})
		if err != nil || event != "" {
			return event, err
		}
		left -= some
		switch took := time.Since(begin); {
		case took > a.child.timeout/2:
			a.most = max(1, a.most/4)
		case took > a.child.timeout/longAnswer:
			a.most = max(1, some)
		case some >= a.most:
			a.most = min(2*a.most, a.limit)
		}
	}
	return "", nil
}

// draw lets every child draw its share, with what reads each answer of a child, and returns the first event or error in the order of the children.
func (s *program) draw(q inquiry.Vector, samples int64, read func(child int, line []byte, samples int64) error) (string, error) {
	children := s.children
	if s.compared != nil {
		if q[0]%2 == 1 {
			children = s.others
		}
		q = s.compared[q[0]/2].q
	}
	events, errs := make([]string, len(children)), make([]error, len(children))
	each, more := samples/int64(len(children)), samples%int64(len(children))
	var drawing sync.WaitGroup
	for i, c := range children {
		share := each
		if int64(i) < more {
			share++
		}
		drawing.Go(func() {
			events[i], errs[i] = c.draw(q, share, func(line []byte, samples int64) error { return read(i, line, samples) })
		})
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

// outcomesOf returns what draws the outcomes of each child, which parse reads.
func outcomesOf[T any](s *program, parse func(line []byte, samples int64) ([]T, error)) drawer[T] {
	return func(q inquiry.Vector, samples int64) (all [][]T, event string, err error) {
		all = make([][]T, len(s.children))
		event, err = s.draw(q, samples, func(i int, line []byte, n int64) error {
			outcomes, err := parse(line, n)
			all[i] = append(all[i], outcomes...)
			return err
		})
		return all, event, err
	}
}

// divided is a sampler whose samples children draw, each its part.
type divided interface {
	sampler
	splits() [][]int64 // what each counted in the last sample
}

// parted remembers the parts.
type parted struct{ parts [][]int64 }

func (p *parted) splits() [][]int64 { return p.parts }

// even rounds a number of samples so that both halves are dealt evenly to several children, at least one to each: those that start with one seed then go on
// repeating each other.
func (s *statistics) even(samples int64) int64 {
	unit := 2 * int64(s.o.program.Children)
	if s.o.program.Children < 2 || samples < 1 || s.drawn+unit > s.o.Budget {
		return samples
	}
	return max(unit, samples-samples%unit)
}

// added adds counts to a sum, which may have fewer outcomes.
func added[T int64 | float64](sum, counts []T) []T {
	for len(sum) < len(counts) {
		sum = append(sum, 0)
	}
	for i, c := range counts {
		sum[i] += c
	}
	return sum
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
