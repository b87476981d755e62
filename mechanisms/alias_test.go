package mechanisms

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A name that people know is a mechanism's own name nowhere, and finds the one that it stands for.
func TestAliases(t *testing.T) {
	for known, own := range aliases {
		assert.NotContains(t, Names(), known)
		assert.Equal(t, known, Alias(own))
		for _, lookup := range []func(string) (Mechanism, error){Lookup, LookupFewer} {
			m, err := lookup(known)
			require.NoError(t, err, known)
			assert.Equal(t, own, m.Info().Name)
		}
	}
	assert.Empty(t, Alias("mgem"))
	_, err := Lookup("")
	assert.Error(t, err)
}
