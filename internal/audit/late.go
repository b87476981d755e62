package audit

import (
	"fmt"
	"math"
	"slices"
)

// Samples that change: the first ones are drawn again at the end of an audit, and compared.
const (
	lateShare   = 64     // such a part of what is drawn comes then, for samples
	fewestDated = 50     // of at least so many draws, early and late,
	mostDated   = 12     // the first so many of them,
	nearlySure  = 0.9    // but where a private mechanism would take one candidate so often: there is little to see
	changing    = 10_000 // what the bets on a change have to pay: one correct sampler in so many gets there at most
)

// dated is a sample that is drawn again.
type dated struct {
	place  int
	drawn  int64
	counts []int64
	late   []int64 // nil: an error came, or nothing was drawn
}

// date keeps a sample, if it is one of the first that are large enough. That, and how large it is, must not depend on its own counts.
func (s *statistics) date(place int, counts []int64, drawn int64) {
	if f := s.field; f.guess.made && slices.Max(exponential(f.places[place].q, f.guess.private)) > nearlySure {
		return
	}
	known := slices.ContainsFunc(s.early, func(d dated) bool { return d.place == place })
	if !known && drawn >= fewestDated && len(s.early) < mostDated {
		s.early = append(s.early, dated{place: place, drawn: drawn, counts: slices.Clone(counts)})
	}
}

// drawLate draws at the places of the first samples once more, the last one first, and compares.
func (s *statistics) drawLate() (err error) {
	budget := s.drawn / (lateShare - 1)
	early := s.early[:min(int64(len(s.early)), budget/fewestDated)]
	for i := range slices.Backward(early) {
		if early[i].late, err = s.draw(early[i].place, s.even(budget/int64(len(early)))); err != nil {
			return err
		}
	}
	logs := make([]float64, len(early))
	for i := range early {
		logs[i] = early[i].logPays()
	}
	if worth(logs) <= changing {
		return nil
	}
	d := early[slices.Index(logs, slices.Max(logs))]
	s.repeats.broken = true
	s.repeats.changed = fmt.Sprintf("asked early for %d samples at %s, it answered %v, and late for %d, %v", d.drawn, s.at(s.field.places[d.place].q), d.counts, sumOf(d.late), d.late)
	return errRepeats
}

// worth is what bets on pairs of samples pay whose logarithms are known: half of the stake is on all pairs together, the other half divided among them. It is the only
// bet on them, and fair, so that it pays more than x with probability 1/x at most.
func worth(logs []float64) float64 {
	if len(logs) == 0 {
		return 1
	}
	together, sum := 0.0, 0.0
	for _, x := range logs {
		together, sum = together+x, sum+math.Exp(x)
	}
	return float64(math.Exp(min(together, 600))/2) + sum/float64(2*len(logs))
}

// logPays returns the logarithm of what a bet pays that the two samples come from different distributions, divided among the outcomes: given the sum m of an outcome's
// two counts, the first one is hypergeometric where they come from one, and as likely to be any number where the bet is right.
func (d *dated) logPays() float64 {
	pays, ways, n, other := 0.0, 0.0, d.drawn, sumOf(d.late)
	for r := range max(len(d.counts), len(d.late)) {
		a := countAt(d.counts, r)
		m := a + countAt(d.late, r)
		if m == 0 || m == n+other || other == 0 {
			continue
		}
		choices := min(m, n) - max(0, m-other) + 1
		log := logChoose(n+other, n) - logChoose(m, a) - logChoose(n+other-m, n-a) - math.Log(float64(choices))
		pays, ways = pays+math.Exp(min(log, 600)), ways+1
	}
	if ways == 0 {
		return 0 // a constant sampler, or an error
	}
	return math.Log(pays/ways) - 1e-6 // for rounding
}

// countAt is how often an outcome came, 0 for one that is not there.
func countAt(counts []int64, r int) int64 {
	if r < len(counts) {
		return counts[r]
	}
	return 0
}
