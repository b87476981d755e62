package verify

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/number"
)

// TestWitnessForms: each kind of witness as a line and as JSON.
func TestWitnessForms(t *testing.T) {
	half, third := number.Exact(big.NewRat(1, 2)), number.Exact(big.NewRat(1, 4))
	two, zero := 2, 0
	for _, c := range []struct {
		w          Witness
		text, json string
	}{
		{
			Witness{Scores: ratList("0", "-1.5"), Neighbor: ratList("1/3", "0"), Candidate: &two, P: half, PNeighbor: third}, "scores (0, -1.5) and (1/3, 0), candidate 2: 0.5 and 0.25, a ratio of e^0.6931",
			`{"scores":[0,-1.5],"neighbor":["1/3",0],"candidate":2,"p":{"lower":"0.5","upper":"0.5","exact":"1/2"},"p_neighbor":{"lower":"0.25","upper":"0.25","exact":"1/4"}}`,
		},
		{
			Witness{Scores: ratList("0"), Neighbor: ratList("1"), Candidate: &zero, NeighborCandidate: &two, P: half, PNeighbor: third}, "scores (0) and (1), candidate 0 (there 2): 0.5 and 0.25",
			`{"scores":[0],"neighbor":[1],"candidate":0,"neighbor_candidate":2,"p":{"lower":"0.5","upper":"0.5","exact":"1/2"},"p_neighbor":{"lower":"0.25","upper":"0.25","exact":"1/4"}}`,
		},
		{
			Witness{Scores: ratList("0", "0"), Neighbor: ratList("1", "0"), Event: "error", P: half, PNeighbor: third}, `scores (0, 0) and (1, 0), output "error": 0.5 and 0.25, a ratio of e^0.6931`,
			`{"scores":[0,0],"neighbor":[1,0],"candidate":"error","p":{"lower":"0.5","upper":"0.5","exact":"1/2"},"p_neighbor":{"lower":"0.25","upper":"0.25","exact":"1/4"}}`,
		},
		{
			Witness{Scores: ratList("0", "-2"), T: rational("2"), P: half, PExpected: third}, "scores (0, -2): Pr[error >= 2] is 0.5, of em 0.25",
			`{"scores":[0,-2],"t":{"lower":"2","upper":"2","exact":"2"},"p":{"lower":"0.5","upper":"0.5","exact":"1/2"},"p_em":{"lower":"0.25","upper":"0.25","exact":"1/4"}}`,
		},
		{
			Witness{Scores: ratList("0"), P: half, PExpected: third}, "scores (0): expected error 0.5, of em 0.25",
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
	for text, want := range map[string]string{"1/8": "0.125", "1/3": "1/3", "-5": "-5", "1e-30": "0.000000000000000000000000000001", "1e-31": "1e-31"} {
		assert.Equal(t, want, inquiry.ScoreText(rational(text)))
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
		{Result{Name: RDP, Verdict: Proved, Orders: [][2]number.Number{{number.Int(2), number.Int(3)}}}, `{"name":"rdp","verdict":"proved","checked":0,"witness":null,"orders":[{"alpha":{"lower":"2","upper":"2","exact":"2"},"eps":{"lower":"3","upper":"3","exact":"3"}}]}`},
		{Result{Name: ZCDP, Verdict: Proved, Rho: number.Int(1)}, `{"name":"zcdp","verdict":"proved","checked":0,"witness":null,"rho":{"lower":"1","upper":"1","exact":"1"},"orders":null,"attained":null}`},
		{Result{Name: BoundedRange, Verdict: Undecided, Reason: "why", Range: number.Int(1)}, `{"name":"bounded-range","verdict":"undecided","checked":0,"reason":"why","witness":null,"range":{"lower":"1","upper":"1","exact":"1"}}`},
		{Result{Name: DP, Verdict: Proved, Checked: 3, TightExpEps: big.NewRat(3, 2)}, `{"name":"dp","verdict":"proved","checked":3,"witness":null,"tight_eps":null,"tight_exp_eps":"3/2","range":null,"attained":null}`},
	} {
		got, err := json.Marshal(c.r)
		require.NoError(t, err)
		assert.Equal(t, c.want, string(got))
	}
}
