package evaluate

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/decimal"
	"optratio/mechanisms"
	"optratio/number"
)

// load reads a .npy file and folds it.
func load(t *testing.T, path string, bins int) []int64 {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	counts, err := ReadNPY(data)
	require.NoError(t, err)
	counts, err = Fold(counts, bins)
	require.NoError(t, err)
	return counts
}

// posed returns the problem of a task on a histogram: mode, doubled mode (its scores twice the counts), or median.
func posed(t *testing.T, task string, counts []int64) *Problem {
	scores := slices.Clone(counts)
	switch task {
	case "median":
		var err error
		scores, err = MedianScores(counts)
		require.NoError(t, err)
	case "mode, doubled":
		for i := range scores {
			scores[i] *= 2
		}
	default:
		require.Equal(t, "mode", task)
	}
	p, err := New(scores, big.NewRat(1, 1), false)
	require.NoError(t, err)
	return p
}

// results are the numbers of a row of docs/reference/evaluate.md: the errors of pf and em, their ratio, and how many times ε em needs for pf's error.
func results(t *testing.T, p *Problem, eps number.Epsilon) []number.Number {
	out := make([]number.Number, 4)
	var err error
	for i, m := range []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), mechanisms.Exponential()} {
		out[i], err = p.ExpectedError(m, eps)
		require.NoError(t, err)
	}
	out[2] = Ratio(out[1], out[0])
	needs, err := p.Reaching(context.Background(), mechanisms.Exponential(), out[0])
	require.NoError(t, err)
	out[3] = Ratio(needs, number.Enclosed(eps.Value(100)))
	return out
}

// printed checks that a decimal in the documentation is the number, rounded to its last digit.
func printed(t *testing.T, text string, x number.Number, row string) {
	t.Helper()
	want, err := decimal.Parse(text)
	require.NoError(t, err, row)
	_, places, _ := strings.Cut(text, ".")
	step := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(places))), nil))
	step.Quo(step, big.NewRat(2, 1))
	for _, end := range []func() (*big.Rat, bool){x.Lower, x.Upper} {
		r, ok := end()
		require.True(t, ok, row)
		assert.LessOrEqual(t, new(big.Rat).Abs(r.Sub(r, want)).Cmp(step), 0, "%s: %s, computed %s", row, text, x)
	}
}

// The documents with tables that are recomputed: of generated data, and of DPBench's data.
const document, figuresDocument = "../../docs/reference/evaluate.md", "../../research/docs/figures.md"

// tableRows returns the cells of the lines of a document that begin like this.
func tableRows(t *testing.T, path, first string) (rows [][]string) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, line := range regexp.MustCompile(`(?m)^\| `+first+` \|.*$`).FindAllString(string(text), -1) {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	require.NotEmpty(t, rows, first)
	return rows
}

// The table on the sample is recomputed: task, ε, then results.
func TestDocumentedSample(t *testing.T) {
	counts := load(t, samples+".npy", 1024)
	for _, row := range tableRows(t, document, "(mode|median|mode, doubled)") {
		require.Len(t, row, 6)
		for i, x := range results(t, posed(t, row[0], counts), epsilon(t, row[1])) {
			printed(t, row[i+2], x, fmt.Sprint(row))
		}
	}
}

// So are the tables on DPBench's data where the variable names a folder with its files (research/docs/figures.md says where they are from).
const dpbench = "OPTRATIO_DPBENCH"

func TestDocumentedData(t *testing.T) {
	folder := os.Getenv(dpbench)
	if folder == "" {
		t.Skip("set " + dpbench + " to a folder with the files *.n4096.npy")
	}
	open := func(name string) []int64 { return load(t, filepath.Join(folder, name+".n4096.npy"), 1024) }
	for _, row := range tableRows(t, figuresDocument, "HEPTH") {
		require.Len(t, row, 7)
		for i, x := range results(t, posed(t, row[1], open(row[0])), epsilon(t, row[2])) {
			printed(t, row[i+3], x, fmt.Sprint(row))
		}
	}
	// ε where em errs by 50, pf's error there, and the ratio
	for _, row := range tableRows(t, figuresDocument, "at 50, [A-Z]*") {
		require.Len(t, row, 5)
		p := posed(t, row[1], open(strings.TrimPrefix(row[0], "at 50, ")))
		at, err := p.Reaching(context.Background(), mechanisms.Exponential(), number.Int(50))
		require.NoError(t, err)
		printed(t, row[2], at, fmt.Sprint(row))
		lo, _ := at.Lower()
		eps, err := number.FromEpsilon(lo)
		require.NoError(t, err)
		pf, err := p.ExpectedError(mechanisms.PermuteAndFlip(), eps)
		require.NoError(t, err)
		printed(t, row[3], pf, fmt.Sprint(row))
		printed(t, row[4], Ratio(number.Int(50), pf), fmt.Sprint(row))
	}
}
