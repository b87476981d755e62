package certificate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"optratio/internal/evidence"
)

// canonical returns one text for all spellings of a JSON value: 1 and 1.0 are the same, and so are objects whose keys are in another order. It refuses what
// encoding/json would read as something else: text that is not UTF-8, and escapes of surrogates.
func canonical(text string) (string, error) {
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
		return "", fmt.Errorf("%s is no JSON value", evidence.Quote(text))
	}
	x, err := sameNumbers(x)
	if err != nil {
		return "", err
	}
	out, err := json.Marshal(x)
	return string(out), err
}

// sameNumbers replaces the numbers in a value by strings that are equal where they are, and strings by ones that no number becomes.
func sameNumbers(x any) (_ any, err error) {
	switch v := x.(type) {
	case string:
		return "s" + v, nil
	case json.Number:
		return sameNumber(string(v))
	case []any:
		for i := range v {
			if v[i], err = sameNumbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if v[key], err = sameNumbers(v[key]); err != nil {
				return nil, err
			}
		}
	}
	return x, nil
}

// sameNumber writes a JSON number as n, its sign, its digits from the first to the last that is not 0, e, and the exponent of the last one.
func sameNumber(text string) (string, error) {
	mantissa, power, _ := strings.Cut(strings.ToLower(text), "e")
	exponent := 0
	if power != "" {
		if _, err := fmt.Sscanf(power, "%d", &exponent); err != nil || len(power) > maxPower {
			return "", fmt.Errorf("the exponent of %s is too long", evidence.Quote(text))
		}
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, part, _ := strings.Cut(mantissa, ".")
	all := strings.TrimLeft(whole+part, "0")
	digits := strings.TrimRight(all, "0")
	switch {
	case digits == "":
		return "n0", nil
	case negative:
		return fmt.Sprintf("n-%se%d", digits, exponent-len(part)+len(all)-len(digits)), nil
	}
	return fmt.Sprintf("n%se%d", digits, exponent-len(part)+len(all)-len(digits)), nil
}

// maxPower is how many bytes the exponent of a number in an input may have.
const maxPower = 15
