package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"optratio/internal/command"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/research/figures"
)

type figureFlags struct {
	command.Job
	out, data string
	list      bool
}

func newFigure(s command.Streams) *cobra.Command {
	f := figureFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "figure NAME -o FILE.(svg|png|pdf)",
		Short: "Draw a figure of the sources, or one of the project's own, from computed numbers",
		Long: `Draw a figure of the sources, or one of the project's own, as SVG, PNG or PDF, by the end of the file's
name; --data writes the plotted numbers as CSV. --list names the figures, one per line; with --json also what each shows,
its source, and its parameters with their defaults. What a source leaves open is a parameter. The same parameters
give the same bytes. research/docs/figures.md describes the figures, and those of the sources that cannot be drawn again.`,
		Example: `  research figure --list
  research figure pf-1a -o pf-1a.svg --data pf-1a.csv
  research figure pf-2b -o pf-2b.png --objective paper --points 100`,
		Args: f.args,
	}
	fs := c.Flags()
	fs.StringVarP(&f.out, "output", "o", "", "file to draw to; its name ends in .svg, .png or .pdf")
	fs.StringVar(&f.data, "data", "", "file for the plotted numbers, CSV")
	fs.BoolVar(&f.list, "list", false, "list the names of the figures, one per line")
	f.Job.Add(c)
	addFigureParameters(fs)
	c.RunE = func(c *cobra.Command, args []string) error {
		return f.Limited(func(ctx context.Context) error {
			if f.list {
				command.ShowAll(&f.Job, figureList(), printFigureNames)
				return nil
			}
			return f.run(ctx, args[0], fs)
		})(c, args)
	}
	return c
}

// addFigureParameters adds a flag for every parameter that a figure has.
func addFigureParameters(fs *pflag.FlagSet) {
	for _, spec := range figures.Specs() {
		for _, p := range spec.Params {
			if fs.Lookup(p.Name) == nil {
				fs.StringP(p.Name, job.Choose(len(p.Name) == 1, p.Name, ""), "", p.Usage)
			}
		}
	}
}

func (f *figureFlags) args(_ *cobra.Command, args []string) error {
	switch {
	case f.list && len(args) > 0:
		return command.Usagef("--list: takes no name, got %s", escape.Quoted(args[0]))
	case !f.list && len(args) != 1:
		return command.Usagef("figure takes one name, got %d; research figure --list lists them", len(args))
	}
	return nil
}

// figureDoc is the JSON document of a figure that can be drawn.
type figureDoc struct{ figures.Spec }

// Schema names the form of the JSON document.
func (figureDoc) Schema() string { return "research.figure/1" }

func figureList() (docs []figureDoc) {
	for _, s := range figures.Specs() {
		docs = append(docs, figureDoc{s})
	}
	return docs
}

func printFigureNames(w io.Writer) {
	for _, s := range figures.Specs() {
		fmt.Fprintln(w, s.Name)
	}
}

// drawnDoc is the JSON document of a figure that was drawn.
type drawnDoc struct {
	Name       string            `json:"name"`
	Title      string            `json:"title"`
	Subtitle   string            `json:"subtitle"`
	Parameters map[string]string `json:"parameters"`
	Output     string            `json:"output"`
	Data       string            `json:"data,omitempty"`
	Seconds    float64           `json:"seconds"`
}

// Schema names the form of the JSON document.
func (drawnDoc) Schema() string { return "research.drawn/1" }

func (f *figureFlags) run(ctx context.Context, name string, fs *pflag.FlagSet) error {
	spec, err := figures.Lookup(name)
	if err != nil {
		return figureError(err)
	}
	if f.out == "" {
		return command.Usagef("-o is missing: give a file such as -o %s.svg", name)
	}
	format, err := figures.FormatOf(f.out)
	if err != nil {
		return command.Usagef("-o %s: %w", escape.Quoted(f.out), err)
	}
	if f.data == f.out {
		return command.Usagef("--data %s: is the file of -o; name another", escape.Quoted(f.data))
	}
	given := map[string]string{}
	fs.Visit(func(flag *pflag.Flag) {
		if slices.ContainsFunc(figures.Specs(), func(s figures.Spec) bool { return s.Has(flag.Name) }) {
			given[flag.Name] = flag.Value.String()
		}
	})
	report, done := command.Progress(f.Streams, "figure "+name)
	defer done()
	a, err := spec.NewArgs(given, func(done, total int) { report("%d of %d", done, total) })
	if err != nil {
		return figureError(err)
	}
	var picture, data *command.OutputFile
	if picture, err = command.CreateOutput("-o", f.out); err != nil {
		return err
	}
	if f.data != "" {
		if data, err = command.CreateOutput("--data", f.data); err != nil {
			return err
		}
	}
	start := time.Now()
	type drawn struct {
		figure        *figures.Figure
		picture, data bytes.Buffer
	}
	d, err := job.Await(ctx, job.Grace, func() (*drawn, error) {
		figure, err := spec.Draw(ctx, a)
		if err != nil {
			return nil, err
		}
		d := &drawn{figure: figure}
		return d, errors.Join(figure.Write(&d.picture, format), figure.WriteData(&d.data))
	})
	done()
	switch {
	case err != nil && context.Cause(ctx) != nil:
		return fmt.Errorf("%w; nothing was written", context.Cause(ctx))
	case err != nil:
		return figureError(err)
	}
	for _, out := range []struct {
		file *command.OutputFile
		text *bytes.Buffer
	}{{data, &d.data}, {picture, &d.picture}} {
		if err := out.file.Commit(ctx, func(w io.Writer) error { _, err := out.text.WriteTo(w); return err }); err != nil {
			return err
		}
	}
	doc := drawnDoc{name, d.figure.Title, d.figure.Subtitle, a.Values(), f.out, f.data, time.Since(start).Seconds()}
	f.Show(doc, doc.print)
	return nil
}

func (d *drawnDoc) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n%s\n", d.Name, d.Title, d.Subtitle)
	if len(d.Parameters) > 0 {
		var list []string
		for _, name := range slices.Sorted(maps.Keys(d.Parameters)) {
			list = append(list, name+" "+d.Parameters[name])
		}
		fmt.Fprintf(w, "parameters: %s\n", strings.Join(list, ", "))
	}
	files := d.Output
	if d.Data != "" {
		files += " and " + d.Data
	}
	command.Say(w, "written to %s", files)
}

// figureError makes errors about parameters usage errors, and says of others that there is no figure.
func figureError(err error) error {
	var e *command.ExitError
	switch {
	case errors.As(err, &e):
		return err
	case errors.Is(err, figures.ErrParameter), job.IsInput(err):
		return command.Usagef("%s", strings.TrimPrefix(err.Error(), figures.ErrParameter.Error()+": "))
	}
	return command.Exit(command.Undecided, fmt.Errorf("%w; nothing was written", err))
}
