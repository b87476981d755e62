package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/number"
)

// unequal draws an instance with 2 to 6 candidates on a coarse grid, so that ties and equal distances are frequent; at most one
// sensitivity is 0.
func unequal(t testing.TB, rng *rand.Rand) *Instance {
	in := &Instance{Epsilon: decimalEps(t, "0.7")}
	for i := range 2 + rng.IntN(5) {
		in.Scores = append(in.Scores, big.NewRat(rng.Int64N(25), 2))
		d := big.NewRat([]int64{1, 1, 2, 4, 20}[rng.IntN(5)], 1)
		if i == 0 && rng.IntN(4) == 0 {
			d = new(big.Rat)
		}
		in.Sensitivities = append(in.Sensitivities, d)
	}
	return in
}

// neighbor moves every score by its sensitivity or less, up to a shift: mostly to an end of the range.
func neighbor(in *Instance, rng *rand.Rand) *Instance {
	out := *in
	out.Scores = make([]*big.Rat, len(in.Scores))
	for i, q := range in.Scores {
		move := big.NewRat([]int64{-2, -2, -2, 2, 2, 2, 0, 1, -1}[rng.IntN(9)], 2)
		out.Scores[i] = move.Add(q, move.Mul(move, in.eachSensitivity()[i]))
	}
	return &out
}

// widest returns the largest change of a difference D_r - D_s.
func widest(a, b []*big.Rat) *big.Rat {
	most := new(big.Rat)
	for r := range a {
		for s := range a {
			change := new(big.Rat).Sub(new(big.Rat).Sub(a[r], b[r]), new(big.Rat).Sub(a[s], b[s]))
			if change.Cmp(most) > 0 {
				most = change
			}
		}
	}
	return most
}

// runnerDepths returns share·d_r + (1-share)·d for d_r > d, the second smallest of gem's depths, and d_r otherwise.
func runnerDepths(in *Instance, share *big.Rat) []*big.Rat {
	depths, _ := in.normalisedDepths()
	second := slices.SortedFunc(slices.Values(depths), (*big.Rat).Cmp)[1]
	for i, d := range depths {
		if over := new(big.Rat).Sub(d, second); over.Sign() > 0 {
			depths[i] = over.Add(second, over.Mul(over, share))
		}
	}
	return depths
}

// research/docs/unequal.md, Theorem 2: between neighbors no difference of two depths changes by more than 1; some change by 1. With a larger share of a candidate's
// own depth than a half that is not so.
func TestRunnerDepthsMoveByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 15))
	attained, violated := 0, 0
	for range 4000 {
		in := unequal(t, rng)
		if in.Sensitivity().Sign() == 0 {
			continue
		}
		near := neighbor(in, rng)
		change := widest(runnerDepths(in, big.NewRat(1, 2)), runnerDepths(near, big.NewRat(1, 2)))
		require.LessOrEqual(t, change.Cmp(ratOne), 0, "%v and %v at %v", in.Scores, near.Scores, in.Sensitivities)
		if change.Cmp(ratOne) == 0 {
			attained++
		}
		if widest(runnerDepths(in, big.NewRat(5, 8)), runnerDepths(near, big.NewRat(5, 8))).Cmp(ratOne) > 0 {
			violated++
		}
	}
	assert.Greater(t, attained, 500)
	assert.Greater(t, violated, 10)
}

// The handicap only shifts scores by fixed amounts, so that gem-runner is ε-DP as well; all on random neighbors.
func TestUnequalMechanismsArePrivate(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 15))
	for _, name := range []string{"gem-runner", "pf-mixed", "geo-mixed"} {
		most := 0.0
		for range 400 {
			in := unequal(t, rng)
			p, err := registry[name].Enclose(in, 80)
			require.NoError(t, err)
			q, err := registry[name].Enclose(neighbor(in, rng), 80)
			require.NoError(t, err)
			limit := in.Epsilon.ExpNeg(big.NewRat(-1, 1), 80)
			for r := range p {
				ratio := p[r].Quo(q[r])
				c, ok := ratio.Cmp(limit)
				require.False(t, ok && c > 0, "%s: %v at %v", name, in.Scores, in.Sensitivities)
				most = max(most, math.Log(ratio.Near())/0.7)
			}
		}
		assert.Greater(t, most, 0.9, "%s uses its ε", name)
	}
}

// With two candidates pf-mixed is permute-and-flip at the sum of the sensitivities, and with equal sensitivities permute-and-flip; geo-mixed likewise.
func TestUnequalMechanismsOfTwoOrEqual(t *testing.T) {
	ratio, err := number.ParseExp("3/2")
	require.NoError(t, err)
	for _, in := range []*Instance{
		{Scores: ratsOf(t, "0", "-6"), Sensitivities: ratsOf(t, "1", "2"), Epsilon: ratio},
		{Scores: ratsOf(t, "-9", "0"), Sensitivities: ratsOf(t, "0", "3"), Epsilon: ratio},
		{Scores: ratsOf(t, "0", "-6", "-4", "0"), Sensitivities: ratsOf(t, "1"), Epsilon: ratio},
		{Scores: ratsOf(t, "0", "-6", "-4"), Sensitivities: ratsOf(t, "1", "1", "1"), Epsilon: ratio},
		{Scores: ratsOf(t, "5"), Sensitivities: ratsOf(t, "2"), Epsilon: ratio},
	} {
		for name, same := range map[string]string{"pf-mixed": "pf-pair", "geo-mixed": "geo-pair"} {
			want, err := registry[same].Exact(in)
			require.NoError(t, err)
			got, err := registry[name].Exact(in)
			require.NoError(t, err)
			for i := range want {
				assert.Zero(t, got[i].Cmp(want[i]), "%s at %v", name, in.Scores)
			}
		}
	}
}

// The three arithmetics agree, with public candidates and ties, and with as many candidates as enclosures are given for.
func TestUnequalFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 15))
	for _, name := range []string{"gem-runner", "pf-mixed", "geo-mixed"} {
		for trial := range 40 {
			in := unequal(t, rng)
			if trial%4 == 0 {
				in.Sensitivities[0], in.Sensitivities[1] = new(big.Rat), new(big.Rat)
				in.Sensitivities = append(in.Sensitivities, big.NewRat(3, 1))
				in.Scores = append(in.Scores, big.NewRat(7, 1))
			}
			boxes, err := registry[name].Enclose(in, 80)
			require.NoError(t, err)
			sum := number.FromInt(0, 80)
			want := make([]float64, len(boxes))
			for i, b := range boxes {
				sum, want[i] = sum.Add(b), b.Near()
			}
			assert.True(t, sum.Contains(ratOne), name)
			got, err := registry[name].Float(in)
			require.NoError(t, err)
			assert.InDeltaSlice(t, want, got, 1e-12, "%s %v %v", name, in.Scores, in.Sensitivities)
		}
	}
}

// research/docs/unequal.md, Theorem 1: permute-and-flip on gem's depths at the parameter ε' loses the ε of the formula on certain neighbors of n >= 3 candidates, and no more
// on random ones.
func TestGEMParameterIsTight(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 15))
	lost := func(in, near *Instance) (most float64) {
		var p [2][]number.Interval
		for i, in := range []*Instance{in, near} {
			depths, keep := in.normalisedDepths()
			require.Len(t, keep, len(in.Scores))
			var err error
			p[i], err = registry["pf"].Enclose(atDepths(depths, in.Epsilon), 200)
			require.NoError(t, err)
		}
		for r := range p[0] {
			most = max(most, math.Log(p[0][r].Quo(p[1][r]).Near()))
		}
		return most
	}
	for _, sensitivities := range [][]string{{"4", "1", "1"}, {"2", "1", "3", "2"}, {"3", "0.5", "2", "2", "3"}} {
		n := len(sensitivities)
		in := &Instance{Sensitivities: ratsOf(t, sensitivities...), Epsilon: decimalEps(t, "0.7")}
		near := *in
		// s0 is the first, s1 the second, of the least sensitivity; r is the last.
		for i, d := range in.Sensitivities {
			q, up := new(big.Rat), new(big.Rat).Set(d)
			switch i {
			case 0:
				up.Neg(up)
			case n - 1:
				q.SetInt64(-1000)
				up.Neg(up)
			default:
				q.Add(d, in.Sensitivities[0]).Neg(q)
			}
			in.Scores = append(in.Scores, q)
			near.Scores = append(near.Scores, up.Add(q, up))
		}
		z := math.Exp(-0.7)
		cost := math.Log((float64(n-1) - float64(float64(n)*(1-z)) + math.Pow(1-z, float64(n))) / (float64(n-1) * math.Pow(z, 3)))
		assert.InDelta(t, cost, lost(in, &near), 1e-13)
		for range 300 {
			for i := range in.Scores {
				in.Scores[i] = big.NewRat(rng.Int64N(25), 2)
			}
			require.Less(t, lost(in, neighbor(in, rng)), cost+1e-13, "%v at %v", in.Scores, sensitivities)
		}
	}
}

func TestRunnerOfManyCandidates(t *testing.T) {
	slowtest.Only(t)
	scores, each := make([]float64, 10_000), make([]float64, 10_000)
	rng := rand.New(rand.NewPCG(4, 15))
	for i := range scores {
		scores[i], each[i] = 100*rng.Float64(), 0.1+rng.Float64()
	}
	in, err := FromFloats(scores, each, 1, Params{})
	require.NoError(t, err)
	for _, name := range []string{"pf-mixed", "gem-runner"} {
		p, err := registry[name].Float(in)
		require.NoError(t, err)
		sum := 0.0
		for _, x := range p {
			sum += x
		}
		assert.InDelta(t, 1, sum, 1e-9)
	}
}

// NAME:M takes the M least sensitive candidates as NAME does without the others, which are never taken.
func TestFewerCandidates(t *testing.T) {
	ratio, err := number.ParseExp("3/2")
	require.NoError(t, err)
	whole := &Instance{Scores: ratsOf(t, "3", "0", "-2", "7", "1"), Sensitivities: ratsOf(t, "4", "1", "2", "3", "1"), Epsilon: ratio}
	left := &Instance{Scores: ratsOf(t, "0", "1", "-2"), Sensitivities: ratsOf(t, "1", "1", "2"), Epsilon: ratio}
	for _, name := range []string{"geo-pair", "pf-pair", "geo-mixed", "pf-mixed", "gem"} {
		few, err := LookupFewer(name + ":3")
		require.NoError(t, err)
		got, err := few.Enclose(whole, 100)
		require.NoError(t, err)
		want, err := registry[name].Enclose(left, 100)
		require.NoError(t, err)
		for i, r := range []int{1, 4, 2} {
			assert.Equal(t, want[i], got[r], name)
		}
		for _, r := range []int{0, 3} {
			assert.Equal(t, number.FromInt(0, 100), got[r], name)
		}
		_, err = few.Exact(&Instance{Scores: whole.Scores[:2], Sensitivities: whole.Sensitivities[:2], Epsilon: ratio})
		require.ErrorIs(t, err, ErrInstance, "three of two candidates")
	}
	for _, text := range []string{"pf:2", "geo-pair:0", "geo-pair:-1", "geo-pair:", "geo-pair:two", "nobody:2", "geo-pair:2:1"} {
		_, err := LookupFewer(text)
		require.Error(t, err, text)
	}
	_, err = Lookup("geo-pair:2")
	require.Error(t, err, "who asks on the lattice takes it for symmetric")
}

// Where all that are kept have sensitivity 0 their scores are public: the best is taken, ties alike, and depths need no step.
func TestFewerCandidatesWithoutSensitivity(t *testing.T) {
	in := &Instance{Scores: ratsOf(t, "1", "9", "3", "3"), Sensitivities: ratsOf(t, "0", "2", "0", "0"), Epsilon: decimalEps(t, "1")}
	for _, name := range []string{"geo-pair", "pf-pair", "geo-mixed", "pf-mixed", "gem", "mgem", "rnmh"} {
		for m, want := range map[int][]string{1: {"1", "0", "0", "0"}, 2: {"0", "0", "1", "0"}, 3: {"0", "0", "0.5", "0.5"}} {
			few, err := LookupFewer(fmt.Sprint(name, ":", m))
			require.NoError(t, err)
			p, err := few.Enclose(in, 100)
			require.NoError(t, err)
			for r, x := range ratsOf(t, want...) {
				assert.True(t, p[r].Contains(x) && p[r].RelWidth() < 1e-20, "%s:%d gives candidate %d %v", name, m, r, p[r])
			}
			if steps, ok := few.(interface{ Steps(*Instance) []*big.Rat }); ok {
				for _, s := range steps.Steps(in) {
					assert.Positive(t, s.Sign(), "%s:%d", name, m)
				}
			}
		}
	}
}
