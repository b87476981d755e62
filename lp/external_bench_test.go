//go:build slow

package lp

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
)

// Other people's solvers on the same programs, cold, as subprocesses where they are installed: whole
// processes, to be compared with BenchmarkRatio and BenchmarkExact in the same run.

// BenchmarkQSoptEx is the exact rational solver QSopt_ex (Debian package qsopt-ex) at e^ε = 3/2.
func BenchmarkQSoptEx(b *testing.B) {
	solver, err := exec.LookPath("esolver")
	if err != nil {
		b.Skip("esolver is not installed")
	}
	for _, size := range []int{6, 7} {
		b.Run(fmt.Sprintf("%d%d", size, size), func(b *testing.B) {
			p := testProgram(b, size, size, Prior{}, Paper, expEps(b, 3, 2))
			dir := b.TempDir()
			file := filepath.Join(dir, "program.lp")
			writeLP(b, file, written(p, big.NewRat(2, 3)))
			for b.Loop() {
				cmd := exec.Command(solver, "-O", filepath.Join(dir, "solution"), file)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				require.NoError(b, err, string(out))
			}
			text, err := os.ReadFile(filepath.Join(dir, "solution"))
			require.NoError(b, err)
			want := exactOptimum(b, size, size, Prior{}, Paper, expEps(b, 3, 2))
			require.Contains(b, string(text), "Value = "+want.RatString()+"\n", "QSopt_ex has the same optimum")
		})
	}
}

// written is the published program at a rational z, all its rows at once: the least total error of probabilities x_v of one candidate at each depth v of each orbit.
func written(p *program, z *big.Rat) *linear.Rational {
	one, zero, r := big.NewRat(1, 1), new(big.Rat), new(linear.Rational)
	rows, entries := make([][]int32, len(p.vars.Orbit)), make([][]*big.Rat, len(p.vars.Orbit))
	put := func(j int32, row int, x *big.Rat) {
		rows[j], entries[j] = append(rows[j], int32(row)), append(entries[j], x)
	}
	for j, i := range p.vars.Orbit {
		put(int32(j), int(i), big.NewRat(int64(p.vars.Count[j]), 1))
	}
	for range p.vectors {
		r.AddRow(one, one)
	}
	for _, row := range p.Start {
		i := r.AddRow(zero, nil)
		put(row.Above, i, one)
		put(row.Below, i, new(big.Rat).Neg(z))
	}
	for j, i := range p.vars.Orbit {
		weight := new(big.Int).Mul(p.vectors[i], big.NewInt(int64(p.vars.Count[j])*int64(p.vars.Depth[j])))
		r.AddCol(new(big.Rat).SetInt(weight), zero, nil, rows[j], entries[j])
	}
	return r
}

// modelOf is the same in floating point, at the float64 nearest to the program's z.
func modelOf(b *testing.B, p *program) *linear.Model {
	z := new(big.Rat).SetFloat64(floatZ(p.question.Epsilon))
	require.NotNil(b, z)
	return written(p, z).Model()
}

// writeLP writes a program of rows = and >= and columns >= 0 in LP format with rational coefficients.
func writeLP(b *testing.B, file string, r *linear.Rational) {
	rows := make([][]string, r.Rows())
	var objective []string
	for j := range r.Cols() {
		if r.Cost[j].Sign() != 0 {
			objective = append(objective, fmt.Sprintf("%s x%d", r.Cost[j].RatString(), j))
		}
		for p := r.Start[j]; p < r.Start[j+1]; p++ {
			sign, v := "+", new(big.Rat).Set(r.Value[p])
			if v.Sign() < 0 {
				sign = "-"
				v.Neg(v)
			}
			rows[r.Index[p]] = append(rows[r.Index[p]], fmt.Sprintf("%s %s x%d", sign, v.RatString(), j))
		}
	}
	f, err := os.Create(file)
	require.NoError(b, err)
	defer f.Close()
	w := bufio.NewWriter(f)
	fmt.Fprintf(w, "Minimize\n obj: %s\nSubject To\n", strings.Join(objective, "\n + "))
	for i, terms := range rows {
		relation := ">="
		if r.RowUpper[i] != nil {
			relation = "="
		}
		fmt.Fprintf(w, " r%d: %s %s %s\n", i, strings.Join(terms, " "), relation, r.RowLower[i].RatString())
	}
	fmt.Fprintln(w, "End")
	require.NoError(b, w.Flush())
}

const highs = linprogInput + `
print(repr(linprog(**program(*sys.argv[1:])).fun))
`

// linprogInput is the part of a script that reads a program of writeHiGHS, as the arguments of linprog.
const linprogInput = `
import sys, time, numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_matrix
def program(name, rows, cols):
    d = lambda s, t: np.fromfile(name + s, dtype=t)
    a = csc_matrix((d(".value", "f8"), d(".index", "i4"), d(".start", "i8")), shape=(int(rows), int(cols))).tocsr()
    lower, upper = d(".lower", "f8"), d(".upper", "f8")
    e = lower == upper
    return dict(c=d(".cost", "f8"), A_ub=-a[~e], b_ub=-lower[~e], A_eq=a[e], b_eq=lower[e], method="highs")
`

// BenchmarkHiGHS is HiGHS as scipy calls it (python3-scipy), at ε = 0.5, the process's start-up of some 0.5 s included.
func BenchmarkHiGHS(b *testing.B) {
	python := scipy()
	if python == "" {
		b.Skip("python3 with scipy is not installed")
	}
	for _, size := range []int{6, 7, 8} {
		b.Run(fmt.Sprintf("%d%d", size, size), func(b *testing.B) {
			p := testProgram(b, size, size, Prior{}, Paper, decimalEps(b, "0.5"))
			m := modelOf(b, p)
			base := filepath.Join(b.TempDir(), "program")
			writeHiGHS(b, base, m)
			for b.Loop() {
				out, err := exec.Command(python, "-c", highs, base, fmt.Sprint(m.Rows()), fmt.Sprint(m.Cols())).CombinedOutput()
				require.NoError(b, err, string(out))
			}
		})
	}
}

// scipy returns a Python that has scipy, or "".
func scipy() string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import scipy.optimize").Run() == nil {
			return name
		}
	}
	return ""
}

// writeHiGHS writes a program as the script highs reads it.
func writeHiGHS(b *testing.B, base string, m *linear.Model) {
	starts := make([]int64, len(m.Start))
	for i, s := range m.Start {
		starts[i] = int64(s)
	}
	for suffix, data := range map[string]any{
		".value": m.Value, ".index": m.Index, ".start": starts, ".lower": m.RowLower, ".upper": m.RowUpper, ".cost": m.Cost,
	} {
		writeBinary(b, base+suffix, data)
	}
}

func writeBinary(b *testing.B, file string, data any) {
	f, err := os.Create(file)
	require.NoError(b, err)
	defer f.Close()
	w := bufio.NewWriter(f)
	require.NoError(b, binary.Write(w, binary.LittleEndian, data))
	require.NoError(b, w.Flush())
}
