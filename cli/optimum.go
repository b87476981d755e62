package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/number"
	"optratio/optimum"
	"optratio/verify"
)

type optimumFlags struct {
	command.Job
	epsilon                     job.Epsilon
	pairs, loss, prior          string
	preset, output              string
	worst, directed             bool
	delta, rate, users, optimal string
	solver, gap, cert           string
	draw                        []string
	subject                     subjectFlags
}

func newOptimum(s command.Streams) *cobra.Command {
	f := optimumFlags{Job: command.Job{Streams: s}}
	var presets []string
	for _, p := range optimum.Presets() {
		presets = append(presets, fmt.Sprintf("  %-15s %s", p[0], p[1]))
	}
	c := &cobra.Command{
		Use:   "optimum FILE (--eps E | --exp-eps A/B)",
		Short: "The best private mechanism of any finite problem, and how far a table of yours is from it",
		Long: `The least loss that any ε-DP or (ε,δ)-DP mechanism of a finite problem can have, and a mechanism that has it. FILE is one JSON document:

  {"inputs":["0","1","2"], "outputs":["0","1","2"],
   "pairs":[["0","1"],["1","2","3/2"]],
   "loss":[["0","1","2"],["1","0","1"],["2","1","0"]],
   "prior":["1/4","1/2","1/4"], "forbidden":[["0","2"]]}

Inputs of a pair are neighbors, at a distance (1 where none is given): the pair is bound by the distance times ε, in both directions
unless "directed":true, which says Pr[first in S] <= e^(dε) Pr[second in S] + δ alone. loss is a row of values for each input, or "abs", "square", "zero-one" by
the names; prior is a number for each input, which sum to 1, "uniform", or "worst" for the largest loss of any input. Numbers are rationals or decimals in strings, or JSON
numbers, taken exactly. The same as CSV: --pairs with the columns x,y[,d], --loss with x,o,value, --prior with x,p; beside FILE or a
preset, they take the place of what these say. Names are compared letter by letter: in a CSV file a blank after a comma belongs to the name. Presets:

` + strings.Join(presets, "\n"),
		Example: `  optratio optimum --preset count:3 --exp-eps 2
  optratio optimum problem.json --eps 1 --delta 1e-6 --rate mine.csv --json
  optratio optimum --preset grid:5x5 --loss zero-one --worst --eps 0.5 --optimal best.csv
  optratio optimum --preset partition:20 -o problem.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return command.Usagef("optimum takes one file of a problem, got %d arguments", len(args))
			}
			return nil
		},
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		return f.Limited(func(ctx context.Context) error { return f.run(ctx, strings.Join(args, "")) })(c, args)
	}
	fs := c.Flags()
	command.AddEpsilon(c, &f.epsilon)
	fs.StringVar(&f.delta, "delta", "0", "δ, a decimal or fraction from 0 to 1")
	fs.StringVar(&f.preset, "preset", "", "a ready problem instead of FILE, such as count:4")
	fs.StringVarP(&f.output, "output", "o", "", "write the problem to this file, as FILE; without --eps or --exp-eps nothing else is done")
	fs.StringVar(&f.pairs, "pairs", "", "pairs of neighbors, a CSV file with the columns x,y or x,y,d")
	fs.StringVar(&f.loss, "loss", "", "abs, square, zero-one, or a CSV file with the columns x,o,value")
	fs.StringVar(&f.prior, "prior", "", "uniform, worst, or a CSV file with the columns x,p")
	fs.BoolVar(&f.worst, "worst", false, "minimise the largest loss of any input: --prior worst")
	fs.BoolVar(&f.directed, "directed", false, "with --pairs: each pair is bound in one direction alone")
	fs.StringVar(&f.rate, "rate", "", "compare this table with the optimum: a CSV file with the columns input,output,probability")
	f.subject.addStated(c, `compare this program with the optimum: it is sent {"input":NAME,"epsilon":E,"sensitivity":1} and states probabilities as for optratio audit --inputs, {"pmf":{"a":0.5,"b":"1/2"}}`,
		`compare this table with the optimum: a line {"input":NAME,"pmf":{"a":0.5,"b":"1/2"}} for each input`)
	fs.StringVar(&f.users, "users", "", "priors of users that share one mechanism, CSV files with commas between")
	fs.StringVar(&f.optimal, "optimal", "", "write the optimal mechanism to this CSV file, or for audit to one that ends in .jsonl, rounded so that it is private as it is written")
	fs.StringArrayVar(&f.draw, "draw", nil, "run the rounded optimal mechanism at this input: draw an output with exactly its probability, by the system's randomness; may be repeated")
	fs.StringVar(&f.solver, "solver", "auto", "auto, clp or embedded")
	fs.StringVar(&f.gap, "gap", "1e-9", "relative width of the optimum wanted where it is not exact: (upper-lower)/upper")
	addCert(c, &f.cert)
	f.Job.Add(c)
	return c
}

// read reads a file that a flag names, "" for the argument.
func read[T any](ctx context.Context, flag, path string, parse func(name string, text io.Reader) (T, error)) (out T, err error) {
	file, err := command.OpenInput(ctx, flag, path)
	if err != nil {
		return out, err
	}
	defer file.Close()
	rest := &io.LimitedReader{R: file, N: command.MostInput}
	out, err = parse(path, rest)
	switch {
	case ctx.Err() != nil && err != nil:
		return out, fmt.Errorf("%s: cannot be read: %w", strings.TrimSpace(flag+" "+command.Quoted(path)), context.Cause(ctx))
	case rest.N == 0:
		return out, command.Usagef("%s: longer than %d MiB, give a smaller file", path, command.MostInput>>20)
	case err != nil:
		return out, command.Usagef("%w", err)
	}
	return out, nil
}

// problem reads the problem that the file, the preset and the flags say.
func (f *optimumFlags) problem(ctx context.Context, path string) (p *optimum.Problem, err error) {
	switch {
	case path != "" && f.preset != "":
		return nil, command.Usagef("--preset %s: it takes the place of %s, give one of them", command.Quoted(f.preset), command.Quoted(path))
	case path != "":
		p, err = read(ctx, "", path, optimum.ReadJSON)
	case f.preset != "":
		if p, err = optimum.Preset(f.preset); err != nil {
			err = command.Usagef("--preset %s: %w", command.Quoted(f.preset), err)
		}
	case f.pairs == "" || f.loss == "":
		err = command.Usagef("the problem is missing: give FILE, --preset such as count:4, or --pairs and --loss")
	default:
		p = &optimum.Problem{}
	}
	if err != nil {
		return nil, err
	}
	if err := f.change(ctx, p, path == "" && f.preset == ""); err != nil {
		return nil, err
	}
	if err := p.Check(); err != nil {
		return nil, command.Usagef("%s: %w", cmp.Or(path, "the problem"), err)
	}
	return p, nil
}

// change puts what the flags say in the place of what a problem has. A new one takes its inputs and outputs from the files.
func (f *optimumFlags) change(ctx context.Context, p *optimum.Problem, isNew bool) (err error) {
	if f.pairs != "" {
		_, err = read(ctx, "--pairs", f.pairs, func(name string, text io.Reader) (x any, err error) {
			p.Pairs, p.Inputs, err = optimum.ReadPairs(name, text, p.Inputs, isNew)
			return nil, err
		})
		p.OneWay = f.directed
	}
	if err != nil {
		return err
	}
	switch {
	case f.loss == "":
	case slices.Contains(optimum.Losses(), f.loss):
		if p.Outputs == nil {
			p.Outputs = p.Inputs
		}
		if p.Loss, err = optimum.NamedLoss(f.loss, p.Inputs, p.Outputs); err != nil {
			return command.Usagef("--loss %s: %w", command.Quoted(f.loss), err)
		}
	default:
		_, err = read(ctx, "--loss", f.loss, func(name string, text io.Reader) (x any, err error) {
			p.Loss, p.Inputs, p.Outputs, err = optimum.ReadLoss(name, text, p.Inputs, p.Outputs, isNew)
			return nil, err
		})
	}
	if err != nil {
		return err
	}
	switch {
	case f.worst && f.prior != "" && f.prior != "worst":
		return command.Usagef("--worst and --prior %s exclude each other: give one of them", command.Quoted(f.prior))
	case f.worst || f.prior == "worst":
		p.Prior = nil
	case f.prior == "uniform":
		p.Prior = p.Uniform()
	case f.prior != "":
		p.Prior, err = read(ctx, "--prior", f.prior, func(name string, text io.Reader) ([]*big.Rat, error) {
			prior, err := optimum.ReadPrior(name, text, p.Inputs)
			return prior, err
		})
	}
	return err
}

func (f *optimumFlags) request(ctx context.Context, path string) (r optimum.Request, err error) {
	if r.Problem, err = f.problem(ctx, path); err != nil {
		return r, err
	}
	var errs [3]error
	r.Delta, errs[0] = parseDelta(f.delta)
	solver, err := findSolver(f.solver)
	errs[1] = err
	r.Gap, errs[2] = parseGap(f.gap)
	if err := cmp.Or(errs[:]...); err != nil {
		return r, err
	}
	r.Solver = solver.Name()
	if f.output == "" || f.epsilon != (job.Epsilon{}) {
		if r.Epsilon, err = f.epsilon.Parse(); err != nil {
			return r, err
		}
	}
	if f.rate != "" {
		r.Rate, err = read(ctx, "--rate", f.rate, func(name string, text io.Reader) (*optimum.Table, error) {
			return optimum.ReadTable(name, text, r.Problem)
		})
		if err != nil {
			return r, err
		}
	}
	if f.subject.given() {
		if f.rate != "" {
			return r, command.Usagef("--rate and --pmf-exec or --pmf-file exclude each other: give one of them")
		}
		if r.Epsilon.IsSet() {
			if r.Rate, err = f.subject.about(ctx, r.Problem, r.Epsilon); err != nil {
				return r, err
			}
		}
	}
	for _, name := range f.draw {
		if !slices.Contains(r.Problem.Inputs, name) {
			return r, command.Usagef("--draw %s: the problem has no such input", command.Quoted(name))
		}
	}
	files, err := job.SplitNames("users", f.users)
	if err != nil {
		return r, err
	}
	for _, file := range files {
		prior, err := read(ctx, "--users", file, func(name string, text io.Reader) ([]*big.Rat, error) {
			prior, err := optimum.ReadPrior(name, text, r.Problem.Inputs)
			return prior, err
		})
		if err != nil {
			return r, err
		}
		r.Users = append(r.Users, prior)
	}
	return r, nil
}

func (f *optimumFlags) run(ctx context.Context, path string) error {
	r, err := f.request(ctx, path)
	if err != nil {
		return err
	}
	files, err := f.createFiles(r.Epsilon)
	if err != nil {
		return err
	}
	if err := files.problem.Commit(ctx, r.Problem.WriteJSON); err != nil || !r.Epsilon.IsSet() {
		return err
	}
	report, done := command.Progress(f.Streams, "optimum")
	r.Report = func(pivots int, objective float64) { report("%d pivots, objective %.9g", pivots, objective) }
	a, err := job.Settle(ctx, func() (*optimum.Result, error) {
		a, err := optimum.Solve(ctx, r)
		if errors.Is(err, optimum.ErrProblem) {
			err = command.Usagef("%s: %w", cmp.Or(path, "the problem"), err)
		}
		return a, err
	}, func(why string) *optimum.Result {
		return &optimum.Result{Optimum: number.Bounds(new(big.Rat), nil), Undecided: why}
	})
	done()
	if err != nil {
		return err
	}
	rounded, err := job.Await(ctx, job.Grace/4, func() (*optimum.Mechanism, error) { return a.Round(ctx) })
	if err != nil && a.Undecided == "" && (f.optimal != "" || len(f.draw) > 0 || !a.Exact()) {
		a.Undecided = err.Error()
	}
	doc := f.document(&r, a, rounded)
	if rounded != nil {
		if doc.Drawn, err = f.drawn(rounded); err != nil {
			return err
		}
	}
	f.Show(doc, func(w io.Writer) { f.print(w, &doc) })
	if rounded != nil {
		write := rounded.WriteCSV
		if strings.HasSuffix(f.optimal, ".jsonl") {
			write = rounded.WriteJSONL
		}
		if err := files.table.Commit(ctx, write); err != nil {
			return err
		}
	}
	return files.cert.Commit(ctx, f.Streams, a.WriteCertificate, f.ending(ctx, a))
}

// optimumFiles are what the command writes, each nil where it is not asked for.
type optimumFiles struct {
	problem, table *command.OutputFile
	cert           *command.CertificateFile
}

func (f *optimumFlags) createFiles(at number.Epsilon) (files optimumFiles, err error) {
	for _, at := range []struct {
		file       **command.OutputFile
		flag, path string
	}{{&files.problem, "--output", f.output}, {&files.table, "--optimal", f.optimal}} {
		if at.path == "" {
			continue
		}
		if *at.file, err = command.CreateOutput(at.flag, at.path); err != nil {
			return files, err
		}
	}
	files.cert, err = f.CreateCertificate(f.cert, at)
	return files, err
}

// drawn draws an output for each input of --draw.
func (f *optimumFlags) drawn(rounded *optimum.Mechanism) (out []document.Drawn, err error) {
	for _, input := range f.draw {
		output, err := rounded.Sample(input, rand.Reader)
		if err != nil {
			return nil, err
		}
		out = append(out, document.Drawn{Input: input, Output: output})
	}
	return out, nil
}

// ending returns the error that ends the command: what is wrong with the mechanism that was rated, or why the optimum is not decided.
func (f *optimumFlags) ending(ctx context.Context, a *optimum.Result) error {
	switch r := a.Rated; {
	case r != nil && r.Finding != "":
		return command.Exit(command.Violated, errors.New(r.Finding))
	case r != nil && r.DP == verify.Violated:
		return command.Exit(command.Violated, fmt.Errorf("violated: %s is not private as asked", f.rated()))
	}
	return command.Ending(ctx, a.Undecided)
}

// rated names what is rated.
func (f *optimumFlags) rated() string {
	return command.Choose(f.subject.exec != "", "the program", "the table")
}

func (f *optimumFlags) document(r *optimum.Request, a *optimum.Result, rounded *optimum.Mechanism) document.Optimum {
	doc := document.Optimum{
		Inputs: len(r.Problem.Inputs), Outputs: len(r.Problem.Outputs), Pairs: a.Pairs, Rows: a.Rows, Orbits: a.Orbits, Variables: a.Variables,
		Eps: command.Optional(f.epsilon.Eps), ExpEps: command.Optional(f.epsilon.Exp), Delta: r.Delta.RatString(),
		Objective: command.Choose(r.Problem.Prior == nil, "worst", "mean"), Optimum: a.Optimum,
		InputNames: r.Problem.Inputs, OutputNames: r.Problem.Outputs, Rounded: rounded, Rated: a.Rated, Users: a.Users,
		Proof: "lp", Solver: r.Solver, Pivots: a.Pivots, Seconds: a.Seconds, Undecided: a.Undecided,
	}
	table := a.Table()
	if rounded != nil && !a.Exact() {
		table = rounded.Table()
	}
	for _, row := range table {
		doc.Mechanism = append(doc.Mechanism, exactNumbers(row))
	}
	doc.Losses = exactNumbers(r.Problem.Losses(table))
	return doc
}

// mostShown is how many rows and columns a table for people has.
const mostShown = 12

// print writes the answer for people.
func (f *optimumFlags) print(w io.Writer, d *document.Optimum) {
	private := f.epsilon.String()
	if d.Delta != "0" {
		private += ", δ = " + d.Delta
	}
	fmt.Fprintf(w, "%d inputs, %d outputs, %d pairs of neighbors, %s\n", d.Inputs, d.Outputs, d.Pairs, private)
	if d.Variables > 0 {
		fmt.Fprintf(w, "%d orbits of inputs, %d variables, %d rows; proof: linear program\n", d.Orbits, d.Variables, d.Rows)
	}
	fmt.Fprintf(w, "optimum: %s (%s)\n", command.Fraction(d.Optimum), command.Choose(d.Objective == "worst", "largest loss of any input", "mean loss"))
	show := number.Number.String
	if _, exact := d.Optimum.Rat(); exact {
		show = command.Fraction
	}
	if len(d.Mechanism) > 0 && d.Inputs <= mostShown && d.Outputs <= mostShown {
		fmt.Fprintln(w)
		t := command.Table(w, 3)
		fmt.Fprint(t, "input")
		for _, name := range d.OutputNames {
			fmt.Fprint(t, "\t"+escape.Line(name))
		}
		fmt.Fprintln(t)
		for x, row := range d.Mechanism {
			fmt.Fprint(t, escape.Line(d.InputNames[x]))
			for _, p := range row {
				fmt.Fprintf(t, "\t%s", show(p))
			}
			fmt.Fprintln(t)
		}
		t.Flush()
	}
	if r := d.Rated; r != nil {
		printRating(w, r, f.rated())
	}
	if u := d.Users; u != nil {
		fmt.Fprintln(w)
		for i, x := range u.Optima {
			fmt.Fprintf(w, "user %d alone: %s\n", i, command.Fraction(x))
		}
		fmt.Fprintf(w, "one mechanism for all: %s in all\n", command.Fraction(u.Joint))
		if u.BestCommonRatio.IsValid() {
			fmt.Fprintf(w, "best common ratio: %s of what each could have alone\n", command.Fraction(u.BestCommonRatio))
		}
	}
	if d.Rounded != nil && f.optimal != "" {
		fmt.Fprintln(w)
		command.Say(w, "%s: multiples of 2^-%d, private as they are written; loss given up: %s", f.optimal, d.Rounded.Bits, d.Rounded.GivenUp)
	}
	for i, drawn := range d.Drawn {
		if i == 0 {
			fmt.Fprintln(w)
		}
		command.Say(w, "drawn at %s: %s", drawn.Input, drawn.Output)
	}
}

func printRating(w io.Writer, r *optimum.Rating, what string) {
	fmt.Fprintln(w)
	if r.Finding != "" {
		command.Say(w, "%s states no probabilities", what)
		return
	}
	command.Say(w, "%s is private at ε = %s; as asked: %s", what, r.TightEps, r.DP)
	if v := r.Witness; v != nil {
		command.Say(w, "%s at %s, and %s at %s: outputs %s", command.Fraction(v.P), v.Input, command.Fraction(v.PNeighbor), v.Neighbor, strings.Join(v.Outputs, ", "))
	}
	if r.Scaled {
		fmt.Fprintln(w, "its rows sum to 1 nearly, and were divided by their sums")
	}
	if r.Value.IsValid() {
		fmt.Fprintf(w, "loss: %s, ratio to the optimum %s\n", command.Fraction(r.Value), r.Ratio)
	} else {
		fmt.Fprintln(w, "it has outputs that the problem has not, and a loss after a remap alone")
	}
	if r.Remapped.IsValid() {
		fmt.Fprintf(w, "loss after the best remap: %s, ratio %s\n", command.Fraction(r.Remapped), r.RatioRemap)
		for _, m := range r.Remap {
			if m.Output != m.To {
				command.Say(w, "  %s becomes %s with probability %s", m.Output, m.To, command.Fraction(m.Probability))
			}
		}
	} else {
		fmt.Fprintln(w, "no remap keeps to the outputs that are allowed")
	}
}
