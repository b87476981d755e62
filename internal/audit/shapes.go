package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
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
