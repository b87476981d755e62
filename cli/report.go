package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/internal/report"
	"optratio/lattice"
	"optratio/number"
	"optratio/verify/certificate"
)

// newReport is the command that draws the answer of a job as a page: report itself with the flags of ratio, or with --from; its
// subcommands are the jobs.
func newReport(s command.Streams) *cobra.Command {
	c := newReportOf(s, newRatio)
	c.SetUsageFunc(nil)
	c.Use = "report [ratio|verify|audit|stopping] -o FILE.html …"
	c.Short = "Draw the answer of a job as a page that stands alone"
	c.Long = `Do a ratio, verify, audit or stopping job and draw its answer as one HTML page: the verdict in a sentence, the witness as a
picture, what is proved and what is assumed, the certificate, and the command that gives the same answer. The page
loads nothing and has no script. Its numbers are those of the job's JSON document, which is inside.
--from FILE draws the document of a job that was done before with --json; with --cert FILE beside it that certificate
is checked, and whether it proves the document's optimum. The exit code is the job's.`
	c.Example = `  optratio report -n 4 -k 4 --eps 0.5 -o report.html
  optratio report verify --mechanism rnm-laplace -n 3 -k 2 --eps 1 -o report.html
  optratio report audit --pmf-exec 'python3 mine.py' --eps 1 -o report.html
  optratio report --from RESULT.json -o report.html`
	var from string
	c.Flags().StringVar(&from, "from", "", "a job's JSON document; no job is done then")
	work := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if !c.Flags().Changed("from") {
			return work(c, args)
		}
		return reportFrom(c, from)
	}
	for _, of := range []func(command.Streams) *cobra.Command{newRatio, newVerify, newAudit, newStopping} {
		c.AddCommand(newReportOf(s, of))
	}
	return c
}

// newReportOf wraps the command of a job: its document goes into a page instead of to standard output.
func newReportOf(s command.Streams, of func(command.Streams) *cobra.Command) *cobra.Command {
	var printed bytes.Buffer
	c := of(command.Streams{In: s.In, Out: &printed, Err: s.Err})
	name := c.Name()
	c.Short = "Draw the answer of " + command.Choose(name == "audit", "an ", "a ") + name + " job as a page"
	c.Example = ""
	fs := c.Flags()
	fs.Lookup("json").Hidden = true
	var path string
	fs.StringVarP(&path, "output", "o", "", "file of the page")
	work := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		out, err := createReport(path)
		if err != nil {
			return err
		}
		if list, err := (job.Epsilon{Eps: text(fs, "eps"), Exp: text(fs, "exp-eps")}).List(); err != nil {
			return err
		} else if len(list) > 1 {
			return command.Usagef("--eps: a report is about one ε, give one")
		}
		page := report.Context{Command: commandLine(name, fs)}
		drop, err := certify(fs, &page)
		if err != nil {
			return err
		}
		defer drop()
		if err := fs.Set("json", "true"); err != nil {
			return err
		}
		before, _ := os.Stat(text(fs, "cert"))
		end := work(c, args)
		if printed.Len() == 0 {
			return end
		}
		if cert := text(fs, "cert"); cert != "" {
			if after, err := os.Stat(cert); err == nil && after.Mode().IsRegular() && !os.SameFile(before, after) { // a file of an earlier job stays as it is
				page.Certificate, _ = os.ReadFile(cert)
			}
		}
		return errors.Join(writeReport(c, s.Out, out, printed.Bytes(), page), end)
	}
	return c
}

// text returns the value of a flag, "" where the command has none of this name.
func text(fs *pflag.FlagSet, name string) string {
	if f := fs.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

func createReport(path string) (*command.OutputFile, error) {
	if path == "" {
		return nil, command.Usagef("-o is missing: name the file of the page, such as -o report.html")
	}
	return command.CreateOutput("-o", path)
}

// commandLine is the command line of the job itself, with the flags that were given.
func commandLine(name string, fs *pflag.FlagSet) string {
	words := []string{"optratio", name}
	fs.Visit(func(f *pflag.Flag) {
		switch dashes := command.Choose(len(f.Name) == 1, "-", "--"); {
		case f.Name == "output" || f.Name == "json":
		case f.Value.Type() == "bool":
			words = append(words, dashes+f.Name+command.Choose(f.Value.String() == "true", "", "=false"))
		default:
			words = append(words, dashes+f.Name, escape.Shell(f.Value.String()))
		}
	})
	return strings.Join(words, " ")
}

// certified is the number of variables up to which a page has a certificate though none was asked for.
const certified = 20_000

// certify asks a small ratio job for a certificate, in a folder of its own that drop removes, unless there is to be one anyway.
func certify(fs *pflag.FlagSet, page *report.Context) (drop func(), err error) {
	if cert := text(fs, "cert"); fs.Lookup("cert") == nil || cert != "" {
		page.CertificateName = filepath.Base(cert)
		return func() {}, nil
	}
	n, errN := strconv.Atoi(text(fs, "n"))
	k, errK := strconv.Atoi(text(fs, "k"))
	plain := text(fs, "rho") == "" && text(fs, "delta") == "" && text(fs, "method") == "auto" && text(fs, "objective") != "minimax" && text(fs, "step") == "2delta" && text(fs, "loss") == "mean" && text(fs, "prior") == "" &&
		text(fs, "pmf-exec") == "" && text(fs, "pmf-file") == ""
	if errN != nil || errK != nil || n < 1 || k < 1 || n > certified || k > certified || !plain || fs.Changed("from") || lattice.Orbits(n, k).Cmp(big.NewInt(certified)) > 0 {
		return func() {}, nil
	}
	folder, err := os.MkdirTemp("", "optratio")
	if err != nil {
		return nil, err
	}
	page.CertificateName = fmt.Sprintf("ratio-%d-%d.cert", n, k)
	return func() { os.RemoveAll(folder) }, fs.Set("cert", filepath.Join(folder, page.CertificateName))
}

// writeReport writes the page of a document and says so.
func writeReport(c *cobra.Command, stdout io.Writer, out *command.OutputFile, printed []byte, page report.Context) error {
	page.Curve = report.CurveFor(printed, func(args []string) ([]byte, bool) {
		var out bytes.Buffer
		code := Run(c.Context(), append(args, "--json"), strings.NewReader(""), &out, io.Discard)
		return out.Bytes(), code == command.Done
	})
	p, err := report.New(printed, page)
	if err != nil {
		return err
	}
	if err := out.Commit(c.Context(), p.Write); err != nil {
		return err
	}
	command.Say(stdout, "%s: %s", out.Path, p.Word)
	return nil
}

// reportFrom draws the document of a job that was done before.
func reportFrom(c *cobra.Command, from string) error {
	var others []string
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "from" && f.Name != "output" && f.Name != "cert" {
			others = append(others, command.Choose(len(f.Name) == 1, "-", "--")+f.Name)
		}
	})
	if len(others) > 0 {
		return command.Usagef("--from: the job was done already, so that %s says nothing; leave it out", others[0])
	}
	out, err := createReport(text(c.Flags(), "output"))
	if err != nil {
		return err
	}
	in, err := command.OpenInput(c.Context(), "--from", from)
	if err != nil {
		return err
	}
	defer in.Close()
	printed, err := io.ReadAll(io.LimitReader(in, command.MostInput))
	if err != nil {
		return command.Usagef("--from %s: cannot be read: %w", command.Quoted(from), command.WithoutPath(err))
	}
	if _, err := report.KindOf(printed); err != nil {
		return command.Usagef("--from %s: %w; give what such a job printed with --json", command.Quoted(from), err)
	}
	page := report.Context{Notes: []string{"This page was drawn from a document that a job had printed; nothing in it was computed again."}}
	if path := text(c.Flags(), "cert"); path != "" {
		if err := checkDocument(c.Context(), printed, path, &page); err != nil {
			return err
		}
	}
	err = writeReport(c, c.OutOrStdout(), out, printed, page)
	if errors.Is(err, report.ErrDocument) {
		return command.Usagef("--from %s: %w", command.Quoted(from), err)
	}
	return err
}

// checkDocument checks a certificate, that it is about the document's question, and that it proves the document's optimum; the page then has it and says so.
func checkDocument(ctx context.Context, printed []byte, path string, page *report.Context) error {
	in, err := command.OpenInput(ctx, "--cert", path)
	if err != nil {
		return err
	}
	defer in.Close()
	if page.Certificate, err = io.ReadAll(io.LimitReader(in, command.MostInput)); err != nil {
		return command.Usagef("--cert %s: cannot be read: %w", command.Quoted(path), command.WithoutPath(err))
	}
	r, err := certificate.Check(bytes.NewReader(page.Certificate), certificate.Options{Context: ctx})
	if ctx.Err() != nil {
		return command.Ending(ctx, "the certificate was not checked to its end")
	}
	if err != nil {
		return command.Usagef("--cert %s: %w", command.Quoted(path), err)
	}
	if !r.Valid {
		return command.Exit(command.Violated, fmt.Errorf("--cert %s: invalid certificate: %s", command.Quoted(path), r.Reason))
	}
	var d document.Ratio
	if json.Unmarshal(printed, &d) != nil || d.Step == "" {
		return command.Usagef("--cert: the document of --from is not that of one ratio job; leave it out")
	}
	step, err := job.ParseStep(d.Step, d.Monotonic)
	q := r.Problem
	objective, known := map[string]string{"uniform": "paper", "box": "box", "none": "worst"}[d.Prior] // as certificates call it
	if !known {
		objective = "weights"
	}
	same := func(text *string, x number.Number) bool {
		if text == nil {
			return false
		}
		want, err := decimal.ParseNumber(*text)
		got, ok := x.Rat()
		return err == nil && ok && want.Cmp(got) == 0
	}
	equal := func(a, b number.Number) bool {
		aLow, aHigh, _ := a.Strings()
		bLow, bHigh, _ := b.Strings()
		return aLow == bLow && aHigh == bHigh
	}
	delta := (d.Delta == nil) == (q.Delta == nil) && (d.Delta == nil || equal(*d.Delta, *q.Delta))
	if err != nil || q.N != d.N || q.K != d.K || q.Step != step || !same(d.Eps, q.Eps) && !same(d.ExpEps, q.ExpEps) ||
		strings.Replace(q.Objective, "uniform", "paper", 1) != objective || q.Constraints != d.Constraints || !delta {
		return command.Usagef("--cert %s: is about another question than the document of --from; give that document's own certificate", command.Quoted(path))
	}
	if !equal(r.Optimum, d.Optimum) {
		return command.Exit(command.Violated, fmt.Errorf("--cert %s: proves the optimum %s, which is not the document's %s", command.Quoted(path), r.Optimum, d.Optimum))
	}
	page.CertificateName = filepath.Base(path)
	page.Notes = []string{"This page was drawn from a document that a job had printed. Its certificate " + page.CertificateName +
		" was checked now: it is valid, and proves the least possible error above; what is said of the mechanisms was not computed again."}
	return nil
}
