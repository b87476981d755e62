package lp

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/mechanisms"
)

// priceBound is n (U - opt(0))/(e^ε - 1), U being the uniform choice's objective.
func priceBound(t *testing.T, q Request, optimum *big.Rat) *big.Rat {
	t.Helper()
	p, err := newTestTable(q)
	require.NoError(t, err)
	m, err := mechanisms.Lookup("uniform")
	require.NoError(t, err)
	u, err := rated(p, m, 128)
	require.NoError(t, err)
	require.True(t, u.Exact())
	z, _ := q.Epsilon.Z()
	x := new(big.Rat).Sub(u.Low, optimum)
	x.Mul(x, big.NewRat(int64(q.N), 1)).Mul(x, z)
	return x.Quo(x, new(big.Rat).Sub(big.NewRat(1, 1), z))
}

// tinyDelta is a δ within the first linear piece of the curves that are asked for it.
const tinyDelta = "1e-12"

// research/docs/approximate.md, Theorem 2 and what is computed beside Theorem 3: the price at δ = 0 never exceeds the bound, and mostly equals it.
func TestPriceAtZero(t *testing.T) {
	slowtest.Only(t)
	rho, err := ParsePrior("geometric:" + big.NewRat(2, 3).RatString())
	require.NoError(t, err)
	equal, less := 0, map[string]string{}
	check := func(q Request, e string, always bool) {
		t.Helper()
		q.Epsilon, q.Level = exp(t, e), DP
		_, pure := solve(t, q)
		s := approximately(t, q, tinyDelta)
		bound := priceBound(t, q, pure.Low)
		name := fmt.Sprintf("%d %d %d e^ε = %s %s %s worst %v", q.N, q.K, q.parts(), e, q.Loss, q.Prior, q.Worst)
		switch s.priced().Low.Cmp(bound) {
		case 0:
			equal++
		case 1:
			assert.Fail(t, "more than the bound", name)
		default:
			assert.False(t, always, name)
			less[name] = new(big.Rat).Quo(s.priced().Low, bound).FloatString(6)
		}
	}
	for _, e := range []string{"11/10", "5/4", "3/2", "2", "3"} {
		for n := 2; n <= 5; n++ {
			for k := 1; k <= 4; k++ {
				check(Request{N: n, K: k, Step: 1}, e, true)
			}
		}
		for n := 2; n <= 4; n++ {
			for k := 1; k <= 2; k++ {
				for _, q := range []Request{
					{N: n, K: k, Step: 1, Prior: Box()}, {N: n, K: k, Step: 1, Prior: rho}, {N: n, K: k, Step: 1, Loss: Loss{kind: "square"}},
				} {
					check(q, e, true)
				}
			}
		}
		check(Request{N: 2, K: 2, Step: 2}, e, true)
		check(Request{N: 3, K: 2, Step: 2}, e, true)
		check(Request{N: 3, K: 1, Step: 3}, e, true)
		check(Request{N: 3, K: 3, Step: 1, Loss: Loss{kind: "top1"}}, e, false)
		check(Request{N: 3, K: 2, Step: 1, Loss: Loss{kind: "top1"}, Worst: true}, e, false)
	}
	check(Request{N: 3, K: 5, Step: 1}, "13/10", false)
	check(Request{N: 3, K: 4, Step: 1}, "69/50", false)
	check(Request{N: 3, K: 10, Step: 1}, "11/10", false)
	check(Request{N: 4, K: 6, Step: 1}, "61/50", false)
	assert.Equal(t, "0.999091", less["3 10 1 e^ε = 11/10 mean uniform worst false"])
	assert.Equal(t, "0.995624", less["4 6 1 e^ε = 61/50 mean uniform worst false"])
	assert.Equal(t, "0.989050", less["3 5 1 e^ε = 13/10 mean uniform worst false"])
	assert.Equal(t, "0.999579", less["3 4 1 e^ε = 69/50 mean uniform worst false"])
	assert.Equal(t, "0.988965", less["3 3 1 e^ε = 5/4 top1 uniform worst false"])
	assert.Equal(t, "0.500000", less["3 2 1 e^ε = 2 top1 uniform worst true"])
	assert.Equal(t, 191, equal)
}

// y returns Y_j of research/docs/threshold.md: Y_1 = 0, Y_{j+1} = A - B' Y_j.
func y(a, b *big.Rat, j int) *big.Rat {
	x := new(big.Rat)
	for range j - 1 {
		x.Sub(a, x.Mul(b, x))
	}
	return x
}

func binomial(n, j int) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(j)))
}

func powerOf(x *big.Rat, n int) *big.Rat {
	out := big.NewRat(1, 1)
	for range n {
		out.Mul(out, x)
	}
	return out
}

// research/docs/approximate.md, Corollary: the price where permute-and-flip is optimal as z Σ λ / |Q| over the rows (P), and for k = 1 in closed form.
func TestPriceFromTheRecurrence(t *testing.T) {
	for _, c := range []struct {
		n, k int
		e    string
	}{{2, 1, "11/10"}, {2, 4, "6/5"}, {3, 1, "11/10"}, {5, 1, "3/2"}, {9, 1, "2"}, {3, 2, "2"}, {4, 3, "2"}, {5, 2, "3"}, {3, 4, "5/2"}} {
		q := Request{N: c.n, K: c.k, Step: 1, Epsilon: exp(t, c.e)}
		z, _ := q.Epsilon.Z()
		one := big.NewRat(1, 1)
		a, b := new(big.Rat), new(big.Rat)
		for v := 1; v <= c.k; v++ {
			b.Add(b, powerOf(z, v))
			a.Add(a, new(big.Rat).Mul(big.NewRat(int64(v), 1), powerOf(z, v)))
		}
		sum := new(big.Rat)
		for j := 1; j < c.n; j++ { // vectors with j best candidates, a given one of the others at each depth in turn
			vectors := new(big.Rat).Mul(binomial(c.n, j), powerOf(big.NewRat(int64(c.k), 1), c.n-j-1))
			for v := 1; v <= c.k; v++ {
				lambda := new(big.Rat)
				for u := v; u <= c.k; u++ {
					term := new(big.Rat).Sub(big.NewRat(int64(u), 1), y(a, b, j))
					lambda.Add(lambda, term.Mul(term, powerOf(z, u-v)))
				}
				require.GreaterOrEqual(t, lambda.Sign(), 0)
				sum.Add(sum, lambda.Mul(lambda, vectors).Mul(lambda, big.NewRat(int64(c.n-j), 1)))
			}
		}
		total := new(big.Rat).Sub(powerOf(big.NewRat(int64(c.k+1), 1), c.n), powerOf(big.NewRat(int64(c.k), 1), c.n))
		want := sum.Mul(sum, z).Quo(sum, total)
		got := approximately(t, q, tinyDelta).priced().Low
		assert.Equal(t, want.RatString(), got.RatString(), "%v", c)
		if c.k == 1 { // n z (2^{n-1} - (1-z)^{n-1}) / ((1+z)(2^n - 1))
			closed := new(big.Rat).Sub(powerOf(big.NewRat(2, 1), c.n-1), powerOf(new(big.Rat).Sub(one, z), c.n-1))
			closed.Mul(closed, z).Mul(closed, big.NewRat(int64(c.n), 1)).Quo(closed, total).Quo(closed, new(big.Rat).Add(one, z))
			assert.Equal(t, closed.RatString(), got.RatString(), "%v", c)
		}
	}
}

// linearUntil returns the δ up to which the table (1+nc) x - c, c = δ/(e^ε - 1), is (ε,δ)-DP for permute-and-flip's x.
func linearUntil(t *testing.T, q Request) *big.Rat {
	t.Helper()
	z, _ := q.Epsilon.Z()
	exp := new(big.Rat).Inv(z)
	growth := new(big.Rat).Sub(exp, big.NewRat(1, 1)) // e^ε - 1
	x := map[string][]*big.Rat{}
	at := func(v []int) []*big.Rat {
		key := fmt.Sprint(v)
		if x[key] == nil {
			scores := make([]*big.Rat, len(v))
			for r, d := range v {
				scores[r] = big.NewRat(int64(-d), 1)
			}
			in := &mechanisms.Instance{Scores: scores, Sensitivities: []*big.Rat{big.NewRat(1, 2)}, Epsilon: q.Epsilon}
			pmf, err := mechanisms.ExactDistribution(mechanisms.PermuteAndFlip(), in)
			require.NoError(t, err)
			x[key] = pmf
		}
		return x[key]
	}
	var most *big.Rat // of δ/(1+nc)
	lower := func(b *big.Rat) {
		if most == nil || b.Cmp(most) < 0 {
			most = b
		}
	}
	all := allVectors(q.N, q.K)
	for _, a := range all {
		for _, p := range at(a) {
			lower(new(big.Rat).Mul(growth, p))
		}
		for _, b := range all {
			low, high := a[0]-b[0], a[0]-b[0]
			for r := range a {
				low, high = min(low, a[r]-b[r]), max(high, a[r]-b[r])
			}
			if high-low > 1 || slices.Equal(a, b) {
				continue
			}
			var slacks []*big.Rat
			for r := range a {
				s := new(big.Rat).Mul(exp, at(b)[r])
				slacks = append(slacks, s.Sub(s, at(a)[r]))
			}
			slices.SortFunc(slacks, (*big.Rat).Cmp)
			sum := new(big.Rat).Set(slacks[0])
			for s := 1; s < len(slacks); s++ {
				sum.Add(sum, slacks[s])
				lower(new(big.Rat).Quo(sum, big.NewRat(int64(s), 1)))
			}
		}
	}
	// δ = most (1 + n δ/growth)
	den := new(big.Rat).Mul(most, big.NewRat(int64(q.N), 1))
	den.Quo(den, growth)
	return most.Quo(most, den.Sub(big.NewRat(1, 1), den))
}

// research/docs/approximate.md: up to linearUntil the optimum falls in proportion to δ, and beyond more slowly.
func TestWhereTheLineEnds(t *testing.T) {
	slowtest.Only(t)
	for _, c := range []struct {
		n, k int
		e    string
	}{{2, 1, "2"}, {2, 3, "2"}, {2, 3, "3"}, {3, 1, "2"}, {4, 1, "2"}, {5, 1, "3"}, {6, 1, "11/10"}, {3, 2, "2"}, {3, 2, "3"}, {3, 3, "2"}, {4, 2, "2"}, {4, 2, "5"}} {
		q := Request{N: c.n, K: c.k, Step: 1, Epsilon: exp(t, c.e)}
		first := approximately(t, q, tinyDelta)
		end := linearUntil(t, q)
		line := func(d *big.Rat) *big.Rat {
			x, tiny := new(big.Rat), new(big.Rat)
			tiny.SetString(tinyDelta)
			x.Mul(first.priced().Low, x.Sub(tiny, d))
			return x.Add(x, first.low())
		}
		assert.Equal(t, line(end).RatString(), approximately(t, q, end.RatString()).low().RatString(), "%v", c)
		beyond := new(big.Rat).Mul(end, big.NewRat(101, 100))
		assert.Positive(t, approximately(t, q, beyond.RatString()).low().Cmp(line(beyond)), "%v", c)
		t.Logf("%v: %s", c, end.RatString())
	}
	for _, c := range [][2]int{{3, 1}, {4, 1}, {5, 1}, {6, 1}, {3, 2}, {4, 2}, {5, 2}, {3, 3}, {4, 3}, {3, 4}, {3, 5}} {
		for _, e := range []string{"11/10", "2", "5"} { // 2(1-z) z^{2k-2} / (n(n-1-2z^{2k-1}))
			n, k := c[0], c[1]
			if k > 1 && e == "11/10" {
				continue // permute-and-flip is not optimal there
			}
			q := Request{N: n, K: k, Step: 1, Epsilon: exp(t, e)}
			z, _ := q.Epsilon.Z()
			want := new(big.Rat).Sub(big.NewRat(1, 1), z)
			want.Mul(want, powerOf(z, 2*k-2))
			den := new(big.Rat).Mul(powerOf(z, 2*k-1), big.NewRat(2, 1))
			den.Sub(big.NewRat(int64(n-1), 1), den).Mul(den, big.NewRat(int64(n), 2))
			assert.Equal(t, want.Quo(want, den).RatString(), linearUntil(t, q).RatString(), "%v %s", c, e)
		}
	}
}

// research/docs/approximate.md, Theorem 4: two candidates, a_v = max(0, z^v/2 - δ(z + … + z^v)) for the worse one, whatever the prior and the loss.
func TestTwoCandidatesApproximately(t *testing.T) {
	rho, err := ParsePrior("geometric:" + big.NewRat(3, 2).RatString())
	require.NoError(t, err)
	for _, k := range []int{1, 2, 5} {
		for _, e := range []string{"11/10", "2", "5"} {
			for _, delta := range []string{"0", "1/1000", "1/30", "1/4", "1/2", "1"} {
				d, _ := new(big.Rat).SetString(delta)
				for _, q := range []Request{
					{N: 2, K: k, Step: 1}, {N: 2, K: k, Step: 1, Prior: rho, Loss: Loss{kind: "square"}}, {N: 2, K: k, Step: 1, Loss: Loss{kind: "top1"}, Worst: true},
				} {
					q.Epsilon = exp(t, e)
					z, _ := q.Epsilon.Z()
					sum, total, most, geometric := new(big.Rat), big.NewRat(1, 1), new(big.Rat), new(big.Rat)
					for v := 1; v <= k; v++ {
						geometric.Add(geometric, powerOf(z, v))
						a := new(big.Rat).Quo(powerOf(z, v), big.NewRat(2, 1))
						if a.Sub(a, new(big.Rat).Mul(d, geometric)).Sign() < 0 {
							a.SetInt64(0)
						}
						loss, weight := big.NewRat(int64(v), 1), big.NewRat(2, 1)
						switch {
						case q.Worst:
							loss.SetInt64(1)
						case q.Loss.String() == "square":
							loss.Mul(loss, loss)
							weight.Mul(weight, powerOf(big.NewRat(3, 2), v))
						}
						if a.Mul(a, loss).Cmp(most) > 0 {
							most.Set(a)
						}
						sum.Add(sum, a.Mul(a, weight))
						total.Add(total, weight)
					}
					want := sum.Quo(sum, total)
					if q.Worst {
						want = most
					}
					assert.Equal(t, want.RatString(), approximately(t, q, delta).low().RatString(), "%d %s %s %s", k, e, delta, q.Loss)
				}
			}
		}
	}
}

// research/docs/approximate.md, Theorem 1: an (ε,δ)-DP table mixed with the uniform choice satisfies every privacy row; with a little less of it, it need not.
func TestMixingMakesPure(t *testing.T) {
	tight := 0
	for _, c := range []Request{{N: 3, K: 2, Step: 1, Epsilon: exp(t, "3/2")}, {N: 4, K: 2, Step: 1, Epsilon: exp(t, "2")}, {N: 3, K: 1, Step: 2, Epsilon: exp(t, "5/4")}} {
		for _, delta := range []string{"1/1000", "1/20", "1/3"} {
			s := approximately(t, c, delta)
			d, _ := new(big.Rat).SetString(delta)
			z, _ := c.Epsilon.Z()
			share := d.Quo(d, new(big.Rat).Sub(new(big.Rat).Inv(z), big.NewRat(1, 1)))
			holds := func(share *big.Rat) bool {
				var cells []*big.Rat
				s.eachVector(func(depths []int, pmf []*big.Rat) {
					for r := range pmf {
						if r == 0 || depths[r] != depths[r-1] {
							cells = append(cells, new(big.Rat).Add(pmf[r], share)) // (1+nc) times the mixture
						}
					}
				})
				holds := true
				q := c
				q.Level = DP
				eachTestRow(q, func(above, below int, _ bool) {
					holds = holds && cells[above].Cmp(new(big.Rat).Mul(z, cells[below])) >= 0
				})
				return holds
			}
			assert.True(t, holds(share))
			if !holds(new(big.Rat).Mul(share, big.NewRat(999, 1000))) {
				tight++
			}
		}
	}
	assert.Positive(t, tight)
}

// research/docs/approximate.md, Theorem 5: opt(δ) >= z^k U - kδ(1-z^k)/(e^ε-1).
func TestBoundWithoutTheNumberOfCandidates(t *testing.T) {
	for _, c := range []Request{{N: 2, K: 2, Step: 1}, {N: 4, K: 1, Step: 1}, {N: 12, K: 1, Step: 1}, {N: 4, K: 3, Step: 1}} {
		for _, e := range []string{"11/10", "3/2"} {
			for _, delta := range []string{"0", "1/1000", "1/20", "1/4"} {
				c.Epsilon = exp(t, e)
				d, _ := new(big.Rat).SetString(delta)
				z, _ := c.Epsilon.Z()
				m, err := mechanisms.Lookup("uniform")
				require.NoError(t, err)
				p, err := newTestTable(c)
				require.NoError(t, err)
				u, err := rated(p, m, 128)
				require.NoError(t, err)
				bound := new(big.Rat).Mul(powerOf(z, c.K), u.Low)
				sum := new(big.Rat)
				for v := 1; v <= c.K; v++ {
					sum.Add(sum, powerOf(z, v))
				}
				bound.Sub(bound, sum.Mul(sum, d).Mul(sum, big.NewRat(int64(c.K), 1)))
				assert.LessOrEqual(t, bound.Cmp(approximately(t, c, delta).low()), 0)
			}
		}
	}
}

// mergedDepths is T_u(m) of research/docs/approximate.md, Theorem 8.
func mergedDepths(m []int, u int, z, delta *big.Rat) *big.Rat {
	switch {
	case u == 0:
		return big.NewRat(1, 1)
	case u >= len(m):
		return new(big.Rat)
	}
	raised := slices.Concat(m[:u-1], []int{m[u-1] + m[u]}, m[u+1:])
	sum := sub(mergedDepths(raised, u, z, delta), delta)
	if both := int64(raised[u-1]); both > 0 {
		lower, same := mergedDepths(raised, u-1, z, delta), mergedDepths(raised, u, z, delta)
		sum.Add(sum, mul(big.NewRat(int64(m[u]), both), sub(lower, same)))
	}
	if sum.Sign() < 0 {
		return new(big.Rat)
	}
	return sum.Mul(sum, z)
}

// research/docs/approximate.md, Theorem 8: the mean of Σ_u T_u bounds the optimum, and is not below Theorem 5's bound; the closed form for k = 2.
func TestBoundByMergedDepths(t *testing.T) {
	close := 0
	for _, c := range []Request{{N: 2, K: 2, Step: 1}, {N: 4, K: 2, Step: 1}, {N: 12, K: 1, Step: 1}, {N: 4, K: 3, Step: 1}} {
		for _, e := range []string{"11/10", "2"} {
			for _, delta := range []string{"0", "1/1000", "1/20", "1/4"} {
				c.Epsilon = exp(t, e)
				d, _ := new(big.Rat).SetString(delta)
				z, _ := c.Epsilon.Z()
				sum, uniform, all := new(big.Rat), new(big.Rat), new(big.Int)
				countVectors(c.N, c.K, func(m []int) {
					vectors, left := big.NewInt(1), int64(c.N)
					for _, many := range m {
						vectors.Mul(vectors, new(big.Int).Binomial(left, int64(many)))
						left -= int64(many)
					}
					all.Add(all, vectors)
					weight := new(big.Rat).SetInt(vectors)
					for u := range m {
						uniform.Add(uniform, mul(weight, big.NewRat(int64(u*m[u]), int64(c.N))))
						if u > 0 {
							sum.Add(sum, mul(weight, mergedDepths(m, u, z, d)))
						}
					}
				})
				bound, u := quo(sum, new(big.Rat).SetInt(all)), quo(uniform, new(big.Rat).SetInt(all))
				before, powers := mul(powerOf(z, c.K), u), new(big.Rat)
				for v := 1; v <= c.K; v++ {
					powers.Add(powers, powerOf(z, v))
				}
				before = sub(before, mul(mul(powers, d), big.NewRat(int64(c.K), 1)))
				assert.GreaterOrEqual(t, bound.Cmp(before), 0, "%d, %d, %s, %s", c.N, c.K, e, delta)
				optimum := enclosureOf(approximately(t, c, delta).optimum())
				assert.LessOrEqual(t, bound.Cmp(optimum.High), 0, "%d, %d, %s, %s", c.N, c.K, e, delta)
				if mul(bound, big.NewRat(11, 10)).Cmp(optimum.High) >= 0 {
					close++
				}
			}
		}
	}
	assert.Greater(t, close, 4, "it is within a tenth of the optimum here and there")
	z, d := big.NewRat(2, 5), big.NewRat(1, 100)
	two := add(mergedDepths([]int{1, 1, 1}, 1, z, d), mergedDepths([]int{1, 1, 1}, 2, z, d))
	assert.Zero(t, two.Cmp(sub(quo(add(z, mul(z, z)), big.NewRat(2, 1)), mul(d, add(z, z, mul(z, z))))))
}
