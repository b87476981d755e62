package cli

import (
	"cmp"
	"math/big"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/linear"
	"optratio/internal/totals"
	"optratio/lp"
)

// programFlags are the flags of every command that works on the optimal-mechanism program.
type programFlags struct {
	command.Job
	n, k                   int
	objective, constraints string
	solver, gap            string
}

func (f *programFlags) add(c *cobra.Command, gap string) {
	fs := c.Flags()
	command.CountVar(fs, &f.n, "n", "n", 0, "number of candidates, at least 1")
	command.CountVar(fs, &f.k, "k", "k", 0, "greatest depth, at least 1")
	f.addChoices(c, gap)
}

// addChoices adds all flags but n and k.
func (f *programFlags) addChoices(c *cobra.Command, gap string) {
	fs := c.Flags()
	fs.StringVar(&f.objective, "objective", "paper", "weights of score vectors: paper or box")
	fs.StringVar(&f.constraints, "constraints", "paper", "paper, dp, monotone or full")
	fs.StringVar(&f.solver, "solver", "auto", "auto, clp or embedded")
	fs.StringVar(&f.gap, "gap", gap, "relative width wanted: (upper-lower)/upper")
	f.Job.Add(c)
}

// program is what programFlags say.
type program struct {
	n, k      int
	objective totals.Objective
	level     lp.Level
	solver    linear.Solver
	gap       *big.Rat
	maxMemory int64
}

// checkSize checks -n and -k.
func checkSize(n, k int) error {
	if n < 1 {
		return command.Usagef("-n is missing or 0: give the number of candidates, at least 1")
	}
	if k < 1 {
		return command.Usagef("-k is missing or 0: give the greatest depth, at least 1")
	}
	return nil
}

func (f *programFlags) parse() (p program, err error) {
	if err := checkSize(f.n, f.k); err != nil {
		return p, err
	}
	p.n, p.k = f.n, f.k
	var errs [4]error
	p.objective, errs[0] = command.Parsed("objective", f.objective, totals.ParseObjective)
	p.level, errs[1] = command.Parsed("constraints", f.constraints, lp.ParseLevel)
	p.solver, errs[2] = findSolver(f.solver)
	if p.gap, err = decimal.Parse(f.gap); err != nil || p.gap.Sign() < 0 {
		errs[3] = command.Usagef("--gap %s: give a decimal >= 0 such as 1e-9", command.Quoted(f.gap))
	}
	p.maxMemory, err = f.Bytes()
	return p, cmp.Or(append(errs[:], err)...)
}
