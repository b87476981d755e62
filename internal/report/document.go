package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"optratio/internal/document"
	"optratio/internal/strictjson"
	"optratio/number"
	"optratio/verify"
)

// ErrDocument is wrapped by errors about what is no result of a job.
var ErrDocument = errors.New("not the JSON document of one ratio, verify, audit, stopping, evaluate, recommend, optimum or check job")

// makers has, for each kind of job that a page can be about, what makes the page of its JSON document.
var makers = map[string]func(printed []byte, c Context) (*Page, error){
	"ratio":     made(ofRatio),
	"rho":       made(ofConcentrated), // a ratio job with --rho
	"verify":    made(ofVerdicts),
	"audit":     made(ofVerdicts),
	"stopping":  made(ofStopping),
	"evaluate":  made(ofEvaluate),
	"recommend": made(ofRecommend),
	"optimum":   made(ofOptimum),
	"check":     made(ofCheck),
}

// made reads a document as a D, of which build makes the page.
func made[D any](build func(*D, Context) (*Page, error)) func([]byte, Context) (*Page, error) {
	return func(printed []byte, c Context) (*Page, error) {
		var d D
		if err := json.Unmarshal(printed, &d); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDocument, err)
		}
		return build(&d, c)
	}
}

// KindOf recognises the document of a job by its schema, and returns the name of the job.
func KindOf(printed []byte) (string, error) {
	if err := strictjson.Check(printed); err != nil {
		return "", fmt.Errorf("%w: %w", ErrDocument, err)
	}
	var d struct{ Schema string }
	if err := json.Unmarshal(printed, &d); err != nil {
		return "", fmt.Errorf("%w: %w", ErrDocument, err)
	}
	name, _ := strings.CutPrefix(d.Schema, "optratio.")
	kind, version, _ := strings.Cut(name, "/")
	if version != "1" || makers[kind] == nil {
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
		Event  string `json:"event"`
		Detail string `json:"detail"`
		place
		Times int64 `json:"times"`
	} `json:"findings"`
}

type property struct {
	Name     string          `json:"name"`
	Verdict  string          `json:"verdict"`
	Asked    *bool           `json:"asked"` // false of a fact, which the headline is not about
	Checked  int64           `json:"checked"`
	Total    json.RawMessage `json:"total"` // there where it was stopped, null where it is not known
	Reason   string          `json:"reason"`
	Witness  *witness        `json:"witness"`
	Attained *witness        `json:"attained"`
	TightEps *number.Number  `json:"tight_eps"`
	TightExp *string         `json:"tight_exp_eps"`
	Range    *number.Number  `json:"range"`

	TightDelta *number.Number `json:"tight_delta"`
	Target     *number.Number `json:"target"`
}

// stopped reports whether the check ended before all comparisons were made.
func (p *property) stopped() bool { return len(p.Total) > 0 }

// after says after how many comparisons that was.
func (p *property) after() string {
	var total int64
	if err := json.Unmarshal(p.Total, &total); err != nil || total == 0 {
		return fmt.Sprintf("after %s comparisons", grouped(p.Checked))
	}
	return fmt.Sprintf("after %s of %s comparisons", grouped(p.Checked), grouped(total))
}

// bound writes a tight parameter, or the lower bound on it that was found until the check was stopped.
func (p *property) bound(symbol string, x number.Number) string {
	if lo, ok := x.Lower(); ok && p.stopped() && !x.IsInf() {
		return fmt.Sprintf("%s at least %s, %s", symbol, show(number.Exact(lo)), p.after())
	}
	return "tight " + symbol + " " + x.String()
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

// place is what was asked about.
type place struct {
	Scores []scalar        `json:"scores"`
	Input  json.RawMessage `json:"input"` // in place of scores
}

func (p place) String() string {
	if p.Input != nil {
		return "input " + verify.InputText(p.Input)
	}
	return "scores " + vector(p.Scores)
}

type witness struct {
	place
	Neighbor      []scalar        `json:"neighbor"`
	NeighborInput json.RawMessage `json:"neighbor_input"`
	Distance      *number.Number  `json:"distance"` // in whose multiple of ε two inputs are compared

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

// other is the neighbor.
func (w *witness) other() place { return place{w.Neighbor, w.NeighborInput} }

// compared reports whether there is a neighbor, with a probability.
func (w *witness) compared() bool {
	return w.PNeighbor != nil && (w.Neighbor != nil || w.NeighborInput != nil)
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
