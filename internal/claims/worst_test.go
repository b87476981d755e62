package claims

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The enclosed peaks hold what a plain search in float64 finds, and the exponential mechanism's is Lambert's W((n-1)/e).
func TestPeaks(t *testing.T) {
	for _, n := range []int{2, 3, 10, 1000, 1000000} {
		exp, flip := peaks(context.Background(), n)
		var best [2]float64
		for s := 0.0; s < 40; s += 1e-3 {
			p, m := math.Exp(-s), float64(n)
			best[0] = max(best[0], s*(m-1)*p/(1+(m-1)*p))
			best[1] = max(best[1], s*(1+math.Expm1(m*math.Log1p(-p))/(m*p)))
		}
		for i, x := range []peak{exp, flip} {
			low, high := x.value.Float64()
			assert.InEpsilon(t, best[i], low, 1e-5, "n = %d", n)
			assert.Less(t, (high-low)/low, 2e-7)
			assert.LessOrEqual(t, best[i], high)
		}
		w := exp.value.Near()
		assert.InEpsilon(t, float64(n-1)/math.E, w*math.Exp(w), 1e-5)
	}
}
