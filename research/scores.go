package main

import (
	"math/big"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
	"optratio/number"
)

// scoreFlags are ε and what scores' neighbors are, in coins and worst-case.
type scoreFlags struct {
	command.Job
	epsilon     job.Epsilon
	sensitivity string
	monotonic   bool
}

func (f *scoreFlags) add(c *cobra.Command) {
	fs := c.Flags()
	command.AddFields(c, &f.epsilon, nil)
	fs.StringVar(&f.sensitivity, "sensitivity", "1", "sensitivity Δ of the scores")
	fs.BoolVar(&f.monotonic, "monotonic-scores", false, "neighbors move all scores one way, by at most Δ")
	f.Job.Add(c)
}

// parse returns ε, and the sensitivity with which mechanisms run: half of it for monotonic scores, where they have Δ for 2Δ.
func (f *scoreFlags) parse() (eps number.Epsilon, sensitivity *big.Rat, err error) {
	if eps, err = f.epsilon.Parse(); err != nil {
		return eps, nil, err
	}
	if sensitivity, err = job.Positive("sensitivity", f.sensitivity); err == nil && f.monotonic {
		sensitivity.Quo(sensitivity, big.NewRat(2, 1))
	}
	return eps, sensitivity, err
}
