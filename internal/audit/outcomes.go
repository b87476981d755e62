package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/inquiry"
)

// Outcomes are what a sampler's answers are made of.
const (
	Index  = "index"  // a candidate: {"counts":[12,3]}
	Labels = "labels" // any string: {"counts":{"a":12,"nobody":3}}
	Real   = "real"   // a number: {"values":[0.25,-1.5]}
	Mixed  = "mixed"  // a JSON value made of labels and numbers: {"values":[["no",0.25],["no","no"]]}
)

const (
	mostLabels    = 10_000  // told apart where they are drawn, or indices
	mostStated    = 1 << 17 // labels whose probabilities are stated
	mostValues    = 1 << 16 // in one answer
	pilots        = 200     // values that the first intervals are chosen from
	pilotPairs    = 6       // pairs that these are drawn at
	mostKept      = 1 << 20 // values that later ones are chosen from
	fewQuantiles  = 8       // that become ends of intervals, and more in the tails
	mostQuantiles = 160
	aQuantile     = 30 // values for each of them
	coarseGroups  = 24 // between which all intervals are tried
)

// labelled numbers strings in the order in which they come.
type labelled struct {
	ids   map[string]int
	names []string
	list  bool // answers are lists, whose entry i is about the outcome i
	n     int  // entries of them; 0: any number
	// stated: the probabilities are wanted, so that every label counts.
	stated bool
}

// newLabelled returns what reads the answers: objects, or lists where outcomes are indices.
func newLabelled(o *Options) *labelled {
	return &labelled{ids: map[string]int{}, list: o.Outcomes == "" || o.Outcomes == Index}
}

// about says that the next answer is about a vector: unless inputs are asked about, a list has an entry for each of its scores.
func (l *labelled) about(q inquiry.Vector, o *Options) {
	if l.list && o.Inputs == nil {
		l.n = len(q)
	}
}

// parse reads how often each label came in so many samples.
func (l *labelled) parse(line []byte, samples int64) ([]int64, error) {
	f := form{"counts", !l.list}
	fields, err := f.fields(line)
	if err != nil {
		return nil, err
	}
	counts, sum := make([]int64, len(l.names)), int64(0)
	err = l.each(fields["counts"], "counts", line, func(id int, text json.RawMessage) error {
		c, err := parseCount(text, samples)
		for len(counts) <= id {
			counts = append(counts, 0)
		}
		counts[id] += c
		sum += c
		return err
	})
	switch {
	case err != nil:
		return nil, f.unlike(fields, err)
	case sum != samples:
		return nil, fmt.Errorf("answered %d samples where %d were asked for", sum, samples)
	}
	return counts, nil
}

// parsePMF reads the probability of each label: those that it does not name have probability 0.
func (l *labelled) parsePMF(line []byte, precision *big.Rat) (p []*inquiry.Value, err error) {
	f := form{"pmf", !l.list}
	fields, err := f.fields(line)
	if err != nil {
		return nil, err
	}
	if p, err = l.readPMF(fields["pmf"], line, precision); err != nil {
		return nil, f.unlike(fields, err)
	}
	return p, nil
}

func (l *labelled) readPMF(raw json.RawMessage, line []byte, precision *big.Rat) (p []*inquiry.Value, err error) {
	l.stated = true
	err = l.each(raw, "probabilities", line, func(id int, text json.RawMessage) error {
		for len(p) <= id {
			p = append(p, inquiry.Rational(new(big.Rat)))
		}
		p[id], err = readProbability(text, precision)
		return err
	})
	return p, err
}

// each calls f for every label of a JSON object, with its number.
func (l *labelled) each(object json.RawMessage, what string, line []byte, f func(id int, text json.RawMessage) error) error {
	if l.list {
		return l.eachPlace(object, what, line, f)
	}
	var raw map[string]json.RawMessage
	if object == nil || json.Unmarshal(object, &raw) != nil || len(raw) == 0 {
		return fmt.Errorf("answered %s, which has no %s of labels", brief(line), what)
	}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		id, err := l.number(key)
		if err != nil {
			return err
		}
		if err := f(id, raw[key]); err != nil {
			return err
		}
	}
	return nil
}

// eachPlace is each for a list.
func (l *labelled) eachPlace(list json.RawMessage, what string, line []byte, f func(id int, text json.RawMessage) error) error {
	var raw []json.RawMessage
	switch err := json.Unmarshal(list, &raw); {
	case err != nil || len(raw) == 0:
		return fmt.Errorf("answered %s, which has no list of %s", brief(line), what)
	case l.n > 0 && len(raw) != l.n:
		return fmt.Errorf("answered %d %s for %d scores", len(raw), what, l.n)
	case l.stated && len(raw) > mostStated:
		return errManyLabels
	case !l.stated && len(raw) > mostLabels:
		return fmt.Errorf("answered %d %s, more than %d", len(raw), what, mostLabels)
	}
	for i, text := range raw {
		if i == len(l.names) {
			l.names = append(l.names, strconv.Itoa(i))
		}
		if err := f(i, text); err != nil {
			return err
		}
	}
	return nil
}

// errManyLabels refuses to keep more labels.
var errManyLabels = fmt.Errorf("%w: more than %d different labels, which is the limit: make outcomes coarser", errOptions, mostStated)

// number returns the number of a label, which is the next one if it is new. Labels beyond the most share the last number where they are drawn, and are refused where
// their probabilities are stated.
func (l *labelled) number(name string) (int, error) {
	id, ok := l.ids[name]
	switch most := len(l.names); {
	case ok:
		return id, nil
	case l.stated && most == mostStated:
		return 0, errManyLabels
	case l.stated || most < mostLabels:
		l.ids[name], l.names = most, append(l.names, name)
		return most, nil
	case most == mostLabels:
		l.names = append(l.names, fmt.Sprintf("a label that is none of the first %d", mostLabels))
	}
	return mostLabels, nil
}

// parseCount reads one count of at most so many samples.
func parseCount(text json.RawMessage, samples int64) (int64, error) {
	if c, err := strconv.ParseInt(string(text), 10, 64); err == nil && 0 <= c && c <= samples { // as nearly all are
		return c, nil
	}
	x, err := decimal.Parse(string(text))
	if err != nil || !x.IsInt() || x.Sign() < 0 || !x.Num().IsInt64() || x.Num().Int64() > samples {
		return 0, fmt.Errorf("answered %s for the count of %d samples", brief(text), samples)
	}
	return x.Num().Int64(), nil
}

// parseValues reads so many numbers.
func parseValues(line []byte, samples int64) ([]float64, error) {
	values, err := valuesOf(line, samples)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(values))
	for i, text := range values {
		if out[i], err = strconv.ParseFloat(string(text), 64); err != nil {
			return nil, fmt.Errorf("answered %s for a value", brief(text))
		}
	}
	return out, nil
}

// binned turns numbers into outcomes: outcome 2i+1 is the number cuts[i], 2i what lies between it and the one before.
type binned struct {
	draw func(q inquiry.Vector, samples int64) (values [][]float64, event string, err error) // of each child
	memory[float64]
	parted
	cuts []float64
}

func (b *binned) Sample(q inquiry.Vector, samples int64) (sum []int64, event string, err error) {
	drawn, event, err := b.draw(q, samples)
	if err != nil || event != "" {
		return nil, event, err
	}
	b.parts = nil
	for _, values := range drawn {
		b.keep(q, values, mostKept)
		counts := b.count(values)
		b.parts, sum = append(b.parts, counts), added(sum, counts)
	}
	return sum, "", nil
}

// count says how many values each outcome has.
func (b *binned) count(values []float64) []int64 {
	counts := make([]int64, 2*len(b.cuts)+1)
	for _, v := range values {
		counts[bin(b.cuts, v)]++
	}
	return counts
}

// bin is where a number lies: 2i+1 is cuts[i], 2i what lies between it and the one before.
func bin(cuts []float64, v float64) int {
	i, exact := slices.BinarySearch(cuts, v)
	if i *= 2; exact {
		i++
	}
	return i
}

// atoms returns those of sorted values that came most often.
func atoms(values []float64) (out []float64) {
	times := map[float64]int{}
	for i, j := 0, 0; i < len(values); i = j {
		for j = i; j < len(values) && values[j] == values[i]; j++ {
		}
		if j-i >= atomTimes {
			times[values[i]] = j - i
			out = append(out, values[i])
		}
	}
	slices.SortStableFunc(out, func(a, b float64) int { return times[b] - times[a] })
	return out[:min(len(out), mostAtoms)]
}

// quantiles sorts values and returns some of their quantiles for cuts, more where there are more values, and more in the tails, and atoms.
func quantiles(values []float64) (cuts []float64) {
	slices.Sort(values)
	last := len(values) - 1
	quantiles := max(fewQuantiles, min(mostQuantiles, len(values)/aQuantile))
	for i := range quantiles + 1 {
		cuts = append(cuts, values[last*i/quantiles])
	}
	for i := 1; i < last; i *= 2 {
		cuts = append(cuts, values[i], values[last-i])
	}
	cuts = append(cuts, atoms(values)...)
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// event says in words what an event of neighboring outcomes is: an interval.
func (b *binned) event(event []bool) string {
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

// event says in words what an event of labels is, of those that had come when it was chosen.
func (l *labelled) event(event []bool) string {
	var in, out []string
	for i, is := range event {
		if is {
			in = append(in, l.names[i])
		} else {
			out = append(out, l.names[i])
		}
	}
	if len(out) > 0 && len(out) < len(in)-1 {
		return fmt.Sprintf("one of %d labels, all but %s", len(in), strings.Join(inNaturalOrder(out), ", "))
	}
	return oneOf(in)
}

// oneOf says in words what a set of labels is. The empty label is shown in quotes.
func oneOf(labels []string) string {
	if len(labels) == 1 {
		return cmp.Or(labels[0], `""`)
	}
	return "one of " + strings.Join(inNaturalOrder(labels), ", ")
}

// pilot draws outcomes at the score vectors of the first pairs, so that there are cells.
func (s *statistics) pilot() error {
	wanted := int64(pilots)
	if s.o.Outcomes == Mixed {
		wanted = mixedPilots
	}
	var places []int
	for _, e := range s.field.edges[:min(len(s.field.edges), pilotPairs)] {
		places = append(places, e.from, e.to)
	}
	slices.Sort(places)
	places = slices.Compact(places)
	if err := s.drawEach(places, min(s.o.Budget/10, wanted)); err != nil {
		return err
	}
	s.recut()
	if s.cuts == 0 {
		return fmt.Errorf("%w: there are no values", inquiry.ErrUndecided)
	}
	return nil
}

// learner is a sampler whose outcomes are cells of a partition that is chosen by what was drawn.
type learner interface {
	sampler
	// learn chooses the partition anew where there are far more outcomes now, and reports whether it did.
	learn(f *field) bool
	// kept says how many of the outcomes that are kept of a place fall into each cell, in two halves.
	kept(q inquiry.Vector) [2][]int64
	event(event []bool) string
}

func (b *binned) kept(q inquiry.Vector) [2][]int64 {
	values := b.of(q)
	half := len(values) / 2
	return [2][]int64{b.count(values[:half]), b.count(values[half:])}
}

func (b *binned) learn(*field) bool {
	if !b.due(mostKept, 2) {
		return false
	}
	var all []float64
	for _, values := range b.first {
		for _, v := range values {
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				all = append(all, v)
			}
		}
	}
	if len(all) == 0 {
		return false
	}
	b.cuts = quantiles(all)
	return true
}

// memory is what a learner learns from: the first outcomes that were drawn at each score vector.
type memory[T any] struct {
	first map[string][]T // by Vector.Key
	known int            // of all vectors
	cutOf int            // outcomes that were known when the cells were last chosen
}

// keep remembers outcomes, until there are most of them.
func (m *memory[T]) keep(q inquiry.Vector, outcomes []T, most int) {
	if m.known >= most {
		return
	}
	if m.first == nil {
		m.first = map[string][]T{}
	}
	key := q.Key()
	m.first[key] = append(m.first[key], outcomes...)
	m.known += len(outcomes)
}

// of returns what was drawn at a score vector.
func (m *memory[T]) of(q inquiry.Vector) []T { return m.first[q.Key()] }

// due reports whether cells are to be chosen anew, and takes it that they are: at the first outcomes, and when there are so many times as many as last time.
func (m *memory[T]) due(most int, times float64) bool {
	if m.known == 0 || float64(m.known) < times*float64(m.cutOf) || m.known >= most {
		return false
	}
	m.cutOf = m.known
	return true
}

// recut chooses the cells anew where there are far more outcomes now. All counts of the field are of the new ones then; bets that
// were made are over.
func (s *statistics) recut() {
	l, ok := s.sampler.(learner)
	if !ok || !l.learn(s.field) {
		return
	}
	s.early = nil
	for _, c := range s.field.classes {
		c.counts, c.total = nil, 0
	}
	for i, p := range s.field.places {
		p.counts, p.total, p.first, p.firstTotal = nil, 0, nil, 0
		for half, counts := range l.kept(p.q) {
			if drawn := sumOf(counts); drawn > 0 {
				s.field.add(i, half, counts, drawn)
			}
		}
	}
	s.cuts++
}
