package mechanisms

import (
	"cmp"
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

// evaluate returns the probabilities of an instance by the closed form that belongs to m, in the arithmetic f. power returns e^{-εx} or an error.
func evaluate[T any](m *noisyMax, f arith.Field[T], power func(x *big.Rat) (T, error), in *Instance) ([]logLinear[T], error) {
	all, group := in.rates(m.factor, m.info.Uniform)
	var failed error
	e := exponentials[T]{f, func(x *big.Rat) T {
		p, err := power(x)
		if err != nil {
			failed = err
			return f.One()
		}
		return p
	}}
	var p []logLinear[T]
	var err error
	if m.laplace {
		p, err = laplaceMax(e, all)
	} else {
		var plain []T
		plain, err = exponentialMax(e, all)
		for _, x := range plain {
			p = append(p, logLinear[T]{x, f.Zero()})
		}
	}
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	return scatter(group, p), nil
}

// tooLong returns err, as a case of what it is where the closed form has too many terms.
func tooLong(err, what error) error {
	if errors.Is(err, errTooManyTerms) {
		return fmt.Errorf("%w: %w", what, err)
	}
	return err
}

// LogExact returns the probabilities as a + b·ln z with rational a and b, as they are where z = e^{-ε} is
// rational and depths are integers, or ErrNotRational.
func (m *noisyMax) LogExact(in *Instance) ([]arith.LogRat, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if _, ok := in.Epsilon.Z(); !ok {
		return nil, ErrNotRational
	}
	p, err := evaluate(m, arith.Rat{}, in.rationalPower, in)
	if err != nil {
		return nil, tooLong(err, ErrNotRational)
	}
	out := make([]arith.LogRat, len(p))
	for i, x := range p {
		out[i] = arith.LogRat{A: x.a, B: x.b}
	}
	return out, nil
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
	p, err := evaluate(m, f, func(x *big.Rat) (arith.RatFunc, error) { return symbolicPower(x, unit) }, in)
	if err != nil {
		return nil, tooLong(err, ErrNotRational)
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
	return out, nil
}

func (m *noisyMax) Enclose(in *Instance, prec uint) ([]number.Interval, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	// The terms of Π (1 - b y) add up to at most 2^n in magnitude, and the product of what is
	// 1/2 or more to at least 2^-n.
	work := prec + 2*uint(len(in.Scores)) + 64
	for tries := 0; ; tries++ {
		p, err := evaluate(m, arith.Interval{Prec: work}, func(x *big.Rat) (number.Interval, error) { return in.Epsilon.ExpNeg(x, work), nil }, in)
		if err != nil {
			return nil, tooLong(err, ErrNoEnclosure)
		}
		out, width := make([]number.Interval, len(p)), 0.0
		for i, x := range p {
			if s, ok := x.b.Sign(); s != 0 || !ok {
				x.a = x.a.Sub(x.b.Mul(in.Epsilon.Value(work)))
			}
			out[i] = clampUnit(x.a.SetPrec(prec))
			width = max(width, out[i].RelWidth())
		}
		if width <= math.Ldexp(1, 6-int(prec)) || tries == 3 {
			return out, nil
		}
		work *= 2
	}
}
