package cli

import (
	"encoding"
	"encoding/json"
	"flag"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/audit"
	"optratio/internal/document"
	"optratio/internal/recommend"
	"optratio/internal/sweep"
	"optratio/number"
	"optratio/verify"
)

// documents are those that --json prints, with the struct whose tags are the form: the document's own type, but for reports, which write themselves.
var documents = []struct{ doc, form any }{
	{document.Ratio{}, nil}, {document.Rho{}, nil}, {document.PMF{}, nil}, {document.Evaluate{}, nil}, {document.Stopping{}, nil}, {document.Optimum{}, nil},
	{document.Threshold{}, nil}, {document.Heterogeneous{}, nil}, {document.TopK{}, nil}, {document.Compose{}, nil}, {document.Check{}, nil},
	{document.Mechanism{}, nil}, {recommend.Recommendation{}, nil}, {sweep.Summary{}, nil},
	{document.Calibration{}, nil}, {&verify.Report{}, verifyForm{}}, {&audit.Report{}, auditForm{}},
}

type verifyForm struct {
	Mechanism string `json:"mechanism"`
	Domain    string `json:"domain"`
	Lattice   struct {
		N         int  `json:"n"`
		K         int  `json:"k"`
		Parts     int  `json:"parts"`
		Monotonic bool `json:"monotonic_scores"`
	} `json:"lattice,omitzero"`
	Claimed    number.Number  `json:"claimed_eps"`
	Precision  number.Number  `json:"precision,omitzero"`
	Properties []propertyForm `json:"properties"`
	Profile    []struct {
		Eps   number.Number `json:"eps"`
		Delta number.Number `json:"delta"`
	} `json:"profile,omitempty"`
	Renyi []struct {
		Order      number.Number `json:"order"`
		Divergence number.Number `json:"divergence"`
	} `json:"renyi,omitempty"`
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
	Name        string         `json:"name"`
	Verdict     verify.Verdict `json:"verdict"`
	Asked       bool           `json:"asked,omitempty"`
	Checked     int64          `json:"checked"`
	Total       *int64         `json:"total,omitempty"`
	Reason      string         `json:"reason,omitempty"`
	Witness     *witnessForm   `json:"witness"`
	Attained    *witnessForm   `json:"attained,omitempty"`
	TightEps    number.Number  `json:"tight_eps,omitzero"`
	TightExpEps *string        `json:"tight_exp_eps,omitempty"`
	Range       number.Number  `json:"range,omitzero"`
	Rho         number.Number  `json:"rho,omitzero"`
	TightDelta  number.Number  `json:"tight_delta,omitzero"`
	Target      number.Number  `json:"target,omitzero"`
	Relaxed     *struct {
		Delta number.Number `json:"delta"`
		Eps   number.Number `json:"eps"`
	} `json:"with_delta,omitempty"`
	Orders []struct {
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

// numberForm is what a number.Number writes.
const numberForm = `{"anyOf": [
	{"type": "object", "required": ["lower", "upper", "exact"], "additionalProperties": false, "properties": {
		"lower": {"type": "string"}, "upper": {"type": "string"}, "exact": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
	{"type": "object", "required": ["estimate", "method"], "additionalProperties": false, "properties": {"estimate": {"type": "string"}, "method": {"type": "string"}}},
	{"const": "inf"},
	{"type": "null"}]}`

// reflector makes schemas of Go types.
var reflector = jsonschema.Reflector{Anonymous: true, DoNotReference: true}

func init() {
	reflector.Mapper = func(t reflect.Type) *jsonschema.Schema {
		switch {
		case t == reflect.TypeFor[number.Number]():
			s := &jsonschema.Schema{}
			if err := json.Unmarshal([]byte(numberForm), s); err != nil {
				panic(err)
			}
			return s
		case t == reflect.TypeFor[verify.Witness]():
			s := reflector.Reflect(witnessForm{})
			s.Version = ""
			return s
		case t == reflect.TypeFor[big.Int]():
			return &jsonschema.Schema{Type: "integer"}
		case t == reflect.TypeFor[big.Rat](), t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
			return &jsonschema.Schema{Type: "string"}
		}
		return nil
	}
	// Pointers and lists can be null; a Number is null by itself.
	reflector.AdditionalFields = func(t reflect.Type) (nullable []reflect.StructField) {
		for f := range t.Fields() {
			kind := f.Type.Kind()
			if tag := f.Tag.Get("json"); (kind == reflect.Pointer || kind == reflect.Slice) && tag != "" &&
				f.Type != reflect.TypeFor[*number.Number]() && f.Type != reflect.TypeFor[json.RawMessage]() {
				f.Tag += ` jsonschema:"nullable"`
				nullable = append(nullable, f)
			}
		}
		return nullable
	}
}

// schemas are the JSON Schemas of the documents, by their names.
func schemas() map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	for _, d := range documents {
		form := d.form
		if form == nil {
			form = d.doc
		}
		name, s := d.doc.(document.Document).Schema(), reflector.Reflect(form)
		s.Title = name
		s.Properties.Set("schema", &jsonschema.Schema{Const: name})
		s.Required = append([]string{"schema"}, s.Required...)
		if name == (document.Stopping{}).Schema() { // a question about a given rule has no best one
			best := reflector.Reflect(document.BestRule{}).Required
			s.Required = slices.DeleteFunc(s.Required, func(field string) bool { return slices.Contains(best, field) })
		}
		all[name] = s
	}
	return all
}

var schemaFolder = flag.String("schemas", "", "write the JSON Schemas of the documents to this folder")

// Every document of the transcripts is one by the schema that it names, and every schema has one. With -schemas FOLDER the schemas are written there.
func TestSchemas(t *testing.T) {
	compiled, seen := map[string]*validator.Schema{}, map[string]int{}
	for name, s := range schemas() {
		text, err := json.MarshalIndent(s, "", "  ")
		require.NoError(t, err)
		file := strings.TrimPrefix(strings.TrimSuffix(name, "/1"), "optratio.") + ".json"
		if *schemaFolder != "" {
			require.NoError(t, os.MkdirAll(*schemaFolder, 0o777))
			require.NoError(t, os.WriteFile(filepath.Join(*schemaFolder, file), append(text, '\n'), 0o644))
		}
		parsed, err := validator.UnmarshalJSON(strings.NewReader(string(text)))
		require.NoError(t, err)
		c := validator.NewCompiler()
		require.NoError(t, c.AddResource(file, parsed))
		compiled[name], err = c.Compile(file)
		require.NoError(t, err)
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
			var first json.RawMessage
			require.NoError(t, json.NewDecoder(strings.NewReader(printed)).Decode(&first), call)
			printedDoc, err := validator.UnmarshalJSON(strings.NewReader(string(first)))
			require.NoError(t, err, call)
			docs, several := printedDoc.([]any)
			if !several {
				docs = []any{printedDoc}
			}
			for _, doc := range docs {
				name, _ := doc.(map[string]any)["schema"].(string)
				if seen[name]++; name != "optratio.undecided/1" && assert.Contains(t, compiled, name, call) {
					assert.NoError(t, compiled[name].Validate(doc), "%s: %s", file, call)
				}
			}
		}
	}
	for name := range compiled {
		assert.NotZero(t, seen[name], "no transcript has %s", name)
	}
	// What is left out, added or of another kind is found.
	assert.ErrorContains(t, compiled["optratio.ratio/1"].Validate(map[string]any{"schema": "optratio.ratio/1"}), "missing properties")
	whole := map[string]any{"schema": "optratio.verify/1", "mechanism": "m", "domain": "d", "claimed_eps": "inf", "properties": []any{}}
	verdict := compiled["optratio.verify/1"]
	assert.NoError(t, verdict.Validate(whole))
	whole["claimed_eps"] = 1.5
	assert.ErrorContains(t, verdict.Validate(whole), "claimed_eps")
	whole["claimed_eps"], whole["more"] = nil, 1.0
	assert.ErrorContains(t, verdict.Validate(whole), "more")
}
