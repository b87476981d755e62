package lp_test

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lattice"
	"optratio/lp"
	"optratio/lp/linear"
	"optratio/lp/variant"
	"optratio/mechanisms"
	"optratio/verify/certificate"
)

// certified returns the certificate of a varied request, which must be valid and claim the answer.
func certified(t *testing.T, r lp.Request) string {
	t.Helper()
	r.Solver, r.Gap, r.Method = linear.Embedded{}, big.NewRat(1, 1e9), lp.Enumerated
	a, err := lp.Ratio(context.Background(), r)
	require.NoError(t, err)
	require.Empty(t, a.Undecided)
	var b bytes.Buffer
	require.NoError(t, a.WriteCertificate(&b))
	report, err := certificate.Check(bytes.NewReader(b.Bytes()), certificate.Options{})
	require.NoError(t, err)
	require.True(t, report.Valid, "%s\n%s", report.Reason, b.String())
	lo, _ := a.Optimum.Lower()
	got, _ := report.Optimum.Lower()
	assert.LessOrEqual(t, got.Cmp(lo), 0)
	if _, exact := a.Optimum.Rat(); exact {
		assert.Equal(t, a.Optimum, report.Optimum)
	}
	return b.String()
}

func questions(t *testing.T) []lp.Request {
	rational, err := mechanisms.ParseExp("3/2")
	require.NoError(t, err)
	irrational, err := mechanisms.ParseEpsilon("0.7")
	require.NoError(t, err)
	tail, err := variant.Tail(big.NewRat(1, 2))
	require.NoError(t, err)
	product, err := variant.Product([]*big.Rat{big.NewRat(1, 1), big.NewRat(5, 2), big.NewRat(1, 3), new(big.Rat), big.NewRat(7, 1)})
	require.NoError(t, err)
	vectors, err := variant.Weighted([][]int{{0, 1, 4}, {0, 0, 2}, {3, 0, 1}}, []*big.Rat{big.NewRat(1, 1), big.NewRat(2, 3), big.NewRat(5, 1)})
	require.NoError(t, err)
	var out []lp.Request
	for i, eps := range []mechanisms.Epsilon{rational, irrational} {
		for j, level := range []lp.Level{lp.Paper, lp.DP, lp.Monotone, lp.Full} {
			out = append(out,
				lp.Request{N: 3, K: 2, Step: 2, Epsilon: eps, Level: level, Objective: []lattice.Objective{lattice.Paper, lattice.Box}[(i+j)%2]},
				lp.Request{N: 3, K: 2, Step: 2, Epsilon: eps, Level: level, Loss: tail, Worst: true},
				lp.Request{N: 3, K: 2, Step: 2, Epsilon: eps, Level: level, Loss: variant.Square(), Prior: []*variant.Prior{&product, &vectors}[(i+j)%2]})
		}
		out = append(out, lp.Request{N: 2, K: 1, Step: 3, Epsilon: eps, Level: lp.DP}, lp.Request{N: 4, K: 2, Epsilon: eps, Loss: variant.Top1()})
	}
	return out
}

func TestCertificatesOfVariedQuestions(t *testing.T) {
	for _, r := range questions(t) {
		certified(t, r)
	}
}

// Whatever line of a certificate of an exact optimum is changed, it is no longer valid: the claim has no room.
func TestDoctoredTableCertificates(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, r := range questions(t) {
		if _, rational := r.Epsilon.Z(); !rational {
			continue
		}
		lines := strings.Split(strings.TrimSuffix(certified(t, r), "\n"), "\n")
		reject := func(what string, doctored []string) {
			t.Helper()
			doctored[len(doctored)-1] = "end " + strconv.Itoa(len(doctored)-1)
			report, err := certificate.Check(strings.NewReader(strings.Join(doctored, "\n")+"\n"), certificate.Options{})
			if err == nil {
				assert.False(t, report.Valid, "%+v: %s\n%s", r, what, strings.Join(doctored, "\n"))
			}
		}
		with := func(i int, line string) []string {
			out := append([]string(nil), lines...)
			out[i] = line
			return out
		}
		without := func(i int) []string { return append(append([]string(nil), lines[:i]...), lines[i+1:]...) }
		for i, line := range lines[:len(lines)-1] {
			fields := strings.Split(line, " ")
			switch fields[0] {
			case "cell":
				if rng.IntN(3) > 0 {
					break
				}
				// any other probability breaks the sum
				reject("cell", with(i, strings.Join(append(fields[:len(fields)-1], "1/7919"), " ")))
				reject("no cell", without(i))
			case "row":
				// a multiplier moved by a little: the bound is a maximum that is not flat in it, or the claim fails
				reject("row repeated", append(append(append([]string(nil), lines[:i+1]...), line), lines[i+1:]...))
				other := append([]string(nil), fields...)
				other[len(other)-1] = "100000"
				reject("row", with(i, strings.Join(other, " ")))
			case "claim":
				value, _ := new(big.Rat).SetString(fields[2])
				tiny := big.NewRat(1, 1e15)
				up, down := new(big.Rat).Add(value, tiny).RatString(), new(big.Rat).Sub(value, tiny).RatString()
				reject("claim above", with(i, fmt.Sprintf("claim optimum %s %s", up, up)))
				reject("claim below", with(i, fmt.Sprintf("claim optimum %s %s", down, down)))
			case "exp-epsilon":
				reject("smaller epsilon", with(i, "exp-epsilon 4/3"))
				reject("larger epsilon", with(i, "exp-epsilon 5/3"))
			case "loss":
				fields[len(fields)-1] = "1000"
				reject("loss", with(i, strings.Join(fields, " ")))
			case "n":
				reject("n", with(i, "n 5"))
			case "step":
				reject("step", with(i, "step 5"))
			}
		}
		reject("torn", append([]string(nil), lines[:len(lines)-1]...))
	}
}

// Rows that are none of the program prove nothing: at the level paper only the worst neighbors are tied, and with L = 2 vectors
// whose changes differ by three steps are no neighbors.
func TestTableRowsMustBelong(t *testing.T) {
	r := questions(t)[0]
	text := certified(t, r) // paper, n = 3, kL = 4
	for _, row := range []string{
		"row p 1 2 1 0 0 0 0 3 0 0 0 0 1/1000", // one sinks by a single step: no worst neighbor
		"row m 1 2 1 0 0 0 0 3 0 0 0 0 1/1000", // the level has no monotone rows
		"row p 3 2 0 0 1 0 0 3 0 0 0 0 1/1000", // three steps
		"row p 0 3 0 0 0 0 0 3 0 0 0 0 1/1000", // a variable against itself
	} {
		at := strings.Index(text, "\ncell ")
		doctored := text[:at] + "\n" + row + text[at:]
		report, err := certificate.Check(strings.NewReader(doctored), certificate.Options{})
		require.NoError(t, err)
		assert.False(t, report.Valid)
		assert.Contains(t, report.Reason, "row", row)
	}
}
