package claims

import (
	"context"
	"errors"
	"flag"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
)

var update = flag.Bool("update", false, "rewrite the lists of research/docs/claims.md with what the ledger computes now")

const document = "../docs/claims.md"

// Every entry is computed, and research/docs/claims.md states what came out. Nothing is undecided: a check that fails or panics would be.
func TestDocument(t *testing.T) {
	slowtest.Only(t)
	for _, source := range Sources() {
		t.Run(string(source), func(t *testing.T) {
			entries := All(source)
			if testing.Short() && (source == Het || source == Stopping) {
				t.Skip("the longer half of the ledger")
			}
			l := NewLedger(entries)
			l.Run(context.Background(), nil)
			results := l.Results("not run")
			for _, r := range results {
				assert.NotEqual(t, Undecided, r.Verdict, "%s %s: %s", r.Version, r.Item, r.Domain)
				assert.NotEmpty(t, r.Domain+r.Witness, r.Item)
			}
			t.Logf("%s: %s", source, Summary(results))
			want := Markdown(results)
			text, err := os.ReadFile(document)
			require.NoError(t, err)
			before, rest, ok := strings.Cut(string(text), begin(source))
			require.True(t, ok, "%s has no section %s", document, source)
			old, after, ok := strings.Cut(rest, end)
			require.True(t, ok)
			if *update {
				require.NoError(t, os.WriteFile(document, []byte(before+want+after), 0o644))
				return
			}
			assert.Equal(t, want, begin(source)+old+end, "go test -C research ./claims -tags slow -run TestDocument -update")
		})
	}
}

func TestLedgerThatIsCutShort(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	holds := func(*tally) Finding { return Finding{Verdict: Holds, Domain: "n = 1"} }
	wait := func(t *tally) Finding {
		cancel(errors.New("the time limit was reached"))
		<-t.ctx.Done()
		return t.finding("n = 1", "")
	}
	entries := []Entry{{Source: PF, Item: "first", check: holds}, {Source: PF, Item: "second", check: wait}}
	for range 100 {
		entries = append(entries, Entry{Source: Het, Item: "never", check: wait})
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
	assert.Equal(t, Result{Source: PF, Item: "first", Verdict: Holds, Domain: "n = 1"}, results[0])
	for _, r := range results[1:] {
		assert.Equal(t, Undecided, r.Verdict)
		assert.Contains(t, r.Domain, "time limit")
	}
	assert.Equal(t, "1 hold, 101 undecided", Summary(results))
}

func TestBrokenChecksHideNoOthers(t *testing.T) {
	l := NewLedger([]Entry{
		{Source: PF, Item: "panics", check: func(*tally) Finding { panic("no") }},
		{Source: PF, Item: "fails", check: func(*tally) Finding { panic(errors.New("bad")) }},
		{Source: PF, Item: "holds", check: func(*tally) Finding { return Finding{Verdict: Holds} }},
	})
	l.Run(context.Background(), nil)
	results := l.Results("")
	assert.Equal(t, Undecided, results[0].Verdict)
	assert.Contains(t, results[0].Domain, "no")
	assert.Equal(t, Undecided, results[1].Verdict)
	assert.Contains(t, results[1].Domain, "bad")
	assert.Equal(t, Holds, results[2].Verdict)
}

func TestSelect(t *testing.T) {
	got := Select([]Entry{{Item: "Theorem 2"}, {Item: "Lemma 2"}, {Item: "theorem 3"}}, "theorem")
	require.Len(t, got, 2)
	assert.Equal(t, "theorem 3", got[1].Item)
}

func TestMarkdown(t *testing.T) {
	text := Markdown([]Result{
		{Source: PF, Version: "main", Item: "Theorem 9", Statement: "one is one", Verdict: Holds, Domain: "n = 1", Witness: "1", Note: "Plain."},
		{Source: Het, Item: "Lemma 9", Statement: "one is two", Verdict: Refuted, Domain: "n = 1", Witness: "1 < 2"},
		{Source: Het, Item: "Remark", Statement: "it is good", Verdict: NotCheckable, Witness: "an opinion"},
	})
	assert.Equal(t, begin(PF)+"## "+titles[0].title+`

1 entries: 1 hold.

- **Theorem 9 (main)**, *holds*: one is one.
  *Checked:* n = 1.
  *Seen:* 1.
  Plain.

`+end+begin(Het)+"## "+titles[1].title+`

2 entries: 1 refuted, 1 not-checkable.

- **Lemma 9**, *refuted*: one is two.
  *Checked:* n = 1.
  *Witness:* 1 < 2.
- **Remark**, *not-checkable*: it is good.
  *Why:* an opinion.

`+end, text)
}

func TestHowNumbersAreWritten(t *testing.T) {
	assert.Equal(t, "0.3333…", decimals(rat(1, 3), 4))
	assert.Equal(t, "-0.003333…", decimals(rat(-1, 300), 4))
	assert.Equal(t, "66.6666…", decimals(rat(200, 3), 4))
	assert.Equal(t, "0.25", decimals(rat(1, 4), 4))
	assert.Equal(t, "0", decimals(rat(0, 1), 4))
	assert.Equal(t, "1/3", short(rat(1, 3), 4))
	assert.Equal(t, "0.99999…", short(sub(rat(1, 1), rat(1, 1<<60)), 5))
	assert.Equal(t, "(1/2, 1)", text([]*big.Rat{rat(1, 2), rat(1, 1)}))
}

// TestWrapped: a wrapped text has its words, short lines, and none that begins a list or a quotation.
func TestWrapped(t *testing.T) {
	text := "- entry: " + strings.Repeat("x - y >= 1 with a in the year 2022. ", 20) + "end"
	lines := strings.Split(wrapped(text), "\n")
	assert.Equal(t, strings.Fields(text), strings.Fields(wrapped(text)))
	assert.Greater(t, len(lines), 5)
	for _, line := range lines[1:] {
		assert.LessOrEqual(t, len(line), lineLength+len(" - y >="))
		assert.Regexp(t, `^  [a-z1]`, line)
		assert.NotRegexp(t, `^  \d+\. `, line)
	}
}
