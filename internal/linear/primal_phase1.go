package linear

import (
	"cmp"
	"math"
	"slices"
)

// breakpoint is a step at which a basic variable reaches a bound. In phase 1 the slope of the sum of infeasibilities
// grows there by the size of its entry in the entering column.
type breakpoint struct {
	step, size float64
	row        int32
	upper      bool
}

// ratioPhase1 finds the step of q in direction dir that minimises the sum of infeasibilities along it. Feasible basic
// variables may become infeasible on the way where that pays.
func (s *simplex) ratioPhase1(q int32, dir float64) leaving {
	s.breaks = s.breaks[:0]
	for _, r := range s.column.idx {
		g := dir * s.column.val[r]
		size := math.Abs(g)
		if size <= tinyPivot {
			continue
		}
		v := s.head[r]
		x, lo, up, tol := s.x[v], s.lower[v], s.upper[v], s.feasible[v]
		grows := g < 0
		if !grows { // its negative does
			x, lo, up = -x, -up, -lo
		}
		if x < lo-tol {
			s.breaks = append(s.breaks, breakpoint{(lo - x) / size, size, r, !grows})
		}
		if x <= up+tol && !math.IsInf(up, 1) {
			s.breaks = append(s.breaks, breakpoint{max(up-x, 0) / size, size, r, grows})
		}
	}
	slices.SortFunc(s.breaks, func(a, b breakpoint) int { return cmp.Compare(a.step, b.step) })
	slope := -math.Abs(s.d[q])
	last := -1
	for k, b := range s.breaks {
		last = k
		if slope += b.size; slope >= 0 {
			break
		}
	}
	own := s.upper[q] - s.lower[q]
	if last < 0 || slope < 0 || own <= s.breaks[last].step { // nothing turns the slope before the own bound stops q
		return leaving{row: -1, step: own}
	}
	most := 0.0
	for _, b := range s.breaks[:last+1] {
		most = max(most, b.size)
	}
	for last > 0 && s.breaks[last].size < min(1e-3, 0.1*most) { // an earlier breakpoint where the last has too small a pivot
		last--
	}
	b := s.breaks[last]
	return leaving{row: b.row, upper: b.upper, step: b.step}
}
