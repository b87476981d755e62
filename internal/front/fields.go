package front

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"optratio/internal/job"
)

// fieldError says which field of a form is wrong.
type fieldError struct{ field, message string }

func (e *fieldError) Error() string { return e.field + ": " + e.message }

// Is makes it an error about the input.
func (e *fieldError) Is(target error) bool { return target == ErrInput }

// form reads the fields of a request and remembers the first error.
type form struct {
	values url.Values
	err    error
}

func (f *form) fail(field, format string, args ...any) {
	if f.err == nil {
		f.err = &fieldError{field, fmt.Sprintf(format, args...)}
	}
}

// count reads a whole number >= 1.
func (f *form) count(field string, standard, most int) int {
	text := f.values.Get(field)
	if text == "" {
		return standard
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < 1 || v > most {
		f.fail(field, "give a whole number from 1 to %d", most)
		return standard
	}
	return v
}

// Expressions are compiled when they are first asked for: every command links this package, and few show a page.
var (
	decimalText  = lazily(`^\d{1,6}(\.\d{1,12})?$`)
	fractionText = lazily(`^\d{1,12}/\d{1,12}$`)
	scoreText    = lazily(`^-?\d{1,9}(\.\d{1,9})?$`)
	presetText   = lazily(`^([a-z]{1,12}):(\d{1,4})(?:[x,](\d{1,4}))?$`)
)

func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// epsilon reads ε, or e^ε where the field has a fraction.
func (f *form) epsilon(standard string) job.Epsilon {
	text := strings.TrimSpace(f.values.Get("eps"))
	switch {
	case text == "":
	case decimalText().MatchString(text):
		return job.Epsilon{Eps: text}
	case fractionText().MatchString(text):
		return job.Epsilon{Exp: text}
	default:
		f.fail("eps", "give ε as a decimal such as 0.5, or e^ε as a fraction such as 3/2")
	}
	return job.Epsilon{Eps: standard}
}

// numbers reads a comma-separated list of decimals.
func (f *form) numbers(field, standard string) string {
	text := f.values.Get(field)
	if text == "" {
		text = standard
	}
	list := strings.Split(strings.NewReplacer(" ", "", "−", "-").Replace(text), ",")
	if len(list) > 50 {
		f.fail(field, "give at most 50")
	}
	for _, s := range list {
		if !scoreText().MatchString(s) {
			f.fail(field, "give decimals, comma-separated, such as 0,-1,-2.5")
		}
	}
	return strings.Join(list, ",")
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

// one reads one of some words.
func (f *form) one(field, standard string, words ...option) string {
	text := f.values.Get(field)
	if text == "" {
		return standard
	}
	var names []string
	for _, w := range words {
		names = append(names, w.Value)
	}
	if !slices.Contains(names, text) {
		f.fail(field, "give one of %s", strings.Join(names, ", "))
		return standard
	}
	return text
}

// text reads a text as it is, with the line ends of Unix.
func (f *form) text(field, standard string) string {
	if !f.values.Has(field) {
		return standard
	}
	return strings.ReplaceAll(f.values.Get(field), "\r\n", "\n")
}

// names reads a comma-separated list of mechanisms.
func (f *form) names(standard string, known []string) string {
	text := strings.ReplaceAll(strings.Join(f.values["mechanism"], ","), " ", "")
	if text == "" {
		text = standard
	}
	list := strings.Split(text, ",")
	if len(list) > 8 {
		f.fail("mechanism", "give at most 8 mechanisms")
	}
	for _, name := range list {
		if !slices.Contains(known, name) {
			f.fail("mechanism", "give names of mechanisms, comma-separated, such as pf,em")
		}
	}
	return strings.Join(list, ",")
}

// largest are the greatest numbers that a preset may have, to stay quick.
var largest = map[string][]int{"count": {60}, "krr": {60}, "partition": {60}, "grid": {8, 8}, "selection": {4, 3}, "histogram": {3, 3}}

// preset reads a ready problem, "" for none.
func (f *form) preset(field string) string {
	text := strings.ReplaceAll(f.values.Get(field), " ", "")
	if text == "" {
		return ""
	}
	parts := presetText().FindStringSubmatch(text)
	if parts == nil {
		f.fail(field, "give one such as count:10 or grid:4x4")
		return ""
	}
	for i, most := range largest[parts[1]] {
		if n, err := strconv.Atoi(parts[2+i]); err == nil && n > most {
			f.fail(field, "%d is more than %d; use the command for it", n, most)
		}
	}
	return text
}

// delta reads δ, "" for none.
func (f *form) delta(field string) string {
	text := strings.TrimSpace(f.values.Get(field))
	if text != "" && !decimalText().MatchString(text) && !fractionText().MatchString(text) {
		f.fail(field, "give δ as a decimal such as 0.001, or a fraction")
	}
	return text
}
