package audit

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"optratio/internal/inquiry"
	"optratio/number"
	"optratio/verify"
)

// The side set of an audit of stated probabilities: few score vectors of many kinds, whatever the domain, because
// mechanisms are broken where lattices do not go. Its units are Δ/10^9.
const (
	whole        = 1_000_000_000 // Δ
	sideNeighbor = 4             // neighbors at corners and as many inside the box, drawn
	largest      = 8             // candidates
)

// sideSpace is the space of the side set.
func (o *Options) sideSpace() *inquiry.Space {
	return &inquiry.Space{
		Unit:          new(big.Rat).Quo(o.Sensitivity, big.NewRat(whole, 1)),
		Sensitivities: []*big.Rat{o.Sensitivity}, Epsilon: o.Epsilon,
	}
}

// pace returns the ε by which the side set and the search for cliffs place what they look at, so that it does not depend on the claim: the tight
// ε of the domain, and the claimed one where that says nothing.
func (o *Options) pace() float64 {
	if o.shown > 0 && !math.IsInf(o.shown, 0) {
		return o.shown
	}
	return o.Epsilon.Float()
}

// offset is a large multiple of Δ, in Δ, that overflows e^{εq/2Δ} but leaves double precision its digits:
// the rounding of scores moves ε·q/2Δ by 10^-10 at most.
func (o *Options) offset() int64 {
	return int64(max(1, min(1e6, 2e5/max(o.pace(), 1e-3))))
}

// vanishing returns a gap in Δ at which, and at whose neighbors, e^{-ε·gap/2Δ} is 0 in double precision, where such
// gaps are not too large.
func (o *Options) vanishing() int64 {
	return int64(o.clearGap(math.Ceil(min(4e6, 1600/max(o.pace(), 1e-9)+4))))
}

// sideVectors returns the side set: one candidate, two, and o.N; far gaps, near ties, fractions, scores all of one sign and far
// from 0, gaps where probabilities become tiny, and drawn ones.
func (o *Options) sideVectors(rng *rand.Rand) []inquiry.Vector {
	off := o.offset() * whole
	out := []inquiry.Vector{{0}, {-3 * whole}, {off}}
	add := func(n int, scores ...int64) {
		q := make(inquiry.Vector, n)
		for r := range q {
			q[r] = scores[r%len(scores)]
		}
		rng.Shuffle(n, func(i, j int) { q[i], q[j] = q[j], q[i] })
		out = append(out, q)
	}
	for n := 2; n <= min(3, o.N); n++ {
		add(n, 0, 0)
		add(n, 0, -whole)
		add(n, -2*whole, 0)
	}
	n := min(o.N, largest)
	if n < 2 {
		return out
	}
	for _, gap := range []float64{20, 200, 2000} {
		add(n, 0, -int64(whole*o.clearGap(gap)), -whole, 0)
	}
	add(n, 0, -1, -2*whole, -1)                          // a near tie
	add(n, 0, -whole/3, -whole/2, -3*whole/4)            // fractions
	add(n, whole/2, -7*whole/3, -4*whole/3, 0)           // around 0
	add(n, -7*whole, -9*whole, -8*whole, -7*whole)       // all negative
	add(n, 9*whole, 5*whole, 8*whole, 2*whole)           // all positive
	add(n, off, off-2*whole, off-whole, off-3*whole)     // far from 0
	add(n, -off, -off-2*whole, -off-whole, -off-3*whole) // likewise
	add(n, 0, -12*whole, -11*whole, -10*whole, -9*whole) // a leader
	// All others' weights are 0 in double precision, with the exponent ε·q/2Δ and with ε·q/Δ; tied, and not.
	for m := 2; m <= n; m = max(m+1, n) {
		gap := min(3*o.vanishing(), 4e6) * whole // also where the mechanism's ε on the domain is three times that elsewhere
		q := slices.Repeat([]int64{-gap}, m)
		q[0] = 0
		add(m, q...)
		for r := range q {
			q[r] = -gap - int64(r)*2*whole
		}
		q[0] = 0
		add(m, q...)
	}
	// Gaps about which the worse ones' probabilities pass what programs take for negligible.
	for _, exponent := range []float64{3, 4, 6, 8, 9, 10, 12, 15, 16, 30, 100} {
		gap := o.clearGap(2 * exponent * math.Ln10 / max(o.pace(), 1e-3))
		add(n, 0, -int64(1000*gap)*(whole/1000), -int64(1000*gap)*(whole/1000))
	}
	for range 2 {
		q := make([]int64, n)
		for r := range q {
			q[r] = -rng.Int64N(5000) * whole / 1000
		}
		add(n, q...)
	}
	return out
}

// sideDomain has the vectors and, for each, neighbors at corners and inside the box of sensitivities, shifts by
// fractions and lowered scores. What is drawn depends on the seed alone.
func (o *Options) sideDomain(space *inquiry.Space, vectors []inquiry.Vector) *inquiry.Domain {
	moved := func(steps func(n int, rng *rand.Rand) iter.Seq[inquiry.Vector]) vectorPairs {
		return func(yield func(inquiry.Vector, inquiry.Vector) bool) {
			rng := rand.New(rand.NewPCG(o.Seed, 0x73696465))
			inquiry.Pairs(slices.Values(vectors), func(q inquiry.Vector) iter.Seq[inquiry.Vector] { return steps(len(q), rng) })(yield)
		}
	}
	return &inquiry.Domain{
		Name: fmt.Sprintf("a side set of %d vectors (ties, gaps, large scores)", len(vectors)), Space: space, Vectors: slices.Values(vectors),
		Neighbors: moved(o.sideSteps),
		Shifted: moved(func(n int, rng *rand.Rand) iter.Seq[inquiry.Vector] {
			return inquiry.Level(n, -whole/2, whole/3, rng.Int64N(8000)*whole/1000-4*whole)
		}),
		Lowered: moved(func(n int, rng *rand.Rand) iter.Seq[inquiry.Vector] {
			steps := make([]inquiry.Vector, n)
			for r := range steps {
				steps[r] = make(inquiry.Vector, n)
				steps[r][r] = -[]int64{whole, whole / 2, rng.Int64N(1000)*whole/1000 + 1}[rng.IntN(3)]
			}
			return slices.Values(steps)
		}),
	}
}

// sideSteps yields steps to neighbors: all corners of the box of sensitivities, of more than two candidates the extreme ones and some others, and some
// steps within the box.
func (o *Options) sideSteps(n int, rng *rand.Rand) iter.Seq[inquiry.Vector] {
	if n <= 2 {
		return chain(inquiry.Steps(o.Monotonic, slices.Repeat([]int64{whole}, n), rng), o.drawnSteps(n, rng))
	}
	return chain(o.extremes(n, whole), o.drawnSteps(n, rng))
}

// drawnSteps draws as many corners of the box of sensitivities as steps within it.
func (o *Options) drawnSteps(n int, rng *rand.Rand) iter.Seq[inquiry.Vector] {
	return func(yield func(inquiry.Vector) bool) {
		for i := range 2 * sideNeighbor {
			sizes := []int64{0, whole, whole}
			if i%2 == 1 {
				sizes = []int64{whole / 2, whole / 3, rng.Int64N(1001) * whole / 1000}
			}
			s, sign := make(inquiry.Vector, n), 1-2*rng.Int64N(2)
			for r := range s {
				s[r] = sign * sizes[rng.IntN(3)]
				if !o.Monotonic {
					s[r] *= 1 - 2*rng.Int64N(2)
				}
			}
			if !yield(s) {
				return
			}
		}
	}
}

// supported returns the vectors of n candidates and of those other numbers of candidates that the program answers about: one
// that is made for n need not know others.
func supported(vectors []inquiry.Vector, n int, probe inquiry.Subject) ([]inquiry.Vector, error) {
	knows := map[int]bool{n: true}
	var out []inquiry.Vector
	for _, q := range vectors {
		if _, asked := knows[len(q)]; !asked {
			answer, err := probe.Answer(q)
			if err != nil && !errors.Is(err, inquiry.ErrUndecided) {
				return nil, err
			}
			knows[len(q)] = err == nil && answer.Event == ""
		}
		if knows[len(q)] {
			out = append(out, q)
		}
	}
	return out, nil
}

func scaled(q inquiry.Vector, factor int64) inquiry.Vector {
	out := slices.Clone(q)
	for r := range out {
		out[r] *= factor
	}
	return out
}

// aside returns the side set. There is none, nil, where vectors or pairs are given: these are all that is asked about. r is what was found on the domain, asking gives the
// subject for the side set, retry one for trying things out. That of inputs is for datasets. Cliffs are looked for up to reach·Δ from the origin, and up to the offset where reach is 0.
func (o Options) aside(r *Report, reach int64, asking, retry func(*inquiry.Space) inquiry.Subject) (*inquiry.Question, error) {
	if o.NoSide || len(o.Vectors) > 0 || len(o.Pairs) > 0 {
		return nil, nil
	}
	if o.Inputs != nil {
		if o.Inputs.rows == nil {
			return nil, nil
		}
		space := &inquiry.Space{Unit: unity, Sensitivities: []*big.Rat{o.Sensitivity}, Epsilon: o.Epsilon}
		dom, err := o.Inputs.aside(space, retry(space))
		if err != nil || dom == nil {
			return nil, err
		}
		return inquiry.Stated(inquiry.Remember(asking(space)), dom, true), nil
	}
	if hi, ok := r.TightEps.Upper(); ok {
		o.shown, _ = hi.Float64()
	}
	reach = cmp.Or(reach, o.offset())
	space := o.sideSpace()
	rng := rand.New(rand.NewPCG(o.Seed, 0x7369646573))
	vectors := o.sideVectors(rng)
	for _, m := range []int{4, 5, 6 + rng.IntN(3)} {
		if m <= o.N {
			continue
		}
		more := make(inquiry.Vector, m)
		for i := range more {
			more[i] = -rng.Int64N(4) * whole
		}
		more[rng.IntN(m)] = 0
		vectors = append(vectors, more)
	}
	vectors, err := supported(vectors, o.N, retry(space))
	if err != nil {
		return nil, err
	}
	var pairs [][2]inquiry.Vector
	if len(vectors) > 0 && o.aboutNeighbors() {
		n := len(slices.MaxFunc(vectors, func(a, b inquiry.Vector) int { return cmp.Compare(len(a), len(b)) }))
		if pairs, err = o.findCliffs(min(n, o.N), reach, retry(space)); err != nil {
			return nil, err
		}
		for _, p := range pairs {
			vectors = append(vectors, p[0], p[1])
		}
	}
	dom := o.sideDomain(space, vectors)
	apart := func(p [2]inquiry.Vector) bool { return distance(p[0], p[1]) > whole }
	dom.Neighbors = chainPairs(listed(slices.DeleteFunc(pairs, apart)), dom.Neighbors)
	return inquiry.Stated(inquiry.Remember(asking(space)), dom, true), nil
}

// aboutNeighbors reports whether a property is asked for that compares neighbors.
func (o *Options) aboutNeighbors() bool {
	return o.Properties == nil || o.Profile || slices.ContainsFunc(o.Properties, func(p verify.Property) bool {
		return slices.Contains([]verify.Property{verify.DP, verify.BoundedRange, verify.ApproximateDP, verify.RDP, verify.ZCDP}, inquiry.Kind(p))
	})
}

// add adds the verdicts and tight parameters on a side set, so that r's are those of both.
func (r *Report) add(side *Report, err error) error {
	if err != nil {
		return err
	}
	r.Profile, r.Renyi = greaterOfEach(r.Profile, side.Profile), greaterOfEach(r.Renyi, side.Renyi)
	for i := range r.Properties {
		own := &r.Properties[i]
		other := side.Find(own.Name)
		if other == nil {
			continue
		}
		*own = both(*own, *other)
		if own.Name == verify.DP {
			r.TightEps = own.TightEps
		}
	}
	return nil
}

// both returns the result on two sets of comparisons of what was found on each.
func both(a, b verify.Result) verify.Result {
	out := a
	if b.Verdict == verify.Violated && a.Verdict != verify.Violated || b.Verdict == verify.Undecided && a.Verdict == verify.Proved {
		out.Verdict, out.Reason, out.Witness = b.Verdict, b.Reason, b.Witness
	}
	if a.Verdict == verify.Proved && b.Verdict == verify.Proved {
		_, hi := limited(a).Ends()
		if _, other := limited(b).Ends(); hi != nil && other != nil && other.Cmp(hi) > 0 {
			out.Reason = b.Reason // which names the upper end
		}
	}
	if out.Stopped = a.Stopped || b.Stopped; out.Stopped {
		if out.Total = 0; needed(a) >= 0 && needed(b) >= 0 {
			out.Total = needed(a) + needed(b)
		}
	}
	out.Checked += b.Checked
	out.Doubt = max(a.Doubt, b.Doubt)
	out.Relaxed = relaxed(a, b)
	var fromB bool
	if out.TightEps, fromB = greater(a.TightEps, b.TightEps); fromB {
		out.TightExpEps, out.Attained = b.TightExpEps, b.Attained
	}
	out.Range, _ = greater(a.Range, b.Range)
	if out.TightDelta, fromB = greater(a.TightDelta, b.TightDelta); fromB {
		out.Attained = b.Attained
	}
	if out.Rho, fromB = greater(a.Rho, b.Rho); fromB && a.Name == verify.ZCDP {
		out.Orders, out.Attained = b.Orders, b.Attained
	}
	if inquiry.Kind(a.Name) == verify.RDP && len(a.Orders) == len(b.Orders) {
		if out.Orders = greaterOfEach(a.Orders, b.Orders); len(a.Orders) == 1 {
			if _, fromB = greater(a.Orders[0][1], b.Orders[0][1]); fromB {
				out.Attained = b.Attained
			}
		}
	}
	return out
}

// greaterOfEach returns the greater ones of two lists of what is found at the same parameters.
func greaterOfEach(a, b [][2]number.Number) [][2]number.Number {
	out := slices.Clone(a)
	for i := range out {
		out[i][1], _ = greater(a[i][1], b[i][1])
	}
	return out
}

// limited is the number that a verdict on privacy is about.
func limited(r verify.Result) number.Number {
	for _, x := range []number.Number{r.TightEps, r.TightDelta, r.Rho} {
		if x.IsValid() {
			return x
		}
	}
	if len(r.Orders) == 1 {
		return r.Orders[0][1]
	}
	return r.Range
}

// needed is how many comparisons a check needs, -1 where that is not known.
func needed(r verify.Result) int64 {
	if r.Stopped {
		return cmp.Or(r.Total, -1)
	}
	return r.Checked
}

// relaxed returns the δ and the ε that both parts hold with, where one of them has an infinite ε without; nil where they are not known of both.
func relaxed(parts ...verify.Result) *[2]number.Number {
	all, some := [2]number.Number{number.Int(0), number.Int(0)}, false
	for _, r := range parts {
		own := r.Relaxed
		some = some || own != nil
		if hi, bounded := r.TightEps.Upper(); own == nil && bounded && !r.TightEps.IsInf() {
			own = &[2]number.Number{all[0], number.Exact(hi)}
		}
		if own == nil {
			return nil
		}
		all = [2]number.Number{all[0].Max(own[0]), all[1].Max(own[1])}
	}
	if !some {
		return nil
	}
	return &all
}

// greater encloses the greater one of two numbers that are not negative, and reports whether the second one's lower end is above the first one's. Of
// one that is not known nothing but that is.
func greater(x, y number.Number) (most number.Number, second bool) {
	switch {
	case !x.IsValid() && !y.IsValid(), x.IsInf():
		return x, false
	case y.IsInf():
		return y, true
	}
	lo, hi := x.Ends()
	other, end := y.Ends()
	if lo == nil {
		lo = new(big.Rat)
	}
	if second = other != nil && lo.Cmp(other) < 0; second {
		lo = other
	}
	if end == nil || hi != nil && hi.Cmp(end) < 0 {
		hi = end
	}
	return number.Bounds(lo, hi), second
}

// vectorPairs are pairs of score vectors, as a inquiry.Domain has them.
type vectorPairs = iter.Seq2[inquiry.Vector, inquiry.Vector]

// chain yields what some sequences of vectors yield, one after the other.
func chain(sequences ...iter.Seq[inquiry.Vector]) iter.Seq[inquiry.Vector] {
	return func(yield func(inquiry.Vector) bool) {
		for _, sequence := range sequences {
			for q := range sequence {
				if !yield(q) {
					return
				}
			}
		}
	}
}

// chainPairs is chain for pairs.
func chainPairs(sequences ...vectorPairs) vectorPairs {
	return func(yield func(inquiry.Vector, inquiry.Vector) bool) {
		for _, sequence := range sequences {
			for q, other := range sequence {
				if !yield(q, other) {
					return
				}
			}
		}
	}
}

// listed yields the pairs of a list.
func listed(pairs [][2]inquiry.Vector) vectorPairs {
	return func(yield func(inquiry.Vector, inquiry.Vector) bool) {
		for _, p := range pairs {
			if !yield(p[0], p[1]) {
				return
			}
		}
	}
}
