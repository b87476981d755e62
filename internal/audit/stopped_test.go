package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// TestAskedBeforeFactsEverywhere: a limit that ends the facts, here at their first question, leaves what was asked for as it is without it: on the domain and on the side set.
func TestAskedBeforeFactsEverywhere(t *testing.T) {
	o := Options{N: 2, K: 1}
	var err error
	o.Epsilon, err = number.ParseExp("3")
	require.NoError(t, err)
	em := mechanisms.Exponential()
	asked := map[string]bool{}
	spy := func(see func(scores string)) mechanisms.Mechanism {
		return mechanisms.FromFloat(em.Info(), 1e-12, func(scores []float64, sensitivity, epsilon float64) ([]float64, error) {
			see(fmt.Sprint(scores))
			p, total := make([]float64, len(scores)), 0.0
			for r, q := range scores {
				p[r] = math.Exp(epsilon * (q - slices.Max(scores)) / (2 * sensitivity))
				total += p[r]
			}
			for r := range p {
				p[r] /= total
			}
			return p, nil
		})
	}
	alone := o
	alone.Properties = []verify.Property{verify.DP}
	whole, err := Mechanism(context.Background(), spy(func(scores string) { asked[scores] = true }), alone)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := 0
	r, err := Mechanism(ctx, spy(func(scores string) {
		if !asked[scores] {
			ended++
			cancel()
		}
	}), o)
	require.NoError(t, err)
	require.Positive(t, ended)
	assert.Equal(t, whole.Find(verify.DP).String(), r.Find(verify.DP).String())
	assert.Equal(t, whole.TightEps, r.TightEps)
	assert.Equal(t, verify.Proved, r.Find(verify.DP).Verdict)
	assert.Equal(t, "not all was asked again: it was stopped", r.Find(Answers).Reason)
	assert.Equal(t, verify.Undecided, r.Find(verify.Monotone).Verdict)
	assert.Equal(t, whole.Domain, r.Domain)
}

// TestStoppedTable: of a table, too, a lower bound is all that is said of what was compared, and nothing where nothing was.
func TestStoppedTable(t *testing.T) {
	var text strings.Builder
	for a := range 6000 {
		pmf := `["1/2","1/2"]`
		if a == 1 {
			pmf = `["0.999","0.001"]`
		}
		fmt.Fprintf(&text, "{\"scores\":[%d,0],\"pmf\":%s}\n", a, pmf)
	}
	o := tableOptions(t)
	rows, err := ReadTable(strings.NewReader(text.String()), "t", Index, o.Precision)
	require.NoError(t, err)
	field := func(r *Report, name string) string {
		doc, err := json.Marshal(r)
		require.NoError(t, err)
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(doc, &fields))
		return string(fields[name])
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := rows.Audit(ctx, false, o)
	require.NoError(t, err)
	assert.Equal(t, "null", field(r, "tight_eps"))
	assert.NotContains(t, r.String(), "tight")
	assert.Zero(t, r.Find(verify.DP).Checked)

	o.Properties = []verify.Property{verify.DP}
	r, err = rows.Audit(context.Background(), false, o)
	require.NoError(t, err)
	assert.Equal(t, "500", r.Find(verify.DP).TightExpEps.RatString())
	assert.Equal(t, int64(4*5999), r.Find(verify.DP).Checked)
}

// TestBothStopped: of a domain and a side set, one stopped, the comparisons and their total add up where they are known.
func TestBothStopped(t *testing.T) {
	whole := verify.Result{Name: verify.DP, Verdict: verify.Proved, Checked: 10}
	stopped := verify.Result{Name: verify.DP, Verdict: verify.Undecided, Checked: 3, Stopped: true, Total: 20}
	unknown := verify.Result{Name: verify.DP, Verdict: verify.Undecided, Stopped: true}
	for _, c := range []struct {
		a, b    verify.Result
		total   int64
		stopped bool
	}{{whole, whole, 0, false}, {whole, stopped, 30, true}, {stopped, whole, 30, true}, {stopped, stopped, 40, true}, {stopped, unknown, 0, true}, {unknown, whole, 0, true}} {
		got := both(c.a, c.b)
		assert.Equal(t, c.stopped, got.Stopped)
		assert.Equal(t, c.total, got.Total)
		assert.Equal(t, c.a.Checked+c.b.Checked, got.Checked)
	}
}
