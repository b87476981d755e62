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
		assert.NotNil(t, e.Check, key)
	}
	assert.Len(t, All(""), len(entries), "every entry has a known source")
}

func TestAnEntryThatTheContextEndedIsUndecided(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("time limit"))
	r, err := Entry{Check: func(ctx context.Context) (Finding, error) { return Finding{}, ctx.Err() }}.Run(ctx)
	assert.NoError(t, err)
	assert.Equal(t, Undecided, r.Verdict)
	assert.Contains(t, r.Domain, "time limit")
	_, err = Entry{Source: PF, Item: "Theorem 2", Check: func(context.Context) (Finding, error) { return Finding{}, errors.New("no") }}.Run(context.Background())
	assert.EqualError(t, err, "pf, Theorem 2: no")
}
