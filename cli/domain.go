package cli

import (
	"context"
	"math/big"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
	"optratio/verify"
)

// domainFlags say which mechanism is examined, and where: on the lattice, or on score vectors of the user and their neighbors.
type domainFlags struct {
	n, k                                  int
	mechanism, sensitivity, sensitivities string
	domain, neighbors                     string
	params                                job.Params
}

func (f *domainFlags) add(c *cobra.Command, mechanism, neighbors string) {
	fs := c.Flags()
	fs.StringVar(&f.mechanism, "mechanism", mechanism, "mechanism, by name")
	command.CountVar(fs, &f.n, "n", "n", 0, "number of candidates, at least 1")
	command.CountVar(fs, &f.k, "k", "k", 0, "greatest depth in steps of 2Δ, at least 1")
	fs.StringVar(&f.sensitivity, "sensitivity", "1", "sensitivity Δ")
	fs.StringVar(&f.sensitivities, "sensitivities", "", "with --domain FILE: a sensitivity for each candidate")
	fs.StringVar(&f.domain, "domain", "lattice", "lattice, or a file of score vectors, one a line: 0,-1,-2.5 or [0,-1,-2.5]")
	fs.StringVar(&f.neighbors, "neighbors", "linf", neighbors)
	command.AddParams(c, &f.params)
}

// claim returns the mechanism with its parameters and one sensitivity for all candidates.
func (f *domainFlags) claim() (c verify.Claim, err error) {
	if c.Mechanism, err = job.FindMechanism("mechanism", f.mechanism); err != nil {
		return c, err
	}
	if c.Mechanism, err = f.params.OnLattice(c.Mechanism, 0); err != nil {
		return c, err
	}
	if c.Params, err = f.params.Values(); err != nil {
		return c, err
	}
	delta, err := job.ParsePositive("sensitivity", f.sensitivity)
	c.Sensitivities = []*big.Rat{delta}
	return c, err
}

// units says what the numbers of witnesses are. A smaller witness than was given has some of the candidates.
func (f *domainFlags) units() string {
	if f.sensitivities != "" {
		return scoreUnits("sensitivities out of " + f.sensitivities)
	}
	return scoreUnits("Δ = " + f.sensitivity)
}

// vectors reads --domain FILE and what goes with it.
func (f *domainFlags) vectors(ctx context.Context, c *verify.Claim) (vectors [][]*big.Rat, model verify.Neighborhood, err error) {
	if vectors, err = readVectors(ctx, f.domain, "lattice"); err != nil {
		return nil, model, err
	}
	if model, err = verify.ParseNeighborhood(f.neighbors); err != nil {
		return nil, model, command.Usagef("--neighbors: %w", err)
	}
	if f.sensitivities != "" {
		c.Sensitivities, err = parseNumbers(ctx, "sensitivities", f.sensitivities, "")
	}
	return vectors, model, err
}
