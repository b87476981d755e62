package cli

import (
	"math/big"
	"slices"

	"github.com/spf13/cobra"

	"optratio/internal/clp"
	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/job"
	"optratio/internal/linear"
	"optratio/verify"
)

// addMonotonic adds --monotonic-scores.
func addMonotonic(c *cobra.Command, to *bool) {
	c.Flags().BoolVar(to, "monotonic-scores", false, "neighbors move all scores one way, each by at most its sensitivity, as counts do when a person is added: mechanisms run with 2Δ replaced by Δ, which keeps them ε-DP")
}

// targetFlags are --rho and --range, the privacy of other kinds than ε-DP that verdicts are about.
type targetFlags struct{ rho, bounded, delta string }

func (f *targetFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.rho, "rho", "", "target of zero-concentrated DP: also decide zcdp with this ρ")
	c.Flags().StringVar(&f.bounded, "range", "", "target of bounded range, in the units of ε: also decide bounded-range with this instead of ε")
	c.Flags().StringVar(&f.delta, "delta", "", "decide (ε,δ)-DP with this δ, a decimal or fraction from 0 to 1: approximate-dp, by default in the place of dp")
}

// parse returns the targets, nil where none is given, and the properties, where some are named, with those that they are about.
func (f *targetFlags) parse(properties []verify.Property) (rho, bounded *big.Rat, all []verify.Property, err error) {
	for _, t := range []struct {
		name, text string
		to         **big.Rat
		property   verify.Property
	}{{"rho", f.rho, &rho, verify.ZCDP}, {"range", f.bounded, &bounded, verify.BoundedRange}} {
		if t.text == "" {
			continue
		}
		r, err := decimal.ParseNumber(t.text)
		if err != nil || r.Sign() < 0 {
			return nil, nil, nil, command.Usagef("--%s %s: give a decimal >= 0 such as 0.125", t.name, command.Quoted(t.text))
		}
		*t.to = r
		if len(properties) > 0 && !slices.Contains(properties, t.property) {
			properties = append(properties, t.property)
		}
	}
	return rho, bounded, properties, nil
}

// approximate returns --delta, nil where it is not given. A δ of 0, which is ε-DP, is never meant by leaving it out.
func (f *targetFlags) approximate(properties []verify.Property) (delta *big.Rat, err error) {
	if f.delta != "" {
		return parseDelta(f.delta)
	}
	if slices.Contains(properties, verify.ApproximateDP) {
		err = command.Usagef("--property %s: it is about a δ; give --delta too, such as --delta 1e-6", verify.ApproximateDP)
	}
	return nil, err
}

const slackUsage = "ε-DP is proved up to ε plus this, and violated above (default: 1e-6 of ε for numbers that are not exact, and 0 for exact ones)"

// parseSlack reads --slack, nil where it is not given.
func parseSlack(text string) (*big.Rat, error) {
	if text == "" {
		return nil, nil
	}
	r, err := decimal.ParseNumber(text)
	if err != nil || r.Sign() < 0 {
		return nil, command.Usagef("--slack %s: give a decimal >= 0 such as 1e-6", command.Quoted(text))
	}
	return r, nil
}

// parseProperties reads --property.
func parseProperties(list string) ([]verify.Property, error) {
	names, err := job.SplitNames("property", list)
	if err != nil {
		return nil, err
	}
	return job.Parsed("property", list, func(string) ([]verify.Property, error) { return verify.ParseProperties(names) })
}

// parseGap reads --gap, the relative width of an answer wanted, > 0.
func parseGap(text string) (*big.Rat, error) {
	gap, err := decimal.Parse(text)
	if err != nil || gap.Sign() <= 0 {
		return nil, command.Usagef("--gap %s: give a decimal > 0 such as 1e-9", command.Quoted(text))
	}
	return gap, nil
}

// findSolver reads --solver. CLP is for a second opinion: on large programs it takes longer than the embedded solver, which has better starts
// (docs/development/performance.md), and answers do not depend on the build.
func findSolver(name string) (linear.Solver, error) {
	switch name {
	case "auto", "embedded":
		return linear.Embedded{}, nil
	case "clp":
		s, err := clp.New()
		if err != nil {
			return nil, command.Usagef("--solver clp: %w", err)
		}
		return s, nil
	}
	return nil, command.Usagef("--solver %s: give auto, clp or embedded%s", command.Quoted(name), job.DidYouMean(name, job.Choices("solver")))
}
