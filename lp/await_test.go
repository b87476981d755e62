package lp

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
)

// broken is a mechanism that panics.
type broken struct{ mechanisms.Mechanism }

func (broken) Exact(*mechanisms.Instance) ([]*big.Rat, error) { panic("broken") }

// A mechanism's panic reaches the goroutine that asked for ratios, where it can be recovered.
func TestPanicsReachTheCaller(t *testing.T) {
	uniform, err := mechanisms.Lookup("uniform")
	require.NoError(t, err)
	assert.PanicsWithValue(t, "broken", func() {
		_, _ = Ratio(context.Background(), Request{N: 2, K: 1, Epsilon: decimalEps(t, "0.5"), Mechanisms: []mechanisms.Mechanism{broken{uniform}}})
	})
}
