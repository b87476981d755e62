package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
	"optratio/internal/report"
	"optratio/number"
)

// asking is a command that asks a question and prints the answer.
type asking struct {
	command.Job
	question  job.Question
	print     func(io.Writer, *job.Answer) // nil: as report says it
	help      map[string]string            // of fields, in place of what the question says
	certifies bool                         // there is --cert
	draws     bool                         // there is --html
	plain     bool                         // there is no --digits
	verdicts  bool                         // the answer is verdicts
	machines  bool                         // there are --format and --junit
	cert      string                       // file of a certificate, "" for none
	html      string                       // file of a page, "" for none
	outputs   []*output                    // more files

	prepare func()                  // is called before the question is asked
	begin   func() error            // is called before the work
	end     func(*job.Answer) error // is called once the answer is printed
}

// output is a file that a flag names and an answer fills.
type output struct {
	flag, usage string
	write       func(found *job.Answer) func(io.Writer) error // returns what does that, nil where there is nothing to write
	path        string
	file        *command.OutputFile
}

// path is the file that the flag of an output names, "" for none.
func (a *asking) path(flag string) string {
	for _, o := range a.outputs {
		if o.flag == flag {
			return o.path
		}
	}
	return ""
}

// command completes a command: it asks the question, and has a flag for each of its fields and for what is written.
func (a *asking) command(s command.Streams, c *cobra.Command) *cobra.Command {
	a.Streams = s
	if a.verdicts {
		a.judge(c)
	}
	c.RunE = a.run
	command.AddFields(c, a.question, a.help)
	if a.certifies {
		c.Flags().StringVar(&a.cert, "cert", "", "write a certificate to this file, for optratio check")
	}
	for _, o := range a.outputs {
		c.Flags().StringVar(&o.path, o.flag, "", o.usage)
	}
	if a.draws {
		c.Flags().StringVar(&a.html, "html", "", "also write the answer to this file, as a page with pictures")
	}
	if a.plain {
		a.AddLimits(c)
	} else {
		a.Job.Add(c)
	}
	return c
}

// host is where the command's question is answered; begin is called before the work.
func (a *asking) host(begin func(what string, at number.Epsilon) (report func(string, ...any), err error)) (*job.Host, error) {
	most, err := a.Bytes()
	return &job.Host{
		Open: a.open, Begin: begin, MaxMemory: most, Certificate: a.cert != "",
		Note: func(text string) { fmt.Fprintln(a.Err, "optratio: "+text) },
	}, err
}

// open opens a file, or standard input where that has the inputs.
func (a *asking) open(ctx context.Context, path string) (io.ReadCloser, error) {
	if q, audits := a.question.(*job.Audit); audits && path == "-" && q.Inputs == path {
		return io.NopCloser(a.In), nil
	}
	return command.Open(ctx, path)
}

// run asks, shows the answer, and writes the certificate and the page.
func (a *asking) run(c *cobra.Command, args []string) error {
	return a.Limited(func(ctx context.Context) error { return a.ask(ctx) })(c, args)
}

func (a *asking) ask(ctx context.Context) error {
	if a.prepare != nil {
		a.prepare()
	}
	var cert, page *command.OutputFile
	done := func() {}
	h, err := a.host(func(what string, at number.Epsilon) (report func(string, ...any), err error) {
		report, done = command.Progress(a.Streams, what)
		cert, page, err = a.create(at)
		return report, err
	})
	if err != nil {
		return err
	}
	if a.html != "" {
		for _, f := range job.Fields(a.question) {
			if (f.Name == "eps" || f.Name == "exp-eps") && strings.Contains(f.Text(), ",") {
				return command.Usagef("--html: a page is about one ε, give one")
			}
			if f.Name == "inputs" && f.Text() == "-" {
				return command.Usagef("--html: a page is about the inputs of a file; give them with --inputs FILE")
			}
		}
		h.Certificate = h.Certificate || isPlain(a.question)
	}
	answer, err := job.Ask(ctx, h, a.question)
	done()
	if err != nil {
		return err
	}
	show := func(w io.Writer) {
		report.New(answer, report.Context{Terminal: true, Question: a.question, Optimal: a.path("optimal")}).WriteText(w)
	}
	if a.print != nil {
		show = func(w io.Writer) { a.print(w, answer) }
	}
	if answer.List {
		command.ShowAll(&a.Job, answer.Documents, show)
	} else {
		a.Show(answer.Documents[0], show)
	}
	if a.end != nil {
		if err := a.end(answer); err != nil {
			return err
		}
	}
	return a.keep(ctx, h, answer, cert, page)
}

// create prepares the files before the work.
func (a *asking) create(at number.Epsilon) (cert, page *command.OutputFile, err error) {
	if a.begin != nil {
		err = a.begin()
	}
	if err == nil && a.html != "" {
		page, err = command.CreateOutput("--html", a.html)
	}
	for _, o := range a.outputs {
		if err == nil && o.path != "" {
			o.file, err = command.CreateOutput("--"+o.flag, o.path)
		}
	}
	if err == nil && a.cert != "" {
		cert, err = command.CreateCertificate(a.cert, at)
	}
	return cert, page, err
}

// keep writes the files, and returns how the command ends.
func (a *asking) keep(ctx context.Context, h *job.Host, answer *job.Answer, cert, page *command.OutputFile) error {
	for _, o := range a.outputs {
		if write := o.write(answer); write != nil {
			if err := o.file.Commit(ctx, write); err != nil {
				return err
			}
		}
	}
	end := command.Ended(ctx, answer)
	var kept bytes.Buffer
	if write := answer.Certificate; write != nil && cert != nil {
		before := end
		end = cert.CommitCertificate(ctx, a.Streams, h.MaxMemory, func(w io.Writer) error { return write(io.MultiWriter(w, &kept)) }, end)
		if end != before { // it was not kept
			kept.Reset()
		}
	}
	if page == nil {
		return end
	}
	return errors.Join(page.Commit(ctx, func(w io.Writer) error { return a.page(ctx, h, answer, kept.Bytes()).Write(w) }), end)
}
