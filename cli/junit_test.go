package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
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
	return suites.Suite, doc, code
}

func TestJUnit(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "odd.sh") // its error has characters that XML must escape or cannot hold
	require.NoError(t, os.WriteFile(odd, []byte(`while read -r q; do printf '{"error":"<a> & \\"b\\" ]]> \\u0001 é"}\n'; done`), 0o644))
	for name, c := range map[string]struct {
		args []string
		code int
		want map[string]string // what the failure, or the skipped case, says
	}{
		"all proved":             {[]string{"verify", "--mechanism", "pf", "-n", "3", "-k", "2", "--exp-eps", "2"}, command.Done, nil},
		"violated":               {[]string{"verify", "--mechanism", "krr", "-n", "3", "-k", "2", "--exp-eps", "2", "--property", "dp,bounded-range,dominates-em"}, command.Violated, map[string]string{"dominates-em": "Pr[error >= "}},
		"program":                {[]string{"audit", "--pmf-exec", `while read -r q; do echo '{"pmf":["1/2","1/4","1/4"]}'; done`, "--eps", "1", "-n", "3", "-k", "1", "--property", "dp,symmetry"}, command.Violated, map[string]string{"symmetry": "scores (0, 0"}},
		"escaped":                {[]string{"audit", "--pmf-exec", "sh " + odd, "--eps", "1", "-n", "2", "-k", "1", "--property", "dp"}, command.Violated, map[string]string{"dp": "undecided", "answers": `<a> & \"b\" ]]> \x01 é`}},
		"sampler, nothing found": {[]string{"audit", "--sample-exec", `while read -r q; do s=${q##*:}; s=${s%?}; echo "{\"counts\":[$((s/2)),$((s-s/2))]}"; done`, "--eps", "1", "-n", "2", "-k", "1", "--budget", "2000"}, command.Done, map[string]string{"dp": "undecided"}},
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
