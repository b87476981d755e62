package optimum

import (
	"bytes"
	"context"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/verify"
	"optratio/verify/audit"
)

// TestAudited: the rounded optimum passes the audit of its table, which decides (ε,δ)-DP with code of its own, and one that has lost a unit of one probability to another where
// a pair is tight does not.
func TestAudited(t *testing.T) {
	for _, c := range []struct{ preset, eps, delta string }{{"count:5", "0.5", "0"}, {"grid:3x2", "1", "0"}, {"count:4", "0.7", "0.01"}, {"partition:6", "1", "1e-6"}} {
		eps, err := mechanisms.ParseEpsilon(c.eps)
		require.NoError(t, err)
		p := preset(t, c.preset)
		a := solve(t, Request{Problem: p, Epsilon: eps, Delta: rat(t, c.delta)})
		m, err := a.Round(context.Background())
		require.NoError(t, err)
		verdict := func(m *Mechanism) verify.Verdict {
			var text strings.Builder
			in := &audit.Inputs{Name: "inputs"}
			for _, input := range p.Inputs {
				value, _ := json.Marshal(input)
				in.Values = append(in.Values, value)
			}
			require.NoError(t, m.WriteJSONL(&text))
			for _, q := range p.Pairs {
				in.Pairs = append(in.Pairs, audit.InputPair{From: q.From, To: q.To, Distance: q.Distance})
			}
			rows, err := audit.ReadLabels(strings.NewReader(text.String()), "table", new(big.Rat))
			require.NoError(t, err)
			o := audit.Options{Inputs: in, Epsilon: eps, Outcomes: audit.Labels}
			if delta := rat(t, c.delta); delta.Sign() > 0 {
				o.Delta = delta
			}
			report, err := audit.Table(context.Background(), "table", rows, false, o)
			require.NoError(t, err)
			return report.Properties[0].Verdict
		}
		assert.Equal(t, verify.Proved, verdict(m.Mechanism), c.preset)
		most := m.Mechanism.Count[0]
		most[0], most[1] = new(big.Int).Add(most[0], new(big.Int).Rsh(most[1], 1)), new(big.Int).Sub(most[1], new(big.Int).Rsh(most[1], 1))
		assert.Equal(t, verify.Violated, verdict(m.Mechanism), c.preset)
	}
}

// TestSample: draws have the probabilities of the table, and the bits decide.
func TestSample(t *testing.T) {
	m := &Mechanism{Inputs: []string{"x"}, Outputs: []string{"a", "b", "c"}, Bits: 3, Count: [][]*big.Int{{big.NewInt(1), big.NewInt(5), big.NewInt(2)}}}
	seen := map[string]int{}
	for b := range 256 { // all bytes, of which the three highest bits count
		out, err := m.Sample("x", bytes.NewReader([]byte{byte(b)}))
		require.NoError(t, err)
		seen[out]++
	}
	assert.Equal(t, map[string]int{"a": 32, "b": 160, "c": 64}, seen)
	_, err := m.Sample("y", bytes.NewReader(nil))
	assert.ErrorIs(t, err, ErrInput)
	_, err = m.Sample("x", bytes.NewReader(nil))
	assert.Error(t, err)

	var text bytes.Buffer
	require.NoError(t, m.WriteCSV(&text))
	back, err := ReadTable("t.csv", &text, &Problem{Inputs: m.Inputs, Outputs: m.Outputs})
	require.NoError(t, err)
	assert.Equal(t, m.Table()[0][1].RatString(), back.P[0][1].RatString())
}

// TestReadersAreInverse: what WriteJSON writes is what ReadJSON reads.
func TestReadersAreInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		p := random(rng)
		var text bytes.Buffer
		require.NoError(t, p.WriteJSON(&text))
		q, err := ReadJSON("p.json", bytes.NewReader(text.Bytes()))
		require.NoError(t, err, text.String())
		var again bytes.Buffer
		require.NoError(t, q.WriteJSON(&again))
		require.Equal(t, text.String(), again.String())
		require.Equal(t, p.Forbidden == nil, q.Forbidden == nil)
	}
}

// FuzzReadJSON: whatever a file holds, it is a problem that can be checked or an error with its place.
func FuzzReadJSON(f *testing.F) {
	f.Add(`{"inputs":["a","b"],"pairs":[["a","b",1.5]],"loss":"zero-one","prior":"uniform","forbidden":[["a","b"]]}`)
	f.Add(`{"inputs":[1,2],"outputs":[1],"loss":[["1/2"],[3]],"directed":true}`)
	f.Add("{\n\"inputs\": 3")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ReadJSON("p.json", strings.NewReader(text))
		if err != nil {
			require.ErrorIs(t, err, ErrProblem)
			require.Regexp(t, `^p\.json:\d+: `, err.Error())
			return
		}
		require.NoError(t, p.Check())
	})
}
