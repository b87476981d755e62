package mechanisms

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/number"
)

func TestRandomStoppingReference(t *testing.T) {
	in := &Instance{Scores: ratsOf(t, "0", "1", "0.4"), Sensitivities: ratsOf(t, "1", "0.5", "2"), Epsilon: decimalEps(t, "0.5")}
	e, err := registry["rs"].(estimator).estimate(in)
	require.NoError(t, err)
	assert.Less(t, e.err, 1e-12)
	for i, want := range []float64{0.2414837282, 0.1312607841, 0.6272554877} {
		assert.InDelta(t, want, e.pmf[i], 5e-11)
	}
	one := scenarioOne(t)
	p, err := registry["rs"].Float(one)
	require.NoError(t, err)
	assert.InDelta(t, 0.88143114, meanSquare(one, p), 6e-9)
}

// lawOf returns the law in float64, and its generating function at n = 1.
func lawOf(gamma, eta float64) *stoppingLaw[float64] {
	return newStoppingLaw(floatCalculus(), new(big.Rat).SetFloat64(gamma), new(big.Rat).SetFloat64(eta), 1)
}

// stoppingWeights lists Pr[K=k] by its definition.
func stoppingWeights(gamma, eta float64, terms int) []float64 {
	out := make([]float64, terms+1)
	product := 1.0
	for k := 1; k <= terms; k++ {
		if eta == 0 {
			out[k] = math.Pow(1-gamma, float64(k)) / (float64(k) * math.Log(1/gamma))
			continue
		}
		product *= (float64(k-1) + eta) / float64(k)
		out[k] = math.Pow(1-gamma, float64(k)) * product / (math.Pow(gamma, -eta) - 1)
	}
	return out
}

var someLaws = [][2]float64{{0.3, 1}, {0.3, 0}, {0.2, 0.5}, {0.25, -0.5}, {0.4, 3}, {1, 1}} // γ and η

func TestStoppingLawsGenerateTheirWeights(t *testing.T) {
	for _, l := range someLaws[:5] {
		w := stoppingWeights(l[0], l[1], 400)
		for _, s := range []float64{0, 0.1, 0.5, 0.9, 1} {
			value, derivative := 0.0, 0.0
			for k := 1; k < len(w); k++ {
				value += w[k] * math.Pow(s, float64(k))
				derivative += w[k] * float64(k) * math.Pow(s, float64(k-1))
			}
			assert.InDelta(t, value, lawOf(l[0], l[1]).value(1-s), 1e-13, "%v at %v", l, s)
			assert.InDelta(t, derivative, lawOf(l[0], l[1]).density(1-s), 1e-12*derivative, "%v at %v", l, s)
		}
	}
}

// bestOfDraws is the mechanism's quadrature in float64 for noise of the given scales.
func bestOfDraws(t *testing.T, gamma, eta float64, laws []noiseLaw) []float64 {
	order := everyone(len(laws))
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(laws[a].at, laws[b].at), cmp.Compare(laws[a].scale, laws[b].scale))
	})
	var all []noisy
	group := make([]int, len(laws))
	for i, r := range order {
		if i == 0 || laws[r] != laws[order[i-1]] {
			g := noisy{at: new(big.Rat).SetFloat64(laws[r].at)}
			if laws[r].scale > 0 {
				g.rate = new(big.Rat).SetFloat64(1 / laws[r].scale)
			}
			all = append(all, g)
		}
		all[len(all)-1].count++
		group[r] = len(all) - 1
	}
	c := floatCalculus()
	law := newStoppingLaw(c, new(big.Rat).SetFloat64(gamma), new(big.Rat).SetFloat64(eta), len(laws))
	q := floatIntegral(law)
	p, err := q.run(1, all)
	require.NoError(t, err)
	require.Less(t, q.lost, 1e-12)
	return scatter(group, p)
}

// byDraws is the law of the best draw, summed over K and over how often each candidate is drawn: given the
// multiset of draws it is noisy max, whose pmf comes from Simpson's rule.
func byDraws(laws []noiseLaw, w []float64) []float64 {
	n := len(laws)
	out := make([]float64, n)
	drawn := make([]int, n)
	var visit func(i, left, total int, ways float64)
	visit = func(i, left, total int, ways float64) {
		if i == n-1 {
			drawn[i] = left
			var draws []noiseLaw
			var owner []int
			for c, times := range drawn {
				for range times {
					draws, owner = append(draws, laws[c]), append(owner, c)
				}
			}
			for j, p := range bySimpson(draws, true) {
				out[owner[j]] += w[total] * ways * p / math.Pow(float64(n), float64(total))
			}
			return
		}
		choose := 1.0
		for k := 0; k <= left; k++ {
			drawn[i] = k
			visit(i+1, left-k, total, ways*choose)
			choose *= float64(left-k) / float64(k+1)
		}
	}
	for k := 1; k < len(w); k++ {
		visit(0, k, k, 1)
	}
	return out
}

func TestRandomStoppingIsTheBestOfItsDraws(t *testing.T) {
	laws := []noiseLaw{{-1, 1.5}, {0, 0.5}, {-0.25, 1}}
	for _, l := range [][2]float64{{0.97, 1}, {0.96, 0}, {0.95, -0.5}, {0.97, 2}, {1, 1}} {
		w := stoppingWeights(l[0], l[1], 4)
		if l[0] == 1 {
			w = []float64{0, 1}
		}
		missing := 1.0
		for _, x := range w {
			missing -= x
		}
		want := byDraws(laws, w)
		got := bestOfDraws(t, l[0], l[1], laws)
		for i := range want {
			assert.InDelta(t, want[i], got[i], 1e-8+missing, "%v", l)
		}
		assert.Less(t, missing, 1e-5)
	}
}

// byFineRule is Pr[a] = (1/n) ∫ f_a φ'(G) by the composite Simpson rule, every sum written out.
func byFineRule(l *stoppingLaw[float64], laws []noiseLaw) []float64 {
	lo, hi, smallest := math.Inf(1), math.Inf(-1), math.Inf(1)
	for _, law := range laws {
		lo, hi, smallest = min(lo, law.at-38*law.scale), max(hi, law.at+38*law.scale), min(smallest, law.scale)
	}
	_, _, breaks := span(laws)
	edges := append(append([]float64{lo}, breaks...), hi)
	out, n := make([]float64, len(laws)), float64(len(laws))
	for e := 1; e < len(edges); e++ {
		from, to := edges[e-1], edges[e]
		steps := 2 * int(math.Ceil(60*(to-from)/smallest))
		for k := 0; k <= steps; k++ {
			x, weight := from+(to-from)*float64(k)/float64(steps), 2.0
			if k == 0 || k == steps {
				weight = 1
			} else if k%2 == 1 {
				weight = 4
			}
			h := 0.0
			for _, law := range laws {
				below, _ := law.values(x, true)
				h += 1 - below
			}
			weight *= (to - from) / float64(3*steps) * l.density(h/n) / n
			for a, law := range laws {
				out[a] += weight * math.Exp(-math.Abs(x-law.at)/law.scale) / (2 * law.scale)
			}
		}
	}
	return out
}

func TestRandomStoppingAgainstAFineRule(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, n := range []int{1, 2, 9, 16} {
		laws := make([]noiseLaw, n)
		for i := range laws {
			laws[i] = noiseLaw{3 * rng.NormFloat64(), math.Exp(0.7 * rng.NormFloat64())}
		}
		for _, l := range someLaws[:4] {
			want := byFineRule(lawOf(l[0], l[1]), laws)
			got := bestOfDraws(t, l[0], l[1], laws)
			for i := range want {
				require.InDelta(t, want[i], got[i], 1e-9)
			}
		}
	}
}

// Among tied candidates of equal scale all are alike, however many there are and however many intervals that takes.
func TestRandomStoppingOfManyCandidates(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	const n = 1000
	scores, each := make([]float64, n), make([]float64, n)
	for i := range n {
		scores[i], each[i] = 10*rng.Float64(), 0.01+2*rng.Float64()
		if i >= n/2 {
			scores[i], each[i] = scores[i-n/2], each[i-n/2]
		}
	}
	in, err := FromFloats(scores, each, 1, Params{})
	require.NoError(t, err)
	e, err := registry["rs"].(estimator).estimate(in)
	require.NoError(t, err)
	assert.Less(t, e.err, 1e-11)
	for i := range n / 2 {
		require.InDelta(t, e.pmf[i], e.pmf[i+n/2], 1e-17)
	}
}

// At ε = 0 noise drowns all scores: the choice is uniform if all noise is alike, and else the most sensitive candidate's share is the largest.
func TestRandomStoppingAtZero(t *testing.T) {
	for _, name := range []string{"rs", "rs-log", "rs-tnb"} {
		in := &Instance{Scores: ratsOf(t, "0", "1", "5"), Sensitivities: ratsOf(t, "1"), Epsilon: decimalEps(t, "0")}
		p, err := registry[name].Exact(in)
		require.NoError(t, err)
		assert.Equal(t, []*big.Rat{big.NewRat(1, 3), big.NewRat(1, 3), big.NewRat(1, 3)}, p)
		in.Sensitivities = ratsOf(t, "1", "1", "2")
		_, err = registry[name].Exact(in)
		assert.ErrorIs(t, err, ErrNotRational)
		boxes, err := registry[name].Enclose(in, 64)
		require.NoError(t, err)
		assert.Greater(t, boxes[2].Near(), 0.34)
	}
}

func TestRandomStoppingSumsToOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 30 {
		n := 1 + rng.IntN(30)
		laws := make([]noiseLaw, n)
		for i := range laws {
			laws[i] = noiseLaw{math.Round(4*rng.NormFloat64()) / 2, math.Exp(2 * rng.NormFloat64())}
			if rng.IntN(4) == 0 {
				laws[i].scale = 0
			}
		}
		for _, l := range someLaws {
			p := bestOfDraws(t, l[0], l[1], laws)
			total := 0.0
			for _, x := range p {
				total += x
			}
			require.InDelta(t, 1, total, 1e-12, "%v %v", l, laws)
		}
	}
}

// The shapes 0 and 1 of the general law are the special ones.
func TestRandomStoppingShapes(t *testing.T) {
	in := &Instance{Scores: ratsOf(t, "0", "1", "0.4"), Sensitivities: ratsOf(t, "1", "0", "2"), Epsilon: decimalEps(t, "0.5")}
	for name, eta := range map[string]string{"rs": "1", "rs-log": "0"} {
		in.Params.Eta = ratOf(t, eta)
		want, err := registry[name].Float(in)
		require.NoError(t, err)
		got, err := registry["rs-tnb"].Float(in)
		require.NoError(t, err)
		relative(t, want, got, 1e-13, name)
		in.Params.Eta = new(big.Rat).Add(in.Params.Eta, ratOf(t, "1e-7"))
		got, err = registry["rs-tnb"].Float(in)
		require.NoError(t, err)
		relative(t, want, got, 1e-6, name)
	}
	for _, bad := range []Params{{Gamma: new(big.Rat)}, {Gamma: ratOf(t, "1.1")}, {Eta: ratOf(t, "-1")}} {
		in.Params = bad
		_, err := registry["rs-tnb"].Float(in)
		assert.ErrorIs(t, err, ErrInstance)
		_, err = registry["rs-tnb"].Enclose(in, 64)
		assert.ErrorIs(t, err, ErrInstance)
	}
}

func BenchmarkRandomStopping(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{100, 1000} {
		scores, each := make([]float64, n), make([]float64, n)
		for i := range scores {
			scores[i], each[i] = 10*rng.Float64(), 0.5+rng.Float64()
		}
		in, err := FromFloats(scores, each, 1, Params{})
		require.NoError(b, err)
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			for b.Loop() {
				e, err := registry["rs"].(estimator).estimate(in)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(e.err, "error")
			}
		})
	}
}

// Enclosures must hold the estimates to their error, shrink with the precision, add up to 1, and
// contain the reference.
func TestEnclosedRandomStopping(t *testing.T) {
	ratio, err := number.ParseExp("3/2")
	require.NoError(t, err)
	for k, in := range []*Instance{
		{Scores: ratsOf(t, "0", "1", "0.4"), Sensitivities: ratsOf(t, "1", "0.5", "2"), Epsilon: decimalEps(t, "0.5")},
		{Scores: ratsOf(t, "0", "1", "1"), Sensitivities: ratsOf(t, "1"), Epsilon: ratio},
		{Scores: ratsOf(t, "0", "1", "1", "0.7"), Sensitivities: ratsOf(t, "1", "0", "0", "0.3"), Epsilon: decimalEps(t, "2")},
		{Scores: ratsOf(t, "0", "30"), Sensitivities: ratsOf(t, "0.1", "5"), Epsilon: ratio, Params: Params{Eta: ratOf(t, "0.5")}},
		{Scores: ratsOf(t, "0", "1"), Sensitivities: ratsOf(t, "1", "2"), Epsilon: ratio, Params: Params{Gamma: ratOf(t, "1")}},
	} {
		for _, name := range []string{"rs", "rs-log", "rs-tnb"} {
			msg := fmt.Sprint(name, " ", k)
			estimate, err := registry[name].(estimator).estimate(in)
			require.NoError(t, err)
			rough, err := registry[name].Enclose(in, 53)
			require.NoError(t, err, msg)
			fine, err := registry[name].Enclose(in, 72)
			require.NoError(t, err, msg)
			total := number.FromInt(0, 100)
			for i, b := range fine {
				lo, hi := b.Float64()
				require.InDelta(t, (lo+hi)/2, estimate.pmf[i], estimate.err+1e-14, msg)
				require.Less(t, b.RelWidth(), 1e-19, msg)
				require.Less(t, rough[i].RelWidth(), 1e-13, msg)
				_, overlap := b.Intersect(rough[i])
				require.True(t, overlap, msg)
				total = total.Add(b)
			}
			require.True(t, total.Contains(ratOne), "%s: %v", msg, total)
			require.Less(t, total.RelWidth(), 1e-19)
			if k == 0 && name == "rs" {
				for i, want := range []float64{0.2414837282, 0.1312607841, 0.6272554877} {
					lo, _ := fine[i].Float64()
					assert.InDelta(t, want, lo, 5e-11)
				}
			}
		}
	}
	// Candidates in another order and scores shifted are the same question, other sensitivities are not.
	in := &Instance{Scores: ratsOf(t, "0", "1", "3"), Sensitivities: ratsOf(t, "1", "2", "1"), Epsilon: ratio}
	a, err := registry["rs"].Enclose(in, 64)
	require.NoError(t, err)
	in.Scores, in.Sensitivities = ratsOf(t, "8", "5", "6"), ratsOf(t, "1", "1", "2")
	b, err := registry["rs"].Enclose(in, 64)
	require.NoError(t, err)
	assert.Equal(t, []string{a[2].String(), a[0].String(), a[1].String()}, []string{b[0].String(), b[1].String(), b[2].String()})
	in.Sensitivities = ratsOf(t, "1", "2", "1")
	c, err := registry["rs"].Enclose(in, 64)
	require.NoError(t, err)
	assert.NotEqual(t, b[0].String(), c[0].String())
	// Many candidates are enclosed where few sensitivities differ.
	many := &Instance{Epsilon: ratio}
	for i := range 120 {
		many.Scores, many.Sensitivities = append(many.Scores, big.NewRat(int64(i), 7)), append(many.Sensitivities, big.NewRat(int64(1+i%2), 1))
	}
	p, err := registry["rs"].Enclose(many, 64)
	require.NoError(t, err)
	estimate, err := registry["rs"].(estimator).estimate(many)
	require.NoError(t, err)
	for i, b := range p {
		require.Less(t, b.RelWidth(), 1e-16)
		require.InDelta(t, b.Near(), estimate.pmf[i], 1e-14)
	}
	for i := range many.Scores {
		many.Sensitivities[i] = big.NewRat(int64(200+i), 100)
	}
	_, err = registry["rs"].Enclose(many, 64)
	assert.ErrorIs(t, err, ErrNoEnclosure)
	// At ε = 0 are the limits, where scores tell candidates without noise apart.
	none := &Instance{Scores: ratsOf(t, "1", "7", "5", "6"), Sensitivities: ratsOf(t, "1", "2", "0", "0"), Epsilon: decimalEps(t, "0")}
	limit, err := registry["rs"].Enclose(none, 64)
	require.NoError(t, err)
	none.Epsilon = decimalEps(t, "1e-7")
	near, err := registry["rs"].Enclose(none, 64)
	require.NoError(t, err)
	for i := range near {
		assert.InDelta(t, near[i].Near(), limit[i].Near(), 1e-6)
		assert.Less(t, limit[i].RelWidth(), 1e-16)
	}
	// Scales far apart are enclosed as well: at 0 the narrow one hardly moves. Too far apart they are not.
	apart := &Instance{Scores: ratsOf(t, "0", "1", "-1"), Sensitivities: ratsOf(t, "1e-5", "1", "0"), Epsilon: ratio}
	p, err = registry["rs"].Enclose(apart, 64)
	require.NoError(t, err)
	estimate, err = registry["rs"].(estimator).estimate(apart)
	require.NoError(t, err)
	for i, b := range p {
		assert.Less(t, b.RelWidth(), 1e-16)
		assert.InDelta(t, b.Near(), estimate.pmf[i], 1e-12)
	}
	apart.Sensitivities[0] = ratOf(t, "1e-9")
	_, err = registry["rs"].Enclose(apart, 64)
	assert.ErrorIs(t, err, ErrNoEnclosure)
}

func BenchmarkEnclosedRandomStopping(b *testing.B) {
	in := &Instance{Scores: ratsOf(b, "0", "1", "0.4"), Sensitivities: ratsOf(b, "1", "0.5", "2"), Epsilon: decimalEps(b, "0.5")}
	for _, prec := range []uint{64, 128} {
		b.Run(fmt.Sprint("bits=", prec), func(b *testing.B) {
			for b.Loop() {
				registry["rs"].(*randomStopping).known.known = nil
				_, err := registry["rs"].Enclose(in, prec)
				require.NoError(b, err)
			}
		})
	}
}

// What a mechanism remembers of one γ, whose rule has another number of nodes, is no part of its answer at another.
func TestRandomStoppingRemembersNodesOfOneRule(t *testing.T) {
	enclose := func(m Mechanism, gamma *big.Rat) []number.Interval {
		p, err := m.Enclose(&Instance{Scores: ratsOf(t, "0", "1"), Sensitivities: ratsOf(t, "1", "5"), Epsilon: decimalEps(t, "0.1"), Params: Params{Gamma: gamma}}, 64)
		require.NoError(t, err)
		return p
	}
	rs := func() Mechanism {
		m := *geometricStopping
		m.known = new(recent)
		return &m
	}
	for _, order := range [][]*big.Rat{{big.NewRat(1, 2), big.NewRat(1, 5)}, {big.NewRat(1, 5), big.NewRat(1, 2)}} {
		one := rs()
		for _, gamma := range order {
			again, fresh := enclose(one, gamma), enclose(rs(), gamma)
			for i := range fresh {
				assert.Equal(t, fresh[i].String(), again[i].String(), "γ = %s", gamma)
			}
		}
	}
}
