package stopping

import (
	"math/big"
	"testing"

	"optratio/mechanisms"
	"optratio/number/arith"
)

// sources' closed forms: "n >= 7 is enough" (Theorem 3, Corollaries 2 and 3). In exact
// arithmetic, on this grid of p, δ, ε and for every l, they are right at n = 2
// and from n = 5 on, and wrong at n = 3 (l = 1) and n = 4 (l = 1, 2).
func TestClosedForms(t *testing.T) {
	type place struct{ n, l int }
	wrong := map[place]bool{}
	f := arith.Rat{}
	deltas := rats(t, "0 1/100 1/20 1/5")
	exps := rats(t, "1 5/4 2 3 5")
	for n := 2; n <= 24; n++ {
		r, blind := secretary(t, n), must(BlindLaw(f, n))
		for l := 1; l < n; l++ {
			at := place{n, l}
			for _, p := range rats(t, "1 1/2 1/10 1/1000") {
				q := Mix(f, p, r, blind)
				for _, delta := range deltas {
					tight := must(TightEps(ExactLaw(q), l, delta))
					if tight.Lower == nil || tight.Lower.Cmp(ClosedFormExpEps(q, l, delta)) != 0 {
						wrong[at] = true
					}
				}
				for _, e := range exps {
					delta, _, _, err := TightDelta(ExactLaw(q), l, must(mechanisms.FromExp(e)))
					if err != nil || delta.Cmp(ClosedFormDelta(q, l, e)) != 0 {
						wrong[at] = true
					}
				}
			}
			for _, e := range exps {
				for _, delta := range deltas {
					p, _, err := LargestP(ExactLaw(r), l, must(mechanisms.FromExp(e)), delta)
					if err != nil || p.Cmp(ClosedFormP(r, l, e, delta)) != 0 {
						wrong[at] = true
					}
				}
			}
		}
	}
	want := map[place]bool{{3, 1}: true, {4, 1}: true, {4, 2}: true}
	for at := range wrong {
		if !want[at] {
			t.Errorf("closed forms fail at n = %d, l = %d", at.n, at.l)
		}
	}
	for at := range want {
		if !wrong[at] {
			t.Errorf("closed forms hold at n = %d, l = %d", at.n, at.l)
		}
	}
	// The witness at n = 3: the law is 1/2, 1/3, 1/6, and ranks 2, 3 ask for e^ε = 2, not 3/2.
	tight := must(TightEps(ExactLaw(secretary(t, 3)), 1, new(big.Rat)))
	if tight.Lower.Cmp(big.NewRat(2, 1)) != 0 || tight.Pair != (Pair{2, 3}) || ClosedFormExpEps(secretary(t, 3), 1, new(big.Rat)).Cmp(big.NewRat(3, 2)) != 0 {
		t.Errorf("n = 3, l = 1: tight e^ε = %v at %v", tight.Lower, tight.Pair)
	}
}

// Lemma 3's proof uses r_k < r_{k+l}/a_{l+1} for k >= 2, from n = 7 on. It holds there (a_{l+1} rounded up,
// which makes the claim harder), and already at n = 5 and 6.
func TestLemmaThreeStep(t *testing.T) {
	for n := 5; n <= 40; n++ {
		r := secretary(t, n)
		for l := 1; l <= n-2; l++ {
			a, _ := must(AsymptoticEnclosure(l+1, 128)).Hi().Rat(nil)
			for k := 2; k+l <= n; k++ {
				if new(big.Rat).Mul(r[k-1], a).Cmp(r[k+l-1]) >= 0 {
					t.Errorf("n = %d, l = %d, k = %d: r_k >= r_{k+l}/a_{l+1}", n, l, k)
				}
			}
		}
	}
}

// Every outcome law of every stopping rule is a polynomial of degree at most n-2 in the rank:
// its (n-1)-th difference vanishes. See docs/stopping.md.
func TestLawDifferenceVanishes(t *testing.T) {
	for n := 2; n <= 12; n++ {
		for _, threshold := range []int{1, (n + 1) / 2, n} {
			law := must(ThresholdRule(n, threshold)).Law()
			if d := Difference(law); d.Sign() != 0 {
				t.Errorf("n = %d, t = %d: difference %v", n, threshold, d)
			}
		}
	}
	if Difference(rats(t, "1/2 1/4 1/4")).Sign() == 0 {
		t.Error("a law that no rule has passes")
	}
}
