package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"optratio/internal/front"
	"optratio/internal/job"
	"optratio/mechanisms"
)

// maxMemory is what a job may use, in bytes: browsers end a page that wants much more.
const maxMemory = 1 << 30

// inPage asks the function under audit for its probabilities. Where there is no page, it is the example of the form.
var inPage = func(_ context.Context, scores []float64, sensitivity, epsilon float64) ([]float64, error) {
	best, sum := math.Inf(-1), 0.0
	for _, q := range scores {
		best = math.Max(best, q)
	}
	weights := make([]float64, len(scores))
	for i, q := range scores {
		weights[i] = math.Exp(epsilon * (q - best) / sensitivity)
		sum += weights[i]
	}
	for i := range weights {
		weights[i] /= sum
	}
	return weights, nil
}

// run does a job; report is told how far it is.
func run(ctx context.Context, j front.Job, report func(format string, args ...any)) (*job.Answer, error) {
	if j.Limit > 0 {
		var stop func()
		ctx, stop = context.WithTimeoutCause(ctx, j.Limit, fmt.Errorf("the time limit of %s was reached", j.Limit))
		defer stop()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if runtime.GOOS == "js" { // one thread
		ctx = yielding{ctx, new(time.Now())}
	}
	var failed error
	if q, is := j.Question.(*job.Audit); is && j.Files[front.JavaScript] != "" {
		asked := *q
		info := mechanisms.Info{Name: "the function", Summary: "a function in JavaScript", Claim: "ε-DP", Private: true, Uniform: true}
		asked.Function = mechanisms.FromFloat(info, 0, func(scores []float64, sensitivity, epsilon float64) ([]float64, error) {
			p, err := inPage(ctx, scores, sensitivity, epsilon)
			if err != nil && ctx.Err() == nil { // what fails is not asked about more
				failed = &front.FieldError{Field: "code", Text: fmt.Sprintf("at the scores %v, epsilon %v and sensitivity %v: %v", scores, epsilon, sensitivity, err)}
				stop(failed)
			}
			return p, err
		})
		j.Question = &asked
	}
	a, err := j.Do(ctx, maxMemory, report)
	if failed != nil {
		return nil, failed
	}
	return a, err
}
