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
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/number"
)

// asking is a command that asks a question and prints the answer.
type asking struct {
	command.Job
	question  job.Question
	print     func(io.Writer, *job.Answer)
	help      map[string]string // of fields, in place of what the question says
	certifies string            // what --cert does; "" where there is no such flag
	draws     bool              // there is --html
	cert      string            // file of a certificate, "" for none
	html      string            // file of a page, "" for none
	ends      []string          // of the names of its files; nil where there is one

	begin func() error                             // is called before the work
	end   func(context.Context, *job.Answer) error // is called once the answer is printed
}

// withCert is what --cert does of most commands.
const withCert = "write a certificate to this file, for optratio check"

// command completes a command: it asks the question, and has a flag for each of its fields and for what is written.
func (a *asking) command(s command.Streams, c *cobra.Command) *cobra.Command {
	a.Streams = s
	if c.Args == nil {
		c.Args = command.NoArgs
	}
	c.RunE = a.run
	command.AddFields(c, a.question, a.help)
	if a.certifies != "" {
		c.Flags().StringVar(&a.cert, "cert", "", a.certifies)
	}
	if a.draws {
		c.Flags().StringVar(&a.html, "html", "", "also draw the answer as a page that stands alone, into this file")
	}
	a.Job.Add(c)
	return c
}

// one prints an answer that is one document.
func one[D document.Document](print func(io.Writer, D)) func(io.Writer, *job.Answer) {
	return func(w io.Writer, found *job.Answer) { print(w, found.Documents[0].(D)) }
}

// host is where the command's question is answered; begin is called before the work.
func (a *asking) host(begin func(what string, at number.Epsilon) (report func(string, ...any), err error)) (*job.Host, error) {
	most, err := a.Bytes()
	return &job.Host{
		Open: command.Open, Begin: begin, MaxMemory: most, Certificate: a.cert != "",
		Note: func(text string) { fmt.Fprintln(a.Err, "optratio: "+text) },
	}, err
}

// run asks, shows the answer, and writes the certificate and the page.
func (a *asking) run(c *cobra.Command, args []string) error {
	return a.Limited(func(ctx context.Context) error { return a.ask(ctx) })(c, args)
}

func (a *asking) ask(ctx context.Context) error {
	var out files
	done := func() {}
	h, err := a.host(func(what string, at number.Epsilon) (report func(string, ...any), err error) {
		done()
		report, done = command.Progress(a.Streams, what)
		out, err = a.create(at)
		return report, err
	})
	if err != nil {
		return err
	}
	if a.html != "" {
		if r, ok := a.question.(*job.Ratio); ok && strings.Contains(r.Eps+r.Exp, ",") {
			return command.Usagef("--html: a page is about one ε, give one")
		}
		h.Certificate = h.Certificate || isPlain(a.question)
	}
	answer, err := job.Ask(ctx, h, a.question)
	done()
	if err != nil {
		return err
	}
	show := func(w io.Writer) { a.print(w, answer) }
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
	certs []*command.OutputFile
	page  *command.OutputFile
}

// create prepares the files before the work.
func (a *asking) create(at number.Epsilon) (out files, err error) {
	if a.begin != nil {
		err = a.begin()
	}
	if err == nil && a.html != "" {
		out.page, err = command.CreateOutput("--html", a.html)
	}
	for i := 0; i < max(1, len(a.ends)) && a.cert != "" && err == nil; i++ {
		var file *command.OutputFile
		file, err = command.CreateCertificate(a.cert+append(a.ends, "")[i], at)
		out.certs = append(out.certs, file)
	}
	return out, err
}

// keep writes the files, and returns how the command ends.
func (a *asking) keep(ctx context.Context, h *job.Host, answer *job.Answer, out files) error {
	end := command.Ended(ctx, answer)
	var kept bytes.Buffer
	for i, write := range answer.Certificates {
		if write != nil && i < len(out.certs) {
			before := end
			end = out.certs[i].CommitCertificate(ctx, a.Streams, h.MaxMemory, func(w io.Writer) error { return write(io.MultiWriter(w, &kept)) }, end)
			if end != before { // it was not kept
				kept.Reset()
			}
		}
	}
	if out.page == nil {
		return end
	}
	return errors.Join(out.page.Commit(ctx, func(w io.Writer) error { return a.page(ctx, h, answer, kept.Bytes()).Write(w) }), end)
}
