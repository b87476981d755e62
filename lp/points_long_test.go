package lp

import "math"

// Theorems 8 and 9 of research/docs/points.md: feasibility of tables of counts and of cuts for all k of a range at once, and what their values need, in outward-rounded
// arithmetic.
// A k below 0 stands for infinity.

// plainSum encloses Σ_{u=0}^k z^u.
func plainSum(z span, k int) span {
	if k < 0 {
		return inverse(at(1).sub(z))
	}
	sum, p := at(0), at(1)
	for range k + 1 {
		sum, p = sum.add(p), p.mul(z)
	}
	return sum
}

// costSum encloses Σ_{u=0}^k u z^u.
func costSum(z span, k int) span {
	if k < 0 {
		d := at(1).sub(z)
		return z.over(d).over(d)
	}
	sum, p := at(0), at(1)
	for u := range k + 1 {
		sum, p = sum.add(p.mul(integer(u))), p.mul(z)
	}
	return sum
}

// longTable is scale times the table of counts whose rows stand for w successive depths each.
type longTable struct {
	rows  [][]float64
	w     int
	scale float64
}

// fit sets the scale so that the table passes the path test of Theorem 4 at z and k: it is then feasible at (z,k') for all k' >= k. It reports whether there is a positive
// scale.
func (f *longTable) fit(z span, k int) bool {
	depth, most := len(f.rows)*f.w, len(f.rows[0])
	zs := []span{at(1)}
	for range k + 1 {
		zs = append(zs, zs[len(zs)-1].mul(z))
	}
	plain, cost := make([]span, k+2), make([]span, k+2) // sums from u on
	for u := k; u >= 0; u-- {
		plain[u], cost[u] = plain[u+1].add(zs[u]), cost[u+1].add(zs[u].mul(integer(u)))
	}
	head := make([]span, depth+1)   // Σ_{v<u} z^v
	back := make([][]span, depth+1) // back[i][m] = Σ_{j>=i} z^-j F_j(m+1)
	back[depth] = make([]span, most)
	for i := depth - 1; i >= 0; i-- {
		back[i] = make([]span, most)
		for m := range most {
			back[i][m] = back[i+1][m].add(at(f.rows[i/f.w][m]).over(zs[i]))
		}
	}
	for u := range depth {
		head[u+1] = head[u].add(zs[u])
	}
	f.scale = math.Inf(1)
	longest := func(room float64, g func(i, m, up int) span) {
		next, here := make([]float64, most), make([]float64, most)
		for i := depth - 1; i >= 0; i-- {
			for m := most - 1; m >= 0; m-- {
				here[m] = above(g(i, m, min(m+1, most-1)).hi + next[m])
				if m+1 < most {
					here[m] = max(here[m], here[m+1])
				}
			}
			next, here = here, next
		}
		if next[0] > 0 {
			f.scale = min(f.scale, below(room/next[0]))
		}
	}
	for t := 1 - depth; t <= depth; t++ {
		from := max(t, 0)
		longest(cost[from].lo, func(i, m, up int) span {
			g := at(f.rows[i/f.w][m]).mul(plain[max(from, i+1)])
			if i >= from {
				g = g.add(at(f.rows[i/f.w][up]).mul(head[i+1].sub(head[from])))
			}
			if s := min(-t, depth-1-i); s > 0 {
				g = g.add(zs[i].mul(back[i+1][up].sub(back[i+s+1][up])))
			}
			return g
		})
	}
	return f.scale > 0 && !math.IsInf(f.scale, 1)
}

// longCut is a cut with Φ(k-i) = phi[i], and 0 for greater i, at every k.
type longCut struct {
	w   int
	phi []float64
}

// proposeLongCut takes each Φ as large as the condition for all k in [k1,k2] allows, but at most share times A/B.
func proposeLongCut(z float64, k1, k2, w, last int, share float64) *longCut {
	most := share * costSum(at(z), k1).lo / plainSum(at(z), k1).hi
	phi, rest := make([]float64, last+1), 0.0
	inv := []float64{1}
	for range last + w {
		inv = append(inv, inv[len(inv)-1]/z)
	}
	a, top := costSum(at(z), k1).lo, math.Pow(z, float64(k1))
	for i := range phi {
		sum, e := rest, 1/(1-z)
		for s := 1; s <= min(w, i); s++ {
			sum += inv[s] * phi[i-s]
		}
		if k2 >= 0 {
			e *= 1 - math.Pow(z, float64(k2-i+1))
		}
		phi[i] = max(0, min(most, (a-sum)/e)) * (1 - 1e-9)
		rest += top * inv[i] * phi[i]
	}
	return &longCut{w, phi}
}

// feasible is the condition of Theorem 5 for all k in [k1,k2].
func (c *longCut) feasible(z span, k1, k2 int) bool {
	a, last := costSum(z, k1).lo, len(c.phi)-1
	most := below(a / plainSum(z, k1).hi)
	end := last + c.w
	if k2 >= 0 {
		end = min(end, k2)
	}
	inv := []span{at(1)}
	for range end {
		inv = append(inv, inv[len(inv)-1].over(z))
	}
	rest, top := at(0), z.pow(k1)
	for i := 0; i <= end; i++ {
		sum := rest
		for s := max(1, i-last); s <= min(c.w, i); s++ {
			sum = sum.add(inv[s].mul(at(c.phi[i-s])))
		}
		if i <= last {
			if c.phi[i] < 0 || c.phi[i] > most {
				return false
			}
			e := inverse(at(1).sub(z))
			if k2 >= 0 {
				e = plainSum(z, k2-i)
			}
			sum = sum.add(e.mul(at(c.phi[i])))
			rest = rest.add(top.mul(inv[i]).mul(at(c.phi[i])))
		}
		if sum.hi > a {
			return false
		}
	}
	return true
}

var logs = []span{{math.Inf(-1), 0}}

// logOfInt encloses ln m.
func logOfInt(m int) span {
	for len(logs) <= m {
		logs = append(logs, logOf(float64(len(logs))))
	}
	return logs[m]
}

// rates has, for one k, -k ln(1 - r/k) at the multiples r of 1/3 from -8/3 on, r for an infinite k: with p = μk, g(r) = (1 - r/k)^p is e^{-μ rate}.
type rates struct {
	k int
	l []span // +Inf from r = k on
}

const ratesFrom = 8

func newRates(k, depth int) *rates {
	r := &rates{k: k}
	for third := -ratesFrom; third <= 3*depth; third++ {
		switch {
		case k < 0:
			r.l = append(r.l, integer(third).over(integer(3)))
		case third >= 3*k:
			r.l = append(r.l, at(math.Inf(1)))
		default:
			r.l = append(r.l, logOfInt(3*k).sub(logOfInt(3*k-third)).mul(integer(k)))
		}
	}
	return r
}

func (r *rates) g(mu float64, third int) span {
	l := r.l[third+ratesFrom]
	if math.IsInf(l.lo, 1) {
		return at(0)
	}
	return decayAt(mu, l)
}

// corner has, for one μ and one k, g at 0, …, depth, the integrals of g from 0 to i, and those of (1-y) g(i-y) over 0 <= y <= 1.
type corner struct{ g, integral, step []span }

func (r *rates) corner(mu float64, depth int) *corner {
	c := &corner{}
	s := at(0)
	if r.k >= 0 {
		s = inverse(integer(r.k))
	}
	m := at(mu).add(s) // (p+1)/k
	n := m.add(s)      // (p+2)/k
	g := r.g(mu, -3)   // at i-1
	left := at(1).add(s)
	for i := 0; i <= depth; i++ {
		here, q := at(1), at(1).sub(s.mul(integer(i)))
		if i > 0 {
			here = r.g(mu, 3*i)
		}
		l := r.l[3*i+ratesFrom]
		in := span{0, l.hi}
		switch {
		case i == 0:
			in = at(0)
		case math.IsInf(l.lo, 1):
			in = inverse(m)
		case m.lo > 0:
			x := m.mul(l)
			in = span{decayed(max(0, x.lo)).lo, decayed(x.hi).hi}.over(m)
		}
		step := span{r.g(mu, 3*i-1).mul(at(.5)).lo, here.over(integer(3)).add(g.over(integer(6))).hi} // g is convex
		if m.lo >= 1e-3 {
			step = left.mul(left).mul(g).sub(q.mul(q).mul(here)).over(n).sub(q.mul(here)).over(m)
		}
		c.g, c.integral, c.step = append(c.g, here), append(c.integral, in), append(c.step, step)
		g, left = here, q
	}
	return c
}
