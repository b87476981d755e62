package cli

import (
	"context"
	"fmt"
	"io"
	"math/big"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// calibrateFlags are the flags of the calibrate command.
type calibrateFlags struct {
	command.Job
	domainFlags
	epsilon   job.Epsilon
	rho, gap  string
	monotonic bool
}

func newCalibrate(s command.Streams) *cobra.Command {
	f := calibrateFlags{Job: command.Job{Streams: s}}
	c := &cobra.Command{
		Use:   "calibrate --mechanism NAME (-n N -k K | --domain FILE | --domain real) (--eps E | --exp-eps A/B | --rho R)",
		Short: "The largest parameter at which a mechanism is ε-DP, or ρ-zCDP",
		Long: `The largest parameter ε' of a mechanism at which it is E-DP (or R-zCDP) on the lattice Q(n,k), or on given score
vectors and their neighbors. The domain decides, by bisection: the mechanism meets the target there at the
lower end of what is printed, and misses it at the upper end; nothing is said of other parameters and scores. Beside it
stands the largest parameter for all real scores, where a theorem knows it.
--domain real with --rho gives the parameter for all real scores and any number of candidates, which theorems know for
pf, em and geo.

--monotonic-scores takes neighbors that move all scores one way, on the lattice in steps of Δ, and runs the mechanism
with 2Δ replaced by Δ: the parameter is the ε' to run it with in that way. --neighbors monotonic takes the same
neighbors and leaves the mechanism as it is.`,
		Example: `  optratio calibrate --mechanism rnm-laplace -n 3 -k 2 --eps 1
  optratio calibrate --mechanism em -n 3 -k 2 --rho 0.125
  optratio calibrate --mechanism pf --domain real --rho 0.125
  optratio calibrate --mechanism krr -n 3 -k 2 --eps 1 --monotonic-scores
  optratio calibrate --mechanism gem --domain scores.txt --sensitivities 1,2 --eps 1 --gap 1e-3`,
		Args: command.NoArgs,
		RunE: f.Limited(f.run),
	}
	fs := c.Flags()
	command.AddEpsilon(c, &f.epsilon)
	fs.StringVar(&f.rho, "rho", "", "zero-concentrated DP with this ρ, instead of ε-DP")
	fs.StringVar(&f.gap, "gap", "", "relative width wanted of the parameter: (upper-lower)/upper (default 1e-9)")
	addMonotonic(c, &f.monotonic)
	f.domainFlags.add(c, "", "with --domain FILE: linf or monotonic")
	f.Job.Add(c)
	return c
}

func (f *calibrateFlags) parse(ctx context.Context) (c verify.Calibrator, err error) {
	if f.mechanism == "" {
		return c, command.Usagef("--mechanism is missing: give one that optratio mechanisms lists")
	}
	if c.Claim, err = f.claim(); err != nil {
		return c, err
	}
	c.Claim.Monotonic = f.monotonic
	switch {
	case f.rho != "" && (f.epsilon.Eps != "" || f.epsilon.Exp != ""):
		return c, command.Usagef("--rho and --eps exclude each other: give one of them")
	case f.rho != "":
		c.Target.Rho, err = job.ParsePositive("rho", f.rho)
	default:
		c.Target.Epsilon, err = f.epsilon.Parse()
	}
	if err != nil {
		return c, err
	}
	if f.gap != "" {
		if c.Gap, err = parseGap(f.gap); err != nil {
			return c, err
		}
	}
	switch f.domain {
	case "lattice":
		c.N, c.K = f.n, f.k
		return c, checkSize(f.n, f.k)
	case "real":
		c.AllScores = true
		return c, f.checkReal(c.Target.Rho != nil, c.Claim.Mechanism)
	}
	c.Vectors, c.Neighbors, err = f.vectors(ctx, &c.Claim)
	return c, err
}

// checkReal refuses --domain real where no theorem answers.
func (f *calibrateFlags) checkReal(rho bool, m mechanisms.Mechanism) error {
	switch {
	case !rho:
		return command.Usagef("--domain real: is for --rho; with --eps leave it out, the lattice says where a theorem answers")
	case f.n != 0 || f.k != 0 || f.sensitivities != "":
		return command.Usagef("--domain real: is about all scores of any number of candidates; leave out -n, -k and --sensitivities")
	}
	return checkConcentration(m)
}

// checkConcentration refuses mechanisms of which no theorem gives ρ for all real scores.
func checkConcentration(m mechanisms.Mechanism) error {
	zero, err := number.FromEpsilon(new(big.Rat))
	if err != nil {
		return err
	}
	if _, ok := mechanisms.Concentration(m, zero, 64); !ok {
		return command.Usagef("--domain real: ρ for all real scores is known for pf, em and geo only, not for %s; give --domain lattice", m.Info().Name)
	}
	return nil
}

func (f *calibrateFlags) run(ctx context.Context) error {
	c, err := f.parse(ctx)
	if err != nil {
		return err
	}
	shown, done := command.Progress(f.Streams, "calibrate")
	c.Progress = func(tried int, low, _ *big.Rat) { shown("%d parameters, at least %s", tried, low.FloatString(9)) }
	r, err := job.Settle(ctx, func() (*verify.Calibration, error) { return c.Calibrate(ctx) }, func(why string) *verify.Calibration {
		return &verify.Calibration{Mechanism: f.mechanism, Domain: f.domain, Monotonic: f.monotonic, Proof: verify.ByDomain, Undecided: why}
	})
	done()
	if err != nil {
		return err
	}
	target := command.Choose(f.rho != "", f.rho+"-zCDP", "ε-DP with "+f.epsilon.String())
	f.Show(r, func(w io.Writer) { printCalibration(w, r, target, f.units()) })
	return command.Ending(ctx, r.Undecided)
}

func printCalibration(w io.Writer, r *verify.Calibration, target, units string) {
	command.Say(w, "%s, target %s, on %s", r.Mechanism, target, r.Domain)
	if r.Monotonic {
		fmt.Fprintln(w, "run with 2Δ replaced by Δ, for neighbors that move all scores one way; of others nothing is said")
	}
	if r.Domain == verify.AllScores {
		fmt.Fprintf(w, "parameter ε' = %s: by theorem the target is met for all %sscores at the lower end, and missed at the upper end\n", r.Parameter, command.Choose(r.Monotonic, "monotonic ", ""))
		return
	}
	if r.AllScores.IsValid() {
		defer fmt.Fprintf(w, "for all real %sscores: parameter ε' = %s, by theorem\n", command.Choose(r.Monotonic, "monotonic ", ""), r.AllScores)
	}
	if r.Proof == verify.ByTheorem {
		fmt.Fprintf(w, "parameter ε' = %s: by theorem the target is met there then, and at no larger parameter\n", r.Parameter)
		return
	}
	fmt.Fprintf(w, "parameter ε' = %s, from %d parameters that were decided\n", r.Parameter, r.Tried)
	fmt.Fprintln(w, "at the lower end the target is met on this domain; other scores were not looked at")
	if r.Attained != nil {
		fmt.Fprintf(w, "closest to missing it there: %s\n", r.Attained)
	}
	if r.Violated != nil {
		fmt.Fprintf(w, "at the upper end it is missed at %s\n", r.Violated)
	}
	if r.Attained != nil || r.Violated != nil {
		command.Say(w, "%s", units)
	}
}
