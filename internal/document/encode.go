package document

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Document is what --json prints. Schema names its form and the version of that, such as "optratio.ratio/1"; it is the first field.
type Document interface{ Schema() string }

func (Ratio) Schema() string         { return "optratio.ratio/1" }
func (Rho) Schema() string           { return "optratio.rho/1" }
func (Calibration) Schema() string   { return "optratio.calibrate/1" }
func (PMF) Schema() string           { return "optratio.pmf/1" }
func (Evaluate) Schema() string      { return "optratio.evaluate/1" }
func (Stopping) Schema() string      { return "optratio.stopping/1" }
func (Optimum) Schema() string       { return "optratio.optimum/1" }
func (Heterogeneous) Schema() string { return "optratio.heterogeneous/1" }
func (TopK) Schema() string          { return "optratio.topk/1" }
func (Threshold) Schema() string     { return "optratio.threshold/1" }
func (Check) Schema() string         { return "optratio.check/1" }
func (Compose) Schema() string       { return "optratio.compose/1" }
func (Mechanism) Schema() string     { return "optratio.mechanism/1" }

// Encode returns a document as compact JSON, with its schema before the fields of its own.
func Encode(doc Document) []byte {
	var fields bytes.Buffer
	e := json.NewEncoder(&fields)
	e.SetEscapeHTML(false)
	err := e.Encode(doc)
	body, isObject := bytes.CutPrefix(bytes.TrimSpace(fields.Bytes()), []byte("{"))
	if err != nil || !isObject {
		panic(fmt.Errorf("%s is not a JSON object: %v", doc.Schema(), err)) // a document of ours that is none
	}
	out := fmt.Appendf(nil, `{"schema":%q`, doc.Schema())
	if body[0] != '}' {
		out = append(out, ',')
	}
	return append(out, body...)
}
