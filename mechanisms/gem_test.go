package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/number"
)

// scenarioOne is 50 scores of 1 with sensitivity 1.8 and 50 of -1 with sensitivity 1.
func scenarioOne(t testing.TB) *Instance {
	in := &Instance{Epsilon: decimalEps(t, "1")}
	for i := range 100 {
		if i < 50 {
			in.Scores, in.Sensitivities = append(in.Scores, ratOf(t, "1")), append(in.Sensitivities, ratOf(t, "1.8"))
		} else {
			in.Scores, in.Sensitivities = append(in.Scores, ratOf(t, "-1")), append(in.Sensitivities, ratOf(t, "1"))
		}
	}
	return in
}

// meanSquare returns Σ p_r (q* - q_r)² in float64.
func meanSquare(in *Instance, p []float64) float64 {
	_, mse := moments(arith.Field[float64](arith.Float{}), in, p)
	return mse
}

func TestScenarioOne(t *testing.T) {
	in := scenarioOne(t)
	for name, want := range map[string]float64{"rnm-exponential": 1.45324695, "gem": 3.4465382, "mgem": 0.29083758} {
		boxes, err := registry[name].Enclose(in, 80)
		require.NoError(t, err)
		p := make([]float64, len(boxes))
		for i, b := range boxes {
			p[i], _ = b.Float64()
			require.Less(t, b.RelWidth(), 1e-18)
		}
		assert.InDelta(t, want, meanSquare(in, p), 6e-8, name)
		f, err := registry[name].Float(in)
		require.NoError(t, err)
		relative(t, p, f, 1e-12, name)
	}
}

// With equal sensitivities t cancels, scores are normalised by 2Δ, and what is left is
// permute-and-flip at half the ε: exactly, where that is rational.
func TestGEMOfEqualSensitivities(t *testing.T) {
	eps, _ := number.ParseExp("25/16")
	root, _ := number.ParseExp("5/4")
	in := OnLattice([]int{0, 4, 2, 2, 0}, eps)
	want, err := registry["pf"].Exact(OnLattice([]int{0, 4, 2, 2, 0}, root))
	require.NoError(t, err)
	for _, name := range []string{"gem", "mgem"} {
		got, err := registry[name].Exact(in)
		require.NoError(t, err)
		boxes, err := registry[name].Enclose(in, 90)
		require.NoError(t, err)
		for i := range want {
			assert.Zero(t, want[i].Cmp(got[i]), "%s: %s, want %s", name, got[i], want[i])
			assert.True(t, boxes[i].Contains(want[i]))
		}
	}
}

// Two candidates: q'_1 = [(q_1 - q_2) - t(Δ_1 - Δ_2)]/(Δ_1 + Δ_2) where that is negative, q'_2 = 0, and the
// loser of two has half its weight. With a sensitivity of 0 the power of n/β is rational.
func TestGEMOfTwoCandidates(t *testing.T) {
	eps, _ := number.ParseExp("3/2")
	in := &Instance{Scores: ratsOf(t, "0", "4"), Sensitivities: ratsOf(t, "1", "0"), Epsilon: eps, Params: Params{Beta: big.NewRat(1, 2)}}
	p, err := registry["gem"].Exact(in)
	require.NoError(t, err)
	// e^{-ε·4/2}/(n/β) = (4/9)/4, halved
	assert.Equal(t, "1/18", p[0].RatString())
	p, err = registry["mgem"].Exact(in)
	require.NoError(t, err)
	// q'_1 = (-4 + t)/1, q'_2 = min(0, 4 - t): e^{-ε·4/2}·4 = 16/9 > 1, so the second one has weight 9/16
	assert.Equal(t, "23/32", p[0].RatString())
	in.Sensitivities = ratsOf(t, "1", "3")
	_, err = registry["gem"].Exact(in)
	assert.ErrorIs(t, err, ErrNotRational)
	boxes, err := registry["gem"].Enclose(in, 80)
	require.NoError(t, err)
	lo, _ := boxes[0].Float64()
	// ε q'_2/2 = [ε·4/2 - ln 4·(3-1)]/4 for gem: negative, so the second one loses
	weight := math.Exp((2*math.Log(1.5) - 2*math.Log(4)) / 4)
	assert.InDelta(t, 1-weight/2, lo, 1e-15)
}

// Sensitivities that vanish: two candidates without any are compared by their scores alone, before all noise.
func TestGEMWithoutSensitivity(t *testing.T) {
	in := &Instance{Scores: ratsOf(t, "1", "2", "2", "1.5"), Sensitivities: ratsOf(t, "0", "0", "0", "1"), Epsilon: decimalEps(t, "1")}
	for _, name := range []string{"gem", "mgem", "combined-gem"} {
		boxes, err := registry[name].Enclose(in, 80)
		require.NoError(t, err, name)
		f, err := registry[name].Float(in)
		require.NoError(t, err)
		assert.True(t, boxes[0].Contains(new(big.Rat)), name)
		assert.Zero(t, f[0], name)
		assert.Equal(t, f[1], f[2])
		total := 0.0
		for i, b := range boxes {
			lo, hi := b.Float64()
			assert.InDelta(t, (lo+hi)/2, f[i], 1e-15, name)
			total += f[i]
		}
		assert.InDelta(t, 1, total, 1e-15)
	}
}

// Weights in float64 are those of enclosures to the error that is stated.
func TestGEMWeightsInFloat(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for trial := range 200 {
		n := 1 + rng.IntN(40)
		scores, sensitivities := make([]float64, n), make([]float64, n)
		for i := range n {
			switch trial % 4 {
			case 0: // anything
				scores[i], sensitivities[i] = rng.NormFloat64(), math.Exp(3*rng.NormFloat64())
			case 1: // ties, zeros, collinear points
				scores[i], sensitivities[i] = float64(rng.IntN(5)), float64(1-min(1, i))+float64(rng.IntN(4))
			case 2: // a concave arc: every point is on the hull
				x := rng.Float64()
				scores[i], sensitivities[i] = 1e9+math.Sqrt(x), x
			case 3: // sensitivities of very different magnitude
				scores[i], sensitivities[i] = 100*rng.NormFloat64(), math.Pow(10, float64(rng.IntN(12)-6))
			}
		}
		in, err := FromFloats(scores, sensitivities, math.Exp(rng.NormFloat64()), Params{})
		require.NoError(t, err)
		in64, err := in.floats()
		require.NoError(t, err)
		classes, counts, _ := in.choices(true)
		for _, m := range []*gem{plainGEM, modifiedGEM, runnerGEM} {
			want, err := gemWeights(m, enclosedCalculus(200), in, classes, counts, ratOne)
			require.NoError(t, err)
			got, err := gemWeights(m, floatCalculus(), in, classes, counts, ratOne)
			require.NoError(t, err)
			for a := range want {
				require.InDelta(t, want[a].Near(), got[a], want[a].Near()*m.relativeError(in64)/3+1e-290, "trial %d, candidate %d of %v", trial, a, in)
			}
		}
	}
}

func TestSpearmanSign(t *testing.T) {
	for _, c := range []struct {
		scores, sensitivities []string
		want                  int
	}{
		{[]string{"1", "2", "3"}, []string{"1", "2", "3"}, 1},
		{[]string{"1", "2", "3"}, []string{"3", "2", "1"}, -1},
		{[]string{"1", "2", "3"}, []string{"1", "5", "1"}, 0},
		{[]string{"1", "1", "1"}, []string{"1", "5", "1"}, 0},
		{[]string{"1", "2"}, []string{"4"}, 0},
		{[]string{"1", "1", "2", "3"}, []string{"5", "1", "2", "3"}, 1}, // centred ranks -1 -1 .5 1.5 and 1.5 -1.5 -.5 .5
		{[]string{"1", "1", "2", "4"}, []string{"5", "1", "6", "7"}, 1},
	} {
		in := &Instance{Scores: ratsOf(t, c.scores...), Sensitivities: ratsOf(t, c.sensitivities...)}
		assert.Equal(t, c.want, in.spearmanSign(), fmt.Sprint(c))
	}
}

// combined-gem is the mixture of the two at the rest of ε.
func TestCombinedGEMIsAMixture(t *testing.T) {
	scores, sensitivities := ratsOf(t, "0", "1", "3", "3"), ratsOf(t, "1", "0.5", "2", "3")
	in := &Instance{Scores: scores, Sensitivities: sensitivities, Epsilon: decimalEps(t, "2"), Params: Params{EpsChoice: ratOf(t, "0.25")}}
	rest := &Instance{Scores: scores, Sensitivities: sensitivities, Epsilon: decimalEps(t, "1.5")}
	for _, flip := range []bool{false, true} {
		likely, unlikely := "mgem", "gem"
		if flip {
			likely, unlikely = unlikely, likely
			for i, q := range scores {
				scores[i] = new(big.Rat).Neg(q)
			}
		}
		a, err := registry[likely].Enclose(rest, 100)
		require.NoError(t, err)
		b, err := registry[unlikely].Enclose(rest, 100)
		require.NoError(t, err)
		got, err := registry["combined-gem"].Enclose(in, 100)
		require.NoError(t, err)
		floats, err := registry["combined-gem"].Float(in)
		require.NoError(t, err)
		share := 1 / (1 + math.Exp(-0.5))
		for i := range got {
			x, _ := a[i].Float64()
			y, _ := b[i].Float64()
			lo, hi := got[i].Float64()
			assert.InDelta(t, share*x+(1-share)*y, (lo+hi)/2, 1e-15)
			assert.InDelta(t, floats[i], lo, 1e-15)
		}
	}
	// No correlation counts as a positive one.
	in.Scores = ratsOf(t, "1", "1", "1", "1")
	boxes, err := registry["combined-gem"].Enclose(in, 60)
	require.NoError(t, err)
	m, err := registry["mgem"].Enclose(&Instance{Scores: in.Scores, Sensitivities: sensitivities, Epsilon: rest.Epsilon}, 60)
	require.NoError(t, err)
	g, err := registry["gem"].Enclose(&Instance{Scores: in.Scores, Sensitivities: sensitivities, Epsilon: rest.Epsilon}, 60)
	require.NoError(t, err)
	p, _ := boxes[3].Float64()
	x, _ := m[3].Float64()
	y, _ := g[3].Float64()
	assert.Less(t, math.Abs(p-x), math.Abs(p-y))
}

func TestParametersAreChecked(t *testing.T) {
	in := &Instance{Scores: ratsOf(t, "0", "1"), Sensitivities: ratsOf(t, "1", "2"), Epsilon: decimalEps(t, "1")}
	for _, c := range []struct {
		name   string
		params Params
	}{
		{"gem", Params{Beta: new(big.Rat)}},
		{"mgem", Params{Beta: big.NewRat(-1, 2)}},
		{"gem", Params{Beta: big.NewRat(3, 2)}},
		{"combined-gem", Params{EpsChoice: big.NewRat(3, 2)}},
		{"combined-gem", Params{EpsChoice: big.NewRat(-1, 2)}},
		{"combined-gem", Params{Beta: new(big.Rat)}},
	} {
		in.Params = c.params
		_, err := registry[c.name].Enclose(in, 60)
		assert.ErrorIs(t, err, ErrInstance, "%v", c)
		_, err = registry[c.name].Float(in)
		assert.ErrorIs(t, err, ErrInstance, "%v", c)
	}
	in.Params = Params{Beta: new(big.Rat), Gamma: new(big.Rat)} // not its own
	_, err := registry["pf"].Enclose(in, 60)
	assert.NoError(t, err)
}

// Terms that float64 rules out must not matter: the weights are those of all pairs.
func TestGEMWeightsEqualThoseOfAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	const prec = 100
	for trial := range 12 {
		in := &Instance{Epsilon: decimalEps(t, "0.7")}
		for range 25 {
			q, d := big.NewRat(rng.Int64N(1000), 7), big.NewRat(rng.Int64N(9), 3)
			if trial%3 == 1 { // a near tie beyond float64
				q.Add(q, big.NewRat(rng.Int64N(5), 1<<60))
			}
			if trial%3 == 2 { // one straight line: every pair is minimal
				q = new(big.Rat).Mul(d, big.NewRat(11, 3))
			}
			in.Scores, in.Sensitivities = append(in.Scores, q), append(in.Sensitivities, d)
		}
		for _, m := range []*gem{plainGEM, modifiedGEM} {
			classes, counts, _ := in.choices(true)
			got, err := gemWeights(m, enclosedCalculus(prec+32), in, classes, counts, ratOne)
			require.NoError(t, err)
			eps, ln := in.Epsilon.Value(300), number.LogRat(big.NewRat(500, 1), 300)
			for a, ca := range classes {
				want := number.FromInt(0, 300)
				never := false
				for _, cb := range classes {
					if pair, ok := m.pair(ca.q, ca.d, cb.q, cb.d); ok {
						never = never || pair.never
						if !pair.never {
							want = want.Min(ln.Mul(number.FromRat(pair.power, 300)).Sub(eps.Mul(number.FromRat(pair.gap, 300))))
						}
					}
				}
				if never {
					require.True(t, arith.IsPoint(got[a]) && got[a].Contains(new(big.Rat)))
					continue
				}
				require.True(t, arith.Encloses(got[a], number.Exp(want)), "%v against %v", got[a], number.Exp(want))
				require.Less(t, got[a].RelWidth(), 1e-27)
			}
		}
	}
}

// Answers are exact for few candidates, enclosed for many, estimated beyond that.
func TestAnswers(t *testing.T) {
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	for n, kind := range map[int]string{4: "exact", 100: "enclosed", 20_001: "estimate"} {
		in := &Instance{Sensitivities: ratsOf(t, "0.5"), Epsilon: eps}
		for i := range n {
			in.Scores = append(in.Scores, big.NewRat(int64(-(i%3)), 1))
		}
		a, err := Ask(registry["pf"], in)
		require.NoError(t, err)
		_, exact := a.MSE.Rat()
		assert.Equal(t, kind == "exact", exact, "%d", n)
		assert.Equal(t, kind != "estimate", a.MSE.IsRigorous(), "%d", n)
		a, err = Ask(registry["krr"], in)
		require.NoError(t, err)
		_, exact = a.ExpectedError.Rat()
		assert.True(t, exact)
		a, err = Ask(registry["em"], in)
		require.NoError(t, err)
		_, exact = a.ExpectedError.Rat()
		assert.Equal(t, kind != "estimate", exact, "%d", n)
	}
	in := OnLattice([]int{0, 2, 1}, eps)
	a, err := Ask(registry["pf"], in)
	require.NoError(t, err)
	p, err := registry["pf"].Exact(in)
	require.NoError(t, err)
	mse, _ := a.MSE.Rat()
	want := new(big.Rat).Add(new(big.Rat).Mul(p[1], big.NewRat(4, 1)), p[2])
	assert.Zero(t, mse.Cmp(want))
	a, err = Ask(registry["rs"], in)
	require.NoError(t, err)
	assert.True(t, a.MSE.IsRigorous())
	many := &Instance{Epsilon: eps} // of as many sensitivities
	for i := range 60 {
		many.Scores, many.Sensitivities = append(many.Scores, big.NewRat(int64(i*i%59), 7)), append(many.Sensitivities, big.NewRat(int64(50+i), 50))
	}
	a, err = Ask(registry["rs"], many)
	require.NoError(t, err)
	assert.Contains(t, a.MSE.Method(), "error of it about")
	assert.Contains(t, a.PMF[0].Method(), "error of a probability about")
	in.Epsilon = decimalEps(t, "8192") // and scores apart by more than a big.Float can say
	in.Scores[1] = ratOf(t, "-1e300")
	in.Scores[2] = ratOf(t, "-1e9")
	for _, name := range []string{"em", "pf"} {
		a, err = Ask(registry[name], in)
		require.NoError(t, err)
		low, _ := a.PMF[0].Lower()
		high, _ := a.MSE.Upper()
		assert.True(t, low.Cmp(big.NewRat(999, 1000)) > 0 && high.Cmp(big.NewRat(1, 1000)) < 0, "%s: %v, %v", name, a.PMF, a.MSE)
	}
	for name, m := range registry {
		_, err := Ask(m, &Instance{Epsilon: eps})
		assert.ErrorIs(t, err, ErrInstance, name)
	}
}

// With equal sensitivities gem and mgem are permute-and-flip at half of ε, identically in e^{-ε}.
func TestEqualSensitivitiesAreHalfEpsilon(t *testing.T) {
	e, err := number.ParseEpsilon("0.7")
	require.NoError(t, err)
	half, err := number.ParseEpsilon("0.35")
	require.NoError(t, err)
	for _, depths := range [][]int{{0}, {0, 0, 3}, {2, 0, 1, 1}} {
		for _, name := range []string{"gem", "mgem"} {
			in := OnLattice(depths, e)
			functions, err := registry[name].(regular).Symbolic(in, big.NewRat(1, 2))
			require.NoError(t, err)
			flip, err := registry["pf"].(regular).Symbolic(OnLattice(depths, half), big.NewRat(1, 1))
			require.NoError(t, err)
			boxes, err := registry[name].Enclose(in, 100)
			require.NoError(t, err)
			z := e.ExpNeg(big.NewRat(1, 2), 100)
			for i := range functions {
				assert.Equal(t, flip[i].String(), functions[i].String())
				_, overlap := functions[i].Eval(z).Intersect(boxes[i])
				assert.True(t, overlap)
			}
			in.Sensitivities = nil
			for i := range depths {
				in.Sensitivities = append(in.Sensitivities, big.NewRat(int64(i+1), 2))
			}
			if len(depths) > 1 {
				_, err = registry[name].(regular).Symbolic(in, big.NewRat(1, 2))
				assert.ErrorIs(t, err, ErrNotRational)
			}
		}
	}
}
