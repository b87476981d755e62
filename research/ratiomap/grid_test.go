package ratiomap

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/lp"
	"optratio/research/check"
	"optratio/verify/certificate"
)

func plan() *Plan {
	return &Plan{N: []int{2, 3, 4}, K: []int{1, 2}, Options: Options{Target: big.NewRat(1014, 1000)}, Lower: true, Jobs: 2, Check: accepted, Report: func(int, int) {}}
}

// A row is a line of a map: the bound on one interval of z = e^-ε of one lattice.
type row struct {
	N, K        int
	Constraints string
	Interval
	SeenEpsilon, SeenRatio *big.Rat // the Seen of the whole lattice, the same in all its rows; nil where there is none
}

// rowsOf reads the rows of a file.
func rowsOf(t testing.TB, data []byte) (rows []row) {
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, columns, lines[0])
	for _, fields := range lines[1:] {
		number := func(i int) *big.Rat { x, _ := new(big.Rat).SetString(fields[i]); return x }
		n, err := strconv.Atoi(fields[0])
		require.NoError(t, err)
		k, err := strconv.Atoi(fields[1])
		require.NoError(t, err)
		rows = append(rows, row{n, k, fields[2], Interval{number(3), number(4), number(5), fields[6]}, number(8), number(9)})
	}
	return rows
}

// covers reports what is wrong with intervals if they do not cover all z from 0 to 1 without a gap, or a bound has no such proof.
func covers(intervals []Interval) error {
	reached := new(big.Rat)
	for i, r := range intervals {
		if r.From.Cmp(reached) != 0 || r.To.Cmp(r.From) <= 0 || r.Bound.Cmp(one) < 0 || (r.Proof == ProofThreshold) != (i == 0) || !slices.Contains([]string{ProofThreshold, ProofClosedForm, ProofDual}, r.Proof) {
			return fmt.Errorf("from z = %s to %s: bound %s, proof %s", r.From, r.To, r.Bound, r.Proof)
		}
		reached = r.To
	}
	if reached.Cmp(one) != 0 {
		return fmt.Errorf("nothing from z = %s to 1", reached)
	}
	return nil
}

// boundOf returns the largest bound of rows.
func boundOf(rows []row) *big.Rat {
	c := &Cover{}
	for _, r := range rows {
		c.Intervals = append(c.Intervals, r.Interval)
	}
	return c.Bound()
}

// The file has every lattice in order, the same with any number of jobs, and a certificate for each, which the checker accepts.
func TestRun(t *testing.T) {
	p := plan()
	p.Certs = filepath.Join(t.TempDir(), "certs")
	var files [2]bytes.Buffer
	for i := range files {
		p.Jobs = i + 1
		s, err := p.Run(t.Context())
		require.NoError(t, err)
		assert.Equal(t, [2]int{6, 6}, [2]int{s.Lattices, s.Computed})
		require.NoError(t, s.WriteCSV(&files[i]))
	}
	assert.Equal(t, files[0].String(), files[1].String())
	rows := rowsOf(t, files[0].Bytes())
	assert.True(t, slices.IsSortedFunc(rows, func(a, b row) int { return (a.K-b.K)*100 + a.N - b.N }))
	for _, at := range []Place{{3, 2}, {4, 2}} {
		text, err := os.ReadFile(filepath.Join(p.Certs, fmt.Sprintf("%d-%d-paper.cert", at.N, at.K)))
		require.NoError(t, err)
		assert.NoError(t, accepted(t.Context(), text))
		own := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.N != at.N || r.K != at.K })
		assert.Contains(t, string(text), "claim ratio pf 0 1 "+boundOf(own).RatString()+"\n")
	}
	p.Check = func(context.Context, []byte) error { return errors.New("refused") }
	_, err := p.Run(t.Context())
	assert.ErrorContains(t, err, "refused", "a certificate that is not accepted is not kept")
}

// TestSummary: k = 2 is settled for every n once those below 12 are there.
func TestSummary(t *testing.T) {
	slowtest.Only(t)
	p := plan()
	p.N, p.K, p.Lower, p.Target = nil, []int{1, 2}, false, big.NewRat(1004, 1000)
	s, err := p.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []Settlement{{K: 1, From: 2, Bound: 1, All: true}, {K: 2, From: 6, Bound: s.Settled[1].Bound, All: true}}, s.Settled)
	p.N = []int{3, 5}
	s, err = p.Run(t.Context())
	require.NoError(t, err)
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

// Writing out a grid and listing the classes of a lattice end with the context, before their work is done.
func TestPlanningEndsWithTheContext(t *testing.T) {
	p := plan()
	p.N, p.K = nil, count(1, 1000)
	for looks := range int64(40) {
		_, err := p.Run(spentAfter(looks))
		require.ErrorIs(t, err, errSpent)
	}
	_, err := newForm(spentAfter(3), 400, 400, 2, 1e6)
	require.ErrorIs(t, err, errSpent)
	p.N = count(2, 3000)
	_, _, err = p.lay(t.Context())
	assert.ErrorIs(t, err, lp.ErrTooLarge)
}

// A run that has been stopped has whole lattices.
func TestStoppedRun(t *testing.T) {
	p := plan()
	p.Jobs = 1
	ctx, cancel := context.WithCancelCause(t.Context())
	p.Report = func(done, _ int) {
		if done == 3 {
			cancel(errSpent)
		}
	}
	s, err := p.Run(ctx)
	require.ErrorIs(t, err, errSpent)
	assert.Equal(t, 3, s.Computed)
	var file strings.Builder
	require.NoError(t, s.WriteCSV(&file))
	for _, c := range s.covers {
		assert.NoError(t, covers(c.Intervals))
	}
}

// A lattice that cannot be computed does not keep the others from being.
func TestOneLatticeFails(t *testing.T) {
	p := plan()
	p.N, p.K, p.MaxClasses = []int{3, 40}, []int{2, 30}, 40
	s, err := p.Run(t.Context())
	require.ErrorIs(t, err, errTooMany)
	assert.Equal(t, 2, s.Computed)
}
