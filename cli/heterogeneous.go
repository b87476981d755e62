package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/heterogeneous"
	"optratio/internal/job"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

type heterogeneousFlags struct {
	command.Job
	epsilon                 job.Epsilon
	sensitivities, grid     string
	step                    string
	mechanism               string
	objective, loss         string
	shiftInvariant, optimal bool
	params                  job.Params
	solver, gap, cert       string
}

// ratedByDefault are the mechanisms that are rated where none is named.
const ratedByDefault = "pf-pair,pairwise,pf-mixed,geo-mixed,rnm-exponential,rnm-laplace,gem,mgem,combined-gem,rs,krr"

func newHeterogeneous(s command.Streams) *cobra.Command {
	f := heterogeneousFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "heterogeneous --sensitivities D,… (--eps E | --exp-eps A/B)",
		Short: "Certified ratio of mechanisms to the best one for unequal sensitivities, on a small grid",
		Long: `The least error that any ε-DP mechanism can have on a grid of score vectors where each
candidate has its own sensitivity, how far given mechanisms are from it, and whether they are ε-DP on
the grid. Errors are in the units of the scores (of their squares with --loss mse).
With --shift-invariant the best mechanism may look at differences of scores only, as all registered
ones do.`,
		Example: `  optratio heterogeneous --sensitivities 1,2 --grid 0:4 --exp-eps 2
  optratio heterogeneous --sensitivities 1,2,4 --shift-invariant --eps 0.5 --mechanism gem,krr --json`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	fs := c.Flags()
	command.AddEpsilon(c, &f.epsilon)
	fs.StringVar(&f.sensitivities, "sensitivities", "", "sensitivities, one for each candidate")
	fs.StringVar(&f.grid, "grid", "0:4:1", "scores of every candidate: from:to[:step], or the largest alone, from 0 in steps of 1")
	fs.StringVar(&f.step, "step", "", "step of --grid from:to as a part of twice the largest sensitivity: 2delta, delta or 2delta/L")
	fs.StringVar(&f.mechanism, "mechanism", "", "mechanisms to rate, by name; NAME:M is NAME on the M least sensitive candidates, see optratio mechanisms --help (default "+ratedByDefault+", and geo-pair:M for every M below n)")
	fs.StringVar(&f.objective, "objective", "mean", "mean over the grid or worst score vector")
	fs.StringVar(&f.loss, "loss", "error", "error (q* - q) or mse (its square)")
	fs.BoolVar(&f.shiftInvariant, "shift-invariant", false, "the best mechanism among those that look at differences of scores only")
	fs.BoolVar(&f.optimal, "optimal", false, "print an optimal mechanism, too")
	command.AddParams(c, &f.params)
	fs.StringVar(&f.solver, "solver", "auto", "auto, clp or embedded")
	fs.StringVar(&f.gap, "gap", "1e-9", "relative width of the optimum wanted: (upper-lower)/upper")
	addCert(c, &f.cert)
	f.Job.Add(c)
	return c
}

// parseGrid reads --grid.
func parseGrid(text string) (from, step *big.Rat, steps int, err error) {
	remedy := func(why string) error {
		return command.Usagef("--grid %s: %s; give from:to, from:to:step such as 0:4:0.5, or 4 for 0:4", command.Quoted(text), why)
	}
	parts := strings.Split(text, ":")
	if len(parts) == 1 { // the largest alone
		parts = []string{"0", text}
	}
	if len(parts) > 3 {
		return nil, nil, 0, remedy("not a range")
	}
	ends := []*big.Rat{nil, nil, big.NewRat(1, 1)}
	for i, part := range parts {
		if ends[i], err = decimal.ParseNumber(strings.TrimSpace(part)); err != nil {
			return nil, nil, 0, remedy(err.Error())
		}
	}
	if ends[2].Sign() <= 0 || ends[1].Cmp(ends[0]) <= 0 {
		return nil, nil, 0, remedy("the step must be > 0 and the range not empty")
	}
	width := new(big.Rat).Sub(ends[1], ends[0])
	width.Quo(width, ends[2])
	if !width.IsInt() {
		return nil, nil, 0, remedy("the step does not divide the range")
	}
	if width.Cmp(big.NewRat(heterogeneous.MaxVectors, 1)) > 0 {
		return nil, nil, 0, remedy("too many steps")
	}
	return ends[0], ends[2], int(width.Num().Int64()), nil
}

func (f *heterogeneousFlags) request(ctx context.Context) (r heterogeneous.Request, err error) {
	g := &r.Grid
	if g.Sensitivities, err = parseNumbers(ctx, "sensitivities", f.sensitivities, ""); err != nil {
		return r, err
	}
	if g.Sensitivities == nil {
		return r, command.Usagef("sensitivities are missing: give --sensitivities 1,2, one for each candidate")
	}
	grid := f.grid
	if f.step != "" {
		// The resolution of ratio: the grid's step as a part of twice the largest sensitivity.
		l, err := job.ParseStep(f.step, false)
		if err != nil {
			return r, err
		}
		if !strings.Contains(grid, ":") {
			grid = "0:" + grid
		}
		if strings.Count(grid, ":") != 1 {
			return r, command.Usagef("--step %s with --grid %s: give the grid as from:to, or leave out --step", command.Quoted(f.step), command.Quoted(grid))
		}
		step := new(big.Rat).Mul(slices.MaxFunc(g.Sensitivities, (*big.Rat).Cmp), big.NewRat(2, int64(l)))
		grid += ":" + step.RatString()
	}
	if g.From, g.Step, g.Steps, err = parseGrid(grid); !strings.Contains(f.grid, ":") {
		f.grid = "0:" + f.grid
	}
	if err != nil {
		return r, err
	}
	g.ShiftInvariant = f.shiftInvariant
	if err := g.Check(); err != nil {
		return r, command.Usagef("--sensitivities %s with --grid %s: %w", command.Quoted(f.sensitivities), command.Quoted(f.grid), err)
	}
	var errs [7]error
	r.Epsilon, errs[0] = f.epsilon.Parse()
	r.Criterion, errs[1] = job.Parsed("objective", f.objective, heterogeneous.ParseCriterion)
	r.Loss, errs[2] = job.Parsed("loss", f.loss, heterogeneous.ParseLoss)
	r.Mechanisms, errs[3] = f.mechanisms(len(g.Sensitivities))
	r.Params, errs[4] = f.params.Values()
	solver, err := findSolver(f.solver)
	errs[5] = err
	r.Gap, errs[6] = parseGap(f.gap)
	if err := cmp.Or(errs[:]...); err != nil {
		return r, err
	}
	r.Solver = solver.Name()
	return r, nil
}

// mechanisms reads --mechanism, for n candidates.
func (f *heterogeneousFlags) mechanisms(n int) ([]mechanisms.Mechanism, error) {
	list := f.mechanism
	if list == "" {
		list = ratedByDefault
		for m := 1; m < n; m++ {
			list += fmt.Sprintf(",geo-pair:%d", m)
		}
	}
	found, err := job.FindMechanisms(list, mechanisms.LookupFewer)
	for _, m := range found {
		if m.Info().Name == "lp-optimal" {
			return nil, command.Usagef("--mechanism lp-optimal: that one is for equal sensitivities; this command finds its own optimum")
		}
	}
	return found, err
}

// heterogeneousDoc is the JSON document of the command.
type heterogeneousDoc struct {
	Sensitivities  []number.Number        `json:"sensitivities"`
	Grid           string                 `json:"grid"`
	Eps            *string                `json:"eps"`
	ExpEps         *string                `json:"exp_eps"`
	Objective      string                 `json:"objective"`
	Loss           string                 `json:"loss"`
	ShiftInvariant bool                   `json:"shift_invariant"`
	Vectors        int                    `json:"vectors"`
	Neighbors      int                    `json:"neighbors"`
	Variables      int                    `json:"variables"`
	Rows           int                    `json:"rows"`
	Solver         string                 `json:"solver"`
	Pivots         int                    `json:"pivots"`
	Seconds        float64                `json:"seconds"`
	Optimum        number.Number          `json:"optimum"`
	Mechanisms     []heterogeneous.Rating `json:"mechanisms"`
	Optimal        []optimalRow           `json:"optimal,omitempty"`
	Recommended    string                 `json:"recommended,omitempty"`
	Undecided      string                 `json:"undecided,omitempty"`
}

// Schema names the form of the JSON document.
func (heterogeneousDoc) Schema() string { return "optratio.heterogeneous/1" }

// optimalRow is an optimal mechanism at one score vector.
type optimalRow struct {
	Scores []number.Number `json:"scores"`
	PMF    []number.Number `json:"pmf"`
}

func exactNumbers(xs []*big.Rat) []number.Number {
	out := make([]number.Number, len(xs))
	for i, x := range xs {
		out[i] = number.Exact(x)
	}
	return out
}

func (f *heterogeneousFlags) run(ctx context.Context) error {
	r, err := f.request(ctx)
	if err != nil {
		return err
	}
	cert, err := f.CreateCertificate(f.cert, r.Epsilon)
	if err != nil {
		return err
	}
	report, done := command.Progress(f.Streams, "sensitivities "+f.sensitivities)
	r.Report = func(pivots int, objective float64) { report("%d pivots, objective %.9g", pivots, objective) }
	a, err := job.Settle(ctx, func() (*heterogeneous.Result, error) {
		a, err := heterogeneous.Solve(ctx, r)
		switch {
		case errors.Is(err, mechanisms.ErrInstance):
			err = fmt.Errorf("--mechanism: %w", err)
		case errors.Is(err, heterogeneous.ErrGrid):
			err = fmt.Errorf("--grid %s: %w", command.Quoted(f.grid), err)
		}
		return a, err
	}, func(why string) *heterogeneous.Result {
		a := &heterogeneous.Result{Optimum: number.Bounds(new(big.Rat), nil), Undecided: why}
		for _, m := range r.Mechanisms {
			a.Mechanisms = append(a.Mechanisms, heterogeneous.Rating{Name: m.Info().Name, Loss: a.Optimum, Ratio: a.Optimum, DP: verify.Undecided})
		}
		return a
	})
	done()
	if err != nil {
		return err
	}
	doc := heterogeneousDoc{
		Sensitivities: exactNumbers(r.Grid.Sensitivities), Grid: f.grid, Eps: command.Optional(f.epsilon.Eps), ExpEps: command.Optional(f.epsilon.Exp),
		Objective: f.objective, Loss: f.loss, ShiftInvariant: f.shiftInvariant,
		Vectors: a.Vectors, Neighbors: a.Neighbors, Variables: a.Variables, Rows: a.Rows, Solver: r.Solver, Pivots: a.Pivots,
		Seconds: a.Seconds, Optimum: a.Optimum, Mechanisms: a.Mechanisms, Recommended: a.Recommended, Undecided: a.Undecided,
	}
	if f.optimal {
		for _, row := range a.Mechanism() {
			doc.Optimal = append(doc.Optimal, optimalRow{exactNumbers(row.Scores), exactNumbers(row.PMF)})
		}
	}
	f.Show(doc, func(w io.Writer) { doc.print(w, f.epsilon.String()) })
	return cert.Commit(ctx, f.Streams, a.WriteCertificate, command.Ending(ctx, a.Undecided))
}

// print writes the table for people.
func (d *heterogeneousDoc) print(w io.Writer, eps string) {
	plainly := func(xs []number.Number) string {
		texts := make([]string, len(xs))
		for i, x := range xs {
			texts[i] = command.Fraction(x)
		}
		return strings.Join(texts, ", ")
	}
	command.Say(w, "sensitivities %s, scores %s, %s", plainly(d.Sensitivities), d.Grid, eps)
	fmt.Fprintf(w, "%d score vectors%s, %d pairs of neighbors, %d rows generated\n",
		d.Vectors, command.Choose(d.ShiftInvariant, " up to shifts", ""), d.Neighbors, d.Rows)
	what := command.Choose(d.Loss == "mse", "mean squared error", "expected error")
	what = command.Choose(d.Objective == "worst", "largest "+what, what+", mean over the grid")
	fmt.Fprintf(w, "optimum: %s (%s)\n\n", command.Fraction(d.Optimum), what)
	t := command.Table(w, 3)
	fmt.Fprintf(t, "mechanism\terror (%s)\tratio to the optimum\tε-DP on the grid\ttight ε there\n",
		command.Choose(d.Loss == "mse", "squares of the scores' units", "units of the scores"))
	for _, m := range d.Mechanisms {
		tight := m.TightEps.String()
		if e := m.TightExpEps; e != nil && m.TightEps.Float64() > 0 {
			tight += ", e^ε = " + command.Fraction(number.Exact(e))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", m.Name, m.Loss, m.Ratio, m.DP, tight)
	}
	t.Flush()
	for _, m := range d.Mechanisms {
		if v := m.Witness; v != nil {
			fmt.Fprintf(w, "\n%s is not ε-DP there: %s (candidates counted from 0)\n", m.Name, v)
		}
	}
	if d.Recommended != "" {
		fmt.Fprintf(w, "\nrecommended for scores in this range, which has to be public: %s\n", d.Recommended)
	}
	if d.Optimal == nil {
		return
	}
	fmt.Fprintln(w)
	fmt.Fprintln(t, "scores\tprobabilities of an optimal mechanism")
	for _, row := range d.Optimal {
		fmt.Fprintf(t, "%s\t%s\n", plainly(row.Scores), plainly(row.PMF))
	}
	t.Flush()
}
