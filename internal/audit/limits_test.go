//go:build unix

package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/verify"
)

// Questions are as long as answers may be: outcomes of 30,000 bytes each are asked for in parts of a line's size, and the program that answers them did nothing wrong.
func TestQuestionsFitTheirAnswers(t *testing.T) {
	o := samplerOptions(t, "1", 1)
	o.Outcomes, o.program.Timeout = Mixed, time.Minute
	require.NoError(t, o.complete())
	o.program.Command = subjectCommand("wide")
	a := newAsker(context.Background(), &inquiry.Space{Unit: big.NewRat(1, 1)}, &o)
	t.Cleanup(a.child.stop)
	_, event, err := newSampler(&program{children: []*asker{a}}).Sample(inquiry.Vector{0}, 400)
	require.NoError(t, err)
	require.Empty(t, event)
}

// Labels beyond the most that are told apart count as one where they are drawn. Where their probabilities are stated, the audit ends with the limit.
func TestMoreLabelsThanFit(t *testing.T) {
	drawn, stated := newLabelled(&Options{Outcomes: Labels}), newLabelled(&Options{Outcomes: Labels})
	for i := range mostLabels {
		counts, err := drawn.parse(fmt.Appendf(nil, `{"counts":{"%d":1}}`, i), 1)
		require.NoError(t, err)
		require.Len(t, counts, i+1)
	}
	counts, err := drawn.parse([]byte(`{"counts":{"0":1,"new":2,"other":3}}`), 6)
	require.NoError(t, err)
	require.EqualValues(t, 1, counts[0])
	require.EqualValues(t, 5, counts[mostLabels])
	require.Contains(t, drawn.names[mostLabels], fmt.Sprint(mostLabels))
	for i := range mostStated {
		stated.ids[fmt.Sprint(i)], stated.names = i, append(stated.names, fmt.Sprint(i))
	}
	_, err = stated.parsePMF([]byte(`{"pmf":{"5":1}}`), big.NewRat(0, 1))
	require.NoError(t, err)
	_, err = stated.parsePMF([]byte(`{"pmf":{"new":1}}`), big.NewRat(0, 1))
	require.ErrorIs(t, err, errOptions)
	require.ErrorContains(t, err, fmt.Sprint(mostStated))
	o := samplerOptions(t, "1", 0)
	o.N, o.K, o.Outcomes, o.program.Timeout = 1, 1, Labels, time.Minute
	for _, program := range []string{`yes | tr -d '\n'`, fmt.Sprintf(`while read q; do printf '{"pmf":{"0":1'; seq -f ',"%%.0f":0' 1 %d | tr -d '\n'; echo '}}'; done`, mostStated)} {
		_, err = pmfOf(context.Background(), program, o)
		require.ErrorIs(t, err, errOptions)
		require.ErrorContains(t, err, "limit")
	}
}

// As many labels as the limit allows are decided: one of them is likelier than it may be.
func TestManyStatedLabels(t *testing.T) {
	const labels = 20_000
	o := samplerOptions(t, "1", 0)
	o.Inputs = &Inputs{Values: []json.RawMessage{[]byte("0"), []byte("1")}, Pairs: []InputPair{{From: 0, To: 1}}}
	o.Outcomes, o.program.Timeout = Labels, time.Minute
	program := fmt.Sprintf(`while read q; do case $q in *t\":0*) a=3;; *) a=1;; esac
		printf '{"pmf":{"first":"%%s/%d","last":"%%s/%d"' $a $((4-a)); seq -f ',"%%.0f":"1/%d"' 5 %d | tr -d '\n'; echo '}}'; done`, labels, labels, labels, labels)
	r, err := pmfOf(context.Background(), program, o)
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	require.Equal(t, verify.Violated, r.Find(verify.DP).Verdict)
	require.InDelta(t, 1.0986, r.TightEps.Float64(), 1e-4)
}
