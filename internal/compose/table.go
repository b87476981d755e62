package compose

import (
	"context"
	"math"
	"runtime"
	"sync"

	"optratio/number"
)

// table bounds the privacy profile V of some selections at the nodes s = i·d, 0 <= i <= n, from both sides. All families here are closed under exchanging P
// and Q, so V(-s) = 1 - e^{-s} + e^{-s}V(s) gives the others.
type table struct {
	d       float64
	dist    number.Interval // d, exactly
	n       int
	total   float64 // V is 0 from here on
	pad     int     // nodes that are kept below 0 and above n
	attacks bool    // are looked for

	// over are upper bounds. They are convex in e^s but for roundings, which nothing relies on.
	over []float64
	// Attacks: the event of node i has at least p[i] under P, and at most q[i]e^{-id} under Q.
	p, q  []float64
	moves []*move // that make the events of the nodes; nil for the empty event

	// The chord of over between the nodes i and i+1 is chordP[i] - e^{s-id}·chordQ[i].
	chordP, chordQ []float64
	fall, rest     []float64 // e^{-id} and 1-e^{-id}, rounded up
	step           float64   // 1/(e^d-1)
}

// newTable returns the profile of no selection.
func newTable(d number.Interval, n, pad int) *table {
	size := n + 2*pad + 1
	t := &table{d: d.Near(), dist: d, n: n, pad: pad}
	t.over, t.p, t.q, t.chordP, t.chordQ = make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	t.fall, t.rest = make([]float64, pad+1), make([]float64, pad+1)
	for i := range t.fall {
		f := number.Exp(d.Mul(number.FromInt(int64(-i), prec)))
		t.fall[i], t.rest[i] = up(f), up(one.Sub(f))
	}
	t.step = one.Quo(number.Expm1(d)).Near()
	t.extend()
	return t
}

// extend fills in what is beyond the nodes.
func (t *table) extend() {
	last := t.pad + t.n
	for i := 1; i <= t.pad; i++ {
		t.over[last+i], t.p[last+i], t.q[last+i] = t.over[last], 0, 0
	}
	for i := 1; i <= t.pad; i++ {
		at := t.pad + i
		t.over[t.pad-i] = (t.rest[i] + float64(t.fall[i]*t.over[at])) * (1 + 4*ulp)
		// the complement, with P and Q exchanged
		t.p[t.pad-i] = max(0, 1-float64(t.q[at]*t.fall[i])-4*ulp)
		t.q[t.pad-i] = max(0, t.fall[i]*(1-t.p[at]+4*ulp))
	}
	for i := range len(t.over) - 1 {
		t.chordQ[i] = (t.over[i] - t.over[i+1]) * t.step
		t.chordP[i] = t.over[i] + t.chordQ[i]
	}
}

// value returns an upper bound on the greatest value of a selection at node i, where it is taken on (an arc, and a place from 0 to 1), before the factors
// that make up for roundings.
//
// On an arc of length l whose ends have the values g and g', where the second derivative is at least -k, the value at the part θ is at most
// (1-θ)g + θg' + hθ(1-θ), h = kl²/2, which is greatest at θ = (h+g'-g)/2h, with g + hθ², if that is in [0, 1].
func (t *table) value(s *steps, i int) (best float64, at int, place float64) {
	over, chordP, chordQ := t.over[i:], t.chordP[i:], t.chordQ[i:]
	pad := t.pad
	before := 0.0
	for j := range s.points {
		pt := &s.points[j]
		a, b := pad+pt.a, pad+pt.b
		g := float64(pt.a0*over[a]) + float64(pt.a1*over[a-1]) + float64(pt.b0*over[b]) + float64(pt.b1*over[b-1])
		if g > best {
			best, at, place = g, j, 0
		}
		if j > 0 {
			r := s.arcs[j-1]
			a, b := pad+r.a-1, pad+r.b-1
			h := float64(r.onP*max(0, chordP[a]-chordP[b])) + max(0, float64(r.onQA*chordQ[a])-float64(r.onQB*chordQ[b]))
			if up := g - before; math.Abs(up) < h {
				θ := (h + up) / (2 * h)
				if g = before + float64(float64(h*θ)*θ); g > best {
					best, at, place = g, j-1, θ
				}
				g = before + up
			}
		}
		before = g
	}
	return best, at, place
}

// after returns the profile of one selection of a kind and then those of the table. Every sum is of at most 8 products that are not negative, so its relative
// error is below 16 ulp; slack is for the rest, and the last summand for numbers below the least normal one.
func (t *table) after(ctx context.Context, s *steps) (*table, error) {
	next := *t
	next.over, next.p, next.q = make([]float64, len(t.over)), make([]float64, len(t.over)), make([]float64, len(t.over))
	next.chordP, next.chordQ = make([]float64, len(t.over)), make([]float64, len(t.over))
	next.moves = make([]*move, t.n+1)
	next.total += up(s.eps())
	top := min(t.n, int(math.Ceil(next.total/t.d))+1)
	each(top+1, len(s.points), func(i int) {
		best, at, place := t.value(s, i)
		here := t.pad + i
		best += float64(s.others * t.over[here])
		next.over[here] = min(1, float64(best*(1+32*ulp))+float64(s.slack*t.over[here-s.reach-1])+0x1p-1000)
		if !t.attacks {
			return
		}
		m := s.fixed
		if m == nil {
			if at == len(s.arcs) {
				at, place = at-1, 1
			}
			m = s.move(s.arcs[at], int(math.Round(place*places)))
		}
		p := float64(m.pA*t.p[here+m.a]) + float64(m.pB*t.p[here+m.b]) + float64(m.pOthers*t.p[here])
		q := float64(m.qA*t.q[here+m.a]) + float64(m.qB*t.q[here+m.b]) + float64(m.qRest*t.q[here])
		if p *= 1 - 16*ulp; p > 0x1p-900 {
			next.p[here], next.q[here], next.moves[i] = p, float64(q*(1+16*ulp))+0x1p-1000, m
		}
	})
	next.extend()
	return &next, context.Cause(ctx)
}

// each calls f for 0 to n-1 on all processors, where there is work for them.
func each(n, work int, f func(i int)) {
	workers := runtime.GOMAXPROCS(0)
	if n*work < 1<<16 {
		workers = 1
	}
	var wg sync.WaitGroup
	const chunk = 64
	for w := range workers {
		wg.Go(func() {
			for from := w * chunk; from < n; from += workers * chunk {
				for i := from; i < min(n, from+chunk); i++ {
					f(i)
				}
			}
		})
	}
	wg.Wait()
}
