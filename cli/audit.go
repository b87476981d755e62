package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"optratio/verify"
	"optratio/verify/audit"
)

func init() { commands = append(commands, newAudit) }

// auditFlags are the flags of the audit command.
type auditFlags struct {
	pmfExec, sampleExec, pmfFile            string
	n, k                                    int
	epsilon                                 epsilonFlags
	domain, neighbors, sensitivity          string
	property, against, precision, budgetStr string
	confidence                              string
	shifted, json                           bool
	seed                                    uint64
	timeout, timeLimit                      time.Duration
}

func newAudit(s streams) *cobra.Command {
	var f auditFlags
	c := &cobra.Command{
		Use:   "audit (--pmf-exec CMD | --sample-exec CMD | --pmf-file FILE) --eps E",
		Short: "Examine a mechanism in any language, or a table of its probabilities",
		Long: `Examine a mechanism in any language. CMD is a command line for sh -c, started once and again
after a crash. It is sent one JSON object a line,
  {"scores":[0,-1,-2.5],"epsilon":1,"sensitivity":1,"monotonic":false}
and answers one line each: {"pmf":[0.6,0.3,0.1]}, in numbers or strings "p/q". A sampler is also sent
"samples":N and answers {"counts":[…]}. Errors, crashes, NaN and silence are findings.

JSON numbers stand for any real number within --pmf-precision of them. A property of stated probabilities is violated
where no reading satisfies it. A sampler gives a lower bound on ε at --confidence; one that keeps
within its ε is never proved to, and exits 0.

A table has one line {"scores":[…],"pmf":[…]} for each score vector.`,
		Example: `  optratio audit --pmf-exec 'python3 examples/audit/em.py' --eps 1 -n 3 -k 2
  optratio audit --sample-exec ./sampler --eps 0.5 --budget 3000000 --against pf
  optratio audit --pmf-file table.jsonl --eps 1 --property dp,dominates-em`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), s) },
	}
	fs := c.Flags()
	fs.StringVar(&f.pmfExec, "pmf-exec", "", "program that states probabilities")
	fs.StringVar(&f.sampleExec, "sample-exec", "", "program that draws samples")
	fs.StringVar(&f.pmfFile, "pmf-file", "", "table of probabilities")
	fs.IntVarP(&f.n, "n", "n", 3, "number of candidates")
	fs.IntVarP(&f.k, "k", "k", 2, "greatest depth, in steps of 2Δ")
	f.epsilon.add(c)
	fs.StringVar(&f.domain, "domain", "lattice", "lattice, half-lattice, random, or a file of score vectors")
	fs.StringVar(&f.neighbors, "neighbors", "linf", "linf, monotonic, or a file of pairs: scores;scores, one pair a line")
	fs.BoolVar(&f.shifted, "shifted", false, "with --pmf-file: rows are neighbors also if they are after a shift")
	fs.StringVar(&f.sensitivity, "sensitivity", "1", "sensitivity Δ")
	fs.StringVar(&f.property, "property", "", "properties, by name (default dp,symmetry,shift,monotone,sum,dominates-em)")
	fs.StringVar(&f.against, "against", "", "compare with this mechanism's probabilities")
	fs.StringVar(&f.precision, "pmf-precision", "1e-9", "relative precision of the probabilities")
	fs.StringVar(&f.confidence, "confidence", "0.95", "of a sampler's lower bound on ε")
	fs.StringVar(&f.budgetStr, "budget", "1000000", "samples in all")
	fs.Uint64Var(&f.seed, "seed", 1, "seed of what is chosen at random")
	fs.DurationVar(&f.timeout, "timeout", 10*time.Second, "for one answer")
	limitVar(fs, &f.timeLimit, "stop after this long; what is not decided by then is undecided")
	fs.BoolVar(&f.json, "json", false, "print one JSON document")
	return c
}

func (f *auditFlags) options() (o audit.Options, err error) {
	given := 0
	for _, text := range []string{f.pmfExec, f.sampleExec, f.pmfFile} {
		if text != "" {
			given++
		}
	}
	if given != 1 {
		return o, usagef("give exactly one of --pmf-exec, --sample-exec and --pmf-file")
	}
	o = audit.Options{N: f.n, K: f.k, Domain: f.domain, Seed: f.seed, Timeout: f.timeout}
	if f.timeout <= 0 {
		return o, usagef("--timeout %s: give a positive duration such as 10s", f.timeout)
	}
	if o.Epsilon, err = f.epsilon.parse(); err != nil {
		return o, err
	}
	if o.Sensitivity, err = parsePositive("sensitivity", f.sensitivity); err != nil {
		return o, err
	}
	if f.sampleExec != "" && f.property != "" && f.property != string(verify.DP) {
		return o, usagef("--property %s: samples tell about dp alone", quoted(f.property))
	}
	if o.Properties, err = verify.ParseProperties(splitNames(f.property)); err != nil {
		return o, usagef("--property: %w", err)
	}
	if f.against != "" {
		found, err := findMechanisms(f.against)
		if err != nil || len(found) != 1 {
			return o, usagef("--against %s: give one mechanism; optratio mechanisms lists them", quoted(f.against))
		}
		o.Against = found[0]
	}
	if o.Precision, err = parseNumber(f.precision); err != nil || o.Precision.Sign() < 0 || o.Precision.Cmp(big.NewRat(1, 1)) >= 0 {
		return o, usagef("--pmf-precision %s: give a decimal >= 0 and below 1 such as 1e-9", quoted(f.precision))
	}
	if o.Confidence, err = parseNumber(f.confidence); err != nil || o.Confidence.Sign() <= 0 || o.Confidence.Cmp(big.NewRat(1, 1)) >= 0 {
		return o, usagef("--confidence %s: give a decimal between 0 and 1 such as 0.95", quoted(f.confidence))
	}
	budget, err := parseNumber(f.budgetStr)
	if err != nil || !budget.IsInt() || budget.Sign() <= 0 || budget.Num().BitLen() > 50 {
		return o, usagef("--budget %s: give a number of samples such as 1000000", quoted(f.budgetStr))
	}
	o.Budget = budget.Num().Int64()
	if f.pmfFile != "" {
		return o, f.model(&o)
	}
	switch f.domain {
	case "lattice", "half-lattice", "random":
		if f.n < 1 {
			return o, usagef("-n %d: give the number of candidates, at least 1", f.n)
		}
		if f.k < 1 {
			return o, usagef("-k %d: give the greatest depth, at least 1", f.k)
		}
	default:
		if o.Vectors, err = readVectors("domain", f.domain); err != nil {
			return o, err
		}
	}
	return o, f.model(&o)
}

// model reads --neighbors: a model, or a file of pairs.
func (f *auditFlags) model(o *audit.Options) (err error) {
	if o.Model, err = verify.ParseModel(f.neighbors); err == nil {
		return nil
	}
	text, err := os.ReadFile(f.neighbors)
	if err != nil {
		return usagef("--neighbors %s: give linf, monotonic or a file of pairs", quoted(f.neighbors))
	}
	for at, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		left, right, ok := strings.Cut(line, ";")
		if !ok {
			return usagef("%s:%d: no pair, give scores;scores such as 0,-1;1,-1", f.neighbors, at+1)
		}
		var pair [2][]*big.Rat
		for i, side := range []string{left, right} {
			if pair[i], err = parseNumbers("scores", side, ""); err != nil {
				return usagef("%s:%d: %w", f.neighbors, at+1, errors.Unwrap(err))
			}
		}
		if len(pair[0]) != len(pair[1]) || len(pair[0]) == 0 {
			return usagef("%s:%d: %d and %d scores, give as many on either side", f.neighbors, at+1, len(pair[0]), len(pair[1]))
		}
		o.Pairs = append(o.Pairs, pair)
	}
	if o.Pairs == nil {
		return usagef("--neighbors %s: the file has no pairs", quoted(f.neighbors))
	}
	return nil
}

func (f *auditFlags) run(ctx context.Context, s streams) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	limited, cancel := withLimit(ctx, f.timeLimit)
	defer cancel()
	count, done := counter(s.err, "audit")
	o.Progress = func(n int64) { count("questions", n) }
	var r *audit.Report
	switch {
	case f.pmfExec != "":
		r, err = audit.PMF(limited, f.pmfExec, o)
	case f.sampleExec != "":
		r, err = audit.Samples(limited, f.sampleExec, o)
	default:
		r, err = f.table(limited, o)
	}
	done()
	if err != nil {
		var e *exit
		if errors.As(err, &e) {
			return err
		}
		return &exit{exitUsage, err}
	}
	if err := show(s, f.json, r, func(w io.Writer) error { return printAudit(w, r, f.epsilon.text()) }); err != nil {
		return err
	}
	if f.sampleExec != "" && r.Verdict() == verify.Undecided && limited.Err() == nil {
		return nil // nothing found
	}
	return verdict(ctx, &r.Report)
}

func (f *auditFlags) table(ctx context.Context, o audit.Options) (*audit.Report, error) {
	file, err := os.Open(f.pmfFile)
	if err != nil {
		return nil, usagef("--pmf-file %s: cannot be read: %w", quoted(f.pmfFile), errors.Unwrap(err))
	}
	defer file.Close()
	rows, err := audit.ReadTable(file, f.pmfFile, o.Precision)
	if err != nil {
		return nil, err
	}
	return audit.Table(ctx, f.pmfFile, rows, f.shifted, o)
}

// printAudit writes the table for people.
func printAudit(w io.Writer, r *audit.Report, eps string) error {
	if err := printVerdicts(w, fmt.Sprintf("%s on %s, %s", r.Mechanism, r.Domain, eps), r.Properties); err != nil {
		return err
	}
	for _, finding := range r.Findings {
		fmt.Fprintf(w, "finding: %s\n", finding)
	}
	switch {
	case r.LowerBound.IsValid():
		confidence, _ := r.Confidence.Float64()
		fmt.Fprintf(w, "ε is at least %s with confidence %g, from %d samples; claimed: %s\n", r.LowerBound, confidence, r.Samples, r.Claimed)
	case r.TightEps.IsValid():
		fmt.Fprintf(w, "tight ε %s; claimed: %s\n", r.TightEps, r.Claimed)
		if dp := r.Find(verify.DP); dp != nil && dp.Attained != nil && dp.Witness != nil {
			fmt.Fprintf(w, "the tight ε is attained at %s\n", dp.Attained)
		}
	}
	return nil
}
