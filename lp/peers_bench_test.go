//go:build slow

package lp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optratio/internal/clp"
	"optratio/internal/linear"
)

// peerLimit bounds one run of a peer's whole process.
const peerLimit = 100 * time.Second

// processCost is what a whole process took.
type processCost struct {
	cpu  float64 // seconds of user and system time
	peak int64   // bytes
	out  string
	late bool
}

// process runs a command to its end, or to the limit.
func process(b *testing.B, name string, args ...string) processCost {
	ctx, cancel := context.WithTimeout(b.Context(), peerLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.Fatal(err)
	}
	late := ctx.Err() != nil
	if !late {
		require.NoError(b, err, out.String())
	}
	s := cmd.ProcessState
	return processCost{(s.UserTime() + s.SystemTime()).Seconds(), s.SysUsage().(*syscall.Rusage).Maxrss * 1024, out.String(), late}
}

// peer is somebody else's solver: its command line for the files of a program, and why it is left out, if it is.
type peer struct {
	name    string
	command []string
	missing string
}

// peers lists the solvers that read the program in base.mps, or base.value and so on for HiGHS.
func peers(base string, m *linear.Model) []peer {
	find := func(name, tool, from string, args ...string) peer {
		path, err := exec.LookPath(tool)
		if err != nil {
			return peer{name: name, missing: fmt.Sprintf("%s is not installed (%s)", tool, from)}
		}
		return peer{name: name, command: append([]string{path}, args...)}
	}
	python := peer{name: "HiGHS", missing: "python3 with scipy is not installed (python3-scipy)"}
	if path := scipy(); path != "" {
		python = peer{name: "HiGHS", command: []string{path, "-c", highs, base, fmt.Sprint(m.Rows()), fmt.Sprint(m.Cols())}}
	}
	mps := base + ".mps"
	return []peer{
		python,
		find("CLP", "clp", "coinor-clp", mps, "-solve"),
		find("glpsol", "glpsol", "glpk-utils", "--freemps", mps),
		find("QSopt_ex", "esolver", "qsopt-ex", "-O", base+".sol", mps),
	}
}

// writeMPS writes a program of rows = and >= and columns >= 0 in free MPS format.
func writeMPS(b *testing.B, file string, m *linear.Model) {
	f, err := os.Create(file)
	require.NoError(b, err)
	w := bufio.NewWriter(f)
	fmt.Fprint(w, "NAME optimum\nROWS\n N cost\n")
	for i := range m.Rows() {
		fmt.Fprintf(w, " %s r%d\n", map[bool]string{true: "E", false: "G"}[m.RowLower[i] == m.RowUpper[i]], i)
	}
	fmt.Fprintln(w, "COLUMNS")
	for j := range m.Cols() {
		if m.Cost[j] != 0 {
			fmt.Fprintf(w, " x%d cost %.17g\n", j, m.Cost[j])
		}
		for p := m.Start[j]; p < m.Start[j+1]; p++ {
			fmt.Fprintf(w, " x%d r%d %.17g\n", j, m.Index[p], m.Value[p])
		}
	}
	fmt.Fprintln(w, "RHS")
	for i := range m.Rows() {
		if lower := m.RowLower[i]; lower != 0 && !math.IsInf(lower, 0) {
			fmt.Fprintf(w, " rhs r%d %.17g\n", i, lower)
		}
	}
	fmt.Fprintln(w, "ENDATA")
	require.NoError(b, errors.Join(w.Flush(), f.Close()))
}

// BenchmarkPeers is the main job beside other people's solvers on the same program, cold, all of them whole processes in one run: seconds of
// processor time and peak memory of optratio, which certifies its answer to 1e-9, and the factors that others take. It prints the table of
// docs/development/performance.md. Peers solve the program once it is written down; enumerating and writing it is not in their time. A peer that is not installed
// is named; one that takes more than a hundred seconds has a ">". With -short only small lattices are compared.
func BenchmarkPeers(b *testing.B) {
	dir := b.TempDir()
	program := buildProgram(b, dir)
	missing := map[string]bool{}
	fmt.Println("\nProcessor time of whole processes, peers in multiples of optratio's:\n\n| (n,k), ε | rows | optratio, s | MB | HiGHS | CLP | glpsol | QSopt_ex |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, c := range []struct {
		n, k int
		eps  string
	}{{4, 4, "0.5"}, {5, 5, "0.5"}, {6, 6, "0.5"}, {3, 20, "0.5"}, {12, 3, "0.5"}, {7, 7, "0.5"}, {7, 7, "0.02"}, {3, 40, "0.5"}, {8, 8, "0.5"}, {8, 8, "0.05"}, {20, 3, "0.5"}} {
		if c.n*c.k > 36 && c.n != 3 && testing.Short() {
			continue
		}
		p := testProgram(b, c.n, c.k, Prior{}, Paper, decimalEps(b, c.eps))
		m := modelOf(b, p)
		base := filepath.Join(dir, fmt.Sprintf("%d-%d-%s", c.n, c.k, c.eps))
		writeMPS(b, base+".mps", m)
		writeHiGHS(b, base, m)
		own := process(b, program, "ratio", "-n", fmt.Sprint(c.n), "-k", fmt.Sprint(c.k), "--eps", c.eps, "--mechanism", "pf", "--method", "lp", "--json")
		fmt.Printf("| (%d,%d), %s | %d | %s | %d |", c.n, c.k, c.eps, m.Rows(), bounded(own, fmt.Sprintf("%.2f", own.cpu)), own.peak>>20)
		optimum := math.NaN()
		for _, peer := range peers(base, m) {
			if peer.missing != "" {
				missing[peer.missing] = true
				fmt.Print(" |")
				continue
			}
			took := process(b, peer.command[0], peer.command[1:]...)
			if r := objectives[peer.name]; !took.late && r != nil && !r.MatchString(took.out) {
				fmt.Print(" no answer |") // as HiGHS has none at (20,3)
				continue
			}
			fmt.Printf(" %s |", bounded(took, fmt.Sprintf("%.1f", took.cpu/own.cpu)))
			if !took.late {
				optimum = agree(b, peer.name, took.out, optimum)
				b.ReportMetric(took.cpu/own.cpu, fmt.Sprintf("x%s/%d-%d-%s", peer.name, c.n, c.k, c.eps))
			}
		}
		fmt.Println()
	}
	for why := range missing {
		fmt.Println("left out:", why)
	}
}

// buildProgram builds optratio, with CLP where this test has it.
func buildProgram(b *testing.B, dir string) string {
	tags := "-tags="
	if clp.Available {
		tags += "clp"
	}
	program := filepath.Join(dir, "optratio")
	process(b, "go", "build", tags, "-o", program, "optratio/cmd/optratio")
	return program
}

// BenchmarkGrowth is optratio alone, as whole processes: how its processor time and memory grow with n and k. It prints the second table of docs/development/performance.md.
func BenchmarkGrowth(b *testing.B) {
	program := buildProgram(b, b.TempDir())
	fmt.Println("\nWhole processes:\n\n| command | processor time, s | MB |\n| --- | --- | --- |")
	for _, args := range []string{
		"ratio -n 4 -k 4 --eps 0.5 --mechanism pf --method lp", "ratio -n 4 -k 8 --eps 0.5 --mechanism pf --method lp", "ratio -n 4 -k 16 --eps 0.5 --mechanism pf --method lp",
		"ratio -n 8 -k 4 --eps 0.5 --mechanism pf --method lp", "ratio -n 16 -k 4 --eps 0.5 --mechanism pf --method lp",
		"ratio -n 60 -k 3 --eps 0.5 --mechanism pf --method lp", "ratio -n 3 -k 50 --eps 0.02 --mechanism pf --method lp",
		"ratio -n 6 -k 6 --exp-eps 3/2 --mechanism pf --method lp", "ratio -n 7 -k 7 --exp-eps 3/2 --mechanism pf --method lp",
		"ratio -n 14 -k 14 --eps 0.5 --method lumped --gap 0.02", "threshold -n 5 -k 5 --method lp",
		"verify --mechanism pf -n 6 -k 6 --eps 0.5", "verify --mechanism pf -n 3 -k 50 --eps 0.5",
		"stopping -n 1000000", "stopping -n 100 --eps 0.2 --lp",
		"heterogeneous --sensitivities 1,2,4 --grid 0:12 --shift-invariant --exp-eps 2",
	} {
		took := process(b, program, strings.Fields(args)...)
		fmt.Printf("| `optratio %s` | %s | %d |\n", args, bounded(took, fmt.Sprintf("%.2f", took.cpu)), took.peak>>20)
	}
}

// objectives read what a peer says of its optimum.
var objectives = map[string]*regexp.Regexp{
	"HiGHS":  regexp.MustCompile(`(?m)^([-+.e0-9]+)$`),
	"CLP":    regexp.MustCompile(`objective value ([-+.e0-9]+)`),
	"glpsol": regexp.MustCompile(`obj = +([-+.e0-9]+)`),
}

// agree checks that a peer's optimum is that of the others before it, which it returns.
func agree(b *testing.B, peer, out string, optimum float64) float64 {
	r := objectives[peer]
	if r == nil {
		return optimum
	}
	all := r.FindAllStringSubmatch(out, -1)
	own, err := strconv.ParseFloat(all[len(all)-1][1], 64)
	require.NoError(b, err)
	if !math.IsNaN(optimum) {
		require.InEpsilon(b, optimum, own, 1e-5, peer)
	}
	return own
}

func bounded(w processCost, text string) string {
	if w.late {
		return "> " + text
	}
	return text
}
