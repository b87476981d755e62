package stopping

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"optratio/internal/linear"
	"optratio/internal/secretary"
	"optratio/number"
)

// lawBound returns an upper bound for the probability of taking the best under
// (ε, 0)-privacy in d_l, whatever the rule, even one that sees all candidates at once:
//
//	1 / Σ_{k=1}^{n} z^{⌈(k-1)/l⌉},   z = e^{-ε}
//
// since q_k >= z^{⌈(k-1)/l⌉} q_1. It tends to (1-z)/(1-z+lz). For stopping rules it is never attained
// where l = 1, 0 < z < 1 and n >= 2: the only law that attains it is geometric, and its difference is not 0.
// It makes Theorem 3.1 of Grining, Klonowski & Sulkowska (newer version) quantitative.
// e is e^ε >= 1; a smaller e gives a smaller bound.
func lawBound(n, l int, e *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for k := 1; k <= n; k++ {
		term := big.NewRat(1, 1)
		for range (k - 1 + l - 1) / l {
			term.Quo(term, e)
		}
		sum.Add(sum, term)
	}
	return sum.Inv(sum)
}

// constantRate returns the limit, for many candidates, of the success of the
// rule that waits until the fraction 1-ζ of all candidates has passed, ζ = e^{-ε/l}, and at the fraction
// x from there on takes relative rank j with probability (1-(1-ζ)/x)^{j-1}:
//
//	(1-ζ)(1 - e^{-ζ/(1-ζ)})
//
// Its arrivals of relative rank j are taken at rate y^{j-1}/x, y = 1-(1-ζ)/x, together 1/(1-ζ) at all times; and the
// final rank of what is taken at x is geometric, ζ^{k-1}(1-ζ), for every x, by
// Σ_j C(k-1,j-1) (yx)^{j-1} (1-x)^{k-j} = (1-x+yx)^{k-1} = ζ^{k-1}. So it is private even if the time of the
// choice is published. It is exact in that limit, an estimate for a given n.
func constantRate(eps float64, l int) float64 {
	z := math.Exp(-eps / float64(l))
	return (1 - z) * -math.Expm1(-z/(1-z))
}

// difference returns Σ_{k=1}^{n} (-1)^{k-1} C(n-1,k-1) q_k, which is 0 for the outcome law
// of every stopping rule over n >= 2 candidates. The chance of final rank k given
// relative rank j at time i is a polynomial in k of degree i-1, at most n-2
// before the last time; at time n everything is taken, which gives the
// constant 1/n; and the (n-1)-th difference of a polynomial of degree n-2 is 0.
func difference(q []*big.Rat) *big.Rat {
	n := int64(len(q))
	sum := new(big.Rat)
	for k, x := range q {
		term := new(big.Rat).SetInt(new(big.Int).Binomial(n-1, int64(k)))
		term.Mul(term, x)
		if k%2 == 1 {
			term.Neg(term)
		}
		sum.Add(sum, term)
	}
	return sum
}

// asymptotic returns a_k = Σ_{s>=k} (1-1/e)^s / s, the limit of e·r_{k,n} for fixed k (Grining, Klonowski & Sulkowska, Theorem 5 / 5.2),
// to the rounding of some hundred terms.
func asymptotic(k int) float64 {
	sum := 0.0
	for s := k; s < k+100; s++ {
		sum += math.Pow(1-1/math.E, float64(s)) / float64(s)
	}
	return sum
}

// The geometric law has the difference (1-z)^{n-1} q_1, so no stopping rule has it.
func TestGeometricLawIsNoRule(t *testing.T) {
	z := big.NewRat(2, 3)
	for n := 2; n <= 10; n++ {
		q, power := make([]*big.Rat, n), big.NewRat(1, 1)
		want := big.NewRat(1, 1)
		for k := range q {
			q[k] = power
			power = new(big.Rat).Mul(power, z)
			if k > 0 {
				want.Mul(want, big.NewRat(1, 3))
			}
		}
		if got := difference(q); got.Cmp(want) != 0 {
			t.Errorf("n = %d: difference %v, want %v", n, got, want)
		}
	}
}

// The constant-rate rule at finite n approaches its limit law like 1/n: the error at k = 1..6 is
// below 2/n, and its law is geometric in the limit.
func TestConstantRateRule(t *testing.T) {
	const eps = 0.5
	zeta := math.Exp(-eps)
	success := constantRate(eps, 1)
	for _, n := range []int{30, 60} {
		r := must(secretary.NewRuleFromStops(n, func(i, j int) *big.Rat {
			y := 1 - (1-zeta)*float64(n)/float64(i)
			if y < 0 {
				return new(big.Rat)
			}
			// Short dyadic probabilities keep the exact law small.
			return big.NewRat(int64(math.Pow(y, float64(j-1))*(1<<20)), 1<<20)
		}))
		law := r.Law()
		for k := range 6 {
			got, _ := law[k].Float64()
			if want := success * math.Pow(zeta, float64(k)); math.Abs(got-want) > 2/float64(n) {
				t.Errorf("n = %d: rank %d taken with %g, limit %g", n, k+1, got, want)
			}
		}
	}
}

// Every outcome law of every stopping rule is a polynomial of degree at most n-2 in the rank:
// its (n-1)-th difference vanishes. See research/docs/stopping.md.
func TestLawDifferenceVanishes(t *testing.T) {
	for n := 2; n <= 12; n++ {
		for _, threshold := range []int{1, (n + 1) / 2, n} {
			law := must(secretary.ThresholdRule(n, threshold)).Law()
			if d := difference(law); d.Sign() != 0 {
				t.Errorf("n = %d, t = %d: difference %v", n, threshold, d)
			}
		}
	}
	if difference([]*big.Rat{rat(t, "1/2"), rat(t, "1/4"), rat(t, "1/4")}).Sign() == 0 {
		t.Error("a law that no rule has passes")
	}
}

// Where the privacy rows alone decide (small ε), the optimum of one best candidate is q_1 = (1 - e^-ε)/(1 - e^-nε), of the law that falls by e^ε
// from rank to rank, down to far below a solver's tolerances; the bound from above is that from the first round on, but for what floats hold.
func TestUpperBoundOfSmallEps(t *testing.T) {
	for _, s := range solvers() {
		for _, eps := range []string{"e6/5", "e5/4"} {
			p := problem(t, 100, 1, 1, eps, "0")
			sol, err := Solve(t.Context(), p, Options{Solvers: []linear.Solver{s}, Rounds: 1})
			if err != nil {
				t.Fatal(err)
			}
			q := new(big.Rat).Inv(p.Eps.Exp())
			power := big.NewRat(1, 1)
			for range p.N() {
				power.Mul(power, q)
			}
			one := big.NewRat(1, 1)
			law := q.Quo(q.Sub(one, q), power.Sub(one, power))
			off, _ := new(big.Rat).Sub(sol.Upper, law).Float64()
			if off < 0 || off > 1e-14 {
				t.Errorf("%s, e^ε = %v: upper bound %v is %g above the law's", s.Name(), p.Eps.Exp(), sol.Optimum(), off)
			}
		}
	}
}

// The multipliers of the chain in closed form bound the relaxation as those of its linear program do: with them every adjusted payoff is at most the
// optimum, and for any payoffs.
func TestChainMultipliersEqualTheProgramOfTheRelaxation(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	spoiled := 0
	for trial := range 60 {
		n := 2 + rng.IntN(30)
		payoff := make([]*big.Rat, n)
		for k := range payoff {
			payoff[k] = big.NewRat(rng.Int64N(41)-20, 4)
			if trial%3 == 0 { // the best few
				payoff[k] = big.NewRat(int64(min(1, max(0, 1+trial/6-k))), 1)
			}
		}
		p := must((Problem{Payoff: payoff, Eps: must(number.ParseEpsilon([]string{"0.02", "0.3", "1.5"}[rng.IntN(3)]))}).complete())
		m := newMaster(p, []linear.Solver{linear.Embedded{}})
		bound := func(lambda multipliers) float64 {
			adjusted, offset := m.adjusted(lambda)
			return slices.Max(adjusted) + offset
		}
		lambda := m.recurrenceMultipliers()
		if lambda == nil && trial%3 > 0 { // not where the best few are wanted
			spoiled++
			continue
		}
		chain, program := bound(lambda), bound(must(m.relaxedMultipliers(context.Background())))
		if math.Abs(chain-program) > 1e-7*(1+math.Abs(program)) {
			t.Fatalf("trial %d, n = %d: bound %.15g, want %.15g for %v at %v", trial, n, chain, program, payoff, p.Eps)
		}
	}
	if spoiled > 20 {
		t.Errorf("%d of 60 spoiled", spoiled)
	}
}
