package document

import (
	"context"
	"math/big"

	"optratio/internal/arith"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Mechanism is what the registry says about a mechanism. PMF says in which form its probabilities are known: "exact" where
// e^ε is rational and scores are on the lattice, "enclosed", or "estimate".
type Mechanism struct {
	Name      string         `json:"name"`
	Alias     string         `json:"alias,omitempty"` // that people know it by
	Summary   string         `json:"summary"`
	Source    string         `json:"source"`
	Claim     string         `json:"claim"`
	Private   bool           `json:"private"`
	Tight     bool           `json:"tight"`   // the ε of the claim is proved to be the least for all real scores
	Rho       *number.Number `json:"rho"`     // of zCDP at ε = 1, for all real scores of candidates with one sensitivity; null where no theorem knows it
	Uniform   bool           `json:"uniform"` // for one sensitivity of all candidates
	Symmetric bool           `json:"symmetric"`
	Shifts    bool           `json:"shift_invariant"`
	Monotonic bool           `json:"monotonic_scores"` // for these it runs at half the sensitivity
	PMF       string         `json:"pmf"`
	Sampler   bool           `json:"sampler"`
}

// Describe tries the mechanism on a small instance to see in which form it has its probabilities.
func Describe(m mechanisms.Mechanism) Mechanism {
	info := m.Info()
	d := Mechanism{
		Name: info.Name, Alias: mechanisms.Alias(info.Name), Summary: info.Summary, Source: info.Source, Claim: info.Claim, Private: info.Private, Uniform: info.Uniform,
		Symmetric: info.Symmetric, Shifts: info.ShiftInvariant, PMF: "estimate",
	}
	eps, _ := number.FromExp(big.NewRat(2, 1)) // which is right, as 1 is
	unit, _ := number.FromEpsilon(big.NewRat(1, 1))
	in := mechanisms.OnLattice([]int{0, 1}, eps)
	if !info.Uniform {
		in.Scores = []*big.Rat{new(big.Rat), big.NewRat(-6, 1)}
		in.Sensitivities = []*big.Rat{big.NewRat(1, 1), big.NewRat(3, 1)}
	}
	if rho, ok := mechanisms.Concentration(m, unit, 64); ok {
		d.Rho = new(number.Enclosed(rho))
	}
	_, err := mechanisms.MonotonicSensitivities(m, in.Sensitivities[:1])
	d.Monotonic = err == nil
	// What theorems know is there before the search, which is ended before it begins.
	ended, end := context.WithCancel(context.Background())
	end()
	known, err := verify.Calibrate(ended, verify.Claim{Mechanism: m, Epsilon: unit, Sensitivities: in.Sensitivities[:1]}, 2, 1, verify.Options{})
	d.Tight = err == nil && known.AllScores.IsValid()
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
	return d
}
