package mechanisms

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// countdown is a context that ends when it has been asked so many times.
type countdown struct {
	context.Context
	left, asked int
}

func (c *countdown) Err() error {
	if c.asked++; c.asked > c.left {
		return context.Canceled
	}
	return nil
}

// Quadrature asks its context again and again, and ends with it: what is left to do after that is little.
func TestQuadratureEndsWithItsContext(t *testing.T) {
	in := &Instance{Sensitivities: ratsOf(t, "1"), Epsilon: decimalEps(t, "1")}
	for i := range 500 {
		in.Scores = append(in.Scores, big.NewRat(int64(i*i%499), 7))
	}
	for _, name := range []string{"rnm-laplace", "rnmh", "rnmh-laplace", "rs", "rs-log", "rs-tnb"} {
		free := &countdown{Context: t.Context(), left: 1 << 30}
		e, err := Within(free, registry[name]).(estimator).estimate(in)
		require.NoError(t, err, name)
		plain, err := registry[name].(estimator).estimate(in)
		require.NoError(t, err)
		assert.Equal(t, plain, e, "a context that does not end changes nothing")
		assert.Greater(t, free.asked, 250, name)
		short := &countdown{Context: t.Context(), left: free.asked / 4}
		_, err = Within(short, registry[name]).(estimator).estimate(in)
		assert.Error(t, err, name)
		assert.Less(t, short.asked, free.asked/2, name)
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(assert.AnError)
		_, err = Ask(Within(ended, registry[name]), in)
		assert.ErrorIs(t, err, assert.AnError, name)
	}
}
