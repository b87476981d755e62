package mechanisms

import (
	"context"
	"math"
)

func (m *noisyMax) Float(in *Instance) ([]float64, error) {
	e, err := m.estimate(in)
	return e.known(err)
}

// estimate integrates density times the others' distribution functions by quadrature; all terms are positive.
func (m *noisyMax) estimate(in *Instance) (estimate, error) {
	in64, err := in.floats()
	if err != nil {
		return estimate{}, err
	}
	laws, err := in64.boundedLaws(float64(m.factor), m.info.Uniform)
	if err != nil {
		return estimate{}, err
	}
	return byQuadrature(m.ctx, func(extra int) ([]float64, int) { return maxByQuadrature(m.ctx, laws, m.laplace, extra) })
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
				mass *= l.cdf(fixed, laplace)
			}
		}
		for i, l := range laws {
			if l.scale == 0 && l.at == fixed {
				p[i] = mass / float64(ties)
			}
		}
	}
	lo = decided(laws, laplace, lo, hi)
	q := &noiseIntegral{ctx: ctx, laws: laws, laplace: laplace, extra: extra}
	q.node = func(weight float64, active []int, density, cdf []float64) {
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
			p[i] += float64(product / cdf[j] * density[j])
		}
	}
	q.run(lo, hi, breaks)
	return p, q.panels
}

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
				product *= l.cdf(x, laplace)
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

// cdf returns the probability of a noisy score of at most x, for a scale above 0.
func (l noiseLaw) cdf(x float64, laplace bool) float64 {
	d := (x - l.at) / l.scale
	switch {
	case laplace && d < 0:
		return 0.5 * math.Exp(d)
	case laplace:
		return 1 - float64(0.5*math.Exp(-d))
	case d < 0:
		return 0
	}
	return -math.Expm1(-d)
}
