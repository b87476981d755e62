package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/number"
	"optratio/research/bandit"
	"optratio/research/scenario"
)

// banditFlags are the flags of the bandit command.
type banditFlags struct {
	study
	config                                bandit.Config
	policies, means, spreads, clip, alpha string
	epsSelect, epsKRR                     string
	epsMean, epsQuantile                  string
}

func newBandit(s command.Streams) *cobra.Command {
	f := banditFlags{study: study{Job: command.Job{Streams: s}}, config: bandit.Default()}
	c := &cobra.Command{
		Use:   "bandit",
		Short: "A bandit whose arms change once: UCB, Thompson sampling, and private mechanisms that choose arms by private means",
		Long: `The simulation of Antonova, Laro, McMillan & Wolf, Private Selection with Heterogeneous Sensitivities, IX and App. H. At each step a policy takes an arm and
sees a normal reward, clipped to --clip; after --shift steps the arms have each other's laws, in reverse order. ucb and thompson are not private. Every other policy is a registered
mechanism that selects with --eps-select (krr with --eps-krr) on private means: running sums by the hybrid or the tree counter with --eps-mean for each arm, over the public counts, and
sensitivities that are differences of private deciles of the last full --window rewards of each arm, with --eps-quantile for each pair. Regret is in mean rewards of the
arms. Everything is an estimate, with its standard error over the runs. Defaults are the source's where it has them; research/docs/scenarios.md lists what it leaves open.`,
		Example: `  research bandit --runs 30
  research bandit -T 2000 --shift 500 --runs 10 --policy ucb,krr,mgem -o curves.csv
  research bandit --alpha 0.01 --policy ucb,mgem`,
		Args: command.NoArgs,
		RunE: f.Limited(f.simulate),
	}
	fs, d := c.Flags(), f.config
	command.CountVar(fs, &f.config.Horizon, "horizon", "T", d.Horizon, "steps")
	command.CountVar(fs, &f.config.Shift, "shift", "", -1, "steps before the change of the arms: 30000 of 50000 in the source's figure, 500 in its text")
	fs.Lookup("shift").DefValue = "3/5 of all"
	command.CountVar(fs, &f.config.Runs, "runs", "", d.Runs, "independent runs; all policies meet the same rewards in a run")
	command.CountVar(fs, &f.config.Points, "points", "", d.Points, "times at which curves are recorded")
	fs.Uint64Var(&f.config.Seed, "seed", d.Seed, "seed")
	fs.StringVar(&f.policies, "policy", strings.Join(d.Policies, ","), "ucb, thompson and mechanisms by name")
	fs.StringVar(&f.means, "means", "0.2,0.8", "means of the arms before the change, and")
	fs.StringVar(&f.spreads, "spreads", "0.1,0.3", "standard deviations")
	fs.StringVar(&f.clip, "clip", "0:1", "range that rewards are clipped to, from:to")
	fs.StringVar(&f.alpha, "alpha", "", "ucb's level of optimism (default √2)")
	fs.StringVar(&f.epsSelect, "eps-select", "1", "ε of each choice, ε_S")
	fs.StringVar(&f.epsKRR, "eps-krr", "4", "ε of each choice of krr, which needs no sensitivities")
	fs.StringVar(&f.epsMean, "eps-mean", "1", "ε of each arm's running sums, ε_M")
	fs.StringVar(&f.epsQuantile, "eps-quantile", "1", "ε of each pair of quantiles, ε_p")
	fs.StringVar(&f.config.Counter, "counter", d.Counter, "private running sums: hybrid, for streams of unknown length, or tree, for streams of at most T")
	command.CountVar(fs, &f.config.Window, "window", "", d.Window, "rewards of an arm for a pair of quantiles, each in one window")
	f.add(c, "write the curves, with 95 % bands, to this CSV file")
	return c
}

// decimals reads a list of decimals.
func decimals(name, text string) (out []float64, err error) {
	list, err := decimal.ParseList(text, mostEps)
	if err != nil {
		return nil, command.Usagef("--%s %s: give decimals separated by commas", name, escape.Quoted(text))
	}
	for _, x := range list {
		out = append(out, float(x))
	}
	return out, nil
}

// parse fills in the configuration.
func (f *banditFlags) parse() (err error) {
	c := &f.config
	if c.Shift == -1 {
		c.Shift = int(int64(c.Horizon) * 3 / 5)
	}
	means, err := decimals("means", f.means)
	if err != nil {
		return err
	}
	spreads, err := decimals("spreads", f.spreads)
	if err != nil {
		return err
	}
	if len(means) != len(spreads) || len(means) < 2 || slices.Min(spreads) < 0 {
		return command.Usagef("--means, --spreads: %d means and %d standard deviations; give one of either for each arm, of at least two, and standard deviations >= 0", len(means), len(spreads))
	}
	c.Before = nil
	for i, m := range means {
		c.Before = append(c.Before, bandit.Arm{Mean: m, Spread: spreads[i]})
	}
	c.After = slices.Clone(c.Before)
	slices.Reverse(c.After)
	from, to, ok := strings.Cut(f.clip, ":")
	ends, err := decimals("clip", from+","+to)
	if err != nil || !ok || len(ends) != 2 || ends[0] >= ends[1] {
		return command.Usagef("--clip %s: give from:to such as 0:1", escape.Quoted(f.clip))
	}
	c.Low, c.High = ends[0], ends[1]
	if f.alpha != "" {
		alpha, err := decimals("alpha", f.alpha)
		if err != nil || len(alpha) != 1 || alpha[0] < 0 {
			return command.Usagef("--alpha %s: give a decimal >= 0", escape.Quoted(f.alpha))
		}
		c.Alpha = alpha[0]
	}
	for _, e := range []struct {
		name, text string
		to         *float64
	}{
		{"eps-select", f.epsSelect, &c.EpsSelect}, {"eps-krr", f.epsKRR, &c.EpsKRR}, {"eps-mean", f.epsMean, &c.EpsMean}, {"eps-quantile", f.epsQuantile, &c.EpsQuantile},
	} {
		r, err := job.Positive(e.name, e.text)
		if err != nil {
			return err
		}
		*e.to = float(r)
	}
	if c.Params, err = f.params.Values(); err != nil {
		return err
	}
	if c.Policies, err = job.SplitNames("policy", f.policies); err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return command.Usagef("--%s", strings.TrimPrefix(err.Error(), bandit.ErrConfig.Error()+": "))
	}
	return nil
}

func (f *banditFlags) simulate(ctx context.Context) error {
	if err := f.parse(); err != nil {
		return err
	}
	c := &f.config
	doc := &banditDoc{Horizon: c.Horizon, Shift: c.Shift, Seed: c.Seed, Counter: c.Counter, Policies: []banditPolicy{}, result: &bandit.Result{}}
	return f.run(ctx, "bandit", doc, func(report func(string, ...any)) error {
		r, err := job.Settle(ctx, func() (*bandit.Result, error) {
			r, err := bandit.Run(ctx, *c, func(done, total int) { report("%d of %d", done, total) })
			if r != nil && err != nil && errors.Is(err, context.Cause(ctx)) {
				doc.Undecided, err = err.Error(), nil
			}
			return r, err
		}, func(why string) *bandit.Result { doc.Undecided = why; return &bandit.Result{} })
		if err == nil {
			doc.fill(r)
		}
		return err
	})
}

// banditDoc is the JSON document of a simulation.
type banditDoc struct {
	Horizon   int            `json:"horizon"`
	Shift     int            `json:"shift"`
	Runs      int            `json:"runs"` // completed
	Seed      uint64         `json:"seed"`
	Counter   string         `json:"counter"`
	Policies  []banditPolicy `json:"policies"`
	Undecided string         `json:"undecided,omitempty"`
	result    *bandit.Result
}

// Schema names the form of the JSON document.
func (banditDoc) Schema() string { return "research.bandit/1" }

func (d *banditDoc) end() string { return d.Undecided }

// banditMean is a mean over the runs.
type banditMean struct {
	Mean   number.Number  `json:"mean"`
	StdErr *number.Number `json:"std_err"` // null for one run
}

func (m banditMean) String() string {
	if m.StdErr == nil {
		return fmt.Sprintf("%.1f", m.Mean.Float64())
	}
	return fmt.Sprintf("%.1f ± %.1f", m.Mean.Float64(), m.StdErr.Float64())
}

type banditPolicy struct {
	Policy       string     `json:"policy"`
	Private      bool       `json:"private"`
	RegretBefore banditMean `json:"regret_before_shift"`
	RegretAfter  banditMean `json:"regret_after_shift"`
	Regret       banditMean `json:"regret"`
	Reward       banditMean `json:"reward"`
	BestAfter    banditMean `json:"best_share_after_shift"`
	FirstBest    *int       `json:"first_best"` // median of the steps after the shift until the policy takes the arm that is best then; null for never
}

func (d *banditDoc) fill(r *bandit.Result) {
	d.Runs, d.result = r.Completed, r
	mean := func(m scenario.Mean) banditMean {
		return banditMean{number.Estimate(m.Value, "mean of the runs"), stdErr(m, r.Completed)}
	}
	for _, o := range r.Outcomes {
		p := banditPolicy{Policy: o.Policy, Private: o.Policy != bandit.UCB && o.Policy != bandit.Thompson,
			RegretBefore: mean(o.Before), RegretAfter: mean(o.After), Regret: mean(o.Final), Reward: mean(o.Total), BestAfter: mean(o.BestAfter)}
		first := o.FirstBest()
		if first > 0 {
			p.FirstBest = &first
		}
		d.Policies = append(d.Policies, p)
	}
}

func (d *banditDoc) print(w io.Writer) {
	fmt.Fprintf(w, "%d runs of %d steps, arms change after %d; seed %d; %s counter\n", d.Runs, d.Horizon, d.Shift, d.Seed, d.Counter)
	fmt.Fprintf(w, "regret in mean rewards, ± one standard error; median of the steps after the change\n\n")
	t := decimal.Table(w, 3)
	fmt.Fprintln(t, "policy\tregret before\tregret after\tregret\treward\tbest arm after\tfirst takes it")
	for _, p := range d.Policies {
		first := "never"
		if p.FirstBest != nil {
			first = strconv.Itoa(*p.FirstBest)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%.1f %%\t%s\n", p.Policy, p.RegretBefore, p.RegretAfter, p.Regret, p.Reward, 100*p.BestAfter.Mean.Float64(), first)
	}
	t.Flush()
}

// csv writes means over the runs over time, with bands of 1.96 standard errors.
func (d *banditDoc) csv(c *csv.Writer) {
	_ = c.Write([]string{"policy", "t", "reward", "reward_low", "reward_high", "regret", "regret_low", "regret_high", "best_share", "best_share_low", "best_share_high"})
	for _, o := range d.result.Outcomes {
		for i, t := range d.result.Times {
			line := []string{o.Policy, strconv.Itoa(t)}
			for _, m := range []scenario.Mean{o.Reward[i], o.Regret[i], o.BestShare[i]} {
				line = append(line, floatText(m.Value), floatText(m.Value-1.96*m.StdErr), floatText(m.Value+1.96*m.StdErr))
			}
			_ = c.Write(line)
		}
	}
}
