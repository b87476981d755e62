package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"optratio/internal/decimal"
	"optratio/internal/inquiry"
	"optratio/internal/strictjson"
	"optratio/number"
	"optratio/verify"
)

// errTable is wrapped by errors about tables of probabilities and files of scores.
var errTable error = number.InputError("bad file")

// Table is a table of probabilities.
type Table struct {
	Name   string
	Scores [][]*big.Rat      // of each row; nil where the table is about other inputs
	Inputs []json.RawMessage // then
	PMF    [][]*inquiry.Value
	Labels []string // of the probabilities; nil where they are the candidates'
}

// ReadTable reads a table of probabilities, one JSON object a line as programs answer them, with the
// question's scores: {"scores":[0,-1],"pmf":["2/3",0.333333333333]}. Blank lines are skipped.
//
// A table may be about any inputs instead: {"input":[3,1],"pmf":["2/3",0.333333333333]}. All its rows have scores then, or all an input.
// A line may also be CSV: n scores, taken exactly, and then n probabilities.
// With the outcomes Labels the probabilities are those of labels: {"scores":[0,-1],"pmf":{"a":"2/3","nobody":"1/3"}}.
func ReadTable(r io.Reader, name, outcomes string, precision *big.Rat) (*Table, error) {
	t, l := &Table{Name: name}, &labelled{ids: map[string]int{}, list: outcomes != Labels}
	first := true
	err := eachLine(r, name, func(line []byte) error {
		row := ofCSV(line)
		fields, err := strictjson.Object(row)
		head := first && bytes.ContainsAny(line, ",;\t") && (line[0] == '"' || unicode.IsLetter(rune(line[0])))
		first = false
		switch {
		case err != nil && head:
			return nil // names of columns
		case err != nil && (row[0] != '{' || strictjson.NoJSON(err)):
			return fmt.Errorf("%w; each line is an object such as {\"scores\":[0,-1],\"pmf\":[0.7,0.3]}, or in CSV 0,-1,0.7,0.3", err)
		case err != nil:
			return err
		}
		if l.n, err = t.addSubject(fields["scores"], fields["input"]); err != nil {
			return err
		}
		p, err := l.readPMF(fields["pmf"], line, precision)
		t.PMF = append(t.PMF, p)
		return err
	})
	if !l.list {
		t.Labels = l.names
	}
	if err == nil && len(t.PMF) == 0 {
		err = fmt.Errorf("%w: %s: it is empty", errTable, name)
	}
	return t, err
}

// addSubject adds what a row is about, scores or an input, and returns the number of scores.
func (t *Table) addSubject(text, input json.RawMessage) (n int, err error) {
	var list []json.RawMessage
	if text != nil && json.Unmarshal(text, &list) != nil {
		return 0, fmt.Errorf("the scores %s are not a list", brief(text))
	}
	switch {
	case len(list) > 0 && input != nil:
		return 0, errors.New("this row has scores and an input; give one of them")
	case len(list) == 0 && input == nil:
		return 0, errors.New("this row has no scores; give an object such as {\"scores\":[0,-1],\"pmf\":[0.7,0.3]}")
	case len(t.PMF) > 0 && (t.Inputs != nil) != (input != nil):
		return 0, errors.New("some rows have scores and some an input; give all of them the same")
	case input != nil:
		t.Inputs = append(t.Inputs, input)
		return 0, nil
	}
	scores := make([]*big.Rat, len(list))
	for i, text := range list {
		if scores[i], _, err = readNumber(text); err != nil {
			return 0, fmt.Errorf("score %d: %s is not a number", i+1, brief(text))
		}
	}
	t.Scores = append(t.Scores, scores)
	return len(list), nil
}

// place names the output that a probability of the table belongs to.
func (t *Table) place(r int) string {
	if t.Labels != nil {
		return fmt.Sprintf("output %q", t.Labels[r])
	}
	return candidate(r)
}

// eachLine calls f for every line that is not blank, and puts the place before its error. A line at which reading fails is not looked at, as it may be
// cut off.
func eachLine(r io.Reader, name string, f func([]byte) error) (err error) {
	lines, at := linesOf(r), 0
	for err == nil && lines.Scan() && lines.Err() == nil {
		at++
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			err = f(line)
		}
	}
	if broken := lines.Err(); broken != nil {
		at, err = at+1, broken
	}
	if errors.Is(err, bufio.ErrTooLong) {
		err = errLong
	}
	if err != nil {
		return fmt.Errorf("%w: %s:%d: %w", errTable, name, at, err)
	}
	return nil
}

// Audit audits the table. Its domain are the rows' vectors, and every pair of rows that a property relates is
// compared: neighbors are the pairs of o.Pairs, or without any the pairs of rows whose scores differ by at most the
// sensitivity each (Monotonic: all in one direction). With shifted, pairs count that are neighbors after a shift, as they
// are for mechanisms that are shift-invariant. Of a table about the inputs of the options, each of these has to have a row.
func (t *Table) Audit(ctx context.Context, shifted bool, o Options) (*Report, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	ask := o.tableOfScores
	if o.Inputs != nil {
		ask = o.tableOfInputs
	}
	asked, err := ask(t, shifted)
	if err != nil {
		return nil, err
	}
	references, err := o.references(asked.Domain.Space)
	if err != nil {
		return nil, err
	}
	r, err := examine(ctx, t.Name, asked, &o, references, nil, nil)
	if err != nil {
		return nil, err
	}
	if o.Inputs == nil {
		r.rowsAlone()
	}
	r.somethingChecked()
	if t.Labels != nil {
		r.nameOutcomes(t.Labels)
	}
	r.nameInputs(o.Inputs)
	r.Questions = int64(len(t.PMF))
	for i, p := range t.PMF {
		f := Finding{Event: noDistribution, Detail: fault(&inquiry.Answer{P: p}, t.place)}
		if t.Inputs != nil {
			f.Input = t.Inputs[i]
		} else {
			f.Scores = t.Scores[i]
		}
		if f.Detail != "" {
			r.Findings = addFinding(r.Findings, f)
		}
	}
	r.answers(nil)
	return r, nil
}

// rowsAlone leaves undecided what two of a table's rows refute only after a shift.
func (r *Report) rowsAlone() {
	for i := range r.Properties {
		p := &r.Properties[i]
		if p.Verdict == verify.Violated && p.Witness != nil && needsShift(p.Witness, p.Name) {
			// Every pair without a shift agrees, so the property alone is not refuted; and with these rows it is not proved for more than them.
			p.Verdict = verify.Undecided
			p.Reason = "rows that are related by it and a shift contradict each other: it does not hold, or the mechanism is not shift-invariant"
		}
	}
}

// needsShift reports whether the witness's two vectors are related by its property only after a number is added to all scores of
// one: what it refutes is then that the mechanism has the property and is shift-invariant, not the property alone.
func needsShift(w *verify.Witness, p verify.Property) bool {
	if w.Candidate == nil || len(w.Scores) == 0 || len(w.Neighbor) != len(w.Scores) {
		return false
	}
	switch p {
	case verify.Symmetry:
		return slices.MaxFunc(w.Scores, (*big.Rat).Cmp).Cmp(slices.MaxFunc(w.Neighbor, (*big.Rat).Cmp)) != 0
	case verify.Monotone:
		steps := make([]int64, len(w.Scores))
		for r, q := range w.Scores {
			steps[r] = int64(w.Neighbor[r].Cmp(q))
		}
		return inquiry.NeedsShift(steps, *w.Candidate) > 0
	}
	return false
}

// tableOfScores asks a table about its rows, and the pairs of them that properties relate.
func (o *Options) tableOfScores(t *Table, shifted bool) (*inquiry.Question, error) {
	if t.Inputs != nil {
		return nil, fmt.Errorf("%w: %s: its rows are about inputs: say which of them are neighbors", errTable, t.Name)
	}
	own := *o
	own.Vectors, own.Pairs = t.Scores, nil
	space, dom, err := own.domain(0)
	if err != nil {
		return nil, err
	}
	vectors := slices.Collect(dom.Vectors)
	known := map[string]*inquiry.Answer{}
	for i, q := range vectors {
		if known[q.Key()] != nil {
			return nil, fmt.Errorf("%w: %s: scores %s are there twice", errTable, t.Name, fmt.Sprint(q))
		}
		known[q.Key()] = &inquiry.Answer{P: t.PMF[i]}
	}
	delta, err := space.Vector(space.Sensitivities)
	if err != nil {
		return nil, err
	}
	o.relate(dom, vectors, shifted, delta[0])
	dom.Name = fmt.Sprintf("its %s, compared where they are %s", counted(len(vectors), "row"), inquiry.Near(o.Monotonic))
	if len(o.Pairs) > 0 {
		pairs := make([][2]inquiry.Vector, len(o.Pairs))
		for i, pair := range o.Pairs {
			for side, scores := range pair {
				q, err := space.Vector(scores)
				if err != nil || known[q.Key()] == nil {
					return nil, fmt.Errorf("%w: pair %d of neighbors: the scores %s are in no row of %s", errTable, i+1, inquiry.ScoresText(scores), t.Name)
				}
				pairs[i][side] = q
			}
		}
		dom.Neighbors = listed(pairs)
		dom.Name = fmt.Sprintf("its %s and %s of them", counted(len(vectors), "row"), counted(len(pairs), "given pair"))
	}
	return inquiry.Stated(inquiry.SubjectFunc(func(q inquiry.Vector) (*inquiry.Answer, error) { return known[q.Key()], nil }), dom, true), nil
}

// tableOfInputs asks a table about the inputs of the options.
func (o *Options) tableOfInputs(t *Table, _ bool) (*inquiry.Question, error) {
	if t.Inputs == nil {
		return nil, fmt.Errorf("%w: %s: a row has no input, and inputs are asked about", errTable, t.Name)
	}
	if err := o.Inputs.whole(); err != nil {
		return nil, err
	}
	known := map[string]*inquiry.Answer{}
	for i, input := range t.Inputs {
		key, err := strictjson.Key(input)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: %s: the input %s: %w", errTable, t.Name, inquiry.InputText(input), err)
		case known[key] != nil:
			return nil, fmt.Errorf("%w: %s: the input %s is there twice", errTable, t.Name, inquiry.InputText(input))
		}
		known[key] = &inquiry.Answer{P: t.PMF[i]}
	}
	answers := make([]*inquiry.Answer, len(o.Inputs.Values))
	for i, value := range o.Inputs.Values {
		key, err := strictjson.Key(value)
		if answers[i] = known[key]; err != nil || answers[i] == nil {
			return nil, fmt.Errorf("%w: %s: no row for the input %s", errTable, t.Name, inquiry.InputText(value))
		}
	}
	_, dom, err := o.domain(0)
	return inquiry.Stated(inquiry.SubjectFunc(func(q inquiry.Vector) (*inquiry.Answer, error) { return answers[q[0]], nil }), dom, true), err
}

// relate replaces the pairs of dom by all those of the vectors that a property relates. The scores of neighbors differ by delta at most, all in one direction where they are
// monotonic. With shifted, what counts is how far the differences are apart: by delta where scores are monotonic, else by twice that.
func (o *Options) relate(dom *inquiry.Domain, vectors []inquiry.Vector, shifted bool, delta int64) {
	level := func(q inquiry.Vector) inquiry.Vector { return q.Plus(-q[0]) }
	orbits, orbit := grouped(vectors, func(q inquiry.Vector) inquiry.Vector {
		sorted := slices.Clone(q)
		slices.Sort(sorted)
		return level(sorted)
	})
	levels, form := grouped(vectors, level)
	window := delta
	if shifted && !o.Monotonic {
		window *= 2
	}
	near := func(i, j int) bool {
		low, high := spread(vectors[j], vectors[i])
		if shifted {
			return high-low <= window
		}
		return max(high, -low) <= window && (!o.Monotonic || low >= 0 || high <= 0)
	}
	placed, every := slices.Clone(vectors), make([]int, len(vectors))
	for i, q := range vectors {
		if every[i] = i; shifted {
			placed[i] = level(q)
		}
	}
	// The candidate with the most different scores tells best which vectors are close.
	axis, most := 0, 0
	for r := range placed[0] {
		scores := map[int64]bool{}
		for _, q := range placed {
			scores[q[r]] = true
		}
		if len(scores) > most {
			axis, most = r, len(scores)
		}
	}
	ascending := slices.SortedFunc(slices.Values(every), func(i, j int) int { return cmp.Compare(placed[i][axis], placed[j][axis]) })
	from := func(least int64) int {
		at, _ := slices.BinarySearchFunc(ascending, least, func(i int, least int64) int { return cmp.Compare(placed[i][axis], least) })
		return at
	}
	dom.Pairs = 0 // they are counted
	always := func(int, int) bool { return true }
	dom.Neighbors = among(vectors, false, func(i int) (found []int) {
		for _, j := range ascending[from(placed[i][axis]-window):from(placed[i][axis]+window+1)] {
			if j < i && near(i, j) {
				found = append(found, j)
			}
		}
		slices.Sort(found)
		return found
	}, always)
	// Vectors that only a shift takes into each other say nothing about order.
	dom.Permuted = among(vectors, true, func(i int) []int { return orbits[orbit[i]] }, func(i, j int) bool { return form[i] != form[j] })
	dom.Shifted = among(vectors, false, func(i int) []int { return levels[form[i]] }, always)
	dom.Lowered = among(vectors, false, func(int) []int { return every }, always)
}

// spread returns the least and the greatest difference of scores.
func spread(a, b inquiry.Vector) (low, high int64) {
	low, high = b[0]-a[0], b[0]-a[0]
	for i := range a {
		low, high = min(low, b[i]-a[i]), max(high, b[i]-a[i])
	}
	return low, high
}

// grouped returns the places of the vectors that share a key, in order, and each one's key.
func grouped(vectors []inquiry.Vector, key func(q inquiry.Vector) inquiry.Vector) (groups map[string][]int, of []string) {
	groups = map[string][]int{}
	for i, q := range vectors {
		of = append(of, key(q).Key())
		groups[of[i]] = append(groups[of[i]], i)
	}
	return groups, of
}

// among yields pairs of vectors, the later one last: each with itself, if self says so, and with those of the others before it, in their order, that are related to it.
func among(vectors []inquiry.Vector, self bool, others func(i int) []int, related func(i, j int) bool) vectorPairs {
	return func(yield func(inquiry.Vector, inquiry.Vector) bool) {
		for i, a := range vectors {
			if self && !yield(a, a) {
				return
			}
			for _, j := range others(i) {
				if j >= i {
					break
				}
				if related(i, j) && !yield(vectors[j], a) {
					return
				}
			}
		}
	}
}

// ofCSV returns a line of CSV, n scores and then n probabilities, as a row in JSON; and any other line as it is.
func ofCSV(line []byte) []byte {
	cells := strings.FieldsFunc(string(line), func(r rune) bool { return strings.ContainsRune(",;\t", r) })
	half := len(cells) / 2
	if half == 0 || len(cells)%2 != 0 {
		return line
	}
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(cell)
		if _, err := decimal.ParseNumber(cells[i]); err != nil {
			return line
		}
		if i < half || !json.Valid([]byte(cells[i])) {
			cells[i] = strconv.Quote(cells[i])
		}
	}
	return fmt.Appendf(nil, `{"scores":[%s],"pmf":[%s]}`, strings.Join(cells[:half], ","), strings.Join(cells[half:], ","))
}
