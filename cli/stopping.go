package cli

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"optratio/internal/clp"
	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/internal/linear"
	"optratio/internal/secretary"
	"optratio/internal/stopping"
	"optratio/number"
)

// stoppingFlags are the flags of the stopping command.
type stoppingFlags struct {
	command.Job
	n, l, win         int
	p, delta          string
	epsilon           job.Epsilon
	lp, rule          bool
	play, solver, gap string
	cert              string
	seed              uint64
	asymptotic        bool
	from, to          string             // of --distance
	solution          *stopping.Solution // of --lp, once it is found
}

func newStopping(s command.Streams) *cobra.Command {
	f := stoppingFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "stopping -n N",
		Short: "Private optimal stopping: outcome law, tight privacy and the best private rule",
		Long: `The secretary problem with n candidates under differential privacy. Neighboring
preference orders swap two candidates at most l places apart. Without --lp:
the outcome law of the p-mix of the optimal secretary rule and the blind choice,
the least ε for --delta and the least δ for --eps. With --lp: the best rule that is
(ε, δ)-private, certified, and how far the best p-mix of the secretary rule is from it.
With --distance: how many swaps of elements at most l places apart turn one order into another.`,
		Example: `  optratio stopping -n 8
  optratio stopping -n 30 -l 3 --p 0.5 --eps 1
  optratio stopping -n 30 --eps 0.5 --lp --rule
  optratio stopping --distance 3,1,2 -l 1`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	fs := c.Flags()
	command.CountVar(fs, &f.n, "n", "n", 0, "number of candidates, at least 1")
	command.CountVar(fs, &f.l, "l", "l", 1, "neighbors swap two candidates at most l places apart, 1 to n-1")
	fs.IntVar(&f.win, "win", 1, "winning is taking one of so many best")
	fs.StringVar(&f.p, "p", "1", "play the secretary rule with this probability, else take the first candidate")
	fs.StringVar(&f.delta, "delta", "0", "privacy parameter δ as a decimal, 0 to 1")
	command.AddEpsilon(c, &f.epsilon)
	fs.BoolVar(&f.lp, "lp", false, "find the best private rule (needs --eps or --exp-eps)")
	fs.BoolVar(&f.rule, "rule", false, "with --lp, print the rule: stop probabilities by time and relative rank")
	fs.StringVar(&f.play, "play", "", "play the rule on a file of arrival ranks, one number a line, 1 the best")
	fs.Uint64Var(&f.seed, "seed", 1, "seed for --play")
	fs.StringVar(&f.solver, "solver", "auto", "auto, clp or embedded")
	fs.StringVar(&f.gap, "gap", "1e-9", "(upper-lower)/upper wanted of the optimum")
	fs.BoolVar(&f.asymptotic, "asymptotic", false, "")
	fs.String("boundary", "", "")
	fs.Lookup("asymptotic").Hidden, fs.Lookup("boundary").Hidden = true, true
	fs.StringVar(&f.from, "distance", "", "the distance d_l from this order, a list of 1 to n, to --distance-to: any n for l = 1 and l = n-1, at most 9 otherwise")
	fs.StringVar(&f.to, "distance-to", "", "see --distance (default: 1,2,…,n)")
	addCert(c, &f.cert)
	f.Job.Add(c)
	return c
}

// stoppingInput is what the flags say, checked.
type stoppingInput struct {
	p, delta *big.Rat
	eps      *number.Epsilon
	payoff   []*big.Rat
	solver   linear.Solver
	second   linear.Solver // for what the solver cannot answer
	gap      float64
	arrivals []int
}

func (f *stoppingFlags) parse(ctx context.Context) (in stoppingInput, err error) {
	if f.n < 1 {
		return in, command.Usagef("-n is missing or 0: give the number of candidates, 1 to %d", secretary.MaxCandidates)
	}
	if f.n > secretary.MaxCandidates {
		return in, command.Usagef("-n %d: give the number of candidates, 1 to %d", f.n, secretary.MaxCandidates)
	}
	if err := secretary.CheckDistance(f.n, f.l); err != nil {
		return in, command.Usagef("-l %d: give a distance from 1 to n-1 = %d", f.l, max(f.n-1, 1))
	}
	if f.win < 1 || f.win > f.n {
		return in, command.Usagef("--win %d: give a number from 1 to n = %d", f.win, f.n)
	}
	if in.p, err = job.Probability("p", f.p); err != nil {
		return in, err
	}
	if in.delta, err = job.Probability("delta", f.delta); err != nil {
		return in, err
	}
	if f.epsilon.Eps != "" || f.epsilon.Exp != "" {
		in.eps = new(number.Epsilon)
		if *in.eps, err = f.epsilon.Parse(); err != nil {
			return in, err
		}
	}
	if err := f.checkProgram(in.eps != nil); err != nil {
		return in, err
	}
	if in.gap, err = job.FloatGap(f.gap); err != nil {
		return in, err
	}
	if in.payoff, err = stopping.TopK(f.n, f.win); err != nil {
		return in, command.Usagef("--win: %w", err)
	}
	if in.solver, err = findSolver(f.solver); err != nil {
		return in, err
	}
	if f.solver == "auto" {
		if second, err := clp.New(); err == nil {
			in.second = second
		}
	}
	if f.play != "" && f.n > stopping.MaxCandidates {
		return in, command.Usagef("-n %d: --play takes at most %d candidates", f.n, stopping.MaxCandidates)
	}
	if f.play != "" {
		in.arrivals, err = readArrivals(ctx, f.play, f.n)
	}
	return in, err
}

// checkProgram refuses --lp where its program cannot be posed, and the flags that need it where it is not given.
func (f *stoppingFlags) checkProgram(epsilon bool) error {
	switch {
	case f.lp && !epsilon:
		return command.Usagef("--lp: epsilon is missing: give --eps 0.5 or --exp-eps 3/2")
	case f.lp && f.n > stopping.MaxCandidates:
		return command.Usagef("-n %d: --lp takes at most %d candidates", f.n, stopping.MaxCandidates)
	case f.cert != "" && !f.lp:
		return command.Usagef("--cert: needs --lp; there is nothing to certify without it")
	case f.rule && !f.lp:
		return command.Usagef("--rule: needs --lp; without it the rule is the p-mix of passing threshold-1 candidates")
	}
	return nil
}

// readArrivals reads one rank a line: a permutation of 1 to n.
func readArrivals(ctx context.Context, path string, n int) ([]int, error) {
	seen := map[int]bool{}
	arrivals, err := command.ReadAll(ctx, "--play", path, "", fmt.Sprintf("0 ranks: give all n = %d, one a line", n), func(text string) (int, error) {
		rank, err := strconv.Atoi(text)
		switch {
		case err != nil || rank < 1 || rank > n:
			return 0, fmt.Errorf("%s: give a rank from 1 to n = %d", command.Quoted(text), n)
		case seen[rank]:
			return 0, fmt.Errorf("rank %d is there already: give every rank once", rank)
		}
		seen[rank] = true
		return rank, nil
	})
	if err != nil {
		return nil, err
	}
	if len(arrivals) != n {
		return nil, command.Usagef("--play %s: %d ranks: give all n = %d, one a line", command.Quoted(path), len(arrivals), n)
	}
	return arrivals, nil
}

func (f *stoppingFlags) run(ctx context.Context) error {
	switch {
	case f.from != "" || f.to != "":
		return f.runDistance(ctx)
	case f.asymptotic:
		return command.Usagef("--asymptotic: limits of large n moved to bin/research stopping-limit: make research")
	}
	in, err := f.parse(ctx)
	if err != nil {
		return err
	}
	at := number.Epsilon{}
	if in.eps != nil {
		at = *in.eps
	}
	cert, err := f.CreateCertificate(f.cert, at)
	if err != nil {
		return err
	}
	doc := &document.Stopping{
		N: f.n, P: f.p, L: f.l, Eps: command.Optional(f.epsilon.Eps), ExpEps: command.Optional(f.epsilon.Exp), Delta: f.delta, Win: f.win,
	}
	rule, err := f.answer(ctx, in, doc)
	if err != nil {
		return err
	}
	if in.arrivals != nil && doc.Undecided == "" {
		game, err := stage(ctx, doc, func() (secretary.Game, error) {
			if rule == nil {
				if rule, err = secretary.SecretaryMix(f.n, in.p); err != nil {
					return secretary.Game{}, err
				}
			}
			return rule.Seeded(in.arrivals, f.seed)
		})
		if err != nil {
			return err
		}
		doc.Play = &game
	}
	f.Show(doc, func(w io.Writer) { printStopping(w, doc) })
	return cert.Commit(ctx, f.Streams, f.solution.WriteCertificate, command.Ending(ctx, doc.Undecided))
}

// stage is one of the computations that make up the document. Where a limit ends it, or ended one before, its result is the zero value.
func stage[T any](ctx context.Context, doc *document.Stopping, compute func() (T, error)) (T, error) {
	var none T
	if doc.Undecided != "" {
		return none, nil
	}
	return job.Settle(ctx, compute, func(why string) T { doc.Undecided = why; return none })
}

// answer computes everything but the game, as far as the limits let it; the rule is nil without --lp.
func (f *stoppingFlags) answer(ctx context.Context, in stoppingInput, doc *document.Stopping) (*secretary.Rule, error) {
	threshold, err := stage(ctx, doc, func() (int, error) { return secretary.Threshold(f.n) })
	if err != nil {
		return nil, err
	}
	doc.Threshold = threshold
	law, err := stage(ctx, doc, func() (secretary.Law, error) { return secretary.SecretaryMixLaw(ctx, f.n, in.p) })
	if err != nil {
		return nil, err
	}
	if doc.Outcome, err = stage(ctx, doc, func() ([]number.Number, error) { return law.Numbers(), nil }); err != nil {
		return nil, err
	}
	if doc.Success, err = stage(ctx, doc, func() (number.Number, error) { return law.Payoff(in.payoff), nil }); err != nil {
		return nil, err
	}
	doc.TightEps, err = stage(ctx, doc, func() (number.Number, error) {
		tight, err := secretary.TightEps(law, f.l, in.delta)
		return tight.Eps(), err
	})
	if err != nil || in.eps == nil {
		return nil, err
	}
	doc.TightDelta, err = stage(ctx, doc, func() (*number.Number, error) {
		lo, hi, _, err := secretary.TightDelta(law, f.l, *in.eps)
		if err != nil {
			return nil, err
		}
		delta := number.Bounds(lo, hi)
		return &delta, nil
	})
	if err != nil || !f.lp {
		return nil, err
	}
	return f.best(ctx, in, doc)
}

// best fills in what --lp asks for.
func (f *stoppingFlags) best(ctx context.Context, in stoppingInput, doc *document.Stopping) (*secretary.Rule, error) {
	p := &stopping.Problem{Payoff: in.payoff, L: f.l, Eps: *in.eps, Delta: in.delta}
	// Taking the first candidate is private, and takes one of the best with this probability.
	any := number.Bounds(big.NewRat(int64(f.win), int64(f.n)), big.NewRat(1, 1))
	doc.BestRule = &document.BestRule{
		Optimum: any, PMixBest: document.PMix{P: number.Bounds(new(big.Rat), big.NewRat(1, 1)), Success: any}, Ratio: number.Bounds(big.NewRat(1, 1), nil),
		Solver: in.solver.Name(),
	}
	report, done := command.Progress(f.Streams, fmt.Sprintf("n = %d", f.n))
	options := stopping.Options{Solver: in.solver, Second: in.second, Gap: in.gap, Report: func(p stopping.Progress) {
		report("round %d, optimum between %.9g and %.9g", p.Round, p.Lower, p.Upper)
	}}
	start := time.Now()
	sol, err := stage(ctx, doc, func() (*stopping.Solution, error) { return stopping.Solve(ctx, p, options) })
	done()
	if err != nil || sol == nil {
		return nil, err
	}
	b := doc.BestRule
	f.solution = sol
	b.Optimum, b.Rounds, b.Pivots, b.Solver = sol.Optimum(), sol.Rounds, sol.Pivots, sol.Solver
	if b.OptimalOutcome, err = stage(ctx, doc, func() ([]number.Number, error) { return secretary.ExactLaw(sol.Law).Numbers(), nil }); err != nil {
		return nil, err
	}
	if f.rule {
		b.Rule = sol.Rule.Moments()
	}
	mix, err := stage(ctx, doc, func() (*stopping.Mix, error) { m, err := p.SecretaryMix(ctx, sol); return &m, err })
	if err != nil {
		return nil, err
	}
	if mix != nil {
		b.PMixBest, b.Ratio = document.PMix{P: mix.P, Success: mix.Success}, mix.Ratio
	}
	if f.win > 1 {
		if mix, err = stage(ctx, doc, func() (*stopping.Mix, error) { m, err := p.FreeMix(sol); return &m, err }); err != nil {
			return nil, err
		}
		if mix != nil {
			b.WinMixBest = &document.PMix{P: mix.P, Success: mix.Success}
		}
	}
	b.Seconds = time.Since(start).Seconds()
	if gap := sol.Gap(); gap > in.gap {
		doc.Undecided = fmt.Sprintf("the relative gap of the optimum is %.1e, not %s", gap, f.gap)
		if sol.Stopped != nil {
			doc.Undecided += ": " + sol.Stopped.Error()
		}
	}
	return sol.Rule, nil
}

// shownRanks is how many ranks the table for people shows.
const shownRanks = 12

func printStopping(w io.Writer, d *document.Stopping) {
	fmt.Fprintf(w, "n = %d, l = %d, p = %s, δ = %s", d.N, d.L, d.P, d.Delta)
	if d.Threshold > 0 {
		fmt.Fprintf(w, "; the secretary rule passes %d and takes the next best so far", d.Threshold-1)
	}
	fmt.Fprintf(w, "\nsuccess: %s (one of the best %d)\n", d.Success, d.Win)
	fmt.Fprintf(w, "least ε for this δ: %s\n", d.TightEps)
	if d.TightDelta != nil {
		fmt.Fprintf(w, "least δ for this ε: %s\n", d.TightDelta)
	}
	if b := d.BestRule; b != nil {
		fmt.Fprintf(w, "\nbest private rule: %s\n", b.Optimum)
		fmt.Fprintf(w, "best p-mix of the secretary rule: %s, p = %s\n", b.PMixBest.Success, b.PMixBest.P)
		if m := b.WinMixBest; m != nil {
			fmt.Fprintf(w, "best p-mix of the best rule without privacy for one of the best %d: %s, p = %s\n", d.Win, m.Success, m.P)
		}
		fmt.Fprintf(w, "ratio of the best private rule to the best p-mix of the secretary rule: %s\n", b.Ratio)
	}
	fmt.Fprintln(w)
	t := command.Table(w, 3)
	head := "rank (1 is the best)\tPr[taken]"
	ranks := d.Outcome[:min(shownRanks, len(d.Outcome))]
	both := d.BestRule != nil && len(d.OptimalOutcome) >= len(ranks)
	if both {
		head += "\tbest private rule"
	}
	fmt.Fprintln(t, head)
	for k, q := range ranks {
		fmt.Fprintf(t, "%d\t%s", k+1, q)
		if both {
			fmt.Fprintf(t, "\t%s", d.OptimalOutcome[k])
		}
		fmt.Fprintln(t)
	}
	if len(d.Outcome) > shownRanks {
		fmt.Fprintf(t, "…\t(--json has all %d)\n", d.N)
	}
	if d.BestRule != nil && len(d.Rule) > 0 {
		fmt.Fprintln(t, "\ntime\treached\ttake relative ranks (with probability)")
		for _, r := range d.Rule {
			fmt.Fprintf(t, "%d\t%s\t%s\n", r.Time, short(r.Reach), takes(r.Take))
		}
	}
	if d.Play != nil {
		fmt.Fprintf(t, "\nplayed: stopped at time %d and took rank %d (a chance of %s with these arrivals)\n", d.Play.Time, d.Play.Rank, short(d.Play.Stop))
	}
	t.Flush()
}

// short is a probability for a table where its digits do not matter.
func short(x number.Number) string { return fmt.Sprintf("%.6f", x.Float64()) }

func takes(list []secretary.Take) string {
	var parts []string
	for _, t := range list {
		part := strconv.Itoa(t.From)
		if t.To > t.From {
			part += "-" + strconv.Itoa(t.To)
		}
		if r, exact := t.Stop.Rat(); !exact || !r.IsInt() {
			part += " (" + short(t.Stop) + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
