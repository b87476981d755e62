package command

import (
	"errors"
	"math/big"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/internal/job"
)

// parseBytes reads a size such as 8000000000, 8G or 500M.
func parseBytes(name, text string) (int64, error) {
	if r, err := job.Scaled(text); err == nil && r.Sign() > 0 {
		if f, _ := r.Float64(); f >= 1 && f < 1e18 {
			return int64(f), nil
		}
	}
	return 0, Usagef("--%s %s: give a number of bytes such as 8G", name, escape.Quoted(text))
}

// CountFlag is the value of a flag that counts something: 12, 10k, 3M, 1e6.
type CountFlag int

// CountVar adds a flag for a count, with a shorthand unless that is empty.
func CountVar(fs *pflag.FlagSet, to *int, name, short string, standard int, usage string) {
	*to = standard
	fs.VarP((*CountFlag)(to), name, short, usage)
}

func (c *CountFlag) String() string { return strconv.Itoa(int(*c)) }

func (c *CountFlag) Type() string { return "int" }

// Set reads a whole number.
func (c *CountFlag) Set(text string) error {
	r, err := job.Scaled(text)
	if err != nil || !r.IsInt() || r.Num().BitLen() >= strconv.IntSize {
		return errors.New("give a whole number, not larger than the machine can hold, such as 12, 10k, 3M or 1e6")
	}
	if r.Sign() < 0 {
		return errors.New("nothing is counted below 0; give a whole number such as 12, 10k, 3M or 1e6")
	}
	*c = CountFlag(r.Num().Int64())
	return nil
}

// MostEps bounds lists of ε, of splits and of sensitivities.
const MostEps = 10_000

// ParseList reads a flag that is a list of numbers, of which each has to pass the check.
func ParseList(name, text, want string, ok func(*big.Rat) bool) ([]*big.Rat, error) {
	list, err := decimal.ParseList(text, MostEps)
	if err != nil {
		return nil, Usagef("--%s %s: %w; give %s, separated by commas or as from:to:step", name, escape.Quoted(text), err, want)
	}
	for _, x := range list {
		if !ok(x) {
			return nil, Usagef("--%s %s: %s: give %s", name, escape.Quoted(text), x.RatString(), want)
		}
	}
	return list, nil
}

// ExactText writes a number of a list as a decimal, where it is one, or as a fraction.
func ExactText(x *big.Rat) string {
	if places, exact := x.FloatPrec(); exact && places < 20 {
		return x.FloatString(places)
	}
	return x.RatString()
}

// AddEpsilon adds --eps and --exp-eps, of which a command takes exactly one.
func AddEpsilon(c *cobra.Command, e *job.Epsilon) {
	c.Flags().StringVar(&e.Eps, "eps", "", "privacy parameter ε as a decimal, taken exactly")
	c.Flags().StringVar(&e.Exp, "exp-eps", "", "e^ε as a fraction a/b or a decimal, taken exactly: results are exact rationals")
}

// AddParams adds the parameters of mechanisms that have any.
func AddParams(c *cobra.Command, p *job.Params) {
	fs := c.Flags()
	fs.StringVar(&p.Gamma, "gamma", "", "rs, rs-log, rs-tnb: success parameter γ of the number of draws (default 0.05)")
	fs.StringVar(&p.Beta, "beta", "", "gem, mgem, combined-gem: failure probability β (default 0.05)")
	fs.StringVar(&p.Eta, "eta", "", "rs-tnb: shape η of the number of draws (default 1)")
	fs.StringVar(&p.EpsChoice, "eps-choice", "", "combined-gem: share of ε for the choice (default 0.6)")
	fs.StringVar(&p.Constraints, "constraints", "", "lp-optimal: paper, dp, monotone or full (default paper)")
}
