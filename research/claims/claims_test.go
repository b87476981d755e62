package claims

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEntriesAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All("") {
		key := string(e.Source) + "|" + e.Version + "|" + e.Item
		assert.False(t, seen[key], "two entries %s", key)
		seen[key] = true
		assert.NotEmpty(t, e.Statement, key)
		assert.NotNil(t, e.check, key)
	}
	registered := 0
	for _, source := range checks {
		registered += len(source)
	}
	assert.Len(t, All(""), registered, "every check has a statement")
}

func TestAnEntryThatTheContextEndedIsUndecided(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("time limit"))
	r := Entry{check: func(t *tally) Finding { return t.finding("n = 1", "") }}.run(ctx)
	assert.Equal(t, Undecided, r.Verdict)
	assert.Contains(t, r.Domain, "time limit")
	r = Entry{check: func(*tally) Finding { return Finding{Verdict: must(Holds, errors.New("no"))} }}.run(context.Background())
	assert.Equal(t, Undecided, r.Verdict)
	assert.Equal(t, "the check failed: no", r.Domain)
}
