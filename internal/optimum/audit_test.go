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

	"optratio/internal/audit"
	"optratio/internal/inquiry"
	"optratio/number"
	"optratio/verify"
)

// tableOf is TableOf for a table as audits read it.
func tableOf(p *Problem, t *audit.Table) (*Table, error) {
	return p.TableOf(t.Name, t.Labels, t.Inputs, inquiry.Numbers(t.PMF))
}

// asked are the pairs of a problem as audits have them.
func asked(p *Problem) (pairs []audit.InputPair) {
	for _, q := range p.Pairs {
		pairs = append(pairs, audit.InputPair(q))
	}
	return pairs
}

// TestAudited: the rounded optimum passes the audit of its table, which decides (ε,δ)-DP with code of its own, and one that has lost a unit of one probability to another where
// a pair is tight does not.
func TestAudited(t *testing.T) {
	for _, c := range []struct{ preset, eps, delta string }{{"count:5", "0.5", "0"}, {"grid:3x2", "1", "0"}, {"count:4", "0.7", "0.01"}, {"partition:6", "1", "1e-6"}} {
		eps, err := number.ParseEpsilon(c.eps)
		require.NoError(t, err)
		p := preset(t, c.preset)
		a := solve(t, Request{Problem: p, Epsilon: eps, Delta: rat(t, c.delta)})
		m, err := a.Round(context.Background())
		require.NoError(t, err)
		verdict := func(m *Mechanism) verify.Verdict {
			var text strings.Builder
			in := &audit.Inputs{Name: "inputs", Values: jsonNames(p), Pairs: asked(p)}
			require.NoError(t, m.WriteJSONL(&text))
			rows, err := audit.ReadTable(strings.NewReader(text.String()), "table", audit.Labels, new(big.Rat))
			require.NoError(t, err)
			o := audit.Options{Inputs: in, Epsilon: eps, Outcomes: audit.Labels}
			if delta := rat(t, c.delta); delta.Sign() > 0 {
				o.Targets = map[verify.Property]*big.Rat{verify.ApproximateDP: delta}
			}
			report, err := rows.Audit(context.Background(), false, o)
			require.NoError(t, err)
			return report.Properties[0].Verdict
		}
		assert.Equal(t, verify.Proved, verdict(m), c.preset)
		most := m.count[0]
		most[0], most[1] = new(big.Int).Add(most[0], new(big.Int).Rsh(most[1], 1)), new(big.Int).Sub(most[1], new(big.Int).Rsh(most[1], 1))
		assert.Equal(t, verify.Violated, verdict(m), c.preset)
	}
}

// jsonNames are the inputs of a problem as audits ask about them.
func jsonNames(p *Problem) (out []json.RawMessage) {
	for _, name := range p.Inputs {
		out = append(out, json.RawMessage(jsonText(name)))
	}
	return out
}

// TestRatesReadings: a table of rounded numbers is rated as its audit rates it, and what is said of it encloses what is said of the numbers that were rounded.
func TestRatesReadings(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 24))
	verdicts := map[verify.Verdict]int{}
	for i := range 120 {
		p := symmetric(rng)
		for j := range p.Pairs { // audits have no distance 0
			p.Pairs[j].Distance = big.NewRat(int64(1+rng.IntN(3)), 2)
		}
		p.Forbidden = nil
		if len(p.Pairs) == 0 {
			continue
		}
		eps, err := number.ParseEpsilon("0.5")
		require.NoError(t, err)
		r := Request{Problem: p, Epsilon: eps}
		if i%2 == 0 {
			r.Rate = &Table{outputs: p.Outputs, p: values(solve(t, r).Table())}
		} else {
			r.Rate = &Table{outputs: p.Outputs}
			for range p.Inputs {
				row, sum := make([]*big.Rat, len(p.Outputs)), new(big.Rat)
				for o := range row {
					row[o] = big.NewRat(int64(8+rng.IntN(3)), 1)
					sum.Add(sum, row[o])
				}
				for o := range row {
					row[o].Quo(row[o], sum)
				}
				r.Rate.p = append(r.Rate.p, values([][]*big.Rat{row})...)
			}
		}
		want := solve(t, r).Rated

		precision := big.NewRat(1, []int64{1e3, 1e9}[rng.IntN(2)])
		var text strings.Builder
		for x, row := range r.Rate.p {
			pmf := map[string]float64{}
			for o, q := range row {
				pmf[p.Outputs[o]], _ = ratOf(q).Float64()
			}
			line, _ := json.Marshal(map[string]any{"input": p.Inputs[x], "pmf": pmf})
			text.WriteString(string(line) + "\n")
		}
		rows, err := audit.ReadTable(strings.NewReader(text.String()), "table", audit.Labels, precision)
		require.NoError(t, err)
		r.Rate, err = tableOf(p, rows)
		require.NoError(t, err)
		a, err := Solve(context.Background(), r)
		require.NoError(t, err)
		got := a.Rated
		require.Equal(t, got.DP == verify.Undecided, a.Undecided != "")
		inputs := &audit.Inputs{Values: jsonNames(p), Pairs: asked(p), OneWay: p.OneWay}
		report, err := rows.Audit(context.Background(), false, audit.Options{Inputs: inputs, Epsilon: eps, Outcomes: audit.Labels, Precision: precision})
		require.NoError(t, err)
		require.Equal(t, report.Find(verify.DP).Verdict, got.DP, "%d: %s and %s", i, report.TightEps, got.TightEps)
		verdicts[got.DP]++
		encloses := func(what string, wide, exact number.Number) {
			low, _ := wide.Lower()
			high, bounded := wide.Upper()
			least, _ := exact.Lower()
			most, ok := exact.Upper()
			require.LessOrEqual(t, low.Cmp(least), 0, "%d: %s: %s and %s", i, what, wide, exact)
			require.True(t, !bounded || ok && high.Cmp(most) >= 0, "%d: %s: %s and %s", i, what, wide, exact)
		}
		encloses("tight ε", got.TightEps, want.TightEps)
		encloses("loss", got.Value, want.Value)
		encloses("loss after a remap", got.Remapped, want.Remapped)
	}
	t.Log(verdicts)
	assert.Len(t, verdicts, 3)
}

// TestSample: draws have the probabilities of the table, and the bits decide.
func TestSample(t *testing.T) {
	m := &Mechanism{inputs: []string{"x"}, outputs: []string{"a", "b", "c"}, Bits: 3, count: [][]*big.Int{{big.NewInt(1), big.NewInt(5), big.NewInt(2)}}}
	seen := map[string]int{}
	for b := range 256 { // all bytes, of which the three highest bits count
		out, err := m.Sample("x", bytes.NewReader([]byte{byte(b)}))
		require.NoError(t, err)
		seen[out]++
	}
	assert.Equal(t, map[string]int{"a": 32, "b": 160, "c": 64}, seen)
	_, err := m.Sample("y", bytes.NewReader(nil))
	assert.ErrorContains(t, err, "no such input")
	_, err = m.Sample("x", bytes.NewReader(nil))
	assert.Error(t, err)

	var text bytes.Buffer
	require.NoError(t, m.WriteCSV(&text))
	back, err := (&Problem{Inputs: m.inputs, Outputs: m.outputs}).ReadTable("t.csv", &text)
	require.NoError(t, err)
	assert.Equal(t, m.Table()[0][1].RatString(), ratOf(back.p[0][1]).RatString())
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

func ratOf(x number.Number) *big.Rat {
	r, _ := x.Rat()
	return r
}
