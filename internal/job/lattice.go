package job

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/internal/linear"
	"optratio/lp"
)

// Size is the number of candidates, and the greatest depth.
type Size struct {
	N int `json:"n" help:"number of candidates, at least 1"`
	K int `json:"k" help:"greatest depth in steps of 2Δ, at least 1"`
}

func (s Size) check() error {
	if s.N < 1 {
		return refuse("{n} is missing or 0: give the number of candidates, at least 1")
	}
	if s.K < 1 {
		return refuse("{k} is missing or 0: give the greatest depth, at least 1")
	}
	return nil
}

// OneWay says whether scores are monotonic.
type OneWay struct {
	Monotonic bool `json:"monotonic-scores" help:"neighbors move all scores one way, each by at most its sensitivity, as counts do when a person is added: mechanisms run with 2Δ replaced by Δ, which keeps them ε-DP"`
}

// Effort says what solves programs, and how closely.
type Effort struct {
	Solver string `json:"solver" help:"auto, clp or embedded"`
	Gap    string `json:"gap" help:"relative width wanted: (upper-lower)/upper"`
}

func standardEffort() Effort { return Effort{"auto", "1e-9"} }

// Lattice says over which score vectors what is averaged, and compared with which mechanisms.
type Lattice struct {
	Constraints string `json:"constraints" help:"paper, dp, monotone or full"`
	Loss        string `json:"loss" help:"mean (the error in steps of 2Δ), square, top1, tail:T (error >= T steps of 2Δ), or a file: the loss of each depth, one a line"`
	Objective   string `json:"objective" help:"weights of score vectors: paper or box; or minimax, the worst score vector instead of a mean"`
	Prior       string `json:"prior" help:"weights of score vectors: uniform, box, geometric:R, product:FILE (a factor a depth), scores:FILE (a score vector a line) or histogram:FILE (score vector;weight)"`
	Step        string `json:"step" help:"distance of scores: 2delta, delta, or 2delta/L for a whole number L; {k} counts steps of 2Δ all the same. With {monotonic-scores}: delta or delta/L, and Δ for 2Δ"`
	Delta       string `json:"delta" help:"compare with the optimum over (ε,δ)-DP mechanisms with this δ, a decimal or fraction from 0 to 1, taken exactly; constraints are then approximate: all neighbors"`
	OneWay
	Effort
}

func standardLattice(gap string) Lattice {
	return Lattice{Constraints: "paper", Loss: "mean", Objective: "paper", Step: "2delta", Effort: Effort{"auto", gap}}
}

// StepText is the distance of scores as documents have it.
func (q *Lattice) StepText() string {
	if q.Monotonic && q.Step == "2delta" {
		return "delta"
	}
	return q.Step
}

// priorName is the prior as documents have it.
func (q *Lattice) priorName() string {
	switch {
	case q.Prior != "":
		return q.Prior
	case q.Objective == "paper":
		return "uniform"
	case q.Objective == "minimax":
		return "none"
	}
	return q.Objective
}

// level is the name of the rows that are asked for.
func (q *Lattice) level() string { return Choose(q.Delta == "", q.Constraints, lp.Approximate) }

// mostParts bounds L.
const mostParts = 1 << 16

// ParseStep reads a step as the L of 2Δ/L, or of Δ/L where scores are monotonic.
func ParseStep(step string, monotonic bool) (int, error) {
	text := strings.NewReplacer("Δ", "delta", " ", "").Replace(strings.ToLower(step))
	if monotonic && text != "2delta" {
		text = "2" + text
	}
	switch rest, fine := strings.CutPrefix(text, "2delta/"); {
	case text == "2delta":
		return 1, nil
	case text == "delta":
		return 2, nil
	case fine:
		if l, err := strconv.Atoi(rest); err == nil && l >= 1 && l <= mostParts {
			return l, nil
		}
	}
	if monotonic {
		return 0, refuse("{step} %s: with {monotonic-scores} give delta, or delta/L with a whole number L such as delta/2", escape.Quoted(step))
	}
	return 0, refuse("{step} %s: give 2delta, delta, or 2delta/L with a whole number L such as 2delta/3", escape.Quoted(step))
}

// request reads the question, where scores of files have the sensitivity delta.
func (q *Lattice) request(ctx context.Context, h *Host, size Size, delta *big.Rat) (r lp.Request, err error) {
	if err := size.check(); err != nil {
		return r, err
	}
	r = lp.Request{N: size.N, K: size.K, Worst: q.Objective == "minimax", MaxMemory: h.MaxMemory, Solver: q.Solver}
	if !r.Worst {
		if r.Prior, err = Parsed("objective", q.Objective, parseObjective); err != nil {
			return r, err
		}
	}
	into(&r.Level, &err)(Parsed("constraints", q.Constraints, lp.ParseLevel))
	into(new(linear.Solver), &err)(findSolver(q.Solver))
	into(&r.Gap, &err)(gap(q.Gap, true))
	into(&r.Step, &err)(ParseStep(q.Step, q.Monotonic))
	if q.Prior != "" && q.Objective != "paper" {
		err = cmp.Or(err, refuse("{objective} %s and {prior} exclude each other: give one of them", q.Objective))
	}
	if err != nil {
		return r, err
	}
	if r.Loss, err = q.loss(ctx, h); err != nil {
		return r, err
	}
	if q.Delta != "" {
		if r.Delta, err = parseDelta(q.Delta); err != nil {
			return r, err
		}
		if r.Level >= lp.Monotone {
			return r, refuse("{delta}: (ε,δ)-DP towards all neighbors is all that it asks; leave out {constraints} %s", r.Level)
		}
	}
	if q.Prior != "" {
		if q.Monotonic { // neighbors are those of scores that move by Δ/2 either way, up to a shift
			delta = new(big.Rat).Quo(delta, big.NewRat(2, 1))
		}
		r.Prior, err = q.prior(ctx, h, &r, delta)
	}
	return r, err
}

// parseObjective reads the two objectives that are means.
func parseObjective(text string) (prior lp.Prior, err error) {
	switch text {
	case "paper":
		return prior, nil
	case "box":
		return lp.Box(), nil
	}
	return prior, fmt.Errorf("objective %q is neither paper nor box", text)
}

func (q *Lattice) loss(ctx context.Context, h *Host) (lp.Loss, error) {
	name, _, _ := strings.Cut(q.Loss, ":")
	if slices.Contains(Choices("loss"), name) {
		loss, err := lp.ParseLoss(q.Loss)
		if err != nil {
			err = refuse("{loss}: %w", err)
		}
		return loss, err
	}
	values, err := h.readColumn(ctx, "loss", q.Loss, "mean, square, top1, tail:T or a file with the loss of each depth"+DidYouMean(name, Choices("loss")))
	if err != nil {
		return lp.Loss{}, err
	}
	loss, err := lp.Losses(values)
	if err != nil {
		err = refuse("{loss} %s: %w", q.Loss, err)
	}
	return loss, err
}

func (q *Lattice) prior(ctx context.Context, h *Host, r *lp.Request, delta *big.Rat) (prior lp.Prior, err error) {
	kind, path, _ := strings.Cut(q.Prior, ":")
	switch kind {
	case "product":
		factors, err := h.readColumn(ctx, "prior", path, "")
		if err != nil {
			return prior, err
		}
		prior, err = lp.Product(factors)
		return prior, q.refusePrior(err)
	case "scores", "histogram":
		depths, weights, err := readWeightedVectors(ctx, h, path, kind == "histogram", r, delta)
		if err != nil {
			return prior, err
		}
		prior, err = lp.Weighted(depths, weights)
		return prior, q.refusePrior(err)
	}
	prior, err = lp.ParsePrior(q.Prior)
	if near := DidYouMean(kind, Choices("prior")); err != nil && near != "" && !slices.Contains(Choices("prior"), kind) {
		err = fmt.Errorf("%w%s", err, near)
	}
	return prior, q.refusePrior(err)
}

func (q *Lattice) refusePrior(err error) error {
	if err == nil {
		return nil
	}
	return refuse("{prior} %s: %w", escape.Quoted(q.Prior), err)
}

// readWeightedVectors reads score vectors, one a line, as numbers of depths on the request's lattice; with weighted each is followed
// by a semicolon and its weight.
func readWeightedVectors(ctx context.Context, h *Host, path string, weighted bool, r *lp.Request, delta *big.Rat) (depths [][]int, weights []*big.Rat, err error) {
	step := new(big.Rat).Mul(delta, big.NewRat(2, int64(r.Step)))
	err = h.readLines(ctx, "prior", path, func(text string) (err error) {
		weight := big.NewRat(1, 1)
		if weighted {
			left, right, ok := strings.Cut(text, ";")
			if !ok {
				return fmt.Errorf("%s has no weight; give score,score,…;weight", escape.Quoted(text))
			}
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
		depths, weights = append(depths, at), append(weights, weight)
		return err
	})
	return depths, weights, err
}

// latticeDepths returns how many steps each score lies below the best one.
func latticeDepths(scores []*big.Rat, step *big.Rat, r *lp.Request) ([]int, error) {
	if len(scores) != r.N {
		return nil, refuse("%d scores, want {n} %d", len(scores), r.N)
	}
	best := slices.MaxFunc(scores, (*big.Rat).Cmp)
	out := make([]int, len(scores))
	for i, q := range scores {
		d := new(big.Rat).Sub(best, q)
		d.Quo(d, step)
		if !d.IsInt() {
			return nil, refuse("score %s is %s steps of %s below the best, not a whole number; give a finer {step}", q.RatString(), d.RatString(), step.RatString())
		}
		if most := int64(r.K) * int64(r.Step); d.Cmp(big.NewRat(most, 1)) > 0 {
			return nil, refuse("score %s is %s steps below the best, beyond the lattice's %d; give a larger {k}", q.RatString(), d.RatString(), most)
		}
		out[i] = int(d.Num().Int64())
	}
	return out, nil
}
