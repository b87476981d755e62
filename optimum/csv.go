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
	"optratio/verify"
	"optratio/verify/audit"
)

// record is a line of a CSV file.
type record struct {
	line   int
	fields []string
}

// readCSV reads the lines of a file that have least to most fields, without the head, whose last field is no number and of which head is the name. Lines that begin with # are
// comments. Blanks around a field belong to it. What encoding/csv would change, a line end of Windows in quotes, is refused.
func readCSV(name string, text io.Reader, least, most int, head string) ([]record, error) {
	all, err := io.ReadAll(text)
	if err != nil {
		return nil, faultf("%s: cannot be read: %v", name, err)
	}
	windows := bytes.Contains(all, []byte("\r\n"))
	c := csv.NewReader(bytes.NewReader(all))
	c.FieldsPerRecord, c.Comment = -1, '#'
	var out []record
	for first := true; ; first = false {
		fields, err := c.Read()
		var wrong *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case errors.As(err, &wrong):
			return nil, faultf("%s:%d: %v; quotes begin and end a field, blanks included", name, wrong.Line, wrong.Err)
		case err != nil:
			return nil, err
		}
		line, _ := c.FieldPos(0)
		if len(fields) < least || len(fields) > most {
			return nil, faultf("%s:%d: %d columns; give %s", name, line, len(fields), head)
		}
		for i, field := range fields {
			switch {
			case !utf8.ValidString(field):
				return nil, faultf("%s:%d: %q is not UTF-8; save the file as UTF-8", name, line, field)
			case windows && strings.Contains(field, "\n"):
				return nil, faultf("%s:%d: %q has a line end in quotes, in a file whose lines end in CR LF; name it without, or end lines in LF", name, line, field)
			case i == most-1:
				fields[i] = strings.TrimSpace(field) // a number
			}
		}
		if first && isHead(fields, most) {
			continue
		}
		out = append(out, record{line, fields})
	}
}

// isHead reports whether a line has the names of columns: its number is none, or it is x,y.
func isHead(fields []string, most int) bool {
	if len(fields) < most {
		return len(fields) == 2 && fields[0] == "x" && fields[1] == "y"
	}
	_, err := decimal.ParseNumber(fields[most-1])
	return err != nil && len(fields[most-1]) > 0 && (fields[most-1][0] < '0' || fields[most-1][0] > '9') && fields[most-1][0] != '-'
}

// csvNumber reads a number >= 0.
func csvNumber(name string, r record, column int, what string) (*big.Rat, error) {
	x, err := decimal.ParseNumber(r.fields[column])
	if err != nil {
		return nil, faultf("%s:%d: %s: %v", name, r.line, what, err)
	}
	if x.Sign() < 0 {
		return nil, faultf("%s:%d: %s: %s is negative", name, r.line, what, r.fields[column])
	}
	return x, nil
}

// ReadPairs reads pairs with the columns x,y or x,y,d. Inputs that are not yet among inputs are added where add is set.
func ReadPairs(name string, text io.Reader, inputs []string, add bool) ([]Pair, []string, error) {
	records, err := readCSV(name, text, 2, 3, "x,y or x,y,d")
	if err != nil {
		return nil, nil, err
	}
	at := places(inputs)
	var out []Pair
	for _, r := range records {
		var q Pair
		for i, to := range []*int{&q.From, &q.To} {
			if *to, inputs, err = place(name, r, i, "input", at, inputs, add); err != nil {
				return nil, nil, err
			}
		}
		if q.From == q.To {
			return nil, nil, faultf("%s:%d: %q is paired with itself", name, r.line, r.fields[0])
		}
		if len(r.fields) == 3 {
			if q.Distance, err = csvNumber(name, r, 2, "d"); err != nil {
				return nil, nil, err
			}
		}
		out = append(out, q)
	}
	return out, inputs, nil
}

// place finds a name, or adds it.
func place(name string, r record, column int, kind string, at map[string]int, names []string, add bool) (int, []string, error) {
	text := r.fields[column]
	i, known := at[text]
	if known {
		return i, names, nil
	}
	if !add {
		return 0, nil, faultf("%s:%d: no %s is called %q", name, r.line, kind, text)
	}
	at[text] = len(names)
	return len(names), append(names, text), nil
}

// cellsOf reads lines x,o,value: every combination at most once. Names are added where add is set.
func cellsOf(name string, text io.Reader, head string, inputs, outputs []string, addInputs, addOutputs bool) (values map[[2]int]*big.Rat, in, out []string, err error) {
	records, err := readCSV(name, text, 3, 3, head)
	if err != nil {
		return nil, nil, nil, err
	}
	values = map[[2]int]*big.Rat{}
	atInput, atOutput := places(inputs), places(outputs)
	for _, r := range records {
		var at [2]int
		if at[0], inputs, err = place(name, r, 0, "input", atInput, inputs, addInputs); err != nil {
			return nil, nil, nil, err
		}
		if at[1], outputs, err = place(name, r, 1, "output", atOutput, outputs, addOutputs); err != nil {
			return nil, nil, nil, err
		}
		if values[at] != nil {
			return nil, nil, nil, faultf("%s:%d: input %q and output %q are there twice", name, r.line, r.fields[0], r.fields[1])
		}
		if values[at], err = csvNumber(name, r, 2, "value"); err != nil {
			return nil, nil, nil, err
		}
	}
	return values, inputs, outputs, nil
}

// ReadLoss reads a loss with the columns x,o,value for every input and output. Names that are not yet known are added where add is set.
func ReadLoss(name string, text io.Reader, inputs, outputs []string, add bool) (loss [][]*big.Rat, in, out []string, err error) {
	values, inputs, outputs, err := cellsOf(name, text, "x,o,value", inputs, outputs, add, add)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := checkSize(len(inputs), len(outputs)); err != nil {
		return nil, nil, nil, faultf("%s: %v", name, err)
	}
	for x, input := range inputs {
		row := make([]*big.Rat, len(outputs))
		for o, output := range outputs {
			if row[o] = values[[2]int{x, o}]; row[o] == nil {
				return nil, nil, nil, faultf("%s: no value for the input %q and the output %q", name, input, output)
			}
		}
		loss = append(loss, row)
	}
	return loss, inputs, outputs, nil
}

// ReadPrior reads a prior with the columns x,p. Inputs that it does not name have 0.
func ReadPrior(name string, text io.Reader, inputs []string) (prior []*big.Rat, err error) {
	records, err := readCSV(name, text, 2, 2, "x,p")
	if err != nil {
		return nil, err
	}
	at, sum := places(inputs), new(big.Rat)
	values := map[int]*big.Rat{}
	for _, r := range records {
		var x int
		if x, _, err = place(name, r, 0, "input", at, inputs, false); err != nil {
			return nil, err
		}
		if values[x] != nil {
			return nil, faultf("%s:%d: %q is there twice", name, r.line, r.fields[0])
		}
		if values[x], err = csvNumber(name, r, 1, "p"); err != nil {
			return nil, err
		}
		sum.Add(sum, values[x])
	}
	if sum.Cmp(one) != 0 {
		return nil, faultf("%s: the prior sums to %s, not to 1", name, sum.RatString())
	}
	for x := range inputs {
		w := values[x]
		if w == nil {
			w = new(big.Rat)
		}
		prior = append(prior, w)
	}
	return prior, nil
}

// nearOne is by how much the probabilities of a row may miss 1: decimals of six places and more do. Such rows are divided by their sums.
var nearOne = big.NewRat(1, 1e6)

// ReadTable reads a mechanism with the columns input,output,probability. What is not there has the probability 0. Outputs need not be those of the problem.
func ReadTable(name string, text io.Reader, p *Problem) (*Table, error) {
	values, _, outputs, err := cellsOf(name, text, "input,output,probability", p.Inputs, nil, false, true)
	if err != nil {
		return nil, err
	}
	t := &Table{Outputs: outputs}
	for x, input := range p.Inputs {
		sum := new(big.Rat)
		for o := range outputs {
			sum.Add(sum, cmp.Or(values[[2]int{x, o}], new(big.Rat)))
		}
		if off := new(big.Rat).Sub(sum, one); off.Abs(off).Cmp(nearOne) > 0 {
			return nil, faultf("%s: the probabilities at the input %q sum to %s, not to 1", name, input, shortText(sum))
		}
		t.Scaled = t.Scaled || sum.Cmp(one) != 0
		row := make([]*verify.Value, len(outputs))
		for o := range row {
			row[o] = verify.Rational(new(big.Rat).Quo(cmp.Or(values[[2]int{x, o}], new(big.Rat)), sum))
		}
		t.P = append(t.P, row)
	}
	if err := t.check(p); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// Asked returns the inputs of a problem as audits ask about them, JSON strings.
func (p *Problem) Asked() []json.RawMessage {
	out := make([]json.RawMessage, len(p.Inputs))
	for x, name := range p.Inputs {
		out[x] = json.RawMessage(jsonText(name))
	}
	return out
}

// nameOf returns the name that an input of a table is: a string, or a number.
func nameOf(input json.RawMessage) (name string, err error) {
	if c := input[0]; c == '-' || '0' <= c && c <= '9' {
		return numberName(string(input))
	}
	if input[0] != '"' {
		return "", errors.New("no name")
	}
	err = json.Unmarshal(input, &name)
	return name, err
}

// TableOf returns the mechanism whose probabilities a program stated, or a file of rows {"input":…,"pmf":{…}}, one for each input of the problem. Numbers that
// are not exact stand for what is within their precision.
func TableOf(name string, rows []audit.Row, p *Problem) (*Table, error) {
	t := &Table{P: make([][]*verify.Value, len(p.Inputs))}
	at := places(p.Inputs)
	for i, r := range rows {
		if r.Input == nil {
			return nil, faultf("%s: row %d: it is about scores, give an input", name, i+1)
		}
		input, err := nameOf(r.Input)
		if err != nil {
			return nil, faultf("%s: row %d: the input %s is no name; give a string", name, i+1, verify.InputText(r.Input))
		}
		x, known := at[input]
		switch {
		case !known:
			return nil, faultf("%s: row %d: no input is called %q", name, i+1, input)
		case t.P[x] != nil:
			return nil, faultf("%s: row %d: the input %q is there twice", name, i+1, input)
		}
		t.Outputs = r.Labels
		t.P[x] = slices.Clone(r.PMF)
		for len(t.P[x]) < len(r.Labels) { // which later rows named
			t.P[x] = append(t.P[x], verify.Rational(new(big.Rat)))
		}
	}
	for x, row := range t.P {
		if row == nil {
			return nil, faultf("%s: no row for the input %q", name, p.Inputs[x])
		}
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
