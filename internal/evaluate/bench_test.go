package evaluate

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
)

// BenchmarkExpectedError is the error of the two main mechanisms on a histogram's median.
func BenchmarkExpectedError(b *testing.B) {
	eps, err := number.ParseEpsilon("0.1")
	require.NoError(b, err)
	for _, bins := range []int{100, 10_000} {
		counts := make([]int64, bins)
		for i := range counts {
			counts[i] = int64(i * i % 97)
		}
		scores, err := MedianScores(counts)
		require.NoError(b, err)
		for _, m := range []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), mechanisms.Exponential()} {
			b.Run(fmt.Sprintf("%s/bins=%d", m.Info().Name, bins), func(b *testing.B) {
				for b.Loop() {
					p, err := New(scores, big.NewRat(1, 1), false)
					require.NoError(b, err)
					_, err = p.ExpectedError(m, eps)
					require.NoError(b, err)
				}
			})
		}
	}
}
