package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/evidence"
	"optratio/number"
	"optratio/verify/certificate"
)

// Check asks whether a certificate is valid.
type Check struct {
	File   string `json:""`
	Remedy string `json:"-"` // what raises its limits, as whoever asks says it
	// Decide is a checker; nil: certificate.Check.
	Decide func(io.Reader, certificate.Options) (*certificate.Report, error) `json:"-"`
}

func (q *Check) answer(in *reading) *Answer {
	in.begin("check", number.Epsilon{})
	doc := settled(in, func() *document.Check {
		file := in.open("", q.File)
		defer file.Close()
		decide := q.Decide
		if decide == nil {
			decide = certificate.Check
		}
		report, err := decide(file, checkLimits(in.ctx, in.MaxMemory))
		if errors.Is(err, certificate.ErrLimit) {
			err = fmt.Errorf("%w%s", err, q.Remedy)
		}
		if err != nil {
			throw(fmt.Errorf("%s: %w", escape.Quoted(q.File), err))
		}
		return &document.Check{Report: report}
	}, func(why string) *document.Check {
		return &document.Check{Report: &certificate.Report{Reason: "undecided"}, Undecided: why}
	})
	a := answered(doc, doc.Undecided, nil)
	if !doc.Valid && doc.Undecided == "" {
		a.Violated = "invalid certificate: " + doc.Reason
	}
	return a
}

// checkLimits are what a check may cost: as many steps as there is time for, where that is more than without a limit of time.
func checkLimits(ctx context.Context, memory int64) certificate.Options {
	o := certificate.Options{Context: ctx, MaxMemory: memory, MaxSteps: defaultSteps}
	if end, ok := ctx.Deadline(); ok {
		o.MaxSteps = max(defaultSteps, int(time.Until(end)/evidence.StepTime))
	}
	return o
}

// defaultSteps are a few seconds.
const defaultSteps = 1 << 29
