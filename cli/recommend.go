package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
	"optratio/internal/recommend"
	"optratio/lp"
	"optratio/mechanisms"
)

type recommendFlags struct {
	command.Job
	instanceFlags
	mechanism string
	step      string
}

func newRecommend(s command.Streams) *cobra.Command {
	f := recommendFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "recommend --scores Q,… --sensitivities D,… (--eps E | --exp-eps A/B)",
		Short: "Which mechanism for these scores: the error of each, and statistics that predict it",
		Long: `The mean squared and the expected error of each mechanism on given scores and sensitivities,
best first, and the best one; those that do not claim ε-DP stand apart below, and are never recommended.
Choosing by looking at private scores is itself not private.`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	f.instanceFlags.add(c)
	c.Flags().StringVar(&f.mechanism, "mechanism", "all", "mechanisms to rate, by name, or NAME:M, see optratio mechanisms --help; all leaves out lp-optimal, which lives on the lattice, and without -k lp-extended, whose lattice must not depend on the scores")
	c.Flags().StringVar(&f.step, "step", "2delta", "with -k: distance of the scores of lp-extended's table, 2delta, delta or 2delta/L; all others are rated at the scores as they are")
	f.Job.Add(c)
	return c
}

func (f *recommendFlags) candidates() ([]mechanisms.Mechanism, error) {
	if f.mechanism != "all" {
		return job.FindMechanisms(f.mechanism, mechanisms.LookupFewer)
	}
	parts, err := job.ParseStep(f.step, false)
	if err != nil {
		return nil, err
	}
	var out []mechanisms.Mechanism
	for _, name := range mechanisms.Names() {
		if name == "lp-optimal" || name == "lp-extended" && f.depth == 0 {
			continue
		}
		m, err := mechanisms.Lookup(name)
		if err != nil {
			return nil, err
		}
		if name == "lp-extended" {
			m = lp.Extended(f.depth, parts)
		} else if b, ok := m.(mechanisms.LatticeBound); ok {
			m = b.ForLattice(f.depth)
		}
		out = append(out, m)
	}
	return out, nil
}

func (f *recommendFlags) run(ctx context.Context) error {
	in, err := f.parse(ctx)
	if err != nil {
		return err
	}
	list, err := f.candidates()
	if err != nil {
		return err
	}
	r, err := job.Settle(ctx, func() (*recommend.Recommendation, error) { return recommend.For(ctx, in, list, f.monotonic) },
		func(why string) *recommend.Recommendation {
			return &recommend.Recommendation{Mechanisms: []recommend.Rated{}, Warning: recommend.Warning, Undecided: why}
		})
	if err != nil {
		return err
	}
	f.Show(r, func(w io.Writer) { printRecommendation(w, r) })
	return command.Ending(ctx, r.Undecided)
}

func printRecommendation(w io.Writer, r *recommend.Recommendation) {
	for i, list := range [][]recommend.Rated{r.Mechanisms, r.NotPrivate} {
		if len(list) == 0 {
			continue
		}
		if i > 0 {
			fmt.Fprintln(w, "\nnot ε-DP at this ε, for comparison only:")
		}
		t := command.Table(w, 3)
		fmt.Fprintln(t, "mechanism\tmean squared error (in squared units)\texpected error (in units of the scores)")
		for _, m := range list {
			fmt.Fprintf(t, "%s\t%s\t%s\n", m.Name, m.MSE, m.ExpectedError)
		}
		t.Flush()
	}
	for _, line := range r.Unanswered {
		command.Say(w, "no answer from %s", line)
	}
	h := r.Heuristics
	fmt.Fprintf(w, "\nrecommended: %s\n", cmp.Or(r.Recommended, "none"))
	fmt.Fprintf(w, "correlation of scores and sensitivities: Spearman %s, Pearson %s, bucket-weighted %s\n", h.Spearman, h.Pearson, h.BucketCorrelation)
	fmt.Fprintf(w, "utility bounds: gem %s, noisy max %s%s\n", h.Bounds.GEM, h.Bounds.RNM, command.Choose(h.Bounds.GEMVacuous, " (gem's exceeds the range of scores)", ""))
	fmt.Fprintf(w, "note: %s\n", r.Warning)
}
