package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"optratio/mechanisms"
	"optratio/verify"
)

func init() {
	register(PF, map[string]check{
		"Proposition 1 | main": utility(em, rat(1, 1)),
		"Theorem 2 | main":     dominates(pf, em, "permute-and-flip", "the exponential mechanism"),
		"Theorem 2, on the lattice | main": suite{
			mechanism: pf, properties: []verify.Property{verify.DominatesEM, verify.DominatesEMMean}, lattices: [][2]int{{2, 8}, {3, 6}, {4, 4}, {6, 2}}, step: 2, exps: []string{"11/10", "2", "16"},
		}.check,
		"Theorem 2, proof, f_r | supplement": differencesRise,
		"Corollary 1 | main":                 utility(pf, rat(1, 1)),
		"Abstract | main":                    ratioOfErrors(rat(2, 1)),
		"Section 4.1, open question | main":  ratioOfErrors(rat(2, 1)),
	})
}

// utility checks the bounds of Proposition 1 for a mechanism, with factor times ln n for the mean. The set of candidates that make up the tail changes only at
// their weights, so that t with e^-t/n equal to a weight are enough.
func utility(m mechanisms.Weighted, factor *big.Rat) check {
	return func(t *tally) Finding {
		for p := range vectors(t.ctx, 5) {
			x := distribution(m, p)
			n := rat(int64(len(p)), 1)
			t.atMost(meanError(p, x), enclose(factor).Mul(log(n)), "weights %s: mean error above %s ln n", text(p), factor.RatString())
			for _, most := range p {
				bound := mul(n, most) // e^-t
				if bound.Cmp(rat(1, 1)) <= 0 {
					t.expect(tail(p, x, most).Cmp(bound) <= 0, "weights %s, e^-t = %s: tail %s", text(p), bound.RatString(), short(tail(p, x, most), 5))
				}
			}
		}
		return t.finding("n <= 5, "+wideDomain+", means enclosed, tails exact", "")
	}
}

// dominates checks that one mechanism's tails and mean errors are at most another's.
func dominates(better, worse mechanisms.Weighted, one, other string) check {
	return func(t *tally) Finding {
		for p := range vectors(t.ctx, 6) {
			x, y := distribution(better, p), distribution(worse, p)
			for _, most := range p {
				t.expect(tail(p, x, most).Cmp(tail(p, y, most)) <= 0, "weights %s: an error of (2Δ/ε) ln %s or more has probability %s with %s and %s with %s",
					text(p), new(big.Rat).Inv(most).RatString(), short(tail(p, x, most), 5), one, short(tail(p, y, most), 5), other)
			}
			if len(p) <= 4 && !equal(x, y) {
				t.atMost(meanError(p, x), meanError(p, y), "weights %s: mean error of %s above that of %s", text(p), one, other)
			}
		}
		return t.finding("tails for n <= 6, exact, means for n <= 4, enclosed; "+wideDomain, "")
	}
}

func equal(x, y []*big.Rat) bool {
	return slices.EqualFunc(x, y, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
}

// ratioOfErrors checks that the exponential mechanism's expected error is less than factor times permute-and-flip's wherever that is not 0, and comes within
// a thousandth of it.
func ratioOfErrors(factor *big.Rat) check {
	return func(t *tally) Finding {
		largest, where := enclose(new(big.Rat)), ""
		try := func(p []*big.Rat) {
			x, y := distribution(pf, p), distribution(em, p)
			if flip := meanError(p, x); !flip.ContainsZero() {
				ratio := meanError(p, y).Quo(flip)
				t.atMost(enclose(rat(1, 1)), ratio, "weights %s: ratio below 1", text(p))
				t.atMost(ratio, enclose(factor), "weights %s: ratio %.6f", text(p), ratio.Near())
				if c, ok := largest.Cmp(ratio); ok && c < 0 {
					largest, where = ratio, text(p)
				}
			}
		}
		for p := range vectors(t.ctx, 5) {
			try(p)
		}
		rng := rand.New(rand.NewPCG(3, 4))
		for range 500 {
			p := make([]*big.Rat, 2+rng.IntN(9))
			for i := range p {
				p[i] = rat(1, 1+rng.Int64N(1<<rng.IntN(30)))
			}
			p[0] = rat(1, 1)
			try(p)
		}
		t.atMost(enclose(mul(factor, rat(999, 1000))), largest, "the largest ratio seen is %.6f", largest.Near())
		low, _ := largest.Float64()
		return t.finding("n <= 5, "+wideDomain+", and 500 random vectors, n <= 10, enclosed", fmt.Sprintf("largest ratio %.7f…, at weights %s", math.Floor(low*1e7)/1e7, where))
	}
}

// differencesRise checks the step f_r of the proof of Theorem 2.
func differencesRise(t *tally) Finding {
	for p := range vectors(t.ctx, 4) {
		flip, exp := distribution(pf, p), distribution(em, p)
		for r := 1; r < len(p); r++ {
			before, after := sub(flip[r-1], exp[r-1]), sub(flip[r], exp[r])
			t.expect(before.Cmp(after) <= 0, "weights %s: f_%d = %s, f_%d = %s", text(p), r, short(before, 4), r+1, short(after, 4))
		}
	}
	return t.finding("n <= 4, "+wideDomain+", exact", "")
}
