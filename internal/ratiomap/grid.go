package ratiomap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

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
	// Part and Parts say which of so many parts of the grid is computed, counted from 0: of the lattices in order of their work every Parts-th. With Parts 0 it is the whole.
	Part, Parts int
	// Lower asks for a ratio that is attained somewhere, on lattices of at most MaxSeen variables.
	Lower bool
}

// Files say where what is proved goes.
type Files struct {
	Path   string // CSV
	Certs  string // folder for certificates; "" for none
	Resume bool   // lattices that Path has are kept, with a folder for certificates those whose certificate proves what Path says
	Jobs   int    // lattices at a time, at least 1
	// Valid decides whether a certificate is valid; needed to resume with a folder for certificates.
	Valid  func(ctx context.Context, text []byte) (bool, error)
	Report func(done, total int)
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

// Place names a lattice.
type Place struct {
	N int `json:"n"`
	K int `json:"k"`
}

// Missing returns how many lattices are yet to be computed.
func (s *Summary) Missing() int { return s.Lattices - s.Kept - s.Computed }

// ErrFile is wrapped by errors about the files of a run.
var ErrFile = errors.New("file")

// lattices lists the (n, k) of the part, by k.
func (p *Plan) lattices() [][2]int {
	all := p.whole()
	if p.Parts < 2 {
		return all
	}
	mine := map[[2]int]bool{}
	for i, at := range slices.SortedStableFunc(slices.Values(all), func(a, b [2]int) int { return cmp.Compare(work(b), work(a)) }) {
		mine[at] = i%p.Parts == p.Part
	}
	return slices.DeleteFunc(all, func(at [2]int) bool { return !mine[at] })
}

// whole lists the grid's (n, k), by k.
func (p *Plan) whole() [][2]int {
	var all [][2]int
	for _, k := range p.K {
		ns := p.N
		if ns == nil {
			for n := 2; n <= max(2, Settled(k, p.Target)); n++ {
				ns = append(ns, n)
			}
		}
		for _, n := range ns {
			all = append(all, [2]int{n, k})
		}
	}
	return all
}

// Run proves bounds for the lattices of a grid that the file does not have. What is finished when the context ends is in the file. Numbers of a lattice depend
// on its parameters and the options alone.
func Run(ctx context.Context, p *Plan, f Files) (*Summary, error) {
	begin := time.Now()
	all := p.lattices()
	table, err := f.load(ctx, p)
	if err != nil {
		return nil, err
	}
	s := &Summary{File: f.Path, Lattices: len(all)}
	var due [][2]int
	for _, at := range all {
		if table[at] != nil {
			s.Kept++
		} else {
			due = append(due, at)
		}
	}
	// The large ones come first, so that no core waits for one at the end.
	slices.SortStableFunc(due, func(a, b [2]int) int { return cmp.Compare(work(b), work(a)) })
	if err := f.save(table); err != nil {
		return nil, err
	}
	err = f.compute(ctx, p, due, func(c *Cover) error {
		if f.Certs != "" {
			if err := f.certify(c); err != nil {
				return err
			}
		}
		table[[2]int{c.N, c.K}] = c.rows()
		s.Computed++
		if f.Report != nil {
			f.Report(s.Kept+s.Computed, s.Lattices)
		}
		return f.save(table)
	})
	s.summarise(p, table)
	s.Seconds = time.Since(begin).Seconds()
	return s, err
}

// work is a measure of what a lattice takes.
func work(at [2]int) int { return at[0] * at[1] * at[1] }

// compute proves bounds for some lattices, several at a time. take gets them one after the other.
func (f *Files) compute(ctx context.Context, p *Plan, due [][2]int, take func(*Cover) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	var mutex sync.Mutex
	var failed error
	next := make(chan [2]int)
	for range max(1, f.Jobs) {
		group.Go(func() {
			for at := range next {
				c, err := p.one(ctx, at)
				mutex.Lock()
				if err == nil && ctx.Err() == nil {
					err = take(c)
				}
				if err != nil && ctx.Err() == nil {
					failed = err
					cancel(err)
				}
				mutex.Unlock()
			}
		})
	}
	for _, at := range due {
		select {
		case next <- at:
		case <-ctx.Done():
		}
	}
	close(next)
	group.Wait()
	return failed
}

// one proves the bound of a lattice. That it is above the target is no error here.
func (p *Plan) one(ctx context.Context, at [2]int) (c *Cover, err error) {
	c, err = Prove(ctx, at[0], at[1], p.Level, p.Options)
	if err != nil && !errors.Is(err, ErrTarget) {
		return nil, err
	}
	if p.Lower {
		if err := c.look(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// CertificateName is the name of a lattice's certificate in its folder.
func CertificateName(n, k int, level lp.Level) string {
	return fmt.Sprintf("%d-%d-%s.cert", n, k, level)
}

// certify writes a lattice's certificate.
func (f *Files) certify(c *Cover) error {
	return replace(filepath.Join(f.Certs, CertificateName(c.N, c.K, c.Level)), c.WriteCertificate)
}

// summarise fills in what the table shows.
func (s *Summary) summarise(p *Plan, table map[[2]int][]Row) {
	s.Bound = 1
	bounds := map[[2]int]*big.Rat{}
	for _, at := range p.lattices() {
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
	if s.Settled = []Settlement{}; p.Parts > 1 {
		return
	}
	for _, k := range p.K {
		t := Settlement{K: k, From: Settled(k, p.Target), All: true}
		most := up(ClosedForm(max(2, t.From), k))
		for n := 3; n < t.From && k > 1; n++ { // for n <= 2 or k = 1 it is 1 by theorem
			bound := bounds[[2]int{n, k}]
			if bound == nil || bound.Cmp(p.Target) > 0 {
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
		s.Settled = append(s.Settled, t)
	}
}

// replace writes a file that appears whole or not at all.
func replace(path string, write func(w writer) error) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("%w %s: %w", ErrFile, path, err)
	}
	defer os.Remove(temp.Name())
	err = write(temp)
	err = errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("%w %s: %w", ErrFile, path, err)
	}
	return nil
}
