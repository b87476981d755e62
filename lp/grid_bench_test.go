//go:build slow

package lp

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// gridLimit is the elapsed time after which HiGHS gives up on one program.
const gridLimit = 60 * time.Second

var gridEpsilons = []string{"0.02", "0.05", "0.1", "0.2", "0.35", "0.5", "0.69"}

// gridScript solves one program a line from its standard input, cold, and prints the processor time that linprog took, its status and its optimum.
const gridScript = linprogInput + `
for line in sys.stdin:
    name, rows, cols, limit = line.split()
    p = program(name, rows, cols)
    start = time.process_time()
    r = linprog(**p, options={"time_limit": float(limit)})
    print(time.process_time() - start, r.status, repr(r.fun), flush=True)
`

// gridCell is one program and the seconds of processor time that it took.
type gridCell struct {
	n, k          int
	eps           string
	rows          int
	whole, inside float64 // optratio as a process, and lp.Ratio in this one
	peer          float64 // linprog in a process that runs already
	late, failed  bool    // of HiGHS
}

func (c gridCell) ratios() (whole, inside float64) { return c.peer / c.whole, c.peer / c.inside }

// BenchmarkGrid is the main job beside HiGHS for all n, k <= 8 and ε from 0.02 to 0.69, HiGHS being asked cold for each program. optratio's time
// is twice that of everything, from n, k and ε to an answer certified to 1e-9: of a process of its own, which takes some 0.02 s to start, and of
// lp.Ratio in a process that runs. HiGHS's is that of scipy's linprog on matrices that are in memory already. It prints the table of
// docs/development/performance.md, and every program where optratio takes longer. BENCH=Grid/n=3 is the part with three candidates, BENCH=Grid/n=8/k=8 one line of it.
func BenchmarkGrid(b *testing.B) {
	python := scipy()
	if python == "" {
		b.Skip("python3 with scipy is not installed (python3-scipy)")
	}
	dir := b.TempDir()
	program := buildProgram(b, dir)
	peer := exec.Command(python, "-c", gridScript)
	in, err := peer.StdinPipe()
	require.NoError(b, err)
	out, err := peer.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, peer.Start())
	defer func() {
		require.NoError(b, in.Close())
		require.NoError(b, peer.Wait())
	}()
	answers := bufio.NewReader(out)
	for n := 1; n <= 8; n++ {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for k := 1; k <= 8; k++ {
				b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
					var cells []gridCell
					for _, eps := range gridEpsilons {
						cells = append(cells, gridProgram(b, dir, program, n, k, eps, in, answers))
					}
					printGrid(cells)
				})
			}
		})
	}
}

// gridProgram writes a program once and takes all three times.
func gridProgram(b *testing.B, dir, program string, n, k int, eps string, in io.Writer, answers *bufio.Reader) gridCell {
	m := modelOf(b, testProgram(b, n, k, Prior{}, Paper, decimalEps(b, eps)))
	base := filepath.Join(dir, "grid")
	writeHiGHS(b, base, m)
	c := gridCell{n: n, k: k, eps: eps, rows: m.Rows()}
	c.whole = process(b, program, "ratio", "-n", fmt.Sprint(n), "-k", fmt.Sprint(k), "--eps", eps, "--mechanism", "pf", "--method", "lp", "--json").cpu

	installed := solvers(b)
	solver, ok := installed["clp"]
	if !ok {
		solver = installed["embedded"]
	}
	start := processorTime()
	ratioOfPF(b, n, k, decimalEps(b, eps), solver)
	c.inside = processorTime() - start

	_, err := fmt.Fprintln(in, base, m.Rows(), m.Cols(), gridLimit.Seconds())
	require.NoError(b, err)
	line, err := answers.ReadString('\n')
	require.NoError(b, err)
	fields := strings.Fields(line)
	require.Len(b, fields, 3)
	c.peer, err = strconv.ParseFloat(fields[0], 64)
	require.NoError(b, err)
	c.late, c.failed = fields[1] == "1", fields[1] != "0" && fields[1] != "1" // scipy's status 1 is a limit
	return c
}

// processorTime returns the user and system time of this process in seconds.
func processorTime() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return math.NaN()
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// printGrid prints the line of some n and k, and under it the programs where optratio takes longer than HiGHS.
func printGrid(cells []gridCell) {
	var whole, inside, peer, ofWhole, ofInside []float64
	note := ""
	for _, c := range cells {
		w, i := c.ratios()
		whole, inside, peer = append(whole, c.whole), append(inside, c.inside), append(peer, c.peer)
		ofWhole, ofInside = append(ofWhole, w), append(ofInside, i)
		if c.late {
			note += fmt.Sprintf(" HiGHS unfinished at %s.", c.eps)
		}
		if c.failed {
			note += fmt.Sprintf(" HiGHS without an answer at %s.", c.eps)
		}
	}
	three := func(x []float64, format string) string {
		slices.Sort(x)
		return fmt.Sprintf(format+", "+format+", "+format, x[0], x[len(x)/2], x[len(x)-1])
	}
	fmt.Printf("\n| (%d,%d) | %d | %s | %s | %s | %s | %s |%s\n", cells[0].n, cells[0].k, cells[0].rows,
		three(whole, "%.2f"), three(inside, "%.3f"), three(peer, "%.3f"), three(ofWhole, "%.2f"), three(ofInside, "%.2f"), note)
	slices.SortFunc(cells, func(a, b gridCell) int { return cmp.Compare(a.peer/a.inside, b.peer/b.inside) })
	for _, c := range cells {
		if w, i := c.ratios(); !c.late && !c.failed && min(w, i) < 1 {
			fmt.Printf("slower (%d,%d) %s: %.3f s whole, %.4f s inside, HiGHS %.4f s: %.2f, %.2f\n", c.n, c.k, c.eps, c.whole, c.inside, c.peer, w, i)
		}
	}
}
