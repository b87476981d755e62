package audit

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	"optratio/verify"
)

// Outcomes are what a sampler's answers are made of.
const (
	Index  = "index"  // a candidate: {"counts":[12,3]}
	Labels = "labels" // any string: {"counts":{"a":12,"nobody":3}}
	Real   = "real"   // a number: {"values":[0.25,-1.5]}
)

const (
	mostLabels   = 10_000
	mostValues   = 1 << 16 // in one answer
	pilotShare   = 0.04    // of the budget, for values that intervals are chosen from
	fewPilots    = 2000    // values that are enough where an audit ends with the refutation
	mostPilots   = 200     // score vectors of the domain that these are drawn at
	quantiles    = 160     // of them that become ends of intervals, and more in the tails
	coarseGroups = 24      // between which all intervals are tried
)

// labelled numbers strings in the order in which they come.
type labelled struct {
	ids   map[string]int
	names []string
}

// parse reads how often each label came in so many samples.
func (l *labelled) parse(line []byte, samples int64) ([]int64, error) {
	r, err := parseReply(line)
	if err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage
	if r.Counts == nil || json.Unmarshal(r.Counts, &raw) != nil {
		return nil, fmt.Errorf("answered %s, which has no counts of labels", brief(line))
	}
	keys := make([]string, 0, len(raw))
	for key := range raw {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	counts, sum := make([]int64, len(l.names)), int64(0)
	for _, key := range keys {
		c, err := parseCount(raw[key], samples)
		if err != nil {
			return nil, err
		}
		id, ok := l.ids[key]
		if !ok {
			if id = len(l.names); id >= mostLabels {
				return nil, fmt.Errorf("answered more than %d different labels in all", mostLabels)
			}
			l.ids[key], l.names = id, append(l.names, key)
		}
		for len(counts) <= id {
			counts = append(counts, 0)
		}
		counts[id] += c
		sum += c
	}
	if sum != samples {
		return nil, fmt.Errorf("answered %d samples in all where %d were wanted", sum, samples)
	}
	return counts, nil
}

// parseCount reads one count of at most so many samples.
func parseCount(text json.RawMessage, samples int64) (int64, error) {
	x, err := decimal.Parse(string(text))
	if err != nil || !x.IsInt() || x.Sign() < 0 || !x.Num().IsInt64() || x.Num().Int64() > samples {
		return 0, fmt.Errorf("answered %s for the count of %d samples", brief(text), samples)
	}
	return x.Num().Int64(), nil
}

// parseValues reads so many numbers.
func parseValues(line []byte, samples int64) ([]float64, error) {
	r, err := parseReply(line)
	if err != nil {
		return nil, err
	}
	if r.Values == nil {
		return nil, fmt.Errorf("answered %s, which has no values", brief(line))
	}
	if int64(len(r.Values)) != samples {
		return nil, fmt.Errorf("answered %d values where %d were wanted", len(r.Values), samples)
	}
	out := make([]float64, len(r.Values))
	for i, text := range r.Values {
		if out[i], err = strconv.ParseFloat(string(text), 64); err != nil {
			return nil, fmt.Errorf("answered %s for a value", brief(text))
		}
	}
	return out, nil
}

// valued draws numbers.
type valued interface {
	Values(q verify.Vector, samples int64) (values []float64, event string, err error)
}

// binned turns numbers into outcomes: outcome 2i+1 is the number cuts[i], 2i what lies between it and the one before.
type binned struct {
	valued
	cuts []float64
}

func (b *binned) Sample(q verify.Vector, samples int64) ([]int64, string, error) {
	values, event, err := b.Values(q, samples)
	if err != nil || event != "" {
		return nil, event, err
	}
	counts := make([]int64, 2*len(b.cuts)+1)
	for _, v := range values {
		i, exact := slices.BinarySearch(b.cuts, v)
		if i *= 2; exact {
			i++
		}
		counts[i]++
	}
	return counts, "", nil
}

// choose takes quantiles of values for the cuts.
func (b *binned) choose(values []float64) {
	slices.Sort(values)
	last := len(values) - 1
	b.cuts = nil
	for i := range quantiles + 1 {
		b.cuts = append(b.cuts, values[last*i/quantiles])
	}
	for i := 1; i < last; i *= 2 {
		b.cuts = append(b.cuts, values[i], values[last-i])
	}
	slices.Sort(b.cuts)
	b.cuts = slices.Compact(b.cuts)
}

// interval describes an event of neighbouring outcomes.
func (b *binned) interval(event []bool) string {
	first := slices.Index(event, true)
	last := first
	for i, in := range event {
		if in {
			last = i
		}
	}
	text := func(x float64) string { return strconv.FormatFloat(x+0, 'g', -1, 64) } // of -0 it makes 0
	low, high := "(-∞", "∞)"
	switch {
	case first%2 == 1:
		low = "[" + text(b.cuts[first/2])
	case first > 0:
		low = "(" + text(b.cuts[first/2-1])
	}
	switch {
	case last%2 == 1:
		high = text(b.cuts[last/2]) + "]"
	case last/2 < len(b.cuts):
		high = text(b.cuts[last/2]) + ")"
	}
	return "a value in " + low + ", " + high
}

// names says in words what an event of labels is.
func (l *labelled) event(event []bool) string {
	var in []string
	for i, is := range event {
		if is {
			in = append(in, l.names[i])
		}
	}
	if len(in) == 1 {
		return in[0]
	}
	return "one of " + strings.Join(in, ", ")
}

// pilot draws the values that intervals are chosen from; they are not used again.
func (s *statistics) pilot(b *binned, places []int) error {
	places = slices.Clone(places)
	s.rng.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	places = places[:min(len(places), mostPilots, max(1, int(s.o.Budget/100)))]
	pilots := int64(pilotShare * float64(s.o.Budget))
	if s.o.UntilRefuted {
		pilots = min(pilots, fewPilots)
	}
	each := max(1, pilots/int64(len(places)))
	var all []float64
	for _, i := range places {
		if err := s.stopped(); err != nil {
			return err
		}
		values, event, err := b.Values(s.field.places[i].q, each)
		if err != nil {
			return err
		}
		if s.drawn += int64(len(values)); event != "" {
			s.field.places[i].event = event
		}
		for _, v := range values {
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				all = append(all, v)
			}
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("%w: there are no values", verify.ErrUndecided)
	}
	b.choose(all)
	return nil
}
