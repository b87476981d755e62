package main

import (
	"context"
	"encoding/csv"
	"io"
	"math/big"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/number"
	"optratio/research/scenario"
)

// study is what scenario and bandit share: seeded runs of mechanisms with their parameters, whose document can end early and goes to a CSV file too.
type study struct {
	command.Job
	params job.Params
	output string
}

func (f *study) add(c *cobra.Command, output string) {
	c.Flags().StringVarP(&f.output, "output", "o", "", output)
	command.AddFields(c, &f.params, nil)
	f.Job.Add(c)
}

// studyDoc is the document of a study.
type studyDoc interface {
	document.Document
	csv(*csv.Writer)
	print(io.Writer)
	end() string // why it is incomplete, or ""
}

// run fills a document and shows it.
func (f *study) run(ctx context.Context, name string, doc studyDoc, fill func(report func(format string, args ...any)) error) (err error) {
	var file *command.OutputFile
	if f.output != "" {
		if file, err = command.CreateOutput("--output", f.output); err != nil {
			return err
		}
	}
	report, done := command.Progress(f.Streams, name)
	err = fill(report)
	done()
	if err != nil {
		return err
	}
	if err := file.Commit(ctx, func(w io.Writer) error {
		c := csv.NewWriter(w)
		doc.csv(c)
		c.Flush()
		return c.Error()
	}); err != nil {
		return err
	}
	f.Show(doc, doc.print)
	return command.Ending(ctx, doc.end())
}

// start opens the file of a long run and lets a terminal show how many of its steps are done, until done is called.
func start(s command.Streams, path string, report *func(done, total int)) (file *command.OutputFile, done func(), err error) {
	if file, err = command.CreateOutput("-o", path); err == nil {
		*report, done = command.Counter(s, filepath.Base(path))
	}
	return file, done, err
}

// stdErr is the standard error of a mean over some trials or runs, null for one.
func stdErr(m scenario.Mean, over int) *number.Number {
	if over < 2 {
		return nil
	}
	e := number.Estimate(m.StdErr, "standard error")
	return &e
}

func float(x *big.Rat) float64 {
	f, _ := x.Float64()
	return f
}

func floatText(x float64) string { return strconv.FormatFloat(x, 'g', 10, 64) }
