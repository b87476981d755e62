package audit

import (
	"math"
	"slices"
)

// Where a sampler does not answer, its output is "error", an event like any other. Whole samples are asked for in one question, so that how likely that is, is found by
// questions for one sample each, at two neighbors of which one was not answered about, and there is one bet on it.
const (
	failurePairs  = 5    // that are looked at closer until one shows the difference again
	failureFirst  = 4    // questions then, at either side
	fewestFailing = 48   // questions of the bet, at either side,
	mostFailing   = 2000 // at most,
	sureFailing   = 16   // and so many times e^ε + 1, which are enough where one side fails half of the time
	someSilent    = 5    // questions without an answer, after which the bet is made at once: a program that fails too often is not asked again
)

// unanswered returns a pair of neighbors the first of which is not answered about, and the second one is; nil where there is none.
func (s *statistics) unanswered() (*edge, error) {
	f := s.field
	var edges []edge
	for _, pair := range f.all {
		e := f.edge(pair)
		if f.places[e.to].event != "" && !f.directed {
			e.from, e.to = e.to, e.from
		}
		if f.places[e.from].event != "" && f.places[e.to].event == "" {
			edges = append(edges, e)
		}
	}
	known := func(e edge) int { return int(min(1, f.places[e.to].total)) }
	slices.SortStableFunc(edges, func(a, b edge) int { return known(b) - known(a) }) // first those whose other side is known to be answered about
	for _, e := range edges[:min(len(edges), failurePairs)] {
		if x, y, err := s.failures(e, failureFirst); err != nil || x >= failureFirst/2 && y == 0 {
			e.estimate(float64(x), float64(y), failureFirst, failureFirst)
			return &e, err
		}
	}
	return nil, nil
}

// failures asks for one sample so many times at either side of a pair, in random order, so that failures that come and go are not taken for those of one side, and
// counts what is not answered.
func (s *statistics) failures(e edge, times int64) (x, y int64, err error) {
	for range times {
		first := s.rng.IntN(2)
		for i := range 2 {
			if err := s.stopped(); err != nil {
				return 0, 0, err
			}
			at, failed := e.from, &x
			if i != first {
				at, failed = e.to, &y
			}
			_, event, err := s.sampler.Sample(s.field.places[at].q, 1)
			if err != nil {
				return 0, 0, err
			}
			s.drawn++
			if event != "" {
				*failed++
			}
		}
	}
	return x, y, nil
}

// refuse bets that what is claimed fails by what is not answered, once there is a pair of neighbors that differ in that and samples for it.
func (s *statistics) refuse() error {
	if s.wealth == nil || s.refused {
		return nil
	}
	times := int64(min(mostFailing, max(fewestFailing, sureFailing*(math.Exp(s.o.Epsilon.Float())+1))))
	if s.goal != lowerBound { // where every hundredth counts
		times = min(mostFailing, (s.o.Budget-s.drawn)/4)
	}
	if s.drawn+2*(times+failurePairs*failureFirst) > s.o.Budget {
		return nil
	}
	e, err := s.unanswered()
	if err != nil || e == nil {
		return err
	}
	s.refused = true
	s.wealth.openAt(e.distance, e.p, e.o, e.slack, ratio{1, 1}, float64(times))
	x, y, err := s.failures(*e, times)
	if err == nil {
		s.settle(*e, counts{times, x, times, y})
	}
	return err
}

// silent is the number of places that were not answered about.
func (f *field) silent() (n int) {
	for _, p := range f.places {
		if p.event != "" {
			n++
		}
	}
	return n
}
