package claims

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"

	"optratio/lp/stopping"
	"optratio/mechanisms/secretary"
	"optratio/number/interval"
)

func init() {
	register(Own, map[string]check{
		"Stopping, the program":        stoppingProgram,
		"Stopping, limit":              stoppingLimit,
		"Stopping, lower bound":        stoppingFromBelow,
		"Stopping, law bound":          stoppingFromAbove,
		"Stopping, one dimension less": stoppingDifference,
	})
}

// A private rule is asked for with these parameters.
type privateRule struct {
	exp   string // e^ε
	l     int
	delta *big.Rat
}

var privateRules = []privateRule{{"3/2", 1, rat(0, 1)}, {"6/5", 2, rat(0, 1)}, {"5/4", 1, rat(1, 20)}, {"3", 3, rat(0, 1)}}

const privateDomain = "(e^ε, l, δ) = (3/2, 1, 0), (6/5, 2, 0), (5/4, 1, 1/20), (3, 3, 0)"

// bestSuccess returns the optimum of the program with a variable for each time i and relative rank j <= i: the probability to reach i and take what is there, given that it has rank j.
// With pass, rules may pass everyone.
func (s privateRule) bestSuccess(ctx context.Context, n int, pass bool) *big.Rat {
	cell := func(i, j int) int32 { return int32(i*(i-1)/2 + j - 1) }
	var rows []inequality
	reached := map[int32]*big.Rat{} // 1 - Pr[time i is reached]
	for i := 1; i <= n; i++ {
		for j := 1; j <= i; j++ { // x_ij + Σ earlier <= 1
			at := map[int32]*big.Rat{cell(i, j): rat(1, 1)}
			for c, x := range reached {
				at[c] = x
			}
			rows = append(rows, inequality{nil, rat(1, 1), at})
		}
		for j := 1; j <= i; j++ {
			reached[cell(i, j)] = rat(1, int64(i))
		}
	}
	taken := inequality{upper: rat(1, 1), at: reached}
	if !pass {
		taken.lower = rat(1, 1)
	}
	rows = append(rows, taken)
	law := make([]map[int32]*big.Rat, n+1)
	for k := 1; k <= n; k++ {
		law[k] = map[int32]*big.Rat{}
		for i := 1; i <= n; i++ {
			for j := max(1, k-(n-i)); j <= min(i, k); j++ {
				ways := new(big.Int).Mul(new(big.Int).Binomial(int64(k-1), int64(j-1)), new(big.Int).Binomial(int64(n-k), int64(i-j)))
				law[k][cell(i, j)] = quo(new(big.Rat).SetFrac(ways, new(big.Int).Binomial(int64(n), int64(i))), rat(int64(i), 1))
			}
		}
	}
	exp := fromExp(s.exp).Exp()
	for a := 1; a <= n; a++ {
		for b := max(1, a-s.l); b <= min(n, a+s.l); b++ {
			if a == b {
				continue
			}
			at := map[int32]*big.Rat{}
			for c, x := range law[a] {
				at[c] = x
			}
			for c, x := range law[b] {
				if at[c] == nil {
					at[c] = new(big.Rat)
				}
				at[c] = sub(at[c], mul(exp, x))
			}
			rows = append(rows, inequality{nil, s.delta, at})
		}
	}
	cost := map[int32]*big.Rat{}
	for c, x := range law[1] {
		cost[c] = new(big.Rat).Neg(x)
	}
	least, _ := minimise(ctx, int(cell(n, n))+1, rows, cost)
	return least.Neg(least)
}

func stoppingProgram(t *tally) Finding {
	for _, s := range privateRules {
		for n := 4; n <= 8; n += 2 {
			want := s.bestSuccess(t.ctx, n, false)
			payoff := must(stopping.TopK(n, 1))
			got := must(stopping.Solve(t.ctx, &stopping.Problem{Payoff: payoff, L: s.l, Eps: fromExp(s.exp), Delta: s.delta}, stopping.Options{}))
			t.expect(got.Lower.Cmp(want) <= 0 && want.Cmp(got.Upper) <= 0 && got.Gap() < 1e-8, "%+v, n = %d: the program's optimum is %s, the search's %s", s, n, short(want, 10), got.Optimum())
		}
	}
	return t.finding("n = 4, 6, 8, "+privateDomain+": exact linear programs against certified enclosures of width 10^-8", "")
}

func stoppingLimit(t *tally) Finding {
	for _, s := range privateRules {
		var before *big.Rat // V'_{n-1}
		for n := s.l + 1; n <= 7; n++ {
			must := s.bestSuccess(t.ctx, n, false)
			may := s.bestSuccess(t.ctx, n, true)
			t.expect(must.Cmp(may) <= 0, "%+v, n = %d: V = %s, V' = %s", s, n, must.RatString(), may.RatString())
			if before != nil {
				t.expect(may.Cmp(before) <= 0 && mul(rat(int64(n)-1, int64(n)), before).Cmp(must) <= 0, "%+v, n = %d: V = %s, V' = %s, before V' = %s", s, n, short(must, 8), short(may, 8), short(before, 8))
			}
			before = may
		}
	}
	return t.finding("n <= 7, "+privateDomain+", exact linear programs", "")
}

func stoppingFromBelow(t *tally) Finding {
	one := enclose(rat(1, 1))
	for _, s := range privateRules {
		if s.delta.Sign() > 0 {
			continue
		}
		z, _ := fromExp(s.exp).Z()
		for n := s.l + 1; n <= 8; n++ {
			may := s.bestSuccess(t.ctx, n, true)
			for _, zeta := range fractions(20)[:19] {
				if less(power(zeta, s.l), z) {
					continue
				}
				bound := enclose(sub(rat(1, 1), zeta)).Mul(one.Sub(interval.Exp(enclose(quo(zeta, sub(zeta, rat(1, 1)))))))
				t.atMost(bound, enclose(may), "%+v, n = %d, ζ = %s: V' = %s, the bound %.6f", s, n, zeta.RatString(), short(may, 6), bound.Near())
			}
		}
	}
	return t.finding("n <= 8, "+privateDomain+" without the third, ζ = 1/20, …, 19/20, exact linear programs", "")
}

func stoppingFromAbove(t *tally) Finding {
	closest := new(big.Rat)
	for _, s := range privateRules {
		if s.delta.Sign() > 0 {
			continue
		}
		z, _ := fromExp(s.exp).Z()
		for n := s.l + 1; n <= 8; n++ {
			best := s.bestSuccess(t.ctx, n, false)
			total := new(big.Rat)
			for k := 1; k <= n; k++ {
				total.Add(total, power(z, (k-1+s.l-1)/s.l))
			}
			bound := new(big.Rat).Inv(total)
			t.expect(best.Cmp(bound) <= 0 && (s.l > 1 || best.Cmp(bound) < 0), "%+v, n = %d: the best success is %s, the bound %s", s, n, short(best, 8), short(bound, 8))
			closest = larger(closest, quo(best, bound))
		}
	}
	return t.finding("n <= 8, "+privateDomain+" without the third, exact linear programs", "largest quotient of optimum and bound "+decimals(closest, 6))
}

func stoppingDifference(t *tally) Finding {
	rng := rand.New(rand.NewPCG(9, 10))
	for n := 2; n <= 12; n++ {
		for range 5 {
			rule := must(secretary.NewRuleFromStops(n, func(i, j int) *big.Rat { return rat(rng.Int64N(6), 5) }))
			law := rule.Law()
			total := new(big.Rat)
			for k := 1; k <= n; k++ {
				total.Add(total, mul(new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(sign(k-1)), new(big.Int).Binomial(int64(n-1), int64(k-1)))), law[k-1]))
			}
			t.expect(total.Sign() == 0, "n = %d: the sum is %s for the law %s", n, total.RatString(), text(law))
		}
	}
	return t.finding("n = 2, …, 12, five random rules each, exact", fmt.Sprintf("%d laws", t.checked))
}
