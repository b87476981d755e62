package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/internal/sweep"
)

type mergeFlags struct {
	command.Streams
	out string
}

func newMerge(s command.Streams) *cobra.Command {
	f := mergeFlags{Streams: s}
	c := described("merge")
	var parts []string
	c.Args = func(_ *cobra.Command, args []string) error {
		if parts = args; len(parts) == 0 {
			return command.Usagef("sweep merge: give the files of the shards, such as part-*.csv")
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c.Context(), parts) }
	c.Flags().StringVarP(&f.out, "output", "o", "", "write all rows to this .csv file")
	return c
}

// mostLacking bounds how many missing rows are shown.
const mostLacking = 10

func (f *mergeFlags) run(ctx context.Context, parts []string) error {
	if f.out == "" {
		return command.Usagef("-o is missing: name a file for the rows that ends in .csv")
	}
	if filepath.Ext(f.out) != ".csv" {
		return command.Usagef("-o %s: give a name that ends in .csv", escape.Quoted(f.out))
	}
	out, err := command.CreateOutput("-o", f.out)
	if err != nil {
		return err
	}
	if info, err := os.Stat(f.out); err == nil && info.Mode().IsRegular() { // which no run may be writing meanwhile
		held, err := sweep.Open(f.out, false)
		if err != nil {
			return command.Usagef("-o %s: %w", f.out, err)
		}
		defer held.Close()
	}
	table, err := job.Await(ctx, 0, func() (*sweep.Table, error) { return sweep.Merge(parts) })
	switch {
	case errors.Is(err, sweep.ErrFile):
		return command.Exit(command.Usage, err)
	case err == nil:
		err = out.Commit(ctx, table.WriteCSV)
	}
	if err != nil {
		return err
	}
	lacking, missing := table.Missing(mostLacking)
	command.Say(f.Out, "%s: %d rows of %d files", f.out, len(table.Rows), len(parts))
	if missing > 0 {
		fmt.Fprintf(f.Out, "%d rows are missing:\n", missing)
	}
	for _, p := range lacking {
		command.Say(f.Out, "  %s", p)
	}
	if missing > len(lacking) {
		fmt.Fprintln(f.Out, "  …")
	}
	switch {
	case missing > 0:
		return command.Exit(command.Undecided, fmt.Errorf("undecided: %d rows are missing in %s, the first for %s; end the shards with sweep --resume and merge again", missing, f.out, lacking[0]))
	case len(table.Rows) == 0:
		return command.Exit(command.Undecided, errors.New("undecided: the parts hold no rows; end the shards with sweep --resume and merge again"))
	}
	return nil
}
