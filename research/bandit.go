package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/number"
	"optratio/research/bandit"
)

// banditFlags are the flags of the bandit command.
type banditFlags struct {
	command.Job
	config                      bandit.Config
	policies, means, spreads    string
	meansAfter, spreadsAfter    string
	clip, alpha, quantiles      string
	epsSelect, epsKRR           string
	epsMean, epsQuantile, floor string
	output, trace               string
	params                      command.ParamFlags
}

func newBandit(s command.Streams) *cobra.Command {
	f := banditFlags{Job: command.Job{Streams: s}, config: bandit.Default()}
	c := &cobra.Command{
		Use:   "bandit",
		Short: "A bandit whose arms change once: UCB, Thompson sampling, and private mechanisms that choose arms by private means",
		Long: `The simulation of Antonova, Laro, McMillan & Wolf, Private Selection with Heterogeneous Sensitivities, IX and App. H. At each step a policy takes an arm and
sees a normal reward, clipped to --clip; after --shift steps the arms' laws change. ucb and thompson are not private. Every other policy is a registered mechanism that selects
with --eps-select (krr with --eps-krr) on private means: running sums by the hybrid or the tree counter with --eps-mean for each arm, over the public counts, and
sensitivities that are differences of private quantiles of the last full --window rewards of each arm, with --eps-quantile for each pair. Regret is in mean rewards of the
arms. Everything is an estimate, with its standard error over the runs. Defaults are the source's where it has them; research/docs/scenarios.md lists what it leaves open.`,
		Example: `  research bandit --runs 30
  research bandit -T 2000 --shift 500 --runs 10 --policy ucb,krr,mgem -o curves.csv
  research bandit --alpha 0.01 --policy ucb,mgem`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
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
	fs.StringVar(&f.meansAfter, "means-after", "", "means after the change (default: those before in reverse order)")
	fs.StringVar(&f.spreadsAfter, "spreads-after", "", "standard deviations after the change (default: in reverse order)")
	fs.StringVar(&f.clip, "clip", "0:1", "range that rewards are clipped to, from:to")
	fs.StringVar(&f.alpha, "alpha", "", "ucb's level of optimism (default √2)")
	fs.StringVar(&f.epsSelect, "eps-select", "1", "ε of each choice, ε_S")
	fs.StringVar(&f.epsKRR, "eps-krr", "4", "ε of each choice of krr, which needs no sensitivities")
	fs.StringVar(&f.epsMean, "eps-mean", "1", "ε of each arm's running sums, ε_M")
	fs.StringVar(&f.epsQuantile, "eps-quantile", "1", "ε of each pair of quantiles, ε_p")
	fs.StringVar(&f.config.Counter, "counter", d.Counter, "private running sums: hybrid, for streams of unknown length, or tree, for streams of at most T")
	command.CountVar(fs, &f.config.Window, "window", "", d.Window, "rewards of an arm for a pair of quantiles, each in one window")
	fs.StringVar(&f.quantiles, "quantiles", "0.1,0.9", "the two quantiles whose difference is a sensitivity")
	command.CountVar(fs, &f.config.Grid, "grid", "", d.Grid, "take quantiles from so many evenly spaced points (default 0: from all of the range)")
	fs.StringVar(&f.floor, "floor", "0.01", "least sensitivity")
	fs.StringVarP(&f.output, "output", "o", "", "write the curves, with 95 % bands, to this CSV file")
	fs.StringVar(&f.trace, "trace", "", "write scores, means, sensitivities and quantiles of the first run over time to this CSV file")
	f.params.Add(c)
	f.Job.Add(c)
	return c
}

// decimals reads a list of so many decimals, of any number where count is 0.
func decimals(name, text string, count int) (out []float64, err error) {
	list, err := decimal.ParseList(text, command.MostEps)
	if err != nil || count > 0 && len(list) != count {
		return nil, command.Usagef("--%s %s: give %s", name, command.Quoted(text), command.Choose(count == 0, "decimals separated by commas", fmt.Sprintf("%d decimals separated by commas", count)))
	}
	for _, x := range list {
		out = append(out, float(x))
	}
	return out, nil
}

// arms reads means and standard deviations.
func arms(means, spreads []float64) (out []bandit.Arm, err error) {
	if len(means) != len(spreads) || len(means) < 2 {
		return nil, command.Usagef("--means, --spreads: %d means and %d standard deviations; give one of either for each arm, of at least two", len(means), len(spreads))
	}
	for i, m := range means {
		if spreads[i] < 0 {
			return nil, command.Usagef("--spreads %v: give standard deviations >= 0", spreads[i])
		}
		out = append(out, bandit.Arm{Mean: m, Spread: spreads[i]})
	}
	return out, nil
}

// parse fills in the configuration.
func (f *banditFlags) parse() (err error) {
	c := &f.config
	if c.Shift == -1 {
		c.Shift = int(int64(c.Horizon) * 3 / 5)
	}
	var lists [4][]float64
	for i, l := range []struct{ name, text string }{{"means", f.means}, {"spreads", f.spreads}, {"means-after", f.meansAfter}, {"spreads-after", f.spreadsAfter}} {
		if l.text == "" {
			lists[i] = slices.Clone(lists[i%2])
			slices.Reverse(lists[i])
		} else if lists[i], err = decimals(l.name, l.text, 0); err != nil {
			return err
		}
	}
	if c.Before, err = arms(lists[0], lists[1]); err != nil {
		return err
	}
	if c.After, err = arms(lists[2], lists[3]); err != nil {
		return err
	}
	from, to, ok := strings.Cut(f.clip, ":")
	ends, err := decimals("clip", from+","+to, 2)
	if err != nil || !ok || ends[0] >= ends[1] {
		return command.Usagef("--clip %s: give from:to such as 0:1", command.Quoted(f.clip))
	}
	c.Low, c.High = ends[0], ends[1]
	if f.alpha != "" {
		alpha, err := decimals("alpha", f.alpha, 1)
		if err != nil || alpha[0] < 0 {
			return command.Usagef("--alpha %s: give a decimal >= 0", command.Quoted(f.alpha))
		}
		c.Alpha = alpha[0]
	}
	q, err := decimals("quantiles", f.quantiles, 2)
	if err != nil {
		return err
	}
	c.Quantiles = [2]float64(q)
	var krr float64
	for _, e := range []struct {
		name, text string
		to         *float64
	}{
		{"eps-select", f.epsSelect, &c.EpsSelect}, {"eps-krr", f.epsKRR, &krr}, {"eps-mean", f.epsMean, &c.EpsMean},
		{"eps-quantile", f.epsQuantile, &c.EpsQuantile}, {"floor", f.floor, &c.Floor},
	} {
		var r *big.Rat
		if r, err = command.ParsePositive(e.name, e.text); err != nil {
			return err
		}
		*e.to = float(r)
	}
	c.EpsSelectOf = map[string]float64{"krr": krr}
	if c.Params, err = f.params.Parse(); err != nil {
		return err
	}
	if c.Policies, err = command.SplitNames("policy", f.policies); err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return command.Usagef("--%s", strings.TrimPrefix(err.Error(), bandit.ErrConfig.Error()+": "))
	}
	return nil
}

func (f *banditFlags) run(ctx context.Context) (err error) {
	if err := f.parse(); err != nil {
		return err
	}
	var files [2]*command.OutputFile
	for i, o := range []struct{ flag, path string }{{"--output", f.output}, {"--trace", f.trace}} {
		if o.path != "" {
			if files[i], err = command.CreateOutput(o.flag, o.path); err != nil {
				return err
			}
		}
	}
	report, done := command.Progress(f.Streams, "bandit")
	doc := &banditDoc{config: &f.config}
	r, err := command.Settle(ctx, func() (*bandit.Result, error) {
		r, err := bandit.Run(ctx, f.config, func(done, total int) { report("%d of %d", done, total) })
		if r != nil && err != nil && errors.Is(err, context.Cause(ctx)) {
			doc.Undecided, err = err.Error(), nil
		}
		return r, err
	}, func(why string) *bandit.Result { doc.Undecided = why; return &bandit.Result{} })
	done()
	if err != nil {
		return err
	}
	doc.fill(r)
	if err := files[0].Commit(ctx, func(w io.Writer) error { return curves(w, r) }); err != nil {
		return err
	}
	if err := files[1].Commit(ctx, func(w io.Writer) error { return traces(w, r) }); err != nil {
		return err
	}
	f.Show(doc, doc.print)
	return command.Ending(ctx, doc.Undecided)
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
	config    *bandit.Config
}

// Schema names the form of the JSON document.
func (banditDoc) Schema() string { return "research.bandit/1" }

// banditMean is a mean over the runs.
type banditMean struct {
	Mean   number.Number  `json:"mean"`
	StdErr *number.Number `json:"std_err"` // null for one run
}

func meanDoc(m bandit.Mean, runs int) banditMean {
	out := banditMean{Mean: number.Estimate(m.Value, "mean of the runs")}
	if runs > 1 {
		e := number.Estimate(m.StdErr, "standard error")
		out.StdErr = &e
	}
	return out
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
	// Steps after the shift until the policy takes the arm that is best then, and until more than half of its last 100 choices are of it: median and largest
	// of the runs, null where that is never.
	FirstBest steps `json:"first_best"`
	Switch    steps `json:"switch"`
}

// steps are a median and a largest number of steps; nil for never.
type steps struct {
	Median  *int `json:"median"`
	Largest *int `json:"largest"`
}

// newSteps takes 0 for never.
func newSteps(values []int) (s steps) {
	const never = int(^uint(0) >> 1)
	for i, v := range values {
		if v == 0 {
			values[i] = never
		}
	}
	slices.Sort(values)
	for i, v := range []int{values[(len(values)-1)/2], values[len(values)-1]} {
		if v < never {
			*[]**int{&s.Median, &s.Largest}[i] = &v
		}
	}
	return s
}

func (s steps) String() string {
	text := func(v *int) string {
		if v == nil {
			return "never"
		}
		return strconv.Itoa(*v)
	}
	return text(s.Median) + " / " + text(s.Largest)
}

func (d *banditDoc) fill(r *bandit.Result) {
	d.Horizon, d.Shift, d.Seed, d.Counter, d.Runs = d.config.Horizon, d.config.Shift, d.config.Seed, d.config.Counter, r.Completed
	d.Policies = []banditPolicy{}
	for _, o := range r.Outcomes {
		var first, change []int
		for _, run := range o.Runs {
			first, change = append(first, run.FirstBest), append(change, run.Switch)
		}
		d.Policies = append(d.Policies, banditPolicy{
			Policy: o.Policy, Private: o.Policy != bandit.UCB && o.Policy != bandit.Thompson,
			RegretBefore: meanDoc(o.Before, r.Completed), RegretAfter: meanDoc(o.After, r.Completed), Regret: meanDoc(o.Final, r.Completed), Reward: meanDoc(o.Total, r.Completed), BestAfter: meanDoc(o.BestAfter, r.Completed),
			FirstBest: newSteps(first), Switch: newSteps(change),
		})
	}
}

func (d *banditDoc) print(w io.Writer) {
	fmt.Fprintf(w, "%d runs of %d steps, arms change after %d; seed %d; %s counter\n", d.Runs, d.Horizon, d.Shift, d.Seed, d.Counter)
	fmt.Fprintf(w, "regret in mean rewards, ± one standard error; steps after the change, median / largest of the runs\n\n")
	t := command.Table(w, 3)
	fmt.Fprintln(t, "policy\tregret before\tregret after\tregret\treward\tbest arm after\tfirst takes it\tmostly takes it")
	for _, p := range d.Policies {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%.1f %%\t%s\t%s\n", p.Policy, p.RegretBefore, p.RegretAfter, p.Regret, p.Reward, 100*p.BestAfter.Mean.Float64(), p.FirstBest, p.Switch)
	}
	t.Flush()
}

// curves writes means over the runs over time, with bands of 1.96 standard errors.
func curves(w io.Writer, r *bandit.Result) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"policy", "t", "reward", "reward_low", "reward_high", "regret", "regret_low", "regret_high", "best_share", "best_share_low", "best_share_high"})
	for _, o := range r.Outcomes {
		for i, t := range r.Times {
			line := []string{o.Policy, strconv.Itoa(t)}
			for _, m := range []bandit.Mean{o.Reward[i], o.Regret[i], o.BestShare[i]} {
				line = append(line, floatText(m.Value), floatText(m.Value-1.96*m.StdErr), floatText(m.Value+1.96*m.StdErr))
			}
			_ = c.Write(line)
		}
	}
	c.Flush()
	return c.Error()
}

// traces writes what the policies know in the first run.
func traces(w io.Writer, r *bandit.Result) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"policy", "t", "arm", "score", "mean", "sensitivity", "low", "high"})
	at := func(values []float64, arm int) string {
		if arm >= len(values) {
			return ""
		}
		return floatText(values[arm])
	}
	for _, o := range r.Outcomes {
		for i, s := range o.Runs[0].States {
			for arm := range s.Means {
				_ = c.Write([]string{o.Policy, strconv.Itoa(r.Times[i]), strconv.Itoa(arm), at(s.Scores, arm), at(s.Means, arm), at(s.Sensitivities, arm), at(s.Low, arm), at(s.High, arm)})
			}
		}
	}
	c.Flush()
	return c.Error()
}
