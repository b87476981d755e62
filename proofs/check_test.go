// Package proofs_test compares the verified checker with package certificate.
package proofs_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/verify/certificate"
)

// The verified checker and package certificate decide 10,000 mutated certificates alike, wherever both decide.
func TestAgreement(t *testing.T) {
	slowtest.Only(t)
	if _, err := os.Stat("check"); err != nil {
		t.Skip("proofs/check is not built: make proofs")
	}
	names, err := filepath.Glob("testdata/*.cert")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	rng := rand.New(rand.NewPCG(26, 1))
	file := filepath.Join(t.TempDir(), "mutated.cert")
	both, valid, open := 0, 0, 0
	for range 10_000 {
		base, err := os.ReadFile(names[rng.IntN(len(names))])
		require.NoError(t, err)
		text := mutate(rng, string(base))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		out, err := exec.Command("./check", file).CombinedOutput()
		code := 0
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			code = exit.ExitCode()
		} else {
			require.NoError(t, err)
		}
		report, err := certificate.Check(strings.NewReader(text), certificate.Options{})
		if code > 1 || errors.Is(err, certificate.ErrLimit) || errors.Is(err, certificate.ErrUndecided) {
			require.Contains(t, []int{0, 1, 3}, code, "%s\n%s", out, text)
			open++
			continue
		}
		accepted := err == nil && report.Valid
		require.Equal(t, accepted, code == 0, "%s\n%s", out, text)
		both++
		if accepted {
			valid++
		}
	}
	t.Logf("%d decided by both, %d of them valid; %d not decided by one", both, valid, open)
	require.Positive(t, valid)
	require.Greater(t, both, open)
}

// mutate returns a certificate with one or two changes, most of them of numbers.
func mutate(rng *rand.Rand, base string) string {
	l := strings.Split(strings.TrimSuffix(base, "\n"), "\n")
	for range 1 + rng.IntN(2) {
		i := rng.IntN(len(l))
		f := strings.Split(l[i], " ")
		j := rng.IntN(len(f))
		switch x, ok := new(big.Rat).SetString(f[j]); rng.IntN(8) {
		case 0:
			l = slices.Delete(l, i, i+1)
		case 1:
			l = slices.Insert(l, i, l[rng.IntN(len(l))])
		case 2:
			b := []byte(l[i])
			b[rng.IntN(len(b))] = "0123456789/-p. xe+"[rng.IntN(18)]
			l[i] = string(b)
		case 3: // a claim that is weaker
			if f[0] == "claim" {
				f[len(f)-2], f[len(f)-1] = "0."+strconv.Itoa(rng.IntN(6)), []string{"2", "1e1", "0x1.8p+01", "7/3"}[rng.IntN(4)]
				l[i] = strings.Join(f, " ")
			}
		default:
			if ok && j > 0 {
				step := big.NewRat(int64(rng.IntN(7)-3), 1<<rng.IntN(20))
				if rng.IntN(3) == 0 {
					step.SetInt64(int64(rng.IntN(3) - 1))
				}
				f[j] = x.Add(x, step).RatString()
				l[i] = strings.Join(f, " ")
			}
		}
	}
	if rng.IntN(8) > 0 {
		l = append(slices.DeleteFunc(l, func(s string) bool { return strings.HasPrefix(s, "end ") }), "end ")
		l[len(l)-1] += strconv.Itoa(len(l) - 1)
	}
	return strings.Join(l, "\n") + "\n"
}
