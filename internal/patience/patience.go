// Package patience waits for computations for as long as a context lasts, and a little longer.
package patience

import (
	"context"
	"time"
)

// Await returns what f returns, or false where the context has ended and f has not returned so long after. Then f goes on
// in the background until it looks at the context: some of its steps are single operations on long numbers. So f must not share
// what it writes to with its caller. A panic of f, which may come from a mechanism, becomes one of the caller's goroutine, where it can be recovered.
func Await[T any](ctx context.Context, grace time.Duration, f func() T) (result T, ok bool) {
	done := make(chan func() T, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- func() T { panic(p) }
			}
		}()
		r := f()
		done <- func() T { return r }
	}()
	select {
	case get := <-done:
		return get(), true
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case get := <-done:
		return get(), true
	case <-late.C:
		return result, false
	}
}
