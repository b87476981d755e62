package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/internal/optimum"
	"optratio/number"
)

// optimumFiles is the command, which may write the problem and the mechanism to files too.
type optimumFiles struct {
	asking
	*job.Optimum
	output, optimal string
	table           *command.OutputFile
}

func newOptimum(s command.Streams) *cobra.Command {
	q := job.NewOptimum()
	var presets []string
	for _, p := range optimum.Presets() {
		presets = append(presets, fmt.Sprintf("  %-15s %s", p[0], p[1]))
	}
	a := &optimumFiles{Optimum: q}
	a.asking = asking{
		question: q, certifies: withCert, draws: true, begin: a.createTable, end: a.writeTable,
		print: one(func(w io.Writer, d *document.Optimum) { printOptimum(w, q, d, a.optimal) }),
		help: map[string]string{
			"pmf-exec": `compare this program with the optimum: it is sent {"input":NAME,"epsilon":E,"sensitivity":1} and states probabilities as for optratio audit --inputs, {"pmf":{"a":0.5,"b":"1/2"}}`,
			"pmf-file": `compare this table with the optimum: a line {"input":NAME,"pmf":{"a":0.5,"b":"1/2"}} for each input`,
		},
	}
	c := a.command(s, &cobra.Command{
		Use:   "optimum FILE (--eps E | --exp-eps A/B)",
		Short: "The best private mechanism of any finite problem, and how far a table of yours is from it",
		Long: `The least loss that any ε-DP or (ε,δ)-DP mechanism of a finite problem can have, and a mechanism that has it. FILE is one JSON document:

  {"inputs":["0","1","2"], "outputs":["0","1","2"],
   "pairs":[["0","1"],["1","2","3/2"]],
   "loss":[["0","1","2"],["1","0","1"],["2","1","0"]],
   "prior":["1/4","1/2","1/4"], "forbidden":[["0","2"]]}

Inputs of a pair are neighbors, at a distance (1 where none is given): the pair is bound by the distance times ε, in both directions
unless "directed":true, which says Pr[first in S] <= e^(dε) Pr[second in S] + δ alone. loss is a row of values for each input, or "abs", "square", "zero-one" by
the names; prior is a number for each input, which sum to 1, "uniform", or "worst" for the largest loss of any input. Numbers are rationals or decimals in strings, or JSON
numbers, taken exactly. The same as CSV: --pairs with the columns x,y[,d], --loss with x,o,value, --prior with x,p; beside FILE or a
preset, they take the place of what these say. Names are compared letter by letter: in a CSV file a blank after a comma belongs to the name. Presets:

` + strings.Join(presets, "\n"),
		Example: `  optratio optimum --preset count:3 --exp-eps 2
  optratio optimum problem.json --eps 1 --delta 1e-6 --rate mine.csv --json
  optratio optimum --preset grid:5x5 --loss zero-one --worst --eps 0.5 --optimal best.csv
  optratio optimum --preset partition:20 -o problem.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return command.Usagef("optimum takes one file of a problem, got %d arguments", len(args))
			}
			return nil
		},
	})
	c.RunE = a.run
	c.Flags().StringVarP(&a.output, "output", "o", "", "write the problem to this file, as FILE; without --eps or --exp-eps nothing else is done")
	c.Flags().StringVar(&a.optimal, "optimal", "", "write the optimal mechanism to this CSV file, or for audit to one that ends in .jsonl, rounded so that it is private as it is written")
	return c
}

func (a *optimumFiles) run(c *cobra.Command, args []string) error {
	a.File, a.Rounded = strings.Join(args, ""), a.optimal != ""
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

func (a *optimumFiles) createTable() (err error) {
	if a.optimal != "" {
		a.table, err = command.CreateOutput("--optimal", a.optimal)
	}
	return err
}

func (a *optimumFiles) writeTable(ctx context.Context, found *job.Answer) error {
	rounded := found.Documents[0].(*document.Optimum).Rounded
	if rounded == nil {
		return nil
	}
	write := rounded.WriteCSV
	if strings.HasSuffix(a.optimal, ".jsonl") {
		write = rounded.WriteJSONL
	}
	return a.table.Commit(ctx, write)
}

// mostShown is how many rows and columns a table for people has.
const mostShown = 12

// printOptimum writes the answer for people.
func printOptimum(w io.Writer, q *job.Optimum, d *document.Optimum, file string) {
	private := q.Epsilon.String()
	if d.Delta != "0" {
		private += ", δ = " + d.Delta
	}
	fmt.Fprintf(w, "%d inputs, %d outputs, %d pairs of neighbors, %s\n", d.Inputs, d.Outputs, d.Pairs, private)
	if d.Variables > 0 {
		fmt.Fprintf(w, "%d orbits of inputs, %d variables, %d rows; proof: linear program\n", d.Orbits, d.Variables, d.Rows)
	}
	fmt.Fprintf(w, "optimum: %s (%s)\n", command.Fraction(d.Optimum), job.Choose(d.Objective == "worst", "largest loss of any input", "mean loss"))
	show := number.Number.String
	if _, exact := d.Optimum.Rat(); exact {
		show = command.Fraction
	}
	if len(d.Mechanism) > 0 && d.Inputs <= mostShown && d.Outputs <= mostShown {
		fmt.Fprintln(w)
		t := command.Table(w, 3)
		fmt.Fprint(t, "input")
		for _, name := range d.OutputNames {
			fmt.Fprint(t, "\t"+escape.Line(name))
		}
		fmt.Fprintln(t)
		for x, row := range d.Mechanism {
			fmt.Fprint(t, escape.Line(d.InputNames[x]))
			for _, p := range row {
				fmt.Fprintf(t, "\t%s", show(p))
			}
			fmt.Fprintln(t)
		}
		t.Flush()
	}
	if r := d.Rated; r != nil {
		printRating(w, r, q.Rated())
	}
	if u := d.Users; u != nil {
		fmt.Fprintln(w)
		for i, x := range u.Optima {
			fmt.Fprintf(w, "user %d alone: %s\n", i, command.Fraction(x))
		}
		fmt.Fprintf(w, "one mechanism for all: %s in all\n", command.Fraction(u.Joint))
		if u.BestCommonRatio.IsValid() {
			fmt.Fprintf(w, "best common ratio: %s of what each could have alone\n", command.Fraction(u.BestCommonRatio))
		}
	}
	if d.Rounded != nil && file != "" {
		fmt.Fprintln(w)
		command.Say(w, "%s: multiples of 2^-%d, private as they are written; loss given up: %s", file, d.Rounded.Bits, d.Rounded.GivenUp)
	}
	for i, drawn := range d.Drawn {
		if i == 0 {
			fmt.Fprintln(w)
		}
		command.Say(w, "drawn at %s: %s", drawn.Input, drawn.Output)
	}
}

func printRating(w io.Writer, r *optimum.Rating, what string) {
	fmt.Fprintln(w)
	if r.Finding != "" {
		command.Say(w, "%s states no probabilities", what)
		return
	}
	command.Say(w, "%s is private at ε = %s; as asked: %s", what, r.TightEps, r.DP)
	if v := r.Witness; v != nil {
		command.Say(w, "%s at %s, and %s at %s: outputs %s", command.Fraction(v.P), v.Input, command.Fraction(v.PNeighbor), v.Neighbor, strings.Join(v.Outputs, ", "))
	}
	if r.Scaled {
		fmt.Fprintln(w, "its rows sum to 1 nearly, and were divided by their sums")
	}
	if r.Value.IsValid() {
		fmt.Fprintf(w, "loss: %s, ratio to the optimum %s\n", command.Fraction(r.Value), r.Ratio)
	} else {
		fmt.Fprintln(w, "it has outputs that the problem has not, and a loss after a remap alone")
	}
	if r.Remapped.IsValid() {
		fmt.Fprintf(w, "loss after the best remap: %s, ratio %s\n", command.Fraction(r.Remapped), r.RatioRemap)
		for _, m := range r.Remap {
			if m.Output != m.To {
				command.Say(w, "  %s becomes %s with probability %s", m.Output, m.To, command.Fraction(m.Probability))
			}
		}
	} else {
		fmt.Fprintln(w, "no remap keeps to the outputs that are allowed")
	}
}
