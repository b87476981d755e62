package front

import (
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"optratio/internal/decimal"
	"optratio/internal/job"
	"optratio/internal/report"
	"optratio/number"
)

// form puts the fields of a request into a question and remembers the first error. It refuses what would take long; the question refuses what makes no sense.
type form struct {
	values url.Values
	says   map[string]string // what the fields of the form have, by name
	files  map[string]string // texts that the question names as files
	err    error
}

// FieldError is what is wrong with a field.
type FieldError struct{ Field, Text string }

func (e *FieldError) Error() string { return e.Field + ": " + e.Text }
func (e *FieldError) Unwrap() error { return number.InputError(e.Text) }

func (f *form) fail(field, format string, args ...any) {
	if f.err == nil {
		f.err = &FieldError{field, fmt.Sprintf(format, args...)}
	}
}

// fieldOf is the field of the form that an error is about, "" where none is known.
func fieldOf(err error) (field string) {
	var own *FieldError
	var refused *job.Refusal
	switch {
	case errors.As(err, &own):
		return own.Field
	case errors.As(err, &refused):
		refused.Named(func(name string) string {
			if field == "" {
				field = strings.TrimPrefix(name, "exp-")
			}
			return name
		})
	}
	return field
}

// text is what a field has, or else the standard, without spaces and with plain signs.
func (f *form) text(field, standard string) string {
	if !f.values.Has(field) {
		f.says[field] = standard
		return standard
	}
	given := slices.DeleteFunc(slices.Clone(f.values[field]), func(s string) bool { return s == "" })
	text := strings.NewReplacer(" ", "", "−", "-").Replace(strings.Join(given, ","))
	if f.says[field] = text; text == "" && standard != "" {
		f.fail(field, "nothing is given; give for instance %s", standard)
	}
	return text
}

// exp is the switch that says that the field of ε has e^ε.
const exp = "exp-eps"

// fill puts what the form says into fields of a question: see View. Those of ε are one field of the form with a switch.
func (f *form) fill(q job.Question, words string, most int) {
	f.says["of"] = job.Choose(f.values.Get("of") == exp, exp, "eps")
	fields := map[string]job.Field{}
	for _, field := range job.Fields(q) {
		fields[field.Name] = field
	}
	for word := range strings.FieldsSeq(words) {
		name, standard, stated := strings.Cut(word, "=")
		field := fields[name]
		if file, is := strings.CutPrefix(standard, "@"); is {
			f.file(name, file)
			if to, named := field.To.(*string); named {
				*to = file
			}
			continue
		}
		if !stated {
			standard = field.Text()
		}
		text := f.text(name, standard)
		f.limit(name, text)
		if name == "eps" {
			field = fields[f.says["of"]]
		}
		switch to := field.To.(type) {
		case *string:
			*to = text
		case *int:
			n, err := strconv.Atoi(text)
			if *to = n; err != nil || n < 1 || n > most {
				f.fail(name, "give a whole number from 1 to %d", most)
			}
		case *bool:
			is, err := strconv.ParseBool(text)
			if *to = is; err != nil {
				f.fail(name, "give true or false")
			}
		}
	}
}

// largest are the greatest numbers that a preset may have.
var largest = map[string][]int{"count": {60}, "krr": {60}, "partition": {60}, "grid": {8, 8}, "selection": {4, 3}, "histogram": {3, 3}}

// limit refuses texts of fields whose questions would take long, or have several answers.
func (f *form) limit(field, text string) {
	items := strings.Split(text, ",")
	switch field {
	case "eps", "delta":
		if len(items) > 1 {
			f.fail(field, "%s has a comma; write a decimal with a point, such as 0.7", text)
		}
	case "mechanism":
		if len(items) > 8 {
			f.fail(field, "give at most 8")
		}
	case "scores", "sensitivities":
		if len(items) > 50 {
			f.fail(field, "give at most 50")
		}
		for _, text := range items {
			if _, err := decimal.ParseNumber(text); err != nil {
				f.fail(field, "give decimals, comma-separated, such as 0,-1,-2.5")
			}
		}
	case "task":
		if text != "mode" && text != "median" {
			f.fail(field, "give mode or median")
		}
	case "preset":
		kind, size, _ := strings.Cut(text, ":")
		for i, text := range regexp.MustCompile(`\d+`).FindAllString(size, len(largest[kind])) {
			if n, err := strconv.Atoi(text); err != nil || n > largest[kind][i] {
				f.fail(field, "%s is more than %d; use the command for it", text, largest[kind][i])
			}
		}
	}
}

// file keeps the text of a field, with the line ends of Unix, as the file of this name. What is said of nothing is one of the examples.
func (f *form) file(field, name string) {
	text, err := examples.ReadFile("examples/" + name)
	if f.says[field] = string(text); err != nil || f.values.Has(field) {
		f.says[field] = strings.ReplaceAll(f.values.Get(field), "\r\n", "\n")
	}
	if f.files[name] = f.says[field]; !utf8.ValidString(f.says[field]) {
		f.fail(field, "it is not text in UTF-8")
	}
}

// input is an input of a form, as its template shows it.
type input struct {
	Name         string
	Label        template.HTML
	Value, Error string
	Args         []string // of its template; of one that offers words each word, and what it means
}

// In is the input of a field.
func (f *form) In(name, label string, args ...string) *input {
	i := &input{Name: name, Label: report.Typeset(label), Value: f.says[name], Args: args}
	if f.err != nil && fieldOf(f.err) == name {
		i.Error = f.err.Error()
	}
	return i
}

// word is one that an input offers.
type word struct {
	Value, Meaning string
	Chosen         bool
}

// Words are those that the input offers.
func (i *input) Words() (all []word) {
	for pair := range slices.Chunk(i.Args, 2) {
		all = append(all, word{pair[0], pair[1], slices.Contains(strings.Split(i.Value, ","), pair[0])})
	}
	return all
}

// Others are the words of its value that it does not offer.
func (i *input) Others() string {
	return strings.Join(slices.DeleteFunc(strings.Split(i.Value, ","), func(name string) bool {
		return slices.ContainsFunc(i.Words(), func(w word) bool { return w.Value == name })
	}), ",")
}
