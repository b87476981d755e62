package certificate

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatToRead: the table of the package comment names every file but doc.go and vipr.go, and has its numbers of lines to within 50.
func TestWhatToRead(t *testing.T) {
	const shared = "../../internal/evidence"
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^//\t(\S.*?)  +([a-z ]+?)  +(\d+)$`).FindAllStringSubmatch(string(text), -1)
	require.Len(t, rows, 12)
	named := map[string]bool{"doc": true, "vipr": true}
	base := 0
	for i, row := range rows {
		lines := base
		for _, name := range strings.Fields(row[2]) {
			named[name] = true
			file, err := os.ReadFile(name + ".go")
			if err != nil {
				file, err = os.ReadFile(filepath.Join(shared, name+".go"))
			}
			require.NoError(t, err)
			lines += bytes.Count(file, []byte("\n"))
		}
		if i == 0 {
			base = lines
		}
		stated, err := strconv.Atoi(row[3])
		require.NoError(t, err)
		assert.InDelta(t, lines, stated, 50, row[1])
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	others, err := filepath.Glob(shared + "/*.go")
	require.NoError(t, err)
	for _, f := range append(files, others...) {
		if !strings.HasSuffix(f, "_test.go") {
			assert.True(t, named[strings.TrimSuffix(filepath.Base(f), ".go")], f)
		}
	}
}
