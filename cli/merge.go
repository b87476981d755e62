package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/internal/sweep"
)

type mergeFlags struct {
	command.Job
	out string
}

func newMerge(s command.Streams) *cobra.Command {
	f := mergeFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "merge -o FILE PART…",
		Short: "Put the files of the shards of a sweep together, in order",
		Long: `The rows of all parts, ordered by n, k, ε, objective, constraints and the mechanism's name: what the whole sweep
would have written. A row that several parts hold must be the same in all of them, apart from its seconds. If a row
is missing of the grid that the rows span, FILE is written all the same, and the exit code is 3. FILE ends in .csv.`,
		Example: `  optratio sweep merge -o ratios.csv part-*.csv`,
	}
	var parts []string
	c.Args = func(_ *cobra.Command, args []string) error {
		if parts = args; len(parts) == 0 {
			return command.Usagef("sweep merge: give the files of the shards, such as part-*.csv")
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c.Context(), parts) }
	c.Flags().StringVarP(&f.out, "output", "o", "", "file for all rows, .csv")
	c.Flags().BoolVar(&f.JSON, "json", false, "print one JSON document")
	return c
}

// mergeDoc is the JSON document of a merge.
type mergeDoc struct {
	File    string             `json:"file"`
	Parts   int                `json:"parts"`
	Rows    int                `json:"rows"`
	Missing int                `json:"missing"`
	Lacking []sweep.Parameters `json:"lacking"` // the first of the missing rows
}

// Schema names the form of the JSON document.
func (mergeDoc) Schema() string { return "optratio.merge/1" }

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
	doc := mergeDoc{File: f.out, Parts: len(parts), Rows: len(table.Rows), Lacking: []sweep.Parameters{}}
	if some, all := table.Missing(mostLacking); all > 0 {
		doc.Lacking, doc.Missing = some, all
	}
	f.Show(doc, doc.print)
	if doc.Missing > 0 {
		return command.Exit(command.Undecided, fmt.Errorf("undecided: %d rows are missing in %s, the first for %s; end the shards with sweep --resume and merge again", doc.Missing, f.out, doc.Lacking[0]))
	}
	if doc.Rows == 0 {
		return command.Exit(command.Undecided, errors.New("undecided: the parts hold no rows; end the shards with sweep --resume and merge again"))
	}
	return nil
}

func (d mergeDoc) print(w io.Writer) {
	command.Say(w, "%s: %d rows of %d files", d.File, d.Rows, d.Parts)
	for i, p := range d.Lacking {
		if i == 0 {
			fmt.Fprintf(w, "%d rows are missing:\n", d.Missing)
		}
		command.Say(w, "  %s", p)
	}
	if d.Missing > len(d.Lacking) {
		fmt.Fprintln(w, "  …")
	}
}
