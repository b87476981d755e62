package cli

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/mechanisms"
)

var manualFolder = flag.String("manual", "", "write the manual pages to this folder")

// TestManual writes the manual pages with cobra's generator, and looks for every flag and every word of a command in its page. With -manual FOLDER they are left there.
func TestManual(t *testing.T) {
	folder := cmp.Or(*manualFolder, t.TempDir())
	require.NoError(t, os.MkdirAll(folder, 0o777))
	date := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // the same commands make the same bytes
	root := newRoot(command.Streams{})
	root.DisableAutoGenTag = true
	require.NoError(t, doc.GenManTree(root, &doc.GenManHeader{Date: &date, Source: "optratio " + Version, Manual: "optratio manual"}, folder))
	roff := regexp.MustCompile(`\\f[BRI]|\\&|\n\.[a-zA-Z]+|\\`) // what is not text
	pages := 0
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if !c.IsAvailableCommand() {
			return
		}
		pages++
		page, err := os.ReadFile(filepath.Join(folder, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		require.NoError(t, err)
		text := roff.ReplaceAllString(string(page), "")
		words := strings.Fields(c.Long + " " + c.Example)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				words = append(append(words, "--"+f.Name), strings.Fields(f.Usage)...)
			}
		})
		for _, word := range words {
			// cobra's own text has headings
			assert.True(t, word == "####" || strings.Contains(text, word), "%s: %s", c.CommandPath(), word)
		}
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(root)
	assert.Greater(t, pages, 20)
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
	assert.Contains(t, complete("thres"), "threshold\tThe ε from which on permute-and-flip is optimal")
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
