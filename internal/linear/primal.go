package linear

import "math"

// The primal simplex: devex pricing (Forrest & Goldfarb, "Steepest-edge simplex
// algorithms for linear programming", Math. Programming 57, 1992; Harris, "Pivot selection methods of the
// Devex LP code", Math. Programming 5, 1973) and Harris' two-pass ratio test with bound flips. It has no first phase: the dual
// finds a feasible basis.

const (
	smallPivot   = 1e-7  // smaller pivots are avoided
	tinyPivot    = 1e-9  // smaller entries never block
	stallLimit   = 30    // degenerate steps in a row after which bounds are relaxed
	badUpdate    = 1e-7  // relative error at which the factors are computed afresh
	badPivot     = 1e-4  // relative error at which a pivot is not used even with fresh factors
	weightCap    = 1e9   // devex weights above start again from 1
	repairLimit  = 50    // variables that may be lost to singular bases in one run of an algorithm
	perturbation = 1e-6  // first relative size of relaxed bounds and shifted costs
	leastPerturb = 1e-10 // smallest such size
)

// breakpoint is a step at which a basic variable reaches a bound, and the size of its entry in the entering column.
type breakpoint struct {
	step, size float64
	row        int32
	upper      bool
}

// leaving is the outcome of a primal ratio test: the row whose variable leaves, or -1 where
// the entering variable reaches its other bound first (or nothing, with an infinite step).
type leaving struct {
	row   int32
	upper bool // leaves at its upper bound
	step  float64
}

// primal improves the basis until no reduced cost has the wrong sign. Bounds that basic variables violate move to where these are, and others are
// relaxed while it stalls; on return the bounds are the true ones again, and what was optimal may be infeasible.
func (s *simplex) primal() verdict {
	s.resetWeights()
	s.unbar()
	s.repairs = 0
	s.stall = 0
	good, end := false, running
	for end == running {
		if !good {
			s.renew()
			if s.repairs > repairLimit {
				s.restoreBounds()
				return trouble
			}
			s.yield()
			good = true
		}
		if s.interrupted() {
			s.restoreBounds()
			s.prices()
			return stopped
		}
		if q := s.enteringPrimal(); q >= 0 {
			good, end = s.stepPrimal(q)
		} else if good = s.lu.updates() == 0; good {
			end = s.conclude()
		}
	}
	return end
}

// conclude says how the primal ends where fresh factors have no entering variable.
func (s *simplex) conclude() verdict {
	switch {
	case s.moved:
		s.restoreBounds()
		s.prices()
	case s.unbar():
		s.prices()
		return trouble
	}
	return done
}

// stepPrimal lets q enter, or bars it where it cannot, and returns whether the factors are still good and how the primal ends.
func (s *simplex) stepPrimal(q int32) (good bool, end verdict) {
	s.load(q)
	fresh := s.lu.updates() == 0
	if !s.confirm(q) {
		return fresh, running
	}
	dir := 1.0
	if s.d[q] > 0 {
		dir = -1
	}
	out := s.ratioPrimal(q, dir)
	endless := math.IsInf(out.step, 1)
	switch {
	case out.row < 0 && !endless:
		s.advance(q, dir*out.step)
		s.status[q] = AtLower + AtUpper - s.status[q]
		s.rest(q)
		s.pivots++
		s.unbar()
		return true, running
	case !endless && math.Abs(s.column.val[out.row]) >= smallPivot:
		if out.step > 1e-12 {
			s.stall = 0
		} else if s.stall++; s.stall > stallLimit {
			s.relaxBounds()
			s.stall = 0
		}
		return s.pivotPrimal(q, dir, out), running
	case !fresh:
		return false, running
	case endless && s.moved:
		s.restoreBounds()
		return true, trouble
	case endless:
		return true, noBound
	}
	s.bar(q) // its pivot is too small
	return true, running
}

// renew brings factors, values and reduced costs up to date.
func (s *simplex) renew() {
	if s.lu == nil || s.lu.updates() > 0 {
		s.refactor()
	}
	s.values()
	s.prices()
	s.tell()
}

func (s *simplex) resetWeights() {
	for v := range s.weight {
		s.weight[v] = 1
	}
}

// bar keeps variable v from entering until the next pivot.
func (s *simplex) bar(v int32) {
	s.barred[v] = true
	s.bars = append(s.bars, v)
}

// unbar lets all variables enter again and reports whether there were any that could not.
func (s *simplex) unbar() bool {
	for _, v := range s.bars {
		s.barred[v] = false
	}
	had := len(s.bars) > 0
	s.bars = s.bars[:0]
	return had
}

// enteringPrimal returns the variable of the largest d²/weight among those whose reduced cost has the wrong sign, or -1.
func (s *simplex) enteringPrimal() int32 {
	best, q := 0.0, int32(-1)
	for v, d := range s.d {
		tolerance := s.optimal
		if d <= tolerance && d >= -tolerance || d*d <= best*s.weight[v] {
			continue
		}
		switch s.status[v] {
		case Basic:
			continue
		case AtLower:
			if d > 0 {
				continue
			}
		case AtUpper:
			if d < 0 {
				continue
			}
		}
		if s.lower[v] == s.upper[v] || s.barred[v] {
			continue
		}
		best, q = d*d/s.weight[v], int32(v)
	}
	return q
}

// confirm compares the updated reduced cost of q with the one its column gives. Where they differ
// much, or q has no reason to enter any more, it keeps the new one and says no.
func (s *simplex) confirm(q int32) bool {
	d := s.cost[q]
	for _, r := range s.column.idx {
		d -= float64(s.cost[s.head[r]] * s.column.val[r])
	}
	off := math.Abs(d - s.d[q])
	ok := off <= 1e-6*(math.Abs(d)+1e-3) && d*s.d[q] > 0 && math.Abs(d) > s.optimal
	s.d[q] = d
	return ok
}

// advance moves nonbasic q by step and the basic variables with it.
func (s *simplex) advance(q int32, step float64) {
	if step == 0 {
		return
	}
	s.x[q] += float64(step)
	for _, r := range s.column.idx {
		s.x[s.head[r]] -= float64(step * s.column.val[r])
	}
}

// ratioPrimal finds how far q may go in direction dir.
func (s *simplex) ratioPrimal(q int32, dir float64) leaving {
	// First pass: the step at which some variable is out of its bound by the tolerance, and all that may come before.
	limit := math.Inf(1)
	s.breaks = s.breaks[:0]
	for _, r := range s.column.idx {
		g := dir * s.column.val[r]
		size, room := g, 0.0
		v := s.head[r]
		switch {
		case g > tinyPivot:
			room = s.x[v] - s.lower[v]
		case g < -tinyPivot:
			size, room = -g, s.upper[v]-s.x[v]
		default:
			continue
		}
		if ratio := room / size; ratio <= limit {
			limit = min(limit, (room+s.feasible)/size)
			s.breaks = append(s.breaks, breakpoint{ratio, size, r, g < 0})
		}
	}
	own := s.upper[q] - s.lower[q]
	out := leaving{row: -1, step: own}
	if own <= limit {
		return out
	}
	// Second pass: the largest pivot among them.
	best := 0.0
	for _, b := range s.breaks {
		if b.step <= limit && b.size > best {
			best = b.size
			out = leaving{row: b.row, upper: b.upper, step: max(b.step, 0)}
		}
	}
	return out
}

// relaxBounds moves the bounds at which basic variables stand outwards by random amounts.
func (s *simplex) relaxBounds() {
	s.moved = true
	for _, v := range s.head {
		amount := s.perturb * (0.5 + float64(s.rng.Float64()))
		if lo := s.lower[v]; s.x[v]-lo <= s.perturb {
			s.lower[v] = min(lo, s.x[v]) - float64(amount*(1+math.Abs(lo)))
		}
		if up := s.upper[v]; up-s.x[v] <= s.perturb {
			s.upper[v] = max(up, s.x[v]) + float64(amount*(1+math.Abs(up)))
		}
	}
}

// yield moves bounds that basic variables violate to where these are.
func (s *simplex) yield() {
	for _, v := range s.head {
		if s.below(v) != 0 {
			s.moved = true
		}
		s.lower[v], s.upper[v] = min(s.lower[v], s.x[v]), max(s.upper[v], s.x[v])
	}
}

// admit loads the column of variable q, which is to become basic on row r, and says whether the pivot is to be trusted.
func (s *simplex) admit(r, q int32) bool {
	s.load(q)
	return s.trust(r, q)
}

// trust says whether the pivot of variable q on row r is large enough and its two computations, by its column and by its row, agree:
// more strictly where fresh factors can be had.
func (s *simplex) trust(r, q int32) bool {
	column, row := s.column.val[r], s.row.val[q]
	size := min(math.Abs(column), math.Abs(row))
	allowed := badUpdate
	if s.lu.updates() == 0 {
		allowed = badPivot
	}
	return size >= smallPivot && math.Abs(column-row) <= allowed*size
}

// pivotPrimal brings q into the basis; false asks for fresh factors.
func (s *simplex) pivotPrimal(q int32, dir float64, out leaving) bool {
	alpha := s.column.val[out.row]
	s.pivotRow(out.row)
	if !s.trust(out.row, q) {
		if s.lu.updates() == 0 {
			s.bar(q)
			return true
		}
		return false
	}
	s.advance(q, dir*out.step)
	p := s.head[out.row]
	st := AtLower
	bound := &s.lower[p]
	if out.upper {
		st, bound = AtUpper, &s.upper[p]
	}
	outside := s.x[p] < *bound
	if out.upper {
		outside = s.x[p] > *bound
	}
	if out.step == 0 && outside {
		*bound = s.x[p] // the variable leaves where it is, not quite at its bound
		s.moved = true
	}
	s.x[p] = *bound
	if s.trueLower[p] == s.trueUpper[p] {
		st = AtLower
		s.lower[p], s.upper[p] = *bound, *bound
	}

	theta := s.d[q] / alpha
	wq := s.weight[q]
	most := 1.0
	for _, j := range s.row.idx {
		a := s.row.val[j]
		if a == 0 {
			continue
		}
		s.d[j] -= float64(theta * a)
		if a /= alpha; a*a*wq > s.weight[j] {
			s.weight[j] = a * a * wq
			most = max(most, s.weight[j])
		}
	}
	s.d[q], s.d[p] = 0, -theta
	s.weight[p] = max(wq/(alpha*alpha), 1)
	if most > weightCap {
		s.resetWeights()
	}
	s.unbar()
	return s.exchange(out.row, q, st)
}
