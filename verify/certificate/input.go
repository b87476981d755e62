package certificate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"optratio/internal/decimal"
	"optratio/internal/evidence"
)

// canonical returns one text for all spellings of a JSON value: 1 and 1.0 are the same, and so are objects whose keys are in another order. It refuses what
// encoding/json would read as something else: text that is not UTF-8, and escapes of surrogates.
func canonical(text string, cost *evidence.Effort) (string, error) {
	if !utf8.ValidString(text) {
		return "", errors.New("not UTF-8")
	}
	for i := 0; i+2 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if i++; text[i] == 'u' && (text[i+1] == 'd' || text[i+1] == 'D') && i+2 < len(text) && text[i+2] > '7' {
			return "", errors.New("an escaped surrogate; write the character itself")
		}
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil || d.More() || d.InputOffset() != int64(len(text)) {
		return "", fmt.Errorf("%s is not a JSON value", evidence.Quote(text))
	}
	x, err := sameNumbers(x, cost)
	if err != nil {
		return "", err
	}
	out, err := json.Marshal(x)
	return string(out), err
}

// sameNumbers replaces the numbers in a value by their exact values, and strings by ones that no number becomes.
func sameNumbers(x any, cost *evidence.Effort) (_ any, err error) {
	switch v := x.(type) {
	case string:
		return "s" + v, nil
	case json.Number:
		r, err := decimal.Parse(string(v))
		if err != nil {
			return nil, err
		}
		bits := r.Num().BitLen() + r.Denom().BitLen()
		cost.Multiply(bits, bits)
		return "n" + r.RatString(), nil
	case []any:
		for i := range v {
			if v[i], err = sameNumbers(v[i], cost); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if v[key], err = sameNumbers(v[key], cost); err != nil {
				return nil, err
			}
		}
	}
	return x, nil
}
