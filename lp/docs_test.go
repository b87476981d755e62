package lp

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/internal/slowtest"
	"optratio/number"
)

// doc returns the text of a document of the project.
func doc(t *testing.T, name string) string {
	text, err := os.ReadFile("../research/docs/" + name)
	require.NoError(t, err)
	return string(text)
}

// flipRatio returns an enclosure, narrower than 1e-7, of permute-and-flip's ratio.
func flipRatio(t *testing.T, n, k int, eps string, l Level) (lower, upper *big.Rat) {
	a, err := Ratio(context.Background(), Request{N: n, K: k, Epsilon: decimalEps(t, eps), Level: l, Mechanisms: pfAndEM(t)[:1],
		Gap: big.NewRat(1, 1e9)})
	require.NoError(t, err)
	require.Empty(t, a.Undecided)
	lower, _ = a.Mechanisms[0].Ratio.Lower()
	upper, _ = a.Mechanisms[0].Ratio.Upper()
	return lower, upper
}

// cutOff is a rational with so many places, the rest cut off.
func cutOff(x *big.Rat, places int) string {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	unit.Mul(unit, x.Num())
	digits := fmt.Sprintf("%0*s", places+1, unit.Quo(unit, x.Denom()).String())
	return digits[:len(digits)-places] + "." + digits[len(digits)-places:]
}

// The table of the worst ratios in research/docs/levels.md, recomputed at the ε that it names.
func TestWorstRatios(t *testing.T) {
	slowtest.Only(t)
	_, table, found := strings.Cut(doc(t, "levels.md"), "<!-- table: worst -->\n")
	require.True(t, found)
	entry := regexp.MustCompile(`([0-9.]+) \(([0-9.]+)\)`)
	var ks []int
	entries := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(cells) < 3 {
			if len(ks) > 0 && !strings.HasPrefix(line, "|") {
				break
			}
			continue
		}
		if cells[0] == "n" {
			for _, c := range cells[2:] {
				k, err := strconv.Atoi(strings.TrimPrefix(c, "k="))
				require.NoError(t, err)
				ks = append(ks, k)
			}
			continue
		}
		n, err := strconv.Atoi(cells[0])
		require.NoError(t, err)
		level, err := ParseLevel(cells[1])
		require.NoError(t, err)
		for i, c := range cells[2:] {
			m := entry.FindStringSubmatch(c)
			require.NotNil(t, m, c)
			entries++
			if n*ks[i] > 60 && !slowtest.Enabled {
				continue
			}
			lower, upper := flipRatio(t, n, ks[i], m[2], level)
			assert.Equal(t, m[1], cutOff(lower, 5), "%d %v %s", n, level, c)
			assert.Equal(t, m[1], cutOff(upper, 5), "%d %v %s", n, level, c)
		}
	}
	assert.Equal(t, 24, entries)
}

// The largest ratios known, as research/docs/levels.md has them.
func TestLargestRatiosKnown(t *testing.T) {
	slowtest.Only(t)
	text := doc(t, "levels.md")
	largest, _ := flipRatio(t, 6, 15, "0.3065", Paper)
	assert.Contains(t, text, cutOff(largest, 10)+" at (6,15), ε = 0.3065")
	largest, _ = flipRatio(t, 6, 9, "0.425", Monotone)
	assert.Contains(t, text, cutOff(largest, 10)+" at (6,9), ε = 0.425")
}

// Theorem 3 of research/docs/levels.md: with monotonicity permute-and-flip's error is at most n/2 times the optimum.
func TestMonotoneBound(t *testing.T) {
	for _, s := range [][2]int{{2, 1}, {2, 5}, {3, 1}, {3, 3}, {4, 2}, {5, 2}, {6, 2}} {
		n, k := s[0], s[1]
		for _, ab := range [][2]int64{{1001, 1000}, {11, 10}, {3, 2}, {2, 1}, {7, 1}} {
			e := expEps(t, ab[0], ab[1])
			z, _ := e.Z()
			for _, o := range []Prior{{}, Box()} {
				optimum := exactOptimum(t, n, k, o, Monotone, e)
				optimum.Mul(optimum, big.NewRat(int64(n), 2))
				assert.GreaterOrEqual(t, optimum.Cmp(flipTotalExact(n, k, o, z)), 0, "%v %v %v", s, ab, o)
			}
		}
	}
}

// The box objective at n = 3 (research/docs/threshold.md, Theorem 3): all λ_t >= 0 iff F_k = Σ A_j (1-B'_j) >= 0, which changes its sign once, at a
// larger z than Theorem 1's threshold. The sums are written out as the theorems print them.
func TestOneBoxThreshold(t *testing.T) {
	one := big.NewRat(1, 1)
	criterion := func(z *big.Rat, k int) *big.Rat {
		f := new(big.Rat)
		for j := 1; j <= k; j++ {
			a, b := arith.PowerSums(arith.Rat{}, z, j)
			f.Add(f, a.Mul(a, b.Sub(one, b)))
		}
		return f
	}
	multipliers := func(z *big.Rat, k int) bool {
		for start := 1; start <= k; start++ {
			lambda, power := new(big.Rat), big.NewRat(1, 1)
			for u := start; u <= k; u++ {
				for j := u; j <= k; j++ {
					a, _ := arith.PowerSums(arith.Rat{}, z, j)
					term := new(big.Rat).Sub(big.NewRat(int64(u), 1), a)
					lambda.Add(lambda, term.Mul(term, power))
				}
				power = new(big.Rat).Mul(power, z)
			}
			if lambda.Sign() < 0 {
				return false
			}
		}
		return true
	}
	for _, k := range []int{2, 3, 4, 5, 8, 13} {
		changes, before := 0, true
		for i := int64(1); i < 60; i++ {
			z := big.NewRat(i, 60)
			holds := criterion(z, k).Sign() >= 0
			assert.Equal(t, multipliers(z, k), holds, "k = %d, z = %v", k, z)
			e, err := number.FromExp(new(big.Rat).Inv(z))
			require.NoError(t, err)
			assert.Equal(t, holds, permuteAndFlipOptimal(3, k, true, e), "k = %d, z = %v", k, z)
			if _, b := arith.PowerSums(arith.Rat{}, z, k); b.Cmp(one) <= 0 {
				assert.Positive(t, criterion(z, k).Sign())
			}
			if holds != before {
				changes++
			}
			before = holds
		}
		assert.Equal(t, 1, changes, "k = %d", k)
	}
	// The numbers of the proof, at z = 0.68.
	z := big.NewRat(68, 100)
	assert.Equal(t, "-0.01092352", criterion(z, 2).FloatString(8))
	assert.Equal(t, new(big.Rat).SetFrac64(-1092352, 100000000), criterion(z, 2))
	for k := 2; k <= 30; k++ {
		assert.Negative(t, criterion(z, k).Sign())
	}
	term, largest := new(big.Rat), new(big.Rat)
	power := big.NewRat(1, 1)
	for v := int64(1); v <= 40; v++ {
		power.Mul(power, z)
		if term.Mul(big.NewRat(v, 1), power).Cmp(largest) > 0 {
			largest.Set(term)
		}
	}
	assert.Equal(t, "0.943296", largest.FloatString(6))
}

// The thresholds that research/docs/threshold.md prints for (3,4).
func TestThresholdsOfTheDocument(t *testing.T) {
	text := doc(t, "threshold.md")
	for _, o := range []Prior{Box(), Prior{}} {
		a, err := Threshold(context.Background(), Request{N: 3, K: 4, Prior: o, Gap: big.NewRat(1, 1e10)}, nil)
		require.NoError(t, err)
		lower, _ := a.Ends[0].Lower()
		upper, _ := a.Ends[1].Upper()
		require.Equal(t, cutOff(lower, 7), cutOff(upper, 7))
		assert.Contains(t, text, cutOff(lower, 7)+"…", "%v", o)
	}
}
