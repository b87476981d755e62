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

var bin string // the program is here

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "ci")
	if err != nil {
		panic(err)
	}
	bin = filepath.Join(folder, "bin")
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// built has what the tests run: the program, and in one folder the exponential mechanism in Python as "my mechanism.py", and as forgotten.py
// without its factor 2.
func built(t *testing.T) (folder, program string) {
	for _, program := range []string{"bash", "python3", "xargs"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program, "is not installed")
		}
	}
	folder = t.TempDir()
	program = filepath.Join(bin, "optratio")
	if _, err := os.Stat(program); err != nil {
		out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/optratio").CombinedOutput()
		require.NoError(t, err, string(out))
	}
	em := read(t, "../audit/em.py")
	forgotten := strings.Replace(em, "(2 * q[", "(q[", 1)
	require.NotEqual(t, em, forgotten)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "my mechanism.py"), []byte(em), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "forgotten.py"), []byte(forgotten), 0o644))
	return folder, program
}

func read(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// TestAction runs the script of action.yml on a private mechanism, on one that forgets the factor 2 of the exponential mechanism, on a
// sampler, and on arguments that are none.
func TestAction(t *testing.T) {
	folder, program := built(t)
	for name, c := range map[string]struct {
		arguments, undecided      string
		code                      int
		verdict, printed, summary string
	}{
		"private":           {`--pmf-exec "python3 'my mechanism.py'" --eps 1 -n 3 -k 2`, "", 0, "passed", "dp ", "| dp | proved |"},
		"not private":       {`--pmf-exec 'python3 forgotten.py' --eps 1 -n 3 -k 2`, "pass", 1, "violated", "::error title=dp of ", "| dp | **violated** |"},
		"undecided":         {"--pmf-exec 'python3 forgotten.py' --pmf-precision 0.9 --eps 1 --property dp", "fail", 3, "undecided", "::warning title=dp of ", "| dp | **undecided** |"},
		"undecided, passes": {"--pmf-exec 'python3 forgotten.py' --pmf-precision 0.9 --eps 1 --property dp", "pass", 0, "undecided", "::warning title=dp of ", "| dp | **undecided** |"},
		"own format":        {`--pmf-exec "python3 'my mechanism.py'" --eps 1 --format markdown`, "", 0, "passed", "| dp | proved |", ""},
		"bad argument":      {"--pmf-exec 'python3 forgotten.py' --eps one", "pass", 2, "refused", "--eps", ""},
		"open quote":        {"--pmf-exec 'python3", "", 2, "refused", "a quote is not closed", ""},
		"other word":        {"--eps 3", "maybe", 2, "refused", "fail or pass", ""},
	} {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			summary, output := filepath.Join(temp, "summary.md"), filepath.Join(temp, "output")
			script, err := filepath.Abs("../../scripts/action")
			require.NoError(t, err)
			run := exec.CommandContext(t.Context(), script)
			run.Dir = folder
			run.Env = append(os.Environ(), "OPTRATIO="+program, "RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+summary, "GITHUB_OUTPUT="+output,
				"ARGUMENTS="+c.arguments, "UNDECIDED="+c.undecided)
			printed, _ := run.CombinedOutput()
			require.Equal(t, c.code, run.ProcessState.ExitCode(), string(printed))
			assert.Contains(t, string(printed), c.printed)
			lines := strings.Split(strings.TrimSpace(read(t, output)), "\n")
			assert.Equal(t, "verdict="+c.verdict, lines[0])
			if c.summary != "" {
				require.Len(t, lines, 2)
				assert.Contains(t, read(t, summary), c.summary)
				assert.Contains(t, read(t, strings.TrimPrefix(lines[1], "junit=")), "<testcase")
			}
		})
	}
}

// TestActionFile: the action sets the variables that its script reads, each from an input that it declares, and gives the outputs that the script
// writes.
func TestActionFile(t *testing.T) {
	action, script := read(t, "../../action.yml"), read(t, "../../scripts/action")
	for _, variable := range []string{"ARGUMENTS", "UNDECIDED"} {
		assert.Regexp(t, variable+`: \$\{\{ inputs\.`+strings.ToLower(variable)+` \}\}`, action)
		assert.Regexp(t, `(?m)^  `+strings.ToLower(variable)+`:$`, action)
		assert.Regexp(t, `\$\{?`+variable+`\b`, script)
	}
	for _, match := range regexp.MustCompile(`steps\.run\.outputs\.(\w+)`).FindAllStringSubmatch(action, -1) {
		assert.Contains(t, script, "output "+match[1]+" ")
	}
}

// TestGitLab runs the script of the GitLab job, with the program where go install puts it, on a private mechanism and on the one that forgets
// the factor 2: the job fails on that, with the witness in the report that merge requests show.
func TestGitLab(t *testing.T) {
	folder, program := built(t)
	job := read(t, "gitlab-ci.yml")
	script := regexp.MustCompile(`(?m)^    - (.*)$`).FindAllStringSubmatch(job, -1)
	require.Len(t, script, 2)
	assert.Equal(t, "go install -C optratio ./cmd/optratio", script[0][1])
	report := regexp.MustCompile(`junit: (\S+)`).FindStringSubmatch(job)[1]
	for mechanism, want := range map[string]struct {
		code  int
		junit string
	}{"my mechanism.py": {0, `failures="0"`}, "forgotten.py": {1, "fails at scores (0, 0) and (-1, 1)"}} {
		require.NoError(t, os.Rename(filepath.Join(folder, mechanism), filepath.Join(folder, "mechanism.py")))
		run := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", script[1][1])
		run.Dir = folder
		run.Env = append(os.Environ(), "GOPATH="+filepath.Dir(filepath.Dir(program)))
		printed, _ := run.CombinedOutput()
		require.Equal(t, want.code, run.ProcessState.ExitCode(), string(printed))
		assert.Contains(t, read(t, filepath.Join(folder, report)), want.junit)
	}
}

// TestPreCommit runs the hook of the example as pre-commit does: its entry, split as a shell does.
func TestPreCommit(t *testing.T) {
	folder, program := built(t)
	entry := regexp.MustCompile(`entry: (.*)`).FindStringSubmatch(read(t, "pre-commit-config.yaml"))[1]
	for mechanism, want := range map[string]struct {
		code  int
		shows string
	}{"my mechanism.py": {0, "dp             proved"}, "forgotten.py": {1, "dp fails: scores (0, 0) and (-1, 1)"}} {
		require.NoError(t, os.Rename(filepath.Join(folder, mechanism), filepath.Join(folder, "mechanism.py")))
		run := exec.CommandContext(t.Context(), "bash", "-c", entry)
		run.Dir = folder
		run.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
		printed, _ := run.CombinedOutput()
		require.Equal(t, want.code, run.ProcessState.ExitCode(), string(printed))
		assert.Contains(t, string(printed), want.shows)
	}
}
