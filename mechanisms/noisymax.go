package mechanisms

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

// Report noisy max with two of the noises is another mechanism by another name: with exponential
// noise of mean 2Δ/ε it is permute-and-flip (Ding et al. 2021), with Gumbel
// noise of scale 2Δ/ε it is the exponential mechanism (the Gumbel-max trick).
var (
	exponentialMaxed = permuteAndFlipAs(epsDP("rnm-exponential", "report noisy max, exponential noise", "Ding et al. 2021"))
	gumbelMaxed      = exponentialAs(epsDP("rnm-gumbel", "report noisy max, Gumbel noise", "Gumbel 1954; Yellott 1977"))
	laplaceMaxed     = &noisyMax{
		info:    epsDP("rnm-laplace", "report noisy max, Laplace noise of scale 2Δ/ε", "Dwork & Roth 2014, Claim 3.9"),
		factor:  2,
		laplace: true,
	}
	eachMaxed = &noisyMax{
		info: Info{
			Name:           "rnmh",
			Summary:        "report noisy max, exponential noise of mean 2Δ_a/ε for candidate a",
			Source:         "Antonova et al., Private Selection with Heterogeneous Sensitivities, (4)",
			Claim:          "none: not ε'-DP for any ε'",
			ShiftInvariant: true,
			Symmetric:      true,
		},
		factor: 2,
	}
	eachLaplaceMaxed = &noisyMax{
		info: Info{
			Name:           "rnmh-laplace",
			Summary:        "report noisy max, Laplace noise of scale Δ_a/ε for candidate a",
			Source:         "Antonova et al., Private Selection with Heterogeneous Sensitivities, App. A",
			Claim:          "nε-DP for n candidates; not the (n-1)ε of the source",
			ShiftInvariant: true,
			Symmetric:      true,
		},
		factor:  1,
		laplace: true,
	}
)

// noisyMax is report noisy max with noise of scale factor·Δ/ε, Laplace or exponential.
// The probabilities are piecewise exponential sums: a + b·ln z with rational a, b where z = e^{-ε}
// and all powers of it that occur are rational, and rational functions of a power of z (and ε) where the
// gaps between scores are commensurable. Closed forms that are too long give ErrNoEnclosure.
type noisyMax struct {
	info    Info
	factor  int64
	laplace bool
	ctx     context.Context // ends quadrature; nil for none
}

// WithContext is for Within.
func (m *noisyMax) WithContext(ctx context.Context) Mechanism {
	limited := *m
	limited.ctx = ctx
	return &limited
}

func (m *noisyMax) Info() Info { return m.info }

// evaluate runs the closed form that belongs to m.
func evaluate[T any](m *noisyMax, e exponentials[T], all []noisy) ([]logLinear[T], error) {
	if m.laplace {
		return laplaceMax(e, all)
	}
	p, err := exponentialMax(e, all)
	out := make([]logLinear[T], len(p))
	for i := range p {
		out[i] = logLinear[T]{p[i], e.Zero()}
	}
	return out, err
}

// LogExact returns the probabilities as a + b·ln z with rational a and b, as they are where z = e^{-ε} is
// rational and depths are integers, or ErrNotRational.
func (m *noisyMax) LogExact(in *Instance) ([]arith.LogRat, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	all, group := in.rates(m.factor, m.info.Uniform)
	rational := true
	pow := func(x *big.Rat) *big.Rat {
		p, ok := in.Epsilon.ExpNegRat(x)
		if !ok {
			rational = false
			return ratOne
		}
		return p
	}
	if _, ok := in.Epsilon.Z(); !ok {
		return nil, ErrNotRational
	}
	p, err := evaluate(m, exponentials[*big.Rat]{arith.Rat{}, pow}, all)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRational, err)
	}
	if !rational {
		return nil, ErrNotRational
	}
	out := make([]arith.LogRat, len(p))
	for i, x := range p {
		out[i] = arith.LogRat{A: x.a, B: x.b}
	}
	return scatter(group, out), nil
}

func (m *noisyMax) Exact(in *Instance) ([]*big.Rat, error) {
	logs, err := m.LogExact(in)
	if err != nil {
		return nil, err
	}
	out := make([]*big.Rat, len(logs))
	for i, x := range logs {
		var ok bool
		if out[i], ok = x.Rat(); !ok && !in.Epsilon.IsZero() {
			return nil, ErrNotRational
		} else if !ok {
			out[i] = x.A // ln 1 = 0
		}
	}
	return out, nil
}

func (m *noisyMax) Symbolic(in *Instance, unit *big.Rat) ([]arith.RatFunc, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	f := arith.Poly{}
	all, group := in.rates(m.factor, m.info.Uniform)
	commensurable := true
	pow := func(x *big.Rat) arith.RatFunc {
		p, err := symbolicPower(x, unit)
		commensurable = commensurable && err == nil
		return p
	}
	p, err := evaluate(m, exponentials[arith.RatFunc]{f, pow}, all)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRational, err)
	}
	if !commensurable {
		return nil, ErrNotRational
	}
	out := make([]arith.RatFunc, len(p))
	for i, x := range p {
		out[i] = x.a
		if !x.b.IsZero() { // ln z = -ε
			if in.Epsilon.Eps() == nil {
				return nil, ErrNotRational
			}
			out[i] = f.Sub(x.a, f.Mul(x.b, f.FromRat(in.Epsilon.Eps())))
		}
	}
	return scatter(group, out), nil
}

func (m *noisyMax) Enclose(in *Instance, prec uint) ([]number.Interval, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	all, group := in.rates(m.factor, m.info.Uniform)
	// The terms of Π (1 - b y) add up to at most 2^n in magnitude, and the product of what is
	// 1/2 or more to at least 2^-n.
	work := prec + 2*uint(len(group)) + 64
	for tries := 0; ; tries++ {
		p, err := m.enclose(in.Epsilon, all, work)
		if err != nil {
			return nil, err
		}
		width := 0.0
		for i := range p {
			p[i] = clampUnit(p[i].SetPrec(prec))
			width = max(width, p[i].RelWidth())
		}
		if width <= math.Ldexp(1, 6-int(prec)) || tries == 3 {
			return scatter(group, p), nil
		}
		work *= 2
	}
}

func (m *noisyMax) enclose(eps number.Epsilon, all []noisy, prec uint) ([]number.Interval, error) {
	pow := func(x *big.Rat) number.Interval { return eps.ExpNeg(x, prec) }
	p, err := evaluate(m, exponentials[number.Interval]{arith.Interval{Prec: prec}, pow}, all)
	if errors.Is(err, errTooManyTerms) {
		return nil, fmt.Errorf("%w: %w", ErrNoEnclosure, err)
	}
	out := make([]number.Interval, len(p))
	for i, x := range p {
		out[i] = x.a
		if s, ok := x.b.Sign(); s != 0 || !ok {
			out[i] = x.a.Sub(x.b.Mul(eps.Value(prec)))
		}
	}
	return out, err
}
