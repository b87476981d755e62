package job

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"optratio/number"
)

// Refusal says what is wrong with a question. Its text names fields, which whoever asked writes in his own way.
type Refusal struct {
	format string // fields are in braces, as in {exp-eps}
	args   []any
}

// refuse returns a Refusal.
func refuse(format string, args ...any) error { return &Refusal{format, args} }

var fieldName = regexp.MustCompile(`\{([a-zA-Z][a-z-]*)\}`)

// Named returns the text with fields as they are named there.
func (r *Refusal) Named(name func(field string) string) string {
	args := slices.Clone(r.args)
	for i, a := range args {
		if inner, ok := a.(*Refusal); ok {
			args[i] = errors.New(inner.Named(name))
		}
	}
	return fmt.Errorf(Named(r.format, name), args...).Error()
}

// Named returns a text with the fields that stand in braces as they are named there.
func Named(text string, name func(field string) string) string {
	return fieldName.ReplaceAllStringFunc(text, func(field string) string { return name(strings.Trim(field, "{}")) })
}

func (r *Refusal) Error() string { return r.Named(func(field string) string { return field }) }

// errQuestion makes a Refusal one about input.
var errQuestion error = number.InputError("the question is wrong")

func (r *Refusal) Unwrap() []error { return []error{errQuestion, fmt.Errorf(r.format, r.args...)} }

// IsInput says whether an error is about what was asked, rather than a failure to answer.
func IsInput(err error) bool {
	var e number.InputError
	return errors.As(err, &e)
}
