package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"optratio/mechanisms"
)

func init() { commands = append(commands, newPMF) }

type pmfFlags struct {
	instanceFlags
	mechanism string
	json      bool
}

func newPMF(s streams) *cobra.Command {
	var f pmfFlags
	c := &cobra.Command{
		Use:   "pmf --mechanism NAME --scores Q,… (--eps E | --exp-eps A/B)",
		Short: "A mechanism's output probabilities and error on given scores",
		Long: `The probability that a mechanism takes each candidate, its expected error q* - q and
its mean squared error, in the units of the scores. Exact rationals where they are
rational, enclosures where a closed form gives them, marked estimates otherwise.`,
		Example: `  optratio pmf --mechanism pf --scores 0,-1,-3 --eps 1
  optratio pmf --mechanism gem --scores 0,1,0.4 --sensitivities 1,0.5,2 --eps 0.5`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(s) },
	}
	f.instanceFlags.add(c)
	c.Flags().StringVar(&f.mechanism, "mechanism", "pf", "the mechanism, by name")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
	return c
}

// pmfDoc is the JSON document of a pmf.
type pmfDoc struct {
	Mechanism string  `json:"mechanism"`
	Eps       *string `json:"eps"`
	ExpEps    *string `json:"exp_eps"`
	*mechanisms.Answer
}

func (f *pmfFlags) run(s streams) error {
	in, err := f.parse()
	if err != nil {
		return err
	}
	m, err := findMechanism(f.mechanism)
	if err != nil {
		return err
	}
	a, err := mechanisms.Ask(m, in)
	if err != nil {
		return asked(f.mechanism, err)
	}
	doc := pmfDoc{f.mechanism, optional(f.epsilon.eps), optional(f.epsilon.exp), a}
	return show(s, f.json, doc, func(w io.Writer) error {
		t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
		fmt.Fprintln(t, "candidate\tscore\tprobability")
		for i, p := range a.PMF {
			fmt.Fprintf(t, "%d\t%s\t%s\n", i+1, plain(in.Scores[i]), p)
		}
		fmt.Fprintf(t, "\nexpected error\t\t%s\nmean squared error\t\t%s\n", a.ExpectedError, a.MSE)
		return t.Flush()
	})
}
