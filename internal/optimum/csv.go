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

// readCSV reads the lines of a file that have least to most fields, without the head, whose last field is not a number and of which head is the name; messages call the last
// field number. Lines that begin with # are comments. Blanks around a field belong to it. What encoding/csv would change, a line end of Windows in quotes, is refused.
func readCSV(name string, text io.Reader, least, most int, head, number string) (r *reading, rows [][]value) {
	r = &reading{name: name}
	all := r.all(text)
	windows := bytes.Contains(all, []byte("\r\n"))
	c := csv.NewReader(bytes.NewReader(all))
	c.FieldsPerRecord, c.Comment = -1, '#'
	for first := true; r.err == nil; first = false {
		fields, err := c.Read()
		var wrong *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return r, rows
		case errors.As(err, &wrong):
			r.fail(value{line: wrong.Line}, "%v; quotes begin and end a field, blanks included", wrong.Err)
			return r, rows
		}
		line, _ := c.FieldPos(0)
		if len(fields) < least || len(fields) > most {
			r.fail(value{line: line}, "%d columns; give %s", len(fields), head)
		}
		var row []value
		for i, field := range fields {
			v := value{line: line, is: field}
			switch {
			case !utf8.ValidString(field):
				r.fail(v, "%q is not UTF-8; save the file as UTF-8", field)
			case windows && strings.Contains(field, "\n"):
				r.fail(v, "%q has a line end in quotes, in a file whose lines end in CR LF; name it without, or end lines in LF", field)
			case i == most-1:
				fields[i] = strings.TrimSpace(field)
				v.field, v.is = number, fields[i]
			}
			row = append(row, v)
		}
		if r.err == nil && (!first || !isHead(fields, most)) {
			rows = append(rows, row)
		}
	}
	return r, rows
}

// isHead reports whether a line has the names of columns: its number is none, or it is x,y.
func isHead(fields []string, most int) bool {
	if len(fields) < most {
		return len(fields) == 2 && fields[0] == "x" && fields[1] == "y"
	}
	_, err := decimal.ParseNumber(fields[most-1])
	return err != nil && len(fields[most-1]) > 0 && (fields[most-1][0] < '0' || fields[most-1][0] > '9') && fields[most-1][0] != '-'
}

// ReadPairs reads the pairs of a problem, with the columns x,y or x,y,d. Inputs that it does not have are added where add is set.
func (p *Problem) ReadPairs(name string, text io.Reader, add bool) error {
	inputs := newNames("input", p.Inputs, add)
	r, rows := readCSV(name, text, 2, 3, "x,y or x,y,d", "d")
	p.Pairs = nil
	for _, row := range rows {
		p.Pairs = append(p.Pairs, r.pair(row[0], row, inputs))
	}
	p.Inputs = inputs.list
	return r.err
}

// cells reads lines x,o,value: every combination at most once.
func cells(name string, text io.Reader, head string, inputs, outputs *names) (values map[[2]int]*big.Rat, err error) {
	r, rows := readCSV(name, text, 3, 3, head, "value")
	values = map[[2]int]*big.Rat{}
	for _, row := range rows {
		at := [2]int{r.find(row[0], inputs), r.find(row[1], outputs)}
		if values[at] != nil {
			r.fail(row[0], "input %q and output %q are there twice", row[0].is, row[1].is)
		}
		values[at] = r.number(row[2])
	}
	return values, r.err
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
				return faultf("%s: no value for the input %q and the output %q; give one for each of the %d inputs and %d outputs", name, input, output, len(p.Inputs), len(p.Outputs))
			}
		}
		p.Loss = append(p.Loss, row)
	}
	return nil
}

// ReadPrior reads a prior over the inputs of a problem, with the columns x,p. Inputs that it does not name have 0.
func (p *Problem) ReadPrior(name string, text io.Reader) ([]*big.Rat, error) {
	inputs := newNames("input", p.Inputs, false)
	r, rows := readCSV(name, text, 2, 2, "x,p", "p")
	prior, sum := make([]*big.Rat, len(p.Inputs)), new(big.Rat)
	for _, row := range rows {
		x, w := r.find(row[0], inputs), r.number(row[1])
		if r.err != nil {
			return nil, r.err
		}
		if prior[x] != nil {
			r.fail(row[0], "%q is there twice", row[0].is)
		}
		prior[x] = w
		sum.Add(sum, w)
	}
	if r.err == nil && sum.Cmp(one) != 0 {
		r.err = faultf("%s: the prior sums to %s, not to 1", name, sum.RatString())
	}
	for x := range prior {
		prior[x] = cmp.Or(prior[x], new(big.Rat))
	}
	return prior, r.err
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
	t := &Table{outputs: outputs.list}
	for x, input := range p.Inputs {
		row, sum := make([]number.Number, len(t.outputs)), new(big.Rat)
		for o := range row {
			sum.Add(sum, cmp.Or(values[[2]int{x, o}], new(big.Rat)))
		}
		if off := new(big.Rat).Sub(sum, one); off.Abs(off).Cmp(nearOne) > 0 {
			return nil, faultf("%s: the probabilities at the input %q sum to %s, not to 1", name, input, shortText(sum))
		}
		t.scaled = t.scaled || sum.Cmp(one) != 0
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

// TableOf returns the mechanism of a file of rows {"input":…,"pmf":{…}}, one for each input of the problem, which are JSON strings. A row's last probabilities, where they are missing, are 0. Numbers that are not exact stand for what is within their precision.
func (p *Problem) TableOf(name string, outputs []string, inputs []json.RawMessage, pmf [][]number.Number) (*Table, error) {
	t := &Table{outputs: outputs, p: make([][]number.Number, len(p.Inputs))}
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
			return nil, faultf("%s: row %d: the input %s is not a name; give a string", name, i+1, inquiry.InputText(inputs[i]))
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
