package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/job"
	"optratio/mechanisms"
)

// instanceFlags are scores, sensitivities, ε and the parameters of mechanisms.
type instanceFlags struct {
	epsilon                          job.Epsilon
	scores, scoresFile               string
	sensitivity                      string
	sensitivities, sensitivitiesFile string
	params                           job.Params
	depth                            int
	monotonic                        bool
}

func (f *instanceFlags) add(c *cobra.Command) {
	command.AddEpsilon(c, &f.epsilon)
	fs := c.Flags()
	fs.StringVar(&f.scores, "scores", "", "scores, comma-separated decimals or fractions, or a file with one a line")
	fs.StringVar(&f.scoresFile, "scores-file", "", "file of scores, one a line")
	fs.StringVar(&f.sensitivity, "sensitivity", "1", "sensitivity Δ of all candidates")
	fs.StringVar(&f.sensitivities, "sensitivities", "", "sensitivities, one for each score, as a list or a file; mechanisms for one Δ take the largest")
	fs.StringVar(&f.sensitivitiesFile, "sensitivities-file", "", "file of sensitivities, one a line")
	addMonotonic(c, &f.monotonic)
	command.AddParams(c, &f.params)
	command.CountVar(fs, &f.depth, "k", "k", 0, "lp-optimal: depth of the lattice (default: the deepest score)")
}

func (f *instanceFlags) parse(ctx context.Context) (*mechanisms.Instance, error) {
	eps, err := f.epsilon.Parse()
	if err != nil {
		return nil, err
	}
	in := &mechanisms.Instance{Epsilon: eps}
	if in.Params, err = f.params.Values(); err != nil {
		return nil, err
	}
	if in.Scores, err = parseNumbers(ctx, "scores", f.scores, f.scoresFile); err != nil {
		return nil, err
	}
	if in.Scores == nil {
		return nil, command.Usagef("scores are missing: give --scores 0,-1,-3 or --scores-file FILE")
	}
	if in.Sensitivities, err = parseNumbers(ctx, "sensitivities", f.sensitivities, f.sensitivitiesFile); err != nil {
		return nil, err
	}
	if in.Sensitivities == nil {
		one, err := job.ParsePositive("sensitivity", f.sensitivity)
		if err != nil {
			return nil, err
		}
		in.Sensitivities = []*big.Rat{one}
	} else if s, q := len(in.Sensitivities), len(in.Scores); s != 1 && s != q {
		return nil, command.Usagef("--sensitivities: %d for %d scores, give one for each", s, q)
	}
	if err := in.Check(); err != nil {
		return nil, command.Usagef("--sensitivities: %w", err)
	}
	return in, nil
}

// parseNumbers reads the numbers of a list or of a file; nil where neither is given.
func parseNumbers(ctx context.Context, name, list, file string) (out []*big.Rat, err error) {
	switch {
	case list == "" && file == "":
		return nil, nil
	case list != "" && file != "":
		return nil, command.Usagef("--%s and --%s-file exclude each other: give one of them", name, name)
	case list != "":
		return listOrFile(ctx, "--"+name, list)
	}
	return readColumn(ctx, "--"+name+"-file", file, "")
}

// listOrFile reads numbers that are separated by commas, or else the file of this name, which has one a line.
func listOrFile(ctx context.Context, flag, text string) ([]*big.Rat, error) {
	out, err := splitNumbers(text)
	if err == nil {
		return out, nil
	}
	if _, missing := os.Stat(text); missing != nil {
		return nil, command.Usagef("%s: %w; give decimals separated by commas, or a file with one a line", flag, err)
	}
	return readColumn(ctx, flag, text, "")
}

// splitNumbers reads decimals and fractions separated by commas.
func splitNumbers(list string) ([]*big.Rat, error) {
	var out []*big.Rat
	for text := range strings.SplitSeq(list, ",") {
		r, err := decimal.ParseNumber(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// splitScores reads a score vector: numbers separated by commas, or a JSON array of numbers and of strings "p/q".
func splitScores(text string) ([]*big.Rat, error) {
	if !strings.HasPrefix(text, "[") {
		return splitNumbers(text)
	}
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		return nil, fmt.Errorf("%s is no JSON array", command.Quoted(text))
	}
	out := make([]*big.Rat, len(items))
	for i, item := range items {
		number := string(item)
		if json.Unmarshal(item, &number) != nil {
			number = string(item)
		}
		var err error
		if out[i], err = decimal.ParseNumber(number); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no scores")
	}
	return out, nil
}

// splitPair reads two neighbors: scores;scores, or a JSON array of two arrays.
func splitPair(text string) (pair [2][]*big.Rat, err error) {
	const want = "give scores;scores such as 0,-1;1,-1, or [[0,-1],[1,-1]]"
	left, right, ok := strings.Cut(text, ";")
	if strings.HasPrefix(text, "[[") && !ok {
		var sides []json.RawMessage
		if ok = json.Unmarshal([]byte(text), &sides) == nil && len(sides) == 2; ok {
			left, right = string(sides[0]), string(sides[1])
		}
	}
	if !ok {
		return pair, errors.New("no pair, " + want)
	}
	for i, side := range []string{left, right} {
		if pair[i], err = splitScores(strings.TrimSpace(side)); err != nil {
			return pair, fmt.Errorf("%w; %s", err, want)
		}
	}
	if len(pair[0]) != len(pair[1]) {
		return pair, fmt.Errorf("%d and %d scores, give as many on either side", len(pair[0]), len(pair[1]))
	}
	return pair, nil
}

// readVectors reads the file of score vectors that --domain names, one a line, comma-separated or as a JSON array, all of one length. What else the flag
// takes is in others.
func readVectors(ctx context.Context, path, others string) ([][]*big.Rat, error) {
	length := 0
	return command.ReadAll(ctx, "--domain", path, others+" or a file of score vectors", "no score vectors, give one a line such as 0,-1,-2.5", func(text string) ([]*big.Rat, error) {
		v, err := splitScores(text)
		if err != nil {
			return nil, fmt.Errorf("%w; give scores separated by commas, or a JSON array of them", err)
		}
		if length > 0 && len(v) != length {
			return nil, fmt.Errorf("%d scores where the lines before have %d", len(v), length)
		}
		length = len(v)
		return v, nil
	})
}
