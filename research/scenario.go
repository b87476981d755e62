package main

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/research/scenario"
)

// scenarioFlags are the flags of the scenario command.
type scenarioFlags struct {
	command.Job
	eps, expEps   string
	mechanism, by string
	share, slopes string
	draws, trials int
	seed          uint64
	rigorous      bool
	summary       bool
	gain, deltas  string
	gap, output   string
	params        command.ParamFlags
	numbers       []string // the arguments
}

// defaultEps are the ε of a study where none is given.
const defaultEps = "0.1,0.25,0.5,0.75,1,1.5,2,3,4,6,8,16"

func newScenario(s command.Streams) *cobra.Command {
	f := scenarioFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "scenario [NUMBER…]",
		Short: "Synthetic scenarios with different sensitivities: the error of every mechanism over ε, and which to use",
		Long: `Scenarios 1 to 8 of Antonova, Laro, McMillan & Wolf, Private Selection with Heterogeneous Sensitivities, all of 100 candidates;
without a number all eight. Scenarios 1 to 3 are two groups of scores, split half and half or as --share says. In 4 to 8 scores are drawn
from a seed: --draws score vectors, whose deciles give the sensitivities, and of these --trials are rated. --t has the family of increasing
correlation instead (their figure 6; the source leaves its sensitivities open: here 0.1 for the least one, and linear in the
scores' systematic part, research/docs/scenarios.md).

In each trial the errors are means over the mechanism's own randomness, computed from its probabilities in float64 and not sampled; what is printed is their average
over the trials. With --rigorous, for scenarios 1 to 3, they are exact or enclosed where a mechanism allows. The last tables name the best private mechanism at each ε, and by
what factor the mean squared error of the others exceeds its.

With --gain M,M' instead: Pr[M errs] - Pr[M' errs] for two candidates of scores 0 and --gap and all sensitivities of --delta-range, as CSV
(their figures 2 and 10 to 12). It is positive where M' takes the better one more often.`,
		Example: `  research scenario 1 --eps 0.5,1,2 --mechanism em,pf,gem,mgem
  research scenario 1 2 3 --eps 2 --share 0.01:0.99:0.01 -o splits.csv
  research scenario --t -5,0,5 --eps 1
  research scenario --gain rnm-exponential,rs --gamma 0.01 --eps 0.1 --gap 1 --delta-range 0.5:4:0.5`,
		Args: func(_ *cobra.Command, args []string) error { f.numbers = args; return nil },
		RunE: f.Limited(f.run),
	}
	fs := c.Flags()
	fs.StringVar(&f.eps, "eps", "", "list of ε, decimals and ranges from:to:step, taken exactly (default "+defaultEps+"; 0.1 with --gain)")
	fs.StringVar(&f.expEps, "exp-eps", "", "list of e^ε instead, fractions or decimals")
	fs.StringVar(&f.mechanism, "mechanism", "all", "mechanisms to rate, by name; all leaves out lp-optimal and lp-extended, which live on a lattice")
	fs.StringVar(&f.by, "by", "mse", "the tables for people show mse or error: the mean squared or the expected error")
	fs.StringVar(&f.share, "share", "0.5", "scenarios 1 to 3: list of shares of candidates with the higher score, multiples of 0.01 from 0.01 to 0.99")
	fs.StringVar(&f.slopes, "t", "", "the family of increasing correlation, at these slopes; all for -5,-0.8,-0.3,0,0.3,0.8,5")
	command.CountVar(fs, &f.draws, "draws", "", 1000, "scenarios 4 to 8 and --t: score vectors to draw; their deciles are the sensitivities of 4 to 8")
	command.CountVar(fs, &f.trials, "trials", "", 20, "scenarios 4 to 8 and --t: how many of the draws are rated")
	fs.Uint64Var(&f.seed, "seed", 1, "seed of the draws")
	fs.BoolVar(&f.rigorous, "rigorous", false, "scenarios 1 to 3: exact errors or enclosures where there are any")
	fs.BoolVar(&f.summary, "summary", false, "the tables for people are the last two only")
	fs.StringVar(&f.gain, "gain", "", "two mechanisms: print how much more often the second one takes the better of two candidates")
	fs.StringVar(&f.deltas, "delta-range", "0.1:4.1:0.2", "with --gain: list of sensitivities, the same for both candidates")
	fs.StringVar(&f.gap, "gap", "1", "with --gain: list of differences of the two scores")
	fs.StringVarP(&f.output, "output", "o", "", "also write every number to this CSV file")
	f.params.Add(c)
	f.Job.Add(c)
	return c
}

// The largest number of draws, which are held in memory, and slope of the family of increasing correlation.
const mostDraws = 50_000

var mostSlope = big.NewRat(1_000_000, 1)

func positive(x *big.Rat) bool { return x.Sign() > 0 }

// listedEps is an ε of a list, with its text.
type listedEps struct {
	number.Epsilon
	text epsText
}

// epsilons reads --eps or --exp-eps.
func (f *scenarioFlags) epsilons(standard string) (out []listedEps, err error) {
	if f.eps != "" && f.expEps != "" {
		return nil, command.Usagef("--eps and --exp-eps exclude each other: give one of them")
	}
	name, text := "eps", f.eps
	if f.expEps != "" {
		name, text = "exp-eps", f.expEps
	} else if text == "" {
		text = standard
	}
	list, err := command.ParseList(name, text, command.Choose(name == "eps", "decimals >= 0", "fractions or decimals >= 1"), func(x *big.Rat) bool {
		return x.Sign() >= 0 && (name == "eps" || x.Cmp(big.NewRat(1, 1)) >= 0)
	})
	for _, x := range list {
		var e listedEps
		if text := command.ExactText(x); name == "eps" {
			e.text.Eps = &text
			e.Epsilon, err = number.FromEpsilon(x)
		} else {
			e.text.ExpEps = &text
			e.Epsilon, err = number.FromExp(x)
		}
		if err != nil {
			return nil, command.Usagef("--%s: %w", name, err)
		}
		out = append(out, e)
	}
	return out, err
}

// chosen returns the mechanisms of --mechanism, all of those that do not live on a lattice by default.
func (f *scenarioFlags) chosen() ([]mechanisms.Mechanism, error) {
	list, err := command.FindMechanisms(command.Choose(f.mechanism == "all", strings.Join(mechanisms.Names(), ","), f.mechanism), mechanisms.Lookup)
	onLattice := func(m mechanisms.Mechanism) bool { _, ok := m.(mechanisms.LatticeBound); return ok }
	if i := slices.IndexFunc(list, onLattice); i >= 0 && f.mechanism != "all" {
		return nil, command.Usagef("--mechanism %s: lives on a lattice, which the scores of a scenario are not on; leave it out", list[i].Info().Name)
	}
	return slices.DeleteFunc(list, onLattice), err
}

// scenarios returns those that the arguments, --t and --share name.
func (f *scenarioFlags) scenarios() (out []scenario.Scenario, err error) {
	if f.slopes != "" {
		if len(f.numbers) > 0 {
			return nil, command.Usagef("--t: the family of increasing correlation has no number; give %s or --t, not both", command.Quoted(f.numbers[0]))
		}
		slopes := scenario.Slopes
		if f.slopes != "all" {
			list, err := command.ParseList("t", f.slopes, "decimals from -1e6 to 1e6, or all", func(x *big.Rat) bool { return new(big.Rat).Abs(x).Cmp(mostSlope) <= 0 })
			if err != nil {
				return nil, err
			}
			slopes = nil
			for _, x := range list {
				t, _ := x.Float64()
				slopes = append(slopes, t)
			}
		}
		for _, t := range slopes {
			out = append(out, scenario.Correlated(t))
		}
		return out, nil
	}
	numbers := f.numbers
	if len(numbers) == 0 {
		for _, s := range scenario.Scenarios {
			numbers = append(numbers, s.Name)
		}
	}
	hundredth := big.NewRat(1, scenario.Candidates)
	shares, err := command.ParseList("share", f.share, "multiples of 0.01 from 0.01 to 0.99", func(x *big.Rat) bool {
		return x.Cmp(hundredth) >= 0 && x.Cmp(new(big.Rat).Sub(big.NewRat(1, 1), hundredth)) <= 0 && new(big.Rat).Quo(x, hundredth).IsInt()
	})
	if err != nil {
		return nil, err
	}
	for _, text := range numbers {
		number, _ := strconv.Atoi(text) // 0 for none
		s, err := scenario.Find(number)
		if err != nil {
			return nil, command.Usagef("%s: no such scenario; give numbers from 1 to %d", command.Quoted(text), len(scenario.Scenarios))
		}
		if !s.Fixed() {
			out = append(out, s)
			continue
		}
		for _, share := range shares {
			of, err := s.WithHigh(int(new(big.Rat).Quo(share, hundredth).Num().Int64()))
			if err != nil {
				return nil, err
			}
			out = append(out, of)
		}
	}
	return out, nil
}

func (f *scenarioFlags) run(ctx context.Context) (err error) {
	if f.by != "mse" && f.by != "error" {
		return command.Usagef("--by %s: give mse or error", command.Quoted(f.by))
	}
	params, err := f.params.Parse()
	if err != nil {
		return err
	}
	var file *command.OutputFile
	if f.output != "" {
		if file, err = command.CreateOutput("--output", f.output); err != nil {
			return err
		}
	}
	if f.gain != "" {
		return f.runGain(ctx, params, file)
	}
	list, err := f.chosen()
	if err != nil {
		return err
	}
	eps, err := f.epsilons(defaultEps)
	if err != nil {
		return err
	}
	which, err := f.scenarios()
	if err != nil {
		return err
	}
	if f.trials < 1 || f.draws < 2 || f.trials > f.draws {
		return command.Usagef("--trials %d, --draws %d: give at least 2 draws, and as many trials or fewer, at least 1", f.trials, f.draws)
	}
	if f.draws > mostDraws {
		return command.Usagef("--draws %d: give at most %d draws", f.draws, mostDraws)
	}
	if i := slices.IndexFunc(which, func(s scenario.Scenario) bool { return !s.Fixed() }); f.rigorous && i >= 0 {
		return command.Usagef("--rigorous: scenario %s is an average over random trials, which has no exact value; give 1, 2 or 3", which[i].Name)
	}
	doc := &scenarioDoc{Seed: f.seed, Draws: f.draws, Trials: f.trials}
	report, done := command.Progress(f.Streams, "scenario")
	for _, s := range which {
		if doc.Undecided != "" {
			break
		}
		if err := f.study(ctx, s, eps, list, params, doc, report); err != nil {
			done()
			return err
		}
	}
	done()
	doc.conclude()
	if err := file.Commit(ctx, doc.csv); err != nil {
		return err
	}
	f.Show(doc, func(w io.Writer) { doc.print(w, f) })
	return command.Ending(ctx, doc.Undecided)
}

// correlated is how many trials at most the rank correlation is taken over.
const correlated = 50

// study rates the mechanisms in one scenario at every ε.
func (f *scenarioFlags) study(ctx context.Context, s scenario.Scenario, eps []listedEps, list []mechanisms.Mechanism, params mechanisms.Params, doc *scenarioDoc, report func(string, ...any)) error {
	all, err := s.Generate(f.seed, f.draws)
	if err != nil {
		return err
	}
	trials := all.Few(f.trials)
	some := trials.Few(correlated)
	part := &scenarioPart{Scenario: s.Name, Summary: s.Summary, Candidates: scenario.Candidates, Trials: len(trials.Scores),
		Spearman: number.Estimate(some.Spearman(), fmt.Sprintf("mean over %d of the trials", len(some.Scores)))}
	if s.Fixed() {
		part.Share = command.ExactText(big.NewRat(int64(s.High()), scenario.Candidates))
	}
	doc.Scenarios = append(doc.Scenarios, part)
	for i, e := range eps {
		report("%s, ε %d of %d", s.Name, i+1, len(eps))
		q := scenario.Question{Mechanisms: list, Epsilon: e.Epsilon, Params: params, Rigorous: f.rigorous}
		type answer struct {
			ratings    []scenario.Rating
			unanswered []string
		}
		a, err := command.Settle(ctx, func() (answer, error) {
			ratings, unanswered, err := trials.Rate(ctx, q)
			return answer{ratings, unanswered}, err
		}, func(why string) answer { doc.Undecided = why; return answer{} })
		if err != nil {
			return err
		}
		if doc.Undecided != "" {
			return nil
		}
		part.add(e.text, a.ratings, a.unanswered)
	}
	return nil
}

// runGain prints the gain of one mechanism over another for two candidates.
func (f *scenarioFlags) runGain(ctx context.Context, params mechanisms.Params, file *command.OutputFile) error {
	pair := strings.Split(f.gain, ",")
	if len(pair) != 2 || len(f.numbers) > 0 || f.slopes != "" {
		return command.Usagef("--gain %s: give two mechanisms such as rnm-exponential,rs, and no scenario", command.Quoted(f.gain))
	}
	doc := &gainDoc{}
	var scorers [2]mechanisms.Mechanism
	for i, name := range pair {
		m, err := command.FindMechanism("gain", name)
		if err != nil {
			return err
		}
		scorers[i], doc.Mechanisms[i] = m, m.Info().Name
	}
	eps, err := f.epsilons("0.1")
	if err != nil {
		return err
	}
	deltas, err := command.ParseList("delta-range", f.deltas, "sensitivities > 0", positive)
	if err != nil {
		return err
	}
	gaps, err := command.ParseList("gap", f.gap, "decimals > 0", positive)
	if err != nil {
		return err
	}
	if points := len(eps) * len(gaps) * len(deltas) * len(deltas); points > 10_000_000 {
		return command.Usagef("--delta-range: a map of %d points; give at most 10 million", points)
	}
	for _, e := range eps {
		for _, gap := range gaps {
			for _, d2 := range deltas {
				for _, d1 := range deltas {
					if ctx.Err() != nil {
						doc.Undecided = context.Cause(ctx).Error()
						break
					}
					g, err := scenario.Gain(scorers[0], scorers[1], float(d1), float(d2), float(gap), e.Float(), params)
					if err != nil {
						return command.Usagef("--gain: %w", err)
					}
					doc.Points = append(doc.Points, gainPoint{e.text, command.ExactText(gap), command.ExactText(d1), command.ExactText(d2), number.Estimate(g, "float64 probabilities")})
				}
			}
		}
	}
	if file != nil {
		if err := file.Commit(ctx, doc.csv); err != nil {
			return err
		}
	}
	if file == nil || f.JSON {
		f.Show(doc, func(w io.Writer) { _ = doc.csv(w) })
	}
	return command.Ending(ctx, doc.Undecided)
}

func float(x *big.Rat) float64 {
	f, _ := x.Float64()
	return f
}
