package variant_test

import (
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/lp/variant"
	"optratio/mechanisms"
)

// approximateTable returns the rows of a table in docs/results/approximate.md, the head first.
func approximateTable(t *testing.T, name string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/results/approximate.md")
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

// rounded writes both ends of an enclosure with so many places; they agree.
func rounded(t *testing.T, low, high *big.Rat, places int) string {
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
		q := variant.Question{N: n, K: 1, L: 1, Epsilon: epsilon(t, "1")}
		pure := approximately(t, q, "0").Optimum
		for i, delta := range rows[0][1:] {
			s := approximately(t, q, strings.TrimPrefix(delta, "δ = ")).Optimum
			row[1+i] = rounded(t, new(big.Rat).Quo(s.Low, pure.High), new(big.Rat).Quo(s.High, pure.Low), 4)
		}
		assert.Equal(t, want, asTable(row))
	}
}

// The δ that Theorem 2 says is needed for one percent of the mean error, where permute-and-flip is optimal: everything in closed form.
func TestTableOfOnePercent(t *testing.T) {
	rows := approximateTable(t, "percent")
	require.Len(t, rows, 5)
	for _, row := range rows[1:] {
		want := asTable(row)
		n, k := whole(t, row[0]), whole(t, row[1])
		eps := epsilon(t, row[2])
		c, err := (variant.Question{N: n, K: k, L: 1, Epsilon: eps}).Closed(256)
		require.NoError(t, err)
		require.True(t, *c.PFOptimal)
		optimum := c.Optimum
		// U = (k/2) ((k+1)^{n-1}(k+1) - k^{n-1}(k+1)) / ((k+1)^n - k^n)
		up, down := new(big.Int).Exp(big.NewInt(int64(k+1)), big.NewInt(int64(n-1)), nil), new(big.Int).Exp(big.NewInt(int64(k)), big.NewInt(int64(n-1)), nil)
		uniform := new(big.Rat).SetFrac(new(big.Int).Mul(new(big.Int).Sub(up, down), big.NewInt(int64(k*(k+1)/2))),
			new(big.Int).Sub(up.Mul(up, big.NewInt(int64(k+1))), down.Mul(down, big.NewInt(int64(k)))))
		price := func(optimum *big.Rat) *big.Rat {
			x := new(big.Rat).Sub(uniform, optimum)
			x.Mul(x, big.NewRat(int64(n), 1))
			z := eps.ExpNeg(big.NewRat(1, 1), 256)
			lo, _ := z.Lo().Rat(nil)
			return x.Mul(x, new(big.Rat).Quo(lo, new(big.Rat).Sub(big.NewRat(1, 1), lo)))
		}
		row[3] = rounded(t, optimum.Low, optimum.High, 6)
		row[4] = rounded(t, price(optimum.High), price(optimum.Low), 2)
		percent := new(big.Rat).Quo(optimum.Low, price(optimum.Low))
		percent.Mul(percent, big.NewRat(1, 100))
		// The last column is rounded down to two digits: the page promises one percent for every δ up to it.
		printed, ok := new(big.Rat).SetString(row[5])
		require.True(t, ok, row[5])
		f, _ := printed.Float64()
		digits := fmt.Sprintf("%.1e", f)
		step, _ := new(big.Rat).SetString("0.1" + digits[3:])
		assert.LessOrEqual(t, printed.Cmp(percent), 0, "δ = %s costs more than one percent at n = %d, k = %d", row[5], n, k)
		assert.Positive(t, step.Add(step, printed).Cmp(percent), "two digits of δ are more than %s at n = %d, k = %d", row[5], n, k)
		if f < 1e-4 {
			assert.Equal(t, digits, row[5])
		}
		assert.Equal(t, want, asTable(row))
	}
}

func TestTableOfWhereTheLineEnds(t *testing.T) {
	rows := approximateTable(t, "line")
	require.Len(t, rows, 4)
	for _, row := range rows[1:] {
		want := asTable(row)
		n, k := whole(t, row[0]), whole(t, row[1])
		for i, e := range rows[0][2:] {
			x, err := mechanisms.ParseExp(strings.TrimPrefix(e, "e^ε = "))
			require.NoError(t, err)
			row[2+i] = linearUntil(t, variant.Question{N: n, K: k, L: 1, Epsilon: x}).RatString()
		}
		assert.Equal(t, want, asTable(row))
	}
}
