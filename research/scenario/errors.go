package scenario

import (
	"context"
	"math"
	"slices"

	"optratio/mechanisms"
)

// Losses are what a mechanism loses in each trial, in the units of the scores: means over the mechanism's probabilities, up to float64
// rounding and quadrature, not samples. Where trials are of two kinds, as in scenarios 7 and 8, an entry is the mean of one trial of each, so that entries
// are alike in law and the standard error of their mean is that of the trials' draw.
type Losses struct {
	Squares []float64 // E[(q* - q_M)²]
	Plain   []float64 // E[q* - q_M]
}

// Losses rates a mechanism on every trial.
func (t *Trials) Losses(ctx context.Context, m mechanisms.Mechanism, epsilon float64, params mechanisms.Params) (Losses, error) {
	var out Losses
	for _, scores := range t.Scores {
		if ctx.Err() != nil {
			return Losses{}, context.Cause(ctx)
		}
		in, err := mechanisms.FromFloats(scores, t.Sensitivities, epsilon, params)
		if err != nil {
			return Losses{}, err
		}
		p, err := m.Float(in)
		if err != nil {
			return Losses{}, err
		}
		best := slices.Max(scores)
		square, plain := 0.0, 0.0
		for a, q := range scores {
			square += p[a] * (best - q) * (best - q)
			plain += p[a] * (best - q)
		}
		out.Squares, out.Plain = append(out.Squares, square), append(out.Plain, plain)
	}
	return Losses{t.fold(out.Squares), t.fold(out.Plain)}, nil
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

// Errors are means over trials, in the units of the scores, with their standard errors, which are 0 where there is one trial only.
type Errors struct {
	MSE, MSEStdErr     float64 // of (q* - q_M)²
	Error, ErrorStdErr float64 // of q* - q_M
}

// Errors returns what a mechanism loses in a trial on average. The standard errors are those of the trials' draw.
func (t *Trials) Errors(ctx context.Context, m mechanisms.Mechanism, epsilon float64, params mechanisms.Params) (Errors, error) {
	losses, err := t.Losses(ctx, m, epsilon, params)
	return losses.Errors(), err
}

// Errors returns the means over trials.
func (l Losses) Errors() (e Errors) {
	e.MSE, e.MSEStdErr = Mean(l.Squares)
	e.Error, e.ErrorStdErr = Mean(l.Plain)
	return e
}

// Mean returns the mean of values and its standard error, the standard deviation over √n; 0 for fewer than two values.
func Mean(values []float64) (mean, stdErr float64) {
	spread := 0.0 // the sum of squared deviations, by Welford's recurrence
	for i, x := range values {
		d := x - mean
		mean += d / float64(i+1)
		spread += d * (x - mean)
	}
	if n := float64(len(values)); n > 1 {
		stdErr = math.Sqrt(spread / (n - 1) / n)
	}
	return mean, stdErr
}
