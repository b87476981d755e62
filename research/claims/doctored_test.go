package claims

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/lp"
	"optratio/verify"
)

// Statements that are wrong on purpose, or right where the ledger's is wrong: the checks have to say so. Each is an entry's own check with another constant or another
// mechanism.
func TestDoctoredStatements(t *testing.T) {
	uniform := func(p []*big.Rat) []*big.Rat { return []*big.Rat{rat(1, 3), rat(1, 3), rat(1, 3)} }
	flip := func(p []*big.Rat) []*big.Rat { return distribution(pf, p) }
	for _, c := range []struct {
		says  string
		check check
		want  Verdict
	}{
		{"Proposition 5 with a third in place of a quarter", worstAtOneOverN(rat(1, 3)), Refuted},
		{"Proposition 1 with two fifths of ln n", utility(em, rat(2, 5)), Refuted},
		{"Theorem 2 the other way", dominates(em, pf, "the exponential mechanism", "permute-and-flip"), Refuted},
		{"a ratio of errors of at most 1.9", ratioOfErrors(rat(19, 10)), Refuted},
		{"a ratio of errors that comes close to 2.1", ratioOfErrors(rat(21, 10)), Refuted},
		{"the gloss on Definition 3 for the uniform choice", gloss(uniform), Holds},
		{"the gloss on Definition 3 for permute-and-flip", gloss(flip), Refuted},
		{"the worst rows suffice without monotonicity", worstRowsSuffice(lp.Paper), Refuted},
		{"Remark 1 with a root that is not a bound", monotonicScores(rat(3, 2)), Refuted},
		{"Lemma 1 for the exponential mechanism", form(func(p []*big.Rat, r int) *big.Rat { return distribution(em, p)[r] }), Refuted},
		{"permute-and-flip has bounded range", has(pf, [][2]int{{3, 2}}, 1, "", verify.BoundedRange), Refuted},
		{"the exponential mechanism has bounded range", has(em, [][2]int{{3, 2}}, 1, "", verify.BoundedRange), Holds},
		{"the largest error is near 1/n for n = 14", maximiser(14), Refuted},
		{"the exponential mechanism is Pareto optimal", pareto(em), Refuted},
		{"Theorem 3 from e^ε = 3/2 on", optimalFrom("3/2", "0.9625"), Refuted},
		{"Theorem 3 from ε = 0.69 on", optimalFrom("21/8", "0.69"), Refuted},
		{"Theorem 3 from ε = 0.6932 on", optimalFrom("21/8", "0.6932"), Holds},
		{"the program of Appendix D at k = 2", programOfAppendixD([2]int{3, 2}), Holds},
		{"Equations 10 and 11 at e^ε = 3/2", dualRecurrence("3/2"), Refuted},
		{"a ratio that tends to two with two best candidates", largeEpsilon(2), Refuted},
		{"noisy max against the exponential mechanism for two candidates", neitherDominates(2), Refuted},
		{"the lines of figure 4 cross at -3.6", crossing(3, rat(-35, 10), rat(-36, 10)), Refuted},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			f := find(t, c.check)
			assert.Equal(t, c.want, f.Verdict, "%+v", f)
			if f.Verdict == Refuted {
				assert.NotEmpty(t, f.Witness)
			}
		})
	}
}

// A check that is cut short before it has seen anything says nothing.
func TestChecksThatAreCutShort(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	cut := 0
	for _, e := range All() {
		r := e.run(ctx)
		if r.Verdict == Undecided {
			cut++
			continue
		}
		// Quick checks may be done before they look: with the usual verdict.
		assert.Contains(t, verdicts(t), r.heading()+": "+string(r.Verdict)+"\n")
	}
	assert.Greater(t, cut, 100)
}

func TestTally(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	nothing, good, bad, open := tally{ctx: ctx}, tally{ctx: ctx}, tally{ctx: ctx}, tally{ctx: ctx}
	for _, tl := range []*tally{&good, &bad, &open} {
		tl.domain = "n = %d"
	}
	assert.Equal(t, Undecided, nothing.finding().Verdict)
	nothing.reason = "a definition"
	assert.Equal(t, Finding{NotCheckable, "", "a definition"}, nothing.finding())
	good.expect(true, "no")
	good.see("%d", 1)
	assert.Equal(t, Finding{Holds, "n = 1", "1"}, good.finding())
	assert.True(t, bad.expect(true, "no"))
	assert.False(t, bad.expect(false, "2 > %d", 1))
	assert.False(t, bad.expect(false, "later"))
	assert.Equal(t, Finding{Refuted, "n = 3", "2 > 1"}, bad.finding())
	reading := bad
	reading.reason = "of two readings"
	assert.Equal(t, Finding{NotCheckable, "n = 3", "of two readings; 2 > 1"}, reading.finding())
	assert.True(t, open.atMost(enclose(rat(1, 3)), enclose(rat(1, 3)), "equal numbers"))
	assert.Equal(t, Undecided, open.finding().Verdict)
	assert.True(t, open.atMost(enclose(rat(1, 3)), enclose(rat(1, 2)), "less"))
	assert.False(t, open.atMost(enclose(rat(1, 2)), enclose(rat(1, 3)), "more"))
	assert.Equal(t, Finding{Refuted, "n = 2", "more"}, open.finding())
	cancel()
	assert.PanicsWithError(t, context.Canceled.Error(), func() { good.finding() })
	assert.PanicsWithError(t, context.Canceled.Error(), func() { good.expect(true, "no") })
	assert.Equal(t, Refuted, bad.finding().Verdict, "what is refuted stays so")
}
