package audit

import (
	"maps"
	"slices"

	"optratio/internal/inquiry"
)

// mixed is a program as a sampler of mixed outcomes.
type mixed struct {
	draw func(q inquiry.Vector, samples int64) (all []mixture, event string, err error)
	memory[mixture]
	shapes
	tree    *node
	claimed float64 // ε
}

func newMixed(a *asker) *mixed {
	m := &mixed{tree: &node{end: 1}, claimed: a.opts.Epsilon.Float()}
	m.draw = func(q inquiry.Vector, samples int64) (all []mixture, event string, err error) {
		event, err = a.draw(q, samples, func(line []byte, n int64) error {
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
	if !m.full() { // otherwise what is left out would be missed among what is kept
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
	m.tree = grow(f, m.claimed, all)
	f.branches = m.tree.branches(nil, 0)
	return true
}

// branches lists the nodes of the tree below one, and the cells that are not all of a leaf: events that are told in few words.
func (n *node) branches(list []branch, tests int) []branch {
	if tests > 0 {
		list = append(list, branch{n.first, n.end, tests, n.leaf()})
	}
	if n.leaf() {
		if tests == 0 { // the only one
			list = append(list, branch{n.first, n.end, tests, true})
		}
		if len(n.shapes) > 1 {
			for _, cell := range slices.Sorted(maps.Values(n.shapes)) {
				list = append(list, branch{cell, cell + 1, tests + 1, false})
			}
		}
		return list
	}
	return n.no.branches(n.yes.branches(list, tests+1), tests+1)
}
