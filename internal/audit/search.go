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

const (
	oddness      = 8    // surprise from which on a score vector is none of its class
	fewestToTell = 5    // draws at a place that count then
	mostEdges    = 5000 // pairs that are looked at, before more of odd score vectors are left out
	mostSteps    = 4    // of neighbors, that the vectors of a pair may be apart
)

// place is one score vector and what was drawn there.
type place struct {
	q          inquiry.Vector
	counts     []int64 // of outcomes
	total      int64
	first      []int64 // of them, those of the first halves of samples
	firstTotal int64
	class      int
	level      []int     // of every candidate, in the class; nil where outcomes are not candidates
	pairs      int       // that it is one side of
	expected   []float64 // hits of each candidate, of as many draws as a guess is worth
	fits       int       // that the expected ones are of
	event      string    // that came instead of an answer; it is not asked again
}

// class holds score vectors that a symmetric and shift-invariant mechanism treats alike, or one that returns numbers if it is
// symmetric, and what was drawn at all of them together. A level is a group of tied candidates. A score vector that turns out to be odd gets a class of its own.
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
	alone    bool     // no place is like another: they are not score vectors
	single   bool     // the first outcome alone is an event
	directed bool     // pairs are looked at in their order alone
	branches []*node  // of the tree whose leaves outcomes are grouped by: they and their complements are the events; nil: there is none
	distance func(q, other inquiry.Vector) *big.Rat
	rng      *rand.Rand
	guess    guess
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

// place returns the number of a score vector.
func (f *field) place(q inquiry.Vector) int {
	key := q.Key()
	if i, ok := f.byKey[key]; ok {
		return i
	}
	i, shape, sorted := len(f.places), key, descending(q)
	f.byKey[key] = i
	p := &place{q: q}
	f.places = append(f.places, p)
	var sizes []int64
	switch {
	case f.ordered:
		shape = sorted.Key()
	case f.pooled:
		shape = sorted.Plus(-sorted[0]).Key()
		distinct := slices.Compact(sorted)
		p.level, sizes = make([]int, len(q)), make([]int64, len(distinct))
		for r, x := range q {
			p.level[r] = slices.Index(distinct, x)
			sizes[p.level[r]]++
		}
	}
	c, ok := f.byShape[shape]
	if !ok {
		c = len(f.classes)
		f.byShape[shape] = c
		f.classes = append(f.classes, &class{sizes: sizes, weight: believed})
	}
	p.class = c
	f.classes[c].members = append(f.classes[c].members, i)
	return i
}

// separate gives a score vector a class of its own, in which tied candidates are told apart.
func (f *field) separate(i int) {
	p := f.places[i]
	c := f.classes[p.class]
	if len(c.members) == 1 && len(c.sizes) == len(p.q) {
		return
	}
	own := &class{counts: slices.Clone(p.counts), sizes: slices.Repeat([]int64{1}, len(p.q)), total: p.total, weight: believed, members: []int{i}}
	alone := c.total-p.total < believed // then the class keeps what is known
	for r, l := range p.level {
		if !alone {
			c.counts[l] -= countAt(p.counts, r)
		}
		p.level[r] = r
	}
	if !alone {
		c.total -= p.total
	}
	c.members = slices.DeleteFunc(c.members, func(j int) bool { return j == i })
	p.class, p.fits = len(f.classes), -1
	f.classes = append(f.classes, own)
}

// separateOdd gives the score vectors that are seen not to be like their class their own, and returns the pairs that they are in, which are looked at from now on.
func (f *field) separateOdd() []edge {
	known := len(f.edges)
	for i, p := range f.places {
		if p.level == nil || p.total < fewestToTell || f.surprise(i) <= oddness {
			continue
		}
		f.separate(i)
		for _, pair := range f.all {
			if (pair[0] == i || pair[1] == i) && len(f.edges) < mostEdges {
				f.edges = append(f.edges, f.edge(pair))
			}
		}
	}
	return f.edges[known:]
}

// collect takes the pairs of neighbors, at most room of them: the first half of the room is for those that come first, the other half is drawn at random from those that
// follow. Of each class of pairs that are alike one is looked at.
func (f *field) collect(dom *inquiry.Domain, room int, stopped func() error) error {
	f.directed = dom.Directed
	var kept [][2]inquiry.Vector
	met, first := 0, room/2
	for q, other := range dom.Neighbors {
		if err := stopped(); err != nil {
			return err
		}
		if met++; met > 8*room {
			break
		}
		switch {
		case slices.Equal(q, other):
		case len(kept) < room:
			kept = append(kept, [2]inquiry.Vector{q, other})
		default:
			if i := f.rng.IntN(met - first); first+i < room {
				kept[first+i] = [2]inquiry.Vector{q, other}
			}
		}
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
		f.pair(pair)
		if shape := f.shape(pair); !shapes[shape] {
			shapes[shape] = true
			f.edges = append(f.edges, f.edge(pair))
		}
	}
	return nil
}

// pair adds a pair.
func (f *field) pair(pair [2]int) {
	f.all = append(f.all, pair)
	f.places[pair[0]].pairs++
	f.places[pair[1]].pairs++
}

// edge is a pair that nothing is known of.
func (f *field) edge(pair [2]int) edge {
	return edge{from: pair[0], to: pair[1], distance: f.distance(f.places[pair[0]].q, f.places[pair[1]].q)}
}

// shape returns what pairs have in common that differ by the order of candidates and the direction and, where outcomes are candidates, by shifts of either side. Numbers
// may tell a shift.
func (f *field) shape(pair [2]int) string {
	if f.alone || !f.pooled && !f.ordered {
		return fmt.Sprint(pair)
	}
	key := func(a, b inquiry.Vector) string {
		if f.pooled {
			a, b = a.Plus(-slices.Max(a)), b.Plus(-slices.Max(b))
		}
		pairs := make([]inquiry.Vector, len(a))
		for r := range a {
			pairs[r] = inquiry.Vector{a[r], b[r]}
		}
		slices.SortFunc(pairs, func(a, b inquiry.Vector) int { return slices.Compare(a, b) })
		return slices.Concat(pairs...).Key()
	}
	a, b := f.places[pair[0]].q, f.places[pair[1]].q
	return min(key(a, b), key(b, a))
}

// stretch adds pairs that are d = 2, 3, … steps of neighbors apart: q and q + dΔs, where every q + iΔs and the next one are neighbors, so that the probabilities of an
// ε-private mechanism differ by a factor of at most e^{dε}. A bound on the logarithm of the ratio is divided by d, and so is its scatter, while the smaller probability
// grows rarer by less than that costs: from 100,000 samples of the exponential mechanism at ε = 1 the bound is 0.91, and 0.86 without. One candidate moves against all
// others, from vectors with at most two different scores to such as are looked at anyway up to the order of candidates and a shift.
func (f *field) stretch(o *Options, unit int64) {
	if !f.pooled || unit == 0 || len(o.Pairs)+len(o.Vectors) > 0 {
		return
	}
	seen := map[string]bool{}
	for _, c := range slices.Clone(f.classes) {
		if len(c.sizes) > 2 || len(c.members) == 0 {
			continue
		}
		q := f.places[c.members[0]].q
		for s := range o.extremes(len(q), unit) {
			for d := int64(2); d <= mostSteps; d++ {
				other := q.Moved(scaled(s, d))
				sorted := descending(other)
				if _, known := f.byShape[sorted.Plus(-sorted[0]).Key()]; !known {
					continue
				}
				pair := [2]int{c.members[0], f.place(other)}
				if shape := f.shape(pair); !seen[shape] {
					seen[shape] = true
					f.edges = append(f.edges, edge{from: pair[0], to: pair[1], distance: big.NewRat(d, 1), steps: true})
				}
			}
		}
	}
}

// add records draws, of the first half of a sample or the second.
func (f *field) add(i, half int, counts []int64, drawn int64) {
	p := f.places[i]
	c := f.classes[p.class]
	if half == 0 {
		p.first, p.firstTotal = added(p.first, counts), p.firstTotal+drawn
	}
	p.counts = added(p.counts, counts)
	p.total += drawn
	c.total += drawn
	if p.level == nil {
		c.counts = added(c.counts, counts)
		return
	}
	byLevel := make([]int64, len(c.sizes))
	for r, x := range counts {
		byLevel[p.level[r]] += x
	}
	c.counts = added(c.counts, byLevel)
}

// hits returns how often each of so many outcomes is expected in a number of draws at a place, by what came at its class, where tied candidates are alike, and by the guess.
func (f *field) hits(i, outcomes int) (hits []float64, drawn float64) {
	p := f.places[i]
	c := f.classes[p.class]
	if c.total == 0 {
		return nil, 0
	}
	hits, drawn = make([]float64, outcomes), float64(c.total)
	for l, x := range c.counts {
		if p.level == nil {
			hits[l] = float64(x)
		}
	}
	for r, l := range p.level {
		hits[r] = float64(c.counts[l]) / float64(c.sizes[l])
	}
	if !f.guess.made {
		return hits, drawn
	}
	if p.expected == nil || p.fits != f.guess.fits {
		p.expected, p.fits = laws[f.guess.law](p.q, f.guess.scale), f.guess.fits
	}
	for r := range hits {
		hits[r] += float64(c.weight * p.expected[r])
	}
	return hits, drawn + c.weight
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
	if hopes {
		return descend(out, func(e *edge) float64 { return e.hopeful })
	}
	return descend(out, func(e *edge) float64 { return e.promise })
}

// descend returns the edges of the greatest measure first, and those of the same one as they come. It sorts their numbers, as edges are large.
func descend(edges []edge, measure func(*edge) float64) []edge {
	order, out := make([]int, len(edges)), make([]edge, len(edges))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(measure(&edges[j]), measure(&edges[i])), i-j) })
	for i, from := range order {
		out[i] = edges[from]
	}
	return out
}

// surprise is the measure of promise of score vectors: how far one is from the rest of its class. It is twice the logarithm of the likelihood ratio between its own
// frequencies and the class's without it, less what chance brings about, which is what one that was not drawn at yet has.
func (f *field) surprise(i int) float64 {
	p := f.places[i]
	if p.level == nil || p.total == 0 {
		return 0
	}
	c, g, n := f.classes[p.class], 0.0, float64(p.total)
	for r := range p.q {
		l, own := p.level[r], float64(p.counts[r])
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
