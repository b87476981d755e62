package mechanisms

import (
	"math/big"

	"optratio/internal/arith"
)

// logLinear is the number a + b·ln z, z = e^{-ε}.
type logLinear[T any] struct{ a, b T }

// laplaceMax returns, for each group, the probability that one given candidate of it has the largest
// score plus Laplace noise of density (ε rate/2) e^{-ε rate |x|}.
//
// Between two neighboring scores l and l+h every distribution function is one exponential: with s the
// distance above l, F = 1 - b e^{-ε rate s}, b = ½ e^{-ε rate (l-q)}, for the scores up to l, and
// F = u e^{+ε rate s}, u = ½ e^{-ε rate (q-l)}, for those above. So the integrand is an
// exponential sum, and each of its terms integrates to
//
//	∫_0^h ε e^{-ε τ s} ds = (1 - e^{-ε τ h})/τ,  or ε h = -h ln z where τ = 0,
//
// which is all there is of ln z. Candidates without noise are taken where nothing exceeds
// them and no other such has a better score, in equal shares.
func laplaceMax[T any](e exponentials[T], all []noisy) ([]logLinear[T], error) {
	m := &laplacian[T]{e: e, all: all, q: e.one(), p: make([]logLinear[T], len(all))}
	m.unit, m.integer = commonUnit(all)
	if err := feasible(all, m.integer); err != nil {
		return nil, err
	}
	fixed := -1 // the last group without noise
	for g := range all {
		m.p[g] = logLinear[T]{e.Zero(), e.Zero()}
		if all[g].rate == nil {
			fixed = g
		}
	}
	if fixed < 0 {
		m.below()
	}
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].at.Cmp(all[from].at) == 0 {
			to++
		}
		var h *big.Rat
		if to < len(all) {
			h = new(big.Rat).Sub(all[to].at, all[from].at)
		}
		m.arrive(from, to)
		if from <= fixed && fixed < to {
			m.atom(fixed, to)
		}
		if fixed < to {
			m.piece(to, h)
		}
		if h != nil {
			m.q = e.advance(m.q, m.unit, h)
		}
		from = to
	}
	return m.p, nil
}

// laplacian is the state of laplaceMax.
type laplacian[T any] struct {
	e       exponentials[T]
	all     []noisy
	unit    *big.Rat
	integer []*big.Int // the rates in units
	q       expsum[T]  // Π (1 - b e^{-ε rate s}) over the groups passed
	p       []logLinear[T]
}

// half returns ½ e^{-ε rate_g distance} for a distance >= 0.
func (m *laplacian[T]) half(g int, distance *big.Rat) T {
	return m.e.Mul(m.e.FromRat(big.NewRat(1, 2)), m.e.pow(distance.Mul(distance, m.all[g].rate)))
}

// above returns Π u over the groups from first on, and the sum of their rates in units, u as seen from l.
func (m *laplacian[T]) above(first int, l *big.Rat) (u T, rate *big.Int) {
	u, rate = m.e.One(), new(big.Int)
	for g := first; g < len(m.all); g++ {
		count := m.all[g].count
		u = m.e.Mul(u, arith.Pow(m.e.Field, m.half(g, new(big.Rat).Sub(m.all[g].at, l)), count))
		rate.Add(rate, new(big.Int).Mul(m.integer[g], big.NewInt(int64(count))))
	}
	return u, rate
}

// below adds what lies below all scores: the product of all F is u e^{ε rate s}, s < 0.
func (m *laplacian[T]) below() {
	u, rate := m.above(0, m.all[0].at)
	for g := range m.all {
		share := new(big.Rat).SetFrac(m.integer[g], rate)
		m.p[g].a = m.e.Mul(u, m.e.FromRat(share))
	}
}

// arrive multiplies the factors of the groups from, …, to-1 into q. Their score is the place from which s is counted now.
func (m *laplacian[T]) arrive(from, to int) {
	for g := from; g < to; g++ {
		if m.all[g].rate == nil {
			continue
		}
		for range m.all[g].count {
			m.q = m.e.times(m.q, m.e.FromRat(big.NewRat(1, 2)), m.integer[g])
		}
	}
}

// atom computes the probability of the candidates without noise in the group fixed: they are taken, in equal shares, where no candidate with
// noise exceeds them. The groups from to on have higher scores.
func (m *laplacian[T]) atom(fixed, to int) {
	at := m.all[fixed].at
	mass, _ := m.above(to, at)
	mass = m.e.Mul(mass, arith.Sum(m.e.Field, m.q.coef...)) // q at s = 0
	m.p[fixed].a = m.e.Quo(mass, m.e.FromInt(int64(m.all[fixed].count)))
}

// piece adds the integral from the score of group first-1 to the score h above, that of group first, or
// to infinity where there is none.
func (m *laplacian[T]) piece(first int, h *big.Rat) {
	e, l := m.e, m.all[first-1].at
	u, rate := m.above(first, l)
	known := map[string]logLinear[T]{}
	// integral returns ∫ ε e^{-ε τ s} ds over the piece for τ = x - rate, in units.
	integral := func(x *big.Int) logLinear[T] {
		key := x.Text(62)
		if v, ok := known[key]; ok {
			return v
		}
		v := logLinear[T]{e.Zero(), e.Zero()}
		t := new(big.Int).Sub(x, rate)
		if t.Sign() == 0 {
			v.b = e.FromRat(new(big.Rat).Neg(h))
		} else {
			v.a = e.FromRat(new(big.Rat).Quo(m.unit, new(big.Rat).SetInt(t)))
			if h != nil {
				v.a = e.Mul(v.a, e.Sub(e.One(), e.pow(scaled(t, m.unit, h))))
			}
		}
		known[key] = v
		return v
	}
	// add adds factor·∫ Σ_i coef_i e^{-ε (exp_i + extra) s}.
	add := func(g int, factor T, q expsum[T], extra *big.Int) {
		a, b := e.Zero(), e.Zero()
		for i, c := range q.coef {
			v := integral(new(big.Int).Add(q.exp[i], extra))
			a = e.Add(a, e.Mul(c, v.a))
			b = e.Add(b, e.Mul(c, v.b))
		}
		factor = e.Mul(factor, e.Mul(u, e.FromRat(m.all[g].rate)))
		m.p[g].a = e.Add(m.p[g].a, e.Mul(factor, a))
		m.p[g].b = e.Add(m.p[g].b, e.Mul(factor, b))
	}
	for g := range m.all {
		switch {
		case m.all[g].rate == nil:
		case g >= first:
			add(g, e.One(), m.q, new(big.Int))
		default:
			b := m.half(g, new(big.Rat).Sub(l, m.all[g].at))
			add(g, b, e.without(m.q, b, m.integer[g]), m.integer[g])
		}
	}
}
