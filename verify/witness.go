package verify

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"

	"optratio/internal/escape"
	"optratio/internal/inquiry"
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
//   - dominates-em: Scores, T, P = Pr[error >= T] and PExpected, the same of the exponential mechanism; for
//     dominates-em-mean P and PExpected are the expected errors;
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
	opposite          bool     // NeighborCandidate is no place in Neighbor, but the candidate whose ratio is the smallest: bounded-range
	Event             string   // the output is not a candidate but this event, "error"
	Outcomes          []string // the labels that the event is one of, where outcomes are labels
	T                 *big.Rat
	PMFs              [2][]number.Number // of all candidates at Scores and at Neighbor, where the pair of vectors is of interest as a whole and has few candidates
	P                 number.Number
	PNeighbor         number.Number
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
		P: w.P, PNeighbor: w.PNeighbor, PMF: w.PMFs[0], NeighborPMF: w.PMFs[1],
	}
	if w.Candidate == nil && w.Event == "" {
		f.PEM = w.PExpected
	} else {
		f.PExpected = w.PExpected
	}
	if w.Input == nil {
		f.Scores = inquiry.ScoresJSON(w.Scores)
	}
	if w.Neighbor != nil {
		f.Neighbor = inquiry.ScoresJSON(w.Neighbor)
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

// ratio says by how much the probabilities of an output differ.
func (w *Witness) ratio() string {
	close := big.NewRat(1, 10_000)
	none := func(x number.Number) bool {
		r, ok := x.Rat()
		return ok && r.Sign() == 0
	}
	switch {
	case w.NeighborCandidate != nil:
		return ""
	case none(w.P) != none(w.PNeighbor):
		return ", an infinite ratio"
	case none(w.P) || !w.P.Within(close) || !w.PNeighbor.Within(close):
		return ""
	}
	p, _ := w.P.Lower()
	q, _ := w.PNeighbor.Lower()
	if p.Sign() < 0 || q.Sign() < 0 {
		return ""
	}
	apart := math.Abs(number.LogRat(p, 64).Near() - number.LogRat(q, 64).Near()) // math.Log is off for the least floats
	if apart == 0 {
		return ""
	}
	text := fmt.Sprintf("%.4g", apart)
	if text == fmt.Sprintf("%.2g", apart) { // such as 1, which may stand for what is just above a claim
		text = fmt.Sprintf("%.7g", apart)
	}
	return ", a ratio of e^" + text
}

// String describes the witness in one line.
func (w *Witness) String() string {
	var b strings.Builder
	switch {
	case w.NeighborInput != nil:
		fmt.Fprintf(&b, "inputs %s and %s", inquiry.InputText(w.Input), inquiry.InputText(w.NeighborInput))
	case w.Input != nil:
		fmt.Fprintf(&b, "input %s", inquiry.InputText(w.Input))
	case w.Neighbor != nil:
		fmt.Fprintf(&b, "scores %s and %s", inquiry.ScoresText(w.Scores), inquiry.ScoresText(w.Neighbor))
	default:
		fmt.Fprintf(&b, "scores %s", inquiry.ScoresText(w.Scores))
	}
	if w.Distance != nil {
		fmt.Fprintf(&b, " at distance %s", inquiry.ScoreText(w.Distance))
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
		switch {
		case w.opposite:
			fmt.Fprintf(&b, ", and %d the other way", *w.NeighborCandidate)
		case w.NeighborCandidate != nil:
			fmt.Fprintf(&b, " (there %d)", *w.NeighborCandidate)
		}
	}
	switch {
	case w.T != nil:
		fmt.Fprintf(&b, ": Pr[error >= %s] is %s, of em %s", inquiry.ScoreText(w.T), w.P, w.PExpected)
	case w.PExpected.IsValid() && w.Candidate == nil && w.Event == "":
		fmt.Fprintf(&b, ": expected error %s, of em %s", w.P, w.PExpected)
	case w.PExpected.IsValid():
		fmt.Fprintf(&b, ": %s, expected %s", w.P, w.PExpected)
	case w.PNeighbor.IsValid():
		fmt.Fprintf(&b, ": %s and %s%s", w.P, w.PNeighbor, w.ratio())
	default:
		fmt.Fprintf(&b, ": %s", w.P)
	}
	return escape.Line(b.String())
}
