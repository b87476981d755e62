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

// newLabelled returns a reader of answers: objects, or lists where outcomes are indices.
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

// binned tells numbers apart: cell 2i+1 is the number cuts[i], 2i what lies between it and the one before.
type binned struct{ cuts []float64 }

func (b *binned) learner(draw drawer[float64]) *learning[float64] {
	return &learning[float64]{partition: b, draw: draw, most: mostKept, times: 2}
}

func (b *binned) cells() int { return 2*len(b.cuts) + 1 }

func (b *binned) cell(v float64) int { return bin(b.cuts, v) }

// learn takes quantiles of all finite numbers for cuts.
func (b *binned) learn(_ *field, first map[string][]float64) bool {
	var all []float64
	for _, values := range first {
		for _, v := range values {
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				all = append(all, v)
			}
		}
	}
	if len(all) > 0 {
		b.cuts = quantiles(all)
	}
	return len(all) > 0
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

// event says an event of neighboring outcomes in words: an interval.
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

// event says an event of labels in words; only labels that had come when it was chosen are in it.
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

// learner is a sampler whose outcomes are cells of a partition that is chosen by what was drawn.
type learner interface {
	sampler
	// learn chooses the partition anew where there are far more outcomes now, and reports whether it did.
	learn(f *field) bool
	// kept returns how many of the kept outcomes of a place fall into each cell, in two halves.
	kept(q inquiry.Vector) [2][]int64
	event(event []bool) string
}

// partition divides outcomes into cells.
type partition[T any] interface {
	cells() int
	cell(outcome T) int
	event(event []bool) string
	// learn chooses the cells by the outcomes that are known of each score vector (by Vector.Key), if these tell any.
	learn(f *field, first map[string][]T) bool
}

// drawer draws the outcomes of each child.
type drawer[T any] func(q inquiry.Vector, samples int64) (drawn [][]T, event string, err error)

// learning is a learner. It keeps the first outcomes that were drawn at each score vector, and chooses the cells by these.
type learning[T any] struct {
	partition[T]
	draw drawer[T]
	parted
	first map[string][]T
	known int     // outcomes of all vectors
	most  int     // of these that are kept
	cutOf int     // outcomes that were known when the cells were last chosen
	times float64 // how many times as many there have to be before that is done again
}

func (l *learning[T]) Sample(q inquiry.Vector, samples int64) (sum []int64, event string, err error) {
	drawn, event, err := l.draw(q, samples)
	if err != nil || event != "" {
		return nil, event, err
	}
	l.parts = nil
	for _, outcomes := range drawn {
		l.keep(q, outcomes)
		counts := l.count(outcomes)
		l.parts, sum = append(l.parts, counts), added(sum, counts)
	}
	return sum, "", nil
}

// keep remembers outcomes, until there are most of them.
func (l *learning[T]) keep(q inquiry.Vector, outcomes []T) {
	if l.known >= l.most {
		return
	}
	if l.first == nil {
		l.first = map[string][]T{}
	}
	key := q.Key()
	l.first[key] = append(l.first[key], outcomes...)
	l.known += len(outcomes)
}

// count says how many outcomes each cell has.
func (l *learning[T]) count(outcomes []T) []int64 {
	counts := make([]int64, l.cells())
	for _, o := range outcomes {
		counts[l.cell(o)]++
	}
	return counts
}

func (l *learning[T]) kept(q inquiry.Vector) [2][]int64 {
	all := l.first[q.Key()]
	half := len(all) / 2
	return [2][]int64{l.count(all[:half]), l.count(all[half:])}
}

func (l *learning[T]) learn(f *field) bool {
	if l.known == 0 || float64(l.known) < l.times*float64(l.cutOf) || l.known >= l.most {
		return false
	}
	l.cutOf = l.known
	return l.partition.learn(f, l.first)
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
