// Package strictjson reads JSON without taking different things for the same.
//
// encoding/json replaces what is not Unicode by U+FFFD, so that two strings become one, keeps the last of two fields with one key, and finds
// the fields of a struct whatever the case of their keys. This package refuses such strings and repeated keys, and tells keys apart by case.
// After Check or Object, encoding/json reads the parts without loss.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

// NoJSON reports whether an error of this package is about a text that is not JSON at all.
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
	var any json.RawMessage
	if err := json.Unmarshal(text, &any); err != nil {
		return syntax(text, err)
	}
	var keys []map[string]bool // of the objects that are open, nil for an array
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '{':
			keys = append(keys, map[string]bool{})
		case '[':
			keys = append(keys, nil)
		case '}', ']':
			keys = keys[:len(keys)-1]
		case '"':
			size, err := stringSize(text, at)
			if err != nil {
				return err
			}
			token := text[at : at+size]
			if !bytes.HasPrefix(bytes.TrimLeft(text[at+size:], " \n\t\r"), []byte(":")) { // it is not a key
				at += size - 1
				continue
			}
			name, seen := unquoted(token), keys[len(keys)-1]
			if seen[name] {
				return &Error{Offset: at, Reason: fmt.Sprintf("the key %s is there twice", brief(name))}
			}
			seen[name] = true
			at += size - 1
		}
	}
	return nil
}

func syntax(text []byte, err error) error {
	at := 0
	var wrong *json.SyntaxError
	switch {
	case bytes.HasPrefix(text, []byte(Mark)):
		err = errors.New("it begins with a byte-order mark; write UTF-8 without one")
	case IsUTF16(text):
		err = errors.New("it is UTF-16; write UTF-8")
	case errors.As(err, &wrong):
		at = max(0, int(wrong.Offset)-1)
	}
	return &Error{at, fmt.Sprintf("not JSON: %v", err), true}
}

// Object returns the fields of a JSON object by their exact keys.
func Object(text []byte) (fields map[string]json.RawMessage, err error) {
	if err := Check(text); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		return nil, &Error{Reason: "not a JSON object"}
	}
	return fields, nil
}

// Key returns a text that two JSON values share if and only if they are equal: strings with the same code points after unescaping, numbers
// with the same value (1, 1.0 and 1e0; -0 and 0), arrays entry by entry, objects field by field in any order. Of a number it is a decimal.
func Key(value []byte) (string, error) {
	if err := Check(value); err != nil {
		return "", err
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var x any
	_ = d.Decode(&x) // which is JSON
	key, err := appendKey(nil, x)
	return string(key), err
}

func appendKey(key []byte, x any) (_ []byte, err error) {
	switch x := x.(type) {
	case string:
		return strconv.AppendQuote(key, x), nil
	case json.Number:
		word, ok := decimalOf(string(x))
		if !ok {
			return nil, &Error{Reason: fmt.Sprintf("the exponent of %s is too large", brief(word))}
		}
		return append(key, word...), nil
	case []any:
		key = append(key, '[')
		for _, y := range x {
			if key, err = appendKey(key, y); err != nil {
				return nil, err
			}
			key = append(key, ',')
		}
		return append(key, ']'), nil
	case map[string]any:
		key = append(key, '{')
		for _, name := range slices.Sorted(maps.Keys(x)) {
			if key, err = appendKey(append(strconv.AppendQuote(key, name), ':'), x[name]); err != nil {
				return nil, err
			}
			key = append(key, ',')
		}
		return append(key, '}'), nil
	case nil:
		return append(key, "null"...), nil
	}
	return fmt.Append(key, x), nil // true or false
}

// stringSize returns how many bytes the string takes that begins at a place, in quotes.
func stringSize(text []byte, start int) (size int, err error) {
	at := start + 1
	for ; text[at] != '"'; at++ {
		if text[at] != '\\' {
			continue
		}
		size := escapeSize(text[at:])
		if size == 0 {
			return 0, &Error{Offset: at, Reason: fmt.Sprintf("the escape %s is half a character, which is not Unicode; write bytes that are not text in hexadecimal", text[at:at+6])}
		}
		at += size - 1
	}
	if inside := text[start+1 : at]; !utf8.Valid(inside) {
		return 0, &Error{Offset: start, Reason: fmt.Sprintf("the string %s is not UTF-8; write bytes that are not text in hexadecimal", brief(string(inside)))}
	}
	return at + 1 - start, nil
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
