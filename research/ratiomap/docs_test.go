package ratiomap

import (
	"context"
	"flag"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/lp"
)

var update = flag.Bool("update", false, "rewrite the tables of research/docs/map.md")

// mapTable reads a map of testdata, checks that each lattice's rows cover every ε, and returns them with the depths in it.
func mapTable(t testing.TB, name string) (table map[[2]int][]row, ks []int) {
	data, err := os.ReadFile("../../testdata/" + name)
	require.NoError(t, err)
	rows := rowsOf(t, data)
	table = map[[2]int][]row{}
	for _, r := range rows {
		at := [2]int{r.N, r.K}
		table[at] = append(table[at], r)
		if !slices.Contains(ks, r.K) {
			ks = append(ks, r.K)
		}
	}
	for _, rows := range table {
		var intervals []Interval
		for _, r := range rows {
			intervals = append(intervals, r.Interval)
		}
		require.NoError(t, covers(intervals))
	}
	return table, ks
}

// theorem is a line of Theorem 1: the bound for one k at every n and ε, and from which n on it is the closed form's.
type theorem struct {
	k, from, computed  int // computed: the last number of candidates with dual points
	bound, seen        *big.Rat
	boundAt, seenAt, n int
}

// theorems works out from the table what is proved for every n: the table has to hold all n up to one from which on the closed form is no larger.
func theorems(t *testing.T, table map[[2]int][]row, ks []int) (all []theorem) {
	for _, k := range ks {
		th := theorem{k: k, bound: one, seen: one}
		for n := 2; table[[2]int{n, k}] != nil; n++ {
			rows := table[[2]int{n, k}]
			if b := boundOf(rows); b.Cmp(th.bound) > 0 {
				th.bound, th.boundAt = b, n
			}
			if r := rows[0].SeenRatio; r != nil && r.Cmp(th.seen) > 0 {
				th.seen, th.seenAt = r, n
			}
			if rows[len(rows)-1].Proof == ProofDual {
				th.computed = n
			}
			th.n = n
		}
		if k > 1 {
			th.from = th.computed + 1
			if closed := up(ClosedForm(th.from, k)); closed.Cmp(th.bound) > 0 {
				th.bound, th.boundAt = closed, th.from
			}
		}
		all = append(all, th)
	}
	return all
}

// TestDocument: the tables of research/docs/map.md are what testdata/map.csv says.
func TestDocument(t *testing.T) {
	table, ks := mapTable(t, "map.csv")
	var first strings.Builder
	first.WriteString("| k | bound for every n and ε | largest ratio seen | n with dual points | closed form from n = |\n|---|---|---|---|---|\n")
	for _, th := range theorems(t, table, ks) {
		if th.k == 1 {
			first.WriteString("| 1 | 1 | 1 | | |\n")
			continue
		}
		fmt.Fprintf(&first, "| %d | **%s** | %s (n = %d) | 3 to %d | %d |\n", th.k, th.bound.FloatString(5), th.seen.FloatString(6), th.seenAt, th.computed, th.from)
	}
	const path = "../docs/map.md"
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	document := string(file)
	for name, want := range map[string]string{"theorem": first.String()} {
		begin, end := "<!-- table: "+name+" -->\n", "<!-- end of "+name+" -->"
		before, rest, ok := strings.Cut(document, begin)
		require.True(t, ok, name)
		have, after, ok := strings.Cut(rest, end)
		require.True(t, ok, name)
		if !*update {
			assert.Equal(t, want, have, "go test -C research ./ratiomap -run TestDocument -update")
		}
		document = before + begin + want + end + after
	}
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(document), 0o644))
	}
}

// TestWithinOnePercent is Theorem 2: at the levels with monotonicity every n, and every k up to the last of testdata/map-full.csv, is within one per cent. Where the bound
// at the paper's level is no more than that, it serves.
func TestWithinOnePercent(t *testing.T) {
	percent := big.NewRat(101, 100)
	paper, _ := mapTable(t, "map.csv")
	full, ks := mapTable(t, "map-full.csv")
	for k := 1; k <= slices.Max(ks); k++ {
		from, err := Settled(t.Context(), k, percent)
		require.NoError(t, err)
		for n := 2; n < from; n++ {
			at := [2]int{n, k}
			within := func(rows []row, levels ...string) bool {
				return rows != nil && boundOf(rows).Cmp(percent) <= 0 && slices.Contains(levels, rows[0].Constraints)
			}
			assert.True(t, n == 2 || within(paper[at], "paper") || within(full[at], "full"), "n = %d, k = %d", n, k)
		}
	}
	document, err := os.ReadFile("../docs/map.md")
	require.NoError(t, err)
	assert.Contains(t, string(document), fmt.Sprintf("**Theorem 2.** *For every n, every k <= %d and every ε > 0", slices.Max(ks)))
}

// again proves the bound of a lattice of the table anew: at the paper's level to five parts in a million, with monotonicity the one per cent of Theorem 2.
func again(t testing.TB, rows []row) {
	target := new(big.Rat).Add(boundOf(rows), big.NewRat(1, 200_000))
	if boundOf(rows).Cmp(one) == 0 {
		assert.Equal(t, ProofThreshold, rows[len(rows)-1].Proof)
		return
	}
	if rows[0].Constraints == lp.Full.String() {
		target = big.NewRat(101, 100)
	}
	level, err := lp.ParseLevel(rows[0].Constraints)
	require.NoError(t, err)
	_, err = Prove(context.Background(), rows[0].N, rows[0].K, level, Options{Target: target})
	assert.NoError(t, err, "n = %d, k = %d", rows[0].N, rows[0].K)
}

// TestMapAgain proves the bounds of the table's smaller lattices anew; BenchmarkWholeMap all of the two maps, which takes the better part of an hour.
func TestMapAgain(t *testing.T) {
	slowtest.Only(t)
	table, _ := mapTable(t, "map.csv")
	for at, rows := range table {
		if at[0]*at[1] <= 15 {
			again(t, rows)
		}
	}
	full, _ := mapTable(t, "map-full.csv")
	again(t, full[[2]int{3, 5}])
}

func BenchmarkWholeMap(b *testing.B) {
	for range b.N {
		for _, name := range []string{"map.csv", "map-full.csv"} {
			table, _ := mapTable(b, name)
			for _, rows := range table {
				again(b, rows)
			}
		}
	}
}

// TestSeenRatios: the largest ratios seen are attained, and the largest of each k is above what dual points that are off by a thousandth would allow.
func TestSeenRatios(t *testing.T) {
	table, ks := mapTable(t, "map.csv")
	for _, at := range [][2]int{{3, 2}, {4, 3}, {3, 3}, {5, 2}} {
		r := table[at][0]
		c := &Cover{N: at[0], K: at[1], Level: lp.Paper}
		low, err := c.ratioAt(context.Background(), r.SeenEpsilon)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, low.Cmp(new(big.Rat).Sub(r.SeenRatio, big.NewRat(1, 100_000_000))), 0, "%v", at)
	}
	for _, th := range theorems(t, table, ks)[1:] {
		assert.GreaterOrEqual(t, th.bound.Cmp(th.seen), 0)
		gap, _ := new(big.Rat).Sub(th.bound, th.seen).Float64()
		assert.Less(t, gap, 0.001, "k = %d", th.k)
	}
}
