package cli

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/internal/variant"
	"optratio/lp"
)

// questionFlags say what is averaged, and over which lattice: --step, --loss and --prior.
type questionFlags struct {
	step, loss, prior, delta string
	monotonic                bool
}

func (f *questionFlags) add(c *cobra.Command) {
	addMonotonic(c, &f.monotonic)
	fs := c.Flags()
	fs.StringVar(&f.step, "step", "2delta", "distance of scores: 2delta, delta, or 2delta/L for a whole number L; -k counts steps of 2Δ all the same. With --monotonic-scores: delta or delta/L, and Δ for 2Δ")
	fs.StringVar(&f.loss, "loss", "mean", "mean (the error in steps of 2Δ), square, top1, tail:T (error >= T steps of 2Δ), or a file: the loss of each depth, one a line")
	fs.StringVar(&f.prior, "prior", "", "weights of score vectors: uniform, box, geometric:R, product:FILE (a factor a depth), scores:FILE (a score vector a line) or histogram:FILE (score vector;weight)")
}

// text says what differs from the published question.
func (f *questionFlags) text() (s string) {
	if f.monotonic {
		s += ", monotonic scores"
	}
	if f.step != "2delta" {
		s += ", scores " + strings.NewReplacer("delta", "Δ").Replace(f.step) + " apart"
	}
	if f.loss != "mean" {
		s += ", loss " + f.loss
	}
	if f.prior != "" {
		s += ", prior " + f.prior
	}
	if f.delta != "" {
		s += ", δ = " + f.delta
	}
	return escape.Line(s)
}

// addDelta adds --delta.
func (f *questionFlags) addDelta(c *cobra.Command) {
	c.Flags().StringVar(&f.delta, "delta", "", "compare with the optimum over (ε,δ)-DP mechanisms with this δ, a decimal or fraction from 0 to 1, taken exactly; constraints are then approximate: all neighbors")
}

// mostParts bounds L.
const mostParts = 1 << 16

// parseStep reads --step as the L of 2Δ/L, or of Δ/L where scores are monotonic.
func (f *questionFlags) parseStep() (int, error) {
	if !f.monotonic {
		return parseStep(f.step)
	}
	if f.step == "2delta" {
		f.step = "delta"
	}
	l, err := parseStep("2" + f.step)
	if err != nil {
		return 0, command.Usagef("--step %s: with --monotonic-scores give delta, or delta/L with a whole number L such as delta/2", command.Quoted(f.step))
	}
	return l, nil
}

// parseStep reads 2delta, delta or 2delta/L as L.
func parseStep(s string) (int, error) {
	text := strings.NewReplacer("Δ", "delta", " ", "").Replace(strings.ToLower(s))
	switch text {
	case "2delta":
		return 1, nil
	case "delta":
		return 2, nil
	}
	if rest, ok := strings.CutPrefix(text, "2delta/"); ok {
		if l, err := strconv.Atoi(rest); err == nil && l >= 1 && l <= mostParts {
			return l, nil
		}
	}
	return 0, command.Usagef("--step %s: give 2delta, delta, or 2delta/L with a whole number L such as 2delta/3", command.Quoted(s))
}

// apply puts the flags into a request whose N and K are set. Scores of prior files have the sensitivity delta.
func (f *questionFlags) apply(ctx context.Context, r *lp.Request, delta *big.Rat) (err error) {
	if r.Step, err = f.parseStep(); err != nil {
		return err
	}
	if f.monotonic { // neighbors are those of scores that move by Δ/2 either way, up to a shift
		delta = new(big.Rat).Quo(delta, big.NewRat(2, 1))
	}
	if r.Loss, err = f.parseLoss(ctx); err != nil {
		return err
	}
	if err := f.parseDelta(r); err != nil {
		return err
	}
	if f.prior == "" {
		return nil
	}
	prior, err := f.parsePrior(ctx, r, delta)
	if err != nil {
		return err
	}
	r.Prior = &prior
	return nil
}

// level returns the name of the rows that the flags ask for.
func (f *questionFlags) level(constraints string) string {
	return command.Choose(f.delta == "", constraints, variant.Approximate)
}

// parseDelta reads a δ.
func parseDelta(text string) (*big.Rat, error) {
	x, err := decimal.ParseNumber(text)
	if err != nil || x.Sign() < 0 || x.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, command.Usagef("--delta %s: give a decimal or a fraction from 0 to 1 such as 1e-6", command.Quoted(text))
	}
	return x, nil
}

// parseDelta puts --delta into a request whose level is set.
func (f *questionFlags) parseDelta(r *lp.Request) (err error) {
	if f.delta == "" {
		return nil
	}
	if r.Delta, err = parseDelta(f.delta); err != nil {
		return err
	}
	if r.Level >= lp.Monotone {
		return command.Usagef("--delta: (ε,δ)-DP towards all neighbors is all that it asks; leave out --constraints %s", r.Level)
	}
	return nil
}

func (f *questionFlags) parseLoss(ctx context.Context) (variant.Loss, error) {
	name, _, _ := strings.Cut(f.loss, ":")
	switch name {
	case "mean", "square", "top1", "tail":
		loss, err := variant.ParseLoss(f.loss)
		if err != nil {
			return loss, command.Usagef("--loss: %w", err)
		}
		return loss, nil
	}
	const choices = "mean, square, top1, tail:T or a file with the loss of each depth"
	values, err := readColumn(ctx, "--loss", f.loss, choices+command.DidYouMean(name, command.Choices("loss")))
	if err != nil {
		return variant.Loss{}, err
	}
	loss, err := variant.Losses(values)
	if err != nil {
		return loss, command.Usagef("--loss %s: %w", f.loss, err)
	}
	return loss, nil
}

// readColumn reads a file of numbers, one a line. Where there is no such file, choices say what to give, if it need not be one.
func readColumn(ctx context.Context, flag, path, choices string) ([]*big.Rat, error) {
	return command.ReadAll(ctx, flag, path, choices, "has no numbers, give one a line", func(text string) (*big.Rat, error) {
		x, err := decimal.ParseNumber(text)
		if err != nil {
			return nil, fmt.Errorf("%w; give one decimal or fraction a line", err)
		}
		return x, nil
	})
}

func (f *questionFlags) parsePrior(ctx context.Context, r *lp.Request, delta *big.Rat) (variant.Prior, error) {
	kind, path, _ := strings.Cut(f.prior, ":")
	fail := func(p variant.Prior, err error) (variant.Prior, error) {
		if err != nil {
			err = command.Usagef("--prior %s: %w", command.Quoted(f.prior), err)
		}
		return p, err
	}
	switch kind {
	case "product":
		factors, err := readColumn(ctx, "--prior", path, "")
		if err != nil {
			return variant.Prior{}, err
		}
		return fail(variant.Product(factors))
	case "scores", "histogram":
		depths, weights, err := readWeightedVectors(ctx, path, kind == "histogram", r, delta)
		if err != nil {
			return variant.Prior{}, err
		}
		return fail(variant.Weighted(depths, weights))
	}
	prior, err := variant.ParsePrior(f.prior)
	if near := command.DidYouMean(kind, command.Choices("prior")); err != nil && near != "" && !slices.Contains(command.Choices("prior"), kind) {
		err = fmt.Errorf("%w%s", err, near)
	}
	return fail(prior, err)
}

// readWeightedVectors reads score vectors of the user, one a line, as numbers of depths on the request's lattice; with weighted each is followed
// by a semicolon and its weight.
func readWeightedVectors(ctx context.Context, path string, weighted bool, r *lp.Request, delta *big.Rat) (depths [][]int, weights []*big.Rat, err error) {
	step := new(big.Rat).Mul(delta, big.NewRat(2, int64(r.Step)))
	err = command.ReadLines(ctx, "--prior", path, func(text string) error {
		weight := big.NewRat(1, 1)
		if weighted {
			left, right, ok := strings.Cut(text, ";")
			if !ok {
				return fmt.Errorf("%s has no weight; give score,score,…;weight", command.Quoted(text))
			}
			var err error
			if weight, err = decimal.ParseNumber(strings.TrimSpace(right)); err != nil {
				return err
			}
			text = left
		}
		scores, err := splitNumbers(text)
		if err != nil {
			return err
		}
		at, err := latticeDepths(scores, step, r)
		if err != nil {
			return err
		}
		depths, weights = append(depths, at), append(weights, weight)
		return nil
	})
	return depths, weights, err
}

// latticeDepths returns how many steps each score lies below the best one.
func latticeDepths(scores []*big.Rat, step *big.Rat, r *lp.Request) ([]int, error) {
	if len(scores) != r.N {
		return nil, fmt.Errorf("%d scores, want -n %d", len(scores), r.N)
	}
	best := scores[0]
	for _, q := range scores {
		if q.Cmp(best) > 0 {
			best = q
		}
	}
	out := make([]int, len(scores))
	for i, q := range scores {
		d := new(big.Rat).Sub(best, q)
		d.Quo(d, step)
		if !d.IsInt() {
			return nil, fmt.Errorf("score %s is %s steps of %s below the best, not a whole number; give a finer --step", q.RatString(), d.RatString(), step.RatString())
		}
		if most := int64(r.K) * int64(r.Step); d.Cmp(big.NewRat(most, 1)) > 0 {
			return nil, fmt.Errorf("score %s is %s steps below the best, beyond the lattice's %d; give a larger -k", q.RatString(), d.RatString(), most)
		}
		out[i] = int(d.Num().Int64())
	}
	return out, nil
}
