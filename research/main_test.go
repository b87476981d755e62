package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/internal/command"
	"optratio/internal/command/commandtest"
	"optratio/internal/slowtest"
)

// The test binary is the command itself where a variable says so.
func TestMain(m *testing.M) {
	if commandtest.IsCommand() {
		main()
	}
	os.Exit(m.Run())
}

var run commandtest.Run = func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return command.Run(ctx, newRoot, args, stdin, stdout, stderr)
}

var programs = commandtest.Programs{"research": run}

func TestTranscripts(t *testing.T) { programs.Transcripts(t) }

// The console blocks of the document are what the commands print.
func TestTranscriptsOfScenarios(t *testing.T) {
	slowtest.Only(t)
	for _, kind := range []string{"console", "console slow"} {
		t.Run(kind, func(t *testing.T) { programs.Document(t, "../research/docs/scenarios.md", kind) })
	}
}

// long are jobs that take minutes.
func long(t *testing.T) map[string][]string {
	return map[string][]string{
		"scenario": {"scenario", "4", "--trials", "1000"},
		"bandit":   {"bandit", "--runs", "1000"},
		"limit":    {"stopping-limit", "--lp", "--eps", "0.3"},
		"figure":   {"figure", "worst-ratio", "-n", "9", "-k", "9", "-o", filepath.Join(t.TempDir(), "f.svg")},
	}
}

func TestSignalsEndEveryCommand(t *testing.T)    { commandtest.EndAtSignals(t, long(t)) }
func TestTimeLimitsEndEveryCommand(t *testing.T) { commandtest.EndAtTimeLimits(t, long(t)) }

func TestPipesObeyLimits(t *testing.T) {
	commandtest.WaitForPipes(t, map[string][]string{
		"histogram": {"coins", "--eps", "1", "--histogram", commandtest.Pipe(t)},
	})
}

func TestFlagsAreRefused(t *testing.T) {
	root := newRoot(command.Streams{})
	assert.Greater(t, commandtest.RefuseEmptyValues(t, root, run, map[string]string{"figure": "pf-1a", "check": "file.csv"}), 50)
	assert.Greater(t, commandtest.RefuseNegativeCounts(t, root, run), 5)
	commandtest.RefuseEmptyItems(t, run,
		[]string{"bandit", "--policy", "ucb,,krr"}, []string{"bandit", "--means", "0.2,,0.8"}, []string{"scenario", "1", "--eps", "1,,2"})
}

// Without a command, or with one that there is not, the answer is what commands there are, or one line.
func TestNames(t *testing.T) {
	code, out, _ := run.Quietly()
	assert.Equal(t, command.Done, code)
	for _, name := range []string{"claims", "figure", "scenario", "bandit", "map", "product", "stopping-limit", "worst-case", "coins", "pairwise"} {
		assert.Contains(t, out, name)
	}
	code, _, errs := run.Quietly("ratio")
	assert.Equal(t, command.Usage, code)
	assert.Regexp(t, "^research: .*\"ratio\".*\n$", errs)
}

// A limit that leaves no answer ends a command undecided, as one that leaves some does.
func TestLimitBeforeAnyPoint(t *testing.T) {
	code, _, errs := run.Quietly("product", "-n", "20", "-k", "10", "--eps", "0.5", "--time-limit", "50ms")
	assert.Equal(t, command.Undecided, code, errs)
	assert.Contains(t, errs, "the time limit of 50ms was reached")
}
