package claims

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"optratio/mechanisms"
	"optratio/verify"
)

func init() {
	entries = append(entries,
		Entry{
			Source: PF, Version: "main", Item: "Proposition 1",
			Statement: "For all q and t >= 0 the exponential mechanism's expected error is at most (2Δ/ε) ln n, and Pr[error >= (2Δ/ε)(ln n + t)] <= e^-t",
			Note:      "The largest expected error is (2Δ/ε) W((n-1)/e) (docs/claims-proofs.md), which is smaller: y e^y = (n-1)/e has y < ln n, as (n-1)/e < n ln n. The tail: each candidate of weight at most e^-t/n has at most that probability.",
			Check:     utility(em, rat(1, 1)),
		},
		Entry{
			Source: PF, Version: "main", Item: "Theorem 2",
			Statement: "For all q and t >= 0 permute-and-flip's expected error is at most the exponential mechanism's, and so is Pr[error >= t]",
			Note:      "The published proof has a step that is false (see the entry f_r) and that is not needed; docs/claims-proofs.md has the proof.",
			Check:     dominates(pf, em, "permute-and-flip", "the exponential mechanism"),
		},
		Entry{
			Source: PF, Version: "main", Item: "Theorem 2, on the lattice",
			Statement: "The same for all score vectors of bounded lattices of step 2Δ and Δ",
			Check: suite{
				mechanism: pf, properties: []verify.Property{verify.DominatesEM, verify.DominatesEMMean}, lattices: [][2]int{{2, 8}, {3, 6}, {4, 4}, {6, 2}}, step: 2, exps: []string{"11/10", "2", "16"},
			}.check,
		},
		Entry{
			Source: PF, Version: "supplement", Item: "Theorem 2, proof, f_r",
			Statement: "With q_1 <= … <= q_n, f_r = Pr[PF(q) = r] - Pr[EM(q) = r] is nondecreasing in r: f_1 <= f_2 <= … <= f_n",
			Note: "g_r - h is nondecreasing and p_r is nonnegative and nondecreasing, but a product of such sequences need not be, where g_r - h < 0. Theorem 2 survives: f_r = p_r (g_r - h) changes its sign once, from - to +, and " +
				"sums to 0, which is all that the proof of Lemma 5 needs (docs/claims-proofs.md).",
			Check: differencesRise,
		},
		Entry{
			Source: PF, Version: "main", Item: "Corollary 1",
			Statement: "Proposition 1's bounds hold for permute-and-flip",
			Check:     utility(pf, rat(1, 1)),
		},
		Entry{
			Source: PF, Version: "main", Item: "Abstract",
			Statement: "Permute-and-flip's expected score is always at least the exponential mechanism's, and its expected error can be lower by a factor of up to two",
			Note:      "The factor two is approached and not reached; see the entry on the open question.",
			Check:     ratioOfErrors(rat(2, 1)),
		},
		Entry{
			Source: PF, Version: "main", Item: "Section 4.1, open question",
			Statement: "No score vector has a ratio of expected errors, exponential mechanism over permute-and-flip, greater than two (never observed; whether it is possible is left open)",
			Note: "It is not possible. Raise a candidate r that is not best to the top: its factor g_r stays and becomes the largest, so 1 = Σ p g <= (1 + S) g_r with S = Σ_{s≠r} p_s >= 1, and EM_r/PF_r <= (1+S)/(p_r+S) < 2. With n* best candidates it is " +
				"less than 1 + 1/n* (docs/claims-proofs.md).",
			Check: ratioOfErrors(rat(2, 1)),
		},
	)
}

// utility checks the bounds of Proposition 1 for a mechanism, with factor times ln n for the mean. The set of candidates that make up the tail changes only at
// their weights, so that t with e^-t/n equal to a weight are enough.
func utility(m mechanisms.Weighted, factor *big.Rat) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		for p := range vectors(ctx, 5) {
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
		return t.conclude(ctx, "n <= 5, "+wideDomain+", means enclosed, tails exact", "")
	}
}

// dominates checks that one mechanism's tails and mean errors are at most another's.
func dominates(better, worse mechanisms.Weighted, one, other string) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		for p := range vectors(ctx, 6) {
			x, y := distribution(better, p), distribution(worse, p)
			for _, most := range p {
				t.expect(tail(p, x, most).Cmp(tail(p, y, most)) <= 0, "weights %s: an error of (2Δ/ε) ln %s or more has probability %s with %s and %s with %s",
					text(p), new(big.Rat).Inv(most).RatString(), short(tail(p, x, most), 5), one, short(tail(p, y, most), 5), other)
			}
			if len(p) <= 4 && !equal(x, y) {
				t.atMost(meanError(p, x), meanError(p, y), "weights %s: mean error of %s above that of %s", text(p), one, other)
			}
		}
		return t.conclude(ctx, "tails for n <= 6, exact, means for n <= 4, enclosed; "+wideDomain, "")
	}
}

func equal(x, y []*big.Rat) bool {
	return slices.EqualFunc(x, y, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
}

// ratioOfErrors checks that the exponential mechanism's expected error is less than factor times permute-and-flip's wherever that is not 0, and comes within
// a thousandth of it.
func ratioOfErrors(factor *big.Rat) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
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
		for p := range vectors(ctx, 5) {
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
		return t.conclude(ctx, "n <= 5, "+wideDomain+", and 500 random vectors, n <= 10, enclosed", fmt.Sprintf("largest ratio %.7f…, at weights %s", math.Floor(low*1e7)/1e7, where))
	}
}

// differencesRise checks the step f_r of the proof of Theorem 2.
func differencesRise(ctx context.Context) (Finding, error) {
	var t tally
	for p := range vectors(ctx, 4) {
		flip, exp := distribution(pf, p), distribution(em, p)
		for r := 1; r < len(p); r++ {
			before, after := sub(flip[r-1], exp[r-1]), sub(flip[r], exp[r])
			t.expect(before.Cmp(after) <= 0, "weights %s: f_%d = %s, f_%d = %s", text(p), r, short(before, 4), r+1, short(after, 4))
		}
	}
	return t.conclude(ctx, "n <= 4, "+wideDomain+", exact", "")
}
