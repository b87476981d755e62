package cli

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/spf13/cobra"

	"optratio/internal/decimal"
	"optratio/lattice"
	"optratio/lp"
	"optratio/lp/linear"
)

// programFlags are the flags of every command that works on the optimal-mechanism program.
type programFlags struct {
	n, k                   int
	objective, constraints string
	solver, gap, maxMemory string
	json                   bool
	timeLimit              time.Duration
}

func (f *programFlags) add(c *cobra.Command, gap string) {
	fs := c.Flags()
	fs.IntVarP(&f.n, "n", "n", 0, "number of candidates, at least 1")
	fs.IntVarP(&f.k, "k", "k", 0, "greatest depth, at least 1")
	fs.StringVar(&f.objective, "objective", "paper", "weights of score vectors: paper or box")
	fs.StringVar(&f.constraints, "constraints", "paper", "paper, dp, monotone or full")
	fs.StringVar(&f.solver, "solver", "auto", "auto, clp or embedded")
	fs.StringVar(&f.gap, "gap", gap, "relative width wanted: (upper-lower)/upper")
	fs.StringVar(&f.maxMemory, "max-memory", "12G", "refuse programs that would need more bytes")
	fs.BoolVar(&f.json, "json", false, "print one JSON document")
	limitVar(fs, &f.timeLimit, "stop after this long with the best certified answer")
}

// program is what programFlags say.
type program struct {
	n, k      int
	objective lattice.Objective
	level     lp.Level
	solver    linear.Solver
	gap       *big.Rat
	maxMemory int64
}

func (f *programFlags) parse() (p program, err error) {
	if f.n < 1 {
		return p, usagef("-n %d: give the number of candidates, at least 1", f.n)
	}
	if f.k < 1 {
		return p, usagef("-k %d: give the greatest depth, at least 1", f.k)
	}
	p.n, p.k = f.n, f.k
	if p.objective, err = lattice.ParseObjective(f.objective); err != nil {
		return p, usagef("--objective: %w", err)
	}
	if p.level, err = lp.ParseLevel(f.constraints); err != nil {
		return p, usagef("--constraints: %w", err)
	}
	if p.solver, err = findSolver(f.solver); err != nil {
		return p, err
	}
	if p.gap, err = decimal.Parse(f.gap); err != nil || p.gap.Sign() < 0 {
		return p, usagef("--gap %s: give a decimal >= 0 such as 1e-9", quoted(f.gap))
	}
	p.maxMemory, err = parseBytes("max-memory", f.maxMemory)
	return p, err
}

// ending turns the reason why an answer is undecided, or "", into the command's end.
func ending(ctx context.Context, undecided string) error {
	switch {
	case undecided == "":
		return nil
	case errors.Is(context.Cause(ctx), errInterrupted):
		return &exit{exitInterrupted, errors.New("interrupted; the answer is the best so far")}
	}
	return &exit{exitUndecided, fmt.Errorf("undecided: %s", undecided)}
}
