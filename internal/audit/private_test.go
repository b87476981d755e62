package audit

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// A subject that states what a mechanism of the library does at one ε is as private on the lattice as package verify says, whatever ε it claims.
func TestPrivacyOfSubjects(t *testing.T) {
	ctx := context.Background()
	runs, err := number.ParseExp("3")
	require.NoError(t, err)
	for _, c := range []struct {
		claim    string
		parts    int
		delta    *big.Rat
		symmetry bool
		want     verify.Verdict
	}{
		{"3", 1, nil, false, verify.Proved}, {"2", 1, nil, false, verify.Violated}, {"3", 2, nil, false, verify.Proved}, {"2", 2, nil, false, verify.Violated},
		{"2", 1, big.NewRat(1, 2), false, verify.Proved}, {"2", 1, big.NewRat(1, 1000), false, verify.Violated}, {"3", 1, nil, true, ""},
	} {
		const n, k = 3, 2
		var rows strings.Builder
		for q := range inquiry.Grid(n, k*c.parts, 1) {
			in := &mechanisms.Instance{Sensitivities: []*big.Rat{big.NewRat(1, 1)}, Epsilon: runs}
			for _, x := range q {
				in.Scores = append(in.Scores, big.NewRat(2*x, int64(c.parts)))
			}
			p, err := mechanisms.Exponential().Float(in)
			require.NoError(t, err)
			var scores, pmf []string
			for r, x := range in.Scores {
				scores, pmf = append(scores, x.FloatString(2)), append(pmf, fmt.Sprint(p[r]))
			}
			fmt.Fprintf(&rows, "{\"scores\":[%s],\"pmf\":[%s]}\n", strings.Join(scores, ","), strings.Join(pmf, ","))
		}
		table, err := ReadTable(strings.NewReader(rows.String()), "rows", Index, big.NewRat(1, 1e9))
		require.NoError(t, err)
		claimed, err := number.ParseExp(c.claim)
		require.NoError(t, err)
		s, err := table.Subject(c.symmetry, Options{Epsilon: claimed, Sensitivity: big.NewRat(1, 1)})
		require.NoError(t, err)
		got, err := s.Private(ctx, n, k, c.parts, c.delta)
		require.NoError(t, err)
		assert.Nil(t, got, "nothing was asked")
		for q := range inquiry.Grid(n, k*c.parts, 1) {
			depths := make([]*big.Rat, n)
			for r, x := range q {
				depths[r] = big.NewRat(-x, int64(c.parts))
			}
			_, err := s.ask(ctx, s.scores(depths))
			if !c.symmetry {
				require.NoError(t, err)
			}
		}
		got, err = s.Private(ctx, n, k, c.parts, c.delta)
		require.NoError(t, err)
		if c.symmetry {
			assert.Nil(t, got, "one order of each vector tells nothing about the others")
			continue
		}
		assert.Equal(t, c.want, got.Verdict, "%+v", c)
		if c.delta != nil {
			continue
		}
		want, err := verify.Lattice(ctx, verify.Claim{Mechanism: mechanisms.Exponential(), Epsilon: runs}, n, k, verify.Options{Properties: []verify.Property{verify.DP}, Step: c.parts})
		require.NoError(t, err)
		assert.InDelta(t, want.Find(verify.DP).TightEps.Float64(), got.TightEps.Float64(), 1e-8, "%+v", c)
	}
}

// Where all pairs would take long, nothing is said.
func TestPrivacyOfLargeLattices(t *testing.T) {
	eps, err := number.ParseExp("2")
	require.NoError(t, err)
	s := newSubject(false, &Options{Epsilon: eps, Sensitivity: big.NewRat(1, 1)})
	s.asked = 1 << 40
	for _, size := range [][3]int{{8, 2, 1}, {3, 150, 1}, {40, 40, 1}, {5, 2, 20}} {
		got, err := s.Private(context.Background(), size[0], size[1], size[2], nil)
		require.NoError(t, err)
		assert.Nil(t, got, size)
	}
}
