package certificate_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"optratio/verify/certificate"
)

// proposal drafts a certificate whose multipliers are those of dual-closed-form in float64 and which injects a little into
// every seventh variable: far from optimal, but as much work to check as any other.
func proposal(n, k int, epsilon string, z float64, level string) string {
	var b strings.Builder
	b.WriteString(header(fmt.Sprint(n), fmt.Sprint(k), epsilon, "paper", level, "lp"))
	fmt.Fprintf(&b, "claim optimum 0 %d\nclaim error pf 0 %d\nclaim error em 0 %d\n", k, k, k)
	lines := strings.Count(b.String(), "\n")
	sum, a := 1.0, 0.0
	for v := 1; v <= k; v++ {
		sum += math.Pow(z, float64(v))
		a += float64(v) * math.Pow(z, float64(v))
	}
	y := big.NewFloat(a/sum).Text('x', -1)
	var inject strings.Builder
	variables := 0
	var rec func(m []int, left int)
	rec = func(m []int, left int) {
		if len(m) < k {
			for c := left; c >= 0 && (len(m) > 0 || c > 0); c-- {
				rec(append(m, c), left-c)
			}
			return
		}
		m = append(m, left)
		value := y
		if m[0] == 1 {
			value = "0"
		}
		fmt.Fprintf(&b, "dual %s %s\n", counts(m), value)
		lines++
		for v := 1; v <= k; v++ {
			if m[v] > 0 {
				if variables++; variables%7 == 0 {
					fmt.Fprintf(&inject, "inject %d %s 0x1.8f2ab5c3d1e47p-20\n", v, counts(m))
					lines++
				}
			}
		}
	}
	rec(nil, n)
	return b.String() + inject.String() + fmt.Sprintf("end %d\n", lines)
}

func BenchmarkCheck(b *testing.B) {
	for _, c := range []struct {
		n, k    int
		epsilon string
		z       float64
		level   string
	}{
		{7, 7, "epsilon 1/2", math.Exp(-0.5), "paper"},
		{8, 8, "epsilon 1/2", math.Exp(-0.5), "paper"},
		{8, 8, "exp-epsilon 3/2", 2.0 / 3, "paper"},
		{7, 7, "epsilon 1/2", math.Exp(-0.5), "full"},
		{8, 8, "epsilon 1/2", math.Exp(-0.5), "full"},
		{20, 5, "epsilon 1/2", math.Exp(-0.5), "paper"},
	} {
		b.Run(fmt.Sprintf("%d,%d,%s,%s", c.n, c.k, strings.ReplaceAll(c.epsilon, " ", "="), c.level), func(b *testing.B) {
			text := proposal(c.n, c.k, c.epsilon, c.z, c.level)
			b.ReportAllocs()
			for b.Loop() {
				rep, err := certificate.Check(strings.NewReader(text), certificate.Options{})
				if err != nil || !rep.Valid {
					b.Fatalf("%+v, %v", rep, err)
				}
			}
		})
	}
}
