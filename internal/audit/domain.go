package audit

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"time"

	"optratio/internal/inquiry"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Options say what is asked of a mechanism, program or table, and what counts. Epsilon is required; other fields that are zero have
// the defaults that stand beside them.
type Options struct {
	N, K        int    // candidates, and depth of the lattice; 3 and 2
	Domain      string // "lattice" (the default), "half-lattice" or "random"; ignored where Vectors are given
	Vectors     [][]*big.Rat
	Monotonic   bool            // neighbors: all scores rise, or all fall, by at most Sensitivity each; otherwise each moves up or down
	Pairs       [][2][]*big.Rat // neighbors, instead of those of the model
	Keep        bool            // keep what proves dp, for Report.WriteProof
	Inputs      *Inputs         // what is asked about instead of score vectors, with neighbors; nil: score vectors
	Epsilon     number.Epsilon
	Sensitivity *big.Rat // 1
	Seed        uint64
	Properties  []verify.Property            // empty: nothing but Against and Same; of probabilities, nil: as in verify.Options, of labels with the facts that are about them; of samplers those of Testable, nil: dp
	Slack       *big.Rat                     // what ε may be exceeded by: see verify.Options
	Targets     map[verify.Property]*big.Rat // see verify.Options
	Profile     bool                         // see verify.Options
	Against     mechanisms.Mechanism         // compare the answers with its probabilities; may be nil
	Reference   string                       // a command line, likewise: the property Same; "": none

	Precision  *big.Rat // relative, of JSON numbers; 1e-9
	Budget     int64    // samples in all; 1000000
	Confidence *big.Rat // of the lower bound on ε, and of the test of fit; 0.95
	Outcomes   string   // of a sampler: Index (the default), Labels or Real
	// UntilRefuted ends an audit of samples once the claim is refuted, and makes it look for that as early as it can. Otherwise
	// the whole budget goes into the bound.
	UntilRefuted bool
	NoSide       bool // looks at nothing beside what is asked about
	// Brief refuses audits of stated probabilities that take more than about a minute, by the speed of the first answers, with an error that wraps ErrMany, unless the
	// context has a deadline.
	Brief bool
	// Progress is told how many questions were put, of about how many; of samplers, how many samples were drawn, and of tables, how many comparisons
	// a property has. A total of 0 is not known.
	Progress func(done, total int64)

	program Program
	beside  func([]comparison) sampler // draws at the sides of comparisons of the program with the reference
	facts   []verify.Property          // of probabilities: reported as well, as in verify.Options
	meter   *meter
	shown   float64 // the tight ε on the domain, once it is known: see pace
	kept    *Kept   // with Keep, what was proved so far
}

// complete fills in the defaults and checks the options.
func (o *Options) complete() error {
	if err := o.Epsilon.Check(); err != nil {
		return fmt.Errorf("%w: %w", errOptions, err)
	}
	o.N, o.K, o.Domain = cmp.Or(o.N, 3), cmp.Or(o.K, 2), cmp.Or(o.Domain, "lattice")
	o.Sensitivity = cmp.Or(o.Sensitivity, big.NewRat(1, 1))
	o.Precision = cmp.Or(o.Precision, big.NewRat(1, 1e9))
	o.Confidence = cmp.Or(o.Confidence, big.NewRat(19, 20))
	o.Budget = cmp.Or(o.Budget, 1_000_000)
	o.program.Timeout = cmp.Or(max(o.program.Timeout, 0), 10*time.Second)
	if len(o.Properties) == 0 && (o.Outcomes == Labels || o.Inputs != nil) && o.facts == nil {
		o.facts = []verify.Property{verify.BoundedRange, verify.Sum}
		if o.Targets[verify.ApproximateDP] != nil || o.Inputs != nil { // a bounded range implies ε-DP, which is not claimed with a δ
			o.facts = o.facts[1:]
		}
	}
	return o.check()
}

// errOptions is wrapped by errors about options.
var errOptions error = number.InputError("cannot audit")

// mostCandidates and deepest limit the domains that are built.
const (
	mostCandidates = 10_000
	deepest        = 1 << 30
)

func (o *Options) check() error {
	other := slices.IndexFunc(o.Properties, func(p verify.Property) bool { return !slices.Contains(OfLabels, inquiry.Kind(p)) })
	switch {
	case o.Outcomes != "" && o.Outcomes != Index && o.Outcomes != Labels && o.Outcomes != Real && o.Outcomes != Mixed:
		return fmt.Errorf("%w: outcomes %q are not among index, labels, real, mixed", errOptions, o.Outcomes)
	case o.Outcomes != "" && o.Outcomes != Index && o.Against != nil:
		return fmt.Errorf("%w: outcomes that are not candidates cannot be compared with a mechanism's", errOptions)
	case (o.tellsShifts() || o.Inputs != nil) && other >= 0:
		return fmt.Errorf("%w: %s is about candidates and scores, and there are none here", errOptions, o.Properties[other])
	case o.Sensitivity.Sign() <= 0:
		return fmt.Errorf("%w: the sensitivity must be positive", errOptions)
	case o.Inputs != nil:
		return o.Inputs.check(o)
	case len(o.Vectors) > 0 || len(o.Pairs) > 0:
		return nil
	case o.N < 1:
		return fmt.Errorf("%w: n = %d must be at least 1", errOptions, o.N)
	case o.N > mostCandidates:
		return fmt.Errorf("%w: n = %d is above the limit of %d candidates", errOptions, o.N, mostCandidates)
	case o.K > deepest:
		return fmt.Errorf("%w: k = %d is above the limit of %d", errOptions, o.K, deepest)
	case o.K < 1 && o.Domain != "random":
		return fmt.Errorf("%w: k = %d must be at least 1", errOptions, o.K)
	case o.Domain != "lattice" && o.Domain != "half-lattice" && o.Domain != "random":
		return fmt.Errorf("%w: domain %q is not one of lattice, half-lattice, random", errOptions, o.Domain)
	}
	return nil
}

// randomVectors is how many vectors the random domain has.
const randomVectors = 40

// domain returns the vectors, and a unit for them and their neighbors. Of more than most vectors of a lattice,
// or given ones, so many are drawn at random; most = 0: all are taken.
func (o *Options) domain(most int) (*inquiry.Space, *inquiry.Domain, error) {
	space := &inquiry.Space{Unit: o.Sensitivity, Sensitivities: []*big.Rat{o.Sensitivity}, Epsilon: o.Epsilon}
	if o.Inputs != nil {
		space.Unit = big.NewRat(1, 1)
		return space, o.Inputs.domain(space, nil), nil
	}
	var vectors iter.Seq[inquiry.Vector]
	var pairs [][2]inquiry.Vector
	var name string
	var size *big.Int
	n := o.N
	switch {
	case len(o.Vectors) > 0 || len(o.Pairs) > 0:
		given, between, err := o.given(space)
		if err != nil {
			return nil, nil, err
		}
		n, pairs = len(given[0]), between
		name = fmt.Sprintf("%d given score vectors of %d candidates", len(given), n)
		if most > 0 && len(given) > most && len(pairs) == 0 {
			o.vectorRand().Shuffle(len(given), func(i, j int) { given[i], given[j] = given[j], given[i] })
			given = given[:most]
		}
		vectors, size = slices.Values(given), big.NewInt(int64(len(given)))
	case o.Domain == "random":
		space.Unit = new(big.Rat).Quo(o.Sensitivity, big.NewRat(1000, 1))
		vectors = slices.Values(drawVectors(n, o.gaps(), o.vectorRand()))
		name, size = fmt.Sprintf("%d random score vectors of %d candidates", randomVectors, n), big.NewInt(randomVectors)
	default:
		vectors, name, size = o.grid(space, most)
	}
	unit, _ := new(big.Rat).Quo(o.Sensitivity, space.Unit).Float64()
	around := inquiry.Around{
		Name: fmt.Sprintf("%s, and their %s", name, inquiry.Near(o.Monotonic)), Space: space, Vectors: vectors,
		Deltas: slices.Repeat([]int64{int64(unit)}, n), Monotonic: o.Monotonic, Seed: o.Seed, Far: o.far(space),
	}
	if len(pairs) == 0 {
		dom := around.Domain()
		dom.Pairs = o.pairsAround(size, around.Deltas)
		return space, dom, nil
	}
	around.Name, around.Deltas, around.Far = fmt.Sprintf("%s, %d given pairs", name, len(pairs)), slices.Repeat([]int64{1}, n), 0
	dom := around.Domain()
	dom.Neighbors, dom.Pairs = listed(pairs), int64(len(pairs))
	return space, dom, nil
}

// grid returns the vectors of the lattice or half-lattice, or most of them, drawn at random, where it has more, and says in words what they are, and how many.
func (o *Options) grid(space *inquiry.Space, most int) (vectors iter.Seq[inquiry.Vector], name string, size *big.Int) {
	step, depth := int64(2), o.K
	if o.Domain == "half-lattice" {
		step, depth = 1, 2*o.K
	}
	if most > 0 { // a sampler's, which has finer units
		step *= fractions
		space.Unit = new(big.Rat).Quo(o.Sensitivity, big.NewRat(fractions, 1))
	}
	name = fmt.Sprintf("the %s of %d candidates, depth %d", o.Domain, o.N, o.K)
	size = lattice.Vectors(o.N, depth, false)
	if most > 0 && size.Cmp(big.NewInt(int64(most))) > 0 {
		return slices.Values(drawGrid(o.N, depth, step, most, o.vectorRand())), fmt.Sprintf("%d score vectors drawn from %s", most, name), big.NewInt(int64(most))
	}
	if size.Cmp(big.NewInt(1e15)) < 0 {
		name = fmt.Sprintf("the %d score vectors of %s", size, name)
	}
	return inquiry.Grid(o.N, depth, step), name, size
}

// far returns a shift, a round multiple of Δ in units, that overflows e^{εq/2Δ} in double precision.
func (o *Options) far(space *inquiry.Space) int64 {
	eps := o.Epsilon.Float()
	if eps <= 0 || o.NoSide {
		return 0
	}
	multiple := new(big.Rat).SetFloat64(max(2000, 2000/eps))
	multiple.Mul(multiple, o.Sensitivity)
	multiple.Quo(multiple, new(big.Rat).Mul(space.Unit, big.NewRat(1000, 1)))
	thousands := new(big.Int).Div(multiple.Num(), multiple.Denom())
	if thousands.BitLen() > 40 {
		return 0
	}
	return 1000 * (thousands.Int64() + 1)
}

// given turns given vectors and pairs into integers, and sets the unit in which these count. Without vectors they are the first ones of the pairs.
func (o *Options) given(space *inquiry.Space) (vectors []inquiry.Vector, pairs [][2]inquiry.Vector, err error) {
	all := slices.Clone(o.Vectors)
	if len(o.Vectors) == 0 {
		for _, p := range o.Pairs {
			all = append(all, p[0])
		}
	}
	count := len(all)
	for _, p := range o.Pairs {
		all = append(all, p[0], p[1])
	}
	for _, v := range all {
		if len(v) == 0 || len(v) != len(all[0]) {
			return nil, nil, fmt.Errorf("%w: score vectors of %d and %d candidates", errOptions, len(all[0]), len(v))
		}
	}
	around, err := inquiry.Listed(*space, all, space.Sensitivities)
	if err != nil {
		return nil, nil, err
	}
	*space = *around.Space
	ints := slices.Collect(around.Vectors)
	for p := range slices.Chunk(ints[count:], 2) {
		pairs = append(pairs, [2]inquiry.Vector(p))
	}
	return ints[:count], pairs, nil
}

func (o *Options) vectorRand() *rand.Rand { return rand.New(rand.NewPCG(o.Seed, 0x766563746f7273)) }

// drawGrid draws vectors of inquiry.Grid: first, in a random arrangement each, those with two depths and one candidate, two or all but one at the top, at every
// gap; then one of every orbit, where these take at most half of the room; and then any, every other one with few depths. A symmetric mechanism
// is thus seen as a whole wherever its orbits are few.
func drawGrid(n, depth int, step int64, count int, rng *rand.Rand) []inquiry.Vector {
	out, seen := make([]inquiry.Vector, 0, count), map[string]bool{}
	add := func(depths []int) { // best first
		if key := fmt.Sprint(depths); !seen[key] && len(out) < count {
			seen[key] = true
			out = append(out, arranged(depths, step, rng))
		}
	}
	gaps := 1 // between those that are taken, so that they leave half of the room
	for 3*(depth/gaps) > max(3, count/2) {
		gaps++
	}
	for gap := gaps; gap <= depth; gap += gaps {
		for _, top := range []int{1, 2, n - 1} {
			if 0 < top && top < n {
				add(slices.Concat(make([]int, top), slices.Repeat([]int{gap}, n-top)))
			}
		}
	}
	if lattice.Orbits(n, depth).Cmp(big.NewInt(int64(count/2))) <= 0 {
		if orbits, err := lattice.New(n, depth); err == nil {
			for _, m := range orbits.All() {
				add(lattice.Depths(m))
			}
		}
	}
	for len(out) < count {
		depths, few := make([]int, n), []int{0, 1, rng.IntN(depth + 1)}
		for r := range depths[1:] {
			if depths[1+r] = rng.IntN(depth + 1); len(out)%2 == 0 {
				depths[1+r] = few[rng.IntN(len(few))]
			}
		}
		out = append(out, arranged(depths, step, rng))
	}
	return out
}

// arranged returns the vector with the given depths, in an order that is drawn at random.
func arranged(depths []int, step int64, rng *rand.Rand) inquiry.Vector {
	q := make(inquiry.Vector, len(depths))
	for r, d := range depths {
		q[r] = -step * int64(d)
	}
	rng.Shuffle(len(q), func(i, j int) { q[i], q[j] = q[j], q[i] })
	return q
}

// clearGap returns a gap near the given one, both in Δ, at which weights e^{-ε·gap/2Δ} are either normal numbers of double
// precision, there and at all neighbors, or 0 at all of them, for each ε from the pace to twice that: a small domain does not show all of
// a mechanism's ε.
func (o *Options) clearGap(gap float64) float64 {
	const normal, zero = 680, 760 // e^-708.4 is the least normal number, e^-745.2 becomes 0
	least := o.pace()
	most := 2 * least
	if float64(most*gap/2)+most <= normal || float64(least*gap/2)-least >= zero {
		return gap
	}
	return max(0, math.Floor(2*(normal-most)/most))
}

// gaps are the differences of scores, in Δ/1000, that random vectors have where they are far apart.
func (o *Options) gaps() []int64 {
	gaps := []int64{0}
	for _, g := range []float64{1, 20, 200, 2000} {
		gaps = append(gaps, int64(1000*o.clearGap(g)))
	}
	return gaps
}

// drawVectors draws score vectors weighted to what goes wrong: ties, near ties, steps of 2Δ, huge gaps,
// one leader. Units are Δ/1000.
func drawVectors(n int, gaps []int64, rng *rand.Rand) []inquiry.Vector {
	out := make([]inquiry.Vector, randomVectors)
	for i := range out {
		q := make(inquiry.Vector, n)
		base := []int64{0, 0, 1000, -7000, 123456}[rng.IntN(5)]
		style := i % 5
		for r := range q {
			switch style {
			case 0:
				q[r] = -2000 * rng.Int64N(4)
			case 1:
				q[r] = -rng.Int64N(10_000)
			case 2:
				q[r] = -rng.Int64N(3)
			case 3:
				q[r] = -gaps[rng.IntN(len(gaps))]
			case 4:
				q[r] = -2000 * rng.Int64N(2)
			}
		}
		if style == 3 {
			q[rng.IntN(n)] = 0 // gaps are to the best
		}
		out[i] = q.Plus(base)
	}
	return out
}

// fractions is how many units Δ has in the domains that are built for samplers.
const fractions = 1000

// sampleDomain returns what a sampler is asked about: the domain, thinned out to what the budget has room for, and unless
// vectors or pairs are given, score vectors that lattices of small depth do not have.
func (o *Options) sampleDomain() (*inquiry.Space, *inquiry.Domain, error) {
	if err := o.Inputs.whole(); err != nil {
		return nil, nil, err
	}
	space, dom, err := o.domain(o.vectorsToSample())
	if err != nil || o.NoSide || o.Inputs != nil || len(o.Vectors) > 0 || len(o.Pairs) > 0 || o.N < 2 {
		return space, dom, err
	}
	unit := new(big.Rat).Quo(o.Sensitivity, space.Unit).Num().Int64()
	far := o.farVectors(unit)
	if unit == 0 || len(far) == 0 {
		return space, dom, nil
	}
	steps := func(q inquiry.Vector) iter.Seq[inquiry.Vector] { return o.extremes(len(q), unit) }
	neighbors := dom.Neighbors
	if o.tellsShifts() { // then these are steps to neighbors that count as well
		shifts := func(q inquiry.Vector) iter.Seq[inquiry.Vector] { return inquiry.Level(len(q), unit, -unit) }
		steps = func(q inquiry.Vector) iter.Seq[inquiry.Vector] { return chain(shifts(q), o.extremes(len(q), unit)) }
		if o.N > 5 { // of fewer candidates they are there
			neighbors = chainPairs(inquiry.Pairs(dom.Vectors, shifts), neighbors)
		}
	}
	out := *dom
	out.Vectors = chain(dom.Vectors, slices.Values(far))
	out.Neighbors = chainPairs(inquiry.Pairs(slices.Values(far), steps), neighbors)
	out.Name += fmt.Sprintf("; and a side set of %d vectors (ties, gaps, large scores)", len(far))
	return space, &out, nil
}

// farVectors returns score vectors whose depth grows like 1/ε: some candidates tied at the top and all others tied below; and others
// of the side set: weights that are 0 in double precision, scores far from 0, fractions.
func (o *Options) farVectors(unit int64) (out []inquiry.Vector) {
	n := o.N
	add := func(q inquiry.Vector) {
		if !slices.ContainsFunc(out, func(known inquiry.Vector) bool { return slices.Equal(known, q) }) {
			out = append(out, q)
		}
	}
	tied := func(gap int64, tops ...int) {
		for _, top := range tops {
			add(slices.Concat(make(inquiry.Vector, top), slices.Repeat(inquiry.Vector{-gap * unit}, n-top)))
		}
	}
	for _, times := range []float64{1, 2, 4, 8} {
		tied(2*int64(math.Ceil(times/max(o.Epsilon.Float(), 1e-6))), 1, min(2, n-1), n-1)
	}
	if gap := o.vanishing(); gap > 0 {
		tied(gap, 1, min(2, n-1))
	}
	ladder, parts := make(inquiry.Vector, n), make(inquiry.Vector, n)
	for r := range n {
		ladder[r] = -2 * unit * int64(r%3)
		parts[r] = -[]int64{0, 333, 500, 750}[r%4] * unit / fractions
	}
	add(ladder.Plus(o.offset() * unit))
	add(ladder.Plus(-o.offset() * unit))
	if unit%fractions == 0 {
		add(parts)
	}
	return out
}

// tellsShifts reports whether outcomes are not candidates, so that they may depend on a number that is added to all scores.
func (o *Options) tellsShifts() bool {
	return o.Outcomes == Labels || o.Outcomes == Real || o.Outcomes == Mixed
}

// extremes yields the steps to neighbors at which one candidate moves against all others, or alone where scores are monotonic.
func (o *Options) extremes(n int, unit int64) iter.Seq[inquiry.Vector] {
	others := -unit
	if o.Monotonic {
		others = 0
	}
	return func(yield func(inquiry.Vector) bool) {
		for r := range n {
			s := slices.Repeat([]int64{others}, n)
			s[r] = unit
			if !yield(s) || !yield(scaled(s, -1)) {
				return
			}
		}
	}
}
