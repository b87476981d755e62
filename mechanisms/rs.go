package mechanisms

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"
	"sync"

	"optratio/internal/arith"
	"optratio/number"
)

const stoppingSource = "Papernot & Steinke 2022, Cor. 3; " + gemSource + "App. C"

var (
	geometricStopping = &randomStopping{
		info:  epsDPEach("rs", "random stopping: the best of geometrically many draws with Laplace noise of scale 3Δ_a/ε", "Liu & Talwar 2019; "+gemSource+"Alg. 1"),
		shape: func(Params) (*big.Rat, error) { return ratOne, nil }, known: new(recent),
	}
	logarithmicStopping = &randomStopping{
		info:  epsDPEach("rs-log", "random stopping: logarithmically many draws, noise of scale 2Δ_a/ε", stoppingSource),
		shape: func(Params) (*big.Rat, error) { return new(big.Rat), nil }, known: new(recent),
	}
	shapedStopping = &randomStopping{
		info:  epsDPEach("rs-tnb", "random stopping: truncated negative binomially many draws, noise of scale (2+η)Δ_a/ε", stoppingSource),
		shape: Params.eta, known: new(recent),
	}
)

// randomStopping draws K >= 1 candidates uniformly with replacement, adds fresh Laplace noise of scale (2+η)Δ_a/ε to
// each draw and returns the best one; K has the truncated negative binomial law of shape η, geometric
// at η = 1 and logarithmic at η = 0. With φ its generating function, f_a and F_a density and distribution
// function of candidate a's noisy score, and G the mean of all F,
//
//	Pr[a] = (1/n) ∫ f_a(x) φ'(G(x)) dx.
//
// Draws without noise (Δ_a = 0) are worth their score: what jumps there is φ(G), shared equally by
// candidates of the same score. One quadrature computes this in intervals, and in float64 for more candidates.
//
// φ' rises from Pr[K=1] to E[K] = γ^{-1-η} Pr[K=1], so each probability lies between Pr[K=1]/n and E[K]/n: whatever
// the noise, even none, the mechanism is (1+η)ln(1/γ)-DP.
type randomStopping struct {
	info  Info
	shape func(Params) (*big.Rat, error) // η
	known *recent                        // answers, and what rules take of exponentials
	ctx   context.Context                // ends quadrature; nil for none
}

const (
	stoppingMargin = 8.0 // e^-8 of slack beyond the precision asked for
	stoppingSpread = 22  // the most that the logarithm of E[K]/Pr[K=1] adds to that
	stoppingGuard  = 40  // bits beyond those
	stoppingBits   = 128 // the highest precision
)

// WithContext is for Within.
func (m *randomStopping) WithContext(ctx context.Context) Mechanism {
	limited := *m
	limited.ctx = ctx
	return &limited
}

func (m *randomStopping) Info() Info { return m.info }

// checked returns γ and η of an instance that it found in order.
func (m *randomStopping) checked(in *Instance) (gamma, eta *big.Rat, err error) {
	if err := in.Check(); err != nil {
		return nil, nil, err
	}
	if gamma, err = in.Params.gamma(); err != nil {
		return nil, nil, err
	}
	eta, err = m.shape(in.Params)
	return gamma, eta, err
}

// groups returns the candidates' groups by score and noise, of rates for noise of scale (2+η)Δ_a/ε, and each candidate's group.
// At ε = 0 noise drowns all differences of scores, so that ε = 1 and equal scores have the same probabilities.
func (in *Instance) stoppingGroups(eta *big.Rat) (all []noisy, group []int, eps number.Epsilon, err error) {
	all, group = in.rates(1, false)
	for i := range all {
		if all[i].rate != nil {
			all[i].rate = new(big.Rat).Quo(all[i].rate, new(big.Rat).Add(big.NewRat(2, 1), eta))
		}
	}
	if !in.Epsilon.IsZero() {
		return all, group, in.Epsilon, nil
	}
	for i := range all {
		all[i].at = new(big.Rat)
	}
	eps, err = number.FromEpsilon(ratOne)
	return all, group, eps, err
}

// Exact knows candidates that are all alike, as they are at ε = 0 if all have the same noise.
func (m *randomStopping) Exact(in *Instance) ([]*big.Rat, error) {
	_, eta, err := m.checked(in)
	if err != nil {
		return nil, err
	}
	all, _, _, err := in.stoppingGroups(eta)
	if err != nil {
		return nil, err
	}
	for _, g := range all {
		if g.at.Cmp(all[0].at) != 0 || g.rate == nil || all[0].rate == nil || g.rate.Cmp(all[0].rate) != 0 {
			return nil, ErrNotRational
		}
	}
	return uniformly[*big.Rat](arith.Rat{}, nil, in)
}

// Enclose returns ErrNoEnclosure for more than 128 bits, and where there are so many candidates, or scales so
// different, that it would take more than a second or two.
func (m *randomStopping) Enclose(in *Instance, prec uint) ([]number.Interval, error) {
	gamma, eta, err := m.checked(in)
	if err != nil {
		return nil, err
	}
	if prec > stoppingBits {
		return nil, fmt.Errorf("%w of more than %d bits", ErrNoEnclosure, stoppingBits)
	}
	all, group, eps, err := in.stoppingGroups(eta)
	if err != nil {
		return nil, err
	}
	p, err := m.known.once(stoppingKey(eps, gamma, eta, all, prec), func() ([]number.Interval, error) {
		return m.enclose(eps, gamma, eta, all, len(in.Scores), prec)
	})
	if err != nil {
		return nil, err
	}
	return scatter(group, p), nil
}

// enclose returns the probability of one candidate of each group.
func (m *randomStopping) enclose(eps number.Epsilon, gamma, eta *big.Rat, all []noisy, n int, prec uint) ([]number.Interval, error) {
	c := enclosedCalculus(prec + stoppingGuard)
	law := newStoppingLaw(c, gamma, eta, n)
	// A probability is at least Pr[K=1]/n, and e^-reach of E[K]/n is what is dropped here and there. Where these are very different the
	// result is not as narrow as it might be.
	reach := float64(math.Ln2*float64(prec)) + min(math.Log(c.upper(law.mean)/c.upper(law.factor)), stoppingSpread) + stoppingMargin
	q := enclosedIntegral(law, reach, stoppingNodes(reach))
	q.ctx, q.nodes = m.ctx, func(rate, width *big.Rat, halvings int, compute func() ([]number.Interval, error)) []number.Interval {
		e, _ := m.known.once(fmt.Sprint("nodes", eps, rate, width, halvings, prec, c.prec, len(q.distance)), compute)
		return e
	}
	p, err := q.worthwhile(eps.Value(c.prec), all)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoEnclosure, err)
	}
	return clamped(p, prec), nil
}

func (m *randomStopping) Float(in *Instance) ([]float64, error) {
	e, err := m.estimate(in)
	return e.known(err)
}

// estimate is Enclose in float64. The error is the largest of the quadrature's bound, what the sum is away from 1, and what rounding a place changes an exponent
// by.
func (m *randomStopping) estimate(in *Instance) (estimate, error) {
	gamma, eta, err := m.checked(in)
	if err != nil {
		return estimate{}, err
	}
	if _, err := in.floats(); err != nil {
		return estimate{}, err
	}
	all, group, eps, err := in.stoppingGroups(eta)
	if err != nil {
		return estimate{}, err
	}
	law := newStoppingLaw(floatCalculus(), gamma, eta, len(in.Scores))
	q := floatIntegral(law)
	q.ctx = m.ctx
	p, err := q.worthwhile(eps.Float(), all)
	if err != nil {
		return estimate{}, fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	p = scatter(group, p)
	var total compensated
	for _, x := range p {
		total.Add(x)
	}
	return estimate{p, "Gauss-Legendre quadrature", max(0x1p-52*max(16, q.nats), q.lost, math.Abs(total.Value()-1))}, nil
}

// worthwhile is run where e^-reach of E[K] is small.
func (q *stoppingIntegral[T]) worthwhile(eps T, all []noisy) ([]T, error) {
	if mean := q.upper(q.law.mean) * float64(q.law.n); !(mean*math.Exp(-q.reach) < 0.5) {
		return nil, fmt.Errorf("%.2g draws on average", mean)
	}
	return q.run(eps, all)
}

func enclosedIntegral(law *stoppingLaw[number.Interval], reach float64, nodes int) *stoppingIntegral[number.Interval] {
	return &stoppingIntegral[number.Interval]{calculus: law.calculus, law: law, reach: reach, rule: law.rule(nodes), work: enclosedWork, nodes: afresh[number.Interval]}
}

func floatIntegral(law *stoppingLaw[float64]) *stoppingIntegral[float64] {
	return &stoppingIntegral[float64]{calculus: law.calculus, law: law, reach: noiseReach, rule: law.rule(stoppingNodes(noiseReach)), work: floatWork, nodes: afresh[float64]}
}

// afresh computes exponentials at the nodes.
func afresh[T any](_, _ *big.Rat, _ int, compute func() ([]T, error)) []T {
	e, _ := compute()
	return e
}

// stoppingKey names an instance up to a permutation of the candidates and a shift of the scores.
func stoppingKey(eps number.Epsilon, gamma, eta *big.Rat, all []noisy, prec uint) string {
	var b strings.Builder
	fmt.Fprint(&b, eps, gamma, eta, prec)
	last := all[len(all)-1].at
	for _, g := range all {
		fmt.Fprint(&b, ";", new(big.Rat).Sub(last, g.at), g.rate, g.count)
	}
	return b.String()
}

// recent remembers some results by name, and forgets them all when they are too many.
type recent struct {
	mu    sync.Mutex
	known map[string][]number.Interval
}

const recentResults = 1 << 10

// once returns what is known under that name, or else what compute returns.
func (r *recent) once(key string, compute func() ([]number.Interval, error)) ([]number.Interval, error) {
	r.mu.Lock()
	p, ok := r.known[key]
	r.mu.Unlock()
	if ok {
		return p, nil
	}
	p, err := compute()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= recentResults {
		r.known = map[string][]number.Interval{}
	}
	r.known[key] = p
	return p, nil
}

// stoppingLaw is the truncated negative binomial law of K >= 1 with 0 < γ <= 1 and η > -1,
//
//	Pr[K=k] = (1-γ)^k/(γ^{-η} - 1) Π_{l<k} (l+η)/(l+1),  at η = 0 (1-γ)^k/(k ln(1/γ)),
//
// and K = 1 at γ = 1, the limit. Its generating function is, with v = 1 - (1-γ)s,
//
//	φ(s) = (v^{-η} - 1)/(γ^{-η} - 1),  at η = 0 ln v/ln γ.
//
// With h the sum of the survival functions of n candidates at x, which is n(1 - G(x)),
//
//	φ'(1-h/n)/n = factor·v^{-1-η},  v = γ + (1-γ)h/n,  at most mean = E[K]/n.
type stoppingLaw[T any] struct {
	calculus[T]
	n          int
	gamma, eta *big.Rat
	at0        T // γ
	ln         T // ln γ
	power      T // -1-η
	share      T // (1-γ)/n
	factor     T
	mean       T
}

func newStoppingLaw[T any](c calculus[T], gamma, eta *big.Rat, n int) *stoppingLaw[T] {
	l := &stoppingLaw[T]{calculus: c, n: n, gamma: gamma, eta: eta}
	l.at0, l.ln, l.power = l.FromRat(gamma), l.interval(number.LogRat(gamma, l.prec)), l.Neg(l.FromRat(new(big.Rat).Add(ratOne, eta)))
	l.share = l.Quo(l.FromRat(new(big.Rat).Sub(ratOne, gamma)), l.FromInt(int64(n)))
	switch {
	case gamma.Cmp(ratOne) == 0:
		l.factor = l.Quo(l.One(), l.FromInt(int64(n)))
	case eta.Sign() == 0:
		l.factor = l.Quo(l.share, l.Neg(l.ln))
	default:
		l.factor = l.Quo(l.Mul(l.share, l.FromRat(eta)), l.powerLess1(l.ln))
	}
	// factor·γ^{-1-η}, with γ^η left to cancel: for large η neither factor need have a finite enclosure
	if eta.Sign() > 0 && gamma.Cmp(ratOne) < 0 {
		power := l.Neg(l.expm1(l.Mul(l.ln, l.FromRat(eta))))
		l.mean = l.Quo(l.Mul(l.share, l.FromRat(eta)), l.Mul(l.at0, power))
	} else {
		l.mean = l.density(l.Zero())
	}
	return l
}

// powerLess1 returns v^{-η} - 1 from ln v.
func (l *stoppingLaw[T]) powerLess1(ln T) T { return l.expm1(l.Neg(l.Mul(ln, l.FromRat(l.eta)))) }

// v returns 1 - (1-γ)(1-h/n) = γ + (1-γ)h/n.
func (l *stoppingLaw[T]) v(h T) T { return l.Add(l.at0, l.Mul(l.share, h)) }

// density returns φ'(1-h/n)/n.
func (l *stoppingLaw[T]) density(h T) T {
	v := l.v(h)
	if l.eta.IsInt() && l.eta.Num().BitLen() < 16 {
		return l.Quo(l.factor, arith.Pow(l.Field, v, 1+int(l.eta.Num().Int64())))
	}
	return l.Mul(l.factor, l.exp(l.Mul(l.log(v), l.power)))
}

// value returns φ(1-h/n).
func (l *stoppingLaw[T]) value(h T) T {
	switch {
	case l.gamma.Cmp(ratOne) == 0:
		return l.Sub(l.One(), l.Quo(h, l.FromInt(int64(l.n))))
	case l.eta.Sign() == 0:
		return l.Quo(l.log(l.v(h)), l.ln)
	}
	return l.Quo(l.powerLess1(l.log(l.v(h))), l.powerLess1(l.ln))
}
