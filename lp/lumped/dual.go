package lumped

import (
	"math/big"

	"optratio/number/interval"
)

// certify evaluates the dual function of the full program at y(m) = y[class of m]: a lower bound on
// Σ_m W(m) Σ_v v m_v x[m][v] whatever y is, enclosed. With z = e^{-ε}, along every sequence from its deep end
//
//	λ_i = max(0, c_i + z λ_{i+1} - y_i),  0 at the first position,
//	y'(class) = min over its positions of c_i + z λ_{i+1} - λ_i,
//
// and the bound is Σ N(class) y'(class). Chains that share a suffix share its λ; a first position, with the
// candidate best and the deepest other at depth k, never is a later one of another chain.
func (p *program) certify(y []*big.Rat, z interval.Interval) interval.Interval {
	prec := z.Prec()
	values := make([]interval.Interval, len(y))
	for c := range y {
		values[c] = interval.FromRat(y[c], prec)
	}
	zero := interval.FromInt(0, prec)
	lambda := make([]interval.Interval, len(p.visit))
	least := make([]interval.Interval, len(y))
	seen := make([]bool, len(y))
	for i, c := range p.visit {
		value := interval.FromInt(int64(p.cost(i)), prec)
		if next := p.next[i]; next >= 0 {
			value = value.Add(z.Mul(lambda[next]))
		}
		lambda[i] = zero
		if !p.first(i) {
			lambda[i] = value.Sub(values[c]).Max(zero)
			value = value.Sub(lambda[i])
		}
		if seen[c] {
			value = value.Min(least[c])
		}
		least[c], seen[c] = value, true
	}
	sum := interval.NewAccumulator(prec)
	for c := range y {
		sum.AddMul(interval.FromBig(p.weight[c], prec), least[c])
	}
	return sum.Value()
}
