package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"optratio/internal/front"
	"optratio/internal/job"
	"optratio/mechanisms"
)

// maxMemory is what a job may use, in bytes: browsers end a page that wants much more.
const maxMemory = 1 << 30

// inPage is the mechanism under audit where a page has a function for it; nil where there is no page.
var inPage func(context.Context) mechanisms.Mechanism

// run does a job; report is told how far it is.
func run(ctx context.Context, j front.Job, report func(format string, args ...any)) (*job.Answer, error) {
	if j.Limit > 0 {
		var stop func()
		ctx, stop = context.WithTimeoutCause(ctx, j.Limit, fmt.Errorf("the time limit of %s was reached", j.Limit))
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
