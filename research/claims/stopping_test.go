package claims

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/internal/slowtest"
	"optratio/number"
)

func find(t *testing.T, c check) Finding {
	tl := &tally{ctx: t.Context()}
	c(tl)
	return tl.finding()
}

// Each computation says "refuted" of a statement that is false and "holds" of one that is true, whatever the source prints: where the source is wrong its statement is
// corrected here, where it is right it is spoiled.
func TestDoctoredStatementsAboutStopping(t *testing.T) {
	slowtest.Only(t)
	lastFloor := func(n, k int) number.Interval {
		return limitLaw(n, k).Add(number.ExpRat(rat(-1, 1), precision).Quo(enclose(rat(int64(n), 1))))
	}
	corrected := func(n, tn, k int) *big.Rat {
		if k == 1 {
			return printedSuccess(n, tn)
		}
		return printedLaw(n, tn, k)
	}
	for name, c := range map[string]struct {
		check   check
		verdict Verdict
	}{
		"Fact 2 for k >= 2":                        {lawIs(2, printedLaw), Holds},
		"Fact 2 with the right k = 1":              {lawIs(1, corrected), Holds},
		"Fact 2 with a wrong factor":               {lawIs(2, func(n, tn, k int) *big.Rat { return printedLaw(n, tn+1, k) }), Refuted},
		"the best by the formula for all k":        {bestIsTakenWith(func(n, tn int) *big.Rat { return printedLaw(n, tn, 1) }), Refuted},
		"a later threshold is optimal":             {secretaryRuleIsOptimal(func(n int) int { return min(n, leastThreshold(n)+1) }), Refuted},
		"asymptotics with the last candidate":      {followsLaw(sublinearRanks, one, lastFloor), Holds},
		"Corollary 1 for constant k":               {followsLaw(constantRanks, rat(1, 2), limitLaw), Holds},
		"swaps at least l apart, right distances":  {exampleOne(atLeast, func(int) int { return 1 }, func(n int) [][2]int { return nil }), Refuted},
		"the older product with the newer numbers": {exampleOne(atMost, func(n int) int { return 2*n - 3 }, olderProduct), Refuted},
		"the older example with newer swaps": {inSomeReading(func(r reading) check {
			return exampleOne(r, func(n int) int { return 2*n - 3 }, newerProduct)
		}), Holds},
		"singletons of neighboring ranks": {tightEpsilonIs(true), Refuted},
		"mixes with half the δ": {mixesArePrivate(func(e, p, delta *big.Rat, _ int) (*big.Rat, *big.Rat) {
			return e, quo(mul(p, delta), rat(2, 1))
		}, false), Refuted},
		"Theorem 2 with twice the gain": {mixesArePrivate(func(e, p, delta *big.Rat, _ int) (*big.Rat, *big.Rat) {
			exp := sub(e, mul(rat(2, 1), mul(sub(one, p), delta)))
			if exp.Cmp(one) < 0 {
				return nil, nil
			}
			return exp, mul(p, delta)
		}, false), Refuted},
		"Lemma 1 for small δ":                {epsilonGrows(new(big.Rat), rat(1, 10), rat(3, 10)), Holds},
		"Lemma 3 from n = 5":                 {firstPairIsWorst(5), Holds},
		"Lemma 3 from n = 3":                 {firstPairIsWorst(3), Refuted},
		"Theorem 3 from n = 3":               {closedFormOfEpsilon(3), Refuted},
		"p around 0.4":                       {exampleP(rat(4, 10), rat(1, 200)), Refuted},
		"p = 1 from 0.9":                     {exampleWhole(rat(9, 10), rat(1, 20)), Holds},
		"Lemma 4 from k = 2":                 {recurrence(2), Holds},
		"Corollary 5 with the term added":    {fromTheBest(true), Holds},
		"the law without the last candidate": {uniformLaw(0), Refuted},
		"the law with two last candidates":   {uniformLaw(2), Refuted},
		"a metric of swaps at most l apart":  {isMetric(atMost), Holds},
	} {
		t.Run(name, func(t *testing.T) {
			f := find(t, c.check)
			assert.Equal(t, c.verdict, f.Verdict, "%s: %s", f.Domain, f.Witness)
			if f.Verdict == Refuted {
				assert.NotEmpty(t, f.Witness)
			}
		})
	}
}

// r_{k,4} is 11/24, 7/24, 4/24, 2/24: t_4 = 2, and of the 24 orders of arrival the rule takes the best in 11. The printed formula gives 13/24 for the best.
func TestPrintedLawOfFour(t *testing.T) {
	law := playedLaw(4, leastThreshold(4))
	assert.Equal(t, "(11/24, 7/24, 1/6, 1/12)", text(law))
	assert.Equal(t, "13/24", printedLaw(4, 2, 1).RatString())
	f := find(t, lawIs(1, printedLaw))
	assert.Equal(t, Refuted, f.Verdict)
	assert.Contains(t, f.Witness, "n = 4, k = 1")
	assert.Contains(t, f.Witness, "13/24, not 11/24")
	assert.Contains(t, f.Witness, "ranks where it fails for some n: [1]")
}

// All events of all swaps, by hand: from (1/2, 1/3, 1/6) the worst at l = 1 is the second against the third.
func TestLeastExp(t *testing.T) {
	q := []*big.Rat{rat(1, 2), rat(1, 3), rat(1, 6)}
	assert.Equal(t, "2", leastExp(q, 1, new(big.Rat)).RatString())
	assert.Equal(t, "3", leastExp(q, 2, new(big.Rat)).RatString())
	assert.Equal(t, "1", leastExp(q, 2, rat(1, 3)).RatString())
	assert.Nil(t, leastExp([]*big.Rat{one, new(big.Rat)}, 1, new(big.Rat)))
}

// Nothing is decided where the ratio is neither near 1 nor beyond 2.
func TestAsymptoticsLeftOpen(t *testing.T) {
	f := find(t, followsLaw([]rankSequence{constant(2)}, one, func(n, k int) number.Interval {
		return limitLaw(n, k).Mul(enclose(rat(9, 10)))
	}))
	assert.Equal(t, Undecided, f.Verdict)
}

func TestOrders(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range orders(4) {
		seen[text([]*big.Rat{rat(int64(o[0]), 1), rat(int64(o[1]), 1), rat(int64(o[2]), 1), rat(int64(o[3]), 1)})] = true
	}
	assert.Len(t, seen, 24)
}
