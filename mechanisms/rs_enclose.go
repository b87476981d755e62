package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"sync"

	"optratio/internal/arith"
	"optratio/number"
)

const (
	stoppingMargin = 8.0 // e^-8 of slack beyond the precision asked for
	stoppingSpread = 22  // the most that the logarithm of E[K]/Pr[K=1] adds to that
	stoppingGuard  = 40  // bits beyond those
	stoppingBits   = 128 // the highest precision
	stoppingNodes  = 200 // the most nodes of a rule
)

// Enclose returns ErrNoEnclosure at ε = 0, for more than 128 bits, and where there are so many candidates, or scales so
// different, that it would take more than a second or two.
func (m *randomStopping) Enclose(in *Instance, prec uint) ([]number.Interval, error) {
	gamma, eta, err := m.checked(in)
	if err != nil {
		return nil, err
	}
	if in.Epsilon.IsZero() {
		return nil, fmt.Errorf("%w: at ε = 0 it is a limit", ErrNoEnclosure)
	}
	if prec > stoppingBits {
		return nil, fmt.Errorf("%w of more than %d bits", ErrNoEnclosure, stoppingBits)
	}
	all, group := in.rates(1, false)
	for i := range all {
		if all[i].rate != nil { // noise of scale (2+η)Δ_a/ε
			all[i].rate = new(big.Rat).Quo(all[i].rate, new(big.Rat).Add(big.NewRat(2, 1), eta))
		}
	}
	key := stoppingKey(in.Epsilon, gamma, eta, all, prec)
	if p, ok := m.known.get(key); ok {
		return scatter(group, p), nil
	}
	law := newEnclosedLaw(gamma, eta, len(in.Scores), prec+stoppingGuard)
	// A probability is at least Pr[K=1]/n, and e^-reach of E[K]/n is what is dropped here and there. Where these are very different the
	// result is not as narrow as it might be.
	_, mean := law.mean.Float64()
	least, _ := law.factor.Float64()
	reach := float64(math.Ln2*float64(prec)) + min(math.Log(mean/least), stoppingSpread) + stoppingMargin
	if mean *= float64(len(in.Scores)); !(mean*math.Exp(-reach) < 0.5) {
		return nil, fmt.Errorf("%w: %.2g draws on average", ErrNoEnclosure, mean)
	}
	p, err := law.enclose(in.Epsilon, all, reach, reach, m.nodes)
	if err != nil {
		return nil, err
	}
	m.known.put(key, clamped(p, prec))
	return scatter(group, p), nil
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

func (r *recent) get(key string) ([]number.Interval, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.known[key]
	return p, ok
}

func (r *recent) put(key string, p []number.Interval) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= recentResults {
		r.known = map[string][]number.Interval{}
	}
	r.known[key] = p
}

// enclosedLaw encloses a stoppingLaw for n candidates. With h the sum of their survival functions at x, which is n(1 - G(x)),
//
//	φ'(1-h/n)/n = factor·v^{-1-η},  v = γ + (1-γ)h/n,  at most mean = E[K]/n.
type enclosedLaw struct {
	arith.Interval
	n          int
	gamma, eta *big.Rat
	at0        number.Interval // γ
	power      number.Interval // -1-η
	share      number.Interval // (1-γ)/n
	factor     number.Interval
	mean       number.Interval
}

func newEnclosedLaw(gamma, eta *big.Rat, n int, prec uint) *enclosedLaw {
	f := arith.Interval{Prec: prec}
	rest := f.FromRat(new(big.Rat).Sub(ratOne, gamma))
	l := &enclosedLaw{Interval: f, n: n, gamma: gamma, eta: eta, share: rest.Quo(f.FromInt(int64(n)))}
	l.at0, l.power = f.FromRat(gamma), f.FromRat(new(big.Rat).Add(ratOne, eta)).Neg()
	switch {
	case gamma.Cmp(ratOne) == 0:
		l.factor = f.One().Quo(f.FromInt(int64(n)))
	case eta.Sign() == 0:
		l.factor = l.share.Quo(l.lnGamma().Neg())
	default:
		l.factor = l.share.Mul(f.FromRat(eta)).Quo(l.expm1(l.lnGamma()))
	}
	// factor·γ^{-1-η}, with γ^η left to cancel: for large η neither factor need have a finite enclosure
	if eta.Sign() > 0 && gamma.Cmp(ratOne) < 0 {
		power := number.Expm1(l.lnGamma().Mul(f.FromRat(eta))).Neg()
		l.mean = l.share.Mul(f.FromRat(eta)).Quo(f.FromRat(gamma).Mul(power))
	} else {
		l.mean = l.density(number.FromInt(0, prec))
	}
	return l
}

func (l *enclosedLaw) lnGamma() number.Interval { return number.LogRat(l.gamma, l.Prec) }

// expm1 returns e^{-ηx} - 1.
func (l *enclosedLaw) expm1(x number.Interval) number.Interval {
	return number.Expm1(x.Mul(l.FromRat(l.eta)).Neg())
}

// v returns 1 - (1-γ)(1-h/n) = γ + (1-γ)h/n.
func (l *enclosedLaw) v(h number.Interval) number.Interval {
	return l.at0.Add(l.share.Mul(h))
}

// density returns φ'(1-h/n)/n.
func (l *enclosedLaw) density(h number.Interval) number.Interval {
	v := l.v(h)
	if l.eta.IsInt() && l.eta.Num().BitLen() < 16 {
		return l.factor.Mul(v.Pow(-1 - int(l.eta.Num().Int64())))
	}
	return l.factor.Mul(number.Exp(number.Log(v).Mul(l.power)))
}

// value returns φ(1-h/n).
func (l *enclosedLaw) value(h number.Interval) number.Interval {
	switch {
	case l.gamma.Cmp(ratOne) == 0:
		return l.One().Sub(h.Quo(l.FromInt(int64(l.n))))
	case l.eta.Sign() == 0:
		return number.Log(l.v(h)).Quo(l.lnGamma())
	}
	return l.expm1(number.Log(l.v(h))).Quo(l.expm1(l.lnGamma()))
}
