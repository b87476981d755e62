package linear

import "math"

// The dual simplex: dual steepest edge (Forrest & Goldfarb 1992), Harris' ratio test and cost shifts that keep every reduced cost on its side (Maros,
// "Computational Techniques of the Simplex Method", 2003, ch. 10).

// slackDual is by how much reduced costs of the scaled program may be on the wrong side while the dual works. It is independent of
// the tolerance asked for, which may leave too little freedom to avoid small pivots; the primal settles what remains.
const slackDual = 1e-9

// leastWeight bounds steepest-edge weights from below against cancellation.
const leastWeight = 1e-4

// dual moves towards primal feasibility while keeping the reduced costs on their sides. Where they are not at the start, bounds are
// flipped and costs shifted so that they are. On return the costs are the true ones again, and what was optimal may
// have reduced costs of the wrong sign.
func (s *simplex) dual() verdict {
	defer s.restoreCosts()
	s.resetWeights()
	s.unbar()
	s.repairs = 0
	good, first := false, true
	for {
		if !good {
			s.renew()
			if s.repairs > repairLimit {
				return trouble
			}
			s.shiftCosts(first)
			first = false
			good = true
		}
		if s.interrupted() {
			return stopped
		}
		r, q, step := s.leavingDual(), int32(-1), 0.0
		if r >= 0 {
			s.pivotRow(r)
			q, step = s.ratioDual(r)
		}
		switch {
		case q >= 0 && s.admit(r, q):
			good = s.pivotDual(r, q, step)
		case s.lu.updates() > 0:
			good = false
		case r < 0 && s.unbar():
			return trouble
		case r < 0:
			return done
		case q < 0 && s.provesInfeasible(r):
			return noPoint
		default:
			s.bar(s.head[r])
		}
	}
}

// shiftCosts makes every reduced cost have the right sign: boxed variables change their bound, the costs of
// others are shifted. With disturb, costs are also perturbed at random.
func (s *simplex) shiftCosts(disturb bool) {
	flipped := false
	for v := range int32(s.total) {
		st := s.status[v]
		if st == Basic || s.lower[v] == s.upper[v] {
			continue
		}
		d := s.d[v]
		switch {
		case st == AtLower && d < -slackDual, st == AtUpper && d > slackDual:
			if !math.IsInf(s.lower[v], -1) && !math.IsInf(s.upper[v], 1) {
				s.status[v] = AtLower + AtUpper - st
				s.rest(v)
				flipped = true
				st = s.status[v]
				break
			}
			s.shift(v, -d)
		case st == Free && d != 0:
			s.shift(v, -d)
		}
		if disturb && st != Free {
			amount := s.perturb * (0.5 + float64(s.rng.Float64())) * (1 + math.Abs(s.cost[v]))
			if st == AtUpper {
				amount = -amount
			}
			s.shift(v, amount)
		}
	}
	if flipped {
		s.values()
	}
}

// shift adds to the cost and the reduced cost of a nonbasic variable.
func (s *simplex) shift(v int32, by float64) {
	s.cost[v] += by
	s.d[v] += by
	s.moved = true
}

// leavingDual returns the row of the largest infeasibility²/weight, or -1.
func (s *simplex) leavingDual() int32 {
	best, row := 0.0, int32(-1)
	for r, v := range s.head {
		e := s.lower[v] - s.x[v]
		if e <= s.feasible {
			if e = s.x[v] - s.upper[v]; e <= s.feasible {
				continue
			}
		}
		if e*e > best*s.weight[v] && !s.barred[v] {
			best, row = e*e/s.weight[v], int32(r)
		}
	}
	return row
}

// candidate is a variable that limits the dual step.
type candidate struct {
	v    int32
	a, d float64 // size of its entry in the pivot row, size of its reduced cost
}

// ratioDual chooses the entering variable for row r, given the pivot row, and the dual step with the sign with which the multiple
// of the pivot row is subtracted from d. -1: nothing limits the step.
func (s *simplex) ratioDual(r int32) (int32, float64) {
	sign := 1.0
	if p := s.head[r]; s.x[p] < s.lower[p] {
		sign = -1
	}
	all := s.limitingDual(sign)
	limit := math.Inf(1)
	for _, c := range all {
		limit = min(limit, (c.d+slackDual)/c.a)
	}
	best := candidate{v: -1, a: 1}
	for _, c := range all {
		if c.d/c.a <= limit && (best.v < 0 || c.a > best.a) {
			best = c
		}
	}
	return best.v, sign * best.d / best.a
}

// limitingDual lists the variables whose reduced costs reach 0 as that of the leaving variable moves with the given sign.
func (s *simplex) limitingDual(sign float64) []candidate {
	left := s.candidates[:0]
	for _, v := range s.row.idx {
		a := sign * s.row.val[v]
		if math.Abs(a) <= tinyPivot || s.lower[v] == s.upper[v] {
			continue
		}
		switch s.status[v] {
		case AtLower:
			if a > 0 {
				left = append(left, candidate{v, a, max(s.d[v], 0)})
			}
		case AtUpper:
			if a < 0 {
				left = append(left, candidate{v, -a, max(-s.d[v], 0)})
			}
		case Free:
			left = append(left, candidate{v, math.Abs(a), 0})
		}
	}
	s.candidates = left
	return left
}

// provesInfeasible reports whether row r of B⁻¹ [A, -I] x = 0 contradicts the true bounds: the basic variable of the row cannot
// reach its bound whatever the others do. It looks at the row alone: from a basis that is nearly singular the values may not fit it.
func (s *simplex) provesInfeasible(r int32) bool {
	p := s.head[r]
	sign, bound := 1.0, s.upper[p] // x_p too large: the least that the row allows is to be more
	if s.x[p] < s.lower[p] {
		sign, bound = -1, -s.lower[p]
	}
	least := 0.0
	for _, v := range s.row.idx {
		a := sign * s.row.val[v]
		switch {
		case math.Abs(a) <= 1e-12:
		case a > 0:
			least -= float64(a * s.upper[v])
		default:
			least -= float64(a * s.lower[v])
		}
	}
	return least > bound+s.feasible
}

// pivotDual makes q basic on row r and updates everything; false asks for fresh factors.
func (s *simplex) pivotDual(r, q int32, step float64) bool {
	p := s.head[r]
	alpha := s.column.val[r]
	st, bound := AtLower, s.lower[p]
	if s.x[p] > s.upper[p] {
		st, bound = AtUpper, s.upper[p]
	}
	if step == 0 && s.d[q] != 0 {
		s.shift(q, -s.d[q]) // a reduced cost slightly on the wrong side: the step would be negative
	}
	step = s.d[q] / alpha
	if s.lower[p] == s.upper[p] {
		st = AtLower
	}
	for _, v := range s.row.idx {
		s.d[v] -= float64(step * s.row.val[v])
	}
	s.d[q], s.d[p] = 0, -step

	s.advance(q, (s.x[p]-bound)/alpha)
	s.x[p] = bound

	// Steepest edge: the weight of a row is the squared norm of its row of the inverse.
	wr := 0.0
	for _, i := range s.rho.idx {
		wr += float64(s.rho.val[i] * s.rho.val[i])
	}
	s.lu.solve(&s.rho, false)
	for _, i := range s.column.idx {
		a := s.column.val[i]
		if i == r || a == 0 {
			continue
		}
		k := a / alpha
		w := &s.weight[s.head[i]]
		*w = max(*w-float64(k*(2*s.rho.val[i]-float64(k*wr))), leastWeight)
	}
	s.weight[q] = max(wr/(alpha*alpha), leastWeight)
	s.unbar()
	return s.exchange(r, q, st)
}
