package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/research/claims"
)

type claimsFlags struct {
	command.Job
	source, item, output string
}

func newClaims(s command.Streams) *cobra.Command {
	f := claimsFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "claims",
		Short: "The ledger: what the sources state, and what a computation says of each statement",
		Long: `Every statement of the sources that a computation can settle, with a verdict that is computed
anew, the domain it was computed on, and a witness where it is refuted.
Sources: pf (McKenna & Sheldon 2020 and supplement), het (Antonova et al.), stopping (Grining et al.,
two versions). The whole ledger takes a few minutes. When a limit ends it, what was not reached is
"undecided".`,
		Example: `  research claims --source pf
  research claims --source pf --item 'theorem 2' --json
  research claims -o claims.md`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	c.Flags().StringVar(&f.source, "source", "", "pf, het or stopping; all of them where it is not given")
	c.Flags().StringVar(&f.item, "item", "", "only entries whose item contains this text")
	c.Flags().StringVarP(&f.output, "output", "o", "", "also write statements, verdicts and notes to this Markdown file")
	f.Job.Add(c)
	return c
}

func (f *claimsFlags) run(ctx context.Context) error {
	if f.source != "" && !slices.Contains(claims.Sources, claims.Source(f.source)) {
		return command.Usagef("--source %s: give one of %v", escape.Quoted(f.source), claims.Sources)
	}
	entries := slices.DeleteFunc(slices.Clone(claims.All()), func(e claims.Entry) bool {
		return f.source != "" && f.source != string(e.Source) || !strings.Contains(strings.ToLower(e.Item), strings.ToLower(f.item))
	})
	if len(entries) == 0 {
		return command.Usagef("--item %s: no entry has that in its item; research claims lists them", escape.Quoted(f.item))
	}
	var file *command.OutputFile
	if f.output != "" {
		var err error
		if file, err = command.CreateOutput("--output", f.output); err != nil {
			return err
		}
	}
	ledger := claims.NewLedger(entries)
	report, done := command.Progress(f.Streams, "claims")
	undecided := ""
	results, err := job.Settle(ctx, func() ([]claims.Result, error) {
		ledger.Run(ctx, func(done, total int, r claims.Result) {
			report("%d of %d, %s: %s %s", done, total, r.Source, r.Item, r.Verdict)
		})
		return ledger.Results(""), context.Cause(ctx)
	}, func(why string) []claims.Result { undecided = why; return ledger.Results(why) })
	done()
	if err != nil {
		return err
	}
	if err := file.Commit(ctx, func(w io.Writer) error { return claims.WriteMarkdown(w, results) }); err != nil {
		return err
	}
	command.ShowAll(&f.Job, results, func(w io.Writer) { printClaims(w, results) })
	return command.Ending(ctx, undecided)
}

// printClaims writes a table, and then what the refuted statements say and what contradicts them.
func printClaims(w io.Writer, results []claims.Result) {
	t := decimal.Table(w, 2)
	fmt.Fprintln(t, "source\titem\tversion\tverdict")
	for _, r := range results {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Source, r.Item, r.Version, r.Verdict)
	}
	t.Flush()
	for _, r := range results {
		if r.Verdict == claims.Refuted {
			fmt.Fprintf(w, "\n%s, %s: %s\n  refuted: %s\n", r.Source, r.Item, r.Statement, r.Witness)
			if r.Note != "" {
				fmt.Fprintf(w, "  %s\n", r.Note)
			}
		}
	}
	fmt.Fprintf(w, "\n%d entries: %s\n", len(results), claims.Summary(results))
}
