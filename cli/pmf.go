package cli

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

type pmfFlags struct {
	command.Job
	instanceFlags
	mechanism string
}

func newPMF(s command.Streams) *cobra.Command {
	f := pmfFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "pmf --mechanism NAME,… --scores Q,… (--eps E | --exp-eps A/B)",
		Short: "Mechanisms' output probabilities and errors on given scores",
		Long: `The probability that a mechanism takes each candidate, its expected error q* - q and
its mean squared error, in the units of the scores. Exact rationals where they are
rational, enclosures where a closed form gives them, marked estimates otherwise.`,
		Example: `  optratio pmf --mechanism pf --scores 0,-1,-3 --eps 1
  optratio pmf --mechanism pf,em --scores testdata/scores.txt --eps 1 --digits 6
  optratio pmf --mechanism gem --scores 0,1,0.4 --sensitivities 1,0.5,2 --eps 0.5`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	f.instanceFlags.add(c)
	c.Flags().StringVar(&f.mechanism, "mechanism", "pf", "mechanisms, by name, or NAME:M, see optratio mechanisms --help; of several, a column each, and with --json an array")
	f.Job.Add(c)
	return c
}

func (f *pmfFlags) run(ctx context.Context) error {
	in, err := f.parse(ctx)
	if err != nil {
		return err
	}
	list, err := job.FindMechanisms(f.mechanism, mechanisms.LookupFewer)
	if err != nil {
		return err
	}
	docs := make([]*document.PMF, len(list))
	for i, m := range list {
		if docs[i], err = f.answer(ctx, m, in); err != nil {
			return err
		}
	}
	if len(docs) == 1 {
		f.Show(docs[0], func(w io.Writer) { printPMF(w, in, docs) })
	} else {
		command.ShowAll(&f.Job, docs, func(w io.Writer) { printPMF(w, in, docs) })
	}
	for _, d := range docs {
		if err := command.Ending(ctx, d.Undecided); err != nil {
			return err
		}
	}
	return nil
}

// answer asks one mechanism.
func (f *pmfFlags) answer(ctx context.Context, m mechanisms.Mechanism, in *mechanisms.Instance) (*document.PMF, error) {
	m, err := f.params.OnLattice(m, f.depth)
	if err != nil {
		return nil, err
	}
	at := *in
	if f.monotonic {
		if at.Sensitivities, err = mechanisms.MonotonicSensitivities(m, in.Sensitivities); err != nil {
			return nil, command.Usagef("--monotonic-scores: %w", err)
		}
	}
	doc := &document.PMF{Mechanism: m.Info().Name, Eps: command.Optional(f.epsilon.Eps), ExpEps: command.Optional(f.epsilon.Exp), Monotonic: f.monotonic}
	doc.Distribution, err = job.Settle(ctx, func() (*mechanisms.Distribution, error) { return asked(mechanisms.Within(ctx, m), &at) }, func(why string) *mechanisms.Distribution {
		doc.Undecided = why
		return anyAnswer(&at)
	})
	return doc, err
}

// asked is mechanisms.Ask with errors that name the mechanism.
func asked(m mechanisms.Mechanism, in *mechanisms.Instance) (*mechanisms.Distribution, error) {
	a, err := mechanisms.Ask(m, in)
	if err != nil {
		return nil, fmt.Errorf("--mechanism %s: %w", m.Info().Name, err)
	}
	return a, nil
}

// mostRows is how many candidates a table for people lists. Of more, of whom nothing is known, none is listed.
const mostRows = 1000

// anyAnswer says what is true of every mechanism on an instance.
func anyAnswer(in *mechanisms.Instance) *mechanisms.Distribution {
	if len(in.Scores) > mostRows {
		atLeast := number.Bounds(new(big.Rat), nil)
		return &mechanisms.Distribution{PMF: []number.Number{}, ExpectedError: atLeast, MSE: atLeast}
	}
	width := new(big.Rat).Sub(in.Best(), slices.MinFunc(in.Scores, (*big.Rat).Cmp))
	return &mechanisms.Distribution{
		PMF:           slices.Repeat([]number.Number{number.Bounds(new(big.Rat), big.NewRat(1, 1))}, len(in.Scores)),
		ExpectedError: number.Bounds(new(big.Rat), width),
		MSE:           number.Bounds(new(big.Rat), new(big.Rat).Mul(width, width)),
	}
}

// printPMF writes a table with a column for each mechanism.
func printPMF(w io.Writer, in *mechanisms.Instance, docs []*document.PMF) {
	t := command.Table(w, 3)
	rows, all := 0, true
	row := func(head string, value func(*document.PMF) string) {
		fmt.Fprint(t, head)
		for _, d := range docs {
			fmt.Fprintf(t, "\t%s", value(d))
		}
		fmt.Fprintln(t)
	}
	row("candidate (from 0)\tscore", func(d *document.PMF) string { return command.Choose(len(docs) == 1, "probability", d.Mechanism) })
	for _, d := range docs {
		rows, all = max(rows, min(mostRows, len(d.PMF))), all && len(d.PMF) <= mostRows
	}
	for i := range rows {
		row(fmt.Sprintf("%d\t%s", i, verify.ScoreText(in.Scores[i])), func(d *document.PMF) string {
			if i >= len(d.PMF) {
				return "-" // nothing is known of so many
			}
			return d.PMF[i].String()
		})
	}
	if !all {
		fmt.Fprintf(t, "…\t(--json has all %d)\n", len(in.Scores))
	}
	fmt.Fprintln(t)
	row("expected error, in units of the scores\t", func(d *document.PMF) string { return d.ExpectedError.String() })
	row("mean squared error, in their squares\t", func(d *document.PMF) string { return d.MSE.String() })
	t.Flush()
}
