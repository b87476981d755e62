package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"optratio/internal/inquiry"
	"optratio/number"
	"optratio/verify"
)

// sampler draws from a mechanism and says how often each outcome came; outcomes are numbered, candidates or others. An event, if
// not empty, came instead of counts; an error ends the audit.
type sampler interface {
	Sample(q inquiry.Vector, samples int64) (counts []int64, event string, err error)
}

const (
	mostPairs     = 200_000 // of neighbors; more are thinned out at random
	mostNumbers   = 4 << 20 // scores in all pairs
	fewestVectors = 64      // that the domain is not thinned out below
	samplesAPlace = 200     // of the budget, for each score vector of the domain
)

// Samples audits a program that draws samples.
func (p Program) Samples(ctx context.Context, o Options) (*Report, error) {
	o, err := p.checked(o)
	if err != nil {
		return nil, err
	}
	space, dom, err := o.sampleDomain()
	if err != nil {
		return nil, err
	}
	askers := make([]*asker, max(1, p.Children))
	references := slices.Clone(askers)
	for i := range askers {
		askers[i] = newAsker(ctx, space, &o)
		defer askers[i].child.stop()
		references[i] = askers[i].reference()
		defer references[i].child.stop()
	}
	o.beside = func(compared []comparison) sampler {
		return newSampler(&program{children: askers, others: references, compared: compared})
	}
	r, err := o.statistics(ctx, p.Command, newSampler(&program{children: askers}), space, dom)
	if err != nil {
		return nil, err
	}
	for _, a := range askers {
		a.finish()
	}
	r.account(gather(askers))
	return r, nil
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

// pairsOf is the most pairs of neighbors of n candidates that are kept.
func pairsOf(n int) int { return max(1, min(mostPairs, mostNumbers/(2*n))) }

// statistics is one audit of a sampler.
type statistics struct {
	ctx     context.Context
	o       *Options
	sampler sampler
	rng     *rand.Rand
	space   *inquiry.Space
	field   *field
	wealth  *wealth // nil: there are no bets
	repeats independence
	early   []dated // samples to be drawn again
	drawn   int64
	budget  int64 // of all tests together
	cuts    int   // how often intervals were chosen
	shown   map[string]*evidence
	history []Progress
	goal    goal // of the bets
	refused bool // there was a bet on what is not answered
	quick   bool // it is one of the stages before the whole budget is used
	silent  int  // how often what was asked while searching was not answered
}

// errRepeats ends an audit whose samples are not independent.
var errRepeats = fmt.Errorf("%w: the samples are not independent, so that no ε is concluded from them", inquiry.ErrUndecided)

// ofSamples checks the options and fills in the properties that are asked about by default.
func (o *Options) ofSamples() (whole Options, err error) {
	if o.Budget < 1 {
		return whole, fmt.Errorf("%w: a budget of %d samples", errOptions, o.Budget)
	}
	if o.Confidence.Sign() <= 0 || o.Confidence.Cmp(big.NewRat(1, 1)) >= 0 {
		return whole, fmt.Errorf("%w: the confidence must lie between 0 and 1", errOptions)
	}
	whole = *o
	if whole.Properties == nil {
		whole.Properties = []verify.Property{verify.DP}
		if o.Targets[verify.ApproximateDP] != nil {
			whole.Properties[0] = verify.ApproximateDP
		}
	}
	return whole, nil
}

// statistics searches the score vectors for neighbors that look bad, and bets that fresh samples show what it found
// (research/docs/bets.md). The budget is the only limit, but for the context: what is known when it ends is reported.
func (o *Options) statistics(ctx context.Context, name string, s sampler, space *inquiry.Space, dom *inquiry.Domain) (*Report, error) {
	whole, err := o.ofSamples()
	if err != nil {
		return nil, err
	}
	// All verdicts but that on independence share the probability of a false one.
	alpha := new(big.Rat).Sub(big.NewRat(1, 1), o.Confidence)
	alpha.Quo(alpha, big.NewRat(whole.parts(), 1))
	goals, again := whole.goals(), o.again()
	less := whole
	less.Budget -= askedAgain * again
	rng := rand.New(rand.NewPCG(o.Seed, 0x73616d706c6572))
	st := newStatistics(ctx, &less, s, space, rng)
	st.budget = o.Budget
	r := &Report{Confidence: o.Confidence}
	r.Mechanism, r.Domain, r.Claimed = name, dom.Name, o.Epsilon.Number()
	var tests []verify.Result
	for i, p := range whole.tested() {
		budget := int64(min(testShare, testedShare/float64(len(whole.tested()))) * float64(less.Budget))
		if len(goals) == 0 {
			budget = (less.Budget - st.drawn) / int64(len(whole.tested())-i)
		}
		res, err := st.test(p, dom, alpha, budget)
		if err != nil {
			return nil, err
		}
		tests = append(tests, res)
	}
	first := len(goals) > 0 && goals[0] != verify.BoundedRange // it has what is left, the others a share
	others := goals
	if first {
		st.betOn(goals[0], alpha)
		others = goals[1:]
	}
	reserve := int64(0)
	if len(others) > 0 {
		reserve = int64(rangeShare * float64(less.Budget))
		less.Budget -= reserve
	}
	less.Budget -= less.Budget / lateShare
	why, err := st.search(dom, again)
	if err != nil {
		return nil, err
	}
	for i, p := range goals {
		res, bound := verify.Result{}, number.Number{}
		if i == 0 && first {
			res, bound = st.conclude(p, why)
		} else if res, bound, err = st.measure(p, alpha, reserve/int64(len(others))); err != nil {
			return nil, err
		}
		switch r.Properties = append(r.Properties, res); p {
		case verify.DP:
			r.LowerBound, r.History = bound, st.history
		case verify.ApproximateDP:
			r.DeltaBound = bound
		}
	}
	at := 0
	if slices.Contains(whole.Properties, verify.DP) {
		at = 1
	}
	r.Samples, r.Properties = st.drawn, slices.Insert(r.Properties, at, st.repeats.result())
	if st.repeats.broken {
		r.History = nil
	} else {
		r.Properties = append(r.Properties, tests...)
	}
	if o.Inputs != nil && o.Inputs.rows != nil && !o.NoSide {
		r.Domain += "; no side set, whose pairs would share the samples"
	}
	r.nameInputs(o.Inputs)
	r.chooseWitness()
	return r, nil
}

func newStatistics(ctx context.Context, o *Options, s sampler, space *inquiry.Space, rng *rand.Rand) *statistics {
	return &statistics{ctx: ctx, o: o, budget: o.Budget, sampler: s, space: space, rng: rng, field: newField(o, rng)}
}

// search searches the domain, bets, and tests whether samples are independent. It returns why dp is undecided, if it is.
func (s *statistics) search(dom *inquiry.Domain, again int64) (why string, err error) {
	err = s.run(dom)
	if !s.repeats.broken && (err == nil || errors.Is(err, inquiry.ErrUndecided)) {
		err = cmp.Or(s.drawLate(), err)
	}
	if err == nil && again > 0 {
		if s.o.UntilRefuted && s.wealth != nil && s.wealth.refuted() { // as many as the bets needed say enough
			again = max(fewAgain, s.drawn/(againShare*askedAgain))
		}
		err = s.askAgain(again)
	}
	switch {
	case errors.Is(err, inquiry.ErrUndecided):
		why = reason(err)
	case err != nil:
		return "", err
	default:
		why = "samples cannot prove privacy; of the events compared at neighbors none differs significantly more than is claimed"
	}
	if silent := s.field.silent(); silent > 0 {
		why = fmt.Sprintf("%d score vectors were not answered; %s", silent, why)
	}
	return why, nil
}

// reason is what an error that wraps inquiry.ErrUndecided says.
func reason(err error) string {
	return strings.TrimPrefix(err.Error(), inquiry.ErrUndecided.Error()+": ")
}

// stopped returns an error once the audit is cancelled.
func (s *statistics) stopped() error {
	if s.ctx.Err() != nil {
		return errStopped
	}
	return nil
}

// halves divides samples into two parts where there are enough; otherwise the second one is empty.
func halves(samples int64) [2]int64 {
	if samples < fewestCompared {
		return [2]int64{samples, 0}
	}
	return [2]int64{samples - samples/2, samples / 2}
}

// draw asks for samples at a place, in two halves that are compared where there are enough.
func (s *statistics) draw(i int, samples int64) ([]int64, error) {
	p := s.field.places[i]
	if err := s.stopped(); err != nil {
		return nil, err
	}
	if p.event != "" || samples <= 0 {
		return nil, nil
	}
	samples = s.even(samples)
	var sum, before []int64
	parts := halves(samples)
	var children [][][]int64 // what each of several children counted, in either half
	for part, n := range parts {
		if n == 0 {
			continue
		}
		got, event, err := s.sampler.Sample(p.q, n)
		if err != nil {
			return nil, err
		}
		if event != "" {
			p.event = event
			return nil, nil
		}
		if s.field.pooled && len(got) != len(p.q) {
			return nil, fmt.Errorf("%w: %d counts for %d candidates", errOptions, len(got), len(p.q))
		}
		s.drawn += n
		if s.o.Progress != nil {
			s.o.Progress(s.drawn, s.budget)
		}
		s.field.add(i, part, got, n)
		if several, ok := s.sampler.(divided); ok {
			children = append(children, several.splits())
		}
		if part == 0 {
			sum, before = slices.Clone(got), got
			continue
		}
		if n == parts[0] {
			s.repeats.compare(before, got, n, func() string {
				return fmt.Sprintf("asked twice for %d samples at %s, it answered %v and %v", n, s.at(p.q), before, got)
			})
		}
		sum = added(sum, got)
	}
	for _, counted := range children {
		s.compareChildren(p.q, counted)
	}
	if s.repeats.broken {
		return nil, errRepeats
	}
	s.date(i, sum, samples)
	return sum, nil
}

// compareChildren tests whether children repeat each other, as those do that start with one seed, where each drew as much.
func (s *statistics) compareChildren(q inquiry.Vector, counted [][]int64) {
	for i := range counted {
		if n := sumOf(counted[i]); n == 0 || n != sumOf(counted[0]) || len(counted) == 1 {
			return
		}
	}
	s.repeats.siblings(counted, func() string {
		return fmt.Sprintf("children that were asked for %d samples each at %s answered %v", sumOf(counted[0]), s.at(q), counted)
	})
}

// Before an audit ends, one question is asked again and again: the answers of generators that start with few seeds come round.
const (
	askedAgain = 20
	againShare = 50 // such a part of the budget
	fewAgain   = 20 // samples at least
)

// again is how many samples each of these questions is for; 0: the budget is too small.
func (o *Options) again() int64 {
	if o.Budget < 8*askedAgain*fewAgain {
		return 0
	}
	return max(fewAgain, o.Budget/(againShare*askedAgain))
}

// askAgain asks one question again and again, and tests whether answers repeat those before.
func (s *statistics) askAgain(samples int64) error {
	at := -1 // where the counts are the least likely to come again
	for i, p := range s.field.places {
		if p.event == "" && p.total > 0 && (at < 0 || logLikeliest(p.counts) < logLikeliest(s.field.places[at].counts)) {
			at = i
		}
	}
	if at < 0 || samples == 0 || s.repeats.broken {
		return nil
	}
	q, samples := s.field.places[at].q, s.even(samples)
	var answers [][]int64
	for k := range askedAgain {
		if err := s.stopped(); err != nil {
			return err
		}
		got, event, err := s.sampler.Sample(q, samples)
		if err != nil || event != "" {
			return err
		}
		s.drawn += samples
		s.repeats.again(got, answers, func() string {
			return fmt.Sprintf("asked again and again for %d samples at %s, it answered %v, and later %v", samples, s.at(q), answers[max(0, k-mostAgo):k], got)
		})
		if several, ok := s.sampler.(divided); ok {
			s.compareChildren(q, several.splits())
		}
		if s.repeats.broken {
			return errRepeats
		}
		answers = append(answers, got)
	}
	return nil
}

func sumOf[T int64 | float64](counts []T) (n T) {
	for _, c := range counts {
		n += c
	}
	return n
}

// at says in words where samples are drawn.
func (s *statistics) at(q inquiry.Vector) string {
	return strings.TrimPrefix(s.o.about(s.space, q), "scores ")
}

// fewestCompared is the fewest samples whose two halves are compared: fewer tell little.
const fewestCompared = 10

func frequency(x, n int64) number.Number {
	return number.Estimate(float64(x)/float64(n), fmt.Sprintf("%d of %d samples", x, n))
}

// conclude returns the verdict on what was bet on, why it is undecided if no bet says more, and the lower bound on ε, δ or ρ.
func (s *statistics) conclude(p verify.Property, why string) (res verify.Result, bound number.Number) {
	res = verify.Result{Name: p, Verdict: verify.Undecided, Reason: why}
	var most number.Number
	if target := s.o.Targets[p]; target != nil {
		most = number.Exact(target)
	}
	if p == verify.ApproximateDP {
		res.Target = most
	}
	if s.repeats.broken {
		return res, number.Int(0)
	}
	if res.Checked = int64(len(s.shown)); res.Checked == 0 {
		res.Checked = s.seen()
	}
	at := s.wealth.bound()
	bound = s.wealth.value(at)
	strongest := s.wealth.strongest(max(at, 0))
	if strongest == nil || at < 0 && s.goal == lowerBound {
		return res, bound
	}
	res.Attained = strongest.witness
	if at >= s.wealth.claimed {
		res.Verdict, res.Reason, res.Witness = verify.Violated, "", res.Attained
	}
	if s.goal != lowerBound {
		s.bounded(&res, bound, most)
	}
	return res, bound
}

// name says in a witness which outcomes make up the event.
func (s *statistics) name(w *verify.Witness, event []bool) {
	switch outcomes := s.sampler.(type) {
	case *program:
		if !outcomes.all.list {
			w.Event = outcomes.all.event(event)
			return
		}
	case learner:
		w.Event = outcomes.event(event)
		return
	}
	var in []int
	for r, is := range event {
		if is {
			in = append(in, r)
		}
	}
	if len(in) == 1 {
		w.Candidate = &in[0]
		return
	}
	w.Event = "one of the candidates " + strings.Trim(strings.ReplaceAll(fmt.Sprint(in), " ", ", "), "[]")
}
