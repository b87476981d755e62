package secretary

import (
	"math/big"
	"testing"

	"optratio/internal/arith"
	"optratio/number"
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
					if tight.Lower == nil || tight.Lower.Cmp(closedFormExpEps(q, l, delta)) != 0 {
						wrong[at] = true
					}
				}
				for _, e := range exps {
					delta, _, _, err := TightDelta(ExactLaw(q), l, must(number.FromExp(e)))
					if err != nil || delta.Cmp(closedFormDelta(q, l, e)) != 0 {
						wrong[at] = true
					}
				}
			}
			for _, e := range exps {
				for _, delta := range deltas {
					p, _, err := LargestP(ExactLaw(r), l, must(number.FromExp(e)), delta)
					if err != nil || p.Cmp(closedFormP(r, l, e, delta)) != 0 {
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
	if tight.Lower.Cmp(big.NewRat(2, 1)) != 0 || tight.Pair != (Pair{2, 3}) || closedFormExpEps(secretary(t, 3), 1, new(big.Rat)).Cmp(big.NewRat(3, 2)) != 0 {
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

// The closed forms of the theorems look at one pair of ranks, 1 and l+1. They
// are right where that pair is the worst of all, which the sources claim for
// the p-mix of the secretary rule from n = 7 on. Each returns a rational for
// the law q of the p-mix (or r of the rule itself), and is compared with the
// maximum over all pairs by TightEps, TightDelta and LargestP.

// closedFormExpEps returns max(1, (q_1-δ)/q_{l+1}), the e^ε of Theorem 3 (4.2
// in the newer version of Grining, Klonowski & Sulkowska), nil for +∞.
func closedFormExpEps(q []*big.Rat, l int, delta *big.Rat) *big.Rat {
	one := big.NewRat(1, 1)
	excess := new(big.Rat).Sub(q[0], delta)
	switch {
	case excess.Cmp(q[l]) <= 0:
		return one
	case q[l].Sign() == 0:
		return nil
	}
	return excess.Quo(excess, q[l])
}

// closedFormDelta returns max(0, q_1 - e^ε q_{l+1}), the δ of Corollary 2.
func closedFormDelta(q []*big.Rat, l int, e *big.Rat) *big.Rat {
	d := new(big.Rat).Mul(e, q[l])
	if d.Sub(q[0], d); d.Sign() < 0 {
		return new(big.Rat)
	}
	return d
}

// closedFormP returns the largest p of Corollary 3 for the rule with law r.
func closedFormP(r []*big.Rat, l int, e, delta *big.Rat) *big.Rat {
	d := new(big.Rat).Mul(e, r[l])
	return mixLimit(d.Sub(r[0], d), delta, e, len(r))
}
