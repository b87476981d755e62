package evidence

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
	// ErrUnreadable: the input cannot be read or is not a certificate of this format.
	ErrUnreadable error = number.InputError("not a readable certificate")
	// ErrLimit: the check would take more than Options allow.
	ErrLimit = errors.New("beyond the limits of the check")
	// ErrUndecided: the check cannot tell, whatever the limits are.
	ErrUndecided = errors.New("this cannot be decided here")
)

// Magic is the first line of every certificate. The second one names the section.
const Magic = "optratio-certificate 3"

// older are first lines that certificates once had.
var older = []string{"optratio-certificate 1", "optratio-certificate 2", "optratio-interval 1"}

// Header limits. They only keep sizes within what the arithmetic can address: what is too large to be
// enumerated is refused later, and only where it must be enumerated.
const (
	MaxCandidates  = 1 << 30
	MaxDepth       = 1 << 20
	maxLine        = 2*maxClaimLength + 64 // bytes; lines with count vectors may have more
	MaxSectionLine = 1 << 28               // of a line that has all probabilities of an input
)

// Reader takes a certificate apart line by line. What is not as it has to be stops it.
type Reader struct {
	in   *bufio.Reader
	line int // number of the line read last
	Long int // bytes that a line may have
	buf  []byte
	Cost *Effort
	Next string // the line read last
	held bool   // and whether it is still to be taken
}

// Failf says what is wrong with the line read last.
func (r *Reader) Failf(format string, args ...any) {
	Refute("line %d: "+format, append([]any{r.line}, args...)...)
}

// more reads the next line, if that is not done yet, and reports whether there is one.
func (r *Reader) more() bool {
	if r.held {
		return true
	}
	r.buf, r.Next = r.buf[:0], ""
	for {
		part, err := r.in.ReadSlice('\n')
		r.buf = append(r.buf, part...)
		switch {
		case len(r.buf) > r.Long+1:
			r.line++
			r.Failf("longer than %d bytes", r.Long)
		case err == nil:
			r.line++
			r.Next, r.held = string(r.buf[:len(r.buf)-1]), true
			return true
		case errors.Is(err, io.EOF) && len(r.buf) == 0:
			return false
		case errors.Is(err, io.EOF):
			r.line++
			r.Failf("the file ends within the line")
		case !errors.Is(err, bufio.ErrBufferFull):
			Stop(fmt.Errorf("%w: line %d: %w", ErrUnreadable, r.line+1, err))
		}
	}
}

// Is reports whether the next line begins with the given word.
func (r *Reader) Is(word string) bool { return r.more() && strings.HasPrefix(r.Next, word+" ") }

// Take takes the next line, which begins with the given word and a space, and returns the rest.
func (r *Reader) Take(word string) string {
	if !r.more() {
		r.line++
		r.Failf("the file ends where a line %q was expected", word)
	}
	rest, ok := strings.CutPrefix(r.Next, word+" ")
	if !ok {
		r.Failf("%s where a line %q was expected", Quote(r.Next), word)
	}
	r.held = false
	return rest
}

// Fields takes a line of so many fields after its first word, or of any number of them where count is 0.
func (r *Reader) Fields(word string, count int) []string {
	f := strings.Split(r.Take(word), " ")
	if count > 0 && len(f) != count {
		r.Failf("%s: %d fields where %d were expected", word, len(f), count)
	}
	return f
}

// Open reads the first two lines, and returns the name of the section.
func Open(in io.Reader, o Options, sections map[string]func() Section) (r *Reader, kind string) {
	r = &Reader{in: bufio.NewReaderSize(in, 1<<16), Long: maxLine, Cost: NewEffort(o)}
	unreadable := func(format string, args ...any) {
		Stop(fmt.Errorf("%w: line %d: %s", ErrUnreadable, max(r.line, 1), fmt.Sprintf(format, args...)))
	}
	var form Invalid
	switch err := Try(func() { r.more() }); {
	case errors.As(err, &form): // too long, or torn
		r.Next = ""
	case err != nil:
		Stop(err)
	}
	switch {
	case r.Next == Magic+"\r":
		unreadable("lines end in CR LF, as in Windows; save the file with lines that end in LF")
	case slices.Contains(older, r.Next):
		unreadable("%q is an older format, which is no longer read; write the certificate again with the command that wrote it", r.Next)
	case r.Next != Magic:
		unreadable("not %q", Magic)
	}
	r.held = false
	if _, here := sections["interval"]; !here && r.Is("problem") && r.Next == "problem interval" {
		unreadable("bounds for a range of ε are checked by bin/research check (make research)")
	}
	return r, r.Word("problem", slices.Sorted(maps.Keys(sections))...)
}

// Integer parses a field that is a whole number, without sign or leading zeros.
func (r *Reader) Integer(word, s string, least, most int) int {
	i, err := strconv.Atoi(s)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && i > most:
		r.Failf("%s: %s is more than %d", word, Quote(s), most)
	case err != nil || i < 0 || strconv.Itoa(i) != s:
		r.Failf("%s: %s is not a non-negative integer", word, Quote(s))
	case i < least:
		r.Failf("%s is less than %d", word, least)
	}
	return i
}

// Value parses a field that is a number of the body.
func (r *Reader) Value(word, s string) *big.Rat {
	x, err := ParseValue(s, MaxBodyLength)
	if err != nil {
		r.Failf("%s: %v", word, err)
	}
	r.Cost.reduce(Length(x))
	return x
}

// Positive is value for what must be more than 0.
func (r *Reader) Positive(word, s string) *big.Rat {
	x := r.Value(word, s)
	if x.Sign() <= 0 {
		r.Failf("%s: the value is not positive", word)
	}
	return x
}

// Whole takes a line of one whole number.
func (r *Reader) Whole(word string, least, most int) int {
	return r.Integer(word, r.Take(word), least, most)
}

// Word takes a line that is one of some words.
func (r *Reader) Word(name string, options ...string) string {
	s := r.Take(name)
	if !slices.Contains(options, s) {
		r.Failf("%s %s is not one of %s", name, Quote(s), strings.Join(options, ", "))
	}
	return s
}

// Numbers takes a line of so many numbers, or of any number of them where count is 0.
func (r *Reader) Numbers(word string, count int) (out []*big.Rat) {
	rest := r.Take(word)
	if got := strings.Count(rest, " ") + 1; count > 0 && got != count {
		r.Failf("%s: %d numbers where %d were expected", word, got, count)
	}
	for f := range strings.SplitSeq(rest, " ") {
		out = append(out, r.Value(word, f))
	}
	return out
}

// Number takes a line of one number >= 0.
func (r *Reader) Number(word string) *big.Rat {
	x := r.Value(word, r.Take(word))
	if x.Sign() < 0 {
		r.Failf("%s is less than 0", word)
	}
	return x
}

// Ordered stops where a key is not after the one before it, which it becomes.
func (r *Reader) Ordered(last *[]int, key []int, format string, args ...any) {
	if *last != nil && slices.Compare(key, *last) <= 0 {
		r.Failf(format, args...)
	}
	*last = key
}

// End takes the last line and makes sure that nothing follows.
func (r *Reader) End() {
	if s := r.Take("end"); s != strconv.Itoa(r.line-1) {
		r.Failf("end %s after %d lines", Quote(s), r.line-1)
	}
	if r.more() {
		r.Failf("a line after the end")
	}
}
