package secretary

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/number"
)

func decimalEps(t testing.TB, s string) number.Epsilon {
	t.Helper()
	return must(number.FromEpsilon(rat(t, s)))
}

// The definition: all events S, all swaps of at most l places. The oracle for singletons.
func hockeyStick(q []*big.Rat, l int, e *big.Rat) *big.Rat {
	n := len(q)
	worst := new(big.Rat)
	for i := range n {
		for j := i + 1; j < min(n, i+l+1); j++ {
			swapped := append([]*big.Rat(nil), q...)
			swapped[i], swapped[j] = q[j], q[i]
			for set := range 1 << n {
				d := new(big.Rat)
				for k := range n {
					if set>>k&1 == 1 {
						d.Add(d, q[k])
						d.Sub(d, new(big.Rat).Mul(e, swapped[k]))
					}
				}
				if d.Cmp(worst) > 0 {
					worst = d
				}
			}
		}
	}
	return worst
}

func randomLaw(rng *rand.Rand, n int) []*big.Rat {
	q := make([]*big.Rat, n)
	for k := range q {
		q[k] = big.NewRat(rng.Int64N(30), 1)
	}
	q[rng.IntN(n)].Add(big.NewRat(1, 1), q[rng.IntN(n)])
	total := sumRats(q)
	for k := range q {
		q[k] = new(big.Rat).Quo(q[k], total)
	}
	return q
}

func TestTightAgainstAllEvents(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 60 {
		n := 2 + rng.IntN(5)
		l := 1 + rng.IntN(n-1)
		q := randomLaw(rng, n)
		e := big.NewRat(10+rng.Int64N(20), 10)
		eps := must(number.FromExp(e))
		lo, hi, pair, err := TightDelta(ExactLaw(q), l, eps)
		want := hockeyStick(q, l, e)
		if err != nil || lo.Cmp(want) != 0 || hi.Cmp(want) != 0 || (pair == Pair{}) != (want.Sign() == 0) {
			t.Fatalf("q = %v, l = %d, e^ε = %v: δ in [%v, %v] at %v, %v; want %v", q, l, e, lo, hi, pair, err, want)
		}
		if bad := must(Violated(q, l, eps, lo)); bad != (Pair{}) {
			t.Errorf("violated at its own tight δ: %v", bad)
		}
		if want.Sign() > 0 {
			less := new(big.Rat).Mul(want, big.NewRat(999, 1000))
			if bad := must(Violated(q, l, eps, less)); bad == (Pair{}) {
				t.Errorf("not violated below its tight δ")
			}
			// ε for that δ comes back, where δ depends on ε at all.
			tight := must(TightEps(ExactLaw(q), l, want))
			if q[pair.J-1].Sign() > 0 && tight.Lower.Cmp(e) != 0 {
				t.Errorf("tight e^ε at the tight δ is %v, want %v", tight.Lower, e)
			}
		}
	}
}

func TestTightEpsInfinite(t *testing.T) {
	q := rats(t, "1/2 0 1/2")
	tight := must(TightEps(ExactLaw(q), 1, new(big.Rat)))
	if tight.Upper != nil || tight.Lower != nil || tight.Pair != (Pair{1, 2}) {
		t.Errorf("tight = %+v, want +∞ at 1, 2", tight)
	}
	if !must(TightEps(ExactLaw(q), 1, big.NewRat(1, 2))).isZero() {
		t.Error("δ = 1/2 needs no ε")
	}
	if got := tight.Eps().String(); got == "" {
		t.Error("no text for +∞")
	}
}

func (t Tight) isZero() bool {
	return t.Lower != nil && t.Upper != nil && t.Lower.Cmp(t.Upper) == 0 && t.Lower.Cmp(big.NewRat(1, 1)) == 0
}

// Reference: the secretary rule at n = 30, l = 3, δ = 0 is private from ε = 2.212455 on.
func TestTightEpsReference(t *testing.T) {
	tight := must(TightEps(ExactLaw(secretary(t, 30)), 3, new(big.Rat)))
	ratio, _ := tight.Upper.Float64()
	if math.Abs(math.Log(ratio)-2.212455) > 5e-7 || tight.Pair != (Pair{1, 4}) {
		t.Errorf("ε = %.9f at %v, want 2.212455 at {1 4}", math.Log(ratio), tight.Pair)
	}
	enclosed := EnclosedLaw(must(SecretaryLaw(t.Context(), arith.Interval{Prec: 128}, 30)))
	rough := must(TightEps(enclosed, 3, new(big.Rat)))
	if rough.Lower.Cmp(tight.Lower) > 0 || rough.Upper.Cmp(tight.Upper) < 0 {
		t.Error("enclosed law's tight ε does not contain the exact one")
	}
}

// Reference: the best p-mix at n = 10, ε = 0.5, δ = 0, l = 1 has p = 0.477080 and wins with 0.24249933.
func TestLargestPReference(t *testing.T) {
	for _, c := range []struct {
		n          int
		p, success float64
	}{{10, 0.477080, 0.24249933}, {30, math.NaN(), 0.08271578}} {
		r := secretary(t, c.n)
		lo, hi, err := LargestP(ExactLaw(r), 1, decimalEps(t, "1/2"), new(big.Rat))
		if err != nil || lo.Cmp(hi) > 0 {
			t.Fatal(lo, hi, err)
		}
		if p, _ := lo.Float64(); !math.IsNaN(c.p) && math.Abs(p-c.p) > 5e-7 {
			t.Errorf("n = %d: p = %.9f, want %.6f", c.n, p, c.p)
		}
		mixed := Mix(arith.Rat{}, lo, r, must(BlindLaw(arith.Rat{}, c.n)))
		if got, _ := mixed[0].Float64(); math.Abs(got-c.success) > 5e-9 {
			t.Errorf("n = %d: best p-mix wins with %.10f, want %.8f", c.n, got, c.success)
		}
	}
}

// p = LargestP is private and anything larger is not.
func TestLargestPIsTight(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 40 {
		n := 2 + rng.IntN(12)
		l := 1 + rng.IntN(n-1)
		r := secretary(t, n)
		eps := must(number.FromExp(big.NewRat(20+rng.Int64N(20), 20)))
		delta := big.NewRat(rng.Int64N(10), 60)
		p, hi, err := LargestP(ExactLaw(r), l, eps, delta)
		if err != nil || p.Cmp(hi) != 0 {
			t.Fatal(p, hi, err)
		}
		blind := must(BlindLaw(arith.Rat{}, n))
		if bad := must(Violated(Mix(arith.Rat{}, p, r, blind), l, eps, delta)); bad != (Pair{}) {
			t.Errorf("n = %d, l = %d, %v, δ = %v: p = %v violates %v", n, l, eps, delta, p, bad)
		}
		if p.Cmp(big.NewRat(1, 1)) < 0 {
			more := new(big.Rat).Add(p, big.NewRat(1, 1_000_000))
			if bad := must(Violated(Mix(arith.Rat{}, more, r, blind), l, eps, delta)); bad == (Pair{}) {
				t.Errorf("n = %d, l = %d, %v, δ = %v: p = %v could be larger", n, l, eps, delta, p)
			}
		}
	}
}

// At the largest ε only a rank that is never taken breaks privacy.
func TestHugeEpsilon(t *testing.T) {
	huge := decimalEps(t, "8192")
	for _, c := range []struct {
		law, delta string
		bad        Pair
	}{
		{"1/2 1/3 1/6", "0", Pair{}},
		{"1/2 1/2 0", "1/2", Pair{2, 3}},
		{"0 1 0", "1", Pair{2, 1}},
	} {
		q := rats(t, c.law)
		lo, hi, bad, err := TightDelta(ExactLaw(q), 1, huge)
		if err != nil || lo.Cmp(hi) != 0 || lo.RatString() != c.delta || bad != c.bad {
			t.Errorf("%s: δ from %v to %v at %v, %v; want %s at %v", c.law, lo, hi, bad, err, c.delta, c.bad)
		}
		if got := must(Violated(q, 1, huge, new(big.Rat))); got != c.bad {
			t.Errorf("%s: %v breaks privacy, want %v", c.law, got, c.bad)
		}
		// p is nearly 1
		lo, hi, err = LargestP(ExactLaw(q), 1, huge, new(big.Rat))
		if err != nil || hi.Cmp(big.NewRat(1, 1)) > 0 || new(big.Rat).Sub(big.NewRat(1, 1), lo).Cmp(big.NewRat(1, 1e18)) > 0 {
			t.Errorf("%s: p from %v to %v, %v", c.law, lo, hi, err)
		}
	}
	var unset number.Epsilon
	q := ExactLaw(rats(t, "1/2 1/3 1/6"))
	_, _, _, err := TightDelta(q, 1, unset)
	_, _, other := LargestP(q, 1, unset, new(big.Rat))
	if _, third := Violated(rats(t, "1"), 1, unset, new(big.Rat)); !errors.Is(err, number.ErrEpsilon) || !errors.Is(other, number.ErrEpsilon) || !errors.Is(third, number.ErrEpsilon) {
		t.Error("no ε:", err, other, third)
	}
}

func TestQueriesRefuse(t *testing.T) {
	q := ExactLaw(rats(t, "1/2 1/3 1/6"))
	for _, l := range []int{0, -1, 3} {
		if _, err := TightEps(q, l, new(big.Rat)); !errors.Is(err, ErrRange) {
			t.Errorf("l = %d: %v", l, err)
		}
	}
	for _, delta := range []string{"-1/10", "11/10"} {
		if _, err := TightEps(q, 1, rat(t, delta)); !errors.Is(err, ErrRange) {
			t.Errorf("δ = %s: %v", delta, err)
		}
	}
}

// windowMin against its definition.
func TestWindowMin(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 100 {
		x := make([]*big.Int, 1+rng.IntN(20))
		for i := range x {
			x[i] = big.NewInt(rng.Int64N(8))
		}
		l := 1 + rng.IntN(len(x))
		for i, got := range windowMin(x, l) {
			want := max(0, i-l)
			for j := want; j < min(len(x), i+l+1); j++ {
				if x[j].Cmp(x[want]) < 0 {
					want = j
				}
			}
			if got != want {
				t.Fatalf("x = %v, l = %d: least around %d at %d, want %d", x, l, i, got, want)
			}
		}
	}
}

// e^½ = 1.64872127070012814684…
func TestCompareExp(t *testing.T) {
	three, err := number.ParseExp("3/2")
	require.NoError(t, err)
	half, zero := decimalEps(t, "0.5"), decimalEps(t, "0")
	tiny, huge := decimalEps(t, "1e-30"), decimalEps(t, "8192")
	for _, c := range []struct {
		eps  number.Epsilon
		a, b string
		want int
	}{
		{half, "1.6487212707001281468", "1", -1}, {half, "1.6487212707001281469", "1", 1}, {half, "0", "0", 0},
		{half, "-2", "-1", -1}, {half, "-1", "-1", 1}, {half, "0", "1", -1}, {half, "1", "-1", 1}, {half, "1", "0", 1}, {half, "0", "-1", 1},
		{three, "3", "2", 0}, {three, "3.01", "2", 1}, {three, "-3", "-2", 0}, {zero, "2", "2", 0}, {zero, "1", "2", -1},
		{tiny, "1", "1", -1}, {tiny, "1.0000000000000000000000000000011", "1", 1},
		{huge, "1e1700", "1e-1700", -1}, {huge, "-1e1700", "-1e-1700", 1}, // 8192/ln 10 = 3557.7
		{decimalEps(t, "7000"), "1e3041", "1", 1}, {decimalEps(t, "7000"), "1e3040", "1", -1}, // 7000/ln 10 = 3040.06
	} {
		assert.Equal(t, c.want, compareExp(c.eps, rat(t, c.a), rat(t, c.b)), "%s - e^%s·%s", c.a, c.eps, c.b)
	}
}
