package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/internal/slowtest"
	"optratio/verify"
)

// mixedOptions are about answers to queries, of which each one differs by 1 between neighbors.
func mixedOptions(t *testing.T, budget int64) Options {
	values := []json.RawMessage{[]byte("[0,0,0,0,0]"), []byte("[1,1,1,1,-1]"), []byte("[-1,-1,-1,-1,1]"), []byte("[1,1,1,1,1]")}
	return Options{
		Inputs:  &Inputs{Values: values, Pairs: []InputPair{{From: 0, To: 1}, {From: 0, To: 2}, {From: 0, To: 3}}},
		Epsilon: epsilon(t, "1"), Outcomes: Mixed, Seed: 1, Budget: budget, Confidence: big.NewRat(19, 20), UntilRefuted: true, program: Program{Timeout: time.Minute},
	}
}

// The sparse vector technique that answers with the noisy value it compared (Lyu, Su & Li 2017, Alg. 3) is (nε/2)-DP for n queries and no less: n-1 times below, and then an
// answer below 0, is likelier by that factor where no query is 1 higher. It is found without being told which labels and thresholds count; the technique that
// answers with labels alone is ε-DP, and is not refuted.
func TestMixedOutcomes(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	gallery := buildGallery(t)
	r, err := samplesOf(context.Background(), gallery+" sparse-answer", mixedOptions(t, 3_000_000))
	require.NoError(t, err)
	require.Equal(t, verify.Violated, r.Find(verify.DP).Verdict, "%v", r)
	assert.Contains(t, r.Find(verify.DP).Witness.Event, "an outcome with ")
	t.Logf("%d samples: %v", r.Samples, r.Witness)
	r, err = samplesOf(context.Background(), gallery+" sparse", mixedOptions(t, 300_000))
	require.NoError(t, err)
	require.Equal(t, verify.Undecided, r.Find(verify.DP).Verdict, "%v", r)
	assert.Less(t, r.LowerBound.Float64(), 1.0)
}

// What is in an outcome, at which place: its shape and its numbers.
func TestMixtures(t *testing.T) {
	s := shapes{}
	got, err := s.parse([]byte(`{"values":[["no",2.5,{"b":true,"a":-0.0}],7,["no",3,{"a":1,"b":true}]]}`), 3)
	require.NoError(t, err)
	assert.Contains(t, s, `["no",0,{"a":0,"b":true}]`)
	assert.Equal(t, map[string]string{"": aList, "[0]": `"no"`, "[1]": aNumber, "[2]": aRecord, "[2].a": aNumber, "[2].b": "true"}, got[0].what)
	assert.Equal(t, map[string]float64{"length of": 3, `how often "no"`: 1, "how often true": 1}, got[0].sizes)
	assert.Equal(t, []float64{2.5, 0}, got[0].numbers)
	assert.Equal(t, []float64{7}, got[1].numbers)
	assert.Equal(t, []float64{3, 1}, got[2].numbers)
	assert.Same(t, got[0].shape, got[2].shape, "the order of fields is none of the shape")
	for _, bad := range []string{`{"values":[1]}`, `{"values":[1,1e999]}`, `{"counts":[1,1]}`, `{"values":[1,[NaN]]}`} {
		_, err := s.parse([]byte(bad), 2)
		assert.Error(t, err, bad)
	}
	assert.True(t, split{place: "[1]", kind: atMost, at: 2.5}.holds(got[0]))
	assert.False(t, split{place: "[1]", kind: atMost, at: 2.5}.holds(got[1]), "a number that is not there is not at most anything")
	assert.True(t, split{place: "[0]", label: `"no"`}.holds(got[0]))
	assert.True(t, split{place: "[0]"}.holds(got[1]), "there is nothing")
	assert.True(t, split{place: "length of", kind: equals, at: 3}.holds(got[0]))
}

// Outcomes are ["left", x] or ["right", x] with x uniform, and input 1 never has x < 0.2 on the left: no single label and no single threshold says so, but a cell does.
func TestMixedPartition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	f := newField(&Options{Outcomes: Mixed, Inputs: &Inputs{}}, rng)
	m := newMixed()
	l := m.learner(nil)
	for at := range int64(2) {
		q := inquiry.Vector{at}
		f.place(q)
		for range 2000 {
			side, x := []string{"left", "right"}[rng.IntN(2)], rng.Float64()
			if at == 1 && side == "left" {
				x = 0.2 + 0.8*x
			}
			got, err := m.parse(fmt.Appendf(nil, `{"values":[[%q,%g]]}`, side, x), 1)
			require.NoError(t, err)
			l.keep(q, got)
		}
	}
	f.edges = []edge{{from: 0, to: 1}}
	require.True(t, l.learn(f))
	require.False(t, l.learn(f), "there is nothing new to learn from")
	kept := func(at int64) []int64 {
		halves := l.kept(inquiry.Vector{at})
		return added(halves[0], halves[1])
	}
	own, near := kept(0), kept(1)
	require.EqualValues(t, 2000, sumOf(own))
	inside := int64(0)
	for i := range own {
		if near[i] == 0 {
			inside += own[i]
		}
	}
	assert.Greater(t, inside, int64(120)) // of about 200
}
