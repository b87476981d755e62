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

// question is what a program is asked.
type question struct {
	scores      []json.RawMessage
	input       json.RawMessage // in place of scores
	epsilon     string          // a decimal
	sensitivity *big.Rat
	monotonic   bool
	samples     int64 // 0: the probabilities are wanted
}

// line returns the question as the program reads it.
func (q *question) line() []byte {
	var b bytes.Buffer
	if q.input != nil {
		fmt.Fprintf(&b, `{"input":%s,"epsilon":%s,"sensitivity":%s`, q.input, q.epsilon, sensitivityText(q.sensitivity))
	} else {
		b.WriteString(`{"scores":[`)
		for i, s := range q.scores {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(s)
		}
		fmt.Fprintf(&b, `],"epsilon":%s,"sensitivity":%s,"monotonic":%t`, q.epsilon, sensitivityText(q.sensitivity), q.monotonic)
	}
	if q.samples > 0 {
		fmt.Fprintf(&b, `,"samples":%d`, q.samples)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// sensitivityText writes s as a JSON number: exactly where it is a short decimal, otherwise the nearest double.
func sensitivityText(s *big.Rat) string {
	if text := inquiry.ScoreText(s); !strings.Contains(text, "/") {
		return text
	}
	x, _ := s.Float64()
	return strconv.FormatFloat(x, 'g', -1, 64)
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
