package product

import (
	"context"
	"slices"

	"optratio/internal/arith"
)

// places returns the depths of other candidates at which the slack of rows can be least: of rows (T), where nobody is at depth k but the others may come there when they sink, or
// of x[m][0] >= 0, where somebody is.
func places(k, kinked int, deepest, private bool) []int {
	last := k
	if private {
		last--
	}
	var p []int
	for v := 1; v <= min(kinked, last); v++ {
		p = append(p, v)
	}
	if deepest {
		p = append(p, last-1)
	}
	p = append(p, last)
	slices.Sort(p)
	p = slices.Compact(p)
	return slices.DeleteFunc(p, func(v int) bool { return v < 1 })
}

// kinked returns the depth from which on all g and b are affine in z^v, but for depth k; and whether depth k is special.
func kinked(list []Injection) (from int, deepest bool) {
	from = 1
	for i := range list {
		from = max(from, list[i].Depth, list[i].Empty+1)
		deepest = deepest || list[i].Deepest
	}
	return from, deepest
}

// row is the slack of a row at permute-and-flip, and what an amount of 1 of each injection adds to it.
type row[T any] struct {
	slack    T
	response []T
}

// evaluation works out rows.
type evaluation[T any] struct {
	f      arith.Field[T]
	n, k   int
	power  []T // of z, up to z^k
	terms  []term[T]
	owner  []int // injection of each term
	count  int   // injections
	factor [][]T // of each term, by i = m_0: what the coefficient counts for in x[m][0]
	across []T   // of each term: what it counts for in z x[m'][0], m' = (1, m_0-1, m_1, …), with the sign of the slack
	tied   [][]pair[T]
}

// pair holds the coefficients of h^0, h^1, … in a product Π (g + h a + β b), of β^0 and of β^1.
type pair[T any] struct{ plain, marked []T }

func newEvaluation[T any](f arith.Field[T], n, k int, z T, list []Injection) *evaluation[T] {
	e := &evaluation[T]{f: f, n: n, k: k, power: arith.Powers(f, z, k), count: len(list)}
	for i := range list {
		for _, t := range terms(f, &list[i], e.power, k) {
			e.terms, e.owner = append(e.terms, t), append(e.owner, i)
			// (-1)^{j-i+1} (i-1)! (j-i)!/j!, from i = j, where it is -1/j, downwards.
			factor := make([]T, t.tops+1)
			c := f.Quo(f.FromInt(-1), f.FromInt(int64(t.tops)))
			for i := t.tops; i >= 1; i-- {
				factor[i] = c
				if i > 1 {
					c = f.Neg(f.Quo(f.Mul(c, f.FromInt(int64(t.tops-i+1))), f.FromInt(int64(i-1))))
				}
			}
			across := f.Neg(f.Mul(z, factor[1]))
			if t.subtract {
				for i := 1; i <= t.tops; i++ {
					factor[i] = f.Neg(factor[i])
				}
				across = f.Neg(across)
			}
			e.factor, e.across = append(e.factor, factor), append(e.across, across)
			// The best candidates but one, when they sink to depth 1.
			tied := make([]pair[T], n)
			for i := range tied {
				if tied[i] = e.unit(t.tops); i > 0 {
					e.multiply(tied[i], &t, tied[i-1], 1)
				}
			}
			e.tied = append(e.tied, tied)
		}
	}
	return e
}

// unit returns the empty product.
func (e *evaluation[T]) unit(tops int) pair[T] {
	zero := e.f.Zero()
	p := pair[T]{slices.Repeat([]T{zero}, tops), slices.Repeat([]T{zero}, tops)}
	p.plain[0] = e.f.One()
	return p
}

// multiply sets q to p times the factor of a candidate at depth v.
func (e *evaluation[T]) multiply(q pair[T], t *term[T], p pair[T], v int) {
	f, g, a, b := e.f, t.g[v], e.power[v], t.b[v]
	for d := range t.tops {
		q.plain[d] = f.Mul(p.plain[d], g)
		q.marked[d] = f.Add(f.Mul(p.marked[d], g), f.Mul(p.plain[d], b))
		if d > 0 {
			q.plain[d] = f.Add(q.plain[d], f.Mul(p.plain[d-1], a))
			q.marked[d] = f.Add(q.marked[d], f.Mul(p.marked[d-1], a))
		}
	}
}

// state is what is known of a set of other candidates at depths >= 1.
type state[T any] struct {
	moments []T       // ∫ u^e Π (1 - (1-u) z^{v_s}) du from 0 to 1-z or to 1, e = 0, 1, …
	here    []pair[T] // of each term
	sunk    []pair[T] // with everybody one step deeper, for rows (T)
}

// each visits the rows that decide: those (T) if private is set, otherwise those x[m][0] >= 0 where somebody is at depth k. A row must not be kept. It returns
// the visitor's error, or the context's.
func (e *evaluation[T]) each(ctx context.Context, private bool, places []int, visit func(row[T]) error) error {
	f := e.f
	states := make([]state[T], e.n) // by the number of others
	for size := range states {
		s := &states[size]
		s.moments = make([]T, e.n-size)
		for i := range e.terms {
			s.here = append(s.here, e.unit(e.terms[i].tops))
			s.sunk = append(s.sunk, e.unit(e.terms[i].tops))
		}
	}
	top := f.One()
	if private {
		top = f.Sub(top, e.power[1])
	}
	power := f.One()
	for i := range e.n {
		power = f.Mul(power, top)
		states[0].moments[i] = f.Quo(power, f.FromInt(int64(i+1)))
	}
	r := row[T]{response: make([]T, e.count)}
	var walk func(size, from int) error
	walk = func(size, from int) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if private || size > 0 && from == len(places)-1 {
			e.row(&r, &states[size], private)
			if err := visit(r); err != nil {
				return err
			}
		}
		for i := from; i < len(places) && size+1 < e.n; i++ {
			e.add(&states[size+1], &states[size], places[i], private)
			if err := walk(size+1, i); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(0, 0)
}

// rows visits all rows that decide whether a point with those injections is feasible.
func (e *evaluation[T]) rows(ctx context.Context, list []Injection, visit func(row[T]) error) error {
	from, deepest := kinked(list)
	for _, private := range []bool{true, false} {
		if err := e.each(ctx, private, places(e.k, from, deepest, private), visit); err != nil {
			return err
		}
	}
	return nil
}

// add sets next to s with one more candidate, at depth v: 1 - (1-u) a = (1-a) + u a.
func (e *evaluation[T]) add(next, s *state[T], v int, private bool) {
	f, a := e.f, e.power[v]
	rest := f.Sub(f.One(), a)
	for i := range next.moments {
		next.moments[i] = f.Add(f.Mul(rest, s.moments[i]), f.Mul(a, s.moments[i+1]))
	}
	for i := range e.terms {
		e.multiply(next.here[i], &e.terms[i], s.here[i], v)
		if private {
			e.multiply(next.sunk[i], &e.terms[i], s.sunk[i], v+1)
		}
	}
}

// row works out a row. At permute-and-flip its slack is ∫ (1-t)^{m_0-1} Π (1 - t z^{v_s}) dt, from z to 1 for (T) and from 0 to 1 otherwise.
func (e *evaluation[T]) row(r *row[T], s *state[T], private bool) {
	f := e.f
	tops := len(s.moments) // the candidates that are not among the others
	r.slack = s.moments[tops-1]
	for i := range r.response {
		r.response[i] = f.Zero()
	}
	for i := range e.terms {
		j, q := e.terms[i].tops, e.owner[i]
		if tops <= j {
			r.response[q] = f.Add(r.response[q], f.Mul(e.factor[i][tops], s.here[i].marked[j-tops]))
		}
		if private {
			p, t := s.sunk[i], e.tied[i][tops-1]
			sum := f.Zero()
			for d := range j {
				sum = f.Add(sum, f.Add(f.Mul(p.marked[d], t.plain[j-1-d]), f.Mul(p.plain[d], t.marked[j-1-d])))
			}
			r.response[q] = f.Add(r.response[q], f.Mul(e.across[i], sum))
		}
	}
}
