package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/mechanisms"
)

// TestManualHasEveryCommandAndFlag writes the manual pages and looks for every flag of every command in its page.
func TestManualHasEveryCommandAndFlag(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "share", "man1")
	var out, errs bytes.Buffer
	require.Zero(t, Run(context.Background(), []string{"manual", folder}, nil, &out, &errs), errs.String())
	pages := 0
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Name() == "help" || c.Name() == "completion" || c.Hidden {
			return
		}
		pages++
		page, err := os.ReadFile(filepath.Join(folder, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		require.NoError(t, err)
		text := strings.ReplaceAll(string(page), `\-`, "-")
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				assert.True(t, strings.Contains(text, "--"+f.Name), "%s --%s", c.CommandPath(), f.Name)
			}
		})
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(newRoot(command.Streams{}))
	assert.Greater(t, pages, 20)

	// A line that begins with a dot or a quote would be a request.
	assert.Equal(t, "a\n\\&.b\n\\&'c\\e \\-d", roff("a\n.b\n'c\\ -d"))

	first, err := os.ReadFile(filepath.Join(folder, "optratio.1"))
	require.NoError(t, err)
	require.Zero(t, Run(context.Background(), []string{"manual", folder}, nil, &out, &errs))
	second, err := os.ReadFile(filepath.Join(folder, "optratio.1"))
	require.NoError(t, err)
	assert.Equal(t, first, second, "the same bytes whenever they are written")

	require.NoError(t, os.WriteFile(filepath.Join(folder, "file"), nil, 0o600))
	assert.Equal(t, command.Usage, Run(context.Background(), []string{"manual", filepath.Join(folder, "file", "below")}, nil, &out, &errs))
	assert.Equal(t, 1, strings.Count(errs.String(), "\n"))
}

// TestVersion compares the version with the wheel's, which reads it from the same place.
func TestVersion(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, Run(context.Background(), []string{"--version"}, nil, &out, &errs))
	assert.Regexp(t, `^optratio `+Version+` \((commit [0-9a-f]{12}( with changes)?( of [0-9-]{10})?|unknown commit); go1.*, .*/.*; with(out)? CLP\)\n$`, out.String())
}

// TestCompletion asks what the shells would ask.
func TestCompletion(t *testing.T) {
	complete := func(args ...string) []string {
		var out, errs bytes.Buffer
		require.Zero(t, Run(context.Background(), append([]string{"__complete"}, args...), nil, &out, &errs), errs.String())
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		return lines[:len(lines)-1] // the last one is the directive
	}
	assert.Equal(t, []string{"pf,em"}, complete("ratio", "--mechanism", "pf,em"))
	assert.Contains(t, complete("pmf", "--mechanism", ""), "lp-optimal")
	assert.Len(t, complete("verify", "--mechanism", ""), len(mechanisms.Names()))
	assert.Contains(t, complete("thres"), "threshold\tThe ε at which permute-and-flip becomes optimal on the lattice of step 2Δ")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var out, errs bytes.Buffer
		require.Zero(t, Run(context.Background(), []string{"completion", shell}, nil, &out, &errs))
		assert.Contains(t, out.String(), "optratio")
	}
	for _, args := range [][]string{{"completion"}, {"completion", "tcsh"}} {
		var out, errs bytes.Buffer
		assert.Equal(t, command.Usage, Run(context.Background(), args, nil, &out, &errs))
		assert.Equal(t, 1, strings.Count(errs.String(), "\n"))
	}
}
