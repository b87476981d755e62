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
	cert      string                       // file of a certificate, "" for none
	html      string                       // file of a page, "" for none
	optimal   string                       // file of an optimal mechanism, "" for none

	// mechanism returns what writes the optimal mechanism of an answer, as lines of JSON or else as CSV; nil where there is no --optimal.
	mechanism func(found *job.Answer, lines bool) func(io.Writer) error
	exports   bool // there is --export, in place of --optimal

	prepare func()                                   // is called before the question is asked
	begin   func() error                             // is called before the work
	end     func(context.Context, *job.Answer) error // is called once the answer is printed
}

// command completes a command: it asks the question, and has a flag for each of its fields and for what is written.
func (a *asking) command(s command.Streams, c *cobra.Command) *cobra.Command {
	a.Streams = s
	if c.Args == nil {
		c.Args = command.NoArgs
	}
	c.RunE = a.run
	command.AddFields(c, a.question, a.help)
	if a.certifies {
		c.Flags().StringVar(&a.cert, "cert", "", "write a certificate to this file, for optratio check")
	}
	if a.mechanism != nil {
		c.Flags().StringVar(&a.optimal, "optimal", "", "write an optimal mechanism to this file: CSV, or lines for audit --pmf-file if its name ends in .jsonl")
	}
	if a.exports {
		a.mechanism = func(found *job.Answer, _ bool) func(io.Writer) error { return found.Export }
		c.Flags().StringVar(&a.optimal, "export", "", "write two distributions whose privacy losses bound all selections to this file, as dp_accounting reads them")
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
	var out files
	done := func() {}
	h, err := a.host(func(what string, at number.Epsilon) (report func(string, ...any), err error) {
		report, done = command.Progress(a.Streams, what)
		out, err = a.create(at)
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
		report.New(answer, report.Context{Terminal: true, Question: a.question, Optimal: a.optimal}).WriteText(w)
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
		if err := a.end(ctx, answer); err != nil {
			return err
		}
	}
	return a.keep(ctx, h, answer, out)
}

// files are what an answer is kept in.
type files struct {
	cert, page, optimal *command.OutputFile
}

// create prepares the files before the work.
func (a *asking) create(at number.Epsilon) (out files, err error) {
	if a.begin != nil {
		err = a.begin()
	}
	if err == nil && a.html != "" {
		out.page, err = command.CreateOutput("--html", a.html)
	}
	if err == nil && a.optimal != "" {
		out.optimal, err = command.CreateOutput(job.Choose(a.exports, "--export", "--optimal"), a.optimal)
	}
	if err == nil && a.cert != "" {
		out.cert, err = command.CreateCertificate(a.cert, at)
	}
	return out, err
}

// keep writes the files, and returns how the command ends.
func (a *asking) keep(ctx context.Context, h *job.Host, answer *job.Answer, out files) error {
	end := command.Ended(ctx, answer)
	if out.optimal != nil {
		if write := a.mechanism(answer, strings.HasSuffix(a.optimal, ".jsonl")); write != nil {
			if err := out.optimal.Commit(ctx, write); err != nil {
				return err
			}
		}
	}
	var kept bytes.Buffer
	if write := answer.Certificate; write != nil && out.cert != nil {
		before := end
		end = out.cert.CommitCertificate(ctx, a.Streams, h.MaxMemory, func(w io.Writer) error { return write(io.MultiWriter(w, &kept)) }, end)
		if end != before { // it was not kept
			kept.Reset()
		}
	}
	if out.page == nil {
		return end
	}
	return errors.Join(out.page.Commit(ctx, func(w io.Writer) error { return a.page(ctx, h, answer, kept.Bytes()).Write(w) }), end)
}
