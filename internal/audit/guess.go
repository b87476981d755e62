package audit

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"optratio/internal/inquiry"
)

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
