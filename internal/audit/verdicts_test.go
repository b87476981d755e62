package audit

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/verify"
)

// alwaysAt is the exponential mechanism in float64, at an ε of its own whatever it is asked.
func alwaysAt(eps float64) mechanisms.Mechanism {
	return mechanisms.FromFloat(mechanisms.Info{Name: "fixed"}, 1e-9, func(scores []float64, _, _ float64) ([]float64, error) {
		p, total := make([]float64, len(scores)), 0.0
		for r, q := range scores {
			p[r] = math.Exp(eps * (q - slices.Max(scores)) / 2)
			total += p[r]
		}
		for r := range p {
			p[r] /= total
		}
		return p, nil
	})
}

// The tight ε is that of the mechanism, whatever is claimed: the side set always counts. The domain's own is beside it.
func TestTightEpsDoesNotDependOnTheClaim(t *testing.T) {
	for _, own := range []float64{0.5, 1} {
		seen := map[string]bool{}
		for _, claim := range []string{"0.01", "0.96", "1", "1.1", "30"} {
			r, err := Mechanism(context.Background(), alwaysAt(own), Options{Epsilon: epsilon(t, claim), Properties: []verify.Property{verify.DP}})
			require.NoError(t, err)
			assert.InDelta(t, own, r.TightEps.Float64(), 1e-8, "%v: %s", own, r)
			assert.Less(t, r.DomainEps.Float64(), own-0.01, "the lattice does not attain it")
			seen[fmt.Sprintln(r.TightEps, r.Domain, r.Find(verify.DP).Checked)] = true
			assert.Equal(t, epsilon(t, claim).Float() >= own, r.Find(verify.DP).Verdict == verify.Proved, "%v, claimed %s: %s", own, claim, r)
		}
		assert.Len(t, seen, 1, "%v", seen)
	}
}

// What is not asked for by name is a fact, for labels too, and a δ takes the place of dp, without any help of the caller.
func TestDefaultsOfAnAudit(t *testing.T) {
	names := func(r *Report) (asked, facts string) {
		for _, p := range r.Properties {
			if p.Fact {
				facts += " " + string(p.Name)
			} else {
				asked += " " + string(p.Name)
			}
		}
		return asked, facts
	}
	// ε-DP at 1.1, of range 2.2.
	answer := `while read q; do case $q in *[[]0,0]*) echo '{"pmf":{"a":"3/4","b":"1/4"}}';; *) echo '{"pmf":{"b":"3/4","a":"1/4"}}';; esac; done`
	o := Options{N: 2, K: 1, Epsilon: epsilon(t, "1.1"), Outcomes: Labels}
	r, err := pmfOf(context.Background(), answer, o)
	require.NoError(t, err)
	asked, facts := names(r)
	assert.Equal(t, []string{" dp answers", " bounded-range sum"}, []string{asked, facts})
	assert.Equal(t, []verify.Verdict{verify.Proved, verify.Violated}, []verify.Verdict{r.Verdict(), r.Find(verify.BoundedRange).Verdict})
	o.Targets = atDelta(epsilon(t, "0.1").Eps())
	r, err = pmfOf(context.Background(), answer, o)
	require.NoError(t, err)
	asked, facts = names(r)
	assert.Equal(t, []string{" approximate-dp answers", " sum"}, []string{asked, facts})
	rows, err := ReadTable(strings.NewReader(`{"scores":[0,0],"pmf":["1/2","1/2"]}
{"scores":[1,0],"pmf":["9/10","1/10"]}`), "t", Index, new(big.Rat))
	require.NoError(t, err)
	r, err = rows.Audit(context.Background(), false, Options{Epsilon: epsilon(t, "1"), Targets: o.Targets})
	require.NoError(t, err)
	assert.Equal(t, verify.Violated, r.Find(verify.ApproximateDP).Verdict, "%s", r)
	assert.Nil(t, r.Find(verify.DP))
}

// Numbers that underflow, or are coarse, prove nothing of a table.
func TestTablesOfCoarseNumbers(t *testing.T) {
	for text, want := range map[string]verify.Verdict{
		`[1,1e-400]|[1,0]|1e-9`:     verify.Undecided,
		`[1,0]|[1,0.0]|1e-9`:        verify.Proved,
		`[0.5,0.5]|[0.88,0.12]|0.5`: verify.Undecided,
		`["1/2","0.5"]|["1","0"]|0`: verify.Violated,
	} {
		part := strings.Split(text, "|")
		var precision = epsilon(t, part[2]).Eps()
		rows, err := ReadTable(strings.NewReader(fmt.Sprintf("{\"scores\":[0,0],\"pmf\":%s}\n{\"scores\":[1,0],\"pmf\":%s}\n", part[0], part[1])), "t", Index, precision)
		require.NoError(t, err)
		r, err := rows.Audit(context.Background(), false, Options{Epsilon: epsilon(t, "1"), Precision: precision})
		require.NoError(t, err)
		assert.Equal(t, want, r.Verdict(), "%s: %s", text, r)
	}
}
