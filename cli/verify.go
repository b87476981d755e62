package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"optratio/verify"
)

func init() { commands = append(commands, newVerify) }

// verifyFlags are the flags of the verify command.
type verifyFlags struct {
	n, k                       int
	epsilon                    epsilonFlags
	mechanism, property        string
	sensitivity, sensitivities string
	domain, neighbors, orders  string
	params                     paramFlags
	json                       bool
	timeLimit                  time.Duration
}

func newVerify(s streams) *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify --mechanism NAME -n N -k K (--eps E | --exp-eps A/B)",
		Short: "Decide exactly which properties a mechanism has on a lattice",
		Long: `Decide exactly, on every score vector of n candidates with best score 0 and steps of 2Δ down to
-2Δk, and all neighbours among them, whether a mechanism is ε-DP, symmetric, shift-invariant, monotone, and
never worse than the exponential mechanism. Says how private it is (tight ε, with the pair that attains it)
and shows the smallest witness of what fails. Also: bounded-range, dominates-em-mean, rdp, zcdp.

With --domain FILE (score vectors, one a line, comma-separated) it does the same for these and their
neighbours: every score up to its sensitivity up or down (--neighbors linf), or all in one direction (monotonic).`,
		Example: `  optratio verify --mechanism pf -n 4 -k 3 --exp-eps 3/2
  optratio verify --mechanism krr -n 3 -k 2 --eps 0.5 --property dp,bounded-range
  optratio verify --mechanism rnmh --domain scores.txt --sensitivities 0,1 --eps 1 --property dp`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), s) },
	}
	fs := c.Flags()
	fs.StringVar(&f.mechanism, "mechanism", "pf", "mechanism, by name")
	fs.IntVarP(&f.n, "n", "n", 0, "number of candidates, at least 1")
	fs.IntVarP(&f.k, "k", "k", 0, "greatest depth, at least 1")
	f.epsilon.add(c)
	fs.StringVar(&f.property, "property", "", "properties, by name (default dp,symmetry,shift,monotone,sum,dominates-em)")
	fs.StringVar(&f.sensitivity, "sensitivity", "1", "sensitivity Δ")
	fs.StringVar(&f.sensitivities, "sensitivities", "", "with --domain FILE: a sensitivity for each candidate")
	fs.StringVar(&f.domain, "domain", "lattice", "lattice, or a file of score vectors")
	fs.StringVar(&f.neighbors, "neighbors", "linf", "linf, or worst: on the lattice, the worst neighbors of mechanisms that were proved regular; with --domain FILE linf or monotonic")
	fs.StringVar(&f.orders, "orders", "", "orders of rdp, comma-separated (default 2 to 32)")
	f.params.add(c)
	fs.BoolVar(&f.json, "json", false, "print one JSON document")
	limitVar(fs, &f.timeLimit, "stop after this long; what is not decided by then is undecided")
	return c
}

// text says which ε was given.
func (f *epsilonFlags) text() string {
	if f.eps != "" {
		return "ε = " + f.eps
	}
	return "e^ε = " + f.exp
}

// splitNames reads a comma-separated list; nil for none.
func splitNames(list string) []string {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func (f *verifyFlags) problem() (p verify.Problem, o verify.Options, err error) {
	if p.Epsilon, err = f.epsilon.parse(); err != nil {
		return p, o, err
	}
	found, err := findMechanisms(f.mechanism)
	if err != nil {
		return p, o, err
	}
	if len(found) != 1 {
		return p, o, usagef("--mechanism %s: verify takes one mechanism", quoted(f.mechanism))
	}
	p.Mechanism = found[0]
	if p.Params, err = f.params.parse(); err != nil {
		return p, o, err
	}
	delta, err := parsePositive("sensitivity", f.sensitivity)
	if err != nil {
		return p, o, err
	}
	p.Sensitivities = []*big.Rat{delta}
	if o.Properties, err = verify.ParseProperties(splitNames(f.property)); err != nil {
		return p, o, usagef("--property: %w", err)
	}
	if o.Orders, err = parseNumbers("orders", f.orders, ""); err != nil {
		return p, o, err
	}
	for _, a := range o.Orders {
		if a.Cmp(big.NewRat(1, 1)) < 0 {
			return p, o, usagef("--orders: %s is below 1, give orders of at least 1", a.RatString())
		}
	}
	return p, o, nil
}

func (f *verifyFlags) run(ctx context.Context, s streams) error {
	p, o, err := f.problem()
	if err != nil {
		return err
	}
	limited, cancel := withLimit(ctx, f.timeLimit)
	defer cancel()
	count, done := counter(s.err, p.Mechanism.Info().Name)
	o.Progress = func(property verify.Property, n int64) { count(string(property)+", comparisons", n) }
	var report *verify.Report
	if f.domain == "lattice" {
		if f.n < 1 {
			return usagef("-n %d: give the number of candidates, at least 1", f.n)
		}
		if f.k < 1 {
			return usagef("-k %d: give the greatest depth, at least 1", f.k)
		}
		switch f.neighbors {
		case "worst":
			o.Worst = true
		case "linf":
		default:
			return usagef("--neighbors %s: on the lattice, give linf or worst", quoted(f.neighbors))
		}
		report, err = verify.Lattice(limited, p, f.n, f.k, o)
	} else {
		report, err = f.given(limited, p, o)
	}
	done()
	if err != nil {
		var e *exit
		if errors.As(err, &e) {
			return err
		}
		return asked(f.mechanism, err)
	}
	title := fmt.Sprintf("%s on %s, %s", report.Mechanism, report.Domain, f.epsilon.text())
	if err := show(s, f.json, report, func(w io.Writer) error { return printVerdicts(w, title, report.Properties) }); err != nil {
		return err
	}
	return verdict(ctx, report)
}

// given checks the vectors of a file.
func (f *verifyFlags) given(ctx context.Context, p verify.Problem, o verify.Options) (*verify.Report, error) {
	vectors, err := readVectors("domain", f.domain)
	if err != nil {
		return nil, err
	}
	model, err := verify.ParseModel(f.neighbors)
	if err != nil {
		return nil, usagef("--neighbors: %w", err)
	}
	if f.sensitivities != "" {
		if p.Sensitivities, err = parseNumbers("sensitivities", f.sensitivities, ""); err != nil {
			return nil, err
		}
	}
	return verify.Scores(ctx, p, vectors, model, o)
}

// readVectors reads a file of score vectors, one a line, comma-separated, all of one length.
func readVectors(flag, path string) ([][]*big.Rat, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, usagef("--%s %s: not a domain by name, and as a file it cannot be read: %w", flag, quoted(path), errors.Unwrap(err))
	}
	defer file.Close()
	var vectors [][]*big.Rat
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for at := 1; lines.Scan(); at++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		v, err := parseNumbers("scores", text, "")
		if err != nil {
			return nil, usagef("%s:%d: %w", path, at, errors.Unwrap(err))
		}
		if len(vectors) > 0 && len(v) != len(vectors[0]) {
			return nil, usagef("%s:%d: %d scores where the lines before have %d", path, at, len(v), len(vectors[0]))
		}
		vectors = append(vectors, v)
	}
	if err := lines.Err(); err != nil {
		return nil, usagef("%s: %w", path, err)
	}
	if vectors == nil {
		return nil, usagef("%s: no score vectors, give one a line such as 0,-1,-2.5", path)
	}
	return vectors, nil
}

// printVerdicts writes the table for people, then the witnesses.
func printVerdicts(w io.Writer, title string, properties []verify.Result) error {
	fmt.Fprintln(w, title)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, r := range properties {
		fmt.Fprintf(t, "%s\t%s\t%d checked\t%s\n", r.Name, r.Verdict, r.Checked, remark(r))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range properties {
		if r.Witness != nil {
			fmt.Fprintf(w, "%s fails: %s\n", r.Name, r.Witness)
		}
	}
	for _, r := range properties {
		if r.Attained != nil && r.Witness == nil {
			fmt.Fprintf(w, "%s is closest to failing at %s\n", r.Name, r.Attained)
		}
		if r.Name != verify.RDP {
			continue
		}
		for _, o := range r.Orders {
			fmt.Fprintf(w, "order %s: ε(α) = %s\n", verify.ScoreText(o.Alpha), o.Eps)
		}
	}
	return nil
}

// remark says what a result holds beside its verdict.
func remark(r verify.Result) string {
	var parts []string
	if r.TightEps.IsValid() {
		parts = append(parts, "tight ε "+r.TightEps.String())
		if r.TightExpEps != nil {
			parts = append(parts, "e^ε = "+r.TightExpEps.RatString())
		}
	}
	if r.Range.IsValid() {
		parts = append(parts, "range "+r.Range.String())
	}
	if r.Rho.IsValid() {
		parts = append(parts, "ρ "+r.Rho.String())
	}
	if r.Reason != "" {
		parts = append(parts, r.Reason)
	}
	return strings.Join(parts, ", ")
}

// verdict turns verdicts into an exit code.
func verdict(ctx context.Context, report *verify.Report) error {
	var names []string
	sum := report.Verdict()
	for _, r := range report.Properties {
		if r.Verdict == sum {
			names = append(names, string(r.Name))
		}
	}
	switch {
	case errors.Is(context.Cause(ctx), errInterrupted):
		return &exit{exitInterrupted, errors.New("interrupted; what had not been decided is undecided")}
	case sum == verify.Violated:
		return &exit{exitViolated, errors.New("violated: " + strings.Join(names, ", "))}
	case sum == verify.Undecided:
		i := slices.IndexFunc(report.Properties, func(r verify.Result) bool { return r.Verdict == verify.Undecided })
		return &exit{exitUndecided, fmt.Errorf("undecided: %s: %s", strings.Join(names, ", "), report.Properties[i].Reason)}
	}
	return nil
}

// counter shows a growing number on a terminal, and nothing elsewhere.
func counter(w io.Writer, what string) (count func(of string, n int64), done func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(string, int64) {}, func() {}
	}
	bar := progressbar.NewOptions(-1, progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(what),
		progressbar.OptionSpinnerType(14), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	return func(of string, n int64) {
		bar.Describe(fmt.Sprintf("%s: %d %s", what, n, of))
		_ = bar.Add(1)
	}, func() { _ = bar.Finish() }
}
