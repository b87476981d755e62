package lp

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/number"
)

// TestRepairedPointsAreFeasible: near an optimal point with noise in every probability, the repaired one satisfies all rows but for rounding, in exact
// arithmetic, and costs no more than the noise.
func TestRepairedPointsAreFeasible(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	for _, c := range []struct {
		n, k int
		exp  string
	}{{2, 3, "3/2"}, {3, 1, "11/10"}, {3, 3, "3/2"}, {4, 4, "5/4"}, {5, 3, "101/100"}, {3, 7, "8/7"}} {
		eps, err := number.ParseExp(c.exp)
		require.NoError(t, err)
		p, err := programOf(context.Background(), c.n, c.k, Prior{}, Paper, eps)
		require.NoError(t, err)
		s, err := p.solve(context.Background(), effort{solver: linear.Embedded{}, gap: new(big.Rat)})
		require.NoError(t, err)
		z, _ := eps.Z()
		best := point(p, exactNumbers{}, z, s.proposal.Injection)
		for _, noise := range []float64{0, 1e-12, 1e-6, 1e-3} {
			x := make([]float64, p.variables())
			for j := range x {
				x[j], _ = new(big.Rat).Quo(best[j], new(big.Rat).SetInt(p.chainWeight(int32(j)))).Float64()
				x[j] *= 1 + noise*(2*rng.Float64()-1)
			}
			u := point(p, exactNumbers{}, z, p.repaired(x))
			least := big.NewRat(-1, 1<<60)
			require.True(t, p.strict(func(c cut) bool {
				return slackOf(p, exactNumbers{}, z, u, c).Cmp(least) >= 0
			}), "%v, noise %g", c, noise)
			value := objective(p, exactNumbers{}, u)
			off, _ := value.Quo(value, s.upper).Float64()
			assert.LessOrEqual(t, math.Abs(off-1), 3*float64(c.n*c.k)*noise+1e-12, "%v, noise %g", c, noise)
			assert.GreaterOrEqual(t, off, 1-1e-15)
		}
	}
}

// TestRepairedPointsOfAnything: numbers that are no probabilities give injections, which bound the optimum or do not.
func TestRepairedPointsOfAnything(t *testing.T) {
	eps, err := number.ParseEpsilon("0.5")
	require.NoError(t, err)
	p, err := programOf(context.Background(), 4, 4, Prior{}, Paper, eps)
	require.NoError(t, err)
	for name, v := range map[string]float64{"zero": 0, "nothing": math.NaN(), "endless": math.Inf(1), "below": -1, "large": 1e300, "half": 0.5} {
		x := make([]float64, p.variables())
		for j := range x {
			x[j] = v
		}
		prop := p.emptyProposal()
		prop.Dual = p.closedProposal().Dual
		prop.Injection = p.repaired(x)
		if b := p.enclose(prop, floatPrecision); b.upper != nil {
			assert.GreaterOrEqual(t, b.upper.Cmp(b.lower), 0, name)
		}
	}
}
