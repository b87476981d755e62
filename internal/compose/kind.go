package compose

import (
	"math"
	"slices"
	"sync/atomic"

	"optratio/number"
)

// Kind is a kind of selection: a mechanism, em, pf, geo or krr, and its ε. Krr needs its number of candidates, at least 2.
type Kind struct {
	Mechanism  string
	Eps        number.Epsilon
	Candidates int
}

// prec is the precision in bits of enclosures.
const prec = 96

var one, two = number.FromInt(1, prec), number.FromInt(2, prec)

func (k Kind) eps() number.Interval { return k.Eps.Value(prec) }

// adaptive reports whether there is a distance x of two candidates to choose at each step. For geo and krr one pair of distributions is the worst.
func (k Kind) adaptive() bool { return k.Mechanism == "em" || k.Mechanism == "pf" }

// outcome is what a selection may show: its probability under P, and under Q.
type outcome struct{ p, q number.Interval }

// pair returns the outcomes A and B of two candidates' scores that are x·2Δ/ε apart and move by a whole step of 2Δ against each other, 0 <= x <= ε,
// and the probability of the other outcomes, which is the same under P and Q, and 0 but for krr.
func (k Kind) pair(x number.Interval) (a, b outcome, others number.Interval) {
	e := k.eps()
	here, there := number.Exp(x.Neg()), number.Exp(x.Sub(e))
	others = number.FromInt(0, prec)
	switch k.Mechanism {
	case "em":
		all := number.Expm1(e.Neg())
		p, notQ := number.Expm1(x.Neg()).Quo(all), number.Expm1(x.Sub(e)).Quo(all)
		return outcome{p, p.Mul(there)}, outcome{notQ.Mul(here), notQ}, others
	case "pf":
		return outcome{one.Sub(here.Quo(two)), there.Quo(two)}, outcome{here.Quo(two), one.Sub(there.Quo(two))}, others
	}
	rest := number.FromInt(0, prec)
	if k.Mechanism == "krr" {
		rest = number.FromInt(int64(k.Candidates-2), prec)
	}
	z := number.Exp(e.Neg())
	top := one.Quo(one.Add(z).Add(z.Mul(rest)))
	return outcome{top, top.Mul(z)}, outcome{top.Mul(z), top}, top.Mul(z).Mul(rest)
}

// loss returns the logarithm h(x) of A's quotient p/q, which falls in x. B's is -h(ε-x).
func (k Kind) loss(x number.Interval) number.Interval {
	switch k.Mechanism {
	case "em":
		return k.eps().Sub(x)
	case "pf":
		return k.eps().Sub(x).Add(number.Log(two.Sub(number.Exp(x.Neg()))))
	}
	return k.eps()
}

// at returns about the x of a loss.
func (k Kind) at(loss float64) float64 {
	below := k.Eps.Float() - loss
	if k.Mechanism == "em" || below <= 0 {
		return max(0, below)
	}
	root := math.Sqrt(-math.Expm1(-below)) // 1-e^{-x}
	if root < 0.7 {
		return -math.Log1p(-root)
	}
	return below + math.Log1p(root)
}

// bends returns the greatest |p"| and the greatest q" between x and y, x < y.
func (k Kind) bends(x, y number.Interval) (p, q number.Interval) {
	scale := two
	if k.Mechanism == "em" {
		scale = number.Expm1(k.eps().Neg()).Neg()
	}
	return number.Exp(x.Neg()).Quo(scale), number.Exp(y.Sub(k.eps())).Quo(scale)
}

// point is a pair whose outcomes were moved to the two nodes beside their losses: its value at node i is
// a0·V[i+a] + a1·V[i+a-1] + b0·V[i+b] + b1·V[i+b-1].
type point struct {
	a, b           int
	a0, a1, b0, b1 float64
}

// arc is what lies between two points that follow each other: A is between the nodes i+a-1 and i+a, B between i+b-1 and i+b.
type arc struct {
	a, b            int
	onP, onQA, onQB float64 // what bends come to: see table.value
	from, to        float64 // its x
	moves           [places + 1]atomic.Pointer[move]
}

// places is how many parts an arc has for attacks.
const places = 16

// move is a choice of x for an attack: at node i it goes on with the events of the nodes i+a, i+b and i. Probabilities under P are rounded down, those
// under Q up, and scaled by e to the distance of these nodes.
type move struct {
	x                              float64
	a, b                           int
	pA, pB, pOthers, qA, qB, qRest float64
}

// steps are the pairs of a kind on a grid of losses i·d.
type steps struct {
	Kind
	d      float64
	points []point
	arcs   []*arc
	others float64
	fixed  *move   // of kinds where there is nothing to choose
	reach  int     // the farthest node that is looked at from a node
	slack  float64 // times V at reach+1 nodes below: what rounded losses and bends come to
}

// tolerance is how far from a node a loss may be, relative to ε, and count as there.
const tolerance = 0x1p-47

func up(x number.Interval) float64 {
	_, hi := x.Float64()
	return hi
}

func down(x number.Interval) float64 {
	lo, _ := x.Float64()
	return lo
}

// node is the interval of i·d.
func (s *steps) node(i int) number.Interval {
	return number.FromInt(int64(i), prec).Mul(number.FromFloat(s.d, prec))
}

// below returns the greatest node that is not above a loss; losses count as at a node that they are very close to.
func (s *steps) below(loss float64) (i int, there bool) {
	near := math.Round(loss / s.d)
	if math.Abs(loss-float64(near*s.d)) <= tolerance*s.Eps.Float() {
		return int(near), true
	}
	return int(math.Floor(loss / s.d)), false
}

// split divides an outcome between the nodes beside its loss so that its masses under P and under Q stay, and returns the P-masses, rounded up.
func (s *steps) split(o outcome, loss number.Interval) (at int, there bool, lower, upper float64) {
	at, there = s.below(loss.Near())
	if there {
		return at, there, up(o.p), 0
	}
	step := number.Exp(s.node(-1))
	share := number.Exp(s.node(at).Sub(loss)).Sub(step).Quo(one.Sub(step))
	return at, there, up(o.p.Mul(share)), up(o.p.Mul(one.Sub(share)))
}

// breaks returns the x at which a loss is at a node, in order, with 0 and ε.
func (s *steps) breaks() []number.Interval {
	zero, e := number.FromInt(0, prec), s.Eps.Float()
	if !s.adaptive() || e == 0 {
		return []number.Interval{zero}
	}
	var at []float64
	for i := math.Ceil(down(s.loss(s.eps())) / s.d); i*s.d < e; i++ {
		x := s.at(i * s.d)
		at = append(at, x, e-x)
	}
	slices.Sort(at)
	xs := []number.Interval{zero}
	last := 0.0
	for _, x := range at {
		if x > last+float64(e*tolerance) && x < e-float64(e*tolerance) {
			xs = append(xs, number.FromFloat(x, prec))
			last = x
		}
	}
	return append(xs, s.eps())
}

// newSteps lays the pairs of a kind on a grid.
//
// V is convex in e^s, so r ↦ rV(s - ln r) is convex, and an outcome may be split between the nodes beside its loss: that only raises the value. On an arc
// this is the linear function p·a_A - αq·b_A + (1-p)·a_B - α(1-q)·b_B of p and q, where a - αb is the chord of V over the cell of A or of B, whose second
// derivative in x is at least -|p"|(a_A-a_B) - αq"(b_A-b_B).
//
// Losses of the ends of an arc may lie outside of its cells by at most η. V(s-η) - V(s) <= ηe^s·|dV/de^s| <= ηV(s-d)/(1-e^{-d}), which is part of slack.
func newSteps(k Kind, d float64) *steps {
	s := &steps{Kind: k, d: d}
	xs := s.breaks()
	step := number.Exp(s.node(1))
	worst, bend := 0.0, 0.0 // η, and the greatest coefficient of bends
	var others number.Interval
	for i, x := range xs {
		var a, b outcome
		a, b, others = k.pair(x)
		lossA, lossB := k.loss(x), k.loss(k.eps().Sub(x)).Neg()
		var p point
		l, there, lower, upper := s.split(a, lossA)
		p.a, p.a0, p.a1 = -l, lower, upper
		worst = max(worst, s.off(lossA, l, there))
		l, there, lower, upper = s.split(b, lossB)
		p.b, p.b0, p.b1 = -l, lower, upper
		worst = max(worst, s.off(lossB, l, there))
		s.points = append(s.points, p)
		s.reach = max(s.reach, 1-p.a, p.b+1)
		if i == 0 {
			continue
		}
		before := xs[i-1]
		r := &arc{from: before.Near(), to: x.Near()}
		beforeA, beforeB := k.loss(before), k.loss(k.eps().Sub(before)).Neg()
		l, _ = s.below((lossA.Near() + beforeA.Near()) / 2)
		r.a = -l
		worst = max(worst, s.off(lossA, l, false), s.off(beforeA, l, false))
		l, _ = s.below((lossB.Near() + beforeB.Near()) / 2)
		r.b = -l
		worst = max(worst, s.off(lossB, l, false), s.off(beforeB, l, false))
		p2, q2 := k.bends(before, x)
		half := x.Sub(before).Pow(2).Quo(two)
		r.onP, r.onQA, r.onQB = up(half.Mul(p2)), up(half.Mul(q2).Mul(step).Mul(number.Exp(s.node(-r.a)))), up(half.Mul(q2).Mul(step).Mul(number.Exp(s.node(-r.b))))
		bend = max(bend, r.onP+r.onQA+r.onQB)
		s.reach = max(s.reach, 1-r.a, r.b+1)
		s.arcs = append(s.arcs, r)
	}
	s.others = up(others)
	gap := up(number.Expm1(s.node(-1)).Neg())
	s.slack = float64(16*worst/gap*(1+gap)) + float64(256*ulp*bend*(1+1/gap)) + 0x1p-100
	if len(s.arcs) == 0 {
		s.fixed = s.newMove(xs[0])
	}
	return s
}

// off returns an upper bound on how far a loss is from the cell above a node, or from the node.
func (s *steps) off(loss number.Interval, node int, there bool) float64 {
	lower, upper := s.node(node), s.node(node+1)
	if there {
		upper = lower
	}
	return max(0, up(lower.Sub(loss)), up(loss.Sub(upper)))
}

// move returns the choice at a place of an arc, 0 to places.
func (s *steps) move(r *arc, place int) *move {
	if m := r.moves[place].Load(); m != nil {
		return m
	}
	x := min(r.from+float64((r.to-r.from)*float64(place)/places), down(s.eps()))
	m := s.newMove(number.FromFloat(x, prec))
	r.moves[place].Store(m)
	return m
}

func (s *steps) newMove(x number.Interval) *move {
	a, b, others := s.pair(x)
	m := &move{x: x.Near()}
	m.a, m.b = -int(math.Round(s.loss(x).Near()/s.d)), int(math.Round(s.loss(s.eps().Sub(x)).Near()/s.d))
	m.pA, m.pB, m.pOthers = down(a.p), down(b.p), down(others)
	m.qA, m.qB, m.qRest = up(a.q.Mul(number.Exp(s.node(-m.a)))), up(b.q.Mul(number.Exp(s.node(-m.b)))), up(others)
	return m
}

// ulp is the greatest relative error of a rounding.
const ulp = 0x1p-53
