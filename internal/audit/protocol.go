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
		scores, _ := json.Marshal(inquiry.ScoresJSON(a.space.Scores(q)))
		fmt.Fprintf(&b, `{"scores":%s,%s,"monotonic":%t`, scores, a.setting, a.opts.Monotonic)
	}
	if samples > 0 {
		fmt.Fprintf(&b, `,"samples":%d`, samples)
	}
	b.WriteByte('}')
	return b.Bytes()
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
	word := string(text)
	exact = json.Unmarshal(text, &word) == nil // of a string what is in it
	if x, err = decimal.ParseNumber(word); err != nil {
		return nil, false, fmt.Errorf("answered %s for a probability: %w", brief([]byte(word)), err)
	}
	return x, exact, nil
}
