// Package job answers questions: a typed question in, its document out. A command line, a form and a test ask in the same way; the fields of a
// question are named as flags are, but no flag is parsed here and nothing is printed.
//
// A question refuses what makes no sense before it begins to work: the reader of a field throws what is wrong (refuse, must), and exported functions return it
// as an error. Soon after its context has ended, a question answers with what is certified by then.
package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/patience"
	"optratio/number"
)

// Question is what is asked. Its exported fields have the names of flags.
type Question interface {
	answer(in *reading) *Answer
}

// New returns a question of a kind with its defaults.
func New[Q any]() *Q {
	q := new(Q)
	reset(q)
	return q
}

// reset gives the fields of a question their defaults.
func reset(q any) {
	for _, f := range Fields(q) {
		if d, times := f.To.(*time.Duration); times {
			*d = must(time.ParseDuration(f.Default))
		} else if f.Default != "" {
			_ = must(fmt.Sscan(f.Default, f.To))
		}
	}
}

// Ask answers a question.
func Ask(ctx context.Context, h *Host, q Question) (*Answer, error) {
	return read(func() *Answer { return q.answer(&reading{Host: h, ctx: ctx}) })
}

// Answer is what a question has found.
type Answer struct {
	Documents   []document.Document
	List        bool // the documents are a list, however many they are
	Violated    string
	Undecided   string                // why it is not decided what was asked, "" where it is
	Certificate func(io.Writer) error // writes it; nil where there is none
	Export      func(io.Writer) error // writes what other programs read; nil for nothing
}

// answered is the answer that one document is.
func answered(d document.Document, undecided string, certificate func(io.Writer) error) *Answer {
	return &Answer{Documents: []document.Document{d}, Undecided: undecided, Certificate: certificate}
}

// Host is where a question is answered.
type Host struct {
	// Open opens a file that a question names.
	Open func(ctx context.Context, path string) (io.ReadCloser, error)
	// Begin is called once the question has been found to be right, before the work, with its ε if it has one. It returns what is told how far the
	// work is.
	Begin func(what string, at number.Epsilon) (report func(format string, args ...any), err error)
	// Note is told, once, what may matter to somebody who waits.
	Note        func(text string)
	MaxMemory   int64 // in bytes
	Certificate bool  // one is wanted
}

// Quietly is a Begin that tells nobody.
func Quietly(string, number.Epsilon) (report func(string, ...any), err error) {
	return func(string, ...any) {}, nil
}

// CommandText is the command line that asks a question, as a shell reads it.
func CommandText(q Question) string {
	words := []string{"optratio"}
	for _, w := range CommandLine(q) {
		words = append(words, escape.Shell(w))
	}
	return strings.Join(words, " ")
}

// CommandLine returns the words of the command line that asks a question, without the program's name.
func CommandLine(q Question) []string {
	words := []string{strings.ToLower(reflect.TypeOf(q).Elem().Name())}
	for _, f := range given(q) {
		switch text := f.Text(); {
		case f.Name == "":
			words = append(words, text)
		case text == "true":
			words = append(words, f.Flag())
		case f.Name == "scores" || f.Name == "sensitivities": // which may begin with a minus
			words = append(words, f.Flag()+"="+text)
		default:
			words = append(words, f.Flag(), text)
		}
	}
	return words
}

// Field is a field of a question: the name of its flag, "" for an argument, what its help says, where other fields are in braces, its default, "" for
// nothing, and what it points to.
type Field struct {
	Name, Help, Default string
	To                  any
}

// Fields are the fields of a question, which is a pointer, in their order. The default of an embedded struct, such as n=3,k=2, is that of these fields of it.
func Fields(q any) (all []Field) {
	v := reflect.ValueOf(q).Elem()
	for i := range v.NumField() {
		f, to := v.Type().Field(i), v.Field(i).Addr()
		name, tagged := f.Tag.Lookup("json")
		switch {
		case f.Anonymous:
			inner := Fields(to.Interface())
			for own := range strings.SplitSeq(f.Tag.Get("default"), ",") {
				name, text, _ := strings.Cut(own, "=")
				if at := slices.IndexFunc(inner, func(f Field) bool { return f.Name == name }); at >= 0 {
					inner[at].Default = text
				}
			}
			all = append(all, inner...)
		case tagged && name != "-":
			all = append(all, Field{name, f.Tag.Get("help"), f.Tag.Get("default"), to.Interface()})
		}
	}
	return all
}

// Text is the value of the field.
func (f Field) Text() string { return fmt.Sprint(reflect.ValueOf(f.To).Elem().Interface()) }

// Short is the flag's name of one letter: counts with such a name have it.
func (f Field) Short() string {
	if _, counts := f.To.(*int); counts && len(f.Name) == 1 {
		return f.Name
	}
	return ""
}

// Flag is how the field's flag is written.
func (f Field) Flag() string { return Choose(f.Short() == "", "--", "-") + f.Name }

// given are the fields of a question that differ from their defaults.
func given(q any) (differing []Field) {
	standard := reflect.New(reflect.TypeOf(q).Elem()).Interface()
	reset(standard)
	plain := Fields(standard)
	for i, f := range Fields(q) {
		if f.Text() != plain[i].Text() {
			differing = append(differing, f)
		}
	}
	return differing
}

// pivots tells how far a simplex method is.
func (in *reading) pivots(pivots int, objective float64) {
	in.report("%d pivots, objective %.9g", pivots, objective)
}

// begin tells the host, once, that the question is right and what is begun.
func (in *reading) begin(what string, at number.Epsilon) {
	if in.report == nil {
		in.report = must(in.Begin(what, at))
	}
}

// Grace is for a computation to return after its context has ended. Tests give more where the machine is busy.
var Grace = 1600 * time.Millisecond

// ErrInternal is wrapped by the error that a panic becomes.
var ErrInternal = errors.New("internal error, please report it")

// endKey is where a context has the time of its own end, once it has ended.
type endKey struct{}

// Ending returns the context with a clock that starts when it ends: all computations under it share the grace.
func Ending(ctx context.Context) context.Context {
	ended := new(atomic.Pointer[time.Time])
	context.AfterFunc(ctx, func() {
		now := time.Now()
		ended.Store(&now)
	})
	return context.WithValue(ctx, endKey{}, ended)
}

// SinceEnd returns how long ago a context of Ending has ended; 0 before that.
func SinceEnd(ctx context.Context) time.Duration {
	if ended, ok := ctx.Value(endKey{}).(*atomic.Pointer[time.Time]); ok && ended.Load() != nil {
		return time.Since(*ended.Load())
	}
	return 0
}

// Settle returns what compute returns. Where the context has ended and compute does not return within the grace, or where
// it fails for another reason than its input, the answer is trivial(why): one that holds whatever the computation would have found.
// A computation that is given up goes on in the background until the process ends. One that would begin after the grace is not begun.
func Settle[T any](ctx context.Context, compute func() (T, error), trivial func(why string) T) (T, error) {
	grace := Grace - SinceEnd(ctx)
	if grace <= 0 {
		return trivial(context.Cause(ctx).Error()), nil
	}
	answer, err := Await(ctx, grace, compute)
	if err == nil || IsInput(err) && !errors.Is(err, context.Cause(ctx)) {
		return answer, err
	}
	return trivial(err.Error()), nil
}

// settled is Settle for what throws its errors.
func settled[T any](in *reading, compute func() T, trivial func(why string) T) T {
	return must(Settle(in.ctx, func() (T, error) { return compute(), nil }, trivial))
}

// Await returns what f returns, or, a while after the end of the context, the cause of that. A panic of f is an error.
func Await[T any](ctx context.Context, after time.Duration, f func() (T, error)) (value T, err error) {
	type result struct {
		value T
		err   error
	}
	r, ok := patience.Await(ctx, after, func() (r result) {
		if err := caught(func() { r.value, r.err = f() }); err != nil {
			r.err = err
		}
		return r
	})
	if !ok {
		return value, context.Cause(ctx)
	}
	return r.value, r.err
}

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
