package command

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	if dashed.MatchString(text) || strings.Contains(text, ":") {
		return errors.New("give one whole number; optratio sweep takes ranges of n and k, such as 2:4")
	}
	if err != nil || !r.IsInt() || r.Num().BitLen() >= strconv.IntSize {
		return errors.New("give a whole number, not larger than the machine can hold, such as 12, 10k, 3M or 1e6")
	}
	if r.Sign() < 0 {
		return errors.New("nothing is counted below 0; give a whole number such as 12, 10k, 3M or 1e6")
	}
	*c = CountFlag(r.Num().Int64())
	return nil
}

// unlisted is the help of a flag that is accepted and left out of the help: an older name of what another flag says.
const unlisted = "-"

// listFlag is the value of a flag that may be given again, which adds to its list.
type listFlag job.Listed

func (l *listFlag) String() string { return string(*l) }

func (l *listFlag) Type() string { return "string" }

// Set adds to the list.
func (l *listFlag) Set(text string) error {
	*l += listFlag(job.Choose(*l == "", "", ",") + text)
	return nil
}

// AddFields adds a flag for each field of a question, with the help of the field or one that is given here; none where that is "".
func AddFields(c *cobra.Command, q any, help map[string]string) {
	fs := c.Flags()
	for _, f := range job.Fields(q) {
		if text, ok := help[f.Name]; ok {
			f.Help = text
		}
		if f.Help == "" {
			continue
		}
		usage := job.Named(f.Help, func(field string) string { return job.Choose(len(field) == 1, "-", "--") + field })
		switch to := f.To.(type) {
		case *string:
			fs.StringVar(to, f.Name, *to, usage)
		case *job.Listed:
			fs.Var((*listFlag)(to), f.Name, usage)
		case *bool:
			fs.BoolVar(to, f.Name, *to, usage)
		case *int:
			CountVar(fs, to, f.Name, f.Short(), *to, usage)
		case *uint64:
			fs.Uint64Var(to, f.Name, *to, usage)
		case *time.Duration:
			fs.DurationVar(to, f.Name, *to, usage)
		}
		fs.Lookup(f.Name).Hidden = f.Help == unlisted
	}
}
