package mechanisms

import (
	"context"
	"math"
	"sync"
)

// survivalSum integrates densities of Laplace-noisy scores against a function of the sum of all their survival
// functions,
//
//	p_i = ∫ f_i(x) g(Σ_j (1 - F_j(x))) dx,
//
// in O(n log n) for n candidates: intervals are halved until they are narrow enough for every candidate, and a candidate that
// lies outside an interval no wider than its scale is replaced on it by the Taylor polynomial of its exponential.
// Polynomials are handed down to the halves, where their sum is the argument of g; moments of g are handed up, where they
// are all that the integral of a candidate's exponential needs. Each candidate meets about a hundred
// intervals, whatever n is. (Greengard & Rokhlin 1987 in one dimension, the
// downward pass for the sum, its transpose for the integrals.)
type survivalSum struct {
	ctx   context.Context // ends the sum, which then means nothing; nil for none
	laws  []noiseLaw
	g     func(survival float64) float64
	terms int // of Taylor polynomials
	extra int // nodes a panel beyond what analyticity asks for
	p     []float64

	panels int
}

// The half-width of an interval at which Taylor polynomials take over, in scales, and the most terms: 0.5^15/15! = 2e-17.
const (
	taylorReach = 0.5
	taylorTerms = 15
)

// taylor holds polynomial coefficients in y = (x - centre)/half of an interval, or moments of y^k.
type taylor [taylorTerms]float64

// inverseFactorial and choose are 1/k! and k over j.
var taylorTables = sync.OnceValue(func() (t struct {
	inverseFactorial taylor
	choose           [taylorTerms]taylor
}) {
	t.inverseFactorial[0] = 1
	for k := range taylorTerms {
		if k > 0 {
			t.inverseFactorial[k] = t.inverseFactorial[k-1] / float64(k)
		}
		t.choose[k][0] = 1
		for j := 1; j <= k; j++ {
			t.choose[k][j] = t.choose[k-1][j-1] + t.choose[k-1][j]
		}
	}
	return t
})

// run returns the integrals and the number of panels of the quadrature.
func (s *survivalSum) run() (p []float64, panels int) {
	s.p, s.panels = make([]float64, len(s.laws)), 0
	lo, hi, breaks := span(s.laws)
	all := everyone(len(s.laws))
	if lo < hi {
		s.visit(lo, hi, breaks, all, taylor{}, math.Inf(1))
	}
	return s.p, s.panels
}

// resolved is a candidate that is a Taylor polynomial on an interval: ½ e^{rate y} times what it is at the centre.
type resolved struct {
	candidate int
	centre    float64 // ½ e^{-|centre - at|/scale}
	rate      float64 // half/scale, negative if the candidate lies below
}

// visit handles the interval [lo, hi]: sum is the polynomial of the candidates that are dealt with already, in
// this interval's y, and smallest the least scale among them. It returns the moments ∫ y^k g dx.
func (s *survivalSum) visit(lo, hi float64, breaks []float64, among []int, sum taylor, smallest float64) taylor {
	if ended(s.ctx) {
		return taylor{}
	}
	centre, half := lo+float64((hi-lo)/2), (hi-lo)/2
	tables := taylorTables()
	var here []resolved
	rest := make([]int, 0, len(among))
	for _, i := range among {
		law := s.laws[i]
		switch {
		case lo-law.at >= noiseReach*law.scale:
		case law.at-hi >= noiseReach*law.scale:
			sum[0]++
		case (law.at <= lo || law.at >= hi) && half <= taylorReach*law.scale:
			r := resolved{i, 0.5 * math.Exp(-math.Abs(centre-law.at)/law.scale), half / law.scale}
			sign := 1.0
			if law.at <= lo {
				r.rate = -r.rate
			} else {
				sum[0]++
				sign = -1
			}
			term := sign * r.centre
			for k := range s.terms {
				sum[k] += float64(term * tables.inverseFactorial[k])
				term *= r.rate
			}
			here = append(here, r)
			smallest = min(smallest, law.scale)
		default:
			rest = append(rest, i)
		}
	}
	var moments taylor
	middle := centre
	if breaks = inside(lo, hi, breaks); len(breaks) > 0 {
		middle = breaks[len(breaks)/2]
	}
	if len(rest) > 0 && lo < middle && middle < hi {
		for _, part := range [2][2]float64{{lo, middle}, {middle, hi}} {
			width := part[1] - part[0]
			shift, shrink := (part[0]+float64(width/2)-centre)/half, width/2/half
			inner := s.visit(part[0], part[1], breaks, rest, s.shifted(&sum, shift, shrink), smallest)
			s.lift(&moments, &inner, shift, shrink)
		}
	} else {
		moments = s.panel(half, &sum, smallest)
	}
	for _, r := range here {
		total, power := 0.0, 1.0
		for k := range s.terms {
			total += float64(power * tables.inverseFactorial[k] * moments[k])
			power *= r.rate
		}
		s.p[r.candidate] += total * r.centre / s.laws[r.candidate].scale
	}
	return moments
}

// shifted returns the coefficients of p(shift + shrink·y), by Horner's rule.
func (s *survivalSum) shifted(p *taylor, shift, shrink float64) (out taylor) {
	for k := s.terms - 1; k >= 0; k-- {
		for j := s.terms - 1; j > 0; j-- {
			out[j] = float64(out[j]*shift) + float64(out[j-1]*shrink)
		}
		out[0] = float64(out[0]*shift) + p[k]
	}
	return out
}

// lift adds the moments of a part, in its own y, to those of the whole, in shift + shrink·y.
func (s *survivalSum) lift(whole, part *taylor, shift, shrink float64) {
	tables := taylorTables()
	var powers, scaled taylor
	power, size := 1.0, 1.0
	for k := range s.terms {
		powers[k], scaled[k] = power, part[k]*size
		power *= shift
		size *= shrink
	}
	for k := range s.terms {
		for j := 0; j <= k; j++ {
			whole[k] += float64(tables.choose[k][j] * powers[k-j] * scaled[j])
		}
	}
}

// panel applies one Gauss–Legendre rule to an interval on which everything is a polynomial: the integrand
// is analytic within about twice the smallest scale around, as in noiseIntegral.
func (s *survivalSum) panel(half float64, sum *taylor, smallest float64) (moments taylor) {
	s.panels++
	nodes := s.extra + 1
	if ratio := 4 * smallest / half; !math.IsInf(ratio, 1) {
		nodes = s.extra + int(math.Ceil(9*math.Ln10/math.Log(ratio)))
	}
	at, weight := legendre(min(maxNodes, nodes))
	for i, t := range at {
		y := 2*t - 1
		h := 0.0
		for k := s.terms - 1; k >= 0; k-- {
			h = float64(h*y) + sum[k]
		}
		g := 2 * half * weight[i] * s.g(max(h, 0))
		for k := range s.terms {
			moments[k] += g
			g *= y
		}
	}
	return moments
}
