package audit

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/inquiry"
	"optratio/verify"
)

// Shares of the budget, or of a stage of it.
const (
	mostExploring  = 0.2
	leastExploring = 0.1
	enoughAClass   = 400  // draws at every class that exploring needs no more than
	perPlace       = 3    // draws at every score vector that shows whether it is like its class, if they are
	leastApart     = 0.08 // at least this part of the exploring, and
	mostApart      = 0.4  // at most that
	firstStage     = 1000 // samples of the first stage, where an audit ends once the claim is refuted
	nextStage      = 1.7
	quickPart      = 16  // such a part of the budget is for these stages
	perClass       = 24  // draws in the first round; classes for which there are none are left out
	rounds         = 4   // of exploring; in each, a part of the pairs stays
	staying        = 0.3 // that part
	fewestPairs    = 6   // that stay
	firstBatch     = 1.0 / 25
	nextBatch      = 1.25
	finalists      = 12   // pairs of either kind between which is chosen before a bet
	least          = 200  // samples that it pays to explore with
	fewTried       = 50   // draws at either side of a pair before it is bet on,
	triedShare     = 1000 // and such a part of what is left
	fewestHits     = 3    // of an event that promises something
	usualPart      = 0.8  // of the claim, that the search promises of a mechanism that has its ε,
	usualLoss      = 25.0 // less this over the root of the samples that are left
	rivalPart      = 20   // such a part of a batch is drawn at either side of the most hopeful pair, where that is another
	hysteresis     = 0.05 // in promise, before a pair that was bet on is left
	loyalty        = 1.3  // likewise of numbers, where a claim is to be refuted: times its promise, whatever the event at the pair
	mostOdd        = 6    // score vectors whose pairs are looked at although others like them are
	oddness        = 8    // surprise from which on they are
	fewestToTell   = 5    // draws at a place that say whether it is like its class
	farApart       = 5    // standard deviations of chance from which on classes are doubted
	unlikeEnough   = 300  // draws that others of a class count for at most, where each place is looked at by itself
	mostWide       = 20_000
)

// errFailed ends the bets of an audit.
var errFailed = fmt.Errorf("%w: an error came instead of samples that a bet was on", inquiry.ErrUndecided)

// run spends the budget: first on tests at score vectors of the domain, then on the search for pairs that look bad, and on bets.
func (s *statistics) run(dom *inquiry.Domain) error {
	var places []int
	for q := range dom.Vectors {
		if err := s.stopped(); err != nil {
			return err
		}
		places = append(places, s.field.place(q))
	}
	if len(places) == 0 {
		return fmt.Errorf("%w: nothing to check: there are no score vectors", inquiry.ErrUndecided)
	}
	if err := s.field.collect(dom, pairsOf(len(s.field.places[0].q)), s.stopped); err != nil {
		return err
	}
	if s.o.Against != nil {
		if err := s.drawForFit(places); err != nil {
			return err
		}
	}
	if len(s.o.tested()) > 0 {
		if err := s.compare(places); err != nil {
			return err
		}
	}
	if !s.o.wants() && len(s.o.measured()) == 0 {
		return nil
	}
	if len(s.field.edges) == 0 {
		return fmt.Errorf("%w: nothing to check: there are no neighbors", inquiry.ErrUndecided)
	}
	if err := s.prepare(); err != nil {
		return err
	}
	if !s.o.wants() {
		if err := s.large(); err != nil {
			return err
		}
		return s.explore(s.o.Budget - s.drawn)
	}
	return s.stages()
}

// prepare puts pairs into the order in which they are looked at, and draws what the first cells of numbers are chosen from.
func (s *statistics) prepare() error {
	s.order(!s.o.UntilRefuted)
	if _, ok := s.sampler.(learner); !ok {
		return nil
	}
	if s.o.Outcomes == Mixed {
		return s.pilot(mixedPilots)
	}
	return s.pilot(pilots)
}

// order puts pairs into the order in which they are looked at; with those that are some steps apart where the stages are not quick.
func (s *statistics) order(far bool) {
	unit := new(big.Rat).Quo(s.o.Sensitivity, s.space.Unit)
	if far && s.o.wants() && len(s.o.Pairs)+len(s.o.Vectors) == 0 {
		s.field.stretch(s.o, unit.Num().Int64())
	}
	scale, _ := unit.Float64()
	s.field.guess(s.aim(), scale, s.o.Neighbors)
}

// stages explores, and bets the rest: once where the whole budget goes into the bound. Where the audit ends with the refutation, there are quick stages before, which
// grow, and of outcomes that are no candidates nothing else.
func (s *statistics) stages() error {
	end := s.drawn + firstStage
	for {
		if s.quick = s.o.UntilRefuted && (!s.field.pooled || end < s.o.Budget/quickPart); !s.quick {
			end = s.o.Budget
			if s.wealth.late = s.o.UntilRefuted; s.wealth.late {
				s.order(true)
			}
			if err := s.large(); err != nil {
				return err
			}
		}
		end = min(end, s.o.Budget)
		stage := float64(end - s.drawn)
		if stage <= 0 {
			return nil
		}
		share, quick := int64(s.exploring(stage)), s.quick
		s.quick = s.o.UntilRefuted // it is looked for what refutes the claim, whatever the bets are for
		if err := s.explore(share); err != nil {
			return err
		}
		s.quick = quick
		if err := s.refuse(); err != nil {
			return err
		}
		if s.o.UntilRefuted && s.failed != nil && s.failedAt >= s.wealth.claimed {
			return nil
		}
		done, err := s.bet(end)
		if errors.Is(err, errFailed) { // perhaps at one of the two alone
			err = cmp.Or(s.refuse(), err)
		}
		if err != nil || done || end == s.o.Budget {
			return err
		}
		end = int64(nextStage * float64(end))
	}
}

// exploring is how many samples of a stage go into the search. A stage of numbers has none for it where the wealth at the claim has risen already.
func (s *statistics) exploring(stage float64) float64 {
	share := mostExploring * stage
	switch {
	case !s.quick:
		return min(share, max(leastExploring*stage, enoughAClass*float64(len(s.field.classes))))
	case s.field.ordered && s.wealth.total(s.wealth.levels[s.wealth.claimed]) > 0:
		return 0
	}
	return share
}

// drawForFit draws the same number of samples at every score vector of the domain, or at some drawn at random where the budget is small.
func (s *statistics) drawForFit(places []int) error {
	budget := int64(fitShare * float64(s.o.Budget))
	places = slices.Clone(places)
	slices.Sort(places)
	places = slices.Compact(places)
	if most := int(max(1, budget/fewestForFit)); len(places) > most {
		s.rng.Shuffle(len(places), func(a, b int) { places[a], places[b] = places[b], places[a] })
		places = places[:most]
	}
	s.planned = int64(len(places))
	each := budget / s.planned
	for _, i := range places {
		counts, err := s.draw(i, each)
		if err != nil {
			return err
		}
		if counts != nil {
			s.samples = append(s.samples, sample{i, counts, sumOf(counts)})
		}
	}
	return nil
}

// fewestForFit is the fewest samples at one score vector that a test of fit is made of, where there are more vectors.
const fewestForFit = 20

// site returns where samples for a place are drawn while searching: at the first one of its class, if it is like that.
func (s *statistics) site(i int) int {
	f := s.field
	if f.asymmetric() || f.surprise(i) > oddness {
		return i
	}
	for _, j := range f.classes[f.places[i].class].members {
		if f.places[j].event == "" && f.surprise(j) <= oddness {
			return j
		}
	}
	return i
}

// sites lists where samples for pairs are drawn.
func (s *statistics) sites(edges []edge) []int {
	var out []int
	for _, e := range edges {
		out = append(out, s.site(e.from), s.site(e.to))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// aim is what the rest of the budget is for.
func (s *statistics) aim() aim {
	return aim{
		left: float64(max(1, s.o.Budget-s.drawn)), refute: s.quick && s.o.wants(), claimed: s.o.Epsilon.Float(),
		approximate: !s.o.wants() && slices.Contains(s.o.measured(), verify.ApproximateDP),
	}
}

// explore spends a number of samples on finding out which pairs promise most: all of them in the first round, fewer in each that
// follows. Part of it goes to score vectors that are not like the rest of their class.
func (s *statistics) explore(samples int64) error {
	f := s.field
	apart := int64(0)
	if f.pooled && len(f.places) > len(f.classes) {
		apart = int64(max(leastApart, min(mostApart, perPlace*float64(len(f.places))/float64(samples))) * float64(samples))
	}
	samples -= apart
	each := samples / (rounds + 1) // the first round takes two parts
	edges := s.candidates(2 * each)
	defer s.recut()
	for round := range rounds {
		s.recut()
		if f.refit(s.aim()); round > 0 {
			edges = f.rank(edges, s.aim(), true)
			edges = edges[:min(len(edges), max(fewestPairs, int(staying*float64(len(edges)))))]
		}
		if round == 1 && apart > 0 {
			odd, err := s.screen(apart)
			if err != nil {
				return err
			}
			edges = append(edges, odd...)
			f.weigh()
			if f.widen(); f.asymmetric() {
				edges = s.candidates(each)
			}
		}
		sites, part := s.sites(edges), each
		if round == 0 {
			part *= 2
		}
		each := max(2, part/int64(max(1, len(sites))))
		if err := s.drawEach(sites, each); err != nil {
			return err
		}
		f.weigh()
	}
	return nil
}

// candidates are the pairs that exploring starts with. Where there are too many classes for so few samples, those that the most pairs are like; where members of
// classes differ, the most hopeful; of labels, those that were least looked at before.
func (s *statistics) candidates(samples int64) []edge {
	f := s.field
	edges := f.edges
	switch {
	case f.asymmetric():
		edges = f.rank(edges, s.aim(), true)
	case !f.pooled && !f.ordered:
		edges = f.leastKnown()
	}
	known := map[int]bool{}
	for i, e := range edges {
		known[s.site(e.from)], known[s.site(e.to)] = true, true
		if len(known) > max(4, int(samples/perClass)) {
			return edges[:i+1]
		}
	}
	return edges
}

// leastKnown returns the pairs with the fewest draws first, at that side which has fewer.
func (f *field) leastKnown() []edge {
	drawn := func(e edge) int64 { return min(f.places[e.from].total, f.places[e.to].total) }
	out := slices.Clone(f.edges)
	slices.SortStableFunc(out, func(a, b edge) int { return cmp.Compare(drawn(a), drawn(b)) })
	return out
}

// drawEach draws samples at places for the search alone, as long as there are any in the budget.
func (s *statistics) drawEach(places []int, each int64) error {
	for _, i := range places {
		if _, err := s.draw(i, min(each, s.o.Budget-s.drawn)); err != nil {
			return err
		}
		if s.silent++; s.field.places[i].event == "" {
			s.silent--
		} else if s.silent == someSilent {
			if err := s.refuse(); err != nil {
				return err
			}
		}
	}
	return nil
}

// drawBoth draws at two places.
func (s *statistics) drawBoth(i int, n int64, j int, m int64) (own, near []int64, err error) {
	if own, err = s.draw(i, n); err == nil {
		near, err = s.draw(j, m)
	}
	return own, near, err
}

// screen draws a few samples at as many score vectors as it can, more at those that are least like their class, and returns the
// pairs of those that stay apart.
func (s *statistics) screen(samples int64) ([]edge, error) {
	f := s.field
	var places []int
	for i, p := range f.places {
		if p.event == "" && (len(f.classes[p.class].members) > 1 || len(f.classes[p.class].sizes) < len(p.q)) {
			places = append(places, i)
		}
	}
	s.rng.Shuffle(len(places), func(a, b int) { places[a], places[b] = places[b], places[a] })
	for _, stage := range []struct {
		share float64
		keep  int
	}{{0.5, max(1, int(samples/10))}, {0.25, max(8, len(places)/8)}, {0.25, 2 * mostOdd}} {
		places = f.oddest(places)
		places = places[:min(len(places), stage.keep)]
		each := int64(stage.share * float64(samples) / float64(max(1, len(places))))
		if err := s.drawEach(places, each); err != nil {
			return nil, err
		}
	}
	places = f.oddest(places)
	var out []edge
	for _, i := range places[:min(len(places), mostOdd)] {
		if f.surprise(i) < oddness {
			break
		}
		if f.places[i].apart || f.wide {
			continue
		}
		f.places[i].apart = true
		for _, pair := range f.all {
			if pair[0] == i || pair[1] == i {
				e := f.edge(pair)
				out, f.edges = append(out, e), append(f.edges, e)
			}
		}
	}
	return out, nil
}
