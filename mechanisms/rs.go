package mechanisms

import (
	"cmp"
	"context"
	"math"
	"math/big"
)

func init() {
	const source = "Papernot & Steinke 2022, Cor. 3; Antonova et al., Private Selection with Heterogeneous Sensitivities, App. C"
	add := func(info Info, shape func(Params) (*big.Rat, error)) {
		Register(&randomStopping{info: info, shape: shape, known: new(recent), nodes: new(recent)})
	}
	add(epsDPEach("rs", "random stopping: the best of geometrically many draws with Laplace noise of scale 3Δ_a/ε", "Liu & Talwar 2019; Antonova et al., Private Selection with Heterogeneous Sensitivities, Alg. 1"),
		func(Params) (*big.Rat, error) { return ratOne, nil })
	add(epsDPEach("rs-log", "random stopping: logarithmically many draws, noise of scale 2Δ_a/ε", source),
		func(Params) (*big.Rat, error) { return new(big.Rat), nil })
	add(epsDPEach("rs-tnb", "random stopping: truncated negative binomially many draws, noise of scale (2+η)Δ_a/ε", source), Params.eta)
}

// randomStopping draws K >= 1 candidates uniformly with replacement, adds fresh Laplace noise of scale (2+η)Δ_a/ε to
// each draw and returns the best one; K has the truncated negative binomial law of shape η, geometric
// at η = 1 and logarithmic at η = 0. With φ its generating function, f_a and F_a density and distribution
// function of candidate a's noisy score, and G the mean of all F,
//
//	Pr[a] = (1/n) ∫ f_a(x) φ'(G(x)) dx.
//
// Draws without noise (Δ_a = 0) are worth their score: what jumps there is φ(G), shared equally by
// candidates of the same score. Probabilities come from quadrature, whose error is enclosed for a few candidates
// and estimated for many.
//
// φ' rises from Pr[K=1] to E[K] = γ^{-1-η} Pr[K=1], so each probability lies between Pr[K=1]/n and E[K]/n: whatever
// the noise, even none, the mechanism is (1+η)ln(1/γ)-DP.
type randomStopping struct {
	info  Info
	shape func(Params) (*big.Rat, error) // η
	known *recent                        // answers
	nodes *recent                        // see stoppingIntegral
	ctx   context.Context                // ends quadrature; nil for none
}

// WithContext implements Slow.
func (m *randomStopping) WithContext(ctx context.Context) Mechanism {
	limited := *m
	limited.ctx = ctx
	return &limited
}

func (m *randomStopping) Info() Info { return m.info }

// parameters returns γ and η.
func (m *randomStopping) parameters(p Params) (gamma, eta *big.Rat, err error) {
	if gamma, err = p.gamma(); err != nil {
		return nil, nil, err
	}
	eta, err = m.shape(p)
	return gamma, eta, err
}

// law returns the law of K in float64.
func (m *randomStopping) law(p Params) (law stoppingLaw, err error) {
	gamma, eta, err := m.parameters(p)
	if err != nil {
		return law, err
	}
	law.gamma, _ = gamma.Float64()
	law.eta, _ = eta.Float64()
	return law, nil
}

// stoppingLaw is the truncated negative binomial law of K >= 1 with 0 < γ <= 1 and η > -1,
//
//	Pr[K=k] = (1-γ)^k/(γ^{-η} - 1) Π_{l<k} (l+η)/(l+1),  at η = 0 (1-γ)^k/(k ln(1/γ)),
//
// and K = 1 at γ = 1, the limit. Its generating function is, with v = 1 - (1-γ)s,
//
//	φ(s) = (v^{-η} - 1)/(γ^{-η} - 1),  at η = 0 ln v/ln γ.
type stoppingLaw struct{ gamma, eta float64 }

// derivative returns φ'(1 - h) = (1-γ) v^{-η-1} η/(γ^{-η} - 1), v = γ + (1-γ)h. With L = ln(1/γ) and a = ηL that is
// (1-γ)/L · a/(1-e^{-a}) · (v/γ)^{-η}/v, where nothing overflows.
func (l stoppingLaw) derivative(h float64) float64 {
	if l.gamma == 1 {
		return 1
	}
	v, ln := l.gamma+float64((1-l.gamma)*h), -math.Log(l.gamma)
	a := l.eta * ln
	switch {
	case l.eta == 1:
		return l.gamma / (v * v)
	case math.Abs(a) < tinyShape:
		return (1 - l.gamma) / ln / v
	}
	return (1 - l.gamma) / ln * (a / -math.Expm1(-a)) * math.Exp(-l.eta*l.above(h)) / v
}

// tinyShape is the size of η ln(1/γ) below which the law is the logarithmic one to float64.
const tinyShape = 1e-18

// above returns ln(v/γ).
func (l stoppingLaw) above(h float64) float64 { return math.Log1p((1 - l.gamma) * h / l.gamma) }

// value returns φ(1 - h).
func (l stoppingLaw) value(h float64) float64 {
	if l.gamma == 1 {
		return 1 - h
	}
	ln, a := math.Log(l.gamma+float64((1-l.gamma)*h)), -l.eta*math.Log(l.gamma)
	if math.Abs(a) < tinyShape {
		return ln / math.Log(l.gamma)
	}
	// (e^b - 1)/(e^a - 1) = e^{b-a} (1 - e^{-b})/(1 - e^{-a}), b = -η ln v
	return math.Exp(-l.eta*l.above(h)) * math.Expm1(l.eta*ln) / math.Expm1(-a)
}

// checked returns γ and η of an instance that it found in order.
func (m *randomStopping) checked(in *Instance) (gamma, eta *big.Rat, err error) {
	if err := in.Check(); err != nil {
		return nil, nil, err
	}
	return m.parameters(in.Params)
}

func (m *randomStopping) Exact(in *Instance) ([]*big.Rat, error) {
	_, _, err := m.checked(in)
	return nil, cmp.Or(err, ErrNotRational)
}

func (m *randomStopping) Float(in *Instance) ([]float64, error) {
	e, err := m.Estimate(in)
	return e.pmf(err)
}

// Estimate integrates by quadrature; all terms are positive.
func (m *randomStopping) Estimate(in *Instance) (Estimate, error) {
	in64, err := in.floats()
	if err != nil {
		return Estimate{}, err
	}
	law, err := m.law(in.Params)
	if err != nil {
		return Estimate{}, err
	}
	laws, err := in64.boundedLaws(2+law.eta, false)
	if err != nil {
		return Estimate{}, err
	}
	return byQuadrature(m.ctx, func(extra int) ([]float64, int) { return law.bestOfDraws(m.ctx, laws, extra) })
}

// bestOfDraws returns Pr[the best of K draws is of candidate a] and the number of panels used; extra is 2 for
// the most accurate sum, 0 for one of lower order to compare it to. The result means nothing where the context ended.
func (l stoppingLaw) bestOfDraws(ctx context.Context, laws []noiseLaw, extra int) (p []float64, panels int) {
	n := float64(len(laws))
	s := &survivalSum{
		ctx:   ctx,
		laws:  laws,
		g:     func(survival float64) float64 { return l.derivative(survival/n) / n },
		terms: taylorTerms - 2 + extra,
		extra: extra,
	}
	p, panels = s.run()
	l.atoms(laws, p)
	return p, panels
}

// atoms adds the probabilities of candidates without noise.
func (l stoppingLaw) atoms(laws []noiseLaw, p []float64) {
	var fixed []int
	for i, law := range laws {
		if law.scale == 0 {
			fixed = append(fixed, i)
		}
	}
	members, _ := classes(len(fixed), func(i, j int) int { return cmp.Compare(laws[fixed[i]].at, laws[fixed[j]].at) })
	n, better := float64(len(laws)), len(fixed) // without noise, and of a better score
	for _, alike := range members {
		at := laws[fixed[alike[0]]].at
		better -= len(alike)
		above := float64(better) // Σ of survival beyond the jump
		for _, law := range laws {
			if law.scale > 0 {
				above += 1 - law.cdf(at, true)
			}
		}
		jump := l.value(above/n) - l.value((above+float64(len(alike)))/n)
		for _, i := range alike {
			p[fixed[i]] = jump / float64(len(alike))
		}
	}
}
