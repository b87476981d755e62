package cli

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestResultsHaveAStatus reads the second column of every table.
func TestResultsHaveAStatus(t *testing.T) {
	text, err := os.ReadFile("../research/docs/results.md")
	require.NoError(t, err)
	rows := 0
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.Contains(line, "---") || strings.Contains(line, "| statement |") {
			continue
		}
		rows++
		assert.Regexp(t, `proved|certified|conjectured|refuted`, cells[2], line)
	}
	assert.Greater(t, rows, 20)
}

// TestLinksOfDocuments: every link to a file leads to one.
func TestLinksOfDocuments(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)`)
	documents, links := 0, 0
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && strings.HasPrefix(entry.Name(), ".git") {
			return cmp.Or(err, filepath.SkipDir)
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		documents++
		text, err := os.ReadFile(path)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if target := m[1]; !strings.Contains(target, "://") {
				links++
				_, err := os.Stat(filepath.Join(filepath.Dir(path), target))
				assert.NoError(t, err, path)
			}
		}
		return err
	}))
	assert.Greater(t, documents, 20)
	assert.Greater(t, links, 50)
}
