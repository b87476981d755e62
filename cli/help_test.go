package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
)

// The help of the program, which it prints when it is called alone, has every command once: six first, then the others.
func TestHelpShowsGroups(t *testing.T) {
	code, alone, errs := programs["optratio"].Quietly()
	require.Zero(t, code, errs)
	_, help, _ := programs["optratio"].Quietly("--help")
	assert.Equal(t, alone, help)
	for _, c := range newRoot(command.Streams{}).Commands() {
		lines := regexp.MustCompile(`(?m)^  `+c.Name()+` .*$`).FindAllString(help, -1)
		assert.Len(t, lines, map[bool]int{true: 0, false: 1}[c.Hidden], c.Name())
	}
	assert.NotContains(t, help, "--constraints")
	assert.Regexp(t, `(?s)\nCommands:\n  audit [^\n]*\n  ratio [^\n]*\n  recommend [^\n]*\n  optimum [^\n]*\n  verify [^\n]*\n  check [^\n]*\n\nOther commands:\n`, help)
}

// mostFlags bounds the flags that the help of all commands lists.
const mostFlags = 240

// The help of a command is a sentence, examples, and every flag once, in groups.
func TestHelpOfCommands(t *testing.T) {
	flags, details, listed := 0, []string{}, map[string]bool{} // flags that the details of some command name, and those that some command lists
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			visit(below)
		}
		if !c.HasParent() || c.Hidden || c.Name() == "help" || strings.HasPrefix(c.CommandPath(), "optratio completion") {
			return
		}
		code, help, errs := programs["optratio"].Quietly(append(strings.Fields(c.CommandPath())[1:], "--help")...)
		require.Zero(t, code, errs)
		assert.True(t, strings.HasPrefix(help, c.Short+".\n\nUsage:\n"), c.Name())
		assert.NotEmpty(t, c.Example, c.Name())
		assert.Less(t, strings.Index(help, "\nExamples:\n"), strings.Index(help, "\nOutput:\n"), c.Name())
		for line := range strings.SplitSeq(help, "\n") {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 120, line)
		}
		details = append(details, regexp.MustCompile(`--[a-z][a-z-]*`).FindAllString(c.Long, -1)...)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			listed["--"+f.Name] = listed["--"+f.Name] || !f.Hidden
			if f.Hidden {
				assert.NotContains(t, help, "--"+f.Name+" ")
				return
			}
			assert.Len(t, regexp.MustCompile(`(?m)^ +(-., )?--`+f.Name+` `).FindAllString(help, -1), 1, "%s --%s", c.Name(), f.Name)
			if f.Name != "help" {
				flags++
			}
		})
	}
	visit(newRoot(command.Streams{}))
	for _, name := range details {
		assert.True(t, listed[name], name)
	}
	assert.LessOrEqual(t, flags, mostFlags)
	assert.Greater(t, flags, mostFlags-20, "lower the bound")

	_, help, _ := programs["optratio"].Quietly("ratio", "--help")
	_, help, _ = strings.Cut(help, "python3 examples")
	at := -1
	for _, text := range []string{"\nThe question:\n", "-n, --n", "--mechanism", "--prior", "\nHow it is answered:\n", "--gap", "\nOutput:\n", "--json", "\nLimits:\n", "--time-limit"} {
		require.Greater(t, strings.Index(help, text), at, text)
		at = strings.Index(help, text)
	}
}

// A name that is not known is answered with the nearest one that is.
func TestUnknownNamesAreAnsweredWithTheNearest(t *testing.T) {
	for line, near := range map[string]string{
		"ratio -n 2 -k 1 --eps 1 --mechanism geopair":           "geo-pair",
		"ratio -n 2 -k 1 --eps 1 --mechanism exponental":        "em, exponential mechanism",
		"pmf --scores 0 --eps 1 --mechanism permute_flip":       "pf, permute-and-flip",
		"mechanisms laplase":                                    "rnm-laplace, report noisy max, Laplace noise of scale 2Δ/ε",
		"audit --pmf-file x --eps 1 --against rnm-laplac":       "rnm-laplace",
		"verify --mechanism pf --eps 1 --property symmetric":    "symmetry",
		"verify --mechanism pf --eps 1 --property dp,monotonic": "monotone",
		"ratio -n 2 -k 1 --eps 1 --loss squared":                "square",
		"ratio -n 2 -k 1 --eps 1 --prior geometrical:1/2":       "geometric",
		"ratio -n 2 -k 1 --eps 1 --method lumpd":                "lumped",
		"ratio -n 2 -k 1 --eps 1 --solver embeded":              "embedded",
		"ratio -n 2 -k 1 --eps 1 --constraints monotonic":       "monotone",
		"verfy":                 "verify",
		"ratio --mechanisms pf": "--mechanism",
		"audit --pmf-exec x --eps 1 --neighbors linff":                                                    "linf",
		"audit --pmf-exec x --eps 1 --inputs ../testdata/tutorial/datasets.jsonl --neighbors remove-rows": "remove-row",
		"evaluate --task meadian --eps 1 --histogram ../go.mod":                                           "median",
	} {
		code, out, errs := programs["optratio"].Quietly(strings.Fields(line)...)
		assert.Equal(t, command.Usage, code, line)
		assert.Empty(t, out, line)
		assert.Contains(t, errs, "did you mean "+near+"?", line)
		assert.Equal(t, 1, strings.Count(errs, "\n"))
	}
	_, _, errs := programs["optratio"].Quietly("-n", "2", "-k", "1", "--eps", "1", "--loss", "squared")
	assert.Contains(t, errs, "give mean, square, top1, tail:T or a file")
}

// With --digits no number of a table has more digits, whether it is cut off or short by itself, and columns are straight.
func TestDigits(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, Run(t.Context(), strings.Fields("pmf --mechanism em --scores 0,-1000,-3 --eps 0.9 --digits 4"), nil, &out, &errs), errs.String())
	assert.Contains(t, out.String(), "0                    0       0.794")
	assert.Regexp(t, `1 +-1000 +\d\.\d{3}…e-196`, out.String())
	assert.NotRegexp(t, `\d\.0*[1-9]\d{4}`, out.String())
	for _, bad := range []string{"0", "13", "x"} {
		assert.Equal(t, command.Usage, Run(t.Context(), []string{"pmf", "--scores", "0", "--eps", "1", "--digits", bad}, nil, &out, &errs), bad)
	}
}
