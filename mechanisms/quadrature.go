package mechanisms

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"
)

// noiseLaw is the law of one candidate's noisy score: noise of the given scale around at; no noise
// where scale is 0.
type noiseLaw struct{ at, scale float64 }

const (
	noiseReach = 45.0 // in scales: e^-45 = 3e-20 is dropped
	panelWidth = 0.5  // the widest panel, in the smallest scale that matters there
	maxNodes   = 16
)

// legendre returns the Gauss–Legendre rule of n nodes on [0,1], n at most maxNodes or pfNodes.
func legendre(n int) (x, weight []float64) {
	rule := legendreRules()[n]
	return rule.x, rule.weight
}

var legendreRules = sync.OnceValue(func() (rules [pfNodes + 1]struct{ x, weight []float64 }) {
	for n := 1; n < len(rules); n++ {
		x, w := make([]float64, n), make([]float64, n)
		quad.Legendre{}.FixedLocations(x, w, 0, 1)
		rules[n].x, rules[n].weight = x, w
	}
	return rules
})

// noiseIntegral integrates densities of noisy scores against the product of the others' distribution
// functions, panel by panel. No panel has a score inside or is wider than half the smallest
// scale whose candidate is not yet decided there, so that integrands are smooth on it.
type noiseIntegral struct {
	laws    []noiseLaw
	laplace bool            // otherwise exponential
	ctx     context.Context // ends the integral, which then means nothing; nil for none
	extra   int             // nodes a panel beyond what analyticity asks for
	// node adds the weighted integrand at a node to the pmf: density[i] and cdf[i] belong to candidate
	// active[i]; the others have distribution function 1 there.
	node func(weight float64, active []int, density, cdf []float64)

	density, cdf []float64
	panels       int
}

// run integrates over all of [lo, hi], split at the breaks, which must be ascending.
func (q *noiseIntegral) run(lo, hi float64, breaks []float64) {
	n := len(q.laws)
	q.density, q.cdf = make([]float64, n), make([]float64, n)
	q.panels = 0
	active := everyone(n)
	q.split(lo, hi, breaks, active)
}

// split handles [lo, hi], where only the given candidates are undecided. Where some distribution function is
// 0 the product of all is, and nothing is added.
func (q *noiseIntegral) split(lo, hi float64, breaks []float64, among []int) {
	if breaks = inside(lo, hi, breaks); !(lo < hi) || ended(q.ctx) {
		return
	}
	active := make([]int, 0, len(among))
	smallest := math.Inf(1)
	for _, i := range among {
		switch law := q.laws[i]; {
		case lo-law.at >= noiseReach*law.scale:
		case law.at-hi >= noiseReach*law.scale, !q.laplace && hi <= law.at:
			return
		default:
			active = append(active, i)
			smallest = min(smallest, law.scale)
		}
	}
	if len(active) == 0 {
		return
	}
	if len(breaks) > 0 {
		middle := len(breaks) / 2
		q.split(lo, breaks[middle], breaks[:middle], active)
		q.split(breaks[middle], hi, breaks[middle+1:], active)
		return
	}
	if hi-lo > panelWidth*smallest {
		if middle := lo + float64((hi-lo)/2); lo < middle && middle < hi {
			q.split(lo, middle, nil, active)
			q.split(middle, hi, nil, active)
			return
		}
	}
	q.panel(lo, hi, active, smallest)
}

// panel applies one rule. The integrand is analytic within about twice the smallest scale around,
// so that nodes of ρ = 8 scales/width bring the error down to 1e-18 (Trefethen 2013, Thm. 19.3).
func (q *noiseIntegral) panel(lo, hi float64, active []int, smallest float64) {
	q.panels++
	width := hi - lo
	nodes := min(maxNodes, q.extra+int(math.Ceil(9*math.Ln10/math.Log(8*smallest/width))))
	at, weights := legendre(nodes)
	density, cdf := q.density[:len(active)], q.cdf[:len(active)]
	for k, t := range at {
		x := lo + float64(width*t)
		for j, i := range active {
			law := q.laws[i]
			d := (x - law.at) / law.scale
			switch {
			case !q.laplace:
				cdf[j] = -math.Expm1(-d)
				density[j] = math.Exp(-d) / law.scale
			case d >= 0:
				survival := float64(0.5 * math.Exp(-d))
				cdf[j] = 1 - survival
				density[j] = survival / law.scale
			default:
				cdf[j] = 0.5 * math.Exp(d)
				density[j] = cdf[j] / law.scale
			}
		}
		q.node(width*weights[k], active, density, cdf)
	}
}

// inside returns the breaks strictly between lo and hi.
func inside(lo, hi float64, breaks []float64) []float64 {
	from, found := slices.BinarySearch(breaks, lo)
	if found {
		from++
	}
	to, _ := slices.BinarySearch(breaks, hi)
	return breaks[from:max(from, to)]
}

// span returns where noisy scores may lie and the distinct scores of candidates, ascending.
func span(laws []noiseLaw) (lo, hi float64, breaks []float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, l := range laws {
		lo, hi = min(lo, l.at-float64(noiseReach*l.scale)), max(hi, l.at+float64(noiseReach*l.scale))
		breaks = append(breaks, l.at)
	}
	slices.Sort(breaks)
	return lo, hi, slices.Compact(breaks)
}

// laws returns each candidate's noise: scale factor·Δ/ε, with the largest Δ for all if uniform is set.
// Noise too large for float64, as at ε = 0, is replaced by noise that drowns all differences of
// scores but those between candidates without any.
func (in *floatInstance) laws(factor float64, uniform bool) []noiseLaw {
	best, _ := in.best()
	largest := in.largest()
	lowest, least := 0.0, math.Inf(1)
	out := make([]noiseLaw, len(in.Scores))
	for i, q := range in.Scores {
		d := in.sensitivity(i)
		if uniform {
			d = largest
		}
		out[i] = noiseLaw{q - best, factor * d}
		if lowest = min(lowest, q-best); d > 0 {
			least = min(least, factor*d)
		}
	}
	eps, shrink := in.Epsilon, 1.0
	if 4*noiseReach*factor*largest/eps > math.MaxFloat64 {
		eps = 1
		if lowest < 0 {
			shrink = 1e-25 * least / -lowest
		}
	}
	for i := range out {
		out[i].at *= shrink
		out[i].scale /= eps
	}
	return out
}

// boundedLaws is laws, or ErrNoAnswer where their reach exceeds float64.
func (in *floatInstance) boundedLaws(factor float64, uniform bool) ([]noiseLaw, error) {
	laws := in.laws(factor, uniform)
	for _, l := range laws {
		if !(math.Abs(l.at)+float64(4*noiseReach*l.scale) <= math.MaxFloat64) {
			return nil, fmt.Errorf("%w: noise beyond the range of float64", ErrNoAnswer)
		}
	}
	return laws, nil
}

// known returns the probabilities of an estimate, or ErrNoAnswer where their error exceeds estimateError.
func (e estimate) known(err error) ([]float64, error) {
	if err == nil && !(e.err <= estimateError) {
		err = fmt.Errorf("%w: the error of %s is %.2g, more than %.0g", ErrNoAnswer, e.method, e.err, estimateError)
	}
	if err != nil {
		return nil, err
	}
	return e.pmf, nil
}

// ended reports whether there is a context that ended.
func ended(ctx context.Context) bool { return ctx != nil && ctx.Err() != nil }

// byQuadrature runs quadrature by rules of different order, each of which returns the probabilities and its number of panels, and reports as
// the error what differs most: an entry from one to the other, or the sum from 1; but at least the rounding of sums. The error is the
// context's cause where that ended.
func byQuadrature(ctx context.Context, pmf func(extra int) (p []float64, panels int)) (estimate, error) {
	p, panels := pmf(2)
	rough, _ := pmf(0)
	if ended(ctx) {
		return estimate{}, context.Cause(ctx)
	}
	var total compensated
	worst := 1e-15
	for i, x := range rough {
		worst = max(worst, math.Abs(x-p[i]))
		total.add(p[i])
	}
	return estimate{p, fmt.Sprintf("Gauss-Legendre quadrature, %d panels", panels), max(worst, math.Abs(total.value()-1))}, nil
}
