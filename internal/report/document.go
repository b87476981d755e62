package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"optratio/internal/document"
	"optratio/number"
	"optratio/verify"
)

// Kind is a job that a page can be about.
type Kind string

const (
	Ratio    Kind = "ratio"
	Rho      Kind = "rho" // a ratio job with --rho
	Verify   Kind = "verify"
	Audit    Kind = "audit"
	Stopping Kind = "stopping"
	Evaluate Kind = "evaluate"

	Recommend Kind = "recommend"
	Optimum   Kind = "optimum"
	Check     Kind = "check"
)

var kinds = []Kind{Ratio, Rho, Verify, Audit, Stopping, Evaluate, Recommend, Optimum, Check}

// ErrDocument is wrapped by errors about what is no result of a job.
var ErrDocument = errors.New("not the JSON document of one ratio, verify, audit, stopping, evaluate, recommend, optimum or check job")

// KindOf recognises the document of a job by its schema.
func KindOf(printed []byte) (Kind, error) {
	var d struct{ Schema string }
	if err := json.Unmarshal(printed, &d); err != nil {
		return "", fmt.Errorf("%w: %w", ErrDocument, err)
	}
	name, _ := strings.CutPrefix(d.Schema, "optratio.")
	name, version, _ := strings.Cut(name, "/")
	kind := Kind(name)
	if version != "1" || !slices.Contains(kinds, kind) {
		return "", fmt.Errorf("%w: its schema is %q", ErrDocument, d.Schema)
	}
	return kind, nil
}

// ratioDocument is a ratio job's document, of which a page is drawn.
type ratioDocument document.Ratio

// given says which ε was given, as itself or as e^ε.
func given(eps, exp *string) string {
	switch {
	case eps != nil:
		return "ε = " + *eps
	case exp != nil:
		return "e^ε = " + *exp
	}
	return "ε not given"
}

// verdictDocument is what a page needs of the document of a verify or audit job.
type verdictDocument struct {
	Mechanism  string         `json:"mechanism"`
	Domain     string         `json:"domain"`
	Lattice    verify.Where   `json:"lattice"`
	Claimed    number.Number  `json:"claimed_eps"`
	TightEps   *number.Number `json:"tight_eps"`
	LowerBound *number.Number `json:"eps_lower_bound"`
	LowerDelta *number.Number `json:"delta_lower_bound"`
	Confidence *float64       `json:"confidence"`
	Precision  *number.Number `json:"precision"`
	Samples    int64          `json:"samples"`
	Questions  int64          `json:"questions"`
	History    []struct {
		Samples int64         `json:"samples"`
		Eps     number.Number `json:"eps_lower_bound"`
	} `json:"history"`
	Properties []property `json:"properties"`
	Findings   []struct {
		Event  string   `json:"event"`
		Detail string   `json:"detail"`
		Scores []scalar `json:"scores"`
		Times  int64    `json:"times"`
	} `json:"findings"`
}

type property struct {
	Name     string         `json:"name"`
	Verdict  string         `json:"verdict"`
	Asked    *bool          `json:"asked"` // false of a fact, which the headline is not about
	Checked  int64          `json:"checked"`
	Reason   string         `json:"reason"`
	Witness  *witness       `json:"witness"`
	Attained *witness       `json:"attained"`
	TightEps *number.Number `json:"tight_eps"`
	TightExp *string        `json:"tight_exp_eps"`
	Range    *number.Number `json:"range"`

	TightDelta *number.Number `json:"tight_delta"`
	Target     *number.Number `json:"target"`
}

// word is the verdict, or of a fact whether the mechanism has the property.
func (p *property) word() string {
	switch {
	case p.Asked == nil || *p.Asked || p.Verdict == "undecided":
		return p.Verdict
	case p.Verdict == "proved":
		return "has it"
	}
	return "does not have it"
}

// claim is the property that is the claim: ε-DP, or (ε,δ)-DP where that alone was asked for; nil where neither was.
func (d *verdictDocument) claim() *property {
	if dp := d.find("dp"); dp != nil {
		return dp
	}
	return d.find("approximate-dp")
}

func (d *verdictDocument) find(name string) *property {
	for i := range d.Properties {
		if d.Properties[i].Name == name {
			return &d.Properties[i]
		}
	}
	return nil
}

type witness struct {
	Scores      []scalar        `json:"scores"`
	Neighbor    []scalar        `json:"neighbor"`
	Candidate   any             `json:"candidate"`
	Candidates  []int           `json:"candidates"`
	T           *number.Number  `json:"t"`
	P           number.Number   `json:"p"`
	PNeighbor   *number.Number  `json:"p_neighbor"`
	PEM         *number.Number  `json:"p_em"`
	PExpected   *number.Number  `json:"p_expected"`
	PMF         []number.Number `json:"pmf"`
	NeighborPMF []number.Number `json:"neighbor_pmf"`
}

// candidate returns the number of the candidate, -1 where the witness is about another event.
func (w *witness) candidate() int {
	if r, ok := w.Candidate.(float64); ok {
		return int(r)
	}
	return -1
}

// event names what the probabilities are of.
func (w *witness) event() string {
	if len(w.Candidates) > 0 {
		return choose(len(w.Candidates) == 1, "candidate ", "one of the candidates ") + strings.Trim(strings.ReplaceAll(fmt.Sprint(w.Candidates), " ", ", "), "[]")
	}
	switch e := w.Candidate.(type) {
	case float64:
		return fmt.Sprintf("candidate %d", int(e))
	case string:
		return e
	}
	return "the event"
}

// scalar is a score as the document has it: a JSON number, or a string "p/q".
type scalar string

func (s *scalar) UnmarshalJSON(data []byte) error {
	*s = scalar(strings.ReplaceAll(strings.Trim(string(data), `"`), "-", "−"))
	return nil
}

func vector(scores []scalar) string {
	var parts []string
	for _, s := range scores {
		parts = append(parts, string(s))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// stoppingDocument is a stopping job's document, of which a page is drawn.
type stoppingDocument document.Stopping
