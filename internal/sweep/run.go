package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"optratio/internal/patience"
	"optratio/lp"
	"optratio/number"
)

// ErrRow is wrapped by errors about mechanisms that have no row: they failed to state probabilities, or state estimates.
var ErrRow = errors.New("no row")

// ErrInternal is wrapped by errors that panics became.
var ErrInternal = errors.New("internal error, please report it")

// Options say where the rows go and how they are made.
type Options struct {
	Path   string // ends in .csv or .parquet
	Resume bool   // rows that Path holds already are kept
	Shard  Shard
	Jobs   int                   // jobs at a time, at least 1
	Report func(done, total int) // may be nil; called from one goroutine, of rows
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

// syncEvery is how often rows are made safe from a loss of power. From the end of this process they are safe as soon as they are written.
const syncEvery = time.Second

// Run computes the rows of a shard that its file does not hold. When the context ends it returns at once; what was computed by then is in
// the file, and Missing tells how much is not. A file with all rows of its shard is in the order of compare. Where there is a Summary beside an error, some
// jobs failed, and the others were done; or the error is the context's cause, and the rows are not in order yet. Without a Summary, no job was begun.
func Run(ctx context.Context, p *Plan, o Options) (*Summary, error) {
	begin := time.Now()
	if err := p.Check(ctx); err != nil {
		return nil, err
	}
	points, err := p.Deal(ctx, o.Shard)
	if err != nil {
		return nil, err
	}
	f, err := openStore(ctx, p, o)
	if err != nil {
		return nil, err
	}
	s := &Summary{File: o.Path, Rows: len(points) * len(p.Request.Mechanisms)}
	defer func() { s.Seconds = time.Since(begin).Seconds() }()
	var due []Point
	for _, at := range points {
		if ctx.Err() != nil {
			return nil, errors.Join(context.Cause(ctx), f.close())
		}
		missing := f.missing(p, at)
		s.Kept += len(p.Request.Mechanisms) - missing
		if missing > 0 {
			due = append(due, at)
		}
	}
	err = p.compute(ctx, o, due, func(rows []Row) error {
		added, err := f.append(p, rows)
		s.Computed += added
		if o.Report != nil {
			o.Report(s.Kept+s.Computed, s.Rows)
		}
		return err
	}, f.sync)
	s.Open = f.open
	if err == nil && s.Missing() == 0 {
		var ended bool
		if err, ended = patience.Await(ctx, 0, func() error { return f.finish(ctx) }); !ended {
			err = context.Cause(ctx)
		}
	}
	return s, errors.Join(err, f.close())
}

// compute does the jobs of some points, those that come first in the list before others, as many at a time as Jobs and the memory
// allow. take gets the rows of one point after the other; sync is called now and then. After the end of the context neither is called. A job that fails
// does not keep the others from being done; the first such error is returned.
func (p *Plan) compute(ctx context.Context, o Options, due []Point, take func([]Row) error, sync func() error) error {
	type result struct {
		rows   []Row
		memory int64
		err    error
	}
	jobs := max(1, min(o.Jobs, len(due)))
	results := make(chan result, jobs)
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	limit, used, running := p.memory(), int64(0), 0
	var failed error
	for len(due) > 0 || running > 0 {
		for len(due) > 0 && running < jobs && (running == 0 || used+due[0].memory <= limit) {
			at := due[0]
			due, used, running = due[1:], used+at.memory, running+1
			go func() {
				rows, err := p.answer(inner, at)
				results <- result{rows, at.memory, err}
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
			used, running = used-r.memory, running-1
			if ctx.Err() != nil { // these rows may be what was known at the end, which depends on when that was
				return nil
			}
			if r.err == nil {
				r.err = take(r.rows)
			} else if failed == nil {
				failed, r.err = r.err, nil
			}
			if errors.Is(r.err, ErrFile) {
				return r.err
			}
		}
	}
	return failed
}

// memory is what all jobs together may need, by estimate.
func (p *Plan) memory() int64 {
	if p.Request.MaxMemory > 0 {
		return p.Request.MaxMemory
	}
	return lp.DefaultMemory
}

// answer returns the rows of a point. They are of use only where the context has not ended by then.
func (p *Plan) answer(ctx context.Context, at Point) (rows []Row, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", ErrInternal, r)
		}
	}()
	r, err := p.request(at)
	if err != nil {
		return nil, err
	}
	a, err := lp.Ratio(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, name := range p.names() {
		row, err := p.row(at, name, a)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// row returns a mechanism's row of an answer.
func (p *Plan) row(at Point, name string, a *lp.Answer) (Row, error) {
	row := Row{
		Parameters: p.parameters(at, name), ErrorLower: "0", ErrorUpper: "inf", RatioLower: "0", RatioUpper: "inf",
		Proof: a.Proof, Solver: a.Solver, Seconds: a.Seconds, value: at.Epsilon,
	}
	i := slices.IndexFunc(a.Mechanisms, func(m lp.Rated) bool { return m.Name == name })
	if i < 0 { // its error is beyond a limit of its own
		return row, nil
	}
	m := a.Mechanisms[i]
	if m.Finding != "" {
		return row, fmt.Errorf("%w: %s: %s", ErrRow, row.Parameters, m.Finding)
	}
	if !m.Error.IsRigorous() || !m.Ratio.IsRigorous() {
		return row, fmt.Errorf("%w: of %s only estimates are known, a sweep holds proved numbers; leave it out", ErrRow, name)
	}
	row.ErrorLower, row.ErrorUpper = p.ends(m.Error)
	row.RatioLower, row.RatioUpper = p.ends(m.Ratio)
	return row, nil
}

// ends returns the bounds of a number as a row has them.
func (p *Plan) ends(x number.Number) (lower, upper string) {
	if exact, ok := x.Rat(); ok && p.Request.Exact {
		return exact.RatString(), exact.RatString()
	}
	lower, upper, _ = x.Strings()
	return lower, upper
}
