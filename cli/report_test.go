package cli

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/command/commandtest"
	"optratio/internal/document"
)

// quietly runs a command line and returns its code and streams.
func quietly(args ...string) (code int, out, errs string) {
	return commandtest.Run(Run).Quietly(args...)
}

// TestReportsAreTheCommandsAnswers draws a page of every kind from flags and from the document that the command prints: the document in
// the page is the command's, digit for digit, the exit code is the command's too, and the command line on the page is the one that was given.
func TestReportsAreTheCommandsAnswers(t *testing.T) {
	table, err := filepath.Abs("../testdata/em.jsonl")
	require.NoError(t, err)
	for _, c := range []struct {
		line, word string
		code       int
	}{
		{"ratio -n 3 -k 3 --exp-eps 3/2", "pf has ", 0},
		{"ratio -n 3 -k 3 --exp-eps 5/2", "pf is optimal: no such mechanism has a smaller mean expected error", 0},
		{"ratio -n 3 -k 2 --rho 0.1 --mechanism pf,em", "em: a mean expected error of ", 0},
		{"ratio -n 3 -k 2 --exp-eps 3/2 --delta 1/10", "pf has ", 0},
		{"verify --mechanism em -n 2 -k 1 --eps 1 --delta 0.1 --property approximate-dp", "Yes: it is (ε,δ)-DP at ε = 1 and δ = 0.1", 0},
		{"verify --mechanism rnm-laplace -n 2 -k 2 --eps 1", "Yes: it is 1-DP on what was examined", 0},
		{"verify --mechanism pf -n 2 -k 2 --eps 1 --profile", "Yes: it is 1-DP on what was examined", 0},
		{"audit --pmf-file " + table + " --neighbors shifted --exp-eps 3/2 --property dp", "No: it is not ε-DP at ε = 0.405465…", 1},
		{"stopping -n 5 --exp-eps 3/2 --lp", "The best private rule takes the best with probability ", 0},
		{"optimum --preset count:2 --exp-eps 2", "The least mean loss that is possible is 5/9", 0},
		{"heterogeneous --sensitivities 1,2 --grid 0:2 --exp-eps 2 --mechanism pf-pair,krr", "The least mean expected error that is possible on the grid is ", 0},
	} {
		words := strings.Fields(c.line)
		path := filepath.Join(t.TempDir(), "page.html")
		code, said, errs := quietly(append(words, "--html", path)...)
		require.Equal(t, c.code, code, "%s: %s", c.line, errs)
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(page), c.word)
		_, table, _ := quietly(words...)
		assert.Equal(t, table, said)
		inPage(t, string(page), said)

		code, document, _ := quietly(append(words, "--json")...)
		assert.Equal(t, c.code, code)
		inside := html.UnescapeString(regexp.MustCompile(`(?s)<pre>(\{.*?)</pre>`).FindStringSubmatch(string(page))[1])
		same := func(text string) string {
			return commandtest.Unstable.ReplaceAllString(strings.TrimSpace(text), "${1}0")
		}
		assert.Equal(t, same(document), same(inside), c.line)

		given := html.UnescapeString(regexp.MustCompile(`<code>optratio (.*)</code>`).FindAllStringSubmatch(string(page), -1)[strings.Count(string(page), "<code>optratio ")-1][1])
		_, again, _ := quietly(append(strings.Fields(given), "--json")...)
		assert.Equal(t, same(document), same(again), given)
	}
}

// inPage asserts that a page says what a command has printed: each of its lines and cells, but for digits, capitals, powers and the word "checked".
func inPage(t *testing.T, page, text string) {
	plain := strings.NewReplacer("^", "", "−", "-").Replace(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, "")))
	for line := range strings.Lines(text) {
		for _, cell := range regexp.MustCompile(` {3,}`).Split(strings.TrimSpace(line), -1) {
			cell = strings.ReplaceAll(strings.TrimSuffix(cell, " checked"), "^", "")
			for _, part := range strings.Split(cell, "…") {
				_, known := map[string]bool{"dp": true, "approximate-dp": true, "symmetry": true, "shift": true, "monotone": true, "sum": true, "dominates-em": true, "answers": true}[part]
				assert.True(t, known || strings.Contains(plain, part[min(1, len(part)):]), "%q of %q", part, line)
			}
		}
	}
}

// TestReportHasTheCurveOfTheCommand compares the table behind a curve with what the command on the page prints.
func TestReportHasTheCurveOfTheCommand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	code, _, errs := quietly("-n", "3", "-k", "2", "--eps", "0.3", "--html", path)
	require.Zero(t, code, errs)
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	line := html.UnescapeString(regexp.MustCompile(`<code>optratio (ratio [^<]*--eps [^<]*,[^<]*)</code>`).FindStringSubmatch(string(page))[1])
	code, out, _ := quietly(append(strings.Fields(line), "--json")...)
	require.Zero(t, code)
	var docs []document.Ratio
	require.NoError(t, json.Unmarshal([]byte(out), &docs))
	require.Len(t, docs, 24)
	for _, d := range docs {
		for _, m := range d.Mechanisms {
			assert.Contains(t, string(page), ">"+m.Ratio.String()+"</td>")
		}
	}
	assert.Contains(t, string(page), "SHA-256", "a small ratio has its certificate")
}

// TestReportHasItsOwnCertificate: a certificate that was there before the job is none of the page's.
func TestReportHasItsOwnCertificate(t *testing.T) {
	folder := t.TempDir()
	cert, path := filepath.Join(folder, "a.cert"), filepath.Join(folder, "page.html")
	for _, mechanism := range []string{"krr", "pf"} { // of which the first is violated
		code, _, errs := quietly("verify", "--mechanism", mechanism, "-n", "3", "-k", "2", "--exp-eps", "2", "--property", "dominates-em", "--cert", cert, "--html", path)
		require.Equal(t, mechanism == "krr", code == command.Violated, errs)
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.FileExists(t, cert)
		assert.Equal(t, mechanism == "krr", strings.Contains(string(page), "SHA-256"), mechanism)
	}
}

// TestReportUnits: errors are in steps of 2Δ, with monotonic scores of Δ, and the page says how far apart scores are.
func TestReportUnits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	for line, want := range map[string]string{
		"--eps 1": "steps of 2Δ", "--eps 1 --step delta": "steps of 2Δ; scores Δ apart", "--eps 1 --step 2delta/3": "steps of 2Δ; scores 2Δ/3 apart",
		"--eps 1 --monotonic-scores": "steps of Δ; scores Δ apart", "--rho 0.1": "steps of 2Δ", "--rho 0.1 --monotonic-scores": "steps of Δ", "--eps 1 --loss top1": "steps of 2Δ",
	} {
		code, _, errs := quietly(append(strings.Fields("ratio -n 3 -k 2 --html "+path), strings.Fields(line)...)...)
		require.Zero(t, code, errs)
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		steps, apart, _ := strings.Cut(want, "; ")
		for _, found := range regexp.MustCompile(`steps of 2?Δ`).FindAllString(string(page), -1) {
			assert.Equal(t, steps, found, line)
		}
		assert.Equal(t, apart, regexp.MustCompile(`scores 2?Δ(/\d+)? apart`).FindString(string(page)), line)
	}
}

// TestReportRefusals gives what no page can be made of.
func TestReportRefusals(t *testing.T) {
	folder := t.TempDir()
	page := filepath.Join(folder, "page.html")
	for _, c := range []struct{ line, part string }{
		{"ratio -n 3 -k 2 --eps 1,2 --html " + page, "a page is about one ε"},
		{"ratio -n 3 -k 2 --eps 1 --html " + folder, "is a folder"},
		{"verify --mechanism none -n 3 -k 2 --eps 1 --html " + page, "none"},
		{"ratio -k 2 --eps 1 --html " + page, "-n"},
		{"report -n 3 -k 2 --eps 1 -o " + page, "--html FILE"},
	} {
		code, out, errs := quietly(strings.Fields(c.line)...)
		assert.Equal(t, command.Usage, code, c.line)
		assert.Empty(t, out)
		assert.Contains(t, errs, c.part, c.line)
		assert.Equal(t, 1, strings.Count(errs, "\n"), c.line)
	}
	_, err := os.Stat(page)
	assert.ErrorIs(t, err, os.ErrNotExist, "nothing is written where nothing is answered")
}
