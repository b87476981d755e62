package claims

import (
	"cmp"
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"optratio/internal/table"
	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/verify"
)

// Section 3 and its appendices A and E: what permute-and-flip is, and the forms of its probabilities.
func init() {
	small := [][2]int{{2, 4}, {3, 3}, {4, 2}}
	regular := []verify.Property{verify.Symmetry, verify.Shift, verify.Monotone, verify.Sum}
	private := append([]verify.Property{verify.DP}, regular...)
	register(PF, map[string]check{
		"Algorithm 1 | main": forWeights(5, "all orders, exact", func(t *tally, p []*big.Rat) {
			law, left := flipByOrders(p)
			t.expect(left.Sign() == 0, "weights %s: nobody is returned with probability %s", text(p), left.RatString())
			t.law(p, law, pf)
		}),
		"Equation 5 | main": onLattices([][2]int{{2, 5}, {3, 4}, {4, 3}}, "11/10, 3", "exact", recurrenceOnLattice),
		"Equation 6, Proposition 3 | main": forWeights(6, "exact", func(t *tally, p []*big.Rat) {
			law, _ := bySets(p)
			t.law(p, law, pf)
		}),
		"Section 3.1, cost of the recurrence | main": over("n = 2, …, 12, counted: 2^(n-1) score vectors for the recurrence, between n² and 3n² steps for Appendix E, at most n flips by the entry on Algorithm 1", func(t *tally) {
			for n := 2; n <= 12; n++ {
				_, states := bySets(fractions(int64(n)))
				t.expect(states == 1<<(n-1), "n = %d different scores: %d score vectors", n, states)
				_, steps := bySubsetSizes(fractions(int64(n)))
				t.expect(steps <= 3*n*n && steps >= n*n, "n = %d: Appendix E takes %d steps", n, steps)
			}
		}),
		// x_r = p_r/n + x_r (1 - Σ p_s/n) is what the loop does: it returns r now, or starts again.
		"Algorithm 2 | main": forWeights(5, "exact", func(t *tally, p []*big.Rat) {
			n := rat(int64(len(p)), 1)
			stop := quo(sum(p), n)
			x := make([]*big.Rat, len(p))
			for r := range p {
				x[r] = quo(quo(p[r], n), stop)
			}
			t.law(p, x, em)
		}),
		"Algorithm 3 | main":                    forWeights(5, "exact", withoutReplacement),
		"Definitions 1 to 3, Equation 4 | main": notCheckable("definitions"),
		"Definition 3, gloss | main":            gloss(func(p []*big.Rat) []*big.Rat { return distribution(em, p) }),
		"Definition 4 | main":                   has(em, small, 1, "", private...),
		"Theorem 1 | main":                      has(pf, small, 1, "", private...),
		"Lemma 3 | supplement":                  has(pf, [][2]int{{2, 7}, {3, 4}, {5, 2}}, 2, "", regular...),
		"Proposition 2 | main":                  worstRowsSuffice(lp.Monotone),
		"Section 3.1, tight rows | main":        onLattices([][2]int{{2, 4}, {3, 4}, {4, 3}, {5, 2}}, "11/10, 3", "tight exactly where the candidate is not best, exact", tightRows),
		"Remark 1 | supplement":                 monotonicScores(rat(2, 3)),
		"Section 5, best score 0 | main":        has(pf, [][2]int{{3, 4}, {4, 3}}, 1, "", verify.Shift),

		"Lemma 1 | supplement":          form(byPermutations),
		"Lemma 2 | supplement":          form(func(p []*big.Rat, r int) *big.Rat { return bySubsets(p, r, 1) }),
		"Lemma 2, proof | supplement":   form(func(p []*big.Rat, r int) *big.Rat { return bySubsets(p, r, -1) }),
		"Theorem 1, proof | supplement": forWeights(5, "exact", sumOverSubsets),
		"Lemma 4 | supplement": forWeights(6, "exact", func(t *tally, p []*big.Rat) {
			x := distribution(pf, p)
			for r := 1; r < len(p); r++ { // weights rise along the vector
				t.expect(quo(x[r-1], p[r-1]).Cmp(quo(x[r], p[r])) <= 0, "weights %s: g_%d > g_%d", text(p), r-1, r)
			}
		}),
		"Lemma 5 | supplement":    over("2000 random sequences of at most 12 integers, exact", partialSums),
		"Appendix E | supplement": form(func(p []*big.Rat, r int) *big.Rat { x, _ := bySubsetSizes(p); return x[r] }),
	})
}

// law expects probabilities at weights to be a mechanism's.
func (t *tally) law(p, got []*big.Rat, m weighted) {
	for r, want := range distribution(m, p) {
		t.same(got[r], want, "weights %s, candidate %d", text(p), r)
	}
}

func factorial(n int) *big.Rat { return new(big.Rat).SetInt(new(big.Int).MulRange(1, int64(n))) }

// flipByOrders is permute-and-flip's law as Algorithm 1 states it: the mean over all orders of the law of flipping coins in that order. What is left after the last
// coin is returned too.
func flipByOrders(p []*big.Rat) (law []*big.Rat, left *big.Rat) {
	law, left = zeros(len(p)), new(big.Rat)
	share := inv(factorial(len(p)))
	for _, order := range combin.Permutations(len(p), len(p)) {
		alive := share
		for _, r := range order {
			law[r].Add(law[r], mul(alive, p[r]))
			alive = mul(alive, sub(one, p[r]))
		}
		left.Add(left, alive)
	}
	return law, left
}

func zeros(n int) []*big.Rat {
	out := make([]*big.Rat, n)
	for i := range out {
		out[i] = new(big.Rat)
	}
	return out
}

// shared solves a recurrence: candidates that are not at the top have up(r), and those at the top share the rest.
func shared(n int, top func(r int) bool, up func(r int) *big.Rat) []*big.Rat {
	x := make([]*big.Rat, n)
	rest, best := one, int64(0)
	for r := range x {
		if top(r) {
			best++
			continue
		}
		x[r] = up(r)
		rest = sub(rest, x[r])
	}
	for r := range x {
		if top(r) {
			x[r] = quo(rest, rat(best, 1))
		}
	}
	return x
}

func recurrenceOnLattice(t *tally, n, k int, z *big.Rat) {
	solve := byDepths(func(depths []int, solve func([]int) []*big.Rat) []*big.Rat {
		return shared(n, func(r int) bool { return depths[r] == 0 }, func(r int) *big.Rat {
			up := slices.Clone(depths)
			up[r]--
			return mul(z, solve(up)[r])
		})
	})
	for _, depths := range onTop(n, k) {
		t.law(atDepths(z, depths), solve(depths), pf)
	}
}

// bySets evaluates Equation 6: raised has a bit for each candidate that was raised to the top. It returns the law at the weights p and how many score vectors it met.
func bySets(p []*big.Rat) (law []*big.Rat, states int) {
	memo := map[uint][]*big.Rat{}
	var solve func(raised uint) []*big.Rat
	solve = func(raised uint) []*big.Rat {
		if memo[raised] == nil {
			memo[raised] = shared(len(p), func(r int) bool { return raised>>r&1 == 1 || p[r].Cmp(one) == 0 }, func(r int) *big.Rat { return mul(p[r], solve(raised | 1<<r)[r]) })
		}
		return memo[raised]
	}
	return solve(0), len(memo)
}

// withoutReplacement follows the sets of candidates that are left.
func withoutReplacement(t *tally, p []*big.Rat) {
	all := uint(1)<<len(p) - 1
	reach, law := zeros(int(all)+1), zeros(len(p))
	reach[all] = one
	for left := all; left > 0; left-- { // a set comes after all that it is part of
		chance := quo(reach[left], rat(int64(bits.OnesCount(left)), 1))
		for r := range p {
			if left>>r&1 == 1 {
				law[r].Add(law[r], mul(chance, p[r]))
				reach[left&^(1<<r)].Add(reach[left&^(1<<r)], mul(chance, sub(one, p[r])))
			}
		}
	}
	t.law(p, law, pf)
}

// has asks package verify for properties of a mechanism on lattices of step 2Δ/L, each at several e^ε; 11/10, 3/2 and 4 where none are given.
func has(m mechanisms.Mechanism, sizes [][2]int, step int, exps string, properties ...verify.Property) check {
	return onLattices(sizes, cmp.Or(exps, "11/10, 3/2, 4"), fmt.Sprintf("scores in steps of 2Δ/%d, exact", step), func(t *tally, n, k int, z *big.Rat) {
		report := must(verify.Lattice(t.ctx, verify.Claim{Mechanism: m, Epsilon: expOf(inv(z))}, n, k, verify.Options{Properties: properties, Step: step, NoRange: true}))
		for _, r := range report.Properties {
			if r.Verdict == verify.Undecided {
				t.unsettled = fmt.Sprintf("%s: %s", r.Name, r.Reason)
			}
			t.expect(r.Verdict != verify.Violated, "e^ε = %s: not %s: %s", inv(z).RatString(), r.Name, r.Witness)
		}
	})
}

// gloss checks, from equal scores, that no other candidate's probability rises when one score rises by a step and all others sink by at least one.
func gloss(pmf func(weights []*big.Rat) []*big.Rat) check {
	return over("three equal scores, then one up by a step and the others down by 1, 2, 10 or 50, e^ε = 2, 10/9, exact", func(t *tally) {
		before, sinks := pmf([]*big.Rat{one, one, one}), []int{1, 2, 10, 50}
		for _, z := range rats("1/2", "9/10") {
			for _, i := range combin.Cartesian([]int{4, 4}) {
				a, b := sinks[i[0]], sinks[i[1]]
				after := pmf([]*big.Rat{one, power(z, 1+a), power(z, 1+b)})
				for r := 1; r < 3; r++ {
					t.expect(after[r].Cmp(before[r]) <= 0, "e^ε = %s, steps of 2Δ: from scores (0, 0, 0) to (1, %d, %d) candidate %d's probability rises from %s to %s",
						inv(z).RatString(), -a, -b, r, before[r].RatString(), short(after[r]))
				}
			}
		}
	})
}

// worstRowsSuffice decides by linear programs whether privacy towards the worst neighbors, and monotonicity if the level has it, imply privacy
// towards every neighbor inside Q(n,k): each of these rows is minimised under the others.
func worstRowsSuffice(level lp.Level) check {
	return onLattices([][2]int{{3, 2}, {3, 3}, {4, 2}}, "3/2, 2", "rows of privacy, each by an exact linear program", func(t *tally, n, k int, z *big.Rat) {
		p := newProgram(n, k, z, level)
		table.Lattice{Vars: p.vars, L: 1}.Neighbors(func(r table.Row) bool {
			least, _ := p.minimise(t.ctx, p.row(r).at)
			return t.expect(least.Sign() >= 0, "Q(%d,%d), e^ε = %s: x_%s - e^-ε x_%s can be %s", n, k, inv(z).RatString(), p.name(r.Above), p.name(r.Below), least.RatString())
		})
	})
}

// atDepths returns the weights z^v of depths, shifted so that the largest is 1.
func atDepths(z *big.Rat, depths []int) []*big.Rat {
	p := make([]*big.Rat, len(depths))
	for i, v := range depths {
		p[i] = power(z, v-slices.Min(depths))
	}
	return p
}

// monotonicScores checks that permute-and-flip's probabilities at scores in multiples of Δ, with root = e^{-ε/2}, change by at most the factor 1/root when scores
// rise by 0 or Δ each, and that the largest such factor is attained where one candidate rises alone.
func monotonicScores(root *big.Rat) check {
	const n, k = 3, 4
	return over(fmt.Sprintf("n = %d, depths to %dΔ, all scores rising by 0 or Δ, e^ε = %s, exact", n, k, inv(mul(root, root)).RatString()), func(t *tally) {
		worst, alone := zero, zero
		for _, q := range boxes(n, k) {
			x := distribution(pf, atDepths(root, q))
			for _, d := range boxes(n, 1) {
				up, rising := slices.Clone(q), 0
				for i := range q {
					up[i] -= d[i]
					rising += d[i]
				}
				for r, y := range distribution(pf, atDepths(root, up)) {
					factor := largest(quo(x[r], y), quo(y, x[r]))
					if worst = largest(worst, factor); rising == 1 && d[r] == 1 {
						alone = largest(alone, factor)
					}
					t.expect(mul(factor, root).Cmp(one) <= 0, "depths %v and %v in steps of Δ, candidate %d: factor %s > e^{ε/2} = %s", q, up, r, factor.RatString(), inv(root).RatString())
				}
			}
		}
		t.same(alone, worst, "the largest factor where one candidate rises alone")
	})
}

// form checks a formula for permute-and-flip's probabilities.
func form(pmf func(p []*big.Rat, r int) *big.Rat) check {
	return forWeights(5, "exact", func(t *tally, p []*big.Rat) {
		var law []*big.Rat
		for r := range p {
			law = append(law, pmf(p, r))
		}
		t.law(p, law, pf)
	})
}

func byPermutations(p []*big.Rat, r int) *big.Rat {
	total := new(big.Rat)
	for _, order := range combin.Permutations(len(p), len(p)) {
		product := one
		for _, s := range order[:slices.Index(order, r)] {
			product = mul(product, sub(one, p[s]))
		}
		total.Add(total, product)
	}
	return mul(p[r], quo(total, factorial(len(p))))
}

// subsets calls visit with every set of the candidates other than r, its size and the product of its weights.
func subsets(p []*big.Rat, r int, visit func(size int, product *big.Rat)) {
	for set := range uint(1) << len(p) {
		if set>>r&1 == 1 {
			continue
		}
		product := one
		for s := range p {
			if set>>s&1 == 1 {
				product = mul(product, p[s])
			}
		}
		visit(bits.OnesCount(set), product)
	}
}

func sign(n int) int64 { return 1 - 2*int64(n%2) }

// bySubsets returns p_r (1 + direction · Σ_{|S| >= 1} (-1)^|S|/(|S|+1) Π p_s).
func bySubsets(p []*big.Rat, r int, direction int64) *big.Rat {
	total := one
	subsets(p, r, func(size int, product *big.Rat) {
		if size > 0 {
			total = add(total, mul(rat(direction*sign(size), int64(size)+1), product))
		}
	})
	return mul(p[r], total)
}

// bySubsetSizes is Appendix E, with the number of its additions.
func bySubsetSizes(p []*big.Rat) (law []*big.Rat, steps int) {
	n := len(p)
	sums := zeros(n + 1) // S(k, r) for the r candidates so far
	sums[0] = one
	for _, x := range p {
		for k := n; k >= 1; k-- {
			sums[k] = add(sums[k], mul(x, sums[k-1]))
			steps++
		}
	}
	for _, x := range p {
		without, total := one, one // T(0, r)
		for k := 1; k <= n; k++ {
			without = sub(sums[k], mul(x, without))
			total = add(total, mul(rat(sign(k), int64(k)+1), without))
			steps++
		}
		law = append(law, mul(x, total))
	}
	return law, steps
}

// tightRows expects a row of privacy to be tight exactly where the candidate is not best.
func tightRows(t *tally, n, k int, z *big.Rat) {
	for _, m := range must(lattice.New(n, k)).All() {
		depths := lattice.Depths(m)
		x := distribution(pf, atDepths(z, depths))
		for r, v := range depths {
			up := slices.Clone(depths)
			up[r]--
			raised := mul(z, distribution(pf, atDepths(z, up))[r])
			t.expect(x[r].Cmp(raised) >= 0 && (x[r].Cmp(raised) == 0) == (v > 0), "z = %s, depths %v, candidate %d: %s against %s", z.RatString(), depths, r, x[r].RatString(), raised.RatString())
		}
	}
}

// sumOverSubsets compares the sum of the proof for a best candidate with the product that it is said to be.
func sumOverSubsets(t *tally, p []*big.Rat) {
	x := distribution(pf, p)
	for r := range p {
		if less(p[r], one) {
			continue
		}
		left, right := x[r], one
		subsets(p, r, func(size int, product *big.Rat) {
			left = add(left, mul(rat(sign(size)*int64(size), int64(size)+1), product))
		})
		for s := range p {
			if s != r {
				right = mul(right, sub(one, p[s]))
			}
		}
		t.expect(left.Cmp(right) == 0 && right.Sign() >= 0, "weights %s, candidate %d: %s against %s", text(p), r, left.RatString(), right.RatString())
	}
}

// partialSums expects sums of the least of integers that sum to 0 not to be positive.
func partialSums(t *tally) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		f := make([]int, 1+rng.IntN(12))
		total, part := 0, 0
		for i := range f {
			f[i] = rng.IntN(41) - 20
			total += f[i]
		}
		for i := range f { // times n, less the sum: the new sum is 0
			f[i] = f[i]*len(f) - total
		}
		slices.Sort(f)
		for s, x := range f {
			part += x
			t.expect(part <= 0, "%v: the first %d sum to %d", f, s+1, part)
		}
	}
}
