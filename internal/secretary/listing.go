package secretary

import (
	"context"
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

// Up to exactCandidates, SecretaryMixLaw computes with rationals, whose length grows with n; above, probabilities are enclosed to
// lawBits bits.
const (
	exactCandidates = 1000
	lawBits         = 160
)

// SecretaryMixLaw returns the law of the rule that plays the optimal secretary rule with probability p and takes the first
// candidate otherwise. The error is the context's cause where that ends.
func SecretaryMixLaw(ctx context.Context, n int, p *big.Rat) (Law, error) {
	if n <= exactCandidates {
		q, err := secretaryMixLaw(ctx, arith.Rat{}, n, p)
		return ExactLaw(q), err
	}
	q, err := secretaryMixLaw(ctx, arith.Interval{Prec: lawBits}, n, p)
	return EnclosedLaw(q), err
}

func secretaryMixLaw[T any](ctx context.Context, f arith.Field[T], n int, p *big.Rat) ([]T, error) {
	secretary, err := SecretaryLaw(ctx, f, n)
	if err != nil || p.Cmp(big.NewRat(1, 1)) == 0 {
		return secretary, err
	}
	blind, err := BlindLaw(f, n)
	if err != nil {
		return nil, err
	}
	return Mix(f, f.FromRat(p), secretary, blind), nil
}

// Numbers returns the probabilities of ranks 1 to n.
func (q Law) Numbers() []number.Number {
	out := make([]number.Number, q.N())
	for k := range out {
		if k > 0 && q.lo[k] == q.lo[k-1] && q.hi[k] == q.hi[k-1] { // one enclosure for both, as in EnclosedLaw
			out[k] = out[k-1]
		} else {
			out[k] = q.At(k + 1)
		}
	}
	return out
}

// Moment is what a rule does at one time: Reach is the probability that nobody was taken before it. Relative ranks that are
// not in Take are passed.
type Moment struct {
	Time  int           `json:"time"`
	Reach number.Number `json:"reach"`
	Take  []Take        `json:"take"`
}

// Take says that a candidate of relative rank From to To is taken with probability Stop.
type Take struct {
	From int           `json:"from"`
	To   int           `json:"to"`
	Stop number.Number `json:"stop"`
}

// Moments lists the rule, as long as it goes on with positive probability.
func (r *Rule) Moments() []Moment {
	var out []Moment
	for i := 1; i <= r.N() && r.Reach(i).Sign() > 0; i++ {
		m := Moment{Time: i, Reach: number.Exact(r.Reach(i)), Take: []Take{}}
		for j := 1; j <= i; {
			to := j
			for to < i && r.Weight(i, to+1).Cmp(r.Weight(i, j)) == 0 {
				to++
			}
			if stop := r.Stop(i, j); stop.Sign() > 0 {
				m.Take = append(m.Take, Take{j, to, number.Exact(stop)})
			}
			j = to + 1
		}
		out = append(out, m)
	}
	return out
}
