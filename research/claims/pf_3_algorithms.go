package claims

import (
	"fmt"
	"math/big"
	"strings"

	"gonum.org/v1/gonum/stat/combin"
)

func init() {
	register(PF, map[string]check{
		"Algorithm 1 | main":                         permutations,
		"Equation 5 | main":                          recurrenceOnLattice,
		"Equation 6, Proposition 3 | main":           recurrenceForAllScores,
		"Section 3.1, cost of the recurrence | main": costOfRecurrence,
		"Algorithm 2 | main":                         withReplacement,
		"Algorithm 3 | main":                         withoutReplacement,
	})
}

// same expects two distributions to be equal.
func (t *tally) same(p, got, want []*big.Rat, what string) {
	for r := range want {
		t.expect(got[r].Cmp(want[r]) == 0, "weights %s, candidate %d: %s %s, permute-and-flip %s", text(p), r, what, short(got[r], 6), short(want[r], 6))
	}
}

func factorial(n int) *big.Rat { return new(big.Rat).SetInt(new(big.Int).MulRange(1, int64(n))) }

// flipByOrders is permute-and-flip's law as Algorithm 1 states it: the mean over all orders of the law of flipping coins in that order. What is left after the last
// coin is returned too.
func flipByOrders(p []*big.Rat) (law []*big.Rat, left *big.Rat) {
	law, left = make([]*big.Rat, len(p)), new(big.Rat)
	for r := range law {
		law[r] = new(big.Rat)
	}
	share := new(big.Rat).Inv(factorial(len(p)))
	for _, order := range combin.Permutations(len(p), len(p)) {
		alive := share
		for _, r := range order {
			law[r].Add(law[r], mul(alive, p[r]))
			alive = mul(alive, sub(rat(1, 1), p[r]))
		}
		left.Add(left, alive)
	}
	return law, left
}

func permutations(t *tally) Finding {
	for p := range vectors(t.ctx, 5) {
		law, left := flipByOrders(p)
		t.expect(left.Sign() == 0, "weights %s: nobody is returned with probability %s", text(p), left.RatString())
		t.same(p, law, distribution(pf, p), "law of the loop")
	}
	return t.finding("n <= 5, "+wideDomain+", all orders, exact", "")
}

func recurrenceOnLattice(t *tally) Finding {
	sizes := [][2]int{{2, 5}, {3, 4}, {4, 3}}
	for _, s := range sizes {
		for _, z := range []*big.Rat{rat(10, 11), rat(1, 3)} {
			memo := map[string][]*big.Rat{}
			var solve func(depths []int) []*big.Rat
			solve = func(depths []int) []*big.Rat {
				key := fmt.Sprint(depths)
				if x, ok := memo[key]; ok {
					return x
				}
				x := make([]*big.Rat, len(depths))
				rest, best := rat(1, 1), 0
				for r, v := range depths {
					if v == 0 {
						best++
						continue
					}
					up := append([]int(nil), depths...)
					up[r]--
					x[r] = mul(z, solve(up)[r])
					rest.Sub(rest, x[r])
				}
				for r, v := range depths {
					if v == 0 {
						x[r] = quo(rest, rat(int64(best), 1))
					}
				}
				memo[key] = x
				return x
			}
			for _, depths := range boxes(s[0], s[1]) {
				if !strings.Contains(fmt.Sprint(depths), "0") {
					continue
				}
				p := atDepths(z, depths)
				t.same(p, solve(depths), distribution(pf, p), "recurrence")
			}
		}
	}
	return t.finding(names(sizes)+", e^ε = 11/10, 3, exact", fmt.Sprintf("%d probabilities", t.checked))
}

// bySets evaluates Equation 6: raised has a bit for each candidate that was raised to the top. It returns the law at the weights p and how many score vectors it met.
func bySets(p []*big.Rat) (law []*big.Rat, states int) {
	memo := map[uint][]*big.Rat{}
	var solve func(raised uint) []*big.Rat
	solve = func(raised uint) []*big.Rat {
		if x, ok := memo[raised]; ok {
			return x
		}
		x := make([]*big.Rat, len(p))
		rest, best := rat(1, 1), int64(0)
		top := func(r int) bool { return raised>>r&1 == 1 || p[r].Cmp(rat(1, 1)) == 0 }
		for r := range p {
			if top(r) {
				best++
				continue
			}
			x[r] = mul(p[r], solve(raised | 1<<r)[r])
			rest.Sub(rest, x[r])
		}
		for r := range p {
			if top(r) {
				x[r] = quo(rest, rat(best, 1))
			}
		}
		memo[raised] = x
		return x
	}
	law = solve(0)
	return law, len(memo)
}

func recurrenceForAllScores(t *tally) Finding {
	for p := range vectors(t.ctx, 6) {
		law, _ := bySets(p)
		t.same(p, law, distribution(pf, p), "recurrence")
	}
	return t.finding("n <= 6, "+wideDomain+", exact", fmt.Sprintf("%d probabilities", t.checked))
}

func costOfRecurrence(t *tally) Finding {
	const most = 12
	for n := 2; n <= most; n++ {
		p := make([]*big.Rat, n)
		for r := range p {
			p[r] = rat(int64(r)+1, int64(n))
		}
		_, states := bySets(p)
		t.expect(states == 1<<(n-1), "n = %d different scores: %d score vectors", n, states)
		_, steps := bySubsetSizes(p)
		t.expect(steps <= 3*n*n && steps >= n*n, "n = %d: Appendix E takes %d steps", n, steps)
	}
	return t.finding(fmt.Sprintf("n = 2, …, %d, counted", most), "2^(n-1) score vectors for the recurrence, between n² and 3n² steps for Appendix E, at most n flips by the entry on Algorithm 1")
}

// withReplacement solves x_r = p_r/n + x_r (1 - Σ p_s/n), which is what the loop does: it returns r now, or starts again.
func withReplacement(t *tally) Finding {
	for p := range vectors(t.ctx, 5) {
		n := rat(int64(len(p)), 1)
		again := sub(rat(1, 1), quo(sum(p), n))
		want := distribution(em, p)
		for r := range p {
			x := quo(quo(p[r], n), sub(rat(1, 1), again))
			t.expect(x.Cmp(want[r]) == 0, "weights %s, candidate %d: the loop %s, the exponential mechanism %s", text(p), r, short(x, 6), short(want[r], 6))
		}
	}
	return t.finding("n <= 5, "+wideDomain+", exact", "")
}

// withoutReplacement follows the sets of candidates that are left.
func withoutReplacement(t *tally) Finding {
	for p := range vectors(t.ctx, 5) {
		reach := map[uint]*big.Rat{1<<len(p) - 1: rat(1, 1)}
		law := make([]*big.Rat, len(p))
		for r := range law {
			law[r] = new(big.Rat)
		}
		for left := uint(1)<<len(p) - 1; left > 0; left-- { // a set comes after all that it is part of
			chance, ok := reach[left]
			if !ok {
				continue
			}
			size := int64(0)
			for r := range p {
				size += int64(left >> r & 1)
			}
			chance = quo(chance, rat(size, 1))
			for r := range p {
				if left>>r&1 == 0 {
					continue
				}
				law[r].Add(law[r], mul(chance, p[r]))
				rest := left &^ (1 << r)
				if reach[rest] == nil {
					reach[rest] = new(big.Rat)
				}
				reach[rest].Add(reach[rest], mul(chance, sub(rat(1, 1), p[r])))
			}
		}
		t.same(p, law, distribution(pf, p), "the loop")
	}
	return t.finding("n <= 5, "+wideDomain+", exact", "")
}
