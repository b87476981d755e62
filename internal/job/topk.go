package job

import (
	"errors"
	"fmt"
	"math/big"

	"optratio/internal/document"
	"optratio/internal/linear"
	"optratio/internal/topk"
	"optratio/number"
)

// TopK asks how far choices of several candidates are from the best one.
type TopK struct {
	Size
	Top int `json:"top" default:"2" help:"how many candidates are chosen"`
	Epsilon
	Mechanism string `json:"mechanism" default:"peel:em,peel:pf,one-shot:exponential,joint:em,joint:pf,pairwise,completed" help:"mechanisms to rate"`
}

func (q *TopK) request(in *reading) topk.Request {
	q.Size.check()
	refuse(q.Top < 1 || q.Top > q.N, "{top} %d: give how many of the %d candidates are chosen, from 1 to %d", q.Top, q.N, q.N)
	r := topk.Request{N: q.N, K: q.K, Top: q.Top, Epsilon: q.Epsilon.value()}
	in.enclosable(r.Epsilon, nil)
	for _, name := range must(SplitNames("mechanism", q.Mechanism)) {
		r.Mechanisms = append(r.Mechanisms, must(Parsed("mechanism", name, topk.ParseMechanism)))
	}
	return r
}

func (q *TopK) answer(in *reading) *Answer {
	r := q.request(in)
	in.begin(fmt.Sprintf("n = %d, k = %d, top %d", q.N, q.K, q.Top), r.Epsilon)
	r.Report = func(p linear.Progress) { in.pivots(p.Pivots, p.Objective) }
	a := settled(in, func() *topk.Answer {
		a, err := topk.Solve(in.ctx, r)
		refuse(errors.Is(err, topk.ErrProbability), "{mechanism}: %w", err)
		return must(a, err)
	}, func(why string) *topk.Answer {
		most := big.NewRat(int64(min(q.Top, q.N-q.Top)), 1) // as many candidates at most are not among the best ones
		return &topk.Answer{Optimum: number.Bounds(new(big.Rat), most.Mul(most, big.NewRat(int64(q.K), 1))), Mechanisms: []topk.Rated{}, Undecided: why}
	})
	a.Solver = solverName
	return answered(&document.TopK{N: q.N, K: q.K, Top: q.Top, AtEpsilon: document.At(q.Eps, q.Exp), Answer: a}, a.Undecided, a.WriteCertificate)
}
