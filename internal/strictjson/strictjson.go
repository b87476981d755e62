// Package strictjson reads JSON without taking different things for the same.
//
// encoding/json replaces what is no Unicode by U+FFFD, so that two strings become one, keeps the last of two fields with one key, and finds
// the fields of a struct whatever the case of their keys. This package refuses such strings and repeated keys, and tells keys apart by case.
// After Check or Object, encoding/json reads the parts without loss.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Error says why a text is refused.
type Error struct {
	Offset int // of the byte where it shows
	Reason string
	NoJSON bool // as encoding/json sees it, too
}

func (e *Error) Error() string { return e.Reason }

// NoJSON reports whether an error of this package is about a text that is no JSON at all.
func NoJSON(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.NoJSON
}

// The byte-order marks of UTF-8 and of UTF-16, least and greatest byte first.
const (
	Mark   = "\xef\xbb\xbf"
	mark16 = "\xff\xfe"
	mark61 = "\xfe\xff"
)

// IsUTF16 reports whether a text begins with a byte-order mark of UTF-16.
func IsUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte(mark16)) || bytes.HasPrefix(text, []byte(mark61))
}

// Check reports what is wrong with a text that is to be one JSON value, as an *Error.
func Check(text []byte) error {
	r := reader{text: text}
	return r.whole()
}

// Object returns the fields of a JSON object by their exact keys.
func Object(text []byte) (fields map[string]json.RawMessage, err error) {
	if err := Check(text); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		return nil, &Error{Reason: "no JSON object"}
	}
	return fields, nil
}

// Key returns a text that two JSON values share if and only if they are equal: strings with the same code points after unescaping, numbers
// with the same value (1, 1.0 and 1e0; -0 and 0), arrays entry by entry, objects field by field in any order. Of a number it is a decimal.
func Key(value []byte) (string, error) {
	r := reader{text: value, keyed: true}
	err := r.whole()
	return string(r.key), err
}

// reader goes through a text that is JSON.
type reader struct {
	text  []byte
	at    int
	keyed bool   // key is wanted
	key   []byte // of what was read
}

func (r *reader) fail(at int, format string, args ...any) error {
	return &Error{Offset: at, Reason: fmt.Sprintf(format, args...)}
}

func (r *reader) whole() error {
	var any json.RawMessage
	if err := json.Unmarshal(r.text, &any); err != nil {
		return r.syntax(err)
	}
	return r.value()
}

func (r *reader) syntax(err error) error {
	at := 0
	var wrong *json.SyntaxError
	switch {
	case bytes.HasPrefix(r.text, []byte(Mark)):
		err = errors.New("it begins with a byte-order mark; write UTF-8 without one")
	case IsUTF16(r.text):
		err = errors.New("it is UTF-16; write UTF-8")
	case errors.As(err, &wrong):
		at = max(0, int(wrong.Offset)-1)
	}
	return &Error{at, fmt.Sprintf("no JSON: %v", err), true}
}

// space goes to the next byte that is not blank, and returns it.
func (r *reader) space() byte {
	for isBlank(r.text[r.at]) {
		r.at++
	}
	return r.text[r.at]
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// say adds to the key, where one is wanted.
func (r *reader) say(c byte) {
	if r.keyed {
		r.key = append(r.key, c)
	}
}

func (r *reader) value() error {
	switch r.space() {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		token, err := r.string()
		if r.keyed && err == nil {
			r.key = strconv.AppendQuote(r.key, unquoted(token))
		}
		return err
	}
	return r.word()
}

// more passes a comma, or the end of an array or object, and reports whether another entry comes. first: none has come yet.
func (r *reader) more(first bool) bool {
	c := r.space()
	if c == ',' || c == ']' || c == '}' {
		r.at++
	}
	return c == ',' || first && c != ']' && c != '}'
}

func (r *reader) array() error {
	r.at++
	r.say('[')
	for more := r.more(true); more; more = r.more(false) {
		if err := r.value(); err != nil {
			return err
		}
		r.say(',')
	}
	r.say(']')
	return nil
}

// field is a field of an object, with its place in the key.
type field struct {
	name     string
	from, to int
}

func (r *reader) object() error {
	r.at++
	r.say('{')
	start, seen := len(r.key), map[string]bool{}
	var fields []field
	for more := r.more(true); more; more = r.more(false) {
		r.space()
		at, from := r.at, len(r.key)
		token, err := r.string()
		if err != nil {
			return err
		}
		name := unquoted(token)
		if seen[name] {
			return r.fail(at, "the key %s is there twice", brief(name))
		}
		seen[name] = true
		r.space()
		r.at++ // the colon
		if r.keyed {
			r.key = append(strconv.AppendQuote(r.key, name), ':')
		}
		if err := r.value(); err != nil {
			return err
		}
		r.say(',')
		fields = append(fields, field{name, from, len(r.key)})
	}
	byName := func(a, b field) int { return strings.Compare(a.name, b.name) }
	if r.keyed && !slices.IsSortedFunc(fields, byName) {
		unsorted := bytes.Clone(r.key[start:])
		r.key = r.key[:start]
		slices.SortFunc(fields, byName)
		for _, f := range fields {
			r.key = append(r.key, unsorted[f.from-start:f.to-start]...)
		}
	}
	r.say('}')
	return nil
}

// string passes a string and returns it as it stands, in quotes.
func (r *reader) string() (token []byte, err error) {
	start := r.at
	for r.at++; r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] != '\\' {
			continue
		}
		size := escapeSize(r.text[r.at:])
		if size == 0 {
			return nil, r.fail(r.at, "the escape %s is half a character, which is no Unicode; write bytes that are no text in hexadecimal", r.text[r.at:r.at+6])
		}
		r.at += size - 1
	}
	r.at++
	token = r.text[start:r.at]
	if !utf8.Valid(token) {
		return nil, r.fail(start, "the string %s is not UTF-8; write bytes that are no text in hexadecimal", brief(string(token[1:len(token)-1])))
	}
	return token, nil
}

// unquoted returns what is in a string.
func unquoted(token []byte) (s string) {
	if bytes.IndexByte(token, '\\') < 0 {
		return string(token[1 : len(token)-1])
	}
	_ = json.Unmarshal(token, &s) // which is JSON
	return s
}

// escapeSize returns the bytes of the escape with which a text begins, both of a surrogate pair; 0: it is half of a pair.
func escapeSize(text []byte) int {
	unit := func(text []byte) rune {
		code, _ := strconv.ParseUint(string(text[2:6]), 16, 16)
		return rune(code)
	}
	switch {
	case text[1] != 'u':
		return 2
	case !utf16.IsSurrogate(unit(text)):
		return 6
	case bytes.HasPrefix(text[6:], []byte(`\u`)) && utf16.DecodeRune(unit(text), unit(text[6:])) != utf8.RuneError:
		return 12
	}
	return 0
}

// word reads a number, true, false or null.
func (r *reader) word() error {
	start := r.at
	for r.at < len(r.text) && !isBlank(r.text[r.at]) && r.text[r.at] != ',' && r.text[r.at] != ']' && r.text[r.at] != '}' {
		r.at++
	}
	if !r.keyed {
		return nil
	}
	word := string(r.text[start:r.at])
	if word[0] == '-' || '0' <= word[0] && word[0] <= '9' {
		var ok bool
		if word, ok = decimalOf(word); !ok {
			return r.fail(start, "the exponent of %s is too large", brief(word))
		}
	}
	r.key = append(r.key, word...)
	return nil
}

const (
	largestExponent = 1e15
	mostZeros       = 20 // that are written out
)

// decimalOf returns the one form of a JSON number that all numbers of its value share. ok is false where the exponent is too large.
func decimalOf(text string) (form string, ok bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, part, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+part, "0")
	if digits == "" {
		return "0", true
	}
	e := int64(0)
	if exponent != "" {
		var err error
		if e, err = strconv.ParseInt(exponent, 10, 64); err != nil || max(e, -e) > largestExponent {
			return text, false
		}
	}
	point := e + int64(len(digits)-len(part)) // the value is 0.digits · 10^point
	digits = strings.TrimRight(digits, "0")
	sign := ""
	if negative {
		sign = "-"
	}
	zeros := func(n int64) string { return strings.Repeat("0", int(n)) }
	switch count := int64(len(digits)); {
	case 0 < point && point < count:
		return sign + digits[:point] + "." + digits[point:], true
	case count <= point && point-count <= mostZeros:
		return sign + digits + zeros(point-count), true
	case -mostZeros <= point && point <= 0:
		return sign + "0." + zeros(-point) + digits, true
	}
	return fmt.Sprintf("%s0.%se%d", sign, digits, point), true
}

// brief quotes a string, or the beginning of one that is long.
func brief(s string) string {
	const most = 80
	if len(s) > most {
		return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + "…"
	}
	return strconv.Quote(s)
}
