package lp

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify/certificate"
)

func pfAndEM(t testing.TB) []mechanisms.Mechanism {
	var out []mechanisms.Mechanism
	for _, name := range []string{"pf", "em"} {
		m, err := mechanisms.Lookup(name)
		require.NoError(t, err)
		out = append(out, m)
	}
	return out
}

// certify answers a request and returns its certificate.
func certify(t testing.TB, r Request) (*Answer, []byte) {
	if r.Mechanisms == nil {
		r.Mechanisms = pfAndEM(t)
	}
	r.Certified = true
	if r.Gap == nil {
		r.Gap = big.NewRat(1, 1e9)
	}
	a, err := Ratio(context.Background(), r)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, a.WriteCertificate(&b))
	return a, b.Bytes()
}

func checked(t testing.TB, cert []byte) *certificate.Report {
	report, err := certificate.Check(bytes.NewReader(cert), certificate.Options{})
	require.NoError(t, err)
	return report
}

// Every kind of answer has a certificate that the independent checker accepts.
func TestCertificatesAreAccepted(t *testing.T) {
	var requests []Request
	for _, ab := range [][2]int64{{1, 1}, {6, 5}, {3, 2}, {2, 1}, {5, 2}} {
		for n := 1; n <= 4; n++ {
			for k := 1; k <= 4; k++ {
				requests = append(requests, Request{N: n, K: k, Epsilon: expEps(t, ab[0], ab[1])})
			}
		}
	}
	for _, eps := range []string{"0.05", "0.5", "0.7", "3"} {
		for _, s := range [][2]int{{3, 3}, {4, 4}, {5, 3}} {
			for _, o := range []Prior{{}, Box()} {
				for l := Paper; l <= Full; l++ {
					requests = append(requests, Request{N: s[0], K: s[1], Epsilon: decimalEps(t, eps), Prior: o, Level: l})
				}
			}
		}
	}
	for l := Paper; l <= Full; l++ {
		requests = append(requests, Request{N: 4, K: 3, Epsilon: expEps(t, 5, 4), Level: l},
			Request{N: 3, K: 4, Epsilon: expEps(t, 5, 4), Level: l, Prior: Box(), Method: methodLP})
	}
	requests = append(requests,
		Request{N: 60, K: 3, Epsilon: decimalEps(t, "0.5"), Gap: big.NewRat(1, 1e6)},
		Request{N: 1000, K: 10, Epsilon: decimalEps(t, "0.1"), Mechanisms: pfAndEM(t)[:1]},
		Request{N: 300, K: 7, Epsilon: decimalEps(t, "0.2"), Prior: Box(), Mechanisms: pfAndEM(t)[:1]},
		Request{N: 100000, K: 10, Epsilon: decimalEps(t, "0.1"), Mechanisms: pfAndEM(t)[:1]},
		Request{N: 100000, K: 100, Epsilon: decimalEps(t, "0.7"), Mechanisms: pfAndEM(t)[:1]},
		Request{N: 500, K: 10, Epsilon: decimalEps(t, "0.2")},
		Request{N: 3, K: 4, Epsilon: decimalEps(t, "0.6"), Prior: Box()},
		Request{N: 3, K: 4, Epsilon: expEps(t, 9, 5), Prior: Box()},
		Request{N: 40, K: 20, Epsilon: expEps(t, 2, 1), Mechanisms: pfAndEM(t)[:1]},
	)
	proofs := map[string]int{}
	for _, r := range requests {
		name := fmt.Sprintf("%d,%d,%s,%s,%s", r.N, r.K, r.Epsilon, r.Prior, r.Level)
		a, cert := certify(t, r)
		proofs[a.Proof]++
		report := checked(t, cert)
		if !assert.True(t, report.Valid, "%s: %s", name, report.Reason) {
			t.Log(string(cert[:min(len(cert), 2000)]))
		}
		_, again := certify(t, r)
		require.Equal(t, cert, again, "%s: the same job gives the same bytes", name)
	}
	for _, p := range []string{proofRecurrence, proofClosedForm, proofLP} {
		assert.Positive(t, proofs[p], p)
	}
}

// A claim that is a little too good is rejected, on either side, for every claim.
func TestDoctoredClaimsAreRejected(t *testing.T) {
	for _, r := range []Request{
		{N: 4, K: 3, Epsilon: expEps(t, 3, 2)}, {N: 4, K: 3, Epsilon: decimalEps(t, "0.5")},
		{N: 3, K: 3, Epsilon: expEps(t, 5, 4), Level: Full}, {N: 4, K: 3, Epsilon: decimalEps(t, "0.8")},
	} {
		_, cert := certify(t, r)
		lines := strings.Split(string(cert), "\n")
		doctored := 0
		for i, line := range lines {
			fields := strings.Fields(line)
			if len(fields) == 0 || fields[0] != "claim" || line == "claim ratio pf 1 1" {
				continue
			}
			for side := 1; side <= 2; side++ {
				lo, ok := new(big.Rat).SetString(fields[len(fields)-2])
				require.True(t, ok)
				hi, ok := new(big.Rat).SetString(fields[len(fields)-1])
				require.True(t, ok)
				// Move one end past the truth, keeping lo <= hi.
				if side == 1 {
					lo = new(big.Rat).Mul(hi, big.NewRat(10000001, 10000000))
					hi = lo
				} else {
					hi = new(big.Rat).Mul(lo, big.NewRat(9999999, 10000000))
					lo = hi
				}
				changed := append([]string(nil), lines...)
				changed[i] = strings.Join(append(append([]string(nil), fields[:len(fields)-2]...), lo.RatString(), hi.RatString()), " ")
				assert.False(t, checked(t, []byte(strings.Join(changed, "\n"))).Valid, changed[i])
				doctored++
			}
		}
		assert.Positive(t, doctored)
	}
}

// Any single changed digit is rejected, or changes nothing that the claims rest on: whatever is
// accepted claims only what is true.
func TestSingleChangedDigits(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, r := range []Request{
		{N: 3, K: 3, Epsilon: expEps(t, 3, 2)}, {N: 3, K: 2, Epsilon: decimalEps(t, "0.4")},
		{N: 3, K: 3, Epsilon: expEps(t, 3, 2), Level: Full},
	} {
		_, cert := certify(t, r)
		rejected := 0
		for i, b := range cert {
			if b < '0' || b > '9' {
				continue
			}
			doctored := bytes.Clone(cert)
			doctored[i] = '0' + (b-'0'+1+byte(rng.IntN(9)))%10
			report, err := certificate.Check(bytes.NewReader(doctored), certificate.Options{MaxMemory: 1 << 26})
			if err != nil || !report.Valid {
				rejected++
				continue
			}
			consistent(t, report)
		}
		assert.Greater(t, rejected, len(cert)/8)
	}
}

// consistent checks an accepted report against a fresh answer to the problem it names.
func consistent(t *testing.T, report *certificate.Report) {
	p := report.Problem
	var eps number.Epsilon
	var err error
	if x, ok := p.ExpEps.Rat(); ok {
		eps, err = number.FromExp(x)
	} else {
		x, ok := p.Eps.Rat()
		require.True(t, ok)
		eps, err = number.FromEpsilon(x)
	}
	require.NoError(t, err)
	level, err := ParseLevel(p.Constraints)
	require.NoError(t, err)
	o, err := ParsePrior(strings.Replace(p.Objective, "paper", "uniform", 1))
	require.NoError(t, err)
	a, err := Ratio(context.Background(), Request{N: p.N, K: p.K, Epsilon: eps, Level: level, Prior: o,
		Mechanisms: pfAndEM(t), Gap: big.NewRat(1, 1e12)})
	require.NoError(t, err)
	for _, claim := range report.Claims {
		truth := a.Optimum
		for _, m := range a.Mechanisms {
			switch claim.On {
			case "error " + m.Name:
				truth = m.Error
			case "ratio " + m.Name:
				truth = m.Ratio
			}
		}
		lo, _ := claim.Value.Lower()
		hi, _ := claim.Value.Upper()
		low, _ := truth.Lower()
		high, _ := truth.Upper()
		assert.True(t, lo.Cmp(high) <= 0 && low.Cmp(hi) <= 0, "%+v: %s accepted as %s, truth %s", p, claim.On, claim.Value, truth)
	}
}

// Exact certificates over a range of sizes: each holds the optimum as a rational and is accepted.
func TestExactCertificates(t *testing.T) {
	for n := 3; n <= 6; n++ {
		for k := 1; k <= 6; k++ {
			if testing.Short() && n*k > 20 {
				continue
			}
			for _, ab := range [][2]int64{{6, 5}, {3, 2}, {2, 1}, {5, 2}} {
				a, cert := certify(t, Request{N: n, K: k, Epsilon: expEps(t, ab[0], ab[1]), Method: methodLP, Mechanisms: pfAndEM(t)[:1]})
				report := checked(t, cert)
				require.True(t, report.Valid, "%d %d %v: %s", n, k, ab, report.Reason)
				want, ok := a.Optimum.Rat()
				require.True(t, ok)
				got, ok := report.Optimum.Rat()
				require.True(t, ok)
				assert.Zero(t, want.Cmp(got))
			}
		}
	}
}
