package audit

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/number"
	"optratio/verify"
)

// A program that names the best candidate with probability 2/3, or with a tie nobody: what one side does not name has probability 0 there.
const nobody = `while read q; do case $q in *[[]0,0]*|*[[]1,1]*|*-1,-1]*) echo '{"pmf":{"nobody":1}}';; *) echo '{"pmf":{"nobody":"1/2","some body":"1/2"}}';; esac; done`

func TestStatedLabels(t *testing.T) {
	o := Options{N: 2, K: 1, Epsilon: epsilon(t, "0.7"), Outcomes: Labels}
	r, err := pmfOf(context.Background(), nobody, o)
	require.NoError(t, err)
	dp := r.Find(verify.DP)
	require.Equal(t, verify.Violated, dp.Verdict, "%v", r)
	require.Equal(t, "some body", dp.Witness.Event)
	require.True(t, r.TightEps.IsInf(), "%v", r.TightEps)
	require.Equal(t, verify.Violated, r.Find(verify.BoundedRange).Verdict)
	require.Equal(t, verify.Proved, r.Find(verify.Sum).Verdict)
	require.Nil(t, r.Find(verify.Symmetry))
	require.Empty(t, r.Findings)

	// Randomised answers: ln 3 apart, range 2 ln 3.
	answer := `while read q; do case $q in *[[]0,0]*) echo '{"pmf":{"a":"3/4","b":"1/4"}}';; *) echo '{"pmf":{"b":"3/4","a":"1/4"}}';; esac; done`
	for _, c := range []struct {
		eps     string
		dp, rng verify.Verdict
	}{{"1.09", verify.Violated, verify.Violated}, {"1.1", verify.Proved, verify.Violated}, {"2.2", verify.Proved, verify.Proved}} {
		o.Epsilon = epsilon(t, c.eps)
		r, err = pmfOf(context.Background(), answer, o)
		require.NoError(t, err)
		require.Equal(t, c.dp, r.Find(verify.DP).Verdict, "%v", r)
		require.Equal(t, c.rng, r.Find(verify.BoundedRange).Verdict, "%v", r)
		require.InDelta(t, 1.0986123, r.TightEps.Float64(), 1e-6)
	}
	// Probabilities that do not sum to 1, and answers of another kind.
	r, err = pmfOf(context.Background(), `while read q; do echo '{"pmf":{"a":0.5}}'; done`, o)
	require.NoError(t, err)
	require.Equal(t, verify.Violated, r.Find(verify.Sum).Verdict)
}

func TestTablesOfLabels(t *testing.T) {
	rows, err := ReadTable(strings.NewReader(`{"scores":[0,0],"pmf":{"a":"2/3","b":"1/3"}}
{"scores":[1,0],"pmf":{"a":"1/3","c":"1/6","b":"1/2"}}
`), "t", Labels, big.NewRat(1, 1e9))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, rows.Labels)
	o := Options{Epsilon: epsilon(t, "1"), Outcomes: Labels, Properties: OfLabels[:3]}
	r, err := rows.Audit(context.Background(), false, o)
	require.NoError(t, err)
	require.Equal(t, "c", r.Find(verify.DP).Witness.Event)
	require.Equal(t, verify.Proved, r.Find(verify.Sum).Verdict)
	rows, err = ReadTable(strings.NewReader(`{"scores":[0,0],"pmf":{"a":"2/3","b":"1/3"}}
{"scores":[1,0],"pmf":{"b":"2/3","a":"1/3"}}
`), "t", Labels, big.NewRat(1, 1e9))
	require.NoError(t, err)
	r, err = rows.Audit(context.Background(), false, o)
	require.NoError(t, err)
	require.Equal(t, verify.Proved, r.Find(verify.DP).Verdict)
	require.InDelta(t, 0.693147, r.TightEps.Float64(), 1e-5)
	require.Equal(t, verify.Violated, r.Find(verify.BoundedRange).Verdict) // 2 ln 2
	require.Regexp(t, "and . the other way", r.Find(verify.BoundedRange).Witness.Event)
	// (ε,δ)-DP names the outputs of a set, here at e^ε = 2: b and c have 1/4 - 2·1/10 each, and a less than twice as much the other way; c alone has 1/6 - 2·0.
	for want, text := range map[string]string{
		"one of b, c": `{"scores":[0,0],"pmf":{"a":"8/10","b":"1/10","c":"1/10"}}
{"scores":[1,0],"pmf":{"a":"1/2","c":"1/4","b":"1/4"}}
`,
		"c": `{"scores":[0,0],"pmf":{"a":"1/2","b":"1/2"}}
{"scores":[1,0],"pmf":{"a":"5/12","c":"1/6","b":"5/12"}}
`,
	} {
		rows, err = ReadTable(strings.NewReader(text), "t", Labels, big.NewRat(1, 1e9))
		require.NoError(t, err)
		exp, err := number.ParseExp("2")
		require.NoError(t, err)
		for delta, verdict := range map[string]verify.Verdict{"1/100": verify.Violated, "1/2": verify.Proved} {
			d, _ := new(big.Rat).SetString(delta)
			r, err = rows.Audit(context.Background(), false, Options{Epsilon: exp, Outcomes: Labels, Properties: OfLabels[5:], Targets: atDelta(d)})
			require.NoError(t, err)
			found := r.Find(verify.ApproximateDP)
			require.Equal(t, verdict, found.Verdict)
			for _, w := range []*verify.Witness{found.Witness, found.Attained} {
				if w != nil {
					require.Equal(t, want, w.Event)
					require.Nil(t, w.Candidates)
				}
			}
			require.NotNil(t, found.Attained)
		}
	}
	_, err = rows.Audit(context.Background(), false, Options{Epsilon: epsilon(t, "1"), Outcomes: Labels, Properties: []verify.Property{verify.DominatesEM}})
	require.ErrorIs(t, err, errOptions)
	_, err = ReadTable(strings.NewReader(`{"scores":[0,0],"pmf":[1,0]}`), "t", Labels, big.NewRat(1, 1e9))
	require.ErrorIs(t, err, errTable)
}
