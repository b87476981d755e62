package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
)

// The figures of docs/development/performance.md are a recorded run's, which a test cannot repeat. But every command that it names is one: flags and their
// values are taken, benchmarks and make's targets exist.
func TestPerformanceCommands(t *testing.T) {
	text, err := os.ReadFile("../docs/development/performance.md")
	require.NoError(t, err)
	commands := regexp.MustCompile("`optratio ([^`]+)`").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(commands), 5)
	for _, c := range commands {
		root := newRoot(command.Streams{})
		found, rest, err := root.Find(strings.Fields(c[1]))
		require.NoError(t, err, c[1])
		assert.NoError(t, found.ParseFlags(rest), c[1])
		assert.Empty(t, found.Flags().Args(), c[1])
		assert.NoError(t, command.RefuseEmpty(found, nil), c[1])
	}

	makefile, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	var benchmarks []string
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			source, err := os.ReadFile(path)
			for _, m := range regexp.MustCompile(`(?m)^func Benchmark(\w+)\(`).FindAllStringSubmatch(string(source), -1) {
				benchmarks = append(benchmarks, m[1])
			}
			return err
		}
		return err
	}))
	made := regexp.MustCompile("(?m)(?:`|^    )make (\\w+)(?: BENCH='?([\\w|]+))?").FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, made)
	for _, m := range made {
		assert.Contains(t, string(makefile), "\n"+m[1]+":", "make %s", m[1])
		for name := range strings.SplitSeq(m[2], "|") {
			assert.True(t, name == "" || contained(benchmarks, name), "no benchmark has the name of %s", name)
		}
	}
	for _, m := range regexp.MustCompile("`Benchmark(\\w+)`").FindAllStringSubmatch(string(text), -1) {
		assert.Contains(t, benchmarks, m[1])
	}
}

func contained(names []string, part string) bool {
	for _, name := range names {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
