package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"optratio/internal/document"
	"optratio/internal/front"
	"optratio/internal/job"
	"optratio/mechanisms"
)

// maxMemory is what a job may use, in bytes: browsers end a page that wants much more.
const maxMemory = 1 << 30

// errLate is the cause of the end of a job's context.
type errLate time.Duration

func (e errLate) Error() string {
	return fmt.Sprintf("the time limit of %s was reached", time.Duration(e))
}

// inPage is the mechanism under audit where a page has a function for it; nil where there is no page.
var inPage func(context.Context) mechanisms.Mechanism

// run does a job; report is told how far it is.
func run(ctx context.Context, j front.Job, report func(format string, args ...any)) (a *job.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", job.ErrInternal, p)
		}
	}()
	if j.Limit > 0 {
		var stop func()
		ctx, stop = context.WithTimeoutCause(ctx, j.Limit, errLate(j.Limit))
		defer stop()
		if runtime.GOOS == "js" { // one thread
			ctx = yielding{ctx, new(time.Now())}
		}
	}
	if q, is := j.Question.(*job.Audit); is && j.Files[front.JavaScript] != "" && inPage != nil {
		asked := *q
		asked.Function = inPage(ctx)
		j.Question = &asked
	}
	return j.Do(ctx, maxMemory, report)
}

// written is a job, and what it was answered, as tests send it to the engine and read it.
type written struct {
	Kind      string
	Question  json.RawMessage
	Files     map[string]string
	Documents []json.RawMessage
	Violated  string
	Undecided string
	Err       string
}

// question is the question, an error where it is of no kind that pages ask.
func (w written) question() (job.Question, error) {
	q := map[string]job.Question{
		"ratio": job.NewRatio(), "threshold": job.NewThreshold(), "pmf": job.NewPMF(), "recommend": job.NewRecommend(), "audit": job.NewAudit(),
		"evaluate": job.NewEvaluate(), "optimum": job.NewOptimum(), "check": job.NewCheck(),
	}[w.Kind]
	if q == nil {
		return nil, errors.New("no such kind of job")
	}
	return q, json.Unmarshal(w.Question, q)
}

// answered does the job.
func (w written) answered(ctx context.Context) written {
	q, err := w.question()
	var a *job.Answer
	if err == nil {
		a, err = run(ctx, front.Job{Question: q, Files: w.Files}, func(string, ...any) {})
	}
	if err != nil {
		return written{Err: err.Error()}
	}
	out := written{Violated: a.Violated, Undecided: a.Undecided}
	for _, d := range a.Documents {
		out.Documents = append(out.Documents, document.Encode(d))
	}
	return out
}
