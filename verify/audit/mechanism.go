package audit

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// ownPrecision is the relative precision to which probabilities of this process are taken that are enclosed.
var ownPrecision = big.NewRat(1, 1e15)

// Mechanism audits a mechanism of this process as PMF does a program: on the domain, whose neighbors may leave it, and on a side
// set of other score vectors and numbers of candidates. Rational probabilities are taken as they are, those of
// mechanisms.Approximate to their precision, and others to a relative precision of 1e-15; Options.Precision is ignored. An error that
// it returns, or a panic, is a finding. Package verify decides without any such precision, on lattices and their like.
func Mechanism(ctx context.Context, m mechanisms.Mechanism, o Options) (*Report, error) {
	if m == nil {
		return nil, fmt.Errorf("%w: no mechanism", errOptions)
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	o.Precision = ownPrecision
	if a, ok := m.(mechanisms.Approximate); ok {
		o.Precision = a.Precision()
	}
	space, dom, err := o.domain(0)
	if err != nil {
		return nil, err
	}
	if err := o.measure(ctx, dom); err != nil {
		return nil, err
	}
	c := &called{ctx: ctx, opts: &o, record: newRecord()}
	asking := func(space *verify.Space) verify.Subject { return c.on(m, space) }
	trying := func(space *verify.Space) verify.Subject {
		return (&called{ctx: ctx, opts: &o, record: c.record, muted: true}).on(m, space)
	}
	r, err := examine(ctx, m.Info().Name, &questioned{asking(space), space, dom}, &o, trying, func(r *Report) (*questioned, error) {
		return o.aside(r, 0, asking, trying)
	})
	if err != nil {
		return nil, err
	}
	again := func(at query) error {
		_, err := trying(at.space).Answer(at.q)
		return err
	}
	if err := c.record.witnesses(r, &o, space, again); err != nil {
		return nil, err
	}
	if err := c.record.again(o.Seed, again); err != nil {
		return nil, err
	}
	r.somethingChecked()
	r.Questions, r.Findings = c.questions, c.findings
	r.answers(c.record)
	return r, nil
}

// called keeps account of what goes wrong while a mechanism of this process is asked.
type called struct {
	ctx       context.Context
	opts      *Options
	questions int64
	findings  []Finding
	record    *record
	muted     bool // what goes wrong is no finding: the question was not part of the domain
}

// find records a finding.
func (c *called) find(f Finding) {
	if !c.muted {
		c.findings = addFinding(c.findings, f)
	}
}

// on is the mechanism on a space.
func (c *called) on(m mechanisms.Mechanism, space *verify.Space) verify.Subject {
	inner := verify.ForMechanism(m, space)
	_, approximate := m.(mechanisms.Approximate)
	once := func(q verify.Vector, again bool) (a *verify.Answer, err error) {
		if c.ctx.Err() != nil {
			return nil, errStopped
		}
		c.questions++
		if err := c.opts.meter.count(); err != nil {
			return nil, err
		}
		defer func() {
			if x := recover(); x != nil {
				err = fmt.Errorf("it panics: %v", x)
			}
			if err == nil || errors.Is(err, verify.ErrUndecided) {
				return
			}
			if !again { // one finding is enough
				c.find(Finding{Event: "error", Detail: err.Error(), Scores: space.Scores(q)})
			}
			a, err = &verify.Answer{Event: err.Error()}, nil
		}()
		if a, err = inner.Answer(q); err != nil || approximate {
			return a, err
		}
		p := make([]*verify.Value, len(a.P))
		for r, v := range a.P {
			if p[r], err = rounded(v); err != nil {
				return nil, err
			}
		}
		return &verify.Answer{P: p}, nil
	}
	asking := func(q verify.Vector, again bool) (*verify.Answer, error) {
		a, err := once(q, again)
		if err == nil && (a.Event == "" || again || !c.muted) {
			c.record.recall(verify.ScoresText(space.Scores(q)), query{space, q}, a, c.opts, candidate)
		}
		return a, err
	}
	return verify.SubjectFunc(func(q verify.Vector) (*verify.Answer, error) {
		a, err := asking(q, false)
		switch {
		case err != nil:
			return nil, err
		case a.Event != "":
			return asking(q, true)
		}
		if text := fault(a, candidate); text != "" {
			c.find(c.opts.finding(noDistribution, text, space, q))
		}
		return a, nil
	})
}

// rounded returns a rational value as it is, and an enclosure of any other that is as narrow as float64 numbers allow.
func rounded(v *verify.Value) (*verify.Value, error) {
	if v.Rat() != nil {
		return v, nil
	}
	for prec := uint(64); prec <= 2048; prec *= 2 {
		x := v.Enclose(prec)
		if !x.IsFinite() || !(x.RelWidth() < 0x1p-52) {
			continue
		}
		lo, _ := x.Lo().Rat(nil)
		hi, _ := x.Hi().Rat(nil)
		return verify.Within(lo, hi), nil
	}
	return nil, fmt.Errorf("%w: enclosures of 2048 bits are wider than the relative precision of %s", verify.ErrUndecided, number.Exact(ownPrecision))
}

// Draws audits the sampler of a mechanism of this process as Samples does a program.
func Draws(ctx context.Context, m mechanisms.Sampler, src mechanisms.Source, o Options) (*Report, error) {
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
	return o.statistics(ctx, m.Info().Name, &drawing{m, space, src}, space, dom)
}

// drawing draws from a mechanism of this process.
type drawing struct {
	mechanism mechanisms.Sampler
	space     *verify.Space
	src       mechanisms.Source
}

func (d *drawing) Sample(q verify.Vector, samples int64) (counts []int64, event string, err error) {
	in := &mechanisms.Instance{Scores: d.space.Scores(q), Sensitivities: d.space.Sensitivities, Epsilon: d.space.Epsilon}
	draw, err := d.mechanism.Draws(in, d.src)
	if err != nil {
		return nil, "", err
	}
	counts = make([]int64, len(q))
	for range samples {
		counts[draw()]++
	}
	return counts, "", nil
}
