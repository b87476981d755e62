package verify

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
)

func problem(t *testing.T, name, eps string) Problem {
	t.Helper()
	m, err := mechanisms.Lookup(name)
	require.NoError(t, err)
	return Problem{Mechanism: m, Epsilon: parse(t, eps), Sensitivities: []*big.Rat{big.NewRat(1, 1)}}
}

// parse reads "3/2" as e^ε and "0.5" as ε.
func parse(t *testing.T, s string) mechanisms.Epsilon {
	t.Helper()
	if e, err := mechanisms.ParseExp(s); err == nil {
		return e
	}
	e, err := mechanisms.ParseEpsilon(s)
	require.NoError(t, err)
	return e
}

func check(t *testing.T, p Problem, n, k int, properties ...Property) *Report {
	t.Helper()
	report, err := Lattice(context.Background(), p, n, k, Options{Properties: properties})
	require.NoError(t, err)
	return report
}

func TestPermuteAndFlipIsPrivateAndRegularAndDominates(t *testing.T) {
	for _, c := range []struct {
		eps  string
		n, k int
	}{{"3/2", 4, 3}, {"0.5", 4, 3}, {"3/2", 1, 2}, {"0", 3, 2}, {"5", 2, 4}} {
		report := check(t, problem(t, "pf", c.eps), c.n, c.k)
		for _, r := range report.Properties {
			require.Equal(t, Proved, r.Verdict, "%v: %s: %s %v", c, r.Name, r.Reason, r.Witness)
			require.Positive(t, r.Checked+int64(2-c.n), "%v: %s", c, r.Name)
		}
	}
	dp := check(t, problem(t, "pf", "3/2"), 4, 3).Find(DP)
	require.Equal(t, "3/2", dp.TightExpEps.RatString())
	dp = check(t, problem(t, "pf", "0.5"), 4, 3).Find(DP)
	require.Nil(t, dp.TightExpEps)
	eps, ok := dp.TightEps.Rat()
	require.True(t, ok)
	require.Equal(t, "1/2", eps.RatString())
}
