package linear

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// Start is a point near an optimal one, from a method that knows no bases.
type Start struct {
	X []float64 // of the columns
	// Off lists variables that are off their bounds there, most certain first: columns by number, and Cols()+i for row i. All others are taken for
	// variables at a bound.
	Off []int32
	// Spare lists variables at a bound there, those that best complete a basis first.
	Spare []int32
}

// Crossover makes a point near an optimal one into a basic solution and improves that with the primal simplex method. It works on the program with the bounds
// that the point violates moved to where it is, and likewise the bounds of nonbasic variables, so that no feasible point has to be sought. The result is
// optimal for these bounds when its Outcome is Optimal: its basis then is dual feasible for the true ones, and its point is the
// basis's for the true ones and may violate them a little.
//
// A basis is chosen among the variables that are off their bounds. Those that depend on the rest are moved towards a bound one at a time until
// they or a basic variable reach one; what the basis then lacks is taken from the spare variables. See Bixby & Saltzman, "Recovering
// an optimal LP basis from an interior point solution" (Oper. Res. Letters 15, 1994).
func (Embedded) Crossover(ctx context.Context, m *Model, start Start, report func(Progress)) (*Result, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := start.check(m); err != nil {
		return nil, err
	}
	s := newSimplex(m, finest, 1e-9)
	s.ctx, s.report, s.rng = ctx, report, rand.New(rand.NewPCG(1, 2))
	s.perturb = 10 * finest
	s.settle(start)
	s.push()
	s.complete(start.Spare)
	switch s.primal() {
	case stopped:
		return s.result(m, Stopped), nil
	case done:
		return s.result(m, Optimal), nil
	}
	return s.result(m, Failed), nil
}

func (p *Start) check(m *Model) error {
	if len(p.X) != m.Cols() {
		return fmt.Errorf("start with %d values for %d columns", len(p.X), m.Cols())
	}
	for _, list := range [][]int32{p.Off, p.Spare} {
		for _, v := range list {
			if v < 0 || int(v) >= m.Cols()+m.Rows() {
				return fmt.Errorf("start with variable %d of a program with %d columns and %d rows", v, m.Cols(), m.Rows())
			}
		}
	}
	return nil
}

// settle takes the point over, moves bounds to it, and factorises as many of the variables off their bounds as are independent, the others
// becoming loose.
func (s *simplex) settle(p Start) {
	s.moved = true
	for j := range s.cols {
		if x := p.X[j]; !math.IsNaN(x) && !math.IsInf(x, 0) {
			s.x[j] = x
		}
	}
	for j := range s.cols {
		for q := s.start[j]; q < s.start[j+1]; q++ {
			s.x[s.cols+int(s.index[q])] += float64(s.value[q] * s.x[j])
		}
	}
	off := make([]bool, s.total)
	for _, v := range p.Off {
		if off[v] {
			continue
		}
		off[v] = true
		s.lower[v], s.upper[v] = min(s.lower[v], s.x[v]), max(s.upper[v], s.x[v])
		if len(s.head) < s.rows {
			s.status[v] = Basic
			s.place[v] = int32(len(s.head))
			s.head = append(s.head, v)
		} else {
			s.loosen(v)
		}
	}
	for v := range int32(s.total) {
		if off[v] {
			continue
		}
		s.place[v] = -1
		s.pin(v)
	}
	for len(s.head) < s.rows {
		s.head = append(s.head, -1)
	}
	s.crossing = true
	s.refactor()
}

// loosen makes a variable nonbasic where it is, between its bounds.
func (s *simplex) loosen(v int32) {
	s.place[v], s.status[v] = -1, Free
	s.loose = append(s.loose, v)
}

// push moves loose variables to their nearer bounds, as far as the basic ones allow, and makes them basic where one of those reaches a bound first. A row
// activity that only stands in for a missing basic variable gives way at once.
func (s *simplex) push() {
	for i := 0; i < len(s.loose) && s.ctx.Err() == nil; i++ {
		v := s.loose[i]
		if s.status[v] == Basic {
			continue
		}
		s.load(v)
		_, bound := s.nearest(v)
		dir, room := 1.0, bound-s.x[v]
		if room < 0 {
			dir, room = -1, -room
		}
		out := s.substitute()
		if out.row < 0 {
			if out = s.ratioPrimal(v, dir); room < out.step {
				out = leaving{row: -1, step: room}
			}
		}
		good := true
		if out.row >= 0 && math.Abs(s.column.val[out.row]) >= smallPivot {
			s.rho.unitVector(out.row)
			s.lu.solveTransposed(&s.rho, true)
			s.advance(v, dir*out.step)
			p := s.head[out.row]
			good = s.exchange(out.row, v, AtLower)
			s.pin(p)
		} else {
			s.advance(v, dir*min(room, out.step))
			s.pin(v)
		}
		if !good {
			s.refactor()
		}
	}
	s.loose = nil
}

// nearest returns the bound of a variable that is nearest to its value, and the status of a nonbasic variable there; that of a free one is 0.
func (s *simplex) nearest(v int32) (VarStatus, float64) {
	lo, up := s.lower[v], s.upper[v]
	switch {
	case math.IsInf(lo, -1) && math.IsInf(up, 1):
		return Free, 0
	case math.Abs(s.x[v]-lo) <= math.Abs(s.x[v]-up):
		return AtLower, lo
	}
	return AtUpper, up
}

// pin makes a variable nonbasic at its nearest bound, which moves to where it is.
func (s *simplex) pin(v int32) {
	s.status[v], _ = s.nearest(v)
	switch {
	case s.trueLower[v] == s.trueUpper[v]:
		s.lower[v], s.upper[v] = s.x[v], s.x[v]
	case s.status[v] == AtUpper:
		s.upper[v] = s.x[v]
	case s.status[v] == AtLower:
		s.lower[v] = s.x[v]
	}
}

// substitute returns the row where a row activity that stands in for a missing basic variable has the largest entry in the column at hand, for a step
// of length 0; the row is -1 where there is no entry to speak of.
func (s *simplex) substitute() leaving {
	out, best := leaving{row: -1}, spareShare*maxAbs(s.column.val)
	for _, v := range s.patches {
		if r := s.place[v]; r >= 0 && math.Abs(s.column.val[r]) > best {
			best = math.Abs(s.column.val[r])
			out = leaving{row: r}
		}
	}
	return out
}

// spareShare is the least entry, relative to the largest, on which a spare variable is made basic.
const spareShare = 0.1

// complete makes spare variables basic in the place of row activities that stand in for missing basic variables: in the row of each, the first of the
// list with a large entry.
func (s *simplex) complete(spare []int32) {
	rank := make(map[int32]int, len(spare))
	for i, v := range spare {
		if s.status[v] != Basic {
			rank[v] = i
		}
	}
	for i := 0; i < len(s.patches) && s.ctx.Err() == nil; i++ {
		p := s.patches[i]
		r := s.place[p]
		if r < 0 {
			continue
		}
		s.pivotRow(r)
		most := 0.0
		for _, v := range s.row.idx {
			if _, ok := rank[v]; ok {
				most = max(most, math.Abs(s.row.val[v]))
			}
		}
		q, first := int32(-1), len(spare)
		for _, v := range s.row.idx {
			if i, ok := rank[v]; ok && i < first && math.Abs(s.row.val[v]) >= max(spareShare*most, smallPivot) {
				q, first = v, i
			}
		}
		if q < 0 || !s.admit(r, q) {
			continue
		}
		good := s.exchange(r, q, AtLower)
		s.pin(p)
		delete(rank, q)
		if !good {
			s.refactor()
		}
	}
	s.patches, s.crossing = nil, false
}
