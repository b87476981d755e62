package lp

import (
	"sync"
	"time"

	"optratio/internal/linear"
)

// How long after the end of the context bounds are still waited for, and mechanisms still rated. Together they keep to the two seconds that
// every limit leaves for ending.
const (
	boundGrace  = 800 * time.Millisecond
	ratingGrace = 1100 * time.Millisecond
)

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
