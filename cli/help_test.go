package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
)

// The help of the program, which it prints when it is called alone, has every command once, in a group, and no flag of the main job.
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
	_, itself, _ := strings.Cut(help, "\nThe program itself:\n")
	assert.Regexp(t, `^  completion .*\n  help .*\n\n`, itself, "every other command has a group")
	assert.Regexp(t, `(?s)\nAnswer:\n  ratio .*\n\nYour mechanism:\n  verify .*\n\nTrust:\n  check `, help)
}

// The help of ratio has every flag once, those of the question first.
func TestHelpOfRatioHasSections(t *testing.T) {
	code, help, errs := programs["optratio"].Quietly("ratio", "--help")
	require.Zero(t, code, errs)
	flags := help[strings.Index(help, "\nThe question:"):]
	newRatio(command.Streams{}).Flags().VisitAll(func(f *pflag.Flag) {
		assert.Len(t, regexp.MustCompile(`(?m)^ +(-., )?--`+f.Name+` `).FindAllString(flags, -1), 1, f.Name)
	})
	assert.Less(t, strings.Index(flags, "--mechanism"), strings.Index(flags, "--objective"))
	assert.NotContains(t, flags[:strings.Index(flags, "\nOthers:")], "--help")
	assert.Equal(t, 1, strings.Count(flags[strings.Index(flags, "\nOthers:"):], "--"), "only --help is in no section")
}

// A name that is not known is answered with the nearest one that is.
func TestUnknownNamesAreAnsweredWithTheNearest(t *testing.T) {
	for line, near := range map[string]string{
		"ratio -n 2 -k 1 --eps 1 --mechanism geopair":      "geo-pair",
		"audit --pmf-file x --eps 1 --against rnm-laplac":  "rnm-laplace",
		"verify -n 2 -k 1 --eps 1 --property symmetric":    "symmetry",
		"verify -n 2 -k 1 --eps 1 --property dp,monotonic": "monotone",
		"ratio -n 2 -k 1 --eps 1 --loss squared":           "square",
		"ratio -n 2 -k 1 --eps 1 --prior geometrical:1/2":  "geometric",
		"ratio -n 2 -k 1 --eps 1 --method lumpd":           "lumped",
		"ratio -n 2 -k 1 --eps 1 --solver embeded":         "embedded",
		"ratio -n 2 -k 1 --eps 1 --constraints monotonic":  "monotone",
		"verfy":                 "verify",
		"ratio --mechanisms pf": "--mechanism",
		"evaluate --task meadian --eps 1 --histogram ../go.mod": "median",
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
