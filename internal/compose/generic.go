package compose

import (
	"math"
	"math/big"
)

// Basic is Σε, which basic composition proves; nil where an ε is not rational.
func (p *Problem) Basic() *big.Rat {
	sum := new(big.Rat)
	for _, st := range p.Steps {
		e := st.Eps.Eps()
		if e == nil {
			return nil
		}
		sum.Add(sum, new(big.Rat).Mul(e, big.NewRat(int64(st.Count), 1)))
	}
	return sum
}

// Range returns about the range of a kind: how far apart the losses of two outcomes can be.
func (k Kind) Range() float64 {
	e := k.Eps.Float()
	switch k.Mechanism {
	case "em":
		return e
	case "pf":
		return e + 2*math.Log(2-math.Exp(-e/2))
	}
	return 2 * e
}

// ByRange returns about the ε in total that Dong, Durfee & Rogers (2020) prove for mechanisms of these ranges: with t = r/(1-e^{-r}),
// Σ (t - 1 - ln t) + sqrt(Σ r² ln(1/δ)/2).
func (p *Problem) ByRange(delta float64) float64 {
	mean, squares := 0.0, 0.0
	for _, st := range p.Steps {
		r := st.Range()
		t := r / -math.Expm1(-r)
		mean += float64(float64(st.Count) * (t - 1 - math.Log(t)))
		squares += float64(float64(st.Count) * float64(r*r))
	}
	return mean + math.Sqrt(squares*math.Log(1/delta)/2)
}

// ByZCDP returns about the ε in total that tight ρ proves, at the best order of the conversion of Canonne, Kamath & Steinke (2020):
// ρα + ln(1-1/α) - ln(αδ)/(α-1).
func (p *Problem) ByZCDP(delta float64) float64 {
	rho := 0.0
	for _, st := range p.Steps {
		rho += float64(float64(st.Count) * st.rho())
	}
	at := func(logOver float64) float64 {
		over := math.Exp(logOver) // α-1
		return float64(rho*(1+over)) + math.Log(over/(1+over)) - math.Log((1+over)*delta)/over
	}
	low, high := math.Log(1e-6), math.Log(1e9)
	for range 200 {
		a, b := low+(high-low)/3, high-(high-low)/3
		if at(a) < at(b) {
			high = b
		} else {
			low = a
		}
	}
	return max(0, at(low))
}
