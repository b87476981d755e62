package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/linear"
	"optratio/internal/subject"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// ratioFlags are the flags of the main job.
type ratioFlags struct {
	programFlags
	epsilon           command.EpsilonFlags
	question          questionFlags
	subject           subjectFlags
	mechanism, method string
	sensitivity, cert string
	rho, domain       string
	exact             bool
}

func newRatio(s command.Streams) *cobra.Command {
	f := ratioFlags{programFlags: programFlags{Job: command.Job{Streams: s}}}
	c := &cobra.Command{
		Use:   "ratio -n N -k K (--eps E | --exp-eps A/B | --rho R)",
		Short: "Certified optimality ratio of mechanisms on the lattice of n candidates and depth k",
		Long: `Certified optimality ratio: a mechanism's mean expected error over all score
vectors of n candidates on the lattice of step 2Δ, best score 0, worst at least -2Δk,
over a lower bound on what any shift-invariant ε-DP mechanism can have there (with
--constraints monotone or full: any such mechanism that is monotone as well). Errors are in steps
of 2Δ; --step asks the same of a finer lattice. --pmf-exec and --pmf-file rate your own mechanism beside
the others, as subject: it is asked about every score vector. Several ε, separated by commas, give one table (with
--json an array).

--rho R compares the mechanisms with each other instead, the first named being 1: each runs at the largest parameter at
which it is R-zCDP on the lattice, or with --domain real for all real scores, which theorems know for pf, em and geo.
Equal ρ, not equal ε, is what counts where many choices are composed.`,
		Example: `  optratio -n 4 -k 4 --eps 0.5
  optratio -n 4 -k 4 --eps 0.1,0.5,1
  optratio -n 3 -k 3 --eps 1 --step delta --constraints dp --mechanism pf,geo
  optratio -n 4 -k 3 --rho 0.1 --mechanism pf,em,krr
  optratio -n 3 -k 2 --eps 1 --pmf-exec 'python3 examples/audit/em.py'`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				var names []string
				for _, other := range c.Root().Commands() {
					if !other.Hidden {
						names = append(names, other.Name())
					}
				}
				return command.Usagef("unknown command or argument %s; optratio --help lists the commands%s", command.Quoted(args[0]), command.DidYouMean(args[0], names))
			}
			return nil
		},
	}
	c.RunE = f.Limited(func(ctx context.Context) error {
		rho, err := f.checkRho(c.Flags())
		switch {
		case err != nil:
			return err
		case rho != nil:
			return f.runRho(ctx, rho)
		}
		return f.run(ctx)
	})
	c.SetUsageFunc(ratioUsage)
	fs := c.Flags()
	fs.StringVar(&f.rho, "rho", "", "instead of ε: each mechanism at its largest parameter that is ρ-zCDP with this ρ")
	fs.StringVar(&f.domain, "domain", "lattice", "with --rho: where each mechanism has to be ρ-zCDP, lattice or real (all real scores)")
	f.programFlags.add(c, "1e-9")
	f.epsilon.Add(c)
	f.question.add(c)
	f.question.addDelta(c)
	f.subject.add(c)
	f.addWhat(c)
	fs.StringVar(&f.cert, "cert", "", "write a certificate to this file")
	return c
}

// addWhat adds the flags that say what is rated and how, once the objective has its flag.
func (f *ratioFlags) addWhat(c *cobra.Command) {
	fs := c.Flags()
	fs.Lookup("objective").Usage = "weights of score vectors: paper or box; or minimax, the worst score vector instead of a mean"
	fs.StringVar(&f.mechanism, "mechanism", "pf,em", "mechanisms to rate, by name")
	fs.StringVar(&f.method, "method", "auto", "auto, closed-form, lumped or lp; --solver clp and embedded imply lp")
	fs.StringVar(&f.sensitivity, "sensitivity", "1", "sensitivity Δ; errors are in steps of 2Δ whatever it is")
	fs.BoolVar(&f.exact, "exact", false, "accept exact rationals only (with --exp-eps)")
}

// request turns the flags into a request.
func (f *ratioFlags) request(ctx context.Context) (r lp.Request, err error) {
	flags := f.programFlags
	worst := f.objective == "minimax"
	if worst {
		flags.objective = "paper" // not used
	}
	p, err := flags.parse()
	if err != nil {
		return r, err
	}
	if f.question.prior != "" && f.objective != "paper" {
		return r, command.Usagef("--objective %s and --prior exclude each other: give one of them", f.objective)
	}
	r = lp.Request{Worst: worst, N: p.n, K: p.k, Objective: p.objective, Level: p.level, Solver: p.solver, Gap: p.gap, MaxMemory: p.maxMemory, Exact: f.exact, Certified: f.cert != ""}
	if f.rho == "" {
		if r.Epsilon, err = f.epsilon.Parse(); err != nil {
			return r, err
		}
	}
	if f.exact && f.epsilon.Exp == "" {
		return r, command.Usagef("--exact: exact results need a rational e^ε, give --exp-eps instead of --eps")
	}
	if r.Mechanisms, err = command.FindMechanisms(f.mechanism, mechanisms.Lookup); err != nil {
		return r, err
	}
	if r.Method, err = command.Parsed("method", f.method, lp.ParseMethod); err != nil {
		return r, err
	}
	r.Direct = f.solver != "auto"
	if f.solver != "auto" && r.Method == lp.Auto {
		r.Method = lp.Enumerated
	}
	delta, err := command.ParsePositive("sensitivity", f.sensitivity)
	if err != nil {
		return r, err
	}
	for _, m := range r.Mechanisms {
		if _, err := mechanisms.MonotonicSensitivities(m, []*big.Rat{delta}); err != nil && f.question.monotonic {
			return r, command.Usagef("--monotonic-scores: %w", err)
		}
	}
	if err := f.question.apply(ctx, &r, delta); err != nil {
		return r, err
	}
	return r, nil
}

func (f *ratioFlags) run(ctx context.Context) error {
	list, err := f.epsilon.List()
	if err != nil {
		return err
	}
	if len(list) > 1 {
		return f.runList(ctx, list)
	}
	var cert *command.CertificateFile
	doc, a, err := f.answer(ctx, func(at number.Epsilon) (err error) {
		cert, err = f.CreateCertificate(f.cert, at)
		return err
	})
	if err != nil {
		return err
	}
	f.Show(doc, func(w io.Writer) { printRatio(w, doc, f.epsilon.Text(), f.question.text()) })
	return cert.Commit(ctx, f.Streams, a.WriteCertificate, ratioEnding(ctx, doc))
}

// answer does the job for one ε; ready is called once the flags are found to be right.
func (f *ratioFlags) answer(ctx context.Context, ready func(number.Epsilon) error) (*document.Ratio, *lp.Answer, error) {
	r, err := f.request(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := ready(r.Epsilon); err != nil {
		return nil, nil, err
	}
	report, done := command.Progress(f.Streams, fmt.Sprintf("n = %d, k = %d", f.n, f.k))
	subject, err := f.addSubject(ctx, &r, func(n int64) { report("the subject was asked about %d score vectors", n) })
	if err != nil {
		done()
		return nil, nil, err
	}
	if subject != nil {
		defer subject.Close()
	}
	r.Report = func(p linear.Progress) { report("%d pivots, objective %.9g", p.Pivots, p.Objective) }
	a, err := command.Settle(ctx, func() (*lp.Answer, error) { return rated(ctx, r, subject) }, func(why string) *lp.Answer { return f.anyRatio(r, why) })
	done()
	if err != nil {
		return nil, nil, err
	}
	doc := &document.Ratio{
		N: f.n, K: f.k, Eps: command.Optional(f.epsilon.Eps), ExpEps: command.Optional(f.epsilon.Exp),
		Objective: f.objective, Constraints: f.question.level(f.constraints),
		Orbits: a.Orbits, Variables: a.Variables, Proof: a.Proof, Solver: a.Solver, Pivots: a.Pivots, Seconds: a.Seconds,
		Optimum: a.Optimum, Mechanisms: a.Mechanisms, Undecided: a.Undecided,
		Monotonic: f.question.monotonic, Step: f.question.step, Loss: f.question.loss, Prior: cmp.Or(f.question.prior, map[string]string{"paper": "uniform", "box": "box", "minimax": "none"}[f.objective]), PFOptimal: a.PFOptimal,
		Subject: f.subject.doc(subject, &r), Price: a.Price,
	}
	if r.Delta != nil {
		doc.Delta = new(number.Exact(r.Delta))
	}
	return doc, a, nil
}

// ratioEnding turns what the answer says into the command's end.
func ratioEnding(ctx context.Context, d *document.Ratio) error {
	for _, m := range d.Mechanisms {
		if m.Finding != "" {
			return command.Exit(command.Violated, errors.New(m.Finding))
		}
	}
	return command.Ending(ctx, d.Undecided)
}

// addSubject adds the user's own mechanism to a request, and returns it; nil where there is none.
func (f *ratioFlags) addSubject(ctx context.Context, r *lp.Request, progress func(int64)) (*subject.Stated, error) {
	delta, err := command.ParsePositive("sensitivity", f.sensitivity)
	if err != nil {
		return nil, err
	}
	if r.Worst && f.subject.given() && !f.subject.symmetric {
		return nil, command.Usagef("--objective minimax: the largest loss of a mechanism that is not symmetric depends on the order of the scores; give --assume-symmetric if the subject is")
	}
	model := verify.Linf
	if f.question.monotonic {
		model = verify.Monotonic
	}
	subject, err := f.subject.parse(ctx, r.Epsilon, delta, model, progress)
	if err != nil || subject == nil {
		return nil, err
	}
	if _, err := command.Settle(ctx, func() (bool, error) { return true, subject.Try(ctx, r.N, r.K, max(1, r.Step)) }, func(string) bool { return false }); err != nil {
		subject.Close()
		return nil, err
	}
	r.Mechanisms = append(r.Mechanisms, subject)
	return subject, nil
}

// anyRatio says what is true of every ratio: errors lie between 0 and the depth. Of other losses it says nothing.
func (f *ratioFlags) anyRatio(r lp.Request, why string) *lp.Answer {
	a := &lp.Answer{Proof: "none", Solver: "none", Undecided: why}
	var ratio number.Number
	if f.question.loss == "mean" {
		a.Optimum, ratio = number.Bounds(new(big.Rat), big.NewRat(int64(r.K), 1)), number.Bounds(new(big.Rat), nil)
	}
	for _, m := range r.Mechanisms {
		a.Mechanisms = append(a.Mechanisms, lp.Rated{Name: m.Info().Name, Error: a.Optimum, Ratio: ratio})
	}
	return a
}

// proofText explains a proof in a few words.
var proofText = map[string]string{
	lp.ProofRecurrence: "permute-and-flip is provably optimal, no linear program needed",
	lp.ProofClosedForm: "closed-form bound, without a linear program",
	lp.ProofMonotone:   "bound from monotonicity in closed form, without a linear program",
	lp.ProofLumped:     "linear program over classes of orbits",
	lp.ProofLP:         "linear program",
	"none":             "none",
}

// printRatio writes the table for people.
func printRatio(w io.Writer, d *document.Ratio, eps, question string) {
	fmt.Fprintf(w, "n = %d, k = %d, %s, objective %s, constraints %s%s\n", d.N, d.K, eps, d.Objective, command.Explained(d.Constraints), question)
	fmt.Fprintf(w, "%s orbits, %s variables; proof: %s\n", decimal.Count(d.Orbits), decimal.Count(d.Variables), proofText[d.Proof])
	base := command.Choose(d.Monotonic, "Δ", "2Δ")
	column, unit := fmt.Sprintf("error (steps of %s)", base), "expected error in steps of "+base
	if d.Loss != "mean" {
		column, unit = "loss", "expected loss"
	}
	fmt.Fprintf(w, "optimum: %s (%s %s)\n", d.Optimum, command.Choose(d.Objective == "minimax", "largest", "mean"), unit)
	if d.Price != nil {
		fmt.Fprintf(w, "price of δ: the optimum falls by at most %s for each unit that δ grows\n", *d.Price)
	}
	if d.Step != command.Choose(d.Monotonic, "delta", "2delta") && (d.Constraints == "paper" || d.Constraints == "monotone") {
		fmt.Fprintf(w, "at this step the worst neighbors alone leave much of privacy out: --constraints dp gives a larger lower bound\n")
	}
	if d.Monotonic {
		fmt.Fprintf(w, "every mechanism runs with 2Δ replaced by Δ, at which it has the same privacy for monotonic scores; ratios are those of the step 2Δ without them\n")
	}
	if d.PFOptimal != nil && *d.PFOptimal {
		fmt.Fprintf(w, "permute-and-flip is optimal for this lattice, loss and prior\n")
	}
	fmt.Fprintln(w)
	t := command.Table(w, 3)
	fmt.Fprintf(t, "mechanism\t%s\tratio to the optimum\n", column)
	for _, m := range d.Mechanisms {
		if m.Finding != "" {
			fmt.Fprintf(t, "%s\tnot rated\t\n", m.Name)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", m.Name, m.Error, m.Ratio)
	}
	t.Flush()
	if d.Subject != nil {
		fmt.Fprintln(w)
		command.Say(w, "%s", subjectText(d.Subject))
	}
	for _, m := range d.Mechanisms {
		if hi, ok := m.Ratio.Upper(); ok && hi.Cmp(big.NewRat(1, 1)) < 0 {
			fmt.Fprintf(w, "\n%s is better than any regular %s mechanism can be: it is not one at this ε\n", m.Name, command.Choose(d.Delta == nil, "ε-DP", "(ε,δ)-DP"))
		}
	}
}
