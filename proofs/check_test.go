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

// agree runs the verified checker and package certificate, asserts that they agree where both decide, and returns the exit code of the one and what the other says.
func agree(t *testing.T, text string) (code int, valid, decided bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.cert")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	out, err := exec.Command("./check", file).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		require.NoError(t, err)
	}
	report, err := certificate.Check(strings.NewReader(text), certificate.Options{})
	shown := text[:min(len(text), 3000)]
	require.Equal(t, errors.Is(err, certificate.ErrUnreadable), code == 2, "%s\n%s", out, shown)
	require.Contains(t, []int{0, 1, 2, 3}, code, "%s\n%s", out, shown)
	if code > 1 || errors.Is(err, certificate.ErrLimit) || errors.Is(err, certificate.ErrUndecided) {
		return code, false, false
	}
	require.NoError(t, err)
	require.Equal(t, report.Valid, code == 0, "%s\n%s\n%s", out, report.Reason, shown)
	return code, report.Valid, true
}

// The verified checker and package certificate decide mutated certificates of each section alike, wherever both decide: a change that one of 300 shows is
// met with probability 96 %. CERTIFICATES says how many of each section.
func TestAgreement(t *testing.T) {
	slowtest.Only(t)
	if _, err := os.Stat("check"); err != nil {
		t.Skip("proofs/check is not built: make proofs")
	}
	names, err := filepath.Glob("testdata/*.cert")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	each := 1_000
	if n, err := strconv.Atoi(os.Getenv("CERTIFICATES")); err == nil {
		each = n
	}
	sections := map[string][]string{}
	for _, name := range names {
		base, err := os.ReadFile(name)
		require.NoError(t, err)
		section := strings.Split(string(base), "\n")[1]
		if strings.Contains(string(base), "\ntop 2\n") || strings.Contains(string(base), "\nconstraints approximate\n") {
			section += ", choices" // these have another checker
		}
		if strings.Contains(string(base), "\nproperty rdp\n") {
			section += ", divergences"
		}
		sections[section] = append(sections[section], string(base))
	}
	for section, bases := range sections {
		t.Run(strings.TrimPrefix(section, "problem "), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(26, 1))
			both, proved, open := 0, 0, 0
			for range each {
				switch _, valid, decided := agree(t, mutate(rng, bases[rng.IntN(len(bases))])); {
				case !decided:
					open++
				case valid:
					proved++
					both++
				default:
					both++
				}
			}
			t.Logf("%d decided by both, %d of them valid; %d not decided by one", both, proved, open)
			require.Positive(t, proved)
			require.Greater(t, both, open)
		})
	}
}

// spellings are numbers at the borders of what the format allows, and beyond.
var spellings = []string{
	"0", "-0", "+0", "00", "1", "01", "+1", "-1", "1/1", "0/1", "2/4", "1/2", "-1/2", "1/-2", "1/0", "3/02", "/2", "1/", "1/2/3", "", "-", "1_0", "١",
	"0x0p+00", "-0x0p+00", "0x0p-00", "0x0p+0", "0x0p+01", "0x1p+00", "-0x1p+00", "+0x1p+00", "0x1p-00", "0x1p+0", "0x1p+000", "0x1p00", "0X1p+00", "0x1P+00",
	"0x1p-01", "0x1p-1", "0x1p+16384", "0x1p-16384", "0x1p+16385", "0x1p-16385", "0x1.8p+01", "0x1.80p+01", "0x1.p+01", "0x2p+00", "0x1.Ap+00", "0x1.ap+00",
	"0x.8p+1", "0x.8p+01", "0x.8p-1", "0x.8p+0", "0x.8p-0", "0x.4p+1", "0x.80p+1", "-0x.cp-2", "0x.8p+16384", "0x.8p-16384", "0x.8p-16383", "0x.p+0", "0x.0p+0",
	"0.5", ".5", "5.", ".", "-.5", "+.5", "0.50", "1e0", "1E0", "1e+00000", "1e-0", "1e10000", "1e-10000", "1e10001", "1e", "e1", "1e1e1", "1e1E1", "1.5e-1", "1e1.5", "0x1e0",
	"1e0000000000000000000000000000000000000000001", "inf", "nan", "1,5", strings.Repeat("7", 70_000), "0." + strings.Repeat("7", 70_000), "0." + strings.Repeat("7", 140_000),
	"1/" + strings.Repeat("7", 5_000), "1073741824", "1073741825", "16384", "16385", "2048", "2049", "10000000", "200", "lp", "dual-recurrence", "dual-closed-form", "lumped",
	"paper", "box", "dp", "monotone", "full", "approximate", "uniform", "worst", "weights", "\r", "\t",
}

// values are JSON values and what only looks like them. What is alike stands together.
var values = []string{
	"[3,1]", " [3 , 1.0]", "[3,1] ", "[3,10e-1,]", "[3,01]", "[1,3]", "[3,\"1\"]", "[]", "[[]]", "[[]", "{}", "{}{}", "3", "03", "-3", "+3", "-0", "0.0e5", "3.", ".3", "1e10001", "1E+2", "100",
	"true", "True", "null", "nul", `"a"`, `"\u0061"`, `"\u0061"x`, `"\x61"`, `"\ud83d\ude00"`, `"😀"`, `"\/\"\\"`, "\"/\\u0022\\u005C\"", `"ü"`, `"\u00fc"`, `"\u00FC"`, `"ũ"`, `"\u4e2d"`, `"中"`,
	"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xe4\xb8\"", `"a`, `a`, "'a'", "\"\x01\"", "\"\x7f\"", "\"\\u0000\"", "\"a\tb\"", `"a\tb"`, "\t3", "3\t",
	`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`, `{"a":0,"b":[2],"a":1}`, `{"b":[2],"a":1,}`, `{"a":1 "b":[2]}`, `{"a":1;"b":[2]}`, `{a:1}`, `{"a" : 1}`, `{"":1}`, `[{"":1}]`, `{"a":{"a":1}}`, `{"ab":1,"a":2}`,
	strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
}

// mutate returns a certificate with one or two changes, most of them of numbers.
func mutate(rng *rand.Rand, base string) string {
	l := strings.Split(strings.TrimSuffix(base, "\n"), "\n")
	for range 1 + rng.IntN(2) {
		i := rng.IntN(len(l))
		f := strings.Split(l[i], " ")
		j := rng.IntN(len(f))
		if k := slices.IndexFunc(l, func(s string) bool { return strings.HasPrefix(s, "neighbor-input ") }); k > 0 && rng.IntN(2) == 0 {
			v := rng.IntN(len(values))
			l[k-1], l[k] = "input "+values[v], "neighbor-input "+values[min(v+rng.IntN(3), len(values)-1)]
			continue
		}
		switch x, ok := new(big.Rat).SetString(f[j]); rng.IntN(9) {
		case 0:
			l = slices.Delete(l, i, i+1)
		case 1:
			l = slices.Insert(l, i, l[rng.IntN(len(l))])
		case 2:
			b := []byte(l[i])
			b[rng.IntN(len(b))] = "0123456789/-p. xe+"[rng.IntN(18)]
			l[i] = string(b)
		case 4: // a number in a spelling of its own
			f[j] = spellings[rng.IntN(len(spellings))]
			l[i] = strings.Join(f, " ")
		case 5: // another precision
			if p := slices.IndexFunc(l, func(s string) bool { return strings.HasPrefix(s, "precision ") }); p >= 0 {
				l[p] = "precision " + strconv.Itoa(rng.IntN(256))
			}
		case 6: // a claim moved by a little
			if p := slices.IndexFunc(l, func(s string) bool { return strings.HasPrefix(s, "claim ") }); p >= 0 {
				f := strings.Split(l[p], " ")
				j := len(f) - 1 - rng.IntN(2)
				if x, ok := new(big.Rat).SetString(f[j]); ok {
					hair, _ := new(big.Rat).SetString("1e-" + strconv.Itoa(10+rng.IntN(60)))
					f[j] = x.Add(x, hair.Mul(hair, big.NewRat(int64(rng.IntN(5)-2), 1))).RatString()
					l[p] = strings.Join(f, " ")
				}
			}
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
