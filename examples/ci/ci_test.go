// Package ci_test runs what continuous integration runs.
package ci_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAction runs the script of action.yml on a private mechanism, on one that forgets the factor 2 of the exponential mechanism, on a
// sampler, and on arguments that are none.
func TestAction(t *testing.T) {
	for _, program := range []string{"bash", "python3", "xargs"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program, "is not installed")
		}
	}
	folder := t.TempDir()
	program := filepath.Join(folder, "optratio")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/optratio").CombinedOutput()
	require.NoError(t, err, string(out))
	em, err := os.ReadFile("../audit/em.py")
	require.NoError(t, err)
	forgotten := strings.Replace(string(em), "(2 * q[", "(q[", 1)
	require.NotEqual(t, string(em), forgotten)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "my mechanism.py"), em, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "forgotten.py"), []byte(forgotten), 0o644))

	for name, c := range map[string]struct {
		command, arguments, undecided string
		code                          int
		verdict, printed, summary     string
	}{
		"private":           {"audit", `--pmf-exec "python3 'my mechanism.py'" --eps 1 -n 3 -k 2`, "", 0, "passed", "dp ", "| dp | proved |"},
		"not private":       {"audit", `--pmf-exec 'python3 forgotten.py' --eps 1 -n 3 -k 2`, "pass", 1, "violated", "::error title=dp of ", "| dp | **violated** |"},
		"undecided":         {"verify", "--mechanism pf -n 8 -k 6 --eps 1 --property dp --time-limit 1ns", "fail", 3, "undecided", "::warning title=dp of ", "| dp | **undecided** |"},
		"undecided, passes": {"verify", "--mechanism pf -n 8 -k 6 --eps 1 --property dp --time-limit 1ns", "pass", 0, "undecided", "::warning title=dp of ", "| dp | **undecided** |"},
		"verify":            {"verify", "--mechanism pf -n 3 -k 2 --eps 1", "", 0, "passed", "dp ", "| dp | proved |"},
		"bad argument":      {"verify", "--mechanism pf -n 3 -k 2 --eps one", "pass", 2, "refused", "--eps", ""},
		"open quote":        {"verify", "--mechanism 'pf", "", 2, "", "a quote is not closed", ""},
		"other command":     {"sweep", "-n 3", "", 2, "", "audit or verify", ""},
		"other word":        {"verify", "-n 3", "maybe", 2, "", "fail or pass", ""},
	} {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			summary, output := filepath.Join(temp, "summary.md"), filepath.Join(temp, "output")
			script, err := filepath.Abs("../../scripts/action")
			require.NoError(t, err)
			run := exec.CommandContext(t.Context(), script)
			run.Dir = folder
			run.Env = append(os.Environ(), "OPTRATIO="+program, "RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+summary, "GITHUB_OUTPUT="+output,
				"COMMAND="+c.command, "ARGUMENTS="+c.arguments, "UNDECIDED="+c.undecided)
			printed, _ := run.CombinedOutput()
			require.Equal(t, c.code, run.ProcessState.ExitCode(), string(printed))
			assert.Contains(t, string(printed), c.printed)
			if c.verdict == "" {
				assert.NoFileExists(t, output)
				return
			}
			values, err := os.ReadFile(output)
			require.NoError(t, err)
			lines := strings.Split(strings.TrimSpace(string(values)), "\n")
			require.Len(t, lines, 2)
			assert.Equal(t, "verdict="+c.verdict, lines[0])
			if c.summary != "" {
				text, err := os.ReadFile(summary)
				require.NoError(t, err)
				assert.Contains(t, string(text), c.summary)
				junit, err := os.ReadFile(strings.TrimPrefix(lines[1], "junit="))
				require.NoError(t, err)
				assert.Contains(t, string(junit), "<testcase")
			}
		})
	}
}

// TestActionFile: the action sets the variables that its script reads, each from an input that it declares, and gives the outputs that the script
// writes.
func TestActionFile(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		require.NoError(t, err)
		return string(text)
	}
	action, script := read("action.yml"), read("scripts/action")
	for _, variable := range []string{"COMMAND", "ARGUMENTS", "UNDECIDED"} {
		assert.Regexp(t, variable+`: \$\{\{ inputs\.`+strings.ToLower(variable)+` \}\}`, action)
		assert.Regexp(t, `(?m)^  `+strings.ToLower(variable)+`:$`, action)
		assert.Regexp(t, `\$\{?`+variable+`\b`, script)
	}
	for _, match := range regexp.MustCompile(`steps\.run\.outputs\.(\w+)`).FindAllStringSubmatch(action, -1) {
		assert.Contains(t, script, match[1]+"=%s")
	}
}
