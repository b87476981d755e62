package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/verify"
)

// laplaceTable holds report noisy max with Laplace noise for two candidates at ε = 1, Δ = 1: with x the
// difference of scores over 2Δ/ε, the worse one has probability ½ e^{-x} (1 + x/2).
func laplaceTable() string {
	var b strings.Builder
	for a := -4; a <= 4; a++ {
		for c := -4; c <= 4; c++ {
			x := math.Abs(float64(a-c)) / 2
			worse := 0.5 * math.Exp(-x) * (1 + x/2)
			p, q := 1-worse, worse
			if a < c {
				p, q = q, p
			}
			fmt.Fprintf(&b, "{\"scores\":[%d,%d],\"pmf\":[%.17g,%.17g]}\n\n", a, c, p, q)
		}
	}
	return b.String()
}

func tableOptions(t *testing.T) Options {
	return Options{Epsilon: epsilon(t, "1"), Sensitivity: big.NewRat(1, 1), Precision: big.NewRat(1, 1e9), Seed: 1}
}

func TestLaplaceTableIsPrivateAndDoesNotDominate(t *testing.T) {
	o := tableOptions(t)
	rows, err := ReadTable(strings.NewReader(laplaceTable()), "laplace", o.Precision)
	require.NoError(t, err)
	require.Len(t, rows, 81)
	r, err := Table(context.Background(), "laplace", rows, false, o)
	require.NoError(t, err)
	for _, p := range r.Properties {
		if p.Name == verify.DominatesEM {
			require.Equal(t, verify.Violated, p.Verdict)
			require.Equal(t, "1/1", p.Witness.T.String())
			require.InDelta(t, 0.5*math.Exp(-0.5)*1.25, p.Witness.P.Float64(), 1e-9)
			continue
		}
		require.Equal(t, verify.Proved, p.Verdict, "%s: %s %v", p.Name, p.Reason, p.Witness)
		require.Positive(t, p.Checked, p.Name)
	}
	// Differences go to 8, x from 3 to 4.
	require.InDelta(t, math.Log(math.Exp(1)*2.5/3), r.TightEps.Float64(), 1e-8)

	// A tenth of the noise is not private.
	o.Epsilon = epsilon(t, "0.1")
	r, err = Table(context.Background(), "laplace", rows, false, o)
	require.NoError(t, err)
	require.Equal(t, verify.Violated, r.Find(verify.DP).Verdict)
	require.NotNil(t, r.Witness.Neighbor)
}

func TestNeighborsOfATable(t *testing.T) {
	rows, err := ReadTable(strings.NewReader(`{"scores":[0,0],"pmf":["1/2","1/2"]}
{"scores":[0,-2],"pmf":["3/4","1/4"]}
{"scores":[0.5,0.5],"pmf":["1/2",0.5]}
{"scores":[1,0],"pmf":["5/8",0.375]}`), "few", new(big.Rat))
	require.NoError(t, err)
	for _, c := range []struct {
		model   verify.Model
		shifted bool
		pairs   int64
	}{{verify.Linf, false, 3}, {verify.Linf, true, 6}, {verify.Monotonic, false, 2}, {verify.Monotonic, true, 4}} {
		o := tableOptions(t)
		o.Model, o.Properties = c.model, []verify.Property{verify.DP}
		r, err := Table(context.Background(), "few", rows, c.shifted, o)
		require.NoError(t, err)
		require.Equal(t, 4*c.pairs, r.Find(verify.DP).Checked, "%v", c)
	}
}

// Without a sum of 1, one's own probability may fall though nobody else's does.
func TestOwnProbabilityFalls(t *testing.T) {
	rows, err := ReadTable(strings.NewReader(`{"scores":[0,0,0],"pmf":["1/5","1/5","1/5"]}
{"scores":[1,0,0],"pmf":["1/6","1/5","1/5"]}`), "few", new(big.Rat))
	require.NoError(t, err)
	r, err := Table(context.Background(), "few", rows, false, tableOptions(t))
	require.NoError(t, err)
	monotone := r.Find(verify.Monotone)
	require.Equal(t, verify.Violated, monotone.Verdict)
	require.Equal(t, 0, *monotone.Witness.Candidate)
	require.InDelta(t, 1.0/6, monotone.Witness.P.Float64(), 1e-15)
}

func TestTableWithoutTime(t *testing.T) {
	rows, err := ReadTable(strings.NewReader(laplaceTable()), "laplace", big.NewRat(1, 1e9))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := Table(ctx, "laplace", rows, false, tableOptions(t))
	require.NoError(t, err)
	for _, p := range r.Properties {
		require.Equal(t, verify.Undecided, p.Verdict, p.Name)
	}
}

func TestTablesThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "bad: it is empty",
		"x":                                  "bad:1: no JSON object",
		"\n{\"scores\":[],\"pmf\":[]}":       "bad:2: no scores",
		`{"scores":[0],"pmf":[1,0]}`:         "bad:1: answered 2 probabilities for 1 scores",
		`{"scores":["a"],"pmf":[1]}`:         "bad:1: score 1",
		`{"scores":[0],"pmf":["1/0"]}`:       "bad:1: answered",
		`{"scores":[1e99999999],"pmf":[1]}`:  "bad:1: score 1",
		`{"scores":[0],"pmf":[1]} trailing`:  "bad:1: no JSON object",
		`{"scores":[0],"pmf":["1/3", null]}`: "bad:1: answered 2",
	} {
		_, err := ReadTable(strings.NewReader(text), "bad", new(big.Rat))
		require.ErrorIs(t, err, ErrTable, text)
		require.ErrorContains(t, err, want)
	}
	o := tableOptions(t)
	for _, text := range []string{
		"{\"scores\":[0],\"pmf\":[1]}\n{\"scores\":[0],\"pmf\":[1]}",
		"{\"scores\":[0],\"pmf\":[1]}\n{\"scores\":[0,0],\"pmf\":[1,0]}",
	} {
		rows, err := ReadTable(strings.NewReader(text), "bad", new(big.Rat))
		require.NoError(t, err)
		_, err = Table(context.Background(), "bad", rows, false, o)
		require.Error(t, err)
	}
}

// A program's answers are parsed or refused, never trusted.
func FuzzReplies(f *testing.F) {
	for _, seed := range []string{
		`{"pmf":[0.5,"1/2"]}`, `{"counts":[1,2]}`, `{"error":"x"}`, `{"pmf":[NaN]}`, `{"pmf":[1e999999]}`, `{"pmf":["1/0",1]}`, `[]`, `{"pmf":{}}`, `{"counts":[-1,4]}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		p, err := parsePMF(line, 2, big.NewRat(1, 1000))
		if err == nil {
			require.Len(t, p, 2)
		}
		counts, err := parseCounts(line, 2, 3)
		if err == nil {
			require.Equal(t, int64(3), counts[0]+counts[1])
			require.GreaterOrEqual(t, min(counts[0], counts[1]), int64(0))
		}
	})
}

func TestQuestionsAreJSON(t *testing.T) {
	for _, text := range []string{"1", "1/3", "1e-40", "2.5"} {
		x, ok := new(big.Rat).SetString(text)
		require.True(t, ok)
		q := question{scores: []*big.Rat{x, new(big.Rat)}, epsilon: "1", sensitivity: x}
		var read struct{ Sensitivity float64 }
		require.NoError(t, json.Unmarshal(q.line(), &read), "%s", q.line())
		want, _ := x.Float64()
		require.Equal(t, want, read.Sensitivity)
	}
}
