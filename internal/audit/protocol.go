package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/inquiry"
	"optratio/internal/strictjson"
)

// line returns the question about q as a program reads it: for so many samples, or its probabilities where that is 0.
func (a *asker) line(q inquiry.Vector, samples int64) []byte {
	var b bytes.Buffer
	text := a.opts.text(a.space, q)
	if a.opts.Inputs != nil {
		fmt.Fprintf(&b, `{"input":%s,%s`, text, a.setting)
	} else {
		fmt.Fprintf(&b, `{"scores":%s,%s,"monotonic":%t`, text, a.setting, a.opts.Monotonic)
	}
	if samples > 0 {
		fmt.Fprintf(&b, `,"samples":%d`, samples)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// text writes what is asked about as JSON: an input, or the list of scores.
func (o *Options) text(space *inquiry.Space, q inquiry.Vector) json.RawMessage {
	if o.Inputs != nil {
		return o.Inputs.Values[q[0]]
	}
	list := []byte("[")
	for i, text := range inquiry.ScoresJSON(space.Scores(q)) {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, text...)
	}
	return append(list, ']')
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

// Unlike says that a line is no answer of the kind that was asked for.
type Unlike struct {
	Kind string // what was answered instead: "pmf", "counts", "values", "labels" or "index"; "" for what is none of these
	text string
	hint string // what to do, for whoever wrote the program
	lost bool   // it is no answer at all, but a greeting or a message, so that the answer may be yet to come
}

func (u *Unlike) Error() string { return u.text }

// form is what an answer is to look like.
type form struct {
	field  string // pmf, counts or values
	labels bool   // an object, not a list
}

func (f form) String() string {
	if f.labels {
		return fmt.Sprintf(`{"%s":{"label":…}}`, f.field)
	}
	return fmt.Sprintf(`{"%s":[…]}`, f.field)
}

// fields returns the fields of a program's answer.
func (f form) fields(line []byte) (map[string]json.RawMessage, error) {
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
		return nil, &Unlike{text: fmt.Sprintf("out of step: answered %s, which is %v", brief(line), err), hint: f.noJSON(line), lost: true}
	case err != nil && json.Valid(line) && bytes.TrimSpace(line)[0] != '{':
		return nil, &Unlike{text: fmt.Sprintf("answered %s: %v", brief(line), err), hint: "write an object, " + f.String()}
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

// noJSON says what to do about a line that is not JSON.
func (f form) noJSON(line []byte) string {
	line = bytes.TrimSpace(line)
	switch {
	case bytes.Contains(line, []byte("np.")) || bytes.Contains(line, []byte("array(")) || bytes.Contains(line, []byte("tensor(")):
		return "these are not JSON numbers: write float(x), or x.tolist() of an array"
	case len(line) > 0 && line[0] == '{' && bytes.ContainsRune(line, '\''):
		return "this is not JSON, which has double quotes: in Python, print json.dumps of it"
	}
	return fmt.Sprintf("this is not JSON; only answers belong on its output, one line %s each, and all else on stderr", f)
}

// unlike returns the error that the fields of an answer gave rise to, as Unlike where they are not of the form.
func (f form) unlike(fields map[string]json.RawMessage, err error) error {
	u := &Unlike{text: err.Error(), hint: "write " + f.String()}
	if value, ok := fields[f.field]; ok {
		switch first := value[0]; {
		case !f.labels && first == '{':
			u.Kind, u.hint = "labels", fmt.Sprintf("these are outcomes with labels, and a list is wanted, %s", f)
		case f.labels && first == '[':
			u.Kind, u.hint = "index", fmt.Sprintf("this is a list, and labels are wanted, %s", f)
		default:
			return err
		}
		return u
	}
	for _, instead := range [][2]string{
		{"counts", "these are counts of samples, and something else is wanted, "}, {"pmf", "these are probabilities, and samples are wanted, "},
		{"values", "these are samples one by one, and something else is wanted, "},
	} {
		if fields[instead[0]] != nil {
			u.Kind, u.hint = instead[0], instead[1]+f.String()
			return u
		}
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if first := fields[key][0]; first == '[' || first == '{' {
			u.hint = fmt.Sprintf("call it %q, not %q", f.field, key)
			break
		}
	}
	return u
}

// valuesOf returns the outcomes of so many samples that an answer lists.
func valuesOf(line []byte, samples int64) (values []json.RawMessage, err error) {
	f := form{field: "values"}
	fields, err := f.fields(line)
	switch {
	case err != nil:
		return nil, err
	case json.Unmarshal(fields["values"], &values) != nil || values == nil:
		return nil, f.unlike(fields, fmt.Errorf("answered %s, which has no list of values", brief(line)))
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
