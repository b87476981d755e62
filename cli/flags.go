package cli

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"optratio/internal/decimal"
	"optratio/lp/clp"
	"optratio/lp/linear"
	"optratio/mechanisms"
	"optratio/verify"
)

// epsilonFlags are --eps and --exp-eps, of which a command takes exactly one.
type epsilonFlags struct{ eps, exp string }

func (f *epsilonFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.eps, "eps", "", "privacy parameter ε as a decimal, taken exactly")
	c.Flags().StringVar(&f.exp, "exp-eps", "", "e^ε as a fraction a/b or a decimal, taken exactly: results are exact rationals")
}

// list reads a list of values of one of the two flags; it does not parse them, and leaves it to parse to refuse both at once.
func (f *epsilonFlags) list() ([]string, error) {
	if f.eps != "" && f.exp != "" {
		return nil, nil
	}
	return splitNames(choose(f.eps != "", "eps", "exp-eps"), f.eps+f.exp)
}

// text says which ε was given.
func (f *epsilonFlags) text() string {
	if f.eps != "" {
		return "ε = " + f.eps
	}
	return "e^ε = " + f.exp
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
		return e, usagef("--exp-eps %s: %w; give a fraction or a decimal >= 1 such as 3/2", quoted(f.exp), err)
	}
	return e, nil
}

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

// parse returns the targets, nil where none is given, and the properties with those that they are about.
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
			return nil, nil, nil, usagef("--%s %s: give a decimal >= 0 such as 0.125", t.name, quoted(t.text))
		}
		*t.to = r
		if !slices.Contains(properties, t.property) {
			properties = append(properties, t.property)
		}
	}
	return rho, bounded, properties, nil
}

// approximate returns --delta, nil where it is not given, and the properties with approximate-dp, which takes the place of dp among the defaults.
// A δ of 0, which is ε-DP, is never meant by leaving it out.
func (f *targetFlags) approximate(properties []verify.Property, byDefault bool) (delta *big.Rat, all []verify.Property, err error) {
	if f.delta == "" {
		if slices.Contains(properties, verify.ApproximateDP) {
			err = usagef("--property %s: it is about a δ; give --delta too, such as --delta 1e-6", verify.ApproximateDP)
		}
		return nil, properties, err
	}
	delta, err = parseDelta(f.delta)
	at := slices.Index(properties, verify.DP)
	switch {
	case slices.Contains(properties, verify.ApproximateDP):
	case byDefault && at >= 0:
		properties[at] = verify.ApproximateDP
	default:
		properties = append(properties, verify.ApproximateDP)
	}
	return delta, properties, err
}

// quoted shows a user's text in a message, without its middle where it is very long.
func quoted(s string) string {
	if r := []rune(s); len(r) > 80 {
		s = string(r[:40]) + "…" + string(r[len(r)-20:])
	}
	return fmt.Sprintf("%q", s)
}

// splitNames reads a flag's comma-separated list; nil for none.
func splitNames(flag, list string) (names []string, err error) {
	if list == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return nil, usagef("--%s %s: an item of the list is empty; take a comma away, or fill in what is between them", flag, quoted(list))
		}
		names = append(names, name)
	}
	return names, nil
}

// parseProperties reads --property.
func parseProperties(list string) ([]verify.Property, error) {
	names, err := splitNames("property", list)
	if err != nil {
		return nil, err
	}
	properties, err := verify.ParseProperties(names)
	if err != nil {
		return nil, usagef("--property: %w", err)
	}
	return properties, nil
}

// refuseEmpty refuses flags that are given without a value, which would mean the default: a script's variable that is not set is not
// taken for a choice.
func refuseEmpty(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && strings.TrimSpace(f.Value.String()) == "" {
			err = usagef("%s %s: the value is empty; give one, or leave the flag out for the default", flagName(f), quoted(f.Value.String()))
		}
	})
	return err
}

// flagName is how a flag is written.
func flagName(f *pflag.Flag) string {
	if f.Shorthand == f.Name {
		return "-" + f.Name
	}
	return "--" + f.Name
}

func choose(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

// optional returns nil for an empty flag, for JSON.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// parsed reads a flag; an error names it.
func parsed[T any](name, text string, parse func(string) (T, error)) (T, error) {
	x, err := parse(text)
	if err != nil {
		err = usagef("--%s: %w", name, err)
	}
	return x, err
}

// parseGap reads --gap, the relative width of an answer wanted, > 0.
func parseGap(text string) (*big.Rat, error) {
	gap, err := decimal.Parse(text)
	if err != nil || gap.Sign() <= 0 {
		return nil, usagef("--gap %s: give a decimal > 0 such as 1e-9", quoted(text))
	}
	return gap, nil
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

// findMechanism reads one name, of the given flag.
func findMechanism(flag, name string) (mechanisms.Mechanism, error) {
	m, err := mechanisms.Lookup(strings.TrimSpace(name))
	if err != nil {
		return nil, usagef("--%s %s: no such mechanism; give one that optratio mechanisms lists", flag, quoted(name))
	}
	return m, nil
}

// findMechanisms reads a comma-separated list of names.
func findMechanisms(list string) ([]mechanisms.Mechanism, error) {
	var found []mechanisms.Mechanism
	seen := map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		m, err := findMechanism("mechanism", name)
		if err != nil {
			return nil, err
		}
		if own := m.Info().Name; !seen[own] {
			found, seen[own] = append(found, m), true
		}
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

// scaled reads a decimal that may end in k, M, G or T, for thousands, millions and so on.
func scaled(text string) (*big.Rat, error) {
	scale := int64(1)
	digits := strings.TrimRight(text, "kMGT")
	if len(digits) == len(text)-1 {
		for range strings.IndexByte("kMGT", text[len(digits)]) + 1 {
			scale *= 1000
		}
		text = digits
	}
	r, err := decimal.Parse(text)
	if err != nil {
		return nil, err
	}
	return r.Mul(r, big.NewRat(scale, 1)), nil
}

// parseBytes reads a size such as 8000000000, 8G or 500M.
func parseBytes(name, text string) (int64, error) {
	if r, err := scaled(text); err == nil && r.Sign() > 0 {
		if f, _ := r.Float64(); f >= 1 && f < 1e18 {
			return int64(f), nil
		}
	}
	return 0, usagef("--%s %s: give a number of bytes such as 8G", name, quoted(text))
}

// countFlag is the value of a flag that counts something: 12, 10k, 3M, 1e6.
type countFlag int

// countVar adds a flag for a count, with a shorthand unless that is empty.
func countVar(fs *pflag.FlagSet, to *int, name, short string, standard int, usage string) {
	*to = standard
	fs.VarP((*countFlag)(to), name, short, usage)
}

func (c *countFlag) String() string { return strconv.Itoa(int(*c)) }
func (c *countFlag) Type() string   { return "int" }

// Set reads a whole number.
func (c *countFlag) Set(text string) error {
	r, err := scaled(text)
	if err != nil || !r.IsInt() || r.Num().BitLen() >= strconv.IntSize {
		return errors.New("give a whole number, not larger than the machine can hold, such as 12, 10k, 3M or 1e6")
	}
	if r.Sign() < 0 {
		return errors.New("nothing is counted below 0; give a whole number such as 12, 10k, 3M or 1e6")
	}
	*c = countFlag(r.Num().Int64())
	return nil
}
