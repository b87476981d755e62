package heterogeneous

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/number"
)

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
