package compose

import (
	"math"

	"optratio/number"
)

// losses is a measure of losses i·d, from <= i < from+len(p). Where it is an upper bound its profile is at least that of some selections at every s, so
// that V(s) <= Σ p(L)(1-e^{s-L})_+ + inf, and the same where other selections follow: V is convex in e^s and decreasing, which is a mixture of
// functions (a-e^s)_+.
//
// Or it belongs to an attack that asks the same at all selections of a step, whose events are that losses, rounded to nodes in any way, come to more than a
// node: outcomes at node i have at least p under P, and at most q·e^{-id} under Q. What is dropped of these is not in the events.
type losses struct {
	d     number.Interval
	from  int
	moved int       // by how many nodes
	p, q  []float64 // q is nil for an upper bound
	inf   float64   // of the loss +∞
}

// rounded is a sum of n products that are not negative, as a bound: its relative error is at most (n+4)u.
func (m *losses) rounded(sum float64, n int) float64 {
	if m.q != nil {
		return sum * (1 - float64(float64(n+4)*ulp))
	}
	return sum * (1 + float64(float64(n+4)*ulp))
}

// once is the measure of one selection of a kind for which one pair of distributions is the worst.
func (k Kind) once() *losses {
	a, b, others := k.pair(number.FromInt(0, prec))
	return &losses{d: k.eps(), from: -1, p: []float64{up(b.p), up(others), up(a.p)}}
}

// losses is the measure of an attack that makes this choice.
func (m *move) losses(d float64) *losses {
	from := min(-m.a, -m.b, 0)
	size := max(-m.a, -m.b, 0) - from + 1
	l := &losses{d: exact(d), from: from, p: make([]float64, size), q: make([]float64, size)}
	for _, o := range []struct {
		at   int
		p, q float64
	}{{-m.a, m.pA, m.qA}, {-m.b, m.pB, m.qB}, {0, m.pOthers, m.qRest}} {
		l.p[o.at-from] += o.p
		l.q[o.at-from] += o.q
	}
	return l
}

// losses makes a measure of every stride-th node of a table.
//
// The profile of masses p_j at the losses s_j is piecewise linear in e^s with kinks there, and so is at least V where it is at the nodes, if its mass
// is at least 1. With A_i the mass above node i and H_i the profile there without inf, H_i = (1-e^{-d})A_{i+1} + e^{-d}H_{i+1}, a sum of positive numbers:
// masses are proposed by differences and then enlarged until this says that H_i + inf is at least the table's bound at every node.
func (t *table) losses(stride int) *losses {
	d := t.dist.Mul(number.FromInt(int64(stride), prec))
	n := (t.n + stride - 1) / stride
	at := func(i int) float64 { // upper bound of V(id)
		x := t.over[t.pad+min(t.n, abs(i)*stride)]
		if i < 0 {
			f := number.Exp(d.Mul(number.FromInt(int64(i), prec)))
			x = (up(one.Sub(f)) + float64(up(f)*x)) * (1 + 4*ulp)
		}
		return x
	}
	m := &losses{d: d, from: -n, p: make([]float64, 2*n+1), inf: at(n)}
	fall := number.Exp(d.Neg())
	f, rest := fall.Near(), one.Sub(fall).Near()
	bounds := make([]float64, len(m.p))
	for i := range bounds {
		bounds[i] = max(0, at(i-n)-m.inf) * (1 + 4*ulp)
	}
	above := 0.0
	for i := len(bounds) - 2; i >= 0; i-- {
		mass := max(above, (bounds[i]-float64(f*bounds[i+1]))/rest)
		m.p[i+1], above = mass-above, mass
	}
	m.p[0] = max(0, 1-m.inf-above)
	f, rest = down(fall), down(one.Sub(fall))
	factor, profile := 1.0, 0.0
	above = 0
	for i := len(bounds) - 2; i >= 0; i-- {
		above += m.p[i+1]
		profile = float64(rest*above) + float64(f*profile)
		if bounds[i] > 0 {
			factor = max(factor, bounds[i]/profile)
		}
	}
	factor = max(factor, 1/(above+m.p[0]+m.inf))
	factor *= 1 + float64(16*ulp*float64(len(bounds)+8))
	if !(factor < 2) { // differences were lost to rounding: nothing is known
		return &losses{d: d, p: []float64{0}, inf: 1}
	}
	for i := range m.p {
		m.p[i] *= factor
	}
	m.inf *= factor
	return m
}

func abs(i int) int { return max(i, -i) }

// then composes two measures, of which the first one may be nil, of no selections. Masses at either end that come to less than small are dropped from an attack; in an upper bound they move to +∞, and
// up to the least loss that is left.
func (m *losses) then(o *losses, small float64) *losses {
	if m == nil {
		return o
	}
	if len(m.p) > len(o.p) {
		m, o = o, m
	}
	out := &losses{d: m.d, from: m.from + o.from, moved: m.moved + o.moved, p: make([]float64, len(m.p)+len(o.p)-1)}
	if m.q != nil {
		out.q = make([]float64, len(out.p))
	}
	each(len(out.p), len(m.p), func(i int) {
		sum, under := 0.0, 0.0
		for j := max(0, i-len(o.p)+1); j < min(len(m.p), i+1); j++ {
			sum += float64(m.p[j] * o.p[i-j])
			if m.q != nil {
				under += float64(m.q[j] * o.q[i-j])
			}
		}
		out.p[i] = out.rounded(sum, len(m.p))
		if m.q != nil {
			out.q[i] = float64(under*(1+float64(float64(len(m.p)+4)*ulp))) + 0x1p-900
		}
	})
	low, lost := 0, 0.0
	for low < len(out.p)-1 && lost+out.p[low] < small {
		lost += out.p[low]
		low++
	}
	high, gone := len(out.p), 0.0
	for high > low+1 && gone+out.p[high-1] < small {
		high--
		gone += out.p[high]
	}
	if m.q == nil {
		out.p[low] = out.rounded(out.p[low]+lost, low)
		out.inf = out.rounded(float64(m.inf*o.total())+float64(o.inf*m.total())+gone, 2*len(out.p)) + 0x1p-900 // for products that are lost below the least number
	}
	out.p = out.p[low:high]
	out.from += low
	if m.q != nil {
		out.q = out.q[low:high]
		out.relabel()
	}
	return out
}

// relabel moves the nodes of an attack to where the masses under Q come to about 1: what rounded losses add up to.
func (m *losses) relabel() {
	sum := 0.0
	for _, x := range m.q {
		sum += x
	}
	nodes := int(math.Round(-math.Log(sum) / m.d.Near()))
	if sum <= 0 || math.IsInf(sum, 1) || nodes == 0 {
		return
	}
	m.from += nodes
	m.moved += nodes
	factor := up(number.Exp(m.d.Mul(number.FromInt(int64(nodes), prec)))) * (1 + 4*ulp)
	for i := range m.q {
		m.q[i] *= factor
	}
}

func (m *losses) total() float64 {
	sum := m.inf
	for _, x := range m.p {
		sum += x
	}
	return sum
}

// times composes a measure with itself.
func (m *losses) times(count int, small float64) (all *losses) {
	for ; count > 0; count /= 2 {
		if count%2 == 1 {
			all = all.then(m, small)
		}
		if count > 1 {
			m = m.then(m, small)
		}
	}
	return all
}

// table is the profile of a measure at its nodes, from 0 on. It is piecewise linear between them. The event of a node are the losses above it.
func (m *losses) table() *table {
	n := max(1, m.from+len(m.p)-1)
	t := newTable(m.d, n, 1)
	if m.q != nil {
		for i := range t.over {
			t.over[i] = 1
		}
	} else {
		t.over[t.pad+n] = m.inf
	}
	fall := number.Exp(m.d.Neg())
	f, rest := up(fall), up(one.Sub(fall))
	above, profile, scaled := 0.0, 0.0, 0.0
	for i := n - 1; i >= 0; i-- {
		if j := i + 1 - m.from; j >= 0 && j < len(m.p) {
			above += m.p[j]
			if m.q != nil {
				scaled += m.q[j]
			}
		}
		scaled *= f
		profile = float64(rest*above) + float64(f*profile)
		if m.q != nil {
			t.p[t.pad+i], t.q[t.pad+i] = m.rounded(above, n-i), scaled*(1+float64(4*ulp*float64(n-i+4)))
		} else {
			t.over[t.pad+i] = min(1, m.rounded(profile+m.inf, 8*(n-i)))
		}
	}
	return t
}
