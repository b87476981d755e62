package sweep

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	syncFile = func(*os.File) error { return nil }
	os.Exit(m.Run())
}

// longest is how long a test waits for what is sure to come.
const longest = 5 * time.Minute

const line = "2,1,0.2,,paper,paper,pf,0.27,0.28,1,1.5,lp,clp,0.250000\n"

var head, headSettled = string(header(false)), string(header(true))

// text is a file of lines.
func text(lines ...string) string {
	if all := strings.Join(lines, ""); strings.Contains(all, "gap=") {
		return headSettled + all
	}
	return head + strings.Join(lines, "")
}

func written(t testing.TB, lines ...string) *Table {
	parsed, whole, err := ParseCSV([]byte(text(lines...)))
	require.NoError(t, err)
	require.Len(t, parsed.Rows, len(lines))
	require.Positive(t, whole)
	return parsed
}

func TestMerge(t *testing.T) {
	t.Chdir(t.TempDir())
	part := func(name string, lines ...string) string {
		require.NoError(t, os.WriteFile(name, []byte(text(lines...)), 0o600))
		return name
	}
	with := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(line) }
	a := part("a.csv", with("0.2,", "0.4,"), line)
	b := part("b.csv", with("2,1,", "3,1,", "clp,0.25", "clp,7.25"), with("clp,0.25", "clp,9.25"), with("0.2,", "0.1,"))
	merged, err := Merge([]string{a, b})
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, merged.WriteCSV(&out))
	assert.Equal(t, head+with("0.2,", "0.1,")+line+with("0.2,", "0.4,")+with("2,1,", "3,1,", "clp,0.25", "clp,7.25"), out.String())
	some, all := merged.Missing(1)
	assert.Equal(t, 2, all, "n = 3 lacks ε = 0.1 and 0.4")
	assert.Equal(t, []Parameters{{N: 3, K: 1, Eps: "0.1", Objective: "paper", Constraints: "paper", Mechanism: "pf"}}, some)
	some, _ = merged.Missing(9)
	assert.Equal(t, "0.4", some[1].Eps)

	for want, line := range map[string]string{
		"c.csv: differs from a.csv in the row for n = 2, k = 1, ε = 0.2, objective paper, constraints paper, pf": with("0.28", "0.29"),
		"c.csv: was made with gap=1, a.csv with all settings at their defaults":                                  with("2,1,", "4,1,", ".250000", ".250000,gap=1"),
	} {
		_, err := Merge([]string{a, b, part("c.csv", line)})
		require.ErrorIs(t, err, ErrFile)
		assert.True(t, strings.HasPrefix(err.Error(), want), err)
	}
	empty, err := Merge([]string{part("e.csv")})
	require.NoError(t, err)
	assert.Empty(t, empty.Rows)
}

// FuzzParseCSV: what is read is written back as it was, and no text is a panic.
func FuzzParseCSV(f *testing.F) {
	for _, text := range []string{"", head, head + line, head + line + line[:20], head + "x\n", head[:5], headSettled + strings.Replace(line, ".250000", ".250000,gap=1", 1), head + strings.Replace(line, "0.2,", ",2/1", 1)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, whole, err := ParseCSV(data)
		if err != nil {
			assert.ErrorIs(t, err, ErrFile)
			return
		}
		require.LessOrEqual(t, whole, len(data))
		again, length, err := ParseCSV(data[:whole])
		require.NoError(t, err)
		assert.Equal(t, whole, length)
		assert.Equal(t, table, again)
		var b bytes.Buffer
		require.NoError(t, table.WriteCSV(&b))
		back, _, err := ParseCSV(b.Bytes())
		require.NoError(t, err)
		require.Len(t, back.Rows, len(table.Rows))
		for i, r := range back.Rows {
			assert.True(t, r.same(table.Rows[i]))
		}
	})
}
