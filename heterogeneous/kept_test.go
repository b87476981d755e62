package heterogeneous

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lp/table"
	"optratio/mechanisms"
)

// kept is the table of what geo-pair errs at e^ε = 2 if only the least sensitive candidates may be taken. Optima are those of the other tables, which must hold line.
func kept(t *testing.T, doc string) string {
	var b strings.Builder
	b.WriteString(header("Δ", "grid", "1", "2", "3", "4"))
	for _, c := range []struct {
		sensitivities string
		steps         int
		line, optimum string // an optimum that is cut stands for all numbers that begin so
		close         bool   // whether some column is within 4 % of the optimum
	}{
		{"1,1,4", 4, "| 1,1,4 | 2 | 56/75 |", "56/75", true},
		{"1,1,4", 8, "| 1,1,4 | 0..8 | 2 | 4875947/4612140 |", "4875947/4612140", false},
		{"1,1,4", 12, "| 1,1,4 | 0..12 | 2 | 1.186402495… |", "1.186402495", false},
		{"1,2,4", 4, "| 1,2,4 | 2 | 104/125 |", "104/125", true},
		{"1,1,1,4", 3, "| 1,1,1,4 | 0..3 | 2 | 29/40 |", "29/40", true},
		{"1,1,4,4", 3, "| 1,1,4,4 | 0..3 | 2 | 1123/1408 |", "1123/1408", true},
		{"1,4,4,4", 3, "| 1,4,4,4 | 0..3 | 2 | 83/96 |", "83/96", true},
		{"1,2,3,4", 3, "| 1,2,3,4 | 0..3 | 2 | 273/320 |", "273/320", true},
	} {
		require.Contains(t, doc, c.line)
		optimum := table.Bounds{Low: rat(c.optimum), High: rat(c.optimum)}
		if _, digits, cut := strings.Cut(c.optimum, "."); cut {
			unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(digits))), nil))
			optimum.High = unit.Add(unit, optimum.Low)
		}
		deltas := rats(strings.Split(c.sensitivities, ",")...)
		cells, near := []string{c.sensitivities, "0.." + strconv.Itoa(c.steps)}, false
		for m := 1; m <= 4; m++ {
			if m > len(deltas) {
				cells = append(cells, "")
				continue
			}
			x := errorOfTheFirst(t, deltas, m, int64(c.steps))
			ratio := table.Bounds{Low: x, High: x}.Over(optimum)
			near = near || ratio.Float64() < 1.04
			cells = append(cells, ratio.Format(5))
		}
		assert.Equal(t, c.close, near, c.line)
		b.WriteString(line(cells...))
	}
	return b.String()
}

// errorOfTheFirst returns the mean over the grid 0, 1, …, steps of how far below the best of all candidates geo-pair on the first m is, e^ε = 2.
func errorOfTheFirst(t *testing.T, deltas []*big.Rat, m int, steps int64) *big.Rat {
	mechanism, known := lookup(t, "geo-pair"), map[string][]*big.Rat{}
	sum, count, q := new(big.Rat), int64(0), make([]int64, len(deltas))
	for {
		p, ok := known[fmt.Sprint(q[:m])]
		if !ok {
			in := &mechanisms.Instance{Epsilon: exp(t, "2"), Sensitivities: deltas[:m]}
			for _, x := range q[:m] {
				in.Scores = append(in.Scores, big.NewRat(x, 1))
			}
			var err error
			p, err = mechanism.Exact(in)
			require.NoError(t, err)
			known[fmt.Sprint(q[:m])] = p
		}
		for r, x := range p {
			gap := big.NewRat(slices.Max(q)-q[r], 1)
			sum.Add(sum, gap.Mul(gap, x))
		}
		count++
		i := 0
		for ; i < len(q) && q[i] == steps; i++ {
			q[i] = 0
		}
		if i == len(q) {
			return sum.Quo(sum, big.NewRat(count, 1))
		}
		q[i]++
	}
}
