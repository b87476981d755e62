package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/command/commandtest"
	"optratio/internal/sweep"
)

// finishes runs a command line in process, which must end with the code, and returns what it printed.
func finishes(t *testing.T, code int, args ...string) (out, errs string) {
	t.Helper()
	got, out, errs := quietly(args...)
	require.Equal(t, code, got, "%v: %s", args, errs)
	return out, errs
}

// rowsOf returns the text of a CSV file without the column seconds.
func rowsOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return regexp.MustCompile(`(?m),[0-9.]+$`).ReplaceAllString(string(data), "")
}

// TestMergeReadsPipes: a part may be a pipe.
func TestMergeReadsPipes(t *testing.T) {
	dir := t.TempDir()
	whole, pipe, merged := filepath.Join(dir, "whole.csv"), filepath.Join(dir, "pipe.csv"), filepath.Join(dir, "merged.csv")
	finishes(t, command.Done, "sweep", "-n", "2:3", "-k", "1", "--eps", "0.5", "-o", whole)
	data, err := os.ReadFile(whole)
	require.NoError(t, err)
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, data, 0o600) }()
	finishes(t, command.Done, "sweep", "merge", "-o", merged, pipe)
	require.NoError(t, <-written)
	assert.Equal(t, rowsOf(t, whole), rowsOf(t, merged))
}

// A file that a run is writing is not merged into.
func TestMergeIntoAFileAtWork(t *testing.T) {
	dir := t.TempDir()
	whole, merged := filepath.Join(dir, "whole.csv"), filepath.Join(dir, "merged.csv")
	finishes(t, command.Done, "sweep", "-n", "2:3", "-k", "1", "--eps", "0.5", "-o", whole)
	held, err := sweep.Open(merged, true)
	require.NoError(t, err)
	_, errs := finishes(t, command.Usage, "sweep", "merge", "-o", merged, whole)
	assert.Contains(t, errs, "another process is writing it")
	require.NoError(t, held.Close())
	finishes(t, command.Done, "sweep", "merge", "-o", merged, whole)
	assert.Equal(t, rowsOf(t, whole), rowsOf(t, merged))
}

// The sweep of 320 rows is the same whole, by one job and by several, in three shards, cut and resumed, and as the Kubernetes manifest
// and the Slurm script of examples/cluster run it.
func TestSweepHoweverCut(t *testing.T) {
	dir := t.TempDir()
	file := func(format string, args ...any) string { return filepath.Join(dir, fmt.Sprintf(format, args...)) }
	grid := []string{"sweep", "-n", "2:5", "-k", "1:4", "--eps", "0.1:1.0:0.1", "-o"}
	sweeping := func(args ...string) { finishes(t, command.Done, append(grid[:len(grid):len(grid)], args...)...) }
	merging := func(name, pattern string) {
		parts, err := filepath.Glob(file("%s", pattern))
		require.NoError(t, err)
		finishes(t, command.Done, append([]string{"sweep", "merge", "-o", file("%s", name)}, parts...)...)
	}
	sweeping(file("whole.csv"), "--jobs", "1")
	want := rowsOf(t, file("whole.csv"))
	assert.Equal(t, 321, strings.Count(want, "\n"))
	same := func(name string) {
		t.Helper()
		assert.True(t, want == rowsOf(t, file("%s", name)), "%s differs from the whole sweep", name)
	}

	sweeping(file("jobs.csv"), "--jobs", "5")
	same("jobs.csv")

	for i := range 3 {
		sweeping(file("three-%%i.csv"), "--shard", fmt.Sprintf("%d/3", i))
	}
	merging("three.csv", "three-*.csv")
	same("three.csv")

	data, err := os.ReadFile(file("whole.csv"))
	require.NoError(t, err)
	for i := range 10 {
		require.NoError(t, os.WriteFile(file("cut.csv"), data[:len(data)*i/10], 0o600))
		sweeping(file("cut.csv"), "--resume")
		same("cut.csv")
	}

	manifest, err := os.ReadFile("../examples/cluster/job.yaml")
	require.NoError(t, err)
	text := regexp.MustCompile(`args: (\[.*\])`).FindSubmatch(manifest)
	require.NotNil(t, text)
	var args []string
	require.NoError(t, json.Unmarshal(text[1], &args))
	completions := regexp.MustCompile(`completions: (\d+)`).FindSubmatch(manifest)
	set := regexp.MustCompile(`JOB_COMPLETIONS .*\n *value: "(\d+)"`).FindSubmatch(manifest)
	require.True(t, completions != nil && set != nil && bytes.Equal(completions[1], set[1]), "completions and JOB_COMPLETIONS are not the same number")
	t.Setenv("JOB_COMPLETIONS", string(set[1]))
	for i := range 16 {
		t.Setenv("JOB_COMPLETION_INDEX", fmt.Sprint(i))
		pod := append([]string(nil), args...)
		for j, arg := range pod {
			pod[j] = strings.Replace(arg, "/out/", file("pods")+"/", 1)
		}
		finishes(t, command.Done, pod...)
	}
	merging("pods.csv", "pods/part-*.csv")
	same("pods.csv")
	require.NoError(t, os.Unsetenv("JOB_COMPLETION_INDEX"))

	for i := range 4 {
		c := exec.Command("bash", append([]string{"../examples/cluster/slurm.sbatch"}, append(grid[1:len(grid):len(grid)], file("tasks/part-%%i.csv"))...)...)
		c.Env = append(os.Environ(), commandtest.AsCommand+"=1", "OPTRATIO="+os.Args[0], fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", i), "SLURM_ARRAY_TASK_COUNT=4", "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_MAX=3")
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Contains(t, string(out), fmt.Sprintf("part-%d.csv: 80 of 80 rows of shard %d of 4", i, i))
	}
	merging("tasks.csv", "tasks/part-*.csv")
	same("tasks.csv")
}

// The command's flags reach the rows, and what is no column is among the settings.
func TestSweepSettings(t *testing.T) {
	debug.FreeOSMemory() // what other tests left behind counts for the least limit below
	path := filepath.Join(t.TempDir(), "rows.csv")
	for want, args := range map[string][]string{
		"": {"--step", "2delta", "--loss", "mean", "--max-memory", "12G"},
		"step=2delta/2 loss=tail:3/2 prior=geometric:0.8": {"--step", "delta", "--loss", "tail:1.5", "--prior", "geometric:0.8"},
		"max_memory=1000000000":                           {"--max-memory", "1G"},
	} {
		_ = os.Remove(path)
		args = append([]string{"sweep", "-n", "2", "-k", "2", "--eps", "0.5", "-o", path}, args...)
		finishes(t, command.Done, args...)
		table, err := sweep.Load(path)
		require.NoError(t, err)
		assert.Equal(t, want, table.Settings)
		finishes(t, command.Done, append(args, "--resume")...)
		if want != "" {
			_, errs := finishes(t, command.Usage, "sweep", "-n", "2", "-k", "2", "--eps", "0.5", "-o", path, "--resume")
			assert.Contains(t, errs, "was made with "+want+", not with all settings at their defaults")
		}
	}
	for _, args := range [][]string{
		{"--objective", "box", "--constraints", "dp", "--mechanism", "krr"},
		{"--worst", "--loss", "tail:1"},
		{"--loss", "square", "--constraints", "full"},
	} {
		require.NoError(t, os.Remove(path))
		finishes(t, command.Done, append([]string{"sweep", "-n", "3", "-k", "2", "--exp-eps", "3/2", "-o", path}, args...)...)
		table, err := sweep.Load(path)
		require.NoError(t, err)
		out, _ := finishes(t, command.Done, append([]string{"ratio", "-n", "3", "-k", "2", "--exp-eps", "3/2", "--json"}, args...)...)
		var doc struct {
			Objective, Constraints string
			Mechanisms             []struct {
				Name         string
				Error, Ratio struct{ Lower, Upper string }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(out), &doc))
		require.Len(t, table.Rows, len(doc.Mechanisms))
		for _, r := range table.Rows {
			for _, m := range doc.Mechanisms {
				if m.Name == r.Mechanism {
					assert.Equal(t, [4]string{doc.Objective, doc.Constraints, m.Error.Lower, m.Ratio.Upper}, [4]string{r.Objective, r.Constraints, r.ErrorLower, r.RatioUpper}, "%v", args)
				}
			}
		}
	}
}

// After the time limit the command says how to go on, and what was done by then is in the file.
func TestSweepTimeLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	args := []string{"sweep", "-n", "2", "-k", "9", "--eps", "0.3", "--mechanism", "pf", "-o", path, "--resume"}
	finishes(t, command.Done, args...)
	args[2] = "2,9"
	e := commandtest.Spawn(t, append(args, "--time-limit", "1s", "--json"))
	e.Check(t, command.Undecided)
	assert.Contains(t, e.Err, "the time limit of 1s was reached; 1 of 2 rows are in "+path+", and --resume goes on from there")
	args[2] = "2"
	_, errs := finishes(t, command.Usage, args[:len(args)-1]...)
	assert.Contains(t, errs, "exists; remove it to begin anew, or go on with --resume")
	out, _ := finishes(t, command.Done, args...)
	assert.Contains(t, out, "1 of 1 rows; 1 were there, 0 are new")
}

// More jobs than there can be do no harm.
func TestManyJobs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	out, _ := finishes(t, command.Done, "sweep", "-n", "2,3", "-k", "1", "--eps", "1", "--mechanism", "pf", "--jobs", strconv.Itoa(math.MaxInt), "-o", path)
	assert.Contains(t, out, "2 of 2 rows")
	rows, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(rows), "\n"), "a head and a line for each n")
}
