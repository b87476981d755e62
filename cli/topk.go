package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
	"optratio/internal/linear"
	"optratio/internal/topk"
	"optratio/number"
)

type topkFlags struct {
	command.Job
	epsilon           job.Epsilon
	n, k, top         int
	mechanism         string
	solver, gap, cert string
}

func newTopK(s command.Streams) *cobra.Command {
	f := topkFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "topk -n N -k K --top T (--eps E | --exp-eps A/B)",
		Short: "Choosing the top T of n candidates: peeling, one-shot noise and selection of sets against the best ε-DP choice",
		Long: `The least mean regret that any shift-invariant ε-DP choice of T of n candidates can have on the lattice of step 2Δ, and how
far mechanisms with the same budget of ε in all are from it. The regret of a set is the sum of its candidates' distances below the best score minus
the least such sum, in steps of 2Δ. For each mechanism also: how private its sets, and its lists, really are on the lattice, and the ratio to the optimum
at that ε. Mechanisms: peel:NAME (a registered mechanism at ε/T, again and again; peel:em is one-shot Gumbel noise),
one-shot:exponential, joint:NAME (a registered mechanism among all sets), pairwise (every two sets are compared at their own scale), completed (the same without drawing again).`,
		Example: `  optratio topk -n 4 -k 3 --top 2 --exp-eps 4
  optratio topk -n 4 -k 3 --top 2 --eps 1 --mechanism peel:pf,peel:krr --json`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	fs := c.Flags()
	command.AddEpsilon(c, &f.epsilon)
	command.CountVar(fs, &f.n, "n", "n", 0, "number of candidates, at least 1")
	command.CountVar(fs, &f.k, "k", "k", 0, "greatest depth, at least 1")
	command.CountVar(fs, &f.top, "top", "", 2, "how many candidates are chosen")
	fs.StringVar(&f.mechanism, "mechanism", topk.Standard, "mechanisms to rate")
	fs.StringVar(&f.solver, "solver", "auto", "auto, clp or embedded")
	fs.StringVar(&f.gap, "gap", "1e-9", "relative width of the optimum wanted: (upper-lower)/upper")
	addCert(c, &f.cert)
	f.Job.Add(c)
	return c
}

// topkDoc is the JSON document of the command.
type topkDoc struct {
	N          int           `json:"n"`
	K          int           `json:"k"`
	Top        int           `json:"top"`
	Eps        *string       `json:"eps"`
	ExpEps     *string       `json:"exp_eps"`
	Orbits     int           `json:"orbits"`
	Variables  int           `json:"variables"`
	Rows       int           `json:"rows"`
	Solver     string        `json:"solver"`
	Seconds    float64       `json:"seconds"`
	Optimum    number.Number `json:"optimum"`
	Mechanisms []topk.Rated  `json:"mechanisms"`
	Undecided  string        `json:"undecided,omitempty"`
}

// Schema names the form of the JSON document.
func (topkDoc) Schema() string { return "optratio.topk/1" }

func (f *topkFlags) request() (r topk.Request, err error) {
	if err := checkSize(f.n, f.k); err != nil {
		return r, err
	}
	if f.top < 1 || f.top > f.n {
		return r, command.Usagef("--top %d: give how many of the %d candidates are chosen, from 1 to %d", f.top, f.n, f.n)
	}
	r = topk.Request{N: f.n, K: f.k, Top: f.top}
	var errs [4]error
	var names []string
	r.Epsilon, errs[0] = f.epsilon.Parse()
	names, errs[1] = job.SplitNames("mechanism", f.mechanism)
	r.Solver, errs[2] = findSolver(f.solver)
	r.Gap, errs[3] = parseGap(f.gap)
	for _, name := range names {
		m, err := job.Parsed("mechanism", name, topk.ParseMechanism)
		if err != nil {
			return r, cmp.Or(errs[0], err)
		}
		r.Mechanisms = append(r.Mechanisms, m)
	}
	return r, cmp.Or(errs[:]...)
}

func (f *topkFlags) run(ctx context.Context) error {
	r, err := f.request()
	if err != nil {
		return err
	}
	most := big.NewInt(int64(min(f.top, f.n-f.top))) // as many candidates at most are not among the best ones
	most.Mul(most, big.NewInt(int64(f.k)))
	cert, err := f.CreateCertificate(f.cert, r.Epsilon)
	if err != nil {
		return err
	}
	report, done := command.Progress(f.Streams, fmt.Sprintf("n = %d, k = %d, top %d", f.n, f.k, f.top))
	r.Report = func(p linear.Progress) { report("%d pivots, objective %.9g", p.Pivots, p.Objective) }
	a, err := job.Settle(ctx, func() (*topk.Answer, error) {
		a, err := topk.Solve(ctx, r)
		if errors.Is(err, topk.ErrProbability) {
			err = command.Usagef("--mechanism: %w", err)
		}
		return a, err
	}, func(why string) *topk.Answer {
		return &topk.Answer{Optimum: number.Bounds(new(big.Rat), new(big.Rat).SetInt(most)), Mechanisms: []topk.Rated{}, Undecided: why}
	})
	done()
	if err != nil {
		return err
	}
	doc := topkDoc{
		N: f.n, K: f.k, Top: f.top, Eps: command.Optional(f.epsilon.Eps), ExpEps: command.Optional(f.epsilon.Exp), Orbits: a.Orbits, Variables: a.Cells, Rows: a.Rows,
		Solver: r.Solver.Name(), Seconds: a.Seconds, Optimum: a.Optimum, Mechanisms: a.Mechanisms, Undecided: a.Undecided,
	}
	f.Show(doc, func(w io.Writer) { doc.print(w, f.epsilon.String()) })
	return cert.Commit(ctx, f.Streams, a.WriteCertificate, command.Ending(ctx, a.Undecided))
}

// print writes the table for people.
func (d *topkDoc) print(w io.Writer, eps string) {
	fmt.Fprintf(w, "top %d of n = %d, k = %d, %s in all\n", d.Top, d.N, d.K, eps)
	if d.Orbits > 0 {
		fmt.Fprintf(w, "%d orbits, %d variables, %d rows\n", d.Orbits, d.Variables, d.Rows)
	}
	fmt.Fprintf(w, "optimum: %s (mean regret of a set, steps of 2Δ)\n", command.Fraction(d.Optimum))
	if len(d.Mechanisms) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := command.Table(w, 3)
	fmt.Fprintln(t, "mechanism\tregret (steps of 2Δ)\tratio to the optimum\ttight ε of lists\ttight ε of sets\tratio at that ε")
	for _, m := range d.Mechanisms {
		lists := "-"
		if m.Lists != nil {
			lists = m.Lists.String()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, m.Error, m.Ratio, lists, m.Sets, m.Fair)
	}
	t.Flush()
	for _, m := range d.Mechanisms {
		if m.Over {
			fmt.Fprintf(w, "\n%s goes over the budget: compare its ratio at the ε that it has\n", m.Name)
		}
	}
}
