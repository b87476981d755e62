//go:build unix

package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/verify"
)

// later answers about two candidates, or a label a or b, as it should, but for a question that has a shell pattern: from the given time on.
func later(pattern string, time int, first, then string) string {
	return fmt.Sprintf(`c=0; while read q; do case $q in
		%s) c=$((c+1)); if test $c -lt %d; then echo '%s'; else echo '%s'; fi;;
		*input*) echo '{"pmf":{"a":"1/2","b":"1/2"}}';; *,*,*,*,*) echo '{"pmf":["1/2","1/2"]}';; *) echo '{"pmf":[1]}';; esac; done`, pattern, time, first, then)
}

// A program whose answers change is found out by any part of an audit that asks again, and nothing else is said of it then: not that it is private, and not
// that it is not. Numbers that stand for a common one are no change.
func TestAnswersThatChange(t *testing.T) {
	even, sure, labels := `{"pmf":["1/2","1/2"]}`, `{"pmf":["1","0"]}`, `{"pmf":{"a":"1/2","b":"1/2"}}`
	for name, c := range map[string]struct {
		command string
		inputs  bool
		change  string // "" where there is none
		unsure  bool   // whether something would be violated
	}{
		"from the second time":    {command: later("*[[]0,-2]*", 2, even, sure), change: "different answers: scores (0, -2): asked twice, candidate 0 has probability 0.5, then 1, of the answers (0.5, 0.5) and (1, 0)"},
		"to a violation":          {command: later("*[[]0,0]*", 2, sure, even), change: "different answers: scores (0, 0): asked twice, candidate 0 has probability 1, then 0.5, of the answers (1, 0) and (0.5, 0.5)", unsure: true},
		"to nothing, and back":    {command: later("*[[]0,-2]*", 2, `{"error":"busy"}`, even), change: "different answers: scores (0, -2): an answer once, an error the other time"},
		"within the precision":    {command: later("*[[]0,-2]*", 2, `{"pmf":[0.5,0.5]}`, `{"pmf":[0.5000000004,0.4999999996]}`)},
		"of an input":             {command: later("*true*", 2, labels, `{"pmf":{"a":"1"}}`), inputs: true, change: `different answers: input true: asked twice, output "a" has probability 0.5, then 1`},
		"of an input, to a label": {command: later("*true*", 2, labels, `{"pmf":{"a":"1/2","c":"1/2"}}`), inputs: true, change: `different answers: input true: asked twice, output "b" has probability 0.5, then 0, of the answers ("a": 0.5, "b": 0.5) and ("a": 0.5, "b": 0, "c": 0.5)`},
	} {
		t.Run(name, func(t *testing.T) {
			o := tableOptions(t)
			o.N, o.K, o.program.Timeout, o.Properties, o.facts = 2, 1, time.Minute, []verify.Property{verify.DP}, []verify.Property{verify.Sum}
			if c.inputs {
				o.Inputs = &Inputs{Values: []json.RawMessage{json.RawMessage("true"), json.RawMessage("false")}, Pairs: []InputPair{{From: 0, To: 1}}}
				o.Outcomes = Labels
			}
			r, err := pmfOf(context.Background(), c.command, o)
			require.NoError(t, err)
			dp, answers := r.Find(verify.DP), r.Find(Answers)
			if c.change == "" {
				require.Equal(t, verify.Proved, dp.Verdict, "%v", r)
				require.Equal(t, verify.Proved, answers.Verdict, "%v", r)
				return
			}
			require.Equal(t, verify.Violated, answers.Verdict)
			require.Contains(t, answers.Reason, c.change)
			require.False(t, r.TightEps.IsValid() || r.DomainEps.IsValid())
			require.Nil(t, r.Witness)
			for _, p := range r.Properties {
				if p.Name == Answers {
					continue
				}
				require.Equal(t, verify.Undecided, p.Verdict, "%v", p)
				require.Contains(t, p.Reason, c.change)
				require.False(t, p.TightEps.IsValid())
			}
			if c.unsure {
				require.Contains(t, dp.Reason, "; so it is not sure that it fails at scores (0, -1) and (0, 0), candidate 1: 0.5 and 0")
			}
		})
	}
}

// The mechanism that a program states for a ratio is asked again as well.
func TestStatedAnswersThatChange(t *testing.T) {
	o := tableOptions(t)
	for time, changed := range map[int]bool{2: true, 1_000_000: false} {
		c, err := Program{Command: later("*[[]0,-2]*", time, `{"pmf":["1/2","1/2"]}`, `{"pmf":["1","0"]}`)}.Subject(false, o)
		require.NoError(t, err)
		defer c.Close()
		_, err = c.asker.probabilities(context.Background(), []*big.Rat{new(big.Rat), big.NewRat(-2, 1)})
		require.NoError(t, err)
		for range 2 {
			if err = c.Again(context.Background()); changed {
				require.ErrorIs(t, err, mechanisms.ErrAnswer)
				require.ErrorContains(t, err, "scores (0, -2): asked twice, candidate 0 has probability 0.5, then 1")
			} else {
				require.NoError(t, err)
			}
		}
	}
}

// Functions that change some answer at some time, and functions that state rows which are no distribution, are judged by what they said themselves: where two answers
// to a question differ, or a row within the domain is wrong, answers are violated; where they change, nothing else is decided; and otherwise verdicts are those on the law.
func TestChangesAgreeWithWhatWasSaid(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 7))
	seen := map[string]int{}
	for i := range 240 {
		o := Options{Epsilon: epsilon(t, "1"), N: 2, K: 1, Seed: uint64(i), Properties: []verify.Property{verify.DP, verify.Symmetry}}
		private, broken, at, again := rng.IntN(3) > 0, rng.IntN(3) == 0, 1+rng.IntN(2000), rng.IntN(2) == 0
		if i%8 > 0 { // without a side set
			o.Vectors, at = [][]*big.Rat{{new(big.Rat), new(big.Rat)}, {new(big.Rat), big.NewRat(-2, 1)}, {big.NewRat(-2, 1), new(big.Rat)}}, 1+rng.IntN(80)
		}
		said, changed, wrong, asked := map[string]string{}, false, false, 0
		law := func(gap float64) *big.Rat { // of candidate 0, private at ε = 1 and symmetric, or not private
			low, high := big.NewRat(2, 5), big.NewRat(3, 5)
			if !private {
				low, high = big.NewRat(1, 10), big.NewRat(9, 10)
			}
			switch {
			case gap < 0:
				return low
			case gap > 0:
				return high
			}
			return big.NewRat(1, 2)
		}
		m := mechanisms.FromRational(mechanisms.Info{Name: "f", Summary: "f", Claim: "none"}, func(in *mechanisms.Instance) ([]*big.Rat, error) {
			asked++
			n := len(in.Scores)
			p := make([]*big.Rat, n)
			for r := range p {
				p[r] = big.NewRat(1, int64(n))
			}
			if n == 2 {
				gap, _ := new(big.Rat).Sub(in.Scores[0], in.Scores[1]).Float64()
				p[0] = law(gap)
				p[1] = new(big.Rat).Sub(big.NewRat(1, 1), p[0])
				if asked == at || again && asked > at {
					p[0], p[1] = big.NewRat(3, 7), big.NewRat(4, 7)
				}
				if broken && gap == 2 {
					p[1] = big.NewRat(1, 16)
				}
			}
			key, text := inquiry.ScoresText(in.Scores), fmt.Sprint(p)
			if before, ok := said[key]; ok && before != text {
				changed = true
			}
			if sum := p[0]; n == 2 && new(big.Rat).Add(sum, p[1]).Cmp(big.NewRat(1, 1)) != 0 {
				wrong = true
			}
			said[key] = text
			return p, nil
		})
		r, err := Mechanism(context.Background(), m, o)
		require.NoError(t, err)
		dp, symmetry, answers := r.Find(verify.DP), r.Find(verify.Symmetry), r.Find(Answers)
		kind := fmt.Sprintf("private %t, changed %t, wrong %t", private, changed, wrong)
		seen[kind]++
		require.Equal(t, changed || wrong, answers.Verdict == verify.Violated, "%d, %s: %v", i, kind, r)
		switch {
		case changed:
			require.Equal(t, verify.Undecided, dp.Verdict, "%d, %s", i, kind)
			require.Equal(t, verify.Undecided, symmetry.Verdict, "%d, %s", i, kind)
			require.False(t, r.TightEps.IsValid())
		case wrong:
			require.NotEqual(t, verify.Proved, dp.Verdict, "%d, %s", i, kind)
			require.NotEqual(t, verify.Proved, symmetry.Verdict, "%d, %s", i, kind)
			require.False(t, private && dp.Verdict == verify.Violated, "%d, %s: %v", i, kind, r)
		case asked < at:
			require.Equal(t, private, dp.Verdict == verify.Proved, "%d, %s: %v", i, kind, r)
			require.Equal(t, verify.Proved, symmetry.Verdict, "%d, %s: %v", i, kind, r)
		}
	}
	require.Len(t, seen, 8, "%v", seen)
	t.Log(seen)
}
