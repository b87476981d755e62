package optimum

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"optratio/internal/decimal"
	"optratio/internal/inquiry"
	"optratio/number"
)

// record is a line of a CSV file.
type record struct {
	line   int
	fields []string
}

// csvFile is a file that is being read. The first thing that is wrong is kept in err, and reading goes on as if it were not there.
type csvFile struct {
	name    string
	records []record
	err     error
}

func (f *csvFile) fail(r record, format string, args ...any) {
	if f.err == nil {
		f.err = faultf("%s:%d: %s", f.name, r.line, fmt.Sprintf(format, args...))
	}
}

// readCSV reads the lines of a file that have least to most fields, without the head, whose last field is no number and of which head is the name. Lines that begin with # are
// comments. Blanks around a field belong to it. What encoding/csv would change, a line end of Windows in quotes, is refused.
func readCSV(name string, text io.Reader, least, most int, head string) *csvFile {
	f := &csvFile{name: name}
	all, err := io.ReadAll(text)
	if err != nil {
		f.err = faultf("%s: cannot be read: %v", name, err)
	}
	windows := bytes.Contains(all, []byte("\r\n"))
	c := csv.NewReader(bytes.NewReader(all))
	c.FieldsPerRecord, c.Comment = -1, '#'
	for first := true; f.err == nil; first = false {
		fields, err := c.Read()
		var wrong *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return f
		case errors.As(err, &wrong):
			f.fail(record{line: wrong.Line}, "%v; quotes begin and end a field, blanks included", wrong.Err)
			return f
		}
		line, _ := c.FieldPos(0)
		r := record{line, fields}
		if len(fields) < least || len(fields) > most {
			f.fail(r, "%d columns; give %s", len(fields), head)
		}
		for i, field := range fields {
			switch {
			case !utf8.ValidString(field):
				f.fail(r, "%q is not UTF-8; save the file as UTF-8", field)
			case windows && strings.Contains(field, "\n"):
				f.fail(r, "%q has a line end in quotes, in a file whose lines end in CR LF; name it without, or end lines in LF", field)
			case i == most-1:
				fields[i] = strings.TrimSpace(field) // a number
			}
		}
		if f.err == nil && (!first || !isHead(fields, most)) {
			f.records = append(f.records, r)
		}
	}
	return f
}

// isHead reports whether a line has the names of columns: its number is none, or it is x,y.
func isHead(fields []string, most int) bool {
	if len(fields) < most {
		return len(fields) == 2 && fields[0] == "x" && fields[1] == "y"
	}
	_, err := decimal.ParseNumber(fields[most-1])
	return err != nil && len(fields[most-1]) > 0 && (fields[most-1][0] < '0' || fields[most-1][0] > '9') && fields[most-1][0] != '-'
}

// number reads a number >= 0.
func (f *csvFile) number(r record, column int, what string) *big.Rat {
	x, err := decimal.ParseNumber(r.fields[column])
	switch {
	case err != nil:
		f.fail(r, "%s: %v", what, err)
	case x.Sign() < 0:
		f.fail(r, "%s: %s is negative", what, r.fields[column])
	}
	return x
}

// names are those of inputs or outputs with their places; more are added where add is set.
type names struct {
	kind string
	list []string
	at   map[string]int
	add  bool
}

func newNames(kind string, list []string, add bool) *names {
	return &names{kind, list, places(list), add}
}

// place finds a name, or adds it.
func (f *csvFile) place(r record, column int, among *names) int {
	text := r.fields[column]
	i, known := among.at[text]
	switch {
	case !known && among.add:
		i = len(among.list)
		among.at[text], among.list = i, append(among.list, text)
	case !known:
		f.fail(r, "no %s is called %q", among.kind, text)
	}
	return i
}

// ReadPairs reads the pairs of a problem, with the columns x,y or x,y,d. Inputs that it does not have are added where add is set.
func (p *Problem) ReadPairs(name string, text io.Reader, add bool) error {
	f, inputs := readCSV(name, text, 2, 3, "x,y or x,y,d"), newNames("input", p.Inputs, add)
	p.Pairs = nil
	for _, r := range f.records {
		q := Pair{From: f.place(r, 0, inputs), To: f.place(r, 1, inputs)}
		if q.From == q.To {
			f.fail(r, "%q is paired with itself", r.fields[0])
		}
		if len(r.fields) == 3 {
			q.Distance = f.number(r, 2, "d")
		}
		p.Pairs = append(p.Pairs, q)
	}
	p.Inputs = inputs.list
	return f.err
}

// cells reads lines x,o,value: every combination at most once.
func cells(name string, text io.Reader, head string, inputs, outputs *names) (values map[[2]int]*big.Rat, err error) {
	f := readCSV(name, text, 3, 3, head)
	values = map[[2]int]*big.Rat{}
	for _, r := range f.records {
		at := [2]int{f.place(r, 0, inputs), f.place(r, 1, outputs)}
		if values[at] != nil {
			f.fail(r, "input %q and output %q are there twice", r.fields[0], r.fields[1])
		}
		values[at] = f.number(r, 2, "value")
	}
	return values, f.err
}

// ReadLoss reads the losses of a problem, with the columns x,o,value for every input and output. Names that it does not have are added where add is set.
func (p *Problem) ReadLoss(name string, text io.Reader, add bool) error {
	inputs, outputs := newNames("input", p.Inputs, add), newNames("output", p.Outputs, add)
	values, err := cells(name, text, "x,o,value", inputs, outputs)
	if err != nil {
		return err
	}
	p.Inputs, p.Outputs, p.Loss = inputs.list, outputs.list, nil
	if err := checkSize(len(p.Inputs), len(p.Outputs)); err != nil {
		return faultf("%s: %v", name, err)
	}
	for x, input := range p.Inputs {
		row := make([]*big.Rat, len(p.Outputs))
		for o, output := range p.Outputs {
			if row[o] = values[[2]int{x, o}]; row[o] == nil {
				return faultf("%s: no value for the input %q and the output %q", name, input, output)
			}
		}
		p.Loss = append(p.Loss, row)
	}
	return nil
}

// ReadPrior reads a prior over the inputs of a problem, with the columns x,p. Inputs that it does not name have 0.
func (p *Problem) ReadPrior(name string, text io.Reader) ([]*big.Rat, error) {
	f, inputs := readCSV(name, text, 2, 2, "x,p"), newNames("input", p.Inputs, false)
	prior, sum := make([]*big.Rat, len(p.Inputs)), new(big.Rat)
	for _, r := range f.records {
		x, w := f.place(r, 0, inputs), f.number(r, 1, "p")
		if f.err != nil {
			return nil, f.err
		}
		if prior[x] != nil {
			f.fail(r, "%q is there twice", r.fields[0])
		}
		prior[x] = w
		sum.Add(sum, w)
	}
	if f.err == nil && sum.Cmp(one) != 0 {
		f.err = faultf("%s: the prior sums to %s, not to 1", name, sum.RatString())
	}
	for x := range prior {
		prior[x] = cmp.Or(prior[x], new(big.Rat))
	}
	return prior, f.err
}

// nearOne is by how much the probabilities of a row may miss 1: decimals of six places and more do. Such rows are divided by their sums.
var nearOne = big.NewRat(1, 1e6)

// ReadTable reads a mechanism with the columns input,output,probability. What is not there has the probability 0. Outputs need not be those of the problem.
func (p *Problem) ReadTable(name string, text io.Reader) (*Table, error) {
	outputs := newNames("output", nil, true)
	values, err := cells(name, text, "input,output,probability", newNames("input", p.Inputs, false), outputs)
	if err != nil {
		return nil, err
	}
	t := &Table{Outputs: outputs.list}
	for x, input := range p.Inputs {
		row, sum := make([]number.Number, len(t.Outputs)), new(big.Rat)
		for o := range row {
			sum.Add(sum, cmp.Or(values[[2]int{x, o}], new(big.Rat)))
		}
		if off := new(big.Rat).Sub(sum, one); off.Abs(off).Cmp(nearOne) > 0 {
			return nil, faultf("%s: the probabilities at the input %q sum to %s, not to 1", name, input, shortText(sum))
		}
		t.Scaled = t.Scaled || sum.Cmp(one) != 0
		for o := range row {
			row[o] = number.Exact(new(big.Rat).Quo(cmp.Or(values[[2]int{x, o}], new(big.Rat)), sum))
		}
		t.p = append(t.p, row)
	}
	if err := t.check(p); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// Asked returns the inputs of a problem as audits ask about them, JSON strings.
func (p *Problem) Asked() (out []json.RawMessage) {
	for _, name := range p.Inputs {
		out = append(out, json.RawMessage(jsonText(name)))
	}
	return out
}

// TableOf returns the mechanism whose probabilities of outputs a program stated, or a file of rows {"input":…,"pmf":{…}}, one for each input of the problem, which
// are JSON strings. A row's last probabilities, where they are missing, are 0. Numbers that are not exact stand for what is within their precision.
func (p *Problem) TableOf(name string, outputs []string, inputs []json.RawMessage, pmf [][]number.Number) (*Table, error) {
	t := &Table{Outputs: outputs, p: make([][]number.Number, len(p.Inputs))}
	at := places(p.Inputs)
	for i, row := range pmf {
		if inputs == nil {
			return nil, faultf("%s: row %d: it is about scores, give an input", name, i+1)
		}
		var value any
		d := json.NewDecoder(bytes.NewReader(inputs[i]))
		d.UseNumber()
		_ = d.Decode(&value) // rows have been read as JSON
		input, ok := nameOf(value)
		x, known := at[input]
		switch {
		case !ok:
			return nil, faultf("%s: row %d: the input %s is no name; give a string", name, i+1, inquiry.InputText(inputs[i]))
		case !known:
			return nil, faultf("%s: row %d: no input is called %q", name, i+1, input)
		case t.p[x] != nil:
			return nil, faultf("%s: row %d: the input %q is there twice", name, i+1, input)
		}
		t.p[x] = slices.Clone(row)
		for len(t.p[x]) < len(outputs) { // which later rows named
			t.p[x] = append(t.p[x], number.Int(0))
		}
	}
	if x := slices.IndexFunc(t.p, func(row []number.Number) bool { return row == nil }); x >= 0 {
		return nil, faultf("%s: no row for the input %q", name, p.Inputs[x])
	}
	if err := t.check(p); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// shortText writes a number for people.
func shortText(x *big.Rat) string {
	if s := x.RatString(); len(s) <= 24 {
		return s
	}
	return x.FloatString(12)
}
