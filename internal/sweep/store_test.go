package sweep

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file of other parameters is refused, in one line that names it, and left as it is.
func TestRefusedFiles(t *testing.T) {
	p := plan(t, "2,3", "1,2", "0.2,0.6")
	path := filepath.Join(t.TempDir(), "rows.csv")
	run(t, p, Options{Path: path})
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(data), "\n")
	for name, c := range map[string]struct {
		spoil func(p *Plan)
		text  string
		want  string
	}{
		"n": {spoil: func(p *Plan) { p.N = []int{2} }, want: "n = 3"},
		"k": {spoil: func(p *Plan) { p.K = p.K[1:] }, want: "k = 1"},
		"ε": {spoil: func(p *Plan) { p.Epsilon = p.Epsilon[:1] }, want: "ε = 0.6"},
		"e^ε": {spoil: func(p *Plan) {
			p.Exp, p.Epsilon[0], p.Epsilon[1] = true, p.Epsilon[0].SetInt64(2), p.Epsilon[1].SetInt64(3)
		}, want: "ε = 0.2"},
		"objective":   {spoil: func(p *Plan) { p.Objective = "box" }, want: "objective paper"},
		"constraints": {spoil: func(p *Plan) { p.Constraints = "dp" }, want: "constraints paper"},
		"mechanism":   {spoil: func(p *Plan) { p.Request.Mechanisms = p.Request.Mechanisms[:1] }, want: "pf"},
		"settings":    {spoil: func(p *Plan) { p.Settings = "gap=0.1" }, want: "all settings at their defaults, not with gap=0.1"},
		"header":      {text: "n,k,epsilon\n", want: ":1: "},
		"a line":      {text: lines[0] + "2,1,many\n" + lines[1], want: ":2: not a line of 14 fields"},
		"a bound":     {text: lines[0] + strings.Replace(lines[1], ",1.0", ",9.0", 1) + lines[2], want: ":2: "},
		"contradictory": {text: lines[0] + lines[1] + strings.Replace(lines[1], "dual-recurrence", "lp", 1) + lines[2],
			want: "two different rows for n = 2, k = 1, ε = 0.2"},
		"settings change": {text: strings.TrimSuffix(lines[0], "\n") + ",settings\n" + strings.TrimSuffix(lines[1], "\n") + ",gap=1\n" + strings.TrimSuffix(lines[2], "\n") + ",gap=2\n" + lines[3],
			want: `:3: settings "gap=2" and before it "gap=1"`},
	} {
		p := plan(t, "2,3", "1,2", "0.2,0.6")
		text := string(data)
		if c.spoil != nil {
			c.spoil(p)
		} else {
			text = c.text
		}
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := Run(context.Background(), p, Shard{}, Options{Path: path, Resume: true})
		require.ErrorIs(t, err, ErrFile, name)
		assert.Contains(t, err.Error(), c.want, name)
		assert.Contains(t, err.Error(), path, name)
		assert.NotContains(t, err.Error(), "\n", name)
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, text, string(left), name)
	}
}

// Without --resume a file that is there is refused and left as it is, whatever it holds; with it a grid can grow.
func TestExistingFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "rows.csv")
	p := plan(t, "2,3", "1", "0.5")
	run(t, p, Options{Path: path})
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	larger := plan(t, "2:4", "1", "0.5")
	for _, p := range []*Plan{p, larger, plan(t, "5", "1", "0.5")} {
		_, err := Run(context.Background(), p, Shard{}, Options{Path: path})
		require.ErrorIs(t, err, ErrFile)
		assert.Contains(t, err.Error(), path+": exists; remove it to begin anew")
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, before, after)
	}
	s := run(t, larger, Options{Path: path, Resume: true})
	assert.Equal(t, [2]int{4, 2}, [2]int{s.Kept, s.Computed}, "a grid can grow")
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing is left beside the file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err = Run(context.Background(), p, Shard{}, Options{Path: path})
	assert.ErrorIs(t, err, ErrFile, "an empty file")
}

// A file that is complete and in order is not written again.
func TestNothingToDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	p := plan(t, "2,3", "1", "0.5")
	run(t, p, Options{Path: path})
	before, err := os.Stat(path)
	require.NoError(t, err)
	s := run(t, p, Options{Path: path, Resume: true})
	assert.Equal(t, 4, s.Kept)
	after, err := os.Stat(path)
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after) && before.ModTime().Equal(after.ModTime()))
}

// Shards that share a file one after the other, as a resumed job array may, fill it together.
func TestShardsInOneFile(t *testing.T) {
	p := small(t)
	path := filepath.Join(t.TempDir(), "rows.csv")
	for i := range 3 {
		runShard(t, p, Shard{Index: i, Count: 3}, Options{Path: path, Resume: true})
	}
	assert.Equal(t, whole(t, p), rows(t, path))
}

// Zeros, and a last line without sense, are what the loss of power may leave.
func TestAfterLossOfPower(t *testing.T) {
	p := small(t)
	path := filepath.Join(t.TempDir(), "rows.csv")
	run(t, p, Options{Path: path})
	want := rows(t, path)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, tail := range []string{"\x00\x00\x00", "\x00\x002,1,0.2\n", "4,4,0.", "garbage\n", "4,4,0.5,,paper\n"} {
		half := strings.LastIndex(string(data[:len(data)/2]), "\n") + 1
		require.NoError(t, os.WriteFile(path, append(data[:half:half], tail...), 0o600))
		s := run(t, p, Options{Path: path, Resume: true})
		assert.Equal(t, strings.Count(string(data[:half]), "\n")-1, s.Kept, "%q", tail)
		assert.Equal(t, want, rows(t, path), "%q", tail)
	}
}

// A run that repairs a line and is stopped in turn leaves whole lines alone.
func TestStoppedAgain(t *testing.T) {
	p := small(t)
	path := filepath.Join(t.TempDir(), "rows.csv")
	run(t, p, Options{Path: path})
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	cut := strings.Index(string(data), "\n4,3,") - 10
	require.NoError(t, os.WriteFile(path, append(data[:cut:cut], strings.Repeat("\x00", 5000)...), 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := Run(ctx, p, Shard{}, Options{Path: path, Resume: true, Report: func(int, int) { cancel() }})
	require.NoError(t, err)
	require.Positive(t, s.Missing())
	left, err := os.ReadFile(path)
	require.NoError(t, err)
	_, whole, err := ParseCSV(left)
	require.NoError(t, err)
	assert.Equal(t, len(left), whole)
	assert.Equal(t, 1+s.Kept+s.Computed, strings.Count(string(left), "\n"))
}

// Two runs do not write one file at the same time.
func TestLockedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	f, err := Open(path, false)
	require.NoError(t, err)
	_, err = Run(context.Background(), small(t), Shard{}, Options{Path: path, Resume: true})
	require.ErrorIs(t, err, ErrFile)
	assert.Contains(t, err.Error(), "another process is writing it")
	require.NoError(t, f.Close())
	run(t, small(t), Options{Path: path, Resume: true})
}

const victim = "OPTRATIO_SWEEP_VICTIM"

// TestVictim is the process that TestKill kills.
func TestVictim(t *testing.T) {
	path := os.Getenv(victim)
	if path == "" {
		t.Skip("runs only in a process of its own")
	}
	p := killed(t)
	p.Request.Mechanisms[0] = newMeddler(t, func(call int64) {
		if call > 400 {
			select {} // so that the process cannot be done before it is killed
		}
	})
	_, _ = Run(context.Background(), p, Shard{}, Options{Path: path, Resume: true, Jobs: 2})
}

func killed(t testing.TB) *Plan {
	p := plan(t, "2:5", "2,3", "0.1:1:0.1")
	p.Request.Mechanisms[0] = newMeddler(t, func(int64) {})
	return p
}

// TestKill: kill -9 of a process that has written some rows and has others at work.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	c := exec.Command(os.Args[0], "-test.run=^TestVictim$")
	c.Env = append(os.Environ(), victim+"="+path)
	require.NoError(t, c.Start())
	written := func() int {
		data, _ := os.ReadFile(path)
		return strings.Count(string(data), "\n") - 1
	}
	require.Eventually(t, func() bool { return written() >= 20 }, longest, longest/10000)
	require.NoError(t, c.Process.Kill())
	_ = c.Wait()
	there := written()
	p := killed(t)
	s := run(t, p, Options{Path: path, Resume: true, Jobs: 2})
	assert.Equal(t, there, s.Kept)
	assert.Positive(t, s.Computed)
	assert.Equal(t, whole(t, p), rows(t, path))
}

// Reading a file of many rows ends with the context, and leaves the file as it is, which is no other's then.
func TestReadingEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	rows := make([]string, 60_000)
	for i := range rows {
		rows[i] = strings.Replace(line, "0.2,", fmt.Sprintf("0.%d1,", i+1), 1)
	}
	require.NoError(t, os.WriteFile(path, []byte(text(rows...)), 0o600))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	ended, end := context.WithCancel(t.Context())
	end()
	soon, stop := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer stop()
	for _, ctx := range []context.Context{ended, soon} {
		s, err := Run(ctx, plan(t, "2", "1", "0.21"), Shard{}, Options{Path: path, Resume: true})
		require.Nil(t, s)
		require.ErrorIs(t, err, context.Cause(ctx))
		assert.NotErrorIs(t, err, ErrFile, "the file is not at fault")
	}
	require.Eventually(t, func() bool {
		f, err := Open(path, false)
		return err == nil && f.Close() == nil
	}, longest, longest/10000)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after))
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}
