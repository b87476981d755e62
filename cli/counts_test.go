package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
)

func TestCounts(t *testing.T) {
	for text, want := range map[string]int{"12": 12, "10k": 10_000, "3M": 3_000_000, "1e6": 1_000_000, "1.5k": 1500, "0": 0} {
		var c command.CountFlag
		require.NoError(t, c.Set(text), text)
		assert.Equal(t, want, int(c), text)
	}
	for _, text := range []string{"", "k", "1.5", "0.0001k", "1e30", "3 M", "3m", "-3", "-1k", "10kk", "99999999999999999999"} {
		var c command.CountFlag
		assert.Error(t, c.Set(text), text)
	}
}

// Score vectors and pairs as JSON lines are those that commas and semicolons separate.
func TestScoresAsJSON(t *testing.T) {
	for _, c := range [][2]string{{"0,-1,-2.5", "[0, -1, -2.5]"}, {"1/3,1e-3", `["1/3", 1e-3]`}} {
		plain, err := splitScores(c[0])
		require.NoError(t, err)
		array, err := splitScores(c[1])
		require.NoError(t, err)
		assert.Equal(t, plain, array)
	}
	plain, err := splitPair("0,-1;1,-1")
	require.NoError(t, err)
	array, err := splitPair("[[0,-1],[1,-1]]")
	require.NoError(t, err)
	assert.Equal(t, plain, array)
	for _, text := range []string{"[]", "[0", "[[0]]", "[null]", `[true]`, `["x"]`} {
		_, err := splitScores(text)
		assert.Error(t, err, text)
	}
	for _, text := range []string{"0,1", "[[0,1]]", "[[0],[1,2]]", "[[0],[1],[2]]", "0;1,2"} {
		_, err := splitPair(text)
		assert.Error(t, err, text)
	}

	path := filepath.Join(t.TempDir(), "scores")
	require.NoError(t, os.WriteFile(path, []byte("[0,-1]\n0,-2\n"), 0o644))
	vectors, err := readVectors(t.Context(), path, "lattice")
	require.NoError(t, err)
	assert.Len(t, vectors, 2)
}
