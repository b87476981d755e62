package secretary

import (
	"math"
	"math/big"
	"testing"

	"optratio/internal/arith"
	"optratio/number"
)

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
	eps := must(number.FromEpsilon(big.NewRat(1, 2)))
	for l := 1; l <= 3; l++ {
		law := EnclosedLaw(must(SecretaryLaw(t.Context(), arith.Interval{Prec: 96}, n)))
		p, _, err := LargestP(law, l, eps, new(big.Rat))
		if err != nil {
			t.Fatal(err)
		}
		x, _ := p.Float64()
		r := law.At(1).Float64()
		e := math.Exp(0.5)
		want := 1 + (e-1)/(1-e*must(AsymptoticEnclosure(l+1, 128)).Near())
		if got := n * (x*r + (1-x)/n); math.Abs(got-want) > 0.02*want {
			t.Errorf("l = %d: n·success = %g, limit %g", l, got, want)
		}
	}
}
