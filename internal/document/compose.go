package document

import "optratio/number"

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

// Schema names the form of the JSON document.
func (Compose) Schema() string { return "optratio.compose/1" }

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
