package claims

import (
	"context"
	"fmt"
	"math/big"
)

func init() {
	entries = append(entries,
		Entry{
			Source: PF, Version: "main", Item: "Proposition 5",
			Statement: "At q = (c, …, c, 0) with c = -(2Δ/ε) ln n permute-and-flip's expected error is at least (Δ/2ε) ln n, and so is the exponential mechanism's",
			Note:      "At p = 1/n the error is (2Δ/ε) ln n · (1-1/n)^n, and (1-1/n)^n rises with n from its value 1/4 at n = 2; at n = 1 both sides are 0.",
			Check:     worstAtOneOverN(rat(1, 4)),
		},
		Entry{
			Source: PF, Version: "supplement", Item: "Theorem 2, proof, f_r",
			Statement: "With q_1 <= … <= q_n, f_r = Pr[PF(q) = r] - Pr[EM(q) = r] is nondecreasing in r: f_1 <= f_2 <= … <= f_n",
			Note: "g_r - h is nondecreasing and p_r is nonnegative and nondecreasing, but a product of such sequences need not be, where g_r - h < 0. Theorem 2 survives: f_r = p_r (g_r - h) changes its sign once, from - to +, and " +
				"sums to 0, which is all that its Lemma 5 needs (docs/claims-proofs.md).",
			Check: differencesRise,
		},
	)
}

// worstAtOneOverN checks that permute-and-flip and the exponential mechanism miss the best of (1/n, …, 1/n, 1) with at least the given
// probability, which Proposition 5 says with 1/4: the error is ln n units of 2Δ/ε then.
func worstAtOneOverN(least *big.Rat) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		var t tally
		const most = 60
		var smallest *big.Rat
		for n := 2; n <= most && ctx.Err() == nil; n++ {
			p := make([]*big.Rat, n)
			for i := range p {
				p[i] = rat(1, int64(n))
			}
			p[n-1] = rat(1, 1)
			flip, exp := sub(rat(1, 1), distribution(pf, p)[n-1]), sub(rat(1, 1), distribution(em, p)[n-1])
			if smallest == nil || flip.Cmp(smallest) < 0 {
				smallest = flip
			}
			t.expect(flip.Cmp(least) >= 0 && exp.Cmp(flip) >= 0, "n = %d: the best is missed with probability %s by permute-and-flip, %s by the exponential mechanism", n, decimals(flip, 6), decimals(exp, 6))
		}
		if ctx.Err() != nil {
			return Finding{}, ctx.Err()
		}
		return t.finding(fmt.Sprintf("n = 2, …, %d, exact", most), "smallest factor of (2Δ/ε) ln n: "+smallest.RatString())
	}
}

func differencesRise(ctx context.Context) (Finding, error) {
	var t tally
	for p := range vectors(ctx, 4) {
		flip, exp := distribution(pf, p), distribution(em, p)
		for r := 1; r < len(p); r++ {
			before, after := sub(flip[r-1], exp[r-1]), sub(flip[r], exp[r])
			if !t.expect(before.Cmp(after) <= 0, "weights %s: f_%d = %s, f_%d = %s", text(p), r, short(before, 4), r+1, short(after, 4)) {
				return t.finding("n <= 4, weights from a grid of 7, exact", "")
			}
		}
	}
	if ctx.Err() != nil {
		return Finding{}, ctx.Err()
	}
	return t.finding("n <= 4, weights from a grid of 7, exact", "")
}
