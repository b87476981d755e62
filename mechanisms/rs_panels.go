package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/internal/quadrature"
	"optratio/number"
)

const (
	stoppingWork = 400_000 // bounds the interval operations of one integral, an exponential counting as 25
	mostNats     = 1e8     // bounds the exponents -ln e, far within those of big.Float
)

// enclose returns the probability of one candidate of each group, enclosed whatever the reach > 0 and the digits: they only decide how wide the
// result is, e^-digits being about what the rules miss of E[K]. It is ErrNoEnclosure where that would take too long.
//
// Between two neighboring scores, and from the outer ones to where every candidate is e^-reach from being decided, each candidate's survival function is
// e or 1 - e for an exponential e, or without noise 0 or 1. What a candidate's own noise does beyond its reach, on either side, adds at most ½e^-reach E[K]/n.
func (l *enclosedLaw) enclose(eps number.Epsilon, all []noisy, reach, digits float64, nodes *recent) ([]number.Interval, error) {
	q := &stoppingIntegral{law: l, eps: eps, value: eps.Value(l.Prec), all: all, reach: reach, digits: digits, nodes: nodes}
	q.low, q.high = q.value.Float64()
	pieces, err := q.pieces()
	if err != nil {
		return nil, err
	}
	return q.integrate(pieces), nil
}

// stoppingIntegral is what is common to all pieces of ∫ f_a(x) φ'(G(x))/n dx.
type stoppingIntegral struct {
	law       *enclosedLaw
	eps       number.Epsilon
	value     number.Interval // of ε
	low, high float64         // around ε
	all       []noisy
	reach     float64
	digits    float64 // natural ones, of the rules
	nodes     *recent // what exponentials change by to the nodes of a rule
	p         []number.Interval
}

// integrate adds up the pieces and what is outside of them.
func (q *stoppingIntegral) integrate(pieces []stoppingPiece) []number.Interval {
	l := q.law
	beyond := number.Hull(l.Zero(), number.Exp(number.FromFloat(-q.reach, l.Prec)).Mul(l.mean))
	q.p = make([]number.Interval, len(q.all))
	for g, x := range q.all {
		if q.p[g] = beyond; x.rate == nil {
			q.p[g] = q.jump(x)
		}
	}
	for _, piece := range pieces {
		q.add(piece)
	}
	return q.p
}

// pieces returns the ranges between the scores and those beyond the outer ones, ascending. Reaches are rounded outward.
func (q *stoppingIntegral) pieces() (pieces []stoppingPiece, err error) {
	var cuts, ends []*big.Rat
	fastest := new(big.Rat)
	for _, x := range q.all {
		cuts = append(cuts, x.at)
		if x.rate == nil {
			continue
		}
		rate, _ := x.rate.Float64()
		far := new(big.Rat).SetFloat64(1.0001 * q.reach / (q.low * rate))
		if far == nil {
			return nil, fmt.Errorf("%w: noise beyond float64", ErrNoEnclosure)
		}
		ends = append(ends, new(big.Rat).Add(x.at, far), new(big.Rat).Sub(x.at, far))
		if x.rate.Cmp(fastest) > 0 {
			fastest = x.rate
		}
	}
	if fastest.Sign() == 0 {
		return nil, nil
	}
	cuts = append(cuts, slices.MinFunc(ends, (*big.Rat).Cmp), slices.MaxFunc(ends, (*big.Rat).Cmp))
	slices.SortFunc(cuts, (*big.Rat).Cmp)
	cuts = slices.CompactFunc(cuts, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	span := new(big.Rat).Sub(cuts[len(cuts)-1], cuts[0])
	if widest, _ := span.Mul(span, fastest).Float64(); !(widest*q.high <= mostNats) {
		return nil, fmt.Errorf("%w: scales or scores are too far apart", ErrNoEnclosure)
	}
	work := 0.0
	for i := 1; i < len(cuts); i++ {
		piece := stoppingPiece{from: cuts[i-1], to: cuts[i], ellipse: 4} // others are hardly faster
		if work += q.plan(&piece); work > stoppingWork {
			return nil, fmt.Errorf("%w: quadrature would take too long", ErrNoEnclosure)
		}
		pieces = append(pieces, piece)
	}
	return pieces, nil
}

// stoppingPiece is the range between two cuts.
type stoppingPiece struct {
	from, to *big.Rat
	ellipse  int   // ρ
	nodes    int   // of the rule
	halvings []int // panels from left to right, each this often half of the piece
}

// plan cuts a piece into panels that suit its ellipses, and returns about how many interval operations they take. Nothing rests on what is chosen here in
// floating point but how narrow the result is.
//
// A panel is halved until the exponentials e stay below 1 on its ellipse and those that turn by more than π/2 there are too
// small to bring v below γ/2 or so: see bound.
func (q *stoppingIntegral) plan(piece *stoppingPiece) float64 {
	type wave struct{ rate, from, count float64 } // in nats for the whole piece; below 0 towards its score
	gamma, _ := q.law.gamma.Float64()
	eta, _ := q.law.eta.Float64()
	room := 0.9 * gamma * float64(q.law.n) / (2 * max(1, 1+eta) * (1 - gamma)) // for what turns too far; +∞ at γ = 1
	width := new(big.Rat).Sub(piece.to, piece.from)
	var waves []wave
	for _, x := range q.all {
		if x.rate == nil {
			continue
		}
		rate, _ := new(big.Rat).Mul(width, x.rate).Float64()
		gap, _ := new(big.Rat).Mul(new(big.Rat).Sub(piece.from, x.at), x.rate).Float64()
		w := wave{rate * q.high, float64(math.Abs(gap) * q.low), float64(x.count)}
		if x.at.Cmp(piece.from) > 0 {
			w.rate = -w.rate
		}
		waves = append(waves, w)
	}
	rho := float64(piece.ellipse)
	wide, high := float64((rho+1/rho)/2)-1, (rho-1/rho)/2
	top := 0.0 // the largest e on an ellipse
	fits := func(from, width float64) bool {
		turning, largest := 0.0, 0.0
		for _, w := range waves {
			size := math.Abs(w.rate) * width / 2
			near := w.from + float64(w.rate*from)
			if w.rate < 0 {
				near += float64(w.rate * width)
			}
			e := math.Exp(float64(wide*size)-near) / 2
			if e > 0.999 {
				return false
			}
			if largest = max(largest, e); w.rate > 0 && high*size > 1.57 {
				turning += float64(e * w.count)
			}
		}
		if turning > room {
			return false
		}
		top = max(top, largest)
		return true
	}
	var halvings []int
	const deepest = 30
	var cut func(from float64, depth int) bool
	cut = func(from float64, depth int) bool {
		width := math.Ldexp(1, -depth)
		if fits(from, width) {
			halvings = append(halvings, depth)
			return true
		}
		return depth < deepest && len(halvings) < stoppingWork/100 && cut(from, depth+1) && cut(from+float64(width/2), depth+1)
	}
	if !cut(0, 0) {
		return math.Inf(1)
	}
	nodes := max(1, int(math.Ceil((q.digits+math.Log(top))/(2*math.Log(rho))+0.5)))
	if nodes > 4 {
		nodes = (nodes + 3) / 4 * 4 // rules of few different sizes: they are dear to make
	}
	if nodes > stoppingNodes {
		return math.Inf(1)
	}
	each := float64(4*len(waves) + 12)
	piece.nodes, piece.halvings = nodes, halvings
	return float64(nodes) * (float64(float64(len(halvings))*each) + float64(len(waves)*(25/2+slices.Max(halvings))))
}

// wave is the exponential e = ½e^{-ε·rate·|x-at|} of a group, followed from panel to panel.
type wave struct {
	group  int
	e      number.Interval // at the left end of the panel
	change []change        // over a panel that is so often half of the piece
	count  number.Interval // of e in the sum of survival functions: negative where these are 1 - e
	rate   number.Interval // ε·rate·width of the piece, which makes e a density in units of the piece
	sum    *number.Accumulator
}

// change is what an exponential e is multiplied by.
type change struct {
	step number.Interval   // over a panel
	node []number.Interval // to each of its nodes
	far  number.Interval   // from the end of a panel where e is larger to the end of its ellipse
}

// doubled returns the changes over a panel of twice the width.
func (c change) doubled() change {
	d := change{c.step.Sqr(), make([]number.Interval, len(c.node)), c.far.Sqr()}
	for i, x := range c.node {
		d.node[i] = x.Sqr()
	}
	return d
}

// add adds the integrals over a piece to the probabilities, panel by panel.
func (q *stoppingIntegral) add(piece stoppingPiece) {
	l, rule := q.law, quadrature.Legendre(piece.nodes, q.law.Prec)
	constant := l.Zero() // of the sum of survival functions
	var waves []*wave
	for g, x := range q.all {
		if x.at.Cmp(piece.from) > 0 {
			constant = constant.Add(l.FromInt(int64(x.count)))
		}
		if x.rate != nil {
			waves = append(waves, q.wave(g, piece, rule))
		}
	}
	e := make([]number.Interval, len(waves))
	for _, depth := range piece.halvings {
		part := l.FromRat(new(big.Rat).SetFrac(ratOne.Num(), new(big.Int).Lsh(ratOne.Num(), uint(depth))))
		for i := range rule.X {
			h := number.NewAccumulator(l.Prec)
			h.Add(constant)
			for j, w := range waves {
				e[j] = w.e.Mul(w.change[depth].node[i])
				h.AddMul(e[j], w.count)
			}
			weight := l.density(h.Value()).Mul(rule.Weight[i]).Mul(part)
			for j, w := range waves {
				w.sum.AddMul(weight, e[j])
			}
		}
		bound, tops := q.bound(waves, depth, piece.ellipse)
		missed := rule.Error(bound, piece.ellipse).Mul(part)
		missed = number.Hull(missed.Neg(), missed)
		for j, w := range waves {
			w.sum.AddMul(missed, tops[j])
			w.e = w.e.Mul(w.change[depth].step)
		}
	}
	for _, w := range waves {
		q.p[w.group] = q.p[w.group].Add(w.sum.Value().Mul(w.rate))
	}
}

// bound bounds |φ'|/n on the Bernstein ellipse of the panel where the waves stand, and every |e|.
//
// With r the rate of an exponential e times half the width of the panel, |e| grows by at most e^{r((ρ+1/ρ)/2-1)} from the end of the panel where it is larger to
// the ellipse, and its argument is at most r(ρ-1/ρ)/2 there. So a survival function has a real part >= 0 where it is e and turns by at most π/2, >= -|e|
// where it is e otherwise, and >= 1 - |e| where it is 1 - e. Those of candidates without noise are constants >= 0. With -D the sum of what is negative
// of these, Re v >= γ - (1-γ)D/n, and φ', a negative power of v, is at most what it is there where that is positive: no bound otherwise.
func (q *stoppingIntegral) bound(waves []*wave, depth, rho int) (bound number.Interval, tops []number.Interval) {
	l := q.law
	deficit := l.Zero()
	turn := l.FromRat(big.NewRat(int64(rho*rho-1), int64(4*rho)<<depth))
	for _, w := range waves {
		c := w.change[depth]
		if w.count.Hi().Sign() < 0 {
			top := w.e.Mul(c.step).Mul(c.far)
			deficit = deficit.Add(top.Sub(l.One()).Max(l.Zero()).Mul(w.count.Neg()))
			tops = append(tops, top)
			continue
		}
		top := w.e.Mul(c.far)
		if least, ok := w.rate.Mul(turn).LessEq(l.FromRat(quarterTurn)); !ok || !least {
			deficit = deficit.Add(top.Mul(w.count))
		}
		tops = append(tops, top)
	}
	if s, ok := l.v(deficit.Neg()).Sign(); !ok || s <= 0 {
		return number.Whole(l.Prec), tops
	}
	return l.density(deficit.Neg()), tops
}

// quarterTurn is a little less than π/2.
var quarterTurn = big.NewRat(157, 100)

// wave returns a group's exponential at the left end of a piece, whose inside its score is not in.
func (q *stoppingIntegral) wave(group int, piece stoppingPiece, rule *quadrature.Rule) *wave {
	l, x := q.law, q.all[group]
	gap := new(big.Rat).Sub(piece.from, x.at)
	gap.Mul(gap.Abs(gap), x.rate)
	fall := new(big.Rat).Sub(piece.to, piece.from)
	fall.Mul(fall, x.rate)
	w := &wave{
		group: group,
		e:     q.eps.ExpNegOnce(gap, l.Prec).Mul(l.FromRat(big.NewRat(1, 2))),
		count: l.FromInt(int64(x.count)),
		rate:  q.value.Mul(l.FromRat(fall)),
		sum:   number.NewAccumulator(l.Prec),
	}
	if x.at.Cmp(piece.from) > 0 {
		fall.Neg(fall)
		w.count = w.count.Neg()
	}
	deepest := slices.Max(piece.halvings)
	w.change = make([]change, deepest+1)
	for d := deepest; d >= 0; d-- {
		if d == deepest {
			w.change[d] = q.change(fall.Quo(fall, new(big.Rat).SetInt(new(big.Int).Lsh(ratOne.Num(), uint(d)))), piece.ellipse, rule)
		} else {
			w.change[d] = w.change[d+1].doubled()
		}
	}
	return w
}

// change returns what e^{-ε fall x} is multiplied by over a panel of width 1.
func (q *stoppingIntegral) change(fall *big.Rat, rho int, rule *quadrature.Rule) change {
	l, n := q.law, len(rule.X)
	key := fmt.Sprint(q.eps, fall, rho, n, l.Prec)
	if known, ok := q.nodes.get(key); ok {
		return change{known[n], known[:n], known[n+1]}
	}
	slope := q.value.Mul(l.FromRat(fall)).Neg()
	c := change{step: q.eps.ExpNegOnce(fall, l.Prec), node: make([]number.Interval, n)}
	for i := range (n + 1) / 2 {
		c.node[i] = number.Exp(slope.Mul(rule.X[i]))
		if n-1-i > i { // the nodes mirror each other
			c.node[n-1-i] = c.step.Quo(c.node[i])
		}
	}
	// (ρ + 1/ρ)/2 - 1 = (ρ-1)²/2ρ half widths
	c.far = number.Exp(slope.Abs().Mul(l.FromRat(big.NewRat(int64((rho-1)*(rho-1)), int64(4*rho)))))
	q.nodes.put(key, append(slices.Clone(c.node), c.step, c.far))
	return c
}

// jump returns the probability of one candidate of the group x without noise: what φ(G) jumps by at their score, in equal shares.
func (q *stoppingIntegral) jump(x noisy) number.Interval {
	l := q.law
	h := l.Zero()
	for _, y := range q.all {
		gap := new(big.Rat).Sub(x.at, y.at)
		side, count := gap.Sign(), l.FromInt(int64(y.count))
		switch {
		case y.rate == nil && side < 0:
			h = h.Add(count)
		case y.rate != nil:
			e := q.eps.ExpNegOnce(gap.Mul(gap.Abs(gap), y.rate), l.Prec).Mul(l.FromRat(big.NewRat(1, 2)))
			if side < 0 {
				e = l.One().Sub(e)
			}
			h = h.Add(e.Mul(count))
		}
	}
	count := l.FromInt(int64(x.count))
	return l.value(h).Sub(l.value(h.Add(count))).Quo(count)
}
