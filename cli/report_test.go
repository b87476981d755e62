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
		{"verify --mechanism pf -n 2 -k 2 --eps 1", "Yes: it is 1-DP on what was examined", 0},
		{"audit --pmf-file " + table + " --shifted --exp-eps 3/2 --property dp", "No: it is not ε-DP at ε = 0.405465…", 1},
		{"stopping -n 5 --exp-eps 3/2 --lp", "The best private rule takes the best candidate with probability ", 0},
	} {
		words := strings.Fields(c.line)
		path := filepath.Join(t.TempDir(), "page.html")
		code, said, errs := quietly(append([]string{"report"}, append(words, "-o", path)...)...)
		require.Equal(t, c.code, code, "%s: %s", c.line, errs)
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, said, c.word)
		assert.Contains(t, string(page), c.word)

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

		from := filepath.Join(t.TempDir(), "result.json")
		require.NoError(t, os.WriteFile(from, []byte(document), 0o600))
		code, said, errs = quietly("report", "--from", from, "-o", path)
		assert.Zero(t, code, errs)
		assert.Contains(t, said, c.word)
	}
}

// TestReportChecksACertificate: with --from and --cert the page says that the certificate proves its optimum, and no page is drawn where it does not.
func TestReportChecksACertificate(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, text string) string {
		require.NoError(t, os.WriteFile(at(name), []byte(text), 0o600))
		return at(name)
	}
	for _, line := range []string{
		"-n 3 -k 3 --eps 0.3", "-n 3 -k 2 --exp-eps 3/2 --objective box", "-n 2 -k 2 --eps 1 --objective minimax --step delta", "-n 3 -k 2 --exp-eps 2 --delta 1/100",
		"-n 3 -k 2 --exp-eps 2 --prior geometric:1/2 --loss square",
	} {
		code, document, errs := quietly(append([]string{"ratio", "--json", "--method", "lp", "--cert", at("a.cert")}, strings.Fields(line)...)...)
		require.Zero(t, code, errs)
		code, _, errs = quietly("report", "--from", write("a.json", document), "--cert", at("a.cert"), "-o", at("page.html"))
		require.Zero(t, code, "%s: %s", line, errs)
		page, err := os.ReadFile(at("page.html"))
		require.NoError(t, err)
		assert.Contains(t, string(page), "was checked now: it is valid")
		require.NoError(t, os.Remove(at("page.html")))

		certificate, err := os.ReadFile(at("a.cert"))
		require.NoError(t, err)
		other := strings.NewReplacer(`"k": 2`, `"k": 4`, `"k": 3`, `"k": 4`).Replace(document)
		wrong := regexp.MustCompile(`(?s)"optimum": \{[^}]*\}`).ReplaceAllString(document, `"optimum": {"lower": "0.0625", "upper": "0.0625", "exact": "1/16"}`)
		require.NotEqual(t, document, wrong, line)
		for _, c := range []struct {
			document, certificate, part string
			code                        int
		}{
			{other, string(certificate), "another question", command.Usage},
			{wrong, string(certificate), "which is not the document's", command.Violated},
			{document, strings.Replace(string(certificate), "claim optimum 0.", "claim optimum 0.9", 1), "invalid", command.Violated},
			{document, "no certificate", "--cert", command.Usage},
		} {
			if c.certificate == string(certificate) && c.code == command.Violated && strings.Contains(c.part, "invalid") {
				continue // its claim is a fraction
			}
			code, _, errs := quietly("report", "--from", write("b.json", c.document), "--cert", write("b.cert", c.certificate), "-o", at("page.html"))
			assert.Equal(t, c.code, code, "%s: %s", line, errs)
			assert.Contains(t, errs, c.part)
			_, err := os.Stat(at("page.html"))
			assert.ErrorIs(t, err, os.ErrNotExist)
		}
	}
}

// TestReportHasTheCurveOfTheCommand compares the table behind a curve with what the command on the page prints.
func TestReportHasTheCurveOfTheCommand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	code, _, errs := quietly("report", "-n", "3", "-k", "2", "--eps", "0.3", "-o", path)
	require.Zero(t, code, errs)
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	line := html.UnescapeString(regexp.MustCompile(`<code>optratio (ratio [^<]*,[^<]*--eps[^<]*)</code>`).FindStringSubmatch(string(page))[1])
	code, out, _ := quietly(append(strings.Fields(line), "--json")...)
	require.Zero(t, code)
	var docs []document.Ratio
	require.NoError(t, json.Unmarshal([]byte(out), &docs))
	require.Len(t, docs, 24)
	for _, d := range docs {
		for _, m := range d.Mechanisms {
			assert.Contains(t, string(page), "<td>"+m.Ratio.String()+"</td>")
		}
	}
	assert.Contains(t, string(page), "SHA-256", "a small ratio has its certificate")
}

// TestReportHasItsOwnCertificate: a certificate that was there before the job is none of the page's.
func TestReportHasItsOwnCertificate(t *testing.T) {
	folder := t.TempDir()
	cert, path := filepath.Join(folder, "a.cert"), filepath.Join(folder, "page.html")
	for _, mechanism := range []string{"krr", "pf"} { // of which the first is violated
		code, _, errs := quietly("report", "verify", "--mechanism", mechanism, "-n", "3", "-k", "2", "--exp-eps", "2", "--property", "dominates-em", "--cert", cert, "-o", path)
		require.Equal(t, mechanism == "krr", code == command.Violated, errs)
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.FileExists(t, cert)
		assert.Equal(t, mechanism == "krr", strings.Contains(string(page), "SHA-256"), mechanism)
	}
}

// TestReportUnits: errors are in steps of 2Δ, with monotonic scores of Δ, and score vectors are multiples of the step that was asked for.
func TestReportUnits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	for line, want := range map[string]string{
		"--eps 1": "steps of 2Δ; multiples of 2Δ", "--eps 1 --step delta": "steps of 2Δ; multiples of Δ", "--eps 1 --step 2delta/3": "steps of 2Δ; multiples of 2Δ/3",
		"--eps 1 --monotonic-scores": "steps of Δ; multiples of Δ", "--rho 0.1": "steps of 2Δ; lattice of step 2Δ", "--rho 0.1 --monotonic-scores": "steps of Δ; lattice of step Δ",
		"--eps 1 --loss top1": "; multiples of 2Δ",
	} {
		code, _, errs := quietly(append(strings.Fields("report -n 3 -k 2 -o "+path), strings.Fields(line)...)...)
		require.Zero(t, code, errs)
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		for i, kind := range []string{`(steps of 2?Δ)`, `((?:multiples of|lattice of step) 2?(?:Δ|delta)(?:/\d+)?)`} {
			wanted := strings.Split(want, "; ")[i]
			for _, found := range regexp.MustCompile(kind).FindAllStringSubmatch(html.UnescapeString(string(page)), -1) {
				assert.Equal(t, strings.TrimSpace(wanted), found[1], line)
				wanted += " "
			}
			assert.True(t, wanted == "" || strings.HasSuffix(wanted, " "), "%s: no %s", line, wanted)
		}
	}
}

// TestReportRefusals gives what no page can be made of.
func TestReportRefusals(t *testing.T) {
	folder := t.TempDir()
	page := filepath.Join(folder, "page.html")
	bad := filepath.Join(folder, "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte(`{"orbits":`), 0o600))
	for _, c := range []struct{ line, part string }{
		{"report -n 3 -k 2 --eps 1", "-o is missing"},
		{"report -n 3 -k 2 --eps 1,2 -o " + page, "a report is about one ε"},
		{"report --from " + bad + " -o " + page, "--from"},
		{"report --from " + bad + " -n 3 -o " + page, "-n says nothing"},
		{"report --from " + filepath.Join(folder, "none") + " -o " + page, "cannot be read"},
		{"report -n 3 -k 2 --eps 1 -o " + folder, "is a folder"},
		{"report verify --mechanism none -n 3 -k 2 --eps 1 -o " + page, "none"},
		{"report -k 2 --eps 1 -o " + page, "-n"},
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
