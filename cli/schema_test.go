package cli

import (
	"bytes"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/document"
	"optratio/internal/sweep"
	"optratio/mechanisms"
	"optratio/mechanisms/recommend"
	"optratio/number"
	"optratio/verify"
	"optratio/verify/audit"
)

// documents are those that --json prints, with the struct whose tags are the form: the document's own type, but for reports, which write themselves.
var documents = []struct{ doc, form any }{
	{document.Ratio{}, nil}, {document.Rho{}, nil}, {document.PMF{}, nil}, {document.Evaluate{}, nil}, {document.Stopping{}, nil}, {document.Optimum{}, nil}, {limitDoc{}, nil}, {distanceDoc{}, nil},
	{document.Threshold{}, nil}, {heterogeneousDoc{}, nil}, {topkDoc{}, nil}, {mergeDoc{}, nil}, {document.Check{}, nil},
	{mechanisms.Description{}, nil}, {recommend.Recommendation{}, nil}, {sweep.Summary{}, nil},
	{verify.Calibration{}, nil}, {&verify.Report{}, verifyForm{}}, {&audit.Report{}, auditForm{}},
}

type verifyForm struct {
	Mechanism  string         `json:"mechanism"`
	Domain     string         `json:"domain"`
	Lattice    verify.Where   `json:"lattice,omitzero"`
	Claimed    number.Number  `json:"claimed_eps"`
	Precision  number.Number  `json:"precision,omitzero"`
	Properties []propertyForm `json:"properties"`
}

type auditForm struct {
	verifyForm
	TightEps   number.Number `json:"tight_eps"`
	DomainEps  number.Number `json:"tight_eps_domain,omitzero"`
	LowerBound number.Number `json:"eps_lower_bound,omitzero"`
	LowerDelta any           `json:"delta_lower_bound,omitzero"`
	Confidence float64       `json:"confidence,omitempty"`
	Questions  int64         `json:"questions"`
	Samples    int64         `json:"samples,omitempty"`
	History    []struct {
		Samples int64         `json:"samples"`
		Eps     number.Number `json:"eps_lower_bound"`
	} `json:"history,omitempty"`
	Findings []struct {
		Event  string `json:"event"`
		Detail string `json:"detail"`
		Scores []any  `json:"scores"`
		Input  any    `json:"input,omitempty"`
		Times  int64  `json:"times"`
	} `json:"findings"`
	Witness *witnessForm `json:"witness"`
}

type propertyForm struct {
	Name        string          `json:"name"`
	Verdict     verify.Verdict  `json:"verdict"`
	Asked       bool            `json:"asked,omitempty"`
	Checked     int64           `json:"checked"`
	Total       *int64          `json:"total,omitempty"`
	Reason      string          `json:"reason,omitempty"`
	Witness     *witnessForm    `json:"witness"`
	Attained    *witnessForm    `json:"attained,omitempty"`
	TightEps    number.Number   `json:"tight_eps,omitzero"`
	TightExpEps *string         `json:"tight_exp_eps,omitempty"`
	Range       number.Number   `json:"range,omitzero"`
	Rho         number.Number   `json:"rho,omitzero"`
	TightDelta  number.Number   `json:"tight_delta,omitzero"`
	Target      number.Number   `json:"target,omitzero"`
	Relaxed     *verify.Relaxed `json:"with_delta,omitempty"`
	Orders      []struct {
		Alpha number.Number `json:"alpha"`
		Eps   number.Number `json:"eps"`
	} `json:"orders,omitempty"`
}

// witnessForm is what a verify.Witness writes.
type witnessForm struct {
	Scores            []any           `json:"scores,omitempty"`
	Neighbor          []any           `json:"neighbor,omitempty"`
	Input             any             `json:"input,omitempty"`
	NeighborInput     any             `json:"neighbor_input,omitempty"`
	Distance          number.Number   `json:"distance,omitzero"`
	Candidate         any             `json:"candidate,omitempty"`
	Candidates        []int           `json:"candidates,omitempty"`
	NeighborCandidate *int            `json:"neighbor_candidate,omitempty"`
	T                 number.Number   `json:"t,omitzero"`
	P                 number.Number   `json:"p"`
	PNeighbor         number.Number   `json:"p_neighbor,omitzero"`
	PEM               number.Number   `json:"p_em,omitzero"`
	PExpected         number.Number   `json:"p_expected,omitzero"`
	PMF               []number.Number `json:"pmf,omitempty"`
	NeighborPMF       []number.Number `json:"neighbor_pmf,omitempty"`
}

type object = map[string]any

// numberForm is what a number.Number writes.
var numberForm = object{"anyOf": []any{
	object{"type": "object", "required": []string{"lower", "upper", "exact"}, "additionalProperties": false, "properties": object{
		"lower": object{"type": "string"}, "upper": object{"type": "string"}, "exact": object{"type": []string{"string", "null"}},
	}},
	object{"type": "object", "required": []string{"estimate", "method"}, "additionalProperties": false, "properties": object{
		"estimate": object{"type": "string"}, "method": object{"type": "string"},
	}},
	object{"const": "inf"},
	object{"type": "null"},
}}

// schemaOf returns the JSON Schema of what encoding/json writes for a type.
func schemaOf(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[number.Number]():
		return object{"$ref": "#/$defs/number"}
	case t == reflect.TypeFor[verify.Witness]():
		return schemaOf(reflect.TypeFor[witnessForm]())
	case t == reflect.TypeFor[big.Int]():
		return object{"type": "integer"}
	case t == reflect.TypeFor[*big.Rat]():
		return object{"type": []string{"string", "null"}}
	case t.Kind() == reflect.Pointer:
		return object{"anyOf": []any{schemaOf(t.Elem()), object{"type": "null"}}}
	case t.Kind() == reflect.Interface, t == reflect.TypeFor[json.RawMessage]():
		return object{}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		return object{"type": []string{"array", "null"}, "items": schemaOf(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Struct:
		properties, required := object{}, []string{}
		fieldsOf(t, true, properties, &required)
		return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	return object{"type": "integer"}
}

// fieldsOf adds the fields of a struct, and those of the structs that are embedded in it.
func fieldsOf(t reflect.Type, always bool, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Pointer:
			fieldsOf(f.Type.Elem(), f.Type != reflect.TypeFor[*document.BestRule](), properties, required)
		case f.Anonymous && name == "":
			fieldsOf(f.Type, always, properties, required)
		case !f.IsExported() || name == "-":
		default:
			if name == "" {
				name = f.Name
			}
			properties[name] = schemaOf(f.Type)
			if always && options == "" {
				*required = append(*required, name)
			}
		}
	}
}

func writtenSchema(doc document.Document, form any) (name string, text []byte) {
	if form == nil {
		form = doc
	}
	s := schemaOf(reflect.TypeOf(form))
	s["properties"].(object)["schema"] = object{"const": doc.Schema()}
	s["required"] = append([]string{"schema"}, s["required"].([]string)...)
	s["$schema"], s["title"] = "https://json-schema.org/draft/2020-12/schema", doc.Schema()
	if text, _ := json.Marshal(s); bytes.Contains(text, []byte("#/$defs/number")) {
		s["$defs"] = object{"number": numberForm}
	}
	text, _ = json.MarshalIndent(s, "", "  ")
	return strings.TrimPrefix(strings.TrimSuffix(doc.Schema(), "/1"), "optratio.") + ".json", append(text, '\n')
}

// The files of docs/reference/schema are what the types of the documents say; -update writes them.
func TestSchemas(t *testing.T) {
	const folder = "../docs/reference/schema"
	var names []string
	for _, d := range documents {
		name, want := writtenSchema(d.doc.(document.Document), d.form)
		names = append(names, name)
		path := filepath.Join(folder, name)
		if flag.Lookup("update").Value.String() == "true" {
			require.NoError(t, os.WriteFile(path, want, 0o644))
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "%s; go test ./cli -run Schemas -update writes it", path)
	}
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, f := range files {
		assert.Contains(t, names, f.Name(), "no document has this schema")
	}
}

// Every document of the transcripts is one by the schema that it names.
func TestTranscriptsFollowTheirSchemas(t *testing.T) {
	schemas, seen := map[string]object{}, map[string]int{}
	for _, d := range documents {
		doc := d.doc.(document.Document)
		_, text := writtenSchema(doc, d.form)
		var s object
		require.NoError(t, json.Unmarshal(text, &s))
		schemas[doc.Schema()] = s
	}
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, part := range strings.Split("\n"+string(text), "\n$ ") {
			call, printed, _ := strings.Cut(part, "\n")
			if !strings.HasPrefix(printed, "{\n") && !strings.HasPrefix(printed, "[\n") {
				continue
			}
			var docs []object
			d := json.NewDecoder(strings.NewReader(printed))
			if printed[0] == '{' {
				docs = make([]object, 1)
				err = d.Decode(&docs[0])
			} else {
				err = d.Decode(&docs)
			}
			require.NoError(t, err, call)
			for _, doc := range docs {
				name, _ := doc["schema"].(string)
				if seen[name]++; name != "optratio.undecided/1" && assert.Contains(t, schemas, name, call) {
					assert.Empty(t, misfit(schemas[name], schemas[name], doc, name), "%s: %s", file, call)
				}
			}
		}
	}
	for name := range schemas {
		assert.NotZero(t, seen[name], "no transcript has %s", name)
	}
	// What is left out, added or of another kind is found.
	ratio := schemas["optratio.ratio/1"]
	assert.Contains(t, misfit(ratio, ratio, object{"schema": "optratio.ratio/1"}, "r"), "lacks n")
	verdict := schemas["optratio.verify/1"]
	whole := object{"schema": "optratio.verify/1", "mechanism": "m", "domain": "d", "claimed_eps": "inf", "properties": []any{}}
	assert.Empty(t, misfit(verdict, verdict, whole, "v"))
	whole["claimed_eps"] = 1.5
	assert.Contains(t, misfit(verdict, verdict, whole, "v"), "v.claimed_eps")
	whole["claimed_eps"], whole["more"] = nil, 1.0
	assert.Contains(t, misfit(verdict, verdict, whole, "v"), "more")
}

// misfit says where a value is not as a schema has it, "" where it is. It knows the words that schemaOf writes.
func misfit(root, s object, x any, at string) string {
	if s["$ref"] != nil {
		s = root["$defs"].(object)["number"].(object)
	}
	if c, ok := s["const"]; ok && c != x {
		return fmt.Sprintf("%s: %v is not %v", at, x, c)
	}
	if any, ok := s["anyOf"].([]any); ok {
		why := ""
		for _, one := range any {
			if why = misfit(root, one.(object), x, at); why == "" {
				return ""
			}
		}
		return at + ": none of what is allowed: " + why
	}
	kind := map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Float64: "number", reflect.Slice: "array", reflect.Map: "object", reflect.Invalid: "null"}[reflect.ValueOf(x).Kind()]
	if f, ok := x.(float64); ok && f == float64(int64(f)) {
		kind = "integer"
	}
	var kinds []string
	switch k := s["type"].(type) {
	case string:
		kinds = []string{k}
	case []any:
		for _, one := range k {
			kinds = append(kinds, one.(string))
		}
	}
	if kinds != nil && !slices.Contains(kinds, kind) && !(kind == "integer" && slices.Contains(kinds, "number")) {
		return fmt.Sprintf("%s: %s, want %v", at, kind, kinds)
	}
	if list, ok := x.([]any); ok && s["items"] != nil {
		for i, item := range list {
			if why := misfit(root, s["items"].(object), item, fmt.Sprintf("%s[%d]", at, i)); why != "" {
				return why
			}
		}
	}
	fields, ok := x.(object)
	properties, known := s["properties"].(object)
	if !ok || !known {
		return ""
	}
	for _, name := range s["required"].([]any) {
		if _, has := fields[name.(string)]; !has {
			return fmt.Sprintf("%s: lacks %s", at, name)
		}
	}
	for name, value := range fields {
		p, has := properties[name].(object)
		if !has {
			return fmt.Sprintf("%s: has %s, which the schema has not", at, name)
		}
		if why := misfit(root, p, value, at+"."+name); why != "" {
			return why
		}
	}
	return ""
}
