package lp

import (
	"context"
	"sync"
	"time"

	"optratio/lp/linear"
)

// How long after the end of the context bounds are still waited for, and mechanisms still rated. Together they keep to the two seconds that
// every limit leaves for ending.
const (
	boundGrace  = 800 * time.Millisecond
	ratingGrace = 1100 * time.Millisecond
)

// await returns what f returns, or false where the context has ended and f has not returned so long after. Then f goes on
// in the background until it looks at the context: some of its steps are single operations on long numbers. So f must not share
// what it writes to with its caller.
func await[T any](ctx context.Context, grace time.Duration, f func() T) (result T, ok bool) {
	done := make(chan T, 1)
	go func() { done <- f() }()
	select {
	case result = <-done:
		return result, true
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case result = <-done:
		return result, true
	case <-late.C:
		return result, false
	}
}

// guarded returns report, or nil where that is, as a function that does nothing once silence was called: what goes on in the background
// reports no more.
func guarded(report func(linear.Progress)) (guard func(linear.Progress), silence func()) {
	if report == nil {
		return nil, func() {}
	}
	var mu sync.Mutex
	silent := false
	return func(p linear.Progress) {
			mu.Lock()
			defer mu.Unlock()
			if !silent {
				report(p)
			}
		}, func() {
			mu.Lock()
			defer mu.Unlock()
			silent = true
		}
}
