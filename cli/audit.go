package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/job"
	"optratio/verify"
	"optratio/verify/audit"
)

// auditFlags are the flags of the audit command.
type auditFlags struct {
	command.Job
	pmfExec, sampleExec, pmfFile            string
	n, k, children, maxQuestions            int
	epsilon                                 job.Epsilon
	domain, neighbors, sensitivity, inputs  string
	property, against, precision, budgetStr string
	slack                                   string
	confidence, until, outcomes             string
	shifted, cleanEnv                       bool
	seed                                    uint64
	timeout                                 time.Duration
	cert                                    string
	verdicts                                verdictFlags
	target                                  targetFlags
}

func newAudit(s command.Streams) *cobra.Command {
	f := auditFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "audit (--pmf-exec CMD | --sample-exec CMD | --pmf-file FILE) --eps E",
		Short: "Examine a mechanism in any language, or a table of its probabilities",
		Long: `Examine a mechanism in any language. CMD is a command line for sh -c, started once and again
after a crash. It gets this command's environment, unless --clean-env is given. It is sent one JSON object a line,
  {"scores":[0,-1,-2.5],"epsilon":1,"sensitivity":1,"monotonic":false}
and answers one line each: {"pmf":[0.6,0.3,0.1]}, in numbers or strings "p/q". A sampler is also sent
"samples":N and answers {"counts":[…]}, with --outcomes labels {"counts":{"a":12,"nobody":3}}, with --outcomes real
{"values":[…]}, with --outcomes mixed the same, each value a JSON list or object of labels and numbers. With --outcomes labels, probabilities are stated as {"pmf":{"a":0.5,"nobody":"1/2"}}. Errors, crashes, NaN and silence are findings.

JSON numbers stand for any real number within --pmf-precision of them. A property of stated probabilities is proved where
every reading of the numbers has it, violated where none has, and undecided otherwise, with exit code 3; ε may be exceeded by --slack.
The exit code is about what --property names, by default dp, and about the answers; the others are facts then. A sampler gives a lower bound on ε at --confidence; one that keeps
within its ε is never proved to, and exits 0. Of samplers, --property takes dp, symmetry, shift, monotone and
bounded-range; these are tests, which share what --confidence leaves to chance.

With --inputs FILE the questions are not about scores but the JSON values of FILE, one a line: {"input":[3,1],"epsilon":1,"sensitivity":1}.
--neighbors FILE then says which of them are neighbors: a line 0,3 (the lines are numbered from 0; empty ones and those that begin with # do
not count), or [A,B] with two of the values; a third number is a distance d, at which the pair is compared at dε. Pairs are looked at both
ways unless the first line is "oneway": then 0,3 says that Pr[S] of input 0 is at most e^ε times that of input 3.

A table has one line {"scores":[…],"pmf":[…]} for each score vector, or {"input":…,"pmf":…} for each input. --rho R and --range R also decide
R-zCDP and bounded range R, and --delta D (ε,D)-DP instead of ε-DP; of a sampler, they are violated where a lower bound exceeds R or D.`,
		Example: `  optratio audit --pmf-exec 'python3 examples/audit/em.py' --eps 1 -n 3 -k 2
  optratio audit --sample-exec ./sampler --eps 0.5 --budget 3000000 --against pf
  optratio audit --sample-exec ./noisy-value --eps 1 --outcomes real --until refuted
  optratio audit --pmf-exec ./histogram --inputs datasets.jsonl --neighbors pairs.txt --outcomes labels --eps 1
  optratio audit --pmf-file table.jsonl --eps 1 --property dp,dominates-em`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	fs := c.Flags()
	fs.StringVar(&f.pmfExec, "pmf-exec", "", "program that states probabilities")
	fs.StringVar(&f.sampleExec, "sample-exec", "", "program that draws samples")
	fs.StringVar(&f.pmfFile, "pmf-file", "", "table of probabilities")
	command.CountVar(fs, &f.n, "n", "n", 3, "number of candidates")
	command.CountVar(fs, &f.k, "k", "k", 2, "greatest depth, in steps of 2Δ")
	command.AddEpsilon(c, &f.epsilon)
	fs.StringVar(&f.domain, "domain", "lattice", "lattice, half-lattice, random, or a file of score vectors, one a line: 0,-1,-2.5 or [0,-1,-2.5]")
	fs.StringVar(&f.inputs, "inputs", "", "file of what is asked about instead of scores, a JSON value a line; needs --neighbors FILE")
	fs.StringVar(&f.neighbors, "neighbors", "linf", "linf, monotonic, or a file of pairs, one a line: 0,-1;1,-1 or [[0,-1],[1,-1]]; of inputs 0,3 or [A,B], with a distance 0,3,2")
	fs.BoolVar(&f.shifted, "shifted", false, "with --pmf-file: rows are neighbors also if they are after a shift")
	fs.StringVar(&f.sensitivity, "sensitivity", "1", "sensitivity Δ")
	fs.StringVar(&f.property, "property", "", "properties, by name (default dp, with the others that are decided at once as facts that do not change the exit code; of samplers dp)")
	fs.StringVar(&f.slack, "slack", "", slackUsage)
	f.target.add(c)
	fs.StringVar(&f.against, "against", "", "compare with this mechanism's probabilities")
	fs.StringVar(&f.precision, "pmf-precision", "1e-9", "relative precision of the probabilities")
	fs.StringVar(&f.confidence, "confidence", "0.95", "of a sampler's lower bound on ε")
	fs.StringVar(&f.until, "until", "budget", "end an audit of samples when the claim is refuted, or when the budget is spent: refuted or budget")
	fs.StringVar(&f.outcomes, "outcomes", "index", "what answers are about: index (candidates), labels (any strings) or, of samplers, real (numbers) or mixed (lists or objects of labels and numbers)")
	fs.StringVar(&f.budgetStr, "budget", "1M", "samples in all, such as 300k or 10M")
	command.CountVar(fs, &f.children, "children", "", 1, "with --sample-exec: run the program so many times at once; the samples of every question are dealt to them")
	addCleanEnv(c, &f.cleanEnv)
	fs.Uint64Var(&f.seed, "seed", 1, "seed of what is chosen at random")
	fs.DurationVar(&f.timeout, "timeout", 10*time.Second, "for one answer")
	command.CountVar(fs, &f.maxQuestions, "max-questions", "", 0, "with --pmf-exec: refuse to ask more than so many; 0 for what takes about a minute by the first answers. With --time-limit nothing is refused: it ends then")
	f.verdicts.add(c)
	addCert(c, &f.cert)
	f.Job.Add(c)
	return c
}

func (f *auditFlags) options(ctx context.Context) (o audit.Options, err error) {
	if err = f.checkProgram(); err != nil {
		return o, err
	}
	o = audit.Options{N: f.n, K: f.k, Domain: f.domain, Seed: f.seed, MaxQuestions: int64(f.maxQuestions)}
	if f.maxQuestions == 0 {
		o.MaxQuestions = -1
	}
	if o.Epsilon, err = f.epsilon.Parse(); err != nil {
		return o, err
	}
	if o.Sensitivity, err = job.ParsePositive("sensitivity", f.sensitivity); err != nil {
		return o, err
	}
	if o.Outcomes, err = f.outcomes, f.checkOutcomes(); err != nil {
		return o, err
	}
	if o.Properties, err = parseProperties(f.property); err != nil {
		return o, err
	}
	if f.inputs != "" {
		if err := f.aboutInputs(&o); err != nil {
			return o, err
		}
	}
	if f.sampleExec != "" {
		o.Properties, err = f.testable(o.Properties)
	} else if f.outcomes == audit.Labels || f.inputs != "" {
		err = f.aboutLabels(o.Properties)
	}
	if err != nil {
		return o, err
	}
	if o.Rho, o.Range, o.Properties, err = f.target.parse(o.Properties); err != nil {
		return o, err
	}
	if o.Delta, err = f.target.approximate(o.Properties); err != nil {
		return o, err
	}
	if o.Slack, err = parseSlack(f.slack); err != nil {
		return o, err
	}
	if f.against != "" {
		if o.Against, err = job.FindMechanism("against", f.against); err != nil {
			return o, err
		}
	}
	if o.Precision, err = parsePrecision(f.precision); err != nil {
		return o, err
	}
	if err := f.sampling(&o); err != nil {
		return o, err
	}
	if f.inputs != "" {
		o.Inputs, err = f.readInputs(ctx)
		return o, err
	}
	return o, f.questions(ctx, &o)
}

// checkProgram refuses flags from which it is not clear what to run, how often at once and for how long.
func (f *auditFlags) checkProgram() error {
	given := 0
	for _, text := range []string{f.pmfExec, f.sampleExec, f.pmfFile} {
		if text != "" {
			given++
		}
	}
	if given != 1 {
		return command.Usagef("give exactly one of --pmf-exec, --sample-exec and --pmf-file")
	}
	if f.children < 1 || f.children > 1 && f.sampleExec == "" {
		return command.Usagef("--children %d: give at least 1, and with more than 1 --sample-exec", f.children)
	}
	if f.timeout <= 0 {
		return command.Usagef("--timeout %s: give a positive duration such as 10s", f.timeout)
	}
	return nil
}

// checkOutcomes refuses what the kind of answers that --outcomes names does not go with.
func (f *auditFlags) checkOutcomes() error {
	switch {
	case f.outcomes == audit.Index:
	case f.outcomes != audit.Labels && f.outcomes != audit.Real && f.outcomes != audit.Mixed:
		return command.Usagef("--outcomes %s: give index, labels, real or mixed", command.Quoted(f.outcomes))
	case f.sampleExec == "" && (f.outcomes == audit.Real || f.outcomes == audit.Mixed):
		return command.Usagef("--outcomes %s: this needs --sample-exec", f.outcomes)
	case f.outcomes == audit.Mixed && f.children > 1:
		return command.Usagef("--children %d: with --outcomes mixed one child draws", f.children)
	case f.against != "":
		return command.Usagef("--outcomes %s: they cannot be compared --against a mechanism's candidates", f.outcomes)
	}
	return nil
}

// aboutLabels refuses properties that tables of labels do not have.
func (f *auditFlags) aboutLabels(properties []verify.Property) error {
	for _, p := range properties {
		if !slices.Contains(audit.OfLabels, p) {
			return command.Usagef("--property %s: %s is about candidates, and --outcomes are labels", command.Quoted(f.property), p)
		}
	}
	return nil
}

// testable returns the properties that samples are asked about, and refuses those that samples cannot tell about. Without --property that
// is DP, or with --delta approximate DP; with both flags, approximate DP is added to the list.
func (f *auditFlags) testable(properties []verify.Property) ([]verify.Property, error) {
	if f.property == "" {
		properties = []verify.Property{verify.DP}
	}
	switch at := slices.Index(properties, verify.DP); {
	case f.target.delta == "" || slices.Contains(properties, verify.ApproximateDP):
	case f.property == "":
		properties[at] = verify.ApproximateDP
	default:
		properties = append(properties, verify.ApproximateDP)
	}
	for _, p := range properties {
		switch {
		case !slices.Contains(audit.Testable, p):
			return nil, command.Usagef("--property %s: samples cannot tell about %s, give some of dp, symmetry, shift, monotone, bounded-range, zcdp, approximate-dp", command.Quoted(f.property), p)
		case f.outcomes != audit.Index && slices.Contains(audit.Testable[1:4], p):
			return nil, command.Usagef("--property %s: %s is about candidates, and --outcomes are %s", command.Quoted(f.property), p, f.outcomes)
		}
	}
	return properties, nil
}

// sampling sets how many samples are drawn, and what they are to show.
func (f *auditFlags) sampling(o *audit.Options) error {
	var err error
	if o.Confidence, err = decimal.ParseNumber(f.confidence); err != nil || o.Confidence.Sign() <= 0 || o.Confidence.Cmp(big.NewRat(1, 1)) >= 0 {
		return command.Usagef("--confidence %s: give a decimal between 0 and 1 such as 0.95", command.Quoted(f.confidence))
	}
	budget, err := command.Scaled(f.budgetStr)
	if err != nil || !budget.IsInt() || budget.Sign() <= 0 || budget.Num().BitLen() > 50 {
		return command.Usagef("--budget %s: give a number of samples such as 1000000, 3M or 1e6", command.Quoted(f.budgetStr))
	}
	o.Budget, o.UntilRefuted = budget.Num().Int64(), f.until == "refuted"
	if f.until != "refuted" && f.until != "budget" {
		return command.Usagef("--until %s: give refuted or budget", command.Quoted(f.until))
	}
	return nil
}

// questions sets the score vectors that are asked about, and which of them are neighbors. A table has its own.
func (f *auditFlags) questions(ctx context.Context, o *audit.Options) (err error) {
	if f.pmfFile == "" {
		switch f.domain {
		case "lattice", "half-lattice", "random":
			err = checkSize(f.n, f.k)
		default:
			o.Vectors, err = readVectors(ctx, f.domain, "lattice, half-lattice, random")
		}
		if err != nil {
			return err
		}
	}
	if o.Neighbors, err = verify.ParseNeighborhood(f.neighbors); err != nil {
		o.Pairs, err = command.ReadAll(ctx, "--neighbors", f.neighbors, "linf, monotonic or a file of pairs", "the file has no pairs, give one a line such as 0,-1;1,-1", splitPair)
	}
	return err
}

func (f *auditFlags) run(ctx context.Context) error {
	o, err := f.options(ctx)
	if err != nil {
		return err
	}
	if err := f.verdicts.create(f.JSON); err != nil {
		return err
	}
	cert, err := f.createCert(&o)
	if err != nil {
		return err
	}
	shown, done := command.Progress(f.Streams, "audit")
	program := audit.Program{Command: f.pmfExec + f.sampleExec, Timeout: f.timeout, CleanEnv: f.cleanEnv, Children: f.children}
	decided := verify.Options{Properties: o.Properties, Rho: o.Rho, Range: o.Range, Delta: o.Delta}
	decided.Complete()
	o.Progress = f.progress(shown)
	r, err := job.Settle(ctx, func() (*audit.Report, error) {
		switch {
		case f.pmfExec != "":
			return program.PMF(ctx, o)
		case f.sampleExec != "":
			return program.Samples(ctx, o)
		}
		return f.table(ctx, o)
	}, func(why string) *audit.Report {
		return &audit.Report{Report: verify.Report{
			Mechanism: f.pmfExec + f.sampleExec + f.pmfFile, Domain: cmp.Or(f.inputs, f.domain), Claimed: o.Epsilon.Number(), Properties: nothingDecided(decided.Properties, decided.Facts, why),
		}}
	})
	done()
	if err != nil {
		return otherwise(err)
	}
	title := fmt.Sprintf("%s on %s, %s", r.Mechanism, r.Domain, f.epsilon.String())
	shows := judgement{title, f.units(), &r.Report, r.Findings, auditNotes(r), f.sampleExec != ""}
	f.Show(r, func(w io.Writer) { f.verdicts.print(w, shows) })
	if err := f.verdicts.write(ctx, shows); err != nil {
		return err
	}
	if f.sampleExec != "" && r.Verdict() == verify.Undecided && ctx.Err() == nil && r.Compared() {
		return nil // nothing found
	}
	return cert.Commit(ctx, f.Streams, func(w io.Writer) error { return r.WriteCertificate(w, f.setting(&o)) }, verdict(ctx, &r.Report))
}

// noted is how long an audit has to take for a line about it that stays.
const noted = 30 * time.Second

// progress shows how far an audit is, and says once how long it takes where that is long.
func (f *auditFlags) progress(shown func(format string, args ...any)) func(done, total int64) {
	var began time.Time
	told := false
	return func(done, total int64) {
		switch {
		case f.sampleExec != "":
			shown("%d of %d samples", done, total)
			return
		case f.pmfFile != "":
			shown("%s", comparisons(done, total))
			return
		}
		if began.IsZero() {
			began = time.Now()
		}
		took := time.Since(began)
		whole := time.Duration(float64(took) / float64(done) * float64(total))
		if took < time.Second {
			shown("%d of about %d questions", done, total)
		} else {
			shown("%d of about %d questions, %v left", done, total, (whole - took).Round(time.Second))
		}
		if !told && took > noted/10 {
			if told = true; whole > noted {
				fmt.Fprintf(f.Err, "optratio: there are about %d questions, which take about %v\n", total, whole.Round(time.Second))
			}
		}
	}
}

// otherwise adds the flag that goes with a program whose answers are of another kind than was asked for, or that is asked too much.
func otherwise(err error) error {
	if errors.Is(err, audit.ErrMany) {
		return command.Exit(command.Usage, fmt.Errorf("%w; give a smaller -n, -k or --domain FILE, --max-questions N to ask them all, or --time-limit D to end after D with the best answer so far", err))
	}
	var u *audit.Unlike
	if !errors.As(err, &u) {
		return err
	}
	flag := map[string]string{
		"pmf": "--pmf-exec", "counts": "--sample-exec", "values": "--sample-exec and --outcomes real or mixed", "labels": "--outcomes labels", "index": "--outcomes index",
	}[u.Kind]
	if flag == "" {
		return err
	}
	return command.Exit(command.Usage, fmt.Errorf("%w; give it with %s", err, flag))
}

// createCert prepares --cert.
func (f *auditFlags) createCert(o *audit.Options) (*command.CertificateFile, error) {
	switch decided := (verify.Options{Properties: o.Properties, Delta: o.Delta}); {
	case f.cert == "":
		return nil, nil
	case f.sampleExec != "":
		return nil, command.Usagef("--cert: samples prove nothing that could be checked; give --pmf-exec or --pmf-file, or leave it out")
	default:
		decided.Complete()
		if err := checkCert("", decided.Properties); err != nil {
			return nil, err
		}
	}
	return f.CreateCertificate(f.cert, o.Epsilon)
}

// setting is what a witness's certificate says beside the report.
func (f *auditFlags) setting(o *audit.Options) verify.Setting {
	s := verify.Setting{
		Epsilon: o.Epsilon, Stated: true, Neighbors: neighborsWord(o.Neighbors), Sensitivity: o.Sensitivity,
		Scale: new(big.Rat).Mul(o.Sensitivity, big.NewRat(2, 1)), Delta: o.Delta,
	}
	switch {
	case o.Pairs != nil:
		s.Neighbors = "stated"
	case f.shifted:
		s.Neighbors = "shifted"
	}
	return s
}

func (f *auditFlags) table(ctx context.Context, o audit.Options) (*audit.Report, error) {
	rows, err := readTable(ctx, f.pmfFile, o.Outcomes, o.Precision)
	if err != nil {
		return nil, err
	}
	if len(rows) > 0 && rows[0].Input != nil && f.inputs == "" {
		return nil, command.Usagef("--pmf-file %s: its rows are about inputs, give them with --inputs FILE and their pairs with --neighbors FILE", command.Quoted(f.pmfFile))
	}
	return audit.Table(ctx, f.pmfFile, rows, f.shifted, o)
}

// auditNotes says what an audit found beside its verdicts, a line each.
func auditNotes(r *audit.Report) (lines []string) {
	note := func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }
	for _, finding := range r.Findings {
		note("finding: %s", finding)
	}
	independent := r.Find(audit.Independence)
	switch {
	case independent != nil && independent.Verdict == verify.Violated:
		note("no ε is concluded from %d samples that are not independent; claimed: %s", r.Samples, r.Claimed)
	case r.DeltaBound.IsValid() && !r.LowerBound.IsValid(): // the reason of approximate-dp says it
		note("%d samples", r.Samples)
	case r.LowerBound.IsValid():
		confidence, _ := r.Confidence.Float64()
		note("ε is at least %s with confidence %g, from %d samples; claimed: %s", r.LowerBound, confidence, r.Samples, r.Claimed)
	case r.TightEps.IsValid():
		dp := r.Find(verify.DP)
		note("%s; claimed: %s", dp.Bound("ε", r.TightEps), r.Claimed)
		if _, whole := r.DomainEps.Upper(); r.DomainEps.String() != r.TightEps.String() && (whole || !dp.Stopped) {
			note("tight ε %s on the domain alone, without the side set", r.DomainEps)
		}
		if dp.Attained != nil && dp.Witness != nil {
			note("the %s is attained at %s", command.Choose(dp.Stopped, "most so far", "tight ε"), dp.Attained)
		}
	}
	return lines
}
