package main

import (
	"context"
	"fmt"
	"io"
	"math/big"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/internal/secretary"
	"optratio/number"
	"optratio/research/limit"
)

type stoppingLimitFlags struct {
	command.Job
	epsilon  job.Epsilon
	l        int
	p, delta string
	lp       bool
	gap      string
}

// shownRanks is how many ranks there are laws of.
const shownRanks = 12

func newStoppingLimit(s command.Streams) *cobra.Command {
	f := stoppingLimitFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "stopping-limit",
		Short: "Private optimal stopping among ever more candidates",
		Long: `What optratio stopping says of n candidates, in the limit of large n: of the p-mix of the secretary rule and
the blind choice, for every fixed rank, the outcome law, the least ε for --delta and the least δ for --eps; research figure stopping-2 draws
the boundary of that region. With --lp also the limit of the best private rule's success, for -l 1 and --delta 0.`,
		Example: `  research stopping-limit --p 0.5 --delta 0.01
  research stopping-limit --lp --eps 0.8`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	fs := c.Flags()
	command.CountVar(fs, &f.l, "l", "l", 1, "neighbors swap two candidates at most l places apart")
	fs.StringVar(&f.p, "p", "1", "play the secretary rule with this probability, else take the first candidate")
	fs.StringVar(&f.delta, "delta", "0", "privacy parameter δ as a decimal, 0 to 1")
	command.AddFields(c, &f.epsilon, nil)
	fs.BoolVar(&f.lp, "lp", false, "find the limit of the best private rule's success (needs --eps or --exp-eps)")
	fs.StringVar(&f.gap, "gap", "1e-9", "(upper-lower)/upper wanted of that limit")
	f.Job.Add(c)
	return c
}

// limitDoc is the JSON document of the limit of the p-mix as n grows.
type limitDoc struct {
	N        string          `json:"n"` // "inf"
	P        string          `json:"p"`
	L        int             `json:"l"`
	Eps      *string         `json:"eps"`
	ExpEps   *string         `json:"exp_eps"`
	Delta    string          `json:"delta"`
	Outcome  []number.Number `json:"outcome"` // of the first ranks
	Success  number.Number   `json:"success"`
	TightEps number.Number   `json:"tight_eps"`
	TightDel *number.Number  `json:"tight_delta"`
	LargestP *number.Number  `json:"largest_p"` // for ε and δ
	BestRule *limit.Limit    `json:"best_rule,omitempty"`

	Undecided string `json:"undecided,omitempty"`
}

// Schema names the form of the JSON document.
func (limitDoc) Schema() string { return "optratio.stopping-limit/1" }

func (f *stoppingLimitFlags) run(ctx context.Context) error {
	if f.lp && (f.l != 1 || f.delta != "0") {
		return command.Usagef("--lp: finds the limit for -l 1 and --delta 0 only")
	}
	if f.l < 1 || f.l > secretary.MaxCandidates {
		return command.Usagef("-l %d: give a distance from 1 to %d", f.l, secretary.MaxCandidates)
	}
	p, err := job.Probability("p", f.p)
	if err != nil {
		return err
	}
	delta, err := job.Probability("delta", f.delta)
	if err != nil {
		return err
	}
	doc := &limitDoc{N: "inf", P: f.p, L: f.l, Eps: document.Optional(f.epsilon.Eps), ExpEps: document.Optional(f.epsilon.Exp), Delta: f.delta}
	if doc.Outcome, err = limit.Law(p, shownRanks); err != nil {
		return err
	}
	doc.Success = doc.Outcome[0]
	if doc.TightEps, err = limit.Eps(p, delta, f.l); err != nil {
		return err
	}
	if doc.Eps != nil || doc.ExpEps != nil {
		if err := f.atEpsilon(doc, p, delta); err != nil {
			return err
		}
	}
	if f.lp {
		if err := f.bestInTheLimit(ctx, doc); err != nil {
			return err
		}
	}
	f.Show(doc, doc.print)
	return command.Ending(ctx, doc.Undecided)
}

// bestInTheLimit adds the limit of the best private success.
func (f *stoppingLimitFlags) bestInTheLimit(ctx context.Context, doc *limitDoc) error {
	if doc.Eps == nil && doc.ExpEps == nil {
		return command.Usagef("--lp: epsilon is missing: give --eps 0.5 or --exp-eps 3/2")
	}
	eps, err := f.epsilon.Parse()
	if err != nil {
		return err
	}
	width, err := job.Probability("gap", f.gap)
	if err != nil {
		return err
	}
	gap, _ := width.Float64()
	best := func() (*limit.Limit, error) { return limit.Best(ctx, eps, gap), nil }
	doc.BestRule, err = job.Settle(ctx, best, func(why string) *limit.Limit { doc.Undecided = why; return nil })
	if err != nil || doc.BestRule == nil {
		return err
	}
	if wide := doc.BestRule.Gap(); wide > gap {
		doc.Undecided = fmt.Sprintf("the relative gap of the limit is %.1e, not %s: small ε need rules with many starts", wide, f.gap)
	}
	return nil
}

// atEpsilon adds what the given ε says about δ and p.
func (f *stoppingLimitFlags) atEpsilon(doc *limitDoc, p, delta *big.Rat) error {
	eps, err := f.epsilon.Parse()
	if err != nil {
		return err
	}
	tight, err := limit.Delta(p, f.l, eps)
	if err != nil {
		return err
	}
	largest, err := limit.P(f.l, eps, delta)
	if err != nil {
		return err
	}
	doc.TightDel, doc.LargestP = &tight, &largest
	return nil
}

func (d *limitDoc) print(w io.Writer) {
	fmt.Fprintf(w, "n → ∞, l = %d, p = %s, δ = %s: limits for every fixed rank\n", d.L, d.P, d.Delta)
	fmt.Fprintf(w, "success: %s\n", d.Success)
	fmt.Fprintf(w, "least ε for this δ: %s\n", d.TightEps)
	if d.TightDel != nil {
		fmt.Fprintf(w, "least δ for this ε: %s\n", d.TightDel)
		fmt.Fprintf(w, "largest p for this ε and δ: %s\n", d.LargestP)
	}
	if b := d.BestRule; b != nil {
		fmt.Fprintf(w, "best private rule: its success tends to %s\n", b.Success)
		if b.Rate != nil {
			fmt.Fprintf(w, "among n candidates its success is that and about %.6f/n\n", b.Rate.Float64())
		}
		if len(b.Starts) > 0 && d.Undecided == "" {
			fmt.Fprintf(w, "it takes whoever is the best so far from time %.6f of 1 on, and its law is as steep as privacy permits for %d ranks\n", b.Starts[0], b.Tight+1)
		}
	}
	t := decimal.Table(w, 3)
	fmt.Fprintln(t, "\nrank (1 is the best)\tPr[taken]")
	for k, q := range d.Outcome {
		fmt.Fprintf(t, "%d\t%s\n", k+1, q)
	}
	t.Flush()
}
