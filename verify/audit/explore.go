package audit

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"

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
	perClass       = 24  // draws in the first round; classes for which there are none are left out
	rounds         = 4   // of exploring; in each, a part of the pairs stays
	staying        = 0.3 // that part
	fewestPairs    = 6   // that stay
	firstBatch     = 1.0 / 25
	nextBatch      = 1.25
	finalists      = 12   // pairs of either kind between which is chosen before a bet
	least          = 200  // samples that it pays to explore with
	rivalPart      = 20   // such a part of a batch is drawn at either side of the most hopeful pair, where that is another
	hysteresis     = 0.05 // in promise, before a pair that was bet on is left
	loyalty        = 1.3  // likewise of numbers, where a claim is to be refuted: times its promise, whatever the event at the pair
	mostOdd        = 6    // score vectors that are looked at apart from their class
	oddness        = 8    // surprise from which on they are
)

// errFailed ends the bets of an audit.
var errFailed = fmt.Errorf("%w: an error came instead of samples that a bet was on", verify.ErrUndecided)

// run spends the budget: first on tests at score vectors of the domain, then on the search for pairs that look bad, and on bets.
func (s *statistics) run(dom *verify.Domain) error {
	var places []int
	for q := range dom.Vectors {
		if err := s.stopped(); err != nil {
			return err
		}
		places = append(places, s.field.place(q))
	}
	if len(places) == 0 {
		return fmt.Errorf("%w: nothing to check: there are no score vectors", verify.ErrUndecided)
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
		return fmt.Errorf("%w: nothing to check: there are no neighbors", verify.ErrUndecided)
	}
	if err := s.prepare(); err != nil {
		return err
	}
	if !s.o.wants() {
		return s.explore(s.o.Budget - s.drawn)
	}
	return s.stages()
}

// prepare adds pairs that are some steps apart, puts all into the order in which they are looked at, and draws what the first cells of numbers are chosen from.
func (s *statistics) prepare() error {
	unit := new(big.Rat).Quo(s.o.Sensitivity, s.space.Unit)
	if s.o.wants() && !s.o.UntilRefuted && len(s.o.Pairs)+len(s.o.Vectors) == 0 {
		s.field.stretch(s.o, unit.Num().Int64())
	}
	scale, _ := unit.Float64()
	s.field.guess(s.aim(), scale, s.o.Neighbors)
	if _, ok := s.sampler.(learner); !ok {
		return nil
	}
	if s.o.Outcomes == Mixed {
		return s.pilot(mixedPilots)
	}
	return s.pilot(pilots)
}

// stages explores, and bets the rest: once where the whole budget goes into the bound; where the audit ends with the refutation, in stages that grow until then.
func (s *statistics) stages() error {
	end := s.o.Budget
	if s.o.UntilRefuted {
		end = s.drawn + firstStage
	}
	for {
		end = min(end, s.o.Budget)
		stage := float64(end - s.drawn)
		if stage <= 0 {
			return nil
		}
		if err := s.explore(int64(s.exploring(stage))); err != nil {
			return err
		}
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
	case !s.o.UntilRefuted:
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
	for at, i := range places {
		s.expect(places[at:], each)
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
	p := s.field.places[i]
	if p.odd {
		return i
	}
	for _, j := range s.field.classes[p.class].members {
		if other := s.field.places[j]; !other.odd && other.event == "" {
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
		left: float64(max(1, s.o.Budget-s.drawn)), refute: s.o.UntilRefuted && s.o.wants(), many: s.field.ordered, claimed: s.o.Epsilon.Float(),
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
	// Where there are too many classes for so few samples, those that the most pairs are like are looked at; of labels, those that were least looked at before.
	known, edges := map[int]bool{}, f.edges
	if !f.pooled && !f.ordered {
		edges = f.leastKnown()
	}
	for i, e := range edges {
		known[f.places[e.from].class], known[f.places[e.to].class] = true, true
		if len(known) > max(4, int(2*each/perClass)) {
			edges = edges[:i+1]
			break
		}
	}
	defer s.recut()
	for round := range rounds {
		s.recut()
		if f.refit(s.aim()); round > 0 {
			edges = f.stay(edges, s.aim())
		}
		if round == rounds-1 && apart > 0 {
			odd, err := s.screen(apart)
			if err != nil {
				return err
			}
			edges = append(edges, odd...)
		}
		sites, part := s.sites(edges), each
		if round == 0 {
			part *= 2
		}
		each := max(2, part/int64(max(1, len(sites))))
		if err := s.drawEach(sites, each); err != nil {
			return err
		}
	}
	return nil
}

// leastKnown returns the pairs with the fewest draws first, at that side which has fewer.
func (f *field) leastKnown() []edge {
	drawn := func(e edge) int64 { return min(f.places[e.from].total, f.places[e.to].total) }
	out := slices.Clone(f.edges)
	slices.SortStableFunc(out, func(a, b edge) int { return cmp.Compare(drawn(a), drawn(b)) })
	return out
}

// stay returns the most hopeful of some pairs. Those at which nothing was likelier at one side yet follow: what is rare may still come.
func (f *field) stay(edges []edge, a aim) []edge {
	ranked := f.rank(edges, a, hopeful)
	room := max(fewestPairs, int(staying*float64(len(edges))))
	for _, e := range edges {
		if len(ranked) >= room {
			break
		}
		same := func(o edge) bool {
			return min(o.from, o.to) == min(e.from, e.to) && max(o.from, o.to) == max(e.from, e.to)
		}
		if f.places[e.from].event == "" && f.places[e.to].event == "" && !slices.ContainsFunc(ranked, same) {
			ranked = append(ranked, e)
		}
	}
	return ranked[:min(len(ranked), room)]
}

// drawEach draws samples at places for the search alone, as long as there are any in the budget.
func (s *statistics) drawEach(places []int, each int64) error {
	for at, i := range places {
		s.expect(places[at:], each)
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
		if !p.odd && p.event == "" && (len(f.classes[p.class].members) > 1 || len(f.classes[p.class].sizes) < len(p.q)) {
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
		f.places[i].odd = true
		for _, pair := range f.all {
			if pair[0] == i || pair[1] == i {
				e := edge{from: pair[0], to: pair[1]}
				out, f.edges = append(out, e), append(f.edges, e)
			}
		}
	}
	return out, nil
}

// finalists are the pairs between which is chosen before a bet: those that promise most, and the most hopeful.
func (s *statistics) finalists() []edge {
	byPromise, byHope := s.field.rank(s.field.edges, s.aim(), promise), s.field.rank(s.field.edges, s.aim(), hopeful)
	return slices.Concat(byPromise[:min(len(byPromise), finalists)], byHope[:min(len(byHope), finalists)])
}

// opened is the segment of bets that is open: those on one event at one pair.
type opened struct {
	edge
	base int64 // draws at the pair when it was opened; 0: none is open
}

// bet spends samples up to an end on batches, each with a bet on the pair and event that promises most by then. It reports
// whether the claim is refuted and that was all that was wanted.
func (s *statistics) bet(end int64) (bool, error) {
	f := s.field
	f.refit(s.aim())
	edges := s.finalists()
	lastBets := end - (end-s.drawn)/4
	size := max(40, firstBatch*float64(end-s.drawn))
	var open opened
	for s.drawn < end {
		f.refit(s.aim())
		edges = f.rank(edges, s.aim(), promise)
		var best edge
		switch {
		case len(edges) > 0 && open.base > 0:
			best = s.keep(edges, open.edge)
		case len(edges) > 0:
			best = edges[0]
		}
		// As long as there is nothing that a bet on the claim could be won with, most of a stage goes into the search; all of it where nothing came more often at one
		// of two neighbors.
		if len(edges) == 0 || s.o.UntilRefuted && best.promise <= 0 && s.drawn < lastBets {
			before := s.drawn
			if err := s.explore(max((end-s.drawn)/3, min(end-s.drawn, least))); err != nil {
				return false, err
			}
			if edges = s.finalists(); s.drawn == before {
				break
			}
			open.base = 0 // events may be others
			continue
		}
		r, times := s.batch(best, &open, min(size, float64(end-s.drawn)))
		if times == 0 {
			break
		}
		refuted, err := s.play(best, counts{drawn: times * r.at, drawnNear: times * r.near})
		if err != nil || refuted {
			return refuted, err
		}
		if err := s.drawRival(edges, best, times*(r.at+r.near)/rivalPart, end); err != nil {
			return false, err
		}
		size *= nextBatch
	}
	return false, nil
}

// batch returns in what ratio the next batch of about so many draws is drawn, and how many times that, 0 where there are too few. It opens a segment of bets unless
// one on the pair and event is open that was chosen when at least half as much was known of the pair.
func (s *statistics) batch(best edge, open *opened, size float64) (r ratio, times int64) {
	r = s.aim().at(best.reach()).ratio(best.p, best.o)
	if times = s.evenly(size, r); times == 0 {
		return r, 0
	}
	drawn := s.field.places[best.from].total + s.field.places[best.to].total
	same := open.base > 0 && best.from == open.from && best.to == open.to && slices.Equal(best.event, open.event)
	if !same || drawn > 2*open.base {
		horizon := float64(s.o.Budget-s.drawn) * float64(r.at) / float64(r.at+r.near)
		s.wealth.openAt(best.distance, best.p, best.o, best.slack, r, horizon)
		*open = opened{best, max(1, drawn)}
	}
	r = s.wealth.segs[len(s.wealth.segs)-1].ratio
	return r, s.evenly(size, r)
}

// evenly returns how many times a ratio's draws are about so many in all, so that children share the draws at either side evenly.
func (s *statistics) evenly(size float64, r ratio) int64 {
	times := s.even(int64(size) / (r.at + r.near))
	if float64(times*(r.at+r.near)) > size {
		return 0
	}
	return times
}

// play draws a batch and settles the bet on it. It reports whether the claim is refuted and that was all that was wanted.
func (s *statistics) play(e edge, c counts) (refuted bool, err error) {
	own, near, err := s.drawBoth(e.from, c.drawn, e.to, c.drawnNear)
	if err != nil {
		return false, err
	}
	if own == nil || near == nil {
		// To go on as if there had been no bet would favour samplers that fail where they lose.
		return false, errFailed
	}
	c.hits, c.hitsNear = hitsOf(own, e.event), hitsOf(near, e.event)
	s.settle(e, c)
	if s.o.UntilRefuted && s.wealth.passed() {
		if at := s.wealth.bound(); at >= s.wealth.claimed {
			s.refuted = at
			return true, nil
		}
	}
	return false, nil
}

// keep returns the pair that was bet on where the first of the ranked ones does not promise clearly more, and that first one otherwise.
func (s *statistics) keep(edges []edge, current edge) edge {
	best := edges[0]
	for _, e := range edges {
		stays := slices.Equal(e.event, current.event) && e.promise+hysteresis > best.promise || s.o.UntilRefuted && s.field.ordered && loyalty*e.promise > best.promise
		if e.from == current.from && e.to == current.to && stays {
			best = e
		}
	}
	return best
}

// drawRival draws some samples, up to an end, at either side of the most hopeful pair, where that is not the one that was bet on.
func (s *statistics) drawRival(edges []edge, best edge, samples, end int64) error {
	rival := slices.MaxFunc(edges, func(a, b edge) int { return cmp.Compare(a.hopeful, b.hopeful) })
	if rival.hopeful <= best.hopeful {
		return nil
	}
	for _, i := range []int{s.site(rival.from), s.site(rival.to)} {
		if _, err := s.draw(i, min(samples, end-s.drawn)); err != nil {
			return err
		}
	}
	return nil
}

// hitsOf counts the draws in an event.
func hitsOf(counts []int64, event []bool) int64 {
	n := int64(0)
	for r, c := range counts {
		if r < len(event) && event[r] {
			n += c
		}
	}
	return n
}

// settle takes a batch into account, and what the bet on it gained.
func (s *statistics) settle(e edge, c counts) {
	key := fmt.Sprint(e.from, e.to, s.cuts, e.event)
	shown := s.shown[key]
	if shown == nil {
		shown = &evidence{nth: len(s.shown), witness: &verify.Witness{
			Scores: s.space.Scores(s.field.places[e.from].q), Neighbor: s.space.Scores(s.field.places[e.to].q),
		}}
		if e.steps {
			shown.witness.Distance = e.distance
		}
		s.name(shown.witness, e.event)
		s.shown[key] = shown
	}
	claimed := s.wealth.levels[s.wealth.claimed]
	before, claim := s.wealth.sum(), s.wealth.total(claimed)
	s.wealth.settle(c)
	known := s.proved // a level that was reached stays so: only those above it are computed
	for s.proved < len(s.wealth.levels) && s.wealth.reached(s.proved) {
		s.proved++
	}
	if s.proved > known {
		s.history = append(s.history, Progress{s.drawn, s.level(s.proved - 1)})
	}
	shown.counts = shown.counts.plus(c)
	shown.gain += s.wealth.sum() - before
	shown.claim += s.wealth.total(claimed) - claim
}
