package stopping

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"optratio/mechanisms"
	"optratio/number/arith"
)

// The bound from its definition.
func TestLawBound(t *testing.T) {
	for _, e := range rats(t, "1 3/2 4") {
		for n := 1; n <= 12; n++ {
			for l := 1; l <= max(n-1, 1); l++ {
				sum := new(big.Rat)
				for k := 1; k <= n; k++ {
					term := big.NewRat(1, 1)
					for range (k - 1 + l - 1) / l {
						term.Quo(term, e)
					}
					sum.Add(sum, term)
				}
				if got := must(LawBound(n, l, e)); got.Cmp(sum.Inv(sum)) != 0 {
					t.Errorf("n = %d, l = %d, e = %v: %v, want %v", n, l, e, got, sum)
				}
			}
		}
	}
	if _, err := LawBound(5, 1, big.NewRat(1, 2)); !errors.Is(err, ErrRange) {
		t.Error(err)
	}
}

// The geometric law has Difference (1-z)^{n-1} q_1, so no stopping rule has it.
func TestGeometricLawIsNoRule(t *testing.T) {
	z := big.NewRat(2, 3)
	for n := 2; n <= 10; n++ {
		q, power := make([]*big.Rat, n), big.NewRat(1, 1)
		want := big.NewRat(1, 1)
		for k := range q {
			q[k] = power
			power = new(big.Rat).Mul(power, z)
			if k > 0 {
				want.Mul(want, big.NewRat(1, 3))
			}
		}
		if got := Difference(q); got.Cmp(want) != 0 {
			t.Errorf("n = %d: difference %v, want %v", n, got, want)
		}
	}
}

// The constant-rate rule at finite n approaches its limit law like 1/n: the error at k = 1..6 is
// below 2/n, and its law is geometric in the limit.
func TestConstantRateRule(t *testing.T) {
	const eps = 0.5
	zeta := math.Exp(-eps)
	success := ConstantRate(eps, 1)
	for _, n := range []int{30, 60} {
		r := must(NewRuleFromStops(n, func(i, j int) *big.Rat {
			y := 1 - (1-zeta)*float64(n)/float64(i)
			if y < 0 {
				return new(big.Rat)
			}
			// Short dyadic probabilities keep the exact law small.
			return big.NewRat(int64(math.Pow(y, float64(j-1))*(1<<20)), 1<<20)
		}))
		law := r.Law()
		for k := range 6 {
			got, _ := law[k].Float64()
			if want := success * math.Pow(zeta, float64(k)); math.Abs(got-want) > 2/float64(n) {
				t.Errorf("n = %d: rank %d taken with %g, limit %g", n, k+1, got, want)
			}
		}
	}
}

// For ε >= ln(1/a_{l+1}) (1 for l = 1) the secretary rule itself is (ε, 0)-private: computed for
// 5 <= n <= 100, l <= 6; there its tight ε stays below that limit.
func TestSecretaryRulePrivateFromItsLimit(t *testing.T) {
	for n := 5; n <= 100; n++ {
		law := ExactLaw(secretary(t, n))
		for l := 1; l <= min(6, n-1); l++ {
			a, _ := must(AsymptoticEnclosure(l+1, 128)).Hi().Rat(nil)
			tight := must(TightEps(law, l, new(big.Rat)))
			if new(big.Rat).Mul(tight.Upper, a).Cmp(big.NewRat(1, 1)) > 0 {
				t.Errorf("n = %d, l = %d: tight e^ε %v above 1/a", n, l, tight.Upper)
			}
		}
	}
}

// n times the success of the best p-mix tends to 1 + (e^ε-1)/(1-e^ε a_{l+1}) for e^ε a_{l+1} < 1: it vanishes like 1/n.
func TestPMixVanishes(t *testing.T) {
	const n = 2000
	eps := must(mechanisms.FromEpsilon(big.NewRat(1, 2)))
	for l := 1; l <= 3; l++ {
		law := EnclosedLaw(must(SecretaryLaw(t.Context(), arith.Interval{Prec: 96}, n)))
		p, _, err := LargestP(law, l, eps, new(big.Rat))
		if err != nil {
			t.Fatal(err)
		}
		x, _ := p.Float64()
		r := law.At(1).Float64()
		e := math.Exp(0.5)
		want := 1 + (e-1)/(1-e*must(Asymptotic(l+1)))
		if got := n * (x*r + (1-x)/n); math.Abs(got-want) > 0.02*want {
			t.Errorf("l = %d: n·success = %g, limit %g", l, got, want)
		}
	}
}
