package ratiomap

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"optratio/internal/grid"
	"optratio/lp"
)

// Plan is a grid of lattices.
type Plan struct {
	// N lists numbers of candidates, in increasing order; nil stands for all of them: for each k those from 2 to the one from which on the closed form
	// settles every n.
	N     []int
	K     []int // in increasing order
	Level lp.Level
	Options
	// Shard is the part of the grid that is computed: of the lattices in order of their work every so many-th.
	Shard grid.Shard
	// Lower asks for a ratio that is attained somewhere, on lattices of at most MaxSeen variables.
	Lower bool
}

// Files say where what is proved goes. Where a run resumes, lattices that the file has are kept, with a folder for certificates those whose certificate proves what
// the file says.
type Files struct {
	grid.Options
	Certs string // folder for certificates; "" for none
	// Check returns why a certificate is not accepted, by the checker; needed with a folder for certificates.
	Check func(ctx context.Context, text []byte) error
}

// Settlement says from which n on the closed form bounds the ratio for one k, and whether all smaller n are in the file with a bound within the target.
type Settlement struct {
	K       int     `json:"k"`
	From    int     `json:"from"`
	Bound   float64 `json:"bound,omitempty"` // over every n, where All
	All     bool    `json:"all"`
	Missing []int   `json:"missing,omitempty"` // n that are not within the target yet
}

// Summary is what a run did.
type Summary struct {
	File     string       `json:"file"`
	Lattices int          `json:"lattices"`
	Kept     int          `json:"kept"`
	Computed int          `json:"computed"`
	Open     int          `json:"open"` // with a bound above the target
	Bound    float64      `json:"bound"`
	At       *Place       `json:"at,omitempty"` // of the largest bound
	Seen     float64      `json:"seen,omitempty"`
	SeenAt   *Place       `json:"seen_at,omitempty"` // of the largest ratio that is attained
	Settled  []Settlement `json:"settled"`           // of a whole grid
	Seconds  float64      `json:"seconds"`
}

// Schema names the form of the JSON document.
func (Summary) Schema() string { return "optratio.map/1" }

// Place names a lattice.
type Place struct {
	N int `json:"n"`
	K int `json:"k"`
}

// Missing returns how many lattices are yet to be computed.
func (s *Summary) Missing() int { return s.Lattices - s.Kept - s.Computed }

// MaxLattices bounds the lattices of a grid.
const MaxLattices = 1_000_000

// layout is a plan written out.
type layout struct {
	lattices [][2]int    // (n, k) of the part, by k, then n
	settled  map[int]int // Settled of each k; none where the part is not the whole
}

// lay writes a plan out. Where the context ends before that is done, the error is its cause.
func (p *Plan) lay(ctx context.Context) (*layout, error) {
	l := &layout{settled: map[int]int{}}
	whole := p.Shard.Count < 2
	for _, k := range p.K {
		ns := p.N
		if ns == nil || whole {
			from, err := Settled(ctx, k, p.Target)
			if err != nil {
				return nil, err
			}
			if l.settled[k] = from; ns == nil {
				ns = count(2, max(2, from))
			}
		}
		if len(l.lattices)+len(ns) > MaxLattices {
			return nil, fmt.Errorf("%w: more than %d lattices; give fewer n or k at a time", lp.ErrTooLarge, MaxLattices)
		}
		for _, n := range ns {
			l.lattices = append(l.lattices, [2]int{n, k})
		}
	}
	if !whole {
		l.lattices, l.settled = p.mine(l.lattices), nil
	}
	return l, nil
}

// count lists the whole numbers of a range.
func count(from, to int) (out []int) {
	for n := from; n <= to; n++ {
		out = append(out, n)
	}
	return out
}

// mine returns the lattices of the part.
func (p *Plan) mine(all [][2]int) (mine [][2]int) {
	slices.SortStableFunc(all, func(a, b [2]int) int { return cmp.Compare(work(b), work(a)) })
	for i := p.Shard.Index; i < len(all); i += p.Shard.Count {
		mine = append(mine, all[i])
	}
	slices.SortFunc(mine, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) })
	return mine
}

// Run proves bounds for the lattices of a grid that the file does not have. When the context ends it returns at once, and what was finished by then is in the file. A
// lattice that fails does not keep the others from being computed. Numbers of a lattice depend on its parameters and the options alone. Without a Summary no lattice was begun.
func Run(ctx context.Context, p *Plan, f Files) (*Summary, error) {
	begin := time.Now()
	l, err := p.lay(ctx)
	if err != nil {
		return nil, err
	}
	// The large ones come first, so that no core waits for one at the end.
	due := slices.Clone(l.lattices)
	slices.SortStableFunc(due, func(a, b [2]int) int { return cmp.Compare(work(b), work(a)) })
	jobs := &grid.Jobs[[2]int, Row]{
		Kind: Rows, Points: due,
		Keys: func(at [2]int) []string {
			return []string{Row{N: at[0], K: at[1], Interval: Interval{From: new(big.Rat)}}.key()}
		},
		Keep:   func(ctx context.Context, rows []Row) ([]Row, error) { return f.keep(ctx, p, rows, l.lattices) },
		Answer: func(ctx context.Context, at [2]int) ([]Row, func() error, error) { return f.answer(ctx, p, at) },
	}
	done, table, err := jobs.Run(ctx, f.Options)
	if table == nil {
		return nil, err
	}
	s := &Summary{File: f.Path, Lattices: done.All, Kept: done.Kept, Computed: done.Computed}
	s.summarise(p, l, byLattice(table.Rows))
	s.Seconds = time.Since(begin).Seconds()
	return s, err
}

// work is a measure of what a lattice takes.
func work(at [2]int) int { return at[0] * at[1] * at[1] }

// answer proves the bound of a lattice. That it is above the target is no error here.
func (f *Files) answer(ctx context.Context, p *Plan, at [2]int) (rows []Row, save func() error, err error) {
	c, err := Prove(ctx, at[0], at[1], p.Level, p.Options)
	if err != nil && !errors.Is(err, ErrTarget) {
		return nil, nil, err
	}
	if p.Lower {
		if err := c.look(ctx); err != nil {
			return nil, nil, err
		}
	}
	if f.Certs != "" {
		var text bytes.Buffer
		if err := cmp.Or(c.WriteCertificate(&text), f.Check(ctx, text.Bytes())); err != nil {
			return nil, nil, err
		}
		save = func() error { return f.certify(c, text.Bytes()) }
	}
	return c.rows(), save, nil
}

// summarise fills in what the table shows.
func (s *Summary) summarise(p *Plan, l *layout, table map[[2]int][]Row) {
	s.Bound = 1
	bounds := map[[2]int]*big.Rat{}
	for _, at := range l.lattices {
		rows := table[at]
		if rows == nil {
			continue
		}
		bound := boundOf(rows)
		bounds[at] = bound
		if bound.Cmp(p.Target) > 0 {
			s.Open++
		}
		if b, _ := bound.Float64(); b > s.Bound || s.At == nil {
			s.Bound, s.At = b, &Place{at[0], at[1]}
		}
		if seen := rows[0].SeenRatio; seen != nil {
			if r, _ := seen.Float64(); r > s.Seen {
				s.Seen, s.SeenAt = r, &Place{at[0], at[1]}
			}
		}
	}
	if s.Settled = []Settlement{}; p.Shard.Count > 1 {
		return
	}
	for _, k := range p.K {
		s.Settled = append(s.Settled, settle(k, l.settled[k], p.Target, bounds))
	}
}

// settle says what the bounds of the lattices with n < from, and the closed form for all others, prove of one k.
func settle(k, from int, target *big.Rat, bounds map[[2]int]*big.Rat) Settlement {
	t := Settlement{K: k, From: from, All: true}
	most := up(ClosedForm(max(2, t.From), k))
	for n := 3; n < t.From && k > 1; n++ { // for n <= 2 or k = 1 it is 1 by theorem
		bound := bounds[[2]int{n, k}]
		if bound == nil || bound.Cmp(target) > 0 {
			t.All, t.Missing = false, append(t.Missing, n)
			continue
		}
		if bound.Cmp(most) > 0 {
			most = bound
		}
	}
	if k == 1 {
		most, t.From = one, 2
	}
	if t.All {
		t.Bound, _ = most.Float64()
	}
	return t
}
