package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"optratio/internal/decimal"
)

// Question is what an audit asks: the scores of the candidates, and ε and the sensitivity at which the mechanism is to run.
type Question struct {
	Scores      []float64
	Epsilon     float64
	Sensitivity float64
	Monotonic   bool // neighboring scores differ in one direction only
	Samples     int  // how many draws are wanted; 0 where probabilities are
}

// read reads a line of the protocol, in which a score that is no finite decimal is a string "p/q".
func read(line []byte) (q Question, err error) {
	type others Question
	raw := struct {
		*others
		Scores []json.RawMessage
	}{others: (*others)(&q)}
	if err := json.Unmarshal(line, &raw); err != nil {
		return q, err
	}
	q.Scores = make([]float64, len(raw.Scores))
	for i, text := range raw.Scores {
		x, err := decimal.ParseNumber(strings.Trim(string(text), `"`))
		if err != nil {
			return q, fmt.Errorf("score %s: %w", text, err)
		}
		q.Scores[i], _ = x.Float64()
	}
	return q, nil
}

// Serve answers the questions on standard input with probabilities, one for each score, until there are no more: a main that is audited with --pmf-exec has
// this line alone. An error of pmf, a panic, and a probability that is NaN or infinite are answered as errors, which are findings of the audit.
func Serve(pmf func(Question) ([]float64, error)) {
	serve(func(q Question) (any, error) {
		p, err := pmf(q)
		return map[string][]float64{"pmf": p}, err
	})
}

// ServeSamples is Serve for a sampler, which is audited with --sample-exec. draw draws once, and is called for every sample. An int is the place of a candidate, counted from
// 0; a string is an output of --outcomes labels, a float64 one of --outcomes real.
func ServeSamples[T int | string | float64](draw func(Question) (T, error)) {
	serve(func(q Question) (any, error) { return samples(q, draw) })
}

// samples draws as often as the question wants.
func samples[T int | string | float64](q Question, draw func(Question) (T, error)) (any, error) {
	counts, labels, values := make([]int, len(q.Scores)), map[string]int{}, []float64{}
	for range q.Samples {
		outcome, err := draw(q)
		if err != nil {
			return nil, err
		}
		switch x := any(outcome).(type) {
		case int:
			if x < 0 || x >= len(counts) {
				return nil, fmt.Errorf("drew candidate %d of %d", x, len(counts))
			}
			counts[x]++
		case string:
			if !utf8.ValidString(x) {
				return nil, fmt.Errorf("drew the label %q, which is not UTF-8: JSON would not tell it from others", x)
			}
			labels[x]++
		case float64:
			values = append(values, x)
		}
	}
	var zero T
	switch any(zero).(type) {
	case string:
		return map[string]any{"counts": labels}, nil
	case float64:
		return map[string]any{"values": values}, nil
	}
	return map[string]any{"counts": counts}, nil
}

// serve answers on the standard streams, as a whole program.
func serve(answer func(Question) (any, error)) {
	if err := lines(os.Stdin, os.Stdout, answer); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// lines reads a question a line and writes an answer a line, the JSON of what answer returns, until the input ends. What goes wrong with
// one answer is answered as an error. What is returned is an error of reading or writing.
func lines(in io.Reader, out io.Writer, answer func(Question) (any, error)) error {
	for r := bufio.NewReader(in); ; {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			if _, err := out.Write(append(reply(line, answer), '\n')); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// reply answers one line.
func reply(line []byte, answer func(Question) (any, error)) []byte {
	text, err := attempt(line, answer)
	if err != nil {
		text, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	return text
}

// attempt returns the JSON of an answer, or what went wrong, which NaN is too.
func attempt(line []byte, answer func(Question) (any, error)) (text []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	q, err := read(line)
	if err != nil {
		return nil, err
	}
	a, err := answer(q)
	if err != nil {
		return nil, err
	}
	return json.Marshal(a)
}
