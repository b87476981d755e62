package verify

import (
	"context"
	"fmt"
	"math/big"

	"optratio/internal/inquiry"
	"optratio/mechanisms"
)

// Scores checks the mechanism on the given score vectors, all of one length, and their neighbors, by the
// claim's sensitivities: every score moves by at most its own, up or down; or, if the neighbors or the claim are monotonic, going one way all scores rise, as
// where adding a person can only add to a count (McKenna & Sheldon 2020, Remark 1). Witnesses are shrunk: see Shrink.
func Scores(ctx context.Context, p Claim, vectors [][]*big.Rat, monotonic bool, opts Options) (*Report, error) {
	if err := p.complete(); err != nil {
		return nil, err
	}
	report, err := around(ctx, p, vectors, monotonic, opts)
	if err != nil {
		return nil, err
	}
	report.somethingChecked()
	opts.Progress = nil
	for i := range report.Properties {
		r := &report.Properties[i]
		if r.Verdict != Violated {
			continue
		}
		opts := opts.only(r.Name)
		r.Witness = inquiry.Shrink(ctx, inquiry.Case{Scores: r.Witness.Scores, Sensitivities: p.Sensitivities}, r.Witness, func(c inquiry.Case) *Witness {
			q := p
			q.Sensitivities = c.Sensitivities
			small, err := around(ctx, q, [][]*big.Rat{c.Scores}, monotonic, opts)
			if err != nil {
				return nil // no instance of the mechanism
			}
			return small.Properties[0].Witness
		})
	}
	return report, nil
}

func around(ctx context.Context, p Claim, vectors [][]*big.Rat, monotonic bool, opts Options) (*Report, error) {
	monotonic = monotonic || p.Monotonic
	if len(vectors) == 0 {
		return nil, fmt.Errorf("%w: no score vectors", inquiry.ErrClaim)
	}
	n := len(vectors[0])
	for i, v := range vectors {
		in := mechanisms.Instance{Scores: v, Sensitivities: p.Sensitivities}
		if len(v) != n {
			return nil, fmt.Errorf("%w: vector %d has %d scores, the first has %d", inquiry.ErrClaim, i+1, len(v), n)
		}
		if err := in.CheckScores(); err != nil {
			return nil, err
		}
	}
	given, err := p.given()
	if err != nil {
		return nil, err
	}
	a, err := inquiry.Listed(inquiry.Space{Sensitivities: given, Epsilon: p.Epsilon, Params: p.Params}, vectors, p.Sensitivities)
	if err != nil {
		return nil, err
	}
	a.Name = fmt.Sprintf("%d score vectors of %d candidates and their %s", len(vectors), n, inquiry.Near(monotonic))
	a.Monotonic, a.Seed = monotonic, 1
	return p.check(ctx, a.Space, a.Domain(), opts)
}
