package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/internal/quadrature"
	"optratio/number/interval"
)

const (
	stoppingPanel = 0.37    // the widest panel, in the smallest scale that matters there
	stoppingWork  = 400_000 // interval operations at most, an exponential counting as 25
)

// enclose returns the probability of one candidate of each group, enclosed whatever the reach > 0 and the rule: they only decide how wide the
// result is. It is ErrNoEnclosure where that would take too long.
//
// Between two cuts, which are the scores and the places where a candidate is e^-reach from being decided, each undecided
// candidate's survival function is e or 1 - e for an exponential e, and each decided one's is in [0,τ] or [1-τ,1], τ = ½e^-reach. φ'
// is monotone in the latter, so replacing them by constants of that range encloses the integral. What a candidate's own noise
// does beyond its reach, on either side, adds at most τ E[K]/n.
func (l *enclosedLaw) enclose(eps Epsilon, all []noisy, reach float64, rule *quadrature.Rule) ([]interval.Interval, error) {
	edge := interval.Exp(interval.FromFloat(-reach, l.Prec)).Mul(l.FromRat(big.NewRat(1, 2)))
	q := &stoppingIntegral{
		law: l, eps: eps, value: eps.Value(l.Prec), all: all, reach: reach, rule: rule,
		tau: interval.Hull(l.Zero(), edge),
		p:   make([]interval.Interval, len(all)),
	}
	pieces, err := q.pieces()
	if err != nil {
		return nil, err
	}
	beyond := interval.Hull(l.Zero(), edge.Mul(l.mean).Mul(l.FromInt(2)))
	for g := range all {
		if q.p[g] = beyond; all[g].rate == nil {
			q.p[g] = q.jump(g)
		}
	}
	for _, piece := range pieces {
		q.add(piece)
	}
	return q.p, nil
}

// stoppingIntegral is what is common to all pieces of ∫ f_a(x) φ'(G(x))/n dx.
type stoppingIntegral struct {
	law   *enclosedLaw
	eps   Epsilon
	value interval.Interval // of ε
	all   []noisy
	reach float64
	rule  *quadrature.Rule
	tau   interval.Interval // [0, τ]
	p     []interval.Interval
}

// stoppingPiece is the range between two cuts.
type stoppingPiece struct {
	from, to     *big.Rat
	active       []int // the groups whose exponential matters there
	below, above int   // how many other candidates are surely below it and above it
	panels       int   // of equal width
}

// pieces returns the pieces where some candidate is undecided, ascending. Cuts are the scores, and the reach of
// every candidate, rounded outward.
func (q *stoppingIntegral) pieces() ([]stoppingPiece, error) {
	low, _ := q.value.Float64()
	var cuts []*big.Rat
	for _, g := range q.all {
		cuts = append(cuts, g.at)
		if g.rate != nil {
			rate, _ := g.rate.Float64()
			far := new(big.Rat).SetFloat64(1.0001 * q.reach / (low * rate))
			if far == nil {
				return nil, fmt.Errorf("%w: noise beyond float64", ErrNoEnclosure)
			}
			cuts = append(cuts, new(big.Rat).Add(g.at, far), new(big.Rat).Sub(g.at, far))
		}
	}
	slices.SortFunc(cuts, (*big.Rat).Cmp)
	cuts = slices.CompactFunc(cuts, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	var pieces []stoppingPiece
	work := 0.0
	for i := 1; i < len(cuts); i++ {
		piece := q.piece(cuts[i-1], cuts[i])
		if len(piece.active) == 0 {
			continue
		}
		pieces = append(pieces, piece)
		work += float64(len(q.rule.X)*len(piece.active)) * (float64(piece.panels)*4 + 25)
		if work > stoppingWork || piece.panels > stoppingWork {
			return nil, fmt.Errorf("%w: quadrature would take too long", ErrNoEnclosure)
		}
	}
	return pieces, nil
}

// piece tells who is undecided between two neighbouring cuts.
func (q *stoppingIntegral) piece(from, to *big.Rat) stoppingPiece {
	low, high := q.value.Float64()
	piece := stoppingPiece{from: from, to: to}
	largest := 0.0
	for g, x := range q.all {
		if x.rate != nil {
			rate, _ := x.rate.Float64()
			gap := new(big.Rat).Sub(from, x.at)
			if gap.Sign() < 0 {
				gap.Sub(x.at, to)
			}
			if d, _ := gap.Float64(); d*rate*low < 1.00005*q.reach {
				piece.active = append(piece.active, g)
				largest = max(largest, rate)
				continue
			}
		}
		if x.at.Cmp(from) <= 0 {
			piece.below += x.count
		} else {
			piece.above += x.count
		}
	}
	width, _ := new(big.Rat).Sub(to, from).Float64()
	piece.panels = int(min(1e9, math.Ceil(width*largest*high/stoppingPanel))) + 1
	return piece
}

// wave is the exponential e = ½e^{-ε·rate·|x-at|} of an undecided group, followed from panel to panel.
type wave struct {
	e     interval.Interval   // at the left end of the panel
	step  interval.Interval   // its change to the next panel
	node  []interval.Interval // its change to each node of the panel
	count interval.Interval   // of e in the sum of survival functions: negative where these are 1 - e
	rate  interval.Interval   // ε·rate·width, which makes e a density in units of panels
	sum   *interval.Accumulator
}

// add adds the integrals over a piece to the probabilities, panel by panel.
//
// On a panel the rule misses at most what quadrature.Rule.Error says of ρ = 8 and a bound on f_a φ'/n on the Bernstein ellipse.
// With h half the width of the panel its half-axes are 4.07h and 3.94h. As h <= 0.19 scales, the exponentials turn by less than π/2 there
// and grow by a factor of less than e^{0.19·5.07} < 3 from the left end, to less than 1; then every survival function has a real part
// >= 0, so that |φ'| <= E[K] as on the real line.
func (q *stoppingIntegral) add(piece stoppingPiece) {
	l, n := q.law, len(q.rule.X)
	width := new(big.Rat).Sub(piece.to, piece.from)
	width.Quo(width, big.NewRat(int64(piece.panels), 1))
	constant := q.tau.Mul(l.FromInt(int64(piece.below))).Add(l.FromInt(int64(piece.above))).Sub(q.tau.Mul(l.FromInt(int64(piece.above))))
	waves := make([]*wave, len(piece.active))
	for j, g := range piece.active {
		waves[j] = q.wave(q.all[g], piece.from, width)
		if waves[j].count.Hi().Sign() < 0 {
			constant = constant.Sub(waves[j].count)
		}
	}
	missed := q.rule.Error(l.mean.Mul(l.FromInt(3)), 8)
	missed = interval.Hull(missed.Neg(), missed)
	e := make([]interval.Interval, len(waves))
	for range piece.panels {
		for i := range n {
			h := interval.NewAccumulator(l.Prec)
			h.Add(constant)
			for j, w := range waves {
				e[j] = w.e.Mul(w.node[i])
				h.AddMul(e[j], w.count)
			}
			weight := l.density(h.Value()).Mul(q.rule.Weight[i])
			for j, w := range waves {
				w.sum.AddMul(weight, e[j])
			}
		}
		for _, w := range waves {
			w.sum.AddMul(missed, w.e)
			w.e = w.e.Mul(w.step)
		}
	}
	for j, g := range piece.active {
		q.p[g] = q.p[g].Add(waves[j].sum.Value().Mul(waves[j].rate))
	}
}

// wave returns a group's exponential on panels of a width from a place on, which its score does not lie right of unless it lies
// beyond all of them.
func (q *stoppingIntegral) wave(x noisy, from, width *big.Rat) *wave {
	l := q.law
	gap := new(big.Rat).Sub(from, x.at)
	gap.Mul(gap.Abs(gap), x.rate)
	change := new(big.Rat).Mul(width, x.rate)
	w := &wave{
		e:     q.eps.expNeg(gap, l.Prec).Mul(l.FromRat(big.NewRat(1, 2))),
		count: l.FromInt(int64(x.count)),
		rate:  q.value.Mul(l.FromRat(change)),
		sum:   interval.NewAccumulator(l.Prec),
	}
	if x.at.Cmp(from) > 0 {
		change = change.Neg(change)
		w.count = w.count.Neg()
	}
	w.step = q.eps.expNeg(change, l.Prec)
	slope := q.value.Mul(l.FromRat(change)).Neg()
	for _, t := range q.rule.X {
		w.node = append(w.node, interval.Exp(slope.Mul(t)))
	}
	return w
}

// jump returns the probability of one candidate of a group without noise: what φ(G) jumps by at their score, in equal shares.
func (q *stoppingIntegral) jump(group int) interval.Interval {
	l, x := q.law, q.all[group]
	h := l.Zero()
	for _, y := range q.all {
		gap := new(big.Rat).Sub(x.at, y.at)
		side, count := gap.Sign(), l.FromInt(int64(y.count))
		switch {
		case y.rate == nil && side < 0:
			h = h.Add(count)
		case y.rate != nil:
			e := q.eps.expNeg(gap.Mul(gap.Abs(gap), y.rate), l.Prec).Mul(l.FromRat(big.NewRat(1, 2)))
			if side < 0 {
				e = l.One().Sub(e)
			}
			h = h.Add(e.Mul(count))
		}
	}
	count := l.FromInt(int64(x.count))
	return l.value(h).Sub(l.value(h.Add(count))).Quo(count)
}
