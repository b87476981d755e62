package sweep

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/decimal"
	"optratio/internal/lumped"
	"optratio/internal/slowtest"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
)

// plan returns a plan with permute-and-flip and the exponential mechanism.
func plan(t testing.TB, n, k, eps string) *Plan {
	whole := func(text string) (out []int) {
		values, err := decimal.ParseList(text, 1000)
		require.NoError(t, err)
		for _, v := range values {
			out = append(out, int(v.Num().Int64()))
		}
		return out
	}
	values, err := decimal.ParseList(eps, 1000)
	require.NoError(t, err)
	return &Plan{
		N: whole(n), K: whole(k), Epsilon: values, Objective: "paper", Constraints: "paper",
		Request: lp.Request{Mechanisms: []mechanisms.Mechanism{mechanisms.Exponential(), mechanisms.PermuteAndFlip()}, Gap: big.NewRat(1, 1e9)},
	}
}

// small has rows of every proof.
func small(t testing.TB) *Plan { return plan(t, "2:4", "1,3", "0.2,0.6") }

func run(t testing.TB, p *Plan, o Options) *Summary { return runShard(t, p, Shard{}, o) }

func runShard(t testing.TB, p *Plan, shard Shard, o Options) *Summary {
	s, err := Run(context.Background(), p, shard, o)
	require.NoError(t, err)
	require.Zero(t, s.Missing())
	return s
}

var seconds = regexp.MustCompile(`(?m),[0-9.]+$`)

// rows returns the text of a file's rows without their seconds, and checks that they are in order.
func rows(t testing.TB, path string) string {
	table, err := Load(path)
	require.NoError(t, err)
	require.True(t, slices.IsSortedFunc(table.Rows, compare))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return seconds.ReplaceAllString(string(data), "")
}

// whole returns the rows of a plan computed at once, by one job at a time.
func whole(t testing.TB, p *Plan) string {
	path := filepath.Join(t.TempDir(), "whole.csv")
	run(t, p, Options{Path: path})
	return rows(t, path)
}

// The rows are what lp.Ratio answers.
func TestRowsAreAnswers(t *testing.T) {
	p := small(t)
	path := filepath.Join(t.TempDir(), "rows.csv")
	s := run(t, p, Options{Path: path, Jobs: 3})
	assert.Equal(t, Summary{File: path, Rows: 24, Computed: 24, Seconds: s.Seconds}, *s)
	table, err := Load(path)
	require.NoError(t, err)
	require.Len(t, table.Rows, 24)
	proofs := map[string]bool{}
	for _, r := range table.Rows {
		eps, err := number.ParseEpsilon(r.Eps)
		require.NoError(t, err)
		m, err := mechanisms.Lookup(r.Mechanism)
		require.NoError(t, err)
		a, err := lp.Ratio(context.Background(), lp.Request{N: r.N, K: r.K, Epsilon: eps, Mechanisms: []mechanisms.Mechanism{m}})
		require.NoError(t, err)
		lower, upper, _ := a.Mechanisms[0].Error.Strings()
		assert.Equal(t, [2]string{lower, upper}, [2]string{r.ErrorLower, r.ErrorUpper}, r.Parameters)
		lower, upper, _ = a.Mechanisms[0].Ratio.Strings()
		assert.Equal(t, [2]string{lower, upper}, [2]string{r.RatioLower, r.RatioUpper}, r.Parameters)
		assert.Equal(t, [2]string{a.Proof, a.Solver}, [2]string{r.Proof, r.Solver}, r.Parameters)
		proofs[r.Proof] = true
	}
	assert.True(t, proofs["lp"] && proofs["dual-recurrence"], "the grid is of one kind: %v", proofs)
}

// Rows are the same however the grid is cut into shards, and in whatever order the shards are merged.
func TestShardsMakeTheWhole(t *testing.T) {
	p := small(t)
	want := whole(t, p)
	for _, count := range []int{1, 2, 3, 5, 12, 13} {
		var parts []string
		for i := range count {
			path := filepath.Join(t.TempDir(), fmt.Sprintf("part%d.csv", i))
			runShard(t, p, Shard{Index: i, Count: count}, Options{Path: path, Jobs: 2})
			parts = append(parts, path)
		}
		slices.Reverse(parts)
		merged, err := Merge(parts)
		require.NoError(t, err)
		var b strings.Builder
		require.NoError(t, merged.WriteCSV(&b))
		assert.Equal(t, want, seconds.ReplaceAllString(b.String(), ""), "%d shards", count)
		_, missing := merged.Missing(1)
		assert.Zero(t, missing)
	}
}

// Shards are disjoint, and their programs of about the same size.
func TestDeal(t *testing.T) {
	p := plan(t, "2:6", "1:6", "0.1:1:0.1")
	all := p.deal(Shard{Index: 0, Count: 1})
	require.Len(t, all, 300)
	for _, count := range []int{2, 7, 100} {
		seen := map[string]int{}
		for i := range count {
			mine := p.deal(Shard{Index: i, Count: count})
			assert.InDelta(t, 300/count, len(mine), 1)
			for j, at := range mine {
				seen[fmt.Sprint(at.N, at.K, at.Epsilon)]++
				assert.True(t, j == 0 || mine[j-1].memory <= at.memory, "the least work comes first")
			}
		}
		assert.Len(t, seen, 300)
	}
	memory := func(points []Point) (sum float64) {
		for _, at := range points {
			sum += float64(at.memory)
		}
		return sum
	}
	for i := range 4 {
		assert.InEpsilon(t, memory(all)/4, memory(p.deal(Shard{Index: i, Count: 4})), 0.03)
	}
}

// What a kill leaves of the file at any byte is completed to the same rows.
func TestResumeAtEveryByte(t *testing.T) {
	slowtest.Only(t)
	p := plan(t, "2,3", "2", "0.2,2")
	want := whole(t, p)
	path := filepath.Join(t.TempDir(), "rows.csv")
	run(t, p, Options{Path: path})
	table, err := Load(path)
	require.NoError(t, err)
	slices.Reverse(table.Rows) // rows come in any order
	var b strings.Builder
	require.NoError(t, table.WriteCSV(&b))
	data, last := b.String(), 0
	for cut := range len(data) + 1 {
		require.NoError(t, os.WriteFile(path, []byte(data[:cut]), 0o600))
		s := run(t, p, Options{Path: path, Resume: true, Jobs: 1})
		assert.Equal(t, want, rows(t, path), "cut at byte %d", cut)
		assert.Equal(t, max(0, strings.Count(data[:cut], "\n")-1), s.Kept, "cut at byte %d: whole rows are kept", cut)
		assert.GreaterOrEqual(t, s.Kept, last)
		last = s.Kept
	}
	assert.GreaterOrEqual(t, last, 7)
}

// meddler is the uniform mechanism, which does something whenever it is asked.
type meddler struct {
	mechanisms.Mechanism
	asked atomic.Int64
	do    func(call int64)
}

func newMeddler(t testing.TB, do func(call int64)) *meddler {
	uniform, err := mechanisms.Lookup("uniform")
	require.NoError(t, err)
	return &meddler{Mechanism: uniform, do: do}
}

func (m *meddler) Exact(in *mechanisms.Instance) ([]*big.Rat, error) {
	m.do(m.asked.Add(1))
	return m.Mechanism.Exact(in)
}

// A row whose answer comes after the end of the context is not kept, at whatever point of the work that is, and the rows that are kept do not show
// that there was an end.
func TestStoppedAnywhere(t *testing.T) {
	p := plan(t, "2,3", "2", "0.2,0.6")
	quiet := newMeddler(t, func(int64) {})
	p.Request.Mechanisms = append(p.Request.Mechanisms, quiet)
	want := whole(t, p)
	calls := quiet.asked.Load()
	require.Greater(t, calls, int64(8))
	lines := strings.Split(want, "\n")
	for stop := range calls {
		ctx, cancel := context.WithCancel(context.Background())
		p.Request.Mechanisms[2] = newMeddler(t, func(call int64) {
			if call == stop+1 {
				cancel()
			}
		})
		path := filepath.Join(t.TempDir(), "rows.csv")
		s, err := Run(ctx, p, Shard{}, Options{Path: path})
		cancel()
		require.NoError(t, err)
		require.Positive(t, s.Missing(), "stopped at call %d", stop)
		table, err := Load(path)
		require.NoError(t, err)
		assert.Len(t, table.Rows, s.Computed)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range strings.SplitSeq(seconds.ReplaceAllString(string(data), ""), "\n") {
			assert.Contains(t, lines, line, "stopped at call %d", stop)
		}
		resumed := run(t, p, Options{Path: path, Resume: true})
		assert.Equal(t, s.Computed, resumed.Kept)
		assert.Equal(t, want, rows(t, path), "stopped at call %d", stop)
	}
}

// Rows that a job has when the context has ended are not kept, also where they are there at the same time as the end.
func TestRowsOfTheEnd(t *testing.T) {
	p := plan(t, "2,3", "3", "0.2")
	end := func() {}
	p.Request.Mechanisms = append(p.Request.Mechanisms, mechanisms.FromRational(mechanisms.Info{Name: "uniform choice", Symmetric: true, Uniform: true}, func(in *mechanisms.Instance) ([]*big.Rat, error) {
		if len(in.Scores) == 3 {
			end()
		}
		return slices.Repeat([]*big.Rat{big.NewRat(1, int64(len(in.Scores)))}, len(in.Scores)), nil
	}))
	want := whole(t, p)
	for range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		first := make(chan bool)
		end = func() { <-first; cancel() }
		path := filepath.Join(t.TempDir(), "rows.csv")
		s, err := Run(ctx, p, Shard{}, Options{Path: path, Jobs: 2, Report: func(done, _ int) {
			if done == 3 {
				close(first)
				time.Sleep(20 * time.Millisecond) // so that the other job ends meanwhile
			}
		}})
		require.NoError(t, err)
		assert.Equal(t, 3, s.Missing())
		end = func() {}
		run(t, p, Options{Path: path, Resume: true})
		require.Equal(t, want, rows(t, path))
	}
}

// pressed is a context that says its deadline is past and goes on all the same.
type pressed struct{ context.Context }

func (pressed) Deadline() (time.Time, bool) { return time.Now(), true }

// A deadline that is near has no influence on rows, not even of a method that has limits of its own.
func TestDeadlinesDoNotShow(t *testing.T) {
	p := plan(t, "5", "5", "0.5")
	p.Request.Method = "lumped"
	want := whole(t, p)
	assert.Contains(t, want, "lumped")
	path := filepath.Join(t.TempDir(), "rows.csv")
	s, err := Run(pressed{context.Background()}, p, Shard{}, Options{Path: path})
	require.NoError(t, err)
	assert.Equal(t, want, rows(t, path))
	assert.Equal(t, 2, s.Open, "lumping does not reach the gap")
}

// A mechanism's row does not depend on which others are asked about, also where what is proved of the optimum could.
func TestOtherMechanismsDoNotShow(t *testing.T) {
	krr, err := mechanisms.Lookup("krr")
	require.NoError(t, err)
	for _, step := range []int{1, 2} {
		p := plan(t, "2,3", "2", "0.2,1.5")
		p.Request.Step = step
		few := whole(t, p)
		p.Request.Mechanisms = append([]mechanisms.Mechanism{krr}, p.Request.Mechanisms...)
		var kept []string
		for line := range strings.SplitSeq(whole(t, p), "\n") {
			if !strings.Contains(line, ",krr,") {
				kept = append(kept, line)
			}
		}
		assert.Equal(t, few, strings.Join(kept, "\n"))
	}
}

// A job that fails or panics does not keep the others from being done.
func TestFailingJobs(t *testing.T) {
	p := plan(t, "2,3", "1", "0.5")
	p.Request.Mechanisms[0] = newMeddler(t, func(int64) { panic("no such luck") })
	p.Request.Mechanisms = p.Request.Mechanisms[:1]
	path := filepath.Join(t.TempDir(), "rows.csv")
	s, err := Run(context.Background(), p, Shard{}, Options{Path: path, Jobs: 2})
	assert.ErrorIs(t, err, ErrInternal)
	assert.Equal(t, 2, s.Missing())
	first := true
	p.Request.Mechanisms[0] = newMeddler(t, func(int64) {
		if first {
			first = false
			panic("only once")
		}
	})
	s, err = Run(context.Background(), p, Shard{}, Options{Path: path, Resume: true})
	assert.ErrorIs(t, err, ErrInternal)
	assert.Equal(t, 1, s.Missing())
	run(t, p, Options{Path: path, Resume: true})
}

// As many jobs run at a time as was asked, and no more than the memory allows.
func TestJobsAndMemory(t *testing.T) {
	p := plan(t, "3", "2", "0.3,0.4,0.5,0.6")
	p.Request.Mechanisms = p.Request.Mechanisms[:1]
	one := p.deal(Shard{})[0].memory
	for _, c := range []struct {
		jobs   int
		memory int64
		want   int64
	}{{3, 0, 3}, {2, 0, 2}, {4, 2 * one, 2}, {4, 2*one - 1, 1}} {
		var running, most atomic.Int64
		var mu sync.Mutex
		full := sync.NewCond(&mu)
		p.Request.MaxMemory = c.memory
		entered := map[int64]bool{}
		p.Request.Mechanisms[0] = newMeddler(t, func(call int64) {
			now := running.Add(1)
			for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
			}
			mu.Lock() // wait once until as many run as should
			entered[call] = true
			full.Broadcast()
			for int64(len(entered)) < c.want {
				full.Wait()
			}
			mu.Unlock()
			time.Sleep(5 * time.Millisecond) // so that one job too many is seen
			running.Add(-1)
		})
		run(t, p, Options{Path: filepath.Join(t.TempDir(), "rows.csv"), Jobs: c.jobs})
		assert.Equal(t, c.want, most.Load(), "%+v", c)
	}
}

// Rows that are wider than the gap are counted, also those that were in the file before.
func TestOpenRows(t *testing.T) {
	p := plan(t, "4", "4", "0.3,2")
	p.Request.Method = "closed-form"
	path := filepath.Join(t.TempDir(), "rows.csv")
	s := run(t, p, Options{Path: path})
	assert.Equal(t, 2, s.Open, "permute-and-flip is optimal at ε = 2")
	s = run(t, p, Options{Path: path, Resume: true})
	assert.Equal(t, [2]int{4, 2}, [2]int{s.Kept, s.Open})
	p.Request.Gap = big.NewRat(9, 10)
	s = run(t, p, Options{Path: path, Resume: true})
	assert.Zero(t, s.Open)
}

// With Exact, rows hold fractions.
func TestExactRows(t *testing.T) {
	p := plan(t, "3", "4", "1.25")
	p.Exp, p.Request.Exact = true, true
	path := filepath.Join(t.TempDir(), "rows.csv")
	s := run(t, p, Options{Path: path})
	assert.Zero(t, s.Open)
	table, err := Load(path)
	require.NoError(t, err)
	r := table.Rows[1]
	assert.Equal(t, [3]string{"5/4", "357956/390625", "357956/390625"}, [3]string{r.ExpEps, r.ErrorLower, r.ErrorUpper}) // as cli's transcript ratio.txt
}

// Where a limit of memory makes a difference to rows it is a setting.
func TestFitsIn(t *testing.T) {
	p := plan(t, "2,12", "2,12", "0.5")
	need := p.Request
	need.N, need.K = 12, 12
	whole, _ := need.Memory()
	limit := whole.Int64()
	require.Greater(t, limit, int64(lumped.DefaultMaxMemory), "the test needs a larger program")
	assert.True(t, p.FitsIn(limit))
	assert.False(t, p.FitsIn(limit-1))
	p.N = p.N[:1]
	assert.True(t, p.FitsIn(lumped.DefaultMaxMemory))
	assert.False(t, p.FitsIn(lumped.DefaultMaxMemory-1), "lumping could take more")
}
