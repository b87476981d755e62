package verify

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

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
	Candidate         *int
	Candidates        []int
	NeighborCandidate *int
	Event             string // the output is not a candidate but this event, "error"
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
		Scores            []json.RawMessage `json:"scores"`
		Neighbor          []json.RawMessage `json:"neighbor,omitempty"`
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
		Scores: ScoresJSON(w.Scores), Candidates: w.Candidates, NeighborCandidate: w.NeighborCandidate,
		P: w.P, PNeighbor: w.PNeighbor, PEM: w.PEM, PExpected: w.PExpected, PMF: w.PMF, NeighborPMF: w.NeighborPMF,
	}
	if w.Neighbor != nil {
		f.Neighbor = ScoresJSON(w.Neighbor)
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
	fmt.Fprintf(&b, "scores %s", ScoresText(w.Scores))
	if w.Neighbor != nil {
		fmt.Fprintf(&b, " and %s", ScoresText(w.Neighbor))
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
	return b.String()
}

// ScoresText returns scores as (0, -1, 1/3).
func ScoresText(scores []*big.Rat) string {
	parts := make([]string, len(scores))
	for i, s := range scores {
		parts[i] = ScoreText(s)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
