//go:build slow

package optimum

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// highs solves the problem of a file at ε = 0.5 with HiGHS, all rows at once, and prints how many there are and the optimum.
const highs = `
import json, math, sys
from fractions import Fraction
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix
d = json.load(open(sys.argv[1]))
n, m = len(d["inputs"]), len(d["outputs"])
at = {x: i for i, x in enumerate(d["inputs"])}
cost = np.array([float(Fraction(w)) * float(Fraction(l)) for w, row in zip(d["prior"], d["loss"]) for l in row])
i, j, v, k = [], [], [], 0
for p in d["pairs"]:
    z = math.exp(-0.5 * float(Fraction(p[2]) if len(p) > 2 else 1))
    for x, y in ((at[p[0]], at[p[1]]), (at[p[1]], at[p[0]])):
        for o in range(m):
            i += [k, k]; j += [x * m + o, y * m + o]; v += [-1, z]; k += 1
rows = coo_matrix((v, (i, j)), shape=(k, n * m)).tocsc()
sums = coo_matrix((np.ones(n * m), (np.repeat(np.arange(n), m), np.arange(n * m))), shape=(n, n * m)).tocsc()
print(k, linprog(cost, A_ub=rows, b_ub=np.zeros(k), A_eq=sums, b_eq=np.ones(n), bounds=(0, 1), method="highs").fun)
`

// BenchmarkPeers is optratio, with its certificate, beside HiGHS (of Debian's python3-scipy): processor seconds of whole processes in one run. It prints the table of
// docs/development/performance.md.
func BenchmarkPeers(b *testing.B) {
	dir := b.TempDir()
	program := filepath.Join(dir, "optratio")
	require.NoError(b, exec.Command("go", "build", "-o", program, "optratio/cmd/optratio").Run())
	dense := preset(b, "krr:40")
	rng := rand.New(rand.NewPCG(1, 40))
	for _, row := range dense.Loss {
		for o := range row {
			row[o] = big.NewRat(1+rng.Int64N(1000), 1)
		}
	}
	process := func(name string, args ...string) string {
		ctx, cancel := context.WithTimeout(b.Context(), 100*time.Second)
		defer cancel()
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Stdout = &out
		err := cmd.Run()
		took := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		if ctx.Err() != nil {
			return fmt.Sprintf("> %.0f | no answer", took)
		}
		require.NoError(b, err)
		text := out.String()
		if _, rest, own := strings.Cut(text, "optimum: "); own {
			text = rest[:strings.IndexByte(rest, ' ')]
		}
		return fmt.Sprintf("%.1f | %s", took, strings.TrimSpace(text))
	}
	fmt.Println("\n| problem | optratio, s | optimum | HiGHS, s | rows, optimum |\n| --- | --- | --- | --- | --- |")
	for _, c := range []struct {
		name    string
		problem *Problem
	}{{"count:80", preset(b, "count:80")}, {"selection:5,3", preset(b, "selection:5,3")}, {"krr:40, random losses", dense}} {
		path := filepath.Join(dir, "problem.json")
		f, err := os.Create(path)
		require.NoError(b, err)
		require.NoError(b, c.problem.WriteJSON(f))
		require.NoError(b, f.Close())
		own := process(program, "optimum", path, "--eps", "0.5", "--cert", filepath.Join(dir, "cert"))
		fmt.Printf("| %s | %s | %s |\n", c.name, own, process("/usr/bin/python3", "-c", highs, path))
	}
}
