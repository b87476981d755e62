package audit

import (
	"fmt"
	"math"
	"slices"

	"optratio/internal/inquiry"
)

const (
	firstBatch = 1.0 / 25 // of a stage
	nextBatch  = 1.25
	finalists  = 12   // pairs between which is chosen before a bet
	fewTried   = 50   // draws at either side of a pair before it is bet on,
	triedShare = 1000 // and such a part of what is left
	oddPart    = 20   // such a part of a batch is drawn at the score vectors that are least like their class,
	mostOdd    = 12   // of which there are so many at most
)

// errFailed ends the bets of an audit.
var errFailed = fmt.Errorf("%w: an error came instead of samples that a bet was on", inquiry.ErrUndecided)

// finalists are the pairs that promise most, between which is chosen before a bet.
func (s *statistics) finalists() []edge {
	edges := s.field.rank(s.field.edges, s.aim(), false)
	return edges[:min(len(edges), finalists)]
}

// opened is the segment of bets that is open: those on one event at one pair.
type opened struct {
	edge
	segment *segment
	base    int64 // draws at the pair when it was opened; 0: none is open
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
		edges = f.rank(edges, s.aim(), false)
		var best edge
		if len(edges) > 0 {
			best = edges[0]
		}
		// As long as there is nothing that a bet on the claim could be won with, most of a quick stage goes into the search; all of it where nothing came more often at one
		// of two neighbors.
		if len(edges) == 0 || math.IsInf(best.promise, -1) || s.quick && best.promise <= 0 && s.drawn < lastBets {
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
		if tried, err := s.tryOut(best, end); err != nil {
			return false, err
		} else if tried {
			edges = s.finalists() // what promised most may have shared one place that disappointed
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
		odd := s.field.suspects()
		if err := s.drawEach(odd[:min(len(odd), mostOdd)], min(times*(r.at+r.near)/oddPart, end-s.drawn)); err != nil {
			return false, err
		}
		size *= nextBatch
	}
	return false, nil
}

// tryOut draws at the two sides of a pair before the first bet on it, where little was drawn at these themselves and they may not be like others of their classes, of which
// most is known. It reports whether it did.
func (s *statistics) tryOut(e edge, end int64) (tried bool, err error) {
	enough := max(fewTried, (s.o.Budget-s.drawn)/triedShare)
	for _, i := range []int{e.from, e.to} {
		if p := s.field.places[i]; !s.quick && p.level != nil && p.total < enough && end-s.drawn > 4*enough {
			if _, err := s.draw(i, enough); err != nil {
				return false, err
			}
			tried = true
		}
	}
	s.field.separateOdd()
	return tried, nil
}

// batch returns in what ratio the next batch of about so many draws is drawn, and how many times that, 0 where there are too few. It opens a segment of bets unless
// one on the pair and event is open that was chosen when at least half as much was known of the pair.
func (s *statistics) batch(best edge, open *opened, size float64) (r ratio, times int64) {
	r = s.aim().at(best.reach()).ratio(best.p, best.o)
	if times = s.evenly(size, r); times == 0 {
		return r, 0
	}
	drawn := s.field.places[best.from].total + s.field.places[best.to].total
	last := len(s.wealth.segs) - 1
	same := open.base > 0 && s.wealth.segs[last] == open.segment && best.from == open.from && best.to == open.to && slices.Equal(best.event, open.event)
	if !same || drawn > 2*open.base {
		horizon := float64(s.o.Budget-s.drawn) * float64(r.at) / float64(r.at+r.near)
		*open = opened{best, s.wealth.openAt(best.distance, best.p, best.o, best.slack, r, horizon), max(1, drawn)}
	}
	r = open.segment.ratio
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
	s.field.separateOdd()
	return s.o.UntilRefuted && s.wealth.refuted(), nil
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
		shown = s.evidence(e)
		s.shown[key] = shown
	}
	bound := s.wealth.bound()
	s.wealth.settle(c).shown = shown
	if at := s.wealth.bound(); at > bound {
		s.history = append(s.history, Progress{s.drawn, s.wealth.value(at)})
	}
	shown.add(c)
}

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
