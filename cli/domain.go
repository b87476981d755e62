package cli

import (
	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
)

// addDomain adds the flags that say which mechanism is examined, and where.
func addDomain(c *cobra.Command, d *job.Domain, neighbors string) {
	fs := c.Flags()
	fs.StringVar(&d.Mechanism, "mechanism", d.Mechanism, "mechanism, by name")
	command.CountVar(fs, &d.N, "n", "n", 0, "number of candidates, at least 1")
	command.CountVar(fs, &d.K, "k", "k", 0, "greatest depth in steps of 2Δ, at least 1")
	fs.StringVar(&d.Sensitivity, "sensitivity", d.Sensitivity, "sensitivity Δ")
	fs.StringVar(&d.Sensitivities, "sensitivities", "", "with --domain FILE: a sensitivity for each candidate")
	fs.StringVar(&d.Domain, "domain", d.Domain, "lattice, or a file of score vectors, one a line: 0,-1,-2.5 or [0,-1,-2.5]")
	fs.StringVar(&d.Neighbors, "neighbors", d.Neighbors, neighbors)
	addMonotonic(c, &d.Monotonic)
	command.AddParams(c, &d.Params)
}

// units says what the numbers of witnesses are. A smaller witness than was given has some of the candidates.
func units(d *job.Domain) string {
	return scoreUnits(job.Choose(d.Sensitivities != "", "sensitivities out of "+d.Sensitivities, "Δ = "+d.Sensitivity))
}
