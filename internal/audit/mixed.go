package audit

import (
	"math"
	"slices"

	"optratio/internal/inquiry"
)

// mixed tells mixed outcomes apart by a tree of questions.
type mixed struct {
	shapes
	tree *node
}

func newMixed() *mixed { return &mixed{shapes{}, &node{end: 1}} }

func (m *mixed) learner(draw drawer[mixture]) *learning[mixture] {
	l := &learning[mixture]{partition: m, most: mixedKept, times: 1.25}
	l.draw = func(q inquiry.Vector, samples int64) (drawn [][]mixture, event string, err error) {
		if drawn, event, err = draw(q, samples); len(m.shapes) >= mostShapes { // otherwise each outcome is kept with a shape of its own
			l.most = 0
		}
		return drawn, event, err
	}
	return l
}

func (m *mixed) cells() int { return m.tree.end }

func (m *mixed) cell(o mixture) int { return m.tree.find(o) }

// learn grows the tree anew.
func (m *mixed) learn(f *field, first map[string][]mixture) bool {
	var all []sighting
	for i, p := range f.places {
		for _, o := range first[p.q.Key()] {
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
				best, fewest = e, b.questions
			}
		}
	}
	return best
}
