package cli

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"optratio/internal/command"
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
		Use:   "pmf --mechanism NAME --scores Q,… (--eps E | --exp-eps A/B)",
		Short: "A mechanism's output probabilities and error on given scores",
		Long: `The probability that a mechanism takes each candidate, its expected error q* - q and
its mean squared error, in the units of the scores. Exact rationals where they are
rational, enclosures where a closed form gives them, marked estimates otherwise.`,
		Example: `  optratio pmf --mechanism pf --scores 0,-1,-3 --eps 1
  optratio pmf --mechanism gem --scores 0,1,0.4 --sensitivities 1,0.5,2 --eps 0.5`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	f.instanceFlags.add(c)
	c.Flags().StringVar(&f.mechanism, "mechanism", "pf", "the mechanism, by name")
	f.Job.Add(c)
	return c
}

// pmfDoc is the JSON document of a pmf.
type pmfDoc struct {
	Mechanism string  `json:"mechanism"`
	Eps       *string `json:"eps"`
	ExpEps    *string `json:"exp_eps"`
	*mechanisms.Distribution
	Monotonic bool   `json:"monotonic_scores,omitempty"`
	Undecided string `json:"undecided,omitempty"`
}

func (f *pmfFlags) run(ctx context.Context) error {
	in, err := f.parse(ctx)
	if err != nil {
		return err
	}
	m, err := command.FindMechanism("mechanism", f.mechanism)
	if err != nil {
		return err
	}
	if m, err = f.params.OnLattice(m, f.depth); err != nil {
		return err
	}
	if f.monotonic {
		if in.Sensitivities, err = mechanisms.MonotonicSensitivities(m, in.Sensitivities); err != nil {
			return command.Usagef("--monotonic-scores: %w", err)
		}
	}
	var undecided string
	a, err := command.Settle(ctx, func() (*mechanisms.Distribution, error) { return asked(mechanisms.Within(ctx, m), in) }, func(why string) *mechanisms.Distribution {
		undecided = why
		return anyAnswer(in)
	})
	if err != nil {
		return err
	}
	doc := pmfDoc{m.Info().Name, optional(f.epsilon.eps), optional(f.epsilon.exp), a, f.monotonic, undecided}
	f.Show(doc, func(w io.Writer) { printPMF(w, in, a) })
	return command.Ending(ctx, undecided)
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

func printPMF(w io.Writer, in *mechanisms.Instance, a *mechanisms.Distribution) {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "candidate (from 0)\tscore\tprobability")
	for i, p := range a.PMF[:min(mostRows, len(a.PMF))] {
		fmt.Fprintf(t, "%d\t%s\t%s\n", i, verify.ScoreText(in.Scores[i]), p)
	}
	if len(a.PMF) > mostRows {
		fmt.Fprintf(t, "…\t(--json has all %d)\n", len(in.Scores))
	}
	fmt.Fprintf(t, "\nexpected error, in units of the scores\t\t%s\nmean squared error, in their squares\t\t%s\n", a.ExpectedError, a.MSE)
	t.Flush()
}
