package optimum

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"sort"

	"optratio/internal/decimal"
	"optratio/internal/strictjson"
)

// node is a JSON value with the line on which it begins.
type node struct {
	line   int
	kind   byte // { [ s n b 0: object, array, string, number, boolean, null
	text   string
	list   []*node
	fields map[string]*node
	order  []string
}

// jsonReader makes nodes of a text.
type jsonReader struct {
	name    string
	text    []byte
	d       *json.Decoder
	newline []int // where lines end
}

// Errors have the place: file, line and field.
func (r *jsonReader) errorf(line int, format string, args ...any) error {
	return faultf("%s:%d: %s", r.name, line, fmt.Sprintf(format, args...))
}

// line returns the line of the last byte that was taken.
func (r *jsonReader) line() int { return r.lineAt(int(r.d.InputOffset()) - 1) }

func (r *jsonReader) lineAt(offset int) int { return sort.SearchInts(r.newline, offset) + 1 }

// maxDepth bounds how deep values are nested.
const maxDepth = 16

func (r *jsonReader) value(depth int) (*node, error) {
	t, err := r.d.Token()
	if err != nil {
		return nil, r.errorf(r.line(), "no JSON: %v", err)
	}
	n := &node{line: r.line()}
	if depth > maxDepth {
		return nil, r.errorf(n.line, "values are nested too deep")
	}
	switch v := t.(type) {
	case json.Delim:
		n.kind, n.fields = byte(v), map[string]*node{}
		for r.d.More() {
			if err := r.entry(n, depth); err != nil {
				return nil, err
			}
		}
		_, err = r.d.Token() // the end
		return n, err
	case string:
		n.kind, n.text = 's', v
	case json.Number:
		n.kind, n.text = 'n', v.String()
	case bool:
		n.kind, n.text = 'b', fmt.Sprint(v)
	default:
		n.kind = '0'
	}
	return n, nil
}

// entry reads a field of an object, or an element of an array.
func (r *jsonReader) entry(n *node, depth int) (err error) {
	name := ""
	if n.kind == '{' {
		t, err := r.d.Token()
		if err != nil {
			return r.errorf(r.line(), "no JSON: %v", err)
		}
		name = t.(string)
	}
	child, err := r.value(depth + 1)
	if n.kind == '{' {
		n.fields[name], n.order = child, append(n.order, name)
	} else {
		n.list = append(n.list, child)
	}
	return err
}

// ReadJSON reads a problem:
//
//	{"inputs":["0","1"], "outputs":["0","1"], "pairs":[["0","1"],["0","1","3/2"]], "loss":[["0","1"],["1","0"]], "prior":["1/2","1/2"], "forbidden":[["0","1"]]}
//
// loss may also be a name (see Losses), prior "uniform" or "worst" (which it also is where there is none), and outputs may be missing, for those of the inputs. With
// "directed":true a pair [x,x'] says Pr[x] <= e^{dε} Pr[x'] + δ alone. Numbers are rationals or decimals in strings, or JSON numbers, taken exactly. Errors begin with
// name, line and field.
func ReadJSON(name string, text io.Reader) (*Problem, error) {
	all, err := io.ReadAll(text)
	if err != nil {
		return nil, faultf("%s: cannot be read: %v", name, err)
	}
	r := &jsonReader{name: name, text: all, d: json.NewDecoder(bytes.NewReader(all))}
	r.d.UseNumber()
	for i, b := range all {
		if b == '\n' {
			r.newline = append(r.newline, i)
		}
	}
	var wrong *strictjson.Error
	if errors.As(strictjson.Check(all), &wrong) {
		return nil, r.errorf(r.lineAt(min(wrong.Offset, len(all)-1)), "%v", wrong)
	}
	root, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if root.kind != '{' {
		return nil, r.errorf(root.line, "no object {…}; give one with inputs, pairs and loss")
	}
	return r.problem(root)
}

// fieldNames are those of a problem, in the order in which they are written.
var fieldNames = []string{"inputs", "outputs", "directed", "pairs", "loss", "prior", "forbidden"}

func (r *jsonReader) problem(root *node) (*Problem, error) {
	for _, field := range root.order {
		if !slices.Contains(fieldNames, field) {
			return nil, r.errorf(root.fields[field].line, "%q: no such field; give %v", field, fieldNames)
		}
	}
	for _, field := range []string{"inputs", "loss"} {
		if root.fields[field] == nil {
			return nil, r.errorf(root.line, "%s: it is missing", field)
		}
	}
	p := &Problem{}
	var err error
	if p.Inputs, err = r.names("inputs", root.fields["inputs"]); err != nil {
		return nil, err
	}
	if p.Outputs = p.Inputs; root.fields["outputs"] != nil {
		if p.Outputs, err = r.names("outputs", root.fields["outputs"]); err != nil {
			return nil, err
		}
	}
	if err := checkSize(len(p.Inputs), len(p.Outputs)); err != nil {
		return nil, r.errorf(root.line, "%v", err)
	}
	if n := root.fields["directed"]; n != nil {
		if n.kind != 'b' {
			return nil, r.errorf(n.line, "directed: give true or false")
		}
		p.OneWay = n.text == "true"
	}
	inputs, outputs := places(p.Inputs), places(p.Outputs)
	if err := r.pairs(p, root.fields["pairs"], inputs); err != nil {
		return nil, err
	}
	if err := r.loss(p, root.fields["loss"]); err != nil {
		return nil, err
	}
	if err := r.prior(p, root.fields["prior"]); err != nil {
		return nil, err
	}
	return p, r.forbidden(p, root.fields["forbidden"], inputs, outputs)
}

// array returns the items of an array; of a missing one none.
func (r *jsonReader) array(field string, n *node) ([]*node, error) {
	if n == nil {
		return nil, nil
	}
	if n.kind != '[' {
		return nil, r.errorf(n.line, "%s: no array […]", field)
	}
	return n.list, nil
}

// nameOf returns a name: a string, or a number.
func (r *jsonReader) nameOf(field string, n *node) (string, error) {
	switch n.kind {
	case 's':
		return n.text, nil
	case 'n':
		if name, err := numberName(n.text); err == nil {
			return name, nil
		}
	}
	return "", r.errorf(n.line, "%s: no name; give a string", field)
}

// numberName returns the name that a JSON number is: its decimal, so that 1 and 1.0 are one name.
func numberName(text string) (string, error) { return strictjson.Key([]byte(text)) }

func (r *jsonReader) names(field string, n *node) ([]string, error) {
	list, err := r.array(field, n)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var out []string
	for i, item := range list {
		name, err := r.nameOf(fmt.Sprintf("%s[%d]", field, i), item)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, r.errorf(item.line, "%s[%d]: %q is there twice", field, i, name)
		}
		seen[name] = true
		out = append(out, name)
	}
	return out, nil
}

// find returns the place of a name.
func (r *jsonReader) find(field, kind string, n *node, at map[string]int) (int, error) {
	name, err := r.nameOf(field, n)
	if err != nil {
		return 0, err
	}
	i, known := at[name]
	if !known {
		return 0, r.errorf(n.line, "%s: no %s is called %q", field, kind, name)
	}
	return i, nil
}

// number reads a number >= 0.
func (r *jsonReader) number(field string, n *node) (*big.Rat, error) {
	if n.kind != 's' && n.kind != 'n' {
		return nil, r.errorf(n.line, "%s: no number", field)
	}
	x, err := decimal.ParseNumber(n.text)
	if err != nil {
		return nil, r.errorf(n.line, "%s: %v", field, err)
	}
	if x.Sign() < 0 {
		return nil, r.errorf(n.line, "%s: %s is negative", field, n.text)
	}
	return x, nil
}

func (r *jsonReader) pairs(p *Problem, n *node, inputs map[string]int) error {
	list, err := r.array("pairs", n)
	if err != nil {
		return err
	}
	for i, item := range list {
		field := fmt.Sprintf("pairs[%d]", i)
		parts, err := r.array(field, item)
		if err != nil {
			return err
		}
		if len(parts) < 2 || len(parts) > 3 {
			return r.errorf(item.line, `%s: %d items; give two inputs, and a distance or none, such as ["a","b","3/2"]`, field, len(parts))
		}
		var q Pair
		if q.From, err = r.find(field+"[0]", "input", parts[0], inputs); err != nil {
			return err
		}
		if q.To, err = r.find(field+"[1]", "input", parts[1], inputs); err != nil {
			return err
		}
		if q.From == q.To {
			return r.errorf(item.line, "%s: %q is paired with itself", field, p.Inputs[q.From])
		}
		if len(parts) == 3 {
			if q.Distance, err = r.number(field+"[2]", parts[2]); err != nil {
				return err
			}
		}
		p.Pairs = append(p.Pairs, q)
	}
	return nil
}

func (r *jsonReader) loss(p *Problem, n *node) (err error) {
	if n.kind == 's' {
		if p.Loss, err = NamedLoss(n.text, p.Inputs, p.Outputs); err != nil {
			return r.errorf(n.line, "%v", err)
		}
		return nil
	}
	rows, err := r.array("loss", n)
	if err != nil {
		return err
	}
	if len(rows) != len(p.Inputs) {
		return r.errorf(n.line, "loss: %d rows for %d inputs", len(rows), len(p.Inputs))
	}
	for x, row := range rows {
		field := fmt.Sprintf("loss[%d]", x)
		items, err := r.array(field, row)
		if err != nil {
			return err
		}
		if len(items) != len(p.Outputs) {
			return r.errorf(row.line, "%s: %d values for %d outputs", field, len(items), len(p.Outputs))
		}
		values := make([]*big.Rat, len(items))
		for o, item := range items {
			if values[o], err = r.number(fmt.Sprintf("%s[%d]", field, o), item); err != nil {
				return err
			}
		}
		p.Loss = append(p.Loss, values)
	}
	return nil
}

func (r *jsonReader) prior(p *Problem, n *node) error {
	switch {
	case n == nil || n.kind == 's' && n.text == "worst":
		return nil
	case n.kind == 's' && n.text == "uniform":
		p.Prior = p.Uniform()
		return nil
	case n.kind != '[':
		return r.errorf(n.line, `prior: give a number for each input, "uniform" or "worst"`)
	}
	p.Prior = []*big.Rat{}
	for x, item := range n.list {
		w, err := r.number(fmt.Sprintf("prior[%d]", x), item)
		if err != nil {
			return err
		}
		p.Prior = append(p.Prior, w)
	}
	if err := p.checkPrior("prior", p.Prior); err != nil {
		return r.errorf(n.line, "%v", err)
	}
	return nil
}

func (r *jsonReader) forbidden(p *Problem, n *node, inputs, outputs map[string]int) error {
	list, err := r.array("forbidden", n)
	if err != nil {
		return err
	}
	for i, item := range list {
		field := fmt.Sprintf("forbidden[%d]", i)
		parts, err := r.array(field, item)
		if err != nil {
			return err
		}
		if len(parts) != 2 {
			return r.errorf(item.line, "%s: %d items; give an input and an output", field, len(parts))
		}
		x, err := r.find(field+"[0]", "input", parts[0], inputs)
		if err != nil {
			return err
		}
		o, err := r.find(field+"[1]", "output", parts[1], outputs)
		if err != nil {
			return err
		}
		p.forbid(x, o)
	}
	return nil
}

// WriteJSON writes a problem as ReadJSON reads it.
func (p *Problem) WriteJSON(w io.Writer) error {
	var pairs [][]string
	for _, q := range p.Pairs {
		pair := []string{p.Inputs[q.From], p.Inputs[q.To]}
		if q.Distance != nil && q.Distance.Cmp(one) != 0 {
			pair = append(pair, q.Distance.RatString())
		}
		pairs = append(pairs, pair)
	}
	texts := func(xs []*big.Rat) (out []string) {
		for _, x := range xs {
			out = append(out, x.RatString())
		}
		return out
	}
	var loss, forbidden [][]string
	for x, row := range p.Loss {
		loss = append(loss, texts(row))
		for o := range row {
			if p.forbidden(x, o) {
				forbidden = append(forbidden, []string{p.Inputs[x], p.Outputs[o]})
			}
		}
	}
	var prior any = "worst"
	if p.Prior != nil {
		prior = texts(p.Prior)
	}
	var b bytes.Buffer
	line := func(name string, value any) {
		b.WriteString("  ")
		writeValue(&b, name)
		b.WriteString(": ")
		rows, isTable := value.([][]string)
		if !isTable {
			writeValue(&b, value)
			b.WriteString(",\n")
			return
		}
		b.WriteString("[\n")
		for i, row := range rows {
			b.WriteString("    ")
			writeValue(&b, row)
			if i+1 < len(rows) {
				b.WriteByte(',')
			}
			b.WriteByte('\n')
		}
		b.WriteString("  ],\n")
	}
	b.WriteString("{\n")
	line("inputs", p.Inputs)
	line("outputs", p.Outputs)
	if p.OneWay {
		line("directed", true)
	}
	line("pairs", pairs)
	line("loss", loss)
	if forbidden != nil {
		line("forbidden", forbidden)
	}
	line("prior", prior)
	b.Truncate(b.Len() - 2)
	b.WriteString("\n}\n")
	_, err := w.Write(b.Bytes())
	return err
}

func writeValue(b *bytes.Buffer, value any) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // strings and arrays of them
	b.Truncate(b.Len() - 1)
}
