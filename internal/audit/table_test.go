package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/number"
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
	rows, err := ReadTable(strings.NewReader(laplaceTable()), "laplace", Index, o.Precision)
	require.NoError(t, err)
	require.Len(t, rows.PMF, 81)
	r, err := rows.Audit(context.Background(), false, o)
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
	r, err = rows.Audit(context.Background(), false, o)
	require.NoError(t, err)
	require.Equal(t, verify.Violated, r.Find(verify.DP).Verdict)
	require.NotNil(t, r.Witness.Neighbor)
}

func TestNeighborsOfATable(t *testing.T) {
	rows, err := ReadTable(strings.NewReader(`{"scores":[0,0],"pmf":["1/2","1/2"]}
{"scores":[0,-2],"pmf":["3/4","1/4"]}
{"scores":[0.5,0.5],"pmf":["1/2",0.5]}
{"scores":[1,0],"pmf":["5/8",0.375]}`), "few", Index, new(big.Rat))
	require.NoError(t, err)
	for _, c := range []struct {
		rising  bool
		shifted bool
		pairs   int64
	}{{false, false, 3}, {false, true, 6}, {true, false, 2}, {true, true, 4}} {
		o := tableOptions(t)
		o.Monotonic, o.Properties = c.rising, []verify.Property{verify.DP}
		r, err := rows.Audit(context.Background(), c.shifted, o)
		require.NoError(t, err)
		require.Equal(t, 4*c.pairs, r.Find(verify.DP).Checked, "%v", c)
	}
}

// Rows that are no distribution decide nothing, and are named: with their sum, or the number that is negative.
func TestRowsThatAreNoDistribution(t *testing.T) {
	for _, c := range []struct{ table, finding string }{
		{`{"scores":[0,-1],"pmf":["0.5","0.4"]} {"scores":[1,0],"pmf":["0.6","0.4"]} {"scores":[0,1],"pmf":["0.4","0.6"]} {"scores":[0,0],"pmf":["0.5","0.4"]}`,
			"no distribution: scores (0, -1): the probabilities sum to 0.9: were they divided by their sum? (the first of 2 of this kind)"},
		{`{"scores":[0,-1],"pmf":["0.5","0.4"]} {"scores":[1,0],"pmf":["0.5","0.4"]} {"scores":[0,1],"pmf":["0.4","0.5"]} {"scores":[0,0],"pmf":["0.45","0.45"]}`,
			"no distribution: scores (0, -1): the probabilities sum to 0.9: were they divided by their sum? (the first of 4 of this kind)"},
		{`{"scores":[0,0,0],"pmf":["1/5","1/5","1/5"]} {"scores":[1,0,0],"pmf":["1/6","1/5","1/5"]}`,
			"no distribution: scores (0, 0, 0): the probabilities sum to 0.6: were they divided by their sum? (the first of 2 of this kind)"},
		{`{"scores":[0,-1],"pmf":[0,0]} {"scores":[0,0],"pmf":[0.5,0.5]}`,
			"no distribution: scores (0, -1): the probabilities sum to 0: subtract the best score before exp, so that it neither overflows nor gives 0 everywhere"},
		{`{"scores":[0,-1],"pmf":[1.5,-0.5]} {"scores":[0,0],"pmf":[0.5,0.5]}`,
			"no distribution: scores (0, -1): candidate 1 has the probability -0.5"},
		{`{"scores":[0,-1],"pmf":[0.6667,0.3334]} {"scores":[0,0],"pmf":[0.5,0.5]}`,
			"no distribution: scores (0, -1): the probabilities sum to 1.0001: print more digits, or fractions in strings, or set pmf-precision to what they have, such as 1e-3"},
		{`{"scores":[0,-1],"pmf":{"a":0.5,"b":0.25}} {"scores":[0,0],"pmf":{"a":0.5,"b":0.5}}`,
			"no distribution: scores (0, -1): the probabilities sum to 0.75: were they divided by their sum?"},
		{`{"scores":[0,-1],"pmf":{"a":1.5,"b":-0.5}} {"scores":[0,0],"pmf":{"a":1}}`,
			`no distribution: scores (0, -1): output "b" has the probability -0.5`},
		{`{"scores":[0,-1],"pmf":[0.666666667,0.333333334]} {"scores":[0,0],"pmf":[0.5,0.5]}`, ""}, // 1 in some reading
	} {
		o := tableOptions(t)
		o.Properties, o.Epsilon = []verify.Property{verify.DP, verify.Symmetry, verify.Shift, verify.Monotone}, epsilon(t, "4")
		if strings.Contains(c.table, `"a"`) {
			o.Outcomes, o.Properties = Labels, []verify.Property{verify.DP}
		}
		rows, err := ReadTable(strings.NewReader(strings.ReplaceAll(c.table, "} {", "}\n{")), "few", o.Outcomes, o.Precision)
		require.NoError(t, err)
		r, err := rows.Audit(context.Background(), false, o)
		require.NoError(t, err)
		answers := r.Find(Answers)
		require.EqualValues(t, len(rows.PMF), answers.Checked)
		if c.finding == "" {
			require.Equal(t, verify.Proved, answers.Verdict)
			require.Empty(t, r.Findings)
			continue
		}
		require.Equal(t, verify.Violated, r.Verdict())
		require.Equal(t, verify.Violated, answers.Verdict)
		require.Equal(t, c.finding, answers.Reason)
		for _, p := range r.Properties {
			if p.Name != Answers {
				require.Equal(t, verify.Undecided, p.Verdict, "%s of %s: %s", p.Name, c.table, p)
			}
		}
	}
}

// A table is that of a mechanism where its numbers are, for certain: neither a row that is not a distribution nor coarse numbers say so, or refute it.
func TestTablesAgainstAMechanism(t *testing.T) {
	for _, c := range []struct {
		table, precision string
		want             verify.Verdict
	}{
		{`{"scores":[0,-1],"pmf":["1/2","1/2"]}`, "0", verify.Proved},
		{`{"scores":[0,-1],"pmf":[0.5,0.5]}`, "1e-9", verify.Proved},
		{`{"scores":[0,-1],"pmf":[0.5,0.5]}`, "1/10", verify.Undecided},
		{`{"scores":[0,-1],"pmf":["1/2","1/4"]}`, "0", verify.Undecided},
		{`{"scores":[0,-1],"pmf":["1/2","1/4"]} {"scores":[0,0],"pmf":["1/3","2/3"]}`, "0", verify.Violated},
	} {
		o := tableOptions(t)
		var err error
		o.Against, err = mechanisms.Lookup("uniform")
		require.NoError(t, err)
		o.Precision, _ = new(big.Rat).SetString(c.precision)
		rows, err := ReadTable(strings.NewReader(strings.ReplaceAll(c.table, "} {", "}\n{")), "t", Index, o.Precision)
		require.NoError(t, err)
		r, err := rows.Audit(context.Background(), false, o)
		require.NoError(t, err)
		require.Equal(t, c.want, r.Find(Against).Verdict, "%v: %v", c, r)
	}
}

// tableVerdicts audits a table given as pairs of scores and fractions.
func tableVerdicts(t *testing.T, o Options, shifted bool, rows ...[2]string) map[verify.Property]*verify.Result {
	t.Helper()
	var text strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&text, "{\"scores\":[%s],\"pmf\":[\"%s\"]}\n", row[0], strings.ReplaceAll(row[1], ",", `","`))
	}
	table, err := ReadTable(strings.NewReader(text.String()), "table", Index, new(big.Rat))
	require.NoError(t, err)
	r, err := table.Audit(context.Background(), shifted, o)
	require.NoError(t, err)
	out := map[verify.Property]*verify.Result{}
	for i, p := range r.Properties {
		out[p.Name] = &r.Properties[i]
	}
	require.Contains(t, r.Domain, "its "+counted(len(rows), "row"))
	return out
}

func TestTablesAreComparedOnAllRelatedRows(t *testing.T) {
	o := tableOptions(t)
	o.Epsilon = epsilon(t, "5")
	r := tableVerdicts(t, o, false, [2]string{"1,0,1", "1/2,1/4,1/4"}) // tied candidates differ
	require.Equal(t, verify.Violated, r[verify.Symmetry].Verdict)
	r = tableVerdicts(t, o, false, [2]string{"1,2,3", "1/5,1/5,3/5"}, [2]string{"2,1,3", "1/5,2/5,2/5"})
	require.Equal(t, verify.Violated, r[verify.Symmetry].Verdict)
	require.Empty(t, r[verify.Symmetry].Reason)
	r = tableVerdicts(t, o, false, [2]string{"0,0,0", "1/3,1/3,1/3"}, [2]string{"0,-1,-2", "1/5,2/5,2/5"})
	require.Equal(t, verify.Violated, r[verify.Monotone].Verdict) // candidate 0 is the same and all others lower
	require.Equal(t, verify.Violated, r[verify.DominatesEM].Verdict)
	// Swapped and shifted by 3: neither a permutation nor a shift alone relates the two.
	r = tableVerdicts(t, o, false, [2]string{"0,-1", "2/3,1/3"}, [2]string{"2,3", "1/4,3/4"})
	// A mechanism that is symmetric but not shift-invariant may have these rows.
	require.Equal(t, verify.Undecided, r[verify.Symmetry].Verdict)
	require.Contains(t, r[verify.Symmetry].Reason, "or the mechanism is not shift-invariant")
	require.Equal(t, verify.Undecided, r[verify.Shift].Verdict)
}

func TestGivenPairsOfATable(t *testing.T) {
	o := tableOptions(t)
	pair := func(a, b int64) [2][]*big.Rat {
		return [2][]*big.Rat{{big.NewRat(a, 1), new(big.Rat)}, {big.NewRat(b, 1), new(big.Rat)}}
	}
	rows := [][2]string{{"0,0", "1/2,1/2"}, {"5,0", "99/100,1/100"}, {"1,0", "1/2,1/2"}}
	require.Equal(t, verify.Proved, tableVerdicts(t, o, false, rows...)[verify.DP].Verdict)
	o.Pairs = [][2][]*big.Rat{pair(0, 5)}
	dp := tableVerdicts(t, o, false, rows...)[verify.DP]
	require.Equal(t, verify.Violated, dp.Verdict)
	require.EqualValues(t, 4, dp.Checked)
	require.Equal(t, "50/1", dp.TightExpEps.String())
	o.Pairs = [][2][]*big.Rat{pair(0, 1)}
	require.Equal(t, verify.Proved, tableVerdicts(t, o, false, rows...)[verify.DP].Verdict)
	for _, b := range []int64{2, 7} { // no such row
		o.Pairs = [][2][]*big.Rat{pair(0, 1), pair(0, b)}
		table, err := ReadTable(strings.NewReader(`{"scores":[0,0],"pmf":[0.5,0.5]}`+"\n"+`{"scores":[1,0],"pmf":[0.5,0.5]}`), "t", Index, new(big.Rat))
		require.NoError(t, err)
		_, err = table.Audit(context.Background(), false, o)
		require.ErrorContains(t, err, fmt.Sprintf("pair 2 of neighbors: the scores (%d, 0) are in no row of t", b))
	}
}

func TestNothingCheckedIsNothingProved(t *testing.T) {
	o := tableOptions(t)
	o.Properties = verify.All()
	r := tableVerdicts(t, o, false, [2]string{"0,-2", "9/10,1/10"})
	for name, p := range r {
		if slices.Contains([]verify.Property{verify.Sum, verify.DominatesEM, verify.DominatesEMMean, Answers}, name) {
			require.Equal(t, verify.Proved, p.Verdict, "%s: %s", name, p.Reason)
			continue
		}
		require.Equal(t, verify.Undecided, p.Verdict, name)
		require.Contains(t, p.Reason, "nothing to check: there are no ")
		require.False(t, p.TightEps.IsValid())
	}
}

// Exact numbers are a distribution if they sum to exactly 1, however little is missing: nothing is proved of others.
func TestExactNumbersSumExactly(t *testing.T) {
	o := tableOptions(t)
	o.Properties = []verify.Property{verify.DP, verify.ApproximateDP}
	o.Targets = atDelta(big.NewRat(1, 10))
	for last, want := range map[string]verify.Verdict{
		"1/2":                                  verify.Proved,
		"50000000000000001/100000000000000000": verify.Undecided,
		"49999999999999999/100000000000000000": verify.Undecided,
	} {
		r := tableVerdicts(t, o, false, [2]string{"0,0", "1/2,1/2"}, [2]string{"1,0", "1/2," + last})
		for _, p := range o.Properties {
			require.Equal(t, want, r[p].Verdict, "%s: %s", p, last)
		}
		if want == verify.Undecided {
			require.Contains(t, r[Answers].Reason, "scores (1, 0): the probabilities sum to 1"+map[bool]string{true: "+", false: "-"}[last[0] == '5']+"1e-17: ")
		}
	}
}

// TestRandomTablesAgreeWithTheDefinitions decides small random tables by the definitions, every pair of rows, permutation,
// shift and candidate, in rational numbers. Some have rows that are no distribution.
func TestRandomTablesAgreeWithTheDefinitions(t *testing.T) {
	rng := rand.New(rand.NewPCG(943, 1))
	o := tableOptions(t)
	seen := map[string]int{}
	for range 943 {
		n, rows := 1+rng.IntN(3), 1+rng.IntN(4)
		limit := []*big.Rat{big.NewRat(2, 1), big.NewRat(3, 1)}[rng.IntN(2)] // e^ε
		var err error
		o.Epsilon, err = number.ParseExp(limit.RatString())
		require.NoError(t, err)
		o.Monotonic = rng.IntN(2) == 1
		shifted := rng.IntN(3) == 0
		scores, probs := [][]int64{}, [][]*big.Rat{}
		var text [][2]string
		known := map[string]bool{}
		fair := rng.IntN(2) == 0
		for range rows {
			q, p, cells := make([]int64, n), make([]*big.Rat, n), make([]string, n)
			weight, total := make([]int64, n), int64(0)
			for r := range q {
				q[r] = rng.Int64N(4)
			}
			for r := range q {
				weight[r] = 1 + rng.Int64N(3)
				if fair { // symmetric and monotone, but for what is done to it below
					weight[r] = 1 << (q[r] - slices.Min(q))
				}
				total += weight[r]
			}
			if rng.IntN(4) == 0 {
				weight[rng.IntN(n)]++
				total++
			}
			for r := range q {
				p[r] = big.NewRat(weight[r], total)
			}
			if rng.IntN(8) == 0 {
				p[0].Add(p[0], big.NewRat(rng.Int64N(9)-4, 16))
			}
			for r := range q {
				cells[r] = p[r].String()
			}
			key := strings.Trim(strings.ReplaceAll(fmt.Sprint(q), " ", ","), "[]")
			if known[key] {
				continue
			}
			known[key] = true
			scores, probs, text = append(scores, q), append(probs, p), append(text, [2]string{key, strings.Join(cells, ",")})
		}
		got := tableVerdicts(t, o, shifted, text...)
		for name, want := range byDefinition(scores, probs, limit, o.Monotonic, shifted) {
			require.Equal(t, want, got[name].Verdict, "%s of %v, %v, shifted %v: %v %s", name, text, o.Monotonic, shifted, got[name].Witness, got[name].Reason)
			seen[string(name)+" "+string(want)]++
		}
	}
	for _, name := range []verify.Property{verify.DP, verify.Symmetry, verify.Shift, verify.Monotone} {
		for _, verdict := range []verify.Verdict{verify.Proved, verify.Violated, verify.Undecided} {
			require.Greater(t, seen[string(name)+" "+string(verdict)], 20, "%s %s: %v", name, verdict, seen)
		}
	}
}

// byDefinition is an audit of a table that shares nothing with the package.
func byDefinition(scores [][]int64, probs [][]*big.Rat, limit *big.Rat, monotonic, shifted bool) map[verify.Property]verify.Verdict {
	out := map[verify.Property]verify.Verdict{Answers: verify.Proved}
	open := map[verify.Property]bool{} // rows related by the property and a shift contradict it, or one is not a distribution
	low, high, wrong, nonsense := make([][]*big.Rat, len(probs)), make([][]*big.Rat, len(probs)), make([]bool, len(probs)), make([]bool, len(probs))
	for i, p := range probs { // what the numbers may be where what the sum misses belongs to any of them
		off := big.NewRat(-1, 1)
		for _, x := range p {
			off.Add(off, x)
			nonsense[i] = nonsense[i] || x.Sign() < 0
		}
		wrong[i] = off.Sign() != 0 || nonsense[i]
		for _, x := range p {
			l, h := x, x
			if off.Sign() > 0 {
				l = new(big.Rat).Sub(x, off)
			} else {
				h = new(big.Rat).Sub(x, off)
			}
			low[i], high[i] = append(low[i], l), append(high[i], h)
		}
		if wrong[i] {
			out[Answers], open[verify.Symmetry] = verify.Violated, true
		}
	}
	note := func(p verify.Property, i, j int, holds bool, c int64) {
		bad := wrong[i] || wrong[j]
		open[p] = open[p] || bad
		switch {
		case p == verify.DP && (nonsense[i] || nonsense[j]) || p != verify.DP && bad:
		case !holds && c != 0 && (p == verify.Symmetry || p == verify.Monotone):
			open[p] = true
		case !holds:
			out[p] = verify.Violated
		case out[p] == "":
			out[p] = verify.Proved
		}
	}
	for i, a := range scores {
		for j, b := range scores {
			for c := int64(-8); c <= 8; c++ { // b + c is what is compared with a
				between := func(low, high int64) bool {
					for r := range a {
						if d := b[r] + c - a[r]; d < low || d > high {
							return false
						}
					}
					return true
				}
				near := between(-1, 1)
				if monotonic {
					near = between(0, 1) || between(-1, 0)
				}
				moved := i != j && between(0, 0) // by a shift alone: that is no question of order
				for _, order := range permutations(len(a)) {
					same, identity := true, true
					for r := range a {
						same = same && b[order[r]]+c == a[r]
						identity = identity && order[r] == r
					}
					for r, s := range order {
						if same && !moved && !(i == j && r == s) {
							note(verify.Symmetry, i, j, probs[i][r].Cmp(probs[j][s]) == 0, c)
						}
						if !identity || i == j {
							continue
						}
						if same {
							note(verify.Shift, i, j, probs[i][r].Cmp(probs[j][r]) == 0, c)
						}
						if near && (shifted || c == 0) {
							note(verify.DP, i, j, low[i][r].Cmp(new(big.Rat).Mul(limit, high[j][r])) <= 0, c)
						}
						better := b[r]+c >= a[r]
						for o := range a {
							better = better && (o == r || b[o]+c <= a[o])
						}
						if better {
							note(verify.Monotone, i, j, probs[j][r].Cmp(probs[i][r]) >= 0, c)
						}
					}
				}
			}
		}
	}
	for _, p := range []verify.Property{verify.DP, verify.Symmetry, verify.Shift, verify.Monotone} {
		if out[p] == "" || out[p] == verify.Proved && open[p] {
			out[p] = verify.Undecided
		}
	}
	return out
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var out [][]int
	for _, shorter := range permutations(n - 1) {
		for at := range n {
			out = append(out, slices.Insert(slices.Clone(shorter), at, n-1))
		}
	}
	return out
}

func TestTableWithoutTime(t *testing.T) {
	rows, err := ReadTable(strings.NewReader(laplaceTable()), "laplace", Index, big.NewRat(1, 1e9))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := rows.Audit(ctx, false, tableOptions(t))
	require.NoError(t, err)
	for _, p := range r.Properties {
		require.Equal(t, p.Name != Answers, p.Verdict == verify.Undecided, p.Name)
	}
}

// TestTablesInCSV: scores are exact, and so are fractions; other probabilities are numbers, as in JSON. A first line may name the columns.
func TestTablesInCSV(t *testing.T) {
	precision := big.NewRat(1, 1e9)
	want, err := ReadTable(strings.NewReader(`{"scores":["0","-0.1"],"pmf":["2/3",0.333]}`), "x", Index, precision)
	require.NoError(t, err)
	for _, text := range []string{"0, -0.1, 2/3, 0.333\n", "a,b,pa,pb\r\n0;-0.1;2/3;0.333", "\"a\",\"b\",\"c\",\"d\"\n\n0\t-0.1\t2/3\t0.333"} {
		got, err := ReadTable(strings.NewReader(text), "x", Index, precision)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, bad := range []string{"0,-1,2/3\n", "0,x,1,0\n0,1\n", "a,b\nc,d\n", "a\n0,1\n"} {
		_, err := ReadTable(strings.NewReader(bad), "x", Index, precision)
		require.ErrorContains(t, err, "or in CSV 0,-1,0.7,0.3", bad)
	}
}

func TestTablesThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "bad: it is empty",
		"x":                                  "bad:1: not JSON: invalid character 'x'",
		"[]":                                 "bad:1: not a JSON object; each line is an object such as",
		"\n{\"scores\":0,\"pmf\":[1]}":       "bad:2: the scores \"0\" are not a list",
		"\n{\"scores\":[],\"pmf\":[]}":       "bad:2: this row has no scores",
		`{"scores":[0],"pmf":[1,0]}`:         "bad:1: answered 2 probabilities for 1 scores",
		`{"scores":["a"],"pmf":[1]}`:         "bad:1: score 1",
		`{"scores":[0],"pmf":["1/0"]}`:       "bad:1: answered",
		`{"scores":[1e99999999],"pmf":[1]}`:  "bad:1: score 1",
		`{"scores":[0],"pmf":[1]} trailing`:  "bad:1: not JSON: invalid character 't' after",
		`{"scores":[0],"pmf":["1/3", null]}`: "bad:1: answered 2",
		`{"scores":[0],"pmf":[1],"pmf":[1]}`: "bad:1: the key \"pmf\" is there twice",
		`{"Scores":[0],"pmf":[1]}`:           "bad:1: this row has no scores",
		"\xef\xbb\xbf{}":                     "bad:1: not JSON: it begins with a byte-order mark",
	} {
		_, err := ReadTable(strings.NewReader(text), "bad", Index, new(big.Rat))
		require.ErrorIs(t, err, errTable, text)
		require.ErrorContains(t, err, want)
	}
	o := tableOptions(t)
	for _, text := range []string{
		"{\"scores\":[0],\"pmf\":[1]}\n{\"scores\":[0],\"pmf\":[1]}",
		"{\"scores\":[0],\"pmf\":[1]}\n{\"scores\":[0,0],\"pmf\":[1,0]}",
	} {
		rows, err := ReadTable(strings.NewReader(text), "bad", Index, new(big.Rat))
		require.NoError(t, err)
		_, err = rows.Audit(context.Background(), false, o)
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
		list := &labelled{list: true, n: 2}
		p, err := list.parsePMF(line, big.NewRat(1, 1000))
		if err == nil {
			require.Len(t, p, 2)
		}
		counts, err := list.parse(line, 3)
		if err == nil {
			require.Equal(t, int64(3), counts[0]+counts[1])
			require.GreaterOrEqual(t, min(counts[0], counts[1]), int64(0))
		}
	})
}

func TestCounts(t *testing.T) {
	for text, want := range map[string][]int64{
		`{"counts":[1,2]}`:                {1, 2},
		`{"counts":[1,2.0],"note":1}`:     {1, 2},
		" { \"counts\" :\t[ 0 , 3 ] } \r": {0, 3},
		`{"counts":[01,2]}`:               nil,
		`{"counts":[1,2]}}`:               nil,
		`{"counts":[1,2`:                  nil,
		`{"counts":[1,2,0]}`:              nil,
		`{"counts":[3]}`:                  nil,
		`{"counts":[1,1]}`:                nil,
		`{"counts":[4,-1]}`:               nil,
		`{"counts":[1 2]}`:                nil,
		`{"counts":[,3]}`:                 nil,
		`{"counts":[9223372036854775808,9223372036854775811]}`: nil,
	} {
		counts, err := (&labelled{list: true, n: 2}).parse([]byte(text), 3)
		require.Equal(t, want, counts, text)
		require.Equal(t, want == nil, err != nil, text)
	}
}

func TestRepliesAreOneObject(t *testing.T) {
	for text, want := range map[string]string{
		`{"pmf":[1,0]}`: "",
		` {"pmf" : [1,0], "note":{"a":1,"b":[{"a":1}]}} `: "",
		`{"pmf":[1,0]}] garbage`:                          "something follows the JSON object",
		`{"pmf":[1,0]} {"pmf":[1,0]}`:                     "something follows the JSON object",
		`{"pmf":[0,1],"pmf":[1,0]}`:                       `the key "pmf" is there twice`,
		`{"pmf":[0,1],"PMF":[1,0],"Error":"x"}`:           "",
		`{"PMF":[1,0]}`:                                   "which has no list of probabilities",
		`{"pmf":[1,0],"note":{"a":1,"a":2}}`:              `the key "a" is there twice`,
		`{"pmf":[1,0],"note":["a",{"b":1}],"note":2}`:     `the key "note" is there twice`,
		`[1,0]`:           "not a JSON object",
		`hello`:           "which is not JSON",
		`{"pmf":[1,0]`:    "which is not JSON",
		`{"pmf":[NaN,0]}`: "which holds NaN",
	} {
		_, err := (&labelled{list: true, n: 2}).parsePMF([]byte(text), new(big.Rat))
		if want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, want, text)
		}
	}
}

func TestFindingsOfOneKindAreOne(t *testing.T) {
	var all []Finding
	for i := range 20 {
		all = addFinding(all, Finding{Event: "error", Scores: []*big.Rat{big.NewRat(int64(-i), 1)},
			Detail: fmt.Sprintf(`answered "{\"pmf\":[NaN,0.%d]}", which holds NaN`, i)})
	}
	require.Len(t, all, 1)
	require.EqualValues(t, 20, all[0].Times)
	require.Equal(t, `error: scores (0): answered "{\"pmf\":[NaN,0.0]}", which holds NaN (the first of 20 of this kind)`, all[0].String())
	all = addFinding(all, Finding{Event: "error", Detail: "exit status 3"})
	all = addFinding(all, Finding{Event: "error", Detail: `said error: "no ties"`})
	all = addFinding(all, Finding{Event: "error", Detail: `said error: "too far"`})
	require.Len(t, all, 4)
}

func TestQuestionsAreJSON(t *testing.T) {
	for _, text := range []string{"1", "1/3", "1e-40", "2.5"} {
		x, ok := new(big.Rat).SetString(text)
		require.True(t, ok)
		o := Options{Epsilon: epsilon(t, "1"), Sensitivity: x}
		line := newAsker(t.Context(), &inquiry.Space{Unit: x}, &o).line(inquiry.Vector{1, 0}, 0)
		var read struct{ Sensitivity float64 }
		require.NoError(t, json.Unmarshal(line, &read), "%s", line)
		want, _ := x.Float64()
		require.Equal(t, want, read.Sensitivity)
	}
}

func TestTableWithALineTooLong(t *testing.T) {
	_, err := ReadTable(strings.NewReader("\n"+strings.Repeat("0", longestLine+1)), "t.jsonl", Index, big.NewRat(0, 1))
	require.ErrorIs(t, err, errTable)
	require.ErrorContains(t, err, "t.jsonl:2: a line of more than")
}

// What a witness refutes needs a shift where the candidate's score moves one way and another one's does too, or where permuted scores have another best one.
func TestNeedsShift(t *testing.T) {
	r := 0
	scores := func(xs ...int64) (out []*big.Rat) {
		for _, x := range xs {
			out = append(out, big.NewRat(x, 1))
		}
		return out
	}
	assert.False(t, needsShift(&verify.Witness{Candidate: &r, Scores: scores(0, -1), Neighbor: scores(-1, 0)}, verify.Symmetry))
	assert.True(t, needsShift(&verify.Witness{Candidate: &r, Scores: scores(0, -1), Neighbor: scores(0, 1)}, verify.Symmetry))
	assert.False(t, needsShift(&verify.Witness{Candidate: &r, Scores: scores(0, -1), Neighbor: scores(1, -2)}, verify.Monotone))
	assert.True(t, needsShift(&verify.Witness{Candidate: &r, Scores: scores(0, -1), Neighbor: scores(1, 0)}, verify.Monotone))
	assert.False(t, needsShift(&verify.Witness{Candidate: &r, Scores: scores(0, -1), Neighbor: scores(1, 0)}, verify.DP))
}
