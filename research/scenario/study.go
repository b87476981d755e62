package scenario

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"optratio/internal/recommend"
	"optratio/mechanisms"
	"optratio/number"
)

// Few returns at most so many of the trials, evenly spread over their order, with the sensitivities that all of them gave. Where trials are of two
// kinds and most is even, there are as many of either.
func (t *Trials) Few(most int) *Trials {
	if n := len(t.Scores); most < n {
		out := &Trials{Sensitivities: t.Sensitivities, halves: t.halves}
		for i := range most {
			out.Scores = append(out.Scores, t.Scores[i*n/most])
		}
		return out
	}
	return t
}

// Instance returns a trial as a question in exact numbers: every float64 stands for the shortest decimal that denotes it, 1.8 for 9/5.
func (t *Trials) Instance(trial int, epsilon number.Epsilon, params mechanisms.Params) *mechanisms.Instance {
	exact := func(values []float64) (out []*big.Rat) {
		for _, x := range values {
			r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
			out = append(out, r)
		}
		return out
	}
	return &mechanisms.Instance{Scores: exact(t.Scores[trial]), Sensitivities: exact(t.Sensitivities), Epsilon: epsilon, Params: params}
}

// Spearman returns the rank correlation of scores and sensitivities, averaged over the trials; NaN where a trial has none.
func (t *Trials) Spearman() float64 {
	var each []float64
	for i := range t.Scores {
		each = append(each, recommend.Spearman(t.Instance(i, number.Epsilon{}, mechanisms.Params{})).Float64())
	}
	mean, _ := Mean(each)
	return mean
}

// Rating is one mechanism at one ε, on a set of trials.
type Rating struct {
	Mechanism string
	Private   bool // claims ε-DP
	MSE       number.Number
	Error     number.Number // the expected error
	Errors
	squares []float64 // trial by trial
}

// Question is what a study asks of every mechanism.
type Question struct {
	Mechanisms []mechanisms.Mechanism
	Epsilon    number.Epsilon
	Params     mechanisms.Params
	Rigorous   bool // exact numbers or enclosures where a mechanism has them; for one trial
}

// method is what estimates of a study say of themselves.
const method = "float64 probabilities"

// Rate asks all mechanisms, as many at a time as there are processors; the answer does not depend on that. A mechanism that has no answer is left
// out, and unanswered says why; a bad parameter is an error. When the context ends, ratings are those that were done by then, and unanswered names the others.
func (t *Trials) Rate(ctx context.Context, q Question) (ratings []Rating, unanswered []string, err error) {
	answers, failures := make([]*Rating, len(q.Mechanisms)), make([]error, len(q.Mechanisms))
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, m := range q.Mechanisms {
		wait.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wait.Done() }()
			answers[i], failures[i] = t.rate(ctx, m, q)
		}()
	}
	wait.Wait()
	for i, a := range answers {
		if errors.Is(failures[i], mechanisms.ErrInstance) {
			return nil, nil, fmt.Errorf("%s: %w", q.Mechanisms[i].Info().Name, failures[i])
		}
		if failures[i] != nil {
			unanswered = append(unanswered, q.Mechanisms[i].Info().Name+": "+failures[i].Error())
		} else {
			ratings = append(ratings, *a)
		}
	}
	return ratings, unanswered, context.Cause(ctx)
}

// rate asks one mechanism.
func (t *Trials) rate(ctx context.Context, m mechanisms.Mechanism, q Question) (*Rating, error) {
	out := &Rating{Mechanism: m.Info().Name, Private: m.Info().Private}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if q.Rigorous {
		return out, t.ask(mechanisms.Within(ctx, m), q, out)
	}
	losses, err := t.Losses(ctx, m, q.Epsilon.Float(), q.Params)
	if err != nil {
		return nil, err
	}
	out.Errors, out.squares = losses.Errors(), losses.Squares
	out.MSE, out.Error = number.Estimate(out.Errors.MSE, method), number.Estimate(out.Errors.Error, method)
	return out, nil
}

// ask has the answer in exact arithmetic or by enclosures, as far as there is one; for several trials their mean in float64.
func (t *Trials) ask(m mechanisms.Mechanism, q Question, out *Rating) error {
	var losses Losses
	for i := range t.Scores {
		a, err := mechanisms.Ask(m, t.Instance(i, q.Epsilon, q.Params))
		if err != nil {
			return err
		}
		out.MSE, out.Error = a.MSE, a.ExpectedError
		losses.Squares, losses.Plain = append(losses.Squares, a.MSE.Float64()), append(losses.Plain, a.ExpectedError.Float64())
	}
	losses = Losses{t.fold(losses.Squares), t.fold(losses.Plain)}
	out.Errors, out.squares = losses.Errors(), losses.Squares
	if len(t.Scores) > 1 {
		out.MSE, out.Error = number.Estimate(out.Errors.MSE, method), number.Estimate(out.Errors.Error, method)
	}
	return nil
}

// Advice is what the ratings of one ε say to someone who has to choose a mechanism, by mean squared error.
type Advice struct {
	Best    string             // of those that claim ε-DP; "" where there is none
	MSE     float64            // of the best
	AsGood  []string           // whose difference to the best is no more than two of its standard errors, or 1e-9 of it
	Factors map[string]float64 // each mechanism's error over that of the best
}

// Advise compares ratings on the same trials. Differences are taken trial by trial, so that what all mechanisms lose or win in a trial does not count.
func Advise(ratings []Rating) (out Advice) {
	var best *Rating
	for i, r := range ratings {
		if r.Private && (best == nil || r.Errors.MSE < best.Errors.MSE) {
			best = &ratings[i]
		}
	}
	if best == nil {
		return out
	}
	out = Advice{Best: best.Mechanism, MSE: best.Errors.MSE, Factors: map[string]float64{}}
	for _, r := range ratings {
		out.Factors[r.Mechanism] = factor(r.Errors.MSE, out.MSE)
		if !r.Private || r.Mechanism == best.Mechanism {
			continue
		}
		var differences []float64
		for i, x := range r.squares {
			differences = append(differences, x-best.squares[i])
		}
		if mean, stdErr := Mean(differences); mean <= max(2*stdErr, 1e-9*out.MSE) {
			out.AsGood = append(out.AsGood, r.Mechanism)
		}
	}
	slices.Sort(out.AsGood)
	return out
}

// factor returns x/best, 1 where both are 0.
func factor(x, best float64) float64 {
	switch {
	case x == best:
		return 1
	case best == 0:
		return math.Inf(1)
	}
	return x / best
}
