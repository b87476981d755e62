package certificate

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/internal/evidence"
)

// V does not increase, so a bound that rises is no more than the one before: chords between bounds are not negative, which their roundings rely on.
func TestBoundsThatRise(t *testing.T) {
	cost := evidence.NewEffort(evidence.Options{Context: context.Background(), MaxMemory: 1 << 30, MaxSteps: 1 << 40})
	k, grid := &kind{name: "em", eps: big.NewRat(1, 1), outputs: 2}, big.NewRat(1, 4)
	k.prepare()
	k.divide(grid, cost)
	n := newNodes(grid, []composedStep{{k, k, 1}}, cost)
	n.advance(k, []float64{1, 0.5, 0.9, 0.25, 0.3}, k.eps, 1, cost)
	n.surround(3)
	assert.Equal(t, []float64{0.5, 0.5, 0.25, 0.25}, n.around[n.pad+1:n.pad+5])
	for _, x := range append(n.chordP, n.chordQ...) {
		assert.GreaterOrEqual(t, x, 0.0)
	}
}
