package ratiomap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/grid"
	"optratio/internal/slowtest"
	"optratio/lp"
	"optratio/research/check"
	"optratio/verify/certificate"
)

func plan() *Plan {
	return &Plan{N: []int{2, 3, 4}, K: []int{1, 2}, Options: Options{Target: big.NewRat(1014, 1000)}, Lower: true}
}

// rowsOf reads the rows of a file, and text writes them.
func rowsOf(t testing.TB, data []byte) []Row {
	table, whole, err := Rows.ParseCSV(t.Context(), data)
	require.NoError(t, err)
	require.Len(t, data, whole)
	return table.Rows
}

func text(t testing.TB, rows []Row) string {
	var b strings.Builder
	require.NoError(t, Rows.WriteCSV(&b, &grid.Table[Row]{Rows: rows}))
	return b.String()
}

func runTo(t *testing.T, p *Plan, f Files) *Summary {
	s, err := Run(context.Background(), p, f)
	require.NoError(t, err)
	require.Zero(t, s.Missing())
	return s
}

// TestResume: the file is the same bytes whole, and cut at any line or byte and resumed; what is complete is kept.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	f := Files{Options: grid.Options{Path: filepath.Join(dir, "map.csv"), Jobs: 2}, Certs: filepath.Join(dir, "certs"), Check: accepted}
	s := runTo(t, plan(), f)
	assert.Equal(t, 6, s.Computed)
	whole, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	_, err = Run(context.Background(), plan(), f)
	require.ErrorIs(t, err, grid.ErrFile, "a file that exists is not replaced")
	f.Resume = true
	for _, cut := range []int{0, 10, len(whole) / 3, len(whole) / 2, len(whole) - 1, len(whole)} {
		require.NoError(t, os.WriteFile(f.Path, whole[:cut], 0o644))
		s := runTo(t, plan(), f)
		assert.Equal(t, 6, s.Kept+s.Computed)
		again, err := os.ReadFile(f.Path)
		require.NoError(t, err)
		assert.Equal(t, string(whole), string(again))
		if cut == len(whole) {
			assert.Zero(t, s.Computed)
		}
	}
	// A certificate that is lost is made again.
	require.NoError(t, os.Remove(filepath.Join(f.Certs, CertificateName(4, 2, 0))))
	assert.Equal(t, 1, runTo(t, plan(), f).Computed)
	other := plan()
	other.Level = 3
	_, err = Run(context.Background(), other, f)
	assert.ErrorIs(t, err, grid.ErrFile, "of another level")
}

// TestDoctoredTables: rows with a hole are not taken for a cover, and are computed again.
func TestDoctoredTables(t *testing.T) {
	slowtest.Only(t)
	dir := t.TempDir()
	f := Files{Options: grid.Options{Path: filepath.Join(dir, "map.csv"), Jobs: 1, Resume: true}}
	runTo(t, plan(), f)
	whole, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	rows := rowsOf(t, whole)
	for i := range rows {
		if rows[i].N != 4 || rows[i].K != 2 {
			continue
		}
		var b bytes.Buffer
		require.NoError(t, Rows.WriteCSV(&b, &grid.Table[Row]{Rows: slices.Delete(slices.Clone(rows), i, i+1)}))
		require.NoError(t, os.WriteFile(f.Path, b.Bytes(), 0o644))
		assert.Equal(t, 1, runTo(t, plan(), f).Computed, "without row %d", i)
		again, err := os.ReadFile(f.Path)
		require.NoError(t, err)
		assert.Equal(t, string(whole), string(again))
	}
	head, good := strings.Join(columns, ",")+"\n", "3,2,paper,0,1,1,threshold,0,,\n"
	for _, bad := range []string{"n,k\n", head + "x,2,paper,0,1,1,threshold,0,,\n" + good, head + "3,2,paper,0,?,1,threshold,0,,\n" + good} {
		_, _, err := Rows.ParseCSV(t.Context(), []byte(bad))
		assert.ErrorIs(t, err, grid.ErrFile, bad)
	}
}

// TestSummary: k = 2 is settled for every n once those below 12 are there.
func TestSummary(t *testing.T) {
	slowtest.Only(t)
	p := plan()
	p.N, p.K, p.Lower, p.Target = nil, []int{1, 2}, false, big.NewRat(1004, 1000)
	s := runTo(t, p, Files{Options: grid.Options{Path: filepath.Join(t.TempDir(), "map.csv"), Jobs: 2}})
	assert.Equal(t, []Settlement{{K: 1, From: 2, Bound: 1, All: true}, {K: 2, From: 6, Bound: s.Settled[1].Bound, All: true}}, s.Settled)
	p.N = []int{3, 5}
	s = runTo(t, p, Files{Options: grid.Options{Path: filepath.Join(t.TempDir(), "map.csv"), Jobs: 1}})
	assert.False(t, s.Settled[1].All)
	assert.Equal(t, []int{4}, s.Settled[1].Missing)
}

// accepted checks certificates as the command does.
func accepted(ctx context.Context, text []byte) error {
	report, err := check.Check(bytes.NewReader(text), certificate.Options{Context: ctx})
	if err == nil && !report.Valid {
		err = errors.New(report.Reason)
	}
	return err
}

// TestKeptRowsAreCheckedAgain: with a folder for certificates, rows that a certificate does not prove are computed again, be it the file that was changed, the certificate or both.
func TestKeptRowsAreCheckedAgain(t *testing.T) {
	dir := t.TempDir()
	f := Files{Options: grid.Options{Path: filepath.Join(dir, "map.csv"), Jobs: 1, Resume: true}, Certs: filepath.Join(dir, "certs"), Check: accepted}
	runTo(t, plan(), f)
	whole, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	rows := rowsOf(t, whole)
	i := slices.IndexFunc(rows, func(r Row) bool { return r.N == 4 && r.K == 2 && r.Proof == ProofDual })
	path := filepath.Join(f.Certs, CertificateName(4, 2, 0))
	cert, err := os.ReadFile(path)
	require.NoError(t, err)
	better := big.NewRat(100001, 100000) // than what is true

	doctored := string(cert)
	for j := i; j < len(rows) && rows[j].N == 4 && rows[j].K == 2; j++ {
		doctored = strings.Replace(doctored, "bound "+rows[j].Bound.RatString()+"\n", "bound "+better.RatString()+"\n", 1)
		doctored = strings.Replace(doctored, "claim ratio pf 0 1 "+rows[j].Bound.RatString()+"\n", "claim ratio pf 0 1 "+better.RatString()+"\n", 1)
		rows[j].Bound = better
	}
	changed := text(t, rows)
	require.NotEqual(t, string(whole), changed)
	require.NotEqual(t, string(cert), doctored)
	for name, c := range map[string][2]string{"file": {changed, string(cert)}, "certificate": {string(whole), doctored}, "both": {changed, doctored}, "neither": {string(whole), string(cert)}} {
		require.NoError(t, os.WriteFile(f.Path, []byte(c[0]), 0o644))
		require.NoError(t, os.WriteFile(path, []byte(c[1]), 0o644))
		s := runTo(t, plan(), f)
		want := 1
		if name == "neither" {
			want = 0
		}
		assert.Equal(t, want, s.Computed, name)
		again, err := os.ReadFile(f.Path)
		require.NoError(t, err)
		assert.Equal(t, string(whole), string(again), name)
	}
	// The file is left alone where the check does not come to its end.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Run(ctx, plan(), f)
	require.ErrorIs(t, err, context.Canceled)
	again, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	assert.Equal(t, string(whole), string(again))
}

// TestShards: parts of a grid, merged in any order and overlapping, are the same bytes as the whole; parts that differ are not merged.
func TestShards(t *testing.T) {
	dir := t.TempDir()
	f := Files{Options: grid.Options{Path: filepath.Join(dir, "map.csv"), Jobs: 1}}
	runTo(t, plan(), f)
	whole, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	var parts []string
	computed := 0
	for part := range 4 {
		p := plan()
		p.Shard = grid.Shard{Index: part, Count: 4}
		g := Files{Options: grid.Options{Path: filepath.Join(dir, fmt.Sprint("part-", part, ".csv")), Jobs: 1}}
		s := runTo(t, p, g)
		assert.Equal(t, s.Lattices, s.Computed)
		assert.Empty(t, s.Settled)
		computed += s.Computed
		parts = append([]string{g.Path}, parts...)
	}
	assert.Equal(t, 6, computed)
	for _, some := range [][]string{parts, append(parts, f.Path, parts[1])} {
		merged, lattices, err := Merge(t.Context(), some)
		require.NoError(t, err)
		assert.Equal(t, 6, lattices)
		assert.Equal(t, string(whole), text(t, merged.Rows))
	}
	for name, change := range map[string][2]string{"another bound": {",1,threshold", ",1.5,threshold"}, "other constraints": {"paper", "full"}, "a hole": {",threshold,", ",dual,"}} {
		bad := filepath.Join(dir, "bad.csv")
		require.NoError(t, os.WriteFile(bad, []byte(strings.ReplaceAll(string(whole), change[0], change[1])), 0o644))
		_, _, err = Merge(t.Context(), []string{parts[0], parts[1], bad})
		assert.ErrorIs(t, err, grid.ErrFile, name)
	}
	_, _, err = Merge(t.Context(), []string{filepath.Join(dir, "none.csv")})
	assert.ErrorIs(t, err, grid.ErrFile)
}

// spent is a context that ends when it is asked the so many-th time whether it has.
type spent struct {
	context.Context
	left atomic.Int64
}

var errSpent = errors.New("spent")

func (c *spent) Err() error {
	if c.left.Add(-1) < 0 {
		return errSpent
	}
	return nil
}

func spentAfter(looks int64) *spent {
	c := &spent{Context: context.Background()}
	c.left.Store(looks)
	return c
}

// Writing out a grid, listing the classes of a lattice and reading a table all end with the context, before their work is done.
func TestPlanningEndsWithTheContext(t *testing.T) {
	p := &Plan{K: count(1, 1000), Options: Options{Target: big.NewRat(1014, 1000)}}
	path := filepath.Join(t.TempDir(), "map.csv")
	for looks := range int64(40) {
		_, err := Run(spentAfter(looks), p, Files{Options: grid.Options{Path: path, Jobs: 1}})
		require.ErrorIs(t, err, errSpent)
	}
	assert.NoFileExists(t, path)
	_, err := newForm(spentAfter(3), 400, 400, 2, 1e6)
	require.ErrorIs(t, err, errSpent)
	_, _, err = Rows.ParseCSV(spentAfter(2), []byte(text(t, slices.Repeat([]Row{{N: 2, K: 1, Constraints: "paper", Interval: Interval{new(big.Rat), one, one, ProofThreshold}}}, 5))))
	require.ErrorIs(t, err, errSpent)
	_, err = (&Plan{N: count(2, 3000), K: count(1, 1000), Options: p.Options}).lay(t.Context())
	assert.ErrorIs(t, err, lp.ErrTooLarge)
}

// Rows that are written one after the other are put in order at the end, and a run that has been stopped leaves those of whole lattices.
func TestStoppedRun(t *testing.T) {
	dir := t.TempDir()
	f := Files{Options: grid.Options{Path: filepath.Join(dir, "map.csv"), Jobs: 1}}
	p := plan()
	runTo(t, p, f)
	whole, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	g := Files{Options: grid.Options{Path: filepath.Join(dir, "stopped.csv"), Jobs: 1, Resume: true}}
	ctx, cancel := context.WithCancelCause(t.Context())
	g.Report = func(done, _ int) {
		if done == 3 {
			cancel(errSpent)
		}
	}
	s, err := Run(ctx, p, g)
	require.NoError(t, err)
	assert.Equal(t, 3, s.Missing())
	g.Report = nil
	s, err = Run(t.Context(), p, g)
	require.NoError(t, err)
	assert.Equal(t, [2]int{3, 3}, [2]int{s.Kept, s.Computed})
	again, err := os.ReadFile(g.Path)
	require.NoError(t, err)
	assert.Equal(t, string(whole), string(again))
}

// A second run on the file of one at work is refused; no row is lost.
func TestTwoRunsOnOneFile(t *testing.T) {
	f := Files{Options: grid.Options{Path: filepath.Join(t.TempDir(), "map.csv"), Jobs: 1}}
	second := f
	second.Resume = true
	tried := 0
	f.Report = func(int, int) {
		tried++
		_, err := Run(t.Context(), plan(), second)
		assert.ErrorIs(t, err, grid.ErrFile)
		assert.ErrorContains(t, err, "another process is writing it")
	}
	assert.Equal(t, 6, runTo(t, plan(), f).Computed)
	assert.Equal(t, 6, tried)
	assert.Equal(t, 6, runTo(t, plan(), second).Kept)
}

// What a killed run left of a certificate is gone after the next one, whatever lattice it was of; what a living process writes is left to it.
func TestRestsOfKilledRuns(t *testing.T) {
	dir := t.TempDir()
	f := Files{Options: grid.Options{Path: filepath.Join(dir, "map.csv"), Jobs: 1, Resume: true}, Certs: filepath.Join(dir, "certs"), Check: accepted}
	require.NoError(t, os.Mkdir(f.Certs, 0o700))
	for _, name := range []string{".4-2-paper.cert.new", ".9-9-paper.cert.new"} {
		require.NoError(t, os.WriteFile(filepath.Join(f.Certs, name), []byte("optratio-certificate 3\nproblem interval\nn 4"), 0o600))
	}
	runTo(t, plan(), f)
	for _, folder := range []string{dir, f.Certs} {
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		for _, e := range entries {
			assert.False(t, strings.HasPrefix(e.Name(), "."), e.Name())
		}
	}
}

// A lattice that cannot be computed does not keep the others from being.
func TestOneLatticeFails(t *testing.T) {
	p := plan()
	p.N, p.K, p.MaxClasses = []int{3, 40}, []int{2, 30}, 40
	s, err := Run(t.Context(), p, Files{Options: grid.Options{Path: filepath.Join(t.TempDir(), "map.csv"), Jobs: 1}})
	require.ErrorIs(t, err, errTooMany)
	assert.Equal(t, 2, s.Computed)
}
