package command

import (
	"errors"
	"fmt"
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

// flagValue is the value of a flag that has a reader of its own.
type flagValue[T any] struct {
	to   *T
	kind string
	read func(text string) (T, error)
}

func (f flagValue[T]) String() string { return fmt.Sprint(*f.to) }
func (f flagValue[T]) Type() string   { return f.kind }

func (f flagValue[T]) Set(text string) error {
	value, err := f.read(text)
	if err == nil {
		*f.to = value
	}
	return err
}

// CountVar adds a flag that counts something, 12, 10k, 3M, 1e6, with a shorthand unless that is empty.
func CountVar(fs *pflag.FlagSet, to *int, name, short string, standard int, usage string) {
	*to = standard
	fs.VarP(flagValue[int]{to, "int", readCount}, name, short, usage)
}

func readCount(text string) (int, error) {
	r, err := job.Scaled(text)
	switch {
	case dashed.MatchString(text) || strings.Contains(text, ":"):
		return 0, errors.New("give one whole number; optratio sweep takes ranges of n and k, such as 2:4")
	case err != nil || !r.IsInt() || r.Num().BitLen() >= strconv.IntSize:
		return 0, errors.New("give a whole number, not larger than the machine can hold, such as 12, 10k, 3M or 1e6")
	case r.Sign() < 0:
		return 0, errors.New("nothing is counted below 0; give a whole number such as 12, 10k, 3M or 1e6")
	}
	return int(r.Num().Int64()), nil
}

// How many significant digits the numbers of tables have, at most and where --digits does not say.
const mostDigits, usualDigits = 12, 6

func readDigits(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostDigits {
		return 0, fmt.Errorf("give a number of digits from 1 to %d, such as %d", mostDigits, usualDigits)
	}
	return n, nil
}

// readLimit refuses what would be no limit but 0.
func readLimit(text string) (time.Duration, error) {
	t, err := time.ParseDuration(text)
	if err != nil || t < 0 {
		return 0, errors.New("give a duration such as 30s, or 0 for no limit")
	}
	return t, nil
}

// unlisted is the help of a flag that is accepted and left out of the help: an older name of what another flag says.
const unlisted = "-"

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
			more := func(text string) (job.Listed, error) { // a flag that is given again adds to its list
				return *to + job.Listed(job.Choose(*to == "", "", ",")+text), nil
			}
			fs.Var(flagValue[job.Listed]{to, "string", more}, f.Name, usage)
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
