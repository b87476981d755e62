package inquiry

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"optratio/internal/decimal"
	"optratio/number"
)

// ScoresJSON writes exact scores as JSON numbers where they are finite decimals, as strings
// "p/q" otherwise.
func ScoresJSON(scores []*big.Rat) []json.RawMessage {
	out := make([]json.RawMessage, len(scores))
	for i, s := range scores {
		out[i] = json.RawMessage(ScoreText(s))
		if strings.Contains(string(out[i]), "/") {
			out[i] = json.RawMessage(`"` + string(out[i]) + `"`)
		}
	}
	return out
}

// maxDigits is how many digits a decimal has before it is written as p/q.
const maxDigits = 30

// ScoreText returns s as a decimal where it is finite and not long, such as -2.5 or 1e-300, as p/q otherwise.
func ScoreText(s *big.Rat) string {
	digits, exact := s.FloatPrec()
	if exact && digits <= maxDigits {
		return s.FloatString(digits)
	}
	if exact && digits <= decimal.MaxExponent {
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
		mantissa := new(big.Rat).Mul(s, new(big.Rat).SetInt(scale)).Num().String()
		if len(mantissa) <= maxDigits {
			return fmt.Sprintf("%se-%d", mantissa, digits)
		}
	}
	return s.RatString()
}

// InputText returns a JSON value as it was given; of one that is long, the beginning.
func InputText(value json.RawMessage) string {
	const most = 120
	if len(value) <= most {
		return string(value)
	}
	text := strings.ToValidUTF8(string(value[:most]), "") + "…"
	if entries := []json.RawMessage(nil); json.Unmarshal(value, &entries) == nil {
		text += fmt.Sprintf(" (%d entries)", len(entries))
	}
	return text
}

// ScoresText returns scores as (0, -1, 1/3).
func ScoresText(scores []*big.Rat) string {
	parts := make([]string, len(scores))
	for i, s := range scores {
		parts[i] = ScoreText(s)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// Model names who is a neighbor: where all scores rise or all fall, or where each moves up or down.
func Model(monotonic bool) string {
	if monotonic {
		return "monotonic"
	}
	return "linf"
}

// Near says who is a neighbor of a score vector.
func Near(monotonic bool) string {
	if monotonic {
		return "monotonic neighbors (all scores up to Δ higher, or all up to Δ lower)"
	}
	return "linf neighbors (every score up to Δ higher or lower)"
}

// Tight writes a tight parameter, or the lower bound on it that was found until the check was stopped.
func Tight(name, symbol string, x number.Number, stopped bool) string {
	lo, ok := x.Lower()
	if !stopped || !ok || x.IsInf() {
		return name + " " + x.String()
	}
	return symbol + " at least " + decimal.Lower(lo, 12)
}

// Order returns the order of a property that is about one, such as rdp:2; nil is the order ∞, of rdp:inf.
func Order[P ~string](property P) (alpha *big.Rat, ok bool) {
	text, ok := strings.CutPrefix(string(property), "rdp:")
	if !ok || text == "inf" {
		return nil, ok
	}
	alpha, err := decimal.ParseNumber(text)
	return alpha, err == nil && alpha.Cmp(One.rat) >= 0
}

// Kind is a property without its order.
func Kind[P ~string](property P) P {
	if _, ok := Order(property); ok {
		return "rdp"
	}
	return property
}

// instances says what a property compares.
var instances = map[string]string{
	"dp": "neighbors", "bounded-range": "neighbors", "rdp": "neighbors", "zcdp": "neighbors", "approximate-dp": "neighbors",
	"symmetry": "candidates or vectors with the same scores", "shift": "vectors that differ by a shift",
	"monotone": "two vectors", "dominates-em": "candidates below the best", "dominates-em-mean": "candidates below the best",
}

// Nothing says why a property of which a domain has no instance is undecided.
func Nothing[P ~string](property P) string {
	return "nothing to check: there are no " + cmp.Or(instances[string(Kind(property))], "instances") + " in the domain"
}

// Profiled are the documents of pairs of ε' and δ, and of orders and divergences; nil where there are none.
func Profiled(profile, renyi [][2]number.Number) (deltas []DeltaAt, divergences []DivergenceOf) {
	for _, x := range profile {
		deltas = append(deltas, DeltaAt{x[0], x[1]})
	}
	for _, x := range renyi {
		divergences = append(divergences, DivergenceOf{x[0], x[1]})
	}
	return deltas, divergences
}

// DeltaAt is the least δ at an ε'.
type DeltaAt struct {
	Eps   number.Number `json:"eps"`
	Delta number.Number `json:"delta"`
}

// DivergenceOf is the Rényi divergence of an order.
type DivergenceOf struct {
	Order      number.Number `json:"order"`
	Divergence number.Number `json:"divergence"`
}

// Says reports whether a tight parameter tells anything: one between 0 and infinity does not.
func Says(x number.Number) bool {
	lo, low := x.Lower()
	_, high := x.Upper()
	return x.IsValid() && (high || x.IsInf() || low && lo.Sign() > 0)
}

// Comparisons says how many were made, of how many; 0: that is not known.
func Comparisons(checked, total int64) string {
	if total == 0 {
		return fmt.Sprintf("%d comparisons", checked)
	}
	return fmt.Sprintf("%d of %d comparisons", checked, total)
}

// Word is a verdict, or of a fact whether the mechanism has the property.
func Word(fact bool, verdict string) string {
	switch {
	case fact && verdict == "proved":
		return "has it"
	case fact && verdict == "violated":
		return "does not have it"
	case fact:
		return "not decided"
	}
	return verdict
}
