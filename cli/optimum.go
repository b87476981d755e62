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
	var presets []string
	for _, p := range optimum.Presets() {
		presets = append(presets, fmt.Sprintf("  %-15s %s", p[0], p[1]))
	}
	a := &optimumFiles{Optimum: q}
	a.asking = asking{
		question: q, certifies: true, draws: true, prepare: func() { q.Rounded = a.optimal != "" },
		mechanism: func(found *job.Answer, lines bool) func(io.Writer) error {
			switch rounded := found.Documents[0].(*document.Optimum).Rounded; {
			case rounded == nil:
				return nil
			case lines:
				return rounded.WriteJSONL
			default:
				return rounded.WriteCSV
			}
		},
	}
	c := a.command(s, &cobra.Command{
		Use:   "optimum FILE (--eps E | --exp-eps A/B)",
		Short: "The best private mechanism of any finite problem, and how far yours is from it",
		Long: `The least loss that any ε-DP or (ε,δ)-DP mechanism of a finite problem can have, and a mechanism that has it. FILE
is one JSON document:

  {"inputs":["0","1","2"], "outputs":["0","1","2"],
   "pairs":[["0","1"],["1","2","3/2"]],
   "loss":[["0","1","2"],["1","0","1"],["2","1","0"]],
   "prior":["1/4","1/2","1/4"], "forbidden":[["0","2"]]}

Inputs of a pair are neighbors, at a distance (1 where none is given): the pair is bound by the distance times ε, in
both directions. With "directed":true it is bound in one alone: Pr[first in S] <= e^(dε) Pr[second in S] + δ. loss
has a row of values for each input, or is "abs", "square" or "zero-one" of the names. prior is a number for each
input, which sum to 1, "uniform", or "worst" for the largest loss of any input. Numbers are rationals or decimals in
strings, or JSON numbers, taken exactly.

The same as CSV: --pairs with the columns x,y[,d], --loss with x,o,value, --prior with x,p. Beside FILE or a preset
they take the place of what these say. Names are compared letter by letter: in a CSV file a blank after a comma
belongs to the name. Presets:

` + strings.Join(presets, "\n"),
		Example: `  optratio optimum --preset count:3 --exp-eps 2
  optratio optimum problem.json --eps 1 --delta 1e-6 --rate mine.csv --json
  optratio optimum --preset grid:5x5 --loss zero-one --prior worst --eps 0.5 --optimal best.csv
  optratio optimum --preset partition:20 -o problem.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return command.Usagef("optimum takes one file of a problem, got %d arguments", len(args))
			}
			return nil
		},
	})
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
