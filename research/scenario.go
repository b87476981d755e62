package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/research/scenario"
)

// scenarioFlags are the flags of the scenario command.
type scenarioFlags struct {
	study
	eps, mechanism, share, slopes string
	draws, trials                 int
	seed                          uint64
	numbers                       []string // the arguments
}

func newScenario(s command.Streams) *cobra.Command {
	f := scenarioFlags{study: study{Job: command.Job{Streams: s}}}
	c := &cobra.Command{
		Use:   "scenario [NUMBER…]",
		Short: "Synthetic scenarios with different sensitivities: the error of every mechanism over ε, and which to use",
		Long: `Scenarios 1 to 8 of Antonova, Laro, McMillan & Wolf, Private Selection with Heterogeneous Sensitivities, all of 100 candidates;
without a number all eight. Scenarios 1 to 3 are two groups of scores, split half and half or as --share says. In 4 to 8 scores are drawn
from a seed: --draws score vectors, whose deciles give the sensitivities, and of these --trials are rated. --t has the family of increasing
correlation instead (their figure 6; the source leaves its sensitivities open: here 0.1 for the least one, and linear in the
scores' systematic part, research/docs/scenarios.md).

In each trial the errors are means over the mechanism's own randomness, computed from its probabilities in float64 and not sampled; what is printed is their average
over the trials. The table names the best private mechanism at each ε, and by what factor the mean squared error of the others exceeds its.`,
		Example: `  research scenario 1 --eps 0.5,1,2 --mechanism em,pf,gem,mgem
  research scenario 1 2 3 --eps 2 --share 0.01:0.99:0.01 -o splits.csv
  research scenario --t -5,0,5 --eps 1`,
		Args: func(_ *cobra.Command, args []string) error { f.numbers = args; return nil },
		RunE: f.Limited(f.rate),
	}
	fs := c.Flags()
	fs.StringVar(&f.eps, "eps", "0.1,0.25,0.5,0.75,1,1.5,2,3,4,6,8,16", "list of ε, decimals and ranges from:to:step")
	fs.StringVar(&f.mechanism, "mechanism", "em,pf,pf-pair,rnm-laplace,krr,gem,mgem,combined-gem,rs,uniform", "mechanisms to rate, by name")
	fs.StringVar(&f.share, "share", "0.5", "scenarios 1 to 3: list of shares of candidates with the higher score, multiples of 0.01 from 0.01 to 0.99")
	fs.StringVar(&f.slopes, "t", "", "the family of increasing correlation, at these slopes; all for "+allSlopes)
	command.CountVar(fs, &f.draws, "draws", "", 1000, "scenarios 4 to 8 and --t: score vectors to draw; their deciles are the sensitivities of 4 to 8")
	command.CountVar(fs, &f.trials, "trials", "", 20, "scenarios 4 to 8 and --t: how many of the draws are rated")
	fs.Uint64Var(&f.seed, "seed", 1, "seed of the draws")
	f.add(c, "also write every number to this CSV file")
	return c
}

// The slopes of the source's figure 6, from strongly negative to strongly positive correlation; the largest number of draws, which are held in memory, and the largest slope.
const (
	allSlopes = "-5,-0.8,-0.3,0,0.3,0.8,5"
	mostDraws = 50_000
)

var mostSlope = big.NewRat(1_000_000, 1)

// chosen returns the mechanisms of --mechanism.
func (f *scenarioFlags) chosen() ([]mechanisms.Mechanism, error) {
	list, err := job.FindMechanisms(f.mechanism, mechanisms.Lookup)
	for _, m := range list {
		if _, onLattice := mechanisms.ForLattice(m, 1); onLattice {
			return nil, command.Usagef("--mechanism %s: lives on a lattice, which the scores of a scenario are not on; leave it out", m.Info().Name)
		}
	}
	return list, err
}

// scenarios returns those that the arguments, --t and --share name.
func (f *scenarioFlags) scenarios() (out []scenario.Scenario, err error) {
	if f.slopes != "" {
		if len(f.numbers) > 0 {
			return nil, command.Usagef("--t: the family of increasing correlation has no number; give %s or --t, not both", escape.Quoted(f.numbers[0]))
		}
		text := job.Choose(f.slopes == "all", allSlopes, f.slopes)
		slopes, err := parseList("t", text, "decimals from -1e6 to 1e6, or all", func(x *big.Rat) bool { return new(big.Rat).Abs(x).Cmp(mostSlope) <= 0 })
		for _, t := range slopes {
			out = append(out, scenario.Correlated(float(t)))
		}
		return out, err
	}
	candidates := big.NewRat(scenario.Candidates, 1)
	shares, err := parseList("share", f.share, "multiples of 0.01 from 0.01 to 0.99", func(x *big.Rat) bool {
		return x.Sign() > 0 && x.Cmp(big.NewRat(1, 1)) < 0 && new(big.Rat).Mul(x, candidates).IsInt()
	})
	if err != nil {
		return nil, err
	}
	numbers := f.numbers
	if len(numbers) == 0 {
		for _, s := range scenario.Scenarios {
			numbers = append(numbers, s.Name)
		}
	}
	for _, text := range numbers {
		i := slices.IndexFunc(scenario.Scenarios, func(s scenario.Scenario) bool { return s.Name == text })
		if i < 0 {
			return nil, command.Usagef("%s: no such scenario; give numbers from 1 to %d", escape.Quoted(text), len(scenario.Scenarios))
		}
		s := scenario.Scenarios[i]
		if !s.Fixed() {
			out = append(out, s)
			continue
		}
		for _, share := range shares {
			out = append(out, s.WithHigh(int(float(new(big.Rat).Mul(share, candidates)))))
		}
	}
	return out, nil
}

func (f *scenarioFlags) rate(ctx context.Context) error {
	params, err := f.params.Values()
	if err != nil {
		return err
	}
	list, err := f.chosen()
	if err != nil {
		return err
	}
	eps, err := parseList("eps", f.eps, "decimals >= 0", func(x *big.Rat) bool { return x.Sign() >= 0 })
	if err != nil {
		return err
	}
	for _, x := range eps {
		if _, err := number.FromEpsilon(x); err != nil {
			return command.Usagef("--eps: %w", err)
		}
	}
	which, err := f.scenarios()
	switch {
	case err != nil:
		return err
	case f.trials < 1 || f.draws < 2 || f.trials > f.draws:
		return command.Usagef("--trials %d, --draws %d: give at least 2 draws, and as many trials or fewer, at least 1", f.trials, f.draws)
	case f.draws > mostDraws:
		return command.Usagef("--draws %d: give at most %d draws", f.draws, mostDraws)
	}
	doc := &scenarioDoc{Seed: f.seed, Draws: f.draws, Trials: f.trials}
	return f.run(ctx, "scenario", doc, func(report func(string, ...any)) error {
		for _, s := range which {
			trials := s.Generate(f.seed, f.draws).Few(f.trials)
			part := &scenarioPart{Scenario: s.Name, Summary: s.Summary, Candidates: scenario.Candidates, Trials: len(trials.Scores)}
			if s.Fixed() {
				part.Share = exactText(big.NewRat(int64(s.High()), scenario.Candidates))
			}
			doc.Scenarios = append(doc.Scenarios, part)
			for _, x := range eps {
				report("%s, ε = %s", s.Name, exactText(x))
				type answer struct {
					ratings    []scenario.Rating
					unanswered []string
				}
				a, err := job.Settle(ctx, func() (a answer, err error) {
					a.ratings, a.unanswered, err = trials.RateAll(ctx, list, float(x), params)
					return a, err
				}, func(why string) answer { doc.Undecided = why; return answer{} })
				if err != nil || doc.Undecided != "" {
					return err
				}
				part.add(exactText(x), a.ratings, a.unanswered)
			}
		}
		return nil
	})
}

// scenarioDoc is the JSON document of a study of scenarios.
type scenarioDoc struct {
	Seed      uint64          `json:"seed"`
	Draws     int             `json:"draws"`
	Trials    int             `json:"trials"`
	Scenarios []*scenarioPart `json:"scenarios"`
	Undecided string          `json:"undecided,omitempty"`
}

// Schema names the form of the JSON document.
func (scenarioDoc) Schema() string { return "research.scenario/1" }

func (d *scenarioDoc) end() string { return d.Undecided }

// scenarioPart is one scenario at every ε.
type scenarioPart struct {
	Scenario   string        `json:"scenario"`
	Summary    string        `json:"summary"`
	Share      string        `json:"share,omitempty"` // of candidates with the higher score
	Candidates int           `json:"candidates"`
	Trials     int           `json:"trials"`
	Rows       []scenarioRow `json:"rows"`
	Advice     []adviceDoc   `json:"advice"`
	Unanswered []string      `json:"unanswered,omitempty"`
}

type scenarioRow struct {
	Eps         string         `json:"eps"`
	Mechanism   string         `json:"mechanism"`
	Private     bool           `json:"private"`
	MSE         number.Number  `json:"mse"`
	MSEStdErr   *number.Number `json:"mse_std_err"` // null for one trial
	Error       number.Number  `json:"expected_error"`
	ErrorStdErr *number.Number `json:"expected_error_std_err"`
	Factor      number.Number  `json:"factor"` // mean squared error over that of the best private mechanism
}

// adviceDoc says what is best at one ε, by mean squared error.
type adviceDoc struct {
	Eps    string   `json:"eps"`
	Best   string   `json:"best"`
	AsGood []string `json:"as_good"`
	mse    float64
}

// add notes the ratings of one ε.
func (p *scenarioPart) add(eps string, ratings []scenario.Rating, unanswered []string) {
	const method = "float64 probabilities"
	a := scenario.Advise(ratings)
	for _, r := range ratings {
		factor := number.Infinity()
		if f, ok := a.Factors[r.Mechanism]; ok && !math.IsInf(f, 1) {
			factor = number.Estimate(f, "quotient of estimates")
		}
		p.Rows = append(p.Rows, scenarioRow{eps, r.Mechanism, r.Private,
			number.Estimate(r.MSE.Value, method), stdErr(r.MSE, p.Trials), number.Estimate(r.Error.Value, method), stdErr(r.Error, p.Trials), factor})
	}
	for _, line := range unanswered {
		p.Unanswered = append(p.Unanswered, "ε = "+eps+": "+line)
	}
	p.Advice = append(p.Advice, adviceDoc{eps, a.Best, append([]string{}, a.AsGood...), a.MSE})
}

// csv writes every number, one line for each scenario, ε and mechanism.
func (d *scenarioDoc) csv(c *csv.Writer) {
	_ = c.Write([]string{"scenario", "share", "eps", "mechanism", "private", "mse", "mse_std_err", "error", "error_std_err", "factor"})
	text := func(x *number.Number) string {
		if x == nil {
			return ""
		}
		return floatText(x.Float64())
	}
	for _, p := range d.Scenarios {
		for _, r := range p.Rows {
			_ = c.Write([]string{p.Scenario, p.Share, r.Eps, r.Mechanism, strconv.FormatBool(r.Private), text(&r.MSE), text(r.MSEStdErr), text(&r.Error), text(r.ErrorStdErr), text(&r.Factor)})
		}
	}
}

// print writes a line for each scenario and ε, a column for each mechanism, and last the largest factor of each.
func (d *scenarioDoc) print(w io.Writer) {
	worst := map[string]float64{}
	var names []string
	for _, p := range d.Scenarios {
		fmt.Fprintf(w, "scenario %s: %s", p.name(), p.Summary)
		if p.Trials > 1 {
			fmt.Fprintf(w, "; %d trials of %d drawn, seed %d", p.Trials, d.Draws, d.Seed)
		}
		fmt.Fprintln(w)
		for _, r := range p.Rows {
			if name := r.name(); !slices.Contains(names, name) {
				names = append(names, name)
			}
			worst[r.name()] = max(worst[r.name()], r.Factor.Float64())
		}
	}
	fmt.Fprint(w, "\nbest private mechanism by mean squared error, and the factors by which errors exceed its\n\n")
	t := decimal.Table(w, 2)
	fmt.Fprintf(t, "scenario\tε\tbest\tits error\t%s\tas good\n", strings.Join(names, "\t"))
	for _, p := range d.Scenarios {
		for _, a := range p.Advice {
			cells := slices.Repeat([]string{"-"}, len(names))
			for _, r := range p.Rows {
				if r.Eps == a.Eps {
					cells[slices.Index(names, r.name())] = factorText(r.Factor.Float64())
				}
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%.4g\t%s\t%s\n", p.name(), a.Eps, cmp.Or(a.Best, "-"), a.mse, strings.Join(cells, "\t"), cmp.Or(strings.Join(a.AsGood, " "), "-"))
		}
	}
	fmt.Fprint(t, "largest\t\t\t")
	for _, name := range names {
		fmt.Fprintf(t, "\t%s", factorText(worst[name]))
	}
	fmt.Fprintln(t)
	t.Flush()
	for _, p := range d.Scenarios {
		for _, line := range p.Unanswered {
			fmt.Fprintf(w, "scenario %s, no answer at %s\n", p.name(), line)
		}
	}
}

// name is the scenario's, with its split where that is not half and half.
func (p *scenarioPart) name() string {
	if p.Share == "" || p.Share == "0.5" {
		return p.Scenario
	}
	return p.Scenario + " (" + p.Share + ")"
}

// name is the mechanism's, marked where it is not private.
func (r *scenarioRow) name() string {
	return r.Mechanism + job.Choose(r.Private, "", " (not ε-DP)")
}

// factorText writes a factor for people: 1.00, 12.3, 4e+07.
func factorText(x float64) string {
	if x < 100 {
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
