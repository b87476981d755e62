package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

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
