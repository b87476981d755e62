package cli

import (
	"context"
	"math/big"
	"strings"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/evaluate"
	"optratio/internal/job"
	"optratio/mechanisms"
)

// parse reads the flags and the files. The document that it returns has what is the same for every ε.
func (f *evaluateFlags) parse(ctx context.Context) (in *evaluateInput, doc *document.Evaluate, err error) {
	in = &evaluateInput{}
	if in.eps, err = job.SplitNames(command.Choose(f.epsilon.Eps != "", "eps", "exp-eps"), f.epsilon.Eps+f.epsilon.Exp); err != nil {
		return nil, nil, err
	}
	if f.epsilon.Eps != "" && f.epsilon.Exp != "" || len(in.eps) == 0 && f.target == "" {
		_, err := f.epsilon.Parse()
		return nil, nil, err
	}
	if len(in.eps) == 0 {
		in.eps = []string{""}
	}
	if in.list, err = job.FindMechanisms(f.mechanism, mechanisms.Lookup); err != nil {
		return nil, nil, err
	}
	sensitivity, err := job.ParsePositive("sensitivity", f.sensitivity)
	if err != nil {
		return nil, nil, err
	}
	if f.target != "" {
		if in.target, err = job.ParsePositive("target-error", f.target); err != nil {
			return nil, nil, err
		}
	}
	for _, m := range in.list {
		if _, err := mechanisms.MonotonicSensitivities(m, []*big.Rat{sensitivity}); err != nil && f.monotonic {
			return nil, nil, command.Usagef("--monotonic-scores: %w", err)
		}
	}
	doc = &document.Evaluate{Task: f.task, Sensitivity: f.sensitivity, Monotonic: f.monotonic, TargetError: command.Optional(f.target)}
	switch f.task {
	case "worst-case":
		err = command.Usagef("--task worst-case moved to bin/research worst-case: make research")
	case "scores":
		in.question, err = f.ownScores(ctx, doc, sensitivity)
	default:
		in.question, err = f.histogramScores(ctx, doc, sensitivity)
	}
	return in, doc, err
}

func (f *evaluateFlags) ownScores(ctx context.Context, doc *document.Evaluate, sensitivity *big.Rat) (*evaluate.Problem, error) {
	if f.scores == "" || f.histogram != "" || f.bins != 0 {
		return nil, command.Usagef("--task scores takes --scores, a list or a file, and neither --histogram nor --bins")
	}
	scores, err := listOrFile(ctx, "--scores", f.scores)
	if err != nil {
		return nil, err
	}
	p, err := job.Await(ctx, job.Grace, func() (*evaluate.Problem, error) { return evaluate.NewRational(scores, sensitivity, f.monotonic) })
	if cause := context.Cause(ctx); cause != nil && p == nil {
		return nil, cause
	}
	if err != nil {
		return nil, command.Usagef("--scores %s: %w", command.Quoted(f.scores), err)
	}
	doc.Bins, doc.Classes = len(scores), p.Classes()
	return p, nil
}

// histogramScores reads a histogram and makes the scores of --task from it.
func (f *evaluateFlags) histogramScores(ctx context.Context, doc *document.Evaluate, sensitivity *big.Rat) (*evaluate.Problem, error) {
	quantile, err := f.quantile()
	switch {
	case err != nil:
		return nil, err
	case quantile != nil && f.monotonic:
		return nil, command.Usagef("--monotonic-scores: one more item raises some scores of a quantile and lowers others; leave it out")
	case f.histogram == "":
		return nil, command.Usagef("--task %s: the histogram is missing: give --histogram FILE", f.task)
	case f.scores != "":
		return nil, command.Usagef("--task %s takes --histogram, not --scores: leave that out", f.task)
	}
	scores, err := command.ReadHistogram(ctx, f.histogram)
	if err != nil {
		return nil, err
	}
	items, err := evaluate.Total(scores)
	if err != nil {
		return nil, command.Usagef("%s: %w", f.histogram, err)
	}
	if f.bins != 0 {
		if scores, err = evaluate.Fold(scores, f.bins); err != nil {
			return nil, command.Usagef("--bins: %w", err)
		}
	}
	if quantile != nil {
		if scores, err = evaluate.QuantileScores(scores, quantile); err != nil {
			return nil, command.Usagef("--task %s: %w", f.task, err)
		}
	}
	p, err := evaluate.New(scores, sensitivity, f.monotonic)
	if err != nil {
		return nil, command.Usagef("%s: %w", f.histogram, err)
	}
	doc.Bins, doc.Items, doc.Classes = len(scores), &items, p.Classes()
	return p, nil
}

// quantile reads --task: the P of a quantile, nil for the mode.
func (f *evaluateFlags) quantile() (*big.Rat, error) {
	switch text, isQuantile := strings.CutPrefix(f.task, "quantile:"); {
	case f.task == "mode":
		return nil, nil
	case f.task == "median":
		return big.NewRat(1, 2), nil
	case isQuantile:
		p, err := decimal.ParseNumber(text)
		if err != nil || p.Sign() <= 0 || p.Cmp(big.NewRat(1, 1)) >= 0 {
			return nil, command.Usagef("--task %s: give a decimal or a fraction between 0 and 1 after quantile:, such as quantile:0.9", command.Quoted(f.task))
		}
		return p, nil
	}
	return nil, command.Usagef("--task %s: give mode, median, quantile:P or scores%s", command.Quoted(f.task), job.DidYouMean(f.task, job.Choices("task")))
}
