package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
)

// judged runs a command with --junit and --json and returns both documents.
func judged(t *testing.T, args ...string) (suite junitSuite, doc struct {
	Mechanism  string
	Properties []struct{ Name, Verdict string }
}, code int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "verdicts.xml")
	var out, problems bytes.Buffer
	code = Run(context.Background(), append(args, "--json", "--junit", path), strings.NewReader(""), &out, &problems)
	require.NoError(t, json.Unmarshal(out.Bytes(), &doc), problems.String())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var suites junitSuites
	require.NoError(t, xml.Unmarshal(text, &suites), string(text))
	return suites.Suites[0], doc, code
}

func TestJUnit(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "odd.sh") // its error has characters that XML must escape or cannot hold
	require.NoError(t, os.WriteFile(odd, []byte(`while read -r q; do printf '{"error":"<a> & \\"b\\" ]]> \\u0001 é"}\n'; done`), 0o644))
	for name, c := range map[string]struct {
		args []string
		code int
		want map[string]string // what the failure, or the skipped case, says
	}{
		"all proved":             {[]string{"audit", "--pmf-file", "../testdata/em.jsonl", "--neighbors", "shifted", "--exp-eps", "2", "--property", "dp,sum"}, command.Done, nil},
		"violated":               {[]string{"audit", "--pmf-file", "../testdata/em.jsonl", "--neighbors", "shifted", "--exp-eps", "3/2", "--property", "dp,bounded-range"}, command.Violated, map[string]string{"dp": "scores ", "bounded-range": "scores "}},
		"program":                {[]string{"audit", "--pmf-exec", `while read -r q; do echo '{"pmf":["1/2","1/4","1/4"]}'; done`, "--eps", "1", "-n", "3", "-k", "1", "--property", "dp,symmetry"}, command.Violated, map[string]string{"symmetry": "scores (0, 0"}},
		"escaped":                {[]string{"audit", "--pmf-exec", "sh " + odd, "--eps", "1", "-n", "2", "-k", "1", "--property", "dp"}, command.Violated, map[string]string{"dp": "undecided", "answers": `<a> & \"b\" ]]> \x01 é`}},
		"sampler, nothing found": {[]string{"audit", "--sample-exec", `while read -r q; do s=${q##*:}; s=${s%?}; echo "{\"counts\":[$s,0]}"; done`, "--eps", "1", "-n", "2", "-k", "1", "--budget", "2000"}, command.Done, map[string]string{"dp": "undecided"}},
	} {
		t.Run(name, func(t *testing.T) {
			suite, doc, code := judged(t, c.args...)
			if c.code >= 0 {
				require.Equal(t, c.code, code)
			}
			require.Len(t, suite.Cases, len(doc.Properties))
			failures, skipped := 0, 0
			for i, p := range doc.Properties {
				got := suite.Cases[i]
				require.Equal(t, p.Name, got.Name)
				require.Equal(t, doc.Mechanism, got.Class)
				require.Equal(t, p.Verdict == "violated", got.Failure != nil, p.Name)
				require.Equal(t, p.Verdict == "undecided", got.Skipped != nil, p.Name)
				if got.Failure != nil {
					failures++
					require.NotEmpty(t, c.want[p.Name])
					assert.Contains(t, got.Failure.Message, c.want[p.Name])
					assert.Contains(t, got.Failure.Text, p.Name+": violated")
					assert.NotRegexp(t, `\d\.\d{9}`, got.Failure.Text) // numbers have the digits of the printed ones
				}
				if got.Skipped != nil {
					skipped++
					assert.Contains(t, got.Skipped.Message, c.want[p.Name])
				}
			}
			require.Equal(t, []int{len(suite.Cases), failures, skipped, 0}, []int{suite.Tests, suite.Failures, suite.Skipped, suite.Errors})
			require.Equal(t, code == command.Violated, failures > 0)
		})
	}
}

// A file that cannot be written is known before any work: the program is not started.
func TestJUnitCannotBeWritten(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	var out, problems bytes.Buffer
	code := Run(context.Background(), []string{"audit", "--eps", "1", "--pmf-exec", "touch " + ran, "--junit", filepath.Join(t.TempDir(), "no", "file.xml")}, strings.NewReader(""), &out, &problems)
	assert.Equal(t, command.Usage, code)
	assert.Contains(t, problems.String(), "--junit ")
	assert.Equal(t, 1, strings.Count(problems.String(), "\n"))
	assert.NoFileExists(t, ran)
}

// The three formats say the same: Markdown has every property and each witness; annotations of GitHub Actions have a line for each property that was
// asked about and fails, and the page of the run gets the Markdown.
func TestFormats(t *testing.T) {
	summary := filepath.Join(t.TempDir(), "summary.md")
	require.NoError(t, os.WriteFile(summary, []byte("before\n"), 0o644))
	t.Setenv(summaryVariable, summary)
	run := func(args ...string) (string, int) {
		var out, problems bytes.Buffer
		code := Run(context.Background(), args, strings.NewReader(""), &out, &problems)
		return out.String(), code
	}
	for name, c := range map[string]struct {
		args           []string
		code           int
		errors, others []string // of annotations
	}{
		"proved":   {[]string{"audit", "--pmf-file", "../testdata/em.jsonl", "--neighbors", "shifted", "--exp-eps", "2"}, command.Done, nil, nil},
		"fact":     {[]string{"audit", "--pmf-file", "../testdata/em.jsonl", "--neighbors", "shifted", "--exp-eps", "2", "--property", "sum,dp"}, command.Done, nil, nil},
		"violated": {[]string{"audit", "--pmf-file", "../testdata/em.jsonl", "--neighbors", "shifted", "--exp-eps", "3/2", "--property", "dp"}, command.Violated, []string{"dp"}, nil},
		"program":  {[]string{"audit", "--pmf-exec", `while read -r q; do echo '{"error":"a|b 100%"}'; done`, "--eps", "1", "-n", "2", "-k", "1", "--property", "dp,symmetry"}, command.Violated, []string{"answers"}, []string{"warning dp", "warning symmetry"}},
		"sampler":  {[]string{"audit", "--sample-exec", `while read -r q; do s=${q##*:}; s=${s%?}; echo "{\"counts\":[$s,0]}"; done`, "--eps", "1", "-n", "2", "-k", "1", "--budget", "2000", "--seed", "1"}, command.Done, nil, []string{"notice dp", "notice independence"}},
	} {
		t.Run(name, func(t *testing.T) {
			text, code := run(c.args...)
			require.Equal(t, c.code, code)
			markdown, code := run(append(c.args, "--format", "markdown")...)
			require.Equal(t, c.code, code)
			annotated, code := run(append(c.args, "--format", "github")...)
			require.Equal(t, c.code, code)

			assert.True(t, strings.HasSuffix(annotated, text), annotated)
			var errors, others []string
			for line := range strings.Lines(strings.TrimSuffix(annotated, text)) {
				if rest, ok := strings.CutPrefix(line, "::error title="); ok {
					name, _, _ := strings.Cut(rest, " ")
					errors = append(errors, name)
				} else {
					require.True(t, strings.HasPrefix(line, "::warning title=") || strings.HasPrefix(line, "::notice title="), line)
					others = append(others, strings.TrimPrefix(strings.Split(line, " title=")[0], "::")+" "+strings.Fields(strings.SplitAfter(line, "title=")[1])[0])
				}
				assert.NotContains(t, line, "100% ")
			}
			assert.ElementsMatch(t, c.errors, errors)
			assert.ElementsMatch(t, c.others, others)

			written, err := os.ReadFile(summary)
			require.NoError(t, err)
			assert.True(t, strings.HasSuffix(string(written), markdown) && strings.HasPrefix(string(written), "before\n"), string(written))
			_, doc, _ := judged(t, c.args...)
			for _, p := range doc.Properties {
				assert.Contains(t, markdown, "| "+p.Name+" | ")
			}
			for _, p := range c.errors {
				assert.Contains(t, markdown, "| "+p+" | **violated** |")
			}
			for line := range strings.Lines(markdown) { // no text of the subject ends a cell
				if strings.HasPrefix(line, "| ") {
					assert.Equal(t, 5, strings.Count(line, "|")-strings.Count(line, `\|`), line)
				}
			}
		})
	}
}

// TestNotSignificant: a sampler that keeps its ε shows where it was closest, from how many draws, and that this refutes nothing.
func TestNotSignificant(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the sampler is in Python")
	}
	coin := filepath.Join(t.TempDir(), "coin.py")
	require.NoError(t, os.WriteFile(coin, []byte(`import json, math, random, sys
random.seed(1)
for line in sys.stdin:
    q = json.loads(line)
    p = 1 / (1 + math.exp((q["scores"][1] - q["scores"][0]) / 2))
    n = sum(random.random() < p for _ in range(q["samples"]))
    print(json.dumps({"counts": [n, q["samples"] - n]}), flush=True)
`), 0o600))
	var out, problems bytes.Buffer
	code := Run(context.Background(), []string{"audit", "--sample-exec", "python3 " + coin, "--eps", "1", "-n", "2", "-k", "1", "--budget", "20000"}, strings.NewReader(""), &out, &problems)
	require.Equal(t, command.Done, code, problems.String())
	assert.Contains(t, out.String(), "of the events compared at neighbors none differs significantly more than is claimed")
	assert.Regexp(t, `dp is closest to failing at .*, by \d+ of \d+ samples and \d+ of \d+ samples, which is not significantly more than is claimed\n`, out.String())
}
