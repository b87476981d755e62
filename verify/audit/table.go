package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/big"
	"slices"

	"optratio/number"
	"optratio/verify"
)

// ErrTable is wrapped by errors about tables of probabilities and files of scores.
var ErrTable error = number.InputError("bad file")

// Row is one line of a table: scores and the probabilities there.
type Row struct {
	Scores []*big.Rat
	PMF    []*verify.Value
	Labels []string        // of the probabilities; nil where they are the candidates'
	Input  json.RawMessage // in place of scores, where the table is about other inputs
}

// ReadTable reads a table of probabilities, one JSON object a line as programs answer them, with the
// question's scores: {"scores":[0,-1],"pmf":["2/3",0.333333333333]}. Blank lines are skipped.
//
// A table may be about any inputs instead: {"input":[3,1],"pmf":["2/3",0.333333333333]}. All its rows have scores then, or all an input.
func ReadTable(r io.Reader, name string, precision *big.Rat) ([]Row, error) {
	list := &labelled{ids: map[string]int{}, list: true}
	return readRows(r, name, func(raw, line json.RawMessage, n int) ([]*verify.Value, error) {
		if n == 0 {
			return list.readPMF(raw, line, precision)
		}
		return readPMF(raw, n, precision)
	})
}

// ReadLabels reads a table whose probabilities are those of labels: {"scores":[0,-1],"pmf":{"a":"2/3","nobody":"1/3"}}.
func ReadLabels(r io.Reader, name string, precision *big.Rat) ([]Row, error) {
	l := &labelled{ids: map[string]int{}}
	rows, err := readRows(r, name, func(object, line json.RawMessage, _ int) ([]*verify.Value, error) {
		return l.readPMF(object, line, precision)
	})
	for i := range rows {
		rows[i].Labels = l.names
	}
	return rows, err
}

func readRows(r io.Reader, name string, pmf func(raw, line json.RawMessage, n int) ([]*verify.Value, error)) ([]Row, error) {
	var rows []Row
	err := eachLine(r, name, func(line []byte) error {
		var raw struct {
			Scores []json.RawMessage `json:"scores"`
			Input  json.RawMessage   `json:"input"`
			PMF    json.RawMessage   `json:"pmf"`
		}
		if err := json.Unmarshal(line, &raw); err != nil {
			return fmt.Errorf("no JSON object with scores and pmf: %w", err)
		}
		if key := repeatedKey(line); key != "" {
			return fmt.Errorf("the key %q is there twice", key)
		}
		switch {
		case len(raw.Scores) > 0 && raw.Input != nil:
			return errors.New("scores and an input, give one of them")
		case len(raw.Scores) == 0 && raw.Input == nil:
			return errors.New("no scores")
		case len(rows) > 0 && (rows[0].Input != nil) != (raw.Input != nil):
			return errors.New("some rows have scores and some an input")
		}
		scores := make([]*big.Rat, len(raw.Scores))
		for i, text := range raw.Scores {
			var err error
			if scores[i], _, err = readNumber(text); err != nil {
				return fmt.Errorf("score %d: %s is no number", i+1, brief(text))
			}
		}
		p, err := pmf(raw.PMF, line, len(scores))
		if err != nil {
			return err
		}
		rows = append(rows, Row{Scores: scores, PMF: p, Input: raw.Input})
		return nil
	})
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%w: %s: it is empty", ErrTable, name)
	}
	return rows, err
}

// eachLine calls f for every line that is not blank, and puts the place before its error. A line at which reading fails is not looked at, as it may be
// cut off.
func eachLine(r io.Reader, name string, f func([]byte) error) error {
	lines := bufio.NewReader(r)
	for at := 1; ; at++ {
		line, err := readLine(lines)
		last := errors.Is(err, io.EOF)
		if last {
			err = nil
		}
		if line = bytes.TrimSpace(line); err == nil && len(line) > 0 {
			err = f(line)
		}
		switch {
		case err != nil:
			return fmt.Errorf("%w: %s:%d: %w", ErrTable, name, at, err)
		case last:
			return nil
		}
	}
}

// Table audits a table of probabilities. Its domain are the rows' vectors, and every pair of rows that a property relates is
// compared: neighbors are the pairs of o.Pairs, or without any the pairs of rows whose scores differ by at most the
// sensitivity each (Monotonic: all in one direction). With shifted, pairs count that are neighbors after a shift, as they
// are for mechanisms that are shift-invariant. Of a table about the inputs of the options, each of these has to have a row.
func Table(ctx context.Context, name string, rows []Row, shifted bool, o Options) (*Report, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	var asked *questioned
	var err error
	if o.Inputs != nil {
		asked, err = o.tableOfInputs(name, rows)
	} else {
		asked, err = o.tableOfScores(ctx, name, rows, shifted)
	}
	if err != nil {
		return nil, err
	}
	r, err := examine(ctx, name, asked.subject, asked.space, asked.dom, &o, nil)
	if err != nil {
		return nil, err
	}
	if o.Inputs == nil {
		r.rowsAlone(ctx.Err() != nil)
	}
	r.somethingChecked()
	if rows[0].Labels != nil {
		r.nameOutcomes(rows[0].Labels)
	}
	r.nameInputs(o.Inputs)
	r.Questions = int64(len(rows))
	return r, nil
}

// rowsAlone leaves undecided what a table's rows do not decide: what was found without looking at all pairs, where the audit was stopped, and what two
// rows refute only after a shift.
func (r *Report) rowsAlone(stopped bool) {
	for i := range r.Properties {
		p := &r.Properties[i]
		switch {
		case stopped && p.Verdict == verify.Proved:
			p.Verdict, p.Reason = verify.Undecided, "it was stopped"
		case p.Verdict == verify.Violated && p.Witness != nil && p.Witness.NeedsShift(p.Name):
			// Every pair without a shift agrees, so the property alone is not refuted; and with these rows it is not proved for more than them.
			p.Verdict = verify.Undecided
			p.Reason = "rows that are related by it and a shift contradict each other: it does not hold, or the mechanism is not shift-invariant"
		}
	}
}

// questioned is a subject, and what it is asked about.
type questioned struct {
	subject verify.Subject
	space   *verify.Space
	dom     *verify.Domain
}

// tableOfScores asks a table about its rows, and the pairs of them that properties relate.
func (o *Options) tableOfScores(ctx context.Context, name string, rows []Row, shifted bool) (*questioned, error) {
	if slices.ContainsFunc(rows, func(r Row) bool { return r.Input != nil }) {
		return nil, fmt.Errorf("%w: %s: its rows are about inputs: say which of them are neighbors", ErrTable, name)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%w: %s: it is empty", ErrTable, name)
	}
	own := *o
	own.Vectors, own.Pairs = nil, nil
	for _, row := range rows {
		own.Vectors = append(own.Vectors, row.Scores)
	}
	space, dom, err := own.domain(0)
	if err != nil {
		return nil, err
	}
	vectors := slices.Collect(dom.Vectors)
	known := map[string]*verify.Answer{}
	for i, q := range vectors {
		if known[q.Key()] != nil {
			return nil, fmt.Errorf("%w: %s: scores %s are there twice", ErrTable, name, fmt.Sprint(q))
		}
		known[q.Key()] = &verify.Answer{P: rows[i].PMF}
	}
	delta, err := space.Vector(space.Sensitivities)
	if err != nil {
		return nil, err
	}
	relate(ctx, dom, vectors, func(a, b verify.Vector) bool { return o.near(a, b, delta[0], shifted) })
	dom.Name = fmt.Sprintf("the %d rows of %s, of which those are compared that are %s neighbors", len(rows), name, o.Neighbors)
	if len(o.Pairs) > 0 {
		pairs := make([][2]verify.Vector, len(o.Pairs))
		for i, pair := range o.Pairs {
			for side, scores := range pair {
				q, err := space.Vector(scores)
				if err != nil || known[q.Key()] == nil {
					return nil, fmt.Errorf("%w: pair %d of neighbors: the scores %s are in no row of %s", ErrTable, i+1, verify.ScoresText(scores), name)
				}
				pairs[i][side] = q
			}
		}
		dom.Neighbors = listed(pairs)
		dom.Name = fmt.Sprintf("the %d rows of %s and %d given pairs of them", len(rows), name, len(pairs))
	}
	return &questioned{verify.SubjectFunc(func(q verify.Vector) (*verify.Answer, error) { return known[q.Key()], nil }), space, dom}, nil
}

// tableOfInputs asks a table about the inputs of the options.
func (o *Options) tableOfInputs(name string, rows []Row) (*questioned, error) {
	known := map[string]*verify.Answer{}
	for _, row := range rows {
		key, err := InputKey(row.Input)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: %s: a row without an input, and inputs are asked about", ErrTable, name)
		case known[key] != nil:
			return nil, fmt.Errorf("%w: %s: the input %s is there twice", ErrTable, name, verify.InputText(row.Input))
		}
		known[key] = &verify.Answer{P: row.PMF}
	}
	answers := make([]*verify.Answer, len(o.Inputs.Values))
	for i, value := range o.Inputs.Values {
		key, err := InputKey(value)
		if answers[i] = known[key]; err != nil || answers[i] == nil {
			return nil, fmt.Errorf("%w: %s: no row for the input %s", ErrTable, name, verify.InputText(value))
		}
	}
	space, dom, err := o.domain(0)
	return &questioned{verify.SubjectFunc(func(q verify.Vector) (*verify.Answer, error) { return answers[q[0]], nil }), space, dom}, err
}

// near reports whether two vectors are neighbors in the model.
func (o *Options) near(a, b verify.Vector, reach int64, shifted bool) bool {
	low, high := spread(a, b)
	switch {
	case o.Neighbors == verify.Monotonic && shifted:
		return high-low <= reach
	case o.Neighbors == verify.Monotonic:
		return low >= 0 && high <= reach || high <= 0 && -low <= reach
	case shifted:
		return high-low <= 2*reach
	}
	return max(high, -low) <= reach
}

// spread returns the least and the greatest difference of scores.
func spread(a, b verify.Vector) (low, high int64) {
	low, high = b[0]-a[0], b[0]-a[0]
	for i := range a {
		low, high = min(low, b[i]-a[i]), max(high, b[i]-a[i])
	}
	return low, high
}

// relate replaces the pairs of dom by all those of the vectors that a property relates. They end early when ctx is done, so
// that nothing must be concluded from their end then.
func relate(ctx context.Context, dom *verify.Domain, vectors []verify.Vector, near func(a, b verify.Vector) bool) {
	orbits := make([]string, len(vectors)) // equal where the scores are, up to order and shift
	for i, q := range vectors {
		sorted := slices.Clone(q)
		slices.Sort(sorted)
		orbits[i] = fmt.Sprint(sorted.Plus(-sorted[0]))
	}
	pairs := func(self bool, keep func(i, j int) bool) iter.Seq2[verify.Vector, verify.Vector] {
		return func(yield func(verify.Vector, verify.Vector) bool) {
			for i, a := range vectors {
				if ctx.Err() != nil || self && !yield(a, a) {
					return
				}
				for j, b := range vectors[:i] {
					if keep(j, i) && !yield(b, a) {
						return
					}
				}
			}
		}
	}
	dom.Neighbors = pairs(false, func(i, j int) bool { return near(vectors[i], vectors[j]) })
	shifted := func(i, j int) bool { low, high := spread(vectors[i], vectors[j]); return low == high }
	// Vectors that only a shift takes into each other say nothing about order.
	dom.Permuted = pairs(true, func(i, j int) bool { return orbits[i] == orbits[j] && !shifted(i, j) })
	dom.Shifted = pairs(false, shifted)
	dom.Lowered = pairs(false, func(int, int) bool { return true })
}
