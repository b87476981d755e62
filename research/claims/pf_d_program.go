package claims

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"optratio/lp"
)

// programOfAppendixD compares the optimum of the printed program with that of the program that has all rows of privacy and monotonicity between score vectors of Q(n,k).
func programOfAppendixD(sizes ...[2]int) check {
	return func(t *tally) Finding {
		for _, s := range sizes {
			for _, z := range []*big.Rat{rat(8, 21), rat(2, 3)} {
				var share [2]*big.Rat // permute-and-flip's total error over the optimum
				for i, level := range []lp.Level{lp.Paper, lp.Full} {
					p := newProgram(s[0], s[1], z, level)
					least, _ := p.minimise(t.ctx, p.total())
					share[i] = quo(value(p.total(), p.table(pf)), least)
				}
				t.expect(share[0].Cmp(share[1]) == 0, "Q(%d,%d), e^ε = %s: permute-and-flip's total error is %s of the program's optimum, but only %s of the least that a table can have which is ε-DP between all neighbors of Q(%d,%d) and monotone",
					s[0], s[1], new(big.Rat).Inv(z).RatString(), share[0].RatString(), share[1].RatString(), s[0], s[1])
			}
		}
		return t.finding(names(sizes)+", e^ε = 21/8, 3/2, exact linear programs", "")
	}
}

// symmetryIsFree compares the program over orbits with the one that has a variable for every score vector and candidate.
func symmetryIsFree(t *tally) Finding {
	sizes := [][2]int{{2, 3}, {3, 2}, {3, 3}}
	for _, s := range sizes {
		for _, z := range []*big.Rat{rat(8, 21), rat(2, 3)} {
			p := newProgram(s[0], s[1], z, lp.Paper)
			want, _ := p.minimise(t.ctx, p.total())
			got := unreduced(t.ctx, s[0], s[1], z)
			t.expect(got.Cmp(want) == 0, "Q(%d,%d), e^ε = %s: %s with all variables, %s with one for each class", s[0], s[1], new(big.Rat).Inv(z).RatString(), short(got, 8), short(want, 8))
		}
	}
	x, y := distribution(pf, atDepths(rat(2, 3), []int{2, 8, 0})), distribution(pf, atDepths(rat(2, 3), []int{0, 8, 2}))
	t.expect(x[0].Cmp(y[2]) == 0, "x_1(-2,-8,0) = %s, x_3(0,-8,-2) = %s", x[0].RatString(), y[2].RatString())
	return t.finding(names(sizes)+", e^ε = 21/8, 3/2, exact linear programs", "")
}

// unreduced minimises the total error over all tables on Q(n,k), symmetric or not, that are private towards the worst neighbors.
func unreduced(ctx context.Context, n, k int, z *big.Rat) *big.Rat {
	at := map[string]int32{}
	var all [][]int
	for _, depths := range boxes(n, k) {
		if slices.Min(depths) == 0 {
			at[fmt.Sprint(depths)] = int32(len(all) * n)
			all = append(all, depths)
		}
	}
	var rows []inequality
	cost := map[int32]*big.Rat{}
	for i, depths := range all {
		one := inequality{rat(1, 1), rat(1, 1), map[int32]*big.Rat{}}
		for r, v := range depths {
			j := int32(i*n + r)
			one.at[j] = rat(1, 1)
			cost[j] = rat(int64(v), 1)
			up := slices.Clone(depths) // q + 2Δe_r, shifted so that the best is 0
			up[r]--
			if up[r] < 0 {
				for s := range up {
					up[s]++
				}
			}
			if to, ok := at[fmt.Sprint(up)]; ok && to+int32(r) != j {
				rows = append(rows, inequality{new(big.Rat), nil, map[int32]*big.Rat{j: rat(1, 1), to + int32(r): new(big.Rat).Neg(z)}})
			}
		}
		rows = append(rows, one)
	}
	least, _ := minimise(ctx, len(all)*n, rows, cost)
	return least
}

// relaxed compares the relaxed program with the full one.
func relaxed(t *tally) Finding {
	var seen []string
	sizes := [][2]int{{3, 2}, {3, 3}, {4, 2}}
	for _, s := range sizes {
		for _, z := range []*big.Rat{rat(8, 21), rat(1, 2), rat(2, 3)} {
			full := newProgram(s[0], s[1], z, lp.Paper)
			p := relaxedProgram(s[0], s[1], z)
			x := p.table(pf)
			t.expect(len(p.rows) == p.vars.Len(), "Q(%d,%d): %d constraints for %d variables", s[0], s[1], len(p.rows), p.vars.Len())
			for _, row := range p.rows {
				t.expect(value(row.at, x).Cmp(row.lower) == 0, "Q(%d,%d): permute-and-flip leaves a constraint slack", s[0], s[1])
			}
			own := value(p.total(), x)
			loose, _ := p.minimise(t.ctx, p.total())
			tight, _ := full.minimise(t.ctx, full.total())
			t.expect(loose.Cmp(own) < 0 || tight.Cmp(own) == 0, "Q(%d,%d), z = %s: permute-and-flip is optimal for the relaxed program, but not for the full one", s[0], s[1], z.RatString())
			if loose.Cmp(own) == 0 {
				seen = append(seen, fmt.Sprintf("Q(%d,%d) at e^ε = %s", s[0], s[1], new(big.Rat).Inv(z).RatString()))
			}
		}
	}
	return t.finding(names(sizes)+", e^ε = 21/8, 2, 3/2, exact linear programs", "optimal for the relaxed program: "+strings.Join(seen, ", "))
}

// dualRecurrence evaluates the recurrence for y in units of 2Δ, over all score vectors, and checks equations 10 and 11 and the dual objective.
func dualRecurrence(exps ...string) check {
	return func(t *tally) Finding {
		sizes := [][2]int{{3, 4}, {4, 3}, {5, 2}}
		for _, s := range sizes {
			for _, exp := range exps {
				z, _ := fromExp(exp).Z()
				total := checkDual(t, s[0], s[1], z, exp)
				p := newProgram(s[0], s[1], z, lp.Paper)
				own := value(p.total(), p.table(pf))
				t.expect(add(total, own).Sign() == 0, "Q(%d,%d), e^ε = %s: the dual value is %s, permute-and-flip's total error %s", s[0], s[1], exp, total.RatString(), own.RatString())
			}
		}
		return t.finding(names(sizes)+", e^ε = "+strings.Join(exps, ", ")+", exact", "")
	}
}

func checkDual(t *tally, n, k int, z *big.Rat, exp string) (total *big.Rat) {
	memo := map[string][]*big.Rat{}
	var solve func(depths []int) []*big.Rat
	solve = func(depths []int) []*big.Rat {
		key := fmt.Sprint(depths)
		if y, ok := memo[key]; ok {
			return y
		}
		best := 0
		for _, v := range depths {
			if v == 0 {
				best++
			}
		}
		y := make([]*big.Rat, n)
		top := new(big.Rat) // Σ y_s over the best
		for r, v := range depths {
			if v > 0 {
				continue
			}
			y[r] = new(big.Rat)
			if best > 1 {
				down := slices.Clone(depths)
				for u := 1; u <= k; u++ {
					down[r] = u
					y[r].Sub(y[r], mul(power(z, u), solve(down)[r]))
				}
				y[r] = quo(y[r], rat(int64(best), 1))
			}
			top.Add(top, y[r])
		}
		for r, v := range depths {
			if v > 0 {
				y[r] = add(rat(int64(v), 1), top)
			}
		}
		memo[key] = y
		return y
	}
	total = new(big.Rat)
	for _, depths := range boxes(n, k) {
		if slices.Min(depths) > 0 {
			continue
		}
		y := solve(depths)
		best := int64(0)
		for _, v := range depths {
			if v == 0 {
				best++
			}
		}
		for r, v := range depths {
			low, high := rat(-1, best), new(big.Rat)
			if v > 0 {
				low, high = new(big.Rat), rat(int64(v), 1)
			} else {
				total.Add(total, y[r])
			}
			t.expect(low.Cmp(y[r]) <= 0 && y[r].Cmp(high) <= 0, "e^ε = %s, depths %v, candidate %d: y = %s in units of 2Δ", exp, depths, r, short(y[r], 6))
		}
	}
	return total
}

// lemmaSeven checks the closed form by partial sums with their exact remainder, and on which side of the root of x² - 3x + 1 the sum is at most 1.
func lemmaSeven(t *tally) Finding {
	for _, x := range []*big.Rat{rat(11, 10), rat(2, 1), rat(13, 5), rat(2618033988, 1000000000), rat(2618033989, 1000000000), rat(21, 8), rat(3, 1), rat(20, 1)} {
		closed := quo(x, mul(sub(rat(1, 1), x), sub(rat(1, 1), x)))
		z := new(big.Rat).Inv(x)
		const terms = 12
		partial := new(big.Rat)
		for k := 1; k <= terms; k++ {
			partial.Add(partial, mul(rat(int64(k), 1), power(z, k)))
		}
		// Σ_{k>m} k z^k = z^m (m + Σ-closed-form/(its first factor)): z^m (m z/(1-z) + z/(1-z)²)
		geometric := quo(z, sub(rat(1, 1), z))
		rest := mul(power(z, terms), add(mul(rat(terms, 1), geometric), closed))
		t.expect(add(partial, rest).Cmp(closed) == 0, "e^ε = %s: the sum is %s, not %s", x.RatString(), short(add(partial, rest), 6), short(closed, 6))
		above := add(sub(mul(x, x), mul(rat(3, 1), x)), rat(1, 1)).Sign() >= 0 // x is at least the larger root, as x > 1
		t.expect(above == (closed.Cmp(rat(1, 1)) <= 0), "e^ε = %s: the sum is %s", x.RatString(), short(closed, 6))
	}
	return t.finding("e^ε = 11/10, …, 20, among them two rationals 10^-9 apart with the threshold between them, exact", "")
}
