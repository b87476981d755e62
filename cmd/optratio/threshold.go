package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"optratio/internal/number"
	"optratio/lattice"
	"optratio/lp"
)

func init() { commands = append(commands, newThreshold) }

type thresholdFlags struct {
	n, k                                 int
	objective, constraints               string
	method, solver, gap, maxMemory, cert string
	json                                 bool
	timeLimit                            time.Duration
}

func newThreshold(s streams) *cobra.Command {
	var f thresholdFlags
	c := &cobra.Command{
		Use:   "threshold -n N -k K",
		Short: "From which ε on permute-and-flip is the optimal mechanism on the lattice",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return f.run(c.Context(), s) },
	}
	fs := c.Flags()
	fs.IntVarP(&f.n, "n", "n", 0, "number of candidates, at least 1")
	fs.IntVarP(&f.k, "k", "k", 0, "greatest depth, at least 1")
	fs.StringVar(&f.objective, "objective", "paper", "weights of score vectors: paper or box")
	fs.StringVar(&f.constraints, "constraints", "paper", "paper, dp, monotone or full")
	fs.StringVar(&f.method, "method", "auto", "auto (by theorem) or lp (by exact optima at either end)")
	fs.StringVar(&f.solver, "solver", "auto", "auto, clp or embedded")
	fs.StringVar(&f.gap, "gap", "1e-6", "(upper-lower)/upper wanted")
	fs.StringVar(&f.maxMemory, "max-memory", "12G", "refuse programs that would need more bytes")
	fs.StringVar(&f.cert, "cert", "", "with --method lp: write certificates to this name with .lower and .upper added")
	fs.BoolVar(&f.json, "json", false, "print one JSON document")
	fs.DurationVar(&f.timeLimit, "time-limit", 0, "stop after this long with the bracket so far")
	return c
}

type thresholdDoc struct {
	N           int           `json:"n"`
	K           int           `json:"k"`
	Objective   string        `json:"objective"`
	Constraints string        `json:"constraints"`
	Lower       number.Number `json:"lower"`
	Upper       number.Number `json:"upper"`
	LowerExp    number.Number `json:"lower_exp"`
	UpperExp    number.Number `json:"upper_exp"`
	Proof       string        `json:"proof"`
	Undecided   string        `json:"undecided,omitempty"`
}

func (f *thresholdFlags) request() (lp.ThresholdRequest, error) {
	r := lp.ThresholdRequest{N: f.n, K: f.k}
	var err error
	if f.n < 1 {
		return r, usagef("-n %d: give the number of candidates, at least 1", f.n)
	}
	if f.k < 1 {
		return r, usagef("-k %d: give the greatest depth, at least 1", f.k)
	}
	if r.Objective, err = lattice.ParseObjective(f.objective); err != nil {
		return r, usagef("--objective: %w", err)
	}
	if r.Level, err = lp.ParseLevel(f.constraints); err != nil {
		return r, usagef("--constraints: %w", err)
	}
	switch f.method {
	case "auto", "closed-form":
	case "lp":
		r.ByLP = true
	default:
		return r, usagef("--method %s: give auto or lp", quoted(f.method))
	}
	if f.cert != "" && !r.ByLP {
		return r, usagef("--cert: certificates come with --method lp")
	}
	if r.Solver, err = findSolver(f.solver); err != nil {
		return r, err
	}
	if r.Gap, err = parsePositive("gap", f.gap); err != nil {
		return r, err
	}
	r.MaxMemory, err = parseBytes("max-memory", f.maxMemory)
	return r, err
}

func (f *thresholdFlags) run(ctx context.Context, s streams) error {
	r, err := f.request()
	if err != nil {
		return err
	}
	var files []*outputFile
	if f.cert != "" {
		for _, end := range []string{".lower", ".upper"} {
			file, err := createOutput("--cert", f.cert+end)
			if err != nil {
				return err
			}
			defer file.discard()
			files = append(files, file)
		}
	}
	limited, cancel := withLimit(ctx, f.timeLimit)
	defer cancel()
	a, err := lp.Threshold(limited, r)
	if err != nil {
		return &exit{exitUsage, err}
	}
	for i, end := range []*lp.Answer{a.Below, a.Above} {
		if files != nil && end != nil {
			if err := files[i].commit(end.WriteCertificate); err != nil {
				return &exit{exitUsage, fmt.Errorf("--cert: %w", err)}
			}
		}
	}
	doc := thresholdDoc{
		N: f.n, K: f.k, Objective: f.objective, Constraints: f.constraints, Lower: a.Lower, Upper: a.Upper,
		LowerExp: number.Exact(a.LowerExp), UpperExp: number.Exact(a.UpperExp), Proof: a.Proof, Undecided: a.Undecided,
	}
	if f.json {
		err = writeJSON(s.out, doc)
	} else if a.Upper.Float64() == 0 {
		_, err = fmt.Fprintf(s.out, "n = %d, k = %d: permute-and-flip is optimal at every ε\n", f.n, f.k)
	} else {
		_, err = fmt.Fprintf(s.out, "n = %d, k = %d, objective %s, constraints %s; proof: %s\n"+
			"permute-and-flip is not optimal at ε = %s (e^ε = %s)\nand optimal at ε = %s (e^ε = %s)\n",
			f.n, f.k, f.objective, f.constraints, a.Proof, a.Lower, a.LowerExp.RatString(), a.Upper, a.UpperExp.RatString())
	}
	if err != nil {
		return &exit{exitUsage, err}
	}
	switch {
	case a.Undecided == "":
		return nil
	case errors.Is(context.Cause(ctx), errInterrupted):
		return &exit{exitInterrupted, errors.New("interrupted; the bracket is the one so far")}
	}
	return &exit{exitUndecided, fmt.Errorf("undecided: %s", a.Undecided)}
}
