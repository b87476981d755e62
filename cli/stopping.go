package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"optratio/internal/decimal"
	lpstopping "optratio/lp/stopping"
	"optratio/mechanisms"
	"optratio/mechanisms/stopping"
	"optratio/number"
	"optratio/number/arith"
)

func init() { commands = append(commands, newStopping) }

// stoppingFlags are the flags of the stopping command.
type stoppingFlags struct {
	n, l, win         int
	p, delta          string
	epsilon           epsilonFlags
	lp, rule, json    bool
	play, solver, gap string
	seed              uint64
	timeLimit         time.Duration
}

func newStopping(s streams) *cobra.Command {
	var f stoppingFlags
	c := &cobra.Command{
		Use:   "stopping -n N",
		Short: "Private optimal stopping: outcome law, tight privacy and the best private rule",
		Long: `The secretary problem with n candidates under differential privacy. Neighbouring
preference orders swap two candidates at most l places apart. Without --lp:
the outcome law of the p-mix of the optimal secretary rule and the blind choice,
the least ε for --delta and the least δ for --eps. With --lp: the best rule that is
(ε, δ)-private, certified, and how far the best p-mix is from it.`,
		Example: `  optratio stopping -n 8
  optratio stopping -n 30 -l 3 --p 0.5 --eps 1
  optratio stopping -n 30 --eps 0.5 --lp --rule`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), s) },
	}
	fs := c.Flags()
	fs.IntVarP(&f.n, "n", "n", 0, "number of candidates, at least 1")
	fs.IntVarP(&f.l, "l", "l", 1, "neighbours swap two candidates at most l places apart, 1 to n-1")
	fs.IntVar(&f.win, "win", 1, "winning is taking one of so many best")
	fs.StringVar(&f.p, "p", "1", "play the secretary rule with this probability, else take the first candidate")
	fs.StringVar(&f.delta, "delta", "0", "privacy parameter δ as a decimal, 0 to 1")
	f.epsilon.add(c)
	fs.BoolVar(&f.lp, "lp", false, "find the best private rule (needs --eps or --exp-eps)")
	fs.BoolVar(&f.rule, "rule", false, "with --lp, print the rule: stop probabilities by time and relative rank")
	fs.StringVar(&f.play, "play", "", "play the rule on a file of arrival ranks, one number a line, 1 the best")
	fs.Uint64Var(&f.seed, "seed", 1, "seed for --play")
	fs.StringVar(&f.solver, "solver", "auto", "auto, clp or embedded")
	fs.StringVar(&f.gap, "gap", "1e-9", "(upper-lower)/upper wanted of the optimum")
	fs.BoolVar(&f.json, "json", false, "print one JSON document")
	limitVar(fs, &f.timeLimit, "stop after this long with the best certified answer")
	return c
}

// stoppingDoc is the JSON document of a stopping job.
type stoppingDoc struct {
	N          int             `json:"n"`
	P          string          `json:"p"`
	L          int             `json:"l"`
	Eps        *string         `json:"eps"`
	ExpEps     *string         `json:"exp_eps"`
	Delta      string          `json:"delta"`
	Win        int             `json:"win"`
	Threshold  int             `json:"threshold"`
	Outcome    []number.Number `json:"outcome"`
	Success    number.Number   `json:"success"`
	TightEps   number.Number   `json:"tight_eps"`
	TightDelta *number.Number  `json:"tight_delta"`
	*bestDoc
	Play *playDoc `json:"play,omitempty"`
}

// bestDoc is what --lp adds.
type bestDoc struct {
	Optimum        number.Number   `json:"optimum"`
	PMixBest       pmixDoc         `json:"pmix_best"`
	Ratio          number.Number   `json:"ratio"`
	OptimalOutcome []number.Number `json:"optimal_outcome"`
	Solver         string          `json:"solver"`
	Rounds         int             `json:"rounds"`
	Pivots         int             `json:"pivots"`
	Seconds        float64         `json:"seconds"`
	Rule           []ruleDoc       `json:"rule,omitempty"`
	undecided      string
}

type pmixDoc struct {
	P       number.Number `json:"p"`
	Success number.Number `json:"success"`
}

// ruleDoc is one time of a rule; relative ranks that are never taken then are left out.
type ruleDoc struct {
	Time  int           `json:"time"`
	Reach number.Number `json:"reach"`
	Take  []takeDoc     `json:"take"`
}

type takeDoc struct {
	From int           `json:"from"`
	To   int           `json:"to"`
	Stop number.Number `json:"stop"`
}

type playDoc struct {
	Time int           `json:"time"`
	Rank int           `json:"rank"`
	Stop number.Number `json:"stop"`
}

// exactStopping is the largest n whose law is computed in exact rationals;
// above it the probabilities are enclosed to lawBits bits.
const (
	exactStopping = 1000
	lawBits       = 160
)

// stoppingInput is what the flags say, checked.
type stoppingInput struct {
	p, delta *big.Rat
	eps      *mechanisms.Epsilon
	payoff   []*big.Rat
	gap      float64
	arrivals []int
}

func (f *stoppingFlags) parse() (in stoppingInput, err error) {
	if f.n < 1 || f.n > stopping.MaxCandidates {
		return in, usagef("-n %d: give the number of candidates, 1 to %d", f.n, stopping.MaxCandidates)
	}
	if err := stopping.CheckDistance(f.n, f.l); err != nil {
		return in, usagef("-l %d: give a distance from 1 to n-1 = %d", f.l, max(f.n-1, 1))
	}
	if f.win < 1 || f.win > f.n {
		return in, usagef("--win %d: give a number from 1 to n = %d", f.win, f.n)
	}
	if in.p, err = parseProbability("p", f.p); err != nil {
		return in, err
	}
	if in.delta, err = parseProbability("delta", f.delta); err != nil {
		return in, err
	}
	if f.epsilon.eps != "" || f.epsilon.exp != "" {
		eps, err := f.epsilon.parse()
		if err != nil {
			return in, err
		}
		in.eps = &eps
	}
	if f.lp && in.eps == nil {
		return in, usagef("--lp: epsilon is missing: give --eps 0.5 or --exp-eps 3/2")
	}
	if f.lp && f.n > lpstopping.MaxCandidates {
		return in, usagef("-n %d: --lp takes at most %d candidates", f.n, lpstopping.MaxCandidates)
	}
	if f.rule && !f.lp {
		return in, usagef("--rule: needs --lp; without it the rule is the p-mix of passing threshold-1 candidates")
	}
	if in.gap, err = strconv.ParseFloat(f.gap, 64); err != nil || !(in.gap >= 0 && in.gap < 1) {
		return in, usagef("--gap %s: give a decimal from 0 to 1 such as 1e-9", quoted(f.gap))
	}
	if in.payoff, err = lpstopping.TopK(f.n, f.win); err != nil {
		return in, usagef("--win: %w", err)
	}
	if f.play != "" && f.n > lpstopping.MaxCandidates {
		return in, usagef("-n %d: --play takes at most %d candidates", f.n, lpstopping.MaxCandidates)
	}
	if f.play != "" {
		in.arrivals, err = readArrivals(f.play, f.n)
	}
	return in, err
}

func parseProbability(name, text string) (*big.Rat, error) {
	r, err := decimal.Parse(text)
	if err != nil || r.Sign() < 0 || r.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, usagef("--%s %s: give a decimal from 0 to 1", name, quoted(text))
	}
	return r, nil
}

// readArrivals reads one rank a line: a permutation of 1 to n.
func readArrivals(path string, n int) ([]int, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, usagef("--play: %w", err)
	}
	defer file.Close()
	var arrivals []int
	seen := map[int]int{}
	lines := bufio.NewScanner(file)
	for line := 1; lines.Scan(); line++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		rank, err := strconv.Atoi(text)
		if err != nil || rank < 1 || rank > n {
			return nil, usagef("%s:%d: %s: give a rank from 1 to n = %d", path, line, quoted(text), n)
		}
		if first, twice := seen[rank]; twice {
			return nil, usagef("%s:%d: rank %d is on line %d already: give every rank once", path, line, rank, first)
		}
		seen[rank] = line
		arrivals = append(arrivals, rank)
	}
	if err := lines.Err(); err != nil {
		return nil, usagef("--play: %s: %w", path, err)
	}
	if len(arrivals) != n {
		return nil, usagef("%s: %d ranks: give all n = %d, one a line", path, len(arrivals), n)
	}
	return arrivals, nil
}

// secretaryLaw returns r_{·,n}, and the law of its p-mix with the blind choice.
func secretaryLaw(n int, p *big.Rat) (rule, mixed stopping.Law, err error) {
	if n <= exactStopping {
		f := arith.Rat{}
		r, err := stopping.SecretaryLaw(f, n)
		if err != nil {
			return rule, mixed, err
		}
		blind, err := stopping.BlindLaw(f, n)
		if err != nil {
			return rule, mixed, err
		}
		return stopping.ExactLaw(r), stopping.ExactLaw(stopping.Mix(f, p, r, blind)), nil
	}
	f := arith.Interval{Prec: lawBits}
	r, err := stopping.SecretaryLaw(f, n)
	if err != nil {
		return rule, mixed, err
	}
	blind, err := stopping.BlindLaw(f, n)
	if err != nil {
		return rule, mixed, err
	}
	return stopping.EnclosedLaw(r), stopping.EnclosedLaw(stopping.Mix(f, f.FromRat(p), r, blind)), nil
}

func (f *stoppingFlags) run(ctx context.Context, s streams) error {
	in, err := f.parse()
	if err != nil {
		return err
	}
	doc, rule, err := f.document(ctx, s, in)
	if err != nil {
		return err
	}
	if in.arrivals != nil {
		if doc.Play, err = f.game(in, doc.Threshold, rule); err != nil {
			return err
		}
	}
	if err := show(s, f.json, doc, doc.print); err != nil || doc.bestDoc == nil {
		return err
	}
	return ending(ctx, doc.undecided)
}

// document computes everything but the game; the rule is nil without --lp.
func (f *stoppingFlags) document(ctx context.Context, s streams, in stoppingInput) (*stoppingDoc, *stopping.Rule, error) {
	threshold, err := stopping.Threshold(f.n)
	if err != nil {
		return nil, nil, err
	}
	secretary, law, err := secretaryLaw(f.n, in.p)
	if err != nil {
		return nil, nil, err
	}
	doc := &stoppingDoc{
		N: f.n, P: f.p, L: f.l, Eps: optional(f.epsilon.eps), ExpEps: optional(f.epsilon.exp), Delta: f.delta, Win: f.win,
		Threshold: threshold, Outcome: lawNumbers(law), Success: law.Payoff(in.payoff),
	}
	tight, err := stopping.TightEps(law, f.l, in.delta)
	if err != nil {
		return nil, nil, err
	}
	doc.TightEps = tight.Eps()
	if in.eps == nil {
		return doc, nil, nil
	}
	lo, hi, _, err := stopping.TightDelta(law, f.l, *in.eps)
	if err != nil {
		return nil, nil, err
	}
	delta := number.Bounds(lo, hi)
	if lo.Cmp(hi) == 0 {
		delta = number.Exact(lo)
	}
	doc.TightDelta = &delta
	if !f.lp {
		return doc, nil, nil
	}
	rule, err := f.best(ctx, s, in, secretary, doc)
	return doc, rule, err
}

func lawNumbers(law stopping.Law) []number.Number {
	out := make([]number.Number, law.N())
	for k := range out {
		out[k] = law.At(k + 1)
	}
	return out
}

// best fills in what --lp asks for.
func (f *stoppingFlags) best(ctx context.Context, s streams, in stoppingInput, secretary stopping.Law, doc *stoppingDoc) (*stopping.Rule, error) {
	solver, err := findSolver(f.solver)
	if err != nil {
		return nil, err
	}
	p := &lpstopping.Problem{Payoff: in.payoff, L: f.l, Eps: *in.eps, Delta: in.delta}
	limited, cancel := withLimit(ctx, f.timeLimit)
	defer cancel()
	start := time.Now()
	sol, err := lpstopping.Solve(limited, p, lpstopping.Options{Solver: solver, Gap: in.gap})
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	mix, err := lpstopping.BestMix(p, sol)
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	doc.bestDoc = &bestDoc{
		Optimum: sol.Optimum(), PMixBest: pmixDoc{mix.P, mix.Success}, Ratio: mix.Ratio,
		OptimalOutcome: lawNumbers(stopping.ExactLaw(sol.Law)),
		Solver:         solver.Name(), Rounds: sol.Rounds, Pivots: sol.Pivots, Seconds: time.Since(start).Seconds(),
	}
	if gap := sol.Gap(); gap > max(in.gap, 0) {
		doc.undecided = fmt.Sprintf("the relative gap of the optimum is %.1e, not %s", gap, f.gap)
		if sol.Stopped != nil {
			doc.undecided += ": " + sol.Stopped.Error()
		}
	}
	if f.rule {
		doc.Rule = ruleDocs(sol.Rule)
	}
	return sol.Rule, nil
}

// ruleDocs lists the rule, equal neighbours of one time as one entry.
func ruleDocs(r *stopping.Rule) []ruleDoc {
	var out []ruleDoc
	for i := 1; i <= r.N() && r.Reach(i).Sign() > 0; i++ {
		d := ruleDoc{Time: i, Reach: number.Exact(r.Reach(i)), Take: []takeDoc{}}
		for j := 1; j <= i; {
			to := j
			for to < i && r.Weight(i, to+1).Cmp(r.Weight(i, j)) == 0 {
				to++
			}
			if stop := r.Stop(i, j); stop.Sign() > 0 {
				d.Take = append(d.Take, takeDoc{j, to, number.Exact(stop)})
			}
			j = to + 1
		}
		out = append(out, d)
	}
	return out
}

// game plays the rule of --lp, or the p-mix of the secretary rule, on the arrivals.
func (f *stoppingFlags) game(in stoppingInput, threshold int, rule *stopping.Rule) (*playDoc, error) {
	if rule == nil {
		secretary, err := stopping.ThresholdRule(f.n, threshold)
		if err != nil {
			return nil, err
		}
		blind, err := stopping.ThresholdRule(f.n, 1)
		if err != nil {
			return nil, err
		}
		if rule, err = stopping.MixRules(in.p, secretary, blind); err != nil {
			return nil, err
		}
	}
	rng := rand.New(rand.NewPCG(f.seed, 0))
	at, err := rule.Play(in.arrivals, rng.Float64)
	if err != nil {
		return nil, usagef("%s: %w", f.play, err)
	}
	times, err := rule.StopTimes(in.arrivals)
	if err != nil {
		return nil, err
	}
	return &playDoc{Time: at, Rank: in.arrivals[at-1], Stop: number.Exact(times[at-1])}, nil
}

// shownRanks is how many ranks the table for people shows.
const shownRanks = 12

func (d *stoppingDoc) print(w io.Writer) error {
	fmt.Fprintf(w, "n = %d, l = %d, p = %s, δ = %s; the secretary rule passes %d and takes the next best so far\n", d.N, d.L, d.P, d.Delta, d.Threshold-1)
	fmt.Fprintf(w, "success: %s (one of the best %d)\n", d.Success, d.Win)
	fmt.Fprintf(w, "least ε for this δ: %s\n", d.TightEps)
	if d.TightDelta != nil {
		fmt.Fprintf(w, "least δ for this ε: %s\n", d.TightDelta)
	}
	if b := d.bestDoc; b != nil {
		fmt.Fprintf(w, "\nbest private rule: %s\n", b.Optimum)
		fmt.Fprintf(w, "best p-mix:        %s, p = %s\n", b.PMixBest.Success, b.PMixBest.P)
		fmt.Fprintf(w, "ratio:             %s\n", b.Ratio)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	head := "rank\tPr[taken]"
	if d.bestDoc != nil {
		head += "\tbest private rule"
	}
	fmt.Fprintln(t, head)
	for k, q := range d.Outcome[:min(shownRanks, d.N)] {
		fmt.Fprintf(t, "%d\t%s", k+1, q)
		if d.bestDoc != nil {
			fmt.Fprintf(t, "\t%s", d.OptimalOutcome[k])
		}
		fmt.Fprintln(t)
	}
	if d.N > shownRanks {
		fmt.Fprintf(t, "…\t(--json has all %d)\n", d.N)
	}
	if d.bestDoc != nil && len(d.Rule) > 0 {
		fmt.Fprintln(t, "\ntime\treached\ttake relative ranks (with probability)")
		for _, r := range d.Rule {
			fmt.Fprintf(t, "%d\t%s\t%s\n", r.Time, short(r.Reach), takes(r.Take))
		}
	}
	if d.Play != nil {
		fmt.Fprintf(t, "\nplayed: stopped at time %d and took rank %d (a chance of %s with these arrivals)\n", d.Play.Time, d.Play.Rank, short(d.Play.Stop))
	}
	return t.Flush()
}

// short is a probability for a table where its digits do not matter.
func short(x number.Number) string { return fmt.Sprintf("%.6f", x.Float64()) }

func takes(list []takeDoc) string {
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
