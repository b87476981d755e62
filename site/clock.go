package main

import (
	"context"
	"runtime"
	"time"
)

// yielding lets other goroutines run whenever a computation asks it whether to go on. In WebAssembly nothing interrupts a goroutine: without
// this, the timer of a job's limit would wait until the job is over.
type yielding struct {
	context.Context
	last *time.Time
}

// yield is how often others get to run.
const yield = 20 * time.Millisecond

func (y yielding) pause() {
	if now := time.Now(); now.Sub(*y.last) > yield {
		*y.last = now
		runtime.Gosched()
	}
}

func (y yielding) Err() error {
	y.pause()
	return y.Context.Err()
}

func (y yielding) Done() <-chan struct{} {
	y.pause()
	return y.Context.Done()
}
