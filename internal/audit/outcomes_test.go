package audit

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/internal/slowtest"
	"optratio/verify"
)

// noisyValue is report noisy max with Laplace noise of scale 2/ε that returns the noisy value. Below all scores its distribution
// function is Π ½e^{ε(v-q)/2}: raised together, three candidates tell with ln ratio 3ε/2.
type noisyValue struct {
	eps   float64
	rng   *rand.Rand
	asked int64
	atoms bool // values are rounded to halves
}

func (s *noisyValue) Values(q inquiry.Vector, samples int64) ([]float64, string, error) {
	s.asked += samples
	out := make([]float64, samples)
	for i := range out {
		out[i] = math.Inf(-1)
		for _, x := range q {
			noise := s.rng.ExpFloat64() * 2 / s.eps
			if s.rng.IntN(2) == 0 {
				noise = -noise
			}
			out[i] = max(out[i], float64(x)/fractions+noise)
		}
		if s.atoms {
			out[i] = math.Round(2*out[i]) / 2
		}
	}
	return out, "", nil
}

func TestNoisyMaxThatReturnsItsValue(t *testing.T) {
	few := 1
	if slowtest.Enabled {
		few = 3
	}
	for _, atoms := range []bool{false, true} {
		var bounds []float64
		for i := range uint64(runs(few)) {
			seed := firstSeed() + i
			o := samplerOptions(t, "1", 1_000_000)
			o.Seed, o.Outcomes = seed, Real
			s := &noisyValue{1, rand.New(rand.NewPCG(seed, 3)), 0, atoms}
			r, err := draw("value", binnedOf(s), o)
			require.NoError(t, err)
			t.Log(r.LowerBound, r.Find(verify.DP).Attained, r.Find(verify.DP).Reason)
			require.Equal(t, verify.Violated, r.Find(verify.DP).Verdict)
			require.Less(t, r.LowerBound.Float64(), 1.55)
			require.Contains(t, r.Witness.Event, "a value in ")
			require.Equal(t, s.asked, r.Samples)
			bounds = append(bounds, r.LowerBound.Float64())
			t.Log(r.Witness)
		}
		t.Logf("atoms %v: median bound %v of %v, truth 1.5", atoms, median(bounds), bounds)
		require.Greater(t, median(bounds), 1.35)
	}
	// With noise for its sum it keeps within ε.
	o := samplerOptions(t, "1.5", 200_000)
	o.Outcomes = Real
	r, err := draw("value", binnedOf(&noisyValue{1, rand.New(rand.NewPCG(1, 3)), 0, false}), o)
	require.NoError(t, err)
	require.Equal(t, verify.Undecided, r.Find(verify.DP).Verdict)
	require.Greater(t, r.LowerBound.Float64(), 1.2)
}

func TestIntervals(t *testing.T) {
	b := &binned{cuts: quantiles([]float64{3, 1, 2, 2, 2, 2})}
	require.Equal(t, []float64{1, 2, 3}, b.cuts)
	for want, event := range map[string][]bool{
		"a value in (-∞, 1)": {true},
		"a value in (-∞, 1]": {true, true},
		"a value in [2, 2]":  {false, false, false, true, false},
		"a value in (1, 2)":  {false, false, true, false},
		"a value in [1, 3)":  {false, true, true, true, true},
		"a value in (3, ∞)":  {false, false, false, false, false, false, true},
		"a value in (2, ∞)":  {false, false, false, false, true, true, true},
	} {
		require.Equal(t, want, b.event(event))
	}
	counts, _, err := b.learner(binnedOf(constants{1, 0.5, 2.5, 3, 4}).draw).Sample(nil, 5)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 1, 0, 0, 1, 1, 1}, counts)

	// All intervals of a few outcomes are tried, each with the hits in it.
	var list []outcome
	for i := range 5 {
		list = append(list, outcome{r: i, x: float64(1 + i), y: 1})
	}
	seen := map[[2]int]bool{}
	intervals(list, func(x, y float64, in []outcome) {
		var wx, wy float64
		for _, o := range in {
			wx, wy = wx+o.x, wy+o.y
		}
		require.InDelta(t, wx, x, 1e-12)
		require.InDelta(t, wy, y, 1e-12)
		seen[[2]int{in[0].r, in[len(in)-1].r}] = true
	})
	require.Len(t, seen, 15)
}

// valued draws numbers.
type valued interface {
	Values(q inquiry.Vector, samples int64) (values []float64, event string, err error)
}

// binnedOf is a sampler of the outcomes that numbers are.
func binnedOf(v valued) *learning[float64] {
	return (&binned{}).learner(func(q inquiry.Vector, samples int64) ([][]float64, string, error) {
		values, event, err := v.Values(q, samples)
		return [][]float64{values}, event, err
	})
}

type constants []float64

func (c constants) Values(inquiry.Vector, int64) ([]float64, string, error) { return c, "", nil }

func TestLabelsAndValuesAreParsed(t *testing.T) {
	l := &labelled{ids: map[string]int{}}
	counts, err := l.parse([]byte(`{"counts":{"b":2,"a":1}}`), 3)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2}, counts)
	counts, err = l.parse([]byte(`{"counts":{"A":3}}`), 3)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 0, 3}, counts)
	require.Equal(t, "one of A, a", l.event([]bool{true, false, true}))
	require.Equal(t, "b", l.event([]bool{false, true, false}))
	for _, bad := range []string{`{"counts":{"a":1}}`, `{"counts":{"a":3,"a":0}}`, `{"counts":[3]}`, `{"counts":{"a":-1,"b":4}}`, `{"counts":{"a":1.5,"b":1.5}}`, `{"values":[1,2,3]}`, `{"error":"no"}`} {
		_, err := l.parse([]byte(bad), 3)
		require.Error(t, err, bad)
	}
	_, err = l.parse([]byte(`{"counts":{"a":1,"A":2}}`), 3)
	require.NoError(t, err)
	values, err := parseValues([]byte(`{"values":[1,-2.5,1e300]}`), 3)
	require.NoError(t, err)
	require.Equal(t, []float64{1, -2.5, 1e300}, values)
	for _, bad := range []string{`{"values":[1,2]}`, `{"values":[1,2,"3"]}`, `{"values":[1,2,null]}`, `{"values":[1,2,1e400]}`, `{"counts":[1,2,3]}`} {
		_, err := parseValues([]byte(bad), 3)
		require.Error(t, err, bad)
	}
}

// Programs in shell: one that names the better candidate, or with a tie nobody; one that returns the first score.
func TestProgramsWithOtherOutcomes(t *testing.T) {
	o := samplerOptions(t, "1", 20_000)
	o.N, o.K, o.UntilRefuted, o.Outcomes = 2, 1, true, Labels
	r, err := samplesOf(context.Background(), `while read q; do n=${q##*:}; n=${n%\}}
		case $q in *[[]0,0]*) echo "{\"counts\":{\"nobody\":$n}}";; *) echo "{\"counts\":{\"some body\":$n}}";; esac; done`, o)
	require.NoError(t, err)
	require.Equal(t, verify.Violated, r.Find(verify.DP).Verdict, "%v", r.Findings)
	require.Contains(t, []string{"nobody", "some body"}, r.Witness.Event)
	o.Outcomes, o.Budget = Real, 3000
	r, err = samplesOf(context.Background(), `while read q; do n=${q##*:}; n=${n%\}}; s=${q#*[}; s=${s%%,*}
		i=1; a=$s; while [ $i -lt $n ]; do a=$a,$s; i=$((i+1)); done; echo "{\"values\":[$a]}"; done`, o)
	require.NoError(t, err)
	require.Equal(t, verify.Violated, r.Find(verify.DP).Verdict, "%v", r.Findings)
	require.Contains(t, r.Witness.Event, "a value in ")
	o.Outcomes = "colours"
	_, err = samplesOf(context.Background(), "cat", o)
	require.ErrorIs(t, err, errOptions)
	o.Outcomes, o.Against = Labels, mustLookup(t, "pf")
	_, err = samplesOf(context.Background(), "cat", o)
	require.ErrorIs(t, err, errOptions)
}

// topSet draws the set of the two best candidates by the exponential mechanism without replacement, each at all of ε.
type topSet struct{ rng *rand.Rand }

func (s *topSet) Sample(q inquiry.Vector, samples int64) ([]int64, string, error) {
	x := make([]float64, len(q))
	for r := range q {
		x[r] = float64(q[r]) / fractions
	}
	counts := make([]int64, 3)
	for range samples {
		p := softmaxLaw(1, 1)(x)
		first := slices.Index(multinomial(s.rng, 1, p), 1)
		p[first] = 0
		total := 0.0
		for _, y := range p {
			total += y
		}
		for r := range p {
			p[r] /= total
		}
		second := slices.Index(multinomial(s.rng, 1, p), 1)
		counts[3-first-second]++ // the one left out
	}
	return counts, "", nil
}

func TestSetsOfTwo(t *testing.T) {
	o := samplerOptions(t, "1", 200_000)
	o.Outcomes, o.UntilRefuted = Labels, true
	r, err := draw("top 2", &topSet{rng: rand.New(rand.NewPCG(1, 4))}, o)
	require.NoError(t, err)
	t.Log(r.LowerBound, r.Samples, r.Find(verify.DP).Attained)
	require.Equal(t, verify.Violated, r.Find(verify.DP).Verdict)
}
