package secretary

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
)

func rats(t testing.TB, s string) []*big.Rat {
	t.Helper()
	var out []*big.Rat
	for _, w := range strings.Fields(s) {
		out = append(out, rat(t, w))
	}
	return out
}

func rat(t testing.TB, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("bad rational %q", s)
	}
	return r
}

func equal(a, b []*big.Rat) bool {
	if len(a) != len(b) {
		return false
	}
	for k := range a {
		if a[k].Cmp(b[k]) != 0 {
			return false
		}
	}
	return true
}

func secretary(t testing.TB, n int) []*big.Rat {
	t.Helper()
	law, err := SecretaryLaw(t.Context(), arith.Rat{}, n)
	if err != nil {
		t.Fatal(err)
	}
	return law
}

func TestSecretaryLawTable(t *testing.T) {
	for _, c := range []struct {
		n, threshold int
		law          string
	}{
		{1, 1, "1"},
		{2, 1, "1/2 1/2"},
		{3, 2, "1/2 1/3 1/6"},
		{7, 3, "29/70 47/210 9/70 17/210 2/35 1/21 1/21"},
		{8, 4, "459/1120 219/1120 17/160 79/1120 2/35 3/56 3/56 3/56"},
	} {
		if got, err := Threshold(c.n); err != nil || got != c.threshold {
			t.Errorf("Threshold(%d) = %d, %v; want %d", c.n, got, err, c.threshold)
		}
		if got := secretary(t, c.n); !equal(got, rats(t, c.law)) {
			t.Errorf("law for n = %d is %v, want %s", c.n, got, c.law)
		}
	}
}

// The definition of the threshold in exact arithmetic, and the classical values n/e for large n.
func TestThreshold(t *testing.T) {
	one := big.NewRat(1, 1)
	for n := 1; n <= 120; n++ {
		want, sum := n, new(big.Rat)
		for ; want > 1; want-- {
			if sum.Add(sum, big.NewRat(1, int64(want-1))); sum.Cmp(one) > 0 {
				break
			}
		}
		if got, err := Threshold(n); err != nil || got != want {
			t.Errorf("Threshold(%d) = %d, %v; want %d", n, got, err, want)
		}
	}
	for _, n := range []int{1000, 100_000, 1_000_000} {
		got, err := Threshold(n)
		// Σ_{s=t}^{n-1} 1/s is within 1/t of ln(n/t), so t is within 2 of n/e.
		if err != nil || math.Abs(float64(got)-float64(n)/math.E) > 2 {
			t.Errorf("Threshold(%d) = %d, %v; want about %g", n, got, err, float64(n)/math.E)
		}
	}
	for _, n := range []int{0, -1, MaxCandidates + 1} {
		if _, err := Threshold(n); !errors.Is(err, ErrRange) {
			t.Errorf("Threshold(%d): %v, want ErrRange", n, err)
		}
	}
}

func TestThresholdLawByEnumeration(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for threshold := 1; threshold <= n; threshold++ {
			got, err := ThresholdLaw(t.Context(), arith.Rat{}, n, threshold)
			if err != nil {
				t.Fatal(err)
			}
			if want := enumeratedThreshold(n, threshold); !equal(got, want) {
				t.Errorf("n = %d, t = %d: %v, by enumeration %v", n, threshold, got, want)
			}
		}
	}
	if got, want := secretary(t, 8), enumeratedThreshold(8, 4); !equal(got, want) {
		t.Errorf("n = 8: %v, by enumeration %v", got, want)
	}
}

// printedLaw is the formula as both versions of the source print it, for every k including 1.
func printedLaw(n, t int) []*big.Rat {
	law := make([]*big.Rat, n)
	for k := 1; k <= n; k++ {
		sum := big.NewRat(1, int64(n-1))
		for i := t; i <= n-k+1; i++ {
			c := new(big.Rat).SetFrac(new(big.Int).Binomial(int64(n-k), int64(i-1)), new(big.Int).Binomial(int64(n-1), int64(i-1)))
			sum.Add(sum, c.Mul(c, big.NewRat(1, int64(i-1))))
		}
		law[k-1] = sum.Mul(sum, big.NewRat(int64(t-1), int64(n)))
	}
	return law
}

// The printed formula is right for k >= 2 and too large by (t-1)/(n(n-1)) at k = 1.
func TestPrintedFormulaIsWrongForTheBest(t *testing.T) {
	threshold, _ := Threshold(4)
	printed := printedLaw(4, threshold)
	if got, want := sumRats(printed), big.NewRat(13, 12); got.Cmp(want) != 0 {
		t.Errorf("printed values for n = 4 sum to %v, want %v", got, want)
	}
	for n := 3; n <= 60; n++ {
		for _, threshold := range []int{2, (n + 1) / 2, n} {
			threshold = max(threshold, 2)
			law, err := ThresholdLaw(t.Context(), arith.Rat{}, n, threshold)
			if err != nil {
				t.Fatal(err)
			}
			if total := sumRats(law); total.Cmp(big.NewRat(1, 1)) != 0 {
				t.Errorf("n = %d, t = %d: probabilities sum to %v", n, threshold, total)
			}
			printed := printedLaw(n, threshold)
			if !equal(printed[1:], law[1:]) {
				t.Errorf("n = %d, t = %d: printed formula differs for k >= 2", n, threshold)
			}
			excess := new(big.Rat).Sub(printed[0], law[0])
			if want := big.NewRat(int64(threshold-1), int64(n*(n-1))); excess.Cmp(want) != 0 {
				t.Errorf("n = %d, t = %d: printed r_1 is off by %v, want %v", n, threshold, excess, want)
			}
		}
	}
}

func TestLawNonincreasing(t *testing.T) {
	for n := 2; n <= 80; n++ {
		law := secretary(t, n)
		for k := 1; k < n; k++ {
			if law[k].Cmp(law[k-1]) > 0 {
				t.Errorf("n = %d: r_%d > r_%d", n, k+1, k)
			}
		}
	}
}

func TestFloatLaw(t *testing.T) {
	const n = 400
	exact, approx := secretary(t, n), must(SecretaryLaw(t.Context(), arith.Float{}, n))
	for k := range exact {
		want, _ := exact[k].Float64()
		if math.Abs(approx[k]-want) > 1e-13*want {
			t.Fatalf("n = %d: r_%d = %g in floats, want %g", n, k+1, approx[k], want)
		}
	}
}

// At n = 10⁵ the float law sums to one, lies inside the rigorous enclosure
// (widened by rounding), and is near its limit a_k/e.
func TestLargeLaw(t *testing.T) {
	const n = 100_000
	law := must(SecretaryLaw(t.Context(), arith.Float{}, n))
	sum := 0.0
	for k := n - 1; k >= 0; k-- {
		sum += law[k]
	}
	if math.Abs(sum-1) > 1e-10 {
		t.Errorf("float law sums to %.17g", sum)
	}
	enclosed := must(SecretaryLaw(t.Context(), arith.Interval{Prec: 96}, n))
	for _, k := range []int{1, 2, 3, 10, 100, 1000, n} {
		lo, hi := enclosed[k-1].Float64()
		if hi-lo > 1e-15*hi || law[k-1] < lo*(1-1e-10) || law[k-1] > hi*(1+1e-10) {
			t.Errorf("r_%d = %.17g, enclosed in [%.17g, %.17g]", k, law[k-1], lo, hi)
		}
	}
	for k := 1; k <= 8; k++ {
		limit := must(AsymptoticEnclosure(k, 64)).Near() / math.E
		if math.Abs(law[k-1]-limit) > 3.0/n {
			t.Errorf("r_%d = %g, limit %g", k, law[k-1], limit)
		}
	}
}

// a_1 = 1, a_2 = 1/e, and the next one by a term less.
func TestAsymptotic(t *testing.T) {
	for k, want := range map[int]float64{1: 1, 2: 1 / math.E, 3: 1/math.E - (1-1/math.E)*(1-1/math.E)/2} {
		if x := must(AsymptoticEnclosure(k, 128)); math.Abs(x.Near()-want) > 1e-15 || x.RelWidth() > 1e-37 {
			t.Errorf("a_%d is enclosed in %v, want %.17g", k, x, want)
		}
	}
	if _, err := AsymptoticEnclosure(0, 64); !errors.Is(err, ErrRange) {
		t.Error("a_0 accepted")
	}
}

func TestMixAndBlind(t *testing.T) {
	f := arith.Rat{}
	blind := must(BlindLaw(f, 7))
	for _, x := range blind {
		if x.Cmp(big.NewRat(1, 7)) != 0 {
			t.Fatalf("blind law %v", blind)
		}
	}
	mixed := Mix(f, big.NewRat(1, 3), secretary(t, 7), blind)
	if want := rat(t, "7/30"); mixed[0].Cmp(want) != 0 { // (29/70 + 2/7)/3
		t.Errorf("mixed q_1 = %v, want %v", mixed[0], want)
	}
	if sumRats(mixed).Cmp(big.NewRat(1, 1)) != 0 {
		t.Error("mix does not sum to one")
	}
}

func TestThresholdLawRefuses(t *testing.T) {
	for _, c := range [][2]int{{0, 1}, {5, 0}, {5, 6}} {
		if _, err := ThresholdLaw(t.Context(), arith.Rat{}, c[0], c[1]); !errors.Is(err, ErrRange) {
			t.Errorf("n = %d, t = %d: %v", c[0], c[1], err)
		}
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func BenchmarkSecretaryLawExact1000(b *testing.B) {
	for b.Loop() {
		secretary(b, 1000)
	}
}

// In interval arithmetic the ranks that precision does not tell apart share one enclosure. It holds the exact probabilities, is narrow, and a long law is
// mostly such ranks.
func TestThresholdLawRemainder(t *testing.T) {
	const n, prec = 700, 64
	f := arith.Interval{Prec: prec}
	for _, threshold := range []int{1, 2, 3, 4, 20, 258, 500, 690, 699, 700} {
		exact, err := ThresholdLaw(t.Context(), arith.Rat{}, n, threshold)
		require.NoError(t, err)
		law, err := ThresholdLaw(t.Context(), f, n, threshold)
		require.NoError(t, err)
		distinct := 1
		for k, q := range exact {
			require.True(t, law[k].Contains(q), "threshold %d, rank %d: %v is not in %v", threshold, k+1, q, law[k])
			require.Less(t, law[k].RelWidth(), 0x1p-45)
			if k > 0 && law[k] != law[k-1] {
				distinct++
			}
		}
		if threshold == 258 {
			assert.Less(t, distinct, 200)
			p := big.NewRat(1, 3)
			blind, err := BlindLaw(f, n)
			require.NoError(t, err)
			mixed := EnclosedLaw(Mix(f, f.FromRat(p), law, blind))
			for k, x := range mixed.Numbers() {
				low, _ := x.Lower()
				high, _ := x.Upper()
				q := new(big.Rat).Mul(p, exact[k])
				q.Add(q, big.NewRat(2, 3*n))
				require.True(t, low.Cmp(q) <= 0 && q.Cmp(high) <= 0, "rank %d", k+1)
			}
			assert.Same(t, mixed.lo[n-1], mixed.lo[n-2])
		}
	}
}

// The remainder bounds the sum of the summands that it stands for, which is not far below its upper end.
func TestRemainder(t *testing.T) {
	const n = 400
	f := arith.Interval{Prec: 16}
	for _, threshold := range []int{60, 148, 300} {
		step, seen := big.NewRat(1, 1), 0
		for k := 1; k <= n-threshold+1; k++ {
			step.Mul(step, big.NewRat(int64(n-threshold+2-k), int64(n-k)))
			rest, ok := remainder(f, n, threshold, k, f.FromRat(step))
			if !ok || seen > 40 {
				continue
			}
			seen++
			sum, later := new(big.Rat), new(big.Rat).Set(step)
			for j := k; j <= n-threshold+1; j++ {
				sum.Add(sum, new(big.Rat).Mul(later, big.NewRat(int64(threshold-1), int64(n)*int64(j))))
				later.Mul(later, big.NewRat(int64(n-threshold+1-j), int64(n-j-1)))
			}
			require.True(t, rest.Contains(sum), "threshold %d, rank %d", threshold, k)
			more := new(big.Rat).Mul(sum, big.NewRat(20, 1))
			require.False(t, rest.Contains(more))
		}
		assert.Greater(t, seen, 10)
	}
	_, ok := remainder(f, n, 2, 3, f.FromRat(new(big.Rat)))
	assert.False(t, ok, "at threshold 2 the summands need not fall")
}
