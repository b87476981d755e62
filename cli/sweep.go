package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/internal/sweep"
	"optratio/mechanisms"
)

// sweepFlags are the flags of ratio, but that n, k and ε are ranges, and where the rows go.
type sweepFlags struct {
	asking
	ratio      *job.Ratio
	ns, ks     string
	out, shard string
	jobs       int
	resume     bool
}

func newSweep(s command.Streams) *cobra.Command {
	f := sweepFlags{asking: asking{Job: command.Job{Streams: s}}, ratio: job.New[job.Ratio]()}
	c := described("sweep")
	c.RunE = f.Limited(f.run)
	c.AddCommand(newMerge(s))
	fs := c.Flags()
	fs.StringVarP(&f.ns, "n", "n", "", "numbers of candidates: "+command.RangeHelp)
	fs.StringVarP(&f.ks, "k", "k", "", "greatest depths: "+command.RangeHelp)
	fs.StringVar(&f.ratio.Eps, "eps", "", "privacy parameters ε: "+command.RangeHelp)
	fs.StringVar(&f.ratio.Exp, "exp-eps", "", "values of e^ε, fractions or decimals: "+command.RangeHelp)
	ratio := &cobra.Command{}
	command.AddFields(ratio, f.ratio, map[string]string{
		"prior": "weights of score vectors: uniform, box or geometric:R", "loss": "what a choice costs: mean (the error, in steps of 2Δ), square (its square), top1 (1 unless a best candidate is taken) or tail:T (1 if the error is T steps of 2Δ or more)",
	})
	for name := range strings.FieldsSeq("constraints objective worst loss prior step mechanism") {
		fs.AddFlag(ratio.Flags().Lookup(name))
	}
	f.AddLimits(c)
	fs.StringVarP(&f.out, "output", "o", "", "write the rows to this .csv file; %i in its name stands for the shard's number")
	fs.StringVar(&f.shard, "shard", "", "compute one part of M: I/M with I from 0 to M-1")
	command.CountVar(fs, &f.jobs, "jobs", "", 0, "how many rows are computed at the same time (default: one per core)")
	fs.BoolVar(&f.resume, "resume", false, "keep the rows that the file has, and compute the others")
	return c
}

// plan turns the flags into a sweep.
func (f *sweepFlags) plan(ctx context.Context) (*sweep.Plan, error) {
	p := &sweep.Plan{Exp: f.ratio.Exp != ""}
	var err error
	if p.N, err = command.Counts("-n", f.ns); err != nil {
		return nil, err
	}
	if p.K, err = command.Counts("-k", f.ks); err != nil {
		return nil, err
	}
	// the first point stands for all where the flags are checked
	one := *f.ratio
	one.Size = job.Size{N: p.N[0], K: p.K[0]}
	if _, err := f.ratio.List(); err != nil {
		return nil, err
	}
	switch {
	case f.ratio.Eps != "" && f.ratio.Exp == "":
		if p.Epsilon, err = command.Range("--eps", f.ratio.Eps, "0.1:1:0.1 or 0.5,1", decimal.Parse); err == nil {
			one.Eps = decimal.Text(p.Epsilon[0])
		}
	case f.ratio.Eps == "" && f.ratio.Exp != "":
		if p.Epsilon, err = command.Range("--exp-eps", f.ratio.Exp, "1:2:1/4 or 3/2,2", decimal.ParseNumber); err == nil {
			one.Exp = p.Epsilon[0].RatString()
		}
	}
	if err != nil {
		return nil, err
	}
	if kind, _, _ := strings.Cut(f.ratio.Loss, ":"); !slices.Contains(job.Choices("loss"), kind) {
		return nil, command.Usagef("--loss %s: a sweep takes mean, square, top1 or tail:T", escape.Quoted(f.ratio.Loss))
	}
	if kind, _, _ := strings.Cut(f.ratio.Prior, ":"); !slices.Contains([]string{"", "uniform", "box", "geometric"}, kind) {
		return nil, command.Usagef("--prior %s: a sweep takes uniform, box or geometric:R", escape.Quoted(f.ratio.Prior))
	}
	h, err := f.host(nil)
	if err != nil {
		return nil, err
	}
	if p.Request, err = one.Request(ctx, h); err != nil {
		return nil, err
	}
	slices.SortFunc(p.Request.Mechanisms, func(a, b mechanisms.Mechanism) int { return strings.Compare(a.Info().Name, b.Info().Name) })
	p.Objective, p.Constraints, p.Settings = job.Choose(f.ratio.Worst, "worst", f.ratio.Objective), f.ratio.Constraints, f.settings(&one, p)
	if _, err := job.Await(ctx, 0, func() (any, error) { return nil, p.Check() }); err != nil && ctx.Err() == nil {
		return nil, command.Exit(command.Usage, err)
	}
	return p, nil
}

// settings names the options that rows depend on, that have no column, and that differ from their defaults.
func (f *sweepFlags) settings(one *job.Ratio, p *sweep.Plan) string {
	r := &p.Request
	var words []string
	add := func(differs bool, name, value string) {
		if differs {
			words = append(words, name+"="+value)
		}
	}
	step := max(1, r.Step)
	add(step != 1, "step", "2delta/"+strconv.Itoa(step))
	add(r.Loss.String() != "mean", "loss", r.Loss.String())
	add(one.Prior != "", "prior", one.Prior)
	add(r.MaxMemory != command.StandardMemory && !p.FitsIn(min(r.MaxMemory, command.StandardMemory)), "max_memory", strconv.FormatInt(r.MaxMemory, 10))
	return strings.Join(words, " ")
}

// options turns the flags into where the rows go.
func (f *sweepFlags) options() (o sweep.Options, shard sweep.Shard, err error) {
	if f.out == "" {
		return o, shard, command.Usagef("-o is missing: name a file for the rows that ends in .csv")
	}
	if f.jobs < 0 {
		return o, shard, command.Usagef("--jobs %d: give a number of rows at a time, or 0 for all cores", f.jobs)
	}
	if f.shard != "" {
		if shard, err = sweep.ParseShard(f.shard); err != nil {
			return o, shard, command.Usagef("--shard: %w; give I/M with I from 0 to M-1 such as 0/4", err)
		}
	} else if shard, err = sweep.Environment(os.Getenv); err != nil {
		return o, shard, command.Usagef("%w; give --shard I/M, or a job array such as 0-3", err)
	}
	o.Path = filepath.Clean(strings.ReplaceAll(f.out, "%i", strconv.Itoa(shard.Index)))
	if filepath.Ext(o.Path) != ".csv" {
		return o, shard, command.Usagef("-o %s: give a name that ends in .csv", escape.Quoted(f.out))
	}
	o.Resume, o.Jobs = f.resume, f.jobs
	if o.Jobs == 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	return o, shard, nil
}

func (f *sweepFlags) run(ctx context.Context) error {
	p, err := f.plan(ctx)
	if err != nil {
		return err
	}
	o, shard, err := f.options()
	if err != nil {
		return err
	}
	var done func()
	o.Report, done = command.Counter(f.Streams, filepath.Base(o.Path))
	s, err := sweep.Run(ctx, p, shard, o)
	done()
	if s == nil && ctx.Err() != nil {
		return fmt.Errorf("undecided: %w; no row was begun", context.Cause(ctx))
	}
	if s == nil && errors.Is(err, sweep.ErrExists) {
		err = fmt.Errorf("%w, or go on with --resume", err)
	}
	if s == nil {
		return command.Exit(command.Usage, fmt.Errorf("-o: %w", err))
	}
	f.Show(s, func(w io.Writer) { printSweep(w, s, shard) })
	return sweepEnding(ctx, s, err)
}

// sweepEnding turns what a run did into the command's end.
func sweepEnding(ctx context.Context, s *sweep.Summary, err error) error {
	cause := context.Cause(ctx)
	rest := fmt.Sprintf("%d of %d rows are in %s, and --resume goes on from there", s.Rows-s.Missing(), s.Rows, s.File)
	switch {
	case cause != nil && errors.Is(err, cause):
		return fmt.Errorf("undecided: %w; %s and puts them in order", cause, rest)
	case errors.Is(err, sweep.ErrFile), job.IsInput(err), errors.Is(err, sweep.ErrRow):
		return command.Exit(command.Usage, err)
	case err != nil:
		return command.Exit(command.Undecided, fmt.Errorf("%w; %s", err, rest))
	case s.Missing() > 0 && errors.Is(cause, command.ErrInterrupted):
		return command.Exit(command.Interrupted, fmt.Errorf("interrupted; %s", rest))
	case s.Missing() > 0:
		return command.Exit(command.Undecided, fmt.Errorf("undecided: %w; %s", cause, rest))
	case s.Open > 0:
		return command.Exit(command.Undecided, fmt.Errorf("undecided: %d of %d rows in %s are wider than the gap, which their method did not reach", s.Open, s.Rows, s.File))
	}
	return nil
}

func printSweep(w io.Writer, s *sweep.Summary, shard sweep.Shard) {
	part := ""
	if shard.Count > 1 {
		part = fmt.Sprintf(" of shard %d of %d", shard.Index, shard.Count)
	}
	command.Say(w, "%s: %d of %d rows%s; %d were there, %d are new", s.File, s.Rows-s.Missing(), s.Rows, part, s.Kept, s.Computed)
}
