package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/front"
	"optratio/mechanisms"
	"optratio/number"
)

// maxMemory is what a job may use, in bytes: browsers end a page that wants much more.
const maxMemory = 1 << 30

// Exit codes of the command.
const (
	done      = 0
	violated  = 1
	usage     = 2
	undecided = 3
)

// line is a command line that was read.
type line struct {
	flags map[string]string
	args  []string
	files map[string]string
	used  map[string]bool
	err   error
	at    func(text string) // told how far the job is
}

// errUsage is wrapped by errors about a command line.
var errUsage error = number.InputError("bad command line")

// switches are the flags without a value.
var switches = []string{"shifted", "worst"}

// read reads a command line without its first word.
func read(j front.Job, at func(string)) *line {
	l := &line{flags: map[string]string{}, files: j.Files, used: map[string]bool{}, at: at}
	words := j.Args[1:]
	for i := 0; i < len(words); i++ {
		name, value, joined := strings.Cut(words[i], "=")
		switch flag := strings.TrimLeft(name, "-"); {
		case flag == name:
			l.args = append(l.args, words[i])
		case joined:
			l.flags[flag] = value
		case slices.Contains(switches, flag):
			l.flags[flag] = "true"
		case i+1 == len(words):
			l.fail("%s has no value", name)
		default:
			i++
			l.flags[flag] = words[i]
		}
	}
	return l
}

func (l *line) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("%w: "+format, append([]any{errUsage}, args...)...)
	}
}

// text returns the value of a flag.
func (l *line) text(name, standard string) string {
	l.used[name] = true
	if v, ok := l.flags[name]; ok {
		return v
	}
	return standard
}

// count returns the value of a flag that is a whole number of at least 1.
func (l *line) count(name string, standard int) int {
	text := l.text(name, strconv.Itoa(standard))
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		l.fail("%s %s: give a whole number of at least 1", name, text)
		return 1
	}
	return n
}

// parsed returns the value of a flag as parse reads it.
func parsed[T any](l *line, name, standard string, parse func(string) (T, error)) T {
	v, err := parse(l.text(name, standard))
	if err != nil {
		l.fail("%s: %w", name, err)
	}
	return v
}

// number returns the value of a flag that is a decimal or a fraction.
func (l *line) number(name, standard string) *big.Rat {
	return parsed(l, name, standard, decimal.ParseNumber)
}

// numbers returns the value of a flag that is a list of these.
func (l *line) numbers(name, standard string) []*big.Rat {
	return parsed(l, name, standard, func(text string) (out []*big.Rat, err error) {
		for part := range strings.SplitSeq(text, ",") {
			x, err := decimal.ParseNumber(strings.TrimSpace(part))
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	})
}

// mechanisms returns those that --mechanism names.
func (l *line) mechanisms(standard string) []mechanisms.Mechanism {
	return parsed(l, "mechanism", standard, func(text string) (out []mechanisms.Mechanism, err error) {
		seen := map[string]bool{}
		for name := range strings.SplitSeq(text, ",") {
			m, err := mechanisms.Lookup(strings.TrimSpace(name))
			if err != nil {
				return nil, err
			}
			if !seen[m.Info().Name] {
				out, seen[m.Info().Name] = append(out, m), true
			}
		}
		return out, nil
	})
}

// epsilon returns --eps or --exp-eps, as it is and as it stands in documents.
func (l *line) epsilon() (e number.Epsilon, eps, exp *string) {
	switch a, b := l.text("eps", ""), l.text("exp-eps", ""); {
	case a != "" && b == "":
		return parsed(l, "eps", "", number.ParseEpsilon), &a, nil
	case a == "" && b != "":
		return parsed(l, "exp-eps", "", number.ParseExp), nil, &b
	}
	l.fail("give one of eps and exp-eps")
	return e, nil, nil
}

// file returns the text of a file.
func (l *line) file(name string) string {
	text, ok := l.files[name]
	if !ok {
		l.fail("there is no file %q", name)
	}
	return text
}

// answer is what a job found.
type answer struct {
	doc    document.Document
	failed string // why the exit code is 1
	open   string // why it is 3
}

// job does the work of one command. It reads all its flags before it begins, and returns where l.err is set.
type job func(ctx context.Context, l *line) (answer, error)

var jobs = map[string]job{
	"ratio": ratio, "threshold": threshold, "pmf": pmf, "recommend": choose, "audit": examine, "verify": verdicts, "evaluate": errorsOf, "optimum": best, "check": check,
}

// errLate is the cause of the end of a job's context.
type errLate time.Duration

func (e errLate) Error() string {
	return fmt.Sprintf("the time limit of %s was reached", time.Duration(e))
}

// run does a job as the command does it. at is told how far it is.
func run(ctx context.Context, j front.Job, at func(string)) (a front.Answer) {
	defer func() {
		if p := recover(); p != nil {
			a = front.Answer{Code: undecided, Message: fmt.Sprint("internal error: ", p)}
		}
	}()
	refused := func(err error) front.Answer {
		code := undecided
		var input number.InputError
		if errors.As(err, &input) {
			code = usage
		}
		return front.Answer{Code: code, Message: strings.TrimPrefix(err.Error(), errUsage.Error()+": ")}
	}
	if len(j.Args) == 0 || jobs[j.Args[0]] == nil {
		return refused(fmt.Errorf("%w: no such command", errUsage))
	}
	l := read(j, at)
	limit := parsed(l, "time-limit", "0", time.ParseDuration)
	if limit > 0 {
		var stop func()
		ctx, stop = context.WithTimeoutCause(ctx, limit, errLate(limit))
		defer stop()
		if runtime.GOOS == "js" { // one thread
			ctx = yielding{ctx, new(time.Now())}
		}
	}
	if list := strings.Split(l.flags["eps"], ","); j.Args[0] == "ratio" && len(list) > 1 {
		return each(ctx, l, list)
	}
	found, err := do(ctx, j.Args[0], l)
	if err != nil {
		return refused(err)
	}
	return front.Answer{Code: found.code(), Document: document.Encode(found.doc), Message: cmp.Or(found.failed, found.open)}
}

// do does the job and refuses flags that it did not read.
func do(ctx context.Context, command string, l *line) (answer, error) {
	found, err := jobs[command](ctx, l)
	for name := range l.flags {
		if !l.used[name] {
			l.fail("no flag %s in a page", name)
		}
	}
	return found, cmp.Or(l.err, err)
}

func (a answer) code() int {
	switch {
	case a.failed != "":
		return violated
	case a.open != "":
		return undecided
	}
	return done
}

// each does a ratio job for several ε; its document is an array.
func each(ctx context.Context, l *line, list []string) front.Answer {
	var all []json.RawMessage
	a := front.Answer{}
	for _, eps := range list {
		l.flags["eps"] = eps
		found, err := do(ctx, "ratio", l)
		if err != nil {
			return front.Answer{Code: usage, Message: err.Error()}
		}
		all, a.Code = append(all, document.Encode(found.doc)), max(a.Code, found.code())
	}
	a.Document, _ = json.Marshal(all)
	return a
}
