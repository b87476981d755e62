package document

import (
	"math/big"

	"optratio/internal/arith"
	"optratio/mechanisms"
	"optratio/number"
)

// Mechanism is what the registry says about a mechanism. PMF says in which form its probabilities are known: "exact" where
// e^ε is rational and scores are on the lattice, "enclosed", or "estimate".
type Mechanism struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Source  string `json:"source"`
	Claim   string `json:"claim"`
	Private bool   `json:"private"`
	Uniform bool   `json:"uniform"` // for one sensitivity of all candidates
	PMF     string `json:"pmf"`
	Sampler bool   `json:"sampler"`
}

// Schema names the form of the JSON document.
func (Mechanism) Schema() string { return "optratio.mechanism/1" }

// Describe tries the mechanism on a small instance to see in which form it has its probabilities.
func Describe(m mechanisms.Mechanism) (Mechanism, error) {
	info := m.Info()
	d := Mechanism{
		Name: info.Name, Summary: info.Summary, Source: info.Source, Claim: info.Claim, Private: info.Private, Uniform: info.Uniform,
		PMF: "estimate",
	}
	eps, err := number.FromExp(big.NewRat(2, 1))
	if err != nil {
		return d, err
	}
	in := mechanisms.OnLattice([]int{0, 1}, eps)
	if !info.Uniform {
		in.Scores = []*big.Rat{new(big.Rat), big.NewRat(-6, 1)}
		in.Sensitivities = []*big.Rat{big.NewRat(1, 1), big.NewRat(3, 1)}
	}
	_, err = mechanisms.Draws(m, in, nil)
	d.Sampler = err == nil
	_, logarithmic := m.(interface {
		LogExact(in *mechanisms.Instance) ([]arith.LogRat, error)
	})
	if _, err := m.Exact(in); err == nil || logarithmic {
		d.PMF = "exact"
	} else if _, err := m.Enclose(in, 64); err == nil {
		d.PMF = "enclosed"
	}
	return d, nil
}
