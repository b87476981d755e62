package claims

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
)

var update = flag.Bool("update", false, "rewrite testdata/verdicts.txt with what the ledger computes now")

func (r Result) heading() string {
	return strings.Join([]string{string(r.Source), r.Version, r.Item}, "|")
}

// verdicts reads what the ledger said when it was last looked at: a line for each entry.
func verdicts(t *testing.T) string {
	text, err := os.ReadFile("testdata/verdicts.txt")
	require.NoError(t, err)
	return string(text)
}

// Every entry is computed, with the verdicts that testdata/verdicts.txt has. Nothing is undecided: a check that fails or panics would be.
func TestVerdicts(t *testing.T) {
	slowtest.Only(t)
	l := NewLedger(All())
	l.Run(t.Context(), func(int, int, Result) {})
	var b strings.Builder
	refuted := 0
	for _, r := range l.Results("not run") {
		assert.NotEqual(t, Undecided, r.Verdict, "%s: %s", r.heading(), r.Domain)
		assert.NotEmpty(t, r.Domain+r.Witness, r.heading())
		fmt.Fprintf(&b, "%s: %s\n", r.heading(), r.Verdict)
		if r.Verdict == Refuted {
			refuted++
		}
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/verdicts.txt", []byte(b.String()), 0o644))
	}
	assert.Equal(t, verdicts(t), b.String(), "go test -C research ./claims -tags slow -run TestVerdicts -update")
	text, err := os.ReadFile("../../research/docs/results.md")
	require.NoError(t, err)
	assert.Contains(t, strings.Join(strings.Fields(string(text)), " "), fmt.Sprintf("has %d statements of the three sources, each decided by a computation: %d are refuted", len(All()), refuted))
}

func TestEntriesAreWellFormed(t *testing.T) {
	seen, registered := map[string]bool{}, 0
	for _, e := range All() {
		assert.False(t, seen[e.heading()], "two entries %s", e.heading())
		seen[e.heading()] = true
		assert.NotEmpty(t, e.Statement, e.heading())
		assert.NotNil(t, e.check, e.heading())
	}
	for _, source := range checks {
		registered += len(source)
	}
	assert.Len(t, All(), registered, "every check has a statement")
}

func TestLedgerThatIsCutShort(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	holds := over("n = 1", func(t *tally) { t.checked++ })
	wait := func(t *tally) {
		cancel(errors.New("the time limit was reached"))
		<-t.ctx.Done()
	}
	entries := []Entry{{Result{Item: "first"}, holds}, {Result{Item: "second"}, wait}}
	for range 100 {
		entries = append(entries, Entry{Result{Item: "never"}, wait})
	}
	l := NewLedger(entries)
	calls := 0
	l.Run(ctx, func(done, total int, r Result) {
		calls++
		assert.Equal(t, calls, done)
		assert.Equal(t, 102, total)
	})
	results := l.Results("the time limit was reached")
	require.Len(t, results, 102)
	assert.Equal(t, Result{Item: "first", Finding: Finding{Verdict: Holds, Domain: "n = 1"}}, results[0])
	for _, r := range results[1:] {
		assert.Equal(t, Undecided, r.Verdict)
		assert.Contains(t, r.Domain, "time limit")
	}
	assert.Equal(t, "1 hold, 101 undecided", Summary(results))
}

func TestBrokenChecksHideNoOthers(t *testing.T) {
	l := NewLedger([]Entry{
		{Result{Item: "panics"}, func(*tally) { panic("no") }},
		{Result{Item: "fails"}, func(*tally) { must(Holds, errors.New("bad")) }},
		{Result{Item: "holds"}, func(t *tally) { t.checked++ }},
	})
	l.Run(t.Context(), func(int, int, Result) {})
	results := l.Results("")
	assert.Equal(t, Finding{Verdict: Undecided, Domain: "the check failed: no"}, results[0].Finding)
	assert.Equal(t, Finding{Verdict: Undecided, Domain: "the check failed: bad"}, results[1].Finding)
	assert.Equal(t, Holds, results[2].Verdict)
}

func TestMarkdown(t *testing.T) {
	var b strings.Builder
	require.NoError(t, WriteMarkdown(&b, []Result{
		{PF, "main", "Theorem 9", "one is one", Finding{Holds, "n = 1", "1"}, "Plain."},
		{Het, "", "Lemma 9", "one is two", Finding{Refuted, "n = 1", "1 < 2"}, ""},
		{Het, "", "Remark", "it is good", Finding{NotCheckable, "", "an opinion"}, ""},
	}))
	assert.Equal(t, preamble+`
## `+titles[PF]+`

1 entries: 1 hold.

- **Theorem 9 (main)**, *holds*: one is one.
  *Checked:* n = 1.
  *Seen:* 1.
  Plain.

## `+titles[Het]+`

2 entries: 1 refuted, 1 not-checkable.

- **Lemma 9**, *refuted*: one is two.
  *Checked:* n = 1.
  *Witness:* 1 < 2.
- **Remark**, *not-checkable*: it is good.
  *Why:* an opinion.
`, b.String())
}

func TestHowNumbersAreWritten(t *testing.T) {
	assert.Equal(t, "1/3", short(rat(1, 3)))
	assert.Equal(t, "0.99999999…", short(sub(rat(1, 1), rat(1, 1<<60))))
	assert.Equal(t, "(1/2, 1)", text([]*big.Rat{rat(1, 2), rat(1, 1)}))
}
