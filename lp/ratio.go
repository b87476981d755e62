package lp

import (
	"context"
	"math/big"

	"optratio/internal/table"
	"optratio/number"
)

// Proofs of the lower bound on the optimum.
const (
	proofRecurrence = "dual-recurrence"
	proofClosedForm = "dual-closed-form"
	proofMonotone   = "monotonicity" // x_r(q) >= z^v/n, with constraints monotone and full
	proofLumped     = "lumped"
	proofLP         = "lp"
)

// Rated is a mechanism's mean expected error in steps of 2Δ, or the objective that the request has instead, and its ratio to the optimum. Of a mechanism that failed to state
// probabilities (mechanisms.ErrAnswer) neither is known, and Finding says what happened.
type Rated struct {
	Name    string        `json:"name"`
	Error   number.Number `json:"error"`
	Ratio   number.Number `json:"ratio"`
	Finding string        `json:"finding,omitempty"`
}

// Answer is the result of a request. Optimum is the least mean expected error in steps of 2Δ, or the least objective that the request has instead.
type Answer struct {
	request    Request
	Proof      string
	Solver     string // name of the solver used, or "none"
	Pivots     int
	Optimum    number.Number
	Mechanisms []Rated
	// PFOptimal says whether permute-and-flip attains the optimum; nil where that is not decided.
	PFOptimal *bool
	// Price, of a request with a Delta whose program was solved, is by how much Optimum falls at most for each unit of δ: at every δ' the optimum
	// is at least Optimum's lower end minus Price times δ' - δ.
	Price *number.Number
	// Undecided says which limit was met before the gap was reached; empty where it was.
	Undecided string

	evidence any // of Optimum: what certificates hold, see outcome
}

// Ratio answers a request. An error is bad input, or ErrTooLarge where n and k are beyond all methods; where a limit or the context
// ended the work, the Answer holds the best certified bounds so far and says so in Undecided. After the context has ended Ratio
// returns within two seconds, be it that a single operation on long numbers goes on in the background for a while.
func Ratio(ctx context.Context, r Request) (*Answer, error) {
	if err := r.complete(); err != nil {
		return nil, err
	}
	j := &job{Request: r, answer: &Answer{request: r, Solver: "none"}}
	var silence func()
	j.Report, silence = guarded(r.Report)
	defer silence()
	if err := j.bound(ctx); err != nil {
		return nil, err
	}
	if err := j.rate(ctx); err != nil {
		return nil, err
	}
	return j.answer, nil
}

// Multipliers visits the multipliers, where a whole program of chains was solved, of its rows (E), by orbit, per unit of the orbit's mass, and of rows x_above >= x_below of
// monotonicity between variables, in units u_above. Orbits and variables are numbered as package lattice does. It reports whether there are any.
func (a *Answer) Multipliers(orbit func(i int, y *big.Rat), monotone func(above, below int32, mu *big.Rat)) bool {
	s, ok := a.evidence.(*proof)
	if !ok || s.Dual.Sums == nil {
		return false
	}
	for i := range s.program.lat.Len() {
		orbit(i, s.sum(i))
	}
	s.cuts(func(r table.Row, mu *big.Rat) {
		if !r.Private {
			monotone(r.Above, r.Below, mu)
		}
	})
	return true
}
