package audit

import (
	"math"
	"slices"

	"optratio/internal/inquiry"
)

// mixed is a program as a sampler of mixed outcomes.
type mixed struct {
	draw func(q inquiry.Vector, samples int64) (all []mixture, event string, err error)
	memory[mixture]
	shapes
	tree *node
}

func newMixed(s *program) *mixed {
	m := &mixed{shapes: shapes{}, tree: &node{end: 1}}
	m.draw = func(q inquiry.Vector, samples int64) (all []mixture, event string, err error) {
		event, err = s.draw(q, samples, func(_ int, line []byte, n int64) error {
			got, err := m.parse(line, n)
			all = append(all, got...)
			return err
		})
		return all, event, err
	}
	return m
}

func (m *mixed) Sample(q inquiry.Vector, samples int64) ([]int64, string, error) {
	all, event, err := m.draw(q, samples)
	if err != nil || event != "" {
		return nil, event, err
	}
	if len(m.shapes) < mostShapes { // otherwise each outcome is kept with a shape of its own
		m.keep(q, all, mixedKept)
	}
	return m.count(all), "", nil
}

func (m *mixed) count(all []mixture) []int64 {
	counts := make([]int64, m.tree.end)
	for _, o := range all {
		counts[m.tree.find(o)]++
	}
	return counts
}

func (m *mixed) kept(q inquiry.Vector) [2][]int64 {
	all := m.of(q)
	half := len(all) / 2
	return [2][]int64{m.count(all[:half]), m.count(all[half:])}
}

// learn grows the tree anew where there are more outcomes.
func (m *mixed) learn(f *field) bool {
	if !m.due(mixedKept, 1.25) {
		return false
	}
	var all []sighting
	for i, p := range f.places {
		for _, o := range m.of(p.q) {
			all = append(all, sighting{o, i})
		}
	}
	m.tree = grow(f, all)
	f.branches = m.tree.branches(0)
	return true
}

// branch is an event that is told in few words: the cells from first to before end, which have the answers to so many questions in common.
type branch struct{ first, end, questions int }

// branches lists the nodes below one.
func (n *node) branches(questions int) []branch {
	if n.leaf() {
		return nil
	}
	questions++
	return slices.Concat([]branch{{n.yes.first, n.yes.end, questions}, {n.no.first, n.no.end, questions}}, n.yes.branches(questions), n.no.branches(questions))
}

// shortness is the part of an event's promise that is given up for fewer words.
const shortness = 0.05

// shorten returns the branch, or the complement of one, of the fewest questions that promises nearly as much as another event, which it returns where there is none.
func (f *field) shorten(best edge, own, near []float64, rate func(x, y float64) edge) edge {
	within := func(event []bool) edge {
		x, y := 0.0, 0.0
		for r, in := range event {
			if in {
				x, y = x+own[r], y+near[r]
			}
		}
		e := rate(x, y)
		e.event = event
		return e
	}
	enough := min(best.promise, within(best.event).promise)
	enough -= float64(shortness * math.Abs(enough))
	fewest := math.MaxInt
	for _, b := range f.branches {
		for _, in := range []bool{true, false} {
			if b.questions > fewest || b.end > len(own) {
				continue
			}
			event := slices.Repeat([]bool{!in}, len(own))
			for r := b.first; r < b.end; r++ {
				event[r] = in
			}
			if e := within(event); e.promise >= enough && (b.questions < fewest || e.promise > best.promise) {
				e.hopeful = best.hopeful
				best, fewest = e, b.questions
			}
		}
	}
	return best
}
