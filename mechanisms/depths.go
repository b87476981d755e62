package mechanisms

import (
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/number"
)

// overDepths is a mechanism for one sensitivity, run on depths of its own making in place of (max q - q_r)/2Δ.
type overDepths struct {
	info Info
	base regular
	// rescale returns the instance to run base on, with the candidates that keep takes part; the others are never taken.
	rescale func(in *Instance) (scaled *Instance, keep []int, err error)
	// steps is Steps.
	steps func(in *Instance) []*big.Rat
}

// regular is a mechanism for one sensitivity that depends on depths alone.
type regular interface {
	Mechanism
	Symbolic(in *Instance, unit *big.Rat) ([]arith.RatFunc, error)
}

func (m *overDepths) Info() Info { return m.info }

// Steps returns the steps in which depths are counted. They depend on sensitivities and parameters alone, whatever the scores: scores that are
// multiples of u have depths that are sums of multiples of u/s for s among the steps.
func (m *overDepths) Steps(in *Instance) []*big.Rat { return m.steps(in) }

// onKept evaluates base on the candidates that take part. The others have the probability zero.
func onKept[T any](m *overDepths, in *Instance, zero T, ask func(in *Instance) ([]T, error)) ([]T, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	scaled, keep, err := m.rescale(in)
	if err != nil {
		return nil, err
	}
	p, err := ask(scaled)
	if err != nil {
		return nil, err
	}
	out := slices.Repeat([]T{zero}, len(in.Scores))
	for i, r := range keep {
		out[r] = p[i]
	}
	return out, nil
}

func (m *overDepths) Exact(in *Instance) ([]*big.Rat, error) {
	return onKept(m, in, new(big.Rat), m.base.Exact)
}

func (m *overDepths) Enclose(in *Instance, prec uint) ([]number.Interval, error) {
	return onKept(m, in, number.FromInt(0, prec), func(in *Instance) ([]number.Interval, error) { return m.base.Enclose(in, prec) })
}

func (m *overDepths) Float(in *Instance) ([]float64, error) {
	return onKept(m, in, 0, m.base.Float)
}

// Symbolic takes the unit in depths.
func (m *overDepths) Symbolic(in *Instance, unit *big.Rat) ([]arith.RatFunc, error) {
	return onKept(m, in, arith.Poly{}.Zero(), func(in *Instance) ([]arith.RatFunc, error) { return m.base.Symbolic(in, unit) })
}

// relativeError is that of the mechanism on depths that are rounded once.
func (m *overDepths) relativeError(in *floatInstance) float64 {
	if base, ok := m.base.(stater); ok {
		return base.relativeError(in)
	}
	return 1e-11
}

// normalisedDepths returns gem's depths for t = 0,
//
//	d_a = max_b (q_b - q_a)/(Δ_a + Δ_b) >= 0,
//
// of the candidates that take part: those without sensitivity that have the best score of these, and all others. Each moves by at most 1 between
// neighbors. O(n log n), and exact.
func (in *Instance) normalisedDepths() (depths []*big.Rat, keep []int) {
	classes, _, class := in.choices(true)
	below := func(a, b int) *big.Rat {
		sum := new(big.Rat).Add(classes[a].d, classes[b].d)
		return sum.Quo(new(big.Rat).Sub(classes[b].q, classes[a].q), sum)
	}
	hull := exactEnvelope(classes)
	byClass := make([]*big.Rat, len(classes)) // nil: never taken
	for a := range classes {
		// The deepest one is the least minus depth.
		near, never := hull.minima(a, 1, 0, func(a, l, r int) (int, bool) { return below(a, r).Cmp(below(a, l)), true })
		if never {
			continue
		}
		byClass[a] = new(big.Rat)
		for _, b := range near {
			if d := below(a, b); d.Cmp(byClass[a]) > 0 {
				byClass[a] = d
			}
		}
	}
	for i, c := range class {
		if byClass[c] != nil {
			depths, keep = append(depths, byClass[c]), append(keep, i)
		}
	}
	return depths, keep
}

// atDepths returns the instance whose candidates have the given depths in steps of 2Δ = 1.
func atDepths(depths []*big.Rat, eps number.Epsilon) *Instance {
	out := &Instance{Sensitivities: []*big.Rat{big.NewRat(1, 2)}, Epsilon: eps}
	for _, d := range depths {
		out.Scores = append(out.Scores, new(big.Rat).Neg(d))
	}
	return out
}
