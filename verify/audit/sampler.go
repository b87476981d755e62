package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"optratio/number"
	"optratio/number/interval"
	"optratio/verify"
)

// sampler draws from a mechanism. An event, if not empty, came instead of counts; an error
// ends the audit.
type sampler interface {
	Sample(q verify.Vector, samples int64) (counts []int64, event string, err error)
}

const (
	mostPerQuestion = 10_000  // samples wanted of a program at once
	mostPairs       = 200_000 // of neighbours; more are thinned out at random
	mostNumbers     = 4 << 20 // scores in all pairs
	fewestVectors   = 64      // that the domain is not thinned out below
	samplesAPlace   = 200     // of the budget, for each score vector of the domain
	finalists       = 2       // pairs that are tested
)

// rounds are the shares of the budget and the pairs that are looked at: all at first, then those that look worst. What
// is left of the budget goes to the finalists.
var rounds = []struct {
	share float64
	pairs int
}{{0.25, mostPairs}, {0.15, 48}, {0.15, 8}}

// Samples audits a program that draws samples.
func Samples(ctx context.Context, command string, o Options) (*Report, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	space, dom, err := o.domain(o.vectorsToSample())
	if err != nil {
		return nil, err
	}
	a := newAsker(ctx, command, space, &o)
	defer a.child.stop()
	r, err := o.statistics(ctx, command, drawn{a}, space, dom)
	if err != nil {
		return nil, err
	}
	a.finish()
	r.account(a)
	return r, nil
}

// draw audits a sampler that counts vectors in units of the space that its options make.
func draw(name string, s sampler, o Options) (*Report, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	space, dom, err := o.domain(o.vectorsToSample())
	if err != nil {
		return nil, err
	}
	return o.statistics(context.Background(), name, s, space, dom)
}

// vectorsToSample is the most score vectors that the budget and the limit on pairs leave room for.
func (o *Options) vectorsToSample() int {
	n := max(1, o.N)
	if len(o.Vectors) > 0 {
		n = max(1, len(o.Vectors[0]))
	}
	neighbors := 2 * n
	if n <= 5 {
		neighbors = []int{2, 8, 26, 80, 242}[n-1]
	}
	room := 4 * pairsOf(n) / neighbors
	return max(1, min(room, max(fewestVectors, int(o.Budget/samplesAPlace))))
}

// pairsOf is the most pairs of neighbours of n candidates that are kept.
func pairsOf(n int) int { return max(1, min(mostPairs, mostNumbers/(2*n))) }

// drawn is a program as a sampler.
type drawn struct{ *asker }

func (d drawn) Sample(q verify.Vector, samples int64) (counts []int64, event string, err error) {
	counts = make([]int64, len(q))
	for left := samples; left > 0; {
		batch := min(left, mostPerQuestion)
		some, event, err := ask(d.asker, q, batch, func(line []byte) ([]int64, error) {
			return parseCounts(line, len(q), batch)
		})
		if err != nil || event != "" {
			return nil, event, err
		}
		for i, c := range some {
			counts[i] += c
		}
		left -= batch
	}
	return counts, "", nil
}

// tally is what was drawn at one score vector.
type tally struct {
	q      verify.Vector
	counts []int64
	total  int64
	event  string
}

// pair is an event that may tell two neighbours apart: candidate r at from, against at to.
type pair struct {
	from, to, r int
	promise     float64
}

// statistics is one audit of a sampler.
type statistics struct {
	ctx     context.Context
	o       *Options
	sampler sampler
	rng     *rand.Rand
	space   *verify.Space
	tallies []*tally
	pairs   []pair // with r unset: both directions, all candidates
	drawn   int64
	budget  int64
}

// statistics spends the budget in rounds: every score vector, then the neighbours that look worst, then fresh samples at
// the finalists, which alone the verdict is based on. So the choice of the finalists does not bias it, and the confidence
// is shared between them alone.
func (o *Options) statistics(ctx context.Context, name string, s sampler, space *verify.Space, dom *verify.Domain) (*Report, error) {
	if o.Budget < 1 {
		return nil, fmt.Errorf("%w: a budget of %d samples", ErrOptions, o.Budget)
	}
	if o.Confidence.Sign() <= 0 || o.Confidence.Cmp(big.NewRat(1, 1)) >= 0 {
		return nil, fmt.Errorf("%w: the confidence must lie between 0 and 1", ErrOptions)
	}
	st := &statistics{ctx: ctx, o: o, sampler: s, space: space, rng: rand.New(rand.NewPCG(o.Seed, 0x73616d706c6572)), budget: o.Budget}
	// alpha is the probability of a false verdict; the test of fit takes half.
	alpha := new(big.Rat).Sub(big.NewRat(1, 1), o.Confidence)
	if o.Against != nil {
		alpha.Quo(alpha, big.NewRat(2, 1))
	}
	r := &Report{Confidence: o.Confidence}
	r.Mechanism, r.Domain, r.Claimed = name, dom.Name, o.claim()
	res := verify.Result{Name: verify.DP, Verdict: verify.Undecided}
	err := st.collect(dom)
	if err == nil {
		err = st.explore()
	}
	var fit *verify.Result
	if err == nil && o.Against != nil {
		fit, err = st.fit(alpha)
	}
	lower := new(big.Rat)
	if err == nil {
		lower, err = st.test(alpha, &res)
	}
	if err != nil && !errors.Is(err, verify.ErrUndecided) {
		return nil, err
	}
	if err != nil {
		res.Reason = strings.TrimPrefix(err.Error(), verify.ErrUndecided.Error()+": ")
	}
	r.LowerBound = st.conclude(&res, lower)
	r.Samples = st.drawn
	r.Properties = append(r.Properties, res)
	if fit != nil {
		r.Properties = append(r.Properties, *fit)
	}
	r.chooseWitness()
	return r, nil
}

// stopped returns an error once the audit is cancelled.
func (s *statistics) stopped() error {
	if s.ctx.Err() != nil {
		return errStopped
	}
	return nil
}

// collect numbers the score vectors of the domain and of its pairs of neighbours. Of more pairs than there
// is room for it keeps some at random, from the first ones.
func (s *statistics) collect(dom *verify.Domain) error {
	places := map[string]int{}
	place := func(q verify.Vector) int {
		key := fmt.Sprint(q)
		i, ok := places[key]
		if !ok {
			i = len(s.tallies)
			places[key] = i
			s.tallies = append(s.tallies, &tally{q: q, counts: make([]int64, len(q))})
		}
		return i
	}
	for q := range dom.Vectors {
		if err := s.stopped(); err != nil {
			return err
		}
		place(q)
	}
	if len(s.tallies) == 0 {
		return nil
	}
	room, met := pairsOf(len(s.tallies[0].q)), 0
	var kept [][2]verify.Vector
	for q, other := range dom.Neighbors {
		if err := s.stopped(); err != nil {
			return err
		}
		if met++; met > 8*room {
			break
		}
		if len(kept) < room {
			kept = append(kept, [2]verify.Vector{q, other})
		} else if i := s.rng.IntN(met); i < room {
			kept[i] = [2]verify.Vector{q, other}
		}
	}
	type edge struct{ a, b int }
	seen := map[edge]bool{}
	for _, p := range kept {
		if err := s.stopped(); err != nil {
			return err
		}
		e := edge{place(p[0]), place(p[1])}
		if e.a > e.b {
			e.a, e.b = e.b, e.a
		}
		if !seen[e] {
			seen[e] = true
			s.pairs = append(s.pairs, pair{from: e.a, to: e.b})
		}
	}
	return nil
}

// draw adds samples at one score vector.
func (s *statistics) draw(t *tally, samples int64) error {
	if err := s.stopped(); err != nil {
		return err
	}
	if t.event != "" || samples <= 0 {
		return nil
	}
	counts, event, err := s.sampler.Sample(t.q, samples)
	if err != nil {
		return err
	}
	if event != "" {
		t.event = event
		return nil
	}
	if len(counts) != len(t.q) {
		return fmt.Errorf("%w: %d counts for %d candidates", ErrOptions, len(counts), len(t.q))
	}
	s.drawn += samples
	t.total += samples
	for r, c := range counts {
		t.counts[r] += c
	}
	return nil
}

// explore spends the first rounds; afterwards s.pairs are the finalists, best first, with their candidates.
func (s *statistics) explore() error {
	for i, round := range rounds {
		if i > 0 {
			s.rank()
			s.pairs = slices.Clip(s.pairs[:min(round.pairs, len(s.pairs))])
		}
		var places []int
		for _, p := range s.pairs {
			places = append(places, p.from, p.to)
		}
		if i == 0 {
			for j := range s.tallies {
				places = append(places, j)
			}
		}
		slices.Sort(places)
		places = slices.Compact(places)
		each := max(1, int64(round.share*float64(s.budget))/int64(max(1, len(places))))
		if each*int64(len(places)) > s.budget { // fewer samples than vectors: some at random
			s.rng.Shuffle(len(places), func(a, b int) { places[a], places[b] = places[b], places[a] })
			places = places[:s.budget/2]
		}
		for _, j := range places {
			if err := s.draw(s.tallies[j], each); err != nil {
				return err
			}
		}
	}
	s.rank()
	return nil
}

// rank sorts the pairs by what a test with the rest of the budget promises to prove about them, and keeps one
// candidate and direction for each.
func (s *statistics) rank() {
	left := float64(max(1, s.budget-s.drawn)) / (2 * finalists)
	best := map[[2]int]pair{}
	for _, p := range s.pairs {
		a, b := s.tallies[p.from], s.tallies[p.to]
		if a.total == 0 || b.total == 0 {
			continue
		}
		for r := range a.counts {
			for _, d := range []pair{{p.from, p.to, r, 0}, {p.to, p.from, r, 0}} {
				x, y := s.tallies[d.from], s.tallies[d.to]
				d.promise = promise(x.counts[r], x.total, y.counts[r], y.total, left)
				key := [2]int{min(d.from, d.to), max(d.from, d.to)}
				if old, ok := best[key]; !ok || d.promise > old.promise {
					best[key] = d
				}
			}
		}
	}
	s.pairs = s.pairs[:0]
	for _, p := range best {
		s.pairs = append(s.pairs, p)
	}
	slices.SortFunc(s.pairs, func(a, b pair) int {
		return cmp.Or(-cmp.Compare(a.promise, b.promise), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
}

// promise guesses the lower bound on ln(p/q) that fresh samples would prove, from x of n and y of m: the
// estimate less some standard errors of what is planned and of what is known.
func promise(x, n, y, m int64, planned float64) float64 {
	p, q := (float64(x)+0.5)/(float64(n)+1), (float64(y)+0.5)/(float64(m)+1)
	variance := func(p float64, n float64) float64 { return (1 - p) / (p * n) }
	future := variance(p, planned) + variance(max(q, 1/planned), planned)
	known := variance(p, float64(n)) + variance(q, float64(m))
	return math.Log(p/q) - 2.5*math.Sqrt(future) - math.Sqrt(known)
}

// test spends the rest of the budget at the finalists and returns a lower bound on e^ε that holds with
// probability 1 - alpha at least.
func (s *statistics) test(alpha *big.Rat, res *verify.Result) (*big.Rat, error) {
	pairs := s.pairs[:min(finalists, len(s.pairs))]
	lower := big.NewRat(1, 1)
	if len(pairs) == 0 {
		return lower, nil
	}
	each := max(1, (s.budget-s.drawn)/int64(2*len(pairs)))
	level := new(big.Rat).Quo(alpha, big.NewRat(2*int64(len(pairs)), 1))
	for _, p := range pairs {
		fresh := [2]*tally{}
		for i, at := range []int{p.from, p.to} {
			fresh[i] = &tally{q: s.tallies[at].q, counts: make([]int64, len(s.tallies[at].q))}
			if err := s.draw(fresh[i], each); err != nil {
				return lower, err
			}
			s.tallies[at].event = cmp.Or(s.tallies[at].event, fresh[i].event)
		}
		a, b := fresh[0], fresh[1]
		res.Checked++
		if a.event != "" || b.event != "" {
			continue
		}
		bound := lowerLimit(a.total, a.counts[p.r], level)
		bound.Quo(bound, upperLimit(b.total, b.counts[p.r], level))
		if bound.Cmp(lower) <= 0 {
			continue
		}
		lower = bound
		res.Witness = &verify.Witness{
			Scores: s.space.Scores(a.q), Neighbor: s.space.Scores(b.q), Candidate: &p.r,
			P: frequency(a.counts[p.r], a.total), PNeighbor: frequency(b.counts[p.r], b.total),
		}
	}
	return lower, nil
}

func frequency(x, n int64) number.Number {
	return number.Estimate(float64(x)/float64(n), fmt.Sprintf("%d of %d samples", x, n))
}

// conclude sets the verdict on privacy and returns the lower bound on ε. A witness stays only where
// it refutes the claim.
func (s *statistics) conclude(res *verify.Result, lower *big.Rat) number.Number {
	res.Attained, res.Witness = res.Witness, nil
	bound := number.Int(0)
	if lower.Cmp(big.NewRat(1, 1)) > 0 {
		log := interval.LogRat(lower, 128)
		bound = number.Enclosed(log)
		if c, ok := verify.Rational(lower).Compare(verify.ExpEpsilon(s.o.Epsilon)); ok && c > 0 {
			res.Verdict, res.Witness = verify.Violated, res.Attained
		}
	}
	if res.Verdict == verify.Undecided && res.Reason == "" {
		res.Reason = "samples cannot prove privacy; none was found violated"
	}
	return bound
}

// fit tests whether the samples of the first round are those of the named mechanism: for every score vector and candidate, both
// tails, sharing alpha.
func (s *statistics) fit(alpha *big.Rat) (*verify.Result, error) {
	res := &verify.Result{Name: Against, Verdict: verify.Undecided,
		Reason: "the samples fit " + s.o.Against.Info().Name}
	named := verify.ForMechanism(s.o.Against, s.space)
	tests := int64(0)
	for _, t := range s.tallies {
		tests += 2 * int64(len(t.q))
	}
	level := interval.FromRat(new(big.Rat).Quo(alpha, big.NewRat(max(1, tests), 1)), binomialBits)
	for _, t := range s.tallies {
		if err := s.stopped(); err != nil {
			return nil, err
		}
		if t.total == 0 {
			continue
		}
		want, err := named.Answer(t.q)
		if err != nil {
			return nil, err
		}
		for r, x := range t.counts {
			res.Checked++
			p := want.P[r].Enclose(binomialBits)
			if !unlikely(t.total, x, p, level) {
				continue
			}
			res.Verdict, res.Reason = verify.Violated, "the samples are not those of "+s.o.Against.Info().Name
			w := &verify.Witness{
				Scores: s.space.Scores(t.q), Candidate: &r, P: frequency(x, t.total), PExpected: want.P[r].Number(),
			}
			if res.Witness == nil || len(w.String()) < len(res.Witness.String()) {
				res.Witness = w
			}
		}
	}
	return res, nil
}

// unlikely reports whether x of n or further from n·p has probability at most level on its side.
// What lies within two standard deviations is not even asked about.
func unlikely(n, x int64, p, level interval.Interval) bool {
	mid, _ := p.Mid().Float64()
	deviation := float64(x) - float64(n)*mid
	if math.Abs(deviation) < 2*math.Sqrt(float64(n)*mid*(1-mid)) {
		return false
	}
	one := interval.FromInt(1, binomialBits)
	tail := one
	switch {
	case deviation > 0 && p.Hi().Sign() == 0, deviation < 0 && p.Lo().Cmp(one.Lo()) == 0:
		return true
	case deviation > 0:
		tail = upperTail(n, x, interval.Point(p.Hi()))
	case deviation < 0:
		tail = upperTail(n, n-x, one.Sub(interval.Point(p.Lo())))
	}
	holds, ok := tail.LessEq(level)
	return ok && holds
}
