package cli

import (
	"bufio"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/decimal"
	"optratio/mechanisms"
)

// instanceFlags are scores, sensitivities, ε and the parameters of mechanisms.
type instanceFlags struct {
	epsilon                          epsilonFlags
	scores, scoresFile               string
	sensitivity                      string
	sensitivities, sensitivitiesFile string
	params                           paramFlags
	depth                            int
}

func (f *instanceFlags) add(c *cobra.Command) {
	f.epsilon.add(c)
	fs := c.Flags()
	fs.StringVar(&f.scores, "scores", "", "scores, comma-separated decimals or fractions")
	fs.StringVar(&f.scoresFile, "scores-file", "", "file of scores, one a line")
	fs.StringVar(&f.sensitivity, "sensitivity", "1", "sensitivity Δ of all candidates")
	fs.StringVar(&f.sensitivities, "sensitivities", "", "sensitivities, one for each score; mechanisms for one Δ take the largest")
	fs.StringVar(&f.sensitivitiesFile, "sensitivities-file", "", "file of sensitivities, one a line")
	f.params.add(c)
	fs.IntVarP(&f.depth, "k", "k", 0, "lp-optimal: depth of the lattice (default: the deepest score)")
}

func (f *instanceFlags) parse() (*mechanisms.Instance, error) {
	eps, err := f.epsilon.parse()
	if err != nil {
		return nil, err
	}
	in := &mechanisms.Instance{Epsilon: eps}
	if in.Params, err = f.params.parse(); err != nil {
		return nil, err
	}
	in.Params.Depth = f.depth
	if in.Scores, err = parseNumbers("scores", f.scores, f.scoresFile); err != nil {
		return nil, err
	}
	if in.Scores == nil {
		return nil, usagef("scores are missing: give --scores 0,-1,-3 or --scores-file FILE")
	}
	if in.Sensitivities, err = parseNumbers("sensitivities", f.sensitivities, f.sensitivitiesFile); err != nil {
		return nil, err
	}
	if in.Sensitivities == nil {
		one, err := parsePositive("sensitivity", f.sensitivity)
		if err != nil {
			return nil, err
		}
		in.Sensitivities = []*big.Rat{one}
	} else if s, q := len(in.Sensitivities), len(in.Scores); s != 1 && s != q {
		return nil, usagef("--sensitivities: %d for %d scores, give one for each", s, q)
	}
	if err := in.Check(); err != nil {
		return nil, usagef("--sensitivities: %w", err)
	}
	return in, nil
}

// parseNumber reads a decimal or a fraction.
func parseNumber(text string) (*big.Rat, error) {
	if strings.Contains(text, "/") {
		return decimal.ParseFraction(text)
	}
	return decimal.Parse(text)
}

// parseNumbers reads the numbers of a list or of a file; nil where neither is given.
func parseNumbers(name, list, file string) (out []*big.Rat, err error) {
	switch {
	case list == "" && file == "":
		return nil, nil
	case list != "" && file != "":
		return nil, usagef("--%s and --%s-file exclude each other: give one of them", name, name)
	case list != "":
		for text := range strings.SplitSeq(list, ",") {
			r, err := parseNumber(strings.TrimSpace(text))
			if err != nil {
				return nil, usagef("--%s: %w; give decimals separated by commas", name, err)
			}
			out = append(out, r)
		}
		return out, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, usagef("--%s-file: %w", name, err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for line := 1; lines.Scan(); line++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		r, err := parseNumber(text)
		if err != nil {
			return nil, usagef("%s:%d: %w; give one decimal a line", file, line, err)
		}
		out = append(out, r)
	}
	if err := lines.Err(); err != nil {
		return nil, usagef("--%s-file: %s: %w", name, file, err)
	}
	if out == nil {
		return nil, usagef("--%s-file: %s has no numbers, give one a line", name, file)
	}
	return out, nil
}

// asked turns the error of a mechanism into an exit.
func asked(name string, err error) error {
	if errors.Is(err, mechanisms.ErrInstance) || errors.Is(err, mechanisms.ErrEpsilon) {
		return usagef("--mechanism %s: %w", name, err)
	}
	if errors.Is(err, mechanisms.ErrNoAnswer) {
		return &exit{exitUndecided, fmt.Errorf("--mechanism %s: %w", name, err)}
	}
	return &exit{exitUsage, err}
}
