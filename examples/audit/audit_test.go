// Package audit_test runs the examples.
package audit_test

import (
	"context"
	"math/big"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
	"optratio/verify/audit"
)

func options(t *testing.T) audit.Options {
	t.Helper()
	eps, err := number.ParseEpsilon("1")
	require.NoError(t, err)
	pf, err := mechanisms.Lookup("pf")
	require.NoError(t, err)
	return audit.Options{
		N: 3, K: 2, Domain: "lattice", Epsilon: eps, Sensitivity: big.NewRat(1, 1), Seed: 1, Precision: big.NewRat(1, 1e9),
		Budget: 60_000, Confidence: big.NewRat(999, 1000), Against: pf,
	}
}

func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(program, "is not installed")
	}
}

// program is a command line under audit, which may take a while to answer on a busy machine.
func program(command string) audit.Program {
	return audit.Program{Command: command, Timeout: time.Minute}
}

func TestPython(t *testing.T) {
	need(t, "python3")
	o := options(t)
	o.Against = nil
	r, err := program("python3 em.py").PMF(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, verify.Proved, r.Verdict(), "%v %v", r.Properties, r.Findings)
	for _, eps := range []string{"0.05", "0.74", "20"} {
		for _, o.Domain = range []string{"lattice", "random"} {
			o.Epsilon, err = number.ParseEpsilon(eps)
			require.NoError(t, err)
			r, err := program("python3 em.py").PMF(context.Background(), o)
			require.NoError(t, err)
			require.Equal(t, verify.Proved, r.Verdict(), "ε = %s: %v %v", eps, r.Properties, r.Findings)
		}
	}

	r, err = program("python3 noisy_max.py").Samples(context.Background(), options(t))
	require.NoError(t, err)
	require.Equal(t, verify.Undecided, r.Verdict(), "%v", r.Findings)
}

func TestGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flip")
	out, err := exec.Command("go", "build", "-o", path, "./flip").CombinedOutput()
	require.NoError(t, err, "%s", out)
	r, err := program(path).Samples(context.Background(), options(t))
	require.NoError(t, err)
	require.Equal(t, verify.Undecided, r.Verdict(), "%v", r.Findings)
	require.Empty(t, r.Findings)
}

func TestShell(t *testing.T) {
	need(t, "awk")
	o := options(t)
	o.N, o.Domain, o.Against = 2, "half-lattice", nil
	o.Properties = []verify.Property{verify.DP, verify.Symmetry, verify.Sum}
	r, err := program("sh random_response.sh").PMF(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, verify.Proved, r.Verdict(), "%v %v", r.Properties, r.Findings)
	require.InDelta(t, 1, r.TightEps.Float64(), 1e-8)
}
