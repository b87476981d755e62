package command

import (
	"math/big"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/decimal"
	"optratio/internal/totals"
	"optratio/lp"
	"optratio/mechanisms"
)

// ParamFlags are the parameters of mechanisms that have any.
type ParamFlags struct {
	gamma, beta, eta, epsChoice string
	constraints                 string
}

func (f *ParamFlags) Add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.gamma, "gamma", "", "rs, rs-log, rs-tnb: success parameter γ of the number of draws (default 0.05)")
	fs.StringVar(&f.beta, "beta", "", "gem, mgem, combined-gem: failure probability β (default 0.05)")
	fs.StringVar(&f.eta, "eta", "", "rs-tnb: shape η of the number of draws (default 1)")
	fs.StringVar(&f.epsChoice, "eps-choice", "", "combined-gem: share of ε for the choice (default 0.6)")
	fs.StringVar(&f.constraints, "constraints", "", "lp-optimal: paper, dp, monotone or full (default paper)")
}

func (f *ParamFlags) Parse() (mechanisms.Params, error) {
	var p mechanisms.Params
	for _, q := range []struct {
		name, text string
		to         **big.Rat
	}{
		{"gamma", f.gamma, &p.Gamma}, {"beta", f.beta, &p.Beta}, {"eta", f.eta, &p.Eta}, {"eps-choice", f.epsChoice, &p.EpsChoice},
	} {
		if q.text != "" {
			var err error
			if *q.to, err = decimal.ParseNumber(q.text); err != nil {
				return p, Usagef("--%s: %w; give a decimal", q.name, err)
			}
		}
	}
	return p, nil
}

// OnLattice returns the mechanism with --constraints and, unless it is 0, the depth k of the lattice.
func (f *ParamFlags) OnLattice(m mechanisms.Mechanism, k int) (mechanisms.Mechanism, error) {
	level := lp.Paper
	if f.constraints != "" {
		var err error
		if level, err = Parsed("constraints", f.constraints, lp.ParseLevel); err != nil {
			return nil, err
		}
	}
	return lp.OnLattice(m, k, totals.Paper, level), nil
}

// FindMechanism reads one name, of the given flag.
func FindMechanism(flag, name string) (mechanisms.Mechanism, error) {
	return find(flag, name, mechanisms.Lookup)
}

func find(flag, name string, lookup func(string) (mechanisms.Mechanism, error)) (mechanisms.Mechanism, error) {
	m, err := lookup(strings.TrimSpace(name))
	if err != nil {
		return nil, Usagef("--%s %s: no such mechanism; give one that optratio mechanisms lists%s", flag, Quoted(name), DidYouMean(strings.TrimSpace(name), mechanisms.Names()))
	}
	return m, nil
}

// FewerNames returns the names that mechanisms.LookupFewer knows in NAME:M.
func FewerNames() []string {
	return slices.DeleteFunc(mechanisms.Names(), func(name string) bool {
		_, err := mechanisms.LookupFewer(name + ":1")
		return err != nil
	})
}

// FindMechanisms reads the comma-separated list of names of --mechanism: with mechanisms.Lookup, or with mechanisms.LookupFewer where each score vector is
// asked for itself.
func FindMechanisms(list string, lookup func(string) (mechanisms.Mechanism, error)) ([]mechanisms.Mechanism, error) {
	var found []mechanisms.Mechanism
	seen := map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		m, err := find("mechanism", name, lookup)
		if _, fewer := lookup(FewerNames()[0] + ":1"); err != nil && fewer == nil && strings.Contains(name, ":") {
			err = Usagef("--mechanism %s: give NAME:M with M from 1 on and one of these names: %s", Quoted(name), strings.Join(FewerNames(), ", "))
		}
		if err != nil {
			return nil, err
		}
		if own := m.Info().Name; !seen[own] {
			found, seen[own] = append(found, m), true
		}
	}
	return found, nil
}
