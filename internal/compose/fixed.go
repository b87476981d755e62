package compose

import (
	"math"

	"optratio/number"
)

// fixed takes the attack as a lower bound that asks the x of its step at all selections of a step. It adds up losses that are rounded to multiples of d, and
// looks whether they come to more than a node. Returned is about what it attains.
func (w *work) fixed(d float64, xs []number.Interval, small float64) float64 {
	ask := &asked{d: d}
	var all *losses
	for i, st := range w.Steps {
		s := &steps{Kind: st.Kind, d: d}
		m := s.newMove(xs[i])
		ask.queries = append(ask.queries, query{xs[i].Near(), -m.a, -m.b})
		all = all.then(m.losses(d).times(st.Count, small), small)
	}
	t := all.table()
	var lower number.Interval
	if w.eps {
		lower, _, _ = t.eps(w.delta)
	} else {
		lower, _ = t.delta(w.s)
	}
	if lower.Lo().Cmp(w.best.Lower.Lo()) > 0 {
		ask.node = t.attack(w.target, lower) - all.moved
		w.best.Lower, w.best.Attack, w.best.asked = lower, nil, ask
	}
	return lower.Near()
}

// mixed takes such an attack on steps of several kinds. δ is at most e^{-λs}·Π E_P[e^{λL}] for every λ >= 0: the queries have the greatest factors at the λ
// where this is least. To round losses changes the event, and so costs little.
func (w *work) mixed() {
	squares := 0.0
	for _, st := range w.Steps {
		squares += float64(st.Eps.Float() * st.Eps.Float() * float64(st.Count))
	}
	guess := w.guess()
	least := func(logλ float64) float64 { // s, or ln δ
		λ, moments := math.Exp(logλ), 0.0
		for _, st := range w.Steps {
			_, moment := st.Kind.greatest(λ)
			moments += float64(float64(st.Count) * moment)
		}
		if w.eps {
			return (moments - math.Log(guess)) / λ
		}
		return moments - float64(λ*w.s.Near())
	}
	λ := math.Exp(minimum(-12, 12, least))
	var xs []number.Interval
	for _, st := range w.Steps {
		x, _ := st.Kind.greatest(λ)
		xs = append(xs, exact(min(x, down(st.eps()))))
	}
	parts := 8.0
	if w.count > 1e4 {
		parts = 3
	}
	w.fixed(math.Sqrt(squares/float64(w.count))/parts, xs, max(guess*guess*1e-10, LeastDelta*1e-14))
}

// minimum returns about where a function that falls and then rises is least.
func minimum(low, high float64, f func(float64) float64) float64 {
	for range 35 {
		if a, b := low+float64((high-low)*0.4), low+float64((high-low)*0.6); f(a) < f(b) {
			high = b
		} else {
			low = a
		}
	}
	return (low + high) / 2
}

// greatest returns about the x with the greatest E_P[e^{λL}], and the logarithm of that.
func (k Kind) greatest(λ float64) (x, moment float64) {
	logarithm := func(x float64) float64 {
		p, notP, q, notQ := k.logs(x)
		a, b := p+float64(λ*(p-q)), notP+float64(λ*(notP-notQ))
		m := max(a, b)
		if !k.adaptive() { // the other outcomes have the loss 0
			return m + math.Log(math.Exp(a-m)+math.Exp(b-m)+float64((1-math.Exp(p)-math.Exp(notP))*math.Exp(-m)))
		}
		if math.IsInf(m, 0) || math.IsNaN(a+b) {
			return 0
		}
		return m + math.Log(math.Exp(a-m)+math.Exp(b-m))
	}
	if k.adaptive() {
		x = minimum(0, k.Eps.Float(), func(x float64) float64 { return -logarithm(x) })
	}
	return x, logarithm(x)
}
