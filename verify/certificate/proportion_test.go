package certificate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/verify/certificate"
)

// TestCostInProportion: files of some hundred kilobytes whose exact numbers have nothing in common, or whose problem has many places and few numbers, are given up
// for what they cost. Without the count of steps each takes minutes at the default limits.
func TestCostInProportion(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	fraction := func(digits int) string {
		b := []byte("1/1")
		for range digits {
			b = append(b, byte('0'+rng.IntN(10)))
		}
		return string(append(b, '7'))
	}
	list := func(count int) string {
		s := ""
		for range count {
			s += " " + fraction(2000)
		}
		return s
	}
	numbered := func(format string, of func(i int) []any) string {
		s := ""
		for i := 1; i < 200; i++ {
			s += fmt.Sprintf(format, of(i)...) + fraction(2000) + "\n"
		}
		return strings.TrimSpace(s)
	}
	const epsilon = "\nexp-epsilon 2\nprecision 0\nclaim optimum 0 1\n"
	zeros := strings.Repeat(" 0", 200)
	grid := "problem heterogeneous\nsensitivities %s\nfrom 0\nstep %s\nsteps %d\nmechanisms shift-invariant\nloss error\nprior uniform" + epsilon + "input 1"
	one := "problem table\ninputs 1\noutputs 200\ndelta 0" + epsilon
	rule := "problem stopping\nn 200\ndistance 1\ndelta 0\npayoff" + zeros + epsilon
	scores := "exp-epsilon 2\nscale 1\nscores" + zeros + "\nneighbors linf\nsensitivity 1\ndelta 0\nneighbor" + zeros + "\ncandidate 0\n"
	arrows := ""
	for i := 1; i < 200; i++ {
		arrows += fmt.Sprintf("\narrow 0 %d 1", i)
	}
	for name, text := range map[string]string{
		"sum of probabilities": one + "prior 1\nloss" + zeros + "\ninput" + list(200),
		"prior":                "problem table\ninputs 200\noutputs 1\ndelta 0" + epsilon + "prior" + list(200) + strings.Repeat("\nloss 0", 200) + strings.Repeat("\ninput 1", 200),
		"multipliers": "problem table\ninputs 200\noutputs 2\ndelta 0" + epsilon + "prior" + strings.Repeat(" 1", 200) + strings.Repeat("\nloss 0 0", 200) + arrows +
			strings.Repeat("\ninput 1 0", 200) + "\n" + numbered("multiplier 0 %d 1 ", func(i int) []any { return []any{2 * i} }),
		"long ends of a grid":  fmt.Sprintf(grid, fraction(2000), fraction(2000), 2000),
		"many ends of a grid":  fmt.Sprintf(grid, "1", "1", 1<<20),
		"multipliers of ranks": rule + numbered("multiplier %d %d ", func(i int) []any { return []any{i, i + 1} }),
		"shares of a rule":     rule + numbered("take %d 1 1 ", func(i int) []any { return []any{i} }),
		"stated probabilities": "problem witness\nproperty dp\nmechanism table\n" + scores + "pmf" + list(200),
		"many depths":          "problem lattice\nn 2\nk 30000\nstep 1\ntop 1\nconstraints paper\nloss" + strings.Repeat(" 0", 30001) + "\nprior uniform" + epsilon + "input 1/2",
		"depths of em":         "problem program\nn 2\nk 100000\nexp-epsilon 3/2\nobjective paper\nconstraints paper\nproof dual-recurrence\nprecision 0\nclaim optimum 0 1\nclaim error em 0 9",
	} {
		_, err := certificate.Check(strings.NewReader(section(text).String()), certificate.Options{MaxSteps: 1 << 20})
		assert.ErrorIs(t, err, certificate.ErrLimit, name)
	}
	// Probabilities that are too long to be worked out exactly are enclosed.
	scores = "scale 1\nscores" + strings.Repeat(" 0 -1", 80) + "\nneighbors linf\nsensitivity 1\ndelta 0\nneighbor" + strings.Repeat(" -1 0", 80) + "\ncandidate 0"
	a := fraction(1200)[2:]
	r, err := certificate.Check(strings.NewReader(section("problem witness\nproperty dp\nmechanism pf\nexp-epsilon 1"+a+"/"+a+"\n"+scores).String()), certificate.Options{})
	require.NoError(t, err)
	assert.True(t, r.Valid, r.Reason)
}

// TestShortestFileOfALongLine: a line of more fields than any other that is missing.
func TestShortestFileOfALongLine(t *testing.T) {
	r, err := certificate.Check(strings.NewReader(header("1", "1048576", "epsilon 1", "paper", "paper", "lp")+"claim optimum 0 1\n"), certificate.Options{})
	require.NoError(t, err)
	assert.Contains(t, r.Reason, "the file ends")
}

// TestOneSpellingOfZero: a number with a sign that says nothing is none.
func TestOneSpellingOfZero(t *testing.T) {
	for value, want := range map[string]bool{"0": true, "0x0p+00": true, "-0x0p+00": false, "-0": false} {
		body := "problem table\ninputs 1\noutputs 1\ndelta 0\nexp-epsilon 2\nprecision 0\nclaim optimum 0 1\nprior 1\nloss " + value + "\ninput 1"
		r, err := certificate.Check(strings.NewReader(section(body).String()), certificate.Options{})
		require.NoError(t, err)
		assert.Equal(t, want, r.Valid, "%s: %s", value, r.Reason)
	}
}
