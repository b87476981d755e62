package audit

import (
	"cmp"
	"math"
	"slices"
)

// aim is what a search is for: the greatest bound on ε from so many more draws, or the refutation of a claimed ε.
type aim struct {
	left    float64
	refute  bool
	claimed float64
	reach   float64 // of the pair that is rated; 0: 1
	// approximate: it is for the greatest δ at the claimed ε.
	approximate bool
}

// at is the aim for a pair at a distance, at which ε counts so many times.
func (a aim) at(reach float64) aim {
	a.claimed, a.reach = reach*a.claimed, reach
	return a
}

// value rates probabilities that n and m draws estimate, moved by a number of standard errors, by what the remaining draws would show. For a bound it is ln p/o
// less what they leave of doubt. Where a claim is to be refuted, it is by how many standard errors they would show that p > e^ε o, the square of which is twice what
// the logarithm of the wealth gains at the best stake, to second order; and for δ it is p - e^ε o less what they leave of doubt.
func (a aim) value(p, o, n, m, errors float64) float64 {
	r := a.ratio(p, o)
	draws := a.left / float64(r.at+r.near)
	if a.approximate {
		c := math.Exp(a.claimed)
		own, near := max(p, 1/n), max(o, 1/m) // what came never or once is not known better than that
		if errors < 0 {                       // no bet corrects a choice that is too bold
			errors *= 2
		}
		doubt := float64(errors * math.Sqrt(own*(1-min(own, 1))/n+c*c*near*(1-min(near, 1))/m))
		gap, noise := p-float64(c*o), float64(2.7*math.Sqrt((float64(p*(1-p))+float64(c*c*o*(1-o)))/(draws/2)))-doubt
		if 0 < noise && gap < noise { // Nothing is likely to be shown: the event does best that shows most clearly, not the one that is least.
			return gap/noise - 1
		}
		return gap - noise
	}
	if a.refute {
		c := math.Exp(a.claimed)
		h := nullOf(n*p, m*o, n, m/c)
		// Where one side was drawn far less often, either its own estimate or what the claim makes of the other's may be too sure.
		own, near := max(p, h), max(o, h/c)
		gap := p - float64(c*o) + float64(errors*math.Sqrt(own*(1-own)/n+c*c*near*(1-near)/m))
		return gap * math.Sqrt(draws*float64(r.at)/variance(nullOf(p, o, 1, 1/c), c, r))
	}
	log := math.Log(p/o) + float64(errors*math.Sqrt((1-p)/(p*n)+(1-o)/(o*m)))
	future := math.Sqrt((1-p)/(p*draws*float64(r.at)) + (1-o)/(max(o, 1/a.left)*draws*float64(r.near)))
	return (log - float64(2.7*future)) / cmp.Or(a.reach, 1)
}

// nullOf returns about the h for which the probabilities h, at the vector, and h/c make x hits in n draws there and y in c·m draws at the neighbor likeliest: see tie.
func nullOf(x, y, n, m float64) float64 { return min(0.999, (float64(x)+float64(y))/(n+m)) }

// ratio returns how many draws at the neighbor for how many at the vector serve best: to tell p from o, or where a claim is to be refuted
// the likeliest probabilities that keep to it from others.
func (a aim) ratio(p, o float64) ratio {
	if a.refute {
		c := math.Exp(a.claimed)
		p = nullOf(p, o, 1, 1/c)
		o = p / c
	}
	return bestRatio(p, o)
}

// outcome is one of a pair's, with how often it came at either side.
type outcome struct {
	r      int
	x, y   float64
	x1, y1 float64 // of which in the first halves of samples
	more   int     // outcomes that follow count as this one
}

// rate finds the event and the direction of a pair that promises most, as far as the draws tell.
func (f *field) rate(e edge, a aim) edge {
	outcomes := f.outcomes(e)
	return f.judge(e, a, true, func(i int) ([]float64, float64) { return f.hits(i, outcomes) })
}

// judge is rate for hits of any origin. Estimates are lowered by some standard errors where there is doubt.
func (f *field) judge(e edge, a aim, doubtful bool, hits func(place int) (hits []float64, drawn float64)) edge {
	best, hopeful := e, math.Inf(-1)
	best.promise = math.Inf(-1)
	own, n := hits(e.from)
	near, m := hits(e.to)
	if n > 0 && m > 0 {
		for side := range 2 {
			e.from, e.to = e.to, e.from
			own, near, n, m = near, own, m, n
			if f.directed && side == 0 {
				continue
			}
			one := f.oneWay(e, a, doubtful, own, near, n, m)
			if hopeful = max(hopeful, one.hopeful); one.promise > best.promise {
				best = one
			}
		}
	}
	best.hopeful = hopeful
	return best
}

// oneWay finds the event that promises most to be likelier where a pair comes from, given the hits of all outcomes in n and m draws.
func (f *field) oneWay(e edge, a aim, doubtful bool, own, near []float64, n, m float64) edge {
	a = a.at(e.reach())
	e.promise, e.hopeful = math.Inf(-1), math.Inf(-1)
	rate := func(x, y float64, few bool) edge {
		e := e
		if e.p, e.o = (x+0.5)/(n+1), (y+0.5)/(m+1); x <= 0 || x >= n && y >= m || e.p <= e.o {
			return e
		}
		e.slack = math.Sqrt((1-e.p)/(e.p*n) + (1-e.o)/(e.o*m))
		doubt := 0.0
		if doubtful {
			if doubt = f.doubt(few, a.refute); a.refute { // where much was drawn, many estimates were looked at
				doubt += float64(0.1 * max(0, math.Log((n+m)/500)))
			}
		}
		most := math.Inf(1)
		if e.steps { // what exceeds the claim is to be shown at neighbors
			most = beyondClaim * a.claimed / a.reach
		}
		e.promise = min(most, a.value(e.p, e.o, n, m, -doubt))
		e.hopeful = min(most, a.value(e.p, e.o, n, m, 1.7-doubt))
		return e
	}
	best, hope := e, math.Inf(-1)
	var chosen []outcome
	f.events(e, own, near, n, m, func(x, y float64, in []outcome) {
		if len(in) == len(own) {
			return
		}
		rated := rate(x, y, f.ordered && (in[0].r == 0 || in[len(in)-1].r == len(own)-1 || len(in) == 1))
		hope = max(hope, rated.hopeful)
		if f.pooled && !a.approximate && x < fewestHits {
			return // what hardly came is a hope
		}
		if rated.promise > best.promise {
			best, chosen = rated, in
		}
	})
	if best.hopeful = hope; chosen == nil {
		return best
	}
	best.event = union(chosen, len(own))
	if f.branches != nil {
		best = f.shorten(best, own, near, func(x, y float64) edge { return rate(x, y, true) })
		f.fill(best.event, own, near)
	}
	return best
}

// events tries events of a pair whose outcomes came own and near times in n and m draws: where these are numbers, intervals; otherwise the unions of those whose
// ratios are estimated highest.
func (f *field) events(e edge, own, near []float64, n, m float64, try func(x, y float64, in []outcome)) {
	list := make([]outcome, len(own))
	for r := range list {
		list[r] = outcome{r: r, x: own[r], y: near[r]}
	}
	switch {
	case f.ordered:
		intervals(list, try)
	case f.pooled:
		likeliest(list, n, m, try)
	default:
		d := f.halvesOf(e, list)
		if unions(list, d, try); f.branches != nil {
			unions(f.leaves(list), d, try)
		}
	}
}

// union marks some of so many outcomes.
func union(in []outcome, outcomes int) []bool {
	event := make([]bool, outcomes)
	for _, o := range in {
		for i := range o.more + 1 {
			event[o.r+i] = true
		}
	}
	return event
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
	case !f.pooled && !few, f.asymmetric():
		return 1.5
	}
	return 0.7
}

// likeliest tries unions of outcomes in the order of their estimated ratios, from the highest. Few hits say little, so
// the order is by ratios that are drawn towards 1.
func likeliest(list []outcome, n, m float64, try func(x, y float64, in []outcome)) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b outcome) int {
		return cmp.Or(-cmp.Compare((a.x+1)/n/((a.y+1)/m), (b.x+1)/n/((b.y+1)/m)), cmp.Compare(a.r, b.r))
	})
	x, y := 0.0, 0.0
	for j, o := range list {
		x, y = x+o.x, y+o.y
		try(x, y, list[:j+1])
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

// bestRatio returns how many draws at the neighbor for how many at the vector serve best to tell p from o.
func bestRatio(p, o float64) ratio {
	want := math.Sqrt((1 - o) / o / ((1 - p) / p))
	best, off := ratio{1, 1}, math.Inf(1)
	for _, r := range []ratio{{4, 1}, {3, 1}, {2, 1}, {3, 2}, {1, 1}, {2, 3}, {1, 2}, {1, 3}, {1, 4}} {
		if x := want * float64(r.at) / float64(r.near); max(x, 1/x) < off {
			best, off = r, max(x, 1/x)
		}
	}
	return best
}
