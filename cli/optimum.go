package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/internal/optimum"
)

// optimumFiles is the command, which may write the problem and the mechanism to files too.
type optimumFiles struct {
	asking
	*job.Optimum
	output string
}

func newOptimum(s command.Streams) *cobra.Command {
	q := job.New[job.Optimum]()
	a := &optimumFiles{Optimum: q}
	a.asking = asking{
		question: q, certifies: true, draws: true, prepare: func() { q.Rounded = a.path("optimal") != "" },
		outputs: []*output{{
			flag: "optimal", usage: "write an optimal mechanism to this file: CSV, or lines for audit --pmf-file if its name ends in .jsonl",
			write: func(found *job.Answer) func(io.Writer) error {
				switch rounded := found.Documents[0].(*document.Optimum).Rounded; {
				case rounded == nil:
					return nil
				case strings.HasSuffix(a.path("optimal"), ".jsonl"):
					return rounded.WriteJSONL
				default:
					return rounded.WriteCSV
				}
			},
		}},
	}
	c := described("optimum")
	c.Long += "\n"
	for _, p := range optimum.Presets() {
		c.Long += fmt.Sprintf("\n  %-15s %s", p[0], p[1])
	}
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return command.Usagef("optimum takes one file of a problem, got %d arguments", len(args))
		}
		return nil
	}
	a.command(s, c)
	c.RunE = a.run
	c.Flags().StringVarP(&a.output, "output", "o", "", "write the problem to this file, in the form of FILE; without --eps or --exp-eps do nothing else")
	return c
}

func (a *optimumFiles) run(c *cobra.Command, args []string) error {
	a.File = strings.Join(args, "")
	if a.output != "" {
		if err := a.Limited(a.writeProblem)(c, args); err != nil || a.Epsilon == (job.Epsilon{}) {
			return err
		}
	}
	return a.asking.run(c, args)
}

func (a *optimumFiles) writeProblem(ctx context.Context) error {
	h, err := a.host(nil)
	if err != nil {
		return err
	}
	p, err := a.Problem(ctx, h)
	if err != nil {
		return err
	}
	file, err := command.CreateOutput("--output", a.output)
	if err != nil {
		return err
	}
	return file.Commit(ctx, p.WriteJSON)
}
