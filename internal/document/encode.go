package document

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Document is what --json prints. Schema names its form and the version of that, such as "optratio.ratio/1"; it is the first field.
type Document interface{ Schema() string }

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
