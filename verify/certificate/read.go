package certificate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/number"
)

// Errors that Check wraps.
var (
	// ErrUnreadable: the input cannot be read or is no certificate of this format.
	ErrUnreadable error = number.InputError("not a readable certificate")
	// ErrLimit: the check would take more memory than Options allow.
	ErrLimit = errors.New("beyond the limits of the check")
	// ErrUndecided: the check cannot tell, whatever the limits are.
	ErrUndecided = errors.New("this cannot be decided here")
)

// magic is the first line of every certificate. The second one names the section.
const magic = "optratio-certificate 3"

// older are first lines that certificates once had.
var older = []string{"optratio-certificate 1", "optratio-certificate 2", "optratio-interval 1"}

// Header limits. They only keep sizes within what the arithmetic can address: what is too large to be
// enumerated is refused later, and only where it must be enumerated.
const (
	maxCandidates  = 1 << 30
	maxDepth       = 1 << 20
	maxLine        = 2*maxClaimLength + 64 // bytes; lines with count vectors may have more
	maxSectionLine = 1 << 28               // of a line that has all probabilities of an input
)

// reader takes a certificate apart line by line. It keeps the first error: after it, is and more report false, and what is read is empty, so that only
// loops need to look at the error.
type reader struct {
	in   *bufio.Reader
	line int // number of the line read last
	long int // bytes that a line may have
	buf  []byte
	cost *effort
	next string // the line read last
	held bool   // and whether it is still to be taken
	done bool   // there is no line after it
	err  error  // a malformed, or one that wraps ErrUnreadable or ErrLimit
}

// malformed is the reason why a file does not have the form of a certificate.
type malformed string

func (m malformed) Error() string { return string(m) }

// failf says what is wrong with the line read last.
func (r *reader) failf(format string, args ...any) {
	r.stop(malformed(fmt.Sprintf("line %d: ", r.line) + fmt.Sprintf(format, args...)))
}

// stop ends reading for a reason, if there is one.
func (r *reader) stop(err error) {
	if r.err == nil {
		r.err = err
	}
}

// more reads the next line, if that is not done yet, and reports whether there is one.
func (r *reader) more() bool {
	if r.err != nil || r.held || r.done {
		return r.err == nil && r.held
	}
	r.buf = r.buf[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		r.buf = append(r.buf, part...)
		if len(r.buf) > r.long+1 {
			r.line++
			r.failf("longer than %d bytes", r.long)
			return false
		}
		switch {
		case err == nil:
			r.line++
			r.next, r.held = string(r.buf[:len(r.buf)-1]), true
			return true
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			r.next, r.done = "", true
			if len(r.buf) > 0 {
				r.line++
				r.failf("the file ends within the line")
			}
			return false
		default:
			r.stop(fmt.Errorf("%w: line %d: %w", ErrUnreadable, r.line+1, err))
			return false
		}
	}
}

// is reports whether the next line begins with the given word.
func (r *reader) is(word string) bool { return r.more() && strings.HasPrefix(r.next, word+" ") }

// take takes the next line, which begins with the given word and a space, and returns the rest.
func (r *reader) take(word string) string {
	if !r.more() {
		r.line++
		r.failf("the file ends where a line %q was expected", word)
		return ""
	}
	rest, ok := strings.CutPrefix(r.next, word+" ")
	if !ok {
		r.failf("%s where a line %q was expected", quote(r.next), word)
		return ""
	}
	r.held = false
	return rest
}

// fields takes a line of so many fields after its first word, or of any number of them where count is 0.
func (r *reader) fields(word string, count int) []string {
	rest := r.take(word)
	if got := strings.Count(rest, " ") + 1; r.err == nil && count > 0 && got != count {
		r.failf("%s: %d fields where %d were expected", word, got, count)
	}
	if r.err != nil {
		return make([]string, count)
	}
	return strings.Split(rest, " ")
}

// open reads the first two lines, and returns the section.
func open(in io.Reader, o Options) (r *reader, kind string, s section, err error) {
	r = &reader{in: bufio.NewReaderSize(in, 1<<16), long: maxLine, cost: newEffort(o)}
	if !r.more() || r.next != magic {
		switch {
		case errors.Is(r.err, ErrUnreadable):
			return nil, "", nil, r.err
		case r.next == magic+"\r":
			return nil, "", nil, fmt.Errorf("%w: line 1: lines end in CR LF, as in Windows; save the file with lines that end in LF", ErrUnreadable)
		case slices.Contains(older, r.next):
			return nil, "", nil, fmt.Errorf("%w: line 1: %q is an older format, which is no longer read; write the certificate again with the command that wrote it", ErrUnreadable, r.next)
		}
		return nil, "", nil, fmt.Errorf("%w: line 1: not %q", ErrUnreadable, magic)
	}
	r.held = false
	kind = r.word("problem", slices.Sorted(maps.Keys(sections))...)
	if r.err != nil {
		return r, "", nil, nil
	}
	return r, kind, sections[kind](), nil
}

// integer parses a field that is a whole number.
func (r *reader) integer(word, s string, least, most int) int {
	if r.err != nil {
		return least
	}
	x, err := parseInteger(s, most)
	switch {
	case err != nil:
		r.failf("%s: %v", word, err)
	case x < least:
		r.failf("%s is less than %d", word, least)
	}
	return x
}

// value parses a field that is a number of the body.
func (r *reader) value(word, s string) *big.Rat {
	if r.err != nil {
		return new(big.Rat)
	}
	x, err := parseValue(s, maxBodyLength)
	if err != nil {
		r.failf("%s: %v", word, err)
		return new(big.Rat)
	}
	r.stop(r.cost.reduce(length(x)))
	return x
}

// positive is value for what must be more than 0.
func (r *reader) positive(word, s string) *big.Rat {
	x := r.value(word, s)
	if x.Sign() <= 0 {
		r.failf("%s: the value is not positive", word)
	}
	return x
}

// whole takes a line of one whole number.
func (r *reader) whole(word string, least, most int) int {
	return r.integer(word, r.take(word), least, most)
}

// word takes a line that is one of some words.
func (r *reader) word(name string, options ...string) string {
	s := r.take(name)
	if r.err == nil && !slices.Contains(options, s) {
		r.failf("%s %s is none of %s", name, quote(s), strings.Join(options, ", "))
	}
	return s
}

// numbers takes a line of so many numbers, or of any number of them where count is 0.
func (r *reader) numbers(word string, count int) (out []*big.Rat) {
	rest := r.take(word)
	if got := strings.Count(rest, " ") + 1; r.err == nil && count > 0 && got != count {
		r.failf("%s: %d numbers where %d were expected", word, got, count)
	}
	if r.err != nil {
		return nil
	}
	for f := range strings.SplitSeq(rest, " ") {
		out = append(out, r.value(word, f))
	}
	return out
}

// number takes a line of one number >= 0.
func (r *reader) number(word string) *big.Rat {
	x := r.value(word, r.take(word))
	if x.Sign() < 0 {
		r.failf("%s is less than 0", word)
	}
	return x
}

// end takes the last line and makes sure that nothing follows.
func (r *reader) end() {
	s := r.take("end")
	if r.err == nil && s != strconv.Itoa(r.line-1) {
		r.failf("end %s after %d lines", quote(s), r.line-1)
	}
	if r.more() {
		r.failf("a line after the end")
	}
}
