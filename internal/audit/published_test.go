package audit

import (
	"context"
	"math/big"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/decimal"
	"optratio/internal/slowtest"
	"optratio/verify"
)

// printed is a text with the digits that the command prints.
func printed(text string) string { return decimal.Shorten(text, 6) }

// docs/explanation/gallery.md shows bugs of published implementations. Each has a subject of the same mathematical behaviour in testdata/gallery; the audit
// finds what the page says it finds.
func TestPublishedBugs(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	gallery := buildGallery(t)
	text, err := os.ReadFile("../../docs/explanation/gallery.md")
	require.NoError(t, err)
	page := string(text)
	// e^(1420/2) overflows, e^(1419/2) does not
	large := [2][]*big.Rat{{big.NewRat(1419, 1), big.NewRat(1420, 1)}, {big.NewRat(1420, 1), big.NewRat(1419, 1)}}
	for _, c := range []struct {
		name     string
		n, k     int
		pairs    [][2][]*big.Rat
		attained bool // the page shows where
	}{
		{"mwem-retries", 3, 10, nil, false},
		{"half-sensitivity", 3, 2, nil, false},
		{"laplace-half-noise", 2, 2, nil, false},
		{"overflow-search", 2, 2, [][2][]*big.Rat{large}, true},
		{"overflow-uniform", 2, 2, [][2][]*big.Rat{large}, false},
		{"cumulative", 3, 2, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := pmfOf(context.Background(), gallery+" "+c.name, Options{
				N: c.n, K: c.k, Domain: "lattice", Pairs: c.pairs, Epsilon: epsilon(t, "1"), Sensitivity: big.NewRat(1, 1),
				Seed: 1, Precision: big.NewRat(1, 1e9), program: Program{Timeout: 5 * time.Minute}, Properties: []verify.Property{verify.DP},
			})
			require.NoError(t, err)
			dp := r.Find(verify.DP)
			require.Equal(t, verify.Violated, dp.Verdict)
			assert.Contains(t, page, "gallery "+c.name+"'")
			if c.pairs == nil { // of the given pair itself, the page shows how the tight ε is attained
				assert.Contains(t, page, "dp fails: "+printed(dp.Witness.String())+"\n")
			}
			assert.Contains(t, page, "tight ε "+printed(r.TightEps.String())+"; claimed: 1\n")
			if c.attained {
				assert.Contains(t, page, "the tight ε is attained at "+printed(dp.Attained.String())+"\n")
			}
		})
	}
	for name, o := range map[string]Options{"value-laplace": {N: 5, K: 1, Outcomes: Real}, "value-exponential": {N: 5, K: 1, Outcomes: Real}, "seeded": {N: 3, K: 2, Outcomes: Index}} {
		t.Run(name, func(t *testing.T) {
			r, err := samplesOf(context.Background(), gallery+" "+name, Options{
				N: o.N, K: o.K, Outcomes: o.Outcomes, Domain: "lattice", Epsilon: epsilon(t, "1"), Sensitivity: big.NewRat(1, 1), Seed: 1,
				Budget: 1_000_000, Confidence: big.NewRat(95, 100), UntilRefuted: true, program: Program{Timeout: 5 * time.Minute},
			})
			require.NoError(t, err)
			require.Equal(t, verify.Violated, r.Find(verify.DP).Verdict)
			assert.GreaterOrEqual(t, r.LowerBound.Float64(), 1.0)
			assert.Contains(t, page, "gallery "+name+"'")
		})
	}
}
