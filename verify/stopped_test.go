package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/number"
)

// line is a domain of n+1 vectors (i, 0) in a row, each a neighbor of the next one. Candidate 0 has the probability 1/2 but at the end, where it has 1/4, so that e^ε is 2.
func line(n int64) (*inquiry.Domain, inquiry.Subject) {
	d := &inquiry.Domain{
		Space: &inquiry.Space{Unit: big.NewRat(1, 1)},
		Vectors: func(yield func(inquiry.Vector) bool) {
			for i := int64(0); i <= n && yield(inquiry.Vector{i, 0}); i++ {
			}
		},
		Neighbors: func(yield func(inquiry.Vector, inquiry.Vector) bool) {
			for i := int64(0); i < n && yield(inquiry.Vector{i, 0}, inquiry.Vector{i + 1, 0}); i++ {
			}
		},
	}
	return d, inquiry.SubjectFunc(func(q inquiry.Vector) (*inquiry.Answer, error) {
		if q[0] == n {
			return pmf("1/4", "3/4"), nil
		}
		return pmf("1/2", "1/2"), nil
	})
}

// TestStoppedIsALowerBound: what was found until a limit ended a check is a lower bound, with how many of all comparisons were made, and nothing where none was.
func TestStoppedIsALowerBound(t *testing.T) {
	d, subject := line(100)
	check := func(limit int64, p Property, o Options) *Result {
		o.Properties, o.limit = []Property{p}, limit
		r, err := ask(context.Background(), subject, subject, inquiry.Rational(big.NewRat(9, 8)), d, o)
		require.NoError(t, err)
		return r.Find(p)
	}
	field := func(r *Result, name string) string {
		text, err := json.Marshal(r)
		require.NoError(t, err)
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &fields))
		return string(fields[name])
	}
	for p, name := range map[Property]string{DP: "tight_eps", ApproximateDP: "tight_delta", BoundedRange: "range"} {
		whole := check(0, p, Options{})
		assert.Empty(t, field(whole, "total"), p)
		assert.False(t, whole.Stopped, p)
		for _, limit := range []int64{7, 100, 198} {
			r := check(limit, p, Options{})
			if p == BoundedRange { // privacy, which it is found with, has four comparisons a pair, and it has two
				assert.Equal(t, whole.Checked, r.Total, "%s %d", p, limit)
				continue
			}
			assert.Equal(t, limit, r.Checked, p)
			assert.Equal(t, whole.Checked, r.Total, p)
			assert.Equal(t, fmt.Sprint(whole.Checked), field(r, "total"), p)
			assert.Regexp(t, fmt.Sprintf("^. at least 0(, range at least 0)?, after %d of %d comparisons", limit, whole.Checked), r.Remark(), p)
			assert.NotContains(t, r.Remark(), "tight", p)
			assert.NotContains(t, field(r, name), `"exact":"0"`, p)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for p, name := range map[Property]string{DP: "tight_eps", ApproximateDP: "tight_delta", BoundedRange: "range", ZCDP: "rho"} {
		r, err := ask(ctx, subject, subject, inquiry.Rational(big.NewRat(9, 8)), d, Options{Properties: []Property{p}})
		require.NoError(t, err)
		assert.Zero(t, r.Find(p).Checked, p)
		assert.Equal(t, "null", field(r.Find(p), name), p)
		assert.Equal(t, map[Property]string{DP: "400", ApproximateDP: "200", BoundedRange: "200", ZCDP: "100"}[p], field(r.Find(p), "total"), p)
		assert.NotContains(t, r.Find(p).Remark(), "least", p)
	}
}

// TestNothingComparedIsNoNumber: one candidate has no neighbors, so that nothing is decided, and there is no least ε that could be named.
func TestNothingComparedIsNoNumber(t *testing.T) {
	for _, p := range []Property{DP, ApproximateDP, BoundedRange, ZCDP} {
		r, err := Lattice(context.Background(), problem(t, "em", "3/2"), 1, 2, Options{Properties: []Property{p}, Targets: map[Property]*big.Rat{ZCDP: one, BoundedRange: one}})
		require.NoError(t, err)
		res := r.Find(p)
		assert.Equal(t, Undecided, res.Verdict, p)
		assert.Contains(t, res.Reason, "there are no neighbors", p)
		assert.Zero(t, res.Checked, p)
		for _, x := range []number.Number{res.TightEps, res.TightDelta, res.Range, res.Rho} {
			assert.False(t, x.IsValid(), p)
		}
		assert.False(t, res.Stopped)
	}
}

// TestAskedBeforeFacts: a limit that ends the facts leaves what was asked for whole, whatever was asked.
func TestAskedBeforeFacts(t *testing.T) {
	d, subject := line(100)
	d.Shifted, d.Lowered, d.Permuted = d.Neighbors, d.Neighbors, d.Neighbors
	d.ByConstruction = "by construction"
	for _, asked := range []Property{DP, ApproximateDP, BoundedRange, ZCDP} {
		ctx, cancel := context.WithCancel(context.Background())
		o := Options{Properties: []Property{asked}, Facts: []Property{Sum, Monotone, Symmetry, Shift, DominatesEM}}
		o.Progress = func(p Property, _, _ int64) {
			if p == Sum || p == Monotone || p == DominatesEM {
				cancel()
			}
		}
		r, err := ask(ctx, subject, subject, inquiry.Rational(big.NewRat(9, 8)), d, o)
		require.NoError(t, err)
		whole, err := ask(context.Background(), subject, subject, inquiry.Rational(big.NewRat(9, 8)), d, Options{Properties: []Property{asked}})
		require.NoError(t, err)
		assert.Equal(t, whole.Find(asked).String(), r.Find(asked).String())
		assert.NotEqual(t, Undecided, r.Find(asked).Verdict)
		assert.Equal(t, Undecided, r.Find(Monotone).Verdict)
		assert.Equal(t, number.Number{}, r.Find(Sum).TightEps)
	}
}
