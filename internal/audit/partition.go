package audit

import (
	"maps"
	"math"
	"slices"
	"strings"

	"optratio/internal/inquiry"
)

// Outcomes that mix labels and numbers fall into cells, the leaves of a tree of questions such as "is the third entry no?" and "is the first one at most 2.5?", which is
// learned from what was drawn for the search. Bets are on samples drawn afterwards, so that what is learned has no part in whether they are fair.
const (
	mixedKept   = 1 << 18 // outcomes that trees are learned from
	mixedLeaves = 48
	blindLeaves = 12 // leaves where nothing tells the sides of pairs apart: their halves may
	mostAtoms   = 64 // numbers of one place that are asked for by themselves
	atomTimes   = 3  // if they came so often

	// The best of many questions tells the two sides of a pair apart by chance: by so many squares of a standard error that of labels, to which 2 ln of their number is
	// added, and that about a number.
	labelPenalty, numberPenalty = 3, 6
)

// split is what a node asks about an outcome. A number that is not there is neither.
type split struct {
	place string
	kind  kindOfSplit
	label string  // at the place; empty: there is nothing
	at    float64 // the number there, or its limit
}

type kindOfSplit int

const (
	whatIs kindOfSplit = iota
	equals
	atMost
)

func (s split) holds(m mixture) bool {
	if s.kind == whatIs {
		return m.what[s.place] == s.label
	}
	x, ok := m.number(s.place)
	return ok && (x == s.at || s.kind == atMost && x < s.at)
}

// node is an inner node of the tree, or a leaf. Its leaves are those from first to before end.
type node struct {
	split
	yes, no    *node
	first, end int
}

func (n *node) leaf() bool { return n.yes == nil }

// number numbers the leaves of a node.
func (n *node) number(first int) (end int) {
	if n.first, n.end = first, first+1; !n.leaf() {
		n.end = n.no.number(n.yes.number(first))
	}
	return n.end
}

// find returns the leaf that an outcome falls into.
func (n *node) find(m mixture) int {
	for !n.leaf() {
		if n.holds(m) {
			n = n.yes
		} else {
			n = n.no
		}
	}
	return n.first
}

// sighting is an outcome and the place of the field where it came.
type sighting struct {
	mixture
	at int
}

// growing is a leaf that may become a node, and the question that tells the two sides of pairs apart best in it.
type growing struct {
	*node
	in     []sighting
	edges  []edge
	cuts   map[string][]float64 // of the numbers at each place
	totals []float64            // outcomes of each place of the field
	blind  bool                 // halves are better than nothing
	best   split
	gain   float64
}

// grow learns a tree.
func grow(f *field, all []sighting) *node {
	values := map[string][]float64{}
	for _, o := range all {
		for place, i := range o.columns {
			values[place] = append(values[place], o.numbers[i])
		}
		for place, x := range o.sizes {
			values[place] = append(values[place], x)
		}
	}
	cuts := map[string][]float64{}
	for place, xs := range values {
		if strings.HasPrefix(place, howOften) {
			xs = append(xs, 0)
		}
		cuts[place] = quantiles(xs)
	}
	var leaves []growing
	leaf := func(n *node, in []sighting) growing {
		g := growing{node: n, in: in, edges: f.edges, cuts: cuts, totals: make([]float64, len(f.places)), blind: len(leaves) <= blindLeaves}
		g.rate()
		return g
	}
	root := &node{}
	leaves = append(leaves, leaf(root, all))
	for len(leaves) < mixedLeaves {
		at := 0
		for i, l := range leaves {
			if l.gain > leaves[at].gain {
				at = i
			}
		}
		l := leaves[at]
		if l.gain <= 0 {
			break
		}
		var yes, no []sighting
		for _, o := range l.in {
			if l.best.holds(o.mixture) {
				yes = append(yes, o)
			} else {
				no = append(no, o)
			}
		}
		l.split, l.node.yes, l.node.no = l.best, &node{}, &node{}
		leaves[at] = leaf(l.node.yes, yes)
		leaves = append(leaves, leaf(l.node.no, no))
	}
	root.number(0)
	return root
}

// rate rates all questions.
func (g *growing) rate() {
	byShape := map[*shape][]float64{} // outcomes, by the place of the field
	bins := map[string][][]float64{}  // outcomes with a number at a place, likewise: see bin
	met := map[string]int{}
	tally := func(place string, x float64) []float64 {
		if bins[place] == nil {
			bins[place] = make([][]float64, 2*len(g.cuts[place])+1)
		}
		own := &bins[place][bin(g.cuts[place], x)]
		if *own == nil {
			*own = make([]float64, len(g.totals))
		}
		return *own
	}
	for _, o := range g.in {
		if byShape[o.shape] == nil {
			byShape[o.shape] = make([]float64, len(g.totals))
		}
		byShape[o.shape][o.at]++
		g.totals[o.at]++
		for place, i := range o.columns {
			met[place]++
			tally(place, o.numbers[i])[o.at]++
		}
	}
	for s, counts := range byShape {
		for place, x := range s.sizes {
			met[place] += int(sumOf(counts))
			added(tally(place, x), counts)
		}
	}
	g.labels(byShape)
	for _, place := range keysOf(bins) {
		switch {
		case met[place] == len(g.in):
		case strings.HasPrefix(place, howOften):
			bins[place][1] = g.without(bins[place]) // the first cut is 0
		default:
			continue
		}
		g.numbers(place, bins[place], numberPenalty+float64(2*math.Log(float64(len(bins)))))
	}
}

// without returns the outcomes that are not among some, by the place of the field.
func (g *growing) without(some [][]float64) []float64 {
	rest := slices.Clone(g.totals)
	for _, hits := range some {
		for i, x := range hits {
			rest[i] -= x
		}
	}
	return rest
}

// labels asks what is at a place.
func (g *growing) labels(byShape map[*shape][]float64) {
	hits := map[string]map[string][]float64{}
	for s, counts := range byShape {
		for place, label := range s.what {
			if hits[place] == nil {
				hits[place] = map[string][]float64{}
			}
			hits[place][label] = added(hits[place][label], counts)
		}
	}
	for _, place := range keysOf(hits) {
		penalty := labelPenalty + float64(2*math.Log(float64(len(hits[place]))))
		for _, label := range keysOf(hits[place]) {
			g.try(split{place: place, label: label}, hits[place][label], penalty)
		}
		g.try(split{place: place}, g.without(slices.Collect(maps.Values(hits[place]))), penalty)
	}
}

// numbers asks about the numbers at a place, of which so many lie in each bin, whether they are at most a cut, and whether they are one that came often.
func (g *growing) numbers(place string, bins [][]float64, penalty float64) {
	below := make([]float64, len(g.totals))
	for b, hits := range bins {
		below = added(below, hits)
		if hits == nil || b == len(bins)-1 || b%2 == 0 && bins[b+1] != nil {
			continue
		}
		cut := split{place: place, kind: equals, at: g.cuts[place][b/2]}
		if b%2 == 1 && sumOf(hits) >= atomTimes {
			g.try(cut, hits, penalty)
		}
		cut.kind = atMost
		g.try(cut, below, penalty)
	}
}

// try rates a question that holds for so many outcomes of each place of the field: by how many squares of a standard error both answers are apart at the pairs, beyond
// the penalty.
func (g *growing) try(q split, hits []float64, penalty float64) {
	gain := 0.0
	for _, e := range g.edges {
		n, m := g.totals[e.from], g.totals[e.to]
		if n == 0 || m == 0 {
			continue
		}
		x, y := hits[e.from], hits[e.to]
		h := (x + y) / (n + m)
		if gap := x/n - y/m; gap != 0 {
			gain += max(0, gap*gap/(float64(h*(1-h)*(1/n+1/m))+1e-12)-penalty)
		}
	}
	if part := sumOf(hits) / float64(len(g.in)); g.blind {
		gain += float64(1e-3 * part * (1 - part) * float64(len(g.in)) / float64(len(g.in)+1000))
	}
	if gain > float64(g.gain*(1+1e-9)) {
		g.best, g.gain = q, gain
	}
}

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
