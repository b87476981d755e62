package secretary

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"optratio/number"
)

func randomRule(t testing.TB, rng *rand.Rand, n int) *Rule {
	r, err := NewRuleFromStops(n, func(i, j int) *big.Rat {
		switch rng.IntN(3) {
		case 0:
			return new(big.Rat)
		case 1:
			return big.NewRat(1, 1)
		}
		return big.NewRat(rng.Int64N(7), 6+rng.Int64N(5))
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRuleLawByEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 6; n++ {
		for range 4 {
			r := randomRule(t, rng, n)
			want := enumerated(n, func(arrivals []int) []*big.Rat { return r.stopTimes(arrivals) })
			if got := r.Law(); !equal(got, want) {
				t.Errorf("n = %d, seed 1 2: law %v, by enumeration %v", n, got, want)
			}
		}
	}
}

// The recurrence against the closed form with binomial coefficients.
func TestRuleLawByBinomials(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 14
	r := randomRule(t, rng, n)
	binomial := func(a, b int) *big.Int { return new(big.Int).Binomial(int64(a), int64(b)) }
	want := make([]*big.Rat, n)
	for k := 1; k <= n; k++ {
		sum := new(big.Rat)
		for i := 1; i <= n; i++ {
			for j := 1; j <= min(i, k); j++ {
				if i-j > n-k {
					continue
				}
				ways := new(big.Int).Mul(binomial(k-1, j-1), binomial(n-k, i-j))
				p := new(big.Rat).SetFrac(ways, new(big.Int).Mul(binomial(n, i), big.NewInt(int64(i))))
				sum.Add(sum, p.Mul(p, r.Weight(i, j)))
			}
		}
		want[k-1] = sum
	}
	if got := r.Law(); !equal(got, want) {
		t.Errorf("law %v, by binomials %v", got, want)
	}
}

func TestThresholdRule(t *testing.T) {
	for _, n := range []int{1, 2, 5, 30} {
		threshold := must(Threshold(n))
		if got := must(ThresholdRule(n, threshold)).Law(); !equal(got, secretary(t, n)) {
			t.Errorf("n = %d: rule and closed form differ", n)
		}
	}
}

func TestMixRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	a, b := randomRule(t, rng, 6), randomRule(t, rng, 6)
	p := big.NewRat(2, 7)
	la, lb, mixed := a.Law(), b.Law(), must(MixRules(p, a, b)).Law()
	for k := range mixed {
		want := new(big.Rat).Mul(p, la[k])
		want.Add(want, new(big.Rat).Mul(big.NewRat(5, 7), lb[k]))
		if mixed[k].Cmp(want) != 0 {
			t.Errorf("rank %d: %v, want %v", k+1, mixed[k], want)
		}
	}
}

func TestNewRuleRefuses(t *testing.T) {
	w := func(rows ...string) [][]*big.Rat {
		var out [][]*big.Rat
		for _, row := range rows {
			out = append(out, rats(t, row))
		}
		return out
	}
	for name, weights := range map[string][][]*big.Rat{
		"empty":         nil,
		"negative":      w("-1/2", "1 1"),
		"above reach":   w("1/2", "3/4 1/2"),
		"nobody taken":  w("1/2", "1/2 1/4"),
		"ragged":        w("0", "1"),
		"above one":     w("3/2"),
		"last too much": w("1", "1/2 1/2"),
	} {
		if _, err := NewRule(weights); !errors.Is(err, ErrRange) {
			t.Errorf("%s: %v, want ErrRange", name, err)
		}
	}
	if _, err := NewRule(w("1/2", "1/2 1/2")); err != nil {
		t.Error(err)
	}
	if _, err := NewRuleFromStops(2, func(int, int) *big.Rat { return big.NewRat(3, 2) }); !errors.Is(err, ErrRange) {
		t.Errorf("stop probability 3/2: %v", err)
	}
}

// The secretary rule is what Best finds, and its value the closed form; by
// brute force over all 2^9 deterministic rules for n = 4 nothing beats Best for random payoffs.
func TestBest(t *testing.T) {
	for n := 1; n <= 40; n++ {
		payoff := make([]*big.Rat, n)
		for k := range payoff {
			payoff[k] = new(big.Rat)
		}
		payoff[0].SetInt64(1)
		value, stops, err := Best(payoff)
		if err != nil || value.Cmp(secretary(t, n)[0]) != 0 {
			t.Errorf("n = %d: best value %v, %v; want %v", n, value, err, secretary(t, n)[0])
		}
		if got := must(stops.Rule()).Law()[0]; got.Cmp(value) != 0 {
			t.Errorf("n = %d: the best rule wins with %v, want %v", n, got, value)
		}
	}
	const n = 4
	var laws [][]*big.Rat
	for mask := range 1 << 6 {
		laws = append(laws, must(NewRuleFromStops(n, func(i, j int) *big.Rat {
			return big.NewRat(int64(mask>>(i*(i-1)/2+j-1)&1), 1)
		})).Law())
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		payoff := make([]*big.Rat, n)
		floats := make([]float64, n)
		for k := range payoff {
			payoff[k] = big.NewRat(rng.Int64N(41)-20, 1+rng.Int64N(6))
			floats[k], _ = payoff[k].Float64()
		}
		var want *big.Rat
		for _, law := range laws {
			if v := dot(payoff, law); want == nil || v.Cmp(want) > 0 {
				want = v
			}
		}
		value, stops, err := Best(payoff)
		if err != nil || value.Cmp(want) != 0 || dot(payoff, must(stops.Rule()).Law()).Cmp(want) != 0 {
			t.Errorf("payoff %v: best %v, %v; brute force %v", payoff, value, err, want)
		}
		approx, approxStops := BestFloat(floats)
		exact, _ := want.Float64()
		if math.Abs(approx-exact) > 1e-12 {
			t.Errorf("payoff %v: float %g, want %g", payoff, approx, exact)
		}
		for k, q := range approxStops.Law() {
			want, _ := must(approxStops.Rule()).Law()[k].Float64()
			if math.Abs(q-want) > 1e-14 {
				t.Errorf("float law of rank %d is %g, want %g", k+1, q, want)
			}
		}
	}
}

// A deterministic rule's law is the sum of what is taken in each of any blocks of times, times the probability of getting there.
func TestTakenFrom(t *testing.T) {
	const n = 9
	_, stops := BestFloat([]float64{3, 2, 1, 0, 0, 0, 0, 0, 0})
	reach := stops.Reach()
	for _, first := range [][]int{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {1, 4, 5, 10}, {1, 10}} {
		sum := make([]float64, n)
		for b := range len(first) - 1 {
			law, pass := TakenFrom(n, first[b], stops[first[b]-1:first[b+1]-1])
			for k, x := range law {
				sum[k] += reach[first[b]-1] * x
			}
			if first[b+1] <= n && math.Abs(reach[first[b]-1]*pass-reach[first[b+1]-1]) > 1e-15 {
				t.Errorf("%v, block %d: passed with probability %g", first, b, pass)
			}
		}
		for k, q := range stops.Law() {
			if math.Abs(sum[k]-q) > 1e-15 {
				t.Errorf("%v, rank %d: %g, want %g", first, k+1, sum[k], q)
			}
		}
	}
}

func dot(a, b []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for k := range a {
		sum.Add(sum, new(big.Rat).Mul(a[k], b[k]))
	}
	return sum
}

func ExampleBest() {
	// Win with either of the two best of five.
	value, stops, _ := Best([]*big.Rat{big.NewRat(1, 1), big.NewRat(1, 1), new(big.Rat), new(big.Rat), new(big.Rat)})
	fmt.Println(value.RatString())
	for i, row := range stops {
		fmt.Println(i+1, row)
	}
	// Output:
	// 7/10
	// 1 [false]
	// 2 [true false]
	// 3 [true false false]
	// 4 [true true false false]
	// 5 [true true true true true]
}

func BenchmarkRuleLaw200(b *testing.B) {
	r := must(ThresholdRule(200, 74))
	for b.Loop() {
		r.Law()
	}
}

// Ignoring the last of n arrivals, playing a rule for n-1 that may pass everyone, and taking the last one if it did: the law is
// q_k = [(n-k) q'_k + (k-1) q'_{k-1} + c]/n, c = 1 - Σ q', by enumeration of the rule that waits for the best so far, and it
// needs no more δ at any ε than q' does.
func TestIgnoringTheLastArrival(t *testing.T) {
	ignoring := func(q []*big.Rat) []*big.Rat {
		n := len(q) + 1
		c := new(big.Rat).Sub(big.NewRat(1, 1), sumRats(q))
		out := make([]*big.Rat, n)
		for k := 1; k <= n; k++ {
			x := new(big.Rat).Set(c)
			if k < n {
				x.Add(x, new(big.Rat).Mul(big.NewRat(int64(n-k), 1), q[k-1]))
			}
			if k > 1 {
				x.Add(x, new(big.Rat).Mul(big.NewRat(int64(k-1), 1), q[k-2]))
			}
			out[k-1] = x.Quo(x, big.NewRat(int64(n), 1))
		}
		return out
	}
	// take returns the rank that the rule takes among the first arrivals, 0 for nobody.
	take := func(arrivals []int, start int) int {
		best := math.MaxInt
		for i, a := range arrivals {
			if a < best {
				if best = a; i+1 >= start {
					return a
				}
			}
		}
		return 0
	}
	for n := 2; n <= 7; n++ {
		for start := 1; start <= n; start++ {
			fewer, all := make([]*big.Rat, n-1), make([]*big.Rat, n)
			for i := range all {
				if all[i] = new(big.Rat); i < n-1 {
					fewer[i] = new(big.Rat)
				}
			}
			count := func(n int, law []*big.Rat, taken func([]int) int) {
				weight := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).MulRange(1, int64(n)))
				permutations(n, func(order []int) {
					if k := taken(order); k > 0 {
						law[k-1].Add(law[k-1], weight)
					}
				})
			}
			count(n-1, fewer, func(order []int) int { return take(order, start) })
			count(n, all, func(order []int) int {
				if k := take(order[:n-1], start); k > 0 {
					return k
				}
				return order[n-1]
			})
			for k, q := range ignoring(fewer) {
				if q.Cmp(all[k]) != 0 {
					t.Errorf("n = %d, start %d: q_%d = %v, want %v", n, start, k+1, q, all[k])
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(31, 32))
	for range 200 {
		n := 3 + rng.IntN(8)
		l := 1 + rng.IntN(n-2)
		q := randomLaw(rng, n-1)
		share := big.NewRat(1+rng.Int64N(10), 10)
		for k := range q {
			q[k] = new(big.Rat).Mul(q[k], share)
		}
		eps := must(number.FromExp(big.NewRat(10+rng.Int64N(30), 10)))
		_, before, _, err := TightDelta(ExactLaw(q), l, eps)
		if err != nil {
			t.Fatal(err)
		}
		after, _, _, err := TightDelta(ExactLaw(ignoring(q)), l, eps)
		if err != nil || after.Cmp(before) > 0 {
			t.Errorf("%v, l = %d, %v: δ rises from %v to %v (%v)", q, l, eps, before, after, err)
		}
	}
}

// Law returns the outcome law in floating point.
func (s Stops) Law() []float64 {
	law, _ := TakenFrom(len(s), 1, s)
	return law
}

// Reach returns the probability of reaching each time, in floating point.
func (s Stops) Reach() []float64 {
	reach := make([]float64, len(s))
	left := 1.0
	for i, row := range s {
		reach[i] = left
		pass := 0
		for _, stop := range row {
			if !stop {
				pass++
			}
		}
		left = left * float64(pass) / float64(i+1)
	}
	return reach
}

// stopTimes returns, for one order of arrivals, each by its rank, the probability that the rule stops at each time.
func (r *Rule) stopTimes(arrivals []int) []*big.Rat {
	times, left := make([]*big.Rat, len(arrivals)), big.NewRat(1, 1)
	for i, a := range arrivals {
		j := 1
		for _, b := range arrivals[:i] {
			if b < a {
				j++
			}
		}
		times[i] = new(big.Rat).Mul(left, r.Stop(i+1, j))
		left = new(big.Rat).Sub(left, times[i])
	}
	return times
}
