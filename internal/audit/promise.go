package audit

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"optratio/internal/inquiry"
)

const (
	fewestHits  = 3    // of an event that promises something
	beyondClaim = 1.05 // times the claimed ε is the most that a pair some steps of neighbors apart promises
	chance      = 2.7  // standard errors of the draws to come that a bound loses
	hope        = 1.7  // standard errors that a hope has more than a promise
)

// aim is what a search is for, with the draws that are left.
type aim struct {
	what    goal
	left    float64
	claimed float64 // ε, as it is at the distance of the pair that is rated
	reach   float64 // that distance
}

type goal int

const (
	lowerBound goal = iota // the greatest bound on ε
	refutation             // of the claimed ε
	leastDelta             // the greatest δ at the claimed ε
	divergence             // the greatest ρ
)

// at is the aim for a pair at a distance, at which ε counts so many times.
func (a aim) at(reach float64) aim {
	a.claimed, a.reach = reach*a.claimed, reach
	return a
}

// value is the measure of promise of events: what the remaining draws would show of an event whose probabilities p and o are estimated from n and m draws, if the
// estimates err by a number of standard errors. It is a gap less the chance of the draws to come: for a bound the gap is ln p/o, and for δ p - e^ε o. Where a claim is to
// be refuted it is by how many standard errors they would show that p > e^ε o, the square of which is twice what the logarithm of the wealth gains at the best
// stake, to second order; and for ρ it is the divergence of order 1.
func (a aim) value(p, o, n, m, errors float64) float64 {
	r := a.ratio(p, o)
	times := a.left / float64(r.at+r.near) // that the ratio is drawn
	own, near := times*float64(r.at), times*float64(r.near)
	if a.what == lowerBound {
		gap := math.Log(p/o) + float64(errors*math.Sqrt((1-p)/(p*n)+(1-o)/(o*m)))
		return (gap - float64(chance*math.Sqrt((1-p)/(p*own)+(1-o)/(max(o, 1/a.left)*near)))) / a.reach
	}
	if a.what == divergence {
		p, o = p+float64(errors*math.Sqrt(p*(1-p)/n)), o-float64(errors*math.Sqrt(o*(1-o)/m))
		if o <= 0 || o >= min(p, 1) {
			return math.Inf(-1)
		}
		return float64(p*math.Log(p/o)) + float64((1-p)*math.Log((1-p)/(1-o)))
	}
	c := math.Exp(a.claimed)
	spread := func(p, o, n, m float64) float64 { return math.Sqrt(float64(p*(1-p))/n + float64(c*c*o*(1-o))/m) }
	if a.what == refutation {
		// Where one side was drawn far less often, either its own estimate or what the claim makes of the other's may be too sure.
		h, null := nullOf(n*p, m*o, n, m/c), nullOf(p, o, 1, 1/c)
		return (p - float64(c*o) + float64(errors*spread(max(p, h), max(o, h/c), n, m))) / spread(null, null/c, own, near)
	}
	// What came never or once is not known better than that.
	doubt := float64(errors * spread(min(1, max(p, 1/n)), min(1, max(o, 1/m)), n, m))
	gap, noise := p-float64(c*o), float64(chance*spread(p, o, own, near))-doubt
	if 0 < noise && gap < noise { // Nothing is likely to be shown: the event does best that shows most clearly, not the one that is least.
		return gap/noise - 1
	}
	return gap - noise
}

// nullOf returns about the h for which the probabilities h, at the vector, and h/c make x hits in n draws there and y in c·m draws at the neighbor likeliest: see tie.
func nullOf(x, y, n, m float64) float64 { return min(0.999, (float64(x)+float64(y))/(n+m)) }

// ratio returns how many draws at the neighbor for how many at the vector serve best: to tell p from o, or p from e^ε o, or where a claim is to be refuted
// the likeliest probabilities that keep to it from others.
func (a aim) ratio(p, o float64) ratio {
	if a.what == refutation {
		c := math.Exp(a.claimed)
		p = nullOf(p, o, 1, 1/c)
		o = p / c
	}
	want := math.Sqrt((1 - o) / o / ((1 - p) / p))
	if a.what == leastDelta {
		want = math.Exp(a.claimed) * math.Sqrt(o*(1-o)/(p*(1-p)))
	}
	best, off := ratio{1, 1}, math.Inf(1)
	for _, r := range []ratio{{4, 1}, {3, 1}, {2, 1}, {3, 2}, {1, 1}, {2, 3}, {1, 2}, {1, 3}, {1, 4}} {
		if x := want * float64(r.at) / float64(r.near); max(x, 1/x) < off {
			best, off = r, max(x, 1/x)
		}
	}
	return best
}

// outcome is one of a pair's, with how often it came at either side.
type outcome struct {
	r      int
	x, y   float64
	x1, y1 float64 // of which in the first halves of samples
}

// rate finds the event and the direction of a pair that promises most, as far as the draws tell.
func (f *field) rate(e edge, a aim) edge {
	outcomes := f.outcomes(e)
	own, n := f.hits(e.from, outcomes)
	near, m := f.hits(e.to, outcomes)
	best := e
	best.promise, best.hopeful = math.Inf(-1), math.Inf(-1)
	if n == 0 || m == 0 {
		best.hopeful = math.Inf(1) // nothing is known
		return best
	}
	try := func(one edge) {
		hopeful := max(best.hopeful, one.hopeful)
		if one.promise > best.promise {
			best = one
		}
		best.hopeful = hopeful
	}
	reversed := e
	reversed.from, reversed.to = e.to, e.from
	if !f.directed {
		try(f.oneWay(reversed, a, near, own, m, n))
	}
	try(f.oneWay(e, a, own, near, n, m))
	return best
}

// oneWay finds the event that promises most to be likelier where a pair comes from, given the hits of all outcomes in n and m draws.
func (f *field) oneWay(e edge, a aim, own, near []float64, n, m float64) edge {
	a = a.at(e.reach())
	e.promise, e.hopeful = math.Inf(-1), math.Inf(-1)
	best, hopeful := e, math.Inf(-1)
	var chosen []outcome
	f.events(e, own, near, n, m, func(x, y float64, in []outcome) {
		if len(in) == len(own) || f.single && (len(in) > 1 || in[0].r > 0) {
			return
		}
		rated := f.rated(e, a, x, y, n, m, f.branches != nil || f.ordered && (in[0].r == 0 || in[len(in)-1].r == len(own)-1 || len(in) == 1))
		hopeful = max(hopeful, rated.hopeful)
		if f.pooled && a.what != leastDelta && x < fewestHits {
			return // what hardly came is a hope
		}
		enough := best.promise
		if f.branches != nil && chosen != nil {
			enough += float64(shortness * math.Abs(enough))
		}
		if rated.promise > enough {
			best, chosen = rated, in
		}
	})
	best.hopeful = hopeful
	if chosen != nil {
		best.event = union(chosen, len(own))
	}
	return best
}

// rated is an edge with the promise of an event that was drawn x times of n at its input and y times of m at its neighbor; few says that there are not many such events.
func (f *field) rated(e edge, a aim, x, y, n, m float64, few bool) edge {
	if e.estimate(x, y, n, m); x <= 0 || x >= n && y >= m || e.p <= e.o {
		return e
	}
	doubt := f.doubt(few, a.what == refutation)
	if a.what == refutation { // where much was drawn, many estimates were looked at
		doubt += float64(0.1 * max(0, math.Log((n+m)/500)))
	}
	most := math.Inf(1)
	if e.steps { // what exceeds the claim is to be shown at neighbors
		most = beyondClaim * a.claimed / a.reach
	}
	e.promise = min(most, a.value(e.p, e.o, n, m, -doubt))
	e.hopeful = min(most, a.value(e.p, e.o, n, m, hope-doubt))
	return e
}

// estimate sets the probabilities of an event that was drawn so many times.
func (e *edge) estimate(x, y, n, m float64) {
	e.p, e.o = (x+0.5)/(n+1), (y+0.5)/(m+1)
	e.slack = math.Sqrt((1-e.p)/(e.p*n) + (1-e.o)/(e.o*m))
}

// doubt is by how many standard errors an estimate is lowered: the best of many estimates errs on the high side, and of labels and
// intervals there may be many; less so of single numbers, of intervals with one end, and of branches of a tree.
func (f *field) doubt(few, refute bool) float64 {
	switch {
	case f.ordered && few && refute:
		return 1.4
	case f.ordered && few:
		return 2
	case f.ordered:
		return 3.2
	case !f.pooled && !few:
		return 1.5
	}
	return 0.7
}

// events tries events of a pair whose outcomes came own and near times in n and m draws: where these are numbers, intervals; otherwise the unions of those whose
// ratios are estimated highest. Those of labels are rated by halves.
func (f *field) events(e edge, own, near []float64, n, m float64, try func(x, y float64, in []outcome)) {
	list := make([]outcome, len(own))
	for r := range list {
		list[r] = outcome{r: r, x: own[r], y: near[r]}
	}
	d := halved{all: [2]float64{n, m}}
	switch {
	case f.ordered:
		intervals(list, try)
		return
	case f.branches != nil:
		for _, b := range f.branches {
			for _, in := range [][]outcome{list[b.first:b.end], slices.Concat(list[:b.first], list[b.end:])} {
				x, y := 0.0, 0.0
				for _, o := range in {
					x, y = x+o.x, y+o.y
				}
				try(x, y, in)
			}
		}
		return
	case !f.pooled:
		a, b := f.places[e.from], f.places[e.to]
		d.first = [2]float64{float64(a.firstTotal), float64(b.firstTotal)}
		for r := range list {
			list[r].x1, list[r].y1 = float64(countAt(a.first, r)), float64(countAt(b.first, r))
		}
	}
	unions(list, d, try)
}

// union marks some of so many outcomes.
func union(in []outcome, outcomes int) []bool {
	event := make([]bool, outcomes)
	for _, o := range in {
		event[o.r] = true
	}
	return event
}

// halved is how much was drawn at the two sides of a pair: in all, and in the first halves of samples; 0 where halves tell nothing.
type halved struct{ all, first [2]float64 }

// unions tries unions of outcomes in the order of their estimated ratios, from the highest. Few hits say little, so ratios are drawn to what those outcomes have that came
// once. Among many rare outcomes, those that came at one side alone look far apart whatever the mechanism does. So a union of k outcomes is rated by what the k
// outcomes that one half of the samples puts first came to in the other half, and the reverse: of outcomes that came often enough this is the union's own count.
func unions(list []outcome, d halved, try func(x, y float64, in []outcome)) {
	rest := [2]float64{d.all[0] - d.first[0], d.all[1] - d.first[1]}
	order := func(draws [2]float64, weight float64, hits func(o outcome) (x, y float64)) []outcome {
		once := [2]float64{1, 1}
		for _, o := range list {
			if x, y := hits(o); x+y == 1 {
				once[0], once[1] = once[0]+x, once[1]+y
			}
		}
		share := once[0] / draws[0] / (once[0]/draws[0] + once[1]/draws[1])
		ratio := func(o outcome) float64 {
			x, y := hits(o)
			return (x + float64(2*weight*share)) / draws[0] / ((y + float64(2*weight*(1-share))) / draws[1])
		}
		sorted := slices.Clone(list)
		slices.SortFunc(sorted, func(a, b outcome) int { return cmp.Or(-cmp.Compare(ratio(a), ratio(b)), cmp.Compare(a.r, b.r)) })
		return sorted
	}
	all := order(d.all, 1, func(o outcome) (x, y float64) { return o.x, o.y })
	byFirst, byRest := all, all
	if min(d.first[0], d.first[1], rest[0], rest[1]) > 0 {
		byFirst = order(d.first, 0.5, func(o outcome) (x, y float64) { return o.x1, o.y1 })
		byRest = order(rest, 0.5, func(o outcome) (x, y float64) { return o.x - o.x1, o.y - o.y1 })
	}
	x, y := 0.0, 0.0
	for j := range len(all) - 1 { // not of all outcomes
		a, b := byFirst[j], byRest[j]
		x, y = x+a.x-a.x1+b.x1, y+a.y-a.y1+b.y1
		try(x, y, all[:j+1])
	}
}

// intervals tries every outcome by itself, what lies below or above it, and what lies between the ends of groups of about as many hits each.
func intervals(list []outcome, try func(x, y float64, in []outcome)) {
	xs, ys := make([]float64, len(list)+1), make([]float64, len(list)+1)
	for i, o := range list {
		xs[i+1], ys[i+1] = xs[i]+o.x, ys[i]+o.y
	}
	between := func(i, j int) { try(xs[j]-xs[i], ys[j]-ys[i], list[i:j]) }
	last := len(list)
	var ends []int
	for i := range list {
		between(0, i+1)
		between(i, last)
		if 0 < i && i < last-1 {
			between(i, i+1)
		}
		if before := (xs[i] + ys[i]) / (xs[last] + ys[last]); int(coarseGroups*before) != int(coarseGroups*(xs[i+1]+ys[i+1])/(xs[last]+ys[last])) {
			ends = append(ends, i, i+1)
		}
	}
	ends = slices.Compact(ends)
	for a, i := range ends {
		for _, j := range ends[a+1:] {
			between(i, j)
		}
	}
}

// What was drawn is compared with three typical mechanisms, and the likeliest counts like so many more draws. The verdict does not rest on it: only where is searched, and
// what is bet, does.
const (
	typical      = 1.5 // times the exponent of a private mechanism is what is expected before
	believed     = 30  // draws that what is expected of a candidate counts for at least
	mostFitted   = 60  // classes, those with the most draws, that say what a guess is worth
	hundredTimes = 100
)

// guess is the mechanism that candidates are expected from.
type guess struct {
	made    bool
	law     int     // one of laws
	scale   float64 // its scale
	private float64 // the least scale that is private
	fitted  int64   // draws when the law was found
	fits    int     // how often it was
}

// guess is the first one; of outcomes that are not candidates there is none.
func (o *Options) guess(unit float64) guess {
	private := 2 * unit / o.Epsilon.Float()
	if o.Monotonic {
		private /= 2
	}
	return guess{made: (o.Outcomes == "" || o.Outcomes == Index) && o.Inputs == nil, scale: private / typical, private: private}
}

// laws are the mechanisms that a guess can be, by the probabilities of the candidates: the exponential one, and the candidate whose score is largest with Laplace or
// exponential noise, which is permute-and-flip.
var laws = []func(q inquiry.Vector, scale float64) []float64{
	exponential,
	noisyArgMax(laplaceBelow),
	noisyArgMax(func(x float64) float64 { return -math.Expm1(-max(0, x)) }),
}

// laplaceBelow is the distribution function of Laplace noise.
func laplaceBelow(x float64) float64 {
	if x < 0 {
		return math.Exp(x) / 2
	}
	return 1 - float64(math.Exp(-x)/2)
}

// exponential is the exponential mechanism with weights e^{q/scale}.
func exponential(q inquiry.Vector, scale float64) []float64 {
	p, top := make([]float64, len(q)), slices.Max(q)
	for r, x := range q {
		p[r] = math.Exp(float64(x-top) / scale)
	}
	return normalized(p)
}

func normalized(p []float64) []float64 {
	total := 0.0
	for _, x := range p {
		total += x
	}
	for r := range p {
		p[r] /= total
	}
	return p
}

// noisyArgMax takes the candidate with the largest noisy score, where the noise in units of the scale has a distribution function: a sum over the winner's noise, good
// to a few percent.
func noisyArgMax(below func(float64) float64) func(q inquiry.Vector, scale float64) []float64 {
	const least, most, step = -6, 20, 0.5
	return func(q inquiry.Vector, scale float64) []float64 {
		sizes, share := map[int64]float64{}, map[int64]float64{}
		for _, x := range q {
			sizes[x]++
		}
		levels := slices.Sorted(maps.Keys(sizes))
		for _, own := range levels {
			for x := least + step/2; x < most; x += step {
				p := below(x+step/2) - below(x-step/2)
				for _, other := range levels {
					rivals := sizes[other]
					if other == own {
						rivals--
					}
					if rivals > 0 && p > 0 {
						p *= math.Pow(below(x+float64(own-other)/scale), rivals)
					}
				}
				share[own] += p
			}
		}
		out := make([]float64, len(q))
		for r, x := range q {
			out[r] = share[x]
		}
		return normalized(out)
	}
}

// refit compares what was drawn with the laws at scales from a quarter to four times the least one that is private, and says how many draws the best
// is worth: as many as make all counts likeliest, if each class's probabilities are drawn from the Dirichlet distribution about that mechanism's. A class
// that would be more than a hundred times as likely if it were worth the least keeps to that, so that a fault at a few score vectors is not averaged away. From 100,000
// samples of the exponential mechanism at ε = 1 the bound is 0.91, and 0.84 without.
func (f *field) refit(a aim) {
	if !f.guess.made || a.what == refutation {
		return
	}
	var drawn []*class
	total := int64(0)
	for _, c := range f.classes {
		if total += c.total; c.total > 0 && len(c.members) > 0 {
			drawn = append(drawn, c)
		}
	}
	if total < f.guess.fitted+f.guess.fitted/2 || len(drawn) == 0 {
		return
	}
	slices.SortStableFunc(drawn, func(a, b *class) int { return -cmp.Compare(a.total, b.total) })
	most, best, weight := drawn[:min(len(drawn), mostFitted)], math.Inf(-1), float64(believed)
	for law := range laws {
		for factor := -8; factor <= 8; factor++ {
			scale := f.guess.private * math.Exp2(float64(factor)/4)
			if sum, w := f.worth(most, law, scale); sum > best {
				best, weight, f.guess.law, f.guess.scale = sum, w, law, scale
			}
		}
	}
	f.guess.fitted, f.guess.fits = total, f.guess.fits+1
	for _, c := range f.classes {
		c.weight = weight
	}
	for _, c := range drawn {
		expected := laws[f.guess.law](f.places[c.members[0]].q, f.guess.scale)
		if f.likelihood(c, expected, weight) < f.likelihood(c, expected, believed)-math.Log(hundredTimes) {
			c.weight = believed
		}
	}
}

// worth returns how many draws a law is worth to some classes, by the greatest sum of the logarithms of their likelihoods, and that sum.
func (f *field) worth(classes []*class, law int, scale float64) (best, weight float64) {
	expected, own := make([][]float64, len(classes)), make([]float64, len(classes))
	for i, c := range classes {
		expected[i] = laws[law](f.places[c.members[0]].q, scale)
		own[i] = f.likelihood(c, expected[i], believed)
	}
	best = math.Inf(-1)
	for w := float64(believed); w < 1e6; w *= 4 {
		sum := 0.0
		for i, c := range classes {
			sum += max(own[i]-math.Log(hundredTimes), f.likelihood(c, expected[i], w))
		}
		if sum > best {
			best, weight = sum, w
		}
	}
	return best, weight
}

// likelihood returns the logarithm of that of a class's counts, where its probabilities have the Dirichlet distribution about the expected ones with a weight.
func (f *field) likelihood(c *class, expected []float64, weight float64) float64 {
	lgamma := func(x float64) float64 { y, _ := math.Lgamma(x); return y }
	q := f.places[c.members[0]]
	sum := lgamma(weight) - lgamma(weight+float64(c.total))
	for r, p := range expected {
		if l := q.level[r]; slices.Index(q.level, l) == r {
			p = max(1e-9, weight*p*float64(c.sizes[l]))
			sum += lgamma(p+float64(c.counts[l])) - lgamma(p)
		}
	}
	return sum
}
