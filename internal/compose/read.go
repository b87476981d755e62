package compose

import (
	"math"

	"optratio/mechanisms"
	"optratio/number"
)

// exact returns a float as an interval.
func exact(x float64) number.Interval { return number.FromFloat(x, prec) }

// delta returns bounds of V(s), s >= 0.
func (t *table) delta(s number.Interval) (lower, upper number.Interval) {
	zero := number.FromInt(0, prec)
	i := min(int(s.Near()/t.d), t.n)
	lower = zero
	for j := max(0, i-1); j <= min(t.n, i+2); j++ { // any event is an attack
		at := number.Exp(s.Sub(t.dist.Mul(number.FromInt(int64(j), prec))))
		lower = lower.Max(exact(t.p[t.pad+j]).Sub(exact(t.q[t.pad+j]).Mul(at)))
	}
	if i == t.n {
		return lower, exact(t.over[t.pad+t.n])
	}
	high, low := exact(t.over[t.pad+i]), exact(t.over[t.pad+i+1])
	base := t.dist.Mul(number.FromInt(int64(i), prec))
	share := number.Expm1(s.Sub(base)).Quo(number.Expm1(t.dist))
	if share.Lo().Sign() < 0 { // s is about at the node i
		return lower, high
	}
	// Where s is about at the node i+1 the chord may end before it, and V falls.
	return lower, high.Sub(high.Sub(low).Mul(share.Min(one))).Max(low)
}

// eps returns bounds of the least s >= 0 with V(s) <= δ; there is no upper one where the table ends before.
func (t *table) eps(delta number.Interval) (lower, upper number.Interval, ok bool) {
	zero := number.FromInt(0, prec)
	lower = zero
	d := down(delta)
	for i := range t.n + 1 {
		over, p, q := t.over[t.pad+i], t.p[t.pad+i], t.q[t.pad+i]
		base := t.dist.Mul(number.FromInt(int64(i), prec))
		if p > q && p > d { // p - q e^{s-base} > δ for all smaller s
			if attack := exact(p).Sub(delta).Quo(exact(q)); attack.Lo().Sign() > 0 {
				lower = lower.Max(base.Add(number.Log(attack)))
			}
		}
		if !(over <= d) {
			continue
		}
		if i == 0 {
			return zero, zero, true
		}
		before := exact(t.over[t.pad+i-1])
		share := before.Sub(delta).Quo(before.Sub(exact(over)))
		upper = base.Sub(t.dist).Add(number.Log(one.Add(share.Mul(number.Expm1(t.dist)))))
		return lower, upper, true
	}
	return lower, upper, false
}

// attack returns the node whose event attains the lower end of what is asked for, for an answer of about this size.
func (t *table) attack(g target, upper number.Interval) (node int) {
	s, best := up(upper), math.Inf(-1)
	if !g.eps {
		s = g.s.Near()
	}
	for i := range t.n + 1 {
		p, q := t.p[t.pad+i], t.q[t.pad+i]
		value := p - float64(q*math.Exp(s-float64(float64(i)*t.d)))
		if g.eps {
			value = float64(float64(i)*t.d) + math.Log((p-g.delta.Near())/q)
		}
		if value > best {
			node, best = i, value
		}
	}
	return node
}

// profile is the privacy profile at s >= 0.
func (k Kind) profile(s number.Interval) number.Interval {
	m, _ := mechanisms.Lookup(k.Mechanism)
	delta, _ := mechanisms.Profile(m, k.Eps, k.Candidates, s)
	return delta
}

// single takes the profile of one selection, and the s >= 0 at which it is δ.
func (w *work) single(k Kind) {
	e, zero := k.eps(), number.FromInt(0, prec)
	w.best.Method, w.best.Block, w.best.only = "closed form", 1, &k
	if !w.eps {
		v := k.profile(w.s)
		w.best.Lower, w.best.Upper = w.best.Lower.Max(v), w.best.Upper.Min(v)
	} else {
		var less number.Interval // e^{s-ε}, or its root
		switch k.Mechanism {
		case "pf":
			less = one.Sub(w.delta)
		case "em":
			less = one.Sub(number.Exp(number.Log(w.delta.Mul(number.Expm1(e.Neg()).Neg())).Quo(two)))
		default:
			a, _, _ := k.pair(zero)
			less = one.Sub(w.delta.Quo(a.p))
		}
		s := zero
		if less.Lo().Sign() > 0 {
			s = number.Log(less)
			if k.adaptive() {
				s = s.Mul(two)
			}
			s = s.Add(e).Max(zero)
		} else if less.Hi().Sign() > 0 {
			s = number.Hull(zero, e)
		}
		w.best.Lower, w.best.Upper = s, w.best.Upper.Min(s)
	}
	w.best.Attack = w.attack(k, 1)
}
