// Package patience waits for computations for as long as a context lasts, and a little longer.
package patience

import (
	"context"
	"time"
)

// Await returns what f returns, or false where the context has ended and f has not returned so long after. Then f goes on
// in the background until it looks at the context: some of its steps are single operations on long numbers. So f must not share
// what it writes to with its caller.
func Await[T any](ctx context.Context, grace time.Duration, f func() T) (result T, ok bool) {
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
