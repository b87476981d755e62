package verify

import (
	"context"
	"fmt"
	"math/big"

	"optratio/internal/inquiry"
	"optratio/mechanisms"
)

// Neighborhood says which score vectors are neighbors.
type Neighborhood int

const (
	// Linf: every score differs by at most its sensitivity, up or down.
	Linf Neighborhood = iota
	// Monotonic: going one way all scores rise, each by at most its sensitivity, as where
	// adding a person can only add to a count (McKenna & Sheldon 2020, Remark 1).
	Monotonic
)

func (m Neighborhood) String() string {
	if m == Monotonic {
		return "monotonic"
	}
	return "linf"
}

// Scores checks the mechanism on the given score vectors, all of one length, and their neighbors in
// the model, by the claim's sensitivities; in Monotonic if the claim says that scores are monotonic. Witnesses are shrunk: see Shrink.
func Scores(ctx context.Context, p Claim, vectors [][]*big.Rat, model Neighborhood, opts Options) (*Report, error) {
	if err := p.complete(); err != nil {
		return nil, err
	}
	report, err := around(ctx, p, vectors, model, opts)
	if err != nil {
		return nil, err
	}
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
			small, err := around(ctx, q, [][]*big.Rat{c.Scores}, model, opts)
			if err != nil {
				return nil // no instance of the mechanism
			}
			return small.Properties[0].Witness
		})
	}
	return report, nil
}

func around(ctx context.Context, p Claim, vectors [][]*big.Rat, model Neighborhood, opts Options) (*Report, error) {
	if p.Monotonic {
		model = Monotonic
	}
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
	a.Name = fmt.Sprintf("%d score vectors of %d candidates and their %s neighbors", len(vectors), n, model)
	a.Monotonic, a.Seed = model == Monotonic, 1
	return p.check(ctx, a.Space, a.Domain(), opts)
}
