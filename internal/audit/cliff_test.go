package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/verify"
)

// weighted is the exponential mechanism at ε = 1 without a maximum that is subtracted: e^710 overflows in double precision and e^-746 is 0, and then it
// does something else.
func weighted(otherwise law) law {
	return unlike(softmaxLaw(1, 1), otherwise, func(q []float64) bool { return slices.Max(q) >= 1420 || slices.Max(q) <= -1492 })
}

// taken gives one candidate the probability 1.
func taken(r, n int) []float64 {
	p := make([]float64, n)
	p[r] = 1
	return p
}

// unlike behaves like one law where a number is true of the scores, and like another one elsewhere.
func unlike(law, other law, is func(q []float64) bool) law {
	return func(q []float64) []float64 {
		if is(q) {
			return other(q)
		}
		return law(q)
	}
}

// Laws at ε = 1 that keep to it on every small lattice, and not where scores are far from 0 or from each other. Each is caught between two
// neighbors, of which the law itself says that they refute it.
func TestCliffsAreFound(t *testing.T) {
	em, first := softmaxLaw(1, 1), func(q []float64) []float64 { return taken(0, len(q)) }
	uniform := func(q []float64) []float64 { return slices.Repeat([]float64{1 / float64(len(q))}, len(q)) }
	best := func(q []float64) []float64 { return taken(slices.Index(q, slices.Max(q)), len(q)) }
	none := func(q []float64) []float64 { return slices.Repeat([]float64{math.NaN()}, len(q)) }
	for name, c := range map[string]struct {
		law law
		at  func(q []float64) float64 // what the change depends on
		low float64                   // and between which values it comes
	}{
		"uniform from 1420 on":      {weighted(uniform), slices.Max[[]float64], 1419},
		"the first from 1420 on":    {weighted(first), slices.Max[[]float64], 1419},
		"no number from 1420 on":    {weighted(none), slices.Max[[]float64], 1419},
		"uniform below -5000":       {unlike(em, uniform, func(q []float64) bool { return slices.Max(q) < -5000 }), slices.Max[[]float64], -5001},
		"for a while":               {unlike(em, first, func(q []float64) bool { return q[0] >= 10_000 && q[0] < 20_000 }), func(q []float64) float64 { return q[0] }, 9999},
		"the best where far ahead":  {unlike(em, best, func(q []float64) bool { return gapOf(q) >= 300 }), gapOf, 299},
		"no number where far ahead": {unlike(em, none, func(q []float64) bool { return gapOf(q) > 77 }), gapOf, 77},
		"uniform where far ahead":   {unlike(em, uniform, func(q []float64) bool { return gapOf(q) > 500 }), gapOf, 500},
	} {
		for _, monotonic := range []bool{false, true} {
			o := tableOptions(t)
			o.Properties, o.Monotonic, o.N, o.K = []verify.Property{verify.DP}, monotonic, 2, 1
			r, err := Mechanism(context.Background(), stating64(c.law), o)
			require.NoError(t, err)
			dp := r.Find(verify.DP)
			require.Equal(t, verify.Violated, dp.Verdict, "%s, %s: %v", name, inquiry.Model(monotonic), r)
			q, near := floats(dp.Witness.Scores), floats(dp.Witness.Neighbor)
			require.NotEqual(t, c.at(q) >= c.low+1, c.at(near) >= c.low+1, "%s, %s: %v", name, inquiry.Model(monotonic), dp.Witness)
			low, high := math.Inf(1), math.Inf(-1)
			for i := range q {
				low, high = min(low, near[i]-q[i]), max(high, near[i]-q[i])
			}
			require.True(t, low >= -1 && high <= 1 && (!monotonic || low >= 0 || high <= 0), "%v", dp.Witness)
			if dp.Witness.Event == "" {
				p, o := c.law(q)[*dp.Witness.Candidate], c.law(near)[*dp.Witness.Candidate]
				require.Greater(t, p, math.E*(1+1e-6)*o, "%v", dp.Witness)
			} else {
				require.True(t, math.IsNaN(c.law(q)[0]) && !math.IsNaN(c.law(near)[0]), "%v", dp.Witness)
			}
		}
	}
}

// gapOf is how far the worst score is behind the best.
func gapOf(q []float64) float64 { return slices.Max(q) - slices.Min(q) }

func floats(q []*big.Rat) []float64 {
	out := make([]float64, len(q))
	for i, x := range q {
		out[i], _ = x.Float64()
	}
	return out
}

// stating64 is a mechanism of this process that states double precision numbers; NaN is no answer.
func stating64(l law) mechanisms.Mechanism {
	return mechanisms.FromFloat(mechanisms.Exponential().Info(), 1e-9, func(scores []float64, _, _ float64) ([]float64, error) {
		p := l(scores)
		if len(p) > 0 && math.IsNaN(p[0]) {
			return nil, errors.New("not a number")
		}
		return p, nil
	})
}

// Where a mechanism does the same everywhere, as double precision has it, there are no cliffs: not where its small probabilities become 0, nor where the
// maximum is subtracted after scores were multiplied, nor where another branch computes the same.
func TestNoCliffsOfSteadyLaws(t *testing.T) {
	slowtest.Only(t)
	for _, eps := range []float64{0.01, 0.1, 1, 3, 10} {
		late := func(q []float64) []float64 {
			p, total, top := make([]float64, len(q)), 0.0, math.Inf(-1)
			for _, x := range q {
				top = max(top, eps*x/2)
			}
			for r, x := range q {
				p[r] = math.Exp(eps*x/2 - top)
				total += p[r]
			}
			for r := range p {
				p[r] /= total
			}
			return p
		}
		for name, l := range map[string]law{
			"em": softmaxLaw(eps, 1), "flip": flipLaw(eps), "late": late,
			"branch": unlike(late, softmaxLaw(eps, 1), func(q []float64) bool { return slices.Max(q) > 1419 }),
		} {
			for _, n := range []int{1, 2, 3, 5} {
				o := tableOptions(t)
				o.N, o.Epsilon = n, epsilon(t, fmt.Sprint(eps))
				require.NoError(t, o.complete())
				space := o.sideSpace()
				o.Precision = big.NewRat(1, 1e9)
				c := mechanismAsker(context.Background(), stating64(l), space, &o)
				pairs, err := o.findCliffs(n, farthest, c)
				require.NoError(t, err)
				require.Empty(t, c.findings, "%s %v", name, c.findings)
				for _, p := range pairs {
					t.Errorf("%s of %d at %g: %v and %v", name, n, eps, space.Scores(p[0]), space.Scores(p[1]))
				}
				require.Less(t, c.questions, int64(400))
			}
		}
	}
}

// Wherever a change is bisected, what is left are two neighbors.
func TestBisectionEndsAtNeighbors(t *testing.T) {
	o := tableOptions(t)
	require.NoError(t, o.complete())
	for _, at := range []int64{1, 2, 3, 1419, 4096, 1_000_003, farthest - 1} {
		for _, monotonic := range []bool{false, true} {
			o.Monotonic = monotonic
			asked := 0
			pairs, err := o.findCliffs(3, farthest, inquiry.SubjectFunc(func(q inquiry.Vector) (*inquiry.Answer, error) {
				asked++
				if slices.Max(q) >= at*whole {
					return &inquiry.Answer{Event: "error"}, nil
				}
				return &inquiry.Answer{P: slices.Repeat([]*inquiry.Value{inquiry.Rational(big.NewRat(1, 3))}, 3)}, nil
			}))
			require.NoError(t, err)
			require.Len(t, pairs, 1)
			a, b := pairs[0][0], pairs[0][1]
			require.EqualValues(t, whole, distance(a, b))
			require.True(t, slices.Max(a) == (at-1)*whole && slices.Max(b) == at*whole, "%v %v", a, b)
			require.Less(t, asked, 100)
		}
	}
}
