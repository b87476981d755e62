package audit

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"optratio/internal/inquiry"
)

// place is one score vector and what was drawn there.
type place struct {
	q          inquiry.Vector
	counts     []int64 // of outcomes
	total      int64
	first      []int64 // of them, those of the first halves of samples
	firstTotal int64
	class      int
	level      []int     // of every candidate, in the class; nil where outcomes are no candidates
	apart      bool      // its pairs are looked at, although others like them are
	expected   []float64 // hits of each candidate, of as many draws as a guess is worth
	fits       int       // that the expected ones are of
	event      string    // that came instead of an answer; it is not asked again
}

// class holds score vectors that a symmetric and shift-invariant mechanism treats alike, or one that returns numbers if it is
// symmetric, and what was drawn at all of them together. A level is a group of tied candidates.
type class struct {
	counts  []int64 // of levels, or of outcomes
	sizes   []int64 // of levels
	total   int64
	weight  float64 // draws that a guess counts for
	members []int   // places
}

// edge is a pair of neighbors, and the event there that promises most.
type edge struct {
	from, to int // places
	event    []bool
	p, o     float64 // its probabilities, as far as is known
	slack    float64 // standard error of ln p/o
	promise  float64
	hopeful  float64  // what it, or another event at the pair, promises if the estimate errs on the low side
	rank     int      // before anything is drawn
	distance *big.Rat // in whose multiple of ε the two are compared; nil: 1
	steps    bool     // they are that many steps of neighbors apart, and no neighbors
}

// reach is the distance of a pair, in floating point.
func (e edge) reach() float64 {
	if e.distance == nil {
		return 1
	}
	x, _ := e.distance.Float64()
	return x
}

// field is what an audit of samples searches: score vectors, their classes, and pairs of neighbors, of each class of pairs one.
// Sharing what is known between like vectors is of no consequence for the verdict, which rests on fresh samples.
type field struct {
	places   []*place
	byKey    map[string]int
	classes  []*class
	byShape  map[string]int
	edges    []edge   // one of each class, the likely ones first
	all      [][2]int // every pair
	pooled   bool     // outcomes are candidates
	ordered  bool     // outcomes are ranges of numbers, in their order
	alone    bool     // no place is like another: they are no score vectors
	directed bool     // pairs are looked at in their order alone
	branches []branch // of the tree whose leaves outcomes are grouped by; nil: there is none
	distance func(q, other inquiry.Vector) *big.Rat
	rng      *rand.Rand
	scale    float64 // of the exponential mechanism that is guessed at before anything is drawn; 0: nothing is guessed
	law      int     // the one of laws that fits best what was drawn,
	at       float64 // and its scale
	fitted   int64   // draws when that was found
	fits     int     // how often it was
	differ   float64 // draws at a place that those at others of its class count for at most; 0: as many as they are
	wide     bool    // every pair is among those that are looked at
}

func newField(o *Options, rng *rand.Rand) *field {
	return &field{
		byKey: map[string]int{}, byShape: map[string]int{}, rng: rng,
		pooled: (o.Outcomes == "" || o.Outcomes == Index) && o.Inputs == nil, ordered: o.Outcomes == Real, alone: o.Inputs != nil, distance: o.distance,
	}
}

func descending(q inquiry.Vector) inquiry.Vector {
	sorted := slices.Clone(q)
	slices.SortFunc(sorted, func(a, b int64) int { return cmp.Compare(b, a) })
	return sorted
}

// placeAlone returns the number of a score vector, in a class of its own if it is new.
func (f *field) placeAlone(q inquiry.Vector) int { return f.placeLike(q, "alone "+q.Key()) }

// place returns the number of a score vector.
func (f *field) place(q inquiry.Vector) int { return f.placeLike(q, "") }

// placeLike returns the number of a score vector. If it is new, it is in a class that is named, or in its own one.
func (f *field) placeLike(q inquiry.Vector, name string) int {
	key := q.Key()
	if i, ok := f.byKey[key]; ok {
		return i
	}
	i := len(f.places)
	f.byKey[key] = i
	p := &place{q: q}
	f.places = append(f.places, p)
	shape := key
	sorted := descending(q)
	switch {
	case f.ordered:
		shape = sorted.Key()
	case f.pooled:
		shape = sorted.Plus(-sorted[0]).Key()
		distinct := slices.Compact(sorted)
		p.level = make([]int, len(q))
		for r, x := range q {
			p.level[r] = slices.Index(distinct, x)
		}
	}
	shape = cmp.Or(name, shape)
	c, ok := f.byShape[shape]
	if !ok {
		c = len(f.classes)
		f.byShape[shape] = c
		cl := &class{}
		for _, l := range p.level {
			for len(cl.sizes) <= l {
				cl.sizes = append(cl.sizes, 0)
			}
			cl.sizes[l]++
		}
		f.classes = append(f.classes, cl)
	}
	p.class = c
	f.classes[c].members = append(f.classes[c].members, i)
	return i
}

// collect takes the pairs of neighbors, at most room of them, and one of each class of pairs that are alike.
func (f *field) collect(dom *inquiry.Domain, room int, stopped func() error) error {
	f.directed = dom.Directed
	kept, err := f.thinned(dom.Neighbors, room, stopped)
	if err != nil {
		return err
	}
	shapes, seen := map[string]bool{}, map[[2]int]bool{}
	for _, p := range kept {
		if err := stopped(); err != nil {
			return err
		}
		pair := [2]int{f.place(p[0]), f.place(p[1])}
		if pair[0] > pair[1] && !f.directed {
			pair[0], pair[1] = pair[1], pair[0]
		}
		if seen[pair] {
			continue
		}
		seen[pair] = true
		f.all = append(f.all, pair)
		if shape := f.shape(pair); !shapes[shape] {
			shapes[shape] = true
			f.edges = append(f.edges, f.edge(pair))
		}
	}
	return nil
}

// edge is a pair that nothing is known of.
func (f *field) edge(pair [2]int) edge {
	return edge{from: pair[0], to: pair[1], distance: f.distance(f.places[pair[0]].q, f.places[pair[1]].q)}
}

// thinned returns pairs of different vectors, at most room of them: the first half of the room is for those that come first, the other half is drawn at random
// from those that follow.
func (f *field) thinned(pairs vectorPairs, room int, stopped func() error) (kept [][2]inquiry.Vector, err error) {
	met, first := 0, room/2
	for q, other := range pairs {
		if err := stopped(); err != nil {
			return nil, err
		}
		if met++; met > 8*room {
			break
		}
		if slices.Equal(q, other) {
			continue
		}
		if len(kept) < room {
			kept = append(kept, [2]inquiry.Vector{q, other})
		} else if i := f.rng.IntN(met - first); first+i < room {
			kept[first+i] = [2]inquiry.Vector{q, other}
		}
	}
	return kept, nil
}

// shape returns what pairs have in common that differ by the order of candidates, shifts of either side and its direction.
func (f *field) shape(pair [2]int) string {
	if f.alone || !f.pooled && !f.ordered {
		return fmt.Sprint(pair)
	}
	a, b := f.places[pair[0]], f.places[pair[1]]
	forth, back := make(inquiry.Vector, len(a.q)), make(inquiry.Vector, len(a.q))
	topA, topB := slices.Max(a.q), slices.Max(b.q)
	if f.ordered { // numbers may tell a shift of either side
		return fmt.Sprint(f.sortedPair(a.q, b.q))
	}
	for r := range a.q {
		x, y := topA-a.q[r], topB-b.q[r]
		forth[r], back[r] = x<<26+y, y<<26+x
		if max(x, y) >= 1<<26 { // huge gaps are not told apart exactly by one number
			return fmt.Sprint(a.q, b.q)
		}
	}
	slices.Sort(forth)
	slices.Sort(back)
	if slices.Compare(back, forth) < 0 {
		forth = back
	}
	return forth.Key()
}

// sortedPair returns two vectors in the order of the first one's scores and, where these are tied, of the second one's.
func (f *field) sortedPair(q, other inquiry.Vector) [][2]int64 {
	pairs := make([][2]int64, len(q))
	for r := range q {
		pairs[r] = [2]int64{q[r], other[r]}
	}
	slices.SortFunc(pairs, func(a, b [2]int64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return pairs
}

// add records draws, of the first half of a sample or the second.
func (f *field) add(i, half int, counts []int64, drawn int64) {
	p := f.places[i]
	c := f.classes[p.class]
	if half == 0 {
		p.first, p.firstTotal = added(p.first, counts), p.firstTotal+drawn
	}
	p.total += drawn
	c.total += drawn
	for r, x := range counts {
		for len(p.counts) <= r {
			p.counts = append(p.counts, 0)
		}
		p.counts[r] += x
		l := r
		if p.level != nil {
			l = p.level[r]
		}
		for len(c.counts) <= l {
			c.counts = append(c.counts, 0)
		}
		c.counts[l] += x
	}
}

// borrowed is for how many draws at a place those at others of its class count: all where nothing speaks against it, fewer where members of classes differ, and
// fewer still where this one does. It reports whether it is seen to differ.
func (f *field) borrowed(i int) (draws float64, odd bool) {
	p := f.places[i]
	draws = float64(f.classes[p.class].total - p.total)
	if f.differ > 0 {
		draws = min(draws, f.differ)
	}
	s := f.surprise(i)
	if odd = s > oddness; odd {
		draws = min(draws, float64(p.total)*float64(len(p.q)-1)/s)
	}
	return draws, odd
}

// weigh estimates for how many draws at a place those at others of its class count, from how far places are from their classes: 0 for all.
func (f *field) weigh() {
	sum, freedom, draws := 0.0, 0.0, 0.0
	for i, p := range f.places {
		if c := f.classes[p.class]; p.level == nil || p.total < fewestToTell || c.total == p.total {
			continue
		}
		df := float64(len(p.q) - 1)
		sum += f.surprise(i) - float64(df/4) // few draws are not quite as they are of many
		freedom, draws = freedom+df, draws+float64(df*float64(p.total))
	}
	if f.differ = 0; sum > farApart*math.Sqrt(2*freedom) {
		f.differ = max(1, draws/sum)
	}
}

// asymmetric reports whether members of classes differ so much that each is looked at by itself.
func (f *field) asymmetric() bool { return f.differ > 0 && f.differ < unlikeEnough }

// widen adds every pair to those that are looked at, once members of classes are seen to differ.
func (f *field) widen() {
	if f.wide || !f.asymmetric() {
		return
	}
	f.wide = true
	pairs := slices.Clone(f.all)
	f.rng.Shuffle(len(pairs), func(a, b int) { pairs[a], pairs[b] = pairs[b], pairs[a] })
	for _, pair := range pairs[:min(len(pairs), mostWide)] {
		f.edges = append(f.edges, f.edge(pair))
	}
}

// hits returns how often each of so many outcomes is expected in a number of draws at a place: how often it came there, and of candidates at others of the class, for
// as many draws as these count for.
func (f *field) hits(i, outcomes int) (hits []float64, drawn float64) {
	p := f.places[i]
	c := f.classes[p.class]
	counts, drawn := p.counts, float64(p.total)
	if f.ordered {
		counts, drawn = c.counts, float64(c.total)
	}
	hits = make([]float64, outcomes)
	for r, x := range counts {
		hits[r] = float64(x)
	}
	odd := false
	if p.level != nil && c.total > 0 {
		var borrowed float64
		borrowed, odd = f.borrowed(i)
		f.borrow(i, hits, borrowed, odd)
		drawn += borrowed
	}
	if drawn == 0 {
		return nil, 0
	}
	if f.scale == 0 {
		return hits, drawn
	}
	weight := float64(believed)
	if f.fits > 0 && !odd {
		weight = c.weight
		if f.differ > 0 {
			weight = min(weight, max(believed, f.differ))
		}
	}
	if p.expected == nil || p.fits != f.fits {
		p.expected, p.fits = laws[f.law](p.q, cmp.Or(f.at, f.scale), 1), f.fits
	}
	for r := range hits {
		hits[r] += float64(weight * p.expected[r])
	}
	return hits, drawn + weight
}

// borrow adds to the hits of candidates at a place those of others of its class, for so many draws. Tied candidates are alike at the others, and at this one
// unless it is odd or members of classes differ.
func (f *field) borrow(i int, hits []float64, draws float64, odd bool) {
	p := f.places[i]
	c := f.classes[p.class]
	own := make([]float64, len(c.counts)) // by levels
	for r, x := range p.counts {
		own[p.level[r]] += float64(x)
	}
	others := float64(c.total - p.total)
	for r, l := range p.level {
		if !odd && f.differ == 0 {
			hits[r] = own[l] / float64(c.sizes[l])
		}
		if others > 0 {
			hits[r] += float64(draws * (float64(c.counts[l]) - own[l]) / float64(c.sizes[l]) / others)
		}
	}
}

// outcomes is how many outcomes are known at two places.
func (f *field) outcomes(e edge) int {
	a, b := f.places[e.from], f.places[e.to]
	if f.pooled {
		return len(a.q)
	}
	return max(len(f.classes[a.class].counts), len(f.classes[b.class].counts))
}

// rank rates pairs whose two sides are answered, and sorts them: those that promise most first or, of hopes, those that promise most if the estimates
// err on the low side. What is nowhere likelier at one side yet comes last.
func (f *field) rank(edges []edge, a aim, hopes bool) []edge {
	out := make([]edge, 0, len(edges))
	for _, e := range edges {
		if f.places[e.from].event == "" && f.places[e.to].event == "" {
			out = append(out, f.rate(e, a))
		}
	}
	slices.SortStableFunc(out, func(a, b edge) int {
		if hopes {
			return cmp.Compare(b.hopeful, a.hopeful)
		}
		return cmp.Compare(b.promise, a.promise)
	})
	return out
}

// surprise says how far a place is from the rest of its class: twice the logarithm of the likelihood ratio between its own
// frequencies and the class's without it, less what chance brings about.
func (f *field) surprise(i int) float64 {
	p := f.places[i]
	c := f.classes[p.class]
	if p.level == nil || p.total == 0 {
		return 0
	}
	g, n := 0.0, float64(p.total)
	for r := range p.q {
		l, own := p.level[r], 0.0
		if r < len(p.counts) {
			own = float64(p.counts[r])
		}
		// Of tied candidates the others count as well.
		rest := float64(float64(c.sizes[l])*float64(c.total)) - n
		if rest <= 0 {
			continue
		}
		expected := n * (float64(c.counts[l]) - own + 0.5) / (rest + float64(0.5*float64(len(p.q))))
		deviance := float64(-2 * (own - expected))
		if own > 0 {
			deviance += float64(2 * own * math.Log(own/expected))
		}
		g += deviance * rest / (rest + n) // what is expected is an estimate itself
	}
	return g - float64(len(p.q)-1)
}

// oddest sorts places by surprise, the greatest first.
func (f *field) oddest(places []int) []int {
	surprises := map[int]float64{}
	for _, i := range places {
		surprises[i] = f.surprise(i)
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(surprises[b], surprises[a]) })
	return places
}
