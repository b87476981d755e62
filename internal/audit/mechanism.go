package audit

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"

	"optratio/internal/arith"
	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/number"
)

// ownPrecision is the relative precision to which probabilities of this process are taken that are enclosed.
var ownPrecision = big.NewRat(1, 1e15)

// Mechanism audits a mechanism of this process as Program.PMF does a program: on the domain, whose neighbors may leave it, and on a side
// set of other score vectors and numbers of candidates. Rational probabilities are taken as they are, those of
// mechanisms.Precision to theirs, and others to a relative precision of 1e-15; Options.Precision is ignored. An error that
// it returns, or a panic, is a finding. Package verify decides without any such precision, on lattices and their like.
func Mechanism(ctx context.Context, m mechanisms.Mechanism, o Options) (*Report, error) {
	if m == nil {
		return nil, fmt.Errorf("%w: no mechanism", errOptions)
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	o.Precision = ownPrecision
	if precision, ok := mechanisms.Precision(m); ok {
		o.Precision = precision
	}
	o.Outcomes = Index
	return mechanismAsker(ctx, m, nil, &o).audit(m.Info().Name, 0)
}

// mechanismAsker puts questions to a mechanism of this process.
func mechanismAsker(ctx context.Context, m mechanisms.Mechanism, space *inquiry.Space, o *Options) *asker {
	a := newAsker(ctx, space, o)
	a.free = true
	known := map[*inquiry.Space]inquiry.Subject{}
	a.state = func(a *asker, q inquiry.Vector, _ []byte) (p []*inquiry.Value, event string, err error) {
		if known[a.space] == nil {
			known[a.space] = inquiry.ForMechanism(m, a.space)
		}
		return a.call(known[a.space], q)
	}
	return a
}

// call asks a mechanism of this process. An error that it returns, or a panic, is an event.
func (a *asker) call(m inquiry.Subject, q inquiry.Vector) (p []*inquiry.Value, event string, err error) {
	if err := a.count(q, 0); err != nil {
		return nil, "", err
	}
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("it panics: %v", x)
		}
		if err != nil && !errors.Is(err, inquiry.ErrUndecided) {
			a.find(a.opts.finding("error", err.Error(), a.space, q))
			p, event, err = nil, err.Error(), nil
		}
	}()
	answer, err := m.Answer(q)
	if err != nil {
		return nil, "", err
	}
	if a.opts.Precision != ownPrecision { // the mechanism's own
		return answer.P, "", nil
	}
	for _, v := range answer.P {
		x, err := rounded(v)
		if err != nil {
			return nil, "", err
		}
		p = append(p, x)
	}
	return p, "", nil
}

// rounded returns a rational value as it is, and an enclosure of any other that is as narrow as float64 numbers allow.
func rounded(v *inquiry.Value) (*inquiry.Value, error) {
	if v.Rat() != nil {
		return v, nil
	}
	for prec := uint(64); prec <= 2048; prec *= 2 {
		x := v.Enclose(prec)
		if !arith.IsFinite(x) || !(x.RelWidth() < 0x1p-52) {
			continue
		}
		lo, _ := x.Lo().Rat(nil)
		hi, _ := x.Hi().Rat(nil)
		return inquiry.Within(lo, hi), nil
	}
	return nil, fmt.Errorf("%w: enclosures of 2048 bits are wider than the relative precision of %s", inquiry.ErrUndecided, number.Exact(ownPrecision))
}

// Draws audits mechanisms.Draws of a mechanism of this process as Program.Samples does a program.
func Draws(ctx context.Context, m mechanisms.Mechanism, src rand.Source, o Options) (*Report, error) {
	if m == nil {
		return nil, fmt.Errorf("%w: no mechanism", errOptions)
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	space, dom, err := o.sampleDomain()
	if err != nil {
		return nil, err
	}
	return o.statistics(ctx, m.Info().Name, &drawing{mechanism: m, space: space, src: src}, space, dom)
}

// drawing draws from a mechanism of this process.
type drawing struct {
	mechanism mechanisms.Mechanism
	space     *inquiry.Space
	src       rand.Source
	drawn     int64
}

func (d *drawing) Sample(q inquiry.Vector, samples int64) (counts []int64, event string, err error) {
	in := &mechanisms.Instance{Scores: d.space.Scores(q), Sensitivities: d.space.Sensitivities, Epsilon: d.space.Epsilon}
	draw, err := mechanisms.Draws(d.mechanism, in, d.src)
	if err != nil {
		return nil, "", err
	}
	counts = make([]int64, len(q))
	for range samples {
		counts[draw()]++
	}
	d.drawn += samples
	return counts, "", nil
}
