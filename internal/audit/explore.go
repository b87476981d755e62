package audit

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/inquiry"
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
	perClass       = 24  // draws in the first round; classes and score vectors for which there are none are left out
	rounds         = 4   // of exploring; in each, a part of the pairs and of the score vectors stays
	staying        = 0.3 // that part
	fewestPairs    = 6   // that stay
	least          = 200 // samples that it pays to explore with
)

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
	if len(s.o.goals()) == 0 {
		return nil
	}
	if len(s.field.edges) == 0 {
		return fmt.Errorf("%w: nothing to check: there are no neighbors", inquiry.ErrUndecided)
	}
	s.field.guess = s.o.guess(float64(s.unit()))
	if s.goal == lowerBound && !s.o.UntilRefuted {
		s.field.stretch(s.o, s.unit())
	}
	if s.wealth != nil {
		return s.stages()
	}
	if err := s.rays(); err != nil {
		return err
	}
	return s.explore(s.o.Budget - s.drawn)
}

// unit is Δ in units of the scores.
func (s *statistics) unit() int64 {
	return new(big.Rat).Quo(s.o.Sensitivity, s.space.Unit).Num().Int64()
}

// stages explores, and bets the rest: once where the whole budget goes into the bound. Where the audit ends with the refutation of ε, there are quick stages before, which
// grow, and of outcomes that are not candidates nothing else.
func (s *statistics) stages() error {
	end, hasty := s.drawn+firstStage, s.o.UntilRefuted && s.goal == lowerBound
	for {
		if s.quick = hasty && (!s.field.pooled || end < s.o.Budget/quickPart); !s.quick {
			end = s.o.Budget
			if s.wealth.late = hasty; s.wealth.late {
				s.field.stretch(s.o, s.unit())
			}
			if err := s.rays(); err != nil {
				return err
			}
		}
		if end = min(end, s.o.Budget); end <= s.drawn {
			return nil
		}
		if done, err := s.stage(end, hasty); err != nil || done || end == s.o.Budget {
			return err
		}
		end = int64(nextStage * float64(max(end, s.drawn)))
	}
}

// stage explores, and bets, up to an end. It reports whether the claim is refuted and that was all that was wanted.
func (s *statistics) stage(end int64, hasty bool) (done bool, err error) {
	share, quick := int64(s.exploring(float64(end-s.drawn))), s.quick
	s.quick = hasty // it is looked for what refutes the claim, whatever the bets are for
	if err := s.explore(share); err != nil {
		return false, err
	}
	s.quick = quick
	if err := s.refuse(); err != nil {
		return false, err
	}
	if s.o.UntilRefuted && s.wealth.refuted() {
		return true, nil
	}
	done, err = s.bet(end)
	if errors.Is(err, errFailed) { // perhaps at one of the two alone
		err = cmp.Or(s.refuse(), err)
	}
	return done, err
}

// exploring is how many samples of a stage go into the search. A stage of numbers has none for it where the wealth at the claim has risen already.
func (s *statistics) exploring(stage float64) float64 {
	share := float64(mostExploring * stage)
	switch {
	case s.goal == leastDelta && !s.field.pooled: // an atom, or a rare label, has to come a few times first
		return 2 * share
	case !s.quick:
		return min(share, max(leastExploring*stage, enoughAClass*float64(len(s.field.classes))))
	case s.field.ordered && s.wealth.total(s.wealth.levels[s.wealth.claimed]) > 0:
		return 0
	}
	return share
}

// aim is what the rest of the budget is for.
func (s *statistics) aim() aim {
	a := aim{what: s.goal, left: float64(max(1, s.o.Budget-s.drawn)), claimed: s.o.Epsilon.Float()}
	if s.quick {
		a.what = refutation
	}
	return a
}

// explore spends a number of samples on finding out which pairs promise most, and which score vectors are not like the rest of their class: many in the first round, a
// part of them in each that follows. Odd score vectors bring the pairs that they are in.
func (s *statistics) explore(samples int64) error {
	f := s.field
	edges, suspects := f.candidates(), f.suspects()
	part := float64(samples) / (rounds + 1) // the first round takes two
	apart := 0.0                            // of it, for suspects
	if len(suspects) > 0 {
		apart = part * max(leastApart, min(mostApart, perPlace*float64(len(suspects))/float64(samples)))
	}
	for round := range rounds {
		s.recut()
		f.refit(s.aim())
		parts, most := 1.0, staying*float64(len(suspects))
		if round == 0 {
			parts, most = 2, 2*apart/max(fewestToTell, min(perClass, float64(samples)/1000)) // little finds what is very odd
		} else {
			edges = f.rank(edges, s.aim(), true)
			edges = edges[:min(len(edges), max(fewestPairs, int(staying*float64(len(edges)))))]
		}
		room := int64(parts * (part - apart))
		edges = f.within(edges, room)
		if err := s.drawEach(f.sites(edges), room); err != nil {
			return err
		}
		suspects = f.oddest(suspects)[:min(len(suspects), int(most))]
		if err := s.drawEach(suspects, int64(parts*apart)); err != nil {
			return err
		}
		edges = append(edges, f.separateOdd()...)
	}
	s.recut()
	return nil
}

// suspects lists the score vectors that may be unlike others of their class or treat tied candidates differently; those that are in the most pairs first.
func (f *field) suspects() (places []int) {
	for i, p := range f.places {
		if c := f.classes[p.class]; p.level != nil && p.event == "" && (len(c.members) > 1 || len(c.sizes) < len(p.q)) {
			places = append(places, i)
		}
	}
	f.rng.Shuffle(len(places), func(a, b int) { places[a], places[b] = places[b], places[a] })
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(f.places[b].pairs, f.places[a].pairs) })
	return f.oddest(places)
}

// candidates are the pairs that exploring starts with: where outcomes are not candidates, those that were least looked at before.
func (f *field) candidates() []edge {
	if f.pooled {
		return f.edges
	}
	drawn := func(e edge) int64 { return min(f.places[e.from].total, f.places[e.to].total) }
	return slices.SortedStableFunc(slices.Values(f.edges), func(a, b edge) int { return cmp.Compare(drawn(a), drawn(b)) })
}

// within returns as many of the first pairs as there are enough samples for.
func (f *field) within(edges []edge, samples int64) []edge {
	known := map[int]bool{}
	for i, e := range edges {
		known[f.site(e.from)], known[f.site(e.to)] = true, true
		if len(known) > max(4, int(samples/perClass)) {
			return slices.Clip(edges[:i+1])
		}
	}
	return slices.Clip(edges)
}

// site returns where samples for a place are drawn while searching: at the first one of its class.
func (f *field) site(i int) int {
	for _, j := range f.classes[f.places[i].class].members {
		if f.places[j].event == "" {
			return j
		}
	}
	return i
}

// sites lists where samples for pairs are drawn.
func (f *field) sites(edges []edge) (out []int) {
	for _, e := range edges {
		out = append(out, f.site(e.from), f.site(e.to))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// drawEach divides samples among places, for the search alone, as long as there are any in the budget.
func (s *statistics) drawEach(places []int, samples int64) error {
	each := max(2, samples/int64(max(1, len(places))))
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

// Samplers of candidates are asked about one ladder of scores moved up and down by powers of two, as stated programs are (cliff.go): where e^q overflows, where
// scores are rounded, where integers wrap, they begin to do something else. Where they seem to, the place is bisected down to two neighbors.
const (
	mostDoubled   = 32   // powers of two
	largeShare    = 5000 // such a part of the budget is drawn at each place,
	fewLarge      = 6    // but so many at least,
	mostLarge     = 30   // and at most
	leastForLarge = 5000 // budget
)

// rays looks for such neighbors, and puts them before the pairs that are looked at.
func (s *statistics) rays() error {
	o, f, unit := s.o, s.field, s.unit()
	if !f.pooled || o.N < 2 || len(o.Vectors)+len(o.Pairs) > 0 || o.Budget < leastForLarge {
		return nil
	}
	ladder := make(inquiry.Vector, o.N)
	for r := range ladder {
		ladder[r] = -2 * unit * int64(min(r, 3))
	}
	each := max(fewLarge, min(mostLarge, o.Budget/largeShare))
	if known, err := s.draw(f.place(ladder), 2*each); err != nil || known == nil {
		return err
	}
	for _, step := range []int64{unit, -unit} {
		near, far, is, err := ladder, ladder, false, error(nil)
		for i := 0; i < mostDoubled && !is && err == nil; i++ {
			near, far = far, ladder.Plus(step<<i)
			is, err = s.odd(far, each)
		}
		found := is
		for found && err == nil && distance(near, far) > unit {
			m := middle(near, far, unit)
			if is, err = s.odd(m, each); is {
				far = m
			} else {
				near = m
			}
		}
		if found && err == nil {
			err = s.lookAround(f.place(near), f.place(far), 2*each)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// odd draws at a score vector, and once more where that seems to be unlike its class; if it does then, too, it gets a class of its own.
func (s *statistics) odd(q inquiry.Vector, samples int64) (bool, error) {
	f := s.field
	i := f.place(q)
	for range 2 {
		if got, err := s.draw(i, min(samples, s.o.Budget-s.drawn)); err != nil || got == nil {
			return f.places[i].event != "", err
		}
		if len(f.classes[f.places[i].class].members) > 1 && f.surprise(i) <= oddness {
			return false, nil
		}
	}
	f.separate(i)
	return true, nil
}

// lookAround puts a pair before the others, and those of either side with its neighbors.
func (s *statistics) lookAround(i, j int, samples int64) error {
	f := s.field
	pairs := [][2]int{{i, j}}
	for _, end := range pairs[0] {
		for step := range s.o.extremes(s.o.N, s.unit()) {
			pairs = append(pairs, [2]int{end, f.place(f.places[end].q.Moved(step))})
		}
	}
	var edges []edge
	for _, pair := range pairs {
		edges = append(edges, edge{from: pair[0], to: pair[1]})
		f.pair(pair)
		for _, k := range pair {
			f.separate(k)
			if _, err := s.draw(k, min(samples, s.o.Budget-s.drawn)); err != nil {
				return err
			}
		}
	}
	f.edges = slices.Concat(edges, f.edges)
	return nil
}
