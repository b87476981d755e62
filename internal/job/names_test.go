package job

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNearestNames(t *testing.T) {
	names := []string{"pf", "em", "geo", "geo-pair", "rnm-laplace", "rnm-gumbel", "monotone", "lp-optimal"}
	for text, want := range map[string]string{
		"fp": "pf", "rnm-laplce": "rnm-laplace", "Monotone": "monotone", "monotonic": "monotone", "lp-optmal": "lp-optimal", "rnm-g": "rnm-gumbel",
		"geo_pair": "geo-pair", "x": "", "": "", "quicksort": "", "exponential": "", "fun": "",
	} {
		if want != "" {
			want = "; did you mean " + want + "?"
		}
		assert.Equal(t, want, DidYouMean(text, names), text)
	}
	assert.Equal(t, 1, distance([]rune("ab"), []rune("ba")))
	assert.Equal(t, 3, distance([]rune("kitten"), []rune("sitting")))
}
