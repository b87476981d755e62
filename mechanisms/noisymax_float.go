package mechanisms

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// noiseLaw is the law of one candidate's noisy score: noise of the given scale around at; no noise
// where scale is 0.
type noiseLaw struct{ at, scale float64 }

const (
	noiseReach = 45.0 // in scales: e^-45 = 3e-20 is dropped
	panelWidth = 0.5  // the widest panel, in the smallest scale that matters there
	maxNodes   = 16
)

func (m *noisyMax) Float(in *Instance) ([]float64, error) {
	e, err := m.estimate(in)
	return e.known(err)
}

// estimate integrates density times the others' distribution functions by quadrature; all terms are positive. It uses rules of different order, and
// reports as the error what differs most: an entry from one to the other, or the sum from 1; but at least the rounding of sums.
func (m *noisyMax) estimate(in *Instance) (estimate, error) {
	in64, err := in.floats()
	if err != nil {
		return estimate{}, err
	}
	laws, err := in64.laws(float64(m.factor), m.info.Uniform)
	if err != nil {
		return estimate{}, err
	}
	p, panels := maxByQuadrature(m.ctx, laws, m.laplace, 2)
	rough, _ := maxByQuadrature(m.ctx, laws, m.laplace, 0)
	if ended(m.ctx) {
		return estimate{}, context.Cause(m.ctx)
	}
	var total compensated
	worst := 1e-15
	for i, x := range rough {
		worst = max(worst, math.Abs(x-p[i]))
		total.Add(p[i])
	}
	return estimate{p, fmt.Sprintf("Gauss-Legendre quadrature, %d panels", panels), max(worst, math.Abs(total.Value()-1))}, nil
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

// laws returns each candidate's noise: scale factor·Δ/ε, with the largest Δ for all if uniform is set; ErrNoAnswer where its reach exceeds float64.
// Noise too large for float64, as at ε = 0, is replaced by noise that drowns all differences of
// scores but those between candidates without any.
func (in *floatInstance) laws(factor float64, uniform bool) ([]noiseLaw, error) {
	largest := slices.Max(in.Sensitivities)
	lowest, least := 0.0, math.Inf(1)
	out := make([]noiseLaw, len(in.Scores))
	for i, q := range in.Scores {
		d := in.sensitivity(i)
		if uniform {
			d = largest
		}
		out[i] = noiseLaw{q, factor * d}
		if lowest = min(lowest, q); d > 0 {
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
		if !(math.Abs(out[i].at)+float64(4*noiseReach*out[i].scale) <= math.MaxFloat64) {
			return nil, fmt.Errorf("%w: noise beyond the range of float64", ErrNoAnswer)
		}
	}
	return out, nil
}

// maxIntegral integrates densities of noisy scores against the product of the others' distribution
// functions, panel by panel. No panel has a score inside or is wider than half the smallest
// scale whose candidate is not yet decided there, so that integrands are smooth on it.
type maxIntegral struct {
	laws    []noiseLaw
	laplace bool            // otherwise exponential
	ctx     context.Context // ends the integral, which then means nothing; nil for none
	extra   int             // nodes a panel beyond what analyticity asks for
	p       []float64
	panels  int

	density, cdf []float64 // at a node, of the candidates that are undecided
}

// maxByQuadrature returns Pr[candidate a has the largest noisy score] =
// ∫ f_a(x) Π_{b≠a} F_b(x) dx, and the number of panels used. Candidates without noise are
// taken where nothing exceeds them, in equal shares. The result means nothing where the context ended.
func maxByQuadrature(ctx context.Context, laws []noiseLaw, laplace bool, extra int) (p []float64, panels int) {
	p = make([]float64, len(laws))
	lo, hi, breaks := span(laws)
	fixed, ties := withoutNoise(laws)
	lo = max(lo, fixed)
	if !laplace {
		lo = max(lo, breaks[len(breaks)-1])
	}
	if fixed >= lo {
		mass := 1.0
		for _, l := range laws {
			if l.scale > 0 {
				below, _ := l.values(fixed, laplace)
				mass *= below
			}
		}
		for i, l := range laws {
			if l.scale == 0 && l.at == fixed {
				p[i] = mass / float64(ties)
			}
		}
	}
	lo = decided(laws, laplace, lo, hi)
	n := len(laws)
	q := &maxIntegral{ctx: ctx, laws: laws, laplace: laplace, extra: extra, p: p, density: make([]float64, n), cdf: make([]float64, n)}
	q.split(lo, hi, breaks, everyone(n))
	return p, q.panels
}

// split handles [lo, hi], where only the given candidates are undecided. Where some distribution function is
// 0 the product of all is, and nothing is added.
func (q *maxIntegral) split(lo, hi float64, breaks []float64, among []int) {
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
func (q *maxIntegral) panel(lo, hi float64, active []int, smallest float64) {
	q.panels++
	width := hi - lo
	nodes := min(maxNodes, q.extra+int(math.Ceil(9*math.Ln10/math.Log(8*smallest/width))))
	rule := floatRule(nodes)
	density, cdf := q.density[:len(active)], q.cdf[:len(active)]
	for k, t := range rule.x {
		x := lo + float64(width*t)
		for j, i := range active {
			cdf[j], density[j] = q.laws[i].values(x, q.laplace)
		}
		q.node(width*rule.weight[k], active, density, cdf)
	}
}

// node adds the weighted integrand at a node: density[i] and cdf[i] belong to candidate
// active[i]; the others have distribution function 1 there.
func (q *maxIntegral) node(weight float64, active []int, density, cdf []float64) {
	product, exponent := weight, 0
	for i, f := range cdf {
		product *= f
		if i&63 == 63 && product > 0 { // keep away from underflow
			var shift int
			product, shift = math.Frexp(product)
			exponent += shift
		}
	}
	if product = math.Ldexp(product, exponent); product == 0 {
		return
	}
	for j, i := range active {
		q.p[i] += float64(product / cdf[j] * density[j])
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

// ended reports whether there is a context that ended.
func ended(ctx context.Context) bool { return ctx != nil && ctx.Err() != nil }

// withoutNoise returns the largest score that has no noise, and how many have it.
func withoutNoise(laws []noiseLaw) (fixed float64, ties int) {
	fixed = math.Inf(-1)
	for _, l := range laws {
		switch {
		case l.scale > 0:
		case l.at > fixed:
			fixed, ties = l.at, 1
		case l.at == fixed:
			ties++
		}
	}
	return fixed, ties
}

// decided returns a place from lo on, near the last one below which the largest noisy score lies with a probability of at most e^-noiseReach, the product of all
// distribution functions: what the integrals there of all candidates together add up to.
func decided(laws []noiseLaw, laplace bool, lo, hi float64) float64 {
	rare := func(x float64) bool {
		product := 1.0
		for _, l := range laws {
			if l.scale > 0 {
				below, _ := l.values(x, laplace)
				product *= below
			}
		}
		return product <= math.Exp(-noiseReach)
	}
	for range 50 {
		if middle := lo + float64((hi-lo)/2); rare(middle) {
			lo = middle
		} else {
			hi = middle
		}
	}
	return lo
}

// values returns the probability of a noisy score of at most x, and its density there, for a scale above 0.
func (l noiseLaw) values(x float64, laplace bool) (cdf, density float64) {
	d := (x - l.at) / l.scale
	switch {
	case d < 0 && !laplace:
		return 0, 0
	case !laplace:
		return -math.Expm1(-d), math.Exp(-d) / l.scale
	case d < 0:
		cdf = 0.5 * math.Exp(d)
		return cdf, cdf / l.scale
	}
	survival := float64(0.5 * math.Exp(-d))
	return 1 - survival, survival / l.scale
}
