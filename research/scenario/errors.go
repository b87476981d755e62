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

	"optratio/mechanisms"
	"optratio/number"
)

// Few returns at most so many of the trials, evenly spread over their order, with the sensitivities that all of them gave. Where trials are of two
// kinds and most is even, there are as many of either.
func (t *Trials) Few(most int) *Trials {
	n := len(t.Scores)
	if most >= n {
		return t
	}
	out := &Trials{Sensitivities: t.Sensitivities, halves: t.halves}
	for i := range most {
		out.Scores = append(out.Scores, t.Scores[i*n/most])
	}
	return out
}

// Instance returns a trial as a question in exact numbers: every float64 stands for the shortest decimal that denotes it, 1.8 for 9/5.
func (t *Trials) Instance(trial int, epsilon number.Epsilon) *mechanisms.Instance {
	exact := func(values []float64) (out []*big.Rat) {
		for _, x := range values {
			r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
			out = append(out, r)
		}
		return out
	}
	return &mechanisms.Instance{Scores: exact(t.Scores[trial]), Sensitivities: exact(t.Sensitivities), Epsilon: epsilon}
}

// Mean is the mean of values and its standard error, the standard deviation over √n; 0 for fewer than two values.
type Mean struct{ Value, StdErr float64 }

// MeanOf returns it, by Welford's recurrence.
func MeanOf(values []float64) (m Mean) {
	spread := 0.0 // the sum of squared deviations
	for i, x := range values {
		d := x - m.Value
		m.Value += d / float64(i+1)
		spread += d * (x - m.Value)
	}
	if n := float64(len(values)); n > 1 {
		m.StdErr = math.Sqrt(spread / (n - 1) / n)
	}
	return m
}

// Rating is what a mechanism loses on a set of trials, in the units of the scores: means over its probabilities, up to float64 rounding and quadrature, not samples.
// The standard errors are those of the trials' draw. Where trials are of two kinds, as in scenarios 7 and 8, one of either counts as one.
type Rating struct {
	Mechanism string
	Private   bool      // claims ε-DP
	MSE       Mean      // of (q* - q_M)²
	Error     Mean      // of q* - q_M
	squares   []float64 // trial by trial
}

// Rate rates a mechanism.
func (t *Trials) Rate(ctx context.Context, m mechanisms.Mechanism, epsilon float64, params mechanisms.Params) (Rating, error) {
	out := Rating{Mechanism: m.Info().Name, Private: m.Info().Private}
	var plain []float64
	for _, scores := range t.Scores {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		in, err := mechanisms.FromFloats(scores, t.Sensitivities, epsilon, params)
		if err != nil {
			return out, err
		}
		p, err := m.Float(in)
		if err != nil {
			return out, err
		}
		best, square, loss := slices.Max(scores), 0.0, 0.0
		for a, q := range scores {
			square += p[a] * (best - q) * (best - q)
			loss += p[a] * (best - q)
		}
		out.squares, plain = append(out.squares, square), append(plain, loss)
	}
	out.squares = t.fold(out.squares)
	out.MSE, out.Error = MeanOf(out.squares), MeanOf(t.fold(plain))
	return out, nil
}

// fold takes the mean of each trial of the first half with one of the second, where these are of two kinds.
func (t *Trials) fold(values []float64) []float64 {
	half := len(values) / 2
	if !t.halves || len(values)%2 != 0 {
		return values
	}
	for i := range half {
		values[i] = (values[i] + values[half+i]) / 2
	}
	return values[:half]
}

// RateAll rates mechanisms. One that has no answer is left out, and unanswered says why; a bad parameter is an error.
func (t *Trials) RateAll(ctx context.Context, list []mechanisms.Mechanism, epsilon float64, params mechanisms.Params) (ratings []Rating, unanswered []string, err error) {
	answers, failures := make([]Rating, len(list)), make([]error, len(list))
	Parallel(ctx, len(list), func(i int) { answers[i], failures[i] = t.Rate(ctx, list[i], epsilon, params) })
	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	for i, a := range answers {
		switch err := failures[i]; {
		case errors.Is(err, mechanisms.ErrInstance):
			return nil, nil, fmt.Errorf("%s: %w", a.Mechanism, err)
		case err != nil:
			unanswered = append(unanswered, a.Mechanism+": "+err.Error())
		default:
			ratings = append(ratings, a)
		}
	}
	return ratings, unanswered, nil
}

// Parallel calls f for 0, …, n-1, as many at a time as there are processors, until ctx ends.
func Parallel(ctx context.Context, n int, f func(i int)) {
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := 0; i < n && ctx.Err() == nil; i++ {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	wait.Wait()
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
		if r.Private && (best == nil || r.MSE.Value < best.MSE.Value) {
			best = &ratings[i]
		}
	}
	if best == nil {
		return out
	}
	out = Advice{Best: best.Mechanism, MSE: best.MSE.Value, Factors: map[string]float64{}}
	for _, r := range ratings {
		if out.Factors[r.Mechanism] = r.MSE.Value / out.MSE; r.MSE.Value == out.MSE {
			out.Factors[r.Mechanism] = 1 // 0/0 among them
		}
		if !r.Private || r.Mechanism == best.Mechanism {
			continue
		}
		var differences []float64
		for i, x := range r.squares {
			differences = append(differences, x-best.squares[i])
		}
		if d := MeanOf(differences); d.Value <= max(2*d.StdErr, 1e-9*out.MSE) {
			out.AsGood = append(out.AsGood, r.Mechanism)
		}
	}
	slices.Sort(out.AsGood)
	return out
}

// Gain returns HG(m, other) = Pr[m errs] - Pr[other errs] for two candidates of scores 0 and gap > 0 and sensitivities d1 and d2: the second one is the better, and
// the gain is positive where other takes it more often (V-A of the source, figure 2). Probabilities are in float64, without proof.
func Gain(m, other mechanisms.Mechanism, d1, d2, gap, epsilon float64, params mechanisms.Params) (gain float64, err error) {
	in, err := mechanisms.FromFloats([]float64{0, gap}, []float64{d1, d2}, epsilon, params)
	if err != nil {
		return 0, err
	}
	p, err := m.Float(in)
	if err != nil {
		return 0, err
	}
	q, err := other.Float(in)
	if err != nil {
		return 0, err
	}
	return p[0] - q[0], nil
}
