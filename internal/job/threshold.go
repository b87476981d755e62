package job

import (
	"fmt"
	"math/big"

	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/lp"
	"optratio/number"
)

// Threshold asks from which ε on permute-and-flip is optimal.
type Threshold struct {
	Size
	Lattice `default:"gap=1e-6"`
	Method  string `json:"method" default:"auto" help:"auto (by theorem) or lp (by exact optima at either end)"`
}

func (q *Threshold) request(in *reading) lp.Request {
	must(Parsed("objective", q.Objective, parseObjective))
	r := q.Lattice.request(in, q.Size, one)
	refuse(r.Gap.Sign() == 0, "{gap} 0: thresholds are irrational, give a gap > 0")
	if q.Method == "lp" {
		r.Method = "lp"
		return r
	}
	refuse(q.Method != "auto" && q.Method != "closed-form", "{method} %s: give auto or lp", escape.Quoted(q.Method))
	return r
}

func (q *Threshold) answer(in *reading) *Answer {
	r := q.request(in)
	in.begin(fmt.Sprintf("threshold of n = %d, k = %d", q.N, q.K), number.Epsilon{})
	a := settled(in, func() (*lp.ThresholdAnswer, error) {
		return lp.Threshold(in.ctx, r, func(exp *big.Rat, optimal bool) {
			in.report("permute-and-flip is %s at e^ε = %s", Choose(optimal, "optimal", "not optimal"), exp.RatString())
		})
	}, func(why string) *lp.ThresholdAnswer { return &lp.ThresholdAnswer{Proof: "none", Undecided: why} })
	end := func(r *big.Rat) (n number.Number) { // none where it was not decided
		if r != nil {
			n = number.Exact(r)
		}
		return n
	}
	return answered(&document.Threshold{
		N: q.N, K: q.K, Objective: q.Objective, Constraints: q.Constraints, Step: q.StepText(), Loss: q.Loss, Prior: q.priorName(),
		Lower: a.Ends[0], Upper: a.Ends[1], LowerExp: end(a.Exp[0]), UpperExp: end(a.Exp[1]), Proof: a.Proof, Undecided: a.Undecided,
	}, a.Undecided, nil)
}
