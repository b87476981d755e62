//go:build clp

package clp

import (
	"math"

	"optratio/lp/linear"
)

// slackBasis has every row basic and every column at the bound that its cost
// prefers, so that it is dual feasible wherever a slack basis can be.
func slackBasis(m *linear.Model) *linear.Basis {
	b := &linear.Basis{Col: make([]linear.VarStatus, m.Cols()), Row: make([]linear.VarStatus, m.Rows())}
	for j, c := range m.Cost {
		wish := linear.AtLower
		if c < 0 {
			wish = linear.AtUpper
		}
		b.Col[j] = atFinite(wish, m.ColLower[j], m.ColUpper[j])
	}
	for i := range b.Row {
		b.Row[i] = linear.Basic
	}
	return b
}

// atFinite returns a status that a nonbasic variable with these bounds can
// have: the one wished for, or the other bound, or Free without bounds.
func atFinite(wish linear.VarStatus, lower, upper float64) linear.VarStatus {
	hasLower, hasUpper := !math.IsInf(lower, -1), !math.IsInf(upper, 1)
	switch {
	case wish == linear.Basic:
		return linear.Basic
	case !hasLower && !hasUpper:
		return linear.Free
	case !hasLower, wish == linear.AtUpper && hasUpper:
		return linear.AtUpper
	default:
		return linear.AtLower
	}
}

// statuses returns b as CLP has it, columns first.
func statuses(m *linear.Model, b *linear.Basis) []uint8 {
	clp := [...]uint8{linear.AtLower: atLower, linear.AtUpper: atUpper, linear.Basic: isBasic, linear.Free: isFree}
	list := make([]uint8, 0, m.Cols()+m.Rows())
	for j, s := range b.Col {
		list = append(list, clp[atFinite(s, m.ColLower[j], m.ColUpper[j])])
	}
	for i, s := range b.Row {
		list = append(list, clp[atFinite(s, m.RowLower[i], m.RowUpper[i])])
	}
	return list
}

// fromStatus translates one of CLP's statuses. Fixed variables go to the bound
// whose sign rule the reduced cost (of a row: the dual) d obeys, variables that CLP left between
// their bounds to the nearer one; exact is false for those.
func fromStatus(status uint8, value, d, lower, upper float64) (s linear.VarStatus, exact bool) {
	switch {
	case status == isBasic:
		return linear.Basic, true
	case lower == upper:
		if d < 0 {
			return linear.AtUpper, true
		}
		return linear.AtLower, true
	case status == atUpper:
		s = linear.AtUpper
	case status == atLower:
		s = linear.AtLower
	case math.Abs(value-upper) < math.Abs(value-lower):
		s = linear.AtUpper
	}
	s = atFinite(s, lower, upper)
	switch s {
	case linear.AtLower:
		return s, value == lower || status == atLower
	case linear.AtUpper:
		return s, value == upper || status == atUpper
	default:
		return s, value == 0
	}
}

// result reads where CLP stands, in the units of the program. Activities, reduced costs
// and the objective are computed here from the values and duals. proper is
// false where that is not a basic solution: then X is not quite that of Basis.
func (s *session) result(outcome linear.Outcome) (r *linear.Result, proper bool) {
	m := s.m
	x, y := s.n.solution()
	s.p.unscale(x, y)
	r = &linear.Result{
		Outcome: outcome, X: x, Duals: y, Pivots: s.pivots,
		Activity: make([]float64, m.Rows()), Reduced: make([]float64, m.Cols()),
		Basis: &linear.Basis{Col: make([]linear.VarStatus, m.Cols()), Row: make([]linear.VarStatus, m.Rows())},
	}
	status := s.n.statuses()
	proper = true
	for j, c := range m.Cost {
		r.Reduced[j] = c
		for k := m.Start[j]; k < m.Start[j+1]; k++ {
			r.Reduced[j] -= float64(m.Value[k] * y[m.Index[k]])
		}
		var exact bool
		r.Basis.Col[j], exact = fromStatus(status[j], x[j], r.Reduced[j], m.ColLower[j], m.ColUpper[j])
		proper = proper && exact
		switch r.Basis.Col[j] { // scaling to and fro may have cost a last bit
		case linear.AtLower:
			x[j] = m.ColLower[j]
		case linear.AtUpper:
			x[j] = m.ColUpper[j]
		}
		for k := m.Start[j]; k < m.Start[j+1]; k++ {
			r.Activity[m.Index[k]] += float64(m.Value[k] * x[j])
		}
		r.Objective += float64(c * x[j])
	}
	for i := range m.Rows() {
		var exact bool
		r.Basis.Row[i], exact = fromStatus(status[m.Cols()+i], r.Activity[i], y[i], m.RowLower[i], m.RowUpper[i])
		proper = proper && exact
	}
	return r, proper && r.Basis.Check(m) == nil
}

// rounding is what computing a sum may cost, relative to the sum of the
// absolute values of its terms.
const rounding = 1e-12

// holds measures an optimum on the program as given: bounds of rows and columns, signs of
// duals and reduced costs.
func (s *session) holds(r *linear.Result) bool {
	m := s.given
	feasible := math.Ldexp(s.feasible, s.p.boundExp)
	optimal := math.Ldexp(s.optimal, -s.p.costExp)
	terms := make([]float64, m.Rows())
	for j, c := range m.Cost {
		size := math.Abs(c)
		for k := m.Start[j]; k < m.Start[j+1]; k++ {
			i := m.Index[k]
			size += math.Abs(m.Value[k] * r.Duals[i])
			terms[i] += math.Abs(m.Value[k] * r.X[j])
		}
		if !within(r.X[j], m.ColLower[j], m.ColUpper[j], feasible+float64(rounding*math.Abs(r.X[j]))) ||
			!signed(r.Reduced[j], r.Basis.Col[j], m.ColLower[j] == m.ColUpper[j], optimal+float64(rounding*size)) {
			return false
		}
	}
	for i, a := range r.Activity {
		if !within(a, m.RowLower[i], m.RowUpper[i], feasible+float64(rounding*terms[i])) ||
			!signed(r.Duals[i], r.Basis.Row[i], m.RowLower[i] == m.RowUpper[i], optimal+float64(rounding*math.Abs(r.Duals[i]))) {
			return false
		}
	}
	return true
}

// within tells whether x is in [lower - slack, upper + slack]; never for NaN.
func within(x, lower, upper, slack float64) bool { return x >= lower-slack && x <= upper+slack }

// signed tells whether d has the sign that optimality asks of a variable with status s.
func signed(d float64, s linear.VarStatus, fixed bool, slack float64) bool {
	switch {
	case fixed && s != linear.Basic:
		return !math.IsNaN(d)
	case s == linear.AtLower:
		return d >= -slack
	case s == linear.AtUpper:
		return d <= slack
	default:
		return math.Abs(d) <= slack
	}
}
