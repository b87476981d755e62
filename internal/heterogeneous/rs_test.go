package heterogeneous

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// The estimates of random stopping in the docs against its enclosures, which are slow; they also prove it ε-DP on every grid there.
func TestRandomStoppingRigorously(t *testing.T) {
	slowtest.Only(t)
	for i, c := range cases {
		for _, e := range []string{"5/4", "2", "4"} {
			a := solveWith(t, Request{Grid: docGrid(i, true), Epsilon: exp(t, e)}, "rs", "≈rs")
			assert.Equal(t, verify.Proved, a.Mechanisms[0].DP, "Δ = %s", c.sensitivities)
			assert.True(t, a.Mechanisms[0].Ratio.IsRigorous())
			assert.InEpsilon(t, a.Mechanisms[0].Ratio.Float64(), a.Mechanisms[1].Ratio.Float64(), 1e-8)
			exact := strings.TrimSuffix(a.Mechanisms[0].Ratio.Format(4), "…")
			assert.Contains(t, a.Mechanisms[1].Ratio.Format(5), exact)
		}
	}
}

// counted counts how often a mechanism is asked for enclosures.
type counted struct {
	mechanisms.Mechanism
	asked *int
}

func (c counted) Enclose(in *mechanisms.Instance, prec uint) ([]number.Interval, error) {
	*c.asked++
	return c.Mechanism.Enclose(in, prec)
}

// Random stopping takes a second for some hundred vectors: its losses are summed from what was asked of it at first.
func TestLossesAskForNothingNew(t *testing.T) {
	g := grid(3, false, "1", "2")
	p, levels, err := g.problem(false, false)
	require.NoError(t, err)
	asked := 0
	space := &inquiry.Space{Unit: g.Step, Gap: 1, Sensitivities: g.Sensitivities, Epsilon: exp(t, "2")}
	answers, err := ask(t.Context(), inquiry.ForMechanism(counted{lookup(t, "rs"), &asked}, space), levels)
	require.NoError(t, err)
	before := asked
	loss := loss(answers, p)
	sign, _ := loss.Cmp(number.Int(0))
	assert.Equal(t, 1, sign)
	assert.True(t, loss.Within(big.NewRat(1, 1e15)))
	assert.Positive(t, before)
	assert.Equal(t, before, asked)
}
