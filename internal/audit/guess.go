package audit

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"optratio/internal/inquiry"
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

	mostFitted   = 60 // classes, those with the most draws, that say what a guess is worth
	hundredTimes = 100
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
		f.scale = unit / (typical * rate)
	}
}

// laws are the mechanisms that a guess can be: the exponential one, and the candidate whose score is largest with Laplace or exponential noise, which is permute-and-flip.
var laws = []func(q inquiry.Vector, scale, draws float64) []float64{
	exponential,
	noisyArgMax(func(x float64) float64 {
		if x < 0 {
			return math.Exp(x) / 2
		}
		return 1 - float64(math.Exp(-x)/2)
	}),
	noisyArgMax(func(x float64) float64 { return -math.Expm1(-max(0, x)) }),
}

// noisyArgMax returns how often each candidate is expected in a number of draws of the one with the largest noisy score, where the noise in units of the scale
// has a distribution function: a sum over the winner's noise, good to a few percent.
func noisyArgMax(below func(float64) float64) func(q inquiry.Vector, scale, draws float64) []float64 {
	const least, most, step = -6, 20, 0.5
	return func(q inquiry.Vector, scale, draws float64) []float64 {
		sizes := map[int64]float64{}
		for _, x := range q {
			sizes[x]++
		}
		levels := slices.Sorted(maps.Keys(sizes))
		share, total := map[int64]float64{}, 0.0
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
			total += float64(share[own] * sizes[own])
		}
		out := make([]float64, len(q))
		for r, x := range q {
			out[r] = draws * share[x] / total
		}
		return out
	}
}

// refit compares what was drawn with these laws at scales from a quarter to four times the least one that is private, and says how many draws the best
// is worth: as many as make all counts likeliest, if each class's probabilities are drawn from the Dirichlet distribution about that mechanism's. A class
// that would be more than a hundred times as likely if it were worth the least keeps to that, so that a fault at a few score vectors is not averaged away.
func (f *field) refit(a aim) {
	if !f.pooled || a.refute || f.scale == 0 {
		return
	}
	var drawn []*class
	total := int64(0)
	for _, c := range f.classes {
		if total += c.total; c.total > 0 {
			drawn = append(drawn, c)
		}
	}
	if total < f.fitted+f.fitted/2 || len(drawn) == 0 {
		return
	}
	f.fitted, f.fits = total, f.fits+1
	slices.SortStableFunc(drawn, func(a, b *class) int { return -cmp.Compare(a.total, b.total) })
	most, best := drawn[:min(len(drawn), mostFitted)], math.Inf(-1)
	scale, weight := f.scale, float64(believed)
	for law := range laws {
		for factor := -8; factor <= 8; factor++ {
			at := f.scale * typical * math.Exp2(float64(factor)/4)
			if sum, w := f.worth(most, law, at); sum > best {
				best, scale, weight, f.law = sum, at, w, law
			}
		}
	}
	f.at = scale
	for _, c := range f.classes {
		if c.weight = weight; c.total > 0 {
			expected := laws[f.law](f.places[c.members[0]].q, scale, 1)
			if f.likelihood(c, expected, weight) < f.likelihood(c, expected, believed)-math.Log(hundredTimes) {
				c.weight = believed
			}
		}
	}
}

// worth returns how many draws a law is worth to some classes, by the greatest sum of the logarithms of their likelihoods, and that sum.
func (f *field) worth(classes []*class, law int, scale float64) (best, weight float64) {
	expected, own := make([][]float64, len(classes)), make([]float64, len(classes))
	for i, c := range classes {
		expected[i] = laws[law](f.places[c.members[0]].q, scale, 1)
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
		if l := q.level[r]; slices.Index(q.level, l) == r && l < len(c.counts) {
			p = max(1e-9, weight*p*float64(c.sizes[l]))
			sum += lgamma(p+float64(c.counts[l])) - lgamma(p)
		}
	}
	return sum
}

// exponential returns how often each candidate is expected in a number of draws from the exponential mechanism with weights e^{q/scale}.
func exponential(q inquiry.Vector, scale, draws float64) []float64 {
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
func noisyMax(q inquiry.Vector, about int64, scale float64) []float64 {
	hits, before := make([]float64, 0, (highValue-lowValue)*perScale+1), 0.0
	for i := lowValue * perScale; i <= highValue*perScale+1; i++ {
		below := 1.0
		if i <= highValue*perScale {
			for _, x := range q {
				v := float64(float64(i)/perScale) + float64(about-x)/scale
				if v < 0 {
					below *= float64(math.Exp(v) / 2)
				} else {
					below *= 1 - float64(math.Exp(-v)/2)
				}
			}
		}
		hits, before = append(hits, imagined*(below-before)), below
	}
	return hits
}
