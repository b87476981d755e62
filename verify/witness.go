package verify

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"optratio/internal/escape"
	"optratio/number"
)

// Witness is one place where a property fails, or, as the pair that attains the
// tight ε, the place where it is closest to failing. Candidates are numbered from 0.
//
// Which fields are set depends on the property:
//   - dp, monotone, shift: Scores, Neighbor, Candidate, P, PNeighbor;
//   - approximate-dp: Scores, Neighbor, Candidates, a set, and its probabilities P and PNeighbor;
//   - symmetry: likewise, and NeighborCandidate, the place in Neighbor that the candidate takes;
//   - bounded-range: likewise, with the candidate's ratio the largest and NeighborCandidate's the
//     smallest;
//   - dominates-em: Scores, T, P = Pr[error >= T] and PEM, the same of the exponential mechanism; for
//     dominates-em-mean P and PEM are the expected errors;
//   - a comparison with expected probabilities: Scores, Candidate, P and PExpected;
//   - sum: Scores and P, the sum, or the probability of Candidate where that is negative.
type Witness struct {
	Scores            []*big.Rat
	Neighbor          []*big.Rat
	Input             json.RawMessage // in place of Scores, where a mechanism was asked about other things
	NeighborInput     json.RawMessage
	Distance          *big.Rat // of the two, in whose multiple of ε they are compared; nil: 1
	Candidate         *int
	Candidates        []int
	NeighborCandidate *int
	Event             string   // the output is not a candidate but this event, "error"
	Outcomes          []string // the labels that the event is one of, where outcomes are labels
	T                 *big.Rat
	PMF               []number.Number // of all candidates at Scores, where the pair of vectors is of interest as a whole and has few candidates
	NeighborPMF       []number.Number // and at Neighbor
	P                 number.Number
	PNeighbor         number.Number
	PEM               number.Number
	PExpected         number.Number
}

// MarshalJSON writes the fields that are set, scores as decimals where they have finitely many
// digits and as "p/q" otherwise.
func (w *Witness) MarshalJSON() ([]byte, error) {
	type fields struct {
		Scores            any               `json:"scores,omitempty"`
		Neighbor          []json.RawMessage `json:"neighbor,omitempty"`
		Input             json.RawMessage   `json:"input,omitempty"`
		NeighborInput     json.RawMessage   `json:"neighbor_input,omitempty"`
		Distance          number.Number     `json:"distance,omitzero"`
		Candidate         any               `json:"candidate,omitempty"`
		Candidates        []int             `json:"candidates,omitempty"`
		NeighborCandidate *int              `json:"neighbor_candidate,omitempty"`
		T                 number.Number     `json:"t,omitzero"`
		P                 number.Number     `json:"p"`
		PNeighbor         number.Number     `json:"p_neighbor,omitzero"`
		PEM               number.Number     `json:"p_em,omitzero"`
		PExpected         number.Number     `json:"p_expected,omitzero"`
		PMF               []number.Number   `json:"pmf,omitempty"`
		NeighborPMF       []number.Number   `json:"neighbor_pmf,omitempty"`
	}
	f := fields{
		Input: w.Input, NeighborInput: w.NeighborInput, Candidates: w.Candidates, NeighborCandidate: w.NeighborCandidate,
		P: w.P, PNeighbor: w.PNeighbor, PEM: w.PEM, PExpected: w.PExpected, PMF: w.PMF, NeighborPMF: w.NeighborPMF,
	}
	if w.Input == nil {
		f.Scores = ScoresJSON(w.Scores)
	}
	if w.Neighbor != nil {
		f.Neighbor = ScoresJSON(w.Neighbor)
	}
	if w.Distance != nil {
		f.Distance = number.Exact(w.Distance)
	}
	switch {
	case w.Event != "":
		f.Candidate = w.Event
	case w.Candidate != nil:
		f.Candidate = *w.Candidate
	}
	if w.T != nil {
		f.T = number.Exact(w.T)
	}
	return json.Marshal(f)
}

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

// ScoreText returns s as a decimal where it is finite and not long, as p/q otherwise.
func ScoreText(s *big.Rat) string {
	if digits, exact := s.FloatPrec(); exact && digits <= 30 {
		return s.FloatString(digits)
	}
	return s.RatString()
}

// String describes the witness in one line.
func (w *Witness) String() string {
	var b strings.Builder
	switch {
	case w.NeighborInput != nil:
		fmt.Fprintf(&b, "inputs %s and %s", InputText(w.Input), InputText(w.NeighborInput))
	case w.Input != nil:
		fmt.Fprintf(&b, "input %s", InputText(w.Input))
	case w.Neighbor != nil:
		fmt.Fprintf(&b, "scores %s and %s", ScoresText(w.Scores), ScoresText(w.Neighbor))
	default:
		fmt.Fprintf(&b, "scores %s", ScoresText(w.Scores))
	}
	if w.Distance != nil {
		fmt.Fprintf(&b, " at distance %s", ScoreText(w.Distance))
	}
	switch {
	case w.Event != "":
		fmt.Fprintf(&b, ", output %q", w.Event)
	case len(w.Candidates) == 1:
		fmt.Fprintf(&b, ", candidate %d", w.Candidates[0])
	case w.Candidates != nil:
		fmt.Fprintf(&b, ", candidates %s together", strings.Trim(strings.ReplaceAll(fmt.Sprint(w.Candidates), " ", ", "), "[]"))
	case w.Candidate != nil:
		fmt.Fprintf(&b, ", candidate %d", *w.Candidate)
		if w.NeighborCandidate != nil {
			fmt.Fprintf(&b, " (there %d)", *w.NeighborCandidate)
		}
	}
	switch {
	case w.T != nil:
		fmt.Fprintf(&b, ": Pr[error >= %s] is %s, of em %s", ScoreText(w.T), w.P, w.PEM)
	case w.PEM.IsValid():
		fmt.Fprintf(&b, ": expected error %s, of em %s", w.P, w.PEM)
	case w.PExpected.IsValid():
		fmt.Fprintf(&b, ": %s, expected %s", w.P, w.PExpected)
	case w.PNeighbor.IsValid():
		fmt.Fprintf(&b, ": %s and %s", w.P, w.PNeighbor)
	default:
		fmt.Fprintf(&b, ": %s", w.P)
	}
	return escape.Line(b.String())
}

// InputText returns a JSON value as it was given; of one that is long, the beginning.
func InputText(value json.RawMessage) string {
	const most = 120
	if len(value) <= most {
		return string(value)
	}
	return strings.ToValidUTF8(string(value[:most]), "") + "…"
}

// ScoresText returns scores as (0, -1, 1/3).
func ScoresText(scores []*big.Rat) string {
	parts := make([]string, len(scores))
	for i, s := range scores {
		parts[i] = ScoreText(s)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
