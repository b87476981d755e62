package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"

	"optratio/verify"
)

// ErrTable is wrapped by errors about tables of probabilities and files of scores.
var ErrTable = errors.New("bad file")

// Row is one line of a table: scores and the probabilities there.
type Row struct {
	Scores []*big.Rat
	PMF    []*verify.Value
}

// ReadTable reads a table of probabilities, one JSON object a line as programs answer them, with the
// question's scores: {"scores":[0,-1],"pmf":["2/3",0.333333333333]}. Blank lines are skipped.
func ReadTable(r io.Reader, name string, precision *big.Rat) ([]Row, error) {
	var rows []Row
	err := eachLine(r, name, func(line []byte) error {
		var raw struct {
			Scores []json.RawMessage `json:"scores"`
			PMF    []json.RawMessage `json:"pmf"`
		}
		if err := json.Unmarshal(line, &raw); err != nil {
			return fmt.Errorf("no JSON object with scores and pmf: %w", err)
		}
		if len(raw.Scores) == 0 {
			return errors.New("no scores")
		}
		scores := make([]*big.Rat, len(raw.Scores))
		for i, text := range raw.Scores {
			var err error
			if scores[i], _, err = readNumber(text); err != nil {
				return fmt.Errorf("score %d: %s is no number", i+1, brief(text))
			}
		}
		pmf, err := readPMF(raw.PMF, len(scores), precision)
		if err != nil {
			return err
		}
		rows = append(rows, Row{scores, pmf})
		return nil
	})
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%w: %s: it is empty", ErrTable, name)
	}
	return rows, err
}

// eachLine calls f for every line that is not blank, and puts the place before its error.
func eachLine(r io.Reader, name string, f func([]byte) error) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, longestLine)
	at := 0
	for scanner.Scan() {
		at++
		line := bytes.TrimSpace(scanner.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := f(line); err != nil {
			return fmt.Errorf("%w: %s:%d: %w", ErrTable, name, at, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("%w: %s:%d: %w", ErrTable, name, at+1, err)
	}
	return nil
}

// Table audits a table of probabilities. Its domain are the rows' vectors; neighbours are the pairs of rows whose scores
// differ by at most the sensitivity each (Monotonic: all in one direction), shifts and lowered scores the pairs that are
// in the table. With shifted, pairs count that are neighbours after a shift, as they are for
// mechanisms that are shift-invariant.
func Table(ctx context.Context, name string, rows []Row, shifted bool, o Options) (*Report, error) {
	o.Vectors = nil
	for _, row := range rows {
		o.Vectors = append(o.Vectors, row.Scores)
	}
	o.Pairs = nil
	if len(o.Vectors) == 0 {
		return nil, fmt.Errorf("%w: %s: it is empty", ErrTable, name)
	}
	space, dom, err := o.domain(0)
	if err != nil {
		return nil, err
	}
	vectors := slices.Collect(dom.Vectors)
	known := map[string]*verify.Answer{}
	for i, q := range vectors {
		key := fmt.Sprint(q)
		if known[key] != nil {
			return nil, fmt.Errorf("%w: %s: scores %s are there twice", ErrTable, name, key)
		}
		known[key] = &verify.Answer{P: rows[i].PMF}
	}
	delta, err := space.Vector(space.Sensitivities)
	if err != nil {
		return nil, err
	}
	restrict(ctx, dom, vectors, func(q verify.Vector) bool { return known[fmt.Sprint(q)] != nil }, func(a, b verify.Vector) bool {
		low, high := spread(a, b)
		reach := delta[0]
		switch {
		case o.Model == verify.Monotonic && shifted:
			return high-low <= reach
		case o.Model == verify.Monotonic:
			return low >= 0 && high <= reach || high <= 0 && -low <= reach
		case shifted:
			return high-low <= 2*reach
		}
		return max(high, -low) <= reach
	})
	subject := verify.SubjectFunc(func(q verify.Vector) (*verify.Answer, error) {
		if a := known[fmt.Sprint(q)]; a != nil {
			return a, nil
		}
		return nil, fmt.Errorf("%w: scores %v are not in the table", verify.ErrUndecided, q)
	})
	r, err := examine(ctx, name, subject, space, dom, &o, nil)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // there may be pairs that were not looked at
		for i := range r.Properties {
			if p := &r.Properties[i]; p.Verdict == verify.Proved {
				p.Verdict, p.Reason = verify.Undecided, "it was stopped"
			}
		}
	}
	r.Questions = int64(len(rows))
	return r, nil
}

// spread returns the least and the greatest difference of scores.
func spread(a, b verify.Vector) (low, high int64) {
	low, high = b[0]-a[0], b[0]-a[0]
	for i := range a {
		low, high = min(low, b[i]-a[i]), max(high, b[i]-a[i])
	}
	return low, high
}

// restrict replaces the pairs of dom by those that lie within the vectors. They end early when ctx is done, so that
// nothing must be concluded from their end then.
func restrict(ctx context.Context, dom *verify.Domain, vectors []verify.Vector, has func(verify.Vector) bool, near func(a, b verify.Vector) bool) {
	pairs := func(keep func(a, b verify.Vector) bool) func(func(verify.Vector, verify.Vector) bool) {
		return func(yield func(verify.Vector, verify.Vector) bool) {
			for i, a := range vectors {
				if ctx.Err() != nil {
					return
				}
				for _, b := range vectors[:i] {
					if keep(b, a) && !yield(b, a) {
						return
					}
				}
			}
		}
	}
	dom.Neighbors = pairs(near)
	dom.Shifted = pairs(func(a, b verify.Vector) bool { low, high := spread(a, b); return low == high })
	dom.Lowered = func(yield func(verify.Lowering) bool) {
		for _, a := range vectors {
			if ctx.Err() != nil {
				return
			}
			for _, b := range vectors {
				if one, ok := lowers(a, b); ok && !yield(verify.Lowering{Upper: a, Lower: b, One: one}) {
					return
				}
			}
		}
	}
	dom.Has = has
}

// lowers reports whether only one candidate's score differs from a to b, up to a shift, and is lower
// in b; with two candidates, either may be taken for it.
func lowers(a, b verify.Vector) (one int, ok bool) {
	for one = range a {
		rest := one ^ 1
		if rest >= len(a) {
			rest = 0
		}
		if len(a) < 2 {
			return 0, false
		}
		shift, same := b[rest]-a[rest], true
		for i := range a {
			if i != one {
				same = same && b[i]-a[i] == shift
			}
		}
		if same && b[one]-a[one] < shift {
			return one, true
		}
	}
	return 0, false
}
