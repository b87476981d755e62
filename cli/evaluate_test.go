package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/document"
)

// evaluated runs optratio evaluate --json and reads what it prints.
func evaluated[T any](t *testing.T, want int, args ...string) (doc T, errs string) {
	t.Helper()
	var out, problems bytes.Buffer
	code := Run(context.Background(), append([]string{"evaluate", "--json"}, args...), strings.NewReader(""), &out, &problems)
	require.Equal(t, want, code, problems.String())
	if code != command.Usage {
		require.NoError(t, json.Unmarshal(out.Bytes(), &doc), out.String())
	}
	assert.LessOrEqual(t, strings.Count(problems.String(), "\n"), 1)
	return doc, problems.String()
}

func written(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Monotonic scores, half the sensitivity, twice the ε and scores of twice the count are one thing, the last with twice the errors.
func TestMonotonicModeIsDoubled(t *testing.T) {
	counts := written(t, "counts.csv", "3\n9\n4\n7\n1\n0\n")
	at := func(args ...string) document.Evaluate {
		doc, _ := evaluated[document.Evaluate](t, command.Done, append([]string{"--task", "mode", "--histogram", counts}, args...)...)
		return doc
	}
	want := at("--eps", "0.3", "--monotonic-scores")
	doubled, _ := evaluated[document.Evaluate](t, command.Done, "--task", "mode", "--eps", "0.3", "--histogram", written(t, "twice", "6\n18\n8\n14\n2\n0\n"))
	for i, m := range want.Mechanisms {
		for _, same := range []document.Evaluate{at("--eps", "0.3", "--sensitivity", "0.5"), at("--eps", "0.6")} {
			assert.Equal(t, m.ExpectedError, same.Mechanisms[i].ExpectedError)
		}
		assert.InEpsilon(t, 2*m.ExpectedError.Float64(), doubled.Mechanisms[i].ExpectedError.Float64(), 1e-15)
		assert.Equal(t, want.Ratio, at("--eps", "0.6").Ratio)
	}
}

// A .npy file and a text file of the same counts give the same, folding by --bins is folding by hand, and quantile:1/2 is the median.
func TestHistogramFiles(t *testing.T) {
	data, err := filepath.Abs("../testdata/spiky")
	require.NoError(t, err)
	ask := func(task, file string, more ...string) document.Evaluate {
		doc, _ := evaluated[document.Evaluate](t, command.Done, append([]string{"--eps", "0.1", "--task", task, "--histogram", file}, more...)...)
		doc.Task = ""
		return doc
	}
	assert.Equal(t, ask("median", data+".csv"), ask("median", data+".npy"))
	assert.Equal(t, ask("median", data+".csv"), ask("quantile:1/2", data+".npy"))
	assert.NotEqual(t, ask("median", data+".csv"), ask("quantile:0.4", data+".npy"))
	for name, text := range map[string]string{"head.csv": "count\n1\n2\n3\n4\n5\n6\n", "two.csv": "age,count\n0,1\n10,2\n20,3\n30,4\n40,5\n50,6\n", "tab.tsv": "a\t1\nc\t2\nb\t3\nd\t4\ne\t5\nf\t6\n"} {
		assert.Equal(t, ask("median", written(t, "plain.csv", "1\n2\n3\n4\n5\n6\n")), ask("median", written(t, name, text)), name)
	}
	folded := ask("mode", written(t, "a.csv", "# counts\n1\n2\n\n3\n4\n5\n6\n"), "--bins", "3")
	assert.Equal(t, ask("mode", written(t, "b.txt", "3\n7.0\n11\n")), folded)
	assert.Equal(t, 3, folded.Bins)
}

// Several ε give what they give one by one.
func TestEvaluateList(t *testing.T) {
	counts := written(t, "counts.csv", "3\n9\n4\n")
	for _, flag := range []string{"--eps", "--exp-eps"} {
		list, _ := evaluated[[]document.Evaluate](t, command.Done, "--task", "mode", "--histogram", counts, flag, "1.5,2")
		require.Len(t, list, 2)
		for i, text := range []string{"1.5", "2"} {
			one, _ := evaluated[document.Evaluate](t, command.Done, "--task", "mode", "--histogram", counts, flag, text)
			assert.Equal(t, one, list[i])
		}
	}
}

// The ε that is found gives the error that was wanted: that of permute-and-flip, and --target-error.
func TestEvaluateBack(t *testing.T) {
	counts := written(t, "counts.csv", "3\n9\n4\n7\n")
	doc, _ := evaluated[document.Evaluate](t, command.Done, "--task", "mode", "--histogram", counts, "--eps", "0.4", "--target-error", "0.25", "--mechanism", "em,rnm-laplace,krr,pf")
	pf := doc.Mechanisms[3].ExpectedError.Float64()
	for _, m := range doc.Mechanisms {
		for _, c := range []struct {
			at   float64
			want float64
		}{{m.EquivalentEps.Float64(), pf}, {m.TargetEps.Float64(), 0.25}} {
			eps := new(big.Rat).SetFloat64(c.at).FloatString(40)
			again, _ := evaluated[document.Evaluate](t, command.Done, "--task", "mode", "--histogram", counts, "--eps", eps, "--mechanism", m.Name)
			assert.InEpsilon(t, c.want, again.Mechanisms[0].ExpectedError.Float64(), 1e-9, m.Name)
		}
	}
	// --target-error alone needs no ε.
	alone, _ := evaluated[document.Evaluate](t, command.Done, "--task", "mode", "--histogram", counts, "--target-error", "0.25", "--mechanism", "em")
	assert.Equal(t, doc.Mechanisms[0].TargetEps, alone.Mechanisms[0].TargetEps)
	assert.False(t, alone.Ratio.IsValid())
}

// A malformed file is one line that names the file and the line, or the bin of an array, and says what to do.
func TestMalformedHistograms(t *testing.T) {
	for text, want := range map[string]string{
		"3\nfour\n": ":2: ", "3\n4\n-1\n": ":3: ", "NaN\n": ":1: ", "1,2\n3\n": ":2: ", "1,2,3\n": ":1: ", "2,5\n1,4\n": ":2: bin 1 comes after bin 2", "bin,count\n0,x\n": ":2: ", "count\n": "has no counts", "3\ncount\n": ":2: ", "2.5\n": ":1: ", "": "has no counts", "# none\n": "has no counts",
		"1152921504606846976\n1\n": "more than 2^60 items",
	} {
		path := written(t, "h.csv", text)
		_, errs := evaluated[document.Evaluate](t, command.Usage, "--task", "mode", "--eps", "1", "--histogram", path)
		assert.Contains(t, errs, "h.csv")
		assert.Contains(t, errs, want)
	}
	for name, text := range map[string]string{"a.npy": "3\n4\n", "b.NPY": "", "c.npy": "\x93NUMPY\x01\x00\xff\xff{"} {
		_, errs := evaluated[document.Evaluate](t, command.Usage, "--task", "mode", "--eps", "1", "--histogram", written(t, name, text))
		assert.Contains(t, errs, name+": not a histogram")
		assert.Contains(t, errs, "numpy.save")
	}
}

// Of counts, the errors that monotonic scores are worth are those that --monotonic-scores gives.
func TestEvaluateSaysWhatMonotonicScoresAreWorth(t *testing.T) {
	args := []string{"--task", "mode", "--eps", "1", "--mechanism", "pf,em,krr", "--histogram", written(t, "h", "12\n7\n7\n3\n")}
	plain, _ := evaluated[document.Evaluate](t, command.Done, args...)
	oneWay, _ := evaluated[document.Evaluate](t, command.Done, append(args, "--monotonic-scores")...)
	require.Len(t, plain.Mechanisms, 3)
	assert.Equal(t, "items", plain.Unit)
	for i, m := range oneWay.Mechanisms {
		require.NotNil(t, plain.Mechanisms[i].OneWayError, m.Name)
		assert.Equal(t, m.ExpectedError, *plain.Mechanisms[i].OneWayError, m.Name)
		assert.Nil(t, m.OneWayError)
	}
	quantile, _ := evaluated[document.Evaluate](t, command.Done, append(args, "--task", "median")...)
	assert.Nil(t, quantile.Mechanisms[0].OneWayError)
}

func TestEvaluateUsage(t *testing.T) {
	counts, scores := written(t, "h", "3\n4\n"), written(t, "s", "0\n-1\n")
	for _, c := range []struct{ want, args string }{
		{"--eps and --exp-eps exclude", "--task mode --eps 1 --exp-eps 2 --histogram " + counts},
		{"--eps \"x\"", "--task mode --eps 1,x --histogram " + counts},
		{"--mechanism \"nobody\"", "--task mode --eps 1 --mechanism nobody --histogram " + counts},
		{"--sensitivity \"0\"", "--task mode --eps 1 --sensitivity 0 --histogram " + counts},
		{"--target-error", "--task mode --eps 1 --target-error 0 --histogram " + counts},
		{"--bins", "--task mode --eps 1 --bins -1 --histogram " + counts},
		{"--bins", "--task scores --eps 1 --bins 1 --scores " + scores},
		{"not --scores", "--task mode --eps 1 --scores 0 --histogram " + counts},
		{"--task quantile:1/9223372036854775808", "--task quantile:1/9223372036854775808 --eps 1 --histogram " + counts},
		{"moved to bin/research worst-case", "--task worst-case --eps 1"},
		{"give mode, median", "--eps 1"},
	} {
		_, errs := evaluated[document.Evaluate](t, command.Usage, strings.Fields(c.args)...)
		assert.Contains(t, errs, c.want, c.args)
	}
}
