package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/number"
	"optratio/verify"
)

// verifyFlags are the flags of the verify command.
type verifyFlags struct {
	command.Job
	domainFlags
	epsilon                job.Epsilon
	property, orders, step string
	cert                   string
	slack                  string
	monotonic              bool
	target                 targetFlags
	verdicts               verdictFlags
}

func newVerify(s command.Streams) *cobra.Command {
	f := verifyFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "verify --mechanism NAME -n N -k K (--eps E | --exp-eps A/B)",
		Short: "Decide exactly which properties a mechanism has on a lattice",
		Long: `Decide exactly, on every score vector of n candidates with best score 0 and steps of 2Δ (--step: finer
ones) down to -2Δk, and all neighbors among them, whether a mechanism is ε-DP, symmetric, shift-invariant, monotone, and
never worse than the exponential mechanism. The exit code is about what --property names, by default dp; the others are
facts then, which the mechanism has or does not have. Says how private it is (tight ε, with the pair that attains it)
and shows the smallest witness of what fails. Also: bounded-range, dominates-em-mean, rdp, zcdp. With
--rho R it decides R-zCDP, with --range R bounded range R (by default at most ε). With --delta D it decides (ε,D)-DP instead of
ε-DP, and says which δ would do.

With --domain FILE (score vectors, one a line, comma-separated or JSON arrays) it does the same for these and their
neighbors: every score up to its sensitivity up or down (--neighbors linf), or all in one direction (monotonic).
--neighbors monotonic leaves the mechanism as it is, which is then ε/2-DP if it is ε-DP and shift-invariant;
--monotonic-scores takes the same neighbors, on the lattice in steps of Δ, and runs it with 2Δ replaced by Δ.`,
		Example: `  optratio verify --mechanism pf -n 4 -k 3 --exp-eps 3/2
  optratio verify --mechanism geo -n 3 -k 2 --step delta --exp-eps 3/2
  optratio verify --mechanism krr -n 3 -k 2 --eps 0.5 --property dp,bounded-range
  optratio verify --mechanism em -n 3 -k 2 --eps 1 --rho 0.125 --range 1
  optratio verify --mechanism em -n 3 -k 2 --eps 0.8 --delta 1e-3
  optratio verify --mechanism rnmh --domain scores.txt --sensitivities 0,1 --eps 1 --property dp`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	fs := c.Flags()
	command.AddEpsilon(c, &f.epsilon)
	fs.StringVar(&f.property, "property", "", "properties, by name (default dp, with symmetry, shift, monotone, sum and dominates-em as facts that do not change the exit code)")
	fs.StringVar(&f.slack, "slack", "", slackUsage)
	fs.StringVar(&f.step, "step", "2delta", "distance of scores on the lattice: 2delta, delta, or 2delta/L for a whole number L; -k counts steps of 2Δ all the same")
	fs.StringVar(&f.orders, "orders", "", "orders of rdp, comma-separated (default 2 to 32)")
	f.target.add(c)
	addMonotonic(c, &f.monotonic)
	f.domainFlags.add(c, "pf", "linf, or worst: on the lattice, the worst neighbors of mechanisms that were proved regular; with --domain FILE linf or monotonic")
	f.verdicts.add(c)
	addCert(c, &f.cert)
	f.Job.Add(c)
	return c
}

// verifyJob is what the flags say: a check of the lattice, or of score vectors where there are any.
type verifyJob struct {
	verify.Claim
	options verify.Options
	vectors [][]*big.Rat
	model   verify.Neighborhood
}

func (f *verifyFlags) parse(ctx context.Context) (j verifyJob, err error) {
	var errs [5]error
	j.Claim, errs[1] = f.claim()
	j.Epsilon, errs[0] = f.epsilon.Parse()
	j.Monotonic = f.monotonic
	j.options.Properties, errs[2] = parseProperties(f.property)
	j.options.Rho, j.options.Range, j.options.Properties, errs[3] = f.target.parse(j.options.Properties)
	j.options.Orders, errs[4] = parseNumbers(ctx, "orders", f.orders, "")
	if err := cmp.Or(errs[:]...); err != nil {
		return j, err
	}
	for _, a := range j.options.Orders {
		if a.Cmp(big.NewRat(1, 1)) < 0 {
			return j, command.Usagef("--orders: %s is below 1, give orders of at least 1", a.RatString())
		}
	}
	if j.options.Delta, err = f.target.approximate(j.options.Properties); err != nil {
		return j, err
	}
	if j.options.Slack, err = parseSlack(f.slack); err != nil {
		return j, err
	}
	j.options.Complete()
	if f.domain == "lattice" {
		if j.options.Worst = f.neighbors == "worst"; !j.options.Worst && f.neighbors != "linf" {
			return j, command.Usagef("--neighbors %s: on the lattice, give linf or worst", command.Quoted(f.neighbors))
		}
		if j.options.Step, err = job.ParseStep(f.step, f.monotonic); err != nil {
			return j, err
		}
		if j.options.Worst && j.options.Step > 1 {
			return j, command.Usagef("--neighbors worst: the worst neighbors do not suffice with --step %s; leave it out", f.step)
		}
		return j, checkSize(f.n, f.k)
	}
	if f.step != "2delta" {
		return j, command.Usagef("--step: is for --domain lattice; the vectors of %s are as far apart as they are", command.Quoted(f.domain))
	}
	j.vectors, j.model, err = f.vectors(ctx, &j.Claim)
	return j, err
}

func (f *verifyFlags) run(ctx context.Context) error {
	j, err := f.parse(ctx)
	if err != nil {
		return err
	}
	if err := f.verdicts.create(f.JSON); err != nil {
		return err
	}
	cert, err := f.createCert(&j)
	if err != nil {
		return err
	}
	name := j.Mechanism.Info().Name
	shown, done := command.Progress(f.Streams, name)
	j.options.Progress = func(property verify.Property, n, total int64) {
		shown("%s, %s", property, comparisons(n, total))
	}
	report, err := job.Settle(ctx, func() (*verify.Report, error) {
		if j.vectors != nil {
			return verify.Scores(ctx, j.Claim, j.vectors, j.model, j.options)
		}
		return verify.Lattice(ctx, j.Claim, f.n, f.k, j.options)
	}, func(why string) *verify.Report {
		return &verify.Report{Mechanism: name, Domain: f.domain, Claimed: j.Epsilon.Number(), Properties: nothingDecided(j.options.Properties, j.options.Facts, why)}
	})
	done()
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%s on %s, %s", report.Mechanism, report.Domain, f.epsilon.String())
	if report.Precision != nil {
		title += fmt.Sprintf("\nproperties hold to the relative precision %s of its probabilities", number.Exact(report.Precision))
	}
	shows := judgement{title: title, units: f.units(), report: report}
	f.Show(report, func(w io.Writer) { f.verdicts.print(w, shows) })
	if err := f.verdicts.write(ctx, shows); err != nil {
		return err
	}
	return cert.Commit(ctx, f.Streams, func(w io.Writer) error { return report.WriteCertificate(w, j.setting()) }, verdict(ctx, report))
}

// createCert prepares --cert.
func (f *verifyFlags) createCert(j *verifyJob) (*command.CertificateFile, error) {
	if f.cert == "" {
		return nil, nil
	}
	if d := j.Claim.Sensitivities; slices.ContainsFunc(d, func(x *big.Rat) bool { return x.Cmp(d[0]) != 0 }) {
		return nil, command.Usagef("--cert: a witness's certificate has one sensitivity for all candidates; leave it out")
	}
	if err := checkCert(j.Mechanism.Info().Name, slices.Concat(j.options.Properties, j.options.Facts)); err != nil {
		return nil, err
	}
	return f.CreateCertificate(f.cert, j.Epsilon)
}

// neighborsWord is how a certificate names who is a neighbor.
func neighborsWord(m verify.Neighborhood) string {
	return command.Choose(m == verify.Monotonic, "monotonic", "linf")
}

// setting is what a witness's certificate says beside the report: on the lattice neighbors are neighbors after a shift.
func (j *verifyJob) setting() verify.Setting {
	s := verify.Setting{Epsilon: j.Epsilon, Neighbors: "shifted", Sensitivity: big.NewRat(1, 1), Delta: j.options.Delta}
	if len(j.Claim.Sensitivities) > 0 {
		s.Sensitivity = j.Claim.Sensitivities[0]
	}
	if j.vectors != nil {
		s.Neighbors = neighborsWord(j.model)
	}
	s.Scale = new(big.Rat).Mul(s.Sensitivity, big.NewRat(2, 1))
	if j.Monotonic {
		s.Neighbors, s.Scale = "monotonic", s.Sensitivity
	}
	return s
}

// nothingDecided returns results that are all undecided.
func nothingDecided(asked, facts []verify.Property, why string) []verify.Result {
	var out []verify.Result
	for i, p := range slices.Concat(asked, facts) {
		out = append(out, verify.Result{Name: p, Verdict: verify.Undecided, Fact: i >= len(asked), Reason: why})
	}
	return out
}

// comparisons says how many of all were made, where it is known how many these are.
func comparisons(n, total int64) string {
	if total == 0 {
		return fmt.Sprintf("%d comparisons", n)
	}
	return fmt.Sprintf("%d of %d comparisons", n, total)
}

// scoreUnits says what the numbers of witnesses are, at a sensitivity.
func scoreUnits(sensitivity string) string {
	return "scores and errors are in your units, with " + sensitivity + "; other numbers after a colon are probabilities"
}

// printVerdicts writes the table for people, then the witnesses, and the units of what is in them.
func printVerdicts(w io.Writer, title, units string, properties []verify.Result) {
	command.Say(w, "%s", title)
	t := command.Table(w, 3)
	for _, r := range properties {
		fmt.Fprintf(t, "%s\t%s\t%d checked\t%s\n", r.Name, r.Word(), r.Checked, escape.Line(r.Remark()))
	}
	t.Flush()
	shown := false
	for _, r := range properties {
		shown = shown || r.Witness != nil || r.Attained != nil
		if r.Witness != nil {
			command.Say(w, "%s", witnessLine(&r))
		}
	}
	for _, r := range properties {
		if r.Attained != nil && r.Witness == nil {
			command.Say(w, "%s is closest to failing%s at %s", r.Name, command.Choose(r.Stopped, ", of what was compared,", ""), r.Attained)
		}
		if r.Name != verify.RDP {
			continue
		}
		for _, o := range r.Orders {
			fmt.Fprintf(w, "order %s: ε(α) = %s\n", verify.ScoreText(o.Alpha), o.Eps)
		}
	}
	if shown {
		command.Say(w, "%s", units)
	}
}

// verdict turns verdicts into an exit code.
func verdict(ctx context.Context, report *verify.Report) error {
	sum := report.Verdict()
	var names []string
	var reason string
	for _, r := range report.Properties {
		if r.Verdict == sum && !r.Fact {
			names, reason = append(names, string(r.Name)), cmp.Or(reason, r.Reason)
		}
	}
	switch sum {
	case verify.Violated:
		return command.Exit(command.Violated, errors.New("violated: "+strings.Join(names, ", ")))
	case verify.Undecided:
		return command.Ending(ctx, strings.Join(names, ", ")+": "+reason)
	}
	return nil
}
