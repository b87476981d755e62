package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/spf13/pflag"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// withRho are the flags that go with --rho.
var withRho = map[string]bool{
	"rho": true, "n": true, "k": true, "mechanism": true, "objective": true, "domain": true, "gap": true, "monotonic-scores": true,
	"sensitivity": true, "json": true, "output": true, "time-limit": true, "max-memory": true,
}

// checkRho reads --rho and --domain, and refuses what makes no sense with them.
func (f *ratioFlags) checkRho(flags *pflag.FlagSet) (rho *big.Rat, err error) {
	if f.rho == "" {
		if f.domain != "lattice" {
			return nil, command.Usagef("--domain %s: is for --rho", command.Quoted(f.domain))
		}
		return nil, nil
	}
	if f.epsilon.Eps != "" || f.epsilon.Exp != "" {
		return nil, command.Usagef("--rho and --eps exclude each other: with --rho each mechanism has its own ε; give one of them")
	}
	flags.Visit(func(fl *pflag.Flag) {
		if !withRho[fl.Name] && err == nil {
			err = command.Usagef("--%s: makes no sense with --rho, which compares mechanisms with each other on the lattice of step 2Δ; leave it out", fl.Name)
		}
	})
	if err != nil {
		return nil, err
	}
	if f.domain != "lattice" && f.domain != "real" {
		return nil, command.Usagef("--domain %s: give lattice or real", command.Quoted(f.domain))
	}
	return command.ParsePositive("rho", f.rho)
}

// runRho compares mechanisms at equal ρ.
func (f *ratioFlags) runRho(ctx context.Context, rho *big.Rat) error {
	begin := time.Now()
	r, err := f.request(ctx)
	if err != nil {
		return err
	}
	switch {
	case r.Worst:
		return command.Usagef("--objective minimax: makes no sense with --rho, which compares mean errors; give paper or box")
	case f.n < 2:
		return command.Usagef("-n %d: with --rho give at least 2 candidates; one makes no error at any ρ", f.n)
	}
	if f.domain == "real" {
		for _, m := range r.Mechanisms {
			if err := checkConcentration(m); err != nil {
				return err
			}
		}
	}
	doc := &document.Rho{
		N: f.n, K: f.k, Rho: number.Exact(rho), Domain: f.domain, Objective: f.objective, Monotonic: f.question.monotonic, Orbits: lattice.Orbits(f.n, f.k),
	}
	shown, done := command.Progress(f.Streams, fmt.Sprintf("n = %d, k = %d", f.n, f.k))
	for _, m := range r.Mechanisms {
		none := document.AtRho{Name: m.Info().Name, Proof: "none", Parameter: number.Bounds(new(big.Rat), nil), Error: number.Bounds(new(big.Rat), big.NewRat(int64(f.k), 1)), Ratio: number.Bounds(new(big.Rat), nil)}
		row, err := command.Settle(ctx, func() (document.AtRho, error) { return f.atRho(ctx, r, m, rho, shown, doc) }, func(why string) document.AtRho {
			doc.Undecided = why
			return none
		})
		if err != nil {
			done()
			return err
		}
		addAtRho(doc, row)
	}
	done()
	doc.Seconds = time.Since(begin).Seconds()
	f.Show(doc, func(w io.Writer) { printRho(w, doc, f.rho) })
	return command.Ending(ctx, doc.Undecided)
}

// atRho calibrates one mechanism and rates it.
func (f *ratioFlags) atRho(ctx context.Context, r lp.Request, m mechanisms.Mechanism, rho *big.Rat, shown func(string, ...any), doc *document.Rho) (row document.AtRho, err error) {
	name := m.Info().Name
	c := verify.Calibrator{Claim: verify.Claim{Mechanism: m, Monotonic: f.question.monotonic}, Target: verify.Target{Rho: rho}, N: f.n, K: f.k, Gap: r.Gap, AllScores: f.domain == "real"}
	c.Progress = func(tried int, low, _ *big.Rat) { shown("%s at least %s", name, low.FloatString(9)) }
	cal, err := c.Calibrate(ctx)
	if err != nil {
		return row, err
	}
	if cal.Undecided != "" {
		doc.Undecided = name + ": " + cal.Undecided
	}
	least, _ := cal.Parameter.Lower()
	eps, err := number.FromEpsilon(least)
	if err != nil {
		return row, err
	}
	mean, err := lp.MeanError(ctx, m, f.n, f.k, r.Objective, eps)
	if errors.Is(err, lp.ErrTooLarge) || ctx.Err() != nil {
		doc.Undecided, mean, err = fmt.Sprint(err), number.Bounds(new(big.Rat), big.NewRat(int64(f.k), 1)), nil
		if ctx.Err() != nil {
			doc.Undecided = context.Cause(ctx).Error()
		}
	}
	row = document.AtRho{Name: name, Parameter: cal.Parameter, Proof: cal.Proof, Error: mean}
	if cal.Attained != nil {
		row.Attained = cal.Attained
	}
	return row, err
}

// addAtRho appends a row with its ratio to the first.
func addAtRho(d *document.Rho, row document.AtRho) {
	if len(d.Mechanisms) == 0 {
		row.Ratio = number.Int(1)
	} else if !row.Ratio.IsValid() {
		row.Ratio = quotientOf(row.Error, d.Mechanisms[0].Error)
	}
	d.Mechanisms = append(d.Mechanisms, row)
}

// quotientOf encloses a/b for nonnegative numbers.
func quotientOf(a, b number.Number) number.Number {
	enclosed := func(x number.Number) number.Interval {
		low, _ := x.Lower()
		high, bounded := x.Upper()
		if low == nil || !bounded {
			return number.Whole(96).Abs()
		}
		return number.Hull(number.FromRat(low, 96), number.FromRat(high, 96))
	}
	return number.Enclosed(enclosed(a).Quo(enclosed(b)).Max(number.FromInt(0, 96)))
}

func printRho(w io.Writer, d *document.Rho, rho string) {
	base := command.Choose(d.Monotonic, "Δ", "2Δ")
	fmt.Fprintf(w, "n = %d, k = %d, ρ = %s, objective %s%s\n", d.N, d.K, rho, d.Objective, command.Choose(d.Monotonic, ", monotonic scores", ""))
	where := "on this lattice, of step " + base + "; other scores were not looked at"
	if d.Domain == "real" {
		where = "for all real scores and any number of candidates, by theorem"
	}
	fmt.Fprintf(w, "every mechanism runs at the largest parameter ε' at which it is %s-zCDP %s\n", rho, where)
	fmt.Fprintf(w, "compared: mean expected errors over the lattice at the lower ends of the parameters, which are certified; the upper ends are not %s-zCDP\n\n", rho)
	t := command.Table(w, 3)
	fmt.Fprintf(t, "mechanism\tparameter ε'\terror (steps of %s)\tratio to %s\n", base, d.Mechanisms[0].Name)
	for _, m := range d.Mechanisms {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", m.Name, m.Parameter, m.Error, m.Ratio)
	}
	t.Flush()
	if d.Undecided != "" {
		fmt.Fprintln(w, "\nundecided: where an upper end is inf or far from the lower one, the error is that of a parameter that may be too small")
	}
}
