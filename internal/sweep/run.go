package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"optratio/internal/grid"
	"optratio/lp"
	"optratio/number"
)

// ErrRow is wrapped by errors about mechanisms that have no row: they failed to state probabilities, or state estimates.
var ErrRow = errors.New("no row")

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
// the file, and Missing tells how much is not. A file with all rows of its shard is in the order of compare. Where there is a Summary beside an error, some
// jobs failed, and the others were done; or the error is the context's cause, and the rows are not in order yet. Without a Summary, no job was begun.
func Run(ctx context.Context, p *Plan, shard grid.Shard, o grid.Options) (*Summary, error) {
	begin := time.Now()
	if err := p.Check(ctx); err != nil {
		return nil, err
	}
	points, err := p.Deal(ctx, shard)
	if err != nil {
		return nil, err
	}
	jobs := p.jobs()
	jobs.Points = points
	done, table, err := jobs.Run(ctx, o)
	if table == nil {
		return nil, err
	}
	s := &Summary{File: o.Path, Rows: done.All, Kept: done.Kept, Computed: done.Computed, Seconds: time.Since(begin).Seconds()}
	for i := range table.Rows {
		if p.open(&table.Rows[i]) {
			s.Open++
		}
	}
	return s, err
}

// jobs returns how the points of a plan are answered.
func (p *Plan) jobs() *grid.Jobs[Point, Row] {
	memory := int64(lp.DefaultMemory)
	if p.Request.MaxMemory > 0 {
		memory = p.Request.MaxMemory
	}
	return &grid.Jobs[Point, Row]{
		Kind: Rows, Settings: p.Settings, Keys: p.keys, Keep: p.keep, Answer: p.answer,
		Memory: func(at Point) int64 { return at.memory }, MaxMemory: memory,
	}
}

// keys returns the keys of a point's rows.
func (p *Plan) keys(at Point) (keys []string) {
	for _, name := range p.names() {
		keys = append(keys, p.parameters(at, name).String())
	}
	return keys
}

// keep refuses a file with rows that are not of this grid.
func (p *Plan) keep(ctx context.Context, rows []Row) ([]Row, error) {
	for i := range rows {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !p.holds(&rows[i]) {
			return nil, fmt.Errorf("has a row for %s, which is not in this sweep; give the same flags, or another file", rows[i].Parameters)
		}
	}
	return rows, nil
}

// answer returns the rows of a point.
func (p *Plan) answer(ctx context.Context, at Point) (rows []Row, _ func() error, err error) {
	r, err := p.request(at)
	if err != nil {
		return nil, nil, err
	}
	a, err := lp.Ratio(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range p.names() {
		row, err := p.row(at, name, a)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil, nil
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
