package job

import (
	"context"
	"fmt"
	"io"
	"math/big"

	"optratio/internal/document"
	"optratio/internal/totals"
	"optratio/lp"
	"optratio/number"
)

// Threshold asks from which ε on permute-and-flip is optimal.
type Threshold struct {
	Size
	Lattice
	Method string `json:"method"`
}

// NewThreshold returns the question with its defaults.
func NewThreshold() *Threshold { return &Threshold{Lattice: standardLattice("1e-6"), Method: "auto"} }

func (q *Threshold) request(ctx context.Context, h *Host) (r lp.ThresholdRequest, err error) {
	if _, err := Parsed("objective", q.Objective, totals.ParseObjective); err != nil {
		return r, err
	}
	asked, err := q.Lattice.request(ctx, h, q.Size, big.NewRat(1, 1))
	switch {
	case err != nil:
		return r, err
	case asked.Gap.Sign() == 0:
		return r, refuse("{gap} 0: thresholds are irrational, give a gap > 0")
	case q.Method != "auto" && q.Method != "closed-form" && q.Method != "lp":
		return r, refuse("{method} %s: give auto or lp", quoted(q.Method))
	case h.Certificate && q.Method != "lp":
		return r, refuse("{cert}: certificates come with {method} lp")
	}
	return lp.ThresholdRequest{
		N: q.N, K: q.K, Objective: asked.Objective, Level: asked.Level, Gap: asked.Gap, Solver: asked.Solver, MaxMemory: asked.MaxMemory,
		ByLP: q.Method == "lp", Step: asked.Step, Loss: asked.Loss, Prior: asked.Prior,
	}, nil
}

// Answer answers it.
func (q *Threshold) Answer(ctx context.Context, h *Host) (*Answer, error) {
	r, err := q.request(ctx, h)
	if err != nil {
		return nil, err
	}
	report, err := h.Begin(fmt.Sprintf("threshold of n = %d, k = %d", q.N, q.K), number.Epsilon{})
	if err != nil {
		return nil, err
	}
	r.Report = func(exp *big.Rat, optimal bool) {
		report("permute-and-flip is %s at e^ε = %s", choose(optimal, "optimal", "not optimal"), exp.RatString())
	}
	a, err := Settle(ctx, func() (*lp.ThresholdAnswer, error) { return lp.Threshold(ctx, r) },
		func(why string) *lp.ThresholdAnswer { return &lp.ThresholdAnswer{Proof: "none", Undecided: why} })
	if err != nil {
		return nil, err
	}
	end := func(r *big.Rat) (n number.Number) { // none where it was not decided
		if r != nil {
			n = number.Exact(r)
		}
		return n
	}
	found := answered(&document.Threshold{
		N: q.N, K: q.K, Objective: q.Objective, Constraints: q.Constraints, Step: q.StepText(), Loss: q.Loss, Prior: q.priorName(),
		Lower: a.Lower, Upper: a.Upper, LowerExp: end(a.LowerExp), UpperExp: end(a.UpperExp), Proof: a.Proof, Undecided: a.Undecided,
	}, a.Undecided)
	for _, end := range []*lp.Answer{a.Below, a.Above} {
		var write func(io.Writer) error
		if end != nil {
			write = end.WriteCertificate
		}
		found.certified(write)
	}
	return found, nil
}
