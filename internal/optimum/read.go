package optimum

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/strictjson"
)

// reading is a file that is being read. What is wrong is kept in err, the first thing alone, and reading goes on as if it were not there.
type reading struct {
	name string
	err  error
}

// value is a JSON value, or a field of a table, with its place.
type value struct {
	line  int
	field string // of an object or a table; "" where messages name none
	at    [2]int // where it is in arrays, from 1; 0 for none
	is    any    // a string, json.Number, bool, nil, []value or map[string]value
}

// fail says what is wrong with a value, with file, line and field.
func (r *reading) fail(v value, format string, args ...any) {
	if r.err != nil {
		return
	}
	field := v.field
	for _, i := range v.at {
		if i > 0 {
			field += fmt.Sprintf("[%d]", i-1)
		}
	}
	if field != "" {
		field += ": "
	}
	r.err = faultf("%s:%d: %s%s", r.name, v.line, field, fmt.Sprintf(format, args...))
}

// all reads a file.
func (r *reading) all(text io.Reader) []byte {
	all, err := io.ReadAll(text)
	if err != nil {
		r.err = faultf("%s: cannot be read: %v", r.name, err)
	}
	return all
}

// number reads a number >= 0.
func (r *reading) number(v value) *big.Rat {
	text, ok := v.is.(string)
	if number, also := v.is.(json.Number); also {
		text, ok = number.String(), true
	}
	if !ok {
		r.fail(v, "no number")
		return new(big.Rat)
	}
	x, err := decimal.ParseNumber(text)
	switch {
	case err != nil:
		r.fail(v, "%v", err)
	case x.Sign() < 0:
		r.fail(v, "%s is negative", text)
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

// find finds a name, or adds it.
func (r *reading) find(v value, among *names) int {
	name := r.nameOf(v)
	i, known := among.at[name]
	switch {
	case !known && among.add:
		i = len(among.list)
		among.at[name], among.list = i, append(among.list, name)
	case !known:
		r.fail(v, "no %s is called %q", among.kind, name)
	}
	return i
}

// pair reads two inputs, and a distance or none.
func (r *reading) pair(whole value, parts []value, inputs *names) Pair {
	q := Pair{From: r.find(parts[0], inputs), To: r.find(parts[1], inputs)}
	if q.From == q.To {
		r.fail(whole, "%q is paired with itself", r.nameOf(parts[0]))
	}
	if len(parts) == 3 {
		q.Distance = r.number(parts[2])
	}
	return q
}

// nameOf returns the name that a JSON value is: a string, or of a number its decimal, so that 1 and 1.0 are one name.
func nameOf(v any) (name string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		name, err := strictjson.Key([]byte(v))
		return name, err == nil
	}
	return "", false
}

func (r *reading) nameOf(v value) string {
	name, ok := nameOf(v.is)
	if !ok {
		r.fail(v, "no name; give a string")
	}
	return name
}

// lines turns the offsets of a decoder into lines.
type lines struct {
	*json.Decoder
	text       []byte
	line, seen int
}

// value reads what follows at a place, a text that strictjson has checked.
func (d *lines) value(v value) value {
	v.is, _ = d.Token()
	end := int(d.InputOffset())
	v.line = d.line + bytes.Count(d.text[d.seen:end], []byte{'\n'})
	d.line, d.seen = v.line, end
	switch v.is {
	case json.Delim('['):
		list := []value{}
		for d.More() {
			item := value{field: v.field, at: v.at}
			if item.at[0] == 0 {
				item.at[0] = 1 + len(list)
			} else {
				item.at[1] = 1 + len(list)
			}
			list = append(list, d.value(item))
		}
		_, _ = d.Token()
		v.is = list
	case json.Delim('{'):
		fields := map[string]value{}
		for d.More() {
			key, _ := d.Token()
			fields[key.(string)] = d.value(value{field: key.(string)})
		}
		_, _ = d.Token()
		v.is = fields
	}
	return v
}

// ReadJSON reads a problem, in the form that the public package optimum describes.
func ReadJSON(name string, text io.Reader) (*Problem, error) {
	r := &reading{name: name}
	d := &lines{text: r.all(text), line: 1}
	if r.err != nil {
		return nil, r.err
	}
	var wrong *strictjson.Error
	if errors.As(strictjson.Check(d.text), &wrong) {
		before := d.text[:min(wrong.Offset, max(0, len(d.text)-1))]
		r.fail(value{line: 1 + bytes.Count(before, []byte{'\n'})}, "%s", wrong.Error())
		return nil, r.err
	}
	d.Decoder = json.NewDecoder(bytes.NewReader(d.text))
	d.UseNumber()
	p := r.problem(d.value(value{}))
	return p, r.err
}

// fieldNames are those of a problem, in the order in which they are written.
var fieldNames = []string{"inputs", "outputs", "directed", "pairs", "loss", "prior", "forbidden"}

func (r *reading) problem(root value) *Problem {
	fields, ok := root.is.(map[string]value)
	if !ok {
		r.fail(root, "no object {…}; give one with inputs, pairs and loss")
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(fieldNames, field) {
			r.fail(value{line: fields[field].line}, "%q: no such field; give %v", field, fieldNames)
		}
	}
	for _, field := range []string{"inputs", "loss"} {
		if _, ok := fields[field]; !ok {
			r.fail(root, "%s: it is missing", field)
		}
	}
	if r.err != nil {
		return nil
	}
	p := &Problem{Inputs: r.names(fields["inputs"])}
	p.Outputs = p.Inputs
	if outputs, ok := fields["outputs"]; ok {
		p.Outputs = r.names(outputs)
	}
	if err := checkSize(len(p.Inputs), len(p.Outputs)); err != nil {
		r.fail(root, "%v", err)
	}
	if r.err != nil {
		return nil
	}
	inputs, outputs := newNames("input", p.Inputs, false), newNames("output", p.Outputs, false)
	if v, ok := fields["directed"]; ok {
		if p.OneWay, ok = v.is.(bool); !ok {
			r.fail(v, "give true or false")
		}
	}
	for _, v := range r.list(fields["pairs"]) {
		parts := r.list(v)
		if len(parts) < 2 || len(parts) > 3 {
			r.fail(v, `%d items; give two inputs, and a distance or none, such as ["a","b","3/2"]`, len(parts))
			continue
		}
		p.Pairs = append(p.Pairs, r.pair(v, parts, inputs))
	}
	p.Loss = r.loss(fields["loss"], p)
	if v, ok := fields["prior"]; ok {
		p.Prior = r.prior(v, p)
	}
	for _, v := range r.list(fields["forbidden"]) {
		parts := r.list(v)
		if len(parts) != 2 {
			r.fail(v, "%d items; give an input and an output", len(parts))
			continue
		}
		p.forbid(r.find(parts[0], inputs), r.find(parts[1], outputs))
	}
	return p
}

// list returns the items of an array, none where there is no value.
func (r *reading) list(v value) []value {
	list, ok := v.is.([]value)
	if !ok && v.line > 0 {
		r.fail(v, "no array […]")
	}
	return list
}

func (r *reading) names(v value) []string {
	all := newNames("", nil, true)
	for i, item := range r.list(v) {
		if r.find(item, all) != i {
			r.fail(item, "%q is there twice", r.nameOf(item))
		}
	}
	return all.list
}

func (r *reading) loss(v value, p *Problem) (loss [][]*big.Rat) {
	if name, ok := v.is.(string); ok {
		loss, err := NamedLoss(name, p.Inputs, p.Outputs)
		if err != nil {
			r.fail(value{line: v.line}, "%v", err)
		}
		return loss
	}
	rows := r.list(v)
	if len(rows) != len(p.Inputs) {
		r.fail(v, "%d rows for %d inputs", len(rows), len(p.Inputs))
	}
	for _, row := range rows {
		items := r.list(row)
		if len(items) != len(p.Outputs) {
			r.fail(row, "%d values for %d outputs", len(items), len(p.Outputs))
		}
		loss = append(loss, r.numbers(items))
	}
	return loss
}

func (r *reading) numbers(items []value) []*big.Rat {
	out := make([]*big.Rat, len(items))
	for i, item := range items {
		out[i] = r.number(item)
	}
	return out
}

func (r *reading) prior(v value, p *Problem) []*big.Rat {
	list, ok := v.is.([]value)
	switch {
	case ok:
	case v.is == "uniform":
		return p.Uniform()
	case v.is != "worst":
		r.fail(v, `give a number for each input, "uniform" or "worst"`)
		return nil
	default:
		return nil
	}
	prior := r.numbers(list)
	if err := p.checkPrior("prior", prior); err != nil {
		r.fail(value{line: v.line}, "%v", err)
	}
	return prior
}

// WriteJSON writes a problem as ReadJSON reads it.
func (p *Problem) WriteJSON(w io.Writer) error {
	texts := func(xs []*big.Rat) (out []string) {
		for _, x := range xs {
			out = append(out, x.RatString())
		}
		return out
	}
	var pairs, loss, forbidden [][]string
	for _, q := range p.Pairs {
		pair := []string{p.Inputs[q.From], p.Inputs[q.To]}
		if d := multiple(q); d.Cmp(one) != 0 {
			pair = append(pair, d.RatString())
		}
		pairs = append(pairs, pair)
	}
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
	var lines []string
	add := func(name string, value any) {
		text := jsonText(value)
		if rows, ok := value.([][]string); ok { // one per line
			var texts []string
			for _, row := range rows {
				texts = append(texts, "\n    "+jsonText(row))
			}
			text = "[" + strings.Join(texts, ",") + "\n  ]"
		}
		lines = append(lines, fmt.Sprintf("  %q: %s", name, text))
	}
	add("inputs", p.Inputs)
	add("outputs", p.Outputs)
	if p.OneWay {
		add("directed", true)
	}
	add("pairs", pairs)
	add("loss", loss)
	if forbidden != nil {
		add("forbidden", forbidden)
	}
	add("prior", prior)
	_, err := io.WriteString(w, "{\n"+strings.Join(lines, ",\n")+"\n}\n")
	return err
}

// jsonText returns strings, or arrays or maps of them, as JSON.
func jsonText(value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value)
	return strings.TrimSuffix(b.String(), "\n")
}
