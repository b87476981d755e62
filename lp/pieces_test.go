package lp

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/internal/slowtest"
)

// These tests follow the optimum of three candidates over all z, piece by piece: Theorems 2 and 6 of research/docs/three.md.

// signBetween returns the sign that a rational function has everywhere in (a,b), and 0 if Descartes' rule, on so many halves of halves, does not tell.
func signBetween(r arith.RatFunc, a, b *big.Rat, halves int) int {
	s := descartes(r.Num, a, b) * descartes(r.Den, a, b)
	if s != 0 || halves == 0 {
		return s
	}
	middle := times(plusRat(a, b), ratOf(1, 2))
	if s = signBetween(r, a, middle, halves-1); s != 0 && s == signBetween(r, middle, b, halves-1) {
		return s
	}
	return 0
}

// descartes returns the sign of a polynomial in (a,b) if the coefficients of (1+x)^n p((a+bx)/(1+x)), n its degree, all have that sign, and 0 otherwise.
func descartes(p []*big.Int, a, b *big.Rat) (sign int) {
	scale := new(big.Int).Mul(a.Denom(), b.Denom())
	from, length := new(big.Int).Mul(a.Num(), b.Denom()), new(big.Int)
	length.Sub(length.Mul(b.Num(), a.Denom()), from)
	c, power := make([]*big.Int, len(p)), big.NewInt(1)
	for i := range slices.Backward(p) { // p(y/scale) scale^n
		c[i] = new(big.Int).Mul(p[i], power)
		power.Mul(power, scale)
	}
	shift := func(by *big.Int) { // c(y) becomes c(y + by)
		for low := range c {
			for i := len(c) - 2; i >= low; i-- {
				c[i].Add(c[i], new(big.Int).Mul(c[i+1], by))
			}
		}
	}
	shift(from)
	power.SetInt64(1)
	for i := range c {
		c[i].Mul(c[i], power)
		power.Mul(power, length)
	}
	slices.Reverse(c)
	shift(big.NewInt(1))
	for _, x := range c {
		if x.Sign() != 0 && sign == -x.Sign() {
			return 0
		}
		sign += x.Sign() * (1 - sign*sign)
	}
	return sign
}

// firstChange returns the beginning of the first interval of the given length in [a,b] where the sign may be another one than positive, and b if there is none.
func firstChange(r arith.RatFunc, a, b, length *big.Rat) *big.Rat {
	if signBetween(r, a, b, 0) > 0 {
		return b
	}
	width := difference(b, a)
	if width.Cmp(length) <= 0 {
		return a
	}
	middle := times(plusRat(a, b), ratOf(1, 2))
	if at := firstChange(r, a, middle, length); at.Cmp(middle) < 0 {
		return at
	}
	return firstChange(r, middle, b, length)
}

// pairPiece is where the same rows are tight at the optimum, from one z to another one.
type pairPiece struct {
	tight    []string
	from, to *big.Rat
	x        []arith.RatFunc // the variables
	ends     string          // the condition that changes its sign at the end
}

// followed keeps the pieces: two theorems are about them.
var followed = map[string][]pairPiece{}

// coverThree has the pieces of Theorem 6.
func coverThree(t *testing.T, k, free int, full bool) []pairPiece {
	return cover(t, fmt.Sprint("three", k, free, full), pairEverywhere(k, free, full).smallProgram, func(z *big.Rat) *smallProgram[*big.Rat] { return pairAt(k, free, z, full).smallProgram })
}

// cover follows the pieces from z = 1/2 until a further condition fails or z = 1. Within a piece all conditions are positive that are not 0 everywhere. Two pieces overlap
// on a short interval, where the conditions of each that are not positive all have one sign, and the two signs are opposite: at each z one of the pieces has all its conditions.
func cover(t *testing.T, key string, p *smallProgram[arith.RatFunc], programAt func(*big.Rat) *smallProgram[*big.Rat]) (pieces []pairPiece) {
	if followed[key] != nil {
		return followed[key]
	}
	defer func() { followed[key] = pieces }()
	k := p.k
	overlap, end := ratOf(1, 1<<30), ratOf(1, 1)
	var before arith.RatFunc // a condition that the piece before ended at
	for from := ratOf(1, 2); ; {
		at := plusRat(from, overlap)
		piece := pairPiece{tight: optimalRows(t, programAt(at)), from: from}
		var conditions map[string]arith.RatFunc
		piece.x, conditions = p.at(t, piece.tight)
		maps.DeleteFunc(conditions, func(_ string, x arith.RatFunc) bool { return x.IsZero() })
		// changing returns conditions that are not positive in the interval, which all have one sign.
		changing := func(a, b *big.Rat) (names []string) {
			for name, x := range conditions {
				if signBetween(x, a, b, 3) > 0 {
					continue
				}
				if names = append(names, name); len(names) > 1 {
					require.Equal(t, 1, signBetween(arith.Poly{}.Quo(x, conditions[names[0]]), a, b, 3), "k = %d, z = %s: %v", k, a.FloatString(9), names)
				}
			}
			slices.Sort(names)
			return names
		}
		if len(pieces) > 0 {
			names := changing(from, at)
			require.NotEmpty(t, names)
			require.Equal(t, -1, signBetween(arith.Poly{}.Quo(before, conditions[names[0]]), from, at, 3), "k = %d, z = %s: %v", k, from.FloatString(9), names)
		} else {
			at = from
		}
		for changed := false; !changed && at.Cmp(end) < 0; {
			to := plusRat(at, ratOf(1, 32))
			if to.Cmp(end) > 0 {
				to = end
			}
			for _, x := range conditions {
				if change := firstChange(x, at, to, overlap); change.Cmp(to) < 0 {
					to, changed = change, true
				}
			}
			at = to
		}
		if at.Cmp(end) >= 0 {
			piece.to = end
			return append(pieces, piece)
		}
		piece.to = plusRat(at, overlap)
		pieces = append(pieces, piece)
		names := changing(at, piece.to)
		require.NotEmpty(t, names)
		if piece.ends = names[0]; piece.ends[0] == 'c' || piece.ends[0] == 'h' {
			return pieces
		}
		before, from = conditions[names[0]], at
	}
}

// derivative is the numerator of the derivative.
func derivative(r arith.RatFunc) arith.RatFunc {
	f := arith.Poly{}
	whole := func(p []*big.Int) arith.RatFunc { return arith.RatFunc{Num: p, Den: []*big.Int{big.NewInt(1)}} }
	slope := func(p []*big.Int) arith.RatFunc {
		var out []*big.Int
		for i := 1; i < len(p); i++ {
			out = append(out, new(big.Int).Mul(p[i], big.NewInt(int64(i))))
		}
		return whole(out)
	}
	return f.Sub(f.Mul(slope(r.Num), whole(r.Den)), f.Mul(whole(r.Num), slope(r.Den)))
}

// Theorem 6: how far the program's optimum is that of the lattice, and in how many pieces, as the document's table says. At full the pieces beyond 2/3 end at the same z for all k
// until the last rows change.
func TestPiecesOfThree(t *testing.T) {
	rows := documentTable(t, "three.md", "pieces")
	require.Len(t, rows, 10)
	for _, row := range rows {
		k, err := strconv.Atoi(row[0])
		require.NoError(t, err)
		if k > 4 && !slowtest.Enabled || left(k, 10) {
			continue
		}
		if k <= 6 || slowtest.Enabled && k <= 8 {
			free, err := strconv.Atoi(row[3])
			require.NoError(t, err)
			pieces := coverThree(t, k, free, false)
			assert.Equal(t, row[4], strconv.Itoa(len(pieces)), "k = %d", k)
			assert.Equal(t, "1.0000", cutOff(pieces[len(pieces)-1].to, 4), "k = %d", k)
		}
		for i, full := range []bool{false, true} {
			pieces := coverThree(t, k, 0, full)
			assert.Equal(t, row[1+4*i], strconv.Itoa(len(pieces)), "k = %d", k)
			assert.Equal(t, row[2+4*i], cutOff(pieces[len(pieces)-1].to, 4), "k = %d", k)
			if full && k >= 5 {
				var ends []string
				for _, c := range pieces {
					ends = append(ends, cutOff(c.to, 5))
				}
				assert.Subset(t, ends, []string{"0.66666", "0.73862", "0.75145", "0.77173"}, "k = %d", k)
			}
		}
	}
}

// peak is a row of a table of largest ratios: the pieces, and permute-and-flip's ratio on the one that holds the row's z.
type peak struct {
	n      int
	level  Level
	p      *smallProgram[arith.RatFunc]
	pieces []pairPiece
	at     int
	z      *big.Rat
	flip   arith.RatFunc // the cost of permute-and-flip's table
	ratio  arith.RatFunc
	most   *big.Rat // at z
}

// newPeak reads cells with ε, z and the ratio, and checks the numbers.
func newPeak(t *testing.T, n int, level Level, p *smallProgram[arith.RatFunc], pieces []pairPiece, cells []string) *peak {
	c, f := &peak{n: n, level: level, p: p, pieces: pieces}, arith.Poly{}
	x, _, _ := p.vertex(slices.DeleteFunc(slices.Clone(p.names), func(name string) bool { return name[0] != 'P' }))
	c.flip = p.value(p.cost, x)
	c.z, _ = new(big.Rat).SetString(cells[1])
	c.at = slices.IndexFunc(c.pieces, func(piece pairPiece) bool { return piece.from.Cmp(c.z) < 0 && c.z.Cmp(piece.to) < 0 })
	c.ratio = f.Quo(c.flip, p.value(p.cost, c.pieces[c.at].x))
	c.most, _ = c.ratio.EvalRat(c.z)
	assert.Equal(t, cells[2], cutOff(c.most, 9), "(%d,%d)", n, p.k)
	z, _ := c.z.Float64()
	assert.Equal(t, cells[0], strconv.FormatFloat(-math.Log(z), 'f', 5, 64), "(%d,%d)", n, p.k)
	return c
}

// below checks that the ratio is less than most on a piece, from one z to another one.
func (c *peak) below(t *testing.T, most *big.Rat, piece pairPiece, from, to *big.Rat) {
	f := arith.Poly{}
	room := f.Sub(f.Mul(f.FromRat(most), c.p.value(c.p.cost, piece.x)), c.flip)
	require.Equal(t, 1, signBetween(room, from, to, 12), "(%d,%d), z = %s", c.n, c.p.k, from.FloatString(9))
}

// isLargest checks that the ratio rises up to a zero of its derivative within 10^-9 above z and falls behind, near z, and that it is smaller elsewhere. It returns the numerator of the
// derivative without factors z and z - 1.
func (c *peak) isLargest(t *testing.T) []*big.Int {
	own := c.pieces[c.at]
	rises, last := derivative(c.ratio), plusRat(c.z, ratOf(1, 1_000_000_000))
	left, right := difference(c.z, ratOf(1, 400)), plusRat(c.z, ratOf(1, 400))
	if left.Cmp(own.from) < 0 {
		left = own.from
	}
	if right.Cmp(own.to) > 0 {
		right = own.to
	}
	require.Equal(t, 1, signBetween(rises, left, c.z, 3), "(%d,%d)", c.n, c.p.k)
	require.Equal(t, -1, signBetween(rises, last, right, 3), "(%d,%d)", c.n, c.p.k)
	require.Equal(t, -1, signBetween(derivative(rises), c.z, last, 3), "(%d,%d)", c.n, c.p.k)
	for j, piece := range c.pieces {
		if j != c.at {
			c.below(t, c.most, piece, piece.from, piece.to)
			continue
		}
		for _, part := range [][2]*big.Rat{{piece.from, left}, {right, piece.to}} {
			if part[0].Cmp(part[1]) < 0 {
				c.below(t, c.most, piece, part[0], part[1])
			}
		}
	}
	c.belowBehind(t, c.most)
	return withoutOne(rises.Num)
}

// Theorem 2: the largest ratio of permute-and-flip to the optimum of each row over all ε. At level paper it is that of one piece; all others stay below, and so do cells of z up to 1
// where the pieces end. At full it is at most 10^-9 more than at the z of the document.
func TestPeaksOfThreeCandidates(t *testing.T) {
	peakOf := func(row []string, level Level) *peak {
		k, err := strconv.Atoi(row[0])
		require.NoError(t, err)
		return newPeak(t, 3, level, pairEverywhere(k, 0, level == Full).smallProgram, coverThree(t, k, 0, level == Full), row[1:])
	}
	rows := documentTable(t, "three.md", "peaks")
	require.Len(t, rows, 11)
	for i, row := range rows {
		if i > 3 && !slowtest.Enabled || left(2+i, 10) {
			break
		}
		c := peakOf(row, Paper)
		zero := c.isLargest(t)
		if degrees := []int{4, 6, 20, 23, 32}; i < len(degrees) {
			assert.Equal(t, degrees[i], len(zero)-1, row[0])
		}
		if i <= 1 {
			for j, want := range [][]int64{{7, -6, -5, -2, 1}, {10, -8, -7, -6, -6, 2, 1}}[i] {
				require.Zero(t, new(big.Int).Mul(zero[0], big.NewInt(want)).Cmp(new(big.Int).Mul(zero[j], big.NewInt(int64(7+3*i)))), row[0])
			}
		}
		tight := slices.Clone(c.pieces[c.at].tight)
		slices.SortStableFunc(tight, func(a, b string) int { return cmp.Compare(a[0], b[0]) })
		assert.Equal(t, row[4], strings.Join(tight, ", "), row[0])
	}
	rows = documentTable(t, "three.md", "peaks-full")
	require.Len(t, rows, 7)
	for i, row := range rows {
		if i > 1 && !slowtest.Enabled {
			break
		}
		c := peakOf(row, Full)
		most := plusRat(c.most, ratOf(1, 1_000_000_000))
		for _, piece := range c.pieces {
			c.below(t, most, piece, piece.from, piece.to)
		}
		c.belowBehind(t, most)
	}
}

// withoutOne divides a polynomial by z and z - 1 as often as that leaves no rest.
func withoutOne(p []*big.Int) []*big.Int {
	for p[0].Sign() == 0 {
		p = p[1:]
	}
	quotient, rest := make([]*big.Int, len(p)-1), new(big.Int)
	for i := len(p) - 1; i >= 1; i-- {
		rest = new(big.Int).Add(rest, p[i])
		quotient[i-1] = rest
	}
	if new(big.Int).Add(rest, p[0]).Sign() != 0 {
		return p
	}
	return withoutOne(quotient)
}

// belowBehind follows cells of z from where the pieces end up to 1, in which the ratio is at most permute-and-flip's error at the end over the exact optimum at the beginning: less
// than most.
func (c *peak) belowBehind(t *testing.T, most *big.Rat) {
	k := c.p.k
	for from, step := c.pieces[len(c.pieces)-1].to, ratOf(1, 64); from.Cmp(ratOf(1, 1)) < 0; step = times(step, ratOf(2, 1)) {
		optimum := exactOptimum(t, c.n, k, Prior{}, c.level, newUniversal(t, c.n, k, from).e)
		to := plusRat(from, step)
		if to.Cmp(ratOf(1, 1)) > 0 {
			to = ratOf(1, 1)
		}
		for quotient(flipTotalExact(c.n, k, Prior{}, to), optimum).Cmp(most) >= 0 {
			step = times(step, ratOf(1, 2))
			to = plusRat(from, step)
			require.Positive(t, step.Cmp(ratOf(1, 1<<20)), "(%d,%d), stuck at z = %s", c.n, k, from.FloatString(9))
		}
		from = roundedDown(to)
	}
}

// roundedDown has few digits, for exact programs.
func roundedDown(x *big.Rat) *big.Rat {
	scale := big.NewInt(1 << 24)
	return new(big.Rat).SetFrac(new(big.Int).Quo(new(big.Int).Mul(x.Num(), scale), x.Denom()), scale)
}

// documentTable returns the cells of a table of a page in research/docs.
func documentTable(t *testing.T, page, name string) (rows [][]string) {
	_, text, found := strings.Cut(doc(t, page), "<!-- table: "+name+" -->\n")
	require.True(t, found, name)
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	return rows[2:]
}
