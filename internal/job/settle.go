package job

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"optratio/internal/patience"
)

// Grace is for a computation to return after its context has ended. Tests give more where the machine is busy.
var Grace = 1600 * time.Millisecond

// ErrInternal is wrapped by the error that a panic becomes.
var ErrInternal = errors.New("internal error, please report it")

// endKey is where a context has the time of its own end, once it has ended.
type endKey struct{}

// Ending returns the context with a clock that starts when it ends: all computations under it share the grace.
func Ending(ctx context.Context) context.Context {
	ended := new(atomic.Pointer[time.Time])
	context.AfterFunc(ctx, func() {
		now := time.Now()
		ended.Store(&now)
	})
	return context.WithValue(ctx, endKey{}, ended)
}

// SinceEnd returns how long ago a context of Ending has ended; 0 before that.
func SinceEnd(ctx context.Context) time.Duration {
	if ended, ok := ctx.Value(endKey{}).(*atomic.Pointer[time.Time]); ok && ended.Load() != nil {
		return time.Since(*ended.Load())
	}
	return 0
}

// Settle returns what compute returns. Where the context has ended and compute does not return within the grace, or where
// it fails for another reason than its input, the answer is trivial(why): one that holds whatever the computation would have found.
// A computation that is given up goes on in the background until the process ends. One that would begin after the grace is not begun.
func Settle[T any](ctx context.Context, compute func() (T, error), trivial func(why string) T) (T, error) {
	grace := Grace - SinceEnd(ctx)
	if grace <= 0 {
		return trivial(context.Cause(ctx).Error()), nil
	}
	answer, err := Await(ctx, grace, compute)
	if err == nil || IsInput(err) && !errors.Is(err, context.Cause(ctx)) {
		return answer, err
	}
	return trivial(err.Error()), nil
}

// settled is Settle for what throws its errors.
func settled[T any](in *reading, compute func() T, trivial func(why string) T) T {
	return must(Settle(in.ctx, func() (T, error) { return compute(), nil }, trivial))
}

// Await returns what f returns, or, a while after the end of the context, the cause of that. A panic of f is an error.
func Await[T any](ctx context.Context, after time.Duration, f func() (T, error)) (value T, err error) {
	type result struct {
		value T
		err   error
	}
	r, ok := patience.Await(ctx, after, func() (r result) {
		if err := caught(func() { r.value, r.err = f() }); err != nil {
			r.err = err
		}
		return r
	})
	if !ok {
		return value, context.Cause(ctx)
	}
	return r.value, r.err
}
