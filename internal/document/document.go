// Package document has the JSON documents of the jobs that commands print and reports draw: one type each, whose field tags are the form.
// It computes nothing.
package document

import (
	"math/big"

	"optratio/internal/heterogeneous"
	"optratio/internal/optimum"
	"optratio/internal/secretary"
	"optratio/internal/topk"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
	"optratio/verify/certificate"
)

// AtEpsilon is the ε of a job, or e^ε, as it was given; the other one, or both, are null.
type AtEpsilon struct {
	Eps    *string `json:"eps"`
	ExpEps *string `json:"exp_eps"`
}

// At returns the ε of two texts, of which one is empty, or both.
func At(eps, exp string) AtEpsilon { return AtEpsilon{Optional(eps), Optional(exp)} }

// Optional is a text that may not have been given; then it is null.
func Optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Given says which was given, and what.
func (a AtEpsilon) Given() (symbol, text string) {
	switch {
	case a.Eps != nil:
		return "ε", *a.Eps
	case a.ExpEps != nil:
		return "e^ε", *a.ExpEps
	}
	return "", ""
}

// Said is what was given as an equation, "" for nothing.
func (a AtEpsilon) Said() string {
	symbol, text := a.Given()
	if symbol == "" {
		return ""
	}
	return symbol + " = " + text
}

// Ratio is the JSON document of a ratio job.
type Ratio struct {
	N int `json:"n"`
	K int `json:"k"`
	AtEpsilon
	Objective   string         `json:"objective"`
	Constraints string         `json:"constraints"`
	Orbits      *big.Int       `json:"orbits"`
	Variables   *big.Int       `json:"variables"`
	Proof       string         `json:"proof"`
	Solver      string         `json:"solver"`
	Pivots      int            `json:"pivots"`
	Seconds     float64        `json:"seconds"`
	Monotonic   bool           `json:"monotonic_scores,omitempty"`
	Step        string         `json:"step"`
	Loss        string         `json:"loss"`
	Prior       string         `json:"prior"`
	Delta       *number.Number `json:"delta,omitempty"`
	Optimum     number.Number  `json:"optimum"`
	Price       *number.Number `json:"price,omitempty"` // of δ, in the unit of the optimum
	PFOptimal   *bool          `json:"pf_optimal"`
	Mechanisms  []lp.Rated     `json:"mechanisms"`
	Subject     *Subject       `json:"subject,omitempty"`
	Undecided   string         `json:"undecided,omitempty"`
}

// Subject says in a JSON document what was rated as subject.
type Subject struct {
	Source           string        `json:"source"`
	Asked            int64         `json:"asked"`   // score vectors, of
	Vectors          *big.Int      `json:"vectors"` // so many
	AssumedSymmetric bool          `json:"assumed_symmetric"`
	Precision        number.Number `json:"precision"`
	Privacy          any           `json:"privacy"` // on the lattice, if it is shift-invariant: a *verify.Result; null where that was not checked
}

// Rho is the JSON document of a ratio job with --rho.
type Rho struct {
	N int `json:"n"`
	K int `json:"k"`
	AtEpsilon
	Rho        number.Number `json:"rho"`
	Domain     string        `json:"domain"`
	Objective  string        `json:"objective"`
	Monotonic  bool          `json:"monotonic_scores,omitempty"`
	Orbits     *big.Int      `json:"orbits"`
	Seconds    float64       `json:"seconds"`
	Mechanisms []AtRho       `json:"mechanisms"`
	Undecided  string        `json:"undecided,omitempty"`
}

// Calibration is the JSON document of a calibration.
type Calibration struct {
	Mechanism string `json:"mechanism"`
	*verify.Calibration
}

// AtRho is a mechanism at its largest parameter that is R-zCDP, as enclosed; error and ratio are those at the lower end, which is certified.
type AtRho struct {
	Name      string        `json:"name"`
	Parameter number.Number `json:"parameter"`
	Proof     string        `json:"proof"`
	Error     number.Number `json:"error"`
	Ratio     number.Number `json:"ratio"`
	Attained  any           `json:"attained,omitempty"`
}

// PMF is the JSON document of a pmf.
type PMF struct {
	Mechanism string `json:"mechanism"`
	AtEpsilon
	*mechanisms.Distribution
	Monotonic bool   `json:"monotonic_scores,omitempty"`
	Undecided string `json:"undecided,omitempty"`
}

// Evaluate is the JSON document for one ε.
type Evaluate struct {
	Task    string `json:"task"`
	Bins    int    `json:"bins"`
	Items   *int64 `json:"items,omitempty"`
	Classes int    `json:"different_scores,omitempty"`
	AtEpsilon
	Sensitivity string        `json:"sensitivity"`
	Monotonic   bool          `json:"monotonic_scores,omitempty"`
	TargetError *string       `json:"target_error,omitempty"`
	Unit        string        `json:"unit"` // of errors: items, or units of the scores
	Mechanisms  []Evaluated   `json:"mechanisms"`
	Ratio       number.Number `json:"ratio"` // the exponential mechanism's error over permute-and-flip's
	Undecided   string        `json:"undecided,omitempty"`
}

// Evaluated is a mechanism's row. Numbers that were not asked for are null, or left out.
type Evaluated struct {
	Name          string         `json:"name"`
	ExpectedError number.Number  `json:"expected_error"`
	OneWayError   *number.Number `json:"monotonic_error,omitempty"` // of counts, where neighbors only add items or only remove some
	Ratio         number.Number  `json:"ratio"`                     // over permute-and-flip's error
	EquivalentEps number.Number  `json:"equivalent_eps"`
	TargetEps     *number.Number `json:"target_eps,omitempty"`
}

// Stopping is the JSON document of a stopping job.
type Stopping struct {
	N int    `json:"n"`
	P string `json:"p"`
	L int    `json:"l"`
	AtEpsilon
	Delta      string          `json:"delta"`
	Win        int             `json:"win"`
	Threshold  int             `json:"threshold"`
	Outcome    []number.Number `json:"outcome"`
	Success    number.Number   `json:"success"`
	TightEps   number.Number   `json:"tight_eps"`
	TightDelta *number.Number  `json:"tight_delta"`
	*BestRule
	Undecided string `json:"undecided,omitempty"`
}

// BestRule is what --lp adds.
type BestRule struct {
	Optimum        number.Number      `json:"optimum"`
	PMixBest       PMix               `json:"pmix_best"`              // of the secretary rule
	WinMixBest     *PMix              `json:"win_mix_best,omitempty"` // of the best rule without privacy for --win
	Ratio          number.Number      `json:"ratio"`
	OptimalOutcome []number.Number    `json:"optimal_outcome"`
	Solver         string             `json:"solver"`
	Rounds         int                `json:"rounds"`
	Pivots         int                `json:"pivots"`
	Seconds        float64            `json:"seconds"`
	Rule           []secretary.Moment `json:"rule,omitempty"`
}

type PMix struct {
	P       number.Number `json:"p"`
	Success number.Number `json:"success"`
}

// Optimum is the JSON document of an optimum job.
type Optimum struct {
	Inputs    int `json:"inputs"`
	Outputs   int `json:"outputs"`
	Pairs     int `json:"pairs"`
	Rows      int `json:"rows"`      // of privacy, that were generated
	Orbits    int `json:"orbits"`    // of inputs: classes that a private mechanism may treat alike
	Variables int `json:"variables"` // probabilities, under the same
	AtEpsilon
	Delta       string             `json:"delta"`
	Objective   string             `json:"objective"` // mean or worst
	Optimum     number.Number      `json:"optimum"`
	InputNames  []string           `json:"input_names"`
	OutputNames []string           `json:"output_names"`
	Mechanism   [][]number.Number  `json:"mechanism"` // rows of inputs; it attains the upper end of the optimum, or is the rounded one where that is no known number
	Losses      []number.Number    `json:"losses"`    // of mechanism, at each input
	Rounded     *optimum.Mechanism `json:"rounded"`
	Rated       *optimum.Rating    `json:"rated"`
	Users       *optimum.Users     `json:"users"`
	Proof       string             `json:"proof"`
	Solver      string             `json:"solver"`
	Pivots      int                `json:"pivots"`
	Seconds     float64            `json:"seconds"`
	Undecided   string             `json:"undecided,omitempty"`
}

// Heterogeneous is the JSON document of a heterogeneous job.
type Heterogeneous struct {
	Sensitivities []number.Number `json:"sensitivities"`
	Grid          string          `json:"grid"`
	AtEpsilon
	Objective      string                 `json:"objective"`
	Loss           string                 `json:"loss"`
	ShiftInvariant bool                   `json:"shift_invariant"`
	Vectors        int                    `json:"vectors"`
	Neighbors      int                    `json:"neighbors"`
	Variables      int                    `json:"variables"`
	Rows           int                    `json:"rows"`
	Solver         string                 `json:"solver"`
	Pivots         int                    `json:"pivots"`
	Seconds        float64                `json:"seconds"`
	Optimum        number.Number          `json:"optimum"`
	Mechanisms     []heterogeneous.Rating `json:"mechanisms"`
	Recommended    string                 `json:"recommended,omitempty"`
	Undecided      string                 `json:"undecided,omitempty"`
}

// TopK is the JSON document of a topk job.
type TopK struct {
	N   int `json:"n"`
	K   int `json:"k"`
	Top int `json:"top"`
	AtEpsilon
	*topk.Answer
}

// Threshold is the JSON document of a threshold job.
type Threshold struct {
	N           int           `json:"n"`
	K           int           `json:"k"`
	Objective   string        `json:"objective"`
	Constraints string        `json:"constraints"`
	Step        string        `json:"step"`
	Loss        string        `json:"loss"`
	Prior       string        `json:"prior"`
	Lower       number.Number `json:"lower"`
	Upper       number.Number `json:"upper"`
	LowerExp    number.Number `json:"lower_exp"`
	UpperExp    number.Number `json:"upper_exp"`
	Proof       string        `json:"proof"`
	Undecided   string        `json:"undecided,omitempty"`
}

// Check is the JSON document of a check. A certificate whose check did not end is not valid, and Undecided says why.
type Check struct {
	*certificate.Report
	Undecided string `json:"undecided,omitempty"`
}

// Compose is the JSON document of what several selections cost together. What was asked for, ε in total, δ or the largest ε of a step, is an enclosure of the
// least (the largest) that holds against every adversary of the kind named.
type Compose struct {
	Steps       []ComposeStep  `json:"steps"`
	EpsTotal    number.Number  `json:"eps_total"`
	Delta       number.Number  `json:"delta"`
	Parameter   *number.Number `json:"parameter,omitempty"` // the largest ε of a step; lower is safe
	Adversary   string         `json:"adversary"`
	Attack      *ComposeAttack `json:"attack"`
	Method      string         `json:"method"`
	Block       int            `json:"block"` // selections that are composed with an adversary who adapts; he does not adapt to other blocks
	Generic     *Generic       `json:"generic,omitempty"`
	Mechanisms  []Composed     `json:"mechanisms,omitempty"` // each at its largest ε of a step, the least error first
	N           int            `json:"n,omitempty"`
	K           int            `json:"k,omitempty"`
	Assumptions []string       `json:"assumptions"`
	Seconds     float64        `json:"seconds"`
	Undecided   string         `json:"undecided,omitempty"`
}

// ComposeStep is a selection that is made so many times.
type ComposeStep struct {
	Mechanism string `json:"mechanism"`
	Eps       string `json:"eps,omitempty"`
	Count     int    `json:"count"`
}

// ComposeAttack attains the lower end: adaptive (each query by the answers before), equal (the same at each step: two candidates Apart steps of 2Δ from each
// other, and 1-Apart the other way at the neighbor; the event that the first to trail is selected at most Most times; or the same at all selections of a step,
// Each steps of 2Δ apart, and then an event of the total of all losses), or fixed (nothing is to be chosen).
type ComposeAttack struct {
	Kind  string    `json:"kind"`
	Apart float64   `json:"apart,omitempty"`
	Most  *int      `json:"most,omitempty"`
	Each  []float64 `json:"each,omitempty"`
}

// Generic is what accounting that knows less of the mechanisms proves, in place of the upper end; null where it proves nothing.
type Generic struct {
	Basic number.Number `json:"basic"` // Σ ε
	KOV   number.Number `json:"kov"`   // optimal for ε-DP mechanisms (Kairouz, Oh & Viswanath)
	Range number.Number `json:"range"` // of bounded range (Dong, Durfee & Rogers)
	ZCDP  number.Number `json:"zcdp"`  // tight ρ
}

// Composed is a mechanism at its largest ε of a step. The error is that at the lower end, the mean over Q(n,k) in steps of 2Δ.
type Composed struct {
	Name      string        `json:"name"`
	Parameter number.Number `json:"parameter"`
	Error     number.Number `json:"error"`
}
