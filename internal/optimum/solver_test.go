package optimum

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
)

// doctored are the problems that doctored solvers are given.
func doctored(t testing.TB) []*Problem {
	mean := with(t, preset(t, "count:4"), "square", rats(t, "1/2", "1/8", "1/8", "1/8", "1/8"))
	return []*Problem{mean, with(t, mean, "", nil), preset(t, "selection:3,2")}
}

// Whatever a solver proposes when it stops, the bounds hold and the table satisfies every row.
func TestDoctoredProposalsNeverCutOffTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	strange := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e300, 1e300, 5e-324, -1, 0}
	for i, p := range doctored(t) {
		r := Request{Problem: p, Epsilon: exp(t, "2")}
		truth := dense(t, p, big.NewRat(2, 1), new(big.Rat))
		near, honest := 0, &recorder{}
		r.solver = honest
		_, err := Solve(context.Background(), r)
		require.NoError(t, err)
		for round := range 100 {
			scale := math.Pow(10, -float64(rng.IntN(12)))
			replay := &recorder{last: honest.last, rounds: honest.rounds, distort: func(v []float64) {
				for i := range v {
					v[i] += scale * rng.NormFloat64()
				}
				if round%3 == 0 {
					v[rng.IntN(len(v))] = strange[rng.IntN(len(strange))]
				}
			}}
			r.solver = replay
			a, err := Solve(context.Background(), r)
			require.NoError(t, err)
			lower, _ := a.Optimum.Lower()
			upper, _ := a.Optimum.Upper()
			require.GreaterOrEqual(t, upper.Cmp(truth), 0)
			require.LessOrEqual(t, lower.Cmp(truth), 0, "scale %g", scale)
			require.NotEmpty(t, a.Undecided)
			width, _ := new(big.Rat).Sub(upper, lower).Float64()
			if width < 1e-5 {
				near++
			}
			if round%10 == 0 {
				checked(t, a)
			}
		}
		assert.Greater(t, near, 7, "%d: good proposals give close bounds", i)
	}
}

// recorder is the embedded solver until it is told to distort; then it stops at a doctored copy of the last solution in the last round.
type recorder struct {
	last    *linear.Result
	rounds  int
	distort func(v []float64)
}

func (*recorder) Name() string { return "recorder" }

func (s *recorder) Solve(ctx context.Context, m *linear.Model, o linear.Options) (*linear.Result, error) {
	r, err := linear.Embedded{}.Solve(ctx, m, o)
	if s.distort == nil {
		s.last, s.rounds = r, s.rounds+1
		return r, err
	}
	if s.rounds--; err != nil || s.rounds > 0 {
		return r, err
	}
	r.Outcome, r.Basis = linear.Stopped, nil
	r.X, r.Duals = slices.Clone(s.last.X), slices.Clone(s.last.Duals)
	s.distort(r.X)
	s.distort(r.Duals)
	return r, nil
}

// liar is a solver that says optimal of anything, unless told otherwise.
type liar struct{ distort func(r *linear.Result) }

func (liar) Name() string { return "liar" }

func (l liar) Solve(ctx context.Context, m *linear.Model, o linear.Options) (*linear.Result, error) {
	r, err := linear.Embedded{}.Solve(ctx, m, o)
	if err == nil {
		r.Outcome = linear.Optimal
		l.distort(r)
	}
	return r, err
}

func TestLyingSolversAreFoundOut(t *testing.T) {
	for name, distort := range map[string]func(*linear.Result){
		"half the errors": func(r *linear.Result) {
			for i := range r.Duals {
				r.Duals[i] *= 2
			}
		},
		"zeros":    func(r *linear.Result) { clear(r.X); clear(r.Duals) },
		"gives up": func(r *linear.Result) { r.Outcome = linear.Failed },
		"no bound": func(r *linear.Result) { r.Outcome = linear.Unbounded },
		"slack basis": func(r *linear.Result) {
			for i := range r.Basis.Col {
				r.Basis.Col[i] = linear.AtLower
			}
			for i := range r.Basis.Row {
				r.Basis.Row[i] = linear.Basic
			}
		},
	} {
		for _, eps := range []string{"2", "17/10"} {
			r := Request{Problem: doctored(t)[0], Epsilon: exp(t, eps)}
			truth := dense(t, r.Problem, rat(t, eps), new(big.Rat))
			r.solver = liar{distort}
			a, err := Solve(context.Background(), r)
			require.NoError(t, err, name)
			lower, _ := a.Optimum.Lower()
			upper, _ := a.Optimum.Upper()
			assert.LessOrEqual(t, lower.Cmp(truth), 0, name)
			assert.GreaterOrEqual(t, upper.Cmp(truth), 0, name)
			if lower.Cmp(upper) != 0 {
				assert.NotEmpty(t, a.Undecided, name)
			}
		}
	}
}

// stuck is a solver that begins and does not end by itself.
type stuck struct{ begin func() }

func (stuck) Name() string { return "stuck" }

func (s stuck) Solve(context.Context, *linear.Model, linear.Options) (*linear.Result, error) {
	s.begin()
	return nil, errors.New("the test is over")
}

// A solver that does not look at the limits is left behind: what is asked about is counted all the same.
func TestStuckSolver(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	over := make(chan struct{})
	defer close(over)
	solver := stuck{func() { cancel(errors.New("enough")); <-over }}
	a, err := Solve(ctx, Request{Problem: doctored(t)[0], Epsilon: exp(t, "2"), solver: solver})
	require.NoError(t, err)
	assert.Equal(t, "enough", a.Undecided)
	assert.Positive(t, a.Pairs)
	assert.Nil(t, a.Table())
}
