package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"runtime"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/number"
	"optratio/research/check"
	"optratio/research/constant"
	"optratio/verify/certificate"
)

type constantFlags struct {
	command.Job
	bound, from, to, out string
	k, jobs              int
}

func newConstant(s command.Streams) *cobra.Command {
	f := constantFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "constant --to EPS -o FILE",
		Short: "A proved bound on permute-and-flip's ratio for every n, every k from one on, and every ε from one on",
		Long: `Dual points in cells of e^-ε and ranges of k that prove the bound at level paper: for every number of candidates n, every k from -k on, and
every ε from --to to --from. FILE is their certificate, which research check accepts. What was finished when a limit ends the run is in
FILE too, and another run can take up from there with --from: each certificate holds for itself.`,
		Example: "  research constant --to 0.143 -o constant.cert\n  research constant --bound 1.07 --to 0.222 -o constant.cert",
		Args:    command.NoArgs,
		RunE:    f.Limited(f.run),
	}
	fs := c.Flags()
	fs.StringVar(&f.bound, "bound", "1.1", "bound to be proved, more than 1")
	fs.StringVar(&f.from, "from", "", "greatest ε; where it is left out all greater ones are proved too")
	fs.StringVar(&f.to, "to", "", "least ε")
	command.CountVar(fs, &f.k, "k", "k", 10, "least k; research map bounds the ratio for smaller ones")
	fs.StringVarP(&f.out, "output", "o", "", "file for the certificate")
	command.CountVar(fs, &f.jobs, "jobs", "", 0, "cells at a time (default: all cores)")
	f.Job.Add(c)
	return c
}

// constantDoc is the JSON document of a bound.
type constantDoc struct {
	Bound number.Number `json:"bound"`
	K     int           `json:"k"`
	First string        `json:"first"` // the least and the largest z
	Last  string        `json:"last"`
	Cells int           `json:"cells"`
	File  string        `json:"file"`
}

// Schema names the form of the JSON document.
func (constantDoc) Schema() string { return "optratio.constant/1" }

// leastConstant is the least ε that is taken.
const leastConstant = 0.01

func (f *constantFlags) plan() (p *constant.Plan, err error) {
	p = &constant.Plan{From: f.k, First: constant.Grid / 2, Jobs: cmp.Or(f.jobs, runtime.GOMAXPROCS(0))}
	if p.Bound, err = decimal.Parse(f.bound); err != nil || p.Bound.Cmp(big.NewRat(1001, 1000)) < 0 {
		return nil, command.Usagef("--bound %s: give a decimal of at least 1.001 such as 1.1", escape.Quoted(f.bound))
	}
	if f.k < 5 {
		return nil, command.Usagef("-k %d: give at least 5", f.k)
	}
	place := func(name, text string, up bool) (int, error) {
		x, err := decimal.Parse(text)
		if err != nil || x.Cmp(new(big.Rat).SetFloat64(leastConstant)) < 0 {
			return 0, command.Usagef("--%s %s: give an ε of at least %g such as 0.2", name, escape.Quoted(text), leastConstant)
		}
		eps, _ := x.Float64()
		z := constant.Grid * math.Exp(-eps)
		if up {
			return int(math.Ceil(z)), nil
		}
		return max(constant.Grid/2, int(z)), nil
	}
	if p.Last, err = place("to", f.to, true); err != nil {
		return nil, err
	}
	if f.from != "" {
		if p.First, err = place("from", f.from, false); err != nil {
			return nil, err
		}
	}
	if p.First >= p.Last {
		return nil, command.Usagef("--to %s: the ratio is 1 from e^ε = 2 on; give an ε below 0.69 and --from", escape.Quoted(f.to))
	}
	most, err := f.Bytes()
	p.Check = func(ctx context.Context, text []byte) error {
		r, err := check.Check(bytes.NewReader(text), certificate.Options{Context: ctx, MaxMemory: most, MaxSteps: cellSteps})
		if err == nil && !r.Valid {
			err = errors.New(r.Reason)
		}
		return err
	}
	return p, err
}

// cellSteps are about a minute.
const cellSteps = 1 << 34

func (f *constantFlags) run(ctx context.Context) error {
	p, err := f.plan()
	if err != nil {
		return err
	}
	file, done, err := start(f.Streams, f.out, &p.Report)
	if err != nil {
		return err
	}
	c, err := p.Prove(ctx)
	done()
	if len(c.Cells) == 0 {
		return command.Ending(ctx, err.Error())
	}
	if failure := file.Commit(ctx, c.WriteCertificate); failure != nil {
		return failure
	}
	last := c.Cells[len(c.Cells)-1].High
	doc := constantDoc{number.Exact(c.Bound), c.From, c.Cells[0].Low.RatString(), last.RatString(), len(c.Cells), f.out}
	f.Show(doc, func(w io.Writer) {
		z, _ := last.Float64()
		command.Say(w, "%s: z = e^-ε from %s to %s, cells: %d, each accepted by the checker", f.out, doc.First, doc.Last, doc.Cells)
		fmt.Fprintf(w, "permute-and-flip's ratio is at most %s for every n, every k >= %d and these ε, down to %.4f\n", f.bound, c.From, math.Ceil(-1e4*math.Log(z))/1e4)
	})
	if err != nil {
		return command.Ending(ctx, err.Error())
	}
	return nil
}
