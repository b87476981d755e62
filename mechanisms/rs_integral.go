package mechanisms

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
)

const (
	enclosedWork = 200_000 // bounds the operations of one integral in intervals, an exponential counting as 25
	floatWork    = 1e9     // the same in float64
	mostNats     = 1e8     // bounds the exponents -ln e, far within those of big.Float
	mostHalvings = 30      // of a piece
	// The rules' error is bounded on Bernstein ellipses with ρ = 4, which reach beyond a panel by 9/16 of its width on either side, and to 15/16 above it.
	ellipse = 4
)

var (
	ellipseTip  = big.NewRat((ellipse-1)*(ellipse-1), 4*ellipse)
	ellipseTurn = big.NewRat(ellipse*ellipse-1, 4*ellipse)
)

// stoppingNodes is how many nodes miss about e^-digits of E[K]; more than four are a multiple of four, since new rules are dear to make.
func stoppingNodes(digits float64) int {
	return (int(math.Ceil(digits/(2*math.Log(ellipse))+0.5)) + 3) / 4 * 4
}

// stoppingIntegral computes ∫ f_a(x) φ'(G(x))/n dx for each candidate a. The reach, the rule and all choices made in float64 only decide how wide the result is.
//
// Between two neighboring scores, and from the outer ones to where every candidate is e^-reach from being decided, each candidate's survival function is
// e or 1 - e for an exponential e, or without noise 0 or 1. What a candidate's own noise does beyond its reach, on either side, adds at most ½e^-reach E[K]/n.
// Candidates of one rate that lie on one side of a piece have exponentials that are multiples of the nearest one's: a piece has two waves a rate, however
// many candidates there are.
type stoppingIntegral[T any] struct {
	calculus[T]
	law   *stoppingLaw[T]
	ctx   context.Context // ends it; nil for none
	reach float64
	rule  *rule[T]
	work  float64 // operations left
	lost  float64 // all errors
	nats  float64 // how wide all is for the fastest exponential
	// nodes returns what compute does for an exponential of that rate over a part of that width, halved so often.
	nodes func(rate, width *big.Rat, halvings int, compute func() ([]T, error)) []T

	waves           []*wave[T] // of the piece at hand
	tip, turn, half T
	distance        []T     // of the nodes from the left tip of an ellipse, in widths of the panel
	missed          T       // the rule's error for a function that is at most 1 on the ellipse
	room            float64 // the largest deficit worth accepting, see panel
}

// site is a group of candidates with noise, and its neighbors of the same rate: what weighs less than the nearest one is counted with it.
type site[T any] struct {
	noisy
	kind         int      // place of the rate among all
	next         *site[T] // nil for none
	place, slope T        // the score below the best one; ε·rate
	decay        T        // e^{-ε·rate·distance} to the next
	below, above T        // how many candidates like this one its own and those behind them, on either side, make for whoever looks from the other side
	right, left  T        // ∫ e φ'(G)/n up to the next one, and down to the one before
	p            T
}

// wave is e = ½e^{-ε·rate·|x-at|} of a site beside a piece.
type wave[T any] struct {
	*site[T]
	rising bool // whether the site is above the piece: survival functions are 1 - e then
	top    T    // the largest |e| on the ellipse of a panel
	e      []T  // at the nodes, in tops
}

// run returns the probability of one candidate of each group, enclosed whatever the reach > 0 and the rule.
func (q *stoppingIntegral[T]) run(eps T, all []noisy) ([]T, error) {
	q.prepare()
	rates, sites := q.sites(eps, all)
	cuts, err := q.cuts(q.upper(eps), all)
	if err != nil {
		return nil, err
	}
	if about := float64(len(cuts)*len(rates)*len(q.rule.weight)) * 8; about > q.work {
		return nil, errTooLong
	}
	p := make([]T, len(all))
	passed, above := make([]*site[T], len(rates)), 0 // the last site of each rate; candidates above
	for _, g := range all {
		above += g.count
	}
	for c, g := 0, 0; c < len(cuts); c++ {
		from := g
		for ; g < len(all) && all[g].at.Cmp(cuts[c]) == 0; g++ {
			if above -= all[g].count; sites[g] != nil {
				passed[sites[g].kind] = sites[g]
			}
		}
		q.look(rates, passed)
		at := q.place(cuts[c], all)
		q.jumps(p, all, from, g, at, above)
		if c+1 < len(cuts) && len(rates) > 0 {
			width := new(big.Rat).Sub(cuts[c+1], cuts[c])
			if err := q.panel(width, at, q.place(cuts[c+1], all), 0, q.FromInt(int64(above))); err != nil {
				return nil, err
			}
		}
	}
	q.collect(rates)
	for g, s := range sites {
		if s != nil {
			p[g] = s.p
		}
	}
	return p, nil
}

// prepare computes what all panels share.
func (q *stoppingIntegral[T]) prepare() {
	q.tip, q.turn, q.half = q.FromRat(ellipseTip), q.FromRat(ellipseTurn), q.FromRat(big.NewRat(1, 2))
	for _, x := range q.rule.x {
		q.distance = append(q.distance, q.Add(x, q.tip))
	}
	q.missed = q.rule.missed[ellipse]
	gamma, _ := q.law.gamma.Float64()
	eta, _ := q.law.eta.Float64()
	q.room = 0.9 * gamma * float64(q.law.n) / (2 * max(1, 1+eta) * (1 - gamma)) // brings v down to γ/2 or so; +∞ at γ = 1
}

// place returns where a score lies below the best one.
func (q *stoppingIntegral[T]) place(at *big.Rat, all []noisy) T {
	return q.FromRat(new(big.Rat).Sub(at, all[len(all)-1].at))
}

// sites returns the first site of each rate, and the site of each group with noise.
func (q *stoppingIntegral[T]) sites(eps T, all []noisy) (rates, sites []*site[T]) {
	sites = make([]*site[T], len(all))
	last := map[string]*site[T]{}
	for g, x := range all {
		if x.rate == nil {
			continue
		}
		count := q.FromInt(int64(x.count))
		s := &site[T]{noisy: x, place: q.place(x.at, all), slope: q.Mul(eps, q.FromRat(x.rate)), below: count, above: count, left: q.Zero(), right: q.Zero()}
		key := x.rate.RatString()
		if before := last[key]; before != nil {
			before.next, s.kind = s, before.kind
			before.decay = q.exp(q.Mul(s.slope, q.Sub(before.place, s.place)))
			s.below = q.Add(count, q.Mul(before.decay, before.below))
		} else {
			s.kind, rates = len(rates), append(rates, s)
		}
		last[key], sites[g] = s, s
	}
	for g := len(sites) - 1; g >= 0; g-- {
		if s := sites[g]; s != nil && s.next != nil {
			s.above = q.Add(s.above, q.Mul(s.decay, s.next.above))
		}
	}
	return rates, sites
}

// cuts returns the scores and the ends of what is integrated, ascending.
func (q *stoppingIntegral[T]) cuts(eps float64, all []noisy) (cuts []*big.Rat, err error) {
	var ends []*big.Rat
	fastest := new(big.Rat)
	for _, x := range all {
		cuts = append(cuts, x.at)
		if x.rate == nil {
			continue
		}
		rate, _ := x.rate.Float64()
		far := new(big.Rat).SetFloat64(1.0001 * q.reach / (eps * rate))
		if far == nil {
			return nil, errors.New("noise beyond float64")
		}
		ends = append(ends, new(big.Rat).Add(x.at, far), new(big.Rat).Sub(x.at, far))
		if x.rate.Cmp(fastest) > 0 {
			fastest = x.rate
		}
	}
	if len(ends) > 0 {
		cuts = append(cuts, slices.MinFunc(ends, (*big.Rat).Cmp), slices.MaxFunc(ends, (*big.Rat).Cmp))
	}
	slices.SortFunc(cuts, (*big.Rat).Cmp)
	cuts = slices.CompactFunc(cuts, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	span := new(big.Rat).Sub(cuts[len(cuts)-1], cuts[0])
	widest, _ := span.Mul(span, fastest).Float64()
	if q.nats = widest * eps; !(q.nats <= mostNats) {
		return nil, errors.New("scales or scores are too far apart")
	}
	return cuts, nil
}

// look makes the waves of the piece above the sites passed.
func (q *stoppingIntegral[T]) look(rates, passed []*site[T]) {
	q.waves = q.waves[:0]
	for i, first := range rates {
		next := first
		if s := passed[i]; s != nil {
			q.waves = append(q.waves, &wave[T]{site: s})
			next = s.next
		}
		if next != nil {
			q.waves = append(q.waves, &wave[T]{site: next, rising: true})
		}
	}
}

// jumps computes the probability of one candidate of each of the groups from, …, to-1 without noise, which have one score: what φ(G) jumps by there, in equal
// shares. The later ones are better at ε = 0.
func (q *stoppingIntegral[T]) jumps(p []T, all []noisy, from, to int, at T, above int) {
	h := q.FromInt(int64(above))
	if !slices.ContainsFunc(all[from:to], func(g noisy) bool { return g.rate == nil }) {
		return
	}
	for _, w := range q.waves {
		if w.rising {
			h = q.Sub(h, q.Mul(w.above, q.Mul(q.half, q.exp(q.Mul(w.slope, q.Sub(at, w.place))))))
		} else {
			h = q.Add(h, q.Mul(w.below, q.Mul(q.half, q.exp(q.Mul(w.slope, q.Sub(w.place, at))))))
		}
	}
	for g := to - 1; g >= from; g-- {
		if all[g].rate == nil {
			count := q.FromInt(int64(all[g].count))
			below := q.Add(h, count)
			p[g] = q.Quo(q.Sub(q.law.value(h), q.law.value(below)), count)
			h = below
		}
	}
}

// panel adds the integrals from lo to hi, a part of the piece of that width that was halved so often, above which there are so many candidates.
func (q *stoppingIntegral[T]) panel(width *big.Rat, lo, hi T, halvings int, above T) error {
	if ended(q.ctx) {
		return context.Cause(q.ctx)
	}
	size := q.Sub(hi, lo)
	deficit, fits := q.bound(lo, hi)
	if !fits {
		if halvings == mostHalvings {
			return errors.New("scales are too different")
		}
		middle := q.Add(lo, q.Mul(size, q.half))
		if err := q.panel(width, lo, middle, halvings+1, above); err != nil {
			return err
		}
		return q.panel(width, middle, hi, halvings+1, above)
	}
	if q.work -= float64(len(q.waves)*(4*len(q.rule.weight)+25) + 12*len(q.rule.weight)); q.work < 0 {
		return errTooLong
	}
	q.apply(width, size, halvings, above)
	missed := q.Mul(q.Mul(q.law.density(q.Neg(deficit)), q.missed), size)
	for _, w := range q.waves {
		missed := q.Mul(missed, w.top)
		q.lost += float64(q.upper(missed) * q.upper(w.slope))
		w.add(q, q.miss(missed))
	}
	return nil
}

// bound bounds every |e| on the Bernstein ellipse of a panel, and returns D for which |φ'|/n is at most the density at -D there; fits is false where the panel is too
// wide for that.
//
// With r the rate of an exponential e times half the width of the panel, |e| grows by at most e^{r((ρ+1/ρ)/2-1)} from the end of the panel where it is larger to
// the ellipse, and its argument is at most r(ρ-1/ρ)/2 there. Where |e| <= 1, the survival function of every candidate has a real part >= 0 if it is 1 - e, and if
// it is e and turns by at most π/2; and >= -|e| if it turns further. Those of candidates without noise are constants >= 0. With -D the sum of what is negative of
// these, Re v >= γ - (1-γ)D/n, and φ', a negative power of v, is at most what it is there, which is positive.
func (q *stoppingIntegral[T]) bound(lo, hi T) (deficit T, fits bool) {
	size, deficit := q.Sub(hi, lo), q.Zero()
	for _, w := range q.waves {
		gap := q.Sub(lo, w.place)
		if w.rising {
			gap = q.Sub(w.place, hi)
		}
		if w.top = q.Mul(w.slope, q.Sub(q.Mul(size, q.tip), gap)); !(q.upper(w.top) < 0.69) { // ln 2 is more
			return deficit, false
		}
	}
	for _, w := range q.waves {
		w.top = q.Mul(q.half, q.exp(w.top))
		if !w.rising && !(q.upper(q.Mul(w.slope, q.Mul(size, q.turn))) < quarterTurn) {
			deficit = q.Add(deficit, q.Mul(w.top, w.below))
		}
	}
	return deficit, q.upper(deficit) <= q.room
}

var errTooLong = errors.New("quadrature would take too long")

// quarterTurn is a little less than π/2.
const quarterTurn = 1.57

// apply applies the rule to a panel of that size, where the waves have their tops.
func (q *stoppingIntegral[T]) apply(width *big.Rat, size T, halvings int, above T) {
	share, column, weights := make([]T, len(q.waves)), make([]T, len(q.waves)), make([]T, len(q.rule.weight))
	for j, w := range q.waves {
		w.e = q.nodes(w.rate, width, halvings, func() ([]T, error) {
			out := make([]T, len(q.distance))
			for i, d := range q.distance {
				out[i] = q.exp(q.Neg(q.Mul(w.slope, q.Mul(size, d))))
			}
			return out, nil
		})
		share[j] = q.Mul(w.below, w.top)
		if w.rising {
			share[j] = q.Neg(q.Mul(w.above, w.top))
			w.e = slices.Clone(w.e)
			slices.Reverse(w.e) // the nodes mirror each other
		}
	}
	for i, weight := range q.rule.weight {
		for j, w := range q.waves {
			column[j] = w.e[i]
		}
		weights[i] = q.Mul(q.law.density(q.sum(above, share, column)), weight)
	}
	for _, w := range q.waves {
		w.add(q, q.Mul(q.Mul(w.top, size), q.sum(q.Zero(), weights, w.e)))
	}
}

// add adds to the integral of the site on the wave's side.
func (w *wave[T]) add(q *stoppingIntegral[T], x T) {
	if w.rising {
		w.left = q.Add(w.left, x)
	} else {
		w.right = q.Add(w.right, x)
	}
}

// collect computes the probabilities of the sites: what lies beyond the next one of the same rate is a multiple of what that one has there.
func (q *stoppingIntegral[T]) collect(rates []*site[T]) {
	beyond := q.Mul(q.exp(q.FromRat(new(big.Rat).SetFloat64(-q.reach))), q.law.mean)
	q.lost += q.upper(beyond)
	beyond = q.miss(beyond)
	for _, first := range rates {
		var all []*site[T]
		for s := first; s != nil; s = s.next {
			if len(all) > 0 {
				before := all[len(all)-1]
				s.left = q.Add(s.left, q.Mul(before.decay, before.left))
			}
			all = append(all, s)
		}
		for i := len(all) - 1; i >= 0; i-- {
			s := all[i]
			if s.next != nil {
				s.right = q.Add(s.right, q.Mul(s.decay, s.next.right))
			}
			s.p = q.Add(q.Mul(s.slope, q.Add(s.left, s.right)), beyond)
		}
	}
}
