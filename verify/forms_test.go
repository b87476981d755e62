package verify

import (
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/number"
)

// fun makes the function z, the only one that these tests begin with.
func fun(t *testing.T, name string) *arith.RatFunc {
	require.Equal(t, "z", name)
	z := arith.Poly{}.Z()
	return &z
}

func numberRat(t *testing.T, n number.Number) string {
	r, ok := n.Rat()
	require.True(t, ok, n)
	return r.RatString()
}

func ratList(xs ...string) []*big.Rat {
	var out []*big.Rat
	for _, x := range xs {
		out = append(out, rational(x))
	}
	return out
}

// TestWitnessForms: each kind of witness as a line and as JSON.
func TestWitnessForms(t *testing.T) {
	half, third := number.Exact(big.NewRat(1, 2)), number.Exact(big.NewRat(1, 4))
	two, zero := 2, 0
	for _, c := range []struct {
		w          Witness
		text, json string
	}{
		{
			Witness{Scores: ratList("0", "-1.5"), Neighbor: ratList("1/3", "0"), Candidate: &two, P: half, PNeighbor: third}, "scores (0, -1.5) and (1/3, 0), candidate 2: 0.5 and 0.25",
			`{"scores":[0,-1.5],"neighbor":["1/3",0],"candidate":2,"p":{"lower":"0.5","upper":"0.5","exact":"1/2"},"p_neighbor":{"lower":"0.25","upper":"0.25","exact":"1/4"}}`,
		},
		{
			Witness{Scores: ratList("0"), Neighbor: ratList("1"), Candidate: &zero, NeighborCandidate: &two, P: half, PNeighbor: third}, "scores (0) and (1), candidate 0 (there 2): 0.5 and 0.25",
			`{"scores":[0],"neighbor":[1],"candidate":0,"neighbor_candidate":2,"p":{"lower":"0.5","upper":"0.5","exact":"1/2"},"p_neighbor":{"lower":"0.25","upper":"0.25","exact":"1/4"}}`,
		},
		{
			Witness{Scores: ratList("0", "0"), Neighbor: ratList("1", "0"), Event: "error", P: half, PNeighbor: third}, `scores (0, 0) and (1, 0), output "error": 0.5 and 0.25`,
			`{"scores":[0,0],"neighbor":[1,0],"candidate":"error","p":{"lower":"0.5","upper":"0.5","exact":"1/2"},"p_neighbor":{"lower":"0.25","upper":"0.25","exact":"1/4"}}`,
		},
		{
			Witness{Scores: ratList("0", "-2"), T: rational("2"), P: half, PEM: third}, "scores (0, -2): Pr[error >= 2] is 0.5, of em 0.25",
			`{"scores":[0,-2],"t":{"lower":"2","upper":"2","exact":"2"},"p":{"lower":"0.5","upper":"0.5","exact":"1/2"},"p_em":{"lower":"0.25","upper":"0.25","exact":"1/4"}}`,
		},
		{
			Witness{Scores: ratList("0"), P: half, PEM: third}, "scores (0): expected error 0.5, of em 0.25",
			`{"scores":[0],"p":{"lower":"0.5","upper":"0.5","exact":"1/2"},"p_em":{"lower":"0.25","upper":"0.25","exact":"1/4"}}`,
		},
		{
			Witness{Scores: ratList("0"), Candidate: &zero, P: half, PExpected: third}, "scores (0), candidate 0: 0.5, expected 0.25",
			`{"scores":[0],"candidate":0,"p":{"lower":"0.5","upper":"0.5","exact":"1/2"},"p_expected":{"lower":"0.25","upper":"0.25","exact":"1/4"}}`,
		},
		{Witness{Scores: ratList("0"), P: half}, "scores (0): 0.5", `{"scores":[0],"p":{"lower":"0.5","upper":"0.5","exact":"1/2"}}`},
	} {
		assert.Equal(t, c.text, c.w.String())
		got, err := json.Marshal(&c.w)
		require.NoError(t, err)
		assert.Equal(t, c.json, string(got))
	}
	for text, want := range map[string]string{"1/8": "0.125", "1/3": "1/3", "-5": "-5", "1e-30": "0.000000000000000000000000000001", "1e-31": "1/10000000000000000000000000000000"} {
		assert.Equal(t, want, ScoreText(rational(text)))
	}
}

// TestReportForms: verdicts are summed up, and results say what they hold.
func TestReportForms(t *testing.T) {
	r := Result{Name: DP, Verdict: Proved, Checked: 7, TightEps: number.Exact(big.NewRat(1, 2)), Range: number.Int(1), Reason: "because"}
	assert.Equal(t, "dp: proved, 7 checked, tight ε 0.5, range 1, because", r.String())
	r.TightExpEps = big.NewRat(3, 2)
	assert.Equal(t, "tight ε 0.5, e^ε = 3/2, range 1, because", r.Remark())
	z := Result{Name: ZCDP, Verdict: Violated, Rho: number.Infinity(), Witness: &Witness{Scores: ratList("0"), P: number.Int(1)}}
	assert.Equal(t, "zcdp: violated, 0 checked, ρ inf\n  fails at scores (0): 1", z.String())
	assert.Equal(t, "sum: undecided, 0 checked", Result{Name: Sum, Verdict: Undecided}.String())

	p, u := Result{Name: Sum, Verdict: Proved}, Result{Name: Shift, Verdict: Undecided}
	for _, c := range []struct {
		results []Result
		want    Verdict
	}{{nil, Proved}, {[]Result{p}, Proved}, {[]Result{p, u}, Undecided}, {[]Result{u, p}, Undecided}, {[]Result{u, z, p}, Violated}, {[]Result{z, u}, Violated}} {
		report := Report{Mechanism: "m", Domain: "d", Properties: c.results}
		assert.Equal(t, c.want, report.Verdict())
	}
	report := Report{Mechanism: "m", Domain: "d", Precision: big.NewRat(1, 4), Properties: []Result{p, u}}
	assert.Equal(t, "m on d, to the relative precision 0.25\nsum: proved, 0 checked\nshift: undecided, 0 checked", report.String())
	assert.Equal(t, Shift, report.Find(Shift).Name)
	assert.Nil(t, report.Find(DP))
	for _, c := range []struct {
		r    Result
		want string
	}{
		{p, `{"name":"sum","verdict":"proved","checked":0,"witness":null}`},
		{Result{Name: RDP, Verdict: Proved, Orders: []Order{{big.NewRat(2, 1), number.Int(3)}}}, `{"name":"rdp","verdict":"proved","checked":0,"witness":null,"orders":[{"alpha":{"lower":"2","upper":"2","exact":"2"},"eps":{"lower":"3","upper":"3","exact":"3"}}]}`},
		{Result{Name: ZCDP, Verdict: Proved, Rho: number.Int(1)}, `{"name":"zcdp","verdict":"proved","checked":0,"witness":null,"rho":{"lower":"1","upper":"1","exact":"1"},"orders":null,"attained":null}`},
		{Result{Name: BoundedRange, Verdict: Undecided, Reason: "why", Range: number.Int(1)}, `{"name":"bounded-range","verdict":"undecided","checked":0,"reason":"why","witness":null,"range":{"lower":"1","upper":"1","exact":"1"}}`},
		{Result{Name: DP, Verdict: Proved, Checked: 3, TightExpEps: big.NewRat(3, 2)}, `{"name":"dp","verdict":"proved","checked":3,"witness":null,"tight_eps":null,"tight_exp_eps":"3/2","range":null,"attained":null}`},
	} {
		got, err := json.Marshal(c.r)
		require.NoError(t, err)
		assert.Equal(t, c.want, string(got))
	}
}

func TestNames(t *testing.T) {
	got, err := ParseProperties([]string{"dp", "sum", "dp"})
	require.NoError(t, err)
	assert.Equal(t, []Property{DP, Sum}, got)
	got, err = ParseProperties(nil)
	require.NoError(t, err)
	assert.Nil(t, got, "the defaults")
	_, err = ParseProperties([]string{"dp", "privacy"})
	assert.ErrorIs(t, err, ErrProperty)
	assert.Len(t, All(), 11)
	for _, m := range []Neighborhood{Linf, Monotonic} {
		back, err := ParseNeighborhood(m.String())
		require.NoError(t, err)
		assert.Equal(t, m, back)
	}
	_, err = ParseNeighborhood("l1")
	assert.Error(t, err)
}

// TestShrinkEndsAtSimpleCases: what is left violates the property, and nothing simpler that Shrink tries does.
func TestShrinkEndsAtSimpleCases(t *testing.T) {
	violates := func(c Case) *Witness {
		if len(c.Scores) < 2 {
			return nil
		}
		gap := new(big.Rat).Sub(c.Scores[0], c.Scores[1])
		if gap.Abs(gap).Cmp(big.NewRat(5, 2)) < 0 {
			return nil
		}
		return &Witness{Scores: c.Scores}
	}
	start := Case{ratList("17.25", "3.125", "8/7", "100"), ratList("1")}
	w := Shrink(context.Background(), start, violates(start), violates)
	require.NotNil(t, w)
	require.Len(t, w.Scores, 2)
	end := Case{w.Scores, start.Sensitivities}
	require.NotNil(t, violates(end))
	for _, c := range Simpler(end) {
		assert.Nil(t, violates(c), "%v is simpler than %v", c.Scores, w.Scores)
		if len(c.Scores) == 2 {
			assert.Negative(t, slices.Compare(effort(c.Scores), effort(end.Scores)))
		}
	}
	assert.Equal(t, []string{"-3", "0"}, []string{ScoreText(w.Scores[0]), ScoreText(w.Scores[1])})
	// Candidates go with their own sensitivities.
	own := Case{ratList("1", "2", "3"), ratList("10", "20", "30")}
	var fewer []string
	for _, c := range Simpler(own) {
		if len(c.Scores) == 2 {
			require.Len(t, c.Sensitivities, 2)
			fewer = append(fewer, ScoresText(c.Scores)+ScoresText(c.Sensitivities))
		}
	}
	assert.Equal(t, []string{"(2, 3)(20, 30)", "(1, 3)(10, 30)", "(1, 2)(10, 20)"}, fewer)
	// Attempts are limited, and a context ends them.
	attempts := 0
	Shrink(context.Background(), start, &Witness{}, func(c Case) *Witness {
		attempts++
		c.Scores[0].Add(c.Scores[0], big.NewRat(1, 1)) // for ever simpler, or so it says
		return &Witness{Scores: start.Scores}
	})
	assert.Equal(t, 400, attempts)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	first := &Witness{}
	assert.Same(t, first, Shrink(ctx, start, first, func(Case) *Witness { t.Error("asked after the end"); return nil }))
	for _, c := range []struct{ q, unit, want string }{{"2.5", "1", "3"}, {"-2.5", "1", "-2"}, {"2.4", "1", "2"}, {"7", "2", "8"}, {"5", "2", "6"}, {"-5", "2", "-4"}, {"0.26", "0.1", "0.3"}} {
		assert.Zero(t, round(rational(c.q), rational(c.unit)).Cmp(rational(c.want)), "%+v", c)
	}
	assert.Equal(t, []int64{2, 2, 1024, 2, 1}, effort(ratList("1", "0")))
	assert.Equal(t, []int64{2, 4, 512, 2, 0}, effort(ratList("0", "-0.5")))
	assert.Equal(t, []int64{2, 2, 0, 1, 0}, effort(ratList("0", "0")))
}

// TestUnits: the greatest number of which all are multiples.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		xs   []string
		want string
	}{{[]string{"1", "2"}, "1"}, {[]string{"1/2", "1/3"}, "1/6"}, {[]string{"-4", "6"}, "2"}, {[]string{"0", "0"}, "0"}, {[]string{"0", "-3/2"}, "3/2"}, {[]string{"3/4", "0", "9/10"}, "3/20"}} {
		unit := Unit([][]*big.Rat{ratList(c.xs...)})
		assert.Equal(t, c.want, unit.RatString())
		if unit.Sign() == 0 {
			continue
		}
		s := &Space{Unit: unit}
		q, err := s.Vector(ratList(c.xs...))
		require.NoError(t, err)
		for i, x := range s.Scores(q) {
			assert.Zero(t, x.Cmp(rational(c.xs[i])))
		}
	}
	s := &Space{Unit: big.NewRat(2, 1)}
	for _, bad := range []string{"1", "3", "1/2", "9007199254740992"} { // 2^53
		_, err := s.Vector(ratList(bad))
		assert.ErrorIs(t, err, ErrClaim, bad)
	}
	_, err := s.Vector(ratList("9007199254740990"))
	assert.NoError(t, err)
}

// TestSortedVectors: ties share the first place.
func TestSortedVectors(t *testing.T) {
	sorted, place := sortVector(Vector{3, 7, 3, 9})
	assert.Equal(t, Vector{9, 7, 3, 3}, sorted)
	assert.Equal(t, []int{2, 1, 2, 0}, place)
	asked := 0
	inner := SubjectFunc(func(q Vector) (*Answer, error) {
		asked++
		a := &Answer{}
		for i := range q {
			a.P = append(a.P, ratio64(q[i], int64(i+1)))
		}
		return a, nil
	})
	a, err := bySymmetry{inner}.Answer(Vector{3, 7, 3, 9})
	require.NoError(t, err)
	for i, want := range []string{"1", "7/2", "1", "9"} {
		assert.Equal(t, want, a.P[i].Rat().RatString())
	}
	memory := Remember(inner)
	asked = 0
	for range 3 {
		for _, q := range []Vector{{1, 2}, {2, 1}, {-1, 2}, {12}, {1, 2, 0}} {
			_, err := memory.Answer(q)
			require.NoError(t, err)
		}
	}
	assert.Equal(t, 5, asked)
}

// TestStepsOfNeighbors: which vectors are neighbors, by listing them.
func TestStepsOfNeighbors(t *testing.T) {
	list := func(m Neighborhood, deltas ...int64) (all []Vector) {
		for s := range m.Steps(deltas, nil) {
			all = append(all, s)
		}
		return all
	}
	assert.ElementsMatch(t, []Vector{{3, 0}, {-3, 0}, {0, 5}, {0, -5}, {3, 5}, {3, -5}, {-3, 5}, {-3, -5}}, list(Linf, 3, 5))
	assert.ElementsMatch(t, []Vector{{3, 0}, {-3, 0}, {0, 5}, {0, -5}, {3, 5}, {-3, -5}}, list(Monotonic, 3, 5))
	assert.Len(t, list(Linf, 1, 1, 1, 1, 1), 242)
	assert.Len(t, list(Monotonic, 1, 1, 1, 1, 1), 62)
}
