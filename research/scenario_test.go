package main

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
)

func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	return lines
}

// The file has what the JSON document has: one line for each scenario, ε and mechanism.
func TestScenarioFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "errors.csv")
	code, out, errs := run.Quietly("scenario", "1", "5", "--eps", "1:3:2", "--mechanism", "pf,gem,rnmh", "--trials", "4", "--draws", "50", "--json", "-o", path)
	require.Equal(t, command.Done, code, errs)
	var doc struct {
		Scenarios []struct {
			Scenario string
			Rows     []struct {
				Eps, Mechanism string
				Private        bool
				MSE            struct{ Estimate string }
				MSEStdErr      *struct{ Estimate string } `json:"mse_std_err"`
			}
			Advice []struct{ Best string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	lines := readCSV(t, path)[1:]
	require.Len(t, lines, 12)
	i := 0
	for _, s := range doc.Scenarios {
		assert.Len(t, s.Advice, 2)
		for _, r := range s.Rows {
			line := lines[i]
			assert.Equal(t, []string{s.Scenario, r.Eps, r.Mechanism, strconv.FormatBool(r.Private)}, []string{line[0], line[2], line[3], line[4]})
			want, err := strconv.ParseFloat(r.MSE.Estimate, 64)
			require.NoError(t, err)
			got, err := strconv.ParseFloat(line[5], 64)
			require.NoError(t, err)
			assert.InEpsilon(t, want, got, 1e-9)
			assert.Equal(t, s.Scenario == "1", r.MSEStdErr == nil, "one trial has no standard error")
			assert.Equal(t, r.Mechanism != "rnmh", r.Private)
			i++
		}
	}
	assert.Equal(t, "gem", doc.Scenarios[1].Advice[0].Best)
}

// A limit ends a study with what is done, which is written all the same.
func TestScenarioLimits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "errors.csv")
	code, out, errs := run.Quietly("scenario", "1", "4", "--eps", "0.01:16:0.01", "--mechanism", "em,rnmh-laplace", "--time-limit", "200ms", "--json", "-o", path)
	assert.Equal(t, command.Undecided, code)
	assert.Contains(t, errs, "time limit of 200ms")
	assert.True(t, json.Valid([]byte(out)))
	assert.Less(t, len(readCSV(t, path)), 2*2*1600)
	code, _, errs = run.Quietly("scenario", "1", "-o", filepath.Join(t.TempDir(), "no", "such.csv"))
	assert.Equal(t, command.Usage, code)
	assert.Contains(t, errs, "--output")
}

func TestBanditFile(t *testing.T) {
	curves := filepath.Join(t.TempDir(), "curves.csv")
	code, out, errs := run.Quietly("bandit", "-T", "900", "--runs", "3", "--points", "5", "--policy", "ucb,mgem", "--window", "20", "--json", "-o", curves)
	require.Equal(t, command.Done, code, errs)
	var doc struct {
		Shift, Runs int
		Policies    []struct {
			Policy  string
			Private bool
			Regret  struct {
				Mean struct{ Estimate string }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	assert.Equal(t, []int{540, 3}, []int{doc.Shift, doc.Runs})
	lines := readCSV(t, curves)[1:]
	require.Len(t, lines, 2*5)
	for i, p := range doc.Policies {
		last := lines[5*i+4]
		assert.Equal(t, []string{p.Policy, "900"}, last[:2])
		want, err := strconv.ParseFloat(p.Regret.Mean.Estimate, 64)
		require.NoError(t, err)
		var band [3]float64
		for j := range band {
			band[j], err = strconv.ParseFloat(last[5+j], 64)
			require.NoError(t, err)
		}
		assert.InEpsilon(t, want, band[0], 1e-9)
		assert.Less(t, band[1], band[0])
		assert.Less(t, band[0], band[2])
		assert.Equal(t, p.Policy == "mgem", p.Private)
	}
	code, _, errs = run.Quietly("bandit", "-T", "1000000", "--runs", "50", "--time-limit", "100ms")
	assert.Equal(t, command.Undecided, code)
	assert.Contains(t, errs, "time limit")
}

// Counts beyond what the commands can hold or list are refused, or do no harm, and never end in an internal error.
func TestHugeCounts(t *testing.T) {
	most := strconv.Itoa(math.MaxInt)
	for flag, args := range map[string][]string{
		"--draws":  {"scenario", "4", "--draws", most, "--trials", "1", "--mechanism", "pf"},
		"--t":      {"scenario", "--t", "1e400", "--mechanism", "pf"},
		"--points": {"bandit", "-T", "10", "--runs", "1", "--points", most},
		"points":   {"figure", "pf-1a", "--points", most, "-o", filepath.Join(t.TempDir(), "x.svg")},
		"--runs":   {"bandit", "-T", "10", "--runs", most},
		"draws":    {"figure", "het-5", "--draws", most, "-o", filepath.Join(t.TempDir(), "x.svg")},
		"horizon":  {"bandit", "-T", most, "--runs", "1"},
	} {
		code, out, errs := run.Quietly(args...)
		assert.Equal(t, command.Usage, code, "%v: %s", args, errs)
		assert.Empty(t, out)
		assert.Contains(t, errs, strings.TrimPrefix(flag, "--"))
		assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
	}
}
