package command

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/number"
)

// Quoted shows a user's text in a message, without its middle where it is very long.
func Quoted(s string) string { return escape.Quoted(s) }

func Choose(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

// SplitNames reads a flag's comma-separated list; nil for none.
func SplitNames(flag, list string) (names []string, err error) {
	if list == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return nil, Usagef("--%s %s: an item of the list is empty; take a comma away, or fill in what is between them", flag, Quoted(list))
		}
		names = append(names, name)
	}
	return names, nil
}

// Parsed reads a flag; an error names it.
func Parsed[T any](name, text string, parse func(string) (T, error)) (T, error) {
	x, err := parse(text)
	if err != nil {
		names := Choices(name)
		err = Usagef("--%s: %w%s", name, err, DidYouMean(unknown(text, names), names))
	}
	return x, err
}

// ParsePositive reads a flag that is a decimal > 0.
func ParsePositive(name, text string) (*big.Rat, error) {
	r, err := decimal.Parse(text)
	if err != nil {
		return nil, Usagef("--%s: %w; give a decimal > 0", name, err)
	}
	if r.Sign() <= 0 {
		return nil, Usagef("--%s %s: give a decimal > 0", name, Quoted(text))
	}
	return r, nil
}

// Scaled reads a decimal that may end in k, M, G or T, for thousands, millions and so on.
func Scaled(text string) (*big.Rat, error) {
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
	if r, err := Scaled(text); err == nil && r.Sign() > 0 {
		if f, _ := r.Float64(); f >= 1 && f < 1e18 {
			return int64(f), nil
		}
	}
	return 0, Usagef("--%s %s: give a number of bytes such as 8G", name, Quoted(text))
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
	r, err := Scaled(text)
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
		return nil, Usagef("--%s %s: %w; give %s, separated by commas or as from:to:step", name, Quoted(text), err, want)
	}
	for _, x := range list {
		if !ok(x) {
			return nil, Usagef("--%s %s: %s: give %s", name, Quoted(text), x.RatString(), want)
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

// EpsilonFlags are --eps and --exp-eps, of which a command takes exactly one.
type EpsilonFlags struct{ Eps, Exp string }

// Add adds the two flags.
func (f *EpsilonFlags) Add(c *cobra.Command) {
	c.Flags().StringVar(&f.Eps, "eps", "", "privacy parameter ε as a decimal, taken exactly")
	c.Flags().StringVar(&f.Exp, "exp-eps", "", "e^ε as a fraction a/b or a decimal, taken exactly: results are exact rationals")
}

// List reads a list of values of one of the two flags; it does not parse them, and leaves it to Parse to refuse both at once.
func (f *EpsilonFlags) List() ([]string, error) {
	if f.Eps != "" && f.Exp != "" {
		return nil, nil
	}
	return SplitNames(Choose(f.Eps != "", "eps", "exp-eps"), f.Eps+f.Exp)
}

// Text says which ε was given.
func (f *EpsilonFlags) Text() string {
	if f.Eps != "" {
		return "ε = " + f.Eps
	}
	return "e^ε = " + f.Exp
}

// Optional is a text for a JSON document, null where it was not given.
func Optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Parse reads --eps or --exp-eps, whichever was given.
func (f *EpsilonFlags) Parse() (number.Epsilon, error) {
	eps, exp := f.Eps, f.Exp
	switch {
	case eps == "" && exp == "":
		return number.Epsilon{}, Usagef("epsilon is missing: give --eps 0.5 or --exp-eps 3/2")
	case eps != "" && exp != "":
		return number.Epsilon{}, Usagef("--eps and --exp-eps exclude each other: give one of them")
	case eps != "":
		e, err := number.ParseEpsilon(eps)
		if err != nil {
			return e, Usagef("--eps %s: %w; give a decimal >= 0 such as 0.5", Quoted(eps), err)
		}
		return e, nil
	}
	e, err := number.ParseExp(exp)
	if err != nil {
		return e, Usagef("--exp-eps %s: %w; give a fraction or a decimal >= 1 such as 3/2", Quoted(exp), err)
	}
	return e, nil
}

// Probability reads a decimal from 0 to 1.
func Probability(name, text string) (*big.Rat, error) {
	r, err := decimal.Parse(text)
	if err != nil || r.Sign() < 0 || r.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, Usagef("--%s %s: give a decimal from 0 to 1", name, Quoted(text))
	}
	return r, nil
}

// Gap reads the relative width of an answer wanted, from 0 to 1.
func Gap(text string) (float64, error) {
	gap, err := strconv.ParseFloat(text, 64)
	if err != nil || !(gap >= 0 && gap < 1) {
		return 0, Usagef("--gap %s: give a decimal from 0 to 1 such as 1e-9", Quoted(text))
	}
	return gap, nil
}
