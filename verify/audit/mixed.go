package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"optratio/verify"
)

// Outcomes that mix labels and numbers fall into cells: the leaves of a tree of questions such as "is the third entry no?" and "is the first one at most 2.5?". The
// tree is learned from what was drawn for the search; bets are on samples drawn afterwards, so that what is learned has no part in whether they are fair.
const (
	mixedKept   = 1 << 16 // outcomes that trees are learned from
	mixedPilots = 4000    // outcomes that the first one is learned from
	mixedLeaves = 32
	mixedLeaf   = 20 // outcomes of the smallest leaf
	mixedLabels = 40 // labels of one place that are told apart
)

// mixture is an outcome: what is at each place, such as [2] or .name[0], a label or a number; and how long lists are and how often each label comes.
type mixture struct {
	labels  map[string]string
	numbers map[string]float64
}

// parseMixtures reads so many outcomes.
func parseMixtures(line []byte, samples int64) ([]mixture, error) {
	r, err := parseReply(line)
	if err != nil {
		return nil, err
	}
	if int64(len(r.Values)) != samples {
		return nil, fmt.Errorf("answered %d values where %d were wanted", len(r.Values), samples)
	}
	out := make([]mixture, len(r.Values))
	for i, text := range r.Values {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var x any
		if err := d.Decode(&x); err != nil {
			return nil, fmt.Errorf("answered %s for a value", brief(text))
		}
		out[i] = mixture{map[string]string{}, map[string]float64{}}
		if err := out[i].add("", x); err != nil {
			return nil, fmt.Errorf("answered %s for a value: %w", brief(text), err)
		}
	}
	return out, nil
}

// add takes what is at a place apart.
func (m mixture) add(place string, x any) error {
	switch x := x.(type) {
	case json.Number:
		v, err := strconv.ParseFloat(x.String(), 64)
		m.numbers[place] = v
		return err
	case []any:
		m.numbers["length of "+place] = float64(len(x))
		for i, y := range x {
			if err := m.add(fmt.Sprintf("%s[%d]", place, i), y); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, y := range x {
			if err := m.add(placeOf(place, key), y); err != nil {
				return err
			}
		}
	default:
		text, _ := json.Marshal(x)
		m.labels[place] = string(text)
		m.numbers["how often "+string(text)]++
	}
	return nil
}

// placeOf is the place of a key of the object at a place. Different keys have different places: only the name of a word stands alone.
func placeOf(place, key string) string {
	isOdd := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	if key == "" || strings.ContainsFunc(key, isOdd) {
		return place + "[" + strconv.Quote(key) + "]"
	}
	return place + "." + key
}

// split is a question about an outcome. A number that is not there is not at most anything.
type split struct {
	place, label string // is this label there,
	number       bool
	at           float64 // or is the number there at most this
}

func (s split) holds(m mixture) bool {
	if s.number {
		x, ok := m.numbers[s.place]
		return ok && x <= s.at
	}
	return m.labels[s.place] == s.label
}

func (s split) text(holds bool) string {
	switch {
	case s.number && holds:
		return fmt.Sprintf("%s <= %g", strings.TrimSpace(s.place), s.at)
	case s.number:
		return fmt.Sprintf("not %s <= %g", strings.TrimSpace(s.place), s.at)
	case holds:
		return strings.TrimSpace(s.place + " is " + s.label)
	}
	return strings.TrimSpace(s.place + " is not " + s.label)
}

// node is an inner node of the tree, or a leaf, which has a number.
type node struct {
	split   split
	yes, no *node
	leaf    int
}

func (n *node) find(m mixture) int {
	for n.yes != nil {
		if n.split.holds(m) {
			n = n.yes
		} else {
			n = n.no
		}
	}
	return n.leaf
}

// mixed is a program as a sampler of mixed outcomes.
type mixed struct {
	*drawn
	memory[mixture]
	tree   *node
	leaves []string // what they hold, in words
}

func newMixed(d *drawn) *mixed { return &mixed{drawn: d, tree: &node{}} }

func (m *mixed) Sample(q verify.Vector, samples int64) ([]int64, string, error) {
	var all []mixture
	event, err := questions(m.drawn, q, samples, parseMixtures, func(got []mixture) { all = append(all, got...) })
	if err != nil || event != "" {
		return nil, event, err
	}
	m.keep(q, all, mixedKept)
	return m.count(all), "", nil
}

func (m *mixed) count(all []mixture) []int64 {
	counts := make([]int64, max(1, len(m.leaves)))
	for _, o := range all {
		counts[m.tree.find(o)]++
	}
	return counts
}

func (m *mixed) kept(q verify.Vector) [2][]int64 {
	all := m.of(q)
	half := len(all) / 2
	return [2][]int64{m.count(all[:half]), m.count(all[half:])}
}

func (m *mixed) event(event []bool) string {
	var in []string
	for i, is := range event {
		if is && i < len(m.leaves) {
			in = append(in, m.leaves[i])
		}
	}
	if len(in) == 1 {
		return "an outcome with " + in[0]
	}
	return "an outcome with " + strings.Join(in, "; or ")
}

// sighting is an outcome and the place of the field where it came.
type sighting struct {
	mixture
	at int
}

// learn grows the tree anew where there are twice as many outcomes.
func (m *mixed) learn(f *field) bool {
	if !m.due(mixedKept) {
		return false
	}
	var all []sighting
	for i, p := range f.places {
		for _, o := range m.of(p.q) {
			all = append(all, sighting{o, i})
		}
	}
	type growing struct {
		node  *node
		in    []sighting
		words []string
		best  split
		gain  float64
	}
	grow := func(n *node, in []sighting, words []string) growing {
		g := growing{node: n, in: in, words: words}
		g.best, g.gain = f.bestSplit(in)
		return g
	}
	m.tree = &node{}
	leaves := []growing{grow(m.tree, all, nil)}
	for len(leaves) < mixedLeaves {
		at := 0
		for i, g := range leaves {
			if g.gain > leaves[at].gain {
				at = i
			}
		}
		g := leaves[at]
		if g.gain <= 0 {
			break
		}
		var yes, no []sighting
		for _, o := range g.in {
			if g.best.holds(o.mixture) {
				yes = append(yes, o)
			} else {
				no = append(no, o)
			}
		}
		g.node.split, g.node.yes, g.node.no = g.best, &node{}, &node{}
		leaves[at] = grow(g.node.yes, yes, append(slices.Clone(g.words), g.best.text(true)))
		leaves = append(leaves, grow(g.node.no, no, append(slices.Clone(g.words), g.best.text(false))))
	}
	m.leaves = nil
	for i, g := range leaves {
		g.node.leaf = i
		m.leaves = append(m.leaves, strings.Join(g.words, " and "))
	}
	return true
}

// bestSplit returns the question about some outcomes that tells the two sides of pairs apart best, and by how much; 0: there is none.
func (f *field) bestSplit(in []sighting) (best split, most float64) {
	if len(in) < 2*mixedLeaf {
		return best, 0
	}
	totals := make([]float64, len(f.places))
	for _, o := range in {
		totals[o.at]++
	}
	var edges []edge
	for _, e := range f.edges {
		if totals[e.from] > 0 && totals[e.to] > 0 {
			edges = append(edges, e)
		}
	}
	hits := make([]float64, len(f.places))
	for _, s := range suggested(in) {
		clear(hits)
		n := 0
		for _, o := range in {
			if s.holds(o.mixture) {
				hits[o.at]++
				n++
			}
		}
		if n < mixedLeaf || len(in)-n < mixedLeaf {
			continue
		}
		part := float64(n) / float64(len(in))
		gain := 1e-3 * part * (1 - part) * float64(len(in)) / float64(len(in)+1000) // where nothing else tells, halves
		for _, e := range edges {
			gain += max(0, deviance(hits[e.from], totals[e.from], hits[e.to], totals[e.to])-3)
		}
		if gain > most {
			best, most = s, gain
		}
	}
	return best, most
}

// deviance is twice the logarithm of the likelihood ratio between two frequencies and one for both.
func deviance(x, n, y, m float64) float64 {
	term := func(x, n float64) float64 {
		if x == 0 || x == n {
			return 0
		}
		return float64(x*math.Log(x/n)) + float64((n-x)*math.Log1p(-x/n))
	}
	return 2 * (term(x, n) + term(y, m) - term(x+y, n+m))
}

// suggested returns the questions that some outcomes suggest, in an order that is fixed.
func suggested(in []sighting) []split { return append(aboutLabels(in), aboutNumbers(in)...) }

// aboutLabels asks for every label at every place, up to a limit for each place.
func aboutLabels(in []sighting) (out []split) {
	labels := map[string]map[string]bool{}
	for _, o := range in {
		for place, label := range o.labels {
			if labels[place] == nil {
				labels[place] = map[string]bool{}
			}
			if len(labels[place]) < mixedLabels {
				labels[place][label] = true
			}
		}
	}
	for _, place := range keysOf(labels) {
		for _, label := range keysOf(labels[place]) {
			out = append(out, split{place: place, label: label})
		}
	}
	return out
}

// aboutNumbers asks whether the numbers of a place are at most some of their quantiles, of which there are more in the tails.
func aboutNumbers(in []sighting) (out []split) {
	numbers := map[string][]float64{}
	for _, o := range in {
		for place, x := range o.numbers {
			numbers[place] = append(numbers[place], x)
		}
	}
	for _, place := range keysOf(numbers) {
		xs := numbers[place]
		slices.Sort(xs)
		before := math.Inf(-1)
		for _, part := range []float64{0.01, 0.03, 0.0625, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 0.9375, 0.97, 0.99, 1} {
			if x := xs[int(part*float64(len(xs)-1))]; x != before {
				out, before = append(out, split{place: place, number: true, at: x}), x
			}
		}
	}
	return out
}

func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
