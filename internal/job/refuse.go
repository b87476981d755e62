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

func refusal(format string, args ...any) error { return &Refusal{format, args} }

// thrown is an error on its way out of the reading of a question, from wherever it was found to whoever asked: see caught.
type thrown struct{ error }

// refuse ends the reading of a question where something is wrong with it.
func refuse(wrong bool, format string, args ...any) {
	if wrong {
		throw(refusal(format, args...))
	}
}

// throw ends the reading of a question with an error, nil for none.
func throw(err error) {
	if err != nil {
		panic(thrown{err})
	}
}

// must is a value that was read, unless there is an error.
func must[T any](x T, err error) T {
	throw(err)
	return x
}

// caught returns the error that f throws. Another panic, which may come from a mechanism, is an error too.
func caught(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case thrown:
			err = p.error
		default:
			err = fmt.Errorf("%w: %v", ErrInternal, p)
		}
	}()
	f()
	return nil
}

// read returns what f reads, or the error that it throws.
func read[T any](f func() T) (x T, err error) {
	err = caught(func() { x = f() })
	return x, err
}

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
