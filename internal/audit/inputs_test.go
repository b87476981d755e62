package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/number"
	"optratio/verify"
)

// rowsOf audits a table with a row {"input":…,"pmf":…} for each of the lines, and the pairs of a file.
func rowsOf(t *testing.T, exp string, table, pairs []string, properties ...verify.Property) (*Report, error) {
	t.Helper()
	return rowsWithin(t, exp, nil, table, pairs, properties...)
}

// rowsWithin is rowsOf with a slack.
func rowsWithin(t *testing.T, exp string, slack *big.Rat, table, pairs []string, properties ...verify.Property) (*Report, error) {
	t.Helper()
	rows, err := ReadTable(strings.NewReader(strings.Join(table, "\n")), "table", Labels, big.NewRat(1, 1e9))
	require.NoError(t, err)
	in := &Inputs{}
	for _, input := range rows.Inputs {
		require.NoError(t, in.Add(input))
	}
	for _, text := range pairs {
		if in.OneWay = in.OneWay || text == "oneway"; text == "oneway" {
			continue
		}
		require.NoError(t, in.AddPair(text))
	}
	eps, err := number.ParseExp(exp)
	require.NoError(t, err)
	o := Options{Inputs: in, Epsilon: eps, Outcomes: Labels, Properties: properties, Targets: map[verify.Property]*big.Rat{verify.ZCDP: big.NewRat(1, 1)}, Slack: slack}
	return rows.Audit(context.Background(), false, o)
}

// Data sets of different lengths are neighbors where a row was added. The mechanism's ratios, by hand: 2/3 : 1/2, 1/3 : 1/2, hence e^ε = 3/2.
var addRemove = []string{
	`{"input":[3,1],"pmf":{"yes":"2/3","no":"1/3"}}`,
	`{"input":[3],"pmf":{"yes":"1/2","no":"1/2"}}`,
	`{"input":{"rows":[]},"pmf":{"no":"1"}}`,
}

// The pairs of datasets are those of all that differ in a row, by two loops over all lists, and are made once, whatever the inputs hold.
func TestRowPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		in, rows := &Inputs{}, map[string]bool{}
		var given []string
		for range 1 + random.IntN(4) {
			list := []string{}
			for range random.IntN(4) {
				row := []string{"1", `"a"`, `{"x":1}`}[random.IntN(3)]
				list, rows[row] = append(list, row), true
			}
			text := "[" + strings.Join(list, ", ") + "]"
			given = append(given, text)
			require.NoError(t, in.Add(json.RawMessage(text)))
		}
		replace := random.IntN(2) == 0
		require.NoError(t, in.AddRowPairs(replace))
		parse := func(text string) (list []string) {
			var values []json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(text), &values))
			for _, v := range values {
				list = append(list, string(v))
			}
			return list
		}
		got, want := map[[2]string]bool{}, map[[2]string]bool{}
		both := func(m map[[2]string]bool, a, b []string) {
			x, y := strings.Join(a, ","), strings.Join(b, ",")
			m[[2]string{min(x, y), max(x, y)}] = true
		}
		for _, p := range in.Pairs {
			both(got, parse(string(in.Values[p.From])), parse(string(in.Values[p.To])))
		}
		assert.Len(t, got, len(in.Pairs))
		for _, text := range given {
			list := parse(text)
			for i := range list {
				less := append(append([]string{}, list[:i]...), list[i+1:]...)
				if !replace {
					both(want, list, less)
				}
				for row := range rows {
					if other := append(append(append([]string{}, list[:i]...), row), list[i+1:]...); replace && row != list[i] {
						both(want, list, other)
					}
				}
			}
		}
		assert.Equal(t, want, got, "%v", given)
	}
	in := &Inputs{}
	require.NoError(t, in.Add(json.RawMessage(`{"rows":[]}`)))
	assert.ErrorContains(t, in.AddRowPairs(true), "is not a list of rows")
	in = &Inputs{}
	long, err := json.Marshal(random.Perm(400))
	require.NoError(t, err)
	require.NoError(t, in.Add(long))
	assert.ErrorContains(t, in.AddRowPairs(true), "about 160000 pairs, of at most 100000")
}

func TestInputs(t *testing.T) {
	for _, c := range []struct {
		name, exp string
		pairs     []string
		verdict   verify.Verdict
		tight     string // e^ε, "" for ∞
		witness   string
	}{
		{"proved", "3/2", []string{"0,1"}, verify.Proved, "3/2", ""},
		{"violated", "1.49", []string{"[[3], [3,1]]"}, verify.Violated, "3/2", `{"input":[3],"neighbor_input":[3,1],"candidate":"no",`},
		{"support", "100", []string{"1,2"}, verify.Violated, "", `{"input":[3],"neighbor_input":{"rows":[]},"candidate":"yes",`},
		{"one way", "4/3", []string{"oneway", "0,1"}, verify.Proved, "4/3", ""},
		{"the other way", "4/3", []string{"oneway", "1,0"}, verify.Violated, "3/2", `{"input":[3],"neighbor_input":[3,1],"candidate":"no",`},
		{"to a wider support", "2", []string{"oneway", "2,1"}, verify.Proved, "2", ""},
		{"to a narrower one", "2", []string{"oneway", "1,2"}, verify.Violated, "", `{"input":[3],"neighbor_input":{"rows":[]},"candidate":"yes",`},
	} {
		r, err := rowsOf(t, c.exp, addRemove, c.pairs, verify.DP, verify.Sum)
		require.NoError(t, err, c.name)
		dp := r.Find(verify.DP)
		assert.Equal(t, c.verdict, dp.Verdict, "%s: %v", c.name, r)
		assert.Equal(t, verify.Proved, r.Find(verify.Sum).Verdict, c.name)
		if c.tight == "" {
			assert.True(t, r.TightEps.IsInf(), c.name)
		} else {
			require.NotNil(t, dp.TightExpEps, c.name)
			assert.Equal(t, c.tight, dp.TightExpEps.RatString(), c.name)
		}
		doc, err := json.Marshal(r.Witness)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(string(doc), c.witness), "%s: %s", c.name, doc)
		assert.NotContains(t, string(doc), "scores")
	}
}

// Counts 0, 1, 2 with probabilities of "low" 4/7, 2/7, 1/7: the ratios of neighbors are at most 2, and those at distance 2 at most 4. Whatever the distance, the
// tight ε is in its unit, and so are the range, ρ (in its square) and what is proved.
var counts0to2 = []string{
	`{"input":0,"pmf":{"low":"4/7","high":"3/7"}}`,
	`{"input":1,"pmf":{"low":"2/7","high":"5/7"}}`,
	`{"input":2,"pmf":{"low":"1/7","high":"6/7"}}`,
}

// The tight ε of inputs at distance 4 is (ln 2)/2, which exceeds ln 1.41 by 0.00298: a slack is in the unit of ε, too.
func TestSlackAtADistance(t *testing.T) {
	for slack, want := range map[string]verify.Verdict{"0.0029": verify.Violated, "0.003": verify.Proved} {
		s, _ := new(big.Rat).SetString(slack)
		r, err := rowsWithin(t, "1.41", s, counts0to2, []string{"0,2,4"}, verify.DP)
		require.NoError(t, err)
		assert.Equal(t, want, r.Find(verify.DP).Verdict, "slack %s: %v", slack, r)
	}
}

func TestDistances(t *testing.T) {
	for _, c := range []struct {
		pairs   []string
		exp     string
		verdict verify.Verdict
		tight   float64
	}{
		{[]string{"0,1", "1,2"}, "2", verify.Proved, math.Ln2},
		{[]string{"0,1", "1,2", "0,2,2"}, "2", verify.Proved, math.Ln2},
		{[]string{"0,1", "1,2", "0,2,1.99"}, "2", verify.Violated, 2 * math.Ln2 / 1.99},
		{[]string{"0,2,4"}, "1.5", verify.Proved, math.Ln2 / 2},
		{[]string{"0,2,4"}, "1.41", verify.Violated, math.Ln2 / 2}, // of √2
		{[]string{`[0,1,"1/2"]`}, "3.9", verify.Violated, 2 * math.Ln2},
		{[]string{`[0,1,"1/2"]`}, "4", verify.Proved, 2 * math.Ln2},
	} {
		r, err := rowsOf(t, c.exp, counts0to2, c.pairs, verify.DP, verify.BoundedRange, verify.ZCDP)
		require.NoError(t, err)
		assert.Equal(t, c.verdict, r.Find(verify.DP).Verdict, "%v: %v", c.pairs, r)
		assert.InDelta(t, c.tight, r.TightEps.Float64(), 1e-9, "%v", c.pairs)
		if c.verdict == verify.Violated {
			assert.NotNil(t, r.Witness.Input)
		}
	}
	near, err := rowsOf(t, "2", counts0to2, []string{"0,2"}, verify.DP, verify.BoundedRange, verify.ZCDP)
	require.NoError(t, err)
	far, err := rowsOf(t, "2", counts0to2, []string{"0,2,3"}, verify.DP, verify.BoundedRange, verify.ZCDP)
	require.NoError(t, err)
	assert.InDelta(t, math.Log(4*2), near.Find(verify.BoundedRange).Range.Float64(), 1e-9) // 4 and 1/2
	assert.InDelta(t, math.Log(8)/3, far.Find(verify.BoundedRange).Range.Float64(), 1e-9)
	assert.InEpsilon(t, near.Find(verify.ZCDP).Rho.Float64()/9, far.Find(verify.ZCDP).Rho.Float64(), 1e-3)
	one, ok := far.Find(verify.ZCDP).Target.Rat()
	require.True(t, ok)
	assert.Equal(t, "1", one.RatString())
	_, err = rowsOf(t, "2", counts0to2, []string{"0,2,3"}, verify.RDP)
	assert.ErrorIs(t, err, errOptions)
}

// Directions of the other properties: where a pair is looked at in its order alone, the least δ and the Rényi divergences are those of that order.
func TestOneWay(t *testing.T) {
	find := func(pairs []string, p verify.Property) *verify.Result {
		r, err := rowsOf(t, "1.25", addRemove, pairs, p)
		require.NoError(t, err)
		return r.Find(p)
	}
	delta := func(pairs ...string) string {
		x, ok := find(pairs, verify.ApproximateDP).TightDelta.Rat()
		require.True(t, ok)
		return x.RatString()
	}
	assert.Equal(t, "1/24", delta("oneway", "0,1")) // 2/3 - 5/4 · 1/2
	assert.Equal(t, "1/12", delta("oneway", "1,0")) // 1/2 - 5/4 · 1/3
	assert.Equal(t, "1/12", delta("0,1"))
	order := func(pairs ...string) float64 { return find(pairs, verify.RDP).Orders[0][1].Float64() }
	assert.InDelta(t, math.Log(8./9+2./9), order("oneway", "0,1"), 1e-12) // of order 2: Σ p²/o
	assert.InDelta(t, math.Log(3./8+3./4), order("oneway", "1,0"), 1e-12)
	assert.InDelta(t, math.Log(3./8+3./4), order("0,1"), 1e-12)
	assert.Equal(t, verify.Proved, find([]string{"oneway", "0,1"}, verify.ZCDP).Verdict)
	assert.Less(t, find([]string{"oneway", "0,1"}, verify.ZCDP).Rho.Float64(), find([]string{"oneway", "1,0"}, verify.ZCDP).Rho.Float64())
	assert.Equal(t, verify.Undecided, find([]string{"oneway", "2,1"}, verify.ZCDP).Verdict) // D_α is ln 2, and the method does not know
	assert.Equal(t, verify.Violated, find([]string{"oneway", "1,2"}, verify.ZCDP).Verdict)
}

// Lists say what is about which index, as long as they may be; the input is passed on as it was written.
func TestInputsOfPrograms(t *testing.T) {
	in := &Inputs{Values: []json.RawMessage{[]byte(`[1, 2.50]`), []byte(`"x"`), []byte(`{"a":null}`)}, Pairs: []InputPair{{From: 0, To: 1}}}
	program := `while read q; do case $q in '{"input":[1, 2.50],"epsilon":0.7,"sensitivity":1}') echo '{"pmf":["1/2","1/2"]}';; *a*) echo '{"error":"a"}';; *) echo '{"pmf":["1/2","1/4","1/4"]}';; esac; done`
	o := Options{Inputs: in, Epsilon: epsilon(t, "0.7")}
	r, err := pmfOf(context.Background(), program, o)
	require.NoError(t, err)
	assert.True(t, r.TightEps.IsInf(), "%v", r)
	require.NotNil(t, r.Witness.Candidate)
	assert.Equal(t, 2, *r.Witness.Candidate)
	assert.Equal(t, `"x"`, string(r.Witness.Input))
	require.Len(t, r.Findings, 1) // the sum is about every input
	assert.Contains(t, r.Findings[0].String(), `error: input {"a":null}: said error`)
	doc, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Contains(t, string(doc), `"input":{"a":null},"times":`)
}

// response answers truthfully with probability e^ε/(1+e^ε): exactly ε-DP.
type response struct {
	eps float64
	rng *rand.Rand
}

func (r response) Sample(q inquiry.Vector, samples int64) ([]int64, string, error) {
	counts := make([]int64, 2)
	for range samples {
		out := q[0]
		if r.rng.Float64() >= 1/(1+math.Exp(-r.eps)) {
			out = 1 - out
		}
		counts[out]++
	}
	return counts, "", nil
}

// TestSampledInputs: a bound on ε is in the unit of distance 1, and what a pair may do at a distance is not a violation.
func TestSampledInputs(t *testing.T) {
	for _, c := range []struct {
		distance, claimed string
		violated          bool
		low, high         float64
	}{{"1", "0.7", true, 0.85, 1}, {"2", "0.45", true, 0.42, 0.5}, {"2", "0.5", false, 0.42, 0.5}, {"1/2", "1.7", true, 1.7, 2}} {
		d, ok := new(big.Rat).SetString(c.distance)
		require.True(t, ok)
		o := samplerOptions(t, c.claimed, 100_000)
		o.Inputs = &Inputs{Values: []json.RawMessage{[]byte("false"), []byte("true")}, Pairs: []InputPair{{0, 1, d}}}
		r, err := draw("response", response{1, rand.New(rand.NewPCG(1, 2))}, o)
		require.NoError(t, err)
		name := fmt.Sprintf("%+v: %v", c, r)
		assert.Equal(t, c.violated, r.Find(verify.DP).Verdict == verify.Violated, name)
		assert.Less(t, c.low, r.LowerBound.Float64(), name)
		assert.LessOrEqual(t, r.LowerBound.Float64(), c.high, name)
		require.NotNil(t, r.Find(verify.DP).Attained)
		assert.NotNil(t, r.Find(verify.DP).Attained.NeighborInput)
	}
	// One way: no event is likelier from 0 to 1 by more than e^0.69…, though one is from 1 to 0.
	o := samplerOptions(t, "0.3", 100_000)
	o.Inputs = &Inputs{Values: []json.RawMessage{[]byte("0"), []byte("1")}, Pairs: []InputPair{{From: 0, To: 1}}, OneWay: true}
	for _, c := range []struct {
		from     int
		violated bool
	}{{0, false}, {1, true}} {
		o.Inputs.Pairs[0] = InputPair{From: c.from, To: 1 - c.from}
		r, err := draw("one-sided", oneSided{rand.New(rand.NewPCG(1, 2))}, o)
		require.NoError(t, err)
		assert.Equal(t, c.violated, r.Find(verify.DP).Verdict == verify.Violated, "%d: %v", c.from, r)
	}
}

// oneSided gives outcome 1 with probability 1/20 at input 0 and 1/4 at input 1: ratios of at most 19/15 one way, and of 5 the other way.
type oneSided struct{ rng *rand.Rand }

func (s oneSided) Sample(q inquiry.Vector, samples int64) ([]int64, string, error) {
	counts := make([]int64, 2)
	for range samples {
		if s.rng.Float64() < []float64{0.05, 0.25}[q[0]] {
			counts[1]++
		} else {
			counts[0]++
		}
	}
	return counts, "", nil
}

func FuzzAddPair(f *testing.F) {
	for _, text := range []string{"0,1", "0,1,2", `["a",[1]]`, `["a",[1],"1/2"]`, "0", "[", "0,1,-1", "0,9", "-1,0", `[1,2]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return // such lines are left out
		}
		in := &Inputs{}
		require.NoError(t, errors.Join(in.Add([]byte(`"a"`)), in.Add([]byte(`[1]`))))
		if in.AddPair(text) != nil {
			assert.Empty(t, in.Pairs)
			return
		}
		p := in.Pairs[0]
		assert.Less(t, max(p.From, p.To), 2)
		assert.GreaterOrEqual(t, min(p.From, p.To), 0)
		assert.True(t, p.Distance == nil || p.Distance.Sign() > 0)
	})
}

// FuzzReadLine: what is read of a stream is what encoding/json reads, and can be added.
func FuzzReadLine(f *testing.F) {
	for _, text := range []string{`{"input":3,"neighbors":[2,4]}`, `{"input":[1],"neighbors":{"add":[[1,2]],"replace":[]}}`, `{"input":1,"neighbors":null}`, `{"input":1,"input":2,"neighbors":[]}`, "[1]", `{"neighbors":{"a":1},"input":{}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ReadLine(text)
		if err != nil {
			return
		}
		var plain struct{ Input, Neighbors any }
		require.NoError(t, json.Unmarshal([]byte(text), &plain))
		require.NotEmpty(t, l.Neighbors)
		in, count := &Inputs{}, 0
		require.NoError(t, in.Add(l.Input))
		for name, list := range l.Neighbors {
			count += len(list)
			for _, value := range list {
				require.NoError(t, in.Add(value))
			}
			sent := false
			own := &Inputs{Relation: name, Next: func() (Line, bool) { sent = !sent; return l, sent }}
			require.NoError(t, own.whole())
			require.LessOrEqual(t, len(own.Pairs), len(list))
		}
		require.Len(t, in.Values, 1+count)
	})
}
