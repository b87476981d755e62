package lp

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/internal/table"
	"optratio/lattice"
	"optratio/number"
)

var update = flag.Bool("update", false, "rewrite the tables in testdata")

// levelRatios returns permute-and-flip's exact ratio to the optimum of each level.
func levelRatios(t *testing.T, n, k int, e number.Epsilon) (ratios [4]*big.Rat) {
	z, _ := e.Z()
	flip := flipTotalExact(n, k, Prior{}, z)
	for l := Paper; l <= Full; l++ {
		ratios[l] = new(big.Rat).Quo(flip, exactOptimum(t, n, k, Prior{}, l, e))
	}
	return ratios
}

// ../testdata/levels.csv has permute-and-flip's ratio to the four optima for n, k <= 5 and several e^ε; research/docs/levels.md
// says what is to be seen in it.
func TestLevelTable(t *testing.T) {
	slowtest.Only(t)
	const file = "../testdata/levels.csv"
	if *update {
		f, err := os.Create(file)
		require.NoError(t, err)
		defer f.Close()
		fmt.Fprintln(f, "n,k,exp_eps,paper,dp,monotone,full")
		for n := 3; n <= 5; n++ {
			for k := 2; k <= 5; k++ {
				for _, exp := range []string{"11/10", "6/5", "5/4", "3/2", "7/4", "19/10"} {
					e, err := number.ParseExp(exp)
					require.NoError(t, err)
					r := levelRatios(t, n, k, e)
					fmt.Fprintf(f, "%d,%d,%s,%s,%s,%s,%s\n", n, k, exp, r[0].RatString(), r[1].RatString(), r[2].RatString(), r[3].RatString())
				}
			}
		}
		return
	}
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	doc, err := os.ReadFile("../research/docs/levels.md")
	require.NoError(t, err)
	prose := strings.Join(strings.Fields(string(doc)), " ")
	computed, equal := 0, 0
	for _, row := range rows[1:] {
		n, err := strconv.Atoi(row[0])
		require.NoError(t, err)
		k, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		e, err := number.ParseExp(row[2])
		require.NoError(t, err)
		assert.Equal(t, row[5], row[6], "monotone = full: %v", row[:3])
		switch paper, dp, monotone := row[3], row[4], row[5]; strings.Join(row[:3], " ") {
		case "3 3 3/2":
			assert.Contains(t, prose, fmt.Sprintf("permute-and-flip is %s from the paper's optimum, but %s from the others", paper, dp))
			assert.Equal(t, dp, monotone)
		case "4 5 5/4":
			assert.False(t, paper == dp || dp == monotone)
		default:
			if paper == dp && dp == monotone {
				equal++
			} else {
				assert.NotEqual(t, 2, k)
			}
		}
		r := levelRatios(t, n, k, e)
		for l := Paper; l <= Full; l++ {
			assert.Equal(t, row[3+l], r[l].RatString(), "%v %v", row[:3], l)
		}
		computed++
	}
	assert.Equal(t, 72, computed)
	assert.Contains(t, prose, fmt.Sprintf("All four are equal in %d of its %d rows", equal, computed))
}

// Monotonicity and the paper's rows imply privacy towards all neighbors: at every exact optimum of
// the monotone level each row of DP holds, whether it was asked for or not.
func TestMonotoneImpliesDP(t *testing.T) {
	for _, s := range [][2]int{{3, 3}, {3, 5}, {4, 4}, {5, 3}} {
		for _, ab := range [][2]int64{{6, 5}, {3, 2}, {7, 4}} {
			e := expEps(t, ab[0], ab[1])
			z, _ := e.Z()
			p := testProgram(t, s[0], s[1], Prior{}, Monotone, e)
			sol := solution(t, p, new(big.Rat))
			rows := 0
			p.question.Level = DP
			p.question.eachRow(table.Lattice{Vars: p.vars, L: 1}, func(r table.Row) bool {
				rows++
				return assert.GreaterOrEqual(t, slack(sol, z, r).Sign(), 0, "%v: %+v", s, r)
			})
			assert.Greater(t, rows, 50)
		}
	}
}

// The paper's optimum at (3,3), e^ε = 3/2, breaks privacy between two vectors, so that no ε-DP mechanism attains it.
func TestPaperOptimumIsNotPrivate(t *testing.T) {
	e := expEps(t, 3, 2)
	z, _ := e.Z()
	p := testProgram(t, 3, 3, Prior{}, Paper, e)
	sol := solution(t, p, new(big.Rat))
	broken := 0
	m := make([]int, 4)
	p.question.Level = DP
	p.question.eachRow(table.Lattice{Vars: p.vars, L: 1}, func(r table.Row) bool {
		if slack(sol, z, r).Sign() < 0 {
			broken++
			for _, j := range []int32{r.Above, r.Below} {
				p.lat.Unrank(int(p.vars.Orbit[j]), m)
				t.Logf("depths %v, candidate at %d: %s", lattice.Depths(m), p.vars.Depth[j], sol.Table.At(int(j)).RatString())
			}
		}
		return true
	})
	assert.Positive(t, broken)
}

// slack is a row's left side minus its right one at a solution's table.
func slack(s *proof, z *big.Rat, r table.Row) *big.Rat {
	below := s.Table.At(int(r.Below))
	if r.Private {
		below.Mul(below, z)
	}
	return below.Sub(s.Table.At(int(r.Above)), below)
}

// The largest ratio seen against ε-DP mechanisms: permute-and-flip at (5,7) is no more than 0.9 % from the best.
func TestLargestMonotoneRatioSeen(t *testing.T) {
	a, err := Ratio(context.Background(), Request{N: 5, K: 7, Epsilon: decimalEps(t, "0.42"), Level: Monotone, Mechanisms: pfAndEM(t)[:1],
		Gap: big.NewRat(1, 1e7)})
	require.NoError(t, err)
	require.Empty(t, a.Undecided)
	assert.InDelta(t, 1.00898, a.Mechanisms[0].Ratio.Float64(), 5e-6)
}
