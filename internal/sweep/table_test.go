package sweep

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	files "optratio/internal/grid"
)

func TestMain(m *testing.M) {
	files.Sync = func(*os.File) error { return nil }
	os.Exit(m.Run())
}

// longest is how long a test waits for what is sure to come.
const longest = 5 * time.Minute

const line = "2,1,0.2,,paper,paper,pf,0.27,0.28,1,1.5,lp,clp,0.250000\n"

func table(t testing.TB, lines ...string) *Table {
	header := string((&Table{}).header())
	if strings.Contains(strings.Join(lines, ""), "gap=") {
		header = string((&Table{Settings: "any"}).header())
	}
	parsed, whole, err := ParseCSV(t.Context(), []byte(header+strings.Join(lines, "")))
	require.NoError(t, err)
	require.Len(t, parsed.Rows, len(lines))
	require.Positive(t, whole)
	return parsed
}

func TestMerge(t *testing.T) {
	with := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(line) }
	a := Part{"a.csv", table(t, with("0.2,", "0.4,"), line)}
	b := Part{"b.csv", table(t, with("2,1,", "3,1,", "clp,0.25", "clp,7.25"), with("clp,0.25", "clp,9.25"), with("0.2,", "0.1,"))}
	merged, err := Merge([]Part{a, b})
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, merged.WriteCSV(&out))
	assert.Equal(t, string((&Table{}).header())+with("0.2,", "0.1,")+line+with("0.2,", "0.4,")+with("2,1,", "3,1,", "clp,0.25", "clp,7.25"), out.String())
	some, all := merged.Missing(1)
	assert.Equal(t, 2, all, "n = 3 lacks ε = 0.1 and 0.4")
	assert.Equal(t, []Parameters{{N: 3, K: 1, Eps: "0.1", Objective: "paper", Constraints: "paper", Mechanism: "pf"}}, some)
	some, _ = merged.Missing(9)
	assert.Equal(t, "0.4", some[1].Eps)

	for want, part := range map[string]Part{
		"c.csv: differs from a.csv in the row for n = 2, k = 1, ε = 0.2, objective paper, constraints paper, pf": {"c.csv", table(t, with("0.28", "0.29"))},
		"c.csv: was made with gap=1, a.csv with all settings as by default":                                      {"c.csv", table(t, with("2,1,", "4,1,", ".250000", ".250000,gap=1"))},
	} {
		_, err := Merge([]Part{a, b, part})
		require.ErrorIs(t, err, ErrFile)
		assert.True(t, strings.HasPrefix(err.Error(), want), err)
	}
	empty, err := Merge([]Part{{"e.csv", &Table{}}})
	require.NoError(t, err)
	assert.Empty(t, empty.Rows)
}

func TestParquetKeepsRows(t *testing.T) {
	for _, rows := range [][]string{
		{line, strings.Replace(line, "0.2,,", ",3/2,", 1), strings.Replace(line, "1.5", "inf", 1)},
		{strings.Replace(line, ".250000", ".250000,gap=0.1 step=2delta/2", 1)},
	} {
		if len(rows) == 3 {
			rows[2] = strings.Replace(rows[2], "pf", "em", 1)
		}
		want := table(t, rows...)
		var b bytes.Buffer
		require.NoError(t, want.WriteParquet(&b))
		got, err := ParseParquet(t.Context(), b.Bytes())
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

// FuzzParseCSV: what is read is written back as it was, and no text is a panic.
func FuzzParseCSV(f *testing.F) {
	header := string((&Table{}).header())
	long := string((&Table{Settings: "any"}).header())
	for _, text := range []string{"", header, header + line, header + line + line[:20], header + "x\n", header[:5], long + strings.Replace(line, ".250000", ".250000,gap=1", 1), header + strings.Replace(line, "0.2,", ",2/1", 1)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, whole, err := ParseCSV(t.Context(), data)
		if err != nil {
			assert.ErrorIs(t, err, ErrFile)
			return
		}
		require.LessOrEqual(t, whole, len(data))
		again, length, err := ParseCSV(t.Context(), data[:whole])
		require.NoError(t, err)
		assert.Equal(t, whole, length)
		assert.Equal(t, table, again)
		var b bytes.Buffer
		require.NoError(t, table.WriteCSV(&b))
		back, _, err := ParseCSV(t.Context(), b.Bytes())
		require.NoError(t, err)
		require.Len(t, back.Rows, len(table.Rows))
		for i, r := range back.Rows {
			assert.True(t, r.same(table.Rows[i]))
		}
	})
}
