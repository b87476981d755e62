package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/research/claims"
)

type claimsFlags struct {
	command.Job
	source, item string
	markdown     bool
}

func newClaims(s command.Streams) *cobra.Command {
	f := claimsFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "claims",
		Short: "The ledger: what the sources state, and what a computation says of each statement",
		Long: `Every statement of the sources that a computation can settle, and the project's own theorems, each with
a verdict that is computed anew, the domain it was computed on, and a witness where it is refuted.
Sources: pf (McKenna & Sheldon 2020 and supplement), het (Antonova et al.), stopping (Grining et al.,
two versions), optratio (this project). The whole ledger takes a few minutes. When a limit ends it, what
was not reached is "undecided".`,
		Example: `  research claims --source pf
  research claims --source pf --item 'theorem 2' --json`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	c.Flags().StringVar(&f.source, "source", "", "pf, het, stopping or optratio; all of them where it is not given")
	c.Flags().StringVar(&f.item, "item", "", "only entries whose item contains this text")
	c.Flags().BoolVar(&f.markdown, "markdown", false, "print the sections of research/docs/claims.md")
	f.Job.Add(c)
	return c
}

// entries returns the entries that the flags ask for.
func (f *claimsFlags) entries() ([]claims.Entry, error) {
	if f.JSON && f.markdown {
		return nil, command.Usagef("--json and --markdown exclude each other: give one of them")
	}
	known := f.source == ""
	for _, s := range claims.Sources() {
		known = known || f.source == string(s)
	}
	if !known {
		return nil, command.Usagef("--source %s: give one of %v", command.Quoted(f.source), claims.Sources())
	}
	entries := claims.Select(claims.All(claims.Source(f.source)), f.item)
	if len(entries) == 0 && f.item != "" {
		return nil, command.Usagef("--item %s: no entry has that in its item; research claims lists them", command.Quoted(f.item))
	}
	return entries, nil
}

func (f *claimsFlags) run(ctx context.Context) error {
	entries, err := f.entries()
	if err != nil {
		return err
	}
	ledger := claims.NewLedger(entries)
	report, done := command.Progress(f.Streams, "claims")
	type answer struct {
		results   []claims.Result
		undecided string
	}
	a, err := command.Settle(ctx, func() (answer, error) {
		ledger.Run(ctx, func(done, total int, r claims.Result) {
			report("%d of %d, %s: %s %s", done, total, r.Source, r.Item, r.Verdict)
		})
		if cause := context.Cause(ctx); cause != nil {
			return answer{}, cause
		}
		return answer{results: ledger.Results("")}, nil
	}, func(why string) answer { return answer{ledger.Results(why), why} })
	done()
	if err != nil {
		return err
	}
	command.ShowAll(&f.Job, a.results, func(w io.Writer) { f.print(w, a.results) })
	return command.Ending(ctx, a.undecided)
}

// print writes the sections of research/docs/claims.md, or a table followed by what the refuted statements say and what contradicts them.
func (f *claimsFlags) print(w io.Writer, results []claims.Result) {
	if f.markdown {
		io.WriteString(w, claims.Markdown(results))
		return
	}
	t := command.Table(w, 2)
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
