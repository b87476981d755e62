package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"optratio/internal/patience"
	"optratio/internal/table"
)

// ErrInternal is wrapped by errors that panics became.
var ErrInternal = errors.New("internal error, please report it")

// Options say where the rows go and how they are made.
type Options struct {
	Path   string                // ends in .csv
	Resume bool                  // rows that Path holds already are kept
	Jobs   int                   // points at a time, at least 1
	Report func(done, total int) // may be nil; called from one goroutine
}

// Summary is what a run did.
type Summary struct {
	File     string  `json:"file"`
	Rows     int     `json:"rows"`     // of the shard
	Kept     int     `json:"kept"`     // of them that were in the file before
	Computed int     `json:"computed"` // of them that this run added
	Open     int     `json:"open"`     // of those in the file, wider than the gap
	Seconds  float64 `json:"seconds"`
}

// Schema names the form of the JSON document.
func (Summary) Schema() string { return "optratio.sweep/1" }

// Missing returns how many rows are yet to be computed.
func (s *Summary) Missing() int { return s.Rows - s.Kept - s.Computed }

// Run computes the rows of a shard that its file does not hold. When the context ends it returns at once; what was computed by then is in
// the file, and Missing tells how much is not. A file with all rows of its shard is in order. Where there is a Summary beside an error, some
// jobs failed, and the others were done; or the error is the context's cause, and the rows are not in order yet. Without a Summary, no job was begun.
func Run(ctx context.Context, p *Plan, shard Shard, o Options) (*Summary, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	begin := time.Now()
	s := &Summary{File: o.Path}
	type opened struct {
		points []Point
		f      *store
		err    error
	}
	start, ok := patience.Await(ctx, 0, func() (s opened) {
		s.points = p.deal(shard)
		if s.f, s.err = openStore(p, o.Path, o.Resume); s.err == nil && ctx.Err() != nil {
			s.err = errors.Join(context.Cause(ctx), s.f.abandon())
		}
		return s
	})
	if !ok {
		return nil, context.Cause(ctx)
	}
	if start.err != nil {
		return nil, start.err
	}
	f, names := start.f, p.names()
	var due []Point
	for _, at := range start.points {
		missing := 0
		for _, name := range names {
			if _, have := f.have[p.parameters(at, name)]; !have {
				missing++
			}
		}
		s.Rows, s.Kept = s.Rows+len(names), s.Kept+len(names)-missing
		if missing > 0 {
			due = append(due, at)
		}
	}
	err := p.compute(ctx, o.Jobs, due, func(rows []Row) error {
		added, err := f.append(rows)
		if s.Computed += added; o.Report != nil {
			o.Report(s.Kept+s.Computed, s.Rows)
		}
		return err
	})
	if err == nil && s.Missing() == 0 {
		if err, ok = patience.Await(ctx, 0, func() error { return f.finish(ctx) }); !ok {
			err = context.Cause(ctx)
		}
	}
	for i := range f.table.Rows {
		if p.open(&f.table.Rows[i]) {
			s.Open++
		}
	}
	s.Seconds = time.Since(begin).Seconds()
	return s, errors.Join(err, f.file.Close())
}

// compute does the jobs of some points, those that come first in the list before others, as many at a time as there are jobs and the memory
// allows. take gets the rows of one point after the other, and none after the end of the context. A job that fails does not keep the others from being done; the
// first such error is returned.
func (p *Plan) compute(ctx context.Context, jobs int, due []Point, take func([]Row) error) error {
	type result struct {
		at   Point
		rows []Row
		err  error
	}
	jobs = max(1, min(jobs, len(due)))
	results := make(chan result, jobs) // so that a job that is left behind can end
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	most := cmp.Or(max(0, p.Request.MaxMemory), table.DefaultMemory)
	used, running := int64(0), 0
	var failed error
	for len(due) > 0 || running > 0 {
		for len(due) > 0 && running < jobs && (running == 0 || used+due[0].memory <= most) {
			at := due[0]
			due, used, running = due[1:], used+at.memory, running+1
			go func() {
				r := result{at: at}
				defer func() {
					if x := recover(); x != nil {
						r.err = fmt.Errorf("%w: %s: %v", ErrInternal, p.parameters(at, p.names()[0]), x)
					}
					results <- r
				}()
				r.rows, r.err = p.answer(inner, at)
			}()
		}
		select {
		case <-ctx.Done():
			return nil
		case r := <-results:
			used, running = used-r.at.memory, running-1
			if ctx.Err() != nil { // these rows may be what was known at the end, which depends on when that was
				return nil
			}
			if r.err != nil {
				failed = cmp.Or(failed, r.err)
			} else if err := take(r.rows); err != nil {
				return err
			}
		}
	}
	return failed
}
