package secretary

import (
	"math"
	"math/big"
	"testing"

	"optratio/internal/arith"
	"optratio/number"
)

// TestSecretaryRulePrivateFromItsLimit: from ε = ln(1/a_{l+1}) on (1 for l = 1) the secretary rule itself is (ε, 0)-private, at every n and l < n
// (research/docs/stopping.md, Theorem 4).
func TestSecretaryRulePrivateFromItsLimit(t *testing.T) {
	for n := 2; n <= 40; n++ {
		law := ExactLaw(secretary(t, n))
		for l := 1; l < n; l++ {
			a, _ := must(AsymptoticEnclosure(l+1, 192)).Hi().Rat(nil)
			tight := must(TightEps(law, l, new(big.Rat)))
			if new(big.Rat).Mul(tight.Upper, a).Cmp(big.NewRat(1, 1)) > 0 {
				t.Errorf("n = %d, l = %d: tight e^ε %v above 1/a", n, l, tight.Upper)
			}
		}
	}
}

// TestStepsToTheSecretaryRulesPrivacy: what the proof of that theorem says of n >= 17, for the greatest excess of R_{l+1} over a_{l+1} R_1 that it leaves, in exact arithmetic.
func TestStepsToTheSecretaryRulesPrivacy(t *testing.T) {
	x := big.NewRat(6321205, 1e7) // less than 1 - 1/e
	seen := map[bool]int{}
	for n := 17; n <= 101; n += 6 {
		first, law := must(Threshold(n)), secretary(t, n)
		nu, left := int64(n-1), int64(n-first+1)
		scaled := func(k int) *big.Rat {
			return new(big.Rat).Mul(law[k-1], big.NewRat(int64(n), int64(first-1)))
		}
		floor, r := big.NewRat(1, nu), big.NewRat(left-1, nu-1)
		seen[r.Cmp(x) < 0]++
		w, bound, power := big.NewRat(1, 1), big.NewRat(left, nu), big.NewRat(1, 1)
		rest, sum := new(big.Rat).Add(scaled(1), floor), new(big.Rat).Set(floor)
		for k := int64(1); k < nu; k++ {
			w.Mul(w, big.NewRat(left-min(k-1, left), nu-k+1))
			power.Mul(power, x)
			share := big.NewRat(1, k)
			rest.Sub(rest, new(big.Rat).Mul(w, share))
			if rest.Cmp(scaled(int(k+1))) != 0 {
				t.Fatalf("n = %d: R_%d is not R_1 + 1/ν - Σ w_k/k", n, k+1)
			}
			if w.Cmp(bound) > 0 {
				t.Fatalf("n = %d: w_%d exceeds (N/ν) r^%d", n, k, k-1)
			}
			term := new(big.Rat).Mul(scaled(1), power)
			if sum.Add(sum, term.Mul(term.Sub(term, bound), share)); sum.Sign() <= 0 {
				t.Fatalf("n = %d, l = %d: the bound of the excess is %v", n, k, sum.FloatString(6))
			}
			bound.Mul(bound, r)
		}
		// n/e < t, and n/e - 2 > ν/3.836
		if 10_000_000*int64(first) <= 3_678_795*int64(n) || 3836*(3678*int64(n)-20_000) <= 10_000_000*nu {
			t.Errorf("n = %d: t = %d", n, first)
		}
		// λ - R_1 <= 1/(2(t-2)) - 3/(2ν)
		lambda := number.Log(number.FromRat(big.NewRat(nu-1, int64(first-2)), 128)).Sub(number.FromRat(scaled(1), 128))
		if c, sure := lambda.Cmp(number.FromRat(new(big.Rat).Sub(big.NewRat(1, int64(2*first-4)), big.NewRat(3, 2*nu)), 128)); !sure || c > 0 {
			t.Errorf("n = %d: λ - R_1 = %v", n, lambda.Near())
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("one of the two cases is not met: %v", seen)
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
