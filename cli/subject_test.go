package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/inquiry"
	"optratio/internal/job"
	"optratio/mechanisms"
	"optratio/number"
)

// The test binary is a program that states probabilities where this variable is set: "exact" geometric noisy max's at e^ε = 3/2 as
// fractions, "float" as JSON numbers, "doctored" the same with the first two candidates' exchanged at the scores (0, -4, -2) alone,
// "double" twice them.
const asSubject = "OPTRATIO_TEST_SUBJECT"

func answerAsSubject(kind string) {
	if answer := published[kind]; answer != nil {
		servePublished(kind, answer)
		return
	}
	eps, err := number.ParseExp("3/2")
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for err == nil {
		var q struct {
			Scores      []float64 `json:"scores"`
			Sensitivity float64   `json:"sensitivity"`
			Monotonic   bool      `json:"monotonic"`
		}
		if err = in.Decode(&q); err != nil {
			break
		}
		if q.Monotonic {
			q.Sensitivity /= 2
		}
		at := &mechanisms.Instance{Sensitivities: []*big.Rat{new(big.Rat).SetFloat64(q.Sensitivity)}, Epsilon: eps}
		for _, s := range q.Scores {
			at.Scores = append(at.Scores, new(big.Rat).SetFloat64(s))
		}
		var p []*big.Rat
		var geo mechanisms.Mechanism // permute-and-flip on the lattice of step 2Δ, and rational on finer ones
		if geo, err = mechanisms.Lookup("geo"); err != nil {
			break
		}
		if p, err = geo.Exact(at); err != nil {
			break
		}
		if kind == "doctored" && slices.Equal(q.Scores, []float64{0, -4, -2}) {
			p[0], p[1] = p[1], p[0]
		}
		pmf := make([]any, len(p))
		for r, x := range p {
			f, _ := x.Float64()
			switch pmf[r] = f; kind {
			case "exact", "doctored":
				pmf[r] = x.String()
			case "double":
				pmf[r] = 2 * f
			}
		}
		err = out.Encode(map[string]any{"pmf": pmf})
	}
	if !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func subjectCommand(kind string) string {
	return fmt.Sprintf("%s='%s' '%s'", asSubject, kind, os.Args[0])
}

// A program that answers with permute-and-flip's probabilities has permute-and-flip's numbers.
func TestRatioOfASubject(t *testing.T) {
	for _, more := range [][]string{nil, {"--step", "delta", "--constraints", "dp"}, {"--objective", "box"}, {"--loss", "top1"}, {"--sensitivity", "2.5"}, {"--assume-symmetric"}, {"--monotonic-scores"}} {
		name := job.Choose(slices.Contains(more, "--step"), "geo", "pf")
		args := append([]string{"-n", "3", "-k", "2", "--exp-eps", "3/2", "--mechanism", name, "--pmf-exec", subjectCommand("exact")}, more...)
		doc, problems, code := answered(t, args...)
		require.Zero(t, code, "%v: %s", more, problems)
		require.Len(t, doc.Mechanisms, 2)
		assert.Equal(t, "subject", doc.Mechanisms[1].Name)
		assert.Equal(t, doc.Mechanisms[0].Error, doc.Mechanisms[1].Error, more)
		assert.Equal(t, doc.Mechanisms[0].Ratio, doc.Mechanisms[1].Ratio, more)
		_, exact := doc.Mechanisms[1].Error.Rat()
		assert.True(t, exact)
		assert.Equal(t, doc.Subject.Vectors.Int64(), doc.Subject.Asked, "every vector is asked once")
	}
	doc, problems, code := answered(t, "-n", "3", "-k", "2", "--exp-eps", "3/2", "--mechanism", "pf", "--pmf-exec", subjectCommand("float"))
	require.Zero(t, code, problems)
	assert.EqualValues(t, 19, doc.Subject.Asked)
	pf, _ := doc.Mechanisms[0].Ratio.Rat()
	lo, _ := doc.Mechanisms[1].Ratio.Lower()
	hi, _ := doc.Mechanisms[1].Ratio.Upper()
	assert.True(t, lo.Cmp(pf) < 0 && pf.Cmp(hi) < 0, "%s around %s", doc.Mechanisms[1].Ratio, pf)
	width, _ := new(big.Rat).Sub(hi, lo).Float64()
	assert.InDelta(t, 2e-9, width, 1e-9)
}

// Where symmetry is assumed, so few are asked that lattices of 33 million vectors are rated.
func TestRatioOfASymmetricSubject(t *testing.T) {
	args := []string{"-n", "25", "-k", "1", "--exp-eps", "3/2", "--mechanism", "pf", "--assume-symmetric", "--pmf-exec", subjectCommand("exact")}
	doc, problems, code := answered(t, args...)
	require.Zero(t, code, problems)
	require.Len(t, doc.Mechanisms, 2)
	assert.Equal(t, doc.Mechanisms[0].Error, doc.Mechanisms[1].Error)
	assert.EqualValues(t, 25, doc.Subject.Asked)
}

// One wrong answer in 19 shows, by exactly what it changes, unless symmetry is assumed and another order is asked.
func TestRatioOfADoctoredSubject(t *testing.T) {
	args := []string{"-n", "3", "-k", "2", "--exp-eps", "3/2", "--mechanism", "pf", "--pmf-exec", subjectCommand("doctored")}
	doc, problems, code := answered(t, args...)
	require.Zero(t, code, problems)
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	p, err := mechanisms.PermuteAndFlip().Exact(mechanisms.OnLattice([]int{0, 2, 1}, eps))
	require.NoError(t, err)
	own, _ := doc.Mechanisms[1].Error.Rat()
	pf, _ := doc.Mechanisms[0].Error.Rat()
	want := new(big.Rat).Sub(p[0], p[1]) // moved two steps down, at one vector of 19
	want.Mul(want, big.NewRat(2, 19))
	assert.Equal(t, want.RatString(), new(big.Rat).Sub(own, pf).RatString())

	assert.Equal(t, "violated", doc.Subject.Privacy.(map[string]any)["verdict"])

	doc, problems, code = answered(t, append(args, "--assume-symmetric")...)
	require.Zero(t, code, problems)
	assert.True(t, doc.Subject.AssumedSymmetric)
	assert.Nil(t, doc.Subject.Privacy, "who knows what it answers in other orders")
	assert.EqualValues(t, 6, doc.Subject.Asked)
	assert.Equal(t, doc.Mechanisms[0].Error, doc.Mechanisms[1].Error)
}

// What is no distribution is a finding, and the others are rated all the same.
func TestFindingsOfASubject(t *testing.T) {
	for _, more := range [][]string{nil, {"--step", "delta"}} {
		args := append([]string{"-n", "2", "-k", "1", "--exp-eps", "3/2", "--mechanism", "pf", "--pmf-exec", subjectCommand("double")}, more...)
		doc, problems, code := answered(t, args...)
		assert.Equal(t, command.Violated, code)
		assert.Contains(t, problems, "subject: bad answer: at the scores (0, 0) the probabilities sum to 2")
		assert.True(t, doc.Mechanisms[0].Ratio.IsRigorous())
		assert.False(t, doc.Mechanisms[1].Error.IsValid())
		assert.Contains(t, doc.Mechanisms[1].Finding, "sum to 2")
	}
	_, problems, code := answered(t, "-n", "1", "-k", "1", "--exp-eps", "3/2", "--mechanism", "pf", "--pmf-exec", subjectCommand("double"))
	assert.Equal(t, command.Violated, code, "one candidate leaves nothing to lose, but an answer has to be one")
	assert.Contains(t, problems, "at the scores (0) the probabilities sum to 2")
}

// A program that does not answer within the time limit leaves the others rated.
func TestSlowSubject(t *testing.T) {
	doc, problems, code := answered(t, "-n", "2", "-k", "1", "--exp-eps", "3/2", "--mechanism", "pf", "--time-limit", "200ms", "--pmf-exec", "sleep 60")
	assert.Equal(t, command.Undecided, code)
	assert.Contains(t, problems, "time limit")
	assert.Len(t, doc.Mechanisms, 1)
}

// A table is rated at its rows, in any order of the scores where symmetry is assumed.
func TestRatioOfATable(t *testing.T) {
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	var rows []string
	for q := range inquiry.Grid(3, 1, 1) {
		depths := []int{int(-q[0]), int(-q[1]), int(-q[2])}
		p, err := mechanisms.PermuteAndFlip().Exact(mechanisms.OnLattice(depths, eps))
		require.NoError(t, err)
		rows = append(rows, fmt.Sprintf(`{"scores":[%d,%d,%d],"pmf":["%s","%s","%s"]}`, 2*q[0], 2*q[1], 2*q[2], p[0], p[1], p[2]))
	}
	write := func(rows ...string) string {
		path := filepath.Join(t.TempDir(), "table.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(rows, "\n")), 0o644))
		return path
	}
	args := []string{"-n", "3", "-k", "1", "--exp-eps", "3/2", "--mechanism", "pf", "--pmf-file"}
	doc, problems, code := answered(t, append(args, write(rows...))...)
	require.Zero(t, code, problems)
	assert.Equal(t, doc.Mechanisms[0].Error, doc.Mechanisms[1].Error)

	_, problems, code = answered(t, append(args, write(rows[1:]...))...)
	assert.Equal(t, command.Usage, code)
	assert.Contains(t, problems, "has no row for the scores (0, 0, 0); add it")
	few := write(rows[0], rows[len(rows)-1], rows[len(rows)-3]) // ties, one below, two below
	_, problems, code = answered(t, append(args, few)...)
	assert.Equal(t, command.Usage, code, problems)
	doc, problems, code = answered(t, append(args, few, "--assume-symmetric")...)
	require.Zero(t, code, problems)
	assert.Equal(t, doc.Mechanisms[0].Error, doc.Mechanisms[1].Error)
}
