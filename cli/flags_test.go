package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/command/commandtest"
)

// A flag that is given without a value is refused by every command, before anything else: it must not be taken for the default.
func TestEmptyValuesAreRefused(t *testing.T) {
	seen := commandtest.RefuseEmptyValues(t, newRoot(command.Streams{}), Run, map[string]string{"check": "file.csv", "cert-export": "file.csv", "merge": "file.csv"})
	assert.Greater(t, seen, 100)
}

// What counts something is not negative, in any command.
func TestNegativeCountsAreRefused(t *testing.T) {
	assert.Greater(t, commandtest.RefuseNegativeCounts(t, newRoot(command.Streams{}), Run), 15)
}

// Nor does a gap in a list go unnoticed.
func TestEmptyItemsAreRefused(t *testing.T) {
	commandtest.RefuseEmptyItems(t, Run, [][]string{
		{"evaluate", "--task", "worst-case", "-n", "3", "--eps", "1,,2"},
		{"evaluate", "--task", "worst-case", "-n", "3", "--eps", "1,"},
		{"ratio", "-n", "3", "-k", "2", "--eps", "1,,2"},
		{"ratio", "-n", "3", "-k", "2", "--exp-eps", ",2"},
		{"ratio", "-n", "3", "-k", "2", "--eps", "1", "--mechanism", "pf,,em"},
		{"report", "-n", "3", "-k", "2", "--eps", "1,,2", "-o", "x.html"},
		{"verify", "--mechanism", "pf", "-n", "3", "-k", "2", "--eps", "1", "--property", "dp,"},
		{"audit", "--pmf-exec", "true", "--eps", "1", "--property", ",dp"},
		{"sweep", "-n", "3,,4", "-k", "2", "--eps", "1", "-o", "x.csv"},
		{"sweep", "-n", "3", "-k", "2", "--eps", "1,,2", "-o", "x.csv"},
		{"pmf", "--scores", "0,,1", "--eps", "1"},
		{"pmf", "--scores", "0,1", "--sensitivities", "1,", "--eps", "1"},
		{"heterogeneous", "--sensitivities", "1,,2", "--exp-eps", "2"},
		{"stopping", "--asymptotic", "--boundary", "0,,1"},
	}...)
}

// A pipe that nobody reads is not waited for without end.
func TestPipeWithoutReader(t *testing.T) {
	defer func(d time.Duration) { command.PipePatience = d }(command.PipePatience)
	command.PipePatience = 30 * time.Millisecond
	code, _, errs := quietly("-n", "3", "-k", "2", "--exp-eps", "2", "--cert", commandtest.Pipe(t))
	require.Equal(t, command.Usage, code)
	assert.Contains(t, errs, "--cert")
	assert.Contains(t, errs, "nobody opened this pipe to read")
}
