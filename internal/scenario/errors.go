package scenario

import (
	"context"
	"fmt"
	"math"
	"slices"

	"optratio/mechanisms"
)

// Errors are means over trials, in the units of the scores, with their standard errors, which are 0 where there is one trial only.
type Errors struct {
	MSE, MSEStdErr     float64 // of (q* - q_M)²
	Error, ErrorStdErr float64 // of q* - q_M
}

// Errors returns what a mechanism loses in a trial on average. In each trial that is the mean over the mechanism's probabilities, up to float64 rounding and quadrature,
// not a sample; the standard errors are those of the trials' draw.
func (t *Trials) Errors(ctx context.Context, m mechanisms.FloatScorer, epsilon float64, params mechanisms.Params) (Errors, error) {
	var squares, plain mean
	for _, scores := range t.Scores {
		if ctx.Err() != nil {
			return Errors{}, context.Cause(ctx)
		}
		p, err := m.FloatScores(&mechanisms.FloatInstance{Scores: scores, Sensitivities: t.Sensitivities, Epsilon: epsilon, Params: params})
		if err != nil {
			return Errors{}, fmt.Errorf("%s: %w", m.Info().Name, err)
		}
		best := slices.Max(scores)
		square, loss := 0.0, 0.0
		for a, q := range scores {
			square += p[a] * (best - q) * (best - q)
			loss += p[a] * (best - q)
		}
		squares.add(square)
		plain.add(loss)
	}
	return Errors{MSE: squares.mean, MSEStdErr: squares.stdErr(), Error: plain.mean, ErrorStdErr: plain.stdErr()}, nil
}

// mean is a running mean with the sum of squared deviations from it (Welford's recurrence).
type mean struct {
	n            int
	mean, spread float64
}

func (m *mean) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.spread += d * (x - m.mean)
}

// stdErr returns the standard error of the mean; 0 for fewer than two values.
func (m *mean) stdErr() float64 {
	if m.n < 2 {
		return 0
	}
	return math.Sqrt(m.spread / float64(m.n-1) / float64(m.n))
}
