package cli

import (
	"fmt"
	"math/big"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"optratio/internal/decimal"
	"optratio/mechanisms"
)

func init() { commands = append(commands, newMechanisms) }

func newMechanisms(s streams) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use:   "mechanisms",
		Short: "The mechanisms by name, with source, privacy claim, and what is known of them",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			docs, err := describeMechanisms()
			if err != nil {
				return &exit{exitUsage, err}
			}
			if json {
				return writeJSON(s.out, docs)
			}
			t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "name\tprivacy claim\tsensitivities\tpmf\tsampler\tsource")
			for _, d := range docs {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", d.Name, d.Claim, choose(d.Uniform, "one", "each"), d.PMF, choose(d.Sampler, "yes", "no"), d.Source)
			}
			return t.Flush()
		},
	}
	c.Flags().BoolVar(&json, "json", false, "print one JSON document")
	return c
}

// mechanismDoc describes a mechanism.
type mechanismDoc struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Source  string `json:"source"`
	Claim   string `json:"claim"`
	Private bool   `json:"private"`
	Uniform bool   `json:"uniform"`
	PMF     string `json:"pmf"` // exact (where e^ε is rational, on the lattice), enclosed or estimate
	Sampler bool   `json:"sampler"`
}

// describeMechanisms tries each mechanism on a small instance to see what form its pmf has.
func describeMechanisms() ([]mechanismDoc, error) {
	eps, err := mechanisms.FromExp(big.NewRat(2, 1))
	if err != nil {
		return nil, err
	}
	var out []mechanismDoc
	for _, name := range mechanisms.Names() {
		m, err := mechanisms.Lookup(name)
		if err != nil {
			return nil, err
		}
		info := m.Info()
		d := mechanismDoc{Name: name, Summary: info.Summary, Source: info.Source, Claim: info.Claim, Private: info.Private, Uniform: info.Uniform, PMF: "estimate"}
		_, d.Sampler = m.(mechanisms.Sampler)
		in := mechanisms.OnLattice([]int{0, 1}, eps)
		if !info.Uniform {
			in.Scores = []*big.Rat{new(big.Rat), big.NewRat(-6, 1)}
			in.Sensitivities = []*big.Rat{big.NewRat(1, 1), big.NewRat(3, 1)}
		}
		_, logarithmic := m.(mechanisms.Logarithmic)
		if _, err := m.Exact(in); err == nil || logarithmic {
			d.PMF = "exact"
		} else if _, err := m.Enclose(in, 64); err == nil {
			d.PMF = "enclosed"
		}
		out = append(out, d)
	}
	return out, nil
}

// findMechanism reads one name.
func findMechanism(name string) (mechanisms.Mechanism, error) {
	m, err := mechanisms.Lookup(name)
	if err != nil {
		return nil, usagef("--mechanism %s: no such mechanism; optratio mechanisms lists them", quoted(name))
	}
	return m, nil
}

func choose(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

// plain writes a rational as a decimal where that is short, as a fraction otherwise.
func plain(r *big.Rat) string {
	if s := decimal.Nearest(r, 12); s != "" {
		if back, err := decimal.Parse(s); err == nil && back.Cmp(r) == 0 {
			return s
		}
	}
	return r.RatString()
}
