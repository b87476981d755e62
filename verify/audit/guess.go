package audit

import (
	"cmp"
	"math"
	"slices"

	"optratio/verify"
)

// Before anything is drawn, pairs are put into the order in which they would show best that typical mechanisms are not private: the
// exponential mechanism with an exponent that is too large by one of these factors or, where outcomes are numbers, the largest of
// all scores with Laplace noise that is too small by it.
var tooLarge = []float64{1.4, 2}

const (
	imagined    = 1e6    // draws at every score vector, as many as expected of each outcome
	lowValue    = -4     // scales of the noise below the best score, from where on values are told apart,
	highValue   = 6      // above it, up to where,
	perScale    = 4      // and how finely
	believed    = 30     // draws that what is expected of a candidate counts for
	typical     = 1.5    // factor of the exponent then
	mostGuessed = 10_000 // pairs
)

// guess sorts the pairs, and says what is expected. Of labels nothing is known before. The verdict does not rest on it: only where is
// searched, and what is bet, does.
func (f *field) guess(a aim, unit float64, model verify.Neighborhood) {
	if f.alone || !f.pooled && !f.ordered {
		return
	}
	rate := a.claimed / 2
	if model == verify.Monotonic {
		rate = a.claimed
	}
	// The best place in a list. Pairs beyond the first ones stay where they are.
	first := slices.Repeat([]int{len(f.edges)}, len(f.edges))
	edges := f.edges[:min(len(f.edges), mostGuessed)]
	for _, factor := range tooLarge {
		scale := unit / (factor * rate)
		rated := make([]edge, len(edges))
		for i, e := range edges {
			top := slices.Max(f.places[e.from].q)
			rated[i] = f.judge(e, a, false, func(i int) ([]float64, float64) {
				if f.ordered {
					return noisyMax(f.places[i].q, top, scale), imagined
				}
				return exponential(f.places[i].q, scale, imagined), imagined
			})
			rated[i].rank = i
		}
		slices.SortStableFunc(rated, func(a, b edge) int { return cmp.Compare(b.promise, a.promise) })
		for at, e := range rated {
			first[e.rank] = min(first[e.rank], at)
		}
	}
	for i := range f.edges {
		f.edges[i].rank = first[i]
	}
	slices.SortStableFunc(f.edges, func(a, b edge) int { return cmp.Compare(a.rank, b.rank) })
	if f.pooled {
		f.expected = func(q verify.Vector) []float64 { return exponential(q, unit/(typical*rate), believed) }
	}
}

// exponential returns how often each candidate is expected in a number of draws from the exponential mechanism with weights e^{q/scale}.
func exponential(q verify.Vector, scale, draws float64) []float64 {
	p, total, top := make([]float64, len(q)), 0.0, slices.Max(q)
	for r, x := range q {
		p[r] = math.Exp(float64(x-top) / scale)
		total += p[r]
	}
	for r := range p {
		p[r] *= draws / total
	}
	return p
}

// noisyMax returns how often each of some intervals about a score is expected to hold the largest noisy score, with Laplace noise.
func noisyMax(q verify.Vector, about int64, scale float64) []float64 {
	hits, before := make([]float64, 0, (highValue-lowValue)*perScale+1), 0.0
	for i := lowValue * perScale; i <= highValue*perScale+1; i++ {
		below := 1.0
		if i <= highValue*perScale {
			for _, x := range q {
				v := float64(i)/perScale + float64(about-x)/scale
				if v < 0 {
					below *= math.Exp(v) / 2
				} else {
					below *= 1 - math.Exp(-v)/2
				}
			}
		}
		hits, before = append(hits, imagined*(below-before)), below
	}
	return hits
}
