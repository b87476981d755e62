package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	mostTerms = 20 // parts of an event that are told
	fewForms  = 5  // that are told by themselves
)

// event says in words what an event of mixed outcomes is, by what it holds or by what it leaves out, whichever is shorter.
func (m *mixed) event(event []bool) string {
	in, out := m.tree.terms(event, true, nil), m.tree.terms(event, false, nil)
	if len(out) > 0 && total(out) < total(in) {
		return "any outcome but one with " + alternatives(out)
	}
	return "an outcome with " + alternatives(in)
}

// term is one of the parts of an event: what its outcomes have in common, in words, of which there are so many.
type term struct {
	text  string
	words int
}

func total(terms []term) (words int) {
	for _, t := range terms {
		words += t.words
	}
	return words
}

// alternatives joins the parts of an event.
func alternatives(parts []term) string {
	var terms []string
	for _, t := range parts {
		terms = append(terms, t.text)
	}
	terms = inNaturalOrder(terms)
	if more := len(terms) - mostTerms; more > 0 {
		terms = append(terms[:mostTerms], fmt.Sprintf("one of %d others", more))
	}
	return strings.Join(terms, "; or ")
}

// answered is a question with its answer.
type answered struct {
	split
	holds bool
}

// terms returns the parts below a node of an event, or of its complement, after some questions were answered.
func (n *node) terms(event []bool, wanted bool, path []answered) (out []term) {
	some, all := false, true
	for i := n.first; i < n.end; i++ {
		is := i < len(event) && event[i]
		some, all = some || is == wanted, all && is == wanted
	}
	switch {
	case all:
		return []term{conjunction(path)}
	case !some:
		return nil
	case !n.leaf():
		out = n.yes.terms(event, wanted, append(slices.Clip(path), answered{split: n.split, holds: true}))
		return append(out, n.no.terms(event, wanted, append(slices.Clip(path), answered{split: n.split}))...)
	}
	for s, i := range n.shapes {
		if (i < len(event) && event[i]) == wanted {
			out = append(out, s.term(path))
		}
	}
	if i := n.end - 1; (i < len(event) && event[i]) == wanted {
		out = append(out, conjunction(path, n.others()))
	}
	return out
}

// others says in words what outcomes of a leaf have no cell of their own.
func (n *node) others() string {
	var known []string
	for s := range n.shapes {
		known = append(known, s.text)
	}
	if len(known) > fewForms {
		return fmt.Sprintf("none of the %d forms that came first", len(known))
	}
	return "a form other than " + strings.Join(inNaturalOrder(known), ", ")
}

// term says what outcomes of a shape are left after some questions.
func (s *shape) term(path []answered) term {
	var open []answered // what the shape does not answer
	for _, a := range path {
		if _, ok := s.columns[a.place]; ok && a.kind != whatIs {
			open = append(open, a)
		}
	}
	return conjunction(open, "the form "+s.text)
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

// conjunction says in few words what answered questions have in common, after other words.
func conjunction(path []answered, words ...string) term {
	var places []*limits
	of := func(place string) *limits {
		for _, l := range places {
			if l.place == place {
				return l
			}
		}
		places = append(places, &limits{place: place, low: math.Inf(-1), high: math.Inf(1)})
		return places[len(places)-1]
	}
	for _, a := range path {
		of(a.place).take(a)
	}
	count := len(words)
	for _, l := range places {
		own := l.words()
		words = append(words, own...)
		if count += len(own); !l.known && len(own) == 1 { // each label counts that is named
			count += max(0, len(l.not)-1)
		}
	}
	return term{cmp.Or(strings.Join(words, " and "), "anything"), count}
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
	name := l.place
	if name == "" {
		name = "it"
	}
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
	case l.known && (l.is == aNumber || l.is == aList || l.is == aRecord):
		out = append(out, name+" "+l.is)
	case l.known:
		return []string{name + " = " + l.is}
	}
	if !l.known && !low && !high && l.but == nil { // nothing says yet what it is
		var labels []string
		for _, label := range inNaturalOrder(l.not) {
			switch label {
			case "":
				out = append(out, "some "+name)
			case aNumber, aList, aRecord:
				out = append(out, name+" not "+label)
			default:
				labels = append(labels, label)
			}
		}
		switch len(labels) {
		case 0:
		case 1:
			out = append(out, name+" != "+labels[0])
		default:
			out = append(out, name+" none of "+strings.Join(labels, ", "))
		}
	}
	for _, x := range l.but {
		if x > l.low && x < l.high {
			out = append(out, fmt.Sprintf("%s != %g", name, x))
		}
	}
	return out
}
