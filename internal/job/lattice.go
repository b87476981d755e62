package job

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/linear"
	"optratio/lp"
	"optratio/number"
)

// Size is the number of candidates, and the greatest depth.
type Size struct {
	N int `json:"n" help:"number of candidates, at least 1"`
	K int `json:"k" help:"greatest depth, at least 1: scores lie 0 to k steps of 2Δ below the best"`
}

func (s Size) check() {
	refuse(s.N < 1, "{n} is missing or 0: give the number of candidates, at least 1")
	refuse(s.K < 1, "{k} is missing or 0: give the greatest depth, at least 1")
}

// OneWay says whether scores are monotonic.
type OneWay struct {
	Monotonic bool `json:"monotonic-scores" help:"neighbors move all scores one way, each by at most its sensitivity, as counts do when a person is added; mechanisms then run with Δ in place of 2Δ, which keeps them ε-DP"`
}

// solverName names the solver of questions that do not say which.
var solverName = linear.Embedded{}.Name()

// Lattice says over which score vectors what is averaged, and compared with which mechanisms.
type Lattice struct {
	Constraints string `json:"constraints" default:"paper" help:"the optimum is the least error of these mechanisms: paper (shift-invariant, and private where one score falls by Δ and all others rise by Δ: a lower bound), dp (shift-invariant, and private towards all neighbors), monotone and full (these two, and monotone)"`
	Loss        string `json:"loss" default:"mean" help:"what a choice costs: mean (the error, in steps of 2Δ), square (its square), top1 (1 unless a best candidate is taken), tail:T (1 if the error is T steps of 2Δ or more), or a file with the loss of each depth, one per line"`
	Objective   string `json:"objective" default:"paper" help:"-"`
	Worst       bool   `json:"worst" help:"take the worst score vector instead of a mean"`
	Prior       string `json:"prior" help:"weights of score vectors: uniform (all alike), box (those of uniform scores, shifted so that the best is 0), geometric:R, product:FILE (a factor for each depth, one per line), scores:FILE (one score vector per line) or histogram:FILE (score vector;weight)"`
	Step        string `json:"step" default:"2delta" help:"distance between scores: 2delta, delta, or 2delta/L for a whole number L; {k} still counts steps of 2Δ. With {monotonic-scores}: delta or delta/L, and {k} counts steps of Δ"`
	Delta       string `json:"delta" help:"compare with the optimum over (ε,δ)-DP mechanisms with this δ, a decimal or fraction from 0 to 1, taken exactly; privacy is then asked towards all neighbors"`
	OneWay
	Solver string `json:"solver" default:"auto" help:"solver of linear programs: auto, clp or embedded"`
	Gap    string `json:"gap" default:"1e-9" help:"stop when (upper-lower)/upper is at most this"`
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
	case q.Worst:
		return "none"
	case q.Objective == "paper":
		return "uniform"
	}
	return q.Objective
}

// over is what the loss is taken over, as documents have it.
func (q *Lattice) over() string { return Choose(q.Worst, "worst", q.Objective) }

// level is the name of the rows that are asked for.
func (q *Lattice) level() string { return Choose(q.Delta == "", q.Constraints, "approximate") }

// mostParts bounds L.
const mostParts = 1 << 16

// parts reads a step as the L of 2Δ/L, or of Δ/L where scores are monotonic.
func parts(step string, monotonic bool) int {
	text := strings.NewReplacer("Δ", "delta", " ", "").Replace(strings.ToLower(step))
	if monotonic && text != "2delta" {
		text = "2" + text
	}
	switch rest, fine := strings.CutPrefix(text, "2delta/"); {
	case text == "2delta":
		return 1
	case text == "delta":
		return 2
	case fine:
		if l, err := strconv.Atoi(rest); err == nil && l >= 1 && l <= mostParts {
			return l
		}
	}
	refuse(monotonic, "{step} %s: with {monotonic-scores} give delta, or delta/L with a whole number L such as delta/2", escape.Quoted(step))
	throw(refusal("{step} %s: give 2delta, delta, or 2delta/L with a whole number L such as 2delta/3", escape.Quoted(step)))
	return 0
}

// request reads the question, where scores of files have the sensitivity delta.
func (q *Lattice) request(in *reading, size Size, delta *big.Rat) lp.Request {
	size.check()
	r := lp.Request{N: size.N, K: size.K, Worst: q.Worst, MaxMemory: in.MaxMemory, Solver: q.Solver}
	refuse(q.Objective == "minimax" || q.Objective == "worst", "{objective} %s is {worst} now; give that instead", q.Objective)
	r.Prior = must(Parsed("objective", q.Objective, parseObjective))
	refuse(q.Worst && (q.Objective != "paper" || q.Prior != ""), "{worst} and a prior exclude each other: leave out {objective} and {prior}, which weigh score vectors for a mean")
	r.Level = must(Parsed("constraints", q.Constraints, lp.ParseLevel))
	checkSolver(q.Solver)
	r.Gap = relativeGap(q.Gap)
	r.Step = parts(q.Step, q.Monotonic)
	refuse(q.Prior != "" && q.Objective != "paper", "{objective} %s and {prior} exclude each other: give one of them", q.Objective)
	r.Loss = q.loss(in)
	if q.Delta != "" {
		r.Delta = privacyDelta(q.Delta)
		refuse(r.Level >= lp.Monotone, "{delta}: (ε,δ)-DP towards all neighbors is all that it asks; leave out {constraints} %s", r.Level)
	}
	if q.Prior != "" {
		if q.Monotonic { // neighbors are those of scores that move by Δ/2 either way, up to a shift
			delta = new(big.Rat).Quo(delta, big.NewRat(2, 1))
		}
		r.Prior = q.prior(in, &r, delta)
	}
	return r
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

func (q *Lattice) loss(in *reading) lp.Loss {
	name, _, _ := strings.Cut(q.Loss, ":")
	if slices.Contains(Choices("loss"), name) {
		loss, err := lp.ParseLoss(q.Loss)
		refuse(err != nil, "{loss}: %w", err)
		return loss
	}
	loss, err := lp.Losses(in.column("loss", q.Loss, "mean, square, top1, tail:T or a file with the loss of each depth"+DidYouMean(name, Choices("loss"))))
	refuse(err != nil, "{loss} %s: %w", q.Loss, err)
	return loss
}

func (q *Lattice) prior(in *reading, r *lp.Request, delta *big.Rat) (prior lp.Prior) {
	kind, path, _ := strings.Cut(q.Prior, ":")
	var err error
	switch kind {
	case "product":
		prior, err = lp.Product(in.column("prior", path, ""))
	case "scores", "histogram":
		prior, err = lp.Weighted(readWeighted(in, path, kind == "histogram", r, delta))
	default:
		prior, err = lp.ParsePrior(q.Prior)
		if near := DidYouMean(kind, Choices("prior")); err != nil && near != "" && !slices.Contains(Choices("prior"), kind) {
			err = fmt.Errorf("%w%s", err, near)
		}
	}
	refuse(err != nil, "{prior} %s: %w", escape.Quoted(q.Prior), err)
	return prior
}

// readWeighted reads score vectors, one per line, as numbers of depths on the request's lattice; with weighted each is followed
// by a semicolon and its weight.
func readWeighted(in *reading, path string, weighted bool, r *lp.Request, delta *big.Rat) (depths [][]int, weights []*big.Rat) {
	step := new(big.Rat).Mul(delta, big.NewRat(2, int64(r.Step)))
	in.each("prior", path, func(text string) (err error) {
		weight := one
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
	return depths, weights
}

// latticeDepths returns how many steps each score lies below the best one.
func latticeDepths(scores []*big.Rat, step *big.Rat, r *lp.Request) ([]int, error) {
	if len(scores) != r.N {
		return nil, refusal("%d scores, want {n} %d", len(scores), r.N)
	}
	best := slices.MaxFunc(scores, (*big.Rat).Cmp)
	out := make([]int, len(scores))
	for i, q := range scores {
		d := new(big.Rat).Sub(best, q)
		d.Quo(d, step)
		if !d.IsInt() {
			return nil, refusal("score %s is %s steps of %s below the best, not a whole number; give a finer {step}", q.RatString(), d.RatString(), step.RatString())
		}
		if most := int64(r.K) * int64(r.Step); d.Cmp(big.NewRat(most, 1)) > 0 {
			return nil, refusal("score %s is %s steps below the best, beyond the lattice's %d; give a larger {k}", q.RatString(), d.RatString(), most)
		}
		out[i] = int(d.Num().Int64())
	}
	return out, nil
}

// Threshold asks from which ε on permute-and-flip is optimal.
type Threshold struct {
	Size
	Lattice `default:"gap=1e-6"`
	Method  string `json:"method" default:"auto" help:"auto (by theorem) or lp (by exact optima at either end)"`
}

func (q *Threshold) answer(in *reading) *Answer {
	must(Parsed("objective", q.Objective, parseObjective))
	r := q.Lattice.request(in, q.Size, one)
	refuse(r.Gap.Sign() == 0, "{gap} 0: thresholds are irrational, give a gap > 0")
	refuse(q.Method != "lp" && q.Method != "auto" && q.Method != "closed-form", "{method} %s: give auto or lp", escape.Quoted(q.Method))
	r.Method = Choose(q.Method == "lp", "lp", "")
	in.begin(fmt.Sprintf("threshold of n = %d, k = %d", q.N, q.K), number.Epsilon{})
	a := settled(in, func() *lp.ThresholdAnswer {
		return must(lp.Threshold(in.ctx, r, func(exp *big.Rat, optimal bool) {
			in.report("permute-and-flip is %s at e^ε = %s", Choose(optimal, "optimal", "not optimal"), exp.RatString())
		}))
	}, func(why string) *lp.ThresholdAnswer { return &lp.ThresholdAnswer{Proof: "none", Undecided: why} })
	end := func(r *big.Rat) (n number.Number) { // none where it was not decided
		if r != nil {
			n = number.Exact(r)
		}
		return n
	}
	return answered(&document.Threshold{
		N: q.N, K: q.K, Objective: q.Objective, Constraints: q.Constraints, Step: q.StepText(), Loss: q.Loss, Prior: q.priorName(),
		Lower: a.Ends[0], Upper: a.Ends[1], LowerExp: end(a.Exp[0]), UpperExp: end(a.Exp[1]), Proof: a.Proof, Undecided: a.Undecided,
	}, a.Undecided, nil)
}
