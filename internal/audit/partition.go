package audit

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// Outcomes that mix labels and numbers fall into cells. A tree of questions such as "is the third entry no?" and "is the first one at most 2.5?" is learned from what was
// drawn for the search; in each of its leaves every shape has a cell of its own, as labels have, however rare. Bets are on samples drawn afterwards, so that what is
// learned has no part in whether they are fair.
const (
	mixedKept   = 1 << 18 // outcomes that trees are learned from
	mixedPilots = 400     // outcomes that the first one is learned from
	mixedLeaves = 48
	blindLeaves = 12   // leaves where nothing tells them apart: their halves may,
	leastBlind  = 0.05 // if they are no smaller parts
	mostAtoms   = 64   // numbers of one place that are asked for by themselves
	atomTimes   = 3    // if they came so often

	numberPenalty = 6 // squares of a standard error that the best of many questions about a number reaches by chance
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

// node is an inner node of the tree, or a leaf. Its cells are those from first to before end.
type node struct {
	split
	yes, no    *node
	first, end int
	shapes     map[*shape]int // cells, of a leaf; that of all other shapes is the last one
}

func (n *node) leaf() bool { return n.yes == nil }

func (n *node) find(m mixture) int {
	for !n.leaf() {
		if n.holds(m) {
			n = n.yes
		} else {
			n = n.no
		}
	}
	if cell, ok := n.shapes[m.shape]; ok {
		return cell
	}
	return n.end - 1
}

// sighting is an outcome and the place of the field where it came.
type sighting struct {
	mixture
	at int
}

// growing is a leaf that may become a node.
type growing struct {
	*node
	in   []sighting
	best split
	gain float64
}

// learning is the learning of a tree.
type learning struct {
	f     *field
	draws []float64            // at each place of the field
	cuts  map[string][]float64 // of the numbers at each place
	atoms map[string]map[float64]bool
	over  []float64 // e^ε of each edge
}

// grow learns a tree.
func grow(f *field, claimed float64, all []sighting) *node {
	g := &learning{f: f, draws: make([]float64, len(f.places))}
	for _, s := range all {
		g.draws[s.at]++
	}
	for _, e := range f.edges {
		g.over = append(g.over, math.Exp(claimed*e.reach()))
	}
	g.chooseCuts(all)
	root := &node{}
	leaves := []growing{g.leaf(root, all, true)}
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
		blind := len(leaves) < blindLeaves
		leaves[at] = g.leaf(l.node.yes, yes, blind)
		leaves = append(leaves, g.leaf(l.node.no, no, blind))
	}
	cells := len(leaves)
	for i := range leaves {
		leaves[i].shapes = map[*shape]int{}
		for _, o := range leaves[i].in {
			if o.id >= 0 {
				leaves[i].shapes[o.shape] = 0
			}
		}
		cells += len(leaves[i].shapes)
	}
	root.number(0, cells <= mostLabels)
	return root
}

// number numbers the cells of a node, each shape with its own unless there are too many.
func (n *node) number(next int, apart bool) (end int) {
	n.first = next
	if !n.leaf() {
		n.end = n.no.number(n.yes.number(next, apart), apart)
		return n.end
	}
	if !apart {
		n.shapes = nil
	}
	for _, s := range slices.SortedFunc(maps.Keys(n.shapes), func(a, b *shape) int { return cmp.Compare(a.id, b.id) }) {
		n.shapes[s] = next
		next++
	}
	n.end = next + 1
	return n.end
}

// chooseCuts chooses between which numbers of a place to cut, as of numbers alone, and which of them are asked for by themselves: those that came most often.
func (g *learning) chooseCuts(all []sighting) {
	values := map[string][]float64{}
	for _, o := range all {
		for place, i := range o.columns {
			values[place] = append(values[place], o.numbers[i])
		}
	}
	g.cuts, g.atoms = map[string][]float64{}, map[string]map[float64]bool{}
	for place, xs := range values {
		g.cuts[place], g.atoms[place] = quantiles(xs), map[float64]bool{}
		for _, x := range atoms(xs) {
			g.atoms[place][x] = true
		}
	}
}

// leaf rates the questions about some outcomes, and takes the one that tells the two sides of pairs apart best.
func (g *learning) leaf(n *node, in []sighting, blind bool) growing {
	out := growing{node: n, in: in}
	r := rating{learning: g, totals: make([]float64, len(g.draws)), blind: blind}
	byShape := map[*shape][]float64{}
	for _, o := range in {
		if byShape[o.shape] == nil {
			byShape[o.shape] = make([]float64, len(g.draws))
		}
		byShape[o.shape][o.at]++
		r.totals[o.at]++
	}
	for i, e := range g.f.edges {
		if r.totals[e.from] > 0 || r.totals[e.to] > 0 {
			r.edges = append(r.edges, i)
		}
	}
	r.before = r.excess(r.totals)
	r.labels(byShape)
	r.sizes(byShape)
	r.numbers(in)
	out.best, out.gain = r.best, r.gain
	return out
}

// rating rates questions about the outcomes of one leaf.
type rating struct {
	*learning
	totals []float64 // outcomes of each place
	edges  []int     // that have some
	before float64
	blind  bool
	best   split
	gain   float64
}

// try rates a question that holds for so many outcomes of each place. What it gains is how many squares of a standard error both answers are apart, given that an outcome is
// in the leaf, and how far one of the answers exceeds what the claim allows, beyond a penalty for the best of many.
func (r *rating) try(q split, hits []float64, penalty float64) {
	rest, some, all := r.without(hits), 0.0, 0.0
	for i, x := range hits {
		some, all = some+x, all+r.totals[i]
	}
	if some == 0 || some == all {
		return
	}
	gain := max(0, r.excess(hits)-r.before-penalty, r.excess(rest)-r.before-penalty)
	for _, i := range r.edges {
		e := r.f.edges[i]
		if n, m := r.totals[e.from], r.totals[e.to]; n > 0 && m > 0 {
			gain += max(0, apart(hits[e.from], n, hits[e.to], m, 1)-penalty)
		}
	}
	if part := some / all; r.blind && min(part, 1-part) > leastBlind { // where nothing else tells, halves
		gain += float64(1e-3 * part * (1 - part) * all / (all + 1000))
	}
	if gain > float64(r.gain*(1+1e-9)) {
		r.best, r.gain = q, gain
	}
}

// without returns how many outcomes of each place are none of some.
func (r *rating) without(hits []float64) []float64 {
	rest := slices.Clone(r.totals)
	for i, x := range hits {
		rest[i] -= x
	}
	return rest
}

// tally adds up the outcomes of each place that have a value somewhere.
func tally[V comparable](byShape map[*shape][]float64, values func(*shape) map[string]V) map[string]map[V][]float64 {
	hits := map[string]map[V][]float64{}
	for s, counts := range byShape {
		for place, v := range values(s) {
			if hits[place] == nil {
				hits[place] = map[V][]float64{}
			}
			hits[place][v] = added(hits[place][v], counts)
		}
	}
	return hits
}

// excess is by how many squares of a standard error an event that came so often exceeds the claim, at the pair and in the direction where it does most.
func (r *rating) excess(hits []float64) (most float64) {
	for _, i := range r.edges {
		e := r.f.edges[i]
		x, n, y, m := hits[e.from], r.draws[e.from], hits[e.to], r.draws[e.to]
		if n == 0 || m == 0 {
			continue
		}
		if c := r.over[i]; x*m > c*y*n {
			most = max(most, apart(x, n, y, m, c))
		} else if y*n > c*x*m && !r.f.directed {
			most = max(most, apart(y, m, x, n, c))
		}
	}
	return most
}

// apart is (x/n - c·y/m)² in squares of its standard error, if the event has about the same probability in both, or that and c times that.
func apart(x, n, y, m, c float64) float64 {
	gap := x/n - float64(c*y/m)
	if gap == 0 {
		return 0
	}
	h := min(1, (x+y)/(n+m/c))
	return gap * gap / (float64(h*(1-h)/n) + float64(c*h*(1-h/c)/m) + 1e-12)
}

// labelPenalty is how many squares of a standard error the best of so many questions reaches by chance.
func labelPenalty(labels int) float64 { return 3 + 2*math.Log(float64(labels)) }

// labels asks what is at a place.
func (r *rating) labels(byShape map[*shape][]float64) {
	hits := tally(byShape, func(s *shape) map[string]string { return s.what })
	for _, place := range keysOf(hits) {
		var met []float64
		penalty := labelPenalty(len(hits[place]))
		for _, label := range keysOf(hits[place]) {
			r.try(split{place: place, label: label}, hits[place][label], penalty)
			met = added(met, hits[place][label])
		}
		r.try(split{place: place}, r.without(met), penalty)
	}
}

// sizes asks how long lists are and how often labels come.
func (r *rating) sizes(byShape map[*shape][]float64) {
	hits := tally(byShape, func(s *shape) map[string]float64 { return s.sizes })
	questions := 0
	for _, sizes := range hits {
		questions += len(sizes)
	}
	penalty := labelPenalty(questions) + 1 // labels at a place are told in fewer words
	for _, place := range keysOf(hits) {
		var met []float64
		for _, some := range hits[place] {
			met = added(met, some)
		}
		rest := r.without(met)
		if some := slices.Max(rest) > 0; some && strings.HasPrefix(place, howOften) {
			hits[place][0] = rest
		} else if some {
			continue
		}
		var below []float64
		for _, size := range slices.Sorted(maps.Keys(hits[place])) {
			r.try(split{place: place, kind: equals, at: size}, hits[place][size], penalty)
			below = added(below, hits[place][size])
			r.try(split{place: place, kind: atMost, at: size}, below, penalty)
		}
	}
}

// numbers asks whether a number is at most one of the cuts, or one of the atoms, at the places where every outcome has one.
func (r *rating) numbers(in []sighting) {
	hits, met := map[string][][]float64{}, map[string]int{} // of what is between cuts, and at them: see bin
	for _, o := range in {
		for place, i := range o.columns {
			met[place]++
			cuts := r.cuts[place]
			if hits[place] == nil {
				hits[place] = make([][]float64, 2*len(cuts)+1)
			}
			b := bin(cuts, o.numbers[i])
			if hits[place][b] == nil {
				hits[place][b] = make([]float64, len(r.totals))
			}
			hits[place][b][o.at]++
		}
	}
	for _, place := range keysOf(hits) {
		if met[place] == len(in) {
			r.numbersAt(place, hits[place])
		}
	}
}

// numbersAt asks about the numbers of a place, of which so many lie in each bin.
func (r *rating) numbersAt(place string, bins [][]float64) {
	cuts := r.cuts[place]
	below := make([]float64, len(r.totals))
	for b, hits := range bins {
		below = added(below, hits)
		switch {
		case hits == nil:
		case b%2 == 1:
			if at := cuts[b/2]; r.atoms[place][at] {
				r.try(split{place: place, kind: equals, at: at}, hits, numberPenalty)
			}
			r.try(split{place: place, kind: atMost, at: cuts[b/2]}, below, numberPenalty)
		case b/2 < len(cuts) && bins[b+1] == nil: // nothing is at the cut
			r.try(split{place: place, kind: atMost, at: cuts[b/2]}, below, numberPenalty)
		}
	}
}
