package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/inquiry"
	"optratio/internal/strictjson"
)

// line returns the question about q as a program reads it: for so many samples, or its probabilities where that is 0.
func (a *asker) line(q inquiry.Vector, samples int64) []byte {
	var b bytes.Buffer
	if in := a.opts.Inputs; in != nil {
		fmt.Fprintf(&b, `{"input":%s,%s`, in.Values[q[0]], a.setting)
	} else {
		b.WriteString(`{"scores":[`)
		for i, x := range q {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(a.score(x))
		}
		fmt.Fprintf(&b, `],%s,"monotonic":%t`, a.setting, a.opts.Monotonic)
	}
	if samples > 0 {
		fmt.Fprintf(&b, `,"samples":%d`, samples)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// scoreAt is a score, in units of a space.
type scoreAt struct {
	space *inquiry.Space
	score int64
}

const mostScoreTexts = 1 << 16 // kept

// score returns how a score is written.
func (a *asker) score(x int64) json.RawMessage {
	at := scoreAt{a.space, x}
	text, ok := a.texts[at]
	if !ok {
		if len(a.texts) == mostScoreTexts {
			clear(a.texts)
		}
		text = inquiry.ScoresJSON(a.space.Scores(inquiry.Vector{x}))[0]
		a.texts[at] = text
	}
	return text
}

// settingOf returns the fields that all questions have.
func settingOf(o *Options) string {
	return fmt.Sprintf(`"epsilon":%s,"sensitivity":%s`, numberText(o.Epsilon.Eps(), o.Epsilon.Float()), numberText(o.Sensitivity, 0))
}

// numberText writes a number as JSON: exactly where it is known and a short decimal, otherwise the nearest double.
func numberText(x *big.Rat, near float64) string {
	if x != nil {
		if text := inquiry.ScoreText(x); !strings.Contains(text, "/") {
			return text
		}
		near, _ = x.Float64()
	}
	return strconv.FormatFloat(near, 'g', -1, 64)
}

// errNoAnswer says that a line is no answer at all, but a greeting or a message, so that the answer may be yet to come.
var errNoAnswer = errors.New("out of step")

// answerOf returns the fields of a program's answer.
func answerOf(line []byte) (map[string]json.RawMessage, error) {
	fields, err := strictjson.Object(line)
	switch {
	case strictjson.NoJSON(err):
		for _, word := range []string{"NaN", "Infinity"} {
			if bytes.Contains(line, []byte(word)) {
				return nil, fmt.Errorf("answered %s, which holds %s", brief(line), word)
			}
		}
		var first json.RawMessage
		if json.NewDecoder(bytes.NewReader(line)).Decode(&first) == nil && first[0] == '{' {
			return nil, fmt.Errorf("answered %s: something follows the JSON object", brief(line))
		}
		return nil, fmt.Errorf("%w: answered %s, which is %w", errNoAnswer, brief(line), err)
	case err != nil:
		return nil, fmt.Errorf("answered %s: %w", brief(line), err)
	}
	if failed := fields["error"]; failed != nil && string(failed) != "null" {
		text := string(failed)
		_ = json.Unmarshal(failed, &text) // of a string what is in it
		return nil, fmt.Errorf("said error: %s", brief([]byte(text)))
	}
	return fields, nil
}

// valuesOf returns the outcomes of so many samples that an answer lists.
func valuesOf(line []byte, samples int64) (values []json.RawMessage, err error) {
	fields, err := answerOf(line)
	switch {
	case err != nil:
		return nil, err
	case json.Unmarshal(fields["values"], &values) != nil || values == nil:
		return nil, fmt.Errorf("answered %s, which has no list of values", brief(line))
	case int64(len(values)) != samples:
		return nil, fmt.Errorf("answered %d values where %d were wanted", len(values), samples)
	}
	return values, nil
}

// readProbability reads one probability. A JSON number stands for any real number within the relative precision of it, and below 2^-1022, where
// double precision has no such relative accuracy, also within 2^-1074 (inquiry.Nearly); strings "p/q" and decimals in strings are exact.
func readProbability(text json.RawMessage, precision *big.Rat) (*inquiry.Value, error) {
	x, exact, err := readNumber(text)
	if err != nil {
		return nil, err
	}
	if exact {
		return inquiry.Rational(x), nil
	}
	return inquiry.Nearly(x, precision), nil
}

// readNumber reads a JSON number, or a string that holds a fraction or a decimal.
func readNumber(text json.RawMessage) (x *big.Rat, exact bool, err error) {
	var s string
	if json.Unmarshal(text, &s) != nil {
		if x, err = decimal.Parse(string(text)); err != nil {
			return nil, false, fmt.Errorf("answered %s for a probability: %w", brief(text), err)
		}
		return x, false, nil
	}
	if strings.Contains(s, "/") {
		x, err = decimal.ParseFraction(s)
	} else {
		x, err = decimal.Parse(s)
	}
	if err != nil {
		return nil, false, fmt.Errorf("answered %s for a probability: %w", brief([]byte(s)), err)
	}
	return x, true, nil
}
