package front

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/job"
	"optratio/number"
)

// field is an input of a view's form.
type field struct {
	Name, Label, Value, Help string
	Kind                     string // number, range, text, select, checks, area
	Least, Most, Step        string
	Options                  []option
	Chosen                   map[string]bool // of checks
	Drop                     string          // of an area: what file may be dropped on it; empty for none
}

// option is a choice of a field: its value, and what it means.
type option struct{ Value, Meaning string }

// plain makes options of words that need no explanation.
func plain(words ...string) (all []option) {
	for _, w := range words {
		all = append(all, option{w, w})
	}
	return all
}

// form puts the fields of a request into questions and remembers the first error. It refuses what would take long and what it has no choice for; the question
// refuses what makes no sense.
type form struct {
	values url.Values
	err    error
}

func (f *form) fail(field, format string, args ...any) {
	if f.err == nil {
		f.err = number.InputError(field + ": " + fmt.Sprintf(format, args...))
	}
}

// given is what a field has, or else the standard, without spaces and with plain signs.
func (f *form) given(field, standard string) string {
	return cmp.Or(strings.NewReplacer(" ", "", "−", "-").Replace(strings.Join(f.values[field], ",")), standard)
}

// count is a whole number from 1 to most, with a slider to v.Most.
func (f *form) count(to *int, most int, v field) field {
	v.Kind, v.Least, v.Step, v.Value = "range", "1", "1", f.given(v.Name, strconv.Itoa(*to))
	n, err := strconv.Atoi(v.Value)
	if err != nil || n < 1 || n > most {
		f.fail(v.Name, "give a whole number from 1 to %d", most)
		return v
	}
	*to = n
	return v
}

// epsilon is ε, or e^ε where the field has a fraction, with a slider to most if that is not "".
func (f *form) epsilon(to *job.Epsilon, standard, most string) field {
	v := field{Name: "eps", Label: "Privacy, ε (or e^ε as a fraction)", Kind: "text", Value: f.given("eps", standard)}
	if most != "" {
		v.Kind, v.Least, v.Most, v.Step = "range", "0.05", most, "0.05"
	}
	to.Eps = v.Value
	if strings.Contains(v.Value, "/") {
		*to = job.Epsilon{Exp: v.Value}
	}
	return v
}

// list is a text of at most so many items with commas between.
func (f *form) list(to *string, most int, v field) field {
	*to = f.given(v.Name, *to)
	if v.Kind, v.Value = "text", *to; strings.Count(v.Value, ",") >= most {
		f.fail(v.Name, "give at most %d", most)
	}
	return v
}

// numbers is a list of numbers.
func (f *form) numbers(to *string, v field) field {
	v = f.list(to, 50, v)
	for text := range strings.SplitSeq(v.Value, ",") {
		if _, err := decimal.ParseNumber(text); err != nil {
			f.fail(v.Name, "give decimals, comma-separated, such as 0,-1,-2.5")
		}
	}
	return v
}

// choice is one of some words.
func (f *form) choice(to *string, name, label string, options []option) field {
	var names []string
	for _, o := range options {
		names = append(names, o.Value)
	}
	if text := f.values.Get(name); slices.Contains(names, text) {
		*to = text
	} else if text != "" {
		f.fail(name, "give one of %s", strings.Join(names, ", "))
	}
	return field{Name: name, Label: label, Kind: "select", Value: *to, Options: options}
}

var familiar = []option{{"pf", "permute-and-flip"}, {"em", "exponential"}, {"rnm-laplace", "noisy max, Laplace"}, {"geo", "geometric noise"}, {"krr", "randomized response"}, {"uniform", "uniform"}}

// mechanisms are boxes to check.
func (f *form) mechanisms(to *string) field {
	v := f.list(to, 8, field{Name: "mechanism", Label: "Mechanisms", Options: familiar, Chosen: map[string]bool{}})
	for name := range strings.SplitSeq(v.Value, ",") {
		v.Chosen[name] = true
		if !slices.ContainsFunc(v.Options, func(o option) bool { return o.Value == name }) {
			v.Options = append(v.Options[:len(v.Options):len(v.Options)], option{name, "registered"})
		}
	}
	v.Kind, v.Value = "checks", ""
	return v
}

// area is a text as it is, with the line ends of Unix.
func (f *form) area(standard string, v field) field {
	v.Kind, v.Value = "area", standard
	if f.values.Has(v.Name) {
		v.Value = strings.ReplaceAll(f.values.Get(v.Name), "\r\n", "\n")
	}
	return v
}

// largest are the greatest numbers that a preset may have, to stay quick.
var largest = map[string][]int{"count": {60}, "krr": {60}, "partition": {60}, "grid": {8, 8}, "selection": {4, 3}, "histogram": {3, 3}}

// preset is a ready problem, "" for none.
func (f *form) preset(to *string, v field) field {
	v = f.list(to, 3, v)
	kind, size, _ := strings.Cut(v.Value, ":")
	for i, text := range regexp.MustCompile(`\d+`).FindAllString(size, len(largest[kind])) {
		if n, err := strconv.Atoi(text); err != nil || n > largest[kind][i] {
			f.fail(v.Name, "%s is more than %d; use the command for it", text, largest[kind][i])
		}
	}
	return v
}
