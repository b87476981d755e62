package front

import (
	"cmp"
	"encoding/csv"
	"flag"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write map.csv anew from testdata/map.csv and map-full.csv")

// TestMapIsTheData takes the largest bound of every lattice from the repository's maps and compares them with what the page has.
func TestMapIsTheData(t *testing.T) {
	var lines [][]string
	for i, name := range []string{"map.csv", "map-full.csv"} {
		file, err := os.Open("../../testdata/" + name)
		require.NoError(t, err)
		defer file.Close()
		part, err := csv.NewReader(file).ReadAll()
		require.NoError(t, err)
		if i > 0 {
			require.Equal(t, lines[0], part[0])
			part = part[1:]
		}
		lines = append(lines, part...)
	}
	column := map[string]int{}
	for i, name := range lines[0] {
		column[name] = i
	}
	for _, name := range []string{"n", "k", "constraints", "bound", "seen_ratio"} {
		require.Contains(t, column, name)
	}
	greater := func(a, b string) bool {
		x, ok := new(big.Rat).SetString(a)
		y, known := new(big.Rat).SetString(b)
		return ok && (!known || x.Cmp(y) > 0)
	}
	var order []string
	bound, seen := map[string]string{}, map[string]string{}
	for _, l := range lines[1:] {
		key := strings.Join([]string{l[column["n"]], l[column["k"]], l[column["constraints"]]}, ",")
		if bound[key] == "" {
			order = append(order, key)
		}
		if b := l[column["bound"]]; greater(b, bound[key]) {
			bound[key] = b
		}
		if s := l[column["seen_ratio"]]; greater(s, seen[key]) {
			seen[key] = s
		}
	}
	var b strings.Builder
	b.WriteString("n,k,constraints,bound,seen\n")
	for _, key := range order {
		fmt.Fprintf(&b, "%s,%s,%s\n", key, bound[key], seen[key])
	}
	if *update {
		require.NoError(t, os.WriteFile("map.csv", []byte(b.String()), 0o644))
		return
	}
	assert.Equal(t, b.String(), mapped)
}

// TestPercentsAreRoundedUp: a cell claims no more than what is proved.
func TestPercentsAreRoundedUp(t *testing.T) {
	for ratio, percent := range map[string]string{"1": "0.00", "1.0031": "0.31", "1.00310001": "0.32", "1.01379": "1.38", "1.1": "10.00"} {
		bound, _ := new(big.Rat).SetString(ratio)
		assert.Equal(t, percent, (&cell{above: bound.Sub(bound, big.NewRat(1, 1))}).Percent())
	}
	for _, g := range (*sheet)(nil).Map() {
		for _, c := range g.cells {
			shown, ok := new(big.Rat).SetString(c.Percent())
			assert.True(t, ok)
			assert.GreaterOrEqual(t, shown.Quo(shown, big.NewRat(100, 1)).Cmp(c.above), 0)
		}
	}
}

// TestMapCommands: the commands that the page names are of their level and cover every depth of its table; a cell leads to its rating.
func TestMapCommands(t *testing.T) {
	var w strings.Builder
	require.NoError(t, (&Site{}).Begin("map", nil).WritePage(&w))
	covered := map[string]bool{}
	for _, m := range regexp.MustCompile(`bin/research map -n all -k (\d)(?::(\d))?( --constraints full)?`).FindAllStringSubmatch(w.String(), -1) {
		for k := m[1]; k <= cmp.Or(m[2], m[1]); k = string(k[0] + 1) {
			covered[k+m[3]] = true
		}
	}
	for _, g := range (*sheet)(nil).Map() {
		for at := range g.cells {
			assert.True(t, covered[fmt.Sprint(at[1])+map[string]string{"full": " --constraints full"}[g.Level]], "level %s, k = %d", g.Level, at[1])
		}
	}
	assert.Contains(t, w.String(), `<td style="--heat: 100%" title="at most 1.01379`)
	assert.Contains(t, w.String(), `<a href="/rate?n=3&amp;k=2&amp;eps=0.3">`)
}
