package lp

import (
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
)

// approximateTable returns the rows of a table in research/docs/approximate.md, the head first.
func approximateTable(t *testing.T, name string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("../research/docs/approximate.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "<!-- table: "+name+" -->\n")
	require.True(t, found)
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		switch {
		case strings.HasPrefix(line, "|-"):
		case len(cells) > 1:
			rows = append(rows, cells)
		case len(rows) > 0:
			return rows
		}
	}
	return rows
}

func whole(t *testing.T, s string) int {
	t.Helper()
	i, err := strconv.Atoi(s)
	require.NoError(t, err)
	return i
}

// asTable rewrites a row as the document has it: what is equal to it is right.
func asTable(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

// inThousandths writes both ends of an enclosure with so many places; they agree.
func inThousandths(t *testing.T, low, high *big.Rat, places int) string {
	t.Helper()
	assert.Equal(t, low.FloatString(places), high.FloatString(places))
	return low.FloatString(places)
}

func TestTableOfManyCandidates(t *testing.T) {
	rows := approximateTable(t, "many")
	require.Len(t, rows, 4)
	for _, row := range rows[1:] {
		want := asTable(row)
		n := whole(t, row[0])
		if n > 40 && !slowtest.Enabled {
			continue
		}
		q := Request{N: n, K: 1, Step: 1, Epsilon: epsilon(t, "1")}
		pure := enclosureOf(approximately(t, q, "0").optimum())
		for i, delta := range rows[0][1:] {
			s := enclosureOf(approximately(t, q, strings.TrimPrefix(delta, "δ = ")).optimum())
			row[1+i] = inThousandths(t, new(big.Rat).Quo(s.Low, pure.High), new(big.Rat).Quo(s.High, pure.Low), 4)
		}
		assert.Equal(t, want, asTable(row))
	}
}

// The columns are values of δ√n, and the n are squares.
func TestTableByTheScale(t *testing.T) {
	rows := approximateTable(t, "scale")
	require.Len(t, rows, 4)
	text, err := os.ReadFile("../research/docs/approximate.md")
	require.NoError(t, err)
	assert.Contains(t, string(text), "(1+z)/2 = "+strconv.FormatFloat((1+math.Exp(-1))/2, 'f', 4, 64))
	for _, row := range rows[1:] {
		want := asTable(row)
		n := whole(t, row[0])
		if n > 40 && !slowtest.Enabled {
			continue
		}
		root := big.NewRat(int64(math.Sqrt(float64(n))), 1)
		require.Zero(t, new(big.Rat).Mul(root, root).Cmp(big.NewRat(int64(n), 1)))
		q := Request{N: n, K: 1, Step: 1, Epsilon: epsilon(t, "1")}
		pure := enclosureOf(approximately(t, q, "0").optimum())
		for i, scale := range rows[0][1:] {
			c, ok := new(big.Rat).SetString(strings.TrimPrefix(scale, "δ√n = "))
			require.True(t, ok)
			s := enclosureOf(approximately(t, q, c.Quo(c, root).RatString()).optimum())
			row[1+i] = inThousandths(t, new(big.Rat).Quo(s.Low, pure.High), new(big.Rat).Quo(s.High, pure.Low), 4)
		}
		assert.Equal(t, want, asTable(row))
	}
}

// The bound of Theorem 8 as n grows, the optimum at two n, and Theorem 6's bound; all digits are certain.
func TestTableByMergedDepths(t *testing.T) {
	rows := approximateTable(t, "merged")
	require.Len(t, rows, 3)
	z := big.NewRat(1, 2)
	for _, row := range rows[1:] {
		delta, ok := new(big.Rat).SetString(row[0])
		require.True(t, ok)
		bound := add(mergedDepths([]int{1, 1, 1}, 1, z, delta), mergedDepths([]int{1, 1, 1}, 2, z, delta))
		numbers := []*big.Rat{bound, nil, nil, sub(z, delta)}
		for i, n := range []int{12, 24} {
			if n == 12 || slowtest.Enabled {
				s := enclosureOf(approximately(t, Request{N: n, K: 2, Step: 1, Epsilon: exp(t, "2")}, row[0]).optimum())
				require.Positive(t, new(big.Rat).SetFloat64(1e-9).Cmp(sub(s.High, s.Low)))
				numbers[1+i] = s.Low
			}
		}
		for i, x := range numbers {
			if x != nil { // cut after four digits
				shown, ok := new(big.Rat).SetString(row[1+i])
				require.True(t, ok)
				off := sub(x, shown)
				assert.True(t, off.Sign() >= 0 && off.Cmp(big.NewRat(1, 10_000)) < 0, "δ = %s: %s", row[0], x.FloatString(6))
			}
		}
	}
}
