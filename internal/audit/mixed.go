package audit

import "optratio/internal/inquiry"

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
	f.branches = m.tree.branches()
	return true
}

// branches lists the nodes below one, those with the fewest questions before them first. The cells of each are an event that is told in few words, as its complement is.
func (n *node) branches() []*node {
	all := []*node{n}
	for i := 0; i < len(all); i++ {
		if m := all[i]; !m.leaf() {
			all = append(all, m.yes, m.no)
		}
	}
	return all[1:]
}

// shortness is the part of an event's promise that is given up for fewer words.
const shortness = 0.05
