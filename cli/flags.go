package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"optratio/internal/decimal"
	"optratio/lp/clp"
	"optratio/lp/linear"
	"optratio/mechanisms"
)

// epsilonFlags are --eps and --exp-eps, of which a command takes exactly one.
type epsilonFlags struct{ eps, exp string }

func (f *epsilonFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.eps, "eps", "", "privacy parameter ε as a decimal, taken exactly")
	c.Flags().StringVar(&f.exp, "exp-eps", "", "e^ε as a fraction a/b: results are exact rationals")
}

func (f *epsilonFlags) parse() (mechanisms.Epsilon, error) {
	switch {
	case f.eps == "" && f.exp == "":
		return mechanisms.Epsilon{}, usagef("epsilon is missing: give --eps 0.5 or --exp-eps 3/2")
	case f.eps != "" && f.exp != "":
		return mechanisms.Epsilon{}, usagef("--eps and --exp-eps exclude each other: give one of them")
	case f.eps != "":
		e, err := mechanisms.ParseEpsilon(f.eps)
		if err != nil {
			return e, usagef("--eps %s: %w; give a decimal >= 0 such as 0.5", quoted(f.eps), err)
		}
		return e, nil
	}
	e, err := mechanisms.ParseExp(f.exp)
	if err != nil {
		return e, usagef("--exp-eps %s: %w; give a fraction >= 1 such as 3/2", quoted(f.exp), err)
	}
	return e, nil
}

// quoted shortens a user's text for a message.
func quoted(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// optional returns nil for an empty flag, for JSON.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// parsePositive reads a flag that is a decimal > 0.
func parsePositive(name, text string) (*big.Rat, error) {
	r, err := decimal.Parse(text)
	if err != nil {
		return nil, usagef("--%s: %w; give a decimal > 0", name, err)
	}
	if r.Sign() <= 0 {
		return nil, usagef("--%s %s: give a decimal > 0", name, quoted(text))
	}
	return r, nil
}

// findMechanisms reads a comma-separated list of names.
func findMechanisms(list string) ([]mechanisms.Mechanism, error) {
	var found []mechanisms.Mechanism
	seen := map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		m, err := mechanisms.Lookup(name)
		if err != nil {
			return nil, usagef("--mechanism %s: no such mechanism; optratio mechanisms lists them", quoted(name))
		}
		if !seen[name] {
			found = append(found, m)
		}
		seen[name] = true
	}
	return found, nil
}

// findSolver reads --solver.
func findSolver(name string) (linear.Solver, error) {
	switch name {
	case "auto":
		if clp.Available {
			return clp.New()
		}
		return linear.Embedded{}, nil
	case "embedded":
		return linear.Embedded{}, nil
	case "clp":
		s, err := clp.New()
		if err != nil {
			return nil, usagef("--solver clp: %w", err)
		}
		return s, nil
	}
	return nil, usagef("--solver %s: give auto, clp or embedded", quoted(name))
}

// parseBytes reads a size such as 8000000000, 8G or 500M.
func parseBytes(name, text string) (int64, error) {
	scale := int64(1)
	digits := text
	if i := strings.IndexByte("kMGT", lastByte(text)); i >= 0 {
		for range i + 1 {
			scale *= 1000
		}
		digits = text[:len(text)-1]
	}
	r, err := decimal.Parse(digits)
	if err == nil && r.Sign() > 0 {
		r.Mul(r, big.NewRat(scale, 1))
		if f, _ := r.Float64(); f >= 1 && f < 1e18 {
			return int64(f), nil
		}
	}
	return 0, usagef("--%s %s: give a number of bytes such as 8G", name, quoted(text))
}

func lastByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}

// errTimeLimit is the cause of a context that --time-limit ended.
var errTimeLimit = errors.New("the time limit was reached")

// limit is the value of --time-limit.
type limit time.Duration

// limitVar adds --time-limit.
func limitVar(fs *pflag.FlagSet, d *time.Duration, usage string) {
	fs.Var((*limit)(d), "time-limit", usage)
}

func (l *limit) String() string { return time.Duration(*l).String() }
func (l *limit) Type() string   { return "duration" }

// Set refuses what would be no limit but 0.
func (l *limit) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("give a duration such as 30s, or 0 for no limit")
	}
	*l = limit(d)
	return nil
}

// withLimit bounds a context; no limit for d <= 0.
func withLimit(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, errTimeLimit)
}

// writeJSON writes the one document of a --json run.
func writeJSON(w io.Writer, doc any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

// show prints an answer: as the one JSON document, or as print does for people.
func show(s streams, asJSON bool, doc any, print func(io.Writer) error) error {
	var err error
	if asJSON {
		err = writeJSON(s.out, doc)
	} else {
		err = print(s.out)
	}
	if err != nil {
		return &exit{exitUsage, err}
	}
	return nil
}

// progress shows a solver's progress on a terminal, and nothing elsewhere.
func progress(w io.Writer, what string) (report func(linear.Progress), done func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, func() {}
	}
	bar := progressbar.NewOptions(-1, progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(what),
		progressbar.OptionSpinnerType(14), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	return func(p linear.Progress) {
		bar.Describe(fmt.Sprintf("%s: %d pivots, objective %.9g", what, p.Pivots, p.Objective))
		_ = bar.Add(1)
	}, func() { _ = bar.Finish() }
}
