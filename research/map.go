package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/lp"
	"optratio/research/check"
	"optratio/research/ratiomap"
)

type mapFlags struct {
	command.Job
	ns, ks, target, gap, constraints, out, certs string
	jobs, classes                                int
	lower                                        bool
}

func newMap(s command.Streams) *cobra.Command {
	f := mapFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "map -n RANGE|all -k RANGE --target X -o FILE",
		Short: "Proved bounds on permute-and-flip's ratio at every ε, over a grid of n and k",
		Long: `For each n and k, intervals of z = e^-ε from 0 to 1 with a proved upper bound on permute-and-flip's ratio to the optimum on each of
them, on the lattice of step 2Δ, for the mean error: so for every ε, not at samples. Intervals are halved until
their bounds are at most the target. With -n all the numbers of candidates are, for each k, those that the
closed form leaves open at the target, and the answer says whether the bound is proved for every n. --cert writes a certificate for each n and k,
which research check accepts. What was finished when a limit ends the run is in FILE.`,
		Example: `  research map -n all -k 1:3 --target 1.014 -o map.csv --cert certificates
  research map -n 3:8 -k 2:6 --target 1.014 --gap 0.0005 --lower -o map.csv`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	fs := c.Flags()
	fs.StringVarP(&f.ns, "n", "n", "", "numbers of candidates: "+command.RangeHelp+"; or all")
	fs.StringVarP(&f.ks, "k", "k", "", "greatest depths: "+command.RangeHelp)
	fs.StringVar(&f.target, "target", "1.014", "bound to be proved, more than 1")
	fs.StringVar(&f.gap, "gap", "0", "also go on until the largest bound is at most this far above the largest ratio met, such as 0.0005; 0 to stop at the target")
	fs.StringVar(&f.constraints, "constraints", "paper", "paper, dp, monotone or full")
	fs.StringVarP(&f.out, "output", "o", "", "file for the bounds, .csv")
	fs.StringVar(&f.certs, "cert", "", "folder for certificates")
	fs.BoolVar(&f.lower, "lower", false, "also look for the largest ratio, which is proved to be attained, where the program is small enough")
	command.CountVar(fs, &f.classes, "max-classes", "", ratiomap.DefaultMaxClasses, "classes of score vectors whose multipliers may differ; more are slower, and may give better bounds")
	command.CountVar(fs, &f.jobs, "jobs", "", 0, "lattices at a time (default: all cores)")
	f.Job.Add(c)
	return c
}

func (f *mapFlags) plan() (p *ratiomap.Plan, err error) {
	p = &ratiomap.Plan{Lower: f.lower, Certs: f.certs, Jobs: cmp.Or(f.jobs, runtime.GOMAXPROCS(0))}
	if filepath.Ext(f.out) != ".csv" {
		return nil, command.Usagef("-o %s: name a file for the bounds that ends in .csv", escape.Quoted(f.out))
	}
	if f.ns != "all" {
		if p.N, err = command.Counts("-n", f.ns); err != nil {
			return nil, err
		}
	}
	if p.K, err = command.Counts("-k", f.ks); err != nil {
		return nil, err
	}
	if most := p.K[len(p.K)-1]; most > ratiomap.MaxDepth {
		return nil, command.Usagef("-k %s: has the value %d, give depths up to %d", escape.Quoted(f.ks), most, ratiomap.MaxDepth)
	}
	if p.Target, err = decimal.Parse(f.target); err != nil || p.Target.Cmp(big.NewRat(1, 1)) <= 0 {
		return nil, command.Usagef("--target %s: give a decimal above 1 such as 1.014", escape.Quoted(f.target))
	}
	gap, err := decimal.Parse(f.gap)
	if err != nil || gap.Sign() < 0 {
		return nil, command.Usagef("--gap %s: give a decimal >= 0 such as 0.0005", escape.Quoted(f.gap))
	}
	p.Gap, _ = gap.Float64()
	if gap.Sign() > 0 && p.Gap < ratiomap.MinGap {
		return nil, command.Usagef("--gap %s: give 0, or at least %g", escape.Quoted(f.gap), ratiomap.MinGap)
	}
	if p.Level, err = job.Parsed("constraints", f.constraints, lp.ParseLevel); err != nil {
		return nil, err
	}
	if p.MaxClasses = f.classes; f.classes < 1 {
		return nil, command.Usagef("--max-classes %d: give a number of at least 1", f.classes)
	}
	most, err := f.Bytes()
	p.Check = func(ctx context.Context, text []byte) error {
		return command.Checker(check.Check).Accepts(ctx, text, most)
	}
	return p, err
}

func (f *mapFlags) run(ctx context.Context) error {
	p, err := f.plan()
	if err != nil {
		return err
	}
	file, done, err := start(f.Streams, f.out, &p.Report)
	if err != nil {
		return err
	}
	s, err := p.Run(ctx)
	done()
	switch {
	case job.IsInput(err), errors.As(err, new(*fs.PathError)):
		return command.Exit(command.Usage, err)
	case s == nil:
		return command.Ending(ctx, err.Error())
	}
	s.File = f.out
	if failure := file.Commit(ctx, s.WriteCSV); failure != nil {
		return failure
	}
	f.Show(s, func(w io.Writer) { printMap(w, s, p) })
	switch {
	case err != nil:
		return command.Ending(ctx, fmt.Sprintf("%v; %d of %d lattices are in %s", err, s.Computed, s.Lattices, s.File))
	case s.Open > 0:
		return command.Ending(ctx, fmt.Sprintf("%d of %d lattices have a bound above the target %s", s.Open, s.Lattices, f.target))
	}
	return nil
}

func printMap(w io.Writer, s *ratiomap.Summary, p *ratiomap.Plan) {
	command.Say(w, "%s: %d of %d lattices", s.File, s.Computed, s.Lattices)
	if s.At != nil {
		fmt.Fprintf(w, "at every ε permute-and-flip's ratio is at most %s, the bound at n = %d, k = %d (constraints %s)\n", places(s.Bound), s.At.N, s.At.K, p.Level)
	}
	if s.SeenAt != nil {
		fmt.Fprintf(w, "largest ratio seen: %s at n = %d, k = %d\n", strconv.FormatFloat(s.Seen, 'f', 8, 64), s.SeenAt.N, s.SeenAt.K)
	}
	for _, t := range s.Settled {
		switch {
		case t.All && t.K == 1:
			fmt.Fprintln(w, "k = 1: 1 for every n and every ε, by theorem")
		case t.All:
			fmt.Fprintf(w, "k = %d: at most %s for every n and every ε (from n = %d on by the closed form)\n", t.K, places(t.Bound), t.From)
		case len(t.Missing) > 0 && len(t.Missing) <= 10:
			fmt.Fprintf(w, "k = %d: open for n = %s\n", t.K, strings.Trim(fmt.Sprint(t.Missing), "[]"))
		default:
			fmt.Fprintf(w, "k = %d: open for %d numbers of candidates below %d\n", t.K, len(t.Missing), t.From)
		}
	}
}

// places writes a bound with its five places.
func places(x float64) string { return strconv.FormatFloat(x, 'f', 5, 64) }
