package ratiomap

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"optratio/internal/decimal"
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
	// Lower asks for a ratio that is attained somewhere, on lattices of at most MaxSeen variables.
	Lower bool
	Jobs  int    // lattices at a time
	Certs string // folder for certificates; "" for none
	// Check returns why a certificate is not accepted, by the checker; needed with a folder for certificates.
	Check  func(ctx context.Context, text []byte) error
	Report func(done, total int)
}

// Settlement says from which n on the closed form bounds the ratio for one k, and whether all smaller n have a bound within the target.
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
	Computed int          `json:"computed"`
	Open     int          `json:"open"` // with a bound above the target
	Bound    float64      `json:"bound"`
	At       *Place       `json:"at,omitempty"` // of the largest bound
	Seen     float64      `json:"seen,omitempty"`
	SeenAt   *Place       `json:"seen_at,omitempty"` // of the largest ratio that is attained
	Settled  []Settlement `json:"settled"`
	Seconds  float64      `json:"seconds"`
	covers   []*Cover
}

// Schema names the form of the JSON document.
func (Summary) Schema() string { return "optratio.map/1" }

// Place names a lattice.
type Place struct {
	N int `json:"n"`
	K int `json:"k"`
}

// MaxLattices bounds the lattices of a grid.
const MaxLattices = 1_000_000

// lay writes a plan out: its lattices by k, then n, and Settled of each k. Where the context ends before that is done, the error is its cause.
func (p *Plan) lay(ctx context.Context) (lattices []Place, settled map[int]int, err error) {
	settled = map[int]int{}
	for _, k := range p.K {
		if settled[k], err = Settled(ctx, k, p.Target); err != nil {
			return nil, nil, err
		}
		ns := p.N
		if ns == nil {
			ns = count(2, max(2, settled[k]))
		}
		if len(lattices)+len(ns) > MaxLattices {
			return nil, nil, fmt.Errorf("%w: more than %d lattices; give fewer n or k at a time", lp.ErrTooLarge, MaxLattices)
		}
		for _, n := range ns {
			lattices = append(lattices, Place{n, k})
		}
	}
	return lattices, settled, nil
}

// count lists the whole numbers of a range.
func count(from, to int) (out []int) {
	for n := from; n <= to; n++ {
		out = append(out, n)
	}
	return out
}

// Run proves bounds for the lattices of a grid, the large ones first, so that no core waits for one at the end. When the context ends it returns with what was finished by then. A
// lattice that fails does not keep the others from being computed. Numbers of a lattice depend on its parameters and the options alone. Without a Summary no lattice was begun.
func (p *Plan) Run(ctx context.Context) (*Summary, error) {
	begin := time.Now()
	lattices, settled, err := p.lay(ctx)
	if err != nil {
		return nil, err
	}
	if p.Certs != "" {
		if err := os.MkdirAll(p.Certs, 0o777); err != nil {
			return nil, err
		}
	}
	s := &Summary{Lattices: len(lattices), Bound: 1, Settled: []Settlement{}}
	slices.SortStableFunc(lattices, func(a, b Place) int { return cmp.Compare(b.N*b.K*b.K, a.N*a.K*a.K) })
	var failure error
	var lock sync.Mutex
	var workers sync.WaitGroup
	next := make(chan Place)
	for range p.Jobs {
		workers.Go(func() {
			for at := range next {
				c, err := p.answer(ctx, at)
				lock.Lock()
				if failure = cmp.Or(failure, err); err == nil {
					s.covers = append(s.covers, c)
					p.Report(len(s.covers), len(lattices))
				}
				lock.Unlock()
			}
		})
	}
	for i := 0; i < len(lattices) && ctx.Err() == nil; i++ {
		next <- lattices[i]
	}
	close(next)
	workers.Wait()
	s.summarise(p, settled)
	s.Seconds = time.Since(begin).Seconds()
	return s, cmp.Or(context.Cause(ctx), failure)
}

// answer proves the bound of a lattice and leaves its certificate. That it is above the target is no error here.
func (p *Plan) answer(ctx context.Context, at Place) (*Cover, error) {
	c, err := Prove(ctx, at.N, at.K, p.Level, p.Options)
	if err != nil && !errors.Is(err, ErrTarget) {
		return nil, err
	}
	if p.Lower {
		if err := c.look(ctx); err != nil {
			return nil, err
		}
	}
	if p.Certs == "" {
		return c, nil
	}
	var text bytes.Buffer
	if err := cmp.Or(c.WriteCertificate(&text), p.Check(ctx, text.Bytes())); err != nil {
		return nil, err
	}
	path := filepath.Join(p.Certs, fmt.Sprintf("%d-%d-%s.cert", c.N, c.K, c.Level))
	err = os.WriteFile(path+".new", text.Bytes(), 0o666) // what is in its place is whole
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	return c, err
}

// summarise puts the covers in order and fills in what they show.
func (s *Summary) summarise(p *Plan, settled map[int]int) {
	slices.SortFunc(s.covers, func(a, b *Cover) int { return cmp.Or(cmp.Compare(a.K, b.K), cmp.Compare(a.N, b.N)) })
	s.Computed = len(s.covers)
	bounds := map[Place]*big.Rat{}
	for _, c := range s.covers {
		at, bound := Place{c.N, c.K}, c.Bound()
		bounds[at] = bound
		if bound.Cmp(p.Target) > 0 {
			s.Open++
		}
		if b, _ := bound.Float64(); b > s.Bound || s.At == nil {
			s.Bound, s.At = b, &at
		}
		if c.Seen != nil {
			if r, _ := c.Seen.Ratio.Float64(); r > s.Seen {
				s.Seen, s.SeenAt = r, &at
			}
		}
	}
	for _, k := range p.K {
		s.Settled = append(s.Settled, settle(k, settled[k], p.Target, bounds))
	}
}

// settle says what the bounds of the lattices with n < from, and the closed form for all others, prove of one k.
func settle(k, from int, target *big.Rat, bounds map[Place]*big.Rat) Settlement {
	t := Settlement{K: k, From: from, All: true}
	most := up(ClosedForm(max(2, t.From), k))
	for n := 3; n < t.From && k > 1; n++ { // for n <= 2 or k = 1 it is 1 by theorem
		bound := bounds[Place{n, k}]
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

var columns = []string{"n", "k", "constraints", "z_from", "z_to", "bound", "proof", "classes", "seen_eps", "seen_ratio"}

// WriteCSV writes a line for each interval of each lattice, with all decimals of its numbers.
func (s *Summary) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write(columns)
	for _, c := range s.covers {
		seen := []string{"", ""}
		if c.Seen != nil {
			seen = []string{decimal.Text(c.Seen.Epsilon), decimal.Text(c.Seen.Ratio)}
		}
		for _, i := range c.Intervals {
			classes := 0 // of count vectors that the multipliers tell apart
			if i.Proof == ProofDual {
				classes = len(c.form.classes)
			}
			_ = out.Write(append([]string{strconv.Itoa(c.N), strconv.Itoa(c.K), c.Level.String(), decimal.Text(i.From), decimal.Text(i.To), decimal.Text(i.Bound), i.Proof, strconv.Itoa(classes)}, seen...))
		}
	}
	out.Flush()
	return out.Error()
}
