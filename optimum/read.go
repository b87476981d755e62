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

// reading is the text of a problem that is being read. What is wrong is kept in err, the first thing alone, and reading goes on as if it were not there.
type reading struct {
	name string
	text []byte
	err  error
}

// fail says what is wrong with the value that a path of keys and places leads to: with file, line and field.
func (r *reading) fail(path []any, format string, args ...any) {
	field := ""
	for _, step := range path {
		if place, ok := step.(int); ok {
			field += fmt.Sprintf("[%d]", place)
		} else {
			field += fmt.Sprint(step)
		}
	}
	if field != "" {
		field += ": "
	}
	r.failAt(path, field+fmt.Sprintf(format, args...))
}

// failAt is fail for a text that names the field, or no field.
func (r *reading) failAt(path []any, text string) {
	if r.err == nil {
		r.err = r.lineFault(r.offset(path), text)
	}
}

// lineFault returns an error about the line that an offset is on.
func (r *reading) lineFault(offset int, text string) error {
	return faultf("%s:%d: %s", r.name, 1+bytes.Count(r.text[:offset], []byte{'\n'}), text)
}

// offset returns where the value begins that a path leads to, after its first token.
func (r *reading) offset(path []any) int {
	d := json.NewDecoder(bytes.NewReader(r.text))
	var skipped json.RawMessage
	for _, step := range path {
		_, _ = d.Token() // of an object or array: the text has been read before
		if place, ok := step.(int); ok {
			for range place {
				_ = d.Decode(&skipped)
			}
			continue
		}
		for key, _ := d.Token(); key != step; key, _ = d.Token() {
			_ = d.Decode(&skipped)
		}
	}
	_, _ = d.Token()
	return int(d.InputOffset())
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
	r := &reading{name: name, text: all}
	var wrong *strictjson.Error
	if errors.As(strictjson.Check(all), &wrong) {
		return nil, r.lineFault(min(wrong.Offset, max(0, len(all)-1)), wrong.Error())
	}
	d := json.NewDecoder(bytes.NewReader(all))
	d.UseNumber()
	var root any
	if err := d.Decode(&root); err != nil {
		return nil, err
	}
	fields, ok := root.(map[string]any)
	if !ok {
		r.fail(nil, "no object {…}; give one with inputs, pairs and loss")
		return nil, r.err
	}
	p := r.problem(fields)
	return p, r.err
}

// fieldNames are those of a problem, in the order in which they are written.
var fieldNames = []string{"inputs", "outputs", "directed", "pairs", "loss", "prior", "forbidden"}

func (r *reading) problem(fields map[string]any) *Problem {
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(fieldNames, field) {
			r.failAt([]any{field}, fmt.Sprintf("%q: no such field; give %v", field, fieldNames))
		}
	}
	for _, field := range []string{"inputs", "loss"} {
		if _, ok := fields[field]; !ok {
			r.fail(nil, "%s: it is missing", field)
		}
	}
	if r.err != nil {
		return nil
	}
	p := &Problem{Inputs: r.names(fields["inputs"], "inputs")}
	p.Outputs = p.Inputs
	if outputs, ok := fields["outputs"]; ok {
		p.Outputs = r.names(outputs, "outputs")
	}
	if err := checkSize(len(p.Inputs), len(p.Outputs)); err != nil {
		r.fail(nil, "%v", err)
	}
	if r.err != nil {
		return nil
	}
	inputs, outputs := places(p.Inputs), places(p.Outputs)
	read := func(field string, into func(v any)) {
		if v, ok := fields[field]; ok {
			into(v)
		}
	}
	read("directed", func(v any) {
		var ok bool
		if p.OneWay, ok = v.(bool); !ok {
			r.fail([]any{"directed"}, "give true or false")
		}
	})
	read("pairs", func(v any) { p.Pairs = r.pairs(v, p, inputs) })
	read("loss", func(v any) { p.Loss = r.loss(v, p) })
	read("prior", func(v any) { p.Prior = r.prior(v, p) })
	read("forbidden", func(v any) {
		for i, parts := range r.lists(v, "forbidden") {
			if len(parts) != 2 {
				r.fail([]any{"forbidden", i}, "%d items; give an input and an output", len(parts))
				continue
			}
			p.forbid(r.find(parts[0], inputs, "input", "forbidden", i, 0), r.find(parts[1], outputs, "output", "forbidden", i, 1))
		}
	})
	return p
}

// list returns the items of an array.
func (r *reading) list(v any, path ...any) []any {
	list, ok := v.([]any)
	if !ok {
		r.fail(path, "no array […]")
	}
	return list
}

// lists returns the items of the arrays of an array.
func (r *reading) lists(v any, field string) (lists [][]any) {
	for i, item := range r.list(v, field) {
		lists = append(lists, r.list(item, field, i))
	}
	return lists
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

func (r *reading) nameOf(v any, path ...any) string {
	name, ok := nameOf(v)
	if !ok {
		r.fail(path, "no name; give a string")
	}
	return name
}

func (r *reading) names(v any, field string) (out []string) {
	seen := map[string]bool{}
	for i, item := range r.list(v, field) {
		name := r.nameOf(item, field, i)
		if seen[name] {
			r.fail([]any{field, i}, "%q is there twice", name)
		}
		seen[name] = true
		out = append(out, name)
	}
	return out
}

// find returns the place of a name.
func (r *reading) find(v any, at map[string]int, kind string, path ...any) int {
	name := r.nameOf(v, path...)
	i, known := at[name]
	if !known {
		r.fail(path, "no %s is called %q", kind, name)
	}
	return i
}

// number reads a number >= 0.
func (r *reading) number(v any, path ...any) *big.Rat {
	text, ok := v.(string)
	if number, also := v.(json.Number); also {
		text, ok = number.String(), true
	}
	if !ok {
		r.fail(path, "no number")
		return new(big.Rat)
	}
	x, err := decimal.ParseNumber(text)
	switch {
	case err != nil:
		r.fail(path, "%v", err)
	case x.Sign() < 0:
		r.fail(path, "%s is negative", text)
	}
	return x
}

func (r *reading) pairs(v any, p *Problem, inputs map[string]int) (pairs []Pair) {
	for i, parts := range r.lists(v, "pairs") {
		if len(parts) < 2 || len(parts) > 3 {
			r.fail([]any{"pairs", i}, `%d items; give two inputs, and a distance or none, such as ["a","b","3/2"]`, len(parts))
			continue
		}
		q := Pair{From: r.find(parts[0], inputs, "input", "pairs", i, 0), To: r.find(parts[1], inputs, "input", "pairs", i, 1)}
		if q.From == q.To {
			r.fail([]any{"pairs", i}, "%q is paired with itself", p.Inputs[q.From])
		}
		if len(parts) == 3 {
			q.Distance = r.number(parts[2], "pairs", i, 2)
		}
		pairs = append(pairs, q)
	}
	return pairs
}

func (r *reading) loss(v any, p *Problem) (loss [][]*big.Rat) {
	if name, ok := v.(string); ok {
		loss, err := NamedLoss(name, p.Inputs, p.Outputs)
		if err != nil {
			r.failAt([]any{"loss"}, err.Error())
		}
		return loss
	}
	rows := r.list(v, "loss")
	if len(rows) != len(p.Inputs) {
		r.fail([]any{"loss"}, "%d rows for %d inputs", len(rows), len(p.Inputs))
	}
	for x, row := range rows {
		items := r.list(row, "loss", x)
		if len(items) != len(p.Outputs) {
			r.fail([]any{"loss", x}, "%d values for %d outputs", len(items), len(p.Outputs))
		}
		values := make([]*big.Rat, len(items))
		for o, item := range items {
			values[o] = r.number(item, "loss", x, o)
		}
		loss = append(loss, values)
	}
	return loss
}

func (r *reading) prior(v any, p *Problem) []*big.Rat {
	list, ok := v.([]any)
	switch {
	case ok:
	case v == "uniform":
		return p.Uniform()
	case v != "worst":
		r.fail([]any{"prior"}, `give a number for each input, "uniform" or "worst"`)
		return nil
	default:
		return nil
	}
	prior := make([]*big.Rat, len(list))
	for x, item := range list {
		prior[x] = r.number(item, "prior", x)
	}
	if err := p.checkPrior("prior", prior); err != nil {
		r.failAt([]any{"prior"}, err.Error())
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
		if d := q.multiple(); d.Cmp(one) != 0 {
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
		if rows, ok := value.([][]string); ok { // one a line
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

// jsonText returns strings, or arrays of them, as JSON.
func jsonText(value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value)
	return strings.TrimSuffix(b.String(), "\n")
}
