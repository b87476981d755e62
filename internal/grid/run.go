package grid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"optratio/internal/patience"
)

// ErrInternal is wrapped by errors that panics became.
var ErrInternal = errors.New("internal error, please report it")

// Jobs is the work of one run: points of a grid, each of which has rows.
type Jobs[P, R any] struct {
	Kind     *Kind[R]
	Settings string
	Points   []P // those of the run, in the order in which they are begun
	// Keys returns the keys of rows of a point; it is done where the file has them all.
	Keys func(P) []string
	// Keep returns those rows of a file that need not be computed, or refuses the file.
	Keep func(ctx context.Context, rows []R) ([]R, error)
	// Answer computes the rows of a point. They are of use only where the context has not ended by then. What save does, which may be nil, is done before they are
	// written, for one point after the other.
	Answer func(ctx context.Context, at P) (rows []R, save func() error, err error)
	// Memory is what a point may need, and MaxMemory what all that are computed at a time may; nil where it does not matter.
	Memory    func(P) int64
	MaxMemory int64
}

// Options say where the rows go and how they are made.
type Options struct {
	Path   string                // ends in .csv
	Resume bool                  // rows that Path holds already are kept
	Jobs   int                   // points at a time, at least 1
	Report func(done, total int) // may be nil; called from one goroutine
}

// Done is what a run did: how many keys its points have, how many of them were in the file before, and how many are new.
type Done struct{ All, Kept, Computed int }

// syncEvery is how often rows are made safe from a loss of power. From the end of this process they are safe as soon as they are written.
const syncEvery = time.Second

// Run computes the rows that the file does not hold, and returns all that it then holds. When the context ends it returns at once; what was computed by then is in
// the file. A file with all rows of its points is in order. Where there is a table beside an error, some points failed, and the others were done; or the error is
// the context's cause, and the rows are not in order yet. Without a table, no point was begun.
func (j *Jobs[P, R]) Run(ctx context.Context, o Options) (done Done, t *Table[R], err error) {
	f, err := openStore(ctx, j.Kind, j.Settings, o.Path, o.Resume, func(rows []R) ([]R, error) { return j.Keep(ctx, rows) })
	if err != nil {
		return done, nil, err
	}
	var due []P
	for _, at := range j.Points {
		if ctx.Err() != nil {
			return done, nil, errors.Join(context.Cause(ctx), f.close())
		}
		keys := j.Keys(at)
		missing := f.missing(keys)
		done.All, done.Kept = done.All+len(keys), done.Kept+len(keys)-missing
		if missing > 0 {
			due = append(due, at)
		}
	}
	err = j.compute(ctx, o.Jobs, due, func(at P, rows []R, save func() error) error {
		if save != nil {
			if err := save(); err != nil {
				return err
			}
		}
		missing := f.missing(j.Keys(at))
		err := f.append(rows)
		if err == nil {
			done.Computed += missing
		}
		if o.Report != nil {
			o.Report(done.Kept+done.Computed, done.All)
		}
		return err
	}, f.sync)
	if err == nil && done.Kept+done.Computed == done.All {
		var ended bool
		if err, ended = patience.Await(ctx, 0, func() error { return f.finish(ctx) }); !ended {
			err = context.Cause(ctx)
		}
	}
	return done, f.table, errors.Join(err, f.close())
}

// compute does the jobs of some points, those that come first in the list before others, as many at a time as there are jobs and the memory
// allows. take gets the rows of one point after the other; sync is called now and then. After the end of the context neither is called. A job that fails
// does not keep the others from being done; the first such error is returned.
func (j *Jobs[P, R]) compute(ctx context.Context, jobs int, due []P, take func(at P, rows []R, save func() error) error, sync func() error) error {
	type result struct {
		at   P
		rows []R
		save func() error
		err  error
	}
	jobs = max(1, min(jobs, len(due)))
	results := make(chan result, jobs) // so that a job that is left behind can end
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	memory := func(at P) int64 {
		if j.Memory == nil {
			return 0
		}
		return j.Memory(at)
	}
	used, running := int64(0), 0
	var failed error
	for len(due) > 0 || running > 0 {
		for len(due) > 0 && running < jobs && (running == 0 || used+memory(due[0]) <= j.MaxMemory) {
			at := due[0]
			due, used, running = due[1:], used+memory(at), running+1
			go func() {
				r := result{at: at}
				defer func() {
					if p := recover(); p != nil {
						r.err = fmt.Errorf("%w: %s: %v", ErrInternal, j.Keys(at)[0], p)
					}
					results <- r
				}()
				r.rows, r.save, r.err = j.Answer(inner, at)
			}()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := sync(); err != nil {
				return err
			}
		case r := <-results:
			used, running = used-memory(r.at), running-1
			if ctx.Err() != nil { // these rows may be what was known at the end, which depends on when that was
				return nil
			}
			if r.err != nil {
				failed = cmp.Or(failed, r.err)
			} else if err := take(r.at, r.rows, r.save); err != nil {
				return err
			}
		}
	}
	return failed
}
