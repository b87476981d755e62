package heterogeneous

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
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// private requires that rows are probabilities and satisfy every row of the grid at z, by the relation itself.
func private(t *testing.T, g *Grid, rows []Row, z, tick *big.Rat) {
	for _, p := range rows {
		sum := new(big.Rat)
		for _, x := range p.PMF {
			require.GreaterOrEqual(t, x.Sign(), 0)
			sum.Add(sum, x)
		}
		require.Zero(t, sum.Cmp(big.NewRat(1, 1)))
		for _, q := range rows {
			if !neighbors(g, p.Scores, q.Scores, tick) {
				continue
			}
			for r, x := range p.PMF {
				least := new(big.Rat).Mul(z, x)
				require.GreaterOrEqual(t, q.PMF[r].Cmp(least), 0, "%v %v candidate %d", p.Scores, q.Scores, r)
			}
		}
	}
}

func TestMechanismAttainsTheOptimum(t *testing.T) {
	for _, r := range []Request{
		{Grid: grid(4, false, "1", "2"), Epsilon: exp(t, "2")},
		{Grid: grid(4, true, "1", "2"), Epsilon: exp(t, "2"), Loss: Squared},
		{Grid: grid(3, false, "1", "2"), Epsilon: exp(t, "3/2"), Criterion: Worst},
		{Grid: grid(2, true, "1/2", "1", "1/2"), Epsilon: exp(t, "2")},
	} {
		r.Solver = linear.Embedded{}
		a, err := Solve(context.Background(), r)
		require.NoError(t, err)
		rows := a.Mechanism()
		z, _ := r.Epsilon.Z()
		private(t, &r.Grid, rows, z, rat("1/2"))
		sum, most, weights := new(big.Rat), new(big.Rat), new(big.Rat)
		for _, row := range rows {
			in := mechanisms.Instance{Scores: row.Scores}
			at, weight := new(big.Rat), big.NewRat(1, 1)
			if r.Grid.ShiftInvariant { // the shifts within the grid
				weight.SetInt64(int64(1 + r.Grid.Steps))
				weight.Sub(weight, in.Best())
			}
			for c, x := range row.PMF {
				loss := new(big.Rat).Sub(in.Best(), row.Scores[c])
				if r.Loss == Squared {
					loss.Mul(loss, loss)
				}
				at.Add(at, loss.Mul(loss, x))
			}
			if at.Cmp(most) > 0 {
				most.Set(at)
			}
			sum.Add(sum, at.Mul(at, weight))
			weights.Add(weights, weight)
		}
		if r.Criterion == Mean {
			most.Quo(sum, weights)
		}
		want, ok := a.Optimum.Rat()
		require.True(t, ok)
		assert.Zero(t, most.Cmp(want), "got %s, want %s", most.RatString(), want.RatString())
	}
}

// Whatever a solver proposes when it stops, the bounds hold and the table satisfies every row.
func TestDoctoredProposalsNeverCutOffTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	strange := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e300, 1e300, 5e-324, -1, 0}
	for _, r := range []Request{
		{Grid: grid(3, false, "1", "2")}, {Grid: grid(3, false, "1", "2"), Criterion: Worst}, {Grid: grid(2, true, "1/2", "1/2", "1")},
	} {
		r.Epsilon = exp(t, "2")
		truth := optimum(t, r)
		near, honest := 0, &recorder{}
		r.Solver = honest
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
			r.Solver = replay
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
				private(t, &r.Grid, a.Mechanism(), rat("1/2"), rat("1/2"))
			}
		}
		assert.Greater(t, near, 7, "good proposals give close bounds")
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
			r := Request{Grid: grid(3, false, "1", "2"), Epsilon: exp(t, eps)}
			truth := optimum(t, r)
			r.Solver = liar{distort}
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

// The optimum falls as ε grows; the enclosure at an ε with irrational e^ε lies between exact neighbors, and is as narrow as asked.
func TestIrrationalExpIsEnclosed(t *testing.T) {
	half, err := number.ParseEpsilon("0.5")
	require.NoError(t, err)
	for _, g := range []Grid{grid(4, false, "1", "2"), grid(2, true, "1/2", "1", "1")} {
		for _, criterion := range []Criterion{Mean, Worst} {
			high := optimum(t, Request{Grid: g, Epsilon: exp(t, "164872127/100000000"), Criterion: criterion})
			low := optimum(t, Request{Grid: g, Epsilon: exp(t, "164872128/100000000"), Criterion: criterion})
			for _, gap := range []string{"1e-9", "1e-40"} {
				r := Request{Grid: g, Epsilon: half, Criterion: criterion, Solver: linear.Embedded{}, Gap: rat(gap)}
				a, err := Solve(context.Background(), r)
				require.NoError(t, err)
				require.Empty(t, a.Undecided)
				lower, _ := a.Optimum.Lower()
				upper, _ := a.Optimum.Upper()
				assert.Negative(t, lower.Cmp(high))
				assert.Positive(t, upper.Cmp(low))
				width := new(big.Rat).Sub(upper, lower)
				assert.Positive(t, width.Sign())
				assert.LessOrEqual(t, width.Cmp(new(big.Rat).Mul(rat(gap), upper)), 0)
			}
		}
	}
}

func TestStoppedWorkIsCertifiedAllTheSame(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	r := Request{Grid: grid(3, false, "1", "2"), Epsilon: exp(t, "2")}
	truth := optimum(t, r)
	r.Solver = linear.Embedded{}
	a, err := Solve(ctx, r)
	require.NoError(t, err)
	assert.Equal(t, "enough", a.Undecided)
	lower, _ := a.Optimum.Lower()
	upper, _ := a.Optimum.Upper()
	assert.LessOrEqual(t, lower.Cmp(truth), 0)
	assert.GreaterOrEqual(t, upper.Cmp(truth), 0)
}

// stuck is a solver that begins and does not end by itself.
type stuck struct{ begin func() }

func (stuck) Name() string { return "stuck" }

func (s stuck) Solve(context.Context, *linear.Model, linear.Options) (*linear.Result, error) {
	s.begin()
	return nil, errors.New("the test is over")
}

// A solver that does not look at the limits is left behind: what is asked about is counted all the same, and each mechanism has its row.
func TestStuckSolver(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	over := make(chan struct{})
	defer close(over)
	solver := stuck{func() { cancel(errors.New("enough")); <-over }}
	r := Request{Grid: grid(3, false, "1", "2"), Epsilon: exp(t, "2"), Solver: solver, Mechanisms: []mechanisms.Mechanism{lookup(t, "krr")}}
	a, err := Solve(ctx, r)
	require.NoError(t, err)
	assert.Equal(t, "enough", a.Undecided)
	assert.Equal(t, [2]int{16, 32}, [2]int{a.Vectors, a.Variables})
	assert.Positive(t, a.Neighbors)
	require.Len(t, a.Mechanisms, 1)
	assert.Equal(t, verify.Undecided, a.Mechanisms[0].DP)
}

// One mechanism that fails does not take the others' rows with it, and says why it has none.
func TestOneMechanismFails(t *testing.T) {
	broken := mechanisms.FromRational(mechanisms.Info{Name: "broken"}, func(*mechanisms.Instance) ([]*big.Rat, error) { return nil, errors.New("overflow") })
	r := Request{Grid: grid(2, false, "1", "2"), Epsilon: exp(t, "2"), Mechanisms: []mechanisms.Mechanism{broken, lookup(t, "krr")}}
	a, err := Solve(t.Context(), r)
	require.NoError(t, err)
	assert.Contains(t, a.Undecided, "broken: ")
	assert.Contains(t, a.Undecided, "overflow")
	require.Len(t, a.Mechanisms, 2)
	assert.Equal(t, verify.Undecided, a.Mechanisms[0].DP)
	assert.Equal(t, verify.Proved, a.Mechanisms[1].DP)
}

// Where e^{-ε} is too small to be written as a rational, bounds are from its ends 0 and 2^-40000.
func TestHugeEpsilonIsEnclosed(t *testing.T) {
	for _, text := range []string{"1e10", "1e300"} {
		eps, err := number.ParseEpsilon(text)
		require.NoError(t, err)
		r := Request{Grid: grid(2, false, "1", "1"), Epsilon: eps, Solver: linear.Embedded{}}
		for _, name := range []string{"pf-pair", "krr", "rnm-laplace"} {
			r.Mechanisms = append(r.Mechanisms, lookup(t, name))
		}
		a, err := Solve(context.Background(), r)
		require.NoError(t, err)
		assert.Contains(t, a.Undecided, "gap")
		high, ok := a.Optimum.Upper()
		require.True(t, ok)
		assert.Negative(t, high.Cmp(rat("1/1000000000")))
		for _, m := range a.Mechanisms {
			assert.Equal(t, verify.Proved, m.DP, m.Name)
			low, ok := m.TightEps.Lower()
			assert.True(t, ok && low.Sign() >= 0, m.Name)
			high, ok := m.TightEps.Upper()
			assert.True(t, ok && high.Cmp(eps.Eps()) <= 0, "%s: no more than what was proved, but %s", m.Name, m.TightEps)
		}
	}
}

func TestBadGridsAreRefused(t *testing.T) {
	ok := grid(3, false, "1", "2")
	require.NoError(t, ok.Check())
	for name, change := range map[string]func(*Grid){
		"no candidates":   func(g *Grid) { g.Sensitivities = nil },
		"nine candidates": func(g *Grid) { g.Sensitivities = rats("1", "1", "1", "1", "1", "1", "1", "1", "1") },
		"negative":        func(g *Grid) { g.Sensitivities = rats("1", "-1") },
		"all public":      func(g *Grid) { g.Sensitivities = rats("0", "0") },
		"no step":         func(g *Grid) { g.Step = new(big.Rat) },
		"no from":         func(g *Grid) { g.From = nil },
		"no steps":        func(g *Grid) { g.Steps = 0 },
		"too many":        func(g *Grid) { g.Steps = 64 },
		"far too many":    func(g *Grid) { g.Steps = 1 << 40 },
		"too many shifts": func(g *Grid) { g.Steps, g.ShiftInvariant = 3000, true },
	} {
		g := ok
		change(&g)
		_, err := Solve(context.Background(), Request{Grid: g, Epsilon: exp(t, "2"), Solver: linear.Embedded{}})
		assert.ErrorIs(t, err, ErrGrid, name)
	}
}

// unclaimed is a mechanism without its claim of privacy.
type unclaimed struct{ mechanisms.Mechanism }

func (u unclaimed) Info() mechanisms.Info {
	info := u.Mechanism.Info()
	info.Private = false
	return info
}

// What errs least is not recommended where it is not ε-DP on the grid, or does not claim to be ε-DP elsewhere.
func TestRecommendedIsPrivate(t *testing.T) {
	g := grid(4, true, "1", "2")
	r := Request{Grid: g, Epsilon: exp(t, "2"), Mechanisms: []mechanisms.Mechanism{unclaimed{lookup(t, "geo-pair")}}}
	a := solveWith(t, r, "2×geo-pair", "uniform", "pf-pair:1")
	assert.Equal(t, "uniform", a.Recommended)
}
