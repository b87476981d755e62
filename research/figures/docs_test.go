package figures

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the tables of research/docs/figures.md and research/docs/zcdp.md")

// TestDocument: the tables of research/docs/figures.md are those of the specs, and the pictures it shows are small and there.
func TestDocument(t *testing.T) {
	const document, begin, end = "../docs/figures.md", "<!-- tables -->\n", "<!-- end of tables -->"
	var b strings.Builder
	part := ""
	for _, s := range Specs() {
		family, _, _ := strings.Cut(s.Name, "-")
		if s.Source == "" {
			family = ""
		}
		if part != family || b.Len() == 0 {
			part = family
			head := map[string]string{"": "The project's own", "pf": "McKenna & Sheldon, Permute-and-Flip", "het": "Antonova et al., Private Selection with Heterogeneous Sensitivities", "stopping": "Grining, Klonowski & Sulkowska, What Do Our Choices Say About Our Preferences?"}[family]
			fmt.Fprintf(&b, "\n### %s\n\n| name | shows |\n|---|---|\n", head)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", s.Name, s.Shows)
	}
	b.WriteString("\n### Figures that cannot be drawn again\n\n| name | why |\n|---|---|\n")
	for _, name := range slices.SortedFunc(maps.Keys(Impossible), func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, Impossible[name])
	}
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok)
	old, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	if *update {
		require.NoError(t, os.WriteFile(document, []byte(before+begin+b.String()+end+after), 0o644))
		return
	}
	assert.Equal(t, b.String(), old, "go test -C research ./figures -run TestDocument -update")

	pictures, err := os.ReadDir("../../docs/figures")
	require.NoError(t, err)
	total := int64(0)
	for _, p := range pictures {
		info, err := p.Info()
		require.NoError(t, err)
		total += info.Size()
		svg, err := os.ReadFile("../../docs/figures/" + p.Name())
		require.NoError(t, err)
		checkColours(t, svg)
		assert.Contains(t, string(text), "figures/"+p.Name())
		_, err = Lookup(strings.TrimSuffix(p.Name(), ".svg"))
		require.NoError(t, err)
	}
	assert.Positive(t, total)
	assert.Less(t, total, int64(300_000))
}
