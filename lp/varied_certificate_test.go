package lp

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/big"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/number"
	"optratio/verify/certificate"
)

// certified returns the certificate of a varied request, which must be valid and claim the answer.
func certified(t *testing.T, r Request) string {
	t.Helper()
	r.Gap, r.Method = big.NewRat(1, 1e9), methodLP
	a, err := Ratio(context.Background(), r)
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

func questions(t *testing.T) []Request {
	rational, err := number.ParseExp("3/2")
	require.NoError(t, err)
	irrational, err := number.ParseEpsilon("0.7")
	require.NoError(t, err)
	tail, err := ParseLoss("tail:" + big.NewRat(1, 2).RatString())
	require.NoError(t, err)
	product, err := Product([]*big.Rat{big.NewRat(1, 1), big.NewRat(5, 2), big.NewRat(1, 3), new(big.Rat), big.NewRat(7, 1)})
	require.NoError(t, err)
	vectors, err := Weighted([][]int{{0, 1, 4}, {0, 0, 2}, {3, 0, 1}}, []*big.Rat{big.NewRat(1, 1), big.NewRat(2, 3), big.NewRat(5, 1)})
	require.NoError(t, err)
	var out []Request
	for i, eps := range []number.Epsilon{rational, irrational} {
		for j, level := range []Level{Paper, DP, Monotone, Full} {
			out = append(out,
				Request{N: 3, K: 2, Step: 2, Epsilon: eps, Level: level, Prior: []Prior{{}, Box()}[(i+j)%2]},
				Request{N: 3, K: 2, Step: 2, Epsilon: eps, Level: level, Loss: tail, Worst: true},
				Request{N: 3, K: 2, Step: 2, Epsilon: eps, Level: level, Loss: Loss{kind: "square"}, Prior: []Prior{product, vectors}[(i+j)%2]})
		}
		out = append(out, Request{N: 2, K: 1, Step: 3, Epsilon: eps, Level: DP}, Request{N: 4, K: 2, Epsilon: eps, Loss: Loss{kind: "top1"}})
	}
	return out
}

// approximations are requests for optima over (ε,δ)-DP mechanisms.
func approximations(t *testing.T) (out []Request) {
	rational, err := number.ParseExp("3/2")
	require.NoError(t, err)
	irrational, err := number.ParseEpsilon("0.7")
	require.NoError(t, err)
	vectors, err := Weighted([][]int{{0, 1, 2}, {0, 0, 2}}, []*big.Rat{big.NewRat(1, 1), big.NewRat(2, 3)})
	require.NoError(t, err)
	for _, eps := range []number.Epsilon{rational, irrational} {
		for _, delta := range []*big.Rat{big.NewRat(1, 50), big.NewRat(1, 12)} {
			out = append(out,
				Request{N: 3, K: 2, Epsilon: eps, Delta: delta},
				Request{N: 3, K: 1, Step: 2, Epsilon: eps, Delta: delta, Loss: Loss{kind: "top1"}, Worst: true},
				Request{N: 3, K: 2, Epsilon: eps, Delta: delta, Prior: vectors})
		}
		out = append(out, Request{N: 3, K: 2, Epsilon: eps, Delta: new(big.Rat)}, Request{N: 4, K: 2, Epsilon: eps, Delta: big.NewRat(1, 30), Prior: Box()})
	}
	return out
}

// With -update those of exact optima become the certificates that package verify/certificate doctors.
func TestCertificatesOfApproximatePrivacy(t *testing.T) {
	for i, r := range approximations(t) {
		text := certified(t, r)
		assert.Contains(t, text, "\nconstraints approximate\ndelta "+r.Delta.RatString()+"\n")
		if _, exact := r.Epsilon.Z(); exact && flag.Lookup("update").Value.String() == "true" {
			name := fmt.Sprintf("../verify/certificate/testdata/approximate-%d.cert", i+1)
			require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
		}
	}
}

// With -update the first ones become the certificates that package verify/certificate doctors.
func TestCertificatesOfVariedQuestions(t *testing.T) {
	for i, r := range questions(t) {
		text := certified(t, r)
		name := fmt.Sprintf("table-%02d", i+1)
		if _, exact := r.Epsilon.Z(); !exact {
			name = fmt.Sprintf("enclosed-%02d", i+1)
		}
		if flag.Lookup("update").Value.String() == "true" && i < 17 {
			require.NoError(t, os.WriteFile("../verify/certificate/testdata/"+name+".cert", []byte(text), 0o666))
		}
	}
}
