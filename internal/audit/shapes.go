package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Of outcomes that mix labels and numbers, the shape is what is left of one without the value of its numbers: which labels stand where, how long lists are, which fields
// are there. Outcomes of one shape differ in their numbers alone.
type shape struct {
	what    map[string]string  // at each place, such as [2] or .name[0]: a label as JSON, or a word for a number, a list, an object
	sizes   map[string]float64 // how long lists are, and how often each label comes
	columns map[string]int     // the places of numbers, in the order in which mixture has them
}

const (
	aNumber = "a number"
	aList   = "a list"
	aRecord = "an object"

	howOften = "how often "
)

// mixture is an outcome.
type mixture struct {
	*shape
	numbers []float64
}

// number returns the number of an outcome at a place: one that it holds, or a size.
func (m mixture) number(place string) (float64, bool) {
	if i, ok := m.columns[place]; ok {
		return m.numbers[i], true
	}
	x, ok := m.sizes[place]
	return x, ok || strings.HasPrefix(place, howOften)
}

// shapes are those that came, by their JSON with 0 for a number, up to a limit.
type shapes map[string]*shape

const mostShapes = 1 << 14

// parse reads so many outcomes.
func (s shapes) parse(line []byte, samples int64) ([]mixture, error) {
	values, err := valuesOf(line, samples)
	if err != nil {
		return nil, err
	}
	out := make([]mixture, len(values))
	var numbers []float64 // of all
	for i, text := range values {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var x any
		if err := d.Decode(&x); err != nil {
			return nil, fmt.Errorf("answered %s for a value", brief(text))
		}
		before := len(numbers)
		if x, numbers, err = outline(x, numbers); err != nil {
			return nil, fmt.Errorf("answered %s for a value: %w", brief(text), err)
		}
		out[i] = mixture{s.shapeOf(x), numbers[before:len(numbers):len(numbers)]}
	}
	return out, nil
}

// outline takes the numbers out of an outcome, which are appended to others, and leaves 0 in their places.
func outline(x any, numbers []float64) (any, []float64, error) {
	var err error
	switch x := x.(type) {
	case json.Number:
		v, err := strconv.ParseFloat(x.String(), 64)
		return 0, append(numbers, v+0), err // of -0 it makes 0
	case []any:
		for i := range x {
			if x[i], numbers, err = outline(x[i], numbers); err != nil {
				return nil, nil, err
			}
		}
	case map[string]any:
		for _, name := range keysOf(x) {
			if x[name], numbers, err = outline(x[name], numbers); err != nil {
				return nil, nil, err
			}
		}
	}
	return x, numbers, nil
}

// labelText is a label as JSON.
func labelText(x any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(x)
	return strings.TrimSuffix(b.String(), "\n")
}

// shapeOf returns the shape of an outcome without its numbers; beyond the limit one that is not kept.
func (s shapes) shapeOf(x any) *shape {
	key, _ := json.Marshal(x)
	if known, ok := s[string(key)]; ok {
		return known
	}
	out := &shape{what: map[string]string{}, sizes: map[string]float64{}, columns: map[string]int{}}
	out.add("", x)
	if len(s) < mostShapes {
		s[string(key)] = out
	}
	return out
}

// add takes what is at a place apart.
func (s *shape) add(place string, x any) {
	switch x := x.(type) {
	case int:
		s.what[place], s.columns[place] = aNumber, len(s.columns)
	case []any:
		s.what[place] = aList
		s.sizes[strings.TrimSpace("length of "+place)] = float64(len(x))
		for i, y := range x {
			s.add(fmt.Sprintf("%s[%d]", place, i), y)
		}
	case map[string]any:
		s.what[place] = aRecord
		for _, name := range keysOf(x) {
			s.add(placeOf(place, name), x[name])
		}
	default:
		text := labelText(x)
		s.what[place] = text
		s.sizes[howOften+text]++
	}
}

// placeOf is the place of a key of the object at a place. Different keys have different places: only the name of a word stands alone.
func placeOf(place, key string) string {
	isOdd := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	if key == "" || strings.ContainsFunc(key, isOdd) {
		return place + "[" + strconv.Quote(key) + "]"
	}
	return place + "." + key
}

var digits = regexp.MustCompile(`\d+`)

// inNaturalOrder returns a copy in which texts are sorted so that the numbers in them are in order.
func inNaturalOrder(texts []string) []string {
	padded := func(text string) string {
		return digits.ReplaceAllStringFunc(text, func(d string) string {
			d = strings.TrimLeft(d, "0")
			return strings.Repeat("0", max(0, 20-len(d))) + d
		})
	}
	out := slices.Clone(texts)
	slices.SortStableFunc(out, func(a, b string) int { return strings.Compare(padded(a), padded(b)) })
	return out
}

func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// event says in words what an event of mixed outcomes is, the outcomes below a node of the tree or all others: by what it holds or by what it leaves out, whichever is
// shorter.
func (m *mixed) event(event []bool) string {
	in, out := m.tree.terms(event, true, nil), m.tree.terms(event, false, nil)
	if len(out) == 1 && (len(in) > 1 || len(out[0]) < len(in[0])) {
		return "any outcome but one with " + out[0]
	}
	return "an outcome with " + strings.Join(in, "; or ")
}

// answered is a question with its answer.
type answered struct {
	split
	holds bool
}

// terms says in words what the parts of an event below a node are, or those of its complement, after some questions were answered.
func (n *node) terms(event []bool, wanted bool, path []answered) []string {
	some, all := false, true
	for i := n.first; i < n.end; i++ {
		is := i < len(event) && event[i]
		some, all = some || is == wanted, all && is == wanted
	}
	switch {
	case all:
		return []string{conjunction(path)}
	case !some:
		return nil
	}
	after := func(holds bool) []answered { return append(slices.Clip(path), answered{n.split, holds}) }
	return append(n.yes.terms(event, wanted, after(true)), n.no.terms(event, wanted, after(false))...)
}

// limits is what some answered questions leave of a place.
type limits struct {
	place     string
	is        string   // the label, where that is known
	not       []string // labels that it is not
	known     bool     // is is
	low, high float64  // low < x <= high
	exact     bool     // x = high
	but       []float64
}

// conjunction says in few words what answered questions have in common.
func conjunction(path []answered) string {
	var places []*limits
	for _, a := range path {
		i := slices.IndexFunc(places, func(l *limits) bool { return l.place == a.place })
		if i < 0 {
			i, places = len(places), append(places, &limits{place: a.place, low: math.Inf(-1), high: math.Inf(1)})
		}
		places[i].take(a)
	}
	var words []string
	for _, l := range places {
		words = append(words, l.words()...)
	}
	return cmp.Or(strings.Join(words, " and "), "anything")
}

// take narrows the limits.
func (l *limits) take(a answered) {
	switch {
	case a.kind == whatIs && a.holds:
		l.is, l.known = a.label, true
	case a.kind == whatIs:
		l.not = append(l.not, a.label)
	case a.kind == equals && a.holds:
		l.exact, l.high = true, a.at
	case a.kind == equals:
		l.but = append(l.but, a.at)
	case a.holds:
		l.high = min(l.high, a.at)
	default:
		l.low = max(l.low, a.at)
	}
}

func (l *limits) words() (out []string) {
	name := cmp.Or(l.place, "it")
	low, high := !math.IsInf(l.low, -1), !math.IsInf(l.high, 1)
	below := "<="
	if slices.Contains(l.but, l.high) {
		below = "<"
	}
	switch {
	case l.exact:
		return []string{fmt.Sprintf("%s = %g", name, l.high)}
	case low && high:
		out = append(out, fmt.Sprintf("%g < %s %s %g", l.low, name, below, l.high))
	case low:
		out = append(out, fmt.Sprintf("%s > %g", name, l.low))
	case high:
		out = append(out, fmt.Sprintf("%s %s %g", name, below, l.high))
	case l.known && l.is == "":
		return []string{"no " + name}
	case l.known && kinds[l.is]:
		out = append(out, name+" "+l.is)
	case l.known:
		return []string{name + " = " + l.is}
	case l.but == nil: // nothing says yet what it is
		out = without(name, inNaturalOrder(l.not))
	}
	for _, x := range l.but {
		if x > l.low && x < l.high {
			out = append(out, fmt.Sprintf("%s != %g", name, x))
		}
	}
	return out
}

// kinds are words for what is not a label.
var kinds = map[string]bool{aNumber: true, aList: true, aRecord: true}

// without says what is not at a place.
func without(name string, not []string) (out []string) {
	var labels []string
	for _, label := range not {
		switch {
		case label == "":
			out = append(out, "some "+name)
		case kinds[label]:
			out = append(out, name+" not "+label)
		default:
			labels = append(labels, label)
		}
	}
	if len(labels) == 1 {
		return append(out, name+" != "+labels[0])
	} else if len(labels) > 1 {
		out = append(out, name+" none of "+strings.Join(labels, ", "))
	}
	return out
}

// counted is a number of things, which have an s where it is not 1.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}
