package mechanisms

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"optratio/number"
)

// partnerDepths returns (max q - q_r)/w_r with w_r = Δ_r + max_{s≠r} Δ_s, less by short.
func partnerDepths(in *Instance, short *big.Rat) []*big.Rat {
	each := in.eachSensitivity()
	out := make([]*big.Rat, len(each))
	for r := range each {
		others := slices.Delete(slices.Clone(each), r, r+1)
		w := new(big.Rat).Add(each[r], slices.MaxFunc(others, (*big.Rat).Cmp))
		out[r] = w.Quo(new(big.Rat).Sub(in.Best(), in.Scores[r]), w.Sub(w, short))
	}
	return out
}

// mixedByDefinition returns ((max q - q_r) + max(0, m-Δ_r) d_r + max(0, m-Δ_b) d)/(M + m - short), from all leads; m is share of the way from the second largest
// sensitivity to the largest one, M.
func mixedByDefinition(in *Instance, share, short *big.Rat) []*big.Rat {
	each := in.eachSensitivity()
	sorted := slices.SortedFunc(slices.Values(each), (*big.Rat).Cmp)
	most, second := sorted[len(sorted)-1], sorted[len(sorted)-2]
	m := new(big.Rat).Sub(most, second)
	m.Add(second, m.Mul(m, share))
	own, best := make([]*big.Rat, len(each)), bestOf(in)
	for r, q := range in.Scores {
		own[r] = new(big.Rat)
		for s, other := range in.Scores {
			if lead := new(big.Rat).Sub(other, q); s != r && lead.Sign() > 0 {
				if lead.Quo(lead, new(big.Rat).Add(each[r], each[s])); lead.Cmp(own[r]) > 0 {
					own[r] = lead
				}
			}
		}
	}
	runner := slices.SortedFunc(slices.Values(own), (*big.Rat).Cmp)[1]
	part := func(r int, d *big.Rat) *big.Rat {
		w := new(big.Rat).Sub(m, each[r])
		if w.Sign() < 0 {
			w.SetInt64(0)
		}
		return w.Mul(w, d)
	}
	out := make([]*big.Rat, len(each))
	for r, q := range in.Scores {
		if out[r] = new(big.Rat); r != best {
			out[r].Sub(in.Scores[best], q)
			out[r].Add(out[r], part(r, own[r]))
			out[r].Add(out[r], part(best, runner))
			whole := new(big.Rat).Add(most, m)
			out[r].Quo(out[r], whole.Sub(whole, short))
		}
	}
	return out
}

func bestOf(in *Instance) int {
	best := 0
	for r, q := range in.Scores {
		if q.Cmp(in.Scores[best]) > 0 {
			best = r
		}
	}
	return best
}

// research/docs/unequal.md, Theorems 6 and 7: between neighbors no difference of two depths changes by more than 1, of partners and of mixed ones for each m. All corners of
// the box of neighbors are tried, and some others. With divisors that are 1/64 less it is not so.
func TestMixedDepthsMoveByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 15))
	rules := []func(in *Instance, short *big.Rat) []*big.Rat{partnerDepths}
	for _, share := range []*big.Rat{new(big.Rat), big.NewRat(1, 3), ratOne} {
		rules = append(rules, func(in *Instance, short *big.Rat) []*big.Rat { return mixedByDefinition(in, share, short) })
	}
	attained, violated, changed := make([]int, len(rules)), make([]int, len(rules)), 0
	exact, short := new(big.Rat), big.NewRat(1, 64)
	for range 60 {
		in := unequal(t, rng)
		n := len(in.Scores)
		var here, shortHere [][]*big.Rat
		for _, rule := range rules {
			here, shortHere = append(here, rule(in, exact)), append(shortHere, rule(in, short))
		}
		for corner := range 1<<n + 8 {
			near := neighbor(in, rng)
			if corner < 1<<n {
				for r, d := range in.eachSensitivity() {
					near.Scores[r] = new(big.Rat).Add(in.Scores[r], d)
					if corner>>r&1 == 1 {
						near.Scores[r].Sub(in.Scores[r], d)
					}
				}
			}
			if bestOf(in) != bestOf(near) {
				changed++
			}
			for i, rule := range rules {
				change := widest(here[i], rule(near, exact)).Cmp(ratOne)
				require.LessOrEqual(t, change, 0, "rule %d: %v and %v at %v", i, in.Scores, near.Scores, in.Sensitivities)
				if change == 0 {
					attained[i]++
				}
				if change == 0 && widest(shortHere[i], rule(near, short)).Cmp(ratOne) > 0 {
					violated[i]++
				}
			}
		}
	}
	for i := range rules {
		assert.Greater(t, attained[i], 100)
		assert.Greater(t, violated[i], 100)
	}
	assert.Greater(t, changed, 200, "neighbors with another best candidate")
}

// Theorem 7: with m = M, which is what the mechanisms run on, no depth is less than the runner's, with the least m none is less than the partner's, nor that of pf-pair.
func TestMixedDepthsAreTheLargest(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 15))
	larger := 0
	for range 600 {
		in := unequal(t, rng)
		scaled, keep, err := registry["pf-mixed"].(*overDepths).rescale(in)
		require.NoError(t, err)
		require.Len(t, keep, len(in.Scores))
		most, least := mixedByDefinition(in, ratOne, new(big.Rat)), mixedByDefinition(in, new(big.Rat), new(big.Rat))
		runner, partner, pair := runnerDepths(in, big.NewRat(1, 2)), partnerDepths(in, new(big.Rat)), new(big.Rat).Add(in.pairSensitivity(), in.pairSensitivity())
		for r, d := range scaled.Depths() {
			require.Zero(t, d.Cmp(most[r]))
			require.GreaterOrEqual(t, d.Cmp(runner[r]), 0, "%v at %v", in.Scores, in.Sensitivities)
			require.GreaterOrEqual(t, least[r].Cmp(partner[r]), 0, "%v at %v", in.Scores, in.Sensitivities)
			require.GreaterOrEqual(t, partner[r].Cmp(new(big.Rat).Quo(new(big.Rat).Sub(in.Best(), in.Scores[r]), pair)), 0)
			if d.Cmp(runner[r]) > 0 && least[r].Cmp(partner[r]) > 0 {
				larger++
			}
		}
	}
	assert.Greater(t, larger, 200)
}

// The mean errors of permute-and-flip on the depths of Theorems 1, 2, 6 and 7, over grids 0..4: mixed depths err least. Those of geometric noisy max: the runner's
// or the partner's depths are never better than both mixed ones and geo-pair.
func TestMixedDepthsErrLeast(t *testing.T) {
	two, err := number.ParseExp("2")
	require.NoError(t, err)
	five, err := number.ParseExp("5/3") // gem's parameter for three candidates, by Theorem 1
	require.NoError(t, err)
	rules := []func(in *Instance) []*big.Rat{
		func(in *Instance) []*big.Rat { return mixedByDefinition(in, ratOne, new(big.Rat)) },
		func(in *Instance) []*big.Rat { return mixedByDefinition(in, new(big.Rat), new(big.Rat)) },
		func(in *Instance) []*big.Rat { return partnerDepths(in, new(big.Rat)) },
		func(in *Instance) []*big.Rat { return runnerDepths(in, big.NewRat(1, 2)) },
	}
	for _, deltas := range [][]string{{"1", "1", "4"}, {"1", "2", "4"}, {"1", "4", "4"}, {"2", "3", "4"}} {
		loss, geo, geoPair, gem := make([]float64, len(rules)), make([]float64, len(rules)), 0.0, 0.0
		for code := range 125 {
			q := []int{code % 5, code / 5 % 5, code / 25}
			in := &Instance{Epsilon: two, Sensitivities: ratsOf(t, deltas...)}
			for _, x := range q {
				in.Scores = append(in.Scores, big.NewRat(int64(x), 1))
			}
			add := func(sum *float64, name string, in *Instance) {
				p, err := registry[name].Float(in)
				require.NoError(t, err)
				for r, x := range q {
					*sum += p[r] * float64(slices.Max(q)-x)
				}
			}
			for i, rule := range rules {
				add(&loss[i], "pf", atDepths(rule(in), two))
				add(&geo[i], "geo", atDepths(rule(in), two))
			}
			add(&geoPair, "geo-pair", in)
			depths, _ := in.normalisedDepths()
			add(&gem, "pf", atDepths(depths, five))
		}
		assert.LessOrEqual(t, min(geo[0], geoPair), min(geo[2], geo[3])*(1+1e-12), "Δ = %v: %v and %v", deltas, geo, geoPair)
		assert.Less(t, loss[0], gem*0.999, "Δ = %v", deltas)
		for i := range rules[1:] {
			alike := i == 0 && deltas[1] == deltas[2] // then m = M₂ is M
			assert.True(t, alike || loss[0] < loss[i+1]*0.999, "Δ = %v: %v", deltas, loss)
		}
	}
}

// Theorem 8: neighbors, up to a shift, at which two candidates' depths add up to 1 at most. gem's own depths exceed that for all sensitivities that are not alike, the runner's depth of
// one and the partner's of the other for some.
func TestNoDepthRuleIsTheLargest(t *testing.T) {
	largestLead := func(a, b, each []*big.Rat) *big.Rat {
		most := new(big.Rat)
		for r := range a {
			for s := range a {
				if s != r {
					change := new(big.Rat).Sub(new(big.Rat).Sub(a[s], a[r]), new(big.Rat).Sub(b[s], b[r]))
					if change.Quo(change, new(big.Rat).Add(each[r], each[s])); change.Cmp(most) > 0 {
						most = change
					}
				}
			}
		}
		return most
	}
	for _, deltas := range [][]string{{"1", "1", "4"}, {"1", "4", "4"}, {"0", "2", "3"}, {"3", "1", "4"}} { // b, r, m
		each := ratsOf(t, deltas...)
		q := []*big.Rat{new(big.Rat), new(big.Rat).Neg(new(big.Rat).Add(each[0], each[1])), new(big.Rat)}
		near := []*big.Rat{new(big.Rat), new(big.Rat), new(big.Rat).Sub(each[0], each[2])}
		assert.Zero(t, largestLead(q, near, each).Cmp(ratOne))
		here, _ := (&Instance{Scores: q, Sensitivities: each}).normalisedDepths()
		there, _ := (&Instance{Scores: near, Sensitivities: each}).normalisedDepths()
		assert.Zero(t, here[2].Sign()+there[1].Sign())
		assert.Positive(t, new(big.Rat).Add(here[1], there[2]).Cmp(ratOne), "Δ = %v", deltas)
	}
	q := &Instance{Scores: ratsOf(t, "0", "-2", "0"), Sensitivities: ratsOf(t, "1", "1", "4")}
	near := &Instance{Scores: ratsOf(t, "0", "0", "-3"), Sensitivities: q.Sensitivities}
	assert.Zero(t, largestLead(q.Scores, near.Scores, q.Sensitivities).Cmp(ratOne))
	sum := new(big.Rat).Add(runnerDepths(q, big.NewRat(1, 2))[1], partnerDepths(near, new(big.Rat))[2])
	assert.Equal(t, "11/10", sum.RatString())
}

// Theorem 6: no candidate's scale can be smaller: where all others but the most sensitive partner are far below, the candidate's probability falls by the
// factor e^ε, as nearly as one likes, when the two part by the sum of their sensitivities. Mixed depths have the same scale there.
func TestPartnerScalesAreLeast(t *testing.T) {
	for _, deltas := range [][]string{{"1", "1", "4"}, {"2", "3", "4", "5"}, {"0", "1", "7"}} {
		n := len(deltas)
		for r := range n - 1 {
			in := &Instance{Epsilon: decimalEps(t, "0.7"), Sensitivities: ratsOf(t, deltas...)}
			near := *in
			for s, d := range in.Sensitivities {
				q, move := big.NewRat(-1000, 1), new(big.Rat)
				switch s {
				case r:
					q, move = big.NewRat(-3, 1), new(big.Rat).Neg(d)
				case n - 1: // the most sensitive one
					q, move = new(big.Rat), d
				}
				in.Scores = append(in.Scores, q)
				near.Scores = append(near.Scores, new(big.Rat).Add(q, move))
			}
			for name, depths := range map[string]func(*Instance) []*big.Rat{
				"partner": func(in *Instance) []*big.Rat { return partnerDepths(in, new(big.Rat)) },
				"mixed":   func(in *Instance) []*big.Rat { return mixedByDefinition(in, ratOne, new(big.Rat)) },
			} {
				for _, base := range []string{"pf", "geo"} {
					p, err := registry[base].Enclose(atDepths(depths(in), in.Epsilon), 200)
					require.NoError(t, err)
					q, err := registry[base].Enclose(atDepths(depths(&near), in.Epsilon), 200)
					require.NoError(t, err)
					assert.InDelta(t, 0.7, math.Log(p[r].Quo(q[r]).Near()), 1e-12, "%s on %s depths, candidate %d of %v", base, name, r, deltas)
				}
			}
		}
	}
}

// By hand: Δ = (1,1,4), scores 0, -2, -10: gem's depths are 0, 1, max(10/5, 8/5) = 2, so that D = 0, (2 + 3 + 3)/8, (10 + 0 + 3)/8. At scores -2, -10, 0 they are 2/5, 4, 0 and D = (2 + 3·2/5)/8,
// (10 + 3·4)/8, 0, as nothing is added for the runner-up where the best candidate is the most sensitive one.
func TestMixedByHand(t *testing.T) {
	for scores, want := range map[[3]string][]string{{"0", "-2", "-10"}: {"0", "1", "13/8"}, {"-2", "-10", "0"}: {"2/5", "11/4", "0"}} {
		in := &Instance{Scores: ratsOf(t, scores[:]...), Sensitivities: ratsOf(t, "1", "1", "4"), Epsilon: decimalEps(t, "1")}
		scaled, _, err := registry["geo-mixed"].(*overDepths).rescale(in)
		require.NoError(t, err)
		for i, d := range scaled.Depths() {
			assert.Equal(t, want[i], d.RatString())
		}
	}
}
